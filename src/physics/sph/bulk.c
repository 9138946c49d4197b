// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Who resists growth by bulk viscosity (viscous_pull.c), because pressure, which never pulls, does not keep its volume:
// particles inside the liquid without pressure, near which liquid grows in this step. What grows by less than a tenth
// of the density error that the solve of the pressure leaves does not count: in a block of 1e6 Pa s that rests within
// that error there is no pressure at all, and the solve takes twice as many iterations with bulk viscosity. (Liquid
// without any pressure around, instead of at the particle itself: a ribbon drawn to 2.4 of its length grew by 9 instead
// of 7 %.)
#include "physics/sph/fluid.h"

// Densities. At the surface, where there are no neighbours on one side, nobody can tell growth from stretching.
static const float INSIDE = 0.9f, OUTSIDE = 0.8f;
static const float SLIGHT = 0.1f;  // of the tolerance

// The share of its volume by which particle i grows in the step; 0 under pressure and outside.
static float growth_of(const rh_sph_fluid *f, int64_t i)
{
    const rh_sph_kernel *k = f->kernel;
    if (f->q[i] > 0 || f->density[i] < OUTSIDE) return 0;
    rh_f8 sum = rh_f8_all(0);
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, f->place + 4 * i, f->place, near);
        sum += p.slope * rh_sph_approach(&p, f->flow + 4 * i, f->flow, near);
    }
    return f->dt * k->volume * rh_f8_sum(sum);
}

static float share_of(const rh_sph_fluid *f, const float *growth, float most, int64_t i)
{
    float inside = rh_min((f->density[i] - OUTSIDE) / (INSIDE - OUTSIDE), 1);
    if (!(inside > 0) || f->q[i] > 0) return 0;
    rh_f8 grows = rh_f8_all(growth[i]);
    RH_SPH_EACH(f->lists->fluid, i, near) grows = rh_f8_max(grows, rh_f8_gather(growth, near));
    return rh_i8_bits(grows > most) ? inside : 0;
}

bool rh_sph_find_bulk(const rh_sph_fluid *f, float tolerance, float *growth, float *share)
{
    bool any = false;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) growth[i] = growth_of(f, i);
    for (int64_t i = f->count; i < f->count + 8; i++) growth[i] = 0;
#pragma omp parallel for schedule(dynamic, 512) reduction(|| : any)
    for (int64_t i = 0; i < f->count; i++) {
        share[i] = share_of(f, growth, SLIGHT * tolerance, i);
        any = any || share[i] > 0;
    }
    return any;
}
