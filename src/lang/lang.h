// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The expression language: small C-like programs that run on every point of a set or every voxel of a grid (docs/expressions.md).
// This header is all a host needs.
//
//   rh_lang_compile(source, length, &options, &program, &messages, &status)   text -> machine code; independent of any data
//   rh_lang_match(program, &host, &messages, &status)                         does the host's data fit? what must be made?
//   rh_lang_thread_init(&thread, program, &status)                            one per running thread
//   rh_lang_run(program, &thread, &elements, begin, end, &status)             any range, from any thread
//
// The host brings raw arrays: one per attribute and group the program lists, in the program's order. A program touches nothing else: it
// has no pointers, indices into vectors are checked, every loop is counted. Element i is written by whoever runs element i, and
// nothing it computes depends on the range it was run in, so results are the same for any number of threads.
#pragma once
#include "lang/diagnostics.h"
#include "lang/functions.h"
#include "lang/runtime.h"
#include "lang/types.h"

typedef struct rh_lang_program rh_lang_program;

typedef struct rh_lang_options {
    rh_lang_flags domain;              // RH_LANG_POINTS or RH_LANG_VOLUMES
    bool warnings_are_errors;
    const rh_lang_function *functions;  // the host's own, beside the built-in ones; kept by pointer as long as the program lives
    int function_count;
} rh_lang_options;

// RH_USER when the program is wrong: `messages` (all zeros before; the caller frees it) says why, the status repeats the first error.
// Warnings are there on success too. *out is NULL on failure, else freed by rh_lang_program_free.
rh_code rh_lang_compile(const char *source, size_t length, const rh_lang_options *options, rh_lang_program **out, rh_lang_messages *messages,
                        rh_status *status);
void rh_lang_program_free(rh_lang_program *program);  // NULL is fine

// ---- what a program uses

typedef struct rh_lang_attribute {
    const char *name;
    rh_lang_type type;
    bool reads, writes;  // `=` only writes, though what was there stays where it is not reached
    rh_lang_place at;    // where it is first named
} rh_lang_attribute;

typedef struct rh_lang_external {
    const char *name;
    rh_lang_type type;
    rh_lang_place at;
} rh_lang_external;

typedef struct rh_lang_group {
    const char *name;
    bool reads, adds, removes;  // one that is added to must exist before the run; others may be missing
} rh_lang_group;

typedef struct rh_lang_listing {
    const rh_lang_attribute *attributes;
    int attribute_count;
    const rh_lang_external *externals;
    int external_count;
    const rh_lang_group *groups;   // named by literals
    int group_count;
    bool deletes;                  // calls deletepoint
    bool moves;                    // writes P: points must be put into their places again
    bool uses_context;             // calls functions that need rh_lang_thread.context filled in
} rh_lang_listing;
const rh_lang_listing *rh_lang_program_listing(const rh_lang_program *program);
double rh_lang_program_compile_seconds(const rh_lang_program *program);
// Which attributes influence attribute `index` (through variables and conditions too): a bit for each, the lowest first.
const uint64_t *rh_lang_program_dependencies(const rh_lang_program *program, int index);

// ---- the host's data

typedef struct rh_lang_host {
    // RH_LANG_VOID when there is none of that name. NULL: the host has nothing.
    rh_lang_type (*attribute)(void *user, const char *name);
    rh_lang_type (*external)(void *user, const char *name);
    void *user;
    bool create_missing;           // else a missing attribute is an error
    const char *const *names;      // of attributes, for suggestions; may be NULL
    int name_count;
} rh_lang_host;
// RH_USER with messages when types differ or an attribute is missing and may not be created.
rh_code rh_lang_match(const rh_lang_program *program, const rh_lang_host *host, rh_lang_messages *messages, rh_status *status);

typedef struct rh_lang_array {
    void *data;      // of element 0. Arrays of one run must not overlap. Bools and groups are bytes 0 and 1, strings rh_lang_text
    int64_t stride;  // bytes from element to element; 0: one value for all (read only)
} rh_lang_array;

typedef struct rh_lang_elements {
    const rh_lang_array *attributes;   // as listed; strings that a program writes live in the thread's memory until rh_lang_thread_free
    const rh_lang_array *groups;       // as listed; data NULL where a group that is not added to is missing
    uint8_t *deleted;                  // set to 1 for points to delete; needed when the listing says `deletes`
    const void *const *externals;      // address of each value, NULL for zero; read once per call of rh_lang_run
    const int64_t *selection;          // NULL: element i is i. Else i stands for element selection[i]; no element twice
    int64_t budget;                    // steps of loops an element may take; 0: RH_LANG_BUDGET
} rh_lang_elements;

enum { RH_LANG_BUDGET = 10000000 };

typedef struct rh_lang_thread {
    rh_lang_context context;  // the host fills in what runtime.h says, where the listing says `uses_context`
    void *staging;            // copies of a block of elements whose arrays are not simply dense
    size_t staging_bytes;
} rh_lang_thread;
rh_code rh_lang_thread_init(rh_lang_thread *thread, const rh_lang_program *program, rh_status *status);
void rh_lang_thread_free(rh_lang_thread *thread);

// Runs elements begin to end. RH_USER when an element used up its budget or an index was outside (the status names line and column;
// the range was written in part); RH_MEMORY when the thread's memory for strings ran out.
rh_code rh_lang_run(const rh_lang_program *program, rh_lang_thread *thread, const rh_lang_elements *elements, int64_t begin, int64_t end,
                    rh_status *status);
