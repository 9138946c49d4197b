// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// An observer measures a step while it is in progress: pressure, walls and flow are on the grid, which lives no longer
// than the step. A method shows its grid at the moments below, in this order; an observer reads and changes nothing,
// and without one a step costs and does the same as ever.
#pragma once
#include "base/arena.h"
#include "physics/physics.h"
#include "solid/cut_cells.h"
#include "solve/layout.h"

typedef enum rh_sight {
    RH_SIGHT_SORTED,    // particles have the order that they keep until the end of the step, and have not moved yet
    RH_SIGHT_PRESSED,   // q was found. A step may solve more than once: the effects of all solves add up
    RH_SIGHT_FRICTION,  // friction inside the material was found: `friction`
    RH_SIGHT_FLOWS,     // `velocity`: what particles will receive; `before`: what pressure left, before walls act
    RH_SIGHT_TOUCHED,   // of methods without a grid: what walls and inflows got from particles, `touches`
    RH_SIGHT_MOVED,     // particles have moved, and have not met walls yet
    RH_SIGHT_PIECES,    // of methods whose particles merge and break up: all that moved, `pieces`; instead of SORTED
} rh_sight;

// What a particle gave to a wall, or an inflow, in a step.
enum { RH_TOUCH_INFLOW = -1, RH_TOUCH_NOBODY = -2 };
typedef struct rh_wall_touch {
    rh_vec3 place;     // m
    rh_vec3 impulse;   // kg m/s
    rh_vec3 velocity;  // m/s, of the wall or inflow
    int32_t solid;     // number of the obstacle, or one of the above (NOBODY: an unused entry)
} rh_wall_touch;

// Material that went from one place to another in a step.
typedef struct rh_moved_piece {
    rh_vec3 from, to;  // m
    float volume;      // m^3
} rh_moved_piece;

// What a method shows of a step. Pressure acts as in the operator of the method: a face between a lower cell l and a
// higher cell h gets the impulse (kg m/s)
//      density cell^dimension speed (q_l - q_h)
// of which its open share moves the material and the rest the solid: so the impulses of walls and material add up to
// zero, exactly. A method without a grid shows neither cut, layout, q nor faces: PRESSED has q_at, FLOWS
// velocity_at, and what walls get is in TOUCHED.
typedef struct rh_step_view {
    rh_sight what;
    const rh_surroundings *around;
    float dt, kick;  // s: length of the step; how long forces acted in it (physics/step.h)
    double density;  // kg/m^3
    const rh_tiles *tiles;
    const rh_points *points;  // sorted by the tiles
    rh_arena *arena;          // scratch, given back when the observer returns; NULL: SORTED and MOVED need none
    // PRESSED; FRICTION and FLOWS without q
    const rh_cut_cells *cut;        // the solids that pressure met
    const rh_obstacles *obstacles;  // the same
    const float **open[3];          // per tile: shares of faces that pressure moves
    const rh_layout *layout;        // cells that have a pressure
    const float *q;                 // a vector of the layout
    rh_faces jump;  // q beyond the surface at faces across it, where tension makes it other than 0; axis[0] NULL: none
    float speed;    // m/s that a difference of 1 in q gives to a face
    float (*q_at)(const struct rh_step_view *view, rh_vec3 point);  // q interpolated to a point
    // Share of the difference that moves the material on the lower faces of a tile, where it is not all; NULL: all.
    void (*pushed)(const struct rh_step_view *view, int32_t t, int axis, float *share);
    bool sharp;          // shares are of the walls as they are, not blurred: closed faces have no part in the pressure
    const void *solver;  // for q_at and velocity_at
    // FRICTION
    rh_faces friction;  // what friction does to faces that belong to walls, in the unit of q
    // FLOWS
    rh_faces velocity, before;  // m/s
    rh_faces fill;              // particles around faces; `full` of them fill a cell
    float full;
    // Instead of these, of methods without a grid: the velocity (m/s) at a point. False where there is no material.
    bool (*velocity_at)(const struct rh_step_view *view, rh_vec3 point, rh_vec3 *velocity);
    // TOUCHED
    const rh_wall_touch *touches;
    int64_t touch_count;
    // PIECES
    const rh_moved_piece *pieces;
    int64_t piece_count;
} rh_step_view;

typedef struct rh_observer {
    rh_code (*see)(void *user, const rh_step_view *view, rh_status *status);
    void *user;
} rh_observer;

// Shows a view to the observer, if there is one.
static inline rh_code rh_observe(const rh_step_view *view, rh_status *status)
{
    const rh_observer *observer = view->around->observer;
    if (!observer) return RH_OK;
    rh_arena_mark mark = view->arena ? rh_arena_save(view->arena) : (rh_arena_mark){0};
    rh_code code = observer->see(observer->user, view, status);
    if (view->arena) rh_arena_restore(view->arena, mark);
    return code;
}
