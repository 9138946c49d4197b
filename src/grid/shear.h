// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How fast a flow on the grid's faces deforms what it carries.
#pragma once
#include "grid/tiles.h"

// sqrt(2 D:D), D the symmetric part of the velocity's gradient, at the cell centres of a tile: 1/s. A rotation has
// none, whatever its axis. Velocities in m/s; where there are no tiles they count as 0.
void rh_shear_rates(const rh_tiles *tiles, rh_faces velocity, int32_t t, float *out);

// The same, and by how much the ways of a step of dt press particles together, at the cell centres of a tile. A way
// through a flow u that stands still keeps volume. One that is found in a frame which moves with V = share u, along
// each axis, (grid/advect.h) is x + dt u(x + dt/2 (u - V)) to second order, and volumes become 1 - dt^2/2 sum_ab
// dV_a/dx_b du_b/dx_a of what they were: liquid that is stretched one way and squeezed the other shrinks, what turns
// grows.
void rh_shear_and_compression(const rh_tiles *tiles, rh_faces velocity, int32_t t, rh_vec3 share, float dt,
                              float *rates, float *compression);
