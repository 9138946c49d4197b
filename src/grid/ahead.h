// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How full cells will be when particles have moved on: the same linear weights as rh_particles_to_grid, at positions
// ahead.
#pragma once
#include "grid/tiles.h"

typedef struct rh_ahead {
    rh_faces velocity;  // m/s, known around particles
    float dt;           // s
} rh_ahead;

// cells = sum of weights of particles at x + dt velocity(x), each component of the way no longer than 3 cells;
// particles stay where they are. Needs sorted tiles with a margin of at least 2. The same bits for any number of
// threads.
void rh_particles_ahead(const rh_tiles *tiles, const rh_ahead *ahead, const rh_vec3 *positions, float *cells);
