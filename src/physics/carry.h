// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Pressure is stored on the particles between steps: it is the first guess of the next solve, moves with the liquid,
// and is part of a checkpoint.
#pragma once
#include "solve/layout.h"

// q = scale times the mean of `values` over the particles of each unknown cell; 0 where there are none.
void rh_carry_to_cells(const rh_layout *layout, const float *values, float scale, float *q);
// values = scale q at the particles, linear between centres of cells; cells that are no unknowns count with 0.
void rh_carry_to_particles(const rh_layout *layout, const float *q, const rh_vec3 *positions, float scale,
                           float *values);
// The same at one place: q; 0 where there are no tiles.
float rh_carry_at(const rh_layout *layout, const float *q, rh_vec3 place);
