// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Built-in functions on numbers and vectors that are too long to be written into every program: sorting and colours.
// Colours: A. R. Smith, "Color gamut transform pairs", SIGGRAPH 1978 (the hexcone model).
#include <math.h>
#include "lang/library/library.h"

double rh_lang_pow_di(double base, int32_t exponent) { return pow(base, (double)exponent); }

// Insertion: at most four values. Equal ones stay in order; a value that is not a number is below and above nothing, and stays.
#define SORTS(suffix, type, size)                                                          \
    void rh_lang_argsort_##suffix(int32_t *out, const type *v)                             \
    {                                                                                      \
        for (int i = 0; i < size; i++) {                                                   \
            int at = i;                                                                    \
            for (; at > 0 && v[i] < v[out[at - 1]]; at--) out[at] = out[at - 1];           \
            out[at] = i;                                                                   \
        }                                                                                  \
    }                                                                                      \
    void rh_lang_sort_##suffix(type *out, const type *v)                                   \
    {                                                                                      \
        int32_t order[size];                                                               \
        type sorted[size];                                                                 \
        rh_lang_argsort_##suffix(order, v);                                                \
        for (int i = 0; i < size; i++) sorted[i] = v[order[i]];                            \
        for (int i = 0; i < size; i++) out[i] = sorted[i];                                 \
    }

SORTS(3d, double, 3)
SORTS(3f, float, 3)
SORTS(3i, int32_t, 3)
SORTS(4d, double, 4)
SORTS(4f, float, 4)
SORTS(4i, int32_t, 4)

// Each in its own precision, as the original does it: in double and rounded once the last bits of a float would be others.
// smaller and larger are min( ) and max( ) of the language: of not-a-number they give the first, and the second.
// Hue is a part of the circle, [0, 1). Value is not limited: light may be brighter than one. Black has no hue.
#define COLOURS(suffix, type, whole)                                                                                                 \
    static type smaller_##suffix(type a, type b) { return b < a ? b : a; }                                                           \
    static type larger_##suffix(type a, type b) { return a > b ? a : b; }                                                            \
    void rh_lang_hsvtorgb_##suffix(type *out, const type *hsv)                                                                       \
    {                                                                                                                                \
        type hue = 6 * (hsv[0] - whole(hsv[0])), saturation = smaller_##suffix(larger_##suffix(hsv[1], 0), 1);                       \
        type value = hue == hue ? hsv[2] : 0; /* no hue, no colour */                                                                \
        if (!(hue < 6)) hue = 0;              /* 6 by rounding, or not a number */                                                   \
        int sector = (int)hue;                                                                                                       \
        type part = hue - (type)sector, low = value * (1 - saturation), falling = value * (1 - saturation * part);                   \
        type rising = value * (1 - saturation * (1 - part));                                                                         \
        const type rgb[6][3] = {{value, rising, low}, {falling, value, low}, {low, value, rising},                                   \
                                {low, falling, value}, {rising, low, value}, {value, low, falling}};                                 \
        for (int i = 0; i < 3; i++) out[i] = rgb[sector][i];                                                                         \
    }                                                                                                                                \
    void rh_lang_rgbtohsv_##suffix(type *out, const type *rgb)                                                                       \
    {                                                                                                                                \
        type red = rgb[0], green = rgb[1], blue = rgb[2], hue = 0, most = larger_##suffix(red, larger_##suffix(green, blue));        \
        type range = most - smaller_##suffix(red, smaller_##suffix(green, blue));                                                    \
        if (range > 0 && most != 0) {                                                                                                \
            if (red == most) hue = (green - blue) / range;                                                                           \
            else if (green == most) hue = 2 + (blue - red) / range;                                                                  \
            else hue = 4 + (red - green) / range;                                                                                    \
            hue /= 6;                                                                                                                \
            if (hue < 0) hue += 1;                                                                                                   \
        }                                                                                                                            \
        out[0] = hue, out[1] = most != 0 ? range / most : 0, out[2] = most;                                                          \
    }
COLOURS(d, double, floor)
COLOURS(f, float, floorf)
