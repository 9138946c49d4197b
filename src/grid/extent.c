// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The volume that particles take up, cell by cell. Where the surface is flat the filling of a cell (the sum of the
// particles' linear weights) and the share of the cell that lies inside are both functions of the surface's distance;
// so the share follows from the filling.
#include "grid/extent.h"

#include <math.h>
#include "base/parallel.h"
#include "base/simd.h"

static float ratio_at(const rh_tiles *tiles, const float *filled, const float *const *room, int32_t t, int c)
{
    float free = room[t][c];
    return free > 1e-3f ? filled[(int64_t)t * tiles->cells + c] / free : 0;
}

static bool beside_surface(const rh_tiles *tiles, const float *filled, const float *const *room, int32_t t, int c)
{
    static const int step_near[3] = {1, 3, 9}, step_cell[3] = {1, 8, 64};
    for (int a = 0; a < tiles->dimension; a++)
        for (int side = -1; side <= 1; side += 2) {
            int at = c >> (3 * a) & 7, edge = side < 0 ? 0 : 7;
            int32_t other = at == edge ? tiles->near[t][RH_HERE + side * step_near[a]] : t;
            int cell = at == edge ? c - 7 * side * step_cell[a] : c + side * step_cell[a];
            if (other >= 0 && ratio_at(tiles, filled, room, other, cell) > 0.5f) return true;
        }
    return false;
}

// Beside a flat surface a cell whose centre is d cells outside is filled by (1 - d)^2 / 2, the tail of the linear
// weight; inside by what that lacks to 1. The other way round that is the distance, and half a cell less it is the
// share of the cell inside.
static float share_of(float r) { return r < 0.5f ? sqrtf(2 * r) - 0.5f : r < 0.875f ? 1.5f - sqrtf(2 * (1 - r)) : 1; }

static double tile_volume(const rh_tiles *tiles, const float *filled, const float *const *room, int32_t t)
{
    double sum = 0;
    for (int row = 0; row < tiles->cells; row += 8) {
        int some = rh_i8_bits(rh_f8_load(filled + (int64_t)t * tiles->cells + row) > rh_f8_all(0));
        for (int c = row; some; c++, some >>= 1) {
            float r = ratio_at(tiles, filled, room, t, c);
            if (!(some & 1) || r <= 0) continue;
            float share = r > 0.125f ? share_of(r) : beside_surface(tiles, filled, room, t, c) ? 0 : r;
            sum += (double)(share * room[t][c]);
        }
    }
    return sum;
}

double rh_extent_volume(const rh_tiles *tiles, const float *filled, const float *const *room, rh_arena *arena,
                        rh_status *status)
{
    RH_ASSERT(filled && room);
    rh_arena_mark mark = rh_arena_save(arena);
    double *sums = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *sums, status);
    if (!sums) return 0;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) sums[t] = tile_volume(tiles, filled, room, t);
    double volume = rh_sum(sums, tiles->count) * pow((double)tiles->h, tiles->dimension);
    rh_arena_restore(arena, mark);
    return volume;
}
