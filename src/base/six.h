// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Six numbers in two registers: velocities of a rigid body, and what acts on it. As in base/simd.h no lane depends on
// another but in sums, whose order is fixed, so every build gives the same bits.
#pragma once
#include "base/simd.h"

typedef float rh_f2 __attribute__((vector_size(8)));
typedef double rh_d2 __attribute__((vector_size(16)));
typedef double rh_d4 __attribute__((vector_size(32)));

typedef struct rh_six {
    rh_d4 first;
    rh_d2 last;
} rh_six;

static inline rh_six rh_six_zero(void) { return (rh_six){{0, 0, 0, 0}, {0, 0}}; }
static inline rh_six rh_six_load(const double p[6])
{
    rh_six v;
    memcpy(&v.first, p, sizeof v.first);
    memcpy(&v.last, p + 4, sizeof v.last);
    return v;
}
static inline rh_six rh_six_widen(const float p[6])
{
    rh_f4 first;
    rh_f2 last;
    memcpy(&first, p, sizeof first);
    memcpy(&last, p + 4, sizeof last);
    return (rh_six){__builtin_convertvector(first, rh_d4), __builtin_convertvector(last, rh_d2)};
}
static inline void rh_six_store(double p[6], rh_six v)
{
    memcpy(p, &v.first, sizeof v.first);
    memcpy(p + 4, &v.last, sizeof v.last);
}
static inline rh_six rh_six_add(rh_six a, rh_six b) { return (rh_six){a.first + b.first, a.last + b.last}; }
static inline rh_six rh_six_multiply(rh_six a, rh_six b) { return (rh_six){a.first * b.first, a.last * b.last}; }
static inline rh_six rh_six_scale(rh_six a, double s) { return (rh_six){a.first * s, a.last * s}; }
static inline double rh_six_sum(rh_six v)
{
    rh_d2 s = v.last +
              (__builtin_shufflevector(v.first, v.first, 0, 1) + __builtin_shufflevector(v.first, v.first, 2, 3));
    return s[0] + s[1];
}
static inline double rh_six_dot(rh_six a, rh_six b) { return rh_six_sum(rh_six_multiply(a, b)); }
