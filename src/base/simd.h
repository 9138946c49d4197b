// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Vectors of four and eight floats: a row of a tile is one rh_f8. Written with the compiler's vector types, so one
// source serves every build: eight lanes are one register with AVX2 (the default build on x86-64, RHEO_SIMD=avx2) and
// two or more without (RHEO_SIMD=portable). No lane ever depends on another except through the sums below, whose order
// is fixed, and nothing is fused: both builds give the same bits (tests/golden runs both).
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

typedef float rh_f4 __attribute__((vector_size(16)));
typedef float rh_f8 __attribute__((vector_size(32)));
typedef int32_t rh_i4 __attribute__((vector_size(16)));
typedef int32_t rh_i8 __attribute__((vector_size(32)));
typedef uint32_t rh_u8 __attribute__((vector_size(32)));

static inline rh_f4 rh_f4_load(const float *p)
{
    rh_f4 v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline rh_f8 rh_f8_load(const float *p)
{
    rh_f8 v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void rh_f4_store(float *p, rh_f4 v) { memcpy(p, &v, sizeof v); }
static inline void rh_f8_store(float *p, rh_f8 v) { memcpy(p, &v, sizeof v); }
static inline rh_f4 rh_f4_all(float s) { return (rh_f4){s, s, s, s}; }
static inline rh_f8 rh_f8_all(float s) { return (rh_f8){s, s, s, s, s, s, s, s}; }

// mask ? a : b, lane by lane; masks are the results of comparisons (all bits or none).
static inline rh_f8 rh_f8_select(rh_i8 mask, rh_f8 a, rh_f8 b)
{
#ifdef __AVX__
    return (rh_f8)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (rh_f8)((mask & (rh_i8)a) | (~mask & (rh_i8)b));
#endif
}
// a < b ? a : b and a > b ? a : b: the second when one is not a number.
static inline rh_f8 rh_f8_min(rh_f8 a, rh_f8 b)
{
#ifdef __AVX__
    return (rh_f8)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return rh_f8_select(a < b, a, b);
#endif
}
static inline rh_f8 rh_f8_max(rh_f8 a, rh_f8 b)
{
#ifdef __AVX__
    return (rh_f8)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return rh_f8_select(a > b, a, b);
#endif
}
// The least and the most lane of each of eight vectors, that of the first in lane 0; none may hold what is no number.
#define RH_F8_OF_LANES(pick)                                                                              \
    rh_f8 four[4], two[2];                                                                                \
    for (int i = 0; i < 4; i++)                                                                           \
        four[i] = pick(__builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13),         \
                       __builtin_shufflevector(v[2 * i], v[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15));      \
    for (int i = 0; i < 2; i++)                                                                           \
        two[i] = pick(__builtin_shufflevector(four[2 * i], four[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13),    \
                      __builtin_shufflevector(four[2 * i], four[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15)); \
    return pick(__builtin_shufflevector(two[0], two[1], 0, 1, 2, 3, 8, 9, 10, 11),                        \
                __builtin_shufflevector(two[0], two[1], 4, 5, 6, 7, 12, 13, 14, 15))
static inline rh_f8 rh_f8_least(const rh_f8 v[8]) { RH_F8_OF_LANES(rh_f8_min); }
static inline rh_f8 rh_f8_most(const rh_f8 v[8]) { RH_F8_OF_LANES(rh_f8_max); }
static inline rh_f8 rh_f8_abs(rh_f8 a) { return (rh_f8)((rh_i8)a & 0x7fffffff); }
static inline rh_f8 rh_f8_sqrt(rh_f8 a)
{
#ifdef __AVX__
    return (rh_f8)_mm256_sqrt_ps((__m256)a);
#else
    for (int i = 0; i < 8; i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
#endif
}
// Lanes whose mask is set, one bit each, lane 0 lowest.
static inline int rh_i8_bits(rh_i8 mask)
{
#ifdef __AVX__
    return _mm256_movemask_ps((__m256)mask);
#else
    int bits = 0;
    for (int i = 0; i < 8; i++) bits |= (mask[i] & 1) << i;
    return bits;
#endif
}
// A mask from the eight low bits.
static inline rh_i8 rh_i8_from_bits(int bits)
{
    rh_i8 lane = {1, 2, 4, 8, 16, 32, 64, 128};
    return (lane & bits) == lane;
}
// v where the low bits are set, 0 elsewhere.
static inline rh_f8 rh_f8_masked(rh_f8 v, int bits) { return (rh_f8)((rh_i8)v & rh_i8_from_bits(bits)); }
// The sum of the lanes in fixed order: halves, quarters, the last two.
static inline float rh_f8_sum(rh_f8 a) { return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])); }
// The same sums of three, and 0: a record of four floats.
static inline rh_f4 rh_f8_sums(rh_f8 a, rh_f8 b, rh_f8 c)
{
    rh_f4 x = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7),
          y = __builtin_shufflevector(b, b, 0, 1, 2, 3) + __builtin_shufflevector(b, b, 4, 5, 6, 7),
          z = __builtin_shufflevector(c, c, 0, 1, 2, 3) + __builtin_shufflevector(c, c, 4, 5, 6, 7),
          none = {0, 0, 0, 0};
    rh_f4 xy = __builtin_shufflevector(x, y, 0, 4, 1, 5) + __builtin_shufflevector(x, y, 2, 6, 3, 7),
          zn = __builtin_shufflevector(z, none, 0, 4, 1, 5) + __builtin_shufflevector(z, none, 2, 6, 3, 7);
    return __builtin_shufflevector(xy, zn, 0, 1, 4, 5) + __builtin_shufflevector(xy, zn, 2, 3, 6, 7);
}
// Lanes 1..7 of a with `last` behind them, and lanes 0..6 with `first` before them: the neighbours of a row along x.
static inline rh_f8 rh_f8_east(rh_f8 a, float last)
{
    rh_f8 v = __builtin_shufflevector(a, a, 1, 2, 3, 4, 5, 6, 7, 7);
    v[7] = last;
    return v;
}
static inline rh_f8 rh_f8_west(rh_f8 a, float first)
{
    rh_f8 v = __builtin_shufflevector(a, a, 0, 0, 1, 2, 3, 4, 5, 6);
    v[0] = first;
    return v;
}

static inline rh_f4 rh_f4_abs(rh_f4 a) { return (rh_f4)((rh_i4)a & 0x7fffffff); }
static inline rh_i4 rh_f4_floor(rh_f4 a)  // |a| below 2^31
{
    rh_i4 whole = __builtin_convertvector(a, rh_i4);
    return whole + (__builtin_convertvector(whole, rh_f4) > a);  // a mask is -1
}
static inline rh_i4 rh_i4_min(rh_i4 a, rh_i4 b)
{
    rh_i4 less = a < b;
    return (a & less) | (b & ~less);
}
static inline rh_i4 rh_i4_max(rh_i4 a, rh_i4 b) { return a + b - rh_i4_min(a, b); }
// Lanes of four whose mask is set, one bit each.
static inline int rh_i4_bits(rh_i4 mask)
{
#ifdef __SSE2__
    return _mm_movemask_ps((__m128)mask);
#else
    return (mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8);
#endif
}
static inline bool rh_i4_any(rh_i4 mask) { return rh_i4_bits(mask) != 0; }
// Eight structures of three floats, x y z x y z ..., as three vectors.
static inline void rh_f8_load3(const float *p, rh_f8 *x, rh_f8 *y, rh_f8 *z)
{
    rh_f8 a = rh_f8_load(p), b = rh_f8_load(p + 8), c = rh_f8_load(p + 16);
    // Halves that belong together side by side first: then all shuffles stay within their half.
    rh_f8 u = __builtin_shufflevector(a, b, 0, 1, 2, 3, 12, 13, 14, 15);
    rh_f8 v = __builtin_shufflevector(a, c, 4, 5, 6, 7, 8, 9, 10, 11);
    rh_f8 w = __builtin_shufflevector(b, c, 0, 1, 2, 3, 12, 13, 14, 15);
    rh_f8 xy = __builtin_shufflevector(v, w, 2, 3, 9, 10, 6, 7, 13, 14);  // x2 y2 x3 y3
    rh_f8 yz = __builtin_shufflevector(u, v, 1, 2, 8, 9, 5, 6, 12, 13);   // y0 z0 y1 z1
    *x = __builtin_shufflevector(u, xy, 0, 3, 8, 10, 4, 7, 12, 14);
    *y = __builtin_shufflevector(yz, xy, 0, 2, 9, 11, 4, 6, 13, 15);
    *z = __builtin_shufflevector(yz, w, 1, 3, 8, 11, 5, 7, 12, 15);
}
static inline rh_i8 rh_f8_floor(rh_f8 a)  // |a| below 2^31
{
    rh_i8 whole = __builtin_convertvector(a, rh_i8);
    return whole + (__builtin_convertvector(whole, rh_f8) > a);
}
// first = f[at], second = f[at + 1] in every lane.
static inline void rh_f8_gather_pairs(const float *f, rh_i8 at, rh_f8 *first, rh_f8 *second)
{
#ifdef __AVX2__
    // Pairs of lanes 0 1 4 5 and 2 3 6 7: then one shuffle within halves puts all in order.
    rh_i4 a = __builtin_shufflevector(at, at, 0, 1, 4, 5), b = __builtin_shufflevector(at, at, 2, 3, 6, 7);
    rh_f8 u = (rh_f8)_mm256_i32gather_pd((const double *)f, (__m128i)a, 4),
          v = (rh_f8)_mm256_i32gather_pd((const double *)f, (__m128i)b, 4);
    *first = __builtin_shufflevector(u, v, 0, 2, 8, 10, 4, 6, 12, 14);
    *second = __builtin_shufflevector(u, v, 1, 3, 9, 11, 5, 7, 13, 15);
#else
    for (int i = 0; i < 8; i++) (*first)[i] = f[at[i]], (*second)[i] = f[at[i] + 1];
#endif
}
// f[at] in every lane; numbers below 2^31.
static inline rh_f8 rh_f8_gather(const float *f, const uint32_t at[8])
{
#ifdef __AVX2__
    __m256i lanes;
    memcpy(&lanes, at, sizeof lanes);
    return (rh_f8)_mm256_i32gather_ps(f, lanes, 4);
#else
    rh_f8 v;
    for (int i = 0; i < 8; i++) v[i] = f[at[i]];
    return v;
#endif
}
// Lanes in the order of eight numbers below 8.
static inline rh_f8 rh_f8_pick(rh_f8 v, const uint8_t order[8])
{
#ifdef __AVX2__
    return (rh_f8)_mm256_permutevar8x32_ps((__m256)v, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)order)));
