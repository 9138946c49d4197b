// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What is certainly clear of solids, so that few particles need a test for collisions: a distance changes by no more
// than the way. Where all solids rest, the answers of tiles that were there in the step before are kept.
#pragma once
#include "physics/whitewater/flow.h"
#include "solid/obstacles.h"

typedef struct rh_foam_rooms {
    rh_tile *at;         // in Morton order
    float *room;         // [count * cells], after one for cell -1
    rh_foam_open *open;  // [count * cells]; of radius 0 where solids move, as they would change in every step
    int32_t count, most;
} rh_foam_rooms;

// Zeros at first. All memory is its own.
typedef struct rh_foam_walls {
    rh_foam_rooms now, before;
} rh_foam_walls;

// Fills `room` and `open` of the flow for the tiles that it has now, from what is known of the step before.
rh_code rh_foam_walls_find(rh_foam_walls *walls, const rh_obstacles *obstacles, rh_foam_flow *flow, rh_arena *arena,
                           rh_status *status);
void rh_foam_walls_free(rh_foam_walls *walls);
