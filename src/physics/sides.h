// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles beside walls thinner than cells (solid/thin.h). During a step each such particle stands, for the grid, at a
// place from which all cells that it gives weight to lie on its own side of the wall (rh_thin_view). When the grid has
// moved it, its displacement is applied to its real position instead, along a path that does not cross a thin wall. In
// scenes without thin solids nothing of this is done or stored, except that no path crosses a solid that is fast (it
// moves by a quarter of its thickness or more in a step).
//
//      rh_sides_leave      before the particles are sorted: to where the grid sees them
//      rh_sides_return     when they have moved: back to where they really are
//      rh_sides_hold       last, around the usual collision: on their own side
#pragma once
#include "physics/physics.h"
#include "physics/walls.h"

// Real positions are kept in an attribute of the points, which is added when it is first needed.
rh_code rh_sides_leave(const rh_surroundings *around, rh_points *points, rh_status *status);
// `start`: where the particles stood for the grid before they moved; becomes where they really were.
void rh_sides_return(const rh_surroundings *around, const rh_points *points, rh_vec3 *start, rh_vec3 *positions);
// Whether paths of particles must be traced (rh_sides_hold): there are thin walls, or solids that are fast.
bool rh_sides_walk(const rh_surroundings *around);
// `start`: as rh_sides_return left it.
void rh_sides_hold(const rh_surroundings *around, const rh_collision *collision, int64_t count, const rh_vec3 *start,
                   rh_vec3 *positions, rh_vec3 *velocities);
