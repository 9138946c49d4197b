// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Functions of floats, of one and of eight at once. Each is computed in double by a series that is good to 1e-10 and
// rounded once, so it is the float nearest to the true value but for about one argument in ten thousand: as exact as
// the C library's own, which works the same way. There are no branches, so the compiler takes four doubles to a
// register. Arguments for which a series does not hold (very large ones, infinities, not-a-numbers) go to the C
// library. One and eight share the code: an element has the same bits whether it is alone or one of eight.
//
// Doubles have nothing wider to be computed in; their functions are the C library's.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "lang/library/library.h"

static const double ROUNDS = 0x1.8p52;  // added and taken away again: the nearest whole number

static inline int64_t bits_of(double x)
{
    int64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}
static inline double from_bits(int64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

// ---- angles: quarter turns and what is left of at most pi / 4 (W. J. Cody, W. Waite, "Software manual for the
// elementary functions", 1980)

typedef struct turn {
    double rest;
    int64_t quarter;
} turn;

static inline turn turn_of(double x)
{
    double sum = x * 0x1.45f306dc9c883p-1 + ROUNDS, n = sum - ROUNDS;  // 2 / pi
    double rest = x - n * 0x1.921fb544p+0;  // pi / 2 in two parts, the first short enough for exact products
    return (turn){rest - n * 0x1.0b4611a626331p-34, bits_of(sum)};
}

static inline double sine(double r)
{
    double s = r * r;
    return r * (1 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 +
                                                          s * (1.0 / 362880 - s * (1.0 / 39916800))))));  // -0.0 stays
}

static inline double cosine(double r)
{
    double s = r * r;
    return 1 + s * (-0.5 + s * (1.0 / 24 + s * (-1.0 / 720 + s * (1.0 / 40320 - s * (1.0 / 3628800)))));
}

static inline double signed_by(double x, int64_t odd)
{
    return from_bits((int64_t)((uint64_t)bits_of(x) ^ (uint64_t)odd << 63));
}

static inline double sin_core(double x)
{
    turn t = turn_of(x);
    return signed_by(t.quarter & 1 ? cosine(t.rest) : sine(t.rest), t.quarter >> 1 & 1);
}

static inline double cos_core(double x)
{
    turn t = turn_of(x);
    return signed_by(t.quarter & 1 ? sine(t.rest) : cosine(t.rest), ((t.quarter + 1) >> 1) & 1);
}

static inline double tan_core(double x)
{
    turn t = turn_of(x);
    double s = sine(t.rest), c = cosine(t.rest);
    return t.quarter & 1 ? -c / s : s / c;
}

static inline double atan_core(double x)
{
    double a = fabs(x), inside = a > 1 ? 1 / a : a;
    bool far = inside > 0.41421356237309503;  // tan(pi / 8): from there the way is measured from 1
    double t = far ? (inside - 1) / (inside + 1) : inside, s = t * t, sum = 1.0 / 23;
    for (int k = 21; k > 0; k -= 2) sum = 1.0 / k - s * sum;
    double angle = t * sum + (far ? M_PI / 4 : 0);
    return copysign(a > 1 ? M_PI / 2 - angle : angle, x);
}

static inline double asin_core(double x) { return atan_core(x / sqrt((1 - x) * (1 + x))); }
static inline double acos_core(double x)
{
    double angle = atan_core(sqrt((1 - x) * (1 + x)) / x);
    return x < 0 ? angle + M_PI : angle;
}

static inline double atan2_core(double y, double x)
{
    double angle = atan_core(y / x);
    return x < 0 ? angle + copysign(M_PI, y) : angle;
}

// ---- powers

static inline double exp2_core(double x)
{
    double sum = x + ROUNDS, n = sum - ROUNDS, r = (x - n) * M_LN2;
    double value = 1.0 / 40320 + r * (1.0 / 362880);
    value = 1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * (1.0 / 5040 + r * value)));
    value = 1 + r * (1 + r * (0.5 + r * (1.0 / 6 + r * value)));
    return value * from_bits((int64_t)(((uint64_t)bits_of(sum) + 1023) << 52));
}

static inline double log2_core(double x)
{
    const int64_t middle = 0x3fe6a09e667f3bcd;  // sqrt(1 / 2): the part that is left lies between it and sqrt(2)
    int64_t power = ((int64_t)((uint64_t)bits_of(x) - (uint64_t)middle) >> 52) & 0xfff;
    int64_t signed_power = power > 0x7ff ? power - 0x1000 : power;
    double m = from_bits((int64_t)((uint64_t)bits_of(x) - ((uint64_t)signed_power << 52)));
    double t = (m - 1) / (m + 1), s = t * t, sum = 1.0 / 15;
    for (int k = 13; k > 0; k -= 2) sum = 1.0 / k + s * sum;
    double whole = from_bits(signed_power + bits_of(ROUNDS)) - ROUNDS;
    return whole + t * sum * (2 / M_LN2);
}

