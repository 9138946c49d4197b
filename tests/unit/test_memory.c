// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The one gate of memory: counters per label, peak, failures on purpose.
#include "check.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"

static rh_memory_label label_of(const char *name)
{
    rh_memory_label all[256];
    int count = rh_memory_labels(all, 256);
    for (int i = 1; i < count; i++) assert_true(all[i - 1].peak >= all[i].peak);
    for (int i = 0; i < count; i++)
        if (strcmp(all[i].label, name) == 0) return all[i];
    return (rh_memory_label){0};
}

static void counts_follow_blocks(void **state)
{
    (void)state;
    rh_status status = {0};
    void *a = rh_alloc(1000, "test.one", &status), *b = rh_alloc_zero(500, "test.two", &status),
         *e = rh_alloc(0, "test.one", &status);
    assert_true(a && b && e && a != e);
    assert_int_equal(rh_memory_bytes(), 1500);
    assert_int_equal(rh_memory_blocks(), 3);
    assert_int_equal(label_of("test.one").bytes, 1000);
    assert_int_equal(label_of("test.one").blocks, 2);
    assert_int_equal(label_of("test.two").bytes, 500);
    for (int i = 0; i < 500; i++) assert_int_equal(((char *)b)[i], 0);
    rh_free(a);
    rh_free(e);
    rh_free(NULL);
    assert_int_equal(rh_memory_bytes(), 500);
    assert_int_equal(label_of("test.one").bytes, 0);
    assert_int_equal(label_of("test.one").peak, 1000);
    rh_free(b);
    assert_int_equal(rh_memory_blocks(), 0);
    assert_int_equal(rh_memory_peak(), 1500);
}

static void blocks_are_aligned_and_whole(void **state)
{
    (void)state;
    char *blocks[200];
    for (int i = 0; i < 200; i++) {
        blocks[i] = rh_alloc((size_t)i, "test.aligned", NULL);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 64, 0);
        memset(blocks[i], i, (size_t)i);
    }
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < i; k++) assert_int_equal((unsigned char)blocks[i][k], i);
        rh_free(blocks[i]);
    }
    assert_int_equal(rh_memory_bytes(), 0);
}

// Blocks of some megabytes take another way: whole, aligned, zero when asked, given back to the system.
static void large_blocks(void **state)
{
    (void)state;
    enum { MEGABYTE = 1 << 20 };
    for (size_t bytes = 3 * MEGABYTE; bytes <= 9 * MEGABYTE; bytes += MEGABYTE / 2 + 4093) {
        unsigned char *a = rh_alloc(bytes, "test.large", NULL), *b = rh_alloc_zero(bytes, "test.large", NULL);
        assert_true(a && b);
        assert_int_equal((uintptr_t)a % 64, 0);
        memset(a, 7, bytes);
        for (size_t i = 0; i < bytes; i++) assert_int_equal(b[i], 0);
        b = rh_realloc(b, 2 * bytes, "test.large", NULL);
        b[2 * bytes - 1] = 1;
        a = rh_realloc(a, 100, "test.large", NULL);
        assert_int_equal(a[99], 7);
        rh_free(a);
        rh_free(b);
    }
    assert_int_equal(rh_memory_bytes(), 0);
    rh_status status = {0};
    assert_null(rh_alloc((size_t)1 << 60, "test.large", &status));
    assert_int_equal(status.code, RH_MEMORY);
    assert_null(rh_alloc(SIZE_MAX - 10, "test.large", NULL));
}

