// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Topology, in order: which tiles hold particles (tile_keys.c), which neighbours the margin reaches, Morton order,
// hash, neighbour table. All memory comes from the arena.
#include "grid/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/parallel.h"
#include "base/random.h"
#include "grid/tile_keys.h"

// Tile coordinates are biased so that the Morton key interleaves 21 non-negative bits per axis.
enum { BIAS = RH_TILE_BIAS };

static uint64_t spread(uint64_t v)
{
    v &= 0x1fffff;
    v = (v | v << 32) & 0x1f00000000ffffull;
    v = (v | v << 16) & 0x1f0000ff0000ffull;
    v = (v | v << 8) & 0x100f00f00f00f00full;
    v = (v | v << 4) & 0x10c30c30c30c30c3ull;
    return (v | v << 2) & 0x1249249249249249ull;
}

uint64_t rh_tile_key(rh_tile t)
{
    return spread((uint64_t)(t.x + BIAS)) | spread((uint64_t)(t.y + BIAS)) << 1 | spread((uint64_t)(t.z + BIAS)) << 2;
}

// --- margin, order, neighbours ---------------------------------------------------------------------------------------
typedef struct keyed {
    uint64_t key;
    rh_tile at;
} keyed;

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const keyed *)a)->key, y = ((const keyed *)b)->key;
    return x < y ? -1 : x > y;
}

// A growing set of tiles: a hash table over a list.
typedef struct tile_set {
    keyed *list;
    int32_t *slots;
    uint32_t mask;
    int64_t count;
} tile_set;

static uint32_t slot_of_key(uint64_t key) { return (uint32_t)(rh_mix64(key) >> 20); }

// Index of the tile, added when new.
static int64_t put(tile_set *set, rh_tile at)
{
    uint64_t key = rh_tile_key(at);
    uint32_t s = slot_of_key(key) & set->mask;
    for (; set->slots[s] >= 0; s = (s + 1) & set->mask)
        if (set->list[set->slots[s]].key == key) return set->slots[s];
    set->slots[s] = (int32_t)set->count;
    set->list[set->count] = (keyed){key, at};
    return set->count++;
}

static uint32_t slot_capacity(int64_t count)
{
    uint32_t capacity = 64;
    while (capacity < 2 * count) capacity *= 2;
    return capacity;
}

static rh_code new_set(tile_set *set, int64_t most, rh_arena *arena, rh_status *status)
{
    set->mask = slot_capacity(most) - 1;
    set->count = 0;
    set->list = rh_arena_take(arena, (size_t)(most + 1) * sizeof *set->list, status);
    set->slots = rh_arena_take(arena, ((size_t)set->mask + 1) * sizeof(int32_t), status);
    if (!set->list || !set->slots) return RH_MEMORY;
    memset(set->slots, 0xff, ((size_t)set->mask + 1) * sizeof(int32_t));
    return RH_OK;
}

// Does a margin of `margin` cells around the occupied cells [low, high] reach the neighbour in direction d (-1, 0, 1)?
static bool reaches(int8_t low, int8_t high, int d, int margin)
{
    return d == 0 || (d < 0 ? low - margin < 0 : high + margin >= RH_TILE);
}