static inline double exp_core(double x) { return exp2_core(x * M_LOG2E); }
static inline double log_core(double x) { return log2_core(x) * M_LN2; }
static inline double log10_core(double x) { return log2_core(x) * (M_LN2 / M_LN10); }
static inline double pow_core(double x, double y) { return exp2_core(y * log2_core(x)); }
static inline double cbrt_core(double x) { return copysign(exp2_core(log2_core(fabs(x)) * (1.0 / 3)), x); }

static inline double sinh_core(double x)
{
    double s = x * x, e = exp_core(x);
    double small = x +
                   x * s * (1.0 / 6 + s * (1.0 / 120 + s * (1.0 / 5040 + s * (1.0 / 362880 + s * (1.0 / 39916800)))));
    return s < 0.25 ? small : 0.5 * (e - 1 / e);
}
static inline double cosh_core(double x)
{
    double e = exp_core(x);
    return 0.5 * (e + 1 / e);
}
static inline double tanh_core(double x) { return sinh_core(x) / cosh_core(x); }

// The remainder is exact: quotients up to 2^29 times 24 bits fit a double. The quotient may be one off where it is
// nearly whole.
static inline double fmod_core(double x, double y)
{
    double a = fabs(x), b = fabs(y), quotient = floor(a / b), rest = a - quotient * b;
    rest = rest < 0 ? rest + b : rest;
    rest = rest >= b ? rest - b : rest;
    return copysign(rest, x);
}

// ---- where the series hold (& and not &&: no branches)

static inline int fine_angle(float x) { return fabsf(x) < 0x1p20f; }
static inline int fine_any(float x) { return fabsf(x) < INFINITY; }
static inline int fine_cosine(float x) { return fabsf(x) < 1; }
static inline int fine_arc(float x) { return (fabsf(x) < 1) & (x != 0); }
static inline int fine_exp(float x) { return fabsf(x) < 87; }
static inline int fine_exp2(float x) { return fabsf(x) < 125; }
static inline int fine_log(float x) { return (x > 0x1p-126f) & (x < INFINITY); }
static inline int fine_root(float x) { return (fabsf(x) > 0x1p-126f) & (fabsf(x) < INFINITY); }
static inline int fine_tanh(float x) { return fabsf(x) < 40; }
static inline int fine_atan2(float y, float x) { return fine_root(x) & fine_root(y); }
static inline int fine_pow(float x, float y)
{
    return fine_log(x) & (fabsf(y) < 0x1p20f) & (fabs((double)y * log2_core(x)) < 125);
}
static inline int fine_fmod(float x, float y)
{
    return fine_root(y) & (fabsf(x) < INFINITY) & (fabs((double)x / (double)y) < 0x1p29);
}

// ---- the functions

#define OF_ONE(name, fine)                                                                             \
    float rh_lang_##name##_1(float x) { return fine(x) ? (float)name##_core((double)x) : name##f(x); } \
    void rh_lang_##name##_8(float *restrict out, const float *restrict x)                              \
    {                                                                                                  \
        int others = 0;                                                                                \
        for (int i = 0; i < 8; i++) {                                                                  \
            out[i] = (float)name##_core((double)x[i]);                                                 \
            others |= !fine(x[i]);                                                                     \
        }                                                                                              \
        for (int i = 0; i < 8 && others; i++)                                                          \
            if (!fine(x[i])) out[i] = name##f(x[i]);                                                   \
    }

#define OF_TWO(name, fine)                                                                         \
    float rh_lang_##name##_1(float x, float y)                                                     \
    {                                                                                              \
        return fine(x, y) ? (float)name##_core((double)x, (double)y) : name##f(x, y);              \
    }                                                                                              \
    void rh_lang_##name##_8(float *restrict out, const float *restrict x, const float *restrict y) \
    {                                                                                              \
        int others = 0;                                                                            \
        for (int i = 0; i < 8; i++) {                                                              \
            out[i] = (float)name##_core((double)x[i], (double)y[i]);                               \
            others |= !fine(x[i], y[i]);                                                           \
        }                                                                                          \
        for (int i = 0; i < 8 && others; i++)                                                      \
            if (!fine(x[i], y[i])) out[i] = name##f(x[i], y[i]);                                   \
    }

OF_ONE(sin, fine_angle)
OF_ONE(cos, fine_angle)
OF_ONE(tan, fine_angle)
OF_ONE(atan, fine_any)
OF_ONE(asin, fine_cosine)
OF_ONE(acos, fine_arc)
OF_ONE(exp, fine_exp)
OF_ONE(exp2, fine_exp2)
OF_ONE(log, fine_log)
OF_ONE(log2, fine_log)
OF_ONE(log10, fine_log)
OF_ONE(cbrt, fine_root)
OF_ONE(sinh, fine_exp)
OF_ONE(cosh, fine_exp)
OF_ONE(tanh, fine_tanh)
OF_TWO(atan2, fine_atan2)
OF_TWO(pow, fine_pow)
OF_TWO(fmod, fine_fmod)
