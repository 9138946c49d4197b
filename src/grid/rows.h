// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rows of eight cells and their neighbours, of a tile and the tiles beside it: row r = j + 8 k, the neighbours of a row
// along y and z are rows too, along x they are the row moved by one lane.
#pragma once
#include "base/simd.h"
#include "grid/tiles.h"

static const int rh_near_step[3] = {1, 3, 9};  // to the next tile along an axis in rh_tiles.near

// A field on a tile and on the tiles beside it.
typedef struct rh_rows {
    const float *here, *low[3], *high[3];
} rh_rows;

// `missing`: a tile's values where there is none.
static inline rh_rows rh_rows_of(const rh_tiles *tiles, const float *field, int32_t t, const float *missing)
{
    rh_rows f = {.here = field + (int64_t)t * tiles->cells};
    for (int a = 0; a < tiles->dimension; a++) {
        int32_t low = tiles->near[t][RH_HERE - rh_near_step[a]], high = tiles->near[t][RH_HERE + rh_near_step[a]];
        f.low[a] = low < 0 ? missing : field + (int64_t)low * tiles->cells;
        f.high[a] = high < 0 ? missing : field + (int64_t)high * tiles->cells;
    }
    return f;
}

// The same of a field whose tiles lie apart.
static inline rh_rows rh_rows_apart(const rh_tiles *tiles, const float *const *field, int32_t t, const float *missing)
{
    rh_rows f = {.here = field[t]};
    for (int a = 0; a < tiles->dimension; a++) {
        int32_t low = tiles->near[t][RH_HERE - rh_near_step[a]], high = tiles->near[t][RH_HERE + rh_near_step[a]];
        f.low[a] = low < 0 ? missing : field[low];
        f.high[a] = high < 0 ? missing : field[high];
    }
    return f;
}

// Row r of the field one cell lower or higher along an axis.
static inline rh_f8 rh_row_below(const rh_rows *f, int axis, int r)
{
    int row = 8 * r;
    if (axis == 0) return rh_f8_west(rh_f8_load(f->here + row), f->low[0][row + 7]);
    if (axis == 1) return rh_f8_load((r & 7) > 0 ? f->here + row - 8 : f->low[1] + row + 56);
    return rh_f8_load(r > 7 ? f->here + row - 64 : f->low[2] + row + 448);
}
static inline rh_f8 rh_row_above(const rh_rows *f, int axis, int r)
{
    int row = 8 * r;
    if (axis == 0) return rh_f8_east(rh_f8_load(f->here + row), f->high[0][row]);
    if (axis == 1) return rh_f8_load((r & 7) < 7 ? f->here + row + 8 : f->high[1] + row - 56);
    return rh_f8_load(r < 56 ? f->here + row + 64 : f->high[2] + row - 448);
}

// A field on a tile and on all tiles around it, for what looks across edges and corners too.
typedef struct rh_rows_around {
    const float *at[RH_NEAR];
} rh_rows_around;

static inline rh_rows_around rh_rows_around_of(const rh_tiles *tiles, const float *field, int32_t t,
                                               const float *missing)
{
    rh_rows_around f;
    for (int n = 0; n < RH_NEAR; n++)
        f.at[n] = tiles->near[t][n] < 0 ? missing : field + (int64_t)tiles->near[t][n] * tiles->cells;
    return f;
}
// Row r moved by (di, dj, dk), each -1, 0 or 1; dk = 0 in two dimensions.
static inline rh_f8 rh_row_at(const rh_rows_around *f, int r, int di, int dj, int dk)
{
    int j = (r & 7) + dj, k = (r >> 3) + dk, row = 8 * ((j & 7) + 8 * (k & 7)),
        tile = RH_HERE + 3 * (j >> 3) + 9 * (k >> 3);
    rh_f8 here = rh_f8_load(f->at[tile] + row);
    if (di < 0) return rh_f8_west(here, f->at[tile - 1][row + 7]);
    return di > 0 ? rh_f8_east(here, f->at[tile + 1][row]) : here;
}
// The sum over the four cells around the lower edge of each cell between two axes.
static inline rh_f8 rh_row_around_edge(const rh_rows_around *f, int r, const int *axes)
{
    int d[2][3] = {{0}};
    d[0][axes[0]] = d[1][axes[1]] = -1;
    return rh_row_at(f, r, 0, 0, 0) + rh_row_at(f, r, d[0][0], d[0][1], d[0][2]) +
           rh_row_at(f, r, d[1][0], d[1][1], d[1][2]) +
           rh_row_at(f, r, d[0][0] + d[1][0], d[0][1] + d[1][1], d[0][2] + d[1][2]);
}

// Bits of a tile (a byte per row) and of the tiles beside it; none where there is no tile.
typedef struct rh_bit_rows {
    const uint8_t *here, *low[3], *high[3];
} rh_bit_rows;

static inline rh_bit_rows rh_bit_rows_of(const rh_tiles *tiles, const uint8_t *bits, int32_t t)
{
    static const uint8_t none[RH_TILE * RH_TILE];
    int size = tiles->cells / 8;
    rh_bit_rows f = {.here = bits + (int64_t)t * size};
    for (int a = 0; a < tiles->dimension; a++) {
        int32_t low = tiles->near[t][RH_HERE - rh_near_step[a]], high = tiles->near[t][RH_HERE + rh_near_step[a]];
        f.low[a] = low < 0 ? none : bits + (int64_t)low * size;
        f.high[a] = high < 0 ? none : bits + (int64_t)high * size;
    }
    return f;
}
static inline int rh_bits_row_below(const rh_bit_rows *f, int axis, int r)
{
    if (axis == 0) return (f->here[r] << 1 & 254) | f->low[0][r] >> 7;
    if (axis == 1) return (r & 7) > 0 ? f->here[r - 1] : f->low[1][r + 7];
    return r > 7 ? f->here[r - 8] : f->low[2][r + 56];
}
static inline int rh_bits_row_above(const rh_bit_rows *f, int axis, int r)
{
    if (axis == 0) return f->here[r] >> 1 | (f->high[0][r] << 7 & 128);
    if (axis == 1) return (r & 7) < 7 ? f->here[r + 1] : f->high[1][r - 7];
    return r < 56 ? f->here[r + 8] : f->high[2][r - 56];
}
