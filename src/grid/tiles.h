// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The sparse grid: tiles of 8 x 8 x 8 cells (8 x 8 x 1 in two dimensions), only where particles are plus a margin,
// re-made every step. There is no bounding box and no cost for the empty space between clusters.
//
//      cell (i, j, k) of tile T            neighbours of T in near[T]
//      index = i + 8 j + 64 k              (dx+1) + 3 (dy+1) + 9 (dz+1), 13 = T itself, -1 = not there
//
// A field is an array of tiles.count * tiles.cells values over this topology. Cell fields live at cell centres
// ((i + 1/2) h, ...). A face field (rh_faces) has three components; component c of cell (i, j, k) sits at the centre of
// that cell's lower face of axis c. Cell (0,0,0) of tile (0,0,0) has its lower corner at the world's origin.
//
// Tiles are ordered by a space-filling (Morton) key, particles by tile, then cell: `first` gives the range of each
// cell. All memory is taken from the step's arena and valid until its reset.
#pragma once
#include <stdint.h>
#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"
#include "points/points.h"

enum { RH_TILE = 8, RH_NEAR = 27, RH_HERE = 13 };

typedef struct rh_tile {
    int32_t x, y, z;
} rh_tile;  // in tiles, not cells

typedef struct rh_tiles {
    int dimension;             // 2 or 3
    int layers;                // cells of a tile along z: 8 or 1
    int cells;                 // per tile: 512 or 64
    float h, inverse_h;        // cell size (m) and 1/h
    int32_t count;             // tiles
    rh_tile *at;               // [count]
    int32_t (*near)[RH_NEAR];  // [count]
    uint32_t *first;           // [count * cells + 1]: first particle of each cell; NULL before rh_tiles_sort
    int32_t *occupied;         // tiles with particles, by colour (parity of x, y, z: bits 0, 1, 2), after rh_tiles_sort
    int32_t color_first[9];    // first of each colour in `occupied`, and the number of all
    int32_t occupied_count;
    int32_t *slots;  // hash table of tile indices
    uint32_t slot_mask;
    struct rh_tile_keys *keys;  // from rh_tiles_build to rh_tiles_sort: the tile and cell of every particle
} rh_tiles;

typedef struct rh_faces {
    float *axis[3];
} rh_faces;  // axis[2] is NULL in two dimensions

// Builds tiles around positions: every cell within `margin` (1..8) cells of a particle's cell is covered. Positions
// that are not finite or absurdly far away fail with RH_NUMERIC, naming the particle. Positions are read once; what was
// learnt of them waits in the arena for rh_tiles_sort.
rh_code rh_tiles_build(rh_tiles *tiles, int dimension, double h, const rh_vec3 *positions, int64_t count, int margin,
                       rh_arena *arena, rh_status *status);
// The tiles at these places, in any order, each once however often it is named: for fields without particles. Places
// that no grid can have (in two dimensions: z other than 0) fail with RH_NUMERIC. Nothing can be sorted into them.
rh_code rh_tiles_from_keys(rh_tiles *tiles, int dimension, double h, const rh_tile *keys, int64_t count,
                           rh_arena *arena, rh_status *status);
// Sorts the particles by tile and cell (stable) and fills `first`. The points' "P" must be what the tiles were built
// around. Follows rh_tiles_build once; gives back the arena what only the sort needed, unless something else was taken
// in between.
rh_code rh_tiles_sort(rh_tiles *tiles, rh_points *points, rh_arena *arena, rh_status *status);

// The colour of a tile: two tiles of one colour are never neighbours.
static inline int rh_tile_color(rh_tile at) { return (at.x & 1) | (at.y & 1) << 1 | (at.z & 1) << 2; }

