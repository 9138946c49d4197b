// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The base run on a grid of cells as wide as its own, so that millions of particles can look up how much liquid is
// around a place, how fast it moves, and how many particles it makes there. Values sit at cell centres; all memory is
// the arena's.
#pragma once
#include "grid/tiles.h"
#include "physics/base_run.h"
#include "physics/whitewater/whitewater.h"

// The liquid in a cell.
typedef struct rh_foam_cell {
    float share;  // of the cell that is liquid, smoothed over two cells; about 0.5 at the surface
    rh_vec3 v;    // m/s
} rh_foam_cell;

typedef struct rh_foam_flow {
    rh_tiles tiles;
    rh_points points;     // of the base, sorted: P, v, id. Keeps its memory from step to step
    rh_foam_cell *cells;  // [tiles.count * tiles.cells]
    float *rate;          // 1/s: particles that one particle of the base in the cell makes
    rh_vec3 *normal;      // out of the liquid, of unit length; 0 where there is none
    rh_vec3 *gather;      // m/s: velocity at which foam draws together; NULL: it does not
    uint8_t *clear;       // 1: no solid is near the cell
} rh_foam_flow;

// `gather` and `clear` are left NULL.
rh_code rh_foam_flow_build(rh_foam_flow *flow, const rh_whitewater_params *params, const rh_base_run *base,
                           rh_arena *arena, rh_status *status);

// Where a place lies: its tile (-1: none) and the cell in it.
typedef struct rh_foam_place {
    int32_t tile;
    int cell;
} rh_foam_place;
rh_foam_place rh_foam_find(const rh_foam_flow *flow, rh_vec3 x);
// The same for a place that is probably in the tile of another.
rh_foam_place rh_foam_find_from(const rh_foam_flow *flow, rh_foam_place other, rh_vec3 x);
// Linear between cell centres; the velocity is the mean of the liquid's. Share 0: nothing is near. *place: before, of
// somebody who is probably near (tile -1: nobody); afterwards, of x.
rh_foam_cell rh_foam_sample(const rh_foam_flow *flow, rh_vec3 x, rh_foam_place *place);
