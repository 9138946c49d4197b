// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sinks with conditions and masks, on particles that fly freely: age and way are known, so is who must be gone.
#include <math.h>
#include "support.h"

#define FREE                                                                                                          \
    "rheo: 1\ncell: 0.1\nmax_step: 0.011\ngravity: [0, 0, 0]\nphysics: {ballistic: {particles_per_axis: 1, drag: 0, " \
    "drag_speed: 0}}\n"
// Two blocks of 64 that part, one of them eight times as fast.
#define BLOCKS                                                                                    \
    "bodies:\n - {velocity: [0.5, 0, 0], shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.4]}}}\n" \
    " - {velocity: [-4, 0, 0], shape: {box: {min: [-1, 2, 0], max: [-0.6, 2.4, 0.4]}}}\n"

static int64_t left_of(const char *text, int64_t frame)
{
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = world_make(&scene, text);
    assert_ok(rh_world_advance_to(world, frame, &status));
    int64_t left = rh_world_points(world)->count;
    world_drop(world, &scene);
    return left;
}

static void sinks_ask_for_speed_age_and_way(void **state)
{
    (void)state;
    assert_int_equal(left_of(FREE BLOCKS, 6), 128);
    assert_int_equal(left_of(FREE BLOCKS "sinks: [{when: {faster: 2}}]\n", 6), 64);
    assert_int_equal(left_of(FREE BLOCKS "sinks: [{when: {slower: 2}}]\n", 6), 64);
    assert_int_equal(left_of(FREE BLOCKS "sinks: [{when: {slower: 0.1}}]\n", 6), 128);
    // Five frames are 0.208 s: the fast have gone 0.83 m, the slow 0.1 m.
    assert_int_equal(left_of(FREE BLOCKS "sinks: [{when: {travelled: 0.4}}]\n", 6), 64);
    assert_int_equal(left_of(FREE BLOCKS "sinks: [{when: {travelled: 0.9}}]\n", 6), 128);
    assert_int_equal(left_of(FREE BLOCKS "sinks: [{when: {older: 0.1}}]\n", 6), 0);
    assert_int_equal(left_of(FREE BLOCKS "sinks: [{when: {older: 0.3}}]\n", 6), 128);
    // All that is said must be true, the shape too.
    assert_int_equal(left_of(FREE BLOCKS "sinks: [{when: {older: 0.1, faster: 2}}]\n", 6), 64);
    const char *both = FREE BLOCKS "sinks: [{when: {older: 0.1}, shape: {box: {min: [-9, 1, -9], max: [9, 9, 9]}}}]\n";
    assert_int_equal(left_of(both, 6), 64);
}

// In a lattice of 4 x 4 x 4 corners have 6 neighbours within 1.5 cells, edges 9, sides 13, the inside 18.
static void sinks_count_neighbours(void **state)
{
    (void)state;
    const char *lone = FREE BLOCKS "sinks: [{stop: 0.001, when: {fewer: 8, within: 0.15}}]\n";
    const char *inner = FREE BLOCKS "sinks: [{stop: 0.001, when: {more: 16, within: 0.15}}]\n";
    // Jitter moves particles, so numbers are not exact: some of the outermost, and some of the inmost.
    int64_t without_lone = left_of(lone, 2), without_inner = left_of(inner, 2);
    assert_in_range(without_lone, 60, 127);
    assert_in_range(without_inner, 80, 127);
}

// Once its memory has grown, a sink that counts neighbours in every step allocates nothing.
static void sinks_allocate_nothing(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = world_make(&scene, FREE BLOCKS "sinks: [{when: {fewer: 1, within: 0.15}}]\n");
    for (int n = 0; n < 4; n++) assert_int_equal(rh_world_step(world, 0.001, NULL, &status), RH_OK);
    rh_memory_fail_after(0);
    rh_code code = RH_OK;
    for (int n = 0; n < 3 && code == RH_OK; n++) code = rh_world_step(world, 0.001, NULL, &status);
    rh_memory_fail_after(-1);
    if (code != RH_OK) print_message("%s\n", status.message);
    assert_int_equal(code, RH_OK);
    world_drop(world, &scene);
}

