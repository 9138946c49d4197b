// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which share of every control volume of the staggered grid lies inside a level set: of cells, of the cubes around
// faces, and of those around edges. All are sums of the same half-cells, cubes of half the grid's spacing, so volumes
// that overlap agree about what is in the overlap (T. Takahashi, M. C. Lin, "A geometrically consistent viscous fluid
// solver with two-way fluid-solid coupling", Computer Graphics Forum 38(2), 2019). Measured one by one they would not,
// and a stress would act where no velocity sees liquid.
//
// The level set is given at cell centres, where ours live; corners of half-cells are cell centres and middles between
// them. Second order in the surface's place, exact for planes.
#pragma once
#include "grid/tiles.h"

enum { RH_FRACTION_CELLS = RH_TILE * RH_TILE * RH_TILE };

typedef struct rh_fractions {
    float cell[RH_FRACTION_CELLS];
    float face[3][RH_FRACTION_CELLS];  // lower faces
    float edge[3][RH_FRACTION_CELLS];  // lower edges: across x and y, x and z, y and z; in two dimensions the first
} rh_fractions;

typedef enum rh_fraction_kind {
    RH_FRACTION_CONSISTENT,   // as above
    RH_FRACTION_INDEPENDENT,  // each control volume from the level set at its own corners: volumes that overlap
                              // disagree
    RH_FRACTION_SAMPLED,      // half-cells are full or empty, by the sign in the middle: consistent, first order
} rh_fraction_kind;
extern const char *const rh_fraction_names[];  // "consistent", "independent", "sampled", NULL

// `block`: the level set in a tile and one cell around (rh_block_load), negative inside.
void rh_fractions_of_tile(const rh_tiles *tiles, const float *block, rh_fraction_kind how, rh_fractions *out);

// Share of a tetrahedron, or of a cube (corners x + 2 y + 4 z), in which the linear interpolation is negative; the cube
// is six tetrahedra around a diagonal.
double rh_fraction_of_tetrahedron(const double corner[4]);
double rh_fraction_of_cube(const float corner[8]);
