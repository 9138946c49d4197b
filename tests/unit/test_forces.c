// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Body forces of a scene as one acceleration field.
#include "support.h"
#include "world/forces.h"

#define HEAD "rheo: 1\ncell: 0.1\nphysics: {liquid: {}}\nbodies: [{shape: {sphere: {radius: 1}}}]\n"

static void check_at(const rh_scene *scene, rh_dvec3 x, double time, rh_dvec3 expected)
{
    rh_dvec3 found = rh_forces_acceleration(x, time, scene);
    for (int a = 0; a < 3; a++) assert_near((&found.x)[a], (&expected.x)[a], 1e-9);
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
    scene_make(&scene, HEAD "gravity: [0, 0, 0]\nforces:\n - {force: {uniform: {acceleration: [1, 0, 0], keys: [{time: 1, acceleration: [0, 2, 0]}, "
                            "{time: 3, acceleration: [0, 4, 8]}]}}}\n - {start: 2, stop: 4, force: {uniform: {acceleration: [0, 0, 100]}}}\n");
    rh_dvec3 x = {0, 0, 0};
    check_at(&scene, x, 0, rh_d3(1, 2, 0));
    check_at(&scene, x, 1, rh_d3(1, 2, 0));
    check_at(&scene, x, 1.5, rh_d3(1, 2.5, 2));
    check_at(&scene, x, 2, rh_d3(1, 3, 104));  // the second begins
    check_at(&scene, x, 3, rh_d3(1, 4, 108));
    check_at(&scene, x, 3.9999, rh_d3(1, 4, 108));
    check_at(&scene, x, 4, rh_d3(1, 4, 8));    // and is over
    rh_scene_free(&scene);
}

static void radial_forces_pull_and_fade(void **state)
{
    (void)state;
    rh_scene scene;
    scene_make(&scene, HEAD "gravity: [0, 0, 0]\nforces:\n - {force: {radial: {center: [1, 0, 0], acceleration: 3, radius: 2}}}\n");
    check_at(&scene, rh_d3(1, 0, 0), 0, rh_d3(0, 0, 0));  // no direction at the centre
    check_at(&scene, rh_d3(2, 0, 0), 0, rh_d3(-3 * 0.75 * 0.75, 0, 0));
    check_at(&scene, rh_d3(1, -1, 0), 0, rh_d3(0, 3 * 0.75 * 0.75, 0));
    check_at(&scene, rh_d3(3, 0, 0), 0, rh_d3(0, 0, 0));
    check_at(&scene, rh_d3(1, 9, 0), 0, rh_d3(0, 0, 0));
    rh_scene_free(&scene);
    scene_make(&scene, HEAD "gravity: [0, 0, 0]\nforces:\n - {force: {radial: {center: [0, 0, 0], acceleration: -3, radius: 1e9}}}\n");
    check_at(&scene, rh_d3(0, 0, 1000), 0, rh_d3(0, 0, 3));  // pushes, fades out of sight
    rh_scene_free(&scene);
}

static void swirls_turn_about_their_axis(void **state)
{
    (void)state;
    rh_scene scene;
    scene_make(&scene, HEAD "gravity: [0, -10, 0]\nforces:\n - {force: {swirl: {center: [0, 0, 0], axis: [0, 5, 0], acceleration: 2, radius: 1e9}}}\n");
    check_at(&scene, rh_d3(3, 7, 0), 0, rh_d3(0, -10, -2));  // y up: from x towards -z, counter-clockwise seen from above
    check_at(&scene, rh_d3(0, -7, 3), 0, rh_d3(2, -10, 0));
    check_at(&scene, rh_d3(0, 4, 0), 0, rh_d3(0, -10, 0));  // on the axis
    rh_scene_free(&scene);
    assert_int_equal(rh_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gravity_alone), cmocka_unit_test(uniform_forces_follow_their_keys),
                                       cmocka_unit_test(radial_forces_pull_and_fade), cmocka_unit_test(swirls_turn_about_their_axis)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
