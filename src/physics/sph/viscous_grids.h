// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Coarse levels of the viscosity of particles: grids of cubes (squares) where particles are, each twice as coarse as
// the one before, with a velocity at every corner. viscous_grids.c says how they serve as a preconditioner. Memory is
// the arena's.
#pragma once
#include "physics/sph/fluid.h"

enum { RH_SPH_GRIDS_MOST = 24, RH_SPH_CORNERS = 8, RH_SPH_GRID_ROWS = 24 };

// The particles of a cube: up to four runs of numbers.
typedef struct rh_sph_cube {
    int32_t at[3];  // in cubes
    uint32_t run[4][2];
    int runs;
} rh_sph_cube;

typedef struct rh_sph_grid {
    int32_t cubes, corners;
    int32_t (*corner)[RH_SPH_CORNERS];  // [cubes] its corners; x is the lowest bit
    int32_t (*around)[RH_SPH_CORNERS];  // [corners] the cube of which it is corner n; -1: there is none
    int32_t (*at)[3];                   // [cubes]
    int32_t *parent;                    // [cubes] in the next grid
    int32_t (*from)[2];                 // [corners] a cube that it belongs to, and which corner of it
    float *stiffness;                   // [cubes] rows x rows, symmetric
    float *inverse;                     // [rows of corners] 1 / sum of |entries| of the row
    float *x, *b, *r, *d, *y;           // [rows of corners] of a cycle
    float *parts;                       // [cubes] rows: what each cube adds to a product
} rh_sph_grid;

typedef struct rh_sph_grids {
    const rh_sph_fluid *fluid;
    int dimension, sides;  // corners of a cube
    int rows;              // of a cube's matrix: corners x dimension
    float size;            // m: of the finest cubes
    rh_sph_cube *cubes;    // of the finest grid
    const uint8_t *fixed;  // [count] particles that do not move; NULL: none
    rh_sph_grid level[RH_SPH_GRIDS_MOST];
    int levels;
    double *factor;  // Cholesky's, of the coarsest grid
    double *dense;   // a vector of it
} rh_sph_grids;

// What each particle brings, divided by its mass.
typedef struct rh_sph_stiffness {
    const float *held;     // [count] what resists its motion: 1 for its inertia, and friction
    const float *viscous;  // [count] m^2: its share of the energy of a velocity field of gradient G is a fourth of it
                           // times |G|^2 + G : G^T + (div u)^2
    const float *bulk;     // [count] m^2/s: half of it, times `time`, times (div u)^2 as well; NULL: none
    float time;            // s
    bool laplacian;        // |G|^2 alone
    const uint8_t *fixed;  // [count] NULL: none
} rh_sph_stiffness;

rh_code rh_sph_grids_make(rh_sph_grids *grids, const rh_sph_fluid *fluid, const rh_sph_stiffness *of, rh_arena *arena,
                          rh_status *status);
// z += about A^-1 r of the coarse velocities; symmetric and positive. Records of four floats a particle.
void rh_sph_grids_add(const rh_sph_grids *grids, const float *r, float *z);
