// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Each block of particles is read once, with a hash table of the tiles that it has met. Particles that follow each
// other in one tile are counted together, so the table is asked once for many.
#include "grid/tile_keys.h"

#include <string.h>
#include "base/parallel.h"
#include "base/simd.h"

// Blocks with more tiles than this (unsorted input, wide spray) are done a second time with room for all.
enum { FEW = 64, SLOTS = 2 * RH_BLOCK };

// The tiles seen in a block, by hash. Slots hold entry + 1; only used ones are cleared again.
typedef struct table {
    uint16_t slots[SLOTS];
    uint32_t used[RH_BLOCK];
    rh_tile_entry entries[RH_BLOCK];
    int count;
} table;

static int find_entry(table *seen, rh_tile at)
{
    uint32_t s = ((uint32_t)at.x * 73856093u ^ (uint32_t)at.y * 19349663u ^ (uint32_t)at.z * 83492791u) % SLOTS;
    for (; seen->slots[s]; s = (s + 1) % SLOTS) {
        const rh_tile *other = &seen->entries[seen->slots[s] - 1].at;
        if (other->x == at.x && other->y == at.y && other->z == at.z) return seen->slots[s] - 1;
    }
    seen->used[seen->count] = s;
    seen->slots[s] = (uint16_t)(seen->count + 1);
    seen->entries[seen->count] = (rh_tile_entry){at, {{RH_TILE, RH_TILE, RH_TILE}, {-1, -1, -1}}, 0, 0, 0};
    return seen->count++;
}

static void join_cells(rh_tile_entry *entry, rh_i4 low, rh_i4 high, uint32_t count)
{
    rh_tile_box box;
    for (int a = 0; a < 3; a++) box.low[a] = (int8_t)low[a], box.high[a] = (int8_t)high[a];
    rh_tile_box_join(&entry->box, &box);
    entry->count += count;
}

// Keys of the particles [begin, end); returns the first that is not in the world, or -1.
static int64_t block_keys(const rh_tiles *tiles, const rh_vec3 *positions, int64_t begin, int64_t end, table *seen,
                          uint32_t *keys)
{
    rh_i4 last = {INT32_MIN, 0, 0, 0}, low = {0}, high = {0};
    float flat = tiles->dimension == 3 ? 1 : 0;
    int entry = -1;
    uint32_t run = 0;
    for (int64_t p = begin; p < end; p++) {
        rh_f4 g = (rh_f4){positions[p].x, positions[p].y, positions[p].z * flat, 0} * tiles->inverse_h;
        rh_i4 lost = ~(rh_f4_abs(g) < (float)RH_FAR_CELLS);
        if (rh_i4_any(lost)) return p;
        rh_i4 cell = rh_f4_floor(g), at = cell >> 3, local = cell & 7;
        if (rh_i4_any(at != last)) {
            if (run) join_cells(&seen->entries[entry], low, high, run);
            entry = find_entry(seen, (rh_tile){at[0], at[1], at[2]});
            low = high = local;
            last = at;
            run = 0;
        }
        low = rh_i4_min(low, local);
        high = rh_i4_max(high, local);
        run++;
        keys[p] = (uint32_t)entry << RH_CELL_BITS | (uint32_t)(local[0] + RH_TILE * (local[1] + RH_TILE * local[2]));
    }
    if (run) join_cells(&seen->entries[entry], low, high, run);
    return -1;
}

// Fills blocks whose list is not NULL (or `all`, into their share of `few`), counts the others. Returns the first lost
// particle, or -1.
static int64_t fill_blocks(rh_tile_keys *keys, const rh_tiles *tiles, const rh_vec3 *positions,
                           rh_tile_entry (*few)[FEW])
{
    int64_t lost = INT64_MAX;
#pragma omp parallel reduction(min : lost)
    {
        static _Thread_local table seen;
#pragma omp for schedule(static)
        for (int64_t b = 0; b < keys->block_count; b++) {
            rh_tile_block *block = &keys->blocks[b];
            if (!few && block->count <= FEW) continue;  // done the first time
            seen.count = 0;
            int64_t bad = block_keys(tiles, positions, b * RH_BLOCK, rh_block_end(b, keys->count), &seen, keys->of);
            if (bad >= 0 && bad < lost) lost = bad;
            block->count = seen.count;
            if (few) block->entries = few[b];
            if (!few || seen.count <= FEW)
                memcpy(block->entries, seen.entries, (size_t)seen.count * sizeof *block->entries);
            for (int e = 0; e < seen.count; e++) seen.slots[seen.used[e]] = 0;
        }
    }
    return lost == INT64_MAX ? -1 : lost;
}

rh_code rh_tile_keys_make(rh_tile_keys **out, const rh_tiles *tiles, const rh_vec3 *positions, int64_t count,
                          rh_arena *arena, rh_status *status)
{
    RH_ASSERT(count >= 0 && (positions || count == 0));
    if (count >= UINT32_MAX) return rh_fail(status, RH_NUMERIC, "more than 4 billion particles in one process");
    rh_arena_mark mark = rh_arena_save(arena);
    rh_tile_keys *keys = rh_arena_take(arena, sizeof *keys, status);
    if (!keys) return RH_MEMORY;
    *keys = (rh_tile_keys){.count = count, .block_count = rh_blocks(count), .mark = mark};
    keys->of = rh_arena_take(arena, (size_t)(count + 1) * sizeof *keys->of, status);
    keys->blocks = rh_arena_take(arena, (size_t)(keys->block_count + 1) * sizeof *keys->blocks, status);
    rh_tile_entry(*few)[FEW] = rh_arena_take(arena, (size_t)(keys->block_count + 1) * sizeof *few, status);
    if (!keys->of || !keys->blocks || !few) return RH_MEMORY;
    int64_t lost = fill_blocks(keys, tiles, positions, few), more = 0;
    if (lost >= 0)
        return rh_fail(status, RH_NUMERIC,
                       "the particle with index %lld is lost: position (%g, %g, %g) m is not a number or too far away",
                       (long long)lost, (double)positions[lost].x, (double)positions[lost].y,
                       (double)positions[lost].z);
    for (int64_t b = 0; b < keys->block_count; b++) {
        keys->entry_count += keys->blocks[b].count;
        if (keys->blocks[b].count > FEW) more += keys->blocks[b].count;
    }
    *out = keys;
    if (more == 0) return RH_OK;
    rh_tile_entry *rest = rh_arena_take(arena, (size_t)more * sizeof *rest, status);
    if (!rest) return RH_MEMORY;
    for (int64_t b = 0; b < keys->block_count; b++)
        if (keys->blocks[b].count > FEW) keys->blocks[b].entries = rest, rest += keys->blocks[b].count;
    fill_blocks(keys, tiles, positions, NULL);
    return RH_OK;
}
