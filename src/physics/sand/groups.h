// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Connected groups of cells that hold (do not yield), each of which moves as a rigid body (Zhu 2005, section 2.3.4,
// eqs. 2.6 and 2.7). Cells are connected through faces that are not closed by a wall. So two groups never have a face
// in common, and every face of a cell that holds belongs to one group: the unknowns of a group are the faces of its
// cells (rigid.h tells their masses).
//
// Memory is the arena's.
#pragma once
#include "physics/sand/rigid.h"
#include "physics/sand/yield.h"

// The part of one group that lies in one tile.
typedef struct rh_sand_piece {
    uint64_t bits[RH_TILE];  // its cells: bit i + 8 j of layer k
    int32_t tile;
    int32_t group;
} rh_sand_piece;

typedef struct rh_sand_groups {
    rh_sand_piece *pieces;  // by tile, in the order of the pressure's tiles
    int32_t *first;         // per tile of the grid: its first piece; one more at the end
    int32_t count;          // pieces
    int32_t groups;
    rh_tile *origin;   // per group: the tile whose corner is the origin of the body's coordinates
    rh_rigid *bodies;  // per group
} rh_sand_groups;

// Finds the groups and their motions.
rh_code rh_sand_groups_find(rh_sand_groups *groups, const rh_sand_cells *cells, const rh_incompressible_view *view,
                            rh_status *status);
// Gives the faces of all groups the velocities of their bodies.
void rh_sand_groups_move(const rh_sand_groups *groups, const rh_sand_cells *cells, const rh_incompressible_view *view);
// The group of a cell, -1 for none.
int32_t rh_sand_group_of(const rh_sand_groups *groups, int32_t t, int c);
// A cell's centre, in cells from the origin of its group.
rh_dvec3 rh_sand_group_place(const rh_sand_groups *groups, const rh_tiles *tiles, int32_t group, int32_t t, int c);
