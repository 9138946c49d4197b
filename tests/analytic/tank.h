// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// For tests of the viscosity's stage alone: liquid that a level set gives, in the solids of a scene, on a grid of
// tiles.
#pragma once
#include "lab.h"
#include "physics/viscosity.h"

// A grid of tiles over a square (cube) around the origin, solids of a scene, and liquid given by a function.
typedef struct tank {
    rh_scene scene;
    rh_geometry geometry;
    rh_obstacles now;
    rh_arena arena;
    rh_cut_cache cache;
    rh_cut_cells cut;
    rh_tiles tiles;
    float *phi;
    rh_faces velocity;
    int64_t blocks;
} tank;

typedef double (*level_set)(rh_dvec3 x);

static inline double everywhere(rh_dvec3 x)
{
    (void)x;
    return -1;
}

static inline void tank_open(tank *k, int dimension, double h, int tiles, level_set liquid, const char *solids)
{
    char text[2048];
    int size = snprintf(text, sizeof text,
                        "rheo: 1\ndimension: %d\ncell: %.17g\nframes: {last: 1}\nphysics: {liquid: {}}\n"
                        "bodies: [{shape: {box: {min: [0, 0, 0], max: [%g, %g, %g]}}}]\n%s",
                        dimension, h, h, h, h, solids);
    rh_status status = {0};
    *k = (tank){.blocks = rh_memory_blocks()};
    lab_check(rh_scene_load_text("tank.yaml", text, (size_t)size, NULL, 0, &k->scene, &status), &status);
    lab_check(rh_geometry_build(&k->scene, &k->geometry, &status), &status);
    lab_check(rh_obstacles_create(&k->geometry.obstacles, &k->now, &status), &status);
    lab_check(rh_obstacles_at(&k->geometry.obstacles, 0.5, 0, &k->now, &status), &status);
    rh_arena_init(&k->arena, "tank");
    rh_tile *keys = malloc((size_t)(8 * tiles * tiles * tiles) * sizeof *keys);
    int64_t count = 0;
    for (int z = dimension == 3 ? -tiles : 0; z < (dimension == 3 ? tiles : 1); z++)
        for (int y = -tiles; y < tiles; y++)
            for (int x = -tiles; x < tiles; x++) keys[count++] = (rh_tile){x, y, z};
    lab_check(rh_tiles_from_keys(&k->tiles, dimension, h, keys, count, &k->arena, &status), &status);
    free(keys);
    k->phi = rh_field_new(&k->tiles, &k->arena, &status);
    lab_check(rh_faces_new(&k->velocity, &k->tiles, true, &k->arena, &status), &status);
    lab_check(rh_cut_cells_build(&k->cut, &k->cache, &k->tiles, &k->now, &k->arena, &status), &status);
    for (int32_t t = 0; t < k->tiles.count; t++)
        for (int c = 0; c < k->tiles.cells; c++)
            k->phi[(int64_t)t * k->tiles.cells + c] = (float)liquid(
                rh_d3_from(rh_cell_center(&k->tiles, t, c & 7, c >> 3 & 7, c >> 6)));
}

static inline void tank_close(tank *k)
{
    rh_arena_free(&k->arena);
    rh_cut_cache_free(&k->cache);
    rh_obstacles_free(&k->now);
    rh_geometry_free(&k->geometry);
    rh_scene_free(&k->scene);
    assert_int_equal(rh_memory_blocks(), k->blocks);
}

static inline rh_dvec3 face_place(const tank *k, int32_t t, int c, int axis)
{
    rh_vec3 x = rh_cell_center(&k->tiles, t, c & 7, c >> 3 & 7, c >> 6);
    (&x.x)[axis] -= 0.5f * k->tiles.h;
    return rh_d3_from(x);
}

typedef rh_dvec3 (*flow)(rh_dvec3 x);
static inline void tank_set(tank *k, flow u)
{
    for (int d = 0; d < k->tiles.dimension; d++)
        for (int64_t i = 0; i < rh_tiles_values(&k->tiles); i++) {
            rh_dvec3 v = u(face_place(k, (int32_t)(i / k->tiles.cells), (int)(i % k->tiles.cells), d));
            k->velocity.axis[d][i] = (float)(&v.x)[d];
        }
}

static inline rh_viscosity law_of(const tank *k, double viscosity, double time)
{
    return (rh_viscosity){.tiles = &k->tiles,
                          .phi = k->phi,
                          .cut = &k->cut,
                          .obstacles = &k->now,
                          .viscosity = viscosity,
                          .density = 1000,
                          .time = time,
                          .tolerance = 1e-6,
                          .max_iterations = 100};
}
