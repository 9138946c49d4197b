// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What walls do, each against a motion that is known beforehand.
#include "lab.h"

// Mean velocity along x of particles nearer than `below` to the floor y = 0.
static double speed_near_floor(const lab *l, double below)
{
    const rh_vec3 *x = lab_positions(l), *v = lab_velocities(l);
    double sum = 0, count = 0;
    for (int64_t i = 0; i < lab_count(l); i++)
        if ((double)x[i].y < below) sum += (double)v[i].x, count++;
    return sum / count;
}

static void slide(const char *wall, double *near, double *all, double *deepest)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.025\ngravity: [0, 0, 0]\nphysics: {liquid: {}}\n"
             "bodies: [{shape: {box: {min: [0.2, 0, -1], max: [0.7, 0.25, 1]}}, velocity: [1, 0, 0]}]\n"
             "solids: [{wall: %s, inside_out: true, shape: {box: {min: [0, 0, -1], max: [2, 1, 1]}}}]\n",
             wall);
    lab_run(&l, 0.5, NULL, NULL);
    const rh_vec3 *v = lab_velocities(&l);
    *all = 0;
    for (int64_t i = 0; i < lab_count(&l); i++) *all += (double)v[i].x / (double)lab_count(&l);
    *near = speed_near_floor(&l, 0.0125);
    *deepest = l.penetration / l.scene.cell;
    lab_close(&l);
}

// A block of water without weight slides along the floor at 1 m/s: a slip wall takes nothing, a no-slip wall stops the
// water at it.
static void slip_keeps_and_no_slip_stops(void **state)
{
    (void)state;
    double near, all, deepest;
    slide("slip", &near, &all, &deepest);
    print_message("slip floor: near it %.4f m/s, all %.4f m/s; penetration %.3f cells\n", near, all, deepest);
    assert_true(fabs(near - 1) < 0.01 && fabs(all - 1) < 0.005);
    assert_true(deepest < 0.05);
    slide("separate", &near, &all, &deepest);
    print_message("separating floor: near it %.4f m/s, all %.4f m/s; penetration %.3f cells\n", near, all, deepest);
    assert_true(fabs(near - 1) < 0.01 && fabs(all - 1) < 0.005);
    assert_true(deepest < 0.05);
    slide("no_slip", &near, &all, &deepest);
    print_message("no-slip floor: near it %.4f m/s, all %.4f m/s; penetration %.3f cells\n", near, all, deepest);
    // Without viscosity the layer that is stopped is one cell thick; from 0 at the wall to 1 m/s there its lowest half
    // averages 0.25.
    assert_true(near < 0.3 && all < 0.98 && all > 0.9);
    assert_true(deepest < 0.05);
}

// Water under the lid of a box. A separating lid lets go: free fall, g t^2 / 2. A lid that may not be left holds it:
// the water's lower surface is flat, so nothing moves but what grows from the roughness of the particles (k = 2 pi /
// width and shorter, unstable).
static double fall(const char *wall, double time, double *deepest)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.025\ngravity: [0, -9.81, 0]\nphysics: {liquid: {}}\n"
             "bodies: [{shape: {box: {min: [0, 0.75, -1], max: [0.5, 1, 1]}}}]\n"
             "solids: [{wall: %s, inside_out: true, shape: {box: {min: [0, 0, -1], max: [0.5, 1, 1]}}}]\n",
             wall);
    double before = lab_center(&l).y;
    lab_run(&l, time, NULL, NULL);
    double way = before - lab_center(&l).y;
    *deepest = l.penetration / l.scene.cell;
    lab_close(&l);
    return way;
}

