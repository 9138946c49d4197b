// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Tokens to a tree (the grammar of OpenVDB AX; see docs/sources.md).
#pragma once
#include "lang/ast.h"

// The tree of the unit's source: a block. Reports every syntax error it finds, going on after the next ; or }. Where
// the unit's messages hold errors or it failed, the tree is of no use.
rh_lang_node *rh_lang_parse(rh_lang_unit *unit);
