// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Walls are found by tiles: one has an upright wall on a side where some cells in a line along gravity are inside a
// wall and those beside them are not. Slopes up to 70 degrees make shorter lines than that.
#include "physics/sand/upright.h"

#include <math.h>
#include "base/simd.h"
#include "grid/rows.h"
#include "physics/sand/stress.h"

enum { LINE = 4 };  // cells along gravity that make a wall upright

int rh_upright_axis(rh_dvec3 g, int dimension)
{
    double all = rh_d3_length(g), along[3] = {fabs(g.x), fabs(g.y), fabs(g.z)};
    for (int a = 0; a < dimension; a++)
        if (all > 0 && along[a] > 0.999 * all) return a;
    return -1;
}

// Do the bits of a tile's cells, a byte per row, have LINE in a line along `axis`?
static bool have_line(const uint8_t *bits, int rows, int axis)
{
    int step = axis == 1 ? 1 : RH_TILE, found = 0;
    for (int r = 0; r < rows; r++) {
        int all = bits[r], place = axis == 1 ? r % RH_TILE : r / RH_TILE;
        if (axis == 0) all &= all >> 1 & all >> 2 & all >> 3;
        else if (place + LINE > RH_TILE) continue;
        else
            for (int n = 1; n < LINE; n++) all &= bits[r + n * step];
        found |= all;
    }
    return found != 0;
}

// Bits 2a, 2a + 1: the tile has an upright wall on the lower, upper side of axis a.
static uint8_t sides_of_tile(const rh_unilateral_view *view, int upright, int32_t t)
{
    static const float ONES[RH_CELLS] = {[0 ... RH_CELLS - 1] = 1};  // where there is no tile there is no wall
    const rh_tiles *tiles = view->tiles;
    if (view->cut->kind[t] == RH_TILE_FREE) return 0;
    rh_rows room = rh_rows_apart(tiles, view->cut->room, t, ONES);
    rh_f8 solid = rh_f8_all(RH_SAND_SOLID_ROOM);
    int sides = 0, rows = tiles->cells / 8;
    for (int a = 0; a < tiles->dimension; a++) {
        uint8_t low[RH_CELLS / 8], high[RH_CELLS / 8];
        if (a == upright) continue;
        for (int r = 0; r < rows; r++) {
            rh_i8 open = rh_f8_load(room.here + 8 * r) >= solid;
            low[r] = (uint8_t)rh_i8_bits(open & (rh_row_below(&room, a, r) < solid));
            high[r] = (uint8_t)rh_i8_bits(open & (rh_row_above(&room, a, r) < solid));
        }
        sides |= (have_line(low, rows, upright) ? 1 : 0) << 2 * a;
        sides |= (have_line(high, rows, upright) ? 2 : 0) << 2 * a;
    }
    return (uint8_t)sides;
}

// The sides of a tile, of the one above it and of the one below: sand may reach into a tile by less than LINE cells.
static int sides_with_ends(const rh_tiles *tiles, const uint8_t *sides, int upright, int32_t t)
{
    int32_t low = tiles->near[t][RH_HERE - rh_near_step[upright]],
            high = tiles->near[t][RH_HERE + rh_near_step[upright]];
    return sides[t] | (low < 0 ? 0 : sides[low]) | (high < 0 ? 0 : sides[high]);
}

// Is there a wall on this side of the tile, or of those beyond it in a row?
static bool ends_at_wall(const rh_tiles *tiles, const uint8_t *sides, int upright, int axis, bool upper, int32_t t)
{
    int step = upper ? rh_near_step[axis] : -rh_near_step[axis];
    for (; t >= 0; t = tiles->near[t][RH_HERE + step])
        if (sides_with_ends(tiles, sides, upright, t) >> (2 * axis + upper) & 1) return true;
    return false;
}

static bool has_sand(const rh_tiles *tiles, int32_t t) { return rh_tile_first(tiles, t) < rh_tile_first(tiles, t + 1); }

uint8_t *rh_between_upright_walls(const int32_t *list, int32_t count, const rh_unilateral_view *view, rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    int upright = rh_upright_axis(view->around->gravity, tiles->dimension);
    uint8_t *sides = rh_arena_take_zero(view->arena, (size_t)tiles->count + 1, status),
            *between = rh_arena_take_zero(view->arena, (size_t)tiles->count + 1, status);
    if (!sides || !between) return NULL;
    if (upright < 0 || view->around->obstacles->count == 0) return between;
#pragma omp parallel for schedule(static, 8)
    for (int32_t n = 0; n < count; n++) sides[list[n]] = sides_of_tile(view, upright, list[n]);
#pragma omp parallel for schedule(static, 8)
    for (int32_t n = 0; n < count; n++)
        for (int a = 0; a < tiles->dimension; a++)
            if (a != upright && ends_at_wall(tiles, sides, upright, a, false, list[n]) &&
                ends_at_wall(tiles, sides, upright, a, true, list[n]))
                between[list[n]] = 1;
#pragma omp parallel for schedule(static, 8)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int n = 0; n < RH_NEAR && !has_sand(tiles, t); n++) {
            int32_t near = tiles->near[t][n];
            if (near >= 0 && has_sand(tiles, near) && between[near]) between[t] = 1;
        }
    return between;
}
