// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// In water at rest p = rho g (level - height): every full cell gives the level, and a tile whose cells agree on it is
// at rest. A tile without full cells takes the mean level of those beside it. Sheets that run down a wall, or drops on
// it, far from full cells or above their level, have no level and fall as they should. What was tried instead: a rim
// beside cells with pressure that falls no faster than they do, as rh_limit_support has it for what lies on them,
// reduced the motion on a slope of 1:5 to a third and did nothing at 1:20; more PIC only slowed what ran. Without the
// test whether a tile is at rest, waves a cell high that ran up a beach hung there.
#include "physics/water_edge.h"

#include <math.h>
#include <string.h>
#include "grid/rows.h"

// Least room of cells whose pressure gives the level: smoothed walls leave the pressure next to them uncertain.
static const float OPEN = 0.95f;
// Cells, root mean square: how far the levels of the full cells of a tile at rest may differ. A surface that slopes by
// 1:250 has as much. (With 0.005 some edges trembled on, with 0.02 small waves stopped sooner.)
static const float AGREES = 0.01f;
// Room of the cell below the water: with less it is wall.
static const float FLOOR = 0.5f;
// Cells: how far below and above the level the centres of held cells may be. Full cells give a level that is a seventh
// of a cell too low, as their topmost neighbours are never quite full.
static const float BELOW = 1, ABOVE = 0.8f;
// Walls bear water that lies on them along axes with at least this part of gravity (as thin_film.c has it).
static const float STEEPEST = 0.25f;
// Number of tiles beyond full cells to which the level is extended: on a slope of 1:40 the last 40 cells are thin.
enum { SWEEPS = 8 };

static const float ZEROS[RH_CELLS], ONES[RH_CELLS] = {[0 ... RH_CELLS - 1] = 1};

typedef struct level {
    float height;  // m
    enum { UNKNOWN, KNOWN, MOVES } state;
} level;

// Heights (m) of the centres of a row.
static rh_f8 heights_of(const rh_water_edge *e, int32_t t, int r)
{
    static const rh_f8 LANES = {0, 1, 2, 3, 4, 5, 6, 7};
    float g = rh_v3_length(e->gravity), first = -rh_v3_dot(rh_cell_center(e->tiles, t, 0, r & 7, r >> 3), e->gravity);
    return (first - e->gravity.x * e->tiles->h * LANES) / rh_f8_all(g);
}

static level find_level(const rh_water_edge *e, int32_t t)
{
    const uint8_t *full = e->full + (int64_t)t * (e->tiles->cells / 8);
    rh_rows q = rh_layout_rows(e->layout, e->q, t);
    float sum = 0, squares = 0, first = 0;
    int count = 0;
    for (int r = 0; r < e->tiles->cells / 8; r++) {
        int bits = full[r] ? full[r] & rh_i8_bits(rh_f8_load(e->room[t] + 8 * r) > rh_f8_all(OPEN)) : 0;
        if (!bits) continue;
        rh_f8 found = heights_of(e, t, r) + e->head * rh_f8_load(q.here + 8 * r);
        if (count == 0) first = found[__builtin_ctz((unsigned)bits)];
        found = rh_f8_masked(found - first, bits);
        sum += rh_f8_sum(found);
        squares += rh_f8_sum(found * found);
        count += __builtin_popcount((unsigned)bits);
    }
    if (count == 0) return (level){0, UNKNOWN};
    float mean = sum / (float)count, variance = squares / (float)count - mean * mean, most = AGREES * e->tiles->h;
    return (level){first + mean, variance <= most * most ? KNOWN : MOVES};
}

static level mean_beside(const rh_tiles *tiles, const level *levels, int32_t t)
{
    float sum = 0;
    int count = 0;
    for (int a = 0; a < tiles->dimension; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t other = tiles->near[t][RH_HERE + side * rh_near_step[a]];
            if (other < 0 || levels[other].state != KNOWN) continue;
            sum += levels[other].height;
            count++;
        }
    return (level){count ? sum / (float)count : 0, count ? KNOWN : UNKNOWN};
}

static void spread(const rh_tiles *tiles, level *levels, level *next)
{
    for (int n = 0; n < SWEEPS; n++) {
#pragma omp parallel for schedule(static, 16)
        for (int32_t t = 0; t < tiles->count; t++)
            next[t] = levels[t].state != UNKNOWN ? levels[t] : mean_beside(tiles, levels, t);
        memcpy(levels, next, (size_t)tiles->count * sizeof *levels);
    }
}

