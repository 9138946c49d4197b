// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Tone curve: "Khronos PBR Neutral" (Khronos Group, 2024). It leaves colours below 0.8 as they are, so that particles
// keep the colours of the legend, and rolls highlights off to white. Film curves such as the fits of ACES turn the
// blues of the legend and darken the middle greys.
#include "view/colors.h"

#include <math.h>
#include "base/random.h"
#include "view/optics.h"

rh_vec3 rh_color_of(double t)
{
    double hue = (264 - 62 * t) * 3.14159265358979 / 180, chroma = 0.145 * (1 - 0.78 * t * t);
    double L = 0.36 + 0.57 * t, a = chroma * cos(hue), b = chroma * sin(hue);
    double l = L + 0.3963377774 * a + 0.2158037573 * b, m = L - 0.1055613458 * a - 0.0638541728 * b;
    double s = L - 0.0894841775 * a - 1.2914855480 * b;
    l = l * l * l, m = m * m * m, s = s * s * s;
    return rh_v3(rh_clamp((float)(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s), 0, 1),
                 rh_clamp((float)(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s), 0, 1),
                 rh_clamp((float)(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s), 0, 1));
}

static rh_vec3 along(const rh_vec3 *stops, int count, double t)
{
    double at = t * (count - 1);
    int k = at < count - 2 ? (int)at : count - 2;
    return rh_v3_lerp(stops[k], stops[k + 1], (float)(at - k));
}

// Light and dark in turn, so that neighbours differ.
enum { LAYERS = 6 };
static const rh_vec3 layers[LAYERS] = {{0.74f, 0.58f, 0.36f},  {0.36f, 0.11f, 0.045f}, {0.62f, 0.37f, 0.13f},
                                       {0.13f, 0.065f, 0.04f}, {0.80f, 0.70f, 0.55f},  {0.46f, 0.21f, 0.11f}};
static const rh_vec3 browns[] = {
    {0.07f, 0.035f, 0.018f}, {0.36f, 0.20f, 0.085f}, {0.62f, 0.44f, 0.24f}, {0.88f, 0.79f, 0.63f}};

rh_vec3 rh_palette_color(rh_palette palette, int64_t bands, double t)
{
    if (!(fabs(t) < 1e12)) t = t < 0 ? 0 : 1;
    if (bands > 0) {
        double band = floor(t * (double)bands);
        if (t >= 1 && t < 1 + 1e-6)
            band = (double)bands - 1;  // the end belongs to the last one, also when it was rounded to float
        if (palette == RH_PALETTE_STRATA) return layers[(int)(band - LAYERS * floor(band / LAYERS))];
        t = (fmax(fmin(band, (double)bands - 1), 0) + 0.5) / (double)bands;
    }
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    if (palette == RH_PALETTE_SAND) return along(browns, 4, t);
    return palette == RH_PALETTE_STRATA ? along(layers, LAYERS, t) : rh_color_of(t);
}

float rh_srgb(float x)
{
    if (!(x > 0)) return 0;  // what is not a number is black: particles may be anywhere, and a colour must come of it
    if (x > 1) x = 1;
    return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
}

rh_vec3 rh_tone_map(rh_vec3 c)
{
    const float start = 0.8f - 0.04f, desaturation = 0.15f;
    float least = rh_min(c.x, rh_min(c.y, c.z)), toe = least < 0.08f ? least - 6.25f * least * least : 0.04f;
    c = rh_v3_sub(c, rh_v3(toe, toe, toe));
    float peak = rh_v3_max(c);
    if (peak < start) return c;
    float room = 1 - start, lowered = 1 - room * room / (peak + room - start);
    float white = 1 - 1 / (desaturation * (peak - lowered) + 1);
    return rh_v3_lerp(rh_v3_scale(c, lowered / peak), rh_v3(lowered, lowered, lowered), white);
}

void rh_encode_srgb16(const rh_vec3 *linear, size_t count, double exposure, uint16_t *rgb)
{
    float gain = (float)exp2(exposure);
    for (size_t i = 0; i < count; i++) {
        rh_vec3 c = linear[i];
        c = rh_tone_map(rh_v3_scale(rh_v3(rh_max_of(c.x, 0), rh_max_of(c.y, 0), rh_max_of(c.z, 0)), gain));
        for (int k = 0; k < 3; k++) rgb[3 * i + (size_t)k] = (uint16_t)(65535 * rh_srgb((&c.x)[k]) + 0.5f);
    }
}

void rh_to_8_bits(const uint16_t *deep, size_t count, uint8_t *rgb)
{
    // Values that are exact in eight bits stay what they are: captions keep their edges.
    for (size_t i = 0; i < 3 * count; i++) rgb[i] = (uint8_t)((deep[i] + rh_random_bits(8, i, 0, 0) % 257) / 257);
}

double rh_round_number_above(double x)
{
    static const double digits[] = {1, 1.5, 2, 3, 4, 5, 6, 8};
    double power = pow(10, floor(log10(x)));
    for (int i = 0; i < 8; i++)
        if (x <= digits[i] * power * (1 + 1e-9)) return digits[i] * power;
    return 10 * power;
}

double rh_grid_step(double extent)
{
    double want = extent / 12, power = pow(10, floor(log10(want))), digit = want / power;
    return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}
