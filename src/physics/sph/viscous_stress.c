// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The source's viscosity (T. Takahashi, chapter 4; docs/sources.md): each particle has a stress
//      s_i = mu_i V_i sum_j ((u_j - u_i) grad W_ij^T + grad W_ij (u_j - u_i)^T)                               (4.6)
//      u_i - dt m sum_j (s_i / rho_i^2 + s_j / rho_j^2) grad W_ij = u*_i                                      (4.3)
// so velocities depend on neighbours of neighbours. V_i = m / rho_i, not the V_j of the print: only so is the one sum
// the transpose of the other and the system symmetric. Unlike the source's, stresses are divided by the square of what
// the gradient of a linear field comes out as on the lattice (kernel.h), without which the liquid is 0.76 times as
// viscous as asked for in the plane and 0.90 in space.
//
// Two loops over neighbours a product, or one over the rows of the assembled matrix, blocks of dimension x dimension
// between a particle and each neighbour of its neighbours (4.10 to 4.12): some 25 in the plane and 90 in space on the
// lattice (supports of two spacings), 6 times the memory of lists and weights in space.
#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "physics/sph/viscosity.h"

// c_i of s_i = c_i (G + G^T): time nu V0^2 / density^3, over gradient^2.
static float factor_of(const rh_sph_viscous *a, int64_t i)
{
    const rh_sph_kernel *k = a->fluid->kernel;
    float density = rh_max_of(a->fluid->density[i], 0.1f), v = k->volume / k->gradient;
    return a->how->time * a->fluid->place[4 * i + 3] * v * v / (density * density * density);
}

// The number in `place` is the viscosity.
void rh_sph_viscous_stress_prepare(rh_sph_viscous *a, int64_t i, float block[6])
{
    const rh_sph_fluid *f = a->fluid;
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i;
    float *weights = a->weights + 8 * (uint64_t)f->lists->fluid.first[i], c = factor_of(a, i);
    double w[3] = {0, 0, 0}, sum[6] = {0, 0, 0, 0, 0, 0};
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->place, near);
        rh_f8_store(weights, p.slope);
        weights += 8;
        for (int n = 0; n < 8; n++) {
            if (near[n] == f->lists->fluid.nobody) continue;
            double g[3] = {p.slope[n] * p.x[n], p.slope[n] * p.y[n], p.slope[n] * p.z[n]};
            double square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2], other = factor_of(a, near[n]);
            for (int r = 0, at = 0; r < 3; r++)
                for (int q = r; q < 3; q++, at++) sum[at] += other * (g[r] * g[q] + (r == q) * square);
            for (int r = 0; r < 3; r++) w[r] += g[r];
        }
    }
    double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    for (int r = 0, at = 0; r < 3; r++)
        for (int q = r; q < 3; q++, at++) block[at] += (float)(sum[at] + (double)c * (w[r] * w[q] + (r == q) * square));
    a->viscous[i] = c;
}

// x comes in as record i: (u_i - u_j) g x^T summed up, and its transpose, times c_i.
static void stress_one(const rh_sph_viscous *a, const float *x, int64_t i)
{
    const rh_sph_fluid *f = a->fluid;
    const float *at = f->place + 4 * i, *u = x + 4 * i, *weights = a->weights + 8 * (uint64_t)f->lists->fluid.first[i];
    rh_f8 zero = rh_f8_all(0), s[6] = {zero, zero, zero, zero, zero, zero}, place[4], flow[4];
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_gather(f->place, near, place);
        rh_sph_gather(x, near, flow);
        rh_f8 g = rh_f8_load(weights);
        weights += 8;
        rh_f8 gx = g * (at[0] - place[0]), gy = g * (at[1] - place[1]), gz = g * (at[2] - place[2]);
        rh_f8 ux = u[0] - flow[0], uy = u[1] - flow[1], uz = u[2] - flow[2];
        s[0] += 2 * ux * gx, s[1] += ux * gy + uy * gx, s[2] += ux * gz + uz * gx;
        s[3] += 2 * uy * gy, s[4] += uy * gz + uz * gy, s[5] += 2 * uz * gz;
    }
    for (int n = 0; n < 6; n++) a->stress[8 * i + n] = a->viscous[i] * rh_f8_sum(s[n]);
}

// Eight records of eight floats each.
static inline void gather_stress(const float *stress, const uint32_t near[8], rh_f8 out[8])
{
    uint32_t twice[8];
    for (int n = 0; n < 8; n++) twice[n] = 2 * near[n];
    rh_sph_gather(stress, twice, out);
    rh_sph_gather(stress + 4, twice, out + 4);
}

static void force_one(const rh_sph_viscous *a, int64_t i, float *out)
{
    const rh_sph_fluid *f = a->fluid;
    const float *at = f->place + 4 * i, *own = a->stress + 8 * i,
                *weights = a->weights + 8 * (uint64_t)f->lists->fluid.first[i];
    rh_f8 x = rh_f8_all(0), y = x, z = x, place[4], s[8];
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_gather(f->place, near, place);
        gather_stress(a->stress, near, s);
        for (int n = 0; n < 6; n++) s[n] += own[n];
        rh_f8 g = rh_f8_load(weights);
        weights += 8;
        rh_f8 gx = g * (at[0] - place[0]), gy = g * (at[1] - place[1]), gz = g * (at[2] - place[2]);
        x += s[0] * gx + s[1] * gy + s[2] * gz;
        y += s[1] * gx + s[3] * gy + s[4] * gz;
        z += s[2] * gx + s[4] * gy + s[5] * gz;
    }
    out[0] = rh_f8_sum(x), out[1] = rh_f8_sum(y), out[2] = rh_f8_sum(z);
}

void rh_sph_viscous_stress_apply(const rh_sph_viscous *a, const float *x, float *y)
{
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < a->fluid->count; i++) stress_one(a, x, i);
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < a->fluid->count; i++) force_one(a, i, y + 4 * i);
}
