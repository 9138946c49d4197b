// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The volume of a solid under water, as three see it: it itself, the pressure solve, and the particles. Kilograms of
// liquid (kg/m in two dimensions); memory is the step's arena.
#pragma once
#include "physics/solid_coupling.h"

// Tells the dynamics by how much liquid the other two are short of what a solid displaces (rh_dynamics_displace), for
// solids that liquid is all around and nothing else near. `c` is gathered.
rh_code rh_buoyancy_find(const rh_solid_coupling *c, const rh_solid_coupling_faces *faces, const rh_layout *layout,
                         rh_arena *arena, rh_status *status);
