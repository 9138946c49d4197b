// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How many iterations the solve of the viscosity takes: at any size, thickness, with liquids of different thickness
// side by side, in any place to the grid.
#include <math.h>
#include "tank.h"

static double pool(rh_dvec3 x) { return x.y - 0.1 - 0.05 * sin(9 * x.x) * cos(7 * x.z); }
static double blob(rh_dvec3 x) { return rh_d3_length(x) - 0.35 - 0.05 * cos(5 * x.x); }
static rh_dvec3 stirred(rh_dvec3 x)
{
    return (rh_dvec3){0.3 - 2 * x.y + sin(9 * x.x) * cos(5 * x.y), -0.1 + 2 * x.x + cos(11 * x.y + 2 * x.x), x.x * x.y};
}

// Where liquids of different thickness meet: nowhere, along the grid, along two planes of it, obliquely.
typedef enum pattern { ALIKE, STRIPES, QUARTERS, OBLIQUE } pattern;
static const char *const patterns[] = {"alike", "in stripes", "in quarters", "in oblique layers"};

// Pa s: 1 to `most`, in four thicknesses.
static double viscosity_at(pattern how, rh_dvec3 x, double most)
{
    static const double order[4] = {0, 1, 0.33, 0.67};
    int n = 1;
    if (how == STRIPES) n = (int)floor(4 * (x.x + 0.5));
    if (how == QUARTERS) n = (x.x > 0.03) + 2 * (x.y > -0.2);
    if (how == OBLIQUE) n = (int)floor(5 * (0.6 * x.x + 0.64 * x.y + 0.48 * x.z + 1));
    return pow(most, order[n & 3]);
}

typedef struct liquid {
    int dimension, cells;  // cells of a metre
    bool free;             // a blob in the air, not a pool with a wavy surface between walls without slip
    pattern how;
    double most;  // Pa s, and the stiffness mu t / (rho h^2) of the grid
} liquid;

// A particle in every cell, with the viscosity of its place.
static float *give_viscosities(tank *k, const liquid *l)
{
    int64_t values = rh_tiles_values(&k->tiles);
    float *of = malloc((size_t)values * sizeof *of);
    k->tiles.first = malloc(((size_t)values + 1) * sizeof *k->tiles.first);
    for (int64_t i = 0; i <= values; i++) k->tiles.first[i] = (uint32_t)i;
    for (int64_t i = 0; i < values; i++) {
        int c = (int)(i % k->tiles.cells);
        rh_vec3 x = rh_cell_center(&k->tiles, (int32_t)(i / k->tiles.cells), c & 7, c >> 3 & 7, c >> 6);
        of[i] = (float)viscosity_at(l->how, rh_d3_from(x), l->most);
    }
    return of;
}

static void open_liquid(tank *k, const liquid *l)
{
    double h = 1.0 / l->cells, wall = 0.45 + 0.3 * h;  // between faces
    char solids[512] = "";
    if (!l->free)
        snprintf(solids, sizeof solids,
                 "solids: [{shape: {box: {min: [%g, %g, %g], max: [%g, 2, %g]}}, inside_out: true, wall: no_slip}]\n",
                 -wall, -wall, -wall, wall, wall);
    tank_open(k, l->dimension, h, l->cells / 16 + 1, l->free ? blob : pool, solids);
    tank_set(k, stirred);
}

static int iterations(const liquid *l)
{
    tank k;
    open_liquid(&k, l);
    float *of = give_viscosities(&k, l);
    rh_viscosity v = law_of(&k, 1, 1000 * (double)k.tiles.h * (double)k.tiles.h);
    v.of_particles = of;
    v.max_iterations = 300;
    rh_krylov_report report;
    rh_status status = {0};
    lab_check(rh_viscosity_act(&v, k.velocity, &k.arena, &report, &status), &status);
    free(of);
    free(k.tiles.first);
    k.tiles.first = NULL;
    tank_close(&k);
    print_message("%dD, %d cells, %s, 1 to %g Pa s %s: %d iterations\n", l->dimension, l->cells,
                  l->free ? "free" : "pool", l->most, patterns[l->how], report.iterations);
    return report.iterations;
}

// To 1e-6. The thickness that counts is mu t / (rho h^2): here from water in small steps to pitch.
static void any_thickness_takes_few_iterations(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (double most = 1e-3; most < 2e8; most *= dimension == 2 ? 1e2 : 2.2e3)
            for (int free = 0; free < 2; free++)
                assert_in_range(iterations(&(liquid){dimension, dimension == 2 ? 64 : 32, free, ALIKE, most}), 1, 16);
}

static void liquids_side_by_side_take_few_iterations(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (pattern how = STRIPES; how <= OBLIQUE; how++)
            assert_in_range(iterations(&(liquid){dimension, dimension == 2 ? 64 : 32, false, how, 1e6}), 1, 20);
}

static void size_counts_little(void **state)
{
    (void)state;
    bool all = getenv("RHEO_LONG") != NULL;
    for (int cells = 32; cells <= 256; cells *= 2)
        assert_in_range(iterations(&(liquid){2, cells, false, STRIPES, 1e6}), 1, 20);
    for (int cells = 32; cells <= 128 && all; cells *= 2)
        for (pattern how = ALIKE; how <= QUARTERS; how++)
            assert_in_range(iterations(&(liquid){3, cells, false, how, 1e6}), 1, 20);
    if (all) assert_in_range(iterations(&(liquid){3, 256, false, STRIPES, 1e6}), 1, 20);  // 4.4 GB
}

// Incomplete Cholesky, the reference, finds the same velocities, with iterations that grow with size and thickness.
static void the_reference_agrees(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        rh_krylov_report report[3];
        tank k[3];
        double largest = 0, apart[3] = {0};
        for (rh_precondition m = RH_PRECONDITION_MULTIGRID; m <= RH_PRECONDITION_NONE; m++) {
            open_liquid(&k[m], &(liquid){dimension, dimension == 2 ? 64 : 24, false, ALIKE, 1});
            rh_viscosity v = law_of(&k[m], 1000, 1000 * (double)k[m].tiles.h * (double)k[m].tiles.h);
            v.preconditioner = m;
            v.max_iterations = 3000;
            rh_status status = {0};
            lab_check(rh_viscosity_act(&v, k[m].velocity, &k[m].arena, &report[m], &status), &status);
            assert_true(report[m].converged);
        }
        for (int d = 0; d < dimension; d++)
            for (int64_t i = 0; i < rh_tiles_values(&k[0].tiles); i++) {
                largest = fmax(largest, fabs((double)k[0].velocity.axis[d][i]));
                for (int m = 1; m < 3; m++)
                    apart[m] = fmax(apart[m], fabs((double)(k[m].velocity.axis[d][i] - k[0].velocity.axis[d][i])));
            }
        for (int m = 2; m >= 0; m--) tank_close(&k[m]);
        print_message(
            "%dD: multigrid %d iterations, incomplete Cholesky %d (velocities %.1e apart), Jacobi %d (%.1e)\n",
            dimension, report[0].iterations, report[1].iterations, apart[1] / largest, report[2].iterations,
            apart[2] / largest);
        assert_true(apart[1] < 1e-3 * largest && apart[2] < 1e-3 * largest);
        assert_true(report[0].iterations < report[1].iterations && report[1].iterations < report[2].iterations);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_thickness_takes_few_iterations),
        cmocka_unit_test(liquids_side_by_side_take_few_iterations),
        cmocka_unit_test(size_counts_little),
        cmocka_unit_test(the_reference_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
