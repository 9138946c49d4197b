// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Topology, in order: which tiles hold particles (per-thread sets, merged: a set does not depend on the order of its
// making), which neighbours the margin reaches, Morton order, hash, neighbour table.
#include "grid/tiles.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"

// Tile coordinates are biased so that the Morton key interleaves 21 non-negative bits per axis.
enum { BIAS = 1 << 20 };
static const float FAR_CELLS = 8.0f * (BIAS - 16);

static uint64_t spread(uint64_t v)
{
    v &= 0x1fffff;
    v = (v | v << 32) & 0x1f00000000ffffull;
    v = (v | v << 16) & 0x1f0000ff0000ffull;
    v = (v | v << 8) & 0x100f00f00f00f00full;
    v = (v | v << 4) & 0x10c30c30c30c30c3ull;
    return (v | v << 2) & 0x1249249249249249ull;
}

static uint64_t key_of(rh_tile t)
{
    return spread((uint64_t)(t.x + BIAS)) | spread((uint64_t)(t.y + BIAS)) << 1 | spread((uint64_t)(t.z + BIAS)) << 2;
}

// --- a growing set of tiles with the box of occupied cells in each ------------------------------------------------
typedef struct entry {
    rh_tile at;
    int8_t low[3], high[3];  // occupied cells; low > high: none (a margin tile)
    bool used;
} entry;

typedef struct tile_set {
    entry *slots;
    uint32_t capacity, count;
} tile_set;

static uint32_t slot_hash(rh_tile t) { return (uint32_t)(rh_mix64(key_of(t)) >> 20); }

static rh_code set_grow(tile_set *set, rh_status *status)
{
    tile_set bigger = {.capacity = set->capacity ? set->capacity * 2 : 256, .count = set->count};
    bigger.slots = rh_alloc_zero(bigger.capacity * sizeof(entry), "grid.tile_set", status);
    if (!bigger.slots) return RH_MEMORY;
    for (uint32_t i = 0; i < set->capacity; i++) {
        if (!set->slots[i].used) continue;
        uint32_t s = slot_hash(set->slots[i].at) & (bigger.capacity - 1);
        while (bigger.slots[s].used) s = (s + 1) & (bigger.capacity - 1);
        bigger.slots[s] = set->slots[i];
    }
    rh_free(set->slots);
    *set = bigger;
    return RH_OK;
}

static entry *set_add(tile_set *set, rh_tile at, rh_status *status)
{
    if (set->count * 2 >= set->capacity && set_grow(set, status) != RH_OK) return NULL;
    uint32_t s = slot_hash(at) & (set->capacity - 1);
    for (; set->slots[s].used; s = (s + 1) & (set->capacity - 1)) {
        rh_tile seen = set->slots[s].at;
        if (seen.x == at.x && seen.y == at.y && seen.z == at.z) return &set->slots[s];
    }
    set->slots[s] = (entry){at, {RH_TILE, RH_TILE, RH_TILE}, {-1, -1, -1}, true};
    set->count++;
    return &set->slots[s];
}

static void entry_join(entry *e, const int8_t low[3], const int8_t high[3])
{
    for (int a = 0; a < 3; a++) {
        if (low[a] < e->low[a]) e->low[a] = low[a];
        if (high[a] > e->high[a]) e->high[a] = high[a];
    }
}

// --- which tiles hold particles -----------------------------------------------------------------------------------
typedef struct collector {
    tile_set set;
    rh_status status;
    int64_t lost;  // lowest index of a particle that is not in the world, or -1
} collector;

static inline int floor_cell(float x) { return (int)floorf(x); }

static bool is_lost(rh_vec3 p, float inverse_h)
{
    return !(fabsf(p.x * inverse_h) < FAR_CELLS && fabsf(p.y * inverse_h) < FAR_CELLS && fabsf(p.z * inverse_h) < FAR_CELLS);
}

static void collect_block(collector *c, const rh_tiles *tiles, const rh_vec3 *positions, int64_t begin, int64_t end)
{
    entry *last = NULL;
    for (int64_t p = begin; p < end; p++) {
        if (is_lost(positions[p], tiles->inverse_h)) {
            if (c->lost < 0 || p < c->lost) c->lost = p;
            continue;
        }
        int x = floor_cell(positions[p].x * tiles->inverse_h), y = floor_cell(positions[p].y * tiles->inverse_h);
        int z = tiles->dimension == 3 ? floor_cell(positions[p].z * tiles->inverse_h) : 0;
        rh_tile at = {x >> 3, y >> 3, z >> 3};
        if (!last || last->at.x != at.x || last->at.y != at.y || last->at.z != at.z) {
            last = set_add(&c->set, at, &c->status);
            if (!last) return;
        }
        int8_t cell[3] = {(int8_t)(x & 7), (int8_t)(y & 7), (int8_t)(z & 7)};
        entry_join(last, cell, cell);
    }
}

