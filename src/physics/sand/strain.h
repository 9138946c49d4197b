// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The strain rate D of sand at cell centres, and what a stress there does to the faces around it (Zhu 2005, section
// 2.3.3, steps with D and with the divergence of eq. 2.4; see docs/sources.md).
//
// Both use one table of weights: the strain rate is a weighted sum of face velocities, and a stress pushes the same
// faces with the same weights (the transposed sum). So for any stress momentum and angular momentum are kept, because
// the strain rate of a translation and of a rotation is zero, also beside the surface and walls, where differences
// become one-sided; and a stress along the strain rate takes energy.
#pragma once
#include "physics/incompressible.h"

enum {
    RH_STRAIN_HALO = 2,
    RH_STRAIN_SIDE = RH_TILE + 2 * RH_STRAIN_HALO,
    RH_STRAIN_VALUES = RH_STRAIN_SIDE * RH_STRAIN_SIDE * RH_STRAIN_SIDE
};

// A tile's surroundings.
typedef struct rh_strain_block {
    int dimension;
    int step[3];  // from a cell to the next along each axis
    float u[3][RH_STRAIN_VALUES];
    uint8_t known[RH_STRAIN_VALUES];  // bit a: of the face of axis a
} rh_strain_block;

// Symmetric: xx yy zz xy xz yz; what has a z is 0 in two dimensions.
typedef struct rh_strain {
    float at[6];
} rh_strain;

// Marks (known faces) and velocities of a tile's surroundings, or only one of the two: marks do not change while
// velocities do.
void rh_strain_load(const rh_incompressible_view *view, rh_faces velocity, int32_t t, rh_strain_block *block);
void rh_strain_load_known(const rh_incompressible_view *view, int32_t t, uint8_t known[RH_STRAIN_VALUES]);
void rh_strain_load_velocity(const rh_tiles *tiles, rh_faces velocity, int32_t t, rh_strain_block *block);
// h times the strain rate of a cell (m/s), without its trace: `at` from rh_block_index with RH_STRAIN_HALO, no more
// than one cell outside the tile.
rh_strain rh_strain_of(const rh_strain_block *block, int at);
// Adds -stress : d(strain) / d(u) to the faces around the cell; stress without trace.
void rh_strain_add_divergence(const rh_strain_block *block, int at, rh_strain stress, float force[3][RH_STRAIN_VALUES]);
// The Frobenius norm.
float rh_strain_size(rh_strain s);
