// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Modified incomplete Cholesky per tile. With links l_a(c) >= 0 between c and its lower neighbour, the pivots are
//   e(c) = d(c) - sum_a l_a(c)^2 / e(c - a) - tau sum_a l_a(c) (sum of the other upper links of c - a) / e(c - a)
// with a safety floor of d(c)/4 as usual. Links that leave the tile are dropped from the factor but stay in d(c), which
// keeps the block positive definite.
#include <math.h>
#include "solve/cg.h"

static const float TAU = 0.97f, FLOOR = 0.25f;

typedef struct links { const float *axis[3]; } links;

static links links_of(const rh_poisson *a, int64_t base)
{
    return (links){{a->link.axis[0] + base, a->link.axis[1] + base, a->tiles->dimension == 3 ? a->link.axis[2] + base : NULL}};
}

// Upper link of cell (i, j, k) along an axis, inside the tile only.
static inline float upper(const links *l, int axis, int c, const int at[3], const int step[3])
{
    return at[axis] < RH_TILE - 1 ? l->axis[axis][c + step[axis]] : 0;
}

static void factorise(const rh_poisson *a, int32_t t, float *inverse)
{
    const rh_tiles *tiles = a->tiles;
    int64_t base = (int64_t)t * tiles->cells;
    links l = links_of(a, base);
    const float *diagonal = a->diagonal + base;
    const int step[3] = {1, RH_TILE, RH_TILE * RH_TILE};
    inverse += base;
    for (int c = 0; c < tiles->cells; c++) {
        if (diagonal[c] <= 0) {
            inverse[c] = 0;
            continue;
        }
        int at[3] = {c & 7, c >> 3 & 7, c >> 6};
        float e = diagonal[c];
        for (int axis = 0; axis < tiles->dimension; axis++) {
            if (at[axis] == 0) continue;
            int n = c - step[axis], near[3] = {at[0] - (axis == 0), at[1] - (axis == 1), at[2] - (axis == 2)};
            float link = l.axis[axis][c], others = 0;
            for (int other = 0; other < tiles->dimension; other++)
                if (other != axis) others += upper(&l, other, n, near, step);
            e -= link * (link + TAU * others) * inverse[n];
        }
        if (e < FLOOR * diagonal[c]) e = diagonal[c];
        inverse[c] = 1 / e;
    }
}

rh_code rh_tile_mic_create(rh_tile_mic *mic, const rh_poisson *a, rh_arena *arena, rh_status *status)
{
    *mic = (rh_tile_mic){.a = a, .inverse = rh_field_new(a->tiles, arena, status)};
    if (!mic->inverse) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t n = 0; n < a->count; n++) factorise(a, a->list[n], mic->inverse);
    return RH_OK;
}

// Forward then backward substitution. Values outside the tile count as zero, so every neighbour is inside.
static void solve_tile(const rh_tile_mic *mic, int32_t t, const float *r, float *z)
{
    const rh_tiles *tiles = mic->a->tiles;
    int64_t base = (int64_t)t * tiles->cells;
    links l = links_of(mic->a, base);
    const float *inverse = mic->inverse + base;
    r += base;
    z += base;
    for (int k = 0; k < tiles->layers; k++)
        for (int j = 0; j < RH_TILE; j++) {
            int row = RH_TILE * (j + RH_TILE * k);
            float rhs[RH_TILE], previous = 0;
            for (int i = 0; i < RH_TILE; i++) rhs[i] = r[row + i];
            if (j) for (int i = 0; i < RH_TILE; i++) rhs[i] += l.axis[1][row + i] * z[row + i - 8];
            if (k) for (int i = 0; i < RH_TILE; i++) rhs[i] += l.axis[2][row + i] * z[row + i - 64];
            for (int i = 0; i < RH_TILE; i++) {
                if (i) rhs[i] += l.axis[0][row + i] * previous;
                previous = z[row + i] = rhs[i] * inverse[row + i];
            }
        }
    for (int k = tiles->layers - 1; k >= 0; k--)
        for (int j = RH_TILE - 1; j >= 0; j--) {
            int row = RH_TILE * (j + RH_TILE * k);
            float sum[RH_TILE] = {0};
            if (j < 7) for (int i = 0; i < RH_TILE; i++) sum[i] += l.axis[1][row + i + 8] * z[row + i + 8];
            if (k < tiles->layers - 1) for (int i = 0; i < RH_TILE; i++) sum[i] += l.axis[2][row + i + 64] * z[row + i + 64];
            for (int i = RH_TILE - 1; i >= 0; i--) {
                if (i < 7) sum[i] += l.axis[0][row + i + 1] * z[row + i + 1];
                z[row + i] += sum[i] * inverse[row + i];
            }
        }
}

static void apply(const void *self, const float *r, float *z)
{
    const rh_tile_mic *mic = self;
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < mic->a->count; n++) solve_tile(mic, mic->a->list[n], r, z);
}

rh_preconditioner rh_tile_mic_preconditioner(const rh_tile_mic *mic) { return (rh_preconditioner){apply, mic}; }
