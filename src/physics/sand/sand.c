// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sand after its source (docs/theory/sand.md has the equations): the incompressible step, and after its projection
//   yield       which cells hold, which yield
//   slide       friction of cells that yield, between them and at walls
//   hold        groups of cells that hold become rigid bodies; friction of walls on them
#include "physics/sand/sand.h"

#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "physics/pace.h"
#include "physics/sand/contacts.h"

typedef struct sand {
    rh_sand_params params;
    rh_incompressible flow;
} sand;

// In the unit of q. The cohesion against creep is a share of what gravity does in the step: what drifts in a resting pile is errors of a share of a cell
// in the surface's place and in the walls', each of which is worth that share of a cell's weight, whatever cells and grains are.
static rh_sand_strength strength_of(const rh_sand_params *p, const rh_incompressible_view *view)
{
    double cell = p->flow.density * (double)view->tiles->h / (double)view->kick;  // Pa per m/s
    double weight = rh_d3_length(view->around->gravity) * (double)view->kick;
    return (rh_sand_strength){(float)sin(p->friction_angle * 0.017453292519943295), (float)(p->cohesion / cell + p->cohesion_cells * weight)};
}

static rh_code rub(const rh_incompressible_view *view, void *user, rh_status *status)
{
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
    // Where grains do not slide past each other nothing makes room: with the correction in cells that hold, resting piles crept: 7 % of one moved by half a cell in 10 s.
    memcpy(view->held, cells.holds, (size_t)rh_tiles_values(view->tiles) / 8);
    return RH_OK;
}

// --- the method's table -------------------------------------------------------------------------------------------------
static rh_code sand_create(const void *params, const rh_surroundings *around, rh_points *points, void **self, rh_status *status)
{
    (void)around;
    sand *me = rh_alloc_zero(sizeof *me, "sand", status);
    if (!me) return RH_MEMORY;
    *self = me;
    me->params = *(const rh_sand_params *)params;
    rh_incompressible_options options = me->params.flow;
    options.method = "sand";
    options.stage = "friction";
    options.after_pressure = rub;
    options.friction = true;  // of strays too, which no cell of sand holds
    options.user = &me->params;
    return rh_incompressible_create(&options, points, &me->flow, status);
}

static void sand_destroy(void *self)
{
    sand *me = self;
    if (!me) return;
    rh_incompressible_free(&me->flow);
    rh_free(me);
}

static double sand_max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    return rh_pace_max_step(((sand *)self)->params.flow.cfl, around, points);
}

static rh_code sand_step(void *self, const rh_surroundings *around, double dt, rh_points *points, rh_step_report *report, rh_status *status)
{
    sand *me = self;
    switch ((rh_sand_model)me->params.model) {
    case RH_SAND_INCOMPRESSIBLE: return rh_incompressible_step(&me->flow, around, dt, points, report, status);
    }
    return rh_fail(status, RH_NUMERIC, "a model of sand that does not exist");
}

static int sand_per_cell_axis(const void *params) { return (int)((const rh_sand_params *)params)->flow.particles_per_axis; }

static double sand_density(const void *params) { return ((const rh_sand_params *)params)->flow.density; }

static int64_t sand_predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    int64_t cells = dimension == 3 ? 512 : 64, per_cell = 2 * 4 + dimension * 4;  // masses and strengths; velocities once more
    return rh_incompressible_predict_bytes(&((const rh_sand_params *)params)->flow, dimension, particles, tiles) + tiles * cells * per_cell;
}

const rh_physics rh_sand = {"sand", &rh_sand_table, sand_create, sand_destroy, sand_max_step, sand_step,
                            sand_per_cell_axis, sand_density, false, sand_predict_bytes, true};
