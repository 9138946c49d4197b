// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The forces of viscosity between two smoothed particles, and between one and a wall: how they depend on distance, and
// the factors that make them those of a liquid of a given viscosity. Lengths are in metres.
//
// A pair resists the change of its distance only:
//      force on i = -k w(r) ((u_i - u_j) . n) n,   n = (x_i - x_j) / r,   w = (1 - r / h) (1 + bend (1 - r / h)).
// Such forces act along the line between the two: they keep momentum and angular momentum and leave every rigid motion
// alone, wherever particles are. Their energy in a velocity field of gradient G, D = (G + G^T) / 2, is that of the full
// stress mu (G + G^T), with mu div u added to its diagonal (which is nothing where liquid keeps its volume), if the sum
// of w r^2 n n n n over neighbours is isotropic. With the gradient of a density kernel in the place of w
// (P. Espanol, M. Revenga, Phys. Rev. E 67, 2003, equation 32, and all that follow it) it is not, at a support of two
// spacings: on the lattice shear along the axes meets 0.4 times the resistance of shear along the diagonals. `bend` is
// what makes it isotropic on the lattice: 1.09 in the plane, 1.29 in space.
#pragma once
#include "physics/sph_kernel.h"

typedef struct rh_sph_viscous_law {
    float inverse;  // 1/m: 1 / support
    float bend;     // of w
    float tensor;   // m^2: the sum of w r^2 n_x^2 n_y^2 on the lattice
    float trace;    // m^2: the sum of w r^2 n_x^2
    float all;      // the sum of w
    float wall;     // 1/m^2 per m^3 (m^2) of wall samples: friction at a flat wall is wall x (sum of V_s w) x viscosity
    int dimension;
} rh_sph_viscous_law;

void rh_sph_viscous_law_init(rh_sph_viscous_law *law, const rh_sph_kernel *kernel);

// w of a distance; 0 beyond the support.
static inline rh_f8 rh_sph_viscous_weight(const rh_sph_viscous_law *law, rh_f8 distance)
{
    rh_f8 left = rh_f8_max(1 - law->inverse * distance, rh_f8_all(0));
    return left * (1 + law->bend * left);
}
