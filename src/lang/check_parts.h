// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Shared by the two halves of the checker: check.c (names, operators, statements) and check_call.c (functions). Nobody
// else includes it.
#pragma once
#include "lang/check.h"

// The type of a wrong expression, about which nobody complains again.
#define RH_LANG_WRONG ((rh_lang_type)RH_LANG_TYPES)

typedef struct rh_lang_local {
    const char *name;
    rh_lang_type type;
    rh_lang_place at;
    int slot, depth;
} rh_lang_local;

typedef struct rh_lang_checker {
    rh_lang_unit *unit;
    const rh_lang_options *options;
    rh_lang_facts *facts;
    rh_lang_local *locals;  // of the scopes that are open
    int local_count;
    int depth, loops;  // open scopes, open loops
    int64_t proved;    // product of the trips of the open loops that need no counting
} rh_lang_checker;

// check.c
rh_lang_type rh_lang_check_expression(rh_lang_checker *c, rh_lang_node *node);
// A place that is read or written.
rh_lang_type rh_lang_check_place(rh_lang_checker *c, rh_lang_node *node, bool reads, bool writes);
bool rh_lang_is_literal(const rh_lang_node *node);
// Slot of a value from outside, made when the name is new (then of this type); -1 when memory ran out.
int rh_lang_external_slot(rh_lang_checker *c, const rh_lang_node *node, const char *name, rh_lang_type type);
// One more element for an array in the unit's arena that has `count`; doubling, what it had before stays in the arena
// until the end.
void *rh_lang_grown(rh_lang_checker *c, void *array, int count, size_t size);
// "did you mean near?" in `out`; NULL when `near` is.
const char *rh_lang_did_you_mean(const char *near, const char *before, char *out, size_t size);

// check_call.c
rh_lang_type rh_lang_check_call(rh_lang_checker *c, rh_lang_node *node);
bool rh_lang_known_function(const rh_lang_checker *c, const char *name);
