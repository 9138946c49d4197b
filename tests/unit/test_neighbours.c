// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The search for neighbours against a search through all pairs, on ordinary and on degenerate sets; its order; what it
// refuses; its memory.
#include "support.h"
#include "points/adjacency.h"
#include "points/near_parts.h"

enum { POINTS = 330, SETS = 9 };
static const char *const names[SETS] = {"box",           "negative",     "one place",
                                        "two far apart", "line along x", "lattice",
                                        "far cluster",   "one point",    "far apart along all axes"};

typedef struct bench {
    rh_neighbours n;
    rh_adjacency list;
    rh_neighbour_list found;
    rh_arena arena;
    rh_vec3 p[POINTS];
    float radii[POINTS];
    int64_t count;
} bench;

static bench *begin(void)
{
    bench *b = test_calloc(1, sizeof *b);
    rh_arena_init(&b->arena, "test");
    return b;
}

static void end(bench *b)
{
    rh_neighbours_free(&b->n);
    rh_adjacency_free(&b->list);
    rh_neighbour_list_free(&b->found);
    rh_arena_free(&b->arena);
    test_free(b);
}

static void fill(bench *b, int set)
{
    b->count = set == 7 ? 1 : POINTS;
    for (uint64_t i = 0; i < POINTS; i++) {
        rh_vec3 r = rh_v3(support_random(i, 0), support_random(i, 1), support_random(i, 2));
        float side = i % 2 ? 1e6f : -1e6f;
        b->radii[i] = 0.05f + 0.1f * (1 + support_random(i, 3));
        b->p[i] = set == 1   ? rh_v3(r.x - 7, r.y - 5.5f, r.z - 1e3f)
                  : set == 2 ? rh_v3(-0.3f, 0.7f, 2)
                  : set == 3 ? rh_v3(r.x + side, r.y - side, r.z)
                  : set == 8 ? rh_v3(r.x + side, r.y - side, r.z + side)  // keys of 63 bits
                  : set == 4 ? rh_v3(50 * r.x, 1, 1)
                  : set == 5 ? rh_v3(0.25f * (float)(i % 8), 0.25f * (float)(i / 8 % 8), 0.25f * (float)(i / 64))
                  : set == 6 ? rh_v3(r.x + (i % 50 == 3 ? 3e30f : 0), r.y, r.z - (i % 50 == 3 ? 1e20f : 0))
                             : r;
    }
}

static rh_code build(bench *b, int dimension, bool radii, double cell, rh_status *status)
{
    const rh_neighbours_input input = {
        .dimension = dimension, .positions = b->p, .radii = radii ? b->radii : NULL, .count = b->count, .cell = cell};
    return rh_neighbours_build(&b->n, &input, &b->arena, status);
}

static bool are_near(const bench *b, int dimension, int64_t i, int64_t k, float radius)
{
    rh_vec3 d = rh_v3_sub(b->p[k], b->p[i]);
    if (dimension == 2) d.z = 0;
    if (radius < 0) radius = rh_max_of(b->radii[i], b->radii[k]);
    return rh_v3_dot(d, d) <= radius * radius;
}

static void check_within(bench *b, int dimension, int64_t i, float radius)
{
    rh_status status = {0};
    bool seen[POINTS] = {false};
    assert_ok(rh_neighbours_within(&b->n, b->p[i], radius, &b->found, &status));
    for (int64_t k = 0; k < b->found.count; k++) {
        uint32_t j = b->found.index[k];
        assert_false(seen[j]);
        seen[j] = true;
        assert_true(b->found.offset[k].x == b->p[j].x - b->p[i].x &&
                    b->found.distance[k] == rh_v3_length(b->found.offset[k]));
    }
    for (int64_t j = 0; j < b->count; j++)
        if (seen[j] != are_near(b, dimension, i, j, radius))
            fail_msg("point %lld, radius %g", (long long)j, (double)radius);
}

static void check_lists(bench *b, int dimension, float radius)
{
    rh_status status = {0};
    assert_ok(rh_adjacency_build(&b->list, &b->n, (double)radius, &status));
    assert_int_equal(b->list.count, b->count);
    assert_int_equal(b->list.first[0], 0);
    assert_int_equal(b->list.first[b->count], b->list.pairs);
    for (int64_t p = 0; p < b->count; p++) {
        bool seen[POINTS] = {false};
        for (uint64_t k = b->list.first[p]; k < b->list.first[p + 1]; k++) {
            if (k > b->list.first[p] && b->list.near[k - 1] >= b->list.near[k]) fail_msg("not ascending");
            seen[b->n.index[b->list.near[k]]] = true;
        }
        for (int64_t j = 0; j < b->count; j++)
            if (seen[j] != are_near(b, dimension, b->n.index[p], j, radius))
                fail_msg("points %u and %lld, radius %g", b->n.index[p], (long long)j, (double)radius);
    }
}

