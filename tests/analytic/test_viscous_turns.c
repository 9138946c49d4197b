// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How many turns pressure and viscosity take until both hold at once: at any size, thickness, with liquids of different
// thickness side by side, with solids in them, between inertia and stress.
#include <math.h>
#include "lab.h"

typedef struct tank {
    int dimension, cells;  // of a metre
    double viscosity;      // Pa s
    bool beside;           // and 1e6 times as much in the right half
    int solids;            // dynamic ones
} tank;

static int turns_of(const lab *l)
{
    const rh_step_report *report = rh_world_report(l->world);
    for (int n = 0; n < report->solve_count; n++)
        if (strcmp(report->solves[n].stage, "turns") == 0) return report->solves[n].iterations;
    return 0;
}

// A ball is drawn through liquid in an open tank without slip, oblique to the grid, and others of a third to three
// times the liquid's density are let go. Returns the most turns of three steps; the first one is of a liquid at rest.
static int turns(const tank *k)
{
    lab l;
    char solids[1024] = "", left[128] = "";
    static const char *const places[] = {"[-0.2, -0.2, 0.05]", "[0.22, -0.1, 0]", "[-0.05, 0.06, -0.1]"};
    static const double densities[] = {3000, 300, 900};
    for (int n = 0, at = 0; n < k->solids; n++)
        at += snprintf(solids + at, sizeof solids - (size_t)at,
                       "  - {shape: {sphere: {center: %s, radius: 0.09}}, wall: no_slip, dynamic: {density: %g}}\n",
                       places[n], densities[n]);
    if (k->beside)
        snprintf(left, sizeof left,
                 "  - {shape: {box: {min: [0.03, -0.45, -0.45], max: [0.45, 0.1, 0.45]}}, viscosity: %g}\n",
                 1e6 * k->viscosity);
    lab_open(
        &l,
        "dimension: %d\ncell: %.17g\nframes: {last: 2, fps: 1}\ngravity: [0, -9.81, 0]\n"
        "physics: {liquid: {viscosity: %g, viscosity_turns: 100, turns_tolerance: 1e-6, viscosity_tolerance: 1e-7}}\n"
        "bodies:\n  - {shape: {box: {min: [-0.45, -0.45, -0.45], max: [%g, 0.1, 0.45]}}}\n%s"
        "solids:\n  - {shape: {box: {min: [-0.45, -0.45, -0.45], max: [0.45, 2, 0.45]}}, inside_out: true, wall: "
        "no_slip}\n"
        "  - {shape: {sphere: {center: [0.01, -0.31, 0.02], radius: 0.1}}, wall: no_slip,\n"
        "     motion: {keys: [{time: 0}, {time: 1, translate: [0.8, 0.6, 0]}]}}\n%s",
        k->dimension, 1.0 / k->cells, k->viscosity, k->beside ? 0.03 : 0.45, left, solids);
    int most = 0;
    for (int n = 0; n < 3; n++) {
        lab_run(&l, lab_time(&l) + 1.0 / k->cells, NULL, NULL);
        most = turns_of(&l) > most ? turns_of(&l) : most;
    }
    lab_close(&l);
    print_message("%dD, %d cells, %g Pa s%s, %d solids: %d turns\n", k->dimension, k->cells, k->viscosity,
                  k->beside ? " and a million times as much" : "", k->solids, most);
    return most;
}

// To 1e-6 of the first error, or to rounding: in the midst between inertia and stress as well as far to either side.
static void any_thickness_takes_few_turns(void **state)
{
    (void)state;
    bool all = getenv("RHEO_LONG") != NULL;
    for (int solids = all ? 0 : 3; solids <= 3; solids += 3)
        for (double viscosity = 1e-3; viscosity < 2e8; viscosity *= all ? 10 : 1e3)
            assert_in_range(turns(&(tank){2, 32, viscosity, false, solids}), 1, 20);
    for (double viscosity = 1e-3; viscosity < 2e6 && all; viscosity *= 1e3)
        assert_in_range(turns(&(tank){3, 32, viscosity, false, 3}), 1, 20);
}

static void size_counts_little(void **state)
{
    (void)state;
    bool all = getenv("RHEO_LONG") != NULL;
    for (int cells = 64; cells <= (all ? 256 : 64); cells *= 2)
        for (double viscosity = all ? 1 : 1e4; viscosity < 2e4; viscosity *= 1e4)
            assert_in_range(turns(&(tank){2, cells, viscosity, false, 3}), 1, 20);
    for (double viscosity = 1; viscosity < (all ? 2e4 : 2); viscosity *= 1e4)
        assert_in_range(turns(&(tank){3, all ? 64 : 24, viscosity, false, 3}), 1, 20);
}

// A million times as thick in the right half.
static void liquids_side_by_side_take_few_turns(void **state)
{
    (void)state;
    bool all = getenv("RHEO_LONG") != NULL;
    for (int solids = all ? 0 : 3; solids <= 3; solids += 3)
        for (double viscosity = 1e-3; viscosity < 2; viscosity *= 1e3)
            assert_in_range(turns(&(tank){2, 32, viscosity, true, solids}), 1, 20);
    for (int cells = 64; cells <= 256 && all; cells *= 2)
        assert_in_range(turns(&(tank){2, cells, 1e-3, true, 3}), 1, 20);
    if (all) assert_in_range(turns(&(tank){3, 32, 1e-3, true, 3}), 1, 20);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_thickness_takes_few_turns),
        cmocka_unit_test(size_counts_little),
        cmocka_unit_test(liquids_side_by_side_take_few_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
