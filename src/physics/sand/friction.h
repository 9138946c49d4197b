// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Friction of sand whose pressure only pushes: the trace-free stress that takes the most energy from the flow, in every
// cell no larger than its pressure allows (Matsuoka and Nakai; in the plane Drucker and Prager). docs/theory/sand.md
// tells the method.
#pragma once
#include "physics/sand/wall_friction.h"

typedef struct rh_friction_options {
    double friction_coefficient;  // tangent of the friction angle: sand that shears along a plane bears so much of the
                                  // pressure; at most 1, or it would pull
    double cohesion;              // Pa
    double cohesion_cells;        // against creep: more cohesion, that of friction under so many cells of sand
    double static_excess_angle;   // degrees by which sand at rest may be steeper than flowing sand that stops
    double stress_smoothing;      // share of the carried stress that is smoothed in a step
    int iterations;               // at most
} rh_friction_options;

// The friction of a step in progress. Memory is the arena's.
typedef struct rh_friction {
    rh_friction_options options;
    rh_sand_faces faces;
    rh_stress carried;  // what the particles brought
    rh_wall_friction walls;
    int32_t *list, count;  // tiles that have stress
    uint8_t *between;      // tiles between upright walls (rh_between_upright_walls)
    float most;            // largest pressure that counts for friction
    int iterations;        // done
} rh_friction;

// Takes the stress of the last step from the particles, and applies it to the velocities before the pressure is solved
// for: without it pressure would see sand at rest fall, and would have to catch it, in every step.
rh_code rh_friction_begin(rh_friction *friction, const rh_friction_options *options, const rh_unilateral_view *view,
                          rh_status *status);
// Finds the stress of this step and changes the view's velocities.
rh_code rh_friction_solve(rh_friction *friction, const rh_unilateral_view *view, rh_status *status);
