// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The hash of golden tests and scene identity: every bit, the length and the seed count.
#include "check.h"
#include <string.h>
#include "base/hash.h"

static void every_bit_counts(void **state)
{
    (void)state;
    unsigned char data[41];
    for (int i = 0; i < 41; i++) data[i] = (unsigned char)(i * 7);
    for (size_t bytes = 0; bytes <= 41; bytes++) {
        uint64_t hash = rh_hash(data, bytes, 1);
        assert_true(hash == rh_hash(data, bytes, 1));
        assert_true(hash != rh_hash(data, bytes, 2));
        int flips = 0, changed = 0;
        for (size_t bit = 0; bit < 8 * bytes; bit++) {
            data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            uint64_t other = rh_hash(data, bytes, 1);
            data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_true(other != hash);
            flips++;
            changed += __builtin_popcountll(hash ^ other);
        }
        // Avalanche: half of 64 bits on average; 5 standard deviations of the mean of `flips` binomials (64, 1/2).
        if (flips) assert_true(fabs((double)changed / flips - 32) < 5 * 4 / sqrt(flips));
    }
}

static void length_counts(void **state)
{
    (void)state;
    const char zeros[64] = {0};
    for (size_t a = 0; a < 64; a++)
        for (size_t b = a + 1; b <= 64; b++) assert_true(rh_hash(zeros, a, 0) != rh_hash(zeros, b, 0));
}

static void alignment_does_not_count(void **state)
{
    (void)state;
    char memory[64];
    uint64_t expected = rh_hash("a sentence of several words", 27, 0);
    for (int shift = 0; shift < 16; shift++) {
        memcpy(memory + shift, "a sentence of several words", 27);
        assert_true(rh_hash(memory + shift, 27, 0) == expected);
    }
}

static void order_counts_when_chained(void **state)
{
    (void)state;
    assert_true(rh_hash("b", 1, rh_hash("a", 1, 0)) != rh_hash("a", 1, rh_hash("b", 1, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_bit_counts), cmocka_unit_test(length_counts),
                                       cmocka_unit_test(alignment_does_not_count),
                                       cmocka_unit_test(order_counts_when_chained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
