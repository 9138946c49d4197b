// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The liquid's table: everything it does is the incompressible step (physics/incompressible.c).
#include "physics/liquid/liquid.h"

#include "base/memory.h"
#include "physics/time_step.h"

static rh_code liquid_create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                             rh_status *status)
{
    (void)around;
    rh_incompressible *me = rh_alloc_zero(sizeof *me, "liquid", status);
    if (!me) return RH_MEMORY;
    *self = me;
    const rh_step_method method = {.name = "liquid", .drag = true};
    return rh_incompressible_create(&((const rh_liquid_params *)params)->flow, &method, points, me, status);
}

static void liquid_destroy(void *self)
{
    if (!self) return;
    rh_incompressible_free(self);
    rh_free(self);
}

static double liquid_max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    return rh_time_step_limit(((rh_incompressible *)self)->options.cfl, around, points);
}

static rh_code liquid_step(void *self, const rh_surroundings *around, double dt, rh_points *points,
                           rh_step_report *report, rh_status *status)
{
    return rh_incompressible_step(self, around, dt, points, report, status);
}

static int liquid_per_cell_axis(const void *params)
{
    return (int)((const rh_liquid_params *)params)->flow.particles_per_axis;
}

static double liquid_density(const void *params) { return ((const rh_liquid_params *)params)->flow.density; }

static int64_t liquid_predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    return rh_incompressible_predict_bytes(&((const rh_liquid_params *)params)->flow, dimension, particles, tiles);
}

static bool liquid_has_tension(const void *params)
{
    return ((const rh_liquid_params *)params)->flow.surface_tension > 0;
}

const rh_physics rh_liquid = {.name = "liquid",
                              .moves_solids = true,
                              .params = &rh_liquid_table,
                              .create = liquid_create,
                              .destroy = liquid_destroy,
                              .max_step = liquid_max_step,
                              .step = liquid_step,
                              .per_cell_axis = liquid_per_cell_axis,
                              .density = liquid_density,
                              .has_tension = liquid_has_tension,
                              .predict_bytes = liquid_predict_bytes};
