// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Where every particle is: its tile and cell, found in one pass over the positions. Particles come nearly sorted, so a
// block of consecutive ones lies in few tiles: each block lists its own, and a particle's key is its place in that list
// and its cell. From the lists follow the tiles that exist (tiles.c) and where each block's particles go in the sort
// (sort.c). Lives in the step's arena between rh_tiles_build and rh_tiles_sort. Internal to grid/.
#pragma once
#include "grid/tiles.h"

enum { RH_CELL_BITS = 9, RH_TILE_BIAS = 1 << 20 };  // tile coordinates lie in (-RH_TILE_BIAS, RH_TILE_BIAS)
enum { RH_FAR_CELLS = 8 * (RH_TILE_BIAS - 16) };    // particles this far from the origin, in cells, are lost

typedef struct rh_tile_box {
    int8_t low[3], high[3];
} rh_tile_box;  // occupied cells of a tile

typedef struct rh_tile_entry {
    rh_tile at;
    rh_tile_box box;
    uint32_t count;   // particles of the block in this tile
    uint32_t number;  // of the tile among the occupied ones
    uint32_t next;    // during the sort: where the next of them goes
} rh_tile_entry;

typedef struct rh_tile_block {
    rh_tile_entry *entries;
    int count;
} rh_tile_block;

typedef struct rh_tile_keys {
    uint32_t *of;           // per particle: entry << RH_CELL_BITS | cell
    rh_tile_block *blocks;  // per RH_BLOCK particles
    int32_t *tile;          // per number of an occupied tile: its index
    int64_t count, block_count, entry_count;
    rh_arena_mark mark;  // before all this
    size_t used;         // of the arena after rh_tiles_build
} rh_tile_keys;

rh_code rh_tile_keys_make(rh_tile_keys **out, const rh_tiles *tiles, const rh_vec3 *positions, int64_t count,
                          rh_arena *arena, rh_status *status);

// The Morton key of a tile: tiles are in its order.
uint64_t rh_tile_key(rh_tile at);

static inline void rh_tile_box_join(rh_tile_box *a, const rh_tile_box *b)
{
    for (int i = 0; i < 3; i++) {
        if (b->low[i] < a->low[i]) a->low[i] = b->low[i];
        if (b->high[i] > a->high[i]) a->high[i] = b->high[i];
    }
}
