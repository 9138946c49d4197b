// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Body forces of a scene as one acceleration field: where and when they act, and that it does not matter how time is
// cut into steps.
#include "support.h"
#include "world/forces.h"

#define HEAD "rheo: 1\ncell: 0.1\nphysics: {liquid: {}}\nbodies: [{shape: {sphere: {radius: 1}}}]\n"

static void check_mean(const rh_scene *scene, rh_dvec3 x, double from, double to, rh_dvec3 expected)
{
    rh_dvec3 found = rh_forces_acceleration(x, from, to, scene);
    for (int a = 0; a < 3; a++) assert_near((&found.x)[a], (&expected.x)[a], 1e-9);
}

// For forces that do not change within a second.
static void check_at(const rh_scene *scene, rh_dvec3 x, double time, rh_dvec3 expected)
{
    check_mean(scene, x, time, time + 1, expected);
}

// The velocity that forces give to a fixed point until `end`, in steps of random lengths.
static rh_dvec3 velocity_in_steps(const rh_scene *scene, rh_dvec3 x, double end, double mean_step, uint64_t seed)
{
    rh_dvec3 sum = {0, 0, 0};
    double time = 0;
    for (uint64_t n = 0; time < end; n++) {
        double next = fmin(end, time + mean_step * (0.1 + 1.8 * (double)rh_random(seed, n, 0, 0)));
        sum = rh_d3_add(sum, rh_d3_scale(rh_forces_acceleration(x, time, next, scene), next - time));
        time = next;
    }
    return sum;
}

static void check_steps(const rh_scene *scene, rh_dvec3 x, double end, rh_dvec3 expected)
{
    static const double steps[] = {1e-3, 0.01, 0.07, 0.4, 5};
    for (uint64_t n = 0; n < 25; n++) {
        rh_dvec3 found = velocity_in_steps(scene, x, end, steps[n % 5], n);
        for (int a = 0; a < 3; a++) assert_near((&found.x)[a], (&expected.x)[a], 1e-9 * (1 + rh_d3_length(expected)));
    }
}

static void gravity_alone(void **state)
{
    (void)state;
    rh_scene scene;
    scene_make(&scene, HEAD "gravity: [1, -2, 3]\n");
    check_at(&scene, rh_d3(5, 6, 7), 8, rh_d3(1, -2, 3));
    rh_scene_free(&scene);
}

static void uniform_forces_follow_their_keys(void **state)
{
    (void)state;
    rh_scene scene;
    scene_make(&scene, HEAD "gravity: [0, 0, 0]\nforces:\n - {force: {uniform: {acceleration: [1, 0, 0], keys: [{time: "
                            "1, acceleration: [0, 2, 0]}, "
                            "{time: 3, acceleration: [0, 4, 8]}]}}}\n - {start: 2, stop: 4, force: {uniform: "
                            "{acceleration: [0, 0, 100]}}}\n");
    rh_dvec3 x = {0, 0, 0};
    check_mean(&scene, x, 0, 1, rh_d3(1, 2, 0));         // before the first key
    check_mean(&scene, x, 1, 2, rh_d3(1, 2.5, 2));       // the value in the middle of a linear piece
    check_mean(&scene, x, 1.75, 2.25, rh_d3(1, 3, 54));  // the second force begins half way
    check_mean(&scene, x, 2, 3, rh_d3(1, 3.5, 106));
    check_mean(&scene, x, 2.5, 3.5,
               rh_d3(1, 3.875, 107.5));                  // half of it after the last key: (3.75 + 4) / 2, (7 + 8) / 2
    check_mean(&scene, x, 3.75, 4.75, rh_d3(1, 4, 33));  // a quarter of it until the second is over
    check_mean(&scene, x, 4, 5, rh_d3(1, 4, 8));
    check_steps(&scene, x, 8, rh_d3(8, 2 + 6 + 5 * 4, 8 + 5 * 8 + 200));
    rh_scene_free(&scene);
}

// A window of a millisecond gives its velocity change whatever the step, and nothing before and after it.
static void short_pulses_are_neither_missed_nor_doubled(void **state)
{
    (void)state;
    rh_scene scene;
    scene_make(&scene, HEAD "gravity: [0, -1, 0]\nforces:\n - {start: 0.5003, stop: 0.5013, force: {uniform: "
                            "{acceleration: [2000, 0, 0]}}}\n"
                            " - {start: 0.51, stop: 0.52, force: {uniform: {keys: [{time: 0.51, acceleration: [0, 0, "
                            "0]}, {time: 0.515, acceleration: [0, 0, 400]}, "
                            "{time: 0.52, acceleration: [0, 0, 0]}]}}}\n");
    rh_dvec3 x = {0, 0, 0};
    check_steps(&scene, x, 1, rh_d3(2, -1, 2));
    check_mean(&scene, x, 0.5, 0.51, rh_d3(200, -1, 0));
    check_mean(&scene, x, 0, 0.5003, rh_d3(0, -1, 0));
    assert_false(rh_forces_act(&scene, 0, 0.5003));
    assert_true(rh_forces_act(&scene, 0.5, 0.5004));
    assert_true(rh_forces_act(&scene, 0.4, 0.9));
    assert_false(rh_forces_act(&scene, 0.5013, 0.51));
    assert_false(rh_forces_act(&scene, 0.52, 9));
    rh_scene_free(&scene);
}

