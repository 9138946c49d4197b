// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Walls: particles stay half a spacing away from them, so that matter begins where it was drawn; friction, and tack.
#pragma once
#include "physics/elastoplastic/matter.h"

typedef struct rh_ep_contact {
    const rh_surroundings *around;
    int64_t count;
    double spacing, dt;    // m, s
    float tack;            // m^2/s^2: tension (over the density) that walls without slip hold
    const float *stress;   // [6 count] m^2/s^2: of the matter, xx yy zz xy xz yz
    const float *covered;  // [count]
    const uint8_t *held;   // [count] moved by others; NULL = nobody
    const rh_vec3 *start;  // places before the step
} rh_ep_contact;

// What a wall lets a particle do in a step.
typedef struct rh_ep_touch {
    int which;        // solid; -1: it touches none
    rh_dvec3 normal;  // unit, into free space
    rh_dvec3 wall;    // m/s, of the wall
    double least;     // m/s: smallest velocity along the normal
    bool sticks;      // held by tack: moves with the wall
} rh_ep_touch;

// How particle i with velocity v meets walls at the end of the step.
rh_ep_touch rh_ep_touch_of(const rh_ep_contact *contact, int64_t i, rh_vec3 v);
// The velocity that is left of v.
rh_vec3 rh_ep_touched(const rh_ep_contact *contact, const rh_ep_touch *touch, rh_vec3 v);
// Velocities and places at the end of the step, of particles that have moved with their velocities.
void rh_ep_contact_all(const rh_ep_contact *contact, rh_vec3 *places, rh_vec3 *velocities);
