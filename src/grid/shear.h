// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How fast a flow on the grid's faces deforms what it carries.
#pragma once
#include "grid/tiles.h"

// sqrt(2 D:D), D the symmetric part of the velocity's gradient, at the cell centres of a tile: 1/s. A rotation has
// none, whatever its axis. Velocities in m/s; where there are no tiles they count as 0.
void rh_shear_rates(const rh_tiles *tiles, rh_faces velocity, int32_t t, float *out);
