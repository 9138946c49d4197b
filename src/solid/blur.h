// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Solids on one tile as particles would see them (SPL-10): solids are filled with the sub-lattice of points on which liquid is seeded, and
// those are spread with the same linear weights as particles. What is left is the room for liquid around each cell's and face's centre, 0..1. Liquid at
// rest on its lattice then fills its cells exactly, at walls too.
#pragma once
#include "solid/cut_tile.h"

typedef struct rh_blur_values {
    float room[RH_CUT_CELLS];     // cells
    float pass[3][RH_CUT_CELLS];  // lower faces
} rh_blur_values;

// `per_axis`: points per cell and axis, 1..4.
void rh_blur_tile_make(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, int per_axis, int32_t t, rh_blur_values *out);
