// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particle sets: growth, permutation against the plain definition, hash, and what happens when memory runs out.
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "points/points.h"

static rh_points make(int64_t count)
{
    rh_points points;
    rh_status status = {0};
    rh_points_init(&points);
    float radius = 0.25f;
    assert_int_equal(rh_points_add(&points, "P", RH_POINT_VEC3F, &status), RH_OK);
    assert_int_equal(rh_points_add(&points, "v", RH_POINT_VEC3F, &status), RH_OK);
    assert_int_equal(rh_points_resize(&points, count / 2, &status), RH_OK);
    assert_int_equal(rh_points_add(&points, "id", RH_POINT_I64, &status), RH_OK);
    assert_int_equal(rh_points_add(&points, "age", RH_POINT_F32, &status), RH_OK);
    assert_int_equal(rh_points_add(&points, "kind", RH_POINT_I32, &status), RH_OK);
    assert_int_equal(rh_points_add(&points, "C", RH_POINT_MAT3F, &status), RH_OK);
    assert_int_equal(rh_points_add_uniform(&points, "radius", RH_POINT_F32, &radius, &status), RH_OK);
    assert_int_equal(rh_points_add(&points, "spray", RH_POINT_GROUP, &status), RH_OK);
    assert_int_equal(rh_points_resize(&points, count, &status), RH_OK);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    int64_t *id = rh_points_data(&points, "id", RH_POINT_I64);
    float *age = rh_points_data(&points, "age", RH_POINT_F32), *C = rh_points_data(&points, "C", RH_POINT_MAT3F);
    int32_t *kind = rh_points_data(&points, "kind", RH_POINT_I32);
    for (int64_t i = 0; i < count; i++) {
        P[i] = rh_v3(rh_random(1, (uint64_t)i, 0, 0), rh_random(1, (uint64_t)i, 0, 1), rh_random(1, (uint64_t)i, 0, 2));
        v[i] = rh_v3_scale(P[i], -2);
        id[i] = 1000 + i;
        age[i] = (float)i;
        kind[i] = (int32_t)(i % 7);
        ((uint8_t *)rh_points_data(&points, "spray", RH_POINT_GROUP))[i] = i % 3 == 0;
        for (int k = 0; k < 9; k++) C[9 * i + k] = (float)(9 * i + k);
    }
    assert_true(rh_points_is_valid(&points));
    return points;
}

static void new_points_are_zero_even_in_dirty_memory(void **state)
{
    (void)state;
    rh_points points = make(100);
    assert_int_equal(rh_points_resize(&points, 10, NULL), RH_OK);
    assert_int_equal(rh_points_resize(&points, 60, NULL), RH_OK);
    const float *C = rh_points_data(&points, "C", RH_POINT_MAT3F);
    const int64_t *id = rh_points_data(&points, "id", RH_POINT_I64);
    assert_int_equal(id[9], 1009);
    for (int i = 10; i < 60; i++) assert_int_equal(id[i], 0);
    for (int i = 90; i < 540; i++) assert_true(C[i] == 0);
    const rh_attribute *spray = rh_points_find(&points, "spray");
    assert_int_equal(((const uint8_t *)spray->data)[9], 1);
    assert_int_equal(rh_points_group_size(&points, spray), 4);  // 0, 3, 6 and 9
    rh_points_free(&points);
}

static void growth_is_geometric_and_keeps_values(void **state)
{
    (void)state;
    rh_points points = make(1000);
    uint64_t before = rh_points_hash(&points);
    int64_t moves = 0, capacity = points.capacity;
    for (int64_t n = 1001; n <= 20000; n++) {
        assert_int_equal(rh_points_resize(&points, n, NULL), RH_OK);
        if (points.capacity != capacity) moves++;
        capacity = points.capacity;
    }
    assert_true(moves >= 1 && moves <= 9);
    assert_int_equal(rh_points_resize(&points, 1000, NULL), RH_OK);
    assert_true(rh_points_hash(&points) == before);
    rh_points_free(&points);
}

