// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the steps of all methods with particles and a grid have in common: the order of the particles, the forces on
// faces, the clock.
//
// Positions are those at the ends of steps, velocities those in their middles (leapfrog): from the middle of the last
// step to the middle of this one forces act for half of each, and for half a step at the start of a run. So a particle
// in free flight is on its parabola exactly; with forces for the whole of each step it was ahead by half a step, 15 %
// of the way after 0.2 s of fall.
#pragma once
#include "grid/tiles.h"
#include "physics/physics.h"

// s: how long forces act in a step of `dt`.
static inline float rh_step_kick(const rh_surroundings *around, double dt)
{
    return 0.5f * (float)(around->previous_dt + dt);
}

// Reports the time of the stage that now ends, since *clock (rh_seconds), which becomes now.
void rh_step_stage(rh_step_report *report, double *clock, const char *name);
// Tiles around the particles with a margin of so many cells; particles sorted. The points' spare block is lent to the
// arena: it is free until the next sort.
rh_code rh_step_sort(const rh_surroundings *around, int margin, rh_points *points, rh_tiles *tiles, rh_arena *arena,
                     rh_step_report *report, rh_status *status);
// before = velocity, velocity += what forces do in the step.
void rh_step_add_forces(const rh_surroundings *around, double dt, float kick, const rh_tiles *tiles, rh_faces velocity,
                        rh_faces before);
// Each component of a face velocity lies within +-limit (m/s) afterwards.
void rh_step_limit_speed(const rh_tiles *tiles, rh_faces velocity, float limit);
