// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The effect of pressure on velocities, and of these on densities:
//      a_i = -sum_j m (p_i / rho_i^2 + p_j / rho_j^2) grad W_ij - sum_s rho_0 V_s p_i / rho_i^2 grad W_is
//      change = dt^2 (sum_j m (a_i - a_j) . grad W_ij + sum_s rho_0 V_s a_i . grad W_is)
// A wall counts with the particle's own pressure (Akinci et al. 2012, equation 10), or, where its samples are unknowns
// too, with p_i / rho_i^2 + p_s / rho_0^2.
#include "physics/sph/fluid.h"

// p / rho^2 in our unit: q / density^2.
static float load_of(const rh_sph_fluid *f, int64_t i) { return f->q[i] / (f->density[i] * f->density[i]); }

// Of walls whose samples have pressures.
static void push_off_walls(const rh_sph_fluid *f, int64_t i)
{
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i;
    rh_f8 x = rh_f8_all(0), y = x, z = x;
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->walls->place, near);
        rh_f8 factor = (own[3] + rh_f8_gather(f->wall_q, near)) * p.number * p.slope;
        x += factor * p.x, y += factor * p.y, z += factor * p.z;
    }
    float *out = f->push + 4 * i;
    out[0] += k->mirror * rh_f8_sum(x), out[1] += k->mirror * rh_f8_sum(y), out[2] += k->mirror * rh_f8_sum(z);
}

static void push_one(const rh_sph_fluid *f, int64_t i)
{
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i;
    rh_f8 x = rh_f8_all(0), y = x, z = x, wx = x, wy = x, wz = x;
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->place, near);
        rh_f8 factor = (own[3] + p.number) * p.slope;
        x += factor * p.x, y += factor * p.y, z += factor * p.z;
    }
    float *out = f->push + 4 * i;
    out[0] = k->volume * rh_f8_sum(x), out[1] = k->volume * rh_f8_sum(y), out[2] = k->volume * rh_f8_sum(z);
    if (f->wall_q) {
        push_off_walls(f, i);
        return;
    }
    if (own[3] == 0) return;
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->walls->place, near);
        rh_f8 factor = p.number * p.slope;
        wx += factor * p.x, wy += factor * p.y, wz += factor * p.z;
    }
    float load = k->mirror * own[3];
    out[0] += load * rh_f8_sum(wx), out[1] += load * rh_f8_sum(wy), out[2] += load * rh_f8_sum(wz);
}

void rh_sph_push(rh_sph_fluid *f)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) f->place[4 * i + 3] = load_of(f, i);
    for (int64_t i = f->count; i < f->count + 8; i++) f->place[4 * i + 3] = 0;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) push_one(f, i);
}

float rh_sph_change(const rh_sph_fluid *f, int64_t i)
{
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i, *push = f->push + 4 * i;
    rh_f8 fluid = rh_f8_all(0), walls = rh_f8_all(0);
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->place, near);
        fluid += p.slope * rh_sph_approach(&p, push, f->push, near);
    }
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->walls->place, near);
        walls += p.number * p.slope * (push[0] * p.x + push[1] * p.y + push[2] * p.z);
    }
    return -f->dt * f->dt * (k->volume * rh_f8_sum(fluid) + k->mirror * rh_f8_sum(walls));
}

float rh_sph_own_change(const rh_sph_fluid *f, int64_t i)
{
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i;
    rh_f8 x = rh_f8_all(0), y = x, z = x, wx = x, wy = x, wz = x, squares = x;
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->place, near);
        x += p.slope * p.x, y += p.slope * p.y, z += p.slope * p.z;
        squares += p.slope * p.slope * p.square;
    }
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->walls->place, near);
        rh_f8 factor = k->mirror * p.number * p.slope;
        wx += factor * p.x, wy += factor * p.y, wz += factor * p.z;
    }
    float v = k->volume, gx = v * rh_f8_sum(x) + rh_f8_sum(wx), gy = v * rh_f8_sum(y) + rh_f8_sum(wy),
          gz = v * rh_f8_sum(z) + rh_f8_sum(wz), scale = f->dt / f->density[i];
    return -scale * scale * (gx * gx + gy * gy + gz * gz + v * v * rh_f8_sum(squares));
}
