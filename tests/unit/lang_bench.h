// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// For tests of the expression language: compile a program, lay out columns for what it lists, run it, look at the
// result.
#pragma once
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "lang/lang.h"

typedef struct lang_bench {
    rh_lang_program *program;
    const rh_lang_listing *listing;
    rh_lang_messages messages;
    rh_lang_scope scope;
    rh_lang_column columns[64];
    rh_lang_pool pool;
    rh_lang_result result;
    int64_t count;
    uint8_t *dead;
    rh_lang_group groups[16];
    rh_status status;
} lang_bench;

// Compiles; `b` is zeroed. False when the program is wrong.
static inline bool bench_compile(lang_bench *b, const char *source, rh_lang_flags domain, bool text)
{
    *b = (lang_bench){0};
    rh_lang_options options = {.domain = domain, .keep_listing = text};
    if (rh_lang_compile(source, strlen(source), &options, &b->program, &b->messages, &b->status) != RH_OK) return false;
    b->listing = rh_lang_program_listing(b->program);
    return true;
}

// Zeros for every column, group and mark.
static inline void bench_allocate(lang_bench *b, int64_t count)
{
    b->count = count;
    for (int i = 0; i < b->listing->attribute_count; i++) {
        size_t size = rh_lang_type_size(b->listing->attributes[i].type);
        b->columns[i] = (rh_lang_column){calloc((size_t)count + 1, size), (int64_t)size};
    }
    b->dead = calloc((size_t)count + 1, 1);
    for (int i = 0; i < b->listing->group_count; i++)
        b->groups[i] = (rh_lang_group){b->listing->groups[i].name, calloc((size_t)count + 1, 1)};
    b->scope.groups = b->groups;
    b->scope.group_count = b->listing->group_count;
    b->scope.dead = b->dead;
}

static inline void *bench_column(const lang_bench *b, const char *name)
{
    for (int i = 0; i < b->listing->attribute_count; i++)
        if (strcmp(b->listing->attributes[i].name, name) == 0) return b->columns[i].data;
    return NULL;
}

static inline rh_code bench_run(lang_bench *b)
{
    rh_code code = b->pool.threads ? RH_OK : rh_lang_pool_init(&b->pool, b->program, &b->scope, &b->status);
    rh_lang_elements elements = {.attributes = b->columns};
    return code != RH_OK ? code : rh_lang_pass(b->program, &b->pool, &elements, b->count, &b->result, &b->status);
}

static inline void bench_free(lang_bench *b)
{
    for (int i = 0; b->count && i < b->listing->attribute_count; i++) free(b->columns[i].data);
    for (int i = 0; b->count && i < b->listing->group_count; i++) free(b->groups[i].member);
    free(b->dead);
    rh_lang_result_free(&b->result);
    rh_lang_pool_free(&b->pool);
    rh_lang_program_free(b->program);
    rh_lang_messages_free(&b->messages);
}