static void radial_forces_pull_and_fade(void **state)
{
    (void)state;
    rh_scene scene;
    scene_make(&scene, HEAD
               "gravity: [0, 0, 0]\nforces:\n - {force: {radial: {center: [1, 0, 0], acceleration: 3, radius: 2}}}\n");
    check_at(&scene, rh_d3(1, 0, 0), 0, rh_d3(0, 0, 0));  // no direction at the centre
    check_at(&scene, rh_d3(2, 0, 0), 0, rh_d3(-3 * 0.75 * 0.75, 0, 0));
    check_at(&scene, rh_d3(1, -1, 0), 0, rh_d3(0, 3 * 0.75 * 0.75, 0));
    check_at(&scene, rh_d3(3, 0, 0), 0, rh_d3(0, 0, 0));
    check_at(&scene, rh_d3(1, 9, 0), 0, rh_d3(0, 0, 0));
    rh_scene_free(&scene);
    scene_make(
        &scene,
        HEAD "gravity: [0, 0, 0]\nforces:\n - {force: {radial: {center: [0, 0, 0], acceleration: -3, radius: 1e9}}}\n");
    check_at(&scene, rh_d3(0, 0, 1000), 0, rh_d3(0, 0, 3));  // pushes, fades out of sight
    rh_scene_free(&scene);
}

static void swirls_turn_about_their_axis(void **state)
{
    (void)state;
    rh_scene scene;
    scene_make(&scene, HEAD "gravity: [0, -10, 0]\nforces:\n - {force: {swirl: {center: [0, 0, 0], axis: [0, 5, 0], "
                            "acceleration: 2, radius: 1e9}}}\n");
    check_at(&scene, rh_d3(3, 7, 0), 0,
             rh_d3(0, -10, -2));  // y up: from x towards -z, counter-clockwise seen from above
    check_at(&scene, rh_d3(0, -7, 3), 0, rh_d3(2, -10, 0));
    check_at(&scene, rh_d3(0, 4, 0), 0, rh_d3(0, -10, 0));  // on the axis
    rh_scene_free(&scene);
    assert_int_equal(rh_memory_bytes(), 0);
}

#define EXPLOSION                                                                                                    \
    "gravity: [0, 0, 0]\nforces:\n - {force: {explosion: {center: [1, 0, 0], strength: 2, radius: 3, max_speed: 6, " \
    "at: 0.2, duration: 0.01}}}\n"

static void explosions_push_once(void **state)
{
    (void)state;
    rh_scene scene;
    scene_make(&scene, HEAD EXPLOSION);
    check_steps(&scene, rh_d3(3, 0, 0), 1, rh_d3(0.5, 0, 0));  // 2 / 2^2
    check_steps(&scene, rh_d3(1, -1, 0), 1, rh_d3(0, -2, 0));
    check_steps(&scene, rh_d3(1, 0, 0.1), 1, rh_d3(0, 0, 6));   // not 200
    check_steps(&scene, rh_d3(1, 0, 0), 1, rh_d3(0, 0, 0));     // no direction at the centre
    check_steps(&scene, rh_d3(1, 3.01, 0), 1, rh_d3(0, 0, 0));  // beyond the radius
    check_mean(&scene, rh_d3(3, 0, 0), 0.2, 0.205, rh_d3(50, 0, 0));
    assert_false(rh_forces_act(&scene, 0, 0.2));
    assert_true(rh_forces_act(&scene, 0.1, 0.201));
    assert_false(rh_forces_act(&scene, 0.2101, 9));
    rh_scene_free(&scene);
}

// In the plane it falls with the distance, and the z of the centre does not count.
static void explosions_in_two_dimensions(void **state)
{
    (void)state;
    rh_scene scene;
    scene_make(&scene,
               HEAD "dimension: 2\ngravity: [0, 0, 0]\nforces:\n"
                    " - {force: {explosion: {center: [1, 0, 7], strength: -2, radius: 3, max_speed: 6, at: 0.2}}}\n");
    check_steps(&scene, rh_d3(3, 0, 0), 1, rh_d3(-1, 0, 0));
    check_steps(&scene, rh_d3(1, 0.1, 0), 1, rh_d3(0, -6, 0));
    assert_near(((const rh_explosion_force *)((const rh_force_params *)scene.forces.items)->force.value)->duration,
                1.0 / 30, 1e-15);
    rh_scene_free(&scene);
}

