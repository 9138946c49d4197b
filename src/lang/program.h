// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A compiled program, inside: shared by lang.c (compiling) and run.c (running).
#pragma once
#include "lang/check.h"
#include "lang/code.h"

struct rh_lang_program {
    rh_arena arena;  // names and lists of the facts, and the tree
    const rh_lang_node *tree;
    rh_lang_facts facts;
    rh_lang_listing listing;
    rh_lang_code *code;
    rh_lang_kernel *kernel;
    double seconds;
    rh_lang_flags domain;
};

// Columns of the kernel: attributes, groups, marks of deletion.
int rh_lang_program_columns(const rh_lang_program *program);
size_t rh_lang_program_column_size(const rh_lang_program *program, int column);
