// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Strain rates, the yield test, and the friction of sand that yields: exact for linear flows, against the motion, and
// never more than what stops it.
#include "sand_bench.h"

static bool all(const int cell[3], uint64_t salt) { return (void)cell, (void)salt, true; }
static bool most(const int cell[3], uint64_t salt)
{
    return rh_random(salt, (uint64_t)(cell[0] + 64 * (cell[1] + 64 * cell[2])), 0, 1) < 0.85f;
}

static const double SLOPE[3][3] = {{0.5, -0.7, 0.2}, {0.3, -0.9, 0.6}, {-0.4, 0.1, 0.4}};  // no trace
static double linear(int a, const double x[3])
{
    return 0.4 * a + SLOPE[a][0] * x[0] + SLOPE[a][1] * x[1] + SLOPE[a][2] * x[2];
}
static const double PLANE[2][2] = {{0.5, -0.7}, {0.3, -0.5}};
static double linear_flat(int a, const double x[3]) { return 0.4 * a + PLANE[a][0] * x[0] + PLANE[a][1] * x[1]; }
static double turning(int a, const double x[3])
{
    return 0.2 * a + (a == 0 ? 0.3 * x[2] - 0.5 * x[1] : a == 1 ? 0.5 * x[0] - 0.2 * x[2] : 0.2 * x[1] - 0.3 * x[0]);
}
static double turning_flat(int a, const double x[3]) { return 0.2 * a + (a == 0 ? -0.5 * x[1] : 0.5 * x[0]); }

// Strain of all cells of sand, the largest difference from `expected`.
static double strain_error(const bench *b, const double expected[6])
{
    const rh_tiles *tiles = b->view.tiles;
    double worst = 0;
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_strain_block block;
        rh_strain_load(&b->view, b->velocity, t, &block);
        for (int c = 0; c < tiles->cells; c++) {
            if (!rh_pressure_is_unknown(&b->pressure, (int64_t)t * tiles->cells + c)) continue;
            rh_strain s = rh_strain_of(&block, rh_block_index(tiles, RH_STRAIN_HALO, c & 7, c >> 3 & 7, c >> 6));
            for (int n = 0; n < 6; n++) worst = fmax(worst, fabs((double)s.at[n] - expected[n]));
        }
    }
    return worst;
}

static void strain_is_exact_for_linear_flows(void **state)
{
    (void)state;
    bench b;
    bench_make(&b, 3, 10, all, NULL, 0, 1);
    bench_set(&b, linear);
    const double deep[6] = {0.5, -0.9, 0.4, 0.5 * (-0.7 + 0.3), 0.5 * (0.2 - 0.4), 0.5 * (0.6 + 0.1)};
    assert_near(strain_error(&b, deep), 0, 3e-6);
    bench_free(&b);
    bench_make(&b, 2, 10, all, NULL, 0, 1);
    bench_set(&b, linear_flat);
    const double flat[6] = {0.5, -0.5, 0, 0.5 * (-0.7 + 0.3), 0, 0};
    assert_near(strain_error(&b, flat), 0, 3e-6);
    bench_free(&b);
}

// Also at a ragged surface and beside closed faces, where differences are one-sided.
static bool some(const int cell[3], uint64_t salt)
{
    return rh_random(salt, (uint64_t)(cell[0] + 3 + 64 * (cell[1] + 3 + 64 * (cell[2] + 3))), 0, 2) < 0.1f;
}

static void rotations_have_no_strain(void **state)
{
    (void)state;
    const double none[6] = {0};
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench b;
        bench_make(&b, dimension, 12, most, some, 3, 1);
        bench_set(&b, dimension == 3 ? turning : turning_flat);
        assert_near(strain_error(&b, none), 0, 3e-6);
        bench_free(&b);
    }
}

// u = rate * y: h D = rate / 2, |D| = rate / sqrt 2, and the cell holds while sqrt(3) / 2 rate < sin(phi) q + c.
static double rate;
static double shear(int a, const double x[3]) { return a == 0 ? rate * (x[1] - 8) : 0; }

static void check_holds(double by, float q, rh_sand_strength strength, bool expected)
{
    bench b;
    rh_status status = {0};
    rate = by;
    bench_make(&b, 2, 16, all, NULL, 0, q);
    bench_set(&b, shear);
    assert_ok(rh_sand_yield(&b.cells, &b.view, strength, &status));
    assert_int_equal(b.cells.yielding, expected ? 0 : 256);
    for (int x = 0; x < 16; x++)
        assert_int_equal(rh_sand_cell_holds(&b.cells, value_at(b.view.tiles, x, 15 - x, 0)), expected);
    bench_free(&b);
}

