// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles sorted by tile and cell: a stable least-significant-digit radix sort of (cell number, index), 11 bits a
// pass. A stable sort has one result, so neither the number of threads nor the blocks can change it.
#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "grid/tiles.h"

enum { BITS = 11, BUCKETS = 1 << BITS };

typedef struct pair { uint32_t key, index; } pair;

static void make_keys(const rh_tiles *tiles, const rh_vec3 *positions, int64_t begin, int64_t end, pair *pairs)
{
    rh_tile last = {INT32_MIN, 0, 0};
    int32_t t = -1;
    for (int64_t p = begin; p < end; p++) {
        int x = rh_floor(positions[p].x * tiles->inverse_h), y = rh_floor(positions[p].y * tiles->inverse_h);
        int z = tiles->dimension == 3 ? rh_floor(positions[p].z * tiles->inverse_h) : 0;
        rh_tile at = {x >> 3, y >> 3, z >> 3};
        if (at.x != last.x || at.y != last.y || at.z != last.z) {
            t = rh_tiles_find(tiles, at);
            last = at;
            RH_ASSERT(t >= 0);
        }
        uint32_t cell = (uint32_t)((x & 7) + RH_TILE * ((y & 7) + RH_TILE * (z & 7)));
        pairs[p] = (pair){(uint32_t)t * (uint32_t)tiles->cells + cell, (uint32_t)p};
    }
}

// One digit: histogram per block, offsets in (bucket, block) order, scatter.
static void radix_pass(const pair *from, pair *to, int64_t count, int shift, uint32_t (*offsets)[BUCKETS], int64_t blocks, int64_t block_size)
{
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        memset(offsets[b], 0, sizeof offsets[b]);
        int64_t end = (b + 1) * block_size < count ? (b + 1) * block_size : count;
        for (int64_t i = b * block_size; i < end; i++) offsets[b][from[i].key >> shift & (BUCKETS - 1)]++;
    }
    uint32_t running = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        for (int64_t b = 0; b < blocks; b++) {
            uint32_t n = offsets[b][bucket];
            offsets[b][bucket] = running;
            running += n;
        }
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t end = (b + 1) * block_size < count ? (b + 1) * block_size : count;
        for (int64_t i = b * block_size; i < end; i++) to[offsets[b][from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
    }
}

// first[c] = number of particles in cells before c, from the sorted keys. Each particle fills the gap before it.
static void fill_first(rh_tiles *tiles, const pair *sorted, int64_t count)
{
    uint32_t *first = tiles->first;
    int64_t cells = rh_tiles_values(tiles);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i <= count; i++) {
        int64_t from = i == 0 ? 0 : (int64_t)sorted[i - 1].key + 1;
        int64_t to = i == count ? cells : (int64_t)sorted[i].key;
        for (int64_t c = from; c <= to; c++) first[c] = (uint32_t)i;
    }
}

rh_code rh_tiles_sort(rh_tiles *tiles, rh_points *points, rh_arena *arena, rh_status *status)
{
    int64_t count = points->count;
    if (count >= UINT32_MAX) return rh_fail(status, RH_NUMERIC, "more than 4 billion particles in one process");
    tiles->first = rh_arena_take(arena, ((size_t)rh_tiles_values(tiles) + 1) * sizeof(uint32_t), status);
    rh_arena_mark mark = rh_arena_save(arena);
    // Few large blocks: the histograms of a block cost 8 KiB.
    int64_t block_size = count / 64 + 1 > 16384 ? count / 64 + 1 : 16384, blocks = (count + block_size - 1) / block_size;
    pair *pairs = rh_arena_take(arena, (size_t)count * sizeof *pairs, status);
    pair *other = rh_arena_take(arena, (size_t)count * sizeof *pairs, status);
    uint32_t(*offsets)[BUCKETS] = rh_arena_take(arena, (size_t)blocks * sizeof *offsets, status);
    if (!tiles->first || !pairs || !other || !offsets) return RH_MEMORY;

    const rh_vec3 *positions = rh_points_data(points, "P", RH_POINT_VEC3F);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < rh_blocks(count); b++) make_keys(tiles, positions, b * RH_BLOCK, rh_block_end(b, count), pairs);
    for (int shift = 0; shift < 32 && (rh_tiles_values(tiles) >> shift) > 0; shift += BITS) {
        radix_pass(pairs, other, count, shift, offsets, blocks, block_size);
        pair *swap = pairs;
        pairs = other;
        other = swap;
    }
    fill_first(tiles, pairs, count);
    uint32_t *order = (uint32_t *)other;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) order[i] = pairs[i].index;
    rh_code code = rh_points_permute(points, order, count, status);
    rh_arena_restore(arena, mark);
    return code;
}
