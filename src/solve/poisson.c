// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rows of eight cells at a time: the four side neighbours of a row are whole rows (of this tile or the next), the two
// end neighbours single values. One kernel does all: what it computes, two or three dimensions and plain or not are
// constants where it is called, so each case becomes its own straight code. Rows without unknowns are skipped.
#include "solve/poisson.h"

#include <string.h>
#include "base/parallel.h"

#define ALWAYS static inline __attribute__((always_inline))
// The same tiles go to the same thread in every pass, which keeps them in its cache; short turns even out heavy and
// light ones.
#define EACH_TILE _Pragma("omp parallel for schedule(static, 2) if (a->count > RH_SHORT)")

float *rh_poisson_vector(const rh_poisson *a, rh_arena *arena, rh_status *status)
{
    RH_ASSERT(a->count >= 0 && a->cells > 0);
    float *v = rh_arena_take(arena, rh_poisson_values(a) * sizeof(float), status);
    if (v) rh_poisson_clear(a, v);
    return v;
}

void rh_poisson_clear(const rh_poisson *a, float *x)
{
    EACH_TILE
    for (int32_t n = 0; n <= a->count; n++) memset(x + (int64_t)n * a->cells, 0, (size_t)a->cells * sizeof(float));
}

rh_code rh_poisson_init(rh_poisson *a, int dimension, int32_t count, rh_arena *arena, rh_status *status)
{
    RH_ASSERT((dimension == 2 || dimension == 3) && count >= 0);
    *a = (rh_poisson){.dimension = dimension, .layers = dimension == 3 ? RH_TILE : 1, .count = count};
    a->cells = RH_TILE * RH_TILE * a->layers;
    size_t tiles = (size_t)count + 1;
    a->at = rh_arena_take(arena, tiles * sizeof *a->at, status);
    a->near = rh_arena_take(arena, tiles * sizeof *a->near, status);
    a->block = rh_arena_take(arena, tiles * sizeof *a->block, status);
    a->unknown = rh_arena_take(arena, tiles * (size_t)a->cells / 8, status);
    a->rows = rh_arena_take(arena, tiles * sizeof *a->rows, status);
    return a->at && a->near && a->block && a->unknown && a->rows ? RH_OK : RH_MEMORY;
}

rh_code rh_poisson_take_blocks(rh_poisson *a, rh_arena *arena, rh_status *status)
{
    RH_ASSERT(a->block);
    a->blocks = 2;
    for (int32_t n = 0; n < a->count; n++)
        if (a->block[n] != RH_PLAIN) a->block[n] = a->blocks++;
    a->block[a->count] = RH_ABSENT;
    size_t size = (size_t)(1 + a->dimension) * (size_t)a->cells;
    a->coefficients = rh_arena_take(arena, (size_t)a->blocks * size * sizeof(float), status);
    if (!a->coefficients) return RH_MEMORY;
    RH_ASSERT(a->blocks <= a->count + 2);
    for (size_t i = 0; i < 2 * size; i++)
        a->coefficients[i] = i < (size_t)a->cells ? 2.0f * (float)a->dimension : i < size ? 1 : 0;
    return RH_OK;
}

rh_code rh_poisson_count(rh_poisson *a, rh_arena *arena, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    double *sums = rh_arena_take(arena, ((size_t)a->count + 1) * sizeof *sums, status);
    if (!sums) return RH_MEMORY;
    int rows = a->cells / 8;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        int unknowns = 0;
        a->rows[n] = 0;
        for (int s = 0; s < 2 * a->dimension; s++) RH_ASSERT(a->near[n][s] >= 0 && a->near[n][s] <= a->count);
        for (int r = 0; r < rows; r++) {
            unsigned bits = a->unknown[(int64_t)n * rows + r];
            unknowns += __builtin_popcount(bits);
            a->rows[n] |= (uint64_t)(bits != 0) << r;
        }
        sums[n] = unknowns;
    }
    a->unknowns = (int64_t)rh_sum(sums, a->count);
    rh_arena_restore(arena, mark);
    return RH_OK;
}

// --- the kernel ------------------------------------------------------------------------------------------------------
typedef struct view {
    const float *here, *near[6];
} view;

ALWAYS view view_of(const rh_poisson *a, int32_t n, const float *x)
{
    view v = {.here = x + (int64_t)n * a->cells};
    for (int s = 0; s < 2 * a->dimension; s++) v.near[s] = x + (int64_t)a->near[n][s] * a->cells;
    return v;
}

// Coefficients of a tile and the lower links of its upper neighbours.
typedef struct ties {
    const float *diagonal, *low[3], *high[3];
} ties;

