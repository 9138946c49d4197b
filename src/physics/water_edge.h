// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The edge of water at rest. Where water thins out on a wall it is thinner than a cell, over the more cells the flatter
// the wall is, and a grid has no pressure for it. The part of gravity that is not balanced makes such water run down
// the wall, and the water below throws it back. But its equilibrium is known: the pressure of the full cells beside it
// gives the level of the surface, and water below that level is supported, so that at rest nothing acts on
// it.
#pragma once
#include "solid/cut_cells.h"
#include "solve/layout.h"

typedef struct rh_water_edge {
    const rh_tiles *tiles;
    const rh_cut_cells *cut;
    const float *const *room;  // of cells, per tile: share that walls leave
    const rh_layout *layout;
    const float *q;             // pressure, a vector over the layout
    float head;                 // m: height of the column of water at rest with q = 1 below it
    const uint8_t *wet, *full;  // bits of cells, a byte per row (rh_limit_find_full)
    rh_vec3 gravity;            // m/s^2, not 0
    rh_faces before;            // velocities before anything acted on them (m/s)
    float slow;                 // m/s: faster water does not rest
    float keep;                 // share of its velocity that held water keeps in the step
} rh_water_edge;

// Faces between held cells that are slow keep the share `keep` of the velocity they had `before`, whatever was done to
// it. A cell is held where it has less than a cell of water on a wall that does not move, nothing full above it, and
// lies at the level of water beside it that is at rest.
rh_code rh_water_edge_hold(const rh_water_edge *edge, rh_faces velocity, rh_arena *arena, rh_status *status);
