// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What several tests share: comparison in double, random particle sets with their tiles, scenes from text.
#pragma once
#include "check.h"
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "grid/tiles.h"
#include "io/frame.h"
#include "scene/scene.h"
#include "world/world.h"

// cmocka compares in float.
#define assert_near(found, expected, tolerance) support_near((found), (expected), (tolerance), __FILE__, __LINE__)
static inline void support_near(double found, double expected, double tolerance, const char *file, int line)
{
    if (!(fabs(found - expected) <= tolerance)) {
        print_error("found %.17g, expected %.17g within %g\n", found, expected, tolerance);
        _fail(file, line);
    }
}

#define assert_ok(call) support_ok((call), &status, __FILE__, __LINE__)
static inline void support_ok(rh_code code, const rh_status *status, const char *file, int line)
{
    if (code != RH_OK) {
        print_error("failed with code %d: %s\n", (int)code, status->message);
        _fail(file, line);
    }
}

// Field by field: the bytes between them are anyone's.
static inline bool support_same_facts(const rh_frame_info *a, const rh_frame_info *b)
{
    return a->frame == b->frame && a->time == b->time && a->fps == b->fps && a->cell == b->cell &&
           a->scene_hash == b->scene_hash && a->z_up == b->z_up;
}

// Uniform in [-1, 1).
static inline float support_random(uint64_t id, uint32_t lane) { return 2 * rh_random(20, id, 0, lane) - 1; }

// Particles with P, v, id and (C) on tiles, sorted.
typedef struct cloud {
    rh_points points;
    rh_tiles tiles;
    rh_arena arena;
    rh_vec3 *p, *v;
    float (*c)[9];
} cloud;

static inline void cloud_refresh(cloud *c)
{
    c->p = rh_points_data(&c->points, "P", RH_POINT_VEC3F);
    c->v = rh_points_data(&c->points, "v", RH_POINT_VEC3F);
    c->c = rh_points_data(&c->points, "C", RH_POINT_MAT3F);
}

static inline void cloud_make(cloud *c, int64_t count)
{
    rh_status status = {0};
    rh_arena_init(&c->arena, "test");
    rh_points_init(&c->points);
    assert_ok(rh_points_add(&c->points, "P", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(&c->points, "v", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(&c->points, "C", RH_POINT_MAT3F, &status));
    assert_ok(rh_points_add(&c->points, "id", RH_POINT_I64, &status));
    assert_ok(rh_points_resize(&c->points, count, &status));
    cloud_refresh(c);
    int64_t *id = rh_points_data(&c->points, "id", RH_POINT_I64);
    for (int64_t i = 0; i < count; i++) id[i] = i;
}

static inline void cloud_tile(cloud *c, int dimension, double h, int margin)
{
    rh_status status = {0};
    assert_ok(rh_tiles_build(&c->tiles, dimension, h, c->p, c->points.count, margin, &c->arena, &status));
    assert_ok(rh_tiles_sort(&c->tiles, &c->points, &c->arena, &status));
    assert_true(rh_tiles_is_valid(&c->tiles));
    cloud_refresh(c);
}

// Random positions in a box around `center` with half sizes `reach`, random velocities and velocity gradients of order
// one.
static inline void cloud_random(cloud *c, int dimension, double h, int64_t count, rh_vec3 center, rh_vec3 reach,
                                int margin)
{
    cloud_make(c, count);
    for (int64_t i = 0; i < count; i++) {
        uint64_t id = (uint64_t)i;
        for (int a = 0; a < 3; a++) {
            (&c->p[i].x)[a] = a < dimension ? (&center.x)[a] + (&reach.x)[a] * support_random(id, (uint32_t)a) : 0;
            (&c->v[i].x)[a] = a < dimension ? support_random(id, (uint32_t)a + 3) : 0;
        }
        for (int n = 0; n < 9; n++)
            c->c[i][n] = n % 3 < dimension && n / 3 < dimension ? support_random(id, (uint32_t)n + 6) : 0;
    }
    cloud_tile(c, dimension, h, margin);
}

static inline void cloud_free(cloud *c)
{
    rh_arena_free(&c->arena);
    rh_points_free(&c->points);
}

// Index of the value of a cell given by its number in the world, or -1 when no tile covers it.
static inline int64_t value_at(const rh_tiles *tiles, int x, int y, int z)
{
    int32_t t = rh_tiles_find(tiles, (rh_tile){x >> 3, y >> 3, tiles->dimension == 3 ? z >> 3 : 0});
    if (t < 0) return -1;
    return (int64_t)t * tiles->cells + (x & 7) + RH_TILE * ((y & 7) + (tiles->dimension == 3 ? RH_TILE * (z & 7) : 0));
}

// The number in the world of a value's cell, the other way round.
static inline void cell_of(const rh_tiles *tiles, int64_t value, int out[3])
{
    rh_tile at = tiles->at[value / tiles->cells];
    int c = (int)(value % tiles->cells);
    out[0] = at.x * RH_TILE + (c & 7);
    out[1] = at.y * RH_TILE + (c >> 3 & 7);
    out[2] = tiles->dimension == 3 ? at.z * RH_TILE + (c >> 6) : 0;
}

// A value of a field whose tiles lie apart.
static inline float value_apart(const rh_tiles *tiles, const float *const *apart, int64_t value)
{
    return apart[value / tiles->cells][value % tiles->cells];
}

// Position of a value of component `axis` (3 = cell centres), in cells.
static inline void lattice_point(const rh_tiles *tiles, int64_t value, int axis, double out[3])
{
    int cell[3];
    cell_of(tiles, value, cell);
    for (int a = 0; a < 3; a++) out[a] = a >= tiles->dimension ? 0 : cell[a] + (a == axis ? 0 : 0.5);
}

static inline void scene_make(rh_scene *scene, const char *text)
{
    rh_status status = {0};
    assert_ok(rh_scene_load_text("test.yaml", text, strlen(text), NULL, 0, scene, &status));
}

static inline rh_world *world_make(rh_scene *scene, const char *text)
{
    rh_status status = {0};
    rh_world *world = NULL;
    scene_make(scene, text);
    assert_ok(rh_world_create(scene, &world, &status));
    return world;
}

static inline void world_drop(rh_world *world, rh_scene *scene)
{
    rh_world_free(world);
    rh_scene_free(scene);
    assert_int_equal(rh_memory_bytes(), 0);
}
