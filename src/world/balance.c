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

// Momentum and weight in one sum, the first moment of the places and the energy of motion in another. (Six sums one by
// one took twice as long.)
rh_totals rh_balance_totals(const rh_points *points, double unit, rh_dvec3 gravity)
{
    const rh_weights weights = rh_weights_of(points, unit);
    four moving[PARTS], placed[PARTS], m = {0}, x = {0};
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
#pragma omp parallel for schedule(static)
    for (int part = 0; part < PARTS; part++) {
        four a = {0}, b = {0};
        for (int64_t i = start_of(part, points->count); i < start_of(part + 1, points->count); i++) {
            double weight = rh_weight(&weights, i);
            a += weight * (four){(double)v[i].x, (double)v[i].y, (double)v[i].z, 1};
            b += weight * (four){(double)p[i].x, (double)p[i].y, (double)p[i].z, 0.5 * (double)rh_v3_dot(v[i], v[i])};
        }
        moving[part] = a;
        placed[part] = b;
    }
    for (int part = 0; part < PARTS; part++) m += moving[part], x += placed[part];
    return (rh_totals){.kinetic = x[3],
                       .height = -rh_d3_dot(gravity, rh_d3(x[0], x[1], x[2])),
                       .momentum = {m[0], m[1], m[2]},
                       .weight = m[3]};
}

double rh_balance_weight(const rh_points *points, double unit)
{
    const rh_weights weights = rh_weights_of(points, unit);
    double sums[PARTS] = {0}, all = 0;
    if (!weights.radius) return (double)points->count;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < PARTS; part++)
        for (int64_t i = start_of(part, points->count); i < start_of(part + 1, points->count); i++)
            sums[part] += rh_weight(&weights, i);
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
