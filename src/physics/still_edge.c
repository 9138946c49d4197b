// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The surface of a tile that is at rest has one height; tiles whose liquid is all edge take the mean height of those
// beside them. A cell belongs to the edge when the wall below it is less than THIN under that level.
#include "physics/still_edge.h"

#include <math.h>
#include <string.h>
#include "grid/rows.h"

// Cells, root mean square: how far the heights of the surface in a tile at rest may differ.
static const float AGREES = 0.1f;
// So many heights can agree; with fewer, the level is that of the tiles beside.
enum { ENOUGH = 4 };
// Cells: the surface counts where its uppermost cell and the one below are this far from walls.
static const float APART = 0.25f;
// Cells of liquid at rest above the wall: an edge has no more. Particles lie a little above the level.
static const float THIN = 1, NONE_LEFT = -0.6f;
// Walls bear liquid that lies on them along axes with at least this part of gravity (as thin_film.c has it).
static const float STEEPEST = 0.25f;
// Number of tiles beyond the surface to which the level is extended: on a slope of 1:40 it is not known in the last 60
// to 80 cells.
enum { SWEEPS = 24 };

enum { CELLS = RH_TILE * RH_TILE * RH_TILE };
static const float FAR[CELLS] = {[0 ... CELLS - 1] = 1e9f}, ZEROS[CELLS];

typedef struct level {
    float height;  // m
    enum { UNKNOWN, KNOWN, MOVES } state;
} level;

// Against gravity.
static rh_vec3 up_of(const rh_still_edge *e) { return rh_v3_scale(e->gravity, -1 / rh_v3_length(e->gravity)); }

// Heights (m) of the centres of a row.
static rh_f8 heights_of(const rh_still_edge *e, int32_t t, int r)
{
    static const rh_f8 LANES = {0, 1, 2, 3, 4, 5, 6, 7};
    rh_vec3 up = up_of(e);
    return rh_v3_dot(rh_cell_center(e->tiles, t, 0, r & 7, r >> 3), up) + up.x * e->tiles->h * LANES;
}

// Whether walls bear liquid along an axis.
static bool bears(const rh_still_edge *e, int axis)
{
    return fabsf((&e->gravity.x)[axis]) >= STEEPEST * rh_v3_length(e->gravity);
}

// Of a row: cells all of whose faces are slow. (Slow along one axis is not enough: a sheet that slides along a flat
// slope is.)
static int slow_bits(const rh_still_edge *e, int32_t t, int r)
{
    rh_f8 most = rh_f8_all(0);
    for (int a = 0; a < e->tiles->dimension; a++) {
        rh_rows u = rh_rows_of(e->tiles, e->before.axis[a], t, ZEROS);
        most = rh_f8_max(most, rh_f8_max(rh_f8_abs(rh_f8_load(u.here + 8 * r)), rh_f8_abs(rh_row_above(&u, a, r))));
    }
    return rh_i8_bits(most < rh_f8_all(e->slow));
}

// --- the level -------------------------------------------------------------------------------------------------------
typedef struct heights {
    float first, sum, squares;  // m, from the first one found
    int count;
    bool slow;
} heights;

// Where the surface crosses the ways from the cells of a row to those above them, seen along an axis, if the liquid is
// more than a cell deep there.
static void add_crossings(const rh_still_edge *e, const rh_rows *phi, const rh_rows *wall, int32_t t, int a, int r,
                          heights *found)
{
    rh_vec3 up = up_of(e);
    float rise = (&up.x)[a];  // of the height per way along the axis
    rh_f8 zero = rh_f8_all(0), apart = rh_f8_all(APART * e->tiles->h), here = rh_f8_load(phi->here + 8 * r);
    rh_f8 upper = rise > 0 ? rh_row_above(phi, a, r) : rh_row_below(phi, a, r);
    rh_f8 below = rise > 0 ? rh_row_below(wall, a, r) : rh_row_above(wall, a, r);
    rh_i8 crossed = (here < zero) & (upper >= zero) & (rh_f8_load(wall->here + 8 * r) > apart) & (below > apart);
    int bits = rh_i8_bits(crossed);
    if (!bits) return;
    rh_f8 way = here / rh_f8_select(crossed, here - upper, rh_f8_all(1));
    rh_f8 height = heights_of(e, t, r) + fabsf(rise) * e->tiles->h * way;
    if (found->count == 0) found->first = height[__builtin_ctz((unsigned)bits)];
    height = rh_f8_masked(height - found->first, bits);
    found->sum += rh_f8_sum(height);
    found->squares += rh_f8_sum(height * height);
    found->count += __builtin_popcount((unsigned)bits);
    found->slow = found->slow && (bits & ~slow_bits(e, t, r)) == 0;
}

