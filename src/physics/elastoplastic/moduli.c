// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What particles are made of, and how long a step that allows.
#include "physics/elastoplastic/moduli.h"

#include <math.h>
#include "physics/elastoplastic/small_matrix.h"

static const double VISCOUS = 0.15;         // spacings^2 over viscosity: longest explicit step
static const double WAY_OF_LIQUIDS = 0.25;  // as cfl, in liquids
static const float ROUGH = 0.7f;            // square of a stretch: whose bound is less is looked at closely

// Lame's constants over the density.
static void set_moduli(rh_ep_moduli *m, const rh_ep_params *p, const rh_ep_kind *k, double stiffness, double yield,
                       double dt)
{
    double by = 1 / p->density, e = stiffness * by;
    *m = (rh_ep_moduli){.shear = (float)(e / (2 * (1 + k->poisson))),
                        .lame = (float)(e * k->poisson / ((1 + k->poisson) * (1 - 2 * k->poisson))),
                        .yield = (float)(yield * by),
                        .hardening = (float)(k->hardening * by),
                        .flow = (float)-expm1(-k->flow_rate * dt),
                        .thickening = (float)(k->thickening * by),
                        .strength = k->strength > 0 ? (float)(k->strength * by) : 1e30f,
                        .viscosity = (float)(k->viscosity * by),
                        .bulk = stiffness > 0 ? 0 : (float)(k->bulk * by)};
}

rh_ep_source rh_ep_source_of(const rh_ep_params *p, const rh_points *points, double dt)
{
    rh_ep_source s = {.params = p, .dt = dt, .same = p->kinds.count == 0 && !p->varies};
    if (s.same) set_moduli(&s.all, p, &p->kind, p->kind.stiffness, p->kind.yield, dt);
    if (p->kinds.count > 0) s.kind = rh_points_data(points, "kind", RH_POINT_I32);
    if (p->varies) s.stiffness = rh_points_data(points, "stiffness", RH_POINT_F32);
    if (p->varies) s.yield = rh_points_data(points, "yield", RH_POINT_F32);
    return s;
}

void rh_ep_moduli_of(const rh_ep_source *s, int64_t i, rh_ep_moduli *out)
{
    if (s->same) {
        *out = s->all;
        return;
    }
    const rh_ep_kind *k = rh_ep_kind_of(s->params, s->kind ? s->kind[i] : 0);
    double stiffness = s->stiffness && s->stiffness[i] > 0 ? (double)s->stiffness[i] : k->stiffness;
    double yield = s->yield && s->yield[i] > 0 ? (double)s->yield[i] : k->yield;
    set_moduli(out, s->params, k, stiffness, yield, s->dt);
}

// --- how long a step may be ------------------------------------------------------------------------------------------
static double wave_limit(const rh_ep_params *p, const rh_ep_moduli *m, double spacing)
{
    double fastest = (double)rh_ep_sound(m), step = 1e9;
    if (fastest > 0) step = (m->bulk > 0 ? WAY_OF_LIQUIDS : p->cfl) * spacing / fastest;
    if (m->viscosity > 0) step = fmin(step, VISCOUS * spacing * spacing / (double)m->viscosity);
    return step;
}

// Stretched matter is stiffer (but for hencky), pressed matter has smaller spacings. Turns are no stretch. Bounds are
// exact where two stretches are equal; sheared matter (s, 1, 1 / s) they put at a stretch of 0 from s = 1.5 on.
static double stretch_factor(const rh_ep_params *p, const float f[9])
{
    float whole[9], least, most;
    for (int n = 0; n < 9; n++) whole[n] = f[n] + (n % 4 == 0);
    rh_matrix_bounds_of_square(whole, &least, &most);
    if (least < ROUGH) {
        rh_matrix_axes axes = rh_matrix_axes_of_square(whole);
        most = axes.value[0], least = axes.value[2];
    }
    double s = sqrt(fmax((double)most, 1 / fmax((double)least, 1e-2)));
    return p->law == RH_EP_STVK ? s * s * s : p->law == RH_EP_HENCKY ? s : s * s;
}

double rh_ep_sound_limit(const rh_ep_params *p, double a, const rh_points *points)
{
    const float *f = rh_points_data(points, "deformation", RH_POINT_MAT3F);
    const rh_ep_source from = rh_ep_source_of(p, points, 0);
    double least = 1e9;
#pragma omp parallel for schedule(static) reduction(min : least)
    for (int64_t i = 0; i < points->count; i++) {
        rh_ep_moduli own;
        rh_ep_moduli_of(&from, i, &own);
        least = fmin(least, wave_limit(p, &own, a) / stretch_factor(p, f + 9 * i));
    }
    return least;
}
