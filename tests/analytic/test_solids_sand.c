// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Solids on sand: how deep balls that fall on it sink, against the measurements of J. S. Uehara, M. A. Ambroso, R. P.
// Ojha, D. J. Durian, "Low-speed impact craters in loose granular media", Phys. Rev. Lett. 90, 194301 (2003): for balls
// of 1 to 10 cm of many densities on dry grains
//      d = 0.14 / mu (ball's density / that of the bed)^1/2 D^2/3 H^1/3
// mu the tangent of the angle of repose, H the whole way down, d included; their points lie within some 30 % of it.
#include "lab.h"
#include <math.h>
#include "world/parts.h"

static const double SIZE = 0.2, BED = 1600, MU = 0.57735;  // m, kg/m^3, 30 degrees

static double measured_depth(double density, double drop)
{
    double depth = 0;
    for (int n = 0; n < 60; n++) depth = 0.14 / MU * sqrt(density / BED) * pow(SIZE, 2.0 / 3) * cbrt(drop + depth);
    return depth;
}

static double lowest(const lab *l) { return l->world->dynamics.items[0].position.y - 0.5 * SIZE; }

// A ball dropped by so much onto a bed: how deep it is at two times.
static void drop_ball(double density, double drop, double cell, double width, double deep, double depths[2])
{
    lab l;
    double first = sqrt(2 * drop / 9.81) + 0.25;
    lab_open(&l,
             "cell: %g\nphysics: {sand: {}}\nbodies: [{shape: {box: {min: [0, 0, 0], max: [%g, %g, %g]}}}]\n"
             "solids:\n  - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [%g, 2, %g]}}}\n"
             "  - {shape: {sphere: {center: [%g, %g, %g], radius: %g}}, dynamic: {density: %g}}\n",
             cell, width, deep, width, width, width, 0.5 * width, deep + drop + 0.5 * SIZE, 0.5 * width, 0.5 * SIZE,
             density);
    lab_run(&l, first, NULL, NULL);
    depths[0] = deep - lowest(&l);
    lab_run(&l, first + 0.15, NULL, NULL);
    depths[1] = deep - lowest(&l);
    lab_close(&l);
}

static void compare(double density, double drop, double cell, double width, double deep)
{
    double depths[2], law = measured_depth(density, drop);
    drop_ball(density, drop, cell, width, deep, depths);
    print_message("  %g kg/m^3 from %g m, cells of %g m: %.4f, then %.4f m deep; measured %.4f\n", density, drop, cell,
                  depths[0], depths[1], law);
    assert_true(depths[1] > 0.7 * law && depths[1] < 1.3 * law);
}

static void balls_sink_as_deep_as_measured(void **state)
{
    (void)state;
    compare(7000, 0.3, 0.05, 0.6, 0.3);
    if (!getenv("RHEO_LONG")) return;
    const double densities[] = {7000, 2200}, drops[] = {0.01, 0.3};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) compare(densities[i], drops[k], 0.04, 0.8, 0.4);
}

// A disc that has come to rest sinks no further.
static void what_rests_on_sand_does_not_creep(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "dimension: 2\ncell: 0.02\nphysics: {sand: {}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, -1], max: [1, 0.3, 1]}}}]\n"
                 "solids:\n  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 2, 1]}}}\n"
                 "  - {shape: {sphere: {center: [0.5, 0.41, 0], radius: 0.1}}, dynamic: {density: 7000}}\n");
    lab_run(&l, 0.6, NULL, NULL);
    double before = lowest(&l);
    lab_run(&l, 1.1, NULL, NULL);
    print_message("  %.4f m deep, after half a second %.4f m\n", 0.3 - before, 0.3 - lowest(&l));
    assert_true(0.3 - before > 0.02 && 0.3 - before < 0.1);
    assert_true(fabs(before - lowest(&l)) < 0.02 * SIZE);
    lab_close(&l);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balls_sink_as_deep_as_measured),
        cmocka_unit_test(what_rests_on_sand_does_not_creep),
    };
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
