// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles beside walls thinner than cells (solid/thin.h). Through the step the grid sees them where all they give to
// it and take from it is on their own side; then they go from where they really are as far as the grid moved what it
// saw, and no way leads through a thin wall. In scenes without thin solids nothing is done and nothing stored, but that
// no way leads through a solid that is fast, either.
//
//      rh_sides_leave      before the particles are sorted: to where the grid sees them
//      rh_sides_return     when they have moved: back to where they really are
//      rh_sides_hold       last, around the usual collision: on their own side
#pragma once
#include "physics/physics.h"
#include "physics/walls.h"

// Real positions are kept in an attribute of the points, which is added when it is first needed.
rh_code rh_sides_leave(const rh_surroundings *around, rh_points *points, rh_status *status);
// `start`: where the particles were seen when they set out; becomes where they really were.
void rh_sides_return(const rh_surroundings *around, const rh_points *points, rh_vec3 *start, rh_vec3 *positions);
// Whether ways must be walked: past thin walls, and past solids that move by much of their own thickness in the step.
bool rh_sides_walk(const rh_surroundings *around);
// `start`: as rh_sides_return left it.
void rh_sides_hold(const rh_surroundings *around, const rh_collision *collision, int64_t count, const rh_vec3 *start,
                   rh_vec3 *positions, rh_vec3 *velocities);
