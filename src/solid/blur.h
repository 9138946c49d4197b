// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Solids on one tile as particles would see them: solids are filled with the sub-lattice of points on which liquid is
// seeded, and those are spread with the same linear weights as particles (D. J. Gerszewski, dissertation, University of
// Utah, 2014, eq. 3.13). What is left is the room for liquid around each cell's and face's centre, 0..1. Liquid at rest
// on its lattice then fills its cells exactly, at walls along the grid.
//
// Sampled, as in the source: a point is solid or free. An oblique wall is then a staircase of a row of points a step,
// water that slides along it is slowed by the steps (it lost 17 % of its energy in a second on 1:20), and where there
// is more room than space, gravity pulls at water that cannot get there. Smooth: a point stands for the small box
// around it and counts as solid by the share of the box that is; faces are weighed along their own axis so that their
// fluxes and the cells' room agree (blur.c).
//
// Shut: sampled, but a wall along the grid at rest takes room gradually, as solids that move do in all forms: sampled
// it stood up to a quarter of a cell from its place, and sand that was placed on it was lifted or sank by that. (Not in
// passages narrower than two cells: sand that is pressed left slits of 0.7 cells at 56 m/s for 16.) And in tiles
// without a solid near that can move faces beside a cell without room are closed at such walls. A wall half a cell off
// a plane of the grid leaves a face there open by an eighth, and the cell behind it, always empty, has no pressure: a
// column of sand fell through such a floor, was lifted out again and fell anew. (At walls across the grid too: a layer
// of a cell on 60 degrees had 0.84 of its friction for 0.91. With solids that move: sand that a piston presses through
// slits of 0.9 and 1.3 cells left at 102 and 45 m/s for 26 and 18, and floors that sink opened at once.)
#pragma once
#include "solid/cut_tile.h"

typedef enum rh_blur_form { RH_BLUR_SAMPLED, RH_BLUR_SMOOTH, RH_BLUR_SHUT } rh_blur_form;

typedef struct rh_blur_values {
    float room[RH_CUT_CELLS];     // cells
    float pass[3][RH_CUT_CELLS];  // lower faces
} rh_blur_values;

// `per_axis`: points per cell and axis, 1..4.
void rh_blur_tile_make(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, rh_blur_form form,
                       int per_axis, int32_t t, rh_blur_values *out);
