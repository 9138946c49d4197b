// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sample points of a pixel: pairs of the first two Sobol dimensions, each pair with its own Owen scrambling and its own
// shuffling of the order (B. Burley, "Practical hash-based Owen scrambling", JCGT 9(4), 2020, with the hash of the same
// paper). The value is a function of (seed, pixel, sample, pair): no state, so pictures do not depend on threads.
// Sample counts that are powers of two are stratified best.
#pragma once
#include <stdint.h>
#include "base/random.h"

typedef struct rh_sampler {
    uint64_t seed, pixel;
    uint32_t sample, pair;  // number of the sample; how many pairs were taken
} rh_sampler;

static inline uint32_t rh_reverse_bits(uint32_t x)
{
    x = (x >> 16) | (x << 16);
    x = ((x & 0x00ff00ffu) << 8) | ((x & 0xff00ff00u) >> 8);
    x = ((x & 0x0f0f0f0fu) << 4) | ((x & 0xf0f0f0f0u) >> 4);
    x = ((x & 0x33333333u) << 2) | ((x & 0xccccccccu) >> 2);
    return ((x & 0x55555555u) << 1) | ((x & 0xaaaaaaaau) >> 1);
}

// Owen scrambling of a number whose bits stand in reverse.
static inline uint32_t rh_scramble_reversed(uint32_t x, uint32_t seed)
{
    x += seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    return x ^ (x * 0x8d22f6e6u);
}

static inline uint32_t rh_sobol_second(uint32_t index)
{
    uint32_t result = 0;
    for (uint32_t v = 0x80000000u; index; index >>= 1, v ^= v >> 1)
        if (index & 1) result ^= v;
    return result;
}

// Two numbers in [0, 1).
static inline void rh_sampler_pair(rh_sampler *s, float out[2])
{
    uint32_t lane = 4 * s->pair++;
    uint32_t order = rh_random_bits(s->seed, s->pixel, 0, lane), a = rh_mix64(order + 1ull) >> 32,
             b = rh_mix64(order + 2ull) >> 32;
    uint32_t index = rh_reverse_bits(rh_scramble_reversed(rh_reverse_bits(s->sample), order));
    // The first dimension is the index with its bits reversed.
    uint32_t x = rh_reverse_bits(rh_scramble_reversed(index, a));
    uint32_t y = rh_reverse_bits(rh_scramble_reversed(rh_reverse_bits(rh_sobol_second(index)), b));
    out[0] = (float)(x >> 8) * 0x1p-24f;
    out[1] = (float)(y >> 8) * 0x1p-24f;
}
