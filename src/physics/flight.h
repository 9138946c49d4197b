// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the methods whose particles fly freely have in common: the decay of a velocity by drag, and collisions with
// walls.
#pragma once
#include "physics/physics.h"

// Decay by linear drag over a time t: rest = e^-kt, way = its integral (s: the path of a velocity of 1), way2 = the
// integral of that (s^2: the path of an acceleration of 1).
typedef struct rh_flight_decay {
    double rest, way, way2;
} rh_flight_decay;
rh_flight_decay rh_flight_decay_of(double k, double time);  // 1/s, s

typedef struct rh_flight_wall {
    double gap;          // m: how close a particle may come
    double restitution;  // share of the speed across a wall that is left after an impact
} rh_flight_wall;
// Moves a particle out of the solids as they are at the end of the step; one that moves into a wall stays on it, sticks
// to it or bounces back. Returns whether the particle touched one.
bool rh_flight_collide(const rh_flight_wall *wall, const rh_surroundings *around, rh_vec3 *x, rh_vec3 *v);
// The longest step in which nothing of this speed (m/s) travels more than a cell, so that walls are not jumped over; in
// the open any step will do.
double rh_flight_max_step(const rh_surroundings *around, double speed);
double rh_flight_fastest(const rh_points *points);  // m/s
