// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Pressure on particles from step to step: means and linear interpolation against plain loops, and what must come back
// as it was.
//
// Tolerance: places in cells are known to 20 * 2^-24 = 1e-6; values of order one, slopes too.
#include "support.h"
#include "physics/carry.h"

static const double CELL = 0.125, NEAR = 1e-5;

typedef struct liquid {
    cloud c;
    rh_layout layout;
    float *q, *values;
} liquid;

static bool is_unknown(const liquid *l, int64_t v) { return v >= 0 && (l->layout.unknown[v >> 3] >> (v & 7) & 1); }

static uint32_t count_in(const liquid *l, int64_t v)
{
    return v < 0 ? 0 : l->c.tiles.first[v + 1] - l->c.tiles.first[v];
}

static float *q_at(const liquid *l, int64_t v)
{
    return &l->q[(int64_t)l->layout.slot[v / l->c.tiles.cells] * l->c.tiles.cells + v % l->c.tiles.cells];
}

// Unknowns: cells with particles, or, when `random`, some cells with and some without.
static void liquid_number(liquid *l, bool random)
{
    rh_status status = {0};
    const rh_tiles *tiles = &l->c.tiles;
    assert_ok(rh_layout_init(&l->layout, tiles, &l->c.arena, &status));
    memset(l->layout.unknown, 0, (size_t)rh_tiles_values(tiles) / 8);
    for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
        bool wanted = random ? (v / tiles->cells) % 3 && support_random((uint64_t)v, 70) > 0 : count_in(l, v) > 0;
        if (wanted) l->layout.unknown[v >> 3] |= (uint8_t)(1 << (v & 7));
    }
    assert_ok(rh_layout_number(&l->layout, &l->c.arena, &status));
    l->q = rh_arena_take_zero(&l->c.arena, ((size_t)l->layout.count + 1) * (size_t)tiles->cells * sizeof(float),
                              &status);
    l->values = rh_arena_take_zero(&l->c.arena, (size_t)l->c.points.count * sizeof(float), &status);
    assert_true(l->q && l->values);
}

// A block of the sub-lattice with three particles an axis, cells -10 .. 9 along x, -4 .. 4 along the others.
static void liquid_block(liquid *l, int dimension)
{
    const int low[3] = {-30, -12, dimension == 3 ? -12 : 0}, high[3] = {30, 15, dimension == 3 ? 15 : 1};
    int64_t n = 0;
    cloud_make(&l->c, (int64_t)(high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]));
    for (int z = low[2]; z < high[2]; z++)
        for (int y = low[1]; y < high[1]; y++)
            for (int x = low[0]; x < high[0]; x++)
                l->c.p[n++] = rh_v3_from(
                    rh_d3((x + 0.5) * CELL / 3, (y + 0.5) * CELL / 3, dimension == 3 ? (z + 0.5) * CELL / 3 : 0));
    cloud_tile(&l->c, dimension, CELL, 4);
    liquid_number(l, false);
}

// Everything a particle reads are cells full of particles.
static bool is_inside(const liquid *l, rh_vec3 p)
{
    int base[3] = {0, 0, 0};
    for (int a = 0; a < l->c.tiles.dimension; a++) base[a] = (int)floor((double)(&p.x)[a] / CELL - 0.5);
    for (int n = 0; n < 1 << l->c.tiles.dimension; n++)
        if (!count_in(l, value_at(&l->c.tiles, base[0] + (n & 1), base[1] + (n >> 1 & 1), base[2] + (n >> 2))))
            return false;
    return true;
}

static double linear(rh_vec3 p, double slope)
{
    return 2 + slope * (0.3 * (double)p.x - 0.4 * (double)p.y + 0.2 * (double)p.z) / CELL;
}

