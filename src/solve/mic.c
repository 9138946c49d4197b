// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// After R. Bridson, "Fluid Simulation for Computer Graphics", 2nd ed. 2015, section 5.1 (tau 0.97, sigma 0.25), there
// on a dense grid.
//
// A cell needs its lower neighbours only, so any order that has them first gives the same numbers; there is no cut at
// tile borders. Tiles with the same x + y + z need nothing of each other: they are a wave, done in parallel, wave after
// wave, and the result is that of one thread. With e the squared pivot, L = E^-1 ... and t of Bridson scaled by 1 / E,
// both sweeps need 1 / e only:
//   s_c = (r_c + sum over lower link s) / e_c,   z_c = s_c + (sum over upper link z) / e_c.
#include "solve/mic.h"

#include <string.h>

static const float TAU = 0.97f, SIGMA = 0.25f;

static int32_t wave_of(rh_tile t) { return t.x + t.y + t.z; }

rh_code rh_mic_init(rh_mic *m, const rh_poisson *a, rh_arena *arena, rh_status *status)
{
    RH_ASSERT(a->at && a->near && a->coefficients);
    *m = (rh_mic){.a = a};
    int32_t low = 0, high = 0;
    for (int32_t n = 0; n < a->count; n++) {
        int32_t w = wave_of(a->at[n]);
        low = n == 0 || w < low ? w : low;
        high = n == 0 || w > high ? w : high;
    }
    m->waves = a->count ? high - low + 1 : 0;
    m->order = rh_arena_take(arena, ((size_t)a->count + 1) * sizeof *m->order, status);
    m->wave = rh_arena_take_zero(arena, ((size_t)m->waves + 2) * sizeof *m->wave, status);
    m->inverse = rh_poisson_vector(a, arena, status);
    m->upward = rh_poisson_vector(a, arena, status);
    if (!m->order || !m->wave || !m->inverse || !m->upward) return RH_MEMORY;
    for (int32_t n = 0; n < a->count; n++) m->wave[wave_of(a->at[n]) - low + 2]++;
    for (int32_t w = 1; w <= m->waves; w++) m->wave[w + 1] += m->wave[w];
    for (int32_t n = 0; n < a->count; n++) m->order[m->wave[wave_of(a->at[n]) - low + 1]++] = n;
    RH_ASSERT(m->wave[0] == 0 && m->wave[m->waves] == a->count);
    return RH_OK;
}

// The row before or after row r along axis 1 or 2: of vector v, or of a lower link when the tiles' blocks are given.
static const float *row_of(const rh_poisson *a, int32_t n, int axis, bool upper, int r, const float *v)
{
    int place = axis == 1 ? r & 7 : r >> 3, step = axis == 1 ? 1 : 8;
    bool inside = upper ? place < 7 : place > 0;
    int row = r + (upper ? step : -step) * (inside ? 1 : -7);
    int32_t tile = inside ? n : a->near[n][2 * axis + upper];
    return v ? v + (int64_t)tile * a->cells + 8 * row : rh_poisson_block(a, tile) + (axis + 1) * a->cells + 8 * row;
}

static rh_f8 east_links(const rh_poisson *a, int32_t n, int r)
{
    return rh_f8_east(rh_f8_load(rh_poisson_block(a, n) + a->cells + 8 * r),
                      rh_poisson_block(a, a->near[n][1])[a->cells + 8 * r]);
}

static void add_upward(const rh_mic *m, int32_t n)
{
    const rh_poisson *a = m->a;
    for (uint64_t rows = a->rows[n]; rows; rows &= rows - 1) {
        int r = __builtin_ctzll(rows);
        rh_f8 sum = east_links(a, n, r);
        for (int axis = 1; axis < a->dimension; axis++) sum += rh_f8_load(row_of(a, n, axis, true, r, NULL));
        rh_f8_store(m->upward + (int64_t)n * a->cells + 8 * r, sum);
    }
}

// What a lower neighbour takes from the diagonal: link^2 / e, and tau times what its fill-in would have been.
static inline rh_f8 taken(rh_f8 link, rh_f8 inverse, rh_f8 upward)
{
    return link * inverse * (link + TAU * (upward - link));
}

