// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which attributes influence which: through expressions, variables, and the conditions under which something is
// assigned.
#pragma once
#include "lang/check.h"

// Fills facts->depends in the unit's arena. False when memory ran out.
bool rh_lang_depend(rh_lang_unit *unit, const rh_lang_node *program, const rh_lang_options *options,
                    rh_lang_facts *facts);
