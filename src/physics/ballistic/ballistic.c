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
#include "physics/flight.h"
#include "physics/observer.h"
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

static double max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    const rh_ballistic_params *p = self;
    double wind = p->drag + p->drag_speed > 0 ? rh_d3_length(p->wind) : 0;
    return rh_flight_max_step(around, fmax(rh_flight_fastest(points), wind));
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
    rh_flight_decay lag = rh_flight_decay_of(k, before), half = rh_flight_decay_of(k, 0.5 * dt),
                    whole = rh_flight_decay_of(k, dt);
    rh_dvec3 now = mix(lag.rest, start, lag.way, push);  // at the start of the step, where the particle is
    *x = rh_v3_from(rh_d3_add(at, mix(whole.way, now, whole.way2, push)));
    *v = rh_v3_from(mix(half.rest, now, half.way, push));
}

static rh_code step(void *self, const rh_surroundings *around, double dt, rh_points *points, rh_step_report *report,
                    rh_status *status)
{
    const rh_ballistic_params *p = self;
    rh_vec3 *x = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    const rh_flight_wall wall = {0.05 * around->cell / (double)p->particles_per_axis, p->restitution};
    double clock = rh_seconds();
    *report = (rh_step_report){0};
    RH_TRY(rh_observe(&(rh_step_view){.what = RH_SIGHT_SORTED, .around = around, .points = points}, status));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < points->count; i++) {
        fly(p, around, dt, &x[i], &v[i]);
        rh_flight_collide(&wall, around, &x[i], &v[i]);
    }
    report->max_speed = rh_flight_fastest(points);
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