static void all_pairs_are_found(void **state)
{
    (void)state;
    static const float radii[] = {0, 0.1f, 0.25f, 3};
    bench *b = begin();
    rh_status status = {0};
    for (int set = 0; set < SETS; set++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            print_message("%s, %dD\n", names[set], dimension);
            fill(b, set);
            for (int r = 0; r < 4; r++) {
                assert_ok(build(b, dimension, false, rh_neighbours_cell((double)radii[r]), &status));
                check_lists(b, dimension, radii[r]);
                for (int64_t i = 0; i < b->count; i += 23) check_within(b, dimension, i, radii[(i + r) % 4]);
            }
            assert_ok(build(b, dimension, true, 0, &status));
            check_lists(b, dimension, -1);
        }
    end(b);
}

// Pairs exactly a radius apart, on either side of the cells' borders, also where the radius is no float of few digits.
static void the_border_counts(void **state)
{
    (void)state;
    bench *b = begin();
    rh_status status = {0};
    const float radius = 0.1f;
    b->count = POINTS;
    for (int i = 0; i < POINTS; i++) b->p[i] = rh_v3((float)(i - POINTS / 2) * radius, 0, 0);
    assert_ok(build(b, 3, false, rh_neighbours_cell((double)radius), &status));
    check_lists(b, 3, radius);
    for (int64_t i = 0; i < POINTS; i += 7) check_within(b, 3, i, radius);
    end(b);
}

static void nearest_are_the_nearest(void **state)
{
    (void)state;
    bench *b = begin();
    rh_status status = {0};
    fill(b, 0);
    b->p[11] = b->p[10];
    assert_ok(build(b, 3, false, 0, &status));
    assert_ok(rh_neighbours_nearest(&b->n, b->p[10], 0.5f, 2, &b->found, &status));
    assert_true(b->found.count == 2 && b->found.index[0] == 10 && b->found.index[1] == 11);
    for (int most = 0; most < 40; most += 13) {
        assert_ok(rh_neighbours_nearest(&b->n, rh_v3(0.1f, 0.2f, 0.3f), 0.6f, most, &b->found, &status));
        float last = 0;
        for (int64_t k = 0; k < b->found.count; k++) {
            assert_true(b->found.distance[k] >= last);
            last = b->found.distance[k];
        }
        int nearer = 0, within = 0;
        for (int64_t j = 0; j < POINTS; j++) {
            float d = rh_v3_length(rh_v3_sub(b->p[j], rh_v3(0.1f, 0.2f, 0.3f)));
            nearer += d < last, within += d <= 0.6f;
        }
        assert_int_equal(b->found.count, within < most ? within : most);
        assert_true(nearer < most || most == 0);
    }
    end(b);
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    bench *b = begin();
    rh_status status = {0};
    fill(b, 0);
    b->p[121].y = NAN;
    assert_int_equal(build(b, 3, false, 0.1, &status), RH_NUMERIC);
    assert_non_null(strstr(status.message, "point 121"));
    assert_int_equal(b->n.count, 0);
    fill(b, 0);
    b->radii[7] = -1;
    status = (rh_status){0};
    assert_int_equal(build(b, 3, true, 0, &status), RH_NUMERIC);
    assert_non_null(strstr(status.message, "radius -1 of point 7"));
    b->p[121].z = NAN;  // which a flat set does not look at
    assert_ok(build(b, 2, false, 0.1, &status));
    const rh_neighbours_input input = {
        .dimension = 3, .positions = b->p, .radii = b->radii, .count = POINTS, .leave_out = true};
    assert_ok(rh_neighbours_build(&b->n, &input, &b->arena, &status));
    assert_int_equal(b->n.count, POINTS - 2);
    assert_ok(rh_adjacency_build(&b->list, &b->n, -1, &status));
    for (int64_t k = 0; k < b->list.pairs; k++)
        assert_true(b->n.index[b->list.near[k]] != 7 && b->n.index[b->list.near[k]] != 121);
    assert_ok(rh_neighbours_within(&b->n, rh_v3(NAN, 0, 0), 1, &b->found, &status));
    assert_int_equal(b->found.count, 0);
    assert_ok(rh_neighbours_within(&b->n, b->p[0], NAN, &b->found, &status));
    assert_int_equal(b->found.count, 0);
    assert_ok(rh_neighbours_within(&b->n, b->p[0], INFINITY, &b->found, &status));
    assert_int_equal(b->found.count, POINTS - 2);
    end(b);
}

