// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Drag of a sphere (R. Clift, W. H. Gauvin, "Motion of entrained particles in gas streams", Can. J. Chem. Eng. 49,
// 1971), with 0.14 for its 0.15, as drops are a little faster than balls. Large drops are flattened by the air: 1 +
// 0.04 We + 0.01 We^2 with the air's We. These numbers, and the 0.14, were fitted to the speeds that R. Gunn and
// G. D. Kinzer measured (J. Meteorology 6, 1949). A drop breaks up at We = 12; beyond, nothing more.
//
// Over a step dv/dt = a - k (v - wind) is solved by the exponential, with the k of the mean of the speeds before and
// after, the latter by backward Euler: any step is stable, and a drop that falls at its final speed keeps it. Eight
// drops at a time: one by one, in double, it took as long as finding out who meets whom.
#include "physics/droplets/drop_drag.h"

#include <math.h>
#include <string.h>
#include "base/simd.h"

enum { LANES = 8 };

static double over_stokes(double re)
{
    return 1 + 0.14 * pow(re, 0.687) + (re > 0 ? 0.42 / 24 * re / (1 + 42500 * pow(re, -1.16)) : 0);
}

void rh_drag_table_fill(rh_drag_table *table)
{
    for (int n = 0; n < RH_DRAG_TABLE + 2; n++) {
        double re = ldexp(1 + n % RH_DRAG_PIECES / (double)RH_DRAG_PIECES, n / RH_DRAG_PIECES + RH_DRAG_LOWEST);
        table->over_stokes[n] = (float)over_stokes(re);
    }
}

double rh_droplet_drag_rate(const rh_droplets_params *p, double radius, double speed)
{
    if (p->drag == RH_DROPLET_DRAG_NONE || !(radius > 0)) return 0;
    if (p->drag == RH_DROPLET_DRAG_AIR) {
        double re = 2 * radius * speed * p->air_density / p->air_viscosity;
        double we = fmin(2 * radius * speed * speed * p->air_density / p->law.surface_tension, 12);
        double stokes = 4.5 * p->air_viscosity / (p->law.density * radius * radius);
        return p->air_density > 0 ? stokes * over_stokes(re) * (1 + we * (0.04 + 0.01 * we)) : 0;
    }
    double s = p->drag_exponent;
    if (s == 1) return p->drag_coefficient / radius * speed;
    return p->drag_coefficient / pow(radius, s) * (s == 2 ? 1 : pow(speed, 2 - s));
}

// --- eight drops -----------------------------------------------------------------------------------------------------
// The table at 2^e (1 + m): the bits of a float, less those of 2^-10, count pieces; what is left is the share of one.
static rh_f8 look_up(const rh_drag_table *table, rh_f8 re)
{
    const int32_t lowest = (127 + RH_DRAG_LOWEST) << 23, bits = 23 - 5;
    rh_f8 low = rh_f8_all(0x1p-10f), high = rh_f8_all(0x1.ffffp21f);
    rh_i8 raw = (rh_i8)rh_f8_min(rh_f8_max(re, low), high) - lowest, at = raw >> bits;
    rh_f8 along = __builtin_convertvector(raw & ((1 << bits) - 1), rh_f8) * (1.0f / (1 << bits)), here, next;
    rh_f8_gather_pairs(table->over_stokes, at, &here, &next);
    return rh_f8_select(re > low, here + along * (next - here), rh_f8_all(1));
}

// 1 - exp(-x), x at least 0, to a few units of the last place: 2^-n times what is below an octave, by its series.
static rh_f8 lost_by(rh_f8 x)
{
    x = rh_f8_min(x, rh_f8_all(80));
    rh_i8 n = rh_f8_floor(x * 1.44269504f + 0.5f);
    rh_f8 whole = __builtin_convertvector(n, rh_f8), f = (whole * 0.693359375f - x) + whole * -2.12194440e-4f;
    rh_f8 p = 1.0f / 5040 * f + 1.0f / 720;
    p = p * f + 1.0f / 120;
    p = p * f + 1.0f / 24;
    p = p * f + 1.0f / 6;
    p = p * f + 0.5f;
    p = p * f * f + f;  // exp(f) - 1
    rh_f8 scale = (rh_f8)((127 - n) << 23);
    return (1.0f - scale) - scale * p;
}