static void a_separating_lid_lets_go_and_a_slip_lid_holds(void **state)
{
    (void)state;
    double time = 0.2, free = 0.5 * 9.81 * time * time, deepest[2];
    double separate = fall("separate", time, &deepest[0]), slip = fall("slip", time, &deepest[1]);
    print_message(
        "under a lid, %.2f s: free fall %.4f m, separating lid %.4f m, slip lid %.4f m; penetration %.3f cells\n", time,
        free, separate, slip, fmax(deepest[0], deepest[1]));
    assert_true(fabs(separate / free - 1) < 0.02);
    assert_true(slip < 0.1 * free);
    assert_true(fmax(deepest[0], deepest[1]) < 0.05);
}

// A piston sweeps 0.2 m of a tank of 1 m in 2 s. No water may pass it, so the depth grows from 0.25 to 0.25 / 0.8.
static void a_piston_pushes_the_right_volume(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "dimension: 2\ncell: 0.025\ngravity: [0, -9.81, 0]\nphysics: {liquid: {}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, -1], max: [1, 0.25, 1]}}}]\n"
                 "solids:\n  - {inside_out: true, shape: {box: {min: [-0.5, 0, -1], max: [1, 1, 1]}}}\n"
                 "  - shape: {box: {min: [-0.4, -0.1, -2], max: [0, 1.1, 2]}}\n"
                 "    motion: {interpolation: smooth, keys: [{time: 0, translate: [0, 0, 0]}, {time: 2, translate: "
                 "[0.2, 0, 0]}]}\n");
    lab_run(&l, 2, NULL, NULL);
    double deepest = l.penetration;
    lab_run(&l, 8, NULL, NULL);  // the wave it made dies away
    deepest = fmax(deepest, l.penetration);
    const rh_vec3 *x = lab_positions(&l);
    int64_t behind = 0;
    for (int64_t i = 0; i < lab_count(&l); i++) behind += x[i].x < 0.2f;
    double depth = 2 * lab_center(&l).y, exact = 0.25 / 0.8, volume = lab_progress(&l).volume;
    print_message("piston: depth %.4f m, expected %.4f m (%+.2f %%); volume %.4f m^2 of 0.25; %lld particles behind "
                  "it; penetration %.3f cells\n",
                  depth, exact, 100 * (depth / exact - 1), volume, (long long)behind, deepest / l.scene.cell);
    assert_int_equal(behind, 0);
    assert_true(fabs(depth / exact - 1) < 0.02);
    assert_true(fabs(volume / 0.25 - 1) < 0.02);
    assert_true(deepest < 0.05 * l.scene.cell);
    lab_close(&l);
}

// Water let go onto a post with sharp edges and a ball, in a turned tank: nothing ends inside a solid.
static void nothing_enters_solids(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "dimension: 2\ncell: 0.02\ngravity: [0, -9.81, 0]\nphysics: {liquid: {}}\n"
                 "bodies: [{shape: {sphere: {center: [0, 0.15, 0], radius: 0.25}}}]\n"
                 "solids:\n  - {inside_out: true, shape: {box: {min: [-0.5, -0.5, -1], max: [0.5, 0.5, 1]}}, motion: "
                 "{keys: [{time: 0, rotate: [0, 0, 30]}]}}\n"
                 "  - {shape: {box: {min: [-0.05, -0.4, -1], max: [0.05, -0.2, 1]}}}\n"
                 "  - {wall: no_slip, shape: {sphere: {center: [0.25, -0.25, 0], radius: 0.08}}}\n");
    lab_run(&l, 6, NULL, NULL);
    print_message("turned tank with a post and a ball, 6 s: penetration %.3f cells, volume error %+.2f %%\n",
                  l.penetration / l.scene.cell, 100 * lab_progress(&l).volume_error);
    assert_true(l.penetration < 0.05 * l.scene.cell);
    assert_true(fabs(lab_progress(&l).volume_error) < 0.02);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slip_keeps_and_no_slip_stops), cmocka_unit_test(a_separating_lid_lets_go_and_a_slip_lid_holds),
        cmocka_unit_test(a_piston_pushes_the_right_volume), cmocka_unit_test(nothing_enters_solids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
