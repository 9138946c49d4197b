// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The benchmark program: a table of entries (entries.c), each run in a process of its own (measure.c) and compared with
// the bandwidth of this machine (bandwidth.c) by a model of the bytes each stage must move (traffic.c); tables and CSV
// (report.c), and those that only the splash method or sand has (splash_report.c, sand_report.c). Surfacing has a table
// and tables of its own (surface.h).
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/status.h"
#include "physics/physics.h"
#include "scene/scene.h"

enum { BENCH_SETTINGS = 5, BENCH_NAME = 32, BENCH_LABELS = 24, BENCH_NAMES = 2 * RH_MAX_STAGES };
enum { BENCH_PATIENCE = 30 };  // after so many seconds of an entry no repeat is begun

typedef enum bench_when {
    BENCH_ALWAYS,
    BENCH_LONG,   // only with --long, or when named
    BENCH_NAMED,  // only when named
} bench_when;

typedef struct bench_entry {
    const char *name;
    const char *group;  // entries that are compared with each other; also a name for --only
    const char *scene;  // bench/scenes/<scene>.yaml; with a slash in it: <scene>.yaml from the top of the source tree
    const char *settings[BENCH_SETTINGS];  // as --set of the program
    int resolution;                        // cells per metre, for the study of iterations; 0 = not in it
    int published;  // n: row of the published figures (Gerszewski 2014, tables 3.1, 3.2) to compare with; 0 = none
    const char *preconditioner, *expansion;  // of the study of the splash method's solver, else NULL
    int skip, frames;                        // so many frames run first without being measured, then so many are
    int most_steps;                          // of the measured part; 0 = all
    int repeats;                             // the least time counts
    int threads;                             // 0 = as --threads says
    const char *base;  // a scene that is run before with `base_setting`, into a folder that from[0] then names
    const char *base_setting;
    int worlds;  // 2: the scene twice at the same time, in two host threads with a context each; else once
    bench_when when;
} bench_entry;

extern const bench_entry bench_entries[];
extern const int bench_entry_count;

// What a stage did in all measured steps.
typedef struct bench_stage {
    char name[BENCH_NAME];
    double seconds;
    double bytes;  // that it must move by the model; 0 = the model does not know this stage
} bench_stage;

// Sums over all measured steps.
typedef struct bench_solve {
    char stage[BENCH_NAME];
    int64_t solves, iterations, cg, expansions, proportionings, preparations;
} bench_solve;

typedef struct bench_label {
    char name[BENCH_NAME];
    int64_t peak;
} bench_label;

typedef struct bench_memory {
    int64_t peak, resident;  // bytes, of the whole run: through rh_alloc, of the process
    bench_label labels[BENCH_LABELS];
    int label_count;
} bench_memory;

// Plain data: it comes from the child through a pipe.
typedef struct bench_result {
    rh_code code;
    char message[512];  // when code is not RH_OK
    int threads, repeats, steps;
    double particle_steps, cell_steps, tile_steps;  // sums over the steps: divided by `steps` they are means
    double simulated;                               // s, of the measured steps
    double seconds, cpu_seconds;
    bench_stage stages[RH_MAX_STAGES];
    int stage_count;
    bench_solve solves[RH_MAX_SOLVES];
    int solve_count;
    int64_t iterations;   // of the pressure solve, all steps; of the splash method both solves
    int most_iterations;  // of one step
    int64_t most_particles;
    bench_memory memory;
    uint64_t hash;  // of the particles at the end: repeats, and entries that differ in threads only, must agree
} bench_result;

typedef struct bench_bandwidth {
    double copy, triad;
} bench_bandwidth;  // bytes a second

// --- measure.c -------------------------------------------------------------------------------------------------------
// Runs an entry `repeats` times, each in a child process. Keeps the least time of every stage and of the whole.
void bench_measure(const bench_entry *entry, int threads, int repeats, bench_result *out);
// Calls work(argument, out) in a child process that fills `bytes` bytes at `out`; false when the child died.
bool bench_in_child(void (*work)(const void *argument, void *out), const void *argument, void *out, size_t bytes);
rh_code bench_load_scene(const char *name, const char *const *settings, int count, rh_scene *scene,
                         rh_status *status);  // name: as bench_entry.scene
double bench_cpu_seconds(void);               // of all threads so far
void bench_note_memory(bench_memory *out);

// --- bandwidth.c, traffic.c ------------------------------------------------------------------------------------------
bool bench_bandwidth_measure(int threads, bench_bandwidth *out);
static inline double bench_best_bandwidth(const bench_bandwidth *b) { return b->copy > b->triad ? b->copy : b->triad; }

typedef struct bench_work {
    double particles, cells, values, iterations;
    bool lists;                                                   // the method searches neighbours
} bench_work;                                                     // of one step; see traffic.c
double bench_traffic(const char *stage, const bench_work *work);  // bytes; 0 = no such stage in the model

// --- report.c --------------------------------------------------------------------------------------------------------
typedef struct bench_row {
    const bench_entry *entry;
    bench_result result;
    bench_bandwidth bandwidth;
} bench_row;

static inline bool bench_fine(const bench_row *row) { return row->result.code == RH_OK && row->result.steps > 0; }
void bench_print_tables(FILE *to, const bench_row *rows, int count);
void bench_print_memory(FILE *to, const bench_row *rows, int count);
// Names in the order of a step: one that is new stands behind the one that came before it.
typedef struct bench_names {
    const char *name[BENCH_NAMES];
    int count;
} bench_names;
void bench_names_add(bench_names *names, const bench_stage *stages, int count);
const bench_stage *bench_find_stage(const bench_stage *stages, int count, const char *name);  // NULL when missing
int bench_width(const char *name);                                                            // of its column
void bench_print_labels(FILE *to, const char *entry, int64_t particles, const bench_memory *memory);
void bench_write_text(FILE *to, const char *text);  // as a field of CSV
rh_code bench_write_csv(const char *path, const bench_row *rows, int count, rh_status *status);

// --- splash_report.c -------------------------------------------------------------------------------------------------
bool bench_is_splash(const bench_entry *entry);  // its group begins with "splash-"
void bench_splash_print(FILE *to, const bench_row *rows, int count);
// Only rows of the splash method; no file when there are none.
rh_code bench_splash_write_csv(const char *path, const bench_row *rows, int count, rh_status *status);

// --- sand_report.c ---------------------------------------------------------------------------------------------------
bool bench_is_sand(const bench_entry *entry);  // its group is "sand" or begins with "sand-"
void bench_sand_print(FILE *to, const bench_row *rows, int count);
// Only rows of sand; no file when there are none.
rh_code bench_sand_write_csv(const char *path, const bench_row *rows, int count, rh_status *status);
