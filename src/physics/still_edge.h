// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The edge of liquid at rest. Where liquid runs out on a wall it is thinner than its particles can tell, over the more
// cells the flatter the wall is; the surface found there is as rough as they are, and so is the pressure. What the edge
// of liquid at rest does is known without a pressure: its surface is level with that beside it, so gravity along the
// wall is balanced, and nothing moves. The faces of such cells are given the velocity they have, less what fades, and
// the projection takes them for closed: what the liquid beside them does keeps its volume.
#pragma once
#include "physics/momentum_error.h"
#include "solid/cut_cells.h"

typedef struct rh_still_edge {
    const rh_tiles *tiles;
    const float *phi;       // m: distance from the surface
    rh_faces before;        // m/s: velocities before anything acted on them
    rh_vec3 gravity;        // m/s^2, not 0
    float slow;             // m/s: faster liquid does not rest
    float keep;             // share of its velocity that the edge keeps in the step
    uint8_t *held[3];       // out, per axis: bits of held faces, a byte per row
    const uint8_t *cells;   // out: bits of held cells, a byte per row; NULL where nothing is held
    const uint8_t *beside;  // out: bits of cells beside walls in liquid at rest; NULL as above
} rh_still_edge;

// Finds the edge and closes its faces in `cut`, for this step, with the velocity that they are to have. Only walls that
// stand still have an edge.
rh_code rh_still_edge_close(rh_still_edge *edge, rh_cut_cells *cut, rh_arena *arena, rh_status *status);
// Gives held faces their velocity; known[axis] becomes 1 there.
void rh_still_edge_set(const rh_still_edge *edge, const rh_cut_cells *cut, rh_faces velocity, uint8_t *const known[3]);
// What particles beside walls have in liquid at rest beyond the velocity of their cell's faces fades as that of the
// edge does, along axes along which a wall acts. (FLIP forgets it by a few per cent a step only: single particles slid
// along beds for seconds.) `errors`: of the step, per tile.
void rh_still_edge_calm(const rh_still_edge *edge, rh_faces velocity, const rh_momentum_error *errors,
                        rh_vec3 *velocities);
