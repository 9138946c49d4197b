// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Velocity between particles and faces (Zhu 2005, section 3.2). Linear weights (trilinear in 3D, bilinear in 2D); each
// component has its own staggered lattice. Particles are sorted by tile; nothing happens in tiles without particles.
// Moving them is in advect.h.
#pragma once
#include "grid/tiles.h"

// Weighted mean of the particles around each face: velocity = sum w v / sum w, weight = sum w. With `affine` (APIC) a
// particle speaks for v + C (x_face - x_p), C in 1/s, rows. Faces no particle reaches get velocity 0, weight 0. `cells`
// (may be NULL; tiles apart, NULL where not wanted) gets the sum of w at cell centres: particles per cell, smoothed
// over 2h. Needs sorted tiles and a margin of at least 2. The same bits for any number of threads.
void rh_particles_to_grid(const rh_tiles *tiles, const rh_vec3 *positions, const rh_vec3 *velocities,
                          const float (*affine)[9], rh_faces velocity, rh_faces weight, float *const *cells);

typedef enum rh_update { RH_UPDATE_PIC, RH_UPDATE_FLIP, RH_UPDATE_APIC } rh_update;

typedef struct rh_velocity_update {
    rh_faces velocity;  // on the grid, known on all faces around particles
    rh_faces before;    // the same before forces and projection; FLIP only
    rh_update update;
    float flip;          // FLIP share of the blend: v = flip (v + velocity - before) + (1 - flip) velocity
    const float *flips;  // the same per tile; NULL: flip everywhere
} rh_velocity_update;

// Updates v (and C for APIC; for FLIP when `affine` is given: the slopes of velocity - flip before, so that what a
// particle does not keep of its own is as APIC has it) of every particle and returns the largest speed (infinite when
// one is not a number). A FLIP update with flip = 1 and before = velocity leaves v bitwise unchanged.
double rh_grid_to_velocities(const rh_tiles *tiles, const rh_velocity_update *update, const rh_vec3 *positions,
                             rh_vec3 *velocities, float (*affine)[9]);