// What an equation of drag needs of the parameters.
typedef struct air {
    const rh_droplets_params *params;
    const rh_drag_table *table;
    float re, we, stokes;  // over radius times speed, radius times speed^2, 1 / radius^2
} air;

static rh_f8 rates(const air *a, rh_f8 radius, rh_f8 speed)
{
    if (a->params->drag != RH_DROPLET_DRAG_AIR) {
        rh_f8 k;
        for (int i = 0; i < LANES; i++)
            k[i] = (float)rh_droplet_drag_rate(a->params, (double)radius[i], (double)speed[i]);
        return k;
    }
    rh_f8 way = radius * speed, we = rh_f8_min(way * speed * a->we, rh_f8_all(12));
    rh_f8 k = a->stokes / (radius * radius) * look_up(a->table, way * a->re) * (1.0f + we * (0.04f + 0.01f * we));
    return rh_f8_select(radius > 0.0f, k, rh_f8_all(0));
}

static rh_f8 length(const rh_f8 v[3]) { return rh_f8_sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void push_eight(const air *a, float time, const rh_f8 force[3], rh_f8 radius, rh_f8 v[3])
{
    const rh_dvec3 wind = a->params->wind;
    const float w[3] = {(float)wind.x, (float)wind.y, (float)wind.z};
    rh_f8 u[3], guess[3];
    if (a->params->drag == RH_DROPLET_DRAG_NONE) {
        for (int i = 0; i < 3; i++) v[i] += force[i] * time;
        return;
    }
    for (int i = 0; i < 3; i++) u[i] = v[i] - w[i];
    rh_f8 speed = length(u), k = rates(a, radius, speed);
    for (int i = 0; i < 3; i++) guess[i] = (u[i] + force[i] * time) / (1.0f + k * time);
    k = rates(a, radius, 0.5f * (speed + length(guess)));
    rh_f8 x = k * time, lost = lost_by(x);
    rh_f8 way = rh_f8_select(x > 1e-4f, lost / k, time * (1.0f - 0.5f * x));
    for (int i = 0; i < 3; i++) v[i] = w[i] + (u[i] - u[i] * lost + force[i] * way);
}

void rh_drop_push(const rh_droplets_params *params, const rh_drag_table *table, double time, rh_dvec3 gravity,
                  const rh_vec3 *acceleration, const float *radius, rh_vec3 *velocity, int64_t count)
{
    const air a = {.params = params,
                   .table = table,
                   .re = (float)(2 * params->air_density / params->air_viscosity),
                   .we = (float)(2 * params->air_density / params->law.surface_tension),
                   .stokes = (float)(params->air_density > 0 ? 4.5 * params->air_viscosity / params->law.density : 0)};
    for (int64_t i = 0; i < count; i += LANES) {
        int64_t here = count - i < LANES ? count - i : LANES;
        rh_vec3 v[LANES] = {{0}}, force[LANES] = {{0}};
        float r[LANES] = {0};
        rh_f8 u[3], f[3] = {rh_f8_all((float)gravity.x), rh_f8_all((float)gravity.y), rh_f8_all((float)gravity.z)};
        memcpy(v, velocity + i, (size_t)here * sizeof *v);
        memcpy(r, radius + i, (size_t)here * sizeof *r);
        if (acceleration) {
            memcpy(force, acceleration + i, (size_t)here * sizeof *force);
            rh_f8_load3(&force[0].x, &f[0], &f[1], &f[2]);
        }
        rh_f8_load3(&v[0].x, &u[0], &u[1], &u[2]);
        push_eight(&a, (float)time, f, rh_f8_load(r), u);
        rh_f8_store3(&v[0].x, u[0], u[1], u[2]);
        memcpy(velocity + i, v, (size_t)here * sizeof *v);
    }
}
