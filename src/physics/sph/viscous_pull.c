// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Thick liquid that is stretched does not grow: inside it the pressure falls below that of the air and draws it thin.
// The pressure solve has no negative pressures (they draw particles into clumps), so where it finds none viscosity
// resists growth instead, as a bulk viscosity many times that of shear: the energy of a step has
//      1/2 sum_i k_i D_i^2,    D_i = sum_j f_ij a_ij . (u_i - u_j),    f = |a|^2
// as well, a_ij the arms of pairs (viscous_operator.c), which is 0 for every rigid motion wherever particles lie, and
// acts along the lines between particles: both momenta stay. k follows from a uniform growth, u = x, for which D_i is
// S_i = sum_j f |a| r and the divergence `dimension`. With a bulk viscosity of n times that of shear (n = 1 of pairs
// themselves included) a stretched ribbon in the plane thins at n / (n + 2) of its rate and resists with 2 + 2 n / (n +
// 2) times its viscosity, 4 if it kept its volume. It takes energy away and never gives any: nothing clumps.
#include <math.h>
#include <string.h>
#include "physics/sph/viscosity.h"

// S of particle i.
static float growth_of(const rh_sph_viscous *a, int64_t i)
{
    const rh_sph_fluid *f = a->fluid;
    const float *arm = a->weights + 24 * (uint64_t)f->lists->fluid.first[i], *own = f->place + 4 * i;
    rh_f8 sum = rh_f8_all(0), place[4];
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_gather(f->place, near, place);
        rh_f8 x = rh_f8_load(arm), y = rh_f8_load(arm + 8), z = rh_f8_load(arm + 16);
        rh_f8 far = x * (own[0] - place[0]) + y * (own[1] - place[1]) + z * (own[2] - place[2]);
        sum += rh_f8_select(x * x + y * y + z * z > 0, (x * x + y * y + z * z) * far, rh_f8_all(0));
        arm += 24;
    }
    return rh_f8_sum(sum);
}

// D of particle i.
static float growth_in(const rh_sph_viscous *a, const float *x, int64_t i)
{
    const rh_sph_fluid *f = a->fluid;
    const float *u = x + 4 * i, *arm = a->weights + 24 * (uint64_t)f->lists->fluid.first[i];
    rh_f8 sum = rh_f8_all(0), flow[4];
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_gather(x, near, flow);
        rh_f8 dx = rh_f8_load(arm), dy = rh_f8_load(arm + 8), dz = rh_f8_load(arm + 16);
        sum += (dx * dx + dy * dy + dz * dz) * ((u[0] - flow[0]) * dx + (u[1] - flow[1]) * dy + (u[2] - flow[2]) * dz);
        arm += 24;
    }
    return rh_f8_sum(sum);
}

// What it adds to the diagonal's block: k_i g g^T, g = sum_j f a, and k_j f^2 a a^T of every neighbour.
static void add_block(const rh_sph_viscous *a, int64_t i, float block[6])
{
    const rh_sph_fluid *f = a->fluid;
    const float *arm = a->weights + 24 * (uint64_t)f->lists->fluid.first[i];
    rh_f8 zero = rh_f8_all(0), g[3] = {zero, zero, zero}, sum[6] = {zero, zero, zero, zero, zero, zero};
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_f8 d[3] = {rh_f8_load(arm), rh_f8_load(arm + 8), rh_f8_load(arm + 16)};
        rh_f8 scale = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], both = scale * scale * rh_f8_gather(a->pull, near);
        for (int r = 0, at = 0; r < 3; r++) {
            g[r] += scale * d[r];
            for (int c = r; c < 3; c++, at++) sum[at] += both * d[r] * d[c];
        }
        arm += 24;
    }
    float own[3] = {rh_f8_sum(g[0]), rh_f8_sum(g[1]), rh_f8_sum(g[2])};
    for (int r = 0, at = 0; r < 3; r++)
        for (int c = r; c < 3; c++, at++) block[at] += rh_f8_sum(sum[at]) + a->pull[i] * own[r] * own[c];
}

rh_code rh_sph_viscous_pull_prepare(rh_sph_viscous *a, float *blocks, rh_arena *arena, rh_status *status)
{
    const rh_sph_fluid *f = a->fluid;
    size_t count = (size_t)f->count + 8;
    a->pull = rh_arena_take_zero(arena, count * sizeof *a->pull, status);
    a->pulled = rh_arena_take_zero(arena, 4 * count * sizeof *a->pulled, status);
    if (!a->pull || !a->pulled) return RH_MEMORY;
    float square = (float)(a->how->law.dimension * a->how->law.dimension) * a->how->time;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) {
        if (a->how->bulk[i] == 0) continue;
        float growth = growth_of(a, i);
        a->pull[i] = growth > 0 ? square * a->how->bulk[i] / (growth * growth) : 0;
    }
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) add_block(a, i, blocks + 6 * i);
    return RH_OK;
}

const float *rh_sph_viscous_pull_show(const rh_sph_viscous *a, const float *x)
{
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < a->fluid->count; i++) {
        memcpy(a->pulled + 4 * i, x + 4 * i, 3 * sizeof *x);
        a->pulled[4 * i + 3] = a->pull[i] > 0 ? a->pull[i] * growth_in(a, x, i) : 0;
    }
    return a->pulled;
}

rh_f4 rh_sph_viscous_pull_apply(const rh_sph_viscous *a, const float *x, int64_t i)
{
    const rh_sph_fluid *f = a->fluid;
    const float *u = x + 4 * i, *arm = a->weights + 24 * (uint64_t)f->lists->fluid.first[i];
    rh_f8 sx = rh_f8_all(0), sy = sx, sz = sx, flow[4];
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_gather(x, near, flow);
        rh_f8 dx = rh_f8_load(arm), dy = rh_f8_load(arm + 8), dz = rh_f8_load(arm + 16);
        rh_f8 along = (u[0] - flow[0]) * dx + (u[1] - flow[1]) * dy + (u[2] - flow[2]) * dz +
                      (u[3] + flow[3]) * (dx * dx + dy * dy + dz * dz);
        sx += along * dx, sy += along * dy, sz += along * dz;
        arm += 24;
    }
    return rh_f8_sums(sx, sy, sz);
}
