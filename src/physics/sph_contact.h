// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The last stage of a step of particles without a grid, after which none is in a solid, or beyond one. Forces keep
// particles half a spacing from walls; this is for what they have missed, drops that fly far in a step, and walls that
// close.
#pragma once
#include "physics/physics.h"

typedef struct rh_sph_contact_options {
    int64_t count;
    const float *covered;  // [count] wall samples seen (sph_lists.h): who sees none is at least `clear` from walls
    double gap;            // m that particles are kept from walls
    double clear;          // m
    double dt;             // s
} rh_sph_contact_options;

// `start`: positions before the step's move. Particles are in the order of `covered`.
void rh_sph_contact(const rh_surroundings *around, const rh_sph_contact_options *options, const rh_vec3 *start,
                    rh_vec3 *positions, rh_vec3 *velocities);