ALWAYS ties ties_of(const rh_poisson *a, int32_t n)
{
    const float *own = rh_poisson_block(a, n);
    ties t = {.diagonal = own};
    for (int axis = 0; axis < a->dimension; axis++) {
        t.low[axis] = own + (axis + 1) * a->cells;
        t.high[axis] = rh_poisson_block(a, a->near[n][2 * axis + 1]) + (axis + 1) * a->cells;
    }
    return t;
}

ALWAYS rh_f8 at(const float *p) { return rh_f8_load(p); }

// Rows beside row (j, k) of a tile: of itself or of the tile beside.
ALWAYS const float *south(const view *v, int j, int row) { return j > 0 ? v->here + row - 8 : v->near[2] + row + 56; }
ALWAYS const float *north(const view *v, int j, int row) { return j < 7 ? v->here + row + 8 : v->near[3] + row - 56; }
ALWAYS const float *below(const view *v, int k, int row) { return k > 0 ? v->here + row - 64 : v->near[4] + row + 448; }
ALWAYS const float *above(const view *v, int k, int row) { return k < 7 ? v->here + row + 64 : v->near[5] + row - 448; }

typedef struct links {
    rh_f8 west, east, south, north, below, above;
} links;

ALWAYS links links_of(const ties *t, int j, int k, int row, bool deep)
{
    links l = {.west = at(t->low[0] + row), .south = at(t->low[1] + row)};
    l.east = rh_f8_east(l.west, t->high[0][row]);
    l.north = at(j < 7 ? t->low[1] + row + 8 : t->high[1] + row - 56);
    if (!deep) return l;
    l.below = at(t->low[2] + row);
    l.above = at(k < 7 ? t->low[2] + row + 64 : t->high[2] + row - 448);
    return l;
}

// The sum of links times neighbours.
ALWAYS rh_f8 beside(const view *v, const ties *t, rh_f8 here, int j, int k, int row, bool deep, bool plain)
{
    rh_f8 west = rh_f8_west(here, v->near[0][row + 7]), east = rh_f8_east(here, v->near[1][row]);
    rh_f8 s = at(south(v, j, row)), n = at(north(v, j, row));
    if (plain) {
        rh_f8 flat = (west + east) + (s + n);
        return deep ? flat + (at(below(v, k, row)) + at(above(v, k, row))) : flat;
    }
    links l = links_of(t, j, k, row, deep);
    rh_f8 flat = (l.west * west + l.east * east) + (l.south * s + l.north * n);
    return deep ? flat + (l.below * at(below(v, k, row)) + l.above * at(above(v, k, row))) : flat;
}

enum { APPLY, SMOOTH, RESIDUAL };

ALWAYS double work(const rh_poisson *a, int32_t n, float weight, const float *b, const float *x, float *y, int what,
                   bool deep, bool plain)
{
    view v = view_of(a, n, x);
    ties t = ties_of(a, n);
    float steady = deep ? 6 : 4;
    const uint64_t rows = a->rows[n];
    double sum = 0;
    for (int k = 0; k < (deep ? RH_TILE : 1); k++) {
        rh_f8 part = rh_f8_all(0);
        for (int j = 0; j < RH_TILE; j++) {
            int row = RH_TILE * (j + RH_TILE * k);
            if (!plain && !(rows >> (j + RH_TILE * k) & 1)) continue;
            rh_f8 here = at(v.here + row), others = beside(&v, &t, here, j, k, row, deep, plain);
            rh_f8 diagonal = plain ? rh_f8_all(steady) : at(t.diagonal + row), out;
            if (what == APPLY) {
                out = diagonal * here - others;
                part += out * here;
            } else {
                rh_f8 right = at(b + row);
                out = right - (diagonal * here - others);
                if (what == SMOOTH) {
                    out = here + (plain ? out * (weight / steady) : weight * out / diagonal);
                    part += out * right;
                }
            }
            rh_f8_store(y + row, out);
        }
        sum += (double)rh_f8_sum(part);
    }
    return sum;
}

// b and y point to the tile, x to the whole vector.
ALWAYS double tile_work(const rh_poisson *a, int32_t n, float weight, const float *b, const float *x, float *y,
                        int what)
{
    bool plain = a->block[n] == RH_PLAIN;
    if (a->dimension == 3)
        return plain ? work(a, n, weight, b, x, y, what, true, true) : work(a, n, weight, b, x, y, what, true, false);
    return plain ? work(a, n, weight, b, x, y, what, false, true) : work(a, n, weight, b, x, y, what, false, false);
}

