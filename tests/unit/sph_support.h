// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles in a box whose walls are solid, and all that a pressure solve of smoothed particles needs of them. Lengths
// are in particle spacings.
#pragma once
#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "check.h"
#include "physics/sph/pressure.h"

typedef struct bench {
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
    float *x, *y, *z;
} bench;

static inline void make_kernel(rh_sph_kernel *k, int dimension, double spacing, bool mirrored)
{
    const rh_sph_kernel_options o = {dimension, spacing, 2, RH_SPH_MUELLER, 1e9, 1e9, mirrored};
    rh_sph_kernel_init(k, &o);
}

static inline void open_bench(bench *b, int dimension, rh_dvec3 low, rh_dvec3 high)
{
    rh_status status = {0};
    memset(b, 0, sizeof *b);
    b->solid = (rh_obstacle){
        .inside_out = true, .rests = true, .pose = {.rotation = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}};
    b->solid.shape = (rh_shape){.kind = RH_SHAPE_BOX, .as.box = {low, high, 0}, .flat = dimension == 2};
    b->solids = (rh_obstacles){.items = &b->solid, .count = 1};
    b->around = (rh_surroundings){.dimension = dimension, .cell = 2, .obstacles = &b->solids};
    rh_points_init(&b->points);
    rh_arena_init(&b->arena, "test");
    assert_int_equal(rh_points_add(&b->points, "P", RH_POINT_VEC3F, &status), RH_OK);
    assert_int_equal(rh_sph_wall_cache_create(&b->cache, &status), RH_OK);
    make_kernel(&b->kernel, dimension, 1, false);
}

static inline void close_bench(bench *b)
{
    rh_sph_wall_cache_free(b->cache);
    rh_sph_lists_free(&b->lists);
    rh_points_free(&b->points);
    rh_arena_free(&b->arena);
    assert_int_equal(rh_memory_bytes(), 0);
}

static inline void add(bench *b, double x, double y, double z)
{
    rh_status status = {0};
    int64_t n = b->points.count;
    assert_int_equal(rh_points_resize(&b->points, n + 1, &status), RH_OK);
    ((rh_vec3 *)rh_points_data(&b->points, "P", RH_POINT_VEC3F))[n] = rh_v3((float)x, (float)y, (float)z);
}

static inline float *take(bench *b, int per)
{
    return rh_arena_take_zero(&b->arena, (size_t)per * (size_t)(b->points.count + 8) * sizeof(float), NULL);
}

static inline void prepare(bench *b)
{
    rh_status status = {0};
    rh_sph_fluid *f = &b->fluid;
    const rh_vec3 *p = rh_points_data(&b->points, "P", RH_POINT_VEC3F);
    assert_int_equal(rh_tiles_build(&b->tiles, b->around.dimension, 2, p, b->points.count, 3, &b->arena, &status),
                     RH_OK);
    assert_int_equal(rh_tiles_sort(&b->tiles, &b->points, &b->arena, &status), RH_OK);
    assert_int_equal(rh_sph_walls_build(&b->walls, b->cache, &b->kernel, &b->around, &b->tiles, &b->arena, &status),
                     RH_OK);
    *f = (rh_sph_fluid){
        .kernel = &b->kernel,
        .walls = &b->walls,
        .lists = &b->lists,
        .tiles = &b->tiles,
        .count = b->points.count,
        .dt = 1,
        .place = take(b, 4),
        .flow = take(b, 4),
        .density = take(b, 1),
        .covered = take(b, 1),
        .excess = take(b, 1),
        .predicted = take(b, 1),
        .q = take(b, 1),
        .push = take(b, 4),
        .uneven = take(b, 4),
        .sums = rh_arena_take(&b->arena, (size_t)(rh_blocks(b->points.count) + 8) * sizeof(double), NULL)};
    b->x = take(b, 1), b->y = take(b, 1), b->z = take(b, 1);
    p = rh_points_data(&b->points, "P", RH_POINT_VEC3F);
    for (int64_t i = 0; i < f->count + 8; i++) {
        rh_vec3 at = i < f->count ? p[i] : rh_v3(1e15f, 1e15f, 1e15f);
        b->x[i] = at.x, b->y[i] = at.y, b->z[i] = at.z;
        memcpy(f->place + 4 * i, (const float[4]){at.x, at.y, at.z, 0}, 16);
    }
    const rh_sph_search search = {&b->kernel, &b->tiles, &b->solids, &b->walls,  f->count, b->x,
                                  b->y,       b->z,      f->density, f->covered, NULL,     0};
    assert_int_equal(rh_sph_lists_build(&b->lists, &search, &b->arena, &status), RH_OK);
}

static inline void fill(bench *b, int count, int layers, double lift, double jitter)
{
    bool deep = b->around.dimension == 3;
    for (int k = 0; k < (deep ? count : 1); k++)
        for (int j = 0; j < layers; j++)
            for (int i = 0; i < count; i++) {
                double r[3];
                for (int a = 0; a < 3; a++)
                    r[a] = 2 * (double)rh_random(7, (uint64_t)(i + 100 * j + 10000 * k), 0, (uint32_t)a) - 1;
                add(b, i + 0.5 + jitter * r[0], j + 0.5 + lift + jitter * r[1], deep ? k + 0.5 + jitter * r[2] : 0);
            }
}

// A tank of 3/2 n x n x n spacings, filled to 0.4 of its length and 0.75 of its height, the particles off the lattice
// by up to 0.1, with a random source, pressure 0 where the density is below 0.88: the tank with which T. Takahashi's
// multilevel method was tried apart from this code.
static inline void open_tank(bench *b, int dimension, int n)
{
    open_bench(b, dimension, rh_d3(0, 0, 0), rh_d3(1.5 * n, n + 20, n));
    int size[3] = {(int)(0.6 * n), (int)(0.75 * n), dimension == 3 ? n : 1};
    rh_status status = {0};
    assert_int_equal(rh_points_resize(&b->points, (int64_t)size[0] * size[1] * size[2], &status), RH_OK);
    rh_vec3 *x = rh_points_data(&b->points, "P", RH_POINT_VEC3F);
    int64_t m = 0;
    for (int k = 0; k < size[2]; k++)
        for (int j = 0; j < size[1]; j++)
            for (int i = 0; i < size[0]; i++, m++) {
                double r[3];
                for (int a = 0; a < 3; a++) r[a] = 0.4 + 0.2 * (double)rh_random(7, (uint64_t)m, 0, (uint32_t)a);
                x[m] = rh_v3((float)(i + r[0]), (float)(j + r[1]), dimension == 3 ? (float)(k + r[2]) : 0);
            }
    prepare(b);
    for (int64_t i = 0; i < b->fluid.count; i++) {
        b->fluid.excess[i] = 0.01f * rh_random(3, (uint64_t)i, 0, 0);
        b->fluid.predicted[i] = b->fluid.density[i] < 0.88f ? -1 : 0;
    }
}
