// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The particles in and around one tile, copied together for many weighted averages: coordinates in cells from the
// tile's corner, one array each, a row of cells as one run. All that asks for the particles of 27 cells is then nine
// short loops, eight particles at a time.
#pragma once
#include "grid/tiles.h"

enum { RH_VICINITY_HALO = 4, RH_VICINITY_SIDE = RH_TILE + 2 * RH_VICINITY_HALO };

typedef struct rh_vicinity {
    const rh_tiles *tiles;
    const rh_vec3 *positions;
    float radius;              // R of the kernel, cells
    float crowded;             // a cell with more particles than this counts as one with so many
    int reach;                 // cells R may span: 1 or 2
    int halo;                  // cells around the tile that are loaded
    float *x, *y, *z, *share;  // [room]; share is a particle's part in a crowded cell
    uint32_t start[RH_VICINITY_SIDE * RH_VICINITY_SIDE]
                  [RH_VICINITY_SIDE + 1];  // first particle of each cell, row by row
} rh_vicinity;

// Room for the particles of any tile with its halo, in floats for each of the four arrays.
int64_t rh_vicinity_room(const rh_tiles *tiles);
// Loads the rows within `grow` cells of rows `near` and within `grow` + 2 of rows `far` (bit j + 8 k); `grow` + 2 is
// cut to the halo. All other rows are empty.
void rh_vicinity_load(rh_vicinity *v, int32_t t, uint64_t near, uint64_t far, int grow);
// xbar - x for the particles within R of x under k(s) = (1 - s^2)^3, x in cells from the tile's corner; false when none
// is near.
bool rh_vicinity_average(const rh_vicinity *v, rh_vec3 x, rh_vec3 *offset);
