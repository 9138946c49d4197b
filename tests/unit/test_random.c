// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Random numbers from a counter: uniform along each of their four arguments, and neighbours know nothing of each other.
// Bounds are 5 standard deviations of the statistic under independence (chance of a false alarm below 1e-6); the
// numbers are fixed, so a test that passes once passes always.
#include "support.h"

enum { COUNT = 1 << 18, BINS = 256 };

// One stream of numbers per argument that can run.
static uint32_t bits(int stream, uint64_t seed, uint32_t n)
{
    switch (stream) {
    case 0: return rh_random_bits(seed, n, 0, 0);
    case 1: return rh_random_bits(seed, 5, n, 0);
    case 2: return rh_random_bits(seed, 5, 3, n);
    case 3: return rh_random_bits(n, 5, 3, seed & 3);
    default: return rh_random_bits(seed, n / 3, 0, n % 3);  // how a jitter in space draws
    }
}
enum { STREAMS = 5 };

static void check_bins(int stream, uint64_t seed, int shift)
{
    int64_t bins[BINS] = {0};
    for (uint32_t n = 0; n < COUNT; n++) bins[bits(stream, seed, n) >> shift & (BINS - 1)]++;
    double expected = (double)COUNT / BINS, chi = 0;
    for (int b = 0; b < BINS; b++) chi += ((double)bins[b] - expected) * ((double)bins[b] - expected) / expected;
    // chi-square with BINS - 1 degrees of freedom: mean BINS - 1, variance 2 (BINS - 1)
    assert_near(chi, BINS - 1, 5 * sqrt(2.0 * (BINS - 1)));
}

static void numbers_are_uniform(void **state)
{
    (void)state;
    for (int stream = 0; stream < STREAMS; stream++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            check_bins(stream, seed, 24);
            check_bins(stream, seed, 12);
            check_bins(stream, seed, 0);
        }
}

static double unit(int stream, uint64_t seed, uint32_t n) { return (double)bits(stream, seed, n) * 0x1p-32 - 0.5; }

static void neighbours_are_independent(void **state)
{
    (void)state;
    for (int stream = 0; stream < STREAMS; stream++)
        for (uint32_t lag = 1; lag <= 4; lag++) {
            double sum = 0;
            for (uint32_t n = 0; n < COUNT; n++) sum += unit(stream, 9, n) * unit(stream, 9, n + lag);
            assert_near(sum / COUNT * 12, 0, 5 / sqrt((double)COUNT));  // correlation
        }
}

static void streams_are_independent(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        double by_seed = 0, by_step = 0;
        for (uint32_t n = 0; n < COUNT; n++) {
            by_seed += unit(0, seed, n) * unit(0, seed + 1, n);
            by_step += unit(0, seed, n) * ((double)rh_random_bits(seed, n, 1, 0) * 0x1p-32 - 0.5);
        }
        assert_near(by_seed / COUNT * 12, 0, 5 / sqrt((double)COUNT));
        assert_near(by_step / COUNT * 12, 0, 5 / sqrt((double)COUNT));
    }
}

static void floats_stay_below_one(void **state)
{
    (void)state;
    float low = 1, high = 0;
    for (uint64_t n = 0; n < 1 << 22; n++) {
        float x = rh_random(1, n, 2, 3);
        low = fminf(low, x);
        high = fmaxf(high, x);
    }
    assert_true(low >= 0 && low < 1e-5f);
    assert_true(high < 1 && high > 0.99999f);
}

// A value is a function of its four numbers, whoever asks and when.
static void order_does_not_matter(void **state)
{
    (void)state;
    static uint32_t forward[4096], other[4096];
    for (int i = 0; i < 4096; i++) forward[i] = rh_random_bits(3, (uint64_t)i, 7, 1);
#pragma omp parallel for schedule(dynamic, 13) num_threads(8)
    for (int i = 4095; i >= 0; i--) other[i] = rh_random_bits(3, (uint64_t)i, 7, 1);
    assert_memory_equal(forward, other, sizeof forward);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_uniform),     cmocka_unit_test(neighbours_are_independent),
        cmocka_unit_test(streams_are_independent), cmocka_unit_test(floats_stay_below_one),
        cmocka_unit_test(order_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