static void adding_again_keeps_or_refuses(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_points points = make(5);
    uint64_t before = rh_points_hash(&points);
    float other = 9;
    assert_int_equal(rh_points_add(&points, "v", RH_POINT_VEC3F, &status), RH_OK);
    assert_int_equal(rh_points_add_uniform(&points, "radius", RH_POINT_F32, &other, &status), RH_OK);
    assert_true(rh_points_hash(&points) == before);
    assert_int_equal(rh_points_add(&points, "v", RH_POINT_F32, &status), RH_USER);
    assert_non_null(strstr(status.message, "'v' exists as vec3f, wanted as float"));
    rh_status_clear(&status);
    assert_int_equal(rh_points_add(&points, "", RH_POINT_F32, &status), RH_USER);
    rh_status_clear(&status);
    assert_int_equal(rh_points_add(&points, "a_name_of_thirty_two_characters_", RH_POINT_F32, &status), RH_USER);
    rh_status_clear(&status);
    assert_int_equal(points.attribute_count, 8);
    assert_int_equal(rh_points_add(&points, "kind", RH_POINT_GROUP, &status), RH_USER);
    assert_non_null(strstr(status.message, "'kind' exists as int32, wanted as group"));
    char name[16];
    for (int i = 8; i < RH_POINTS_MAX_ATTRIBUTES; i++) {
        snprintf(name, sizeof name, "x%d", i);
        assert_int_equal(rh_points_add(&points, name, RH_POINT_F32, NULL), RH_OK);
    }
    assert_int_equal(rh_points_add(&points, "more", RH_POINT_F32, NULL), RH_USER);
    assert_true(rh_points_is_valid(&points));
    rh_points_free(&points);
}

static void a_uniform_attribute_widens_with_its_value(void **state)
{
    (void)state;
    rh_points points = make(50);
    assert_int_equal(rh_points_add(&points, "radius", RH_POINT_F32, NULL), RH_OK);
    assert_false(rh_points_find(&points, "radius")->uniform);
    const float *radius = rh_points_data(&points, "radius", RH_POINT_F32);
    for (int i = 0; i < 50; i++) assert_true(radius[i] == 0.25f);
    rh_points_free(&points);
}

static void permute_does_what_it_says(void **state)
{
    (void)state;
    enum { N = 10000 };
    rh_points points = make(N), copy = make(N);
    uint32_t *order = malloc(N * sizeof *order);
    for (uint32_t i = 0; i < N; i++) order[i] = i;
    for (uint32_t i = N - 1; i > 0; i--) {
        uint32_t j = rh_random_bits(3, i, 0, 0) % (i + 1), t = order[i];
        order[i] = order[j], order[j] = t;
    }
    assert_int_equal(rh_points_permute(&points, order, N, NULL), RH_OK);
    assert_true(rh_points_is_valid(&points));
    for (int a = 0; a < points.attribute_count; a++) {
        size_t size = rh_point_type_size(points.attributes[a].type);
        const char *now = points.attributes[a].data, *old = copy.attributes[a].data;
        for (int64_t i = 0; i < N && !points.attributes[a].uniform; i++)
            assert_memory_equal(now + (size_t)i * size, old + order[i] * size, size);
    }
    assert_true(rh_points_hash(&points) == rh_points_hash(&copy));

    int64_t blocks = rh_memory_blocks();
    assert_int_equal(rh_points_permute(&points, order, N / 4, NULL), RH_OK);  // removal
    assert_int_equal(points.count, N / 4);
    assert_int_equal(rh_memory_blocks(), blocks);  // the spares are there already
    assert_true(rh_points_hash(&points) != rh_points_hash(&copy));
    assert_int_equal(rh_points_resize(&points, 3 * N, NULL), RH_OK);  // spares are now too small
    for (uint32_t i = 0; i < N; i++) order[i] = N - 1 - i;
    assert_int_equal(rh_points_permute(&points, order, N, NULL), RH_OK);
    assert_true(rh_points_is_valid(&points));
    free(order);
    rh_points_free(&points);
    rh_points_free(&copy);
}

