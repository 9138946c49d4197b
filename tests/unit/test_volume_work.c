// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the correction of volume may not do to waves. With p' the pressure less the one of a flat surface nearest to it:
// afterwards sum p' b is 0 where it was above 0, and b is untouched where it was not; the sums of b, and of b times
// height, stay; each connected part of the liquid is judged by itself; under the pressure of a flat surface nothing
// changes. Sums over some hundred floats of size 1: 1e-5 of them is rounding.
#include "sand_bench.h"
#include "physics/volume_work.h"

typedef struct sums {
    double b, by, work;
} sums;

typedef struct liquid {
    bench bench;
    float *b, *old;
    bool *counts;
    rh_vec3 gravity;
} liquid;

// Two blocks of 8 x 8 cells with a tile and a half between them, so that no tile of one is beside one of the other.
enum { SIDE = 40, APART = 32 };
static bool two_blocks(const int cell[3], uint64_t salt)
{
    (void)salt;
    return cell[1] < 8 && cell[2] < 2 && (cell[0] < 8 || cell[0] >= APART);
}
static bool first_block(const int cell[3]) { return cell[0] < 8; }

static double height_of(const liquid *l, const int cell[3])
{
    double g = (double)rh_v3_length(l->gravity);
    return -((cell[0] + 0.5) * (double)l->gravity.x + (cell[1] + 0.5) * (double)l->gravity.y +
             (l->bench.view.tiles->dimension == 3 ? (cell[2] + 0.5) * (double)l->gravity.z : 0)) /
           g;
}

typedef void visit(liquid *l, const int cell[3], int64_t at, void *user);
static void each(liquid *l, visit *what, void *user)
{
    const rh_pressure *p = &l->bench.pressure;
    const rh_tiles *tiles = p->tiles;
    for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
        int cell[3];
        if (!rh_pressure_is_unknown(p, v)) continue;
        cell_of(tiles, v, cell);
        what(l, cell, (int64_t)p->layout.slot[v / tiles->cells] * tiles->cells + v % tiles->cells, user);
    }
}

static void liquid_make(liquid *l, int dimension, rh_vec3 gravity)
{
    rh_status status = {0};
    *l = (liquid){.gravity = gravity};
    bench_make(&l->bench, dimension, SIDE, two_blocks, NULL, 0, 0);
    rh_pressure *p = &l->bench.pressure;
    p->matrix.count = p->layout.count;
    size_t values = (size_t)p->layout.count * (size_t)p->tiles->cells;
    l->b = rh_arena_take_zero(&l->bench.cloud.arena, values * sizeof *l->b, &status);
    l->old = rh_arena_take_zero(&l->bench.cloud.arena, values * sizeof *l->old, &status);
    l->counts = rh_arena_take_zero(&l->bench.cloud.arena, (size_t)p->layout.count + 1, &status);
    assert_true(l->b && l->old && l->counts);
    for (int32_t n = 0; n < p->layout.count; n++) l->counts[n] = true;
}

static void spare(liquid *l)
{
    rh_status status = {0};
    const rh_pressure *p = &l->bench.pressure;
    memcpy(l->old, l->b, (size_t)p->layout.count * (size_t)p->tiles->cells * sizeof *l->b);
    assert_ok(rh_volume_spare_waves(p, l->gravity, l->counts, l->b, &l->bench.cloud.arena, &status));
}

// p' of the first block, or of the second, times `b`, by the definition: q less its regression on height.
typedef struct regression {
    bool first;
    const float *b;
    double n, y, q, yy, yq, level, slope;
    sums out;
} regression;

static void add_pressure(liquid *l, const int cell[3], int64_t at, void *user)
{
    regression *r = user;
    double y = height_of(l, cell), q = (double)l->bench.pressure.q[at];
    if (first_block(cell) != r->first) return;
    r->n += 1, r->y += y, r->q += q, r->yy += y * y, r->yq += y * q;
}

static void add_work(liquid *l, const int cell[3], int64_t at, void *user)
{
    regression *r = user;
    double y = height_of(l, cell), b = (double)r->b[at];
    if (first_block(cell) != r->first) return;
    r->out.b += b;
    r->out.by += b * y;
    r->out.work += b * ((double)l->bench.pressure.q[at] - r->level - r->slope * y);
}

static sums measure(liquid *l, bool first, const float *b)
{
    regression r = {.first = first, .b = b};
    each(l, add_pressure, &r);
    r.slope = (r.n * r.yq - r.y * r.q) / (r.n * r.yy - r.y * r.y);
    r.level = (r.q - r.slope * r.y) / r.n;
    each(l, add_work, &r);
    return r.out;
}

// A wave in both blocks; the correction follows it in the first and works against it in the second.
static void make_waves(liquid *l, const int cell[3], int64_t at, void *user)
{
    (void)user;
    float noise = support_random((uint64_t)at, 1), wave = sinf(0.7f * (float)cell[0]) + support_random((uint64_t)at, 2);
    l->bench.pressure.q[at] = (float)(20 - 2 * height_of(l, cell)) + wave;
    l->b[at] = 0.3f * noise + (first_block(cell) ? wave : -wave) + 0.1f;
}

static const rh_vec3 PULLS[] = {{0, -9.81f, 0}, {3, 0, 0}, {2, -5, 1}};

static void waves_are_not_fed(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int n = 0; n < 3; n++) {
            liquid l;
            rh_vec3 g = PULLS[n];
            if (dimension == 2) g.z = 0;
            liquid_make(&l, dimension, g);
            each(&l, make_waves, NULL);
            spare(&l);
            sums before = measure(&l, true, l.old), after = measure(&l, true, l.b);
            assert_true(before.work > 10);
            assert_near(after.work, 0, 1e-5 * before.work);
            assert_near(after.b, before.b, 1e-4);
            assert_near(after.by, before.by, 1e-5 * before.work * 40);
            sums kept = measure(&l, false, l.old), same = measure(&l, false, l.b);
            assert_true(kept.work < -10);
            assert_true(same.work == kept.work && same.b == kept.b && same.by == kept.by);
            bench_free(&l.bench);
        }
}

static void lie_flat(liquid *l, const int cell[3], int64_t at, void *user)
{
    (void)user;
    l->bench.pressure.q[at] = (float)(32 - 0.5 * height_of(l, cell));  // exact in floats
    l->b[at] = support_random((uint64_t)at, 5);
}

static void under_a_flat_surface_nothing_changes(void **state)
{
    (void)state;
    liquid l;
    liquid_make(&l, 2, rh_v3(0, -1, 0));
    each(&l, lie_flat, NULL);
    spare(&l);
    const rh_pressure *p = &l.bench.pressure;
    for (int64_t v = 0; v < (int64_t)p->layout.count * p->tiles->cells; v++)
        assert_near((double)l.b[v], (double)l.old[v], 1e-4);
    bench_free(&l.bench);
}

static void tiles_that_do_not_count_are_left(void **state)
{
    (void)state;
    liquid l;
    liquid_make(&l, 2, rh_v3(0, -9.81f, 0));
    each(&l, make_waves, NULL);
    memset(l.counts, 0, (size_t)l.bench.pressure.layout.count);
    spare(&l);
    size_t bytes = (size_t)l.bench.pressure.layout.count * (size_t)l.bench.pressure.tiles->cells * sizeof *l.b;
    assert_memory_equal(l.b, l.old, bytes);
    bench_free(&l.bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waves_are_not_fed),
                                       cmocka_unit_test(under_a_flat_surface_nothing_changes),
                                       cmocka_unit_test(tiles_that_do_not_count_are_left)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