static rh_code collect(const rh_tiles *tiles, const rh_vec3 *positions, int64_t count, tile_set *out, rh_status *status)
{
    int threads = rh_threads();
    collector *collectors = rh_alloc_zero((size_t)threads * sizeof *collectors, "grid.tile_set", status);
    if (!collectors) return RH_MEMORY;
    for (int i = 0; i < threads; i++) collectors[i].lost = -1;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < rh_blocks(count); b++)
        collect_block(&collectors[omp_get_thread_num()], tiles, positions, b * RH_BLOCK, rh_block_end(b, count));

    int64_t lost = -1;
    rh_code code = RH_OK;
    for (int i = 0; i < threads && code == RH_OK; i++) {
        collector *c = &collectors[i];
        if (c->status.code != RH_OK) code = rh_fail(status, c->status.code, "%s", c->status.message);
        if (c->lost >= 0 && (lost < 0 || c->lost < lost)) lost = c->lost;
        for (uint32_t s = 0; s < c->set.capacity && code == RH_OK; s++) {
            const entry *from = &c->set.slots[s];
            if (!from->used) continue;
            entry *to = set_add(out, from->at, status);
            if (to) entry_join(to, from->low, from->high);
            else code = RH_MEMORY;
        }
    }
    for (int i = 0; i < threads; i++) rh_free(collectors[i].set.slots);
    rh_free(collectors);
    if (code == RH_OK && lost >= 0)
        code = rh_fail(status, RH_NUMERIC, "particle %lld is lost: position (%g, %g, %g) is not a number or too far away",
                       (long long)lost, (double)positions[lost].x, (double)positions[lost].y, (double)positions[lost].z);
    return code;
}

// --- margin, order, neighbours ------------------------------------------------------------------------------------
// Does a margin of `margin` cells around the occupied cells [low, high] reach the neighbour in direction d (-1, 0, 1)?
static bool reaches(int8_t low, int8_t high, int d, int margin)
{
    return d == 0 || (d < 0 ? low - margin < 0 : high + margin >= RH_TILE);
}

static rh_code add_margin(tile_set *set, int dimension, int margin, rh_status *status)
{
    tile_set occupied = *set;  // walk the old slots while adding to a new set
    *set = (tile_set){0};
    rh_code code = RH_OK;
    for (uint32_t s = 0; s < occupied.capacity && code == RH_OK; s++) {
        const entry *e = &occupied.slots[s];
        if (!e->used) continue;
        for (int n = 0; n < RH_NEAR; n++) {
            int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
            if (dimension == 2 && dz != 0) continue;
            if (!reaches(e->low[0], e->high[0], dx, margin) || !reaches(e->low[1], e->high[1], dy, margin) ||
                !reaches(e->low[2], e->high[2], dz, margin))
                continue;
            if (!set_add(set, (rh_tile){e->at.x + dx, e->at.y + dy, e->at.z + dz}, status)) code = RH_MEMORY;
        }
    }
    rh_free(occupied.slots);
    return code;
}

typedef struct keyed { uint64_t key; rh_tile at; } keyed;

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const keyed *)a)->key, y = ((const keyed *)b)->key;
    return x < y ? -1 : x > y;
}

