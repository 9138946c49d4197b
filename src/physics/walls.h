// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What solids do to grid velocities inside them and to particles that would enter them, and inflows, which the rest of
// a step sees as walls that move with the liquid.
#pragma once
#include "physics/physics.h"
#include "solid/cut_cells.h"

// Inside an inflow the flow is given: its faces are closed to pressure and move with it, like a wall made of liquid.
// Tiles that an inflow reaches get their own copies for this step.
rh_code rh_walls_add_inflows(const rh_tiles *tiles, rh_cut_cells *cut, const rh_obstacles *obstacles,
                             const rh_inflow *inflows, int count, rh_arena *arena, rh_status *status);
// Faces inside inflows get their given velocity and known = 1 (`known` may be NULL).
void rh_walls_set_inflow_velocities(const rh_tiles *tiles, const rh_cut_cells *cut, rh_faces velocity,
                                    uint8_t *const known[3]);

bool rh_walls_any_no_slip(const rh_obstacles *obstacles);

// Sets velocities on closed faces, which particles near a wall interpolate from: slip keeps the part along the wall,
// no-slip takes the wall's velocity, separating walls only stop what moves into them. With `only_no_slip` nothing but
// this is done: walls without slip set the part along them, and leave the part across to the method's own pressure;
// thin walls act as without it.
rh_code rh_walls_constrain(const rh_tiles *tiles, const rh_cut_cells *cut, const rh_obstacles *obstacles,
                           rh_faces velocity, bool only_no_slip, rh_arena *arena, rh_status *status);

typedef struct rh_collision {
    double gap;     // m: how far from solids particles are kept
    bool stop;      // their velocity into the wall is taken away
    bool friction;  // and of that along it the wall's coefficient times as much, down to rest (Coulomb); with `stop`
    const rh_vec3 *before;  // positions before they moved; may be NULL
} rh_collision;

// Moves particles that are inside solids, or nearer than the gap, to the gap outside, without a change of velocity: for
// solids that have moved since the particles did.
void rh_walls_push_out(const rh_obstacles *obstacles, int dimension, double gap, int64_t count, rh_vec3 *positions);

// Removes from a velocity at x its part into the solid, and with `friction` what Coulomb friction takes of the part
// along it. The normal points to the side of free space that x is on.
void rh_walls_stop(const rh_obstacles *obstacles, int which, rh_dvec3 x, rh_dvec3 normal, bool friction,
                   rh_vec3 *velocity);

// Moves particles that are inside a solid (or closer than the gap) along the normal to the gap outside (Zhu 2005,
// section 3.2; Gerszewski 2014, section 3.2.4). One that is still inside after several such moves (it had gone through
// more than half of a solid) goes back along its path to the last place that is free, when `before` is known. Particles
// are in the order of the tiles, which were made before they moved: by less than a tile along each axis. Solids are
// placed at the end of the step, `cut` is of its start.
void rh_walls_collide(const rh_tiles *tiles, const rh_cut_cells *cut, const rh_obstacles *obstacles,
                      const rh_collision *collision, rh_vec3 *positions, rh_vec3 *velocities);
