// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The checker: names, types, conversions, overloads; and the list of what a program touches.
#pragma once
#include "lang/ast.h"
#include "lang/lang.h"

// An index that is looked at while running.
typedef struct rh_lang_site {
    rh_lang_place at;
    int limit;    // indices are below it
    bool matrix;  // two indices, or elements of a matrix
} rh_lang_site;

// What the checker found out. Arrays live in the unit's arena.
typedef struct rh_lang_facts {
    rh_lang_attribute_use *attributes;
    rh_lang_external_use *externals;
    rh_lang_group_use *groups;
    rh_lang_type *locals;  // by slot
    rh_lang_site *sites;   // of indices that must be checked while running
    rh_lang_place *loops;  // whose steps are counted
    int attribute_count, external_count, group_count, local_count, site_count, loop_count;
    int all_loops;  // the bounded ones too
    bool deletes;
    bool calls_library;  // functions that need the context
    bool named_groups;   // every group function has a literal name: groups are arrays like any other
    bool strings;        // handles any
    bool neighbours, random, coordinates;
    uint64_t *depends;  // a row of bits for each attribute, then each local: which attributes influence it
} rh_lang_facts;

// Row of the function table, the host's own after the built-in ones.
const rh_lang_function *rh_lang_row(const rh_lang_options *options, int index);

// Writes types and slots into the tree. Wrong programs get messages. False when memory ran out.
bool rh_lang_check(rh_lang_unit *unit, rh_lang_node *program, const rh_lang_options *options, rh_lang_facts *facts);
