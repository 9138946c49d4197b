// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// From a checked tree to machine code in memory. Without LLVM (RHEO_LANG off) code_none.c stands in, which says so.
#pragma once
#include "lang/ast.h"
#include "lang/check.h"

// Columns are dense: attributes, then groups, then the marks of deletion. Gives 0, or -(1 + number of the loop that
// took too many steps), or the first index outside: element of the call, site (those beyond the 4095th share the last
// number), index + 2^23 cut to 24 bits; as one number, so that the least over all elements is the first element's.
typedef int64_t rh_lang_kernel(rh_lang_context *, void *const *columns, const void *const *externals, int64_t first,
                               const int64_t *selection, int64_t count);
enum { RH_LANG_INDEX_BITS = 24, RH_LANG_SITE_BITS = 12, RH_LANG_MOST_SITES = 1 << RH_LANG_SITE_BITS };

typedef struct rh_lang_code rh_lang_code;
// *out is NULL on failure. With `keep_text` the optimised code stays readable.
rh_code rh_lang_code_make(rh_lang_unit *unit, const rh_lang_node *program, const rh_lang_options *options,
                          const rh_lang_facts *facts, rh_lang_code **out);
void rh_lang_code_free(rh_lang_code *code);  // NULL is fine
rh_lang_kernel *rh_lang_code_kernel(const rh_lang_code *code);
const char *rh_lang_code_text(const rh_lang_code *code);
