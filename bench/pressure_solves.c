// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One solve of the pressure of smoothed particles at rest in a tank, filled to 0.4 of its length and 0.75 of its
// height, as T. Takahashi's multilevel method was tried apart from this code (docs/theory/sph.md): particles off the
// lattice by up to 0.1 spacings, pressure 0 where the density is below 0.88, a random source, no first guess. All solve
// to a mean error of 1e-4 of the source. Sweeps have an operator and a system of their own; they stop after PATIENCE
// times the time of the levels, and the row says how far they came.
#include "pressure_solves.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "physics/sph/pressure.h"

static const double PATIENCE = 14, SOURCE = 0.005, TOLERANCE = 1e-4;  // source: mean density error
enum { MARGIN = 3, TRIAL = 12 };

const bench_solve_entry bench_solve_entries[] = {
    {"solve-0.1M", "sph-solves", 61, BENCH_SOLVE_SWEEPS, BENCH_ALWAYS},
    {"solve-0.4M", "sph-solves", 96, BENCH_SOLVE_SWEEPS, BENCH_ALWAYS},
    {"solve-1M", "sph-solves", 131, BENCH_SOLVE_PLAIN, BENCH_LONG},
    {"solve-3.4M", "sph-solves", 196, BENCH_SOLVE_SWEEPS, BENCH_LONG},
    {"solve-10M", "sph-solves", 282, BENCH_SOLVE_ALONE, BENCH_LONG},
    {"solve-tiny", "sph-solves-tiny", 16, BENCH_SOLVE_SWEEPS, BENCH_NAMED},
};
const int bench_solve_entry_count = sizeof bench_solve_entries / sizeof bench_solve_entries[0];

// --- the tank --------------------------------------------------------------------------------------------------------
typedef struct tank {
    rh_obstacle solid;
    rh_obstacles solids;
    rh_surroundings around;
    rh_points points;
    rh_arena arena;
    rh_tiles tiles;
    rh_sph_kernel kernel;
    rh_sph_wall_cache *cache;
    rh_sph_walls walls;
    rh_sph_lists lists;
    rh_sph_fluid fluid;
} tank;

static rh_code fill(tank *t, int width, rh_status *status)
{
    int64_t nx = (int64_t)(0.6 * width), ny = (int64_t)(0.75 * width), count = nx * ny * width;
    rh_points_init(&t->points);
    RH_TRY(rh_points_add(&t->points, "P", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_resize(&t->points, count, status));
    rh_vec3 *x = rh_points_data(&t->points, "P", RH_POINT_VEC3F);
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < count; m++) {
        double r[3];
        for (int a = 0; a < 3; a++) r[a] = 0.4 + 0.2 * (double)rh_random(7, (uint64_t)m, 0, (uint32_t)a);
        x[m] = rh_v3((float)((double)(m % nx) + r[0]), (float)((double)(m / nx % ny) + r[1]),
                     (float)((double)(m / nx / ny) + r[2]));
    }
    return RH_OK;
}

static void surround(tank *t, int width)
{
    t->solid = (rh_obstacle){
        .inside_out = true, .rests = true, .pose = {.rotation = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}};
    t->solid.shape = (rh_shape){.kind = RH_SHAPE_BOX, .as.box = {{0, 0, 0}, {1.5 * width, width + 20, width}, 0}};
    t->solids = (rh_obstacles){.items = &t->solid, .count = 1};
    t->around = (rh_surroundings){.dimension = 3, .cell = 2, .obstacles = &t->solids};
    const rh_sph_kernel_options o = {3, 1, 2, RH_SPH_MUELLER, 1e9, 1e9, false};
    rh_sph_kernel_init(&t->kernel, &o);
}

static float *take(tank *t, int per, rh_status *status)
{
    return rh_arena_take_zero(&t->arena, (size_t)per * (size_t)(t->points.count + 8) * sizeof(float), status);
}

static rh_code take_fluid(tank *t, rh_status *status)
{
    rh_sph_fluid *f = &t->fluid;
    *f = (rh_sph_fluid){
        .kernel = &t->kernel,
        .walls = &t->walls,
        .lists = &t->lists,
        .tiles = &t->tiles,
        .count = t->points.count,
        .dt = 1,
        .place = take(t, 4, status),
        .density = take(t, 1, status),
        .covered = take(t, 1, status),
        .excess = take(t, 1, status),
        .predicted = take(t, 1, status),
        .q = take(t, 1, status),
        .push = take(t, 4, status),
        .sums = rh_arena_take(&t->arena, (size_t)(rh_blocks(t->points.count) + 8) * sizeof(double), status)};
    return f->place && f->density && f->covered && f->excess && f->predicted && f->q && f->push && f->sums ? RH_OK
                                                                                                           : RH_MEMORY;
}