static void add_neighbours(tile_set *set, rh_tile at, const rh_tile_box *box, int dimension, int margin)
{
    for (int n = 0; n < RH_NEAR; n++) {
        int d[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        bool in = dimension == 3 || d[2] == 0;
        for (int a = 0; a < 3; a++) in = in && reaches(box->low[a], box->high[a], d[a], margin);
        if (in) put(set, (rh_tile){at.x + d[0], at.y + d[1], at.z + d[2]});
    }
}

// Occupied tiles (numbered in the blocks' entries), and all within the margin of their occupied cells, these in Morton
// order.
static rh_code collect(rh_tile_keys *keys, int dimension, int margin, rh_arena *arena, tile_set *occupied,
                       tile_set *out, rh_status *status)
{
    RH_TRY(new_set(occupied, keys->entry_count, arena, status));
    rh_tile_box *boxes = rh_arena_take(arena, (size_t)(keys->entry_count + 1) * sizeof *boxes, status);
    if (!boxes) return RH_MEMORY;
    for (int64_t b = 0; b < keys->block_count; b++)
        for (int e = 0; e < keys->blocks[b].count; e++) {
            rh_tile_entry *entry = &keys->blocks[b].entries[e];
            int64_t before = occupied->count, n = put(occupied, entry->at);
            entry->number = (uint32_t)n;
            if (n == before) boxes[n] = entry->box;
            else rh_tile_box_join(&boxes[n], &entry->box);
        }
    RH_TRY(new_set(out, occupied->count * (dimension == 3 ? 27 : 9), arena, status));
    for (int64_t n = 0; n < occupied->count; n++)
        add_neighbours(out, occupied->list[n].at, &boxes[n], dimension, margin);
    qsort(out->list, (size_t)out->count, sizeof *out->list, by_key);
    return RH_OK;
}

static uint32_t slot_hash(rh_tile t) { return slot_of_key(rh_tile_key(t)); }

static void fill_slots(rh_tiles *tiles)
{
    memset(tiles->slots, 0xff, ((size_t)tiles->slot_mask + 1) * sizeof(int32_t));
    for (int32_t t = 0; t < tiles->count; t++) {
        uint32_t s = slot_hash(tiles->at[t]) & tiles->slot_mask;
        while (tiles->slots[s] >= 0) s = (s + 1) & tiles->slot_mask;
        tiles->slots[s] = t;
    }
}

static void link_neighbours(rh_tiles *tiles)
{
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_tile at = tiles->at[t];
        for (int n = 0; n < RH_NEAR; n++) {
            rh_tile other = {at.x + n % 3 - 1, at.y + n / 3 % 3 - 1, at.z + n / 9 - 1};
            tiles->near[t][n] = n == RH_HERE ? t : rh_tiles_find(tiles, other);
        }
    }
}

static rh_tiles empty_tiles(int dimension, double h)
{
    rh_tiles tiles = {
        .dimension = dimension, .layers = dimension == 3 ? RH_TILE : 1, .h = (float)h, .inverse_h = (float)(1 / h)};
    tiles.cells = RH_TILE * RH_TILE * tiles.layers;
    return tiles;
}

// The tiles of a set that is in order.
static rh_code number_tiles(rh_tiles *tiles, const tile_set *found, rh_arena *arena, rh_status *status)
{
    if (found->count > INT32_MAX / tiles->cells)
        return rh_fail(status, RH_NUMERIC, "the material is spread over %lld tiles: more than the grid can number",
                       (long long)found->count);
    tiles->count = (int32_t)found->count;
    tiles->slot_mask = slot_capacity(found->count) - 1;
    tiles->at = rh_arena_take(arena, (size_t)(found->count + 1) * sizeof(rh_tile), status);
    tiles->near = rh_arena_take(arena, (size_t)(found->count + 1) * sizeof *tiles->near, status);
    tiles->slots = rh_arena_take(arena, ((size_t)tiles->slot_mask + 1) * sizeof(int32_t), status);
    if (!tiles->at || !tiles->near || !tiles->slots) return RH_MEMORY;
    for (int32_t t = 0; t < tiles->count; t++) tiles->at[t] = found->list[t].at;
    fill_slots(tiles);
    link_neighbours(tiles);
    return RH_OK;
}

