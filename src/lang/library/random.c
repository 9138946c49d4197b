// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rand and rand32: the generators MT19937-64 (T. Nishimura, "Tables of 64-bit Mersenne twisters", ACM TOMACS 10, 2000)
// and MT19937 (M. Matsumoto, T. Nishimura, ACM TOMACS 8, 1998; seeding of 2002), because programs written for OpenVDB
// AX expect their numbers. A point that is seeded for one number would pay for 312 (624) words of seeding and as many
// of twisting; here words are made when they are needed, and the first number costs 157 (398) words and one twist.
//
// A seed that is a floating-point number is hashed first, by MurmurHash64A (A. Appleby, public domain) of its bits with
// the seed 0xc70f6907, which is what the GNU C++ library does and so the original on Linux; -0.0 counts as 0.0, whose
// hash is 0.
//
// Without a seed an element would go on with the numbers of whoever its thread visited before. Here it starts a
// sequence of its own, made from the pass' seed and the element's number, or its id where the host has one: the same
// for any number of threads.
#include <string.h>
#include "base/random.h"
#include "lang/library/library.h"

enum { N64 = 312, M64 = 156, N32 = 624, M32 = 397 };

void rh_lang_twister64_seed(rh_lang_twister64 *twister, uint64_t seed)
{
    twister->word[0] = seed;
    twister->ready = 1, twister->next = 0;
}

uint64_t rh_lang_twister64_draw(rh_lang_twister64 *twister)
{
    uint64_t *w = twister->word;
    int k = twister->next, wanted = k + M64 + 1 < N64 ? k + M64 + 1 : N64;
    for (; twister->ready < wanted; twister->ready++) {
        uint64_t before = w[twister->ready - 1];
        w[twister->ready] = 6364136223846793005ull * (before ^ (before >> 62)) + (uint64_t)twister->ready;
    }
    uint64_t x = (w[k] & ~0x7fffffffull) | (w[k + 1 < N64 ? k + 1 : 0] & 0x7fffffffull);
    w[k] = w[k < N64 - M64 ? k + M64 : k + M64 - N64] ^ (x >> 1) ^ (x & 1 ? 0xb5026f5aa96619e9ull : 0);
    x = w[k];
    twister->next = k + 1 < N64 ? k + 1 : 0;
    x ^= (x >> 29) & 0x5555555555555555ull;
    x ^= (x << 17) & 0x71d67fffeda60000ull;
    x ^= (x << 37) & 0xfff7eee000000000ull;
    return x ^ (x >> 43);
}

void rh_lang_twister32_seed(rh_lang_twister32 *twister, uint32_t seed)
{
    twister->word[0] = seed;
    twister->ready = 1, twister->next = 0;
}

uint32_t rh_lang_twister32_draw(rh_lang_twister32 *twister)
{
    uint32_t *w = twister->word;
    int k = twister->next, wanted = k + M32 + 1 < N32 ? k + M32 + 1 : N32;
    for (; twister->ready < wanted; twister->ready++) {
        uint32_t before = w[twister->ready - 1];
        w[twister->ready] = 1812433253u * (before ^ (before >> 30)) + (uint32_t)twister->ready;
    }
    uint32_t x = (w[k] & 0x80000000u) | (w[k + 1 < N32 ? k + 1 : 0] & 0x7fffffffu);
    w[k] = w[k < N32 - M32 ? k + M32 : k + M32 - N32] ^ (x >> 1) ^ (x & 1 ? 0x9908b0dfu : 0);
    x = w[k];
    twister->next = k + 1 < N32 ? k + 1 : 0;
    x ^= x >> 11;
    x ^= (x << 7) & 0x9d2c5680u;
    x ^= (x << 15) & 0xefc60000u;
    return x ^ (x >> 18);
}

// --- seeds -----------------------------------------------------------------------------------------------------------

static uint64_t load(const unsigned char *p, int64_t bytes)
{
    uint64_t word = 0;
    for (int64_t i = 0; i < bytes; i++) word |= (uint64_t)p[i] << (8 * i);
    return word;
}

uint64_t rh_lang_hash_bytes(const void *data, int64_t length)
{
    const uint64_t factor = 0xc6a4a7935bd1e995ull;
    const unsigned char *p = data;
    uint64_t hash = 0xc70f6907ull ^ ((uint64_t)length * factor);
    for (; length >= 8; length -= 8, p += 8) {
        uint64_t word = load(p, 8) * factor;
        hash = (hash ^ ((word ^ (word >> 47)) * factor)) * factor;
    }
    if (length > 0) hash = (hash ^ load(p, length)) * factor;
    hash = (hash ^ (hash >> 47)) * factor;
    return hash ^ (hash >> 47);
}

static uint64_t hash_real(double value) { return value == 0 ? 0 : rh_lang_hash_bytes(&value, sizeof value); }

// Voxels are counted within their leaf, so the leaf's place counts too.
static uint64_t own_seed(const rh_lang_context *context)
{
    uint64_t seed = rh_mix64(context->scope->seed);
    for (int a = 0; a < 3; a++) seed = rh_mix64(seed ^ (uint32_t)context->origin[a]);
    const int64_t *ids = context->scope->ids;
    return rh_mix64(seed ^ (uint64_t)(ids ? ids[context->element] - context->scope->first_id : context->element));
}

// --- functions -------------------------------------------------------------------------------------------------------

double rh_lang_rand(rh_lang_context *context)
{
    if (context->twister64_element != context->element) {
        rh_lang_twister64_seed(&context->twister64, own_seed(context));
        context->twister64_element = context->element;
    }
    // Of the 64 bits 53 fit: rounded up, the largest would become one.
    double drawn = (double)rh_lang_twister64_draw(&context->twister64) * 0x1p-64;
    return drawn < 1 ? drawn : 1 - 0x1p-53;
}

double rh_lang_rand_l(rh_lang_context *context, int64_t seed)
{
    rh_lang_twister64_seed(&context->twister64, (uint64_t)seed);
    context->twister64_element = context->element;
    return rh_lang_rand(context);
}

double rh_lang_rand_d(rh_lang_context *context, double seed)
{
    return rh_lang_rand_l(context, (int64_t)hash_real(seed));
}

double rh_lang_rand32(rh_lang_context *context)
{
    if (context->twister32_element != context->element) {
        rh_lang_twister32_seed(&context->twister32, (uint32_t)own_seed(context));
        context->twister32_element = context->element;
    }
    // Two draws for the bits of a double, the low half first.
    double low = rh_lang_twister32_draw(&context->twister32), high = rh_lang_twister32_draw(&context->twister32);
    double drawn = (low + high * 0x1p32) * 0x1p-64;
    return drawn < 1 ? drawn : 1 - 0x1p-53;
}

double rh_lang_rand32_i(rh_lang_context *context, int32_t seed)
{
    rh_lang_twister32_seed(&context->twister32, (uint32_t)seed);
    context->twister32_element = context->element;
    return rh_lang_rand32(context);
}

double rh_lang_rand32_d(rh_lang_context *context, double seed)
{
    uint64_t hash = hash_real(seed);
    return rh_lang_rand32_i(context, (int32_t)(uint32_t)(hash ^ (hash >> 32)));
}
