// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The flow in the first cells beyond a liquid's surface.
//
// Velocities that are extended beyond a surface are constant away from it (levelset.h). Liquid that is stretched along
// its surface is thinned, but a constant velocity thins nothing: particles in the half cell between the last liquid
// cell's face and the surface kept their distance while those below came closer. That is 1/(2 d) of what a film of d
// cells does, and as much of the frequency of a wave in it; and as it comes and goes with the place of the surface in
// its cell, waves grew by it (half a cell high, twelve deep, APIC: 8 % in four periods, without any correction of
// volume). So the faces by which such cells are left are made to carry away what flows in by the others.
#pragma once
#include "grid/tiles.h"

typedef struct rh_outer_flow {
    const rh_tiles *tiles;
    const float *phi;               // m, at cell centres: distance from the liquid, negative inside
    const float *const *open[3];    // tiles apart: share of each face in free space
    const float *const *wall[3];    // m/s, tiles apart: what moves through the rest of it
    rh_faces velocity;              // m/s, extended (rh_faces_extend)
    const uint8_t *const known[3];  // 2 = extended: what may be changed
} rh_outer_flow;

// Changes extended velocities around the cells beyond the liquid within a cell of it, so that as much flows out of
// these as in. Arena memory is given back.
rh_code rh_outer_flow_balance(const rh_outer_flow *flow, rh_arena *arena, rh_status *status);
