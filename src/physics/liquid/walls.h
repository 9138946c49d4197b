// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What solids do to grid velocities inside them and to particles that would enter them.
#pragma once
#include "physics/physics.h"
#include "solid/cut_cells.h"

// Sets velocities on closed faces so that particles near a wall feel it: slip keeps the part along the wall, no-slip takes
// the wall's velocity, separating walls only stop what moves into them. `from` is read, `velocity` written (copies of
// each other before the call).
void rh_walls_constrain(const rh_tiles *tiles, const rh_cut_cells *cut, const rh_obstacles *obstacles, rh_faces from,
                        rh_faces velocity);

// Moves particles that are inside a solid (or closer than `gap`, m) along the normal to `gap` outside, and takes away
// the part of their velocity that points into it (FLIP-8).
void rh_walls_collide(const rh_obstacles *obstacles, double gap, int dimension, int64_t count, rh_vec3 *positions, rh_vec3 *velocities);
