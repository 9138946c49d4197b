// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Benchmarks of surfacing: a second table (surface_entries.c) over two sets of points (surface_points.c), each row one
// way to make a level set of them, ours or the peer's, in a process of its own (surface_measure.c); tables and CSV
// (surface_report.c).
#pragma once
#include "bench.h"
#include "surface/surfacing.h"

enum { BENCH_PEER = -1, BENCH_SPLASH_ROOM = 1 << 19 };  // points; 64 cells give 502 656

typedef enum bench_points_kind { BENCH_SPLASH, BENCH_SEA } bench_points_kind;

typedef struct bench_surface_entry {
    const char *name;
    const char *group;  // "surface" names all rows
    bench_points_kind points;
    int size;       // splash: cells a metre; sea: squares of about 10^5 points
    int method;     // rh_surfacing_mode, or BENCH_PEER
    bool velocity;  // carried to the surface
    int repeats;
    int threads;  // 0 = as --threads says
    bench_when when;
} bench_surface_entry;

extern const bench_surface_entry bench_surface_entries[];
extern const int bench_surface_entry_count;

// Plain data: it comes from the child through a pipe.
typedef struct bench_surface_result {
    rh_code code;
    char message[512];  // when code is not RH_OK
    int threads, repeats;
    int64_t points;
    double seconds, cpu_seconds;
    bench_stage stages[RH_SURFACING_STAGES];
    int stage_count;
    int64_t leaves, active, bytes;  // of the level set
    bench_memory memory;
    uint64_t hash;  // of the band; of the peer 0
} bench_surface_result;

typedef struct bench_surface_row {
    const bench_surface_entry *entry;
    bench_surface_result result;
} bench_surface_row;

static inline bool bench_surface_fine(const bench_surface_row *row)
{
    return row->result.code == RH_OK && row->result.points > 0;
}
// Rows that differ in nothing but threads: their level sets must be the same.
static inline bool bench_surface_same(const bench_surface_entry *a, const bench_surface_entry *b)
{
    return a->points == b->points && a->size == b->size && a->method == b->method && a->velocity == b->velocity;
}
static inline bool bench_surface_differ(const bench_surface_row *a, const bench_surface_row *b)
{
    return bench_surface_fine(a) && bench_surface_fine(b) && bench_surface_same(a->entry, b->entry) &&
           (a->result.hash != b->result.hash || a->result.active != b->result.active);
}

// --- surface_points.c ------------------------------------------------------------------------------------------------
// Points of a simulated frame, handed from the child that simulated them to those that measure.
typedef struct bench_splash {
    rh_code code;
    char message[512];
    int cells;  // a metre; 0 = nothing simulated yet
    int64_t count;
    float radius;  // m
    rh_vec3 position[BENCH_SPLASH_ROOM], velocity[BENCH_SPLASH_ROOM];
} bench_splash;
// Simulates it in a child unless it is there.
void bench_splash_prepare(bench_splash *splash, int cells, int threads);

// P, radius and, when wanted, v. On failure there is nothing to free.
rh_code bench_splash_points(const bench_splash *splash, bool velocity, rh_points *points, rh_status *status);
rh_code bench_sea_points(int squares, bool velocity, rh_points *points, rh_status *status);

// --- surface_measure.c -----------------------------------------------------------------------------------------------
void bench_surface_measure(const bench_surface_entry *entry, const bench_splash *splash, int threads, int repeats,
                           bench_surface_result *out);

// --- surface_report.c ------------------------------------------------------------------------------------------------
const char *bench_method_name(int method);
void bench_surface_list(FILE *to);
void bench_surface_print(FILE *to, const bench_surface_row *rows, int count);
rh_code bench_surface_write_csv(const char *path, const bench_surface_row *rows, int count, rh_status *status);
