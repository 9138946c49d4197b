// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The kernels of smoothed particles, and what they sum up to on the lattice that particles start on.
//
//      wendland    W = value (1 - r / h)^4 (1 + 4 r / h), and its gradient: H. Wendland's C2 function, "Piecewise
//                  polynomial, positive definite and compactly supported radial functions of minimal degree", Advances
//                  in Computational Mathematics 4, 1995
//      isochoric   grad W = -slope (1 - r / h)^2 (1 - c r / h) x: between it (c = 1) and the next flatter one (c = 0),
//      with
//                  c chosen so that the density of the lattice stays when it is sheared (sph_kernel.c)
//      mueller     as the source: W = value (1 - r^2 / h^2)^3, smooth, for densities, and grad W = -slope (1 - r / h)^2
//                  x / r, sharp, for all derivatives (M. Mueller, D. Charypar, M. Gross, "Particle-based fluid
//                  simulation for interactive applications", SCA 2003: poly6 and spiky). The second is not the
//                  gradient of the first, which fades at small distances and would let particles meet. The price is
//                  that motion without divergence changes the density, and undoing that adds energy: a drop in
//                  stretching flow (Monaghan 1994) of 5027 particles gains 33 % of energy, with wendland it keeps 99.9
//      w           h / r - 1, of number densities: S. Koshizuka, Y. Oka, "Moving-particle semi-implicit method",
//                  Nuclear Science and Engineering 123, 1996
// x = x_i - x_j; the support h is two particle spacings.
//
// Densities are relative to that at rest everywhere, pressures are divided by it (q = p / rho, m^2/s^2): so the rest
// density enters nowhere but in what is shown to users.
#pragma once
#include <math.h>
#include <stdbool.h>
#include "base/simd.h"

typedef enum rh_sph_kernel_kind { RH_SPH_ISOCHORIC, RH_SPH_WENDLAND, RH_SPH_MUELLER } rh_sph_kernel_kind;

typedef struct rh_sph_kernel {
    int dimension;
    rh_sph_kernel_kind kind;
    float spacing;     // m between particles at rest
    float support;     // m
    float inverse;     // 1/m: 1 / support
    float value;       // 1/m^dimension
    float slope;       // 1/m^(2+dimension), mueller: 1/m^(1+dimension)
    float fall, peak;  // isochoric: c, and the share of wendland's W in its own
    float softening;   // m^2: 0.01 support^2, keeps quotients finite where particles meet
    float volume;  // m^3 (m^2): what makes the density of the lattice 1. Not spacing^dimension: sums are not integrals
    float number;  // sum of w on the lattice
    float stiffness;    // 1/m^2: sum of the pressure operator's coefficients on the lattice
    float laplacian;    // the operator of system.c on the lattice, over a true Laplacian: 0.92 in space
    float gradient;     // gradient of a linear field on the lattice, over the true one: 0.95 in space, 0.87 in a plane
    float cohesion;     // the integral that ties surface tension to an attraction r W (sph.c), lengths in spacings
    float flat_volume;  // m^3 (m^2): volume of a sample of a flat wall
    float flat_count;   // samples of a flat wall that a particle beside it sees
    float flat_wet;     // density that the lattice on a flat wall has at a sample of it
    float depth;        // m below the wall where its samples stand
    float mirror;       // weight of wall samples in derivatives
} rh_sph_kernel;

typedef struct rh_sph_kernel_options {
    int dimension;
    double spacing;  // m
    double support;  // spacings
    int kind;
    double blend_from, blend_to;  // see rh_sph_predict; the depth of wall samples depends on them
    // Samples weigh as much in derivatives as the liquid that would be there if it were mirrored in the wall, with the
    // same pressure and the opposite velocity, about 1.8; else 1, as in the sources. (With 1 a flat floor bears the
    // water on it only when the lowest layer has twice the pressure it should have, and the pressure alternates from
    // layer to layer above it.)
    bool mirrored;
} rh_sph_kernel_options;

void rh_sph_kernel_init(rh_sph_kernel *k, const rh_sph_kernel_options *options);

// Share of the number density in the density of a particle that sees so many wall samples, 0..1 (T. Takahashi, equation
// 2.3; docs/sources.md).
float rh_sph_blend(double samples, double blend_from, double blend_to);

// W of a squared distance; 0 beyond the support.
static inline rh_f8 rh_sph_value(const rh_sph_kernel *k, rh_f8 square)
{
    rh_f8 none = rh_f8_all(0);
    if (k->kind == RH_SPH_MUELLER) {
        rh_f8 left = rh_f8_max(1 - k->inverse * k->inverse * square, none);
        return k->value * (left * left * left);
    }
    rh_f8 q = k->inverse * rh_f8_sqrt(square), left = rh_f8_max(1 - q, none);
    if (k->kind == RH_SPH_ISOCHORIC)
        return k->value * (left * left * left) * ((1 - k->peak) * (1 + 3 * q) + k->peak * (left * (1 + 4 * q)));
    left = left * left;
    return k->value * (left * left) * (1 + 4 * q);
}
static inline float rh_sph_value_of(const rh_sph_kernel *k, float square)
{
    return rh_sph_value(k, rh_f8_all(square))[0];
}
// g of a distance, grad W = -g x; 0 beyond the support and where two particles are at one place.
static inline rh_f8 rh_sph_slope(const rh_sph_kernel *k, rh_f8 distance)
{
    rh_f8 left = rh_f8_max(1 - k->inverse * distance, rh_f8_all(0));
    if (k->kind == RH_SPH_WENDLAND) return k->slope * (left * left * left);
    if (k->kind == RH_SPH_ISOCHORIC) return k->slope * (left * left) * (1 - k->fall * (k->inverse * distance));
    rh_f8 g = k->slope * (left * left) / rh_f8_max(distance, rh_f8_all(1e-6f * k->support));
    return rh_f8_select(distance > rh_f8_all(1e-6f * k->support), g, rh_f8_all(0));
}
// w of a distance; 0 beyond the support.
static inline rh_f8 rh_sph_number(const rh_sph_kernel *k, rh_f8 distance)
{
    rh_f8 w = k->support / rh_f8_max(distance, rh_f8_all(1e-3f * k->support)) - 1;
    return rh_f8_max(w, rh_f8_all(0));
}
