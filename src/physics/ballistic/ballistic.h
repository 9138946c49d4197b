// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Free particles with drag and wind: drops, dust, embers, and the base of spray. They do not act on each other.
// docs/theory/ballistic.md tells the method; docs/architecture.md goes through it as the example of a method.
#pragma once
#include "physics/physics.h"

typedef struct rh_ballistic_params {
    double density;              // kg/m^3
    int64_t particles_per_axis;  // per cell
    double drag, drag_speed;     // 1/s; 1/m: deceleration is (drag + drag_speed |u|) u, with u relative to the wind
    rh_dvec3 wind;               // m/s
    double restitution;          // 0..1, at walls
} rh_ballistic_params;

extern const rh_param_table rh_ballistic_table;
extern const rh_physics rh_ballistic;