// Through the steps of a liquid: a ball in free space takes up the whole of a pulse, whatever the steps.
static void liquids_take_up_the_whole_pulse(void **state)
{
    (void)state;
    static const double steps[] = {0.05, 0.03, 0.007, 0.0005};
    for (int n = 0; n < 4; n++) {
        rh_scene scene;
        rh_status status = {0};
        rh_world *world = NULL;
        scene_make(&scene,
                   "rheo: 1\ncell: 0.1\nphysics: {liquid: {}}\ngravity: [0, 0, 0]\nbodies: [{shape: {sphere: {radius: "
                   "0.3}}}]\n"
                   "forces: [{start: 0.0501, stop: 0.0511, force: {uniform: {acceleration: [300, 0, -100]}}}]\n");
        assert_ok(rh_world_create(&scene, &world, &status));
        while (rh_world_time(world) < 0.12 - 1e-9)
            assert_ok(rh_world_step(world, fmin(steps[n], 0.12 - rh_world_time(world)), NULL, &status));
        const rh_points *points = rh_world_points(world);
        const rh_vec3 *v = rh_points_data(points, "v", RH_POINT_VEC3F);
        for (int64_t p = 0; p < points->count; p++) {
            assert_near((double)v[p].x, 0.3, 1e-5);
            assert_near((double)v[p].z, -0.1, 1e-5);
        }
        rh_world_free(world);
        rh_scene_free(&scene);
    }
    assert_int_equal(rh_memory_bytes(), 0);
}

// The bound holds for random points and intervals and is reached where one force acts alone.
static void the_strongest_is_a_bound(void **state)
{
    (void)state;
    rh_scene scene;
    scene_make(&scene, HEAD "forces:\n - {start: 0.1, stop: 0.4, force: {uniform: {acceleration: [1, 0, 0], keys: "
                            "[{time: 0, acceleration: [0, 0, 0]}, "
                            "{time: 0.3, acceleration: [40, 9, 0]}, {time: 0.7, acceleration: [0, 0, -5]}]}}}\n"
                            " - {start: 0.3, force: {radial: {center: [0.2, 0, 0], acceleration: -7, radius: 2}}}\n"
                            " - {stop: 0.6, force: {swirl: {center: [0, 0, 0], acceleration: 5, radius: 2}}}\n"
                            " - {force: {explosion: {center: [0, 0, 0], strength: 2, radius: 3, max_speed: 6, at: "
                            "0.45, duration: 0.01}}}\n");
    for (uint64_t n = 0; n < 20000; n++) {
        rh_dvec3 x = {(double)support_random(n, 0), (double)support_random(n, 1), (double)support_random(n, 2)};
        double from = 0.5 + 0.5 * (double)support_random(n, 3),
               to = from + 0.05 * (1.001 + (double)support_random(n, 4));
        assert_true(rh_d3_length(rh_forces_acceleration(x, from, to, &scene)) <=
                    rh_forces_strongest(&scene, from, to) * (1 + 1e-12));
    }
    double g = rh_d3_length(scene.gravity);
    assert_near(rh_forces_strongest(&scene, 0, 0.1), g + 5, 1e-9);
    assert_near(rh_forces_strongest(&scene, 0.1, 0.3), g + 5 + sqrt(41 * 41 + 81),
                1e-9);  // the key at the end of the interval
    assert_near(rh_forces_strongest(&scene, 0.29, 0.31), g + 5 + 7 + sqrt(41 * 41 + 81), 1e-9);  // and within it
    assert_near(rh_forces_strongest(&scene, 0.44, 0.46), g + 5 + 7 + 600, 1e-9);
    assert_near(rh_forces_strongest(&scene, 1, 2), g + 7, 1e-9);
    rh_scene_free(&scene);
}

// Water at rest takes steps in which an explosion cannot throw it farther than cfl cells, although nothing moves yet.
static void steps_see_an_explosion_coming(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = NULL;
    double dt;
    scene_make(&scene, "rheo: 1\ncell: 0.1\nphysics: {liquid: {cfl: 1}}\ngravity: [0, 0, 0]\nbodies: [{shape: {sphere: "
                       "{radius: 0.5}}}]\n"
                       "forces: [{force: {explosion: {center: [0, 0, 0], strength: 1, radius: 1, max_speed: 20, at: "
                       "0.05, duration: 0.02}}}]\n");
    assert_ok(rh_world_create(&scene, &world, &status));
    assert_ok(rh_world_step(world, 0.05, &dt, &status));
    assert_near(dt, 0.05, 1e-12);  // nothing happens yet
    assert_ok(rh_world_step(world, 0.05, &dt, &status));
    assert_true(dt <= sqrt(0.1 / 1000) + 1e-12 && dt > 0.5 * sqrt(0.1 / 1000));
    rh_world_free(world);
    rh_scene_free(&scene);
    assert_int_equal(rh_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gravity_alone),
                                       cmocka_unit_test(uniform_forces_follow_their_keys),
                                       cmocka_unit_test(radial_forces_pull_and_fade),
                                       cmocka_unit_test(swirls_turn_about_their_axis),
                                       cmocka_unit_test(short_pulses_are_neither_missed_nor_doubled),
                                       cmocka_unit_test(explosions_push_once),
                                       cmocka_unit_test(explosions_in_two_dimensions),
                                       cmocka_unit_test(liquids_take_up_the_whole_pulse),
                                       cmocka_unit_test(the_strongest_is_a_bound),
                                       cmocka_unit_test(steps_see_an_explosion_coming)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
