// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Artificial viscosity: J. J. Monaghan, "Smoothed particle hydrodynamics", Annual Review of Astronomy and Astrophysics
// 30, 1992, section 4: only what comes closer is slowed down, so rigid motion is left alone. At walls as N. Akinci et
// al. 2012, equation 11. Surface tension: M. Becker, M. Teschner, "Weakly compressible SPH for free surface flows", SCA
// 2007, equation 13: an attraction of neighbours, whose strength is found from the work it takes to part two halves of
// the liquid (sph.c).
#include "physics/sph/fluid.h"

typedef struct sum3 {
    rh_f8 x, y, z;
} sum3;

static inline void add(sum3 *s, const rh_sph_pairs *p, rh_f8 factor)
{
    s->x += factor * p->x, s->y += factor * p->y, s->z += factor * p->z;
}

// Factor of the viscous force of neighbours: min(0, u.x) / (r^2 + 0.01 h^2) g, along x.
static inline rh_f8 brake(const rh_sph_fluid *f, const rh_sph_pairs *p, rh_f8 approach)
{
    return rh_f8_min(approach, rh_f8_all(0)) / (p->square + f->kernel->softening) * p->slope;
}

static void from_particles(const rh_sph_fluid *f, const rh_sph_forces *forces, int64_t i, sum3 *s)
{
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i, *flow = f->flow + 4 * i;
    float strength = 2 * forces->viscosity * k->support * k->volume;
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->place, near);
        if (strength > 0) {  // the number in `place` is the density
            rh_f8 slowed = brake(f, &p, rh_sph_approach(&p, flow, f->flow, near));
            add(s, &p, -strength * slowed / (own[3] + p.number));
        }
        if (forces->tension > 0) add(s, &p, -forces->tension * rh_sph_value(k, p.square));
    }
}

static void from_walls(const rh_sph_fluid *f, const rh_sph_forces *forces, const bool *sticky, int64_t i, sum3 *s)
{
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i, *flow = f->flow + 4 * i;
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->walls->place, near);
        int bits = 0;
        for (int n = 0; n < 8; n++)
            if (near[n] != f->lists->walls.nobody && sticky[f->walls->solid[near[n]]]) bits |= 1 << n;
        if (!bits) continue;
        rh_f8 slowed = brake(f, &p, rh_sph_approach(&p, flow, f->walls->flow, near));
        float strength = forces->wall_viscosity * k->support / (2 * own[3]);
        add(s, &p, rh_f8_masked(-strength * p.number * slowed, bits));
    }
}

void rh_sph_add_forces(rh_sph_fluid *f, const rh_sph_forces *forces, float time, const bool *sticky)
{
    bool fluid = forces->viscosity > 0 || forces->tension > 0, walls = sticky && forces->wall_viscosity > 0;
    if (!fluid && !walls) return;
    for (int64_t i = 0; i < f->count; i++) f->place[4 * i + 3] = f->density[i];
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) {
        sum3 s = {rh_f8_all(0), rh_f8_all(0), rh_f8_all(0)};
        if (fluid) from_particles(f, forces, i, &s);
        if (walls) from_walls(f, forces, sticky, i, &s);
        float *out = f->push + 4 * i;
        out[0] = rh_f8_sum(s.x), out[1] = rh_f8_sum(s.y), out[2] = rh_f8_sum(s.z);
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++)
        for (int a = 0; a < 3; a++) f->flow[4 * i + a] += time * f->push[4 * i + a];
}