static rh_code find_neighbours(tank *t, rh_status *status)
{
    rh_sph_fluid *f = &t->fluid;
    rh_arena_mark mark = rh_arena_save(&t->arena);
    float *x = take(t, 1, status), *y = take(t, 1, status), *z = take(t, 1, status);
    if (!x || !y || !z) return RH_MEMORY;
    const rh_vec3 *p = rh_points_data(&t->points, "P", RH_POINT_VEC3F);
    for (int64_t i = 0; i < f->count + 8; i++) {
        rh_vec3 at = i < f->count ? p[i] : rh_v3(1e15f, 1e15f, 1e15f);
        x[i] = at.x, y[i] = at.y, z[i] = at.z;
        memcpy(f->place + 4 * i, (const float[4]){at.x, at.y, at.z, 0}, 4 * sizeof(float));
    }
    const rh_sph_search search = {&t->kernel, &t->tiles, &t->solids, &t->walls,  f->count, x,
                                  y,          z,         f->density, f->covered, NULL,     0};
    RH_TRY(rh_sph_lists_build(&t->lists, &search, &t->arena, status));
    rh_arena_restore(&t->arena, mark);
    for (int64_t i = 0; i < f->count; i++) {
        f->excess[i] = (float)(2 * SOURCE) * rh_random(3, (uint64_t)i, 0, 0);
        f->predicted[i] = f->density[i] < 0.88f ? -1 : 0;
    }
    return RH_OK;
}

static rh_code open_tank(tank *t, int width, rh_status *status)
{
    surround(t, width);
    RH_TRY(fill(t, width, status));
    rh_arena_init(&t->arena, "bench.tank");
    RH_TRY(rh_sph_wall_cache_create(&t->cache, status));
    const rh_vec3 *p = rh_points_data(&t->points, "P", RH_POINT_VEC3F);
    RH_TRY(rh_tiles_build(&t->tiles, 3, 2, p, t->points.count, MARGIN, &t->arena, status));
    RH_TRY(rh_tiles_sort(&t->tiles, &t->points, &t->arena, status));
    RH_TRY(rh_sph_walls_build(&t->walls, t->cache, &t->kernel, &t->around, &t->tiles, &t->arena, status));
    RH_TRY(take_fluid(t, status));
    return find_neighbours(t, status);
}

static void close_tank(tank *t)
{
    rh_sph_wall_cache_free(t->cache);
    rh_sph_lists_free(&t->lists);
    rh_points_free(&t->points);
    rh_arena_free(&t->arena);
}

// --- measuring -------------------------------------------------------------------------------------------------------
static rh_code solve(tank *t, rh_sph_solve_function *function, bool levels, int most, bench_solve_time *out,
                     int64_t *unknowns, rh_status *status)
{
    const rh_sph_solve_options o = {.wall_term = RH_SPH_MIRRORED,
                                    .surface = RH_SPH_SPARSE,
                                    .levels = levels,
                                    .tolerance = SOURCE * TOLERANCE,
                                    .max_iterations = most};
    rh_sph_solved solved;
    rh_arena_mark mark = rh_arena_save(&t->arena);
    memset(t->fluid.q, 0, (size_t)t->fluid.count * sizeof *t->fluid.q);
    double start = bench_cpu_seconds();
    rh_code code = function(&t->fluid, &o, &t->arena, &solved, status);
    *out = (bench_solve_time){solved.iterations, bench_cpu_seconds() - start, solved.error / SOURCE, solved.converged};
    rh_arena_restore(&t->arena, mark);
    *unknowns = solved.unknowns;
    return code;
}

// As many sweeps as take PATIENCE times as long as the levels; how long one takes is tried first.
static rh_code sweep(tank *t, bench_solve_result *out, rh_status *status)
{
    int64_t all;
    bench_solve_time few;
    RH_TRY(solve(t, rh_sph_solve_iisph, false, TRIAL, &few, &all, status));
    double most = PATIENCE * out->levels.cpu / few.cpu * TRIAL;
    return solve(t, rh_sph_solve_iisph, false, (int)fmin(most, 1e6), &out->sweeps, &all, status);
}

static rh_code run(const bench_solve_entry *e, tank *t, bench_solve_result *out, rh_status *status)
{
    enum { MOST = 10000 };
    RH_TRY(open_tank(t, e->width, status));
    out->particles = t->fluid.count;
    RH_TRY(solve(t, rh_sph_solve_isph, true, MOST, &out->levels, &out->unknowns, status));
    if (e->others >= BENCH_SOLVE_PLAIN)
        RH_TRY(solve(t, rh_sph_solve_isph, false, MOST, &out->plain, &out->unknowns, status));
    return e->others == BENCH_SOLVE_SWEEPS ? sweep(t, out, status) : RH_OK;
}

