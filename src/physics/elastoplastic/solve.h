// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// New velocities from stresses: explicitly, or by a linear system for those at the end of the step.
#pragma once
#include "base/arena.h"
#include "physics/elastoplastic/contact.h"
#include "physics/elastoplastic/stress.h"

typedef struct rh_ep_solve {
    rh_ep_matter *matter;  // `flow` has the velocities, old and then new
    const rh_ep_state *state;
    rh_ep_contact *contact;
    const uint8_t *held;      // [count] keep their velocity; NULL = nobody
    float kick, previous_dt;  // s
    // of an implicit step; the arena's
    float *stress, *hold;   // [6 count], [3 count]: what of them does not depend on new velocities
    float *given;           // [4 (count + 8)] m/s: velocities without what the new ones do
    float *before;          // [4 (count + 8)] m/s: new velocities without what walls do in the step
    float *flight;          // [4 (count + 8)] m/s: velocities that forces of the scene alone give
    float *soft;            // [count] share of stress beside pressure that plastic flow leaves
    struct wall_tie *ties;  // [count] what walls do
} rh_ep_solve;

// flow += kick times what stresses and viscosity do. `matter->stress` is without viscosity, and gets it.
void rh_ep_explicit(rh_ep_solve *solve);
// Before forces of the scene are added to `flow`: what the old motion says of the stress.
rh_code rh_ep_begin(rh_ep_solve *solve, rh_arena *arena, rh_status *status);
// flow = velocities with which stresses at the end of the step agree.
rh_code rh_ep_implicit(rh_ep_solve *solve, rh_arena *arena, rh_step_report *report, rh_status *status);
