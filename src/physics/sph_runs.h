// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles or samples in a cell of the tiles and in the 26 (8) cells around it: runs of numbers, as they are sorted by
// tile and cell. Three cells along x are one run where they are in one tile.
#pragma once
#include "grid/tiles.h"

enum { RH_SPH_MOST_RUNS = 18, RH_SPH_FARTHEST = 4, RH_SPH_FAR_RUNS = 162 };  // 9 x 9 rows, each in two tiles

typedef struct rh_sph_run {
    uint32_t begin, end;
} rh_sph_run;

// The cells x0..x1 of row (j, k) of a tile, which may lie beside it by one tile along y and z.
static inline int rh_sph_add_run(const rh_tiles *tiles, const uint32_t *first, int32_t t, int side, int x0, int x1,
                                 int j, int k, rh_sph_run *out)
{
    int dy = j < 0 ? 0 : j > 7 ? 2 : 1, dz = k < 0 ? 0 : k >= tiles->layers ? 2 : 1;
    int32_t beside = tiles->near[t][side + 3 * dy + 9 * dz];
    if (beside < 0) return 0;
    int64_t row = (int64_t)beside * tiles->cells + 8 * (j & 7) + (tiles->layers == 8 ? 64 * (k & 7) : 0);
    *out = (rh_sph_run){first[row + x0], first[row + x1 + 1]};
    return out->begin < out->end;
}

// The runs around cell (i, j, k); returns how many.
static inline int rh_sph_runs(const rh_tiles *tiles, const uint32_t *first, int32_t t, int i, int j, int k,
                              rh_sph_run out[RH_SPH_MOST_RUNS])
{
    int count = 0, deep = tiles->dimension == 3;
    for (int dk = -deep; dk <= deep; dk++)
        for (int dj = -1; dj <= 1; dj++) {
            int y = j + dj, z = k + dk;
            if (i == 0) count += rh_sph_add_run(tiles, first, t, 0, 7, 7, y, z, out + count);
            count += rh_sph_add_run(tiles, first, t, 1, i > 0 ? i - 1 : 0, i < 7 ? i + 1 : 7, y, z, out + count);
            if (i == 7) count += rh_sph_add_run(tiles, first, t, 2, 0, 0, y, z, out + count);
        }
    return count;
}

// The same of cells that are at most `far` cells away along each axis, 1 to RH_SPH_FARTHEST.
static inline int rh_sph_far_runs(const rh_tiles *tiles, const uint32_t *first, int32_t t, int i, int j, int k, int far,
                                  rh_sph_run out[RH_SPH_FAR_RUNS])
{
    int count = 0, deep = tiles->dimension == 3 ? far : 0, low = i - far, high = i + far;
    for (int z = k - deep; z <= k + deep; z++)
        for (int y = j - far; y <= j + far; y++) {
            if (low < 0) count += rh_sph_add_run(tiles, first, t, 0, low + 8, 7, y, z, out + count);
            count += rh_sph_add_run(tiles, first, t, 1, low > 0 ? low : 0, high < 7 ? high : 7, y, z, out + count);
            if (high > 7) count += rh_sph_add_run(tiles, first, t, 2, 0, high - 8, y, z, out + count);
        }
    return count;
}
