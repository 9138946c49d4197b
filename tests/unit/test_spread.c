// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Spreading face values (Gerszewski 2014, section 3.2.2) against the same on a plain dense grid in double: on random
// sparse tiles, from random faces, for several numbers of sweeps.
//
// Tolerance: means of up to six floats of order one, at most five times over.
#include "support.h"
#include <stdlib.h>
#include "base/hash.h"
#include "grid/spread.h"

typedef struct field {
    cloud c;
    rh_faces values;
    rh_bits *known[3];
} field;

static bool is_known(const field *f, int axis, int64_t v)
{
    int c = (int)(v % f->c.tiles.cells);
    return f->known[axis][v / f->c.tiles.cells].layer[c >> 6] >> (c & 63) & 1;
}

// `share` of all faces start known; the rest hold what must not be read.
static void field_make(field *f, int dimension, float share)
{
    rh_status status = {0};
    cloud_random(&f->c, dimension, 0.1, 60, rh_v3(0.3f, -0.2f, 0.1f), rh_v3(2, 1, 0.6f), 2);
    const rh_tiles *tiles = &f->c.tiles;
    assert_ok(rh_faces_new(&f->values, tiles, false, &f->c.arena, &status));
    for (int a = 0; a < dimension; a++) {
        f->known[a] = rh_arena_take_zero(&f->c.arena, (size_t)tiles->count * sizeof *f->known[a], &status);
        assert_non_null(f->known[a]);
        for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
            bool known = rh_random(3, (uint64_t)v, 0, (uint32_t)a) < share;
            int c = (int)(v % tiles->cells);
            f->values.axis[a][v] = known ? support_random((uint64_t)v, 10 + (uint32_t)a) : NAN;
            if (known) f->known[a][v / tiles->cells].layer[c >> 6] |= (uint64_t)1 << (c & 63);
        }
    }
}

// One sweep by plain loops: faces known before it are read, others written.
static void sweep(const rh_tiles *tiles, double *value, uint8_t *known)
{
    int64_t count = rh_tiles_values(tiles);
    for (int64_t v = 0; v < count; v++) {
        if (known[v]) continue;
        int cell[3], neighbours = 0;
        double sum = 0;
        cell_of(tiles, v, cell);
        for (int n = 0; n < 2 * tiles->dimension; n++) {
            int at[3] = {cell[0], cell[1], cell[2]};
            at[n / 2] += n & 1 ? 1 : -1;
            int64_t other = value_at(tiles, at[0], at[1], at[2]);
            if (other < 0 || known[other] != 1) continue;
            sum += value[other];
            neighbours++;
        }
        if (neighbours) value[v] = sum / neighbours, known[v] = 2;
    }
    for (int64_t v = 0; v < count; v++) known[v] = known[v] != 0;
}

static void check_spread(int dimension, float share, int sweeps)
{
    field f;
    rh_status status = {0};
    field_make(&f, dimension, share);
    const rh_tiles *tiles = &f.c.tiles;
    int64_t count = rh_tiles_values(tiles), reached = 0;
    double *value[3];
    uint8_t *known[3];
    for (int a = 0; a < dimension; a++) {
        value[a] = rh_arena_take(&f.c.arena, (size_t)count * sizeof(double), &status);
        known[a] = rh_arena_take(&f.c.arena, (size_t)count, &status);
        for (int64_t v = 0; v < count; v++) value[a][v] = (double)f.values.axis[a][v], known[a][v] = is_known(&f, a, v);
        for (int n = 0; n < sweeps; n++) sweep(tiles, value[a], known[a]);
    }
    assert_ok(rh_faces_spread(tiles, f.values, f.known, sweeps, &f.c.arena, &status));
    for (int a = 0; a < dimension; a++)
        for (int64_t v = 0; v < count; v++) {
            int cell[3];
            cell_of(tiles, v, cell);
            double found = (double)f.values.axis[a][v];
            if (is_known(&f, a, v) != known[a][v] ||
                (known[a][v] ? !(fabs(found - value[a][v]) < 5e-6) : !isnan(found)))
                fail_msg("%dD, %g known, %d sweeps, component %d at %d %d %d: %g (known %d), not %g (known %d)",
                         dimension, (double)share, sweeps, a, cell[0], cell[1], cell[2], found, is_known(&f, a, v),
                         value[a][v], known[a][v]);
            reached += known[a][v];
        }
    assert_true(reached > (int64_t)(share * (float)count));
    cloud_free(&f.c);
}

