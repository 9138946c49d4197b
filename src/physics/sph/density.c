// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Densities at the end of a step (T. Takahashi, chapter 2; docs/sources.md):
//      now         rho = sum_j m W_ij + sum_s rho_0 V_s W_is                          (2.1), from the search
//      (sph_lists.c) numbers     n = sum_j w_ij + sum_s (V_s / V_0) w_is                            (2.2) blended (1 -
//      zeta) rho + zeta rho_0 n / n_0,  zeta by walls in sight       (2.3) predicted   + dt (sum_j m u_ij . grad W_ij +
//      sum_s rho_0 V_s u_is . grad W_is) (2.4)
// The smooth kernel suits liquid that meets liquid, the singular one keeps it out of walls.
#include <math.h>
#include "base/parallel.h"
#include "physics/sph/fluid.h"

double rh_sph_sum(const rh_sph_fluid *f) { return rh_sum(f->sums, rh_blocks(f->count)); }

double rh_sph_mean_error_of(double *sums, int64_t size, float dt, const float *r, int64_t unknowns)
{
    int64_t blocks = rh_blocks(size);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        double sum = 0;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, size); i++) sum += fabs((double)r[i]);
        sums[b] = sum;
    }
    return rh_sum(sums, blocks) * (double)dt * (double)dt / (double)(unknowns > 0 ? unknowns : 1);
}

double rh_sph_mean_error(const rh_sph_fluid *f, const float *r, int64_t unknowns)
{
    return rh_sph_mean_error_of(f->sums, f->count, f->dt, r, unknowns);
}

static float number_density(const rh_sph_fluid *f, int64_t i)
{
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i;
    rh_f8 fluid = rh_f8_all(0), walls = rh_f8_all(0);
    RH_SPH_EACH(f->lists->fluid, i, near) fluid += rh_sph_number(k, rh_sph_pairs_of(k, own, f->place, near).distance);
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->walls->place, near);
        walls += p.number * rh_sph_number(k, p.distance);
    }
    return (rh_f8_sum(fluid) + rh_f8_sum(walls) / k->volume) / k->number;
}

// d(density)/dt, 1/s.
static float rate(const rh_sph_fluid *f, int64_t i)
{
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i, *flow = f->flow + 4 * i;
    rh_f8 fluid = rh_f8_all(0), walls = rh_f8_all(0);
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->place, near);
        fluid += p.slope * rh_sph_approach(&p, flow, f->flow, near);
    }
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->walls->place, near);
        walls += p.number * p.slope * rh_sph_approach(&p, flow, f->walls->flow, near);
    }
    return -(k->volume * rh_f8_sum(fluid) + k->mirror * rh_f8_sum(walls));
}

void rh_sph_predict(rh_sph_fluid *f, const rh_sph_prediction *how)
{
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) {
        float share = rh_sph_blend((double)f->covered[i], how->blend_from, how->blend_to), now = f->density[i];
        if (share > 0) now += share * (number_density(f, i) - now);
        rh_sph_predict_one(f, how, i, now, rate(f, i));
    }
}
