// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Self-diffusion in dense granular shear: D = 0.1 rate d^2 across the flow and twice that along it, d the diameter of
// grains (B. Utter, R. P. Behringer, Physical Review E 69, 2004); here the same along all axes, and grains are as large
// as particles are apart. The velocity is not changed: particles take that of where they are, as PIC does.
#include "physics/sand/mix.h"

#include <math.h>
#include "base/random.h"
#include "grid/shear.h"

static const float FARTHEST = 0.5f;  // spacings in a step

// Rates of shear of the cells of a tile that bear pressure; 0 elsewhere.
static void shear_rates(const rh_unilateral_view *view, int32_t t, float *out)
{
    const rh_tiles *tiles = view->tiles;
    rh_rows q = rh_layout_rows(&view->limit->layout, view->q, t);
    rh_shear_rates(tiles, view->velocity, t, out);
    for (int c = 0; c < tiles->cells; c += 8)
        rh_f8_store(out + c, rh_f8_select(rh_f8_load(q.here + c) > rh_f8_all(0), rh_f8_load(out + c), rh_f8_all(0)));
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
