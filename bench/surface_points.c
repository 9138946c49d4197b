// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What is surfaced.
//
// Splash: the dam break of bench/scenes/dam_cube.yaml when the water has run up the far wall and falls from the lid in
// sheets and drops. Of all frames it has the largest surface (at 32 cells 1.8 times the voxels of frame 9, when the
// column still runs). It is simulated once, in a child, because the parent must not start threads (measure.c).
//
// Sea: squares of choppy water with spray above, side by side with gaps that are wider than anything reaches. A
// jittered lattice of spacing 1 m, about 14 points deep, waves in units of the spacing. All squares have the same waves
// and differ in the jitter, so the work of a point does not depend on how many there are. (One wide sea is not linear
// work: its four sides, a quarter of the surface at 10^5 points, become nothing.)
#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "scene/scene.h"
#include "surface.h"
#include "world/world.h"

enum { SPLASH_FRAME = 25 };                                                      // 0.8 s
enum { SQUARE = 84, GAP = 10, DEPTH = 14, LAYERS = 30, SPRAY = 8, LANES = 32 };  // spacings
static const float SEA_RADIUS = 0.62035f;                                        // m: a ball of 1 m^3

// --- splash ----------------------------------------------------------------------------------------------------------
static rh_code copy_splash(const rh_points *points, bench_splash *out, rh_status *status)
{
    if (points->count > BENCH_SPLASH_ROOM)
        return rh_fail(status, RH_NUMERIC, "the splash has %lld points, room is for %d", (long long)points->count,
                       BENCH_SPLASH_ROOM);
    out->count = points->count;
    out->radius = *(const float *)rh_points_find(points, "radius")->data;
    memcpy(out->position, rh_points_data(points, "P", RH_POINT_VEC3F), (size_t)out->count * sizeof(rh_vec3));
    memcpy(out->velocity, rh_points_data(points, "v", RH_POINT_VEC3F), (size_t)out->count * sizeof(rh_vec3));
    return RH_OK;
}

static rh_code simulate(int cells, bench_splash *out, rh_status *status)
{
    char cell[64];
    const char *settings[] = {cell};
    rh_scene scene;
    rh_world *world;
    snprintf(cell, sizeof cell, "cell=%.17g", 1.0 / cells);
    RH_TRY(bench_load_scene("dam_cube", settings, 1, &scene, status));
    rh_code code = rh_world_create(&scene, &world, status);
    if (code == RH_OK) {
        code = rh_world_advance_to(world, SPLASH_FRAME, status);
        if (code == RH_OK) code = copy_splash(rh_world_points(world), out, status);
        rh_world_free(world);
    }
    rh_scene_free(&scene);
    return code;
}

typedef struct splash_job {
    int cells, threads;
} splash_job;

static void simulate_in_child(const void *argument, void *out)
{
    const splash_job *job = argument;
    bench_splash *splash = out;
    rh_status status = {0};
    rh_threads_set(job->threads);
    splash->code = simulate(job->cells, splash, &status);
    snprintf(splash->message, sizeof splash->message, "%.511s", status.message);
}

void bench_splash_prepare(bench_splash *splash, int cells, int threads)
{
    splash_job job = {cells, threads};
    if (splash->cells == cells) return;
    if (!bench_in_child(simulate_in_child, &job, splash, sizeof *splash)) {
        splash->code = RH_MEMORY;
        snprintf(splash->message, sizeof splash->message,
                 "the simulation of the splash died, most likely because memory ran out");
    }
    splash->cells = cells;
}

// --- points ----------------------------------------------------------------------------------------------------------
static rh_code add_all(rh_points *points, int64_t count, float radius, bool velocity, rh_status *status)
{
    RH_TRY(rh_points_add(points, "P", RH_POINT_VEC3F, status));
    if (velocity) RH_TRY(rh_points_add(points, "v", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add_uniform(points, "radius", RH_POINT_F32, &radius, status));
    return rh_points_resize(points, count, status);
}

static rh_code make_points(rh_points *points, int64_t count, float radius, bool velocity, rh_status *status)
{
    rh_points_init(points);
    rh_code code = add_all(points, count, radius, velocity, status);
    if (code != RH_OK) rh_points_free(points);
    return code;
}

rh_code bench_splash_points(const bench_splash *splash, bool velocity, rh_points *points, rh_status *status)
{
    if (splash->code != RH_OK) return rh_fail(status, splash->code, "%s", splash->message);
    RH_TRY(make_points(points, splash->count, splash->radius, velocity, status));
    size_t bytes = (size_t)splash->count * sizeof(rh_vec3);
    memcpy(rh_points_data(points, "P", RH_POINT_VEC3F), splash->position, bytes);
    if (velocity) memcpy(rh_points_data(points, "v", RH_POINT_VEC3F), splash->velocity, bytes);
    return RH_OK;
}

// --- sea -------------------------------------------------------------------------------------------------------------
static double sea_height(int x, int z)
{
    return DEPTH + 4 * sin(x * 0.31) * cos(z * 0.27) + 2 * sin(x * 0.8 + z * 0.5);
}

// The points of one row of columns of one square; counts them when `position` is NULL.
static int64_t sea_row(int64_t row, int squares, rh_vec3 *position, rh_vec3 *velocity)
{
    int64_t square = row / SQUARE, wide = (int64_t)ceil(sqrt(squares)), found = 0;
    int x = (int)(row % SQUARE);
    double corner_x = (double)((square % wide) * (SQUARE + GAP)), corner_z = (double)((square / wide) * (SQUARE + GAP));
    for (int z = 0; z < SQUARE; z++) {
        double height = sea_height(x, z);
        for (int y = 0; y < LAYERS; y++) {
            uint64_t id = (uint64_t)((row * SQUARE + z) * LANES + y);
            double up = y + rh_random(1, id, 0, 1), top = height + (rh_random(1, id, 0, 3) < 0.01f ? SPRAY : 0);
            if (up > top) continue;
            if (position)
                position[found] = rh_v3((float)(corner_x + x + rh_random(1, id, 0, 0)), (float)up,
                                        (float)(corner_z + z + rh_random(1, id, 0, 2)));
            if (velocity)
                velocity[found] = rh_v3((float)(height - DEPTH), (float)(up - height), 0);  // nothing but some values
            found++;
        }
    }
    return found;
}

static int64_t count_sea(int squares, int64_t *first)
{
    int64_t rows = (int64_t)squares * SQUARE, sum = 0;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) first[row] = sea_row(row, squares, NULL, NULL);
    for (int64_t row = 0; row < rows; row++) {
        int64_t here = first[row];
        first[row] = sum;
        sum += here;
    }
    return sum;
}

rh_code bench_sea_points(int squares, bool velocity, rh_points *points, rh_status *status)
{
    int64_t rows = (int64_t)squares * SQUARE;
    int64_t *first = rh_alloc((size_t)rows * sizeof *first, "bench", status);
    if (!first) return RH_MEMORY;
    rh_code code = make_points(points, count_sea(squares, first), SEA_RADIUS, velocity, status);
    if (code == RH_OK) {
        rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F),
                *v = velocity ? rh_points_data(points, "v", RH_POINT_VEC3F) : NULL;
#pragma omp parallel for schedule(static)
        for (int64_t row = 0; row < rows; row++) sea_row(row, squares, p + first[row], v ? v + first[row] : NULL);
    }
    rh_free(first);
    return code;
}
