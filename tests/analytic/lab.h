// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A bench for physics tests: runs a scene given as YAML text through the library as a user would, and measures. Any
// failure of the library fails the test with its message; lab_close checks that all memory came back.
#pragma once
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "check.h"
#include "world/geometry.h"
#include "world/world.h"

typedef struct lab {
    rh_scene scene;
    rh_world *world;
    rh_geometry geometry;  // the solids once more, to ask for distances
    int64_t blocks;        // of memory, before
    double penetration;    // m: deepest a particle was seen inside a solid by lab_run
} lab;

static inline void lab_check(rh_code code, const rh_status *status)
{
    if (code != RH_OK) fail_msg("%s", status->message);
}

// The scene as a format and its arguments; the head every scene needs (version, frames) is added.
__attribute__((format(printf, 2, 3))) static inline void lab_open(lab *l, const char *format, ...)
{
    char text[8192];
    int head = snprintf(text, sizeof text, "rheo: 1\n");
    va_list arguments;
    va_start(arguments, format);
    int body = vsnprintf(text + head, sizeof text - (size_t)head, format, arguments);
    va_end(arguments);
    assert_true(body > 0 && head + body < (int)sizeof text);
    rh_status status = {0};
    *l = (lab){.blocks = rh_memory_blocks()};
    lab_check(rh_scene_load_text("lab.yaml", text, (size_t)(head + body), NULL, 0, &l->scene, &status), &status);
    lab_check(rh_geometry_build(&l->scene, &l->geometry, &status), &status);
    lab_check(rh_world_create(&l->scene, &l->world, &status), &status);
}

// The same from two texts, of any length.
static inline void lab_open_long(lab *l, const char *first, const char *second)
{
    size_t size = strlen(first) + strlen(second) + 16;
    char *text = malloc(size);
    rh_status status = {0};
    assert_non_null(text);
    snprintf(text, size, "rheo: 1\n%s%s", first, second);
    *l = (lab){.blocks = rh_memory_blocks()};
    lab_check(rh_scene_load_text("lab.yaml", text, strlen(text), NULL, 0, &l->scene, &status), &status);
    free(text);
    lab_check(rh_geometry_build(&l->scene, &l->geometry, &status), &status);
    lab_check(rh_world_create(&l->scene, &l->world, &status), &status);
}

static inline void lab_close(lab *l)
{
    rh_world_free(l->world);
    rh_geometry_free(&l->geometry);
    rh_scene_free(&l->scene);
    assert_int_equal(rh_memory_blocks(), l->blocks);
}

static inline int64_t lab_count(const lab *l) { return rh_world_points(l->world)->count; }
static inline const rh_vec3 *lab_positions(const lab *l)
{
    return rh_points_data(rh_world_points(l->world), "P", RH_POINT_VEC3F);
}
static inline const rh_vec3 *lab_velocities(const lab *l)
{
    return rh_points_data(rh_world_points(l->world), "v", RH_POINT_VEC3F);
}
static inline double lab_time(const lab *l) { return rh_world_time(l->world); }
static inline rh_progress lab_progress(const lab *l)
{
    rh_progress progress;
    rh_world_progress(l->world, &progress);
    return progress;
}

static inline double lab_max_speed(const lab *l)
{
    const rh_vec3 *v = lab_velocities(l);
    double most = 0;
    for (int64_t i = 0; i < lab_count(l); i++) most = fmax(most, (double)rh_v3_length(v[i]));
    return most;
}

static inline rh_dvec3 lab_center(const lab *l)
{
    const rh_vec3 *x = lab_positions(l);
    rh_dvec3 sum = {0, 0, 0};
    for (int64_t i = 0; i < lab_count(l); i++) sum = rh_d3_add(sum, rh_d3_from(x[i]));
    return rh_d3_scale(sum, 1 / (double)lab_count(l));
}

// Kinetic and potential energy per mass (J/kg = m^2/s^2), height from y = 0.
static inline double lab_kinetic(const lab *l)
{
    const rh_vec3 *v = lab_velocities(l);
    double sum = 0;
    for (int64_t i = 0; i < lab_count(l); i++) sum += 0.5 * (double)rh_v3_dot(v[i], v[i]);
    return sum / (double)lab_count(l);
}
static inline double lab_energy(const lab *l) { return lab_kinetic(l) - rh_d3_dot(l->scene.gravity, lab_center(l)); }

// How deep the deepest particle is inside a solid (m); negative when all are outside.
static inline double lab_penetration(lab *l)
{
    const rh_vec3 *x = lab_positions(l);
    double deepest = -1e30;
    rh_obstacles_at(&l->geometry.obstacles, lab_time(l), 0, &l->geometry.obstacles, NULL);
    for (int64_t i = 0; i < lab_count(l); i++)
        deepest = fmax(deepest, -rh_obstacles_distance(&l->geometry.obstacles, rh_d3_from(x[i]), NULL));
    return deepest;
}

// Steps to the time `until` and calls `each` (may be NULL) after every step. Looks at penetration every tenth step.
static inline void lab_run(lab *l, double until, void (*each)(lab *l, void *user), void *user)
{
    rh_status status = {0};
    for (int n = 0; until - lab_time(l) > 1e-9; n++) {
        lab_check(rh_world_step(l->world, until - lab_time(l), NULL, &status), &status);
        if (each) each(l, user);
        if (n % 10 == 0 || until - lab_time(l) <= 1e-9)
            l->penetration = fmax(n ? l->penetration : -1e30, lab_penetration(l));
    }
}
