// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sums over all particles in a fixed number of parts, each in the order of its particles: the same bits for any number
// of threads, and nothing is allocated, as steps ask too.
#include "world/balance.h"

enum { SUMS = 6, PARTS = 256 };

static int64_t start_of(int part, int64_t count) { return count * part / PARTS; }

rh_weights rh_weights_of(const rh_points *points, double unit)
{
    return (rh_weights){unit > 0 ? rh_points_data(points, "radius", RH_POINT_F32) : NULL, unit};
}

rh_totals rh_balance_totals(const rh_points *points, double unit, rh_dvec3 gravity)
{
    const rh_weights weights = rh_weights_of(points, unit);
    double sums[PARTS][SUMS] = {{0}}, all[SUMS] = {0};
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
#pragma omp parallel for schedule(static)
    for (int part = 0; part < PARTS; part++)
        for (int64_t i = start_of(part, points->count); i < start_of(part + 1, points->count); i++) {
            double weight = rh_weight(&weights, i);
            sums[part][0] += weight * (0.5 * (double)rh_v3_dot(v[i], v[i]));
            sums[part][1] -= weight * rh_d3_dot(gravity, rh_d3_from(p[i]));
            for (int a = 0; a < 3; a++) sums[part][2 + a] += weight * (double)(&v[i].x)[a];
            sums[part][5] += weight;
        }
    for (int part = 0; part < PARTS; part++)
        for (int k = 0; k < SUMS; k++) all[k] += sums[part][k];
    return (rh_totals){.kinetic = all[0], .height = all[1], .momentum = {all[2], all[3], all[4]}, .weight = all[5]};
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
