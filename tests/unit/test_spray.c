// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which particles are spray and which are foam: by hand on lone particles and blocks, and by plain loops on random
// ones.
#include "support.h"
#include "grid/transfer.h"
#include "physics/splash/spray.h"

static const double CELL = 0.125;
enum { NEITHER, SPRAY, FOAM };

typedef struct liquid {
    cloud c;
    float *fill;
    rh_faces velocity;
    uint8_t *is_spray, *is_foam;
} liquid;

static void liquid_take(liquid *l)
{
    rh_status status = {0};
    l->fill = rh_field_new(&l->c.tiles, &l->c.arena, &status);
    l->is_spray = rh_arena_take(&l->c.arena, (size_t)l->c.points.count, &status);
    l->is_foam = rh_arena_take(&l->c.arena, (size_t)l->c.points.count, &status);
    assert_true(l->fill && l->is_spray && l->is_foam);
    assert_ok(rh_faces_new(&l->velocity, &l->c.tiles, true, &l->c.arena, &status));
}

// Lattice cells of three particles an axis (or every `stride`-th of them along x) in a block of cells, velocities (3,
// 0, 0); one particle alone far away.
static void liquid_block(liquid *l, int dimension, int stride)
{
    int64_t n = 0, count = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) cloud_make(&l->c, count + 1);
        for (int z = 0; z < (dimension == 3 ? 18 : 1); z++)
            for (int y = 0; y < 18; y++)
                for (int x = 0; x < 18; x += stride) {
                    if (pass == 0) count++;
                    else
                        l->c.p[n++] = rh_v3_from(rh_d3((x + 0.5) * CELL / 3, (y + 0.5) * CELL / 3,
                                                       dimension == 3 ? (z + 0.5) * CELL / 3 : 0));
                }
    }
    l->c.p[n] = rh_v3_from(rh_d3(40.3 * CELL, 2.2 * CELL, dimension == 3 ? 1.7 * CELL : 0));
    for (int64_t p = 0; p < l->c.points.count; p++) l->c.v[p] = rh_v3(3, 0, 0);
    cloud_tile(&l->c, dimension, CELL, 4);
    liquid_take(l);
    rh_faces velocity, weight;
    rh_status status = {0};
    assert_ok(rh_faces_new(&velocity, &l->c.tiles, false, &l->c.arena, &status));
    assert_ok(rh_faces_new(&weight, &l->c.tiles, false, &l->c.arena, &status));
    float **table = rh_arena_take(&l->c.arena, (size_t)l->c.tiles.count * sizeof *table, &status);
    for (int32_t t = 0; t < l->c.tiles.count; t++) table[t] = l->fill + (int64_t)t * l->c.tiles.cells;
    rh_particles_to_grid(&l->c.tiles, l->c.p, l->c.v, NULL, velocity, weight, table);
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++) l->fill[v] /= (float)pow(3, dimension);
}

// A velocity that grows along x by `rate` a second everywhere.
static void stretch(liquid *l, double rate)
{
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++) {
        double x[3];
        lattice_point(&l->c.tiles, v, 0, x);
        l->velocity.axis[0][v] = (float)(rate * x[0] * CELL);
    }
}

static void find(liquid *l, float speed)
{
    memset(l->is_spray, 7, (size_t)l->c.points.count);
    memset(l->is_foam, 7, (size_t)l->c.points.count);
    rh_spray_find(&l->c.tiles, &(rh_spray){l->fill, l->velocity, speed}, l->c.p, l->c.v, l->is_spray, l->is_foam);
    for (int64_t p = 0; p < l->c.points.count; p++) assert_true(l->is_spray[p] + l->is_foam[p] <= 1);
}

static int kind(const liquid *l, int64_t p) { return l->is_spray[p] ? SPRAY : l->is_foam[p] ? FOAM : NEITHER; }

static bool is_alone(const liquid *l, int64_t p) { return (double)l->c.p[p].x > 30 * CELL; }

// At least a cell and a half from the block's sides (6 cells each).
static bool is_deep(const liquid *l, int64_t p)
{
    for (int a = 0; a < l->c.tiles.dimension; a++)
        if (fabs((double)(&l->c.p[p].x)[a] / CELL - 3) > 1.5) return false;
    return true;
}

// Counts how the lone particle and those inside the block come out; all of a sort must agree.
static void expect(const liquid *l, int alone, int deep, const char *what)
{
    int seen = 0;
    for (int64_t p = 0; p < l->c.points.count; p++) {
        if (is_alone(l, p) && kind(l, p) != alone)
            fail_msg("%s, %dD: the lone particle is %d, not %d", what, l->c.tiles.dimension, kind(l, p), alone);
        if (is_deep(l, p) && kind(l, p) != deep)
            fail_msg("%s, %dD: particle %d inside is %d, not %d", what, l->c.tiles.dimension, (int)p, kind(l, p), deep);
        seen += is_deep(l, p);
    }
    assert_true(seen > 10);
}

