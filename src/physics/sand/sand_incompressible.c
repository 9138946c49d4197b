// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sand after its source (Y. Zhu, R. Bridson, "Animating sand as a fluid", 2005; docs/theory/sand.md has the equations):
// the incompressible step, and after its projection
//   yield       which cells hold, which yield
//   slide       friction of cells that yield, between them and at walls
//   hold        groups of cells that hold become rigid bodies; friction of walls on them
#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "physics/sand/contacts.h"
#include "physics/sand/sand.h"
#include "physics/time_step.h"

typedef struct sand_incompressible {
    rh_sand_incompressible_params params;
    rh_incompressible step;
} sand_incompressible;

static double sine_of(const rh_sand_incompressible_params *p) { return sin(p->friction_angle * 0.017453292519943295); }

// The strength in the unit of q. The cohesion against creep is a share of what gravity does in the step: a resting pile
// drifts by errors of a fraction of a cell in the places of the surface and of walls, each of which is worth that
// fraction of a cell's weight, whatever the size of cells and grains.
static rh_sand_strength strength_of(const rh_sand_incompressible_params *p, const rh_incompressible_view *view)
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

static rh_code create_incompressible(sand_incompressible *me, rh_points *points, rh_status *status)
{
    static const rh_added_stage stages[] = {{.after = "pressure", .name = "friction", .run = apply_friction}};
    const rh_step_method method = {.name = "sand_incompressible",
                                   .stages = stages,
                                   .stage_count = 1,
                                   .user = &me->params,
                                   .friction = true,  // of strays too, which no cell of sand holds
                                   .unbalanced = true};
    return rh_incompressible_create(&me->params.flow, &method, points, &me->step, status);
}

static rh_code sand_create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                           rh_status *status)
{
    (void)around;
    sand_incompressible *me = rh_alloc_zero(sizeof *me, "sand", status);
    if (!me) return RH_MEMORY;
    *self = me;
    me->params = *(const rh_sand_incompressible_params *)params;
    return create_incompressible(me, points, status);
}

static void sand_destroy(void *self)
{
    sand_incompressible *me = self;
    if (!me) return;
    rh_incompressible_free(&me->step);
    rh_free(me);
}

// Friction follows the pressure of the step, and what creeps does so by a share of what gravity brings in a step: with
// the liquid's longest step, 0.7 sqrt(h / g), a pile of the source's model five cells high in three dimensions sank
// three times as fast and lost 9 % of its volume in 3 s, with this one 2 %.
double rh_sand_longest_step(double cfl, const rh_surroundings *around, const rh_points *points)
{
    double g = rh_d3_length(around->gravity), longest = g > 0 ? RH_SAND_LONGEST_STEP * sqrt(around->cell / g) : 1e9;
    return fmin(longest, rh_time_step_limit(cfl, around, points));
}

static double sand_max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    return rh_sand_longest_step(((sand_incompressible *)self)->params.flow.cfl, around, points);
}

static rh_code sand_step(void *self, const rh_surroundings *around, double dt, rh_points *points,
                         rh_step_report *report, rh_status *status)
{
    return rh_incompressible_step(&((sand_incompressible *)self)->step, around, dt, points, report, status);
}

static int sand_per_cell_axis(const void *params)
{
    return (int)((const rh_sand_incompressible_params *)params)->flow.particles_per_axis;
}

static double sand_density(const void *params) { return ((const rh_sand_incompressible_params *)params)->flow.density; }

static int64_t sand_predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    const rh_sand_incompressible_params *p = params;
    int64_t cells = dimension == 3 ? 512 : 64;
    return rh_incompressible_predict_bytes(&p->flow, dimension, particles, tiles) +
           tiles * cells * (2 * 4 + dimension * 4);  // masses and strengths; velocities once more
}

const rh_physics rh_sand_incompressible = {.name = "sand_incompressible",
                                           .moves_solids = true,
                                           .params = &rh_sand_incompressible_table,
                                           .create = sand_create,
                                           .destroy = sand_destroy,
                                           .max_step = sand_max_step,
                                           .step = sand_step,
                                           .per_cell_axis = sand_per_cell_axis,
                                           .density = sand_density,
                                           .predict_bytes = sand_predict_bytes,
                                           .walls_separate = true};
