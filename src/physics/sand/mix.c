// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Self-diffusion in dense granular shear: D = 0.1 rate d^2 across the flow and twice that along it, d the diameter of
// grains (B. Utter, R. P. Behringer, Physical Review E 69, 2004); here the same along all axes, and grains are as large
// as particles are apart. The velocity is not changed: particles take that of where they are, as PIC does.
#include "physics/sand/mix.h"

#include <math.h>
#include "base/random.h"
#include "grid/rows.h"

static const float ZEROS[RH_CELLS];
static const float FARTHEST = 0.5f;  // spacings in a step

static rh_f8 row_along(const rh_rows_around *f, int r, int axis, int by, int other, int by_other)
{
    int d[3] = {0, 0, 0};
    d[axis] += by, d[other] += by_other;
    return rh_row_at(f, r, d[0], d[1], d[2]);
}

// The derivative of velocity a along b at the centres of a row, times the cell.
static rh_f8 slope(const rh_rows_around *u, int r, int a, int b)
{
    if (a == b) return row_along(u, r, a, 1, b, 0) - rh_row_at(u, r, 0, 0, 0);
    return 0.25f * (row_along(u, r, a, 0, b, 1) - row_along(u, r, a, 0, b, -1) + row_along(u, r, a, 1, b, 1) -
                    row_along(u, r, a, 1, b, -1));
}

// sqrt(2 D:D) of the cells of a tile that bear pressure, 1/s; 0 elsewhere.
static void shear_rates(const rh_unilateral_view *view, int32_t t, float *out)
{
    const rh_tiles *tiles = view->tiles;
    rh_rows_around u[3];
    rh_rows q = rh_layout_rows(&view->limit->layout, view->q, t);
    for (int a = 0; a < tiles->dimension; a++) u[a] = rh_rows_around_of(tiles, view->velocity.axis[a], t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        rh_f8 sum = rh_f8_all(0);
        for (int a = 0; a < tiles->dimension; a++)
            for (int b = 0; b <= a; b++) {
                rh_f8 d = 0.5f * (slope(&u[a], r, a, b) + slope(&u[b], r, b, a));
                sum += (a == b ? 2.0f : 4.0f) * d * d;
            }
        rh_f8_store(out + 8 * r, rh_f8_select(rh_f8_load(q.here + 8 * r) > rh_f8_all(0),
                                              rh_f8_sqrt(sum) * tiles->inverse_h, rh_f8_all(0)));
    }
}

static void mix_tile(const rh_unilateral_view *view, int32_t t, float mixing, float spacing)
{
    const rh_tiles *tiles = view->tiles;
    rh_vec3 *positions = rh_points_data(view->points, "P", RH_POINT_VEC3F);
    const int64_t *id = rh_points_data(view->points, "id", RH_POINT_I64);
    float rate[RH_CELLS];
    shear_rates(view, t, rate);
    for (int c = 0; c < tiles->cells; c++) {
        int64_t cell = (int64_t)t * tiles->cells + c;
        if (rate[c] == 0) continue;
        float way = spacing * fminf(sqrtf(6 * mixing * rate[c] * view->dt), FARTHEST);  // the variance of -1..1 is 1/3
        for (uint32_t p = tiles->first[cell]; p < tiles->first[cell + 1]; p++)
            for (int a = 0; a < tiles->dimension; a++)
                (&positions[p].x)[a] += way * (2 * rh_random(0, (uint64_t)(id[p] - view->around->first_id),
                                                             (uint32_t)view->around->step, (uint32_t)a) -
                                               1);
    }
}

void rh_sand_mix(const rh_unilateral_view *view, double mixing, double spacing)
{
    RH_ASSERT(rh_tiles_are_sorted(view->tiles) && spacing > 0);
    if (mixing == 0) return;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < view->tiles->occupied_count; n++)
        mix_tile(view, view->tiles->occupied[n], (float)mixing, (float)spacing);
}
