// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Spray whose particles are drops: each has a radius and weighs what a ball of liquid weighs, falls through the air by
// its size, and merges with others, or parts from them and sheds smaller ones, when they meet. docs/theory/droplets.md
// tells the method.
#pragma once
#include "physics/droplets/collision.h"
#include "physics/physics.h"

typedef enum rh_droplet_drag { RH_DROPLET_DRAG_AIR, RH_DROPLET_DRAG_POWER, RH_DROPLET_DRAG_NONE } rh_droplet_drag;

typedef struct rh_droplets_params {
    rh_droplet_law law;
    int64_t particles_per_axis;  // per cell
    double radius;               // m, of what bodies and emitters make; 0: what fills its room
    bool collisions;
    double rest_time;                        // s after a collision in which there is no other
    int64_t iterations;                      // of the pairing
    double reach;                            // m: cell of the search for partners; 0: chosen
    int drag;                                // rh_droplet_drag
    double drag_coefficient, drag_exponent;  // of the power law
    double air_density, air_viscosity;       // kg/m^3, Pa s
    rh_dvec3 wind;                           // m/s
    double restitution;                      // at walls
} rh_droplets_params;

extern const rh_param_table rh_droplets_table;
extern const rh_physics rh_droplets;

// 1/s: rate at which drag reduces a velocity of `speed` (m/s) through the air, for a drop of this radius (m).
double rh_droplet_drag_rate(const rh_droplets_params *params, double radius, double speed);

// What became of collisions so far, for reports and tests: how many of each rh_droplet_kind, and drops shed.
typedef struct rh_droplet_counts {
    int64_t kinds[RH_DROPLETS_KINDS], shed, tested;
} rh_droplet_counts;
const rh_droplet_counts *rh_droplets_counts(const void *self);