typedef struct job {
    const bench_solve_entry *entry;
    int threads;
} job;

static void run_in_child(const void *argument, void *out)
{
    const job *j = argument;
    bench_solve_result *r = out;
    rh_status status = {0};
    tank t = {.cache = NULL};
    rh_threads_set(j->threads);
    r->code = run(j->entry, &t, r, &status);
    r->resident = rh_memory_resident_peak();
    snprintf(r->message, sizeof r->message, "%.511s", r->code == RH_OK ? "" : status.message);
    close_tank(&t);
}

void bench_solve_measure(const bench_solve_entry *entry, int threads, bench_solve_result *out)
{
    job j = {entry, threads};
    *out = (bench_solve_result){.code = RH_OK};
    if (!bench_in_child(run_in_child, &j, out, sizeof *out)) {
        *out = (bench_solve_result){.code = RH_MEMORY};
        snprintf(out->message, sizeof out->message, "the process died, most likely because memory ran out");
    }
    out->threads = threads;
}

// --- reports ---------------------------------------------------------------------------------------------------------
void bench_solve_list(FILE *to)
{
    static const char *const when[] = {"", "long", "only by name"}, *const others[] = {"none", "plain", "both"};
    fprintf(to, "%-17s %-19s %10s %8s  %s\n", "solve entry", "group", "width", "others", "");
    for (int i = 0; i < bench_solve_entry_count; i++) {
        const bench_solve_entry *e = &bench_solve_entries[i];
        fprintf(to, "%-17s %-19s %10d %8s  %s\n", e->name, e->group, e->width, others[e->others], when[e->when]);
    }
}

void bench_solve_print(FILE *to, const bench_solve_row *rows, int count)
{
    fprintf(
        to,
        "\nPressure solves of smoothed particles, to a mean error of %g of the source: iterations, processor seconds, "
        "and the time of the others over that of the levels. Sweeps end after %g times that; left: their error "
        "then, of the source.\n\n",
        TOLERANCE, PATIENCE);
    fprintf(to, "%-17s %3s %10s %10s %7s %9s %7s %9s %7s %7s %9s %7s %9s %8s\n", "solve entry", "thr", "particles",
            "unknowns", "levels", "s", "plain", "s", "times", "sweeps", "s", "times", "left", "RSS/p");
    for (int i = 0; i < count; i++) {
        const bench_solve_result *r = &rows[i].result;
        if (!bench_solve_fine(&rows[i])) {
            fprintf(to, "%-17s failed: %s\n", rows[i].entry->name, r->message);
            continue;
        }
        fprintf(to, "%-17s %3d %10lld %10lld %7d %9.3f", rows[i].entry->name, r->threads, (long long)r->particles,
                (long long)r->unknowns, r->levels.iterations, r->levels.cpu);
        if (rows[i].entry->others >= BENCH_SOLVE_PLAIN)
            fprintf(to, " %7d %9.3f %7.1f", r->plain.iterations, r->plain.cpu, r->plain.cpu / r->levels.cpu);
        else fprintf(to, " %7s %9s %7s", "", "", "");
        if (rows[i].entry->others == BENCH_SOLVE_SWEEPS)
            fprintf(to, " %7d %9.3f %s%6.1f %9.2g", r->sweeps.iterations, r->sweeps.cpu, r->sweeps.done ? " " : ">",
                    r->sweeps.cpu / r->levels.cpu, r->sweeps.error);
        else fprintf(to, " %7s %9s %7s %9s", "", "", "", "");
        fprintf(to, " %8.1f\n", (double)r->resident / (double)r->particles);
    }
}

rh_code bench_solve_write_csv(const char *path, const bench_solve_row *rows, int count, rh_status *status)
{
    FILE *to = fopen(path, "w");
    if (!to) return rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
    fprintf(to, "entry,group,threads,particles,unknowns,levels_iterations,levels_cpu_s,plain_iterations,plain_cpu_s,"
                "sweeps,sweeps_cpu_s,sweeps_error,sweeps_done,resident_bytes,error\n");
    for (int i = 0; i < count; i++) {
        const bench_solve_result *r = &rows[i].result;
        fprintf(to, "%s,%s,%d,%lld,%lld,%d,%.5g,%d,%.5g,%d,%.5g,%.5g,%d,%lld,", rows[i].entry->name,
                rows[i].entry->group, r->threads, (long long)r->particles, (long long)r->unknowns, r->levels.iterations,
                r->levels.cpu, r->plain.iterations, r->plain.cpu, r->sweeps.iterations, r->sweeps.cpu, r->sweeps.error,
                r->sweeps.done, (long long)r->resident);
        bench_write_text(to, r->message);
        fprintf(to, "\n");
    }
    bool bad = ferror(to) != 0;
    return fclose(to) != 0 || bad ? rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno)) : RH_OK;
}