void rh_poisson_apply(const rh_poisson *a, const float *x, float *y, double *sums)
{
    RH_ASSERT(x != y);
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        double sum = tile_work(a, n, 0, NULL, x, y + (int64_t)n * a->cells, APPLY);
        if (sums) sums[n] = sum;
    }
}

void rh_poisson_smooth(const rh_poisson *a, float weight, const float *b, const float *x, float *y, double *sums)
{
    RH_ASSERT(x != y && b != y);
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        int64_t base = (int64_t)n * a->cells;
        double sum = tile_work(a, n, weight, b + base, x, y + base, SMOOTH);
        if (sums) sums[n] = sum;
    }
}

void rh_poisson_residual_tile(const rh_poisson *a, int32_t n, const float *b, const float *x, float out[RH_CELLS])
{
    RH_ASSERT(n >= 0 && n < a->count);
    for (int r = 0; r < a->cells / 8; r++)
        if (!(a->rows[n] >> r & 1)) rh_f8_store(out + 8 * r, rh_f8_all(0));
    tile_work(a, n, 0, b + (int64_t)n * a->cells, x, out, RESIDUAL);
}

void rh_poisson_excess_tile(const rh_poisson *a, int32_t n, float out[RH_CELLS])
{
    RH_ASSERT(n >= 0 && n < a->count);
    bool deep = a->dimension == 3;
    ties t = ties_of(a, n);
    for (int r = 0; r < a->cells / 8; r++) {
        int row = 8 * r, j = r & 7, k = r >> 3;
        links l = links_of(&t, j, k, row, deep);
        rh_f8 diagonal = at(t.diagonal + row), tied = (l.west + l.east) + (l.south + l.north);
        if (deep) tied += l.below + l.above;
        rh_f8 left = diagonal - tied;
        rh_i8 real = rh_i8_from_bits(a->unknown[(int64_t)n * (a->cells / 8) + r]) & (left > 1e-5f * diagonal);
        rh_f8_store(out + row, rh_f8_select(real, left, rh_f8_all(0)));
    }
}

// --- passes without neighbours ---------------------------------------------------------------------------------------
void rh_poisson_smooth_zero(const rh_poisson *a, float weight, const float *b, float *x)
{
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        const float *diagonal = rh_poisson_block(a, n);
        int64_t base = (int64_t)n * a->cells;
        for (uint64_t rows = a->rows[n]; rows; rows &= rows - 1) {
            int row = 8 * __builtin_ctzll(rows);
            rh_f8_store(x + base + row, weight * at(b + base + row) / at(diagonal + row));
        }
    }
}

void rh_poisson_cg_update(const rh_poisson *a, float step, float weight, const float *d, float *q, float *x, float *r,
                          double *sums)
{
    RH_ASSERT(d != q && x != r);
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        const float *diagonal = rh_poisson_block(a, n);
        int64_t base = (int64_t)n * a->cells;
        double sum = 0;
        for (int k = 0; k < a->layers; k++) {
            rh_f8 part = rh_f8_all(0);
            for (uint64_t rows = a->rows[n] >> (8 * k) & 255; rows; rows &= rows - 1) {
                int row = 64 * k + 8 * __builtin_ctzll(rows);
                int64_t c = base + row;
                rh_f8 rest = at(r + c) - step * at(q + c);
                rh_f8_store(x + c, at(x + c) + step * at(d + c));
                rh_f8_store(r + c, rest);
                rh_f8_store(q + c, weight * rest / at(diagonal + row));
                part += rest * rest;
            }
            sum += (double)rh_f8_sum(part);
        }
        sums[n] = sum;
    }
}

void rh_poisson_cg_direction(const rh_poisson *a, float beta, const float *z, float *d)
{
    RH_ASSERT(z != d);
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        int64_t base = (int64_t)n * a->cells;
        for (uint64_t rows = a->rows[n]; rows; rows &= rows - 1) {
            int64_t c = base + 8 * __builtin_ctzll(rows);
            rh_f8_store(d + c, at(z + c) + beta * at(d + c));
        }
    }
}

void rh_poisson_dot(const rh_poisson *a, const float *x, const float *y, double *sums)
{
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        double sum = 0;
        for (int k = 0; k < a->layers; k++) {
            rh_f8 part = rh_f8_all(0);
            for (uint64_t rows = a->rows[n] >> (8 * k) & 255; rows; rows &= rows - 1) {
                int64_t c = (int64_t)n * a->cells + 64 * k + 8 * __builtin_ctzll(rows);
                part += at(x + c) * at(y + c);
            }
            sum += (double)rh_f8_sum(part);
        }
        sums[n] = sum;
    }
}
