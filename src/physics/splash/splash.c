// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The splash method's table: the unilateral step (physics/unilateral.c), and spray found after it.
#include "physics/splash/splash.h"

#include <math.h>
#include "base/memory.h"
#include "physics/time_step.h"
#include "physics/splash/spray.h"

typedef struct splash {
    rh_splash_params params;
    rh_unilateral unilateral;
} splash;

static rh_code find_spray(const void *step, void *user, rh_status *status)
{
    const rh_unilateral_view *view = step;
    (void)status;
    rh_spray spray = {view->cells, view->velocity, (float)((const rh_splash_params *)user)->spray_speed};
    rh_spray_find(view->tiles, &spray, view->positions, view->velocities,
                  rh_points_data(view->points, "spray", RH_POINT_GROUP),
                  rh_points_data(view->points, "foam", RH_POINT_GROUP));
    return RH_OK;
}

// Cells under pressure that are this much less than full count as full: they would else be filled by falling water and
// be emptied again by the density correction, for ever. With 0, 0.1, 0.15 still water over a beach of 1:20 moved at
// 0.07, 0.04, 0.017 sqrt(g H) after 10 s. When all cells under pressure count as full a sliding sheet swells and gains
// a third of its energy in a second; with 0.15 the water around a ball rose by 0.05 cells in 8 s, with 0.1 by 0.02.
static const double CONTACT_LOSS_GAP = 0.15;
// Longest time step at rest, in sqrt(cell / gravity). With 0.7, which two-sided water bears, surfaces that end inside a
// cell shake themselves up to a third of sqrt(g h).
static const double LONGEST = 0.5;

static const rh_added_stage stages[] = {{.after = "update", .name = "spray", .run = find_spray}};

static rh_unilateral_options options_of(splash *me)
{
    static const rh_path_rule rules[] = {RH_PATH_HEUN, RH_PATH_EULER};
    const rh_splash_params *p = &me->params;
    rh_unilateral_options options = p->flow;
    options.path = (int)rules[p->advection];
    options.limit.two_sided = p->incompressibility == 1;
    options.limit.form = (rh_limit_form)p->form;
    options.limit.contact_loss_gap = p->flow.well_balanced ? CONTACT_LOSS_GAP : 0;
    return options;
}

static rh_code splash_create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                             rh_status *status)
{
    (void)around;
    splash *me = rh_alloc_zero(sizeof *me, "splash", status);
    if (!me) return RH_MEMORY;
    *self = me;
    me->params = *(const rh_splash_params *)params;
    rh_unilateral_options options = options_of(me);
    rh_step_method method = {
        .name = "splash", .stages = stages, .stage_count = me->params.spray ? 1 : 0, .user = &me->params, .drag = true};
    RH_TRY(rh_unilateral_create(&options, &method, points, &me->unilateral, status));
    if (!me->params.spray) return RH_OK;
    RH_TRY(rh_points_add(points, "spray", RH_POINT_GROUP, status));
    return rh_points_add(points, "foam", RH_POINT_GROUP, status);
}

static void splash_destroy(void *self)
{
    splash *me = self;
    if (!me) return;
    rh_unilateral_free(&me->unilateral);
    rh_free(me);
}

static double splash_max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    const rh_splash_params *p = &((splash *)self)->params;
    double g = rh_d3_length(around->gravity), step = rh_time_step_limit(p->flow.cfl, around, points);
    bool balanced = p->flow.well_balanced && p->incompressibility == 0 && g > 0;
    return balanced ? fmin(step, LONGEST * sqrt(around->cell / g)) : step;
}

static rh_code splash_step(void *self, const rh_surroundings *around, double dt, rh_points *points,
                           rh_step_report *report, rh_status *status)
{
    return rh_unilateral_step(&((splash *)self)->unilateral, around, dt, points, report, status);
}

static int splash_per_cell_axis(const void *params)
{
    return (int)((const rh_splash_params *)params)->flow.particles_per_axis;
}

static double splash_density(const void *params) { return ((const rh_splash_params *)params)->flow.density; }

static double splash_jitter(const void *params)
{
    (void)params;
    return 0;
}

static int64_t splash_predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    (void)params;
    return rh_unilateral_predict_bytes(dimension, particles, tiles);
}

const rh_physics rh_splash = {.name = "splash",
                              .moves_solids = true,
                              .params = &rh_splash_table,
                              .create = splash_create,
                              .destroy = splash_destroy,
                              .max_step = splash_max_step,
                              .step = splash_step,
                              .per_cell_axis = splash_per_cell_axis,
                              .density = splash_density,
                              .jitter = splash_jitter,
                              .predict_bytes = splash_predict_bytes};