#ifndef RHEO_NO_LANG
static void sinks_ask_for_groups(void **state)
{
    (void)state;
    const char *text = FREE BLOCKS "expressions: [{at: start, code: 'if (v@P.x > 0.2f) addtogroup(\"east\");'}]\n"
                                   "sinks: [{when: {group: east}}]\n";
    assert_int_equal(left_of(text, 2), 96);
}
#endif

static void what_goes_is_in_the_balance(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_progress last;
    rh_run_options options = {0};
    rh_world *world = world_make(&scene, FREE BLOCKS "frames: {last: 5}\nsinks: [{start: 0.05, when: {faster: 2}}]\n");
    assert_ok(rh_world_run(world, &options, &status));
    rh_world_progress(world, &last);
    assert_int_equal(last.removed, 64);
    assert_true(last.energy_put_in > 0);
    assert_true(fabs(last.energy_gained) < 1e-6 * last.energy_put_in);
    assert_true(rh_d3_length(last.pushed) < 1e-6 * rh_d3_length(last.momentum));
    world_drop(world, &scene);
}

static void masks_are_ramps(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = world_make(&scene, FREE BLOCKS
                                 "masks:\n - {name: fast, speed_from: 0, speed_to: 8}\n"
                                 " - {name: low, height_from: 2.2, height_to: 0.2}\n"
                                 " - {name: way, travelled_from: 0, travelled_to: 2, age_from: 0, age_to: 1}\n"
                                 " - {name: inside, neighbours_from: 0, neighbours_to: 200, within: 0.3}\n");
    assert_ok(rh_world_advance_to(world, 6, &status));
    const rh_points *points = rh_world_points(world);
    const float *fast = rh_points_data(points, "fast", RH_POINT_F32),
                *low = rh_points_data(points, "low", RH_POINT_F32), *way = rh_points_data(points, "way", RH_POINT_F32),
                *in = rh_points_data(points, "inside", RH_POINT_F32),
                *age = rh_points_data(points, "age", RH_POINT_F32);
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    double time = 5 / 24.0;
    for (int64_t i = 0; i < points->count; i++) {
        double speed = (double)rh_v3_length(v[i]);
        assert_near((double)fast[i], speed / 8, 1e-5);
        assert_near((double)low[i], fmin(fmax((2.2 - (double)p[i].y) / 2, 0), 1), 1e-5);
        assert_near((double)way[i], speed * time / 2 * time, 1e-5);
        assert_near((double)age[i], time, 1e-5);
        assert_true(in[i] > 0 && in[i] < 1);
    }
    world_drop(world, &scene);
}

static void expect_refused(const char *text, const char *words)
{
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = NULL;
    scene_make(&scene, text);
    assert_int_equal(rh_world_create(&scene, &world, &status), RH_USER);
    assert_non_null(strstr(status.message, words));
    rh_scene_free(&scene);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    expect_refused(FREE BLOCKS "sinks: [{when: {group: sprat}}]\n", "nobody makes the group 'sprat'");
    expect_refused(FREE BLOCKS "masks: [{name: id, speed_to: 2}]\n", "an attribute of this name already");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sinks_ask_for_speed_age_and_way),
                                       cmocka_unit_test(sinks_count_neighbours),
                                       cmocka_unit_test(sinks_allocate_nothing),
#ifndef RHEO_NO_LANG
                                       cmocka_unit_test(sinks_ask_for_groups),
#endif
                                       cmocka_unit_test(what_goes_is_in_the_balance),
                                       cmocka_unit_test(masks_are_ramps),
                                       cmocka_unit_test(mistakes_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
