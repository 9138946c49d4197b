// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Topology, in order: which tiles hold particles, which neighbours the margin reaches, Morton order, hash, neighbour
// table. All memory comes from the arena.
#include "grid/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
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

// --- which tiles hold particles -----------------------------------------------------------------------------------
// Particles come nearly sorted, so consecutive ones share tiles: each block of them is a short list of runs. Runs are
// counted, written, sorted by tile and joined; nothing here depends on the order of particles or threads.
typedef struct run {
    uint64_t key;
    rh_tile at;
    int8_t low[3], high[3];  // box of occupied cells
} run;

static bool is_lost(rh_vec3 p, float inverse_h)
{
    return !(fabsf(p.x * inverse_h) < FAR_CELLS && fabsf(p.y * inverse_h) < FAR_CELLS && fabsf(p.z * inverse_h) < FAR_CELLS);
}

static void join_cell(run *r, const int8_t low[3], const int8_t high[3])
{
    for (int a = 0; a < 3; a++) {
        if (low[a] < r->low[a]) r->low[a] = low[a];
        if (high[a] > r->high[a]) r->high[a] = high[a];
    }
}

// Runs of one block of particles; `out` NULL only counts. *lost becomes the first particle that is not in the world.
static int64_t block_runs(const rh_tiles *tiles, const rh_vec3 *positions, int64_t begin, int64_t end, run *out, int64_t *lost)
{
    int64_t count = 0;
    rh_tile last = {INT32_MIN, 0, 0};
    for (int64_t p = begin; p < end; p++) {
        if (is_lost(positions[p], tiles->inverse_h)) {
            if (*lost < 0) *lost = p;
            continue;
        }
        int x = rh_floor(positions[p].x * tiles->inverse_h), y = rh_floor(positions[p].y * tiles->inverse_h);
        int z = tiles->dimension == 3 ? rh_floor(positions[p].z * tiles->inverse_h) : 0;
        rh_tile at = {x >> 3, y >> 3, z >> 3};
        int8_t cell[3] = {(int8_t)(x & 7), (int8_t)(y & 7), (int8_t)(z & 7)};
        if (at.x != last.x || at.y != last.y || at.z != last.z) {
            if (out) out[count] = (run){key_of(at), at, {cell[0], cell[1], cell[2]}, {cell[0], cell[1], cell[2]}};
            count++;
            last = at;
        } else if (out) {
            join_cell(&out[count - 1], cell, cell);
        }
    }
    return count;
}

static int run_order(const void *a, const void *b)
{
    uint64_t x = ((const run *)a)->key, y = ((const run *)b)->key;
    return x < y ? -1 : x > y;
}

// Occupied tiles, sorted, one run each.
static rh_code collect(const rh_tiles *tiles, const rh_vec3 *positions, int64_t count, rh_arena *arena, run **out, int64_t *out_count, rh_status *status)
{
    int64_t blocks = rh_blocks(count), total = 0, lost = -1;
    int64_t *starts = rh_arena_take(arena, (size_t)(blocks + 1) * sizeof *starts, status);
    int64_t *missing = rh_arena_take(arena, (size_t)(blocks + 1) * sizeof *missing, status);
    if (!starts || !missing) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        missing[b] = -1;
        starts[b] = block_runs(tiles, positions, b * RH_BLOCK, rh_block_end(b, count), NULL, &missing[b]);
    }
    for (int64_t b = 0; b < blocks; b++) {
        int64_t n = starts[b];
        starts[b] = total;
        total += n;
        if (lost < 0) lost = missing[b];
    }
    if (lost >= 0)
        return rh_fail(status, RH_NUMERIC, "particle %lld is lost: position (%g, %g, %g) is not a number or too far away",
                       (long long)lost, (double)positions[lost].x, (double)positions[lost].y, (double)positions[lost].z);
    run *runs = rh_arena_take(arena, (size_t)(total + 1) * sizeof *runs, status);
    if (!runs) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) block_runs(tiles, positions, b * RH_BLOCK, rh_block_end(b, count), runs + starts[b], &missing[b]);
    qsort(runs, (size_t)total, sizeof *runs, run_order);
    int64_t n = 0;
    for (int64_t i = 0; i < total; i++) {
        if (n && runs[n - 1].key == runs[i].key) join_cell(&runs[n - 1], runs[i].low, runs[i].high);
        else runs[n++] = runs[i];
    }
    *out = runs;
    *out_count = n;
    return RH_OK;
}

// --- margin, order, neighbours ------------------------------------------------------------------------------------
typedef struct keyed { uint64_t key; rh_tile at; } keyed;

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const keyed *)a)->key, y = ((const keyed *)b)->key;
    return x < y ? -1 : x > y;
}

// Does a margin of `margin` cells around the occupied cells [low, high] reach the neighbour in direction d (-1, 0, 1)?
static bool reaches(int8_t low, int8_t high, int d, int margin)
{
    return d == 0 || (d < 0 ? low - margin < 0 : high + margin >= RH_TILE);
}

