// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles by tile and cell: a complete permutation, stable, with the right ranges; against qsort.
#include "support.h"
#include <stdlib.h>

typedef struct item {
    int64_t key, id;
} item;

static int by_key_then_id(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int64_t value_of(const rh_tiles *tiles, rh_vec3 p)
{
    return value_at(tiles, (int)floorf(p.x * tiles->inverse_h), (int)floorf(p.y * tiles->inverse_h),
                    tiles->dimension == 3 ? (int)floorf(p.z * tiles->inverse_h) : 0);
}

static void check_against_qsort(int dimension, int64_t count, float reach, float offset, int margin)
{
    cloud c;
    cloud_random(&c, dimension, 0.1, count, rh_v3(offset, -offset, offset), rh_v3(reach, reach, reach), margin);
    item *items = rh_alloc((size_t)(count + 1) * sizeof *items, "test", NULL);
    for (int64_t i = 0; i < count; i++) {  // position of particle i before the sort, made again
        rh_vec3 p = {0, 0, 0}, center = {offset, -offset, offset};
        for (int a = 0; a < dimension; a++)
            (&p.x)[a] = (&center.x)[a] + reach * support_random((uint64_t)i, (uint32_t)a);
        items[i] = (item){value_of(&c.tiles, p), i};
    }
    qsort(items, (size_t)count, sizeof *items, by_key_then_id);
    const int64_t *id = rh_points_data(&c.points, "id", RH_POINT_I64);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(id[i], items[i].id);
        for (int a = 0; a < dimension; a++)  // the other attributes came along
            assert_true((&c.v[i].x)[a] == support_random((uint64_t)id[i], (uint32_t)a + 3));
    }
    int64_t next = 0, values = rh_tiles_values(&c.tiles);
    for (int64_t v = 0; v <= values; v++) {
        while (next < count && items[next].key < v) next++;
        if (c.tiles.first[v] != next)
            fail_msg("cell %lld starts at %u, expected %lld", (long long)v, c.tiles.first[v], (long long)next);
    }
    rh_free(items);
    cloud_free(&c);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void sorted_as_by_qsort(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
        rh_threads_set(threads);
        check_against_qsort(2, 0, 1, 0, 2);
        check_against_qsort(2, 1, 1, 0, 2);
        check_against_qsort(2, 40000, 2, 0.3f, 2);
        check_against_qsort(3, 60000, 1, -0.2f, 2);
        check_against_qsort(3, 20000, 0.1f, 500, 8);  // far away, crowded
        check_against_qsort(3, 5000, 100, 0, 1);  // spread over more than 2^22 cells: three passes of the radix sort
    }
    rh_threads_set(0);
}

static void sorting_again_changes_nothing(void **state)
{
    (void)state;
    cloud c;
    cloud_random(&c, 3, 0.1, 30000, rh_v3(0, 0, 0), rh_v3(1, 1, 1), 2);
    int64_t *before = rh_alloc(30000 * sizeof *before, "test", NULL);
    memcpy(before, rh_points_data(&c.points, "id", RH_POINT_I64), 30000 * sizeof *before);
    cloud_tile(&c, 3, 0.1, 2);
    assert_memory_equal(before, rh_points_data(&c.points, "id", RH_POINT_I64), 30000 * sizeof *before);
    rh_free(before);
    cloud_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorted_as_by_qsort),
                                       cmocka_unit_test(sorting_again_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
