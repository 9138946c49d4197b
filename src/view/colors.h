// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The colours of values, and the way from linear light to what a screen wants. Colours run from deep blue over cyan to
// near white with evenly rising lightness: they are built in OKLab (B. Ottosson, "A perceptual color space for image
// processing", 2020), so equal steps of the value look equal, also in grey.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/vec.h"
#include "scene/look.h"

rh_vec3 rh_color_of(double t);  // linear; t from 0 to 1
// The colour of a value in a palette (scene/look.h), t: 0 at the low end, 1 at the high one. With bands > 0 that many
// even steps, beyond both ends too; a value outside has the colour of the nearest end, but strata go round for ever.
// What is not a number counts as the high end. Linear.
rh_vec3 rh_palette_color(rh_palette palette, int64_t bands, double t);
float rh_srgb(float linear);          // 0 to 1, whatever is given
rh_vec3 rh_tone_map(rh_vec3 linear);  // compresses what is brighter than white can be; still linear, 0 to 1
// Tone curve and sRGB of `count` colours, each times 2^exposure, to 16 bits a channel.
void rh_encode_srgb16(const rh_vec3 *linear, size_t count, double exposure, uint16_t *rgb);
// To 8 bits, with the rounding spread over neighbours so that skies show no bands.
void rh_to_8_bits(const uint16_t *deep, size_t count, uint8_t *rgb);

// The smallest round number (1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten) not below x > 0.
double rh_round_number_above(double x);
double rh_grid_step(double extent);  // m: a 1, 2, 5 number that gives roughly a dozen lines over the extent
