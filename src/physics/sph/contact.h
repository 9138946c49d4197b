// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The last stage of a step, after which no particle is in a solid, or beyond one. Pressure keeps particles half a
// spacing from walls; this is for what pressure has missed, drops that fly far in a step, and walls that close.
#pragma once
#include "physics/sph/fluid.h"

// `start`: positions before the step's move. Particles are in the order of the fluid.
void rh_sph_contact(const rh_surroundings *around, const rh_sph_fluid *fluid, const rh_vec3 *start, rh_vec3 *positions,
                    rh_vec3 *velocities);
