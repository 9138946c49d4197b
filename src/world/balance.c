// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
#include "world/balance.h"

#include "base/memory.h"
#include "base/parallel.h"

enum { PARTS = 5 };

rh_code rh_balance_totals(const rh_points *points, rh_dvec3 gravity, rh_totals *out, rh_status *status)
{
    int64_t count = points->count, blocks = rh_blocks(count);
    double *sums = rh_alloc((size_t)(PARTS * blocks + 1) * sizeof *sums, "world.balance", status);
    if (!sums) return RH_MEMORY;
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        double sum[PARTS] = {0};
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, count); i++) {
            sum[0] += 0.5 * (double)rh_v3_dot(v[i], v[i]);
            sum[1] -= rh_d3_dot(gravity, rh_d3_from(p[i]));
            for (int a = 0; a < 3; a++) sum[2 + a] += (double)(&v[i].x)[a];
        }
        for (int k = 0; k < PARTS; k++) sums[k * blocks + b] = sum[k];
    }
    *out = (rh_totals){.kinetic = rh_sum(sums, blocks),
                       .height = rh_sum(sums + blocks, blocks),
                       .momentum = {rh_sum(sums + 2 * blocks, blocks), rh_sum(sums + 3 * blocks, blocks),
                                    rh_sum(sums + 4 * blocks, blocks)}};
    rh_free(sums);
    return RH_OK;
}

double rh_totals_energy(const rh_totals *totals, rh_dvec3 gravity, double lag)
{
    return totals->kinetic + totals->height + lag * rh_d3_dot(gravity, totals->momentum);
}
