// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The particles' way through the grid's velocity (Zhu 2005, section 3.2; Gerszewski 2014, section 3.2.4): Runge-Kutta
// in sub-steps of about a cell.
#pragma once
#include "grid/tiles.h"

typedef enum rh_path_rule {
    RH_PATH_EULER,
    RH_PATH_MIDPOINT,
    RH_PATH_HEUN,
    RH_PATH_RALSTON
} rh_path_rule;  // orders 1, 2, 2, 3

typedef struct rh_paths {
    rh_faces velocity;           // m/s; extended as far as particles may go
    rh_faces shift;              // m, read where a particle starts and added to its way; axis[0] NULL = none
    const rh_vec3 *frame_share;  // per tile and axis, 0..1: a particle's way is found in a frame that moves with so
                                 // much of its own velocity; NULL = at rest
    float dt;                    // s
    rh_path_rule rule;
    const float *distance;  // m, cell centres, from the liquid; may be NULL
    float free_beyond;      // m: particles in cells farther off than this fly on with their own velocity, as spray does
} rh_paths;

// Moves the particles. No particle goes farther than 6 cells in a call. Where a way leads out of the tiles, the flow is
// taken to go on as the particles of the tile it began in move on average.
rh_code rh_particles_advect(const rh_tiles *tiles, const rh_paths *paths, const rh_vec3 *velocities, rh_vec3 *positions,
                            rh_arena *arena, rh_status *status);

// How far (cells) the flow carries a particle of each tile in dt at most: by the fastest face of the tile and its
// neighbours.
rh_code rh_faces_farthest(const rh_tiles *tiles, rh_faces velocity, float dt, float *travel, rh_arena *arena,
                          rh_status *status);