static void hash_sees_every_bit_and_no_order(void **state)
{
    (void)state;
    rh_points points = make(513);
    uint64_t base = rh_points_hash(&points);
    for (int a = 0; a < points.attribute_count; a++) {
        rh_attribute *attribute = &points.attributes[a];
        size_t size = rh_point_type_size(attribute->type);
        unsigned char *byte = (unsigned char *)attribute->data + (attribute->uniform ? 0 : 512 * size) + size - 1;
        *byte ^= 1;
        assert_true(rh_points_hash(&points) != base);
        *byte ^= 1;
    }
    float *age = rh_points_data(&points, "age", RH_POINT_F32);
    age[3] = 4, age[4] = 3;  // values changed owners
    assert_true(rh_points_hash(&points) != base);
    age[3] = 3, age[4] = 4;
    points.attributes[1].name[0] = 'w';
    assert_true(rh_points_hash(&points) != base);
    points.attributes[1].name[0] = 'v';
    rh_attribute moved = points.attributes[0];
    points.attributes[0] = points.attributes[5], points.attributes[5] = moved;
    assert_true(rh_points_hash(&points) == base);
    for (int threads = 1; threads <= 4; threads++) {
        rh_threads_set(threads);
        assert_true(rh_points_hash(&points) == base);
    }
    rh_threads_set(0);
    rh_points_free(&points);
}

static void running_out_of_memory_changes_nothing(void **state)
{
    (void)state;
    rh_points points = make(100);
    uint64_t before = rh_points_hash(&points);
    uint32_t order[100];
    for (uint32_t i = 0; i < 100; i++) order[i] = 99 - i;
    for (int fail = 0; fail < 4; fail++) {
        rh_status status = {0};
        rh_memory_fail_after(fail);
        assert_int_equal(rh_points_resize(&points, 5000, &status), RH_MEMORY);
        // One spare block serves all types: there is a single chance to fail.
        rh_memory_fail_after(fail);
        assert_int_equal(rh_points_permute(&points, order, 100, &status), fail < 1 ? RH_MEMORY : RH_OK);
        rh_memory_fail_after(0);
        assert_int_equal(rh_points_add(&points, "new", RH_POINT_F32, &status), RH_MEMORY);
        assert_int_equal(rh_points_add(&points, "radius", RH_POINT_F32, &status), RH_MEMORY);
        rh_memory_fail_after(-1);
        assert_true(rh_points_is_valid(&points));
        assert_true(rh_points_hash(&points) == before);
    }
    assert_int_equal(rh_points_reserve(&points, INT64_MAX / 2, NULL), RH_MEMORY);
    rh_points_free(&points);
}

// Growing holds one attribute twice at a time, not all of them; what growing left over can be given back.
static void growing_takes_little_more(void **state)
{
    (void)state;
    enum { N = 100000, EACH = 12 + 12 + 8 };
    rh_points points;
    rh_points_init(&points);
    assert_int_equal(rh_points_add(&points, "P", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "v", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "id", RH_POINT_I64, NULL), RH_OK);
    assert_int_equal(rh_points_resize(&points, N, NULL), RH_OK);
    for (int i = 0; i < N; i++) ((int64_t *)rh_points_data(&points, "id", RH_POINT_I64))[i] = i;
    rh_memory_set_limit((int64_t)(1.5 * N * EACH + 12.0 * N) + 4096);
    assert_int_equal(rh_points_resize(&points, N + 1, NULL), RH_OK);  // to one and a half times as many
    rh_memory_set_limit(0);
    assert_int_equal(rh_points_fit(&points, NULL), RH_OK);
    assert_int_equal(points.capacity, N + 1);
    assert_true(rh_memory_bytes() < (int64_t)(N + 1) * EACH + 4096);
    for (int i = 0; i < N; i++) assert_int_equal(((int64_t *)rh_points_data(&points, "id", RH_POINT_I64))[i], i);
    rh_points_free(&points);
}

