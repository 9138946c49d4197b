// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Benchmarks of single pressure solves of smoothed particles: a fifth table. One tank, in sizes up to ten million
// particles, one random source, to 1e-4 of it: iterations and processor time of conjugate gradients preconditioned by
// levels, of plain ones, and of relaxed Jacobi sweeps (pressure_solves.c).
#pragma once
#include "bench.h"

// What the levels are compared with.
typedef enum bench_solve_others { BENCH_SOLVE_ALONE, BENCH_SOLVE_PLAIN, BENCH_SOLVE_SWEEPS } bench_solve_others;

typedef struct bench_solve_entry {
    const char *name;
    const char *group;  // "sph-solves" names all rows
    int width;          // spacings: the tank holds 0.45 width^3 particles
    bench_solve_others others;
    bench_when when;
} bench_solve_entry;

extern const bench_solve_entry bench_solve_entries[];
extern const int bench_solve_entry_count;

typedef struct bench_solve_time {
    int iterations;
    double cpu;    // s, of all threads
    double error;  // left, of the mean source
    bool done;
} bench_solve_time;

// Plain data: it comes from the child through a pipe.
typedef struct bench_solve_result {
    rh_code code;
    char message[512];  // when code is not RH_OK
    int threads;
    int64_t particles, unknowns, resident;
    bench_solve_time levels, plain, sweeps;
} bench_solve_result;

typedef struct bench_solve_row {
    const bench_solve_entry *entry;
    bench_solve_result result;
} bench_solve_row;

static inline bool bench_solve_fine(const bench_solve_row *row)
{
    return row->result.code == RH_OK && row->result.levels.done;
}

void bench_solve_measure(const bench_solve_entry *entry, int threads, bench_solve_result *out);
void bench_solve_list(FILE *to);
void bench_solve_print(FILE *to, const bench_solve_row *rows, int count);
rh_code bench_solve_write_csv(const char *path, const bench_solve_row *rows, int count, rh_status *status);