// Of a row: cells with a wall below them and nothing full above, seen along an axis.
static int thin_bits(const rh_water_edge *e, const rh_rows *room, const rh_bit_rows *full, int a, int r)
{
    bool down_is_low = (&e->gravity.x)[a] < 0;
    int above = down_is_low ? rh_bits_row_above(full, a, r) : rh_bits_row_below(full, a, r);
    rh_f8 under = down_is_low ? rh_row_below(room, a, r) : rh_row_above(room, a, r);
    return ~above & rh_i8_bits(under < rh_f8_all(FLOOR));
}

// Of a row: cells all of whose faces are slow. (Slow along one axis is not enough: a sheet that slides along a flat
// slope is.)
static int slow_bits(const rh_water_edge *e, int32_t t, int r)
{
    rh_f8 most = rh_f8_all(0);
    for (int a = 0; a < e->tiles->dimension; a++) {
        rh_rows u = rh_rows_of(e->tiles, e->before.axis[a], t, ZEROS);
        most = rh_f8_max(most, rh_f8_max(rh_f8_abs(rh_f8_load(u.here + 8 * r)), rh_f8_abs(rh_row_above(&u, a, r))));
    }
    return rh_i8_bits(most < rh_f8_all(e->slow));
}

static void mark_held(const rh_water_edge *e, level at, int32_t t, uint8_t *held)
{
    const rh_tiles *tiles = e->tiles;
    memset(held, 0, (size_t)tiles->cells / 8);
    if (at.state != KNOWN || e->cut->kind[t] == RH_TILE_FREE) return;
    rh_rows room = rh_rows_apart(tiles, e->room, t, ONES);
    rh_bit_rows full = rh_bit_rows_of(tiles, e->full, t);
    float least = STEEPEST * rh_v3_length(e->gravity);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int wet = e->wet[(int64_t)t * (tiles->cells / 8) + r], thin = 0;
        if (!wet) continue;
        for (int a = 0; a < tiles->dimension; a++)
            if (fabsf((&e->gravity.x)[a]) >= least) thin |= thin_bits(e, &room, &full, a, r);
        thin &= wet;
        if (thin) thin &= slow_bits(e, t, r);
        if (!thin) continue;
        rh_f8 off = heights_of(e, t, r) - at.height;
        held[r] = (uint8_t)(thin &
                            rh_i8_bits((off <= rh_f8_all(ABOVE * tiles->h)) & (off >= rh_f8_all(-BELOW * tiles->h))));
    }
}

// Faces between held cells, or between a held cell and one that is not full. (Holding those of full cells, too, was no
// better.)
static void hold_tile(const rh_water_edge *e, const uint8_t *held, int32_t t, rh_faces velocity)
{
    const rh_tiles *tiles = e->tiles;
    rh_bit_rows is = rh_bit_rows_of(tiles, held, t), full = rh_bit_rows_of(tiles, e->full, t);
    for (int a = 0; a < tiles->dimension; a++)
        for (int r = 0; r < tiles->cells / 8; r++) {
            int here = is.here[r], below = rh_bits_row_below(&is, a, r);
            int bits = (here | below) & (here | ~full.here[r]) & (below | ~rh_bits_row_below(&full, a, r));
            if (!bits) continue;
            int64_t at = (int64_t)t * tiles->cells + 8 * r;
            rh_f8 old = rh_f8_load(e->before.axis[a] + at);
            rh_i8 rests = rh_i8_from_bits(bits) & (rh_f8_abs(old) < rh_f8_all(e->slow)) &
                          (rh_f8_load(e->cut->wall[a][t] + 8 * r) == rh_f8_all(0));
            rh_f8_store(velocity.axis[a] + at, rh_f8_select(rests, e->keep * old, rh_f8_load(velocity.axis[a] + at)));
        }
}

rh_code rh_water_edge_hold(const rh_water_edge *e, rh_faces velocity, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = e->tiles;
    RH_ASSERT(rh_faces_fit(tiles, velocity) && rh_v3_length(e->gravity) > 0);
    rh_arena_mark mark = rh_arena_save(arena);
    level *levels = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *levels, status);
    level *next = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *next, status);
    uint8_t *held = rh_arena_take(arena, (size_t)rh_tiles_values(tiles) / 8 + 8, status);
    if (!levels || !next || !held) return RH_MEMORY;
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++) levels[t] = find_level(e, t);
    spread(tiles, levels, next);
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++) mark_held(e, levels[t], t, held + (int64_t)t * (tiles->cells / 8));
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++) hold_tile(e, held, t, velocity);
    rh_arena_restore(arena, mark);
    return RH_OK;
}
