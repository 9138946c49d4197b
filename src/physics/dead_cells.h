// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Cells without room beside cells with material, across a face that is open by a little: a wall half a cell off a plane
// of the grid leaves such cells. At rest they are empty, and as empty cells they would be air, which takes any amount:
// a column of sand fell into them through its floor, was lifted out again and fell anew. Here they are unknowns of the
// limit like cells with material, and so full. Unlike faces that are shut they let out what has come into them: sand
// that a piston presses leaves slits at 11 m/s, where it left at 26, and at 45 with faces shut.
//
// Not where the wall recedes: cells below a floor that sinks open in a moment, and a column lagged behind its floor by
// 0.4 of a cell for 0.2.
//
// Only at walls that sand can rest at: along the grid, upright or level. On slopes layers of a cell slide over the
// steps of a wall with 0.9 of their speed and 0.82 of their friction as it is, and steps that press are worse by 2 to 5
// %. And only at flat ones: the top and the sides of a ball that is moved through sand have such cells where its
// samples happen to lie, so that what the sand did hung on the lattice that distances are sampled on. (Dynamic solids
// of any form lie on them: without them a disc at rest on sand crept by 13 mm/s.)
#pragma once
#include "solid/cut_cells.h"

typedef struct rh_dead_cells {
    const rh_tiles *tiles;
    const rh_cut_cells *cut;
    const rh_obstacles *obstacles;
    const float *fill;  // of cells
    float air;          // a cell filled less than this share of its room is air
    rh_dvec3 gravity;   // m/s^2
} rh_dead_cells;

// Adds their bits (a byte per row) to those of `also` (NULL = none), in an array of the arena's.
rh_code rh_dead_cells_find(const rh_dead_cells *of, const uint8_t *also, rh_arena *arena, uint8_t **out,
                           rh_status *status);
