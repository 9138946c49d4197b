// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sand (docs/theory/sand.md has the equations). Its own model is the unilateral step, with friction that knows the
// pressure found (friction.h). After its source it is the incompressible step, and after its projection
//   yield       which cells hold, which yield
//   slide       friction of cells that yield, between them and at walls
//   hold        groups of cells that hold become rigid bodies; friction of walls on them
#include "physics/sand/sand.h"

#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "physics/time_step.h"
#include "physics/sand/contacts.h"
#include "physics/sand/friction.h"
#include "physics/sand/mix.h"

typedef struct sand {
    rh_sand_params params;
    rh_incompressible incompressible;  // either this step
    rh_unilateral unilateral;          // or this one, as the model says
    rh_friction friction;              // of the step in progress
} sand;

static double sine_of(const rh_sand_params *p) { return sin(p->friction_angle * 0.017453292519943295); }

// In the unit of q. The cohesion against creep is a share of what gravity does in the step: what drifts in a resting
// pile is errors of a share of a cell in the surface's place and in the walls', each of which is worth that share of a
// cell's weight, whatever cells and grains are.
static rh_sand_strength strength_of(const rh_sand_params *p, const rh_incompressible_view *view)
{
    double cell = p->flow.density * (double)view->tiles->h / (double)view->kick;  // Pa per m/s
    double weight = rh_d3_length(view->around->gravity) * (double)view->kick;
    return (rh_sand_strength){(float)sine_of(p), (float)(p->cohesion / cell + p->cohesion_cells * weight)};
}

static rh_code apply_friction(const void *step, void *user, rh_status *status)
{
    const rh_incompressible_view *view = step;
    rh_arena_mark mark = rh_arena_save(view->arena);
    rh_sand_cells cells;
    rh_sand_contacts contacts;
    rh_sand_groups groups;
    RH_TRY(rh_sand_yield(&cells, view, strength_of(user, view), status));
    RH_TRY(rh_sand_contacts_find(&contacts, &cells, view, status));
    RH_TRY(rh_sand_slide(&cells, view, status));
    rh_sand_contacts_slide(&contacts, &cells, view);
    RH_TRY(rh_sand_groups_find(&groups, &cells, view, status));
    RH_TRY(rh_sand_contacts_hold(&contacts, &groups, view, status));
    rh_sand_groups_move(&groups, &cells, view);
    // Where grains do not slide past each other nothing makes room: with the correction in cells that hold, resting
    // piles crept: 7 % of one moved by half a cell in 10 s.
    memcpy(view->rigid, cells.rigid, (size_t)rh_tiles_values(view->tiles) / 8);
    rh_arena_restore(view->arena, mark);
    return RH_OK;
}

static const double LONGEST = 0.25;  // time step, sqrt(cell / gravity)

// --- the other model -------------------------------------------------------------------------------------------------
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
    rh_sand_mix(view, p->mixing, (double)view->tiles->h / (double)p->flow.particles_per_axis);
    return RH_OK;
}

static rh_unilateral_options unilateral_options(sand *me)
{
    const rh_incompressible_options *p = &me->params.flow;
    return (rh_unilateral_options){.density = p->density,
                                   .particles_per_axis = p->particles_per_axis,
                                   .flip = p->flip,
                                   .limit = {.form = RH_LIMIT_SHARES,
                                             .air = 0.02,
                                             .contact_loss_gap = me->params.contact_loss_gap,
                                             .contact_gain_gap = me->params.contact_gain_gap,
                                             .allowed_overfill = me->params.allowed_overfill},
                                   .path = RH_PATH_HEUN,
                                   .cfl = p->cfl,
                                   .prediction = RH_PREDICT_BY_PARTICLES,
                                   .density_correction = p->volume_correction,
                                   .crowded = 0.05,
                                   .overfill_relaxation_time = LONGEST,
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
static rh_code create_incompressible(sand *me, rh_points *points, rh_status *status)
{
    static const rh_added_stage stages[] = {{.after = "pressure", .name = "friction", .run = apply_friction}};
    const rh_step_method method = {.name = "sand",
                                   .stages = stages,
                                   .stage_count = 1,
                                   .user = &me->params,
                                   .friction = true,  // of strays too, which no cell of sand holds
                                   .unbalanced = true};
    return rh_incompressible_create(&me->params.flow, &method, points, &me->incompressible, status);
}

static bool is_incompressible(const sand *me) { return me->params.model == RH_SAND_INCOMPRESSIBLE; }

static rh_code sand_create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                           rh_status *status)
{
    (void)around;
    sand *me = rh_alloc_zero(sizeof *me, "sand", status);
    if (!me) return RH_MEMORY;
    *self = me;
    me->params = *(const rh_sand_params *)params;
    return is_incompressible(me) ? create_incompressible(me, points, status) : create_unilateral(me, points, status);
}

static void sand_destroy(void *self)
{
    sand *me = self;
    if (!me) return;
    if (is_incompressible(me)) rh_incompressible_free(&me->incompressible);
    else rh_unilateral_free(&me->unilateral);
    rh_free(me);
}

// Friction follows the pressure of the step, and what creeps does so by a share of what gravity brings in a step: with
// the liquid's longest step, 0.7 sqrt(h / g), a pile of the source's model five cells high in three dimensions sank
// three times as fast and lost 9 % of its volume in 3 s, with this one 2 %.
static double sand_max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    double g = rh_d3_length(around->gravity), longest = g > 0 ? LONGEST * sqrt(around->cell / g) : 1e9;
    return fmin(longest, rh_time_step_limit(((sand *)self)->params.flow.cfl, around, points));
}

static rh_code sand_step(void *self, const rh_surroundings *around, double dt, rh_points *points,
                         rh_step_report *report, rh_status *status)
{
    sand *me = self;
    return is_incompressible(me) ? rh_incompressible_step(&me->incompressible, around, dt, points, report, status)
                                 : rh_unilateral_step(&me->unilateral, around, dt, points, report, status);
}

static int sand_per_cell_axis(const void *params)
{
    return (int)((const rh_sand_params *)params)->flow.particles_per_axis;
}

static double sand_density(const void *params) { return ((const rh_sand_params *)params)->flow.density; }

// The unilateral model weighs its particles: more would be sand packed here and there more densely, which pushes itself
// apart in free fall. On the lattice itself the surface of flowing sand shows the rows.
static double sand_jitter(const void *params)
{
    return ((const rh_sand_params *)params)->model == RH_SAND_UNILATERAL ? 0.4 : 1;
}

static int64_t sand_predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    const rh_sand_params *p = params;
    int64_t cells = dimension == 3 ? 512 : 64, parts = dimension == 3 ? 6 : 3;
    if (p->model == RH_SAND_INCOMPRESSIBLE)
        return rh_incompressible_predict_bytes(&p->flow, dimension, particles, tiles) +
               tiles * cells * (2 * 4 + dimension * 4);  // masses and strengths; velocities once more
    int64_t per_cell = 4 * (5 * parts + parts / 3 * dimension + 5 * dimension +
                            4);            // stresses, bounds of edges, faces, what a cell bears
    per_cell += 4 * (16 * dimension + 7);  // friction of walls across the grid
    return rh_unilateral_predict_bytes(dimension, particles, tiles) + 36 * particles + tiles * cells * per_cell;
}

const rh_physics rh_sand = {.name = "sand",
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
