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

// Hue is a part of the circle, [0, 1). Value is not limited: light may be brighter than one.
void rh_lang_hsvtorgb_d(double *out, const double *hsv)
{
    double hue = 6 * (hsv[0] - floor(hsv[0]));
    double saturation = hsv[1] < 0 ? 0 : hsv[1] > 1 ? 1 : hsv[1], value = hsv[2];
    if (!(hue < 6)) hue = 0;  // 6 by rounding, or not a number
    int sector = (int)hue;
    double part = hue - sector;
    double low = value * (1 - saturation), falling = value * (1 - saturation * part), rising = value * (1 - saturation * (1 - part));
    const double rgb[6][3] = {{value, rising, low}, {falling, value, low}, {low, value, rising},
                              {low, falling, value}, {rising, low, value}, {value, low, falling}};
    for (int i = 0; i < 3; i++) out[i] = rgb[sector][i];
}

void rh_lang_rgbtohsv_d(double *out, const double *rgb)
{
    double red = rgb[0], green = rgb[1], blue = rgb[2];
    double most = fmax(red, fmax(green, blue)), range = most - fmin(red, fmin(green, blue)), hue = 0;
    if (range > 0) {
        if (red == most) hue = (green - blue) / range;
        else if (green == most) hue = 2 + (blue - red) / range;
        else hue = 4 + (red - green) / range;
        hue /= 6;
        if (hue < 0) hue += 1;
    }
    out[0] = hue, out[1] = most != 0 ? range / most : 0, out[2] = most;
}

#define IN_FLOAT(name)                                                                     \
    void name##_f(float *out, const float *in)                                             \
    {                                                                                      \
        double wide[3] = {in[0], in[1], in[2]};                                            \
        name##_d(wide, wide);                                                              \
        for (int i = 0; i < 3; i++) out[i] = (float)wide[i];                               \
    }
IN_FLOAT(rh_lang_hsvtorgb)
IN_FLOAT(rh_lang_rgbtohsv)
