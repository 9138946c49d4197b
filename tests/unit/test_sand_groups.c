// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Groups of cells that hold: found as a plain flood fill finds them, projected onto rigid motions with momentum and
// angular momentum kept.
#include "sand_bench.h"

static bool all(const int cell[3], uint64_t salt) { return (void)cell, (void)salt, true; }
static bool most(const int cell[3], uint64_t salt)
{
    return rh_random(salt, (uint64_t)(cell[0] + 64 * (cell[1] + 64 * cell[2])), 0, 1) < 0.85f;
}
static bool few(const int cell[3], uint64_t salt)
{
    return rh_random(salt, (uint64_t)(cell[0] + 3 + 64 * (cell[1] + 3 + 64 * (cell[2] + 3))), 0, 2) < 0.08f;
}

// Cells that hold, by a rule instead of the yield test.
static void take_holding(bench *b, bench_rule *rule, uint64_t salt)
{
    rh_status status = {0};
    assert_ok(rh_sand_yield(&b->cells, &b->view, (rh_sand_strength){0, 1e30f}, &status));  // masses; all hold
    for (int64_t v = 0; v < rh_tiles_values(b->view.tiles); v++) {
        int cell[3];
        cell_of(b->view.tiles, v, cell);
        if (!rule(cell, salt)) b->cells.rigid[v >> 3] &= (uint8_t) ~(1 << (v & 7));
    }
}

static bool half(const int cell[3], uint64_t salt)
{
    return rh_random(salt, (uint64_t)(cell[0] + 64 * (cell[1] + 64 * cell[2])), 0, 3) < 0.55f;
}

// Everything joined with a cell that has no label yet.
static void label_from(const bench *b, int64_t from, int32_t label, int32_t *labels)
{
    const rh_tiles *tiles = b->view.tiles;
    int64_t stack[8192];
    int depth = 0;
    stack[depth++] = from;
    labels[from] = label;
    while (depth > 0) {
        int64_t v = stack[--depth];
        int cell[3];
        cell_of(tiles, v, cell);
        for (int n = 0; n < 2 * tiles->dimension; n++) {
            int a = n / 2, up = n % 2, to[3] = {cell[0], cell[1], cell[2]};
            to[a] += up ? 1 : -1;
            int64_t w = value_at(tiles, to[0], to[1], to[2]);
            if (w < 0 || labels[w] >= 0 || !rh_sand_cell_holds(&b->cells, w) || !b->known[a][up ? w : v]) continue;
            labels[w] = label;
            assert_true(depth < 8192);
            stack[depth++] = w;
        }
    }
}

static void check_labels(bench *b, const rh_sand_groups *groups)
{
    const rh_tiles *tiles = b->view.tiles;
    rh_status status = {0};
    int64_t values = rh_tiles_values(tiles);
    int32_t *labels = rh_alloc((size_t)values * sizeof *labels, "test", &status), count = 0;
    int32_t *of = rh_alloc((size_t)values * sizeof *of, "test", &status);
    for (int64_t v = 0; v < values; v++) labels[v] = -1;
    for (int64_t v = 0; v < values; v++)
        if (labels[v] < 0 && rh_sand_cell_holds(&b->cells, v)) {
            of[count] = rh_sand_group_of(groups, (int32_t)(v / tiles->cells), (int)(v % tiles->cells));
            for (int32_t n = 0; n < count; n++) assert_int_not_equal(of[n], of[count]);
            label_from(b, v, count++, labels);
        }
    assert_int_equal(count, groups->groups);
    for (int64_t v = 0; v < values; v++)
        assert_int_equal(rh_sand_group_of(groups, (int32_t)(v / tiles->cells), (int)(v % tiles->cells)),
                         labels[v] < 0 ? -1 : of[labels[v]]);
    rh_free(labels);
    rh_free(of);
}

// What the bodies hold, in double: gram * motion is momentum.
static void check_bodies(const rh_sand_groups *groups)
{
    for (int32_t g = 0; g < groups->groups; g++) {
        const rh_rigid *b = &groups->bodies[g];
        double size = 0;
        for (int i = 0; i < 6; i++) size = fmax(size, fmax(fabs(b->momentum[i]), b->gram[i][i]));
        for (int i = 0; i < 6; i++) {
            double sum = 0;
            for (int j = 0; j < 6; j++) sum += b->gram[i][j] * b->motion[j];
            assert_near(sum, b->momentum[i], 1e-12 * size);
        }
    }
}

static void random_groups(int dimension, int side, uint64_t salt)
{
    bench b;
    rh_status status = {0};
    rh_sand_groups groups;
    bench_make(&b, dimension, side, most, few, salt, 1);
    take_holding(&b, half, salt);
    bench_set_random(&b, salt);
    motion_sums before = bench_sums(&b);
    assert_ok(rh_sand_groups_find(&groups, &b.cells, &b.view, &status));
    assert_true(groups.groups > 3);
    check_labels(&b, &groups);
    check_bodies(&groups);
    rh_sand_groups_move(&groups, &b.cells, &b.view);
    motion_sums after = bench_sums(&b);
    assert_same_momenta(before, after, 3e-8);
    assert_true(after.energy < before.energy);
    // Rigid now: a second time changes nothing.
    assert_ok(rh_sand_groups_find(&groups, &b.cells, &b.view, &status));
    rh_sand_groups_move(&groups, &b.cells, &b.view);
    assert_near(bench_sums(&b).energy, after.energy, 1e-6 * after.energy);
    bench_free(&b);
}

static void momentum_is_kept(void **state)
{
    (void)state;
    for (uint64_t salt = 1; salt < 6; salt++) {
        random_groups(2, 25, salt);
        random_groups(3, 13, salt);
    }
}