// To cells and back, in units in which the pressure is a thousand times as large.
static void check_round_trip(int dimension, double slope)
{
    liquid l;
    int inside = 0;
    liquid_block(&l, dimension);
    for (int64_t p = 0; p < l.c.points.count; p++) l.values[p] = (float)(1000 * linear(l.c.p[p], slope));
    rh_carry_to_cells(&l.layout, l.values, 1e-3f, l.q);
    for (int64_t v = 0; v < rh_tiles_values(&l.c.tiles); v++) {
        if (!is_unknown(&l, v)) continue;
        double x[3];
        lattice_point(&l.c.tiles, v, 3, x);
        rh_vec3 center = rh_v3_from(rh_d3(x[0] * CELL, x[1] * CELL, x[2] * CELL));
        assert_near((double)*q_at(&l, v), linear(center, slope), NEAR);
    }
    for (int64_t p = 0; p < l.c.points.count; p++) l.values[p] = NAN;
    rh_carry_to_particles(&l.layout, l.q, l.c.p, 1000, l.values);
    for (int64_t p = 0; p < l.c.points.count; p++) {
        double expected = 1000 * linear(l.c.p[p], slope);
        if (is_inside(&l, l.c.p[p])) assert_near((double)l.values[p], expected, 1000 * NEAR);
        else if (slope == 0)
            assert_true(l.values[p] > 0 && (double)l.values[p] <= expected + 1000 * NEAR);  // falls off towards the air
        inside += is_inside(&l, l.c.p[p]);
    }
    assert_true(inside > 500 && inside < l.c.points.count);
    cloud_free(&l.c);
}

static void constant_and_linear_pressure_come_back(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        check_round_trip(dimension, 0);
        check_round_trip(dimension, 0.1);
    }
}

static void liquid_random(liquid *l, int dimension)
{
    cloud_random(&l->c, dimension, CELL, 900, rh_v3(0.1f, 0, -0.1f), rh_v3(2, 0.7f, 0.5f), 2);
    liquid_number(l, true);
    for (int64_t p = 0; p < l->c.points.count; p++) l->values[p] = support_random((uint64_t)p, 71);
}

static void cells_get_the_mean(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        liquid l;
        int empty = 0;
        liquid_random(&l, dimension);
        for (int64_t n = 0; n < (int64_t)l.layout.count * l.c.tiles.cells; n++)
            l.q[n] = NAN;  // all of them are written
        rh_carry_to_cells(&l.layout, l.values, 2, l.q);
        for (int64_t v = 0; v < rh_tiles_values(&l.c.tiles); v++) {
            if (l.layout.slot[v / l.c.tiles.cells] < 0) continue;
            double sum = 0;
            for (uint32_t p = l.c.tiles.first[v]; p < l.c.tiles.first[v + 1]; p++) sum += (double)l.values[p];
            bool wanted = is_unknown(&l, v) && count_in(&l, v) > 0;
            assert_near((double)*q_at(&l, v), wanted ? 2 * sum / count_in(&l, v) : 0, NEAR);
            empty += is_unknown(&l, v) && !wanted;
        }
        assert_true(empty > 10);
        cloud_free(&l.c);
    }
}

static void particles_read_linearly(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        liquid l;
        liquid_random(&l, dimension);
        for (int64_t v = 0; v < rh_tiles_values(&l.c.tiles); v++)
            if (is_unknown(&l, v)) *q_at(&l, v) = support_random((uint64_t)v, 72);
        rh_carry_to_particles(&l.layout, l.q, l.c.p, 3, l.values);
        for (int64_t p = 0; p < l.c.points.count; p++) {
            double sum = 0;
            for (int n = 0; n < 1 << dimension; n++) {
                int cell[3] = {0, 0, 0};
                double w = 1;
                for (int a = 0; a < dimension; a++) {
                    double at = (double)(&l.c.p[p].x)[a] / CELL - 0.5, way = at - floor(at);
                    cell[a] = (int)floor(at) + (n >> a & 1);
                    w *= n >> a & 1 ? way : 1 - way;
                }
                int64_t v = value_at(&l.c.tiles, cell[0], cell[1], cell[2]);
                if (is_unknown(&l, v)) sum += w * (double)*q_at(&l, v);
            }
            assert_near((double)l.values[p], 3 * sum, 3 * NEAR);
        }
        cloud_free(&l.c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_and_linear_pressure_come_back),
        cmocka_unit_test(cells_get_the_mean),
        cmocka_unit_test(particles_read_linearly),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