rh_code rh_tiles_from_keys(rh_tiles *tiles, int dimension, double h, const rh_tile *keys, int64_t count,
                           rh_arena *arena, rh_status *status)
{
    RH_ASSERT(dimension == 2 || dimension == 3);
    RH_ASSERT(h > 0 && count >= 0);
    tile_set found = {0};
    *tiles = empty_tiles(dimension, h);
    RH_TRY(new_set(&found, count, arena, status));
    for (int64_t i = 0; i < count; i++) {
        const int32_t at[3] = {keys[i].x, keys[i].y, keys[i].z};
        for (int a = 0; a < 3; a++)
            if (at[a] <= -BIAS || at[a] >= BIAS || (a == 2 && dimension == 2 && at[a] != 0))
                return rh_fail(status, RH_NUMERIC, "no grid has a tile at (%d, %d, %d)", at[0], at[1], at[2]);
        put(&found, keys[i]);
    }
    qsort(found.list, (size_t)found.count, sizeof *found.list, by_key);
    return number_tiles(tiles, &found, arena, status);
}

rh_code rh_tiles_build(rh_tiles *tiles, int dimension, double h, const rh_vec3 *positions, int64_t count, int margin,
                       rh_arena *arena, rh_status *status)
{
    RH_ASSERT(dimension == 2 || dimension == 3);
    RH_ASSERT(h > 0 && count >= 0);
    RH_ASSERT(margin >= 1 && margin <= RH_TILE);
    *tiles = empty_tiles(dimension, h);
    tile_set found = {0}, occupied = {0};
    RH_TRY(rh_tile_keys_make(&tiles->keys, tiles, positions, count, arena, status));
    RH_TRY(collect(tiles->keys, dimension, margin, arena, &occupied, &found, status));
    RH_TRY(number_tiles(tiles, &found, arena, status));
    tiles->keys->tile = rh_arena_take(arena, ((size_t)occupied.count + 1) * sizeof(int32_t), status);
    if (!tiles->keys->tile) return RH_MEMORY;
    for (int64_t n = 0; n < occupied.count; n++) tiles->keys->tile[n] = rh_tiles_find(tiles, occupied.list[n].at);
    tiles->keys->used = arena->used_total;
    return RH_OK;
}

int32_t rh_tiles_find(const rh_tiles *tiles, rh_tile at)
{
    RH_ASSERT(tiles->slots && (tiles->slot_mask & (tiles->slot_mask + 1)) == 0);
    for (uint32_t s = slot_hash(at) & tiles->slot_mask; tiles->slots[s] >= 0; s = (s + 1) & tiles->slot_mask) {
        rh_tile seen = tiles->at[tiles->slots[s]];
        if (seen.x == at.x && seen.y == at.y && seen.z == at.z) return tiles->slots[s];
    }
    return -1;
}

bool rh_tiles_is_valid(const rh_tiles *tiles)
{
    int64_t wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (int32_t t = 0; t < tiles->count; t++) {
        wrong += t && rh_tile_key(tiles->at[t - 1]) >= rh_tile_key(tiles->at[t]);
        for (int n = 0; n < RH_NEAR; n++) {
            int32_t other = tiles->near[t][n];
            if (other < -1 || other >= tiles->count) wrong++;
            else if (other >= 0) wrong += tiles->near[other][RH_NEAR - 1 - n] != t;
        }
        const uint32_t *first = tiles->first ? tiles->first + (int64_t)t * tiles->cells : NULL;
        for (int c = 0; first && c < tiles->cells; c++) wrong += first[c] > first[c + 1];
    }
    return wrong == 0;
}

float *rh_field_new(const rh_tiles *tiles, rh_arena *arena, rh_status *status)
{
    RH_ASSERT(tiles->count >= 0 && tiles->cells == RH_TILE * RH_TILE * tiles->layers);
    return rh_arena_take(arena, (size_t)rh_tiles_values(tiles) * sizeof(float), status);
}

rh_code rh_faces_new(rh_faces *faces, const rh_tiles *tiles, bool clear, rh_arena *arena, rh_status *status)
{
    *faces = (rh_faces){{NULL, NULL, NULL}};
    for (int a = 0; a < tiles->dimension; a++) {
        faces->axis[a] = rh_field_new(tiles, arena, status);
        if (!faces->axis[a]) return RH_MEMORY;
        if (clear) memset(faces->axis[a], 0, (size_t)rh_tiles_values(tiles) * sizeof(float));
    }
    return RH_OK;
}

