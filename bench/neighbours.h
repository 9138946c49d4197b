// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Benchmarks of the search for neighbours: a fourth table. Scattered points in a box, a radius of two spacings (33
// neighbours in three dimensions, 13 in two); measured are the build of the search and that of the lists, against what
// they cannot do without (neighbours.c).
#pragma once
#include "bench.h"

typedef struct bench_neighbours_entry {
    const char *name;
    const char *group;  // "neighbours" names all rows
    int64_t points;
    int dimension;
    bool by_particle;
    int repeats, threads;  // threads: 0 = as --threads says
    bench_when when;
} bench_neighbours_entry;

extern const bench_neighbours_entry bench_neighbours_entries[];
extern const int bench_neighbours_entry_count;

// Plain data: it comes from the child through a pipe.
typedef struct bench_neighbours_result {
    rh_code code;
    char message[512];  // when code is not RH_OK
    int threads, repeats;
    int64_t points, pairs, tests;  // tests: of eight distances, in both passes of the lists
    double build, lists;           // s, least of all
    double test;                   // s: one test of eight distances alone, all threads at work
    uint64_t hash;                 // of the lists
    int64_t resident;              // bytes, peak
} bench_neighbours_result;

typedef struct bench_neighbours_row {
    const bench_neighbours_entry *entry;
    bench_neighbours_result result;
    bench_bandwidth bandwidth;
} bench_neighbours_row;

static inline bool bench_neighbours_fine(const bench_neighbours_row *row)
{
    return row->result.code == RH_OK && row->result.points > 0;
}

void bench_neighbours_measure(const bench_neighbours_entry *entry, int threads, int repeats,
                              bench_neighbours_result *out);
void bench_neighbours_list(FILE *to);
void bench_neighbours_print(FILE *to, const bench_neighbours_row *rows, int count);
rh_code bench_neighbours_write_csv(const char *path, const bench_neighbours_row *rows, int count, rh_status *status);
