// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
#include "world/forces.h"

#include <math.h>

// Fades smoothly from 1 at the centre to 0 at the radius; 0 radius: no fading.
static double falloff(double distance, double radius)
{
    if (radius <= 0) return 1;
    double s = distance / radius;
    return s >= 1 ? 0 : (1 - s * s) * (1 - s * s);
}

static rh_dvec3 uniform(const rh_uniform_force *f, double time)
{
    const rh_force_key *keys = f->keys.items;
    int count = f->keys.count;
    if (count == 0) return f->acceleration;
    int n = 0;
    while (n < count && keys[n].time <= time) n++;
    rh_dvec3 extra;
    if (n == 0) extra = keys[0].acceleration;
    else if (n == count) extra = keys[count - 1].acceleration;
    else {
        double s = (time - keys[n - 1].time) / (keys[n].time - keys[n - 1].time);
        extra = rh_d3_add(rh_d3_scale(keys[n - 1].acceleration, 1 - s), rh_d3_scale(keys[n].acceleration, s));
    }
    return rh_d3_add(f->acceleration, extra);
}

static rh_dvec3 radial(const rh_radial_force *f, rh_dvec3 x)
{
    rh_dvec3 d = rh_d3_sub(f->center, x);
    return rh_d3_scale(rh_d3_unit(d), f->acceleration * falloff(rh_d3_length(d), f->radius));
}

static rh_dvec3 swirl(const rh_swirl_force *f, rh_dvec3 x)
{
    rh_dvec3 axis = rh_d3_unit(f->axis), d = rh_d3_sub(x, f->center);
    d = rh_d3_sub(d, rh_d3_scale(axis, rh_d3_dot(d, axis)));
    return rh_d3_scale(rh_d3_unit(rh_d3_cross(axis, d)), f->acceleration * falloff(rh_d3_length(d), f->radius));
}

rh_dvec3 rh_forces_acceleration(rh_dvec3 point, double time, const void *user)
{
    const rh_scene *scene = user;
    rh_dvec3 sum = scene->gravity;
    const rh_force_params *forces = scene->forces.items;
    for (int i = 0; i < scene->forces.count; i++) {
        if (time < forces[i].start || time >= forces[i].stop) continue;
        const void *value = forces[i].force.value;
        switch ((rh_force_kind)forces[i].force.kind) {
        case RH_FORCE_UNIFORM: sum = rh_d3_add(sum, uniform(value, time)); break;
        case RH_FORCE_RADIAL: sum = rh_d3_add(sum, radial(value, point)); break;
        case RH_FORCE_SWIRL: sum = rh_d3_add(sum, swirl(value, point)); break;
        }
    }
    return sum;
}
