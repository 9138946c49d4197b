// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Solids on the tiles of a step (what is stored per tile: cut_tile.h). Values of a tile lie together, tiles lie apart:
//
//      cut.open[axis][t][cell]        cell = i + 8 j + 64 k as everywhere
//
// A tile's values belong to a cache that lives as long as the run. A page holds one quantity of one tile. Pages that
// would be 0, 1, or as far from (or as deep in) solids as distances go, all over, are one shared page each: a tile
// without a solid in reach stores nothing, and one at a flat wall along the grid two or three pages of six. Tiles near
// solids that rest are made once and kept while the tile is there; tiles near solids that have moved since they were
// made are made again, and where only their speed has changed, that. What is kept equals what a fresh cache would hold,
// bit by bit, so a resumed run gives the same results.
#pragma once
#include "solid/blur.h"
#include "solid/cut_tile.h"

// All zero is an empty cache.
typedef struct rh_cut_cache {
    int blur;  // set before the first build: points per cell and axis for `room` and `pass`; 0 = those are not wanted
    rh_blur_form form;  // set before the first build: of `room` and `pass`
    int dimension;
    float h;
    float *constants;  // owned: the shared pages
    float **chunks;    // owned: the memory of pages
    int32_t chunk_count, chunk_room;
    float **spare;  // owned: pages not in use
    int32_t spare_count;
    struct rh_cut_entry *entries;  // owned
    int32_t entry_count, entry_room;
    int32_t *spare_entries;  // owned, as long as entries
    int32_t spare_entry_count;
    int32_t *slots;  // owned: hash table of entries by place
    uint32_t slot_mask;
    rh_obstacle *solids;  // owned: as they were at the last build
    int solid_count;
    int64_t build;          // number of the last build
    int64_t moved;          // the last one that found a solid elsewhere
    int64_t changed_speed;  // the last one that found a solid at another speed
    int64_t made;           // tiles made by the last build, for tests and statistics
} rh_cut_cache;

// A view of one step, in its arena; valid until the cache's next build. Written to only where a tile has its own copies
// (rh_cut_cells_own).
typedef struct rh_cut_cells {
    const float **open[3];  // 0..1: share of each face in free space
    const float **wall[3];  // m/s: the solid's velocity along the face's axis; 0 on faces far from solids
    // With dynamic solids: 1 + number of the solid nearest to a face that is not all open; 0 = not known.
    const float **owner[3];
    const float **distance;      // m, cell centres, positive in free space, clamped to +-4 cells
    const float **share;         // 0..1: share of each cell's linear weight function in free space
    const float **volume;        // 0..1: share of each cell in free space
    const float **room;          // 0..1: blur.h; NULL when not wanted
    const float **pass[3];       // 0..1: blur.h; NULL when not wanted
    const rh_cut_faces **faces;  // [3] per tile: faces whose velocity a wall gives
    const uint64_t **releases;   // [8] per tile, by layer: bits of cells at separating walls; NULL when there are none
    // Per cell: bit a for a face of axis a in an inflow; NULL in tiles without, and when there are none.
    const uint8_t **inflow;
    rh_cut_box *touch;  // per tile: holds every cell with a point within RH_CUT_TOUCH cells of a solid
    uint8_t *kind;      // per tile
    bool any_thin;      // some solid is thin: neighbours may lie on different sides of it
} rh_cut_cells;

// RH_TILE_FREE: all open, no solid within 4 cells; RH_TILE_MOVING: as CUT, near a solid that can move.
enum { RH_TILE_FREE = 0, RH_TILE_CUT = 1, RH_TILE_MOVING = 2 };

rh_code rh_cut_cells_build(rh_cut_cells *cut, rh_cut_cache *cache, const rh_tiles *tiles, const rh_obstacles *obstacles,
                           rh_arena *arena, rh_status *status);
void rh_cut_cache_free(rh_cut_cache *cache);
int64_t rh_cut_cache_pages(const rh_cut_cache *cache);  // in use, the shared ones not counted
bool rh_cut_cache_is_valid(const rh_cut_cache *cache);  // every page and entry is in one place

// Copies of a tile's values for this step only, to be written to.
typedef struct rh_cut_own {
    float *open[3], *wall[3];
    float *pass[3];  // NULL when not wanted
    uint8_t *inflow;
    rh_cut_faces *faces;
} rh_cut_own;
rh_code rh_cut_cells_own(rh_cut_cells *cut, const rh_tiles *tiles, int32_t t, rh_arena *arena, rh_cut_own *own,
                         rh_status *status);

static inline bool rh_cut_releases(const rh_cut_cells *cut, int32_t t, int c)
{
    return cut->releases[t][c >> 6] >> (c & 63) & 1;
}
