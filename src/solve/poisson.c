// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rows of eight cells at a time: the four side neighbours of a row are whole rows (of this tile or the next), the two
// end neighbours single values. Missing tiles read from a row of zeros.
#include "solve/poisson.h"

#include <string.h>

static const float zeros[RH_TILE * RH_TILE * RH_TILE];

rh_code rh_poisson_finish(rh_poisson *a, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = a->tiles;
    a->list = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *a->list, status);
    rh_arena_mark mark = rh_arena_save(arena);
    int32_t *used = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *used, status);
    if (!a->list || !used) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        used[t] = 0;
        for (int c = 0; c < tiles->cells; c++) used[t] += a->diagonal[(int64_t)t * tiles->cells + c] > 0;
    }
    a->count = 0;
    a->unknowns = 0;
    for (int32_t t = 0; t < tiles->count; t++) {
        if (!used[t]) continue;
        a->list[a->count++] = t;
        a->unknowns += used[t];
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}

// A tile's values of one field, or zeros.
static inline const float *tile_or_zero(const rh_tiles *tiles, const float *field, int32_t t, int near)
{
    int32_t other = tiles->near[t][near];
    return other < 0 ? zeros : field + (int64_t)other * tiles->cells;
}

typedef struct sides { const float *low, *high; } sides;  // neighbours of a tile along one axis

static inline sides sides_of(const rh_tiles *tiles, const float *field, int32_t t, int step)
{
    return (sides){tile_or_zero(tiles, field, t, RH_HERE - step), tile_or_zero(tiles, field, t, RH_HERE + step)};
}

static double apply_tile(const rh_poisson *a, const float *x, float *y, int32_t t)
{
    const rh_tiles *tiles = a->tiles;
    int64_t base = (int64_t)t * tiles->cells;
    const float *here = x + base, *diagonal = a->diagonal + base;
    const float *lx = a->link.axis[0] + base, *ly = a->link.axis[1] + base;
    sides nx = sides_of(tiles, x, t, 1), ny = sides_of(tiles, x, t, 3);
    const float *lx_high = sides_of(tiles, a->link.axis[0], t, 1).high, *ly_high = sides_of(tiles, a->link.axis[1], t, 3).high;
    bool deep = tiles->dimension == 3;
    sides nz = deep ? sides_of(tiles, x, t, 9) : (sides){zeros, zeros};
    const float *lz = deep ? a->link.axis[2] + base : zeros, *lz_high = deep ? sides_of(tiles, a->link.axis[2], t, 9).high : zeros;
    double sum = 0;
    for (int k = 0; k < tiles->layers; k++)
        for (int j = 0; j < RH_TILE; j++) {
            int row = RH_TILE * (j + RH_TILE * k), last_j = RH_TILE * (RH_TILE - 1) + RH_TILE * RH_TILE * k;
            int last_k = RH_TILE * j + RH_TILE * RH_TILE * (tiles->layers - 1), first_k = RH_TILE * j;
            const float *south = j > 0 ? here + row - 8 : ny.low + last_j, *north = j < 7 ? here + row + 8 : ny.high + RH_TILE * RH_TILE * k;
            const float *l_north = j < 7 ? ly + row + 8 : ly_high + RH_TILE * RH_TILE * k;
            const float *below = zeros, *above = zeros, *l_below = zeros, *l_above = zeros;
            if (deep) {
                below = k > 0 ? here + row - 64 : nz.low + last_k;
                above = k < 7 ? here + row + 64 : nz.high + first_k;
                l_below = lz + row;
                l_above = k < 7 ? lz + row + 64 : lz_high + first_k;
            }
            float west[RH_TILE], east[RH_TILE], l_east[RH_TILE];
            west[0] = nx.low[row + 7];
            memcpy(west + 1, here + row, 7 * sizeof(float));
            memcpy(east, here + row + 1, 7 * sizeof(float));
            east[7] = nx.high[row];
            memcpy(l_east, lx + row + 1, 7 * sizeof(float));
            l_east[7] = lx_high[row];
            float part = 0;
            for (int i = 0; i < RH_TILE; i++) {
                float v = diagonal[row + i] * here[row + i];
                v -= lx[row + i] * west[i] + l_east[i] * east[i];
                v -= ly[row + i] * south[i] + l_north[i] * north[i];
                v -= l_below[i] * below[i] + l_above[i] * above[i];
                y[base + row + i] = v;
                part += v * here[row + i];
            }
            sum += (double)part;
        }
    return sum;
}

void rh_poisson_apply_dot(const rh_poisson *a, const float *x, float *y, double *sums)
{
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < a->count; n++) {
        double sum = apply_tile(a, x, y, a->list[n]);
        if (sums) sums[n] = sum;
    }
}

void rh_poisson_apply(const rh_poisson *a, const float *x, float *y) { rh_poisson_apply_dot(a, x, y, NULL); }
