// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The implicit step of viscosity is the minimum of
//      1/2 sum_i |u_i - u*_i|^2 + 1/2 sum_pairs w_ij ((u_i - u_j) . n)^2 + 1/2 sum_i,s f_is |u_i - u_s|^2
// (times the mass of a particle): symmetric and positive definite however particles lie, and not less than the
// identity, so that the residual of a solve is a bound of the error of its velocities. Of two particles of unlike
// viscosity the harmonic mean counts, as of two layers that bear one stress (P. W. Cleary, J. J. Monaghan, J. Comput.
// Phys. 148, 1999).
//
// Products take one loop over neighbours (pairs, Laplacian). Of pairs the arms n sqrt(w) are stored, three floats each:
// that saves reading places again. (Arms of two bytes a number for the cycle: as many iterations, the same time on one
// thread, 3 % less on two, for 240 bytes more a particle.) As (n . (u_i - u_j))^2 <= 2 (n .
// u_i)^2 + 2 (n . u_j)^2, the spectrum of the operator over its diagonal blocks ends at 2.
#include <math.h>
#include <string.h>
#include "physics/sph/viscosity.h"

double rh_sph_viscosity_stiffest(const rh_sph_viscous_law *law)
{
    return 2 * (double)law->all / ((double)law->dimension * (double)law->tensor);
}

static float viscosity_of(const rh_sph_viscosity *v, int64_t i)
{
    return v->of_particles ? v->of_particles[i] : v->kinematic;
}

float rh_sph_viscous_near_walls(const rh_sph_fluid *f, const rh_sph_viscous_law *law, const float *grip, int64_t i)
{
    float sum = 0, d = f->kernel->spacing;
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(f->kernel, f->place + 4 * i, f->walls->place, near);
        rh_f8 w = p.number * rh_sph_viscous_weight(law, p.distance);
        for (int n = 0; n < 8; n++)
            if (near[n] != f->lists->walls.nobody && grip[f->walls->solid[near[n]]] > 0) sum += w[n];
    }
    return 0.5f * d * d * law->wall * sum;
}

// Friction of walls on particle i, in all.
static float friction_of(const rh_sph_viscous *a, int64_t i)
{
    const rh_sph_fluid *f = a->fluid;
    const rh_sph_viscosity *v = a->how;
    const float *own = f->place + 4 * i;
    float sum = 0;
    if (!v->grip) return 0;
    float close = rh_sph_viscous_near_walls(f, &v->law, v->grip, i);
    if (close == 0) return 0;
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(f->kernel, own, f->walls->place, near);
        rh_f8 w = p.number * rh_sph_viscous_weight(&v->law, p.distance);
        for (int n = 0; n < 8; n++)
            if (near[n] != f->lists->walls.nobody)
                sum += w[n] * rh_sph_viscous_grip(v->grip[f->walls->solid[near[n]]], close);
    }
    return sum * v->law.wall * v->time * viscosity_of(v, i);
}