static level find_level(const rh_still_edge *e, const rh_cut_cells *cut, int32_t t)
{
    rh_rows phi = rh_rows_of(e->tiles, e->phi, t, FAR), wall = rh_rows_apart(e->tiles, cut->distance, t, FAR);
    heights found = {.slow = true};
    for (int a = 0; a < e->tiles->dimension; a++)
        for (int r = 0; r < e->tiles->cells / 8 && bears(e, a); r++) add_crossings(e, &phi, &wall, t, a, r, &found);
    if (found.count == 0 || (found.count < ENOUGH && found.slow)) return (level){0, UNKNOWN};
    float mean = found.sum / (float)found.count, variance = found.squares / (float)found.count - mean * mean;
    float most = AGREES * e->tiles->h;
    return (level){found.first + mean, found.slow && variance <= most * most ? KNOWN : MOVES};
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

// The level goes on through tiles with liquid on walls; at last tiles inside the wall get it too, whose cells are below
// the edge. Returns whether some tile changed.
static bool spread_once(const rh_still_edge *e, const rh_cut_cells *cut, bool dry, level *levels, level *next)
{
    const rh_tiles *tiles = e->tiles;
    int changed = 0;
#pragma omp parallel for schedule(static, 16) reduction(| : changed)
    for (int32_t t = 0; t < tiles->count; t++) {
        bool wet = rh_tile_first(tiles, t) < rh_tile_first(tiles, t + 1);
        bool asks = levels[t].state == UNKNOWN && cut->kind[t] != RH_TILE_FREE && (wet || dry);
        next[t] = asks ? mean_beside(tiles, levels, t) : levels[t];
        changed |= next[t].state != levels[t].state;
    }
    memcpy(levels, next, (size_t)tiles->count * sizeof *levels);
    return changed;
}

static void spread(const rh_still_edge *e, const rh_cut_cells *cut, level *levels, level *next)
{
    for (int n = 0; n < SWEEPS; n++)
        if (!spread_once(e, cut, false, levels, next)) break;
    spread_once(e, cut, true, levels, next);
}

// --- the edge --------------------------------------------------------------------------------------------------------
// Of a row: cells that meet a wall below them, seen along an axis, less than THIN under the level. Where the wall lies
// is read off the distances on both sides of it, which a second wall at the side hardly changes.
static int thin_bits(const rh_still_edge *e, const rh_rows *wall, level at, int a, int32_t t, int r)
{
    rh_f8 zero = rh_f8_all(0), one = rh_f8_all(1), h = rh_f8_all(e->tiles->h), off = rh_f8_load(wall->here + 8 * r);
    rh_vec3 up = up_of(e);
    float rise = (&up.x)[a];  // of the height per way along the axis
    rh_f8 lower = rise > 0 ? rh_row_below(wall, a, r) : rh_row_above(wall, a, r);
    rh_f8 upper = rise > 0 ? rh_row_above(wall, a, r) : rh_row_below(wall, a, r);
    rh_i8 over = (off > zero) & (lower <= zero), inside = (off <= zero) & (upper > zero);
    if (!rh_i8_bits(over | inside)) return 0;
    rh_f8 way = rh_f8_select(over, off - lower, rh_f8_select(inside, upper - off, one));
    rh_f8 bed = heights_of(e, t, r) - fabsf(rise) * h * off / way, thick = at.height - bed;
    return rh_i8_bits((over | inside) & (thick < THIN * h) & (thick > NONE_LEFT * h));
}

static bool mark_cells(const rh_still_edge *e, const rh_cut_cells *cut, level at, int32_t t, uint8_t *cells,
                       uint8_t *beside)
{
    int size = e->tiles->cells / 8, any = 0;
    memset(cells, 0, (size_t)size);
    memset(beside, 0, (size_t)size);
    if (at.state != KNOWN || cut->kind[t] != RH_TILE_CUT || (cut->inflow && cut->inflow[t])) return false;
    rh_rows wall = rh_rows_apart(e->tiles, cut->distance, t, FAR);
    for (int r = 0; r < size; r++) {
        int bits = 0;
        for (int a = 0; a < e->tiles->dimension; a++)
            if (bears(e, a)) bits |= thin_bits(e, &wall, at, a, t, r);
        int near = rh_i8_bits(rh_f8_abs(rh_f8_load(wall.here + 8 * r)) < rh_f8_all(e->tiles->h));
        int slow = near | bits ? slow_bits(e, t, r) : 0;
        bits &= slow;
        beside[r] = (uint8_t)(near & slow);
        cells[r] = (uint8_t)bits;
        any |= bits;
    }
    return any != 0;
}

// Faces between held cells, or of a held cell without liquid or beside one without. (At steep walls a cell of the edge
// may have liquid in one step and none in the next; what lay beside it ran into it, at 0.06 sqrt(g depth).)
static void close_tile(const rh_still_edge *e, const uint8_t *cells, int32_t t, const rh_cut_own *own)
{
    const rh_tiles *tiles = e->tiles;
    rh_bit_rows is = rh_bit_rows_of(tiles, cells, t);
    rh_rows phi = rh_rows_of(tiles, e->phi, t, FAR);
    rh_f8 zero = rh_f8_all(0);
    for (int a = 0; a < tiles->dimension; a++)
        for (int r = 0; r < tiles->cells / 8; r++) {
            int here = is.here[r], below = rh_bits_row_below(&is, a, r), bits = here | below;
            if (!bits) continue;
            int wet = rh_i8_bits(rh_f8_load(phi.here + 8 * r) < zero),
                wet_below = rh_i8_bits(rh_row_below(&phi, a, r) < zero);
            bits &= (here & below) | ~wet | ~wet_below;
            float *open = own->open[a] + 8 * r, *wall = own->wall[a] + 8 * r;
            rh_f8 old = rh_f8_load(e->before.axis[a] + (int64_t)t * tiles->cells + 8 * r);
            rh_i8 holds = rh_i8_from_bits(bits) & (rh_f8_abs(old) < rh_f8_all(e->slow)) & (rh_f8_load(wall) == zero);
            e->held[a][((int64_t)t * tiles->cells) / 8 + r] = (uint8_t)rh_i8_bits(holds);
            rh_f8_store(open, rh_f8_select(holds, zero, rh_f8_load(open)));
            rh_f8_store(wall, rh_f8_select(holds, e->keep * old, rh_f8_load(wall)));
        }
}

// A tile with a held cell, or beside one whose faces are its own.
static bool has_held(const rh_tiles *tiles, const bool *any, int32_t t)
{
    bool has = any[t];
    for (int a = 0; a < tiles->dimension; a++) {
        int32_t low = tiles->near[t][RH_HERE - rh_near_step[a]];
        has = has || (low >= 0 && any[low]);
    }
    return has;
}

static rh_code close_faces(rh_still_edge *e, const uint8_t *cells, const bool *any, rh_cut_cells *cut, rh_arena *arena,
                           rh_status *status)
{
    const rh_tiles *tiles = e->tiles;
    for (int a = 0; a < tiles->dimension; a++) {
        e->held[a] = rh_arena_take_zero(arena, (size_t)rh_tiles_values(tiles) / 8 + 8, status);
        if (!e->held[a]) return RH_MEMORY;
    }
    e->cells = cells;
    for (int32_t t = 0; t < tiles->count; t++) {
        if (!has_held(tiles, any, t) || (cut->inflow && cut->inflow[t])) continue;
        rh_cut_own own;
        RH_TRY(rh_cut_cells_own(cut, tiles, t, arena, &own, status));
        close_tile(e, cells, t, &own);
    }
    return RH_OK;
}

rh_code rh_still_edge_close(rh_still_edge *e, rh_cut_cells *cut, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = e->tiles;
    RH_ASSERT(rh_faces_fit(tiles, e->before) && rh_v3_length(e->gravity) > 0);
    size_t count = (size_t)tiles->count + 1;
    uint8_t *cells = rh_arena_take(arena, (size_t)rh_tiles_values(tiles) / 8 + 8, status);
    uint8_t *beside = rh_arena_take(arena, (size_t)rh_tiles_values(tiles) / 8 + 8, status);
    level *levels = rh_arena_take(arena, count * sizeof *levels, status);
    level *next = rh_arena_take(arena, count * sizeof *next, status);
    bool *any = rh_arena_take(arena, count * sizeof *any, status), some = false;
    if (!levels || !next || !any || !cells || !beside) return RH_MEMORY;
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++) levels[t] = find_level(e, cut, t);
    spread(e, cut, levels, next);
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        any[t] = mark_cells(e, cut, levels[t], t, cells + (int64_t)t * (tiles->cells / 8),
                            beside + (int64_t)t * (tiles->cells / 8));
    e->beside = beside;
    for (int32_t t = 0; t < tiles->count; t++) some = some || any[t];
    return some ? close_faces(e, cells, any, cut, arena, status) : RH_OK;
}

