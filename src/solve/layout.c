// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Tiles with unknowns get numbers in the order of the grid. A full tile is one whose cells, and the cells next to it,
// are all unknowns: found from the bits of its rows.
#include "solve/layout.h"

#include <string.h>

rh_code rh_layout_init(rh_layout *layout, const rh_tiles *tiles, rh_arena *arena, rh_status *status)
{
    *layout = (rh_layout){.tiles = tiles};
    layout->slot = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *layout->slot, status);
    layout->unknown = rh_arena_take(arena, (size_t)rh_tiles_values(tiles) / 8 + 1, status);
    return layout->slot && layout->unknown ? RH_OK : RH_MEMORY;
}

static bool has_unknowns(const rh_layout *layout, int32_t t)
{
    int size = layout->tiles->cells / 8, any = 0;
    for (int r = 0; r < size; r++) any |= layout->unknown[(int64_t)t * size + r];
    return any != 0;
}

rh_code rh_layout_number(rh_layout *layout, rh_arena *arena, rh_status *status)
{
    RH_ASSERT(layout->slot && layout->unknown);
    int32_t tiles = layout->tiles->count;
    layout->count = 0;
    for (int32_t t = 0; t < tiles; t++) layout->slot[t] = has_unknowns(layout, t) ? layout->count++ : -1;
    layout->listed = rh_arena_take(arena, ((size_t)layout->count + 1) * sizeof *layout->listed, status);
    if (!layout->listed) return RH_MEMORY;
    for (int32_t t = 0; t < tiles; t++)
        if (layout->slot[t] >= 0) layout->listed[layout->slot[t]] = t;
    for (int32_t n = 0; n + 1 < layout->count; n++) RH_ASSERT(layout->listed[n] < layout->listed[n + 1]);
    return RH_OK;
}

void rh_layout_place(const rh_layout *layout, int32_t n, rh_poisson *matrix)
{
    RH_ASSERT(n >= 0 && n < layout->count && matrix->count == layout->count && matrix->cells == layout->tiles->cells);
    int32_t t = layout->listed[n];
    size_t size = (size_t)matrix->cells / 8;
    matrix->at[n] = layout->tiles->at[t];
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            int32_t other = a < matrix->dimension
                                ? layout->tiles->near[t][RH_HERE + (side ? rh_near_step[a] : -rh_near_step[a])]
                                : -1;
            matrix->near[n][2 * a + side] = other < 0 || layout->slot[other] < 0 ? matrix->count : layout->slot[other];
        }
    memcpy(matrix->unknown + (size_t)n * size, layout->unknown + (size_t)t * size, size);
}

bool rh_layout_is_full(const rh_layout *layout, int32_t t)
{
    RH_ASSERT(t >= 0 && t < layout->tiles->count);
    const rh_tiles *tiles = layout->tiles;
    int size = tiles->cells / 8, all = 255;
    rh_bit_rows bits = rh_bit_rows_of(tiles, layout->unknown, t);
    for (int r = 0; r < size; r++) all &= bits.here[r];
    if (all != 255) return false;
    for (int r = 0; r < size; r++)
        for (int a = 0; a < tiles->dimension; a++)
            all &= rh_bits_row_below(&bits, a, r) & rh_bits_row_above(&bits, a, r);
    return all == 255;
}

static const float *tile_of(const rh_layout *layout, const float *vector, int32_t t)
{
    static const float zeros[RH_CELLS];
    return t < 0 || layout->slot[t] < 0 ? zeros : vector + (int64_t)layout->slot[t] * layout->tiles->cells;
}

rh_rows rh_layout_rows(const rh_layout *layout, const float *vector, int32_t t)
{
    RH_ASSERT(t >= 0 && t < layout->tiles->count);
    const rh_tiles *tiles = layout->tiles;
    rh_rows f = {.here = tile_of(layout, vector, t)};
    for (int a = 0; a < tiles->dimension; a++) {
        f.low[a] = tile_of(layout, vector, tiles->near[t][RH_HERE - rh_near_step[a]]);
        f.high[a] = tile_of(layout, vector, tiles->near[t][RH_HERE + rh_near_step[a]]);
    }
    return f;
}
