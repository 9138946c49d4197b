// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The reference of the built-in functions, printed from their table.
#pragma once
#include <stdbool.h>
#include "base/status.h"

// Caller frees with rh_free; NULL when memory runs out.
char *rh_lang_manual(bool markdown, rh_status *status);