static void equals_plain_loops(void **state)
{
    (void)state;
    const float shares[] = {0.001f, 0.02f, 0.3f, 1};
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int n = 0; n < 4; n++)
            for (int sweeps = 0; sweeps <= 5; sweeps++) check_spread(dimension, shares[n], sweeps);
}

// One face at a corner of its tile reaches just the diamond around it, in eight tiles.
static void one_face_spreads_over_borders(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        field f;
        rh_status status = {0};
        field_make(&f, dimension, 0);
        rh_tile at = f.c.tiles.at[f.c.tiles.count / 2];
        const int from[3] = {at.x * RH_TILE + 7, at.y * RH_TILE, dimension == 3 ? at.z * RH_TILE + 7 : 0};
        int64_t start = value_at(&f.c.tiles, from[0], from[1], from[2]);
        int c = (int)(start % f.c.tiles.cells), other_tiles = 0;
        f.known[1][start / f.c.tiles.cells].layer[c >> 6] |= (uint64_t)1 << (c & 63);
        f.values.axis[1][start] = 3;
        assert_ok(rh_faces_spread(&f.c.tiles, f.values, f.known, 3, &f.c.arena, &status));
        for (int64_t v = 0; v < rh_tiles_values(&f.c.tiles); v++) {
            int cell[3], away = 0;
            cell_of(&f.c.tiles, v, cell);
            for (int a = 0; a < 3; a++) away += abs(cell[a] - from[a]);
            if (away <= 3 && is_known(&f, 1, v)) assert_true(f.values.axis[1][v] == 3);
            if (away > 3) assert_false(is_known(&f, 1, v));
            other_tiles += is_known(&f, 1, v) && v / f.c.tiles.cells != start / f.c.tiles.cells;
            assert_false(is_known(&f, 0, v));
        }
        assert_true(other_tiles > 3);
        cloud_free(&f.c);
    }
}

static uint64_t spread_hash(int dimension, int threads)
{
    field f;
    rh_status status = {0};
    rh_threads_set(threads);
    field_make(&f, dimension, 0.01f);
    assert_ok(rh_faces_spread(&f.c.tiles, f.values, f.known, 4, &f.c.arena, &status));
    uint64_t hash = 0;
    for (int a = 0; a < dimension; a++) {
        for (int64_t v = 0; v < rh_tiles_values(&f.c.tiles); v++)
            if (!is_known(&f, a, v)) f.values.axis[a][v] = 0;
        hash = rh_hash(f.values.axis[a], (size_t)rh_tiles_values(&f.c.tiles) * sizeof(float), hash);
        hash = rh_hash(f.known[a], (size_t)f.c.tiles.count * sizeof *f.known[a], hash);
    }
    cloud_free(&f.c);
    return hash;
}

static void threads_do_not_show(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        uint64_t one = spread_hash(dimension, 1);
        assert_true(spread_hash(dimension, 2) == one && spread_hash(dimension, 3) == one);
    }
    rh_threads_set(0);
}

static void memory_that_runs_out_is_told(void **state)
{
    (void)state;
    field f;
    field_make(&f, 2, 0.1f);
    rh_arena empty;
    rh_arena_init(&empty, "test");
    rh_memory_fail_after(0);
    rh_code code = rh_faces_spread(&f.c.tiles, f.values, f.known, 2, &empty, NULL);
    rh_memory_fail_after(-1);
    assert_int_equal(code, RH_MEMORY);
    rh_arena_free(&empty);
    cloud_free(&f.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_plain_loops),
        cmocka_unit_test(one_face_spreads_over_borders),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
