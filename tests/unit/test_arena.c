// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Scratch memory: grows, is merged at a reset so that a steady step allocates nothing, and nests by marks.
#include "check.h"
#include <string.h>
#include "base/arena.h"
#include "base/memory.h"
#include "base/random.h"

enum { TAKES = 60 };
static size_t size_of(int i)
{
    return i % 7 == 3 ? (size_t)rh_random_bits(1, (uint64_t)i, 0, 0) % 300000 : (size_t)i * 37;
}

static int64_t one_step(rh_arena *arena)
{
    unsigned char *taken[TAKES];
    for (int i = 0; i < TAKES; i++) {
        taken[i] = rh_arena_take(arena, size_of(i), NULL);
        assert_non_null(taken[i]);
        assert_int_equal((uintptr_t)taken[i] % 64, 0);
        memset(taken[i], i + 1, size_of(i));
    }
    for (int i = 0; i < TAKES; i++)
        for (size_t k = 0; k < size_of(i); k++) assert_int_equal(taken[i][k], i + 1);
    return rh_memory_blocks();
}

static void a_steady_step_allocates_nothing(void **state)
{
    (void)state;
    rh_arena arena;
    rh_arena_init(&arena, "test.arena");
    assert_true(one_step(&arena) > 1);  // grew by several blocks
    rh_arena_reset(&arena);
    assert_int_equal(rh_memory_blocks(), 1);
    assert_int_equal(arena.used_total, 0);
    int64_t bytes = rh_memory_bytes();
    for (int n = 0; n < 5; n++) {
        rh_memory_fail_after(0);  // an allocation now would fail
        assert_int_equal(one_step(&arena), 1);
        rh_memory_fail_after(-1);
        rh_arena_reset(&arena);
        assert_int_equal(rh_memory_bytes(), bytes);
    }
    rh_arena_free(&arena);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void zeroed_memory_is_zero(void **state)
{
    (void)state;
    rh_arena arena;
    rh_arena_init(&arena, "test.arena");
    memset(rh_arena_take(&arena, 5000, NULL), 0xff, 5000);
    rh_arena_reset(&arena);
    const char *zero = rh_arena_take_zero(&arena, 5000, NULL);
    for (int i = 0; i < 5000; i++) assert_int_equal(zero[i], 0);
    rh_arena_free(&arena);
}

// A mark gives back what was taken after it, and only that, also when a block was chained in between.
static void marks_nest(void **state)
{
    (void)state;
    rh_arena arena;
    rh_arena_init(&arena, "test.arena");
    rh_arena_mark empty = rh_arena_save(&arena);
    rh_arena_restore(&arena, empty);
    char *kept = rh_arena_take(&arena, 1000, NULL);
    memset(kept, 1, 1000);
    rh_arena_mark outer = rh_arena_save(&arena);
    char *first = rh_arena_take(&arena, 100, NULL);
    rh_arena_restore(&arena, outer);
    assert_ptr_equal(rh_arena_take(&arena, 100, NULL), first);
    rh_arena_mark inner = rh_arena_save(&arena);
    memset(first, 2, 100);
    char *large = rh_arena_take(&arena, 1 << 20, NULL);
    memset(large, 3, 1 << 20);
    int64_t bytes = rh_memory_bytes();
    rh_arena_restore(&arena, inner);
    assert_true(rh_memory_bytes() < bytes - (1 << 20));  // a chained block goes at once: peaks stay honest
    large = rh_arena_take(&arena, 1 << 20, NULL);
    memset(large, 4, 1 << 20);
    for (int i = 0; i < 100; i++) assert_int_equal(first[i], 2);
    rh_arena_restore(&arena, outer);
    assert_int_equal(arena.used_total, 1024);
    char *again = rh_arena_take(&arena, 5000, NULL);
    memset(again, 5, 5000);
    for (int i = 0; i < 1000; i++) assert_int_equal(kept[i], 1);
    rh_arena_free(&arena);
    assert_int_equal(rh_memory_bytes(), 0);
}

// Two large pieces one after the other need room for one; and the step after finds it without allocating.
static void a_reset_keeps_what_was_in_use_at_most(void **state)
{
    (void)state;
    rh_arena arena;
    rh_arena_init(&arena, "test.arena");
    for (int n = 0; n < 3; n++) {
        if (n) rh_memory_fail_after(0);
        for (int i = 0; i < 5; i++) {
            rh_arena_mark mark = rh_arena_save(&arena);
            assert_non_null(rh_arena_take(&arena, 1 << 20, NULL));
            rh_arena_restore(&arena, mark);
        }
        rh_memory_fail_after(-1);
        rh_arena_reset(&arena);
        assert_true(rh_memory_bytes() < (1 << 20) * 9 / 8);
    }
    rh_arena_free(&arena);
}

static void pieces_are_kept(void **state)
{
    (void)state;
    rh_arena arena;
    rh_arena_init(&arena, "test.arena");
    for (int n = 0; n < 2; n++) {  // first with chained blocks, then in one
        rh_arena_mark mark = rh_arena_save(&arena);
        rh_arena_take(&arena, 100000, NULL);
        char *a = rh_arena_take(&arena, 300000, NULL);
        memset(a, 1, 300000);
        rh_arena_take(&arena, 50000, NULL);
        char *b = rh_arena_take(&arena, 1000, NULL);
        memset(b, 2, 1000);
        rh_arena_take(&arena, 7000, NULL);
        size_t used = arena.used_total;
        rh_arena_keep(&arena, mark, (rh_arena_piece[]){{(void **)&a, 300000}, {(void **)&b, 1000}}, 2);
        assert_true(n ? arena.used_total == 300032 + 1024 : arena.used_total == used);
        for (int i = 0; i < 300000; i++) assert_int_equal(a[i], 1);
        for (int i = 0; i < 1000; i++) assert_int_equal(b[i], 2);
        rh_arena_reset(&arena);
    }
    rh_arena_free(&arena);
}

// Lent memory is used first, given back by marks, and forgotten at a reset.
static void lent_memory_is_used_first(void **state)
{
    (void)state;
    rh_arena arena;
    rh_arena_init(&arena, "test.arena");
    static char memory[10000];
    rh_arena_lend(&arena, memory + 1, 9999);
    rh_arena_mark mark = rh_arena_save(&arena);
    char *a = rh_arena_take(&arena, 5000, NULL);
    assert_true(a > memory && a + 5000 <= memory + 10000);
    assert_int_equal((uintptr_t)a % 64, 0);
    assert_int_equal(rh_memory_bytes(), 0);
    char *b = rh_arena_take(&arena, 6000, NULL);
    assert_true(b + 6000 <= memory || b >= memory + 10000);
    memset(a, 1, 5000), memset(b, 2, 6000);
    for (int i = 0; i < 5000; i++) assert_int_equal(a[i], 1);
    rh_arena_restore(&arena, mark);
    assert_ptr_equal(rh_arena_take(&arena, 9000, NULL), a);
    rh_arena_reset(&arena);
    a = rh_arena_take(&arena, 100, NULL);
    assert_true(a + 100 <= memory || a >= memory + 10000);
    rh_arena_free(&arena);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void running_out_is_reported(void **state)
{
    (void)state;
    rh_arena arena;
    rh_arena_init(&arena, "test.arena");
    rh_status status = {0};
    assert_null(rh_arena_take(&arena, SIZE_MAX - 10, &status));
    assert_int_equal(status.code, RH_MEMORY);
    rh_status_clear(&status);
    assert_null(rh_arena_take_zero(&arena, SIZE_MAX - 200, &status));
    assert_int_equal(status.code, RH_MEMORY);
    rh_status_clear(&status);
    memset(rh_arena_take(&arena, 100, NULL), 1, 100);
    memset(rh_arena_take(&arena, 1 << 18, NULL), 1, 1 << 18);
    rh_memory_fail_after(0);
    assert_null(rh_arena_take(&arena, 1 << 20, &status));
    assert_int_equal(status.code, RH_MEMORY);
    rh_arena_reset(&arena);  // cannot merge now; that is no failure of its own
    rh_memory_fail_after(-1);
    assert_non_null(rh_arena_take(&arena, 1 << 20, NULL));
    rh_arena_free(&arena);
    assert_int_equal(rh_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_step_allocates_nothing),
        cmocka_unit_test(zeroed_memory_is_zero),
        cmocka_unit_test(marks_nest),
        cmocka_unit_test(a_reset_keeps_what_was_in_use_at_most),
        cmocka_unit_test(pieces_are_kept),
        cmocka_unit_test(lent_memory_is_used_first),
        cmocka_unit_test(running_out_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
