// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Spray and foam candidates, as the groups "spray" and "foam": particles that are fast, in thin surroundings, and part
// from each other.
#pragma once
#include "grid/tiles.h"

typedef struct rh_spray {
    const float *fill;  // of cells
    rh_faces velocity;  // m/s, after the projection
    float speed;        // m/s: slower particles are neither
} rh_spray;

// Surroundings filled less than this are spray; up to the second, foam.
#define RH_SPRAY_FILL 0.3f
#define RH_FOAM_FILL 0.75f

// Sets both groups (1 or 0) for every particle. Positions as sorted by the tiles.
void rh_spray_find(const rh_tiles *tiles, const rh_spray *spray, const rh_vec3 *positions, const rh_vec3 *velocities,
                   uint8_t *is_spray, uint8_t *is_foam);
