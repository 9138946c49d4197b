// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The light of a picture: a sky that runs from horizon to zenith, and a sun that is a disc of even brightness. Linear
// colours; 1 is the brightness of white paper under an even white sky.
#pragma once
#include <stdbool.h>
#include "base/vec.h"

typedef struct rh_light {
    rh_vec3 zenith, horizon;  // radiance straight up and at eye level; below the horizon it stays the horizon's
    rh_vec3 to_sun;           // unit
    rh_vec3 sun;              // irradiance on a surface that faces the sun, over pi; 0 = no sun
    float sun_cosine;         // of the disc's angular radius
} rh_light;

rh_vec3 rh_light_sky(const rh_light *light, rh_vec3 direction);  // without the sun
// Radiance of the sun's disc in that direction, and the density (1/sr) with which rh_light_sample_sun picks it; 0
// outside.
rh_vec3 rh_light_sun(const rh_light *light, rh_vec3 direction, float *pdf);
// A direction to the sun; false when there is none. `over_pdf` is radiance / density.
bool rh_light_sample_sun(const rh_light *light, const float u[2], rh_vec3 *direction, rh_vec3 *over_pdf, float *pdf);
