// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A flood fill over tiles: one tile at a time, 64 cells at once, until nothing is added. The result does not depend on
// the order: what is reached is what is connected.
#include "physics/pushed.h"

#include <string.h>
#include "base/simd.h"
#include "grid/rows.h"

static const float WHOLE = 0.999f;      // open share of a face that no wall is near to
static const float MOSTLY_FREE = 0.5f;  // filling, of its room: emptier cells have room left

typedef struct flood {
    const rh_pushed_step *step;
    rh_bits *seeds;  // cells under pressure where walls take room
    rh_bits *reached, *pressed, *free;
    rh_bits *open[3], *whole[3];  // lower faces: of any open share, of all
    int32_t *queue;               // tiles to look at again, a ring
    bool *waits;                  // per tile: is in the queue
    int32_t first, count;
    int32_t *touched, touched_count;  // tiles that this region was looked for in
    bool *was_touched;
} flood;

static void wait(flood *f, int32_t t)
{
    if (t < 0 || f->waits[t]) return;
    int32_t size = f->step->tiles->count;
    f->queue[(f->first + f->count++) % size] = t;
    f->waits[t] = true;
    if (!f->was_touched[t]) f->touched[f->touched_count++] = t;
    f->was_touched[t] = true;
}

static void wait_around(flood *f, int32_t t)
{
    for (int a = 0; a < f->step->tiles->dimension; a++) {
        wait(f, f->step->tiles->near[t][RH_HERE - rh_near_step[a]]);
        wait(f, f->step->tiles->near[t][RH_HERE + rh_near_step[a]]);
    }
}

static void look_at_tile(flood *f, int32_t t)
{
    const rh_tiles *tiles = f->step->tiles;
    const rh_cut_cells *was = f->step->before, *is = f->step->after;
    rh_rows q = rh_layout_rows(f->step->layout, f->step->q, t);
    rh_f8 zero = rh_f8_all(0);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int shift = 8 * (r & 7), layer = r >> 3;
        rh_f8 fill = rh_f8_load(f->step->cells + (int64_t)t * tiles->cells + 8 * r);
        int taken = rh_i8_bits((fill > zero) & (rh_f8_load(was->room[t] + 8 * r) > rh_f8_load(is->room[t] + 8 * r)));
        f->free[t].layer[layer] |= (uint64_t)rh_i8_bits(fill < MOSTLY_FREE * rh_f8_load(is->room[t] + 8 * r)) << shift;
        int pressed = rh_i8_bits(rh_f8_load(q.here + 8 * r) > zero);
        f->seeds[t].layer[layer] |= (uint64_t)(taken & pressed) << shift;
        f->pressed[t].layer[layer] |= (uint64_t)pressed << shift;
        for (int a = 0; a < tiles->dimension; a++) {
            rh_f8 pass = rh_f8_load(is->pass[a][t] + 8 * r);
            f->open[a][t].layer[layer] |= (uint64_t)rh_i8_bits(pass > zero) << shift;
            f->whole[a][t].layer[layer] |= (uint64_t)rh_i8_bits(pass > rh_f8_all(WHOLE)) << shift;
        }
    }
}

// The cells of a tile that are reached from those reached before, by one step to a neighbour.
static rh_bits next_of(const flood *f, int32_t t)
{
    const rh_tiles *tiles = f->step->tiles;
    rh_bits out = f->reached[t];
    for (int a = 0; a < tiles->dimension; a++) {
        rh_bits below = rh_bits_below(tiles, f->reached, t, a), above = rh_bits_above(tiles, f->reached, t, a),
                way_up = rh_bits_above(tiles, f->open[a], t, a);
        for (int k = 0; k < tiles->layers; k++)
            out.layer[k] |= (below.layer[k] & f->open[a][t].layer[k]) | (above.layer[k] & way_up.layer[k]);
    }
    for (int k = 0; k < tiles->layers; k++) out.layer[k] &= f->pressed[t].layer[k];
    return out;
}

// Until nothing more is reached within the tile.
static bool spread_in_tile(flood *f, int32_t t)
{
    bool any = false;
    for (;;) {
        rh_bits next = next_of(f, t);
        if (memcmp(&next, &f->reached[t], sizeof next) == 0) return any;
        f->reached[t] = next;
        any = true;
    }
}

static void spread(flood *f)
{
    const rh_tiles *tiles = f->step->tiles;
    while (f->count > 0) {
        int32_t t = f->queue[f->first];
        f->first = (f->first + 1) % tiles->count;
        f->count--;
        f->waits[t] = false;
        if (spread_in_tile(f, t)) wait_around(f, t);
    }
}

