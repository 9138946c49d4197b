// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Emitters whose velocity turns and travels with them, and whose velocity and rate are keyed. Every particle stands
// for spacing^3.
#include "unit/seed_support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "rheo: 1\ncell: 0.05\nrest: true\nphysics: {liquid: {}}\n"
#define BOX "shape: {box: {min: [-0.1, -0.2, -0.2], max: [0.1, 0.2, 0.2]}}"

// Pours from 0 to 1 s in so many steps.
static void pour(setting *s, const char *text, int steps)
{
    rh_status status = {0};
    setting_make(s, 2, 1, text);
    for (int i = 0; i <= steps; i++) assert_ok(rh_emit(&s->seeder, (double)i / steps, &s->points, &status));
}

static void clear(setting *s)
{
    setting_free(s);
    assert_int_equal(rh_memory_bytes(), 0);
}

static double volume(const setting *s) { return (double)s->points.count * pow(s->seeder.spacing, 3); }

static rh_vec3 last_velocity(const setting *s)
{
    assert_true(s->points.count > 0);
    return ((const rh_vec3 *)rh_points_data(&s->points, "v", RH_POINT_VEC3F))[s->points.count - 1];
}

// A quarter of a turn about z: what came out along x comes out along y.
static void velocity_turns(void **state)
{
    (void)state;
    setting s;
    pour(&s,
         HEAD "emitters: [{" BOX
              ", velocity: [2, 0, 0], follow: true, motion: {keys: [{time: 0}, {time: 0.5, rotate: [0, 0, 90]}]}}]\n",
         24);
    rh_vec3 v = last_velocity(&s);
    assert_near(v.x, 0, 1e-5);
    assert_near(v.y, 2, 1e-5);
    clear(&s);
    pour(&s,
         HEAD "emitters: [{" BOX
              ", velocity: [2, 0, 0], motion: {keys: [{time: 0}, {time: 0.5, rotate: [0, 0, 90]}]}}]\n",
         24);
    assert_near(last_velocity(&s).x, 2, 1e-6);
    clear(&s);
}

// While it turns, the outer end of a long emitter is carried along faster: v + omega x r.
static void each_particle_has_its_own(void **state)
{
    (void)state;
    setting s;
    pour(&s,
         HEAD "emitters: [{" BOX
              ", velocity: [2, 0, 0], follow: true, motion: {keys: [{time: 0}, {time: 2, rotate: [0, 0, 90]}]}}]\n",
         24);
    const rh_vec3 *x = rh_points_data(&s.points, "P", RH_POINT_VEC3F),
                  *v = rh_points_data(&s.points, "v", RH_POINT_VEC3F);
    double omega = 0.25 * 3.14159265358979323846;  // rad/s; at 1 s it has turned by 45 degrees
    int64_t i = s.points.count - 1;
    assert_near(v[i].x, sqrt(2.0) - omega * (double)x[i].y, 1e-4);
    assert_near(v[i].y, sqrt(2.0) + omega * (double)x[i].x, 1e-4);
    clear(&s);
}

// One that travels adds its speed, and pours as much as if it rested: its shape once, then its own speed times its
// cross-section.
static void velocity_travels(void **state)
{
    (void)state;
    setting s;
    pour(&s,
         HEAD "emitters: [{" BOX ", velocity: [0, 1, 0], follow: true, motion: {keys: [{time: 0}, {time: 1, translate: "
              "[3, 0, 0]}, {time: 2, translate: [6, 0, 0]}]}}]\n",
         24);
    rh_vec3 v = last_velocity(&s);
    assert_near(v.x, 3, 1e-4);
    assert_near(v.y, 1, 1e-4);
    assert_near(volume(&s), 0.2 * 0.4 * 0.4 + 1 * 0.2 * 0.4, 0.006);
    clear(&s);
}

static int by_place(const void *a, const void *b) { return memcmp(a, b, sizeof(rh_vec3)); }

// The same particles whatever the steps: told by where they began in what is poured.
static void steps_do_not_matter(void **state)
{
    (void)state;
    static const char text[] = HEAD
        "emitters: [{" BOX
        ", follow: true, keys: [{time: 0, velocity: [0.5, 0, 0], rate: 0.5}, {time: 1, velocity: [3, 0, 0]}],"
        " motion: {keys: [{time: 0}, {time: 1, rotate: [0, 0, 70], translate: [0, 1, 0]}]}}]\n";
    setting one, other;
    pour(&one, text, 5);
    pour(&other, text, 64);
    assert_int_equal(one.points.count, other.points.count);
    rh_vec3 *a = rh_points_data(&one.points, "rest", RH_POINT_VEC3F),
            *b = rh_points_data(&other.points, "rest", RH_POINT_VEC3F);
    qsort(a, (size_t)one.points.count, sizeof *a, by_place);
    qsort(b, (size_t)one.points.count, sizeof *b, by_place);
    assert_memory_equal(a, b, (size_t)one.points.count * sizeof *a);
    rh_points_free(&one.points), rh_seeder_free(&one.seeder), rh_geometry_free(&one.geometry),
        rh_scene_free(&one.scene);
    clear(&other);
}

// From 0 to 2 m/s in a second: a metre of it.
static void keyed_velocity(void **state)
{
    (void)state;
    setting s;
    pour(&s, HEAD "emitters: [{" BOX ", keys: [{time: 0}, {time: 1, velocity: [2, 0, 0]}]}]\n", 24);
    assert_near(last_velocity(&s).x, 2, 1e-5);
    assert_near(volume(&s), 0.2 * 0.4 * 0.4 + 1 * 0.4 * 0.4, 0.012);
    clear(&s);
}

static void rates(void **state)
{
    (void)state;
    setting s;
    double full = 0.2 * 0.4 * 0.4 + 2 * 0.4 * 0.4;
    pour(&s, HEAD "emitters: [{" BOX ", velocity: [2, 0, 0], rate: 0.25}]\n", 24);
    assert_near(volume(&s), 0.25 * full, 0.03 * full);
    clear(&s);
    pour(&s,
         HEAD "emitters: [{" BOX ", keys: [{time: 0, velocity: [2, 0, 0], rate: 0}, {time: 0.5, velocity: [2, 0, 0], "
              "rate: 0}, {time: 0.51, velocity: [2, 0, 0], rate: 1}]}]\n",
         24);
    assert_near(volume(&s), 0.5 * 2 * 0.4 * 0.4, 0.04 * full);  // closed for half the time
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocity_turns),   cmocka_unit_test(each_particle_has_its_own),
        cmocka_unit_test(velocity_travels), cmocka_unit_test(steps_do_not_matter),
        cmocka_unit_test(keyed_velocity),   cmocka_unit_test(rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