static void lists_wider_than_cells_are_refused(void **state)
{
    (void)state;
    bench *b = begin();
    rh_status status = {0};
    fill(b, 0);
    assert_ok(build(b, 3, false, 0.1, &status));
    assert_int_equal(rh_adjacency_build(&b->list, &b->n, 0.1, &status), RH_USER);  // not even by rounding
    assert_non_null(strstr(status.message, "0.1 m"));
    assert_ok(rh_adjacency_build(&b->list, &b->n, 0.0999, &status));
    status = (rh_status){0};
    assert_int_equal(rh_adjacency_build(&b->list, &b->n, -1, &status), RH_USER);
    assert_non_null(strstr(status.message, "no radii"));
    b->count = 0;
    assert_ok(build(b, 3, false, 0.1, &status));
    assert_ok(rh_adjacency_build(&b->list, &b->n, 0.05, &status));
    assert_int_equal(b->list.pairs, 0);
    assert_ok(rh_neighbours_within(&b->n, b->p[0], 1, &b->found, &status));
    assert_int_equal(b->found.count, 0);
    end(b);
}

// Several chunks of the sort and blocks of the lists: the order is that of cells, then of numbers, and it and the lists
// are the same for any number of threads.
static void threads_do_not_matter(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    rh_status status = {0};
    rh_arena arena;
    rh_arena_init(&arena, "test");
    rh_vec3 *p = test_malloc(MANY * sizeof *p);
    float *radii = test_malloc(MANY * sizeof *radii);
    for (uint64_t i = 0; i < MANY; i++) {
        p[i] = i % 1000 == 7 ? rh_v3(0, NAN, 0)
                             : rh_v3(9 * support_random(i, 0), 5 * support_random(i, 1), support_random(i, 2));
        radii[i] = 0.1f + 0.05f * support_random(i, 3);
    }
    const rh_neighbours_input input = {
        .dimension = 3, .positions = p, .radii = radii, .count = MANY, .leave_out = true};
    rh_neighbours n[2] = {{0}};
    rh_adjacency constant[2] = {{0}}, own[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        rh_threads_set(i == 0 ? 1 : 3);
        assert_ok(rh_neighbours_build(&n[i], &input, &arena, &status));
        assert_ok(rh_adjacency_build(&constant[i], &n[i], 0.1, &status));
        assert_ok(rh_adjacency_build(&own[i], &n[i], -1, &status));
    }
    rh_threads_set(0);
    assert_int_equal(n[0].count, MANY - MANY / 1000);
    assert_true(n[0].count == n[1].count && n[0].cells == n[1].cells);
    assert_memory_equal(n[0].index, n[1].index, (size_t)n[0].count * sizeof *n[0].index);
    assert_memory_equal(n[0].cell_first, n[1].cell_first, (size_t)(n[0].cells + 1) * sizeof *n[0].cell_first);
    for (int64_t c = 1; c < n[0].cells; c++) assert_true(n[0].cell_keys[c - 1] < n[0].cell_keys[c]);
    for (int64_t c = 0; c < n[0].cells; c++)
        for (uint32_t i = n[0].cell_first[c] + 1; i < n[0].cell_first[c + 1]; i++)
            if (n[0].index[i - 1] >= n[0].index[i]) fail_msg("cell %lld is not in order", (long long)c);
    for (int k = 0; k < 2; k++) {
        const rh_adjacency *a = k ? own : constant;
        assert_true(a[0].pairs == a[1].pairs && a[0].pairs > MANY);
        assert_memory_equal(a[0].first, a[1].first, (size_t)(a[0].count + 1) * sizeof *a[0].first);
        assert_memory_equal(a[0].near, a[1].near, (size_t)a[0].pairs * sizeof *a[0].near);
    }
    for (int i = 0; i < 2; i++) {
        rh_neighbours_free(&n[i]);
        rh_adjacency_free(&constant[i]);
        rh_adjacency_free(&own[i]);
    }
    rh_arena_free(&arena);
    test_free(p);
    test_free(radii);
}

