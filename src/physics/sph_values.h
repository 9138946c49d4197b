// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Pressure and velocity of particles without a grid, at any place: for observers (physics/observer.h).
#pragma once
#include "physics/observer.h"
#include "physics/sph_kernel.h"

// Arrays in the order of the tiles; borrowed.
typedef struct rh_sph_values {
    const rh_sph_kernel *kernel;
    const rh_tiles *tiles;
    const float *place;         // [4 count] x, y, z (m), and a number that does not matter
    const float *q;             // [count] m^2/s^2: pressure over density
    const rh_vec3 *velocities;  // [count] m/s
} rh_sph_values;

// As rh_step_view.q_at and velocity_at; the view's `solver` is an rh_sph_values.
float rh_sph_q_at(const rh_step_view *view, rh_vec3 point);
bool rh_sph_velocity_at(const rh_step_view *view, rh_vec3 point, rh_vec3 *velocity);
