// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The base run on a grid of cells as wide as its own, so that millions of particles can look up how much liquid is
// around a place, how fast it moves, and how many particles it makes there. Values sit at cell centres; all memory is
// the arena's.
#pragma once
#include "base/simd.h"
#include "grid/tiles.h"
#include "physics/base_run.h"
#include "physics/whitewater/whitewater.h"

// The liquid in a cell.
typedef struct rh_foam_cell {
    float share;  // of the cell that is liquid, smoothed over two cells; about 0.5 at the surface
    rh_vec3 v;    // m/s
} rh_foam_cell;

// Tiles by their place in the box around them all, so that eight are found at once.
typedef struct rh_foam_map {
    rh_tile low;
    int32_t size[3];  // in tiles
    float *tiles;     // their numbers; -1: none, as at `none`. NULL: they are too far apart, or too many for floats
    uint32_t none;
} rh_foam_map;

// A ball without solids beside a cell that solids are near to: larger than what fits into the cell, so that it reaches
// nearly all that is on its side of a flat wall. Radius 0: none.
typedef struct rh_foam_open {
    rh_vec3 center;
    float radius;
} rh_foam_open;

typedef struct rh_foam_flow {
    rh_tiles tiles;
    rh_foam_map map;
    rh_points points;      // of the base, sorted: P, v, id. Keeps its memory from step to step
    rh_foam_cell *cells;   // [tiles.count * rh_block_values(tiles, 1)]: each tile with the cells around it
    rh_foam_cell *moved;   // the same with share times velocity for v: what is interpolated; and a tile of zeros
    float *rate;           // 1/s: particles that one particle of the base in the cell makes
    rh_vec3 *normal;       // out of the liquid, of unit length; 0 where there is none
    rh_foam_cell *gather;  // velocity at which foam draws together, at -1 none; NULL: it does not
    float *room;           // m: no solid is nearer than this to the centre of the cell, at -1: -1; NULL: there is none
    const rh_foam_open *open;  // of the cell, where there is room
} rh_foam_flow;

// `gather`, `room` and `open` are left NULL.
rh_code rh_foam_flow_build(rh_foam_flow *flow, const rh_whitewater_params *params, const rh_base_run *base,
                           rh_arena *arena, rh_status *status);

// The tile of a cell, by its number over all tiles.
static inline int32_t rh_foam_tile(const rh_foam_flow *flow, int64_t cell)
{
    return (int32_t)(cell >>
                     (flow->tiles.dimension == 3 ? 9 : 6));  // a division costs as much as looking up the liquid
}
// Linear between the cells of a block, from the lowest of the eight (in two dimensions four) on: share, share times
// velocity. Along x last: neighbours along x lie side by side, so both are one row of eight floats till then.
static inline rh_f4 rh_foam_mix(const rh_foam_cell *low, float x, float y, float z, bool deep)
{
    enum { ROW = RH_TILE + 2, LAYER = ROW * ROW };
    rh_f8 layers[2];
    for (int k = 0; k < (deep ? 2 : 1); k++) {
        const rh_foam_cell *c = low + k * LAYER;
        rh_f8 a = rh_f8_load(&c[0].share), b = rh_f8_load(&c[ROW].share);
        layers[k] = a + y * (b - a);
    }
    rh_f8 both = deep ? layers[0] + z * (layers[1] - layers[0]) : layers[0];
    rh_f4 here = __builtin_shufflevector(both, both, 0, 1, 2, 3),
          next = __builtin_shufflevector(both, both, 4, 5, 6, 7);
    return here + x * (next - here);
}
// The number of the cell that a place lies in, over all tiles; -1: none. `other`: the tile of somebody who is probably
// near, -1: nobody.
int64_t rh_foam_find(const rh_foam_flow *flow, int32_t other, rh_vec3 x);
// Linear between cell centres, at a place in a cell; the velocity is the mean of the liquid's. Share 0: nothing is
// near.
rh_foam_cell rh_foam_sample(const rh_foam_flow *flow, int64_t cell, rh_vec3 x);
// The classes of what is at these places (move.c, where eight are looked up at a time).
void rh_foam_classify(const rh_foam_flow *flow, const rh_whitewater_params *params, const rh_vec3 *places,
                      int64_t count, int32_t *kinds);