static void the_yield_surface_is_where_it_should_be(void **state)
{
    (void)state;
    double edge = (0.5 * 0.3 + 0.02) * 2 / sqrt(3);
    check_holds(0.99 * edge, 0.3f, (rh_sand_strength){0.5f, 0.02f}, true);
    check_holds(1.01 * edge, 0.3f, (rh_sand_strength){0.5f, 0.02f}, false);
    check_holds(1e-6, -0.1f, (rh_sand_strength){0.5f, 0.02f}, false);  // tension beyond cohesion
    check_holds(1e-6, -0.03f, (rh_sand_strength){0.5f, 0.02f}, true);
}

static double upper_half(const bench *b)
{
    double sum = 0;
    for (int64_t v = 0; v < rh_tiles_values(b->view.tiles); v++) {
        int cell[3];
        cell_of(b->view.tiles, v, cell);
        if (b->known[0][v] && cell[1] >= 8)
            sum += (double)rh_sand_face_mass(&b->cells, &b->view, v, 0) * (double)b->velocity.axis[0][v];
    }
    return sum;
}

// Through a plane across the shear friction passes sqrt(3) sin(phi) p / sqrt(2) for every cell, from the fast side to
// the slow one: in the unit of q exactly that much.
static void friction_has_the_source_s_size_and_dissipates(void **state)
{
    (void)state;
    bench b;
    rh_status status = {0};
    rate = 10;
    bench_make(&b, 2, 16, all, NULL, 0, 0.02f);
    bench_set(&b, shear);
    assert_ok(rh_sand_yield(&b.cells, &b.view, (rh_sand_strength){0.5f, 0}, &status));
    motion_sums before = bench_sums(&b);
    double above = upper_half(&b);
    assert_ok(rh_sand_slide(&b.cells, &b.view, &status));
    motion_sums after = bench_sums(&b);
    assert_near(upper_half(&b) - above, -16 * sqrt(1.5) * 0.5 * 0.02, 0.01 * 16 * sqrt(1.5) * 0.5 * 0.02);
    assert_true(after.energy < before.energy);
    assert_same_momenta(before, after, 1e-7);
    bench_free(&b);
}

// However strong: what friction may take is what there is. Momentum stays, energy falls, shear is not turned around.
static void friction_stops_and_does_not_reverse(void **state)
{
    (void)state;
    bench b;
    rh_status status = {0};
    rate = 0.3;
    bench_make(&b, 2, 16, all, NULL, 0, 1e3f);
    bench_set(&b, shear);
    assert_ok(rh_sand_yield(&b.cells, &b.view, (rh_sand_strength){0.5f, -1e6f}, &status));  // nothing holds
    double energy = bench_sums(&b).energy;
    for (int n = 0; n < 20; n++) {
        assert_ok(rh_sand_slide(&b.cells, &b.view, &status));
        motion_sums now = bench_sums(&b);
        assert_true(now.energy < energy);
        energy = now.energy;
        float low = b.velocity.axis[0][value_at(b.view.tiles, 8, 2, 0)],
              high = b.velocity.axis[0][value_at(b.view.tiles, 8, 13, 0)];
        assert_true(low < 0 && high > 0);
    }
    bench_free(&b);
}

// Random flows hold every wave the grid can carry, among them those the limit is made for.
static void friction_never_amplifies(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench b;
        rh_status status = {0};
        bench_make(&b, dimension, 12, most, some, 9, 1e3f);
        bench_set_random(&b, 9);
        assert_ok(rh_sand_yield(&b.cells, &b.view, (rh_sand_strength){0.5f, -1e6f}, &status));
        motion_sums first = bench_sums(&b);
        double energy = first.energy;
        for (int n = 0; n < 30; n++) {
            assert_ok(rh_sand_slide(&b.cells, &b.view, &status));
            double now = bench_sums(&b).energy;
            assert_true(now < energy);
            energy = now;
        }
        assert_same_momenta(first, bench_sums(&b), 1e-6);
        bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strain_is_exact_for_linear_flows),
                                       cmocka_unit_test(rotations_have_no_strain),
                                       cmocka_unit_test(the_yield_surface_is_where_it_should_be),
                                       cmocka_unit_test(friction_has_the_source_s_size_and_dissipates),
                                       cmocka_unit_test(friction_stops_and_does_not_reverse),
                                       cmocka_unit_test(friction_never_amplifies)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
