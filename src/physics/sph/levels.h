// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Coarse levels of a pressure system of particles: the grid that particles are sorted into, one unknown a cell, and the
// multigrid on tiles below it (solve/multigrid.h). levels.c says how it serves as a preconditioner.
#pragma once
#include "physics/sph/fluid.h"
#include "solve/krylov.h"
#include "solve/layout.h"
#include "solve/multigrid.h"

typedef struct rh_sph_levels {
    rh_layout layout;
    rh_poisson a;  // of the finest grid
    rh_multigrid grid;
    float scale;       // m^2: turns sums of residuals into right-hand sides of the grid
    float *b, *x, *y;  // vectors of the finest grid
    const uint8_t *unknown;
    const float *inverse;  // [count] m^2: 1 / diagonal of the particles' system; 0 where there is no unknown
    rh_operator system;
    float *left;  // [size] scratch
} rh_sph_levels;

// `system` is the particles' operator (1/m^2), about `factor` times the Laplacian; `held` ([count], 1/m^2, >= 0) is
// what ties each unknown to pressure 0: the result of the system for a pressure of 1 everywhere. Memory is the arena's.
// `unknown` and `inverse` must live as long.
rh_code rh_sph_levels_make(rh_sph_levels *levels, const rh_sph_fluid *fluid, rh_operator system, float factor,
                           const uint8_t *unknown, const float *inverse, const float *held, rh_arena *arena,
                           rh_status *status);
// z = M r, symmetric and positive.
void rh_sph_levels_apply(void *levels, const float *r, float *z);
