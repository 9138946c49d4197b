// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What particles that fly freely have in common: how drag wears off a velocity, and what walls do.
#pragma once
#include "physics/physics.h"

// e^-kt, its integral (the way of a unit of velocity) and the integral of that (of a unit of acceleration).
typedef struct rh_flight_decay {
    double rest, way, way2;
} rh_flight_decay;
rh_flight_decay rh_flight_decay_of(double k, double time);  // 1/s, s

typedef struct rh_flight_wall {
    double gap;          // m: how close a particle may come
    double restitution;  // share of the speed across a wall that is left after an impact
} rh_flight_wall;
// Out of the solids as they are at the end of the step; what moves into a wall stays on it, sticks to it or bounces
// back. Returns whether the particle touched one.
bool rh_flight_collide(const rh_flight_wall *wall, const rh_surroundings *around, rh_vec3 *x, rh_vec3 *v);
// The longest step in which nothing of this speed (m/s) travels more than a cell, so that walls are not jumped over; in
// the open any step will do.
double rh_flight_max_step(const rh_surroundings *around, double speed);
double rh_flight_fastest(const rh_points *points);  // m/s
