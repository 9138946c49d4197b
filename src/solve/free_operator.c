// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A tile's block is number 2 + n, if it needs one: plain tiles that are free all over and around share the plain block
// as before, tiles without any free cell the block of zeros. A row's bits and those of the rows below it, beside it and
// in front of it make its three masks.
#include "solve/free_operator.h"

#include <string.h>
#include "base/parallel.h"

#define EACH_TILE _Pragma("omp parallel for schedule(static, 2) if (a->count > RH_SHORT)")

rh_code rh_free_operator_init(rh_free_operator *on_free, const rh_poisson *all, rh_arena *arena, rh_status *status)
{
    *on_free = (rh_free_operator){.a = *all, .all = all};
    rh_poisson *a = &on_free->a;
    size_t tiles = (size_t)a->count + 1, size = (size_t)(1 + a->dimension) * (size_t)a->cells;
    a->blocks = a->count + 2;
    a->unknowns = 0;
    a->block = rh_arena_take(arena, tiles * sizeof *a->block, status);
    a->unknown = rh_arena_take_zero(arena, tiles * (size_t)a->cells / 8, status);
    a->rows = rh_arena_take_zero(arena, tiles * sizeof *a->rows, status);
    a->coefficients = rh_arena_take(arena, (tiles + 1) * size * sizeof(float), status);
    on_free->touched = rh_arena_take_zero(arena, tiles, status);
    on_free->sums = rh_arena_take(arena, 2 * tiles * sizeof(double), status);
    if (!a->block || !a->unknown || !a->rows || !a->coefficients || !on_free->touched || !on_free->sums)
        return RH_MEMORY;
    memcpy(a->coefficients, all->coefficients, 2 * size * sizeof(float));
    for (int32_t n = 0; n <= a->count; n++) a->block[n] = RH_ABSENT;
    return RH_OK;
}

// Takes over the bits of one tile; returns how many changed.
static int take_bits(rh_free_operator *on_free, int32_t n, const uint8_t *free)
{
    const rh_poisson *a = &on_free->a;
    int rows = a->cells / 8, changed = 0, count = 0;
    uint8_t *own = a->unknown + (int64_t)n * rows;
    const uint8_t *next = free + (int64_t)n * rows;
    uint64_t filled = 0;
    for (int r = 0; r < rows; r++) {
        changed += __builtin_popcount((unsigned)(own[r] ^ next[r]));
        count += __builtin_popcount((unsigned)next[r]);
        filled |= (uint64_t)(next[r] != 0) << r;
        own[r] = next[r];
    }
    a->rows[n] = filled;
    on_free->touched[n] = changed > 0;
    on_free->sums[n] = count;
    return changed;
}

static bool all_free(const rh_poisson *a, int32_t n, int axis,
                     int layer)  // axis < 0: all of the tile; else the layer at that end
{
    if (n == a->count) return false;
    const uint8_t *bits = a->unknown + (int64_t)n * (a->cells / 8);
    for (int r = 0; r < a->cells / 8; r++) {
        int place = axis == 1 ? r & 7 : r >> 3, mask = axis == 0 ? 1 << layer : 255;
        if (axis >= 1 && place != layer) continue;
        if ((bits[r] & mask) != mask) return false;
    }
    return true;
}

static bool is_plain(const rh_free_operator *on_free, int32_t n)
{
    const rh_poisson *a = &on_free->a;
    if (on_free->all->block[n] != RH_PLAIN || !all_free(a, n, -1, 0)) return false;
    for (int s = 0; s < 2 * a->dimension; s++)
        if (!all_free(a, a->near[n][s], s / 2, s & 1 ? 0 : 7)) return false;
    return true;
}

static inline int bits_at(const rh_poisson *a, int32_t n, int r)
{
    return n < a->count ? a->unknown[(int64_t)n * (a->cells / 8) + r] : 0;
}

static void write_block(const rh_free_operator *on_free, int32_t n)
{
    const rh_poisson *a = &on_free->a;
    const float *from = rh_poisson_block(on_free->all, n);
    float *to = rh_poisson_block(a, n);
    for (int r = 0; r < a->cells / 8; r++) {
        int j = r & 7, k = r >> 3, here = bits_at(a, n, r), before[3];
        before[0] = here << 1 | bits_at(a, a->near[n][0], r) >> 7;
        before[1] = j > 0 ? bits_at(a, n, r - 1) : bits_at(a, a->near[n][2], r + 7);
        before[2] = a->layers == 1 ? 0 : k > 0 ? bits_at(a, n, r - 8) : bits_at(a, a->near[n][4], r + 56);
        rh_f8_store(to + 8 * r, rh_f8_select(rh_i8_from_bits(here), rh_f8_load(from + 8 * r), rh_f8_all(1)));
        for (int axis = 0; axis < a->dimension; axis++) {
            int at = (axis + 1) * a->cells + 8 * r;
            rh_f8_store(to + at, (rh_f8)((rh_i8)rh_f8_load(from + at) & rh_i8_from_bits(here & before[axis])));
        }
    }
}

static bool is_near_change(const rh_free_operator *on_free, int32_t n)
{
    bool near = on_free->touched[n];
    for (int s = 0; s < 2 * on_free->a.dimension; s++) near = near || on_free->touched[on_free->a.near[n][s]];
    return near;
}

void rh_free_operator_set(rh_free_operator *on_free, const uint8_t *free)
{
    RH_ASSERT(free);
    rh_poisson *a = &on_free->a;
    double *changes = on_free->sums + a->count + 1;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) changes[n] = take_bits(on_free, n, free);
    a->unknowns = (int64_t)rh_sum(on_free->sums, a->count);
    on_free->changed = (int64_t)rh_sum(changes, a->count);
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        if (!is_near_change(on_free, n)) continue;
        a->block[n] = a->rows[n] == 0 ? RH_ABSENT : is_plain(on_free, n) ? RH_PLAIN : 2 + n;
        if (a->block[n] > RH_ABSENT) write_block(on_free, n);
    }
}