static rh_code order_tiles(rh_tiles *tiles, const tile_set *set, rh_arena *arena, rh_status *status)
{
    tiles->count = (int32_t)set->count;
    tiles->at = rh_arena_take(arena, (set->count + 1) * sizeof(rh_tile), status);
    tiles->near = rh_arena_take(arena, (set->count + 1) * sizeof *tiles->near, status);
    uint32_t capacity = 64;
    while (capacity < 2 * set->count) capacity *= 2;
    tiles->slot_mask = capacity - 1;
    tiles->slots = rh_arena_take(arena, capacity * sizeof(int32_t), status);
    rh_arena_mark mark = rh_arena_save(arena);
    keyed *sorted = rh_arena_take(arena, (set->count + 1) * sizeof *sorted, status);
    if (!tiles->at || !tiles->near || !tiles->slots || !sorted) return RH_MEMORY;

    uint32_t n = 0;
    for (uint32_t s = 0; s < set->capacity; s++)
        if (set->slots[s].used) sorted[n++] = (keyed){key_of(set->slots[s].at), set->slots[s].at};
    qsort(sorted, n, sizeof *sorted, by_key);
    memset(tiles->slots, 0xff, capacity * sizeof(int32_t));
    for (uint32_t t = 0; t < n; t++) {
        tiles->at[t] = sorted[t].at;
        uint32_t s = slot_hash(sorted[t].at) & tiles->slot_mask;
        while (tiles->slots[s] >= 0) s = (s + 1) & tiles->slot_mask;
        tiles->slots[s] = (int32_t)t;
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
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

rh_code rh_tiles_build(rh_tiles *tiles, int dimension, double h, const rh_vec3 *positions, int64_t count, int margin,
                       rh_arena *arena, rh_status *status)
{
    RH_ASSERT(margin >= 1 && margin <= RH_TILE);
    *tiles = (rh_tiles){.dimension = dimension, .layers = dimension == 3 ? RH_TILE : 1,
                        .h = (float)h, .inverse_h = (float)(1 / h)};
    tiles->cells = RH_TILE * RH_TILE * tiles->layers;
    tile_set set = {0};
    rh_code code = collect(tiles, positions, count, &set, status);
    if (code == RH_OK) code = add_margin(&set, dimension, margin, status);
    if (code == RH_OK && set.count > (uint32_t)(UINT32_MAX / 2 / tiles->cells))
        code = rh_fail(status, RH_NUMERIC, "the material is spread over %u tiles: more than the grid can number", set.count);
    if (code == RH_OK) code = order_tiles(tiles, &set, arena, status);
    if (code == RH_OK) link_neighbours(tiles);
    rh_free(set.slots);
    return code;
}

int32_t rh_tiles_find(const rh_tiles *tiles, rh_tile at)
{
    for (uint32_t s = slot_hash(at) & tiles->slot_mask; tiles->slots[s] >= 0; s = (s + 1) & tiles->slot_mask) {
        rh_tile seen = tiles->at[tiles->slots[s]];
        if (seen.x == at.x && seen.y == at.y && seen.z == at.z) return tiles->slots[s];
    }
    return -1;
}

bool rh_tiles_is_valid(const rh_tiles *tiles)
{
    for (int32_t t = 0; t < tiles->count; t++) {
        if (t && key_of(tiles->at[t - 1]) >= key_of(tiles->at[t])) return false;
        for (int n = 0; n < RH_NEAR; n++) {
            int32_t other = tiles->near[t][n];
            if (other < -1 || other >= tiles->count) return false;
            if (other >= 0 && tiles->near[other][RH_NEAR - 1 - n] != t) return false;
        }
    }
    if (tiles->first)
        for (int64_t c = 0; c < rh_tiles_values(tiles); c++)
            if (tiles->first[c] > tiles->first[c + 1]) return false;
    return true;
}

float *rh_field_new(const rh_tiles *tiles, rh_arena *arena, rh_status *status)
{
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

// --- blocks -------------------------------------------------------------------------------------------------------
// The part of one axis that a neighbour in direction d (-1, 0, 1) gives: cells [from, from + count) of its tile, placed at `to`.
typedef struct span { int from, to, count; } span;

static span span_of(int d, int halo)
{
    if (d < 0) return (span){RH_TILE - halo, 0, halo};
    if (d == 0) return (span){0, halo, RH_TILE};
    return (span){0, halo + RH_TILE, halo};
}

// One body for floats and bytes: only the element size differs.
static void load(const rh_tiles *tiles, const char *field, size_t size, int32_t t, int halo, const void *missing, char *block)
{
    int side = rh_block_side(halo);
    bool flat = tiles->dimension == 2;
    for (int n = flat ? 9 : 0; n < (flat ? 18 : RH_NEAR); n++) {
        span x = span_of(n % 3 - 1, halo), y = span_of(n / 3 % 3 - 1, halo);
        span z = flat ? (span){0, 0, 1} : span_of(n / 9 - 1, halo);
        int32_t other = tiles->near[t][n];
        const char *from = other < 0 ? NULL : field + (size_t)other * (size_t)tiles->cells * size;
        for (int k = 0; k < z.count; k++)
            for (int j = 0; j < y.count; j++) {
                char *to = block + (size_t)(x.to + side * ((y.to + j) + side * (z.to + k))) * size;
                if (from) memcpy(to, from + (size_t)(x.from + RH_TILE * ((y.from + j) + RH_TILE * (z.from + k))) * size, (size_t)x.count * size);
                else
                    for (int i = 0; i < x.count; i++) memcpy(to + (size_t)i * size, missing, size);
            }
    }
}

void rh_block_load(const rh_tiles *tiles, const float *field, int32_t t, int halo, float missing, float *block)
{
    load(tiles, (const char *)field, sizeof(float), t, halo, &missing, (char *)block);
}

void rh_block_load_u8(const rh_tiles *tiles, const uint8_t *field, int32_t t, int halo, uint8_t missing, uint8_t *block)
{
    load(tiles, (const char *)field, 1, t, halo, &missing, (char *)block);
}