void rh_still_edge_set(const rh_still_edge *e, const rh_cut_cells *cut, rh_faces velocity, uint8_t *const known[3])
{
    const rh_tiles *tiles = e->tiles;
    if (!e->cells) return;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++)
            for (int c = 0; c < tiles->cells; c++) {
                int64_t at = (int64_t)t * tiles->cells + c;
                if (!(e->held[a][at >> 3] >> (c & 7) & 1)) continue;
                velocity.axis[a][at] = cut->wall[a][t][c];
                known[a][at] = 1;
            }
}

// The velocity of a cell's faces, their mean along each axis.
static rh_vec3 cell_velocity(const rh_tiles *tiles, rh_faces velocity, int64_t c)
{
    static const int step[3] = {1, 8, 64};
    int32_t t = (int32_t)(c / tiles->cells);
    rh_vec3 u = {0, 0, 0};
    for (int a = 0; a < tiles->dimension; a++) {
        bool last = (c / step[a] & 7) == RH_TILE - 1;
        int32_t above = last ? tiles->near[t][RH_HERE + rh_near_step[a]] : t;
        int64_t upper = last ? (int64_t)above * tiles->cells + c % tiles->cells - 7 * step[a] : c + step[a];
        float low = velocity.axis[a][c];
        (&u.x)[a] = above < 0 ? low : 0.5f * (low + velocity.axis[a][upper]);
    }
    return u;
}