static void factor_tile(const rh_mic *m, int32_t n)
{
    const rh_poisson *a = m->a;
    const float *block = rh_poisson_block(a, n);
    float *inverse = m->inverse + (int64_t)n * a->cells, *upward = m->upward + (int64_t)n * a->cells;
    for (int r = 0; r < a->cells / 8; r++) {
        int bits = a->unknown[(int64_t)n * (a->cells / 8) + r];
        if (!bits) {
            rh_f8_store(inverse + 8 * r, rh_f8_all(0));
            continue;
        }
        rh_f8 left = rh_f8_load(block + 8 * r), west = rh_f8_load(block + a->cells + 8 * r);
        for (int axis = 1; axis < a->dimension; axis++)
            left -= taken(rh_f8_load(block + (axis + 1) * a->cells + 8 * r),
                          rh_f8_load(row_of(a, n, axis, false, r, m->inverse)),
                          rh_f8_load(row_of(a, n, axis, false, r, m->upward)));
        int64_t beside = (int64_t)a->near[n][0] * a->cells + 8 * r + 7;
        float last = m->inverse[beside], last_upward = m->upward[beside];
        for (int i = 0; i < 8; i++) {
            float e = left[i] - west[i] * last * (west[i] + TAU * (last_upward - west[i])), whole = block[8 * r + i];
            last = !(bits >> i & 1) ? 0 : e < SIGMA * whole ? 1 / whole : 1 / e;
            last_upward = upward[8 * r + i];
            inverse[8 * r + i] = last;
        }
    }
}

void rh_mic_factor(rh_mic *m)
{
    for (int32_t w = 0; w < m->waves; w++) {
        int32_t begin = m->wave[w], end = m->wave[w + 1];
#pragma omp parallel for schedule(dynamic, 4) if (end - begin > RH_SHORT)
        for (int32_t i = begin; i < end; i++) {
            add_upward(m, m->order[i]);
            factor_tile(m, m->order[i]);
        }
    }
}

static void forward(const rh_mic *m, int32_t n, const float *b, float *s)
{
    const rh_poisson *a = m->a;
    const float *block = rh_poisson_block(a, n);
    int64_t base = (int64_t)n * a->cells;
    for (int r = 0; r < a->cells / 8; r++) {
        if (!(a->rows[n] >> r & 1)) {
            rh_f8_store(s + base + 8 * r, rh_f8_all(0));
            continue;
        }
        rh_f8 sum = rh_f8_load(b + base + 8 * r), west = rh_f8_load(block + a->cells + 8 * r),
              inverse = rh_f8_load(m->inverse + base + 8 * r);
        for (int axis = 1; axis < a->dimension; axis++)
            sum += rh_f8_load(block + (axis + 1) * a->cells + 8 * r) * rh_f8_load(row_of(a, n, axis, false, r, s));
        float last = s[(int64_t)a->near[n][0] * a->cells + 8 * r + 7];
        for (int i = 0; i < 8; i++) sum[i] = last = (sum[i] + west[i] * last) * inverse[i];
        rh_f8_store(s + base + 8 * r, sum);
    }
}

static void backward(const rh_mic *m, int32_t n, float *z)
{
    const rh_poisson *a = m->a;
    int64_t base = (int64_t)n * a->cells;
    for (int r = a->cells / 8 - 1; r >= 0; r--) {
        if (!(a->rows[n] >> r & 1)) continue;
        rh_f8 sum = rh_f8_all(0), east = east_links(a, n, r), s = rh_f8_load(z + base + 8 * r),
              inverse = rh_f8_load(m->inverse + base + 8 * r);
        for (int axis = 1; axis < a->dimension; axis++)
            sum += rh_f8_load(row_of(a, n, axis, true, r, NULL)) * rh_f8_load(row_of(a, n, axis, true, r, z));
        float last = z[(int64_t)a->near[n][1] * a->cells + 8 * r];
        for (int i = 7; i >= 0; i--) s[i] = last = s[i] + (sum[i] + east[i] * last) * inverse[i];
        rh_f8_store(z + base + 8 * r, s);
    }
}

void rh_mic_apply(const rh_mic *m, const float *r, float *z)
{
    RH_ASSERT(r != z);
    for (int32_t w = 0; w < m->waves; w++) {
        int32_t begin = m->wave[w], end = m->wave[w + 1];
#pragma omp parallel for schedule(dynamic, 4) if (end - begin > RH_SHORT)
        for (int32_t i = begin; i < end; i++) forward(m, m->order[i], r, z);
    }
    for (int32_t w = m->waves; w-- > 0;) {
        int32_t begin = m->wave[w], end = m->wave[w + 1];
#pragma omp parallel for schedule(dynamic, 4) if (end - begin > RH_SHORT)
        for (int32_t i = begin; i < end; i++) backward(m, m->order[i], z);
    }
}
