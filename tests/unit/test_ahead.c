// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How full cells will be, against sums in double over particles that were moved one by one.
//
// Tolerance: places are floats of up to 20 cells plus a way of up to 3, known to 3e-6 cells; a cell sums some ten of
// them.
#include "support.h"
#include "base/hash.h"
#include "grid/ahead.h"

static const double CELL = 0.125;

typedef struct flow {
    cloud c;
    rh_faces velocity;
    float *cells;
} flow;

// Velocities of order one, in cells a second.
static void flow_make(flow *f, int dimension, int64_t count, int margin)
{
    rh_status status = {0};
    cloud_random(&f->c, dimension, CELL, count, rh_v3(0.1f, 0, -0.1f), rh_v3(2, 0.7f, 0.5f), margin);
    assert_ok(rh_faces_new(&f->velocity, &f->c.tiles, false, &f->c.arena, &status));
    for (int a = 0; a < dimension; a++)
        for (int64_t v = 0; v < rh_tiles_values(&f->c.tiles); v++)
            f->velocity.axis[a][v] = (float)CELL * support_random((uint64_t)v, 50 + (uint32_t)a);
    f->cells = rh_field_new(&f->c.tiles, &f->c.arena, &status);
    assert_non_null(f->cells);
}

// A component of the velocity at a particle, linear between faces.
static double velocity_at(const flow *f, int axis, rh_vec3 p)
{
    const rh_tiles *tiles = &f->c.tiles;
    double way[3] = {0, 0, 0}, sum = 0;
    int base[3] = {0, 0, 0};
    for (int a = 0; a < tiles->dimension; a++) {
        double at = (double)(&p.x)[a] / CELL - (a == axis ? 0 : 0.5);
        base[a] = (int)floor(at);
        way[a] = at - base[a];
    }
    for (int n = 0; n < 1 << tiles->dimension; n++) {
        int d[3] = {n & 1, n >> 1 & 1, n >> 2 & 1};
        double w = 1;
        for (int a = 0; a < tiles->dimension; a++) w *= d[a] ? way[a] : 1 - way[a];
        int64_t v = value_at(tiles, base[0] + d[0], base[1] + d[1], base[2] + d[2]);
        assert_true(v >= 0);
        sum += w * (double)f->velocity.axis[axis][v];
    }
    return sum;
}

// Moves and spreads every particle by itself; returns the longest way, in cells, that the velocity asks for.
static double spread_moved(const flow *f, double dt, double *expected)
{
    const rh_tiles *tiles = &f->c.tiles;
    double longest = 0;
    memset(expected, 0, (size_t)rh_tiles_values(tiles) * sizeof *expected);
    for (int64_t p = 0; p < f->c.points.count; p++) {
        double at[3] = {0, 0, 0}, way[3] = {0, 0, 0};
        int base[3] = {0, 0, 0};
        for (int a = 0; a < tiles->dimension; a++) {
            double step = dt * velocity_at(f, a, f->c.p[p]) / CELL;
            longest = fmax(longest, fabs(step));
            at[a] = (double)(&f->c.p[p].x)[a] / CELL + fmin(fmax(step, -3), 3) - 0.5;
            base[a] = (int)floor(at[a]);
            way[a] = at[a] - base[a];
        }
        for (int n = 0; n < 1 << tiles->dimension; n++) {
            int d[3] = {n & 1, n >> 1 & 1, n >> 2 & 1};
            double w = 1;
            for (int a = 0; a < tiles->dimension; a++) w *= d[a] ? way[a] : 1 - way[a];
            int64_t v = value_at(tiles, base[0] + d[0], base[1] + d[1], base[2] + d[2]);
            if (v >= 0) expected[v] += w;
        }
    }
    return longest;
}

