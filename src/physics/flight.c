// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Exact solutions of linear drag, dv/dt = a - k v, over a time; and walls, three of them at most one after the other,
// as out of one may be into another.
#include "physics/flight.h"

#include <math.h>

// For small kt the series, as the differences would cancel.
rh_flight_decay rh_flight_decay_of(double k, double time)
{
    double x = k * time;
    if (x < 1e-4) return (rh_flight_decay){1 - x + x * x / 2, time * (1 - x / 2), time * time / 2 * (1 - x / 3)};
    double way = -expm1(-x) / k;
    return (rh_flight_decay){exp(-x), way, (time - way) / k};
}

// False: it is in none.
static bool leave_nearest(const rh_flight_wall *wall, const rh_surroundings *around, rh_vec3 *x, rh_vec3 *v)
{
    const rh_obstacles *solids = around->obstacles_after;
    int which;
    rh_dvec3 at = rh_d3_from(*x);
    double distance = rh_obstacles_distance(solids, at, &which);
    if (which < 0 || distance >= wall->gap) return false;
    rh_dvec3 normal = rh_obstacles_normal(solids, which, at), moving = rh_obstacles_velocity(solids, which, at),
             u = rh_d3_sub(rh_d3_from(*v), moving);
    double into = rh_d3_dot(u, normal);
    *x = rh_v3_from(rh_d3_add(at, rh_d3_scale(normal, wall->gap - distance)));
    if (into >= 0) return true;
    if (solids->items[which].wall == RH_WALL_NO_SLIP) u = rh_d3(0, 0, 0);
    else u = rh_d3_sub(u, rh_d3_scale(normal, (1 + wall->restitution) * into));
    *v = rh_v3_from(rh_d3_add(moving, u));
    return true;
}

bool rh_flight_collide(const rh_flight_wall *wall, const rh_surroundings *around, rh_vec3 *x, rh_vec3 *v)
{
    int n = 0;  // out of one solid may be into another
    while (n < 3 && leave_nearest(wall, around, x, v)) n++;
    return n > 0;
}

double rh_flight_max_step(const rh_surroundings *around, double speed)
{
    double a = fmax(rh_d3_length(around->gravity), around->strongest), h = around->cell;
    if (around->obstacles->count == 0 || (speed == 0 && a == 0)) return 1e9;
    return 2 * h / (speed + sqrt(speed * speed + 4 * a * h));  // v dt + a dt^2 = h
}

double rh_flight_fastest(const rh_points *points)
{
    const rh_vec3 *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    float most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < points->count; i++) {
        float now = rh_v3_dot(v[i], v[i]);
        most = now > most ? now : most;  // (fmaxf is a call)
    }
    return sqrt((double)most);
}