// Along each axis along which a wall acts on the tile: along others nothing takes momentum.
static rh_vec3 calmed(rh_vec3 v, rh_vec3 u, const bool walled[3], float keep)
{
    for (int a = 0; a < 3; a++)
        if (walled[a]) (&v.x)[a] = (&u.x)[a] + keep * ((&v.x)[a] - (&u.x)[a]);
    return v;
}

void rh_still_edge_calm(const rh_still_edge *e, rh_faces velocity, const rh_momentum_error *errors, rh_vec3 *velocities)
{
    const rh_tiles *tiles = e->tiles;
    if (!e->beside) return;
    RH_ASSERT(rh_tiles_are_sorted(tiles));
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        int32_t t = tiles->occupied[n];
        int64_t from = (int64_t)t * tiles->cells;
        for (int64_t c = from; c < from + tiles->cells; c++) {
            static const bool all[3] = {true, true, true};
            bool held = e->cells && e->cells[c >> 3] >> (c & 7) & 1;
            if (!held && !(e->beside[c >> 3] >> (c & 7) & 1)) continue;
            rh_vec3 u = held ? rh_v3(0, 0, 0) : cell_velocity(tiles, velocity, c);
            for (uint32_t p = tiles->first[c]; p < tiles->first[c + 1]; p++)
                velocities[p] = calmed(velocities[p], u, held ? all : errors[t].walled, e->keep);
        }
    }
}