static int64_t resident_now(void)
{
    long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    if (fscanf(f, "%*d %lld", &pages) != 1) pages = 0;
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

// A heap keeps a freed block that lies between two in use.
static void freed_blocks_leave_the_process(void **state)
{
    (void)state;
    enum { COUNT = 8, BYTES = 20 << 20 };
    for (size_t bytes = BYTES; bytes > BYTES / 4;
         bytes /= 2) {  // it may take only what is smaller than a block freed before
        char *blocks[COUNT];
        for (int i = 0; i < COUNT; i++) {
            blocks[i] = rh_alloc(bytes, "test.freed", NULL);
            memset(blocks[i], 1, bytes);
        }
        int64_t full = resident_now();
        for (int i = 0; i < COUNT; i += 2) rh_free(blocks[i]);
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
        full = 0;  // sanitizers keep freed blocks on purpose
#endif
        assert_true(full == 0 || full - resident_now() > (int64_t)(COUNT / 4 * bytes));
        for (int i = 1; i < COUNT; i += 2) rh_free(blocks[i]);
    }
}

static void realloc_keeps_what_fits(void **state)
{
    (void)state;
    char *text = rh_realloc(NULL, 4, "test.text", NULL);
    memcpy(text, "abc", 4);
    text = rh_realloc(text, 100, "test.text", NULL);
    assert_string_equal(text, "abc");
    text = rh_realloc(text, 2, "test.text", NULL);
    assert_memory_equal(text, "ab", 2);
    assert_int_equal(rh_memory_bytes(), 2);
    rh_memory_fail_after(0);
    assert_null(rh_realloc(text, 1000, "test.text", NULL));
    rh_memory_fail_after(-1);
    assert_memory_equal(text, "ab", 2);
    rh_free(text);
    char *copy = rh_strdup("", "test.text", NULL);
    assert_string_equal(copy, "");
    rh_free(copy);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void failure_comes_when_asked(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_memory_fail_after(2);
    void *a = rh_alloc(1, "test.fail", &status), *b = rh_alloc(1, "test.fail", &status);
    assert_true(a && b && status.code == RH_OK);
    assert_null(rh_alloc(77, "test.fail", &status));
    assert_int_equal(status.code, RH_MEMORY);
    assert_non_null(strstr(status.message, "77"));
    assert_non_null(strstr(status.message, "test.fail"));
    assert_null(rh_alloc_zero(1, "test.fail", NULL));  // memory that has run out stays out
    rh_memory_fail_after(-1);
    void *c = rh_alloc(1, "test.fail", NULL);
    assert_non_null(c);
    rh_free(a);
    rh_free(b);
    rh_free(c);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void absurd_sizes_fail(void **state)
{
    (void)state;
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX - 64, SIZE_MAX - 128, SIZE_MAX / 2};
    for (int i = 0; i < 5; i++) {
        rh_status status = {0};
        assert_null(rh_alloc(sizes[i], "test.absurd", &status));
        assert_int_equal(status.code, RH_MEMORY);
    }
    assert_int_equal(rh_memory_bytes(), 0);
}

// More labels than slots: the rest shares one, nothing is lost from the totals.
static void many_labels(void **state)
{
    (void)state;
    static char names[400][24];
    void *blocks[400];
    for (int i = 0; i < 400; i++) {
        snprintf(names[i], sizeof names[i], "label.%d", i);
        blocks[i] = rh_alloc(10, names[i], NULL);
    }
    assert_int_equal(rh_memory_bytes(), 4000);
    for (int i = 0; i < 400; i++) rh_free(blocks[i]);
    assert_int_equal(rh_memory_bytes(), 0);
    assert_int_equal(rh_memory_blocks(), 0);
}

static void threads_count_together(void **state)
{
    (void)state;
#pragma omp parallel for num_threads(8)
    for (int i = 0; i < 4000; i++) {
        void *a = rh_alloc((size_t)(i % 97), "test.threads", NULL);
        rh_free(a);
    }
    assert_int_equal(rh_memory_bytes(), 0);
    assert_int_equal(rh_memory_blocks(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_follow_blocks),
        cmocka_unit_test(blocks_are_aligned_and_whole),
        cmocka_unit_test(large_blocks),
        cmocka_unit_test(freed_blocks_leave_the_process),
        cmocka_unit_test(realloc_keeps_what_fits),
        cmocka_unit_test(failure_comes_when_asked),
        cmocka_unit_test(absurd_sizes_fail),
        cmocka_unit_test(many_labels),
        cmocka_unit_test(threads_count_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