// Weights of the pairs of particle i, the diagonal's block, and what grids know of it. The number in `place` is the
// viscosity.
static void prepare_pairs(rh_sph_viscous *a, int64_t i, float block[6])
{
    const rh_sph_fluid *f = a->fluid;
    const rh_sph_viscosity *v = a->how;
    const float *own = f->place + 4 * i;
    bool even = v->form == RH_SPH_LAPLACIAN;
    float scale = 2 * v->time / (even ? v->law.trace : v->law.tensor), tie = 0;
    float *weights = a->weights + (even ? 8 : 24) * (uint64_t)f->lists->fluid.first[i];
    rh_f8 zero = rh_f8_all(0), sum[6] = {zero, zero, zero, zero, zero, zero}, moment = zero;
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(f->kernel, own, f->place, near);
        rh_f8 both = own[3] + p.number, square = rh_f8_max(p.square, rh_f8_all(1e-4f * f->kernel->softening));
        rh_f8 mean = 2 * own[3] * p.number / rh_f8_max(both, rh_f8_all(1e-30f));
        rh_f8 w = scale * mean * rh_sph_viscous_weight(&v->law, p.distance);
        moment += w * square;
        if (a->fixed)
            for (int n = 0; n < 8; n++)
                if (near[n] != f->lists->fluid.nobody && a->fixed[near[n]]) tie += w[n];
        rh_f8 root = rh_f8_sqrt(w / square);
        const rh_f8 arm[3] = {root * p.x, root * p.y, root * p.z};
        for (int n = 0; n < (even ? 1 : 3); n++, weights += 8) rh_f8_store(weights, even ? w : arm[n]);
        for (int r = 0, at = 0; r < 3; r++)
            for (int c = r; c < 3; c++, at++)
                if (!even) sum[at] += arm[r] * arm[c];
                else if (r == c) sum[at] += w;
    }
    float d = (float)v->law.dimension;
    a->viscous[i] = rh_f8_sum(moment) / (even ? d : d * (d + 2));
    a->held[i] += tie / (even ? 1 : d);
    for (int n = 0; n < 6; n++) block[n] += rh_f8_sum(sum[n]);
}

// The inverse of a symmetric block, positive definite.
static void invert(const float b[6], float out[6])
{
    double xx = b[0], xy = b[1], xz = b[2], yy = b[3], yz = b[4], zz = b[5];
    double a = yy * zz - yz * yz, c = xz * yz - xy * zz, e = xy * yz - xz * yy;
    double per = 1 / (xx * a + xy * c + xz * e);
    out[0] = (float)(a * per), out[1] = (float)(c * per), out[2] = (float)(e * per);
    out[3] = (float)((xx * zz - xz * xz) * per), out[4] = (float)((xy * xz - xx * yz) * per);
    out[5] = (float)((xx * yy - xy * xy) * per);
}

static void prepare(rh_sph_viscous *a, int64_t i)
{
    a->friction[i] = friction_of(a, i);
    float own = 1 + a->friction[i], block[6] = {own, 0, 0, own, 0, own};
    a->held[i] = own;
    if (a->how->form == RH_SPH_STRESS) rh_sph_viscous_stress_prepare(a, i, block);
    else prepare_pairs(a, i, block);
    memcpy(a->inverse + 6 * i, block, sizeof block);
}

static void invert_all(rh_sph_viscous *a)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < a->fluid->count; i++) {
        float block[6];
        memcpy(block, a->inverse + 6 * i, sizeof block);
        invert(block, a->inverse + 6 * i);
        if (a->fixed && a->fixed[i]) memset(a->inverse + 6 * i, 0, 6 * sizeof(float));
    }
}

static void set_numbers(rh_sph_fluid *f, const rh_sph_viscosity *v)
{
    for (int64_t i = 0; i < f->count; i++) f->place[4 * i + 3] = viscosity_of(v, i);
    for (int64_t i = f->count; i < f->count + 8; i++) f->place[4 * i + 3] = 0;
}

static rh_code take(rh_sph_viscous *a, rh_arena *arena, rh_status *status)
{
    const rh_sph_fluid *f = a->fluid;
    size_t count = (size_t)f->count + 8, pairs = 8 * (size_t)f->lists->fluid.first[f->count] + 8;
    bool stress = a->how->form == RH_SPH_STRESS;
    if (a->how->form == RH_SPH_PAIRS) pairs *= 3;
    a->weights = rh_arena_take(arena, pairs * sizeof(float), status);
    a->friction = rh_arena_take(arena, count * sizeof(float), status);
    a->viscous = rh_arena_take_zero(arena, count * sizeof(float), status);
    a->held = rh_arena_take(arena, count * sizeof(float), status);
    a->inverse = rh_arena_take(arena, 6 * count * sizeof(float), status);
    if (stress) a->stress = rh_arena_take_zero(arena, 8 * count * sizeof(float), status);
    if (a->how->held) a->fixed = rh_arena_take(arena, count, status);
    return a->weights && a->friction && a->viscous && a->held && a->inverse && (!stress || a->stress) &&
                   (!a->how->held || a->fixed)
               ? RH_OK
               : RH_MEMORY;
}