static double translation(int axis, const double x[3]) { return (void)x, axis == 0 ? 0.3 : axis == 1 ? -1.7 : 0.9; }
static double turning(int axis, const double x[3])
{
    const double w[3] = {0.2, -0.1, 0.37};
    return translation(axis, x) + w[(axis + 1) % 3] * x[(axis + 2) % 3] - w[(axis + 2) % 3] * x[(axis + 1) % 3];
}
static double turning_flat(int axis, const double x[3]) { return axis == 0 ? 0.3 - 0.37 * x[1] : -1.7 + 0.37 * x[0]; }

static void check_unchanged(int dimension, bench_field *field, double tolerance)
{
    bench b;
    rh_status status = {0};
    rh_sand_groups groups;
    bench_make(&b, dimension, 13, most, few, 7, 1);
    take_holding(&b, half, 7);
    bench_set(&b, field);
    assert_ok(rh_sand_groups_find(&groups, &b.cells, &b.view, &status));
    rh_sand_groups_move(&groups, &b.cells, &b.view);
    for (int a = 0; a < dimension; a++)
        for (int64_t v = 0; v < rh_tiles_values(b.view.tiles); v++) {
            double x[3];
            lattice_point(b.view.tiles, v, a, x);
            if (b.known[a][v]) assert_near((double)b.velocity.axis[a][v], (double)(float)field(a, x), tolerance);
        }
    bench_free(&b);
}

static void rigid_motions_stay(void **state)
{
    (void)state;
    check_unchanged(2, translation, 0);
    check_unchanged(3, translation, 0);
    check_unchanged(2, turning_flat, 5e-7);  // one unit in the last place of the largest, 4 to 8 m/s
    check_unchanged(3, turning, 5e-7);
}

// Cells (2, 2) and (3, 3) touch at an edge only; (6, 2) and (7, 2) have a closed face between them, across a border of
// tiles (7, 2) and (8, 2) have none.
static bool touching(const int c[3], uint64_t salt)
{
    (void)salt;
    return (c[0] == 2 && c[1] == 2) || (c[0] == 3 && c[1] == 3) || ((c[0] == 6 || c[0] == 7 || c[0] == 8) && c[1] == 2);
}
static bool one_face(const int c[3], uint64_t salt) { return salt == 0 && c[0] == 7 && c[1] == 2; }

static void neighbours_are_told_apart(void **state)
{
    (void)state;
    bench b;
    rh_status status = {0};
    rh_sand_groups groups;
    bench_make(&b, 2, 12, all, one_face, 0, 1);
    take_holding(&b, touching, 0);
    bench_set_random(&b, 3);
    motion_sums before = bench_sums(&b);
    assert_ok(rh_sand_groups_find(&groups, &b.cells, &b.view, &status));
    assert_int_equal(groups.groups, 4);
    check_labels(&b, &groups);
    rh_sand_groups_move(&groups, &b.cells, &b.view);
    assert_same_momenta(before, bench_sums(&b), 3e-8);
    bench_free(&b);
}

// One cell has no rotation, a line of them none about itself: the mean of what their faces can do is kept, and nothing
// else moves.
static bool one_cell(const int c[3], uint64_t salt)
{
    return (void)salt, c[0] == 4 && c[1] == 4 && (c[2] == 4 || c[2] == 0);
}
static bool a_line(const int c[3], uint64_t salt) { return (void)salt, c[0] == 4 && c[2] == 4; }

static void small_groups(void **state)
{
    (void)state;
    bench_rule *rules[] = {one_cell, a_line};
    for (int n = 0; n < 2; n++) {
        bench b;
        rh_status status = {0};
        rh_sand_groups groups;
        bench_make(&b, 3, 9, rules[n], NULL, 0, 1);
        take_holding(&b, rules[n], 0);
        bench_set_random(&b, 11);
        motion_sums before = bench_sums(&b);
        assert_ok(rh_sand_groups_find(&groups, &b.cells, &b.view, &status));
        assert_int_equal(groups.groups, n == 0 ? 2 : 1);
        rh_sand_groups_move(&groups, &b.cells, &b.view);
        motion_sums after = bench_sums(&b);
        assert_same_momenta(before, after, 3e-8);
        assert_true(isfinite(after.energy) && after.energy < before.energy);
        const rh_rigid *body = &groups.bodies[0];
        assert_true(body->motion[4] == 0 || n == 0);  // about y, along the line
        if (n == 0)
            for (int i = 3; i < 6; i++) assert_true(body->motion[i] == 0);
        else assert_true(body->motion[3] != 0 && body->motion[5] != 0);
        bench_free(&b);
    }
}

static void threads_do_not_show(void **state)
{
    (void)state;
    rh_status status = {0};
    float *kept = NULL;
    for (int threads = 1; threads <= 3; threads += 2) {
        bench b;
        rh_sand_groups groups;
        rh_threads_set(threads);
        bench_make(&b, 3, 20, most, few, 5, 1);
        take_holding(&b, half, 5);
        bench_set_random(&b, 5);
        assert_ok(rh_sand_groups_find(&groups, &b.cells, &b.view, &status));
        rh_sand_groups_move(&groups, &b.cells, &b.view);
        size_t bytes = (size_t)rh_tiles_values(b.view.tiles) * sizeof(float);
        if (!kept) {
            kept = rh_alloc(bytes, "test", &status);
            memcpy(kept, b.velocity.axis[1], bytes);
        } else assert_memory_equal(kept, b.velocity.axis[1], bytes);
        bench_free(&b);
    }
    rh_free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(momentum_is_kept), cmocka_unit_test(rigid_motions_stay),
                                       cmocka_unit_test(neighbours_are_told_apart), cmocka_unit_test(small_groups),
                                       cmocka_unit_test(threads_do_not_show)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