// Without cells: the same points in the same order, and where each row begins.
static void rows_alone_are_those_of_cells(void **state)
{
    (void)state;
    rh_status status = {0};
    bench *b = begin();
    for (int set = 0; set < SETS; set++) {
        rh_neighbours rows = {0};
        fill(b, set);
        const rh_neighbours_input input = {
            .dimension = 3, .positions = b->p, .count = b->count, .cell = 0.1, .rows_only = true};
        assert_ok(build(b, 3, false, 0.1, &status));
        assert_ok(rh_neighbours_build(&rows, &input, &b->arena, &status));
        assert_true(rows.count == b->n.count && rows.rows == b->n.rows && rows.cells == 0);
        assert_memory_equal(rows.index, b->n.index, (size_t)rows.count * sizeof *rows.index);
        assert_memory_equal(rows.row_keys, b->n.row_keys, (size_t)rows.rows * sizeof *rows.row_keys);
        for (int64_t r = 0; r <= rows.rows; r++)
            assert_int_equal(rows.row_first[r], b->n.cell_first[b->n.row_first[r]]);
        rh_neighbours_free(&rows);
    }
    end(b);
}

// Nothing is taken once the first steps have had their memory, though points move.
static void steady_steps_take_no_memory(void **state)
{
    (void)state;
    bench *b = begin();
    rh_status status = {0};
    fill(b, 0);
    for (int step = 0; step < 6; step++) {
        rh_arena_reset(&b->arena);
        if (step >= 2) rh_memory_fail_after(0);
        for (int i = 0; i < POINTS; i++) b->p[i].x += 0.001f * (float)(i % 3);
        assert_ok(build(b, 3, true, 0.31, &status));
        assert_ok(rh_adjacency_build(&b->list, &b->n, 0.3, &status));
    }
    rh_memory_fail_after(-1);
    end(b);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    rh_status status = {0};
    int failures = 0;
    for (rh_code code = RH_MEMORY; code != RH_OK; failures++) {
        bench *b = begin();
        fill(b, 0);
        rh_memory_fail_after(failures);
        code = build(b, 3, true, 0.3, &status);
        if (code == RH_OK) code = rh_adjacency_build(&b->list, &b->n, -1, &status);
        if (code == RH_OK) code = rh_neighbours_within(&b->n, b->p[0], 1, &b->found, &status);
        rh_memory_fail_after(-1);
        assert_true(code == RH_OK || code == RH_MEMORY);
        end(b);
    }
    assert_true(failures > 12);
}

// Every cell in turn, and from every other place in the order: all points within `reach` cells are in the runs, each
// once, and none that is in no cell so near.
static void window_from(const bench *b, int dimension, int reach, int64_t from)
{
    const rh_neighbours *n = &b->n;
    rh_near_window window = {.n = n, .reach = reach, .cell = -1};
    for (int64_t cell = from; cell < n->cells; cell += 1 + cell % 2) {
        int seen[POINTS] = {0};
        rh_near_window_to(&window, cell);
        int64_t i = n->cell_first[cell];
        assert_int_equal(rh_neighbours_cell_at(n, i), cell);
        for (int r = 0; r < window.count; r++)
            for (uint32_t q = window.runs[r].begin; q < window.runs[r].end; q++) seen[q]++;
        for (int64_t q = 0; q < n->count; q++) {
            bool near = true;
            const float *axes[3] = {n->x, n->y, n->z};
            for (int a = 0; a < dimension; a++) {
                double apart = floor((double)axes[a][q] / n->cell) - floor((double)axes[a][i] / n->cell);
                near = near && fabs(apart) <= reach;
            }
            assert_int_equal(seen[q], near);
        }
    }
}

static void windows_hold_all_around_a_cell(void **state)
{
    (void)state;
    bench *b = begin();
    for (int set = 0; set < SETS; set++) {
        if (set == 3 || set == 6 || set == 8) continue;  // cells so far out are one
        for (int dimension = 2; dimension <= 3; dimension++) {
            rh_status status = {0};
            fill(b, set);
            assert_ok(build(b, dimension, false, 0.11, &status));
            for (int reach = 1; reach <= RH_NEAR_REACH; reach++)
                for (int64_t from = 0; from < b->n.cells; from += 37) window_from(b, dimension, reach, from);
        }
    }
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_are_found),
        cmocka_unit_test(the_border_counts),
        cmocka_unit_test(windows_hold_all_around_a_cell),
        cmocka_unit_test(nearest_are_the_nearest),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(lists_wider_than_cells_are_refused),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(rows_alone_are_those_of_cells),
        cmocka_unit_test(steady_steps_take_no_memory),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