int32_t rh_tiles_find(const rh_tiles *tiles, rh_tile at);  // -1 when not there
// The tile that a place lies in; -1 when it is not there.
static inline int32_t rh_tiles_at(const rh_tiles *tiles, rh_vec3 place)
{
    float size = RH_TILE * tiles->h;
    bool far = !(fabsf(place.x) < 1e8f * size && fabsf(place.y) < 1e8f * size && fabsf(place.z) < 1e8f * size);
    if (far) return -1;
    return rh_tiles_find(tiles,
                         (rh_tile){rh_floor(place.x * tiles->inverse_h) >> 3, rh_floor(place.y * tiles->inverse_h) >> 3,
                                   tiles->dimension == 3 ? rh_floor(place.z * tiles->inverse_h) >> 3 : 0});
}
bool rh_tiles_is_valid(const rh_tiles *tiles);

static inline int64_t rh_tiles_values(const rh_tiles *tiles) { return (int64_t)tiles->count * tiles->cells; }
static inline uint32_t rh_tile_first(const rh_tiles *tiles, int32_t t)
{
    return tiles->first[(int64_t)t * tiles->cells];
}

// World position of the centre of a cell.
static inline rh_vec3 rh_cell_center(const rh_tiles *tiles, int32_t t, int i, int j, int k)
{
    rh_tile at = tiles->at[t];
    float z = tiles->dimension == 3 ? ((float)(at.z * RH_TILE + k) + 0.5f) * tiles->h : 0;
    return rh_v3(((float)(at.x * RH_TILE + i) + 0.5f) * tiles->h, ((float)(at.y * RH_TILE + j) + 0.5f) * tiles->h, z);
}

// For assertions. Sorted: rh_tiles_sort has been, and what it needed has gone. A face field has an array an axis,
// aligned for rows of eight.
static inline bool rh_tiles_are_sorted(const rh_tiles *tiles)
{
    return tiles->first && tiles->occupied && !tiles->keys;
}
static inline bool rh_faces_fit(const rh_tiles *tiles, rh_faces faces)
{
    for (int a = 0; a < tiles->dimension; a++)
        if (!faces.axis[a] || (uintptr_t)faces.axis[a] % 32 != 0) return false;
    return true;
}

float *rh_field_new(const rh_tiles *tiles, rh_arena *arena, rh_status *status);  // not cleared
rh_code rh_faces_new(rh_faces *faces, const rh_tiles *tiles, bool clear, rh_arena *arena, rh_status *status);
rh_code rh_faces_copy(rh_faces *out, rh_faces faces, const rh_tiles *tiles, rh_arena *arena, rh_status *status);

// --- blocks: a tile and its surroundings, copied together ------------------------------------------------------------
// A block is a dense box of (8 + 2 halo)^3 values (one layer in 2D) around a tile; halo up to 8. Cells whose tile does
// not exist get `missing`.
enum {
    RH_HALO_MAX = 8,
    RH_BLOCK_MAX = (RH_TILE + 2 * RH_HALO_MAX) * (RH_TILE + 2 * RH_HALO_MAX) * (RH_TILE + 2 * RH_HALO_MAX)
};

static inline int rh_block_side(int halo) { return RH_TILE + 2 * halo; }
static inline int rh_block_values(const rh_tiles *tiles, int halo)
{
    int side = rh_block_side(halo);
    return side * side * (tiles->dimension == 3 ? side : 1);
}
// Index of cell (i, j, k) of the tile, each from -halo to 7 + halo (k is 0 in 2D).
static inline int rh_block_index(const rh_tiles *tiles, int halo, int i, int j, int k)
{
    int side = rh_block_side(halo);
    return (i + halo) + side * ((j + halo) + side * (tiles->dimension == 3 ? k + halo : 0));
}
void rh_block_load(const rh_tiles *tiles, const float *field, int32_t t, int halo, float missing, float *block);
// The same for a field whose tiles lie apart: apart[t] points to the values of tile t.
void rh_block_load_apart(const rh_tiles *tiles, const float *const *apart, int32_t t, int halo, float missing,
                         float *block);
void rh_block_load_u8(const rh_tiles *tiles, const uint8_t *field, int32_t t, int halo, uint8_t missing,
                      uint8_t *block);
