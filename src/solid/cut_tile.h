// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Solids on one tile of the grid, to second order: the open share of every face and cell, the wall's velocity at faces,
// and whatever else of solids the liquid needs at fixed places. A function of the tile's place and the placed solids
// alone, so cut_cells.h may keep the result for as long as the solids near the tile rest. From C. Batty, F. Bertails,
// R. Bridson, "A fast variational framework for accurate solid-fluid coupling", ACM TOG 26(3), 2007, with the face
// shares of Y. Ng, C. Min, F. Gibou, J. Comput. Phys. 228, 2009 (second order in pressure).
#pragma once
#include "grid/tiles.h"
#include "solid/obstacles.h"

enum { RH_CUT_REACH = 4, RH_CUT_CELLS = RH_TILE * RH_TILE * RH_TILE };  // cells: distances are clamped beyond

// Faces of one axis, closed and inside or on a solid, whose velocity the wall decides (from 3 cells deep on it does not
// matter). Faces along a wall that lets liquid slide are left out: such a wall says nothing about them.
typedef struct rh_cut_faces {
    uint64_t bits[RH_TILE];  // per layer k: bit i + 8 j
    int32_t count;
    int32_t which;    // the solid of all of them, -1 when they differ
    bool aligned;     // all have the unit vector of their own axis, or its opposite, as normal
    rh_dvec3 normal;  // when aligned
} rh_cut_faces;

// Cells of a tile; high below low = none.
typedef struct rh_cut_box {
    int8_t low[3], high[3];
} rh_cut_box;

// A particle this near (cells) counts as touching a solid.
#define RH_CUT_TOUCH 0.15

typedef struct rh_cut_values {
    float open[3][RH_CUT_CELLS];   // 0..1: share of each face in free space
    float wall[3][RH_CUT_CELLS];   // m/s: the solid's velocity along the face's axis, at faces that are not all open
    float owner[3][RH_CUT_CELLS];  // 1 + number of the nearest solid, at faces that are not all open; 0 elsewhere
    float distance[RH_CUT_CELLS];  // m: cell centres, positive in free space, clamped
    float share[RH_CUT_CELLS];     // 0..1: share of the cell's linear weight function in free space
    float volume[RH_CUT_CELLS];    // 0..1: share of the cell in free space
    rh_cut_faces faces[3];
    rh_cut_box touch;            // holds every cell with a point that can touch a solid
    uint64_t releases[RH_TILE];  // per layer: bits of cells whose nearest solid is a separating wall within 1.5 cells
} rh_cut_values;

enum { RH_CUT_NEAR = 64 };
typedef struct rh_cut_near {
    int items[RH_CUT_NEAR], count;
} rh_cut_near;

// Solids within reach of any point of the tile, in order. None = the tile is free. A full list (count == RH_CUT_NEAR)
// stands for all.
void rh_cut_tile_near(const rh_tiles *tiles, const rh_obstacles *obstacles, int32_t t, rh_cut_near *near);
// All but `wall` and `faces`, which follow from `open` once thin walls have changed that (thin_tile.h).
void rh_cut_tile_make(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, int32_t t,
                      rh_cut_values *out);
// Velocities of walls at the faces that are not all open; `owner` as in rh_cut_values, or NULL.
void rh_cut_tile_velocities(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, int32_t t,
                            const float *const open[3], float *const wall[3], float (*owner)[RH_CUT_CELLS]);
// Signed distance (m) to the nearest of the listed solids, or of all when the list is full; *which (may be NULL) is
// that solid, -1 for none.
double rh_cut_tile_distance(const rh_obstacles *obstacles, const rh_cut_near *near, rh_dvec3 x, int *which);
// The faces of all axes whose velocity a wall gives.
void rh_cut_tile_faces(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, int32_t t,
                       const float *const open[3], const float *distance, rh_cut_faces faces[3]);

// Share of a square (corners in ring order) or of an edge where the linearly interpolated value is positive.
float rh_open_square(const float corner[4]);
float rh_open_edge(float a, float b);
