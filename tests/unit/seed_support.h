// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the tests of seeding share: a scene with its geometry, what places its particles, and the particles.
#pragma once
#include "support.h"
#include "world/seed.h"

typedef struct setting {
    rh_scene scene;
    rh_geometry geometry;
    rh_seeder seeder;
    rh_points points;
} setting;

static inline void setting_make(setting *s, int per_axis, double jitter, const char *text)
{
    rh_status status = {0};
    scene_make(&s->scene, text);
    assert_ok(rh_geometry_build(&s->scene, &s->geometry, &status));
    assert_ok(rh_seeder_init(&s->seeder, &s->geometry, 0, per_axis, jitter, &status));
    rh_points_init(&s->points);
    assert_ok(rh_points_add(&s->points, "P", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(&s->points, "v", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(&s->points, "id", RH_POINT_I64, &status));
    if (s->scene.rest_position) assert_ok(rh_points_add(&s->points, "rest", RH_POINT_VEC3F, &status));
}

static inline void setting_free(setting *s)
{
    rh_points_free(&s->points);
    rh_seeder_free(&s->seeder);
    rh_geometry_free(&s->geometry);
    rh_scene_free(&s->scene);
}
