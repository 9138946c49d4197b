// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// New velocities from stresses: explicitly, or by a linear system for those at the end of the step.
#pragma once
#include "physics/elastoplastic/contact.h"
#include "physics/elastoplastic/stress.h"

typedef struct rh_ep_solve {
    rh_ep_matter *matter;  // `flow` has the velocities, old and then new
    const rh_ep_state *state;
    const rh_ep_contact *contact;
    const uint8_t *held;      // [count] keep their velocity; NULL = nobody
    float kick, previous_dt;  // s
    double *sums;             // [rh_blocks(count)] scratch
} rh_ep_solve;

// flow += kick times what stresses and viscosity do. `matter->stress` is without viscosity, and gets it.
void rh_ep_explicit(rh_ep_solve *solve);
// Before forces of the scene are added to `flow`: what the old motion says of the stress.
void rh_ep_begin(rh_ep_solve *solve);
// flow = velocities with which stresses at the end of the step agree.
rh_code rh_ep_implicit(rh_ep_solve *solve, rh_arena *arena, rh_step_report *report, rh_status *status);