// All tiles within the margin, sorted and unique.
static rh_code add_margin(const run *runs, int64_t run_count, int dimension, int margin, rh_arena *arena, keyed **out, int64_t *out_count, rh_status *status)
{
    keyed *all = rh_arena_take(arena, (size_t)(run_count * RH_NEAR + 1) * sizeof *all, status);
    if (!all) return RH_MEMORY;
    int64_t count = 0, unique = 0;
    for (int64_t r = 0; r < run_count; r++)
        for (int n = 0; n < RH_NEAR; n++) {
            int d[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            bool in = dimension == 3 || d[2] == 0;
            for (int a = 0; a < 3; a++) in = in && reaches(runs[r].low[a], runs[r].high[a], d[a], margin);
            if (!in) continue;
            rh_tile at = {runs[r].at.x + d[0], runs[r].at.y + d[1], runs[r].at.z + d[2]};
            all[count++] = (keyed){key_of(at), at};
        }
    qsort(all, (size_t)count, sizeof *all, by_key);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || all[i].key != all[i - 1].key) all[unique++] = all[i];
    *out = all;
    *out_count = unique;
    return RH_OK;
}

static uint32_t slot_hash(rh_tile t) { return (uint32_t)(rh_mix64(key_of(t)) >> 20); }

static uint32_t slot_capacity(int64_t count)
{
    uint32_t capacity = 64;
    while (capacity < 2 * count) capacity *= 2;
    return capacity;
}

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

rh_code rh_tiles_build(rh_tiles *tiles, int dimension, double h, const rh_vec3 *positions, int64_t count, int margin,
                       rh_arena *arena, rh_status *status)
{
    RH_ASSERT(margin >= 1 && margin <= RH_TILE);
    *tiles = (rh_tiles){.dimension = dimension, .layers = dimension == 3 ? RH_TILE : 1,
                        .h = (float)h, .inverse_h = (float)(1 / h)};
    tiles->cells = RH_TILE * RH_TILE * tiles->layers;
    run *runs = NULL;
    keyed *sorted = NULL;
    int64_t run_count = 0, tile_count = 0;
    RH_TRY(collect(tiles, positions, count, arena, &runs, &run_count, status));
    RH_TRY(add_margin(runs, run_count, dimension, margin, arena, &sorted, &tile_count, status));
    if (tile_count > INT32_MAX / tiles->cells)
        return rh_fail(status, RH_NUMERIC, "the material is spread over %lld tiles: more than the grid can number", (long long)tile_count);

    tiles->count = (int32_t)tile_count;
    tiles->slot_mask = slot_capacity(tile_count) - 1;
    tiles->at = rh_arena_take(arena, (size_t)(tile_count + 1) * sizeof(rh_tile), status);
    tiles->near = rh_arena_take(arena, (size_t)(tile_count + 1) * sizeof *tiles->near, status);
    tiles->slots = rh_arena_take(arena, ((size_t)tiles->slot_mask + 1) * sizeof(int32_t), status);
    if (!tiles->at || !tiles->near || !tiles->slots) return RH_MEMORY;
    for (int32_t t = 0; t < tiles->count; t++) tiles->at[t] = sorted[t].at;
    fill_slots(tiles);
    link_neighbours(tiles);
    return RH_OK;
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

// One body for floats and bytes, for fields in one piece (`field`) or with tiles apart (`apart`). Inlined with a constant size, so that whole rows become a register move and the ends a
// few; calls of memcpy for eight values took a twelfth of a step.
static inline __attribute__((always_inline)) void load(const rh_tiles *tiles, const char *field, const float *const *apart, size_t size, int32_t t, int halo,
                                                     const void *missing, char *block)
{
    int side = rh_block_side(halo);
    bool flat = tiles->dimension == 2;
    for (int n = flat ? 9 : 0; n < (flat ? 18 : RH_NEAR); n++) {
        span x = span_of(n % 3 - 1, halo), y = span_of(n / 3 % 3 - 1, halo);
        span z = flat ? (span){0, 0, 1} : span_of(n / 9 - 1, halo);
        int32_t other = tiles->near[t][n];
        const char *from = other < 0 ? NULL : apart ? (const char *)apart[other] : field + (size_t)other * (size_t)tiles->cells * size;
        for (int k = 0; k < z.count; k++)
            for (int j = 0; j < y.count; j++) {
                char *to = block + (size_t)(x.to + side * ((y.to + j) + side * (z.to + k))) * size;
                const char *row = from ? from + (size_t)(x.from + RH_TILE * ((y.from + j) + RH_TILE * (z.from + k))) * size : NULL;
                if (row && x.count == RH_TILE) memcpy(to, row, RH_TILE * size);
                else
                    for (int i = 0; i < x.count; i++) memcpy(to + (size_t)i * size, row ? row + (size_t)i * size : missing, size);
            }
    }
}

void rh_block_load(const rh_tiles *tiles, const float *field, int32_t t, int halo, float missing, float *block)
{
    load(tiles, (const char *)field, NULL, sizeof(float), t, halo, &missing, (char *)block);
}

void rh_block_load_apart(const rh_tiles *tiles, const float *const *apart, int32_t t, int halo, float missing, float *block)
{
    load(tiles, NULL, apart, sizeof(float), t, halo, &missing, (char *)block);
}

void rh_block_load_u8(const rh_tiles *tiles, const uint8_t *field, int32_t t, int halo, uint8_t missing, uint8_t *block)
{
    load(tiles, (const char *)field, NULL, 1, t, halo, &missing, (char *)block);
}
