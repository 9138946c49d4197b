// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How surfaces reflect light (their BRDF) or let it through. Colours are linear with the primaries of sRGB.
#pragma once
#include <stdbool.h>
#include "base/vec.h"

typedef enum rh_appearance_kind {
    RH_APPEARANCE_MATTE,   // diffuse; roughness > 0: retro-reflecting grains (sand, plaster)
    RH_APPEARANCE_GLOSSY,  // diffuse under a clear coat
    RH_APPEARANCE_CLEAR,   // smooth boundary of a medium that absorbs: water, honey
} rh_appearance_kind;

typedef struct rh_appearance {
    rh_appearance_kind kind;
    rh_vec3 color;       // diffuse reflectance, 0 to 1
    float roughness;     // matte: 0 (Lambert) to 1; glossy: of the coat, 0 to 1
    float ior;           // index of refraction of the coat or of the medium
    rh_vec3 absorption;  // 1/m, of the medium
} rh_appearance;

// Matte: the part of the BRDF that is the same in all directions, times pi, over the colour; 1 for Lambert.
float rh_appearance_diffuse_factor(const rh_appearance *m);

// A direction that light may have come from. `pdf` per steradian; `weight` is BRDF x cosine / pdf.
typedef struct rh_scatter {
    rh_vec3 direction, weight;
    float pdf;
} rh_scatter;

// BRDF times cosine, for matte and glossy appearances. `n` unit, `out` unit from the surface towards the viewer with
// dot(n, out) > 0; `color` replaces the appearance's. All directions on the side of n.
rh_vec3 rh_appearance_evaluate(const rh_appearance *m, rh_vec3 color, rh_vec3 n, rh_vec3 out, rh_vec3 in, float *pdf);
// `choice` and `u` are uniform in [0, 1). False when the direction falls below the surface.
bool rh_appearance_sample(const rh_appearance *m, rh_vec3 color, rh_vec3 n, rh_vec3 out, float choice, const float u[2],
                          rh_scatter *scatter);
