// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Cells without room have no material of their own, or a trace: those of the cells beside them say whether they count.
// Cells beside them that have next to no room either do not: a cell behind the wall beside which a floor begins to sink
// has an eighth of the room of the cell before it, and with it columns lagged behind their floor by 0.3 of a cell.
#include "physics/dead_cells.h"

#include <math.h>
#include <string.h>
#include "grid/rows.h"
#include "solve/layout.h"

static const float ZEROS[RH_CELLS];
static const float NO_ROOM = 0.01f;                 // share of a cell: less is rounding
static const float NOTHING = 1e-5f;                 // filling: less is no material
static const float MORE = 10;                       // times the room of the cell: neighbours that count
static const float ALONG = 0.9999f;                 // largest part of the normal of a wall along the grid
static const double BEND = 0.02;                    // cells that a flat wall may bend away within one, by rounding
static const float LEANS = 0.087f, LEVEL = 0.996f;  // gravity along the normal of upright and level walls: 5 degrees

// Is a wall of this normal, of any length, a slope?
static rh_i8 is_slope(const rh_f8 normal[3], int dimension, rh_vec3 down)
{
    const float *g = &down.x;
    rh_f8 size = rh_f8_all(0), along = rh_f8_all(0), most = rh_f8_all(0);
    for (int a = 0; a < dimension; a++) {
        size += normal[a] * normal[a], along += g[a] * normal[a];
        most = rh_f8_max(most, rh_f8_abs(normal[a]));
    }
    size = rh_f8_sqrt(size), along = rh_f8_abs(along);
    return (most < ALONG * size) & (along > LEANS * size) & (along < LEVEL * size);
}

// Does the wall of normal n at distance d (m) of x bend away within a cell? Seen from half a cell before it.
static bool bends(const rh_dead_cells *of, rh_dvec3 x, rh_dvec3 n, double d)
{
    double h = of->tiles->h;
    rh_dvec3 before = rh_d3_add(x, rh_d3_scale(n, 0.5 * h - d));
    for (int a = 0; a < of->tiles->dimension; a++) {
        rh_dvec3 axis = {a == 0, a == 1, a == 2}, along = rh_d3_sub(axis, rh_d3_scale(n, rh_d3_dot(axis, n)));
        double length = rh_d3_length(along);
        if (length < 0.5) continue;
        for (int side = -1; side <= 1; side += 2) {
            rh_dvec3 beside = rh_d3_add(before, rh_d3_scale(along, side * h / length));
            if (rh_obstacles_distance(of->obstacles, beside, NULL) > (0.5 + BEND) * h) return true;
        }
    }
    return false;
}

// Of the cells in `bits` those beside a wall that is neither upright nor level, or not flat. The differences of
// distances point between the walls of an edge, as if it were a slope, so where they do the nearest wall is asked
// itself. (Edges of a slit taken for slopes: sand left it at 44 m/s for 11.)
static int others_row(const rh_dead_cells *of, const rh_rows *distance, rh_vec3 down, int32_t t, int r, int bits)
{
    const rh_tiles *tiles = of->tiles;
    rh_f8 normal[3];
    for (int a = 0; a < tiles->dimension; a++) normal[a] = rh_row_above(distance, a, r) - rh_row_below(distance, a, r);
    int seems_slope = rh_i8_bits(is_slope(normal, tiles->dimension, down)), out = 0;
    for (int i = 0; i < 8; i++) {
        if (!(bits >> i & 1)) continue;
        int which = -1;
        rh_dvec3 x = rh_d3_from(rh_cell_center(tiles, t, i, r & 7, r >> 3));
        double d = rh_obstacles_distance(of->obstacles, x, &which);
        if (which < 0) continue;
        rh_dvec3 n = rh_obstacles_normal(of->obstacles, which, x);
        rh_f8 own[3] = {rh_f8_all((float)n.x), rh_f8_all((float)n.y), rh_f8_all((float)n.z)};
        bool slope = (seems_slope >> i & 1) && rh_i8_bits(is_slope(own, tiles->dimension, down));
        bool dynamic = of->obstacles->items[which].kind == RH_SOLID_DYNAMIC;
        if (slope || (!dynamic && bends(of, x, n, d))) out |= 1 << i;
    }
    return out;
}

static void find_tile(const rh_dead_cells *of, rh_vec3 down, int32_t t, uint8_t *out)
{
    const rh_tiles *tiles = of->tiles;
    int dimension = tiles->dimension;
    rh_rows room = rh_rows_apart(tiles, of->cut->room, t, ZEROS), fill = rh_rows_of(tiles, of->fill, t, ZEROS), pass[3],
            wall[3], distance = rh_rows_apart(tiles, of->cut->distance, t, of->cut->distance[t]);
    for (int a = 0; a < dimension; a++)
        pass[a] = rh_rows_apart(tiles, of->cut->pass[a], t, ZEROS),
        wall[a] = rh_rows_apart(tiles, of->cut->wall[a], t, ZEROS);
    rh_f8 zero = rh_f8_all(0), nothing = rh_f8_all(NOTHING);
    for (int r = 0; r < tiles->cells / 8; r++) {
        rh_f8 own = rh_f8_load(room.here + 8 * r);
        rh_i8 none = own < rh_f8_all(NO_ROOM), near = zero != zero, recedes = near;
        if (!rh_i8_bits(none)) continue;
        for (int a = 0; a < dimension; a++) {
            rh_f8 low = rh_row_below(&fill, a, r), high = rh_row_above(&fill, a, r);
            rh_i8 low_open = rh_f8_load(pass[a].here + 8 * r) > zero, high_open = rh_row_above(&pass[a], a, r) > zero;
            rh_f8 below = rh_row_below(&room, a, r), above = rh_row_above(&room, a, r);
            near |= low_open & (below > MORE * own) & (low > nothing) & (low >= of->air * below);
            near |= high_open & (above > MORE * own) & (high > nothing) & (high >= of->air * above);
            recedes |= low_open & (rh_f8_load(wall[a].here + 8 * r) > zero);
            recedes |= high_open & (rh_row_above(&wall[a], a, r) < zero);
        }
        int bits = rh_i8_bits(none & near & ~recedes);
        if (bits) bits &= ~others_row(of, &distance, down, t, r, bits);
        out[r] |= (uint8_t)bits;
    }
}

rh_code rh_dead_cells_find(const rh_dead_cells *of, const uint8_t *also, rh_arena *arena, uint8_t **out,
                           rh_status *status)
{
    const rh_tiles *tiles = of->tiles;
    size_t rows = (size_t)tiles->cells / 8, bytes = (size_t)tiles->count * rows;
    uint8_t *bits = rh_arena_take_zero(arena, bytes + 1, status);
    if (!bits) return RH_MEMORY;
    *out = bits;
    if (also) memcpy(bits, also, bytes);
    double g = rh_d3_length(of->gravity);
    rh_vec3 down = g > 0 ? rh_v3_from(rh_d3_scale(of->gravity, 1 / g)) : rh_v3(0, 0, 0);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        if (of->cut->kind[t] != RH_TILE_FREE) find_tile(of, down, t, bits + (size_t)t * rows);
    return RH_OK;
}