// Nothing but groups: blocks of an odd number of bytes, and the spare is no larger than they are.
static void groups_alone(void **state)
{
    (void)state;
    enum { N = 1237 };
    rh_points points;
    rh_points_init(&points);
    uint32_t order[N];
    uint8_t one = 1;
    assert_int_equal(rh_points_reserve(&points, N, NULL), RH_OK);
    assert_int_equal(rh_points_resize(&points, N, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "a", RH_POINT_GROUP, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "b", RH_POINT_GROUP, NULL), RH_OK);
    assert_int_equal(rh_points_add_uniform(&points, "all", RH_POINT_GROUP, &one, NULL), RH_OK);
    assert_int_equal(rh_points_group_size(&points, rh_points_find(&points, "a")), 0);
    assert_int_equal(rh_points_group_size(&points, rh_points_find(&points, "all")), N);
    for (uint32_t i = 0; i < N; i++) {
        ((uint8_t *)rh_points_data(&points, "a", RH_POINT_GROUP))[i] = i % 5 == 0;
        ((uint8_t *)rh_points_data(&points, "b", RH_POINT_GROUP))[i] = i % 7 == 0;
        order[i] = N - 1 - i;
    }
    assert_int_equal(rh_points_permute(&points, order, N - 5, NULL), RH_OK);  // the last five, 0 to 4 of before, go
    assert_true(rh_points_is_valid(&points));
    const uint8_t *a = rh_points_data(&points, "a", RH_POINT_GROUP), *b = rh_points_data(&points, "b", RH_POINT_GROUP);
    for (uint32_t i = 0; i < N - 5; i++) assert_true(a[i] == ((N - 1 - i) % 5 == 0) && b[i] == ((N - 1 - i) % 7 == 0));
    assert_int_equal(rh_points_group_size(&points, rh_points_find(&points, "a")),
                     247);  // of 0, 5, ... 1235 all but the first
    assert_int_equal(rh_points_add(&points, "all", RH_POINT_GROUP, NULL), RH_OK);  // widens
    assert_int_equal(rh_points_resize(&points, N, NULL), RH_OK);
    assert_int_equal(rh_points_group_size(&points, rh_points_find(&points, "all")),
                     N - 5);  // newcomers are in no group
    assert_int_equal(rh_points_group_size(&points, rh_points_find(&points, "a")), 247);
    rh_points_free(&points);
}

static void empty_set(void **state)
{
    (void)state;
    rh_points points;
    rh_points_init(&points);
    assert_true(rh_points_is_valid(&points));
    assert_int_equal(rh_points_permute(&points, NULL, 0, NULL), RH_OK);
    rh_points_hash(&points);
    rh_points_free(&points);
    rh_points_free(&points);
}

// A copy has the same bits in the same order; an earlier copy's blocks are used again, also for fewer points; what
// changes afterwards changes one of them only.
static void a_copy_is_the_same(void **state)
{
    (void)state;
    rh_points from = make(1000), to;
    rh_points_init(&to);
    for (int64_t count = 1000; count > 0; count /= 3) {
        assert_int_equal(rh_points_resize(&from, count, NULL), RH_OK);
        if (count < 1000) rh_memory_fail_after(0);  // nothing more is needed
        assert_int_equal(rh_points_copy(&from, &to, NULL), RH_OK);
        rh_memory_fail_after(-1);
        assert_true(rh_points_is_valid(&to));
        assert_int_equal(to.count, count);
        assert_true(rh_points_hash(&to) == rh_points_hash(&from));
    }
    uint64_t before = rh_points_hash(&to);
    ((char *)from.attributes[0].data)[0] ^= 1;
    assert_true(rh_points_hash(&to) == before && rh_points_hash(&from) != before);
    rh_points_free(&to);
    for (int n = 0; n < 3; n++) {  // memory that runs out leaves nothing behind
        rh_memory_fail_after(n);
        assert_int_equal(rh_points_copy(&from, &to, NULL), RH_MEMORY);
        rh_memory_fail_after(-1);
        assert_true(rh_points_is_valid(&to));
        rh_points_free(&to);
    }
    rh_points_free(&from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_points_are_zero_even_in_dirty_memory),
        cmocka_unit_test(growth_is_geometric_and_keeps_values),
        cmocka_unit_test(adding_again_keeps_or_refuses),
        cmocka_unit_test(a_uniform_attribute_widens_with_its_value),
        cmocka_unit_test(permute_does_what_it_says),
        cmocka_unit_test(hash_sees_every_bit_and_no_order),
        cmocka_unit_test(running_out_of_memory_changes_nothing),
        cmocka_unit_test(empty_set),
        cmocka_unit_test(growing_takes_little_more),
        cmocka_unit_test(groups_alone),
        cmocka_unit_test(a_copy_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