rh_code rh_faces_copy(rh_faces *out, rh_faces faces, const rh_tiles *tiles, rh_arena *arena, rh_status *status)
{
    RH_TRY(rh_faces_new(out, tiles, false, arena, status));
    size_t cells = (size_t)tiles->cells;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++)
            memcpy(out->axis[a] + (size_t)t * cells, faces.axis[a] + (size_t)t * cells, cells * sizeof(float));
    return RH_OK;
}

// --- blocks ----------------------------------------------------------------------------------------------------------
// The part of one axis that a neighbour in direction d (-1, 0, 1) gives: cells [from, from + count) of its tile, placed
// at `to`.
typedef struct span {
    int from, to, count;
} span;

static span span_of(int d, int halo)
{
    if (d < 0) return (span){RH_TILE - halo, 0, halo};
    if (d == 0) return (span){0, halo, RH_TILE};
    return (span){0, halo + RH_TILE, halo};
}

// One body for floats and bytes, for fields in one piece (`field`) or with tiles apart (`apart`). Inlined with a
// constant size, so that whole rows become a register move and the ends a few; calls of memcpy for eight values took a
// twelfth of a step.
static inline __attribute__((always_inline)) void load(const rh_tiles *tiles, const char *field,
                                                       const float *const *apart, size_t size, int32_t t, int halo,
                                                       const void *missing, char *block)
{
    int side = rh_block_side(halo);
    bool flat = tiles->dimension == 2;
    for (int n = flat ? 9 : 0; n < (flat ? 18 : RH_NEAR); n++) {
        span x = span_of(n % 3 - 1, halo), y = span_of(n / 3 % 3 - 1, halo);
        span z = flat ? (span){0, 0, 1} : span_of(n / 9 - 1, halo);
        int32_t other = tiles->near[t][n];
        const char *from = other < 0 ? NULL
                           : apart   ? (const char *)apart[other]
                                     : field + (size_t)other * (size_t)tiles->cells * size;
        for (int k = 0; k < z.count; k++)
            for (int j = 0; j < y.count; j++) {
                char *to = block + (size_t)(x.to + side * ((y.to + j) + side * (z.to + k))) * size;
                const char *row =
                    from ? from + (size_t)(x.from + RH_TILE * ((y.from + j) + RH_TILE * (z.from + k))) * size : NULL;
                if (row && x.count == RH_TILE) memcpy(to, row, RH_TILE * size);
                else
                    for (int i = 0; i < x.count; i++)
                        memcpy(to + (size_t)i * size, row ? row + (size_t)i * size : missing, size);
            }
    }
}

void rh_block_load(const rh_tiles *tiles, const float *field, int32_t t, int halo, float missing, float *block)
{
    RH_ASSERT(t >= 0 && t < tiles->count && halo >= 0 && halo <= RH_HALO_MAX);
    load(tiles, (const char *)field, NULL, sizeof(float), t, halo, &missing, (char *)block);
}

void rh_block_load_apart(const rh_tiles *tiles, const float *const *apart, int32_t t, int halo, float missing,
                         float *block)
{
    RH_ASSERT(t >= 0 && t < tiles->count && halo >= 0 && halo <= RH_HALO_MAX);
    load(tiles, NULL, apart, sizeof(float), t, halo, &missing, (char *)block);
}

void rh_block_load_u8(const rh_tiles *tiles, const uint8_t *field, int32_t t, int halo, uint8_t missing, uint8_t *block)
{
    RH_ASSERT(t >= 0 && t < tiles->count && halo >= 0 && halo <= RH_HALO_MAX);
    load(tiles, (const char *)field, NULL, 1, t, halo, &missing, (char *)block);
}
