// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Solids on the grid, to second order: the open share of every face and cell, and the wall's velocity at faces. From
// C. Batty, F. Bertails, R. Bridson, "A fast variational framework for accurate solid-fluid coupling", ACM TOG 26(3),
// 2007, with the face shares of Y. Ng, C. Min, F. Gibou, J. Comput. Phys. 228, 2009 (second order in pressure).
#pragma once
#include "grid/tiles.h"
#include "solid/obstacles.h"

enum { RH_TILE_FREE = 0, RH_TILE_CUT = 1 };

typedef struct rh_cut_cells {
    rh_faces open;       // 0..1: share of each face in free space
    rh_faces wall;       // m/s: the solid's velocity along the face's axis; 0 on faces far from solids
    float *distance;     // m, cell centres, positive in free space, clamped to +-4 cells
    float *corner;       // m, the same at the lower corner of each cell
    float *volume;       // 0..1: share of each cell in free space
    uint8_t *kind;       // per tile: RH_TILE_FREE (no solid within reach; all open) or RH_TILE_CUT
    uint8_t *releases;   // per cell: 1 at cut cells whose nearest solid has separating walls; NULL when there are none
} rh_cut_cells;

rh_code rh_cut_cells_build(rh_cut_cells *cut, const rh_tiles *tiles, const rh_obstacles *obstacles, rh_arena *arena, rh_status *status);

// Share of a square (corners in ring order) or of an edge where the linearly interpolated value is positive.
float rh_open_square(const float corner[4]);
float rh_open_edge(float a, float b);