// --- ways out --------------------------------------------------------------------------------------------------------
// Whole faces between the region's cells of a tile and cells with much room left. Faces that walls close in part are no
// wide way out.
static int wide_exits(const flood *f, int32_t t)
{
    const rh_tiles *tiles = f->step->tiles;
    int count = 0;
    for (int a = 0; a < tiles->dimension; a++) {
        rh_bits below = rh_bits_below(tiles, f->reached, t, a), free_below = rh_bits_below(tiles, f->free, t, a);
        for (int k = 0; k < tiles->layers; k++) {
            uint64_t out = (below.layer[k] & f->free[t].layer[k]) | (f->reached[t].layer[k] & free_below.layer[k]);
            count += __builtin_popcountll(out & f->whole[a][t].layer[k]);
        }
    }
    return count;
}

// Cells of the region where walls take room.
static int pushing_cells(const flood *f, int32_t t)
{
    int count = 0;
    for (int k = 0; k < f->step->tiles->layers; k++)
        count += __builtin_popcountll(f->reached[t].layer[k] & f->seeds[t].layer[k]);
    return count;
}

// The region that is connected to the seeds of a tile is added to `out` unless it has a wide way out; its seeds are
// removed either way.
static void take_region(flood *f, int32_t seed, rh_bits *out)
{
    const rh_tiles *tiles = f->step->tiles;
    f->touched_count = 0;
    f->reached[seed] = f->seeds[seed];
    wait(f, seed);
    wait_around(f, seed);
    spread(f);
    int exits = 0, pushing = 0;
    for (int32_t n = 0; n < f->touched_count; n++)
        exits += wide_exits(f, f->touched[n]), pushing += pushing_cells(f, f->touched[n]);
    for (int32_t n = 0; n < f->touched_count; n++) {
        int32_t t = f->touched[n];
        for (int k = 0; k < tiles->layers; k++) {
            f->seeds[t].layer[k] &= ~f->reached[t].layer[k];
            if (f->step->always || exits < pushing) out[t].layer[k] |= f->reached[t].layer[k];
        }
        f->reached[t] = (rh_bits){{0}};
        f->was_touched[t] = false;
    }
}

// --- all of it -------------------------------------------------------------------------------------------------------
static rh_code take(flood *f, rh_arena *arena, rh_status *status)
{
    size_t size = (size_t)f->step->tiles->count + 1;
    f->reached = rh_arena_take_zero(arena, size * sizeof *f->reached, status);
    f->seeds = rh_arena_take_zero(arena, size * sizeof *f->seeds, status);
    f->pressed = rh_arena_take_zero(arena, size * sizeof *f->pressed, status);
    f->free = rh_arena_take_zero(arena, size * sizeof *f->free, status);
    f->queue = rh_arena_take(arena, size * sizeof *f->queue, status);
    f->touched = rh_arena_take(arena, size * sizeof *f->touched, status);
    f->waits = rh_arena_take_zero(arena, size, status);
    f->was_touched = rh_arena_take_zero(arena, size, status);
    if (!f->reached || !f->seeds || !f->pressed || !f->free || !f->queue || !f->touched || !f->waits || !f->was_touched)
        return RH_MEMORY;
    for (int a = 0; a < f->step->tiles->dimension; a++) {
        f->open[a] = rh_arena_take_zero(arena, size * sizeof *f->open[a], status);
        f->whole[a] = rh_arena_take_zero(arena, size * sizeof *f->whole[a], status);
        if (!f->open[a] || !f->whole[a]) return RH_MEMORY;
    }
    return RH_OK;
}

rh_code rh_pushed_find(const rh_pushed_step *step, const rh_bits **pushed, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = step->tiles;
    flood f = {.step = step};
    bool any = false;
    *pushed = NULL;
    rh_arena_mark before = rh_arena_save(arena);
    rh_bits *out = rh_arena_take_zero(arena, ((size_t)tiles->count + 1) * sizeof *out, status);
    if (!out) return RH_MEMORY;
    rh_arena_mark mark = rh_arena_save(arena);
    RH_TRY(take(&f, arena, status));
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++) look_at_tile(&f, t);
    for (int32_t t = 0; t < tiles->count; t++)
        if (rh_bits_any(tiles, &f.seeds[t])) take_region(&f, t, out);
    for (int32_t t = 0; t < tiles->count; t++) any = any || rh_bits_any(tiles, &out[t]);
    rh_arena_restore(arena, any ? mark : before);
    if (any) *pushed = out;
    return RH_OK;
}
