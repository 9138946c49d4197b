// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Velocity between particles and faces (FLIP-2, FLIP-7) and the particles' way through the grid (FLIP-8). Linear
// weights (trilinear in 3D, bilinear in 2D); each component has its own staggered lattice.
#pragma once
#include "grid/tiles.h"

// Weighted mean of the particles around each face: velocity = sum w v / sum w, weight = sum w. With `affine` (APIC) a
// particle speaks for v + C (x_face - x_p), C in 1/s, rows. Faces no particle reaches get velocity 0, weight 0.
// Needs sorted tiles and a margin of at least 2. The same bits for any number of threads.
void rh_particles_to_faces(const rh_tiles *tiles, const rh_vec3 *positions, const rh_vec3 *velocities,
                           const float (*affine)[9], rh_faces velocity, rh_faces weight);

// Sum of w over the particles at cell centres (particles per cell, smoothed over 2h); the same scatter.
void rh_particles_to_cells(const rh_tiles *tiles, const rh_vec3 *positions, float *weight);

typedef enum rh_update { RH_UPDATE_PIC, RH_UPDATE_FLIP, RH_UPDATE_APIC } rh_update;

// What one pass over the particles does: take velocity from the grid, then move.
typedef struct rh_gather {
    rh_faces velocity;  // on the grid, extrapolated far enough for the way of dt
    rh_faces change;    // velocity - velocity before forces and projection; FLIP only
    rh_faces shift;     // m, added to positions at the end; axis[0] NULL = none
    rh_update update;
    float flip;         // FLIP share of the blend: v = flip (v + change) + (1 - flip) velocity
    float dt;           // s; 0 leaves positions alone
    int order;          // 2: midpoint, 3: Ralston
    float max_travel;   // cells: no grid velocity carries a particle farther in dt
} rh_gather;

// Updates v (and C for APIC) and P of every particle. A FLIP update with flip = 1 and change = 0 leaves v bitwise
// unchanged. Sub-steps keep each move below one cell.
void rh_faces_to_particles(const rh_tiles *tiles, const rh_gather *gather, rh_vec3 *positions, rh_vec3 *velocities,
                           float (*affine)[9]);
