// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// dv/dt = a - k (v - wind), k = drag + drag_speed |v - wind|, with k held over a step. For constant k and a that has a
// solution in closed form, which is taken as it is (an exponential integrator): exact for linear drag and stable for
// steps of any length, and the terminal speed of quadratic drag is exact, too, because there nothing changes any more.
// Velocities are half a step behind places, as those of all methods (physics/step.h).
#include "physics/ballistic/ballistic.h"

#include <math.h>
#include "base/clock.h"
#include "physics/step.h"

#define AT(field) offsetof(rh_ballistic_params, field)
static const rh_param rows[] = {
    {"density", RH_PARAM_FLOAT, AT(density), "kg/m^3", "1000", 1e-3, 1e5, .help = "mass per volume, for balances"},
    {"particles_per_axis", RH_PARAM_INT, AT(particles_per_axis), "", "2", 1, 4,
     .help = "particles per cell and axis: 2 gives 8 a cell in 3D"},
    {"drag", RH_PARAM_FLOAT, AT(drag), "1/s", "0.5", 0, 1e6,
     .help = "drag that grows with the speed through the air: what falls ends at gravity / drag"},
    {"drag_speed", RH_PARAM_FLOAT, AT(drag_speed), "1/m", "0", 0, 1e6,
     .help = "drag that grows with its square: what falls ends at sqrt(gravity / drag_speed); a drop of 3 mm has 0.12"},
    {"wind", RH_PARAM_VEC3, AT(wind), "m/s", "[0, 0, 0]", .help = "velocity of the air"},
    {"restitution", RH_PARAM_FLOAT, AT(restitution), "", "0", 0, 1,
     .help = "share of the speed across a wall that is left after an impact: 0 stays on it, 1 bounces back"},
};
const rh_param_table rh_ballistic_table = {"ballistic",
                                           "Free particles with drag and wind: drops, dust, embers; the base of spray.",
                                           rows,
                                           RH_PARAM_COUNT(rows),
                                           sizeof(rh_ballistic_params),
                                           NULL};

static rh_code create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                      rh_status *status)
{
    (void)around, (void)points, (void)status;
    return *self = (void *)(uintptr_t)params, RH_OK;  // nothing of its own: its parameters will do
}

static double fastest(const rh_points *points)
{
    const rh_vec3 *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    float most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < points->count; i++) most = fmaxf(most, rh_v3_dot(v[i], v[i]));
    return sqrt((double)most);
}

// In the open any step will do. With solids none travels more than a cell, so that walls are not jumped over: from
// v dt + a dt^2 = h.
static double max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    const rh_ballistic_params *p = self;
    double a = fmax(rh_d3_length(around->gravity), around->strongest), h = around->cell;
    double speed = fmax(fastest(points), p->drag + p->drag_speed > 0 ? rh_d3_length(p->wind) : 0);
    if (around->obstacles->count == 0 || (speed == 0 && a == 0)) return 1e9;
    return 2 * h / (speed + sqrt(speed * speed + 4 * a * h));
}

// e^-kt, its integral (the way of a unit of velocity) and the integral of that (of a unit of acceleration); for small
// kt by their series, where the differences would cancel.
typedef struct decay {
    double rest, way, way2;
} decay;
static decay decay_of(double k, double time)
{
    double x = k * time;
    if (x < 1e-4) return (decay){1 - x + x * x / 2, time * (1 - x / 2), time * time / 2 * (1 - x / 3)};
    double way = -expm1(-x) / k;
    return (decay){exp(-x), way, (time - way) / k};
}

// a v + b w
static rh_dvec3 mix(double a, rh_dvec3 v, double b, rh_dvec3 w)
{
    return rh_d3_add(rh_d3_scale(v, a), rh_d3_scale(w, b));
}

static void fly(const rh_ballistic_params *p, const rh_surroundings *around, double dt, rh_vec3 *x, rh_vec3 *v)
{
    double before = 0.5 * around->previous_dt;
    rh_dvec3 at = rh_d3_from(*x), start = rh_d3_from(*v), a = around->gravity;
    if (around->acceleration)
        a = around->acceleration(at, around->time - before, around->time + 0.5 * dt, around->user);
    double k = p->drag + p->drag_speed * rh_d3_length(rh_d3_sub(start, p->wind));
    rh_dvec3 push = rh_d3_add(a, rh_d3_scale(p->wind, k));
    decay lag = decay_of(k, before), half = decay_of(k, 0.5 * dt), whole = decay_of(k, dt);
    rh_dvec3 now = mix(lag.rest, start, lag.way, push);  // at the start of the step, where the particle is
    *x = rh_v3_from(rh_d3_add(at, mix(whole.way, now, whole.way2, push)));
    *v = rh_v3_from(mix(half.rest, now, half.way, push));
}

// Out of the nearest solid; what moves into a wall stays on it, sticks to it or bounces back. False: it is in none.
static bool collide(const rh_ballistic_params *p, const rh_surroundings *around, rh_vec3 *x, rh_vec3 *v)
{
    const rh_obstacles *solids = around->obstacles_after;
    int which;
    rh_dvec3 at = rh_d3_from(*x);
    double gap = 0.05 * around->cell / (double)p->particles_per_axis,
           distance = rh_obstacles_distance(solids, at, &which);
    if (which < 0 || distance >= gap) return false;
    rh_dvec3 normal = rh_obstacles_normal(solids, which, at), wall = rh_obstacles_velocity(solids, which, at),
             u = rh_d3_sub(rh_d3_from(*v), wall);
    double into = rh_d3_dot(u, normal);
    *x = rh_v3_from(rh_d3_add(at, rh_d3_scale(normal, gap - distance)));
    if (into >= 0) return true;
    if (solids->items[which].wall == RH_WALL_NO_SLIP) u = rh_d3(0, 0, 0);
    else u = rh_d3_sub(u, rh_d3_scale(normal, (1 + p->restitution) * into));
    *v = rh_v3_from(rh_d3_add(wall, u));
    return true;
}

static rh_code step(void *self, const rh_surroundings *around, double dt, rh_points *points, rh_step_report *report,
                    rh_status *status)
{
    (void)status;  // nothing can fail
    const rh_ballistic_params *p = self;
    rh_vec3 *x = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    double clock = rh_seconds();
    *report = (rh_step_report){0};
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < points->count; i++) {
        fly(p, around, dt, &x[i], &v[i]);
        for (int n = 0; n < 3 && collide(p, around, &x[i], &v[i]); n++) {
        }  // out of one solid may be into another
    }
    report->max_speed = fastest(points);
    rh_step_stage(report, &clock, "fly");
    return RH_OK;
}

static int per_axis(const void *params) { return (int)((const rh_ballistic_params *)params)->particles_per_axis; }
static double density(const void *params) { return ((const rh_ballistic_params *)params)->density; }

static int64_t predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    (void)params, (void)dimension, (void)tiles;
    return particles * (int64_t)(3 * sizeof(rh_vec3) + sizeof(int64_t));  // P, v, the spare block; id
}

const rh_physics rh_ballistic = {.name = "ballistic",
                                 .params = &rh_ballistic_table,
                                 .create = create,
                                 .max_step = max_step,
                                 .step = step,
                                 .per_cell_axis = per_axis,
                                 .density = density,
                                 .predict_bytes = predict_bytes};