#else
    rh_f8 out;
    for (int i = 0; i < 8; i++) out[i] = v[order[i]];
    return out;
#endif
}
static inline rh_i8 rh_i8_pick(rh_i8 v, const uint8_t order[8]) { return (rh_i8)rh_f8_pick((rh_f8)v, order); }
// The reverse of rh_f8_load3.
static inline void rh_f8_store3(float *p, rh_f8 x, rh_f8 y, rh_f8 z)
{
    rh_f8 xy = __builtin_shufflevector(x, y, 0, 2, 8, 10, 4, 6, 12, 14),
          yz = __builtin_shufflevector(y, z, 1, 3, 9, 11, 5, 7, 13, 15);
    rh_f8 zx = __builtin_shufflevector(z, x, 0, 2, 9, 11, 4, 6, 13, 15);
    rh_f8 a = __builtin_shufflevector(xy, zx, 0, 2, 8, 10, 4, 6, 12, 14);  // x0 y0 z0 x1, x4 y4 z4 x5
    rh_f8 b = __builtin_shufflevector(yz, xy, 0, 2, 9, 11, 4, 6, 13, 15);  // y1 z1 x2 y2, ...
    rh_f8 c = __builtin_shufflevector(zx, yz, 1, 3, 9, 11, 5, 7, 13, 15);  // z2 x3 y3 z3, ...
    rh_f8_store(p, __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11));
    rh_f8_store(p + 8, __builtin_shufflevector(c, a, 0, 1, 2, 3, 12, 13, 14, 15));
    rh_f8_store(p + 16, __builtin_shufflevector(b, c, 4, 5, 6, 7, 12, 13, 14, 15));
}