rh_code rh_sph_viscous_make(rh_sph_viscous *a, rh_sph_fluid *f, const rh_sph_viscosity *how, rh_arena *arena,
                            rh_status *status)
{
    *a = (rh_sph_viscous){.fluid = f, .how = how, .most = 2};
    RH_TRY(take(a, arena, status));
    for (int64_t i = 0; a->fixed && i < f->count; i++) a->fixed[i] = how->held[i];
    set_numbers(f, how);
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) prepare(a, i);
    if (how->bulk) RH_TRY(rh_sph_viscous_pull_prepare(a, a->inverse, arena, status));
    invert_all(a);
    if (how->form != RH_SPH_STRESS || how->solver != RH_SPH_VISCOUS_ASSEMBLED) return RH_OK;
    return rh_sph_viscous_assemble(a, arena, status);
}

// Along the lines between particles.
static rh_f4 by_pairs(const rh_sph_viscous *a, const float *x, int64_t i)
{
    const rh_sph_fluid *f = a->fluid;
    const float *u = x + 4 * i, *arm = a->weights + 24 * (uint64_t)f->lists->fluid.first[i];
    rh_f8 sx = rh_f8_all(0), sy = sx, sz = sx, flow[4];
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_gather(x, near, flow);
        rh_f8 dx = rh_f8_load(arm), dy = rh_f8_load(arm + 8), dz = rh_f8_load(arm + 16);
        rh_f8 along = (u[0] - flow[0]) * dx + (u[1] - flow[1]) * dy + (u[2] - flow[2]) * dz;
        sx += along * dx, sy += along * dy, sz += along * dz;
        arm += 24;
    }
    return rh_f8_sums(sx, sy, sz);
}

static rh_f4 by_laplacian(const rh_sph_viscous *a, const float *x, int64_t i)
{
    const rh_sph_fluid *f = a->fluid;
    const float *u = x + 4 * i, *weights = a->weights + 8 * (uint64_t)f->lists->fluid.first[i];
    rh_f8 sx = rh_f8_all(0), sy = sx, sz = sx, flow[4];
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_gather(x, near, flow);
        rh_f8 w = rh_f8_load(weights);
        weights += 8;
        sx += w * (u[0] - flow[0]), sy += w * (u[1] - flow[1]), sz += w * (u[2] - flow[2]);
    }
    return rh_f8_sums(sx, sy, sz);
}

void rh_sph_viscous_apply(const rh_sph_viscous *a, const float *x, float *y)
{
    const rh_sph_fluid *f = a->fluid;
    rh_sph_viscous_form form = a->how->form;
    memset(y + 4 * f->count, 0, 4 * sizeof *y);
    if (a->matrix) rh_sph_viscous_matrix_apply(a, x, y);
    else if (form == RH_SPH_STRESS) rh_sph_viscous_stress_apply(a, x, y);
    const float *pulled = a->pull ? rh_sph_viscous_pull_show(a, x) : NULL;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) {
        rh_f4 out = pulled                     ? rh_sph_viscous_pull_apply(a, pulled, i)
                    : form == RH_SPH_PAIRS     ? by_pairs(a, x, i)
                    : form == RH_SPH_LAPLACIAN ? by_laplacian(a, x, i)
                                               : rh_f4_load(y + 4 * i);
        out += (1 + a->friction[i]) * rh_f4_load(x + 4 * i);
        if (a->fixed && a->fixed[i]) out = rh_f4_all(0);
        out[3] = 0;
        rh_f4_store(y + 4 * i, out);
    }
}
