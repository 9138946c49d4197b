// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Values of a tile taken together on a grid of twice the spacing, and interpolated from one: axis by axis, rows of a
// tile at a time. A tile of the fine grid is one half of a coarse tile along each axis.
#pragma once
#include "grid/tiles.h"

// How fine values are taken together along an axis: four coarse ones from the eight of a tile and one on either side.
typedef enum rh_halving {
    RH_HALVE_POINTS,   // coarse places are fine ones: 1/4, 1/2, 1/4
    RH_HALVE_MIDDLES,  // coarse places are between fine ones: 1/2, 1/2
    RH_HALVE_SPREAD    // transpose of linear interpolation to middles: 1/8, 3/8, 3/8, 1/8
} rh_halving;

enum { RH_HALF = RH_TILE / 2 };

// The half of coarse values in the place of tile t, x first: 4 x 4 x 4 (4 x 4). Where there is no tile values are 0.
void rh_halves_shrink(const rh_tiles *tiles, const float *field, int32_t t, const rh_halving how[3],
                      float out[RH_HALF * RH_HALF * RH_HALF]);
// The values of the fine tile at `at` by linear interpolation from the coarse tile `parent`, in whose place it lies:
// places are the same along the axis `points`, in the middle between fine ones along the others.
void rh_halves_grow(const rh_tiles *coarse, const float *field, int32_t parent, rh_tile at, int points,
                    float out[RH_TILE * RH_TILE * RH_TILE]);
