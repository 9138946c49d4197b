// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sums in fixed order: accurate, and the same bits for any number of threads.
#include "support.h"

enum { COUNT = 100003 };
static double values[COUNT];

static void fill(void)
{
    for (int i = 0; i < COUNT; i++)
        values[i] = (double)support_random((uint64_t)i, 0) * pow(10, 8 * (double)support_random((uint64_t)i, 1));
}

// Pairwise summation: |error| <= (8 + log2 n) eps sum |x| (N. J. Higham, "Accuracy and Stability of Numerical
// Algorithms", 2nd ed., section 4.2; leaves of eight are added one by one).
static void sums_are_accurate(void **state)
{
    (void)state;
    fill();
    const int counts[] = {0, 1, 7, 8, 9, 16, 17, 1000, COUNT};
    for (int n = 0; n < 9; n++) {
        long double exact = 0, magnitude = 0;
        for (int i = 0; i < counts[n]; i++) exact += values[i], magnitude += fabsl((long double)values[i]);
        double bound = (8 + log2((double)counts[n] + 1)) * 0x1p-53 * (double)magnitude;
        assert_near(rh_sum(values, counts[n]), (double)exact, bound);
    }
}

// Whole numbers add exactly, so no element may be missed or taken twice.
static void every_element_counts_once(void **state)
{
    (void)state;
    static double one[300];
    for (int n = 0; n <= 300; n++) {
        for (int i = 0; i < n; i++) one[i] = (double)(i + 1) * (i + 1);
        assert_true(rh_sum(one, n) == n * (n + 1.0) * (2 * n + 1.0) / 6);
    }
}

static double blocked_sum(int threads)
{
    static double sums[COUNT / RH_BLOCK + 1];
    rh_threads_set(threads);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < rh_blocks(COUNT); b++) {
        double sum = 0;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, COUNT); i++) sum += values[i];
        sums[b] = sum;
    }
    return rh_sum(sums, rh_blocks(COUNT));
}

static void threads_do_not_show(void **state)
{
    (void)state;
    fill();
    double one = blocked_sum(1);
    for (int threads = 2; threads <= 8; threads++) {
        double many = blocked_sum(threads);
        assert_memory_equal(&one, &many, sizeof one);
        assert_int_equal(rh_threads(), threads);
    }
    rh_threads_set(0);
    assert_true(rh_threads() >= 1);
}

static void blocks_cover_everything_once(void **state)
{
    (void)state;
    const int64_t counts[] = {0, 1, RH_BLOCK - 1, RH_BLOCK, RH_BLOCK + 1, 10 * RH_BLOCK};
    for (int n = 0; n < 6; n++) {
        int64_t covered = 0;
        for (int64_t b = 0; b < rh_blocks(counts[n]); b++) {
            assert_true(rh_block_end(b, counts[n]) > b * RH_BLOCK);
            covered += rh_block_end(b, counts[n]) - b * RH_BLOCK;
        }
        assert_int_equal(covered, counts[n]);
    }
}

static void the_largest_is_found(void **state)
{
    (void)state;
    const double negative[] = {-3, -1, -2};
    assert_true(rh_max(negative, 3) == -1);
    assert_true(rh_max(negative, 1) == -3);
    assert_true(rh_max(NULL, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_accurate),    cmocka_unit_test(every_element_counts_once),
        cmocka_unit_test(threads_do_not_show),  cmocka_unit_test(blocks_cover_everything_once),
        cmocka_unit_test(the_largest_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
