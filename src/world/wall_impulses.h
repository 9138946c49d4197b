// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What solids receive from a material in a step: one measurement, for probes and for whatever is moved by it, and the
// work of those that move, and of inflows, for the balance of energy. Of solids that nobody asks for, and that stand
// still, nothing is measured.
//
//   init -> each step: begin, see (as the step's observer does), stepped -> received -> free
#pragma once
#include "base/arena.h"
#include "physics/observer.h"
#include "solid/obstacles.h"

static const double RH_WALL_EVERYWHERE = 1e29;  // m: limits beyond are none

// A solid, or the part of it in a box.
typedef struct rh_wall_region {
    int solid;          // -1 = all of them
    rh_dvec3 min, max;  // m
} rh_wall_region;

typedef struct rh_wall_impulses {
    rh_wall_region *regions;  // owned
    int count;
    int *next;      // owned: the next region after each that is of the same solid; -1 = none
    int *first_of;  // owned: of each solid, and last of what counts for all of them; -1 = none
    int solids;
    int dimension;
    double particle_mass;  // kg (kg/m in two dimensions)
    rh_impulse *received;  // owned: what each region received in the step
    double work_solids;   // J (J/m): done on the material in the step by solids that move: impulse times their velocity
    double work_tension;  // J (J/m): by the tension of its surface
    double work_inflows;  // J (J/m): by inflows, which hold faces at their velocity
    double time;          // s over which it came: how long forces acted in the step; 0 = nothing was pressed
    // of the step in progress
    const rh_obstacles *met;  // as what presses on them now meets them
    bool all_move;            // walls are sharp, and regions of dynamic solids only
    rh_vec3 *speed;           // of the particles before they met walls
    int64_t speed_count, speed_room;
    rh_arena arena;
} rh_wall_impulses;

// Without regions (NULL, 0) only work is measured.
rh_code rh_wall_impulses_init(rh_wall_impulses *impulses, const rh_wall_region *regions, int count, int dimension,
                              double particle_mass, rh_status *status);
void rh_wall_impulses_free(rh_wall_impulses *impulses);
// Before a step, and before it is tried again.
void rh_wall_impulses_begin(rh_wall_impulses *impulses);
rh_code rh_wall_impulses_see(rh_wall_impulses *impulses, const rh_step_view *view, rh_status *status);
// Right after the method's step. `solids`: between steps; those that are asked for as a whole get what they received.
rh_code rh_wall_impulses_stepped(rh_wall_impulses *impulses, rh_obstacles *solids, const rh_points *points,
                                 rh_status *status);
