// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles sorted by tile and cell. The keys (tile_keys.h) already say how many particles of every block lie in which
// tile, so each block writes its particles straight to their tiles, blocks in order, and every tile then sorts its own
// by cell with counters that fit a first-level cache. Both parts are stable, and a stable sort has one result: neither
// the number of threads nor the blocks can change it. Particles that have hardly moved are read and written almost in
// sequence; that, not fewer sorts, is what keeps the sort cheap. (A radix sort of (key, index) pairs took three passes
// over twice the memory.)
#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "grid/tile_keys.h"

enum { CELLS = 1 << RH_CELL_BITS };

// Where each block's particles of each tile begin: tiles in order, blocks in order within a tile. starts[t] becomes the
// tile's first.
static void place_blocks(const rh_tiles *tiles, rh_tile_keys *keys, uint32_t *starts)
{
    memset(starts, 0, ((size_t)tiles->count + 1) * sizeof *starts);
    for (int64_t b = 0; b < keys->block_count; b++)
        for (int e = 0; e < keys->blocks[b].count; e++) {
            rh_tile_entry *entry = &keys->blocks[b].entries[e];
            int32_t t = keys->tile[entry->number];
            entry->next = starts[t + 1];  // so far: how many came before it in its tile
            starts[t + 1] += entry->count;
        }
    for (int32_t t = 0; t < tiles->count; t++) starts[t + 1] += starts[t];
}

static void to_tiles(rh_tile_keys *keys, const uint32_t *starts, uint32_t *order)
{
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < keys->block_count; b++) {
        rh_tile_entry *entries = keys->blocks[b].entries;
        for (int e = 0; e < keys->blocks[b].count; e++) entries[e].next += starts[keys->tile[entries[e].number]];
        for (int64_t p = b * RH_BLOCK; p < rh_block_end(b, keys->count); p++)
            order[entries[keys->of[p] >> RH_CELL_BITS].next++] = (uint32_t)p;
    }
}

// One tile by cell; fills the tile's part of `first`.
static void to_cells(const rh_tiles *tiles, const rh_tile_keys *keys, const uint32_t *order, uint32_t begin,
                     uint32_t end, uint32_t *first, uint32_t *sorted)
{
    uint32_t counts[CELLS] = {0}, running = begin;
    for (uint32_t i = begin; i < end; i++) counts[keys->of[order[i]] & (CELLS - 1)]++;
    for (int c = 0; c < tiles->cells; c++) {
        uint32_t n = counts[c];
        first[c] = counts[c] = running;
        running += n;
    }
    for (uint32_t i = begin; i < end; i++) sorted[counts[keys->of[order[i]] & (CELLS - 1)]++] = order[i];
}

// Tiles that hold particles, colour by colour, in order within a colour.
static void list_occupied(rh_tiles *tiles)
{
    int32_t next[8] = {0}, running = 0;
    for (int32_t t = 0; t < tiles->count; t++)
        next[rh_tile_color(tiles->at[t])] += rh_tile_first(tiles, t) < rh_tile_first(tiles, t + 1);
    for (int color = 0; color < 8; color++) {
        int32_t n = next[color];
        tiles->color_first[color] = next[color] = running;
        running += n;
    }
    tiles->color_first[8] = tiles->occupied_count = running;
    for (int32_t t = 0; t < tiles->count; t++)
        if (rh_tile_first(tiles, t) < rh_tile_first(tiles, t + 1))
            tiles->occupied[next[rh_tile_color(tiles->at[t])]++] = t;
}

// For an assertion: every particle is in the range of its cell.
__attribute__((unused)) static bool particles_are_in_their_cells(const rh_tiles *tiles, const rh_vec3 *positions)
{
    int64_t wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_tile at = tiles->at[t];
        const uint32_t *first = tiles->first + (int64_t)t * tiles->cells;
        for (int c = 0; c < tiles->cells; c++)
            for (uint32_t p = first[c]; p < first[c + 1]; p++) {
                rh_vec3 x = rh_v3_scale(positions[p], tiles->inverse_h);
                wrong += floorf(x.x) != (float)(RH_TILE * at.x + (c & 7)) ||
                         floorf(x.y) != (float)(RH_TILE * at.y + (c >> 3 & 7)) ||
                         (tiles->dimension == 3 && floorf(x.z) != (float)(RH_TILE * at.z + (c >> 6)));
            }
    }
    return wrong == 0;
}

rh_code rh_tiles_sort(rh_tiles *tiles, rh_points *points, rh_arena *arena, rh_status *status)
{
    rh_tile_keys *keys = tiles->keys;
    RH_ASSERT(keys && keys->count == points->count);
    bool alone = arena->used_total == keys->used;
    size_t values = (size_t)rh_tiles_values(tiles) + 1, count = (size_t)points->count;
    tiles->first = rh_arena_take(arena, values * sizeof(uint32_t), status);
    tiles->occupied = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof(int32_t), status);
    rh_arena_mark mark = rh_arena_save(arena);
    uint32_t *starts = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *starts, status);
    uint32_t *order = rh_arena_take(arena, (count + 1) * sizeof *order, status),
             *sorted = rh_arena_take(arena, (count + 1) * sizeof *sorted, status);
    if (!tiles->first || !tiles->occupied || !starts || !order || !sorted) return RH_MEMORY;
    place_blocks(tiles, keys, starts);
    to_tiles(keys, starts, order);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        to_cells(tiles, keys, order, starts[t], starts[t + 1], tiles->first + (int64_t)t * tiles->cells, sorted);
    tiles->first[values - 1] = (uint32_t)count;
    list_occupied(tiles);
    RH_ASSERT(rh_tiles_is_valid(tiles));
    RH_TRY(rh_points_permute(points, sorted, points->count, status));
    RH_ASSERT(particles_are_in_their_cells(tiles, rh_points_data(points, "P", RH_POINT_VEC3F)));
    rh_arena_restore(arena, mark);
    rh_arena_mark begin = keys->mark;
    tiles->keys = NULL;
    if (alone)
        rh_arena_keep(
            arena, begin,
            (rh_arena_piece[]){{(void **)&tiles->at, ((size_t)tiles->count + 1) * sizeof *tiles->at},
                               {(void **)&tiles->near, ((size_t)tiles->count + 1) * sizeof *tiles->near},
                               {(void **)&tiles->slots, ((size_t)tiles->slot_mask + 1) * sizeof *tiles->slots},
                               {(void **)&tiles->first, values * sizeof *tiles->first},
                               {(void **)&tiles->occupied, ((size_t)tiles->count + 1) * sizeof *tiles->occupied}},
            5);
    return RH_OK;
}
