// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What an observer (physics/observer.h) sees of a step of smoothed particles: values at places, and what walls got.
#pragma once
#include "physics/observer.h"
#include "physics/sph/fluid.h"
#include "physics/sph/viscous_law.h"

// What viscosity did at walls (viscosity.h).
typedef struct rh_sph_rubbed {
    const rh_sph_viscous_law *law;
    const float *grip;  // per solid
    const float *spin;  // [3 solids] rad/s
    float *friction;    // [count]; NULL: nothing
    float *flow;        // [4 count] velocities (m/s) that it left
} rh_sph_rubbed;

typedef struct rh_sph_measure {
    const rh_sph_fluid *fluid;
    const rh_tiles *tiles;
    const rh_vec3 *velocities;    // m/s, as they will be after the step
    const bool *held;             // by inflows; NULL = none
    const rh_sph_rubbed *rubbed;  // NULL = no viscosity at walls
    double density;               // kg/m^3
    double mass;                  // kg (kg/m) of a particle
    float kick;                   // s
} rh_sph_measure;

// After fluid->push was found: pressure and velocities at places, touches of walls and inflows.
rh_code rh_sph_show(const rh_sph_measure *measure, const rh_surroundings *around, const rh_points *points,
                    rh_arena *arena, rh_status *status);
