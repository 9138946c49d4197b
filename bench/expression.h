// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Benchmarks of expressions: a third table (expression_entries.c). Two programs, those that were published with timings
// (R. Jones, EngD thesis, Bournemouth University, 2018, Figures 6.2 and 6.3, Table 6.1): a step of a simulation, and
// the decimation of a set. In memory they are compared with the same loops written in C (expression_hand.c,
// expression_measure.c), in files with OpenVDB's own program vdb_ax (expression_files.c). Tables and CSV:
// expression_report.c.
#pragma once
#include "base/vec.h"
#include "bench.h"

// The first three run in memory and in files; those after them, one for each family of functions, in files only.
typedef enum bench_program {
    BENCH_STEP,
    BENCH_PRODUCTS,
    BENCH_DECIMATION,
    BENCH_ARITHMETIC,
    BENCH_INTEGERS,
    BENCH_BRANCHES,
    BENCH_VECTORS,
    BENCH_MATRICES,
    BENCH_INVERSES,
    BENCH_ROUNDING,
    BENCH_TRIGONOMETRY,
    BENCH_POWERS,
    BENCH_RANDOM,
    BENCH_NOISE,
    BENCH_CURL,
    BENCH_COLOURS,
    BENCH_SORTING,
    BENCH_STRINGS,
    BENCH_GROUPS,
    BENCH_PROGRAMS
} bench_program;
extern const char *const bench_program_text[BENCH_PROGRAMS];
extern const char *const bench_program_name[BENCH_PROGRAMS];

typedef struct bench_expression_entry {
    const char *name;
    const char *group;  // "expressions" names all rows
    bench_program program;
    bool files;  // processes on a .vdb file; else arrays in memory
    int64_t points;
    int repeats, threads;  // threads: 0 = as --threads says
    bench_when when;
} bench_expression_entry;

extern const bench_expression_entry bench_expression_entries[];
extern const int bench_expression_entry_count;

// Of one side, seconds. What is not known is 0.
typedef struct bench_side {
    double whole;  // in memory the pass; of files from the start of the process to its end
    double compile, read, execute, write;
    double cpu;        // of all threads
    int64_t resident;  // bytes, peak
} bench_side;

// Plain data: it comes from the child through a pipe.
typedef struct bench_expression_result {
    rh_code code;
    char message[512];  // when code is not RH_OK
    int threads, repeats;
    int64_t points, left;   // before and after
    bench_side ours, peer;  // the peer is C written by hand, or vdb_ax
    bool no_peer;           // vdb_ax is not installed
} bench_expression_result;

typedef struct bench_expression_row {
    const bench_expression_entry *entry;
    bench_expression_result result;
} bench_expression_row;

static inline bool bench_expression_fine(const bench_expression_row *row)
{
    return row->result.code == RH_OK && row->result.points > 0;
}

// --- expression_hand.c: what one would write in C --------------------------------------------------------------------
typedef struct bench_points {
    rh_vec3 *position, *velocity;
    float *radius;
    int64_t *id;
    uint8_t *dead;
    int64_t count;
} bench_points;
void bench_hand_run(bench_program program, const bench_points *points);

// --- expression_measure.c, expression_files.c ------------------------------------------------------------------------
void bench_expression_measure(const bench_expression_entry *entry, int threads, int repeats,
                              bench_expression_result *out);
// Points of the benchmark: a block on a jittered lattice, eight to a cell, of about the wind's velocity, so that a step
// moves them by a part of a cell. Freed by bench_points_free, also after a failure.
rh_code bench_points_make(bench_points *points, int64_t count, rh_status *status);
void bench_points_free(bench_points *points);
double bench_points_cell(void);  // m
void bench_files_run(const bench_expression_entry *entry, int threads, int repeats,
                     bench_expression_result *out);  // in a child

// --- expression_report.c ---------------------------------------------------------------------------------------------
void bench_expression_list(FILE *to);
void bench_expression_print(FILE *to, const bench_expression_row *rows, int count);
rh_code bench_expression_write_csv(const char *path, const bench_expression_row *rows, int count, rh_status *status);
