// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Friction of rough walls for liquids: between slip and no-slip (docs/theory/liquid.md).
#pragma once
#include "solid/cut_cells.h"

bool rh_drag_any(const rh_obstacles *obstacles);

// The coefficient of friction C = tau / (rho U |U|), with tau (Pa) the shear stress on the wall, for liquid of depth
// `depth` (m) whose velocity along the wall has the mean U over that depth.
double rh_drag_coefficient(const rh_obstacle *wall, double depth);

// Slows particles that flow along walls with a roughness, as in a time of `time` (s): relative to the wall, along it,
// and never below the wall's own velocity. Particles are in the order of the tiles and where they were when the tiles
// were made, obstacles are placed; a full cell holds `per_cell` particles.
rh_code rh_drag_apply(const rh_tiles *tiles, const rh_cut_cells *cut, const rh_obstacles *obstacles, float per_cell,
                      float time, const rh_vec3 *positions, rh_vec3 *velocities, rh_arena *arena, rh_status *status);
