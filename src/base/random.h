// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Random numbers from a counter: the value is a pure function of (seed, id, step, lane), so it does not depend on the
// order of particles or threads, nor on a resume. Method: the "squares" generator, B. Widynski, "Squares: a fast
// counter-based RNG", arXiv:2004.06278; the key is derived from the seed by the splitmix64 finaliser.
#pragma once
#include <stdint.h>

static inline uint64_t rh_mix64(uint64_t z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static inline uint32_t rh_random_bits(uint64_t seed, uint64_t id, uint32_t step, uint32_t lane)
{
    uint64_t key = rh_mix64(seed) | 1;
    uint64_t counter = rh_mix64(id ^ ((uint64_t)step << 40)) + lane;
    uint64_t x = counter * key, y = x, z = y + key;
    x = x * x + y;
    x = (x >> 32) | (x << 32);
    x = x * x + z;
    x = (x >> 32) | (x << 32);
    x = x * x + y;
    x = (x >> 32) | (x << 32);
    return (uint32_t)((x * x + z) >> 32);
}

// Uniform in [0, 1), 24 bits.
static inline float rh_random(uint64_t seed, uint64_t id, uint32_t step, uint32_t lane)
{
    return (float)(rh_random_bits(seed, id, step, lane) >> 8) * 0x1p-24f;
}