static void lone_fast_parting_particles_are_spray(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        liquid l;
        liquid_block(&l, dimension, 1);
        stretch(&l, 1);
        find(&l, 2);
        expect(&l, SPRAY, NEITHER, "parting");
        find(&l, 3);
        expect(&l, SPRAY, NEITHER, "as fast as asked for");
        find(&l, 3.01f);
        expect(&l, NEITHER, NEITHER, "too slow");
        stretch(&l, 0);
        find(&l, 2);
        expect(&l, NEITHER, NEITHER, "in rigid motion");
        stretch(&l, -1);
        find(&l, 2);
        expect(&l, NEITHER, NEITHER, "converging");
        cloud_free(&l.c);
    }
}

// Every second, every third particle along x is left: fillings of about a half and a third, foam; every sixth: a sixth,
// spray.
static void thinned_blocks_are_foam_then_spray(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int stride = 2; stride <= 6; stride += stride == 3 ? 3 : 1) {
            liquid l;
            liquid_block(&l, dimension, stride);
            stretch(&l, 1);
            find(&l, 1);
            expect(&l, SPRAY, stride <= 3 ? FOAM : SPRAY, "thinned");
            cloud_free(&l.c);
        }
}

// By plain loops: the divergence of the particle's cell, the filling linearly between centres, none where there are no
// tiles.
static int plain_kind(const liquid *l, int64_t p, float speed, double *margin)
{
    const rh_tiles *tiles = &l->c.tiles;
    rh_vec3 x = l->c.p[p], u = l->c.v[p];
    int cell[3] = {0, 0, 0};
    double fill = 0, out = 0;
    for (int a = 0; a < tiles->dimension; a++) cell[a] = (int)floorf((&x.x)[a] * tiles->inverse_h);
    for (int a = 0; a < tiles->dimension; a++) {
        int next[3] = {cell[0], cell[1], cell[2]};
        next[a]++;
        int64_t above = value_at(tiles, next[0], next[1], next[2]);
        out += (double)l->velocity.axis[a][above] -
               (double)l->velocity.axis[a][value_at(tiles, cell[0], cell[1], cell[2])];
    }
    for (int n = 0; n < 1 << tiles->dimension; n++) {
        int at[3] = {0, 0, 0};
        double w = 1;
        for (int a = 0; a < tiles->dimension; a++) {
            double place = (double)(&x.x)[a] / CELL - 0.5, way = place - floor(place);
            at[a] = (int)floor(place) + (n >> a & 1);
            w *= n >> a & 1 ? way : 1 - way;
        }
        int64_t v = value_at(tiles, at[0], at[1], at[2]);
        fill += v < 0 ? 0 : w * (double)l->fill[v];
    }
    double fast = sqrt((double)rh_v3_dot(u, u)) - (double)speed;
    *margin = fmin(fmin(fabs(fill - 0.3), fabs(fill - 0.75)), fmin(fabs(out), fabs(fast)));
    if (fast < 0 || out <= 0) return NEITHER;
    return fill < 0.3 ? SPRAY : fill < 0.75 ? FOAM : NEITHER;
}

static void equals_plain_loops(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        liquid l;
        int count[3] = {0, 0, 0};
        cloud_random(&l.c, dimension, CELL, 5000, rh_v3(0.1f, 0, -0.1f), rh_v3(2, 0.7f, 0.5f), 2);
        liquid_take(&l);
        for (int64_t v = 0; v < rh_tiles_values(&l.c.tiles); v++) {
            l.fill[v] = 0.5f + 0.9f * support_random((uint64_t)v, 80);
            for (int a = 0; a < dimension; a++) l.velocity.axis[a][v] = support_random((uint64_t)v, 81 + (uint32_t)a);
        }
        find(&l, 0.6f);
        for (int64_t p = 0; p < l.c.points.count; p++) {
            double margin;
            int expected = plain_kind(&l, p, 0.6f, &margin);
            if (margin < 1e-5) continue;  // rounding may decide
            assert_int_equal(kind(&l, p), expected);
            count[expected]++;
        }
        assert_true(count[NEITHER] > 500 && count[SPRAY] > 100 && count[FOAM] > 100);
        cloud_free(&l.c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lone_fast_parting_particles_are_spray),
        cmocka_unit_test(thinned_blocks_are_foam_then_spray),
        cmocka_unit_test(equals_plain_loops),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
