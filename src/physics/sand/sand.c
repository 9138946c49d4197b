// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sand (docs/theory/sand.md has the equations): the unilateral step, with friction that knows the pressure found
// (friction.h).
#include "physics/sand/sand.h"

#include <math.h>
#include "base/memory.h"
#include "solid/dynamics.h"
#include "physics/unilateral.h"
#include "physics/sand/friction.h"
#include "physics/sand/mix.h"

typedef struct sand {
    rh_sand_params params;
    rh_unilateral unilateral;
    rh_friction friction;  // of the step in progress
} sand;

static rh_code apply_carried_stress(const void *view, void *user, rh_status *status)
{
    sand *me = user;
    const rh_sand_params *p = &me->params;
    rh_friction_options options = {.friction_coefficient = fmin(tan(p->friction_angle * 0.017453292519943295), 1),
                                   .cohesion = p->cohesion,
                                   .cohesion_cells = p->cohesion_cells,
                                   .static_excess_angle = p->static_excess_angle,
                                   .stress_smoothing = p->stress_smoothing,
                                   .iterations = (int)p->friction_iterations};
    return rh_friction_begin(&me->friction, &options, view, status);
}

static rh_code solve_friction(const void *view, void *user, rh_status *status)
{
    return rh_friction_solve(&((sand *)user)->friction, view, status);
}

static rh_code mix(const void *step, void *user, rh_status *status)
{
    const rh_unilateral_view *view = step;
    (void)status;
    const rh_sand_params *p = &((sand *)user)->params;
    rh_sand_mix(view, p->mixing, (double)view->tiles->h / (double)p->particles_per_axis);
    return RH_OK;
}

static rh_unilateral_options unilateral_options(sand *me)
{
    const rh_sand_params *p = &me->params;
    return (rh_unilateral_options){.density = p->density,
                                   .particles_per_axis = p->particles_per_axis,
                                   .flip = p->flip,
                                   .limit = {.form = RH_LIMIT_SHARES,
                                             .air = 0.02,
                                             .contact_loss_gap = p->contact_loss_gap,
                                             .contact_gain_gap = p->contact_gain_gap,
                                             .allowed_overfill = p->allowed_overfill},
                                   .shares = RH_BLUR_SHUT,
                                   .path = RH_PATH_HEUN,
                                   .cfl = p->cfl,
                                   .prediction = RH_PREDICT_BY_PARTICLES,
                                   .density_correction = p->volume_correction,
                                   .crowded = 0.05,
                                   .overfill_relaxation_time = RH_SAND_LONGEST_STEP,
                                   .wedged = RH_SAND_WEDGED,
                                   .particle_mass = 1,
                                   .stop_at_walls = true,
                                   .preconditioner = RH_PRECONDITION_MULTIGRID,
                                   .expansion = RH_EXPANSION_PROJECTED,
                                   .tolerance = p->tolerance,
                                   .max_iterations = p->max_iterations,
                                   .pressure = p->pressure};
}

static rh_code create_unilateral(sand *me, rh_points *points, rh_status *status)
{
    static const rh_added_stage stages[] = {{.after = "forces", .name = "carried_stress", .run = apply_carried_stress},
                                            {.after = "pressure", .name = "friction", .run = solve_friction},
                                            {.after = "advect", .name = "mix", .run = mix}};
    const rh_step_method method = {.name = "sand",
                                   .stages = stages,
                                   .stage_count = sizeof stages / sizeof *stages,
                                   .user = me,
                                   .friction = true,
                                   .slide = true};
    rh_unilateral_options options = unilateral_options(me);
    RH_TRY(rh_unilateral_create(&options, &method, points, &me->unilateral, status));
    RH_TRY(rh_points_add(points, "stress", RH_POINT_MAT3F, status));
    rh_points_find(points, "stress")->transient = true;
    return RH_OK;
}

// --- the method's table ----------------------------------------------------------------------------------------------
static rh_code sand_create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                           rh_status *status)
{
    (void)around;
    sand *me = rh_alloc_zero(sizeof *me, "sand", status);
    if (!me) return RH_MEMORY;
    *self = me;
    me->params = *(const rh_sand_params *)params;
    return create_unilateral(me, points, status);
}

static void sand_destroy(void *self)
{
    sand *me = self;
    if (!me) return;
    rh_unilateral_free(&me->unilateral);
    rh_free(me);
}

// Below a solid that falls on sand pressure makes friction, friction holds back sand that would flow out, and that
// makes more pressure: each step is one turn of both, and an impact must not be over before they agree. And a solid
// gets its friction a step late (solid/dynamics.h). In steps as long as piles allow a ball of 7000 kg/m^3 sank twice as
// deep as it should and went on bobbing by a centimetre. (Tried: eight turns of pressure and friction in each long
// step, the solid's part of friction in each. They approach each other by a sixth in a turn, too slowly; and sand that
// friction holds at the end of a step, while the solid moves on, is overfull in the next and threw it up.)
static const double TOUCHED_STEP = 0.05;  // sqrt(cell / gravity)

// Whether any dynamic solid was given something by a material in the last step.
static bool any_touched(const rh_dynamics *d)
{
    bool any = false;
    for (int n = 0; d && n < d->count; n++)
        for (int k = 0; k < RH_DYNAMICS_PARTS; k++) any = any || d->items[n].owed[k] != 0;
    return any;
}

static double sand_max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    double g = rh_d3_length(around->gravity),
           longest = rh_sand_longest_step(((sand *)self)->params.cfl, around, points);
    return g > 0 && any_touched(around->dynamics) ? fmin(longest, TOUCHED_STEP * sqrt(around->cell / g)) : longest;
}

static rh_code sand_step(void *self, const rh_surroundings *around, double dt, rh_points *points,
                         rh_step_report *report, rh_status *status)
{
    return rh_unilateral_step(&((sand *)self)->unilateral, around, dt, points, report, status);
}

static int sand_per_cell_axis(const void *params) { return (int)((const rh_sand_params *)params)->particles_per_axis; }

static double sand_density(const void *params) { return ((const rh_sand_params *)params)->density; }

// With more displacement sand would be packed here and there more densely, which pushes itself apart in free fall. On
// the lattice itself the surface of flowing sand shows the rows.
static double sand_jitter(const void *params)
{
    (void)params;
    return 0.4;
}

static int64_t sand_predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    (void)params;
    int64_t cells = dimension == 3 ? 512 : 64, parts = dimension == 3 ? 6 : 3;
    int64_t per_cell = 4 * (5 * parts + parts / 3 * dimension + 7 * dimension +
                            4);            // stresses, bounds of edges, faces, what a cell bears
    per_cell += 4 * (16 * dimension + 7);  // friction of walls across the grid
    return rh_unilateral_predict_bytes(dimension, particles, tiles) + 36 * particles + tiles * cells * per_cell;
}

const rh_physics rh_sand = {.name = "sand",
                            .moves_solids = true,
                            .params = &rh_sand_table,
                            .create = sand_create,
                            .destroy = sand_destroy,
                            .max_step = sand_max_step,
                            .step = sand_step,
                            .per_cell_axis = sand_per_cell_axis,
                            .density = sand_density,
                            .jitter = sand_jitter,
                            .predict_bytes = sand_predict_bytes,
                            .walls_separate = true};
