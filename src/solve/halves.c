// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Tensor products of three rules along the axes. Shrinking begins with x, where a row of eight becomes four, and
// growing ends with it: so the other axes have half as much to do, and all is vectors. (Through copies of whole blocks
// and loops that any axis shared it took as long as the operator itself.)
#include "solve/halves.h"

#include "base/assert.h"
#include "base/simd.h"

enum { SIDE = RH_TILE + 2, CELLS = RH_TILE * RH_TILE * RH_TILE, GROWN = RH_HALF + 2 };

// Where the values of a tile and of its neighbours are.
typedef struct vicinity {
    const float *near[RH_NEAR];
} vicinity;

static inline void look_around(const rh_tiles *tiles, const float *field, int32_t t, vicinity *v)
{
    static const float none[CELLS];
    for (int n = 0; n < RH_NEAR; n++)
        v->near[n] = tiles->near[t][n] < 0 ? none : field + (int64_t)tiles->near[t][n] * tiles->cells;
}

// The tile that row (j, k), from -1 to 8, is in, and its first cell there.
static inline int tile_of(int j, int k) { return RH_HERE + 3 * (j >> 3) + 9 * (k >> 3); }
static inline int row_of(int j, int k) { return 8 * (j & 7) + 64 * (k & 7); }

// Weights of the values 2 i - 1 to 2 i + 2.
static const float weights[][4] = {{0.25f, 0.5f, 0.25f, 0}, {0, 0.5f, 0.5f, 0}, {0.125f, 0.375f, 0.375f, 0.125f}};

static inline rh_f4 halve(const float *w, rh_f4 a, rh_f4 b, rh_f4 c, rh_f4 d)
{
    return w[0] * a + w[1] * b + w[2] * c + w[3] * d;
}

static inline rh_f4 halve_row(const float *w, const vicinity *v, int j, int k)
{
    int tile = tile_of(j, k), row = row_of(j, k);
    rh_f8 here = rh_f8_load(v->near[tile] + row);
    rh_f8 west = rh_f8_west(here, v->near[tile - 1][row + 7]), east = rh_f8_east(here, v->near[tile + 1][row]);
    return halve(w, __builtin_shufflevector(west, west, 0, 2, 4, 6), __builtin_shufflevector(here, here, 0, 2, 4, 6),
                 __builtin_shufflevector(here, here, 1, 3, 5, 7), __builtin_shufflevector(east, east, 1, 3, 5, 7));
}

// Four rows from ten that lie `step` apart.
static inline void halve_rows(const float *w, const rh_f4 *from, int step, rh_f4 *to, int to_step)
{
    for (int i = 0; i < RH_HALF; i++, from += 2 * step)
        to[i * to_step] = halve(w, from[0], from[step], from[2 * step], from[3 * step]);
}

void rh_halves_shrink(const rh_tiles *tiles, const float *field, int32_t t, const rh_halving how[3],
                      float out[RH_HALF * RH_HALF * RH_HALF])
{
    RH_ASSERT(t >= 0 && t < tiles->count);
    bool deep = tiles->dimension == 3;
    const float *x = weights[how[0]], *y = weights[how[1]], *z = weights[how[2]];
    vicinity v;
    rh_f4 planes[SIDE][RH_HALF];
    look_around(tiles, field, t, &v);
    for (int k = deep ? -1 : 0; k < (deep ? SIDE - 1 : 1); k++) {
        rh_f4 rows[SIDE];
        for (int j = 0; j < SIDE; j++) rows[j] = halve_row(x, &v, j - 1, k);
        halve_rows(y, rows, 1, planes[k + deep], 1);
    }
    rh_f4 all[RH_HALF][RH_HALF];
    for (int j = 0; j < RH_HALF; j++) {
        if (deep) halve_rows(z, &planes[0][j], RH_HALF, &all[0][j], RH_HALF);
        else all[0][j] = planes[0][j];
    }
    for (int n = 0; n < RH_HALF * (deep ? RH_HALF : 1); n++) rh_f4_store(out + 4 * n, all[n / 4][n % 4]);
}

// Six values of a row, from one before its half to one behind it.
static inline rh_f8 load_half(const vicinity *v, int half, int j, int k)
{
    int tile = tile_of(j, k), row = row_of(j, k);
    rh_f8 here = rh_f8_load(v->near[tile] + row);
    if (!half) return rh_f8_west(here, v->near[tile - 1][row + 7]);
    rh_f8 out = __builtin_shufflevector(here, here, 3, 4, 5, 6, 7, 7, 7, 7);
    out[5] = v->near[tile + 1][row];
    return out;
}

// Eight rows from six.
static inline void grow_rows(bool points, const rh_f8 *from, int step, rh_f8 *to, int to_step)
{
    for (int i = 0; i < RH_HALF; i++, to += 2 * to_step) {
        rh_f8 low = from[i * step], here = from[(i + 1) * step], high = from[(i + 2) * step];
        to[0] = points ? here : 0.75f * here + 0.25f * low;
        to[to_step] = points ? 0.5f * (here + high) : 0.75f * here + 0.25f * high;
    }
}

static inline rh_f8 grow_row(bool points, rh_f8 v)
{
    const rh_f8 even = {1, 0.5f, 1, 0.5f, 1, 0.5f, 1, 0.5f}, odd = {0, 0.5f, 0, 0.5f, 0, 0.5f, 0, 0.5f};
    rh_f8 here = __builtin_shufflevector(v, v, 1, 1, 2, 2, 3, 3, 4, 4);
    rh_f8 other = __builtin_shufflevector(v, v, 0, 2, 1, 3, 2, 4, 3, 5);
    return points ? even * here + odd * other : 0.75f * here + 0.25f * other;
}

void rh_halves_grow(const rh_tiles *coarse, const float *field, int32_t parent, rh_tile at, int points,
                    float out[RH_TILE * RH_TILE * RH_TILE])
{
    RH_ASSERT(parent >= 0 && parent < coarse->count);
    bool deep = coarse->dimension == 3;
    int first[3] = {at.x & 1, RH_HALF * (at.y & 1) - 1, deep ? RH_HALF * (at.z & 1) - 1 : 0};
    vicinity v;
    rh_f8 planes[GROWN][RH_TILE];
    look_around(coarse, field, parent, &v);
    for (int k = 0; k < (deep ? GROWN : 1); k++) {
        rh_f8 rows[GROWN];
        for (int j = 0; j < GROWN; j++) rows[j] = load_half(&v, first[0], first[1] + j, first[2] + k);
        grow_rows(points == 1, rows, 1, planes[k], 1);
    }
    rh_f8 all[RH_TILE][RH_TILE];
    for (int j = 0; j < RH_TILE; j++) {
        if (deep) grow_rows(points == 2, &planes[0][j], RH_TILE, &all[0][j], RH_TILE);
        else all[0][j] = planes[0][j];
    }
    for (int n = 0; n < RH_TILE * (deep ? RH_TILE : 1); n++)
        rh_f8_store(out + 8 * n, grow_row(points == 0, all[n / 8][n % 8]));
}