static void check_ways(int dimension, double dt, int margin, bool clamped)
{
    flow f;
    flow_make(&f, dimension, 1501, margin);  // no multiple of eight
    double *expected = rh_arena_take(&f.c.arena, (size_t)rh_tiles_values(&f.c.tiles) * sizeof *expected, NULL),
           total = 0, all = 0;
    double longest = spread_moved(&f, dt, expected);
    assert_int_equal(longest > 3, clamped);
    for (int64_t v = 0; v < rh_tiles_values(&f.c.tiles); v++) f.cells[v] = NAN;  // every value must be written
    rh_particles_ahead(&f.c.tiles, &(rh_ahead){f.velocity, (float)dt}, f.c.p, f.cells);
    for (int64_t v = 0; v < rh_tiles_values(&f.c.tiles); v++) {
        int cell[3];
        cell_of(&f.c.tiles, v, cell);
        if (!(fabs((double)f.cells[v] - expected[v]) <= 1e-5 * fmax(1, expected[v])))
            fail_msg("%dD, ways up to %.2f cells: cell %d %d %d has %g, not %g", dimension, longest, cell[0], cell[1],
                     cell[2], (double)f.cells[v], expected[v]);
        total += (double)f.cells[v];
        all += expected[v];
    }
    if (margin >= 4) assert_near(total, 1501, 1e-6 * 1501);  // nobody leaves the tiles
    assert_near(total, all, 1e-6 * 1501);
    cloud_free(&f.c);
}

static void equals_particles_moved_one_by_one(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        check_ways(dimension, 0, 2, false);
        check_ways(dimension, 0.7, 2, false);
        check_ways(dimension, 2.9, 4, false);
        check_ways(dimension, 12, 4, true);
        check_ways(dimension, 1e6, 2, true);  // all run for the edge
    }
}

// All go the same way: whole cells are exact.
static void a_constant_wind_shifts_the_filling(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int n = -4; n <= 4; n++) {
            flow f;
            flow_make(&f, dimension, 1000, 4);
            const int step[3] = {n, -n, dimension == 3 ? (n + 1) / 2 : 0}, most = 3;
            float *before = rh_field_new(&f.c.tiles, &f.c.arena, NULL);
            for (int a = 0; a < dimension; a++)
                for (int64_t v = 0; v < rh_tiles_values(&f.c.tiles); v++)
                    f.velocity.axis[a][v] = (float)(step[a] * CELL);
            rh_particles_ahead(&f.c.tiles, &(rh_ahead){f.velocity, 0}, f.c.p, before);
            rh_particles_ahead(&f.c.tiles, &(rh_ahead){f.velocity, 1}, f.c.p, f.cells);
            for (int64_t v = 0; v < rh_tiles_values(&f.c.tiles); v++) {
                int cell[3];
                cell_of(&f.c.tiles, v, cell);
                for (int a = 0; a < 3; a++) cell[a] -= step[a] > most ? most : step[a] < -most ? -most : step[a];
                int64_t from = value_at(&f.c.tiles, cell[0], cell[1], cell[2]);
                assert_near((double)f.cells[v], from < 0 ? 0 : (double)before[from], 1e-4);
            }
            cloud_free(&f.c);
        }
}

static uint64_t ahead_hash(int dimension, int threads)
{
    flow f;
    rh_threads_set(threads);
    flow_make(&f, dimension, 20000, 4);
    rh_particles_ahead(&f.c.tiles, &(rh_ahead){f.velocity, 3}, f.c.p, f.cells);
    uint64_t hash = rh_hash(f.cells, (size_t)rh_tiles_values(&f.c.tiles) * sizeof(float), 0);
    cloud_free(&f.c);
    return hash;
}

static void threads_do_not_show(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        uint64_t one = ahead_hash(dimension, 1);
        assert_true(ahead_hash(dimension, 2) == one && ahead_hash(dimension, 3) == one);
    }
    rh_threads_set(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_particles_moved_one_by_one),
        cmocka_unit_test(a_constant_wind_shifts_the_filling),
        cmocka_unit_test(threads_do_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
