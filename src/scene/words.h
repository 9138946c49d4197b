// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How parameter rows and YAML values are called in messages and in the manual. Every function returns `out`.
#pragma once
#include <stddef.h>
#include "base/param.h"
#include "scene/yaml.h"

enum { RH_WORDS_FOUND = 96 };

// What a node is, for "expected ..., found ...". Long or unprintable text is cut and masked.
char *rh_words_found(const rh_yaml_node *node, char out[RH_WORDS_FOUND]);
// "did you mean 'x'?", or, when no name is near, "expected a, b or c".
char *rh_words_suggest(const char *word, const char *const *names, int count, char *out, size_t size);
char *rh_words_suggest_row(const char *word, const rh_param_table *table, char *out, size_t size);
char *rh_words_suggest_variant(const char *word, const rh_param_table *const *variants, char *out, size_t size);
// What a row wants: "a number in m", "one of slip, no_slip or separate", "a list of mappings" ...
char *rh_words_expected(const rh_param *row, char *out, size_t size);
// "between 0 and 1", "at least 0", "1"; empty without a limit.
char *rh_words_range(const rh_param *row, char *out, size_t size);
// "a, b or c".
char *rh_words_join(const char *const *names, int count, char *out, size_t size);

// Index of the alternative of that name, or -1.
int rh_words_variant(const rh_param_table *const *variants, const char *name);
// Whether a scene must give the row: marked so, or a plain value without a default (the contract of base/param.h).
bool rh_words_required(const rh_param *row);
