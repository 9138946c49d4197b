// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which cells of the grid are unknowns, and how the operator of poisson.h, which lists only tiles that hold some,
// numbers its tiles. Memory is the arena's.
#pragma once
#include "grid/rows.h"
#include "solve/poisson.h"

typedef struct rh_layout {
    const rh_tiles *tiles;
    uint8_t *unknown;  // per row of eight cells of all tiles: bits of cells that are unknowns
    int32_t *slot;     // per tile: its number in the operator, -1 when it is not listed
    int32_t *listed;   // per tile of the operator: its number among all tiles
    int32_t count;     // listed tiles
} rh_layout;

// Takes the memory; then the caller fills `unknown`, and rh_layout_number lists the tiles that hold unknowns.
rh_code rh_layout_init(rh_layout *layout, const rh_tiles *tiles, rh_arena *arena, rh_status *status);
rh_code rh_layout_number(rh_layout *layout, rh_arena *arena, rh_status *status);
// Place, neighbours and unknowns of tile n of the operator.
void rh_layout_place(const rh_layout *layout, int32_t n, rh_poisson *matrix);
// All cells of the tile and all cells beside it are unknowns.
bool rh_layout_is_full(const rh_layout *layout, int32_t t);
// A vector of the operator as rows of tile t of the grid; 0 where the operator has no tile.
rh_rows rh_layout_rows(const rh_layout *layout, const float *vector, int32_t t);
