// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The expression language: small C-like programs that run on every point of a set or every voxel of a grid
// (docs/expressions.md). This header is all a host needs.
//
//   rh_lang_compile(source, length, &options, &program, &messages, &status)   text to machine code, whatever the data
//   rh_lang_match(program, &host, &messages, &status)                         do the host's data fit?
//   rh_lang_pool_init(&pool, program, scope, &status)
//   rh_lang_pass(program, &pool, &elements, count, &result, &status)          all elements, on all threads
// or, for a host with loops of its own,
//   rh_lang_thread_init(&thread, program, scope, &status)                     one per running thread
//   rh_lang_run(program, &thread, &elements, begin, end, &status)             any range, from any thread
//
// The host brings raw arrays, one per attribute the program lists, in the program's order, and a scope (runtime.h) with
// the values given from outside, groups and so on. A program touches nothing else: it has no pointers, indices into
// vectors are checked, every loop is counted. Element i is written by whoever runs element i, and nothing it computes
// depends on the range it was run in, so results are the same for any number of threads.
#pragma once
#include "lang/diagnostics.h"
#include "lang/functions.h"
#include "lang/runtime.h"
#include "lang/types.h"

typedef struct rh_lang_program rh_lang_program;

typedef struct rh_lang_options {
    rh_lang_flags domain;  // RH_LANG_POINTS or RH_LANG_VOLUMES
    bool warnings_are_errors;
    bool unoptimised;   // compiles a few times faster, runs many times slower, gives the same bits
    bool keep_listing;  // keep LLVM's text of the optimised code: rh_lang_program_text
    bool check_only;    // no machine code: the program can be listed and matched, not run. Needs no LLVM
    const rh_lang_function
        *functions;  // the host's own, beside the built-in ones; kept by pointer as long as the program lives
    int function_count;
} rh_lang_options;

// RH_USER when the program is wrong: `messages` (all zeros before; the caller frees it) says why, the status repeats
// the first error. Warnings are there on success too. *out is NULL on failure, else freed by rh_lang_program_free.
rh_code rh_lang_compile(const char *source, size_t length, const rh_lang_options *options, rh_lang_program **out,
                        rh_lang_messages *messages, rh_status *status);
void rh_lang_program_free(rh_lang_program *program);  // NULL is fine

// ---- what a program uses

typedef struct rh_lang_attribute_use {
    const char *name;
    rh_lang_type type;
    bool reads, writes;  // `=` only writes, though what was there stays where it is not reached
    rh_lang_place at;    // where it is first named
} rh_lang_attribute_use;

typedef struct rh_lang_external_use {
    const char *name;
    rh_lang_type type;
    rh_lang_place at;
} rh_lang_external_use;

typedef struct rh_lang_group_use {
    const char *name;
    bool reads, adds, removes;  // one that is added to must be in the scope; others may be missing
} rh_lang_group_use;

typedef struct rh_lang_listing {
    const rh_lang_attribute_use *attributes;
    int attribute_count;
    const rh_lang_external_use *externals;
    int external_count;
    const rh_lang_group_use *groups;  // only those named by literals
    int group_count;
    bool unnamed_groups;  // names groups by other strings than literals: the scope needs all there are
    bool deletes;         // calls deletepoint: the scope needs `dead`
    bool moves;           // writes P: points must be put into their places again
    bool neighbours;      // asks for neighbours: the scope needs a snapshot and positions
    bool random;          // draws random numbers
    bool coordinates;     // asks where the voxel is
    bool strings;         // writes string attributes: keep the thread until they are copied
} rh_lang_listing;
const rh_lang_listing *rh_lang_program_listing(const rh_lang_program *program);
// Does attribute `other` influence what attribute `index` becomes, through variables and conditions too? May say yes
// too often, never no.
bool rh_lang_program_depends(const rh_lang_program *program, int index, int other);
// As nested lists, (= @a (+ 1 2)); rh_free. NULL when memory runs out.
char *rh_lang_program_tree(const rh_lang_program *program, rh_status *status);
double rh_lang_program_seconds(const rh_lang_program *program);    // what compiling took
const char *rh_lang_program_text(const rh_lang_program *program);  // NULL unless asked for

// ---- the host's data

typedef struct rh_lang_host {
    // RH_LANG_VOID when there is none of that name. NULL: the host has nothing.
    rh_lang_type (*attribute)(void *user, const char *name);
    rh_lang_type (*external)(void *user, const char *name);
    void *user;
    bool create_missing;       // else a missing attribute is an error
    const char *const *names;  // of attributes, for suggestions; may be NULL
    int name_count;
} rh_lang_host;
// RH_USER with messages when types differ or an attribute is missing and may not be created. A missing external is zero
// and fits.
rh_code rh_lang_match(const rh_lang_program *program, const rh_lang_host *host, rh_lang_messages *messages,
                      rh_status *status);

typedef struct rh_lang_column {
    void *data;  // of element 0. Columns of one run must not overlap. A bool is a byte 0 or 1, a string an rh_lang_text
    int64_t stride;  // bytes from element to element; 0: one value for all (read only)
} rh_lang_column;

typedef struct rh_lang_elements {
    const rh_lang_column *attributes;  // as listed. Strings that the program writes live in the thread's context
    const int64_t *selection;          // NULL: element i is i. Else i stands for element selection[i], ascending
} rh_lang_elements;

typedef struct rh_lang_thread {
    rh_lang_context context;
    void **columns;
    const void **externals;
    char *staging;  // copies of a block of elements whose columns are not simply dense
} rh_lang_thread;
// `scope` must outlive the thread.
rh_code rh_lang_thread_init(rh_lang_thread *thread, const rh_lang_program *program, const rh_lang_scope *scope,
                            rh_status *status);
void rh_lang_thread_free(rh_lang_thread *thread);

// Runs elements begin to end; the host has called rh_lang_context_begin. RH_USER when an element used up its steps, an
// index was outside or a function stopped it (the status names line and column; the range was written in part).
rh_code rh_lang_run(const rh_lang_program *program, rh_lang_thread *thread, const rh_lang_elements *elements,
                    int64_t begin, int64_t end, rh_status *status);

// Everything a pass over all elements needs, one thread for each of rh_threads(). May serve many passes of one program
// and one scope. Strings that a program wrote live until the pool is freed.
typedef struct rh_lang_pool {
    rh_lang_thread *threads;
    int count;
} rh_lang_pool;
rh_code rh_lang_pool_init(rh_lang_pool *pool, const rh_lang_program *program, const rh_lang_scope *scope,
                          rh_status *status);
void rh_lang_pool_free(rh_lang_pool *pool);
// Runs elements 0 to count in blocks of RH_BLOCK; `result` gets what the blocks asked for (rh_lang_result_free).
rh_code rh_lang_pass(const rh_lang_program *program, rh_lang_pool *pool, const rh_lang_elements *elements,
                     int64_t count, rh_lang_result *result, rh_status *status);
