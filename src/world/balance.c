// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sums over all particles in a fixed number of parts, each in the order of its particles: the same bits for any number
// of threads, and nothing is allocated, as steps ask too.
#include "world/balance.h"

enum { PARTS = 256 };

static int64_t start_of(int part, int64_t count) { return count * part / PARTS; }

rh_weights rh_weights_of(const rh_points *points, double unit)
{
    return (rh_weights){unit > 0 ? rh_points_data(points, "radius", RH_POINT_F32) : NULL, unit > 0 ? 1 / unit : 0};
}

typedef double four __attribute__((vector_size(32)));
enum { CHAINS = 4 };  // sums side by side, of every fourth particle: each waits for its last addition alone

static double sum_of(const double lanes[CHAINS]) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

typedef struct moments {
    four moving, placed;  // momentum and weight; the first moment of the places and the energy of motion
} moments;

static inline void add_one(moments *m, double weight, rh_vec3 p, rh_vec3 v)
{
    m->moving += weight * (four){(double)v.x, (double)v.y, (double)v.z, 1};
    m->placed += weight * (four){(double)p.x, (double)p.y, (double)p.z, 0.5 * (double)rh_v3_dot(v, v)};
}

// (Six sums one by one took twice as long, one chain of the two half as long again.)
rh_totals rh_balance_totals(const rh_points *points, double unit, rh_dvec3 gravity)
{
    const rh_weights weights = rh_weights_of(points, unit);
    four moving[PARTS], placed[PARTS], m = {0}, x = {0};
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
#pragma omp parallel for schedule(static)
    for (int part = 0; part < PARTS; part++) {
        moments sums[CHAINS] = {{{0}, {0}}};
        int64_t i = start_of(part, points->count), end = start_of(part + 1, points->count);
        for (; i + CHAINS <= end; i += CHAINS)
#pragma GCC unroll 4
            for (int n = 0; n < CHAINS; n++) add_one(&sums[n], rh_weight(&weights, i + n), p[i + n], v[i + n]);
        for (int n = 0; i < end; i++, n++) add_one(&sums[n], rh_weight(&weights, i), p[i], v[i]);
        moving[part] = (sums[0].moving + sums[1].moving) + (sums[2].moving + sums[3].moving);
        placed[part] = (sums[0].placed + sums[1].placed) + (sums[2].placed + sums[3].placed);
    }
    for (int part = 0; part < PARTS; part++) m += moving[part], x += placed[part];
    return (rh_totals){.kinetic = x[3],
                       .height = -rh_d3_dot(gravity, rh_d3(x[0], x[1], x[2])),
                       .momentum = {m[0], m[1], m[2]},
                       .weight = m[3]};
}

// In the order of the sum above, so that it is the same to the bit.
double rh_balance_weight(const rh_points *points, double unit)
{
    const rh_weights weights = rh_weights_of(points, unit);
    double sums[PARTS] = {0}, all = 0;
    if (!weights.radius) return (double)points->count;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < PARTS; part++) {
        double lanes[CHAINS] = {0};
        int64_t i = start_of(part, points->count), end = start_of(part + 1, points->count);
        for (; i + CHAINS <= end; i += CHAINS)
#pragma GCC unroll 4
            for (int n = 0; n < CHAINS; n++) lanes[n] += rh_weight(&weights, i + n);
        for (int n = 0; i < end; i++, n++) lanes[n] += rh_weight(&weights, i);
        sums[part] = sum_of(lanes);
    }
    for (int part = 0; part < PARTS; part++) all += sums[part];
    return all;
}

double rh_balance_power(const rh_points *points, double unit, rh_balance_field *acceleration, const void *user)
{
    const rh_weights weights = rh_weights_of(points, unit);
    double sums[PARTS] = {0}, all = 0;
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
#pragma omp parallel for schedule(static)
    for (int part = 0; part < PARTS; part++)
        for (int64_t i = start_of(part, points->count); i < start_of(part + 1, points->count); i++)
            sums[part] += rh_weight(&weights, i) * rh_d3_dot(acceleration(rh_d3_from(p[i]), user), rh_d3_from(v[i]));
    for (int part = 0; part < PARTS; part++) all += sums[part];
    return all;
}

double rh_totals_energy(const rh_totals *totals, rh_dvec3 gravity, double lag)
{
    return totals->kinetic + totals->height + lag * rh_d3_dot(gravity, totals->momentum);
}
