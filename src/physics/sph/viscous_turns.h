// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Viscosity and pressure of thick smoothed particles at once, in vessels that they fill: a step of Stokes flow.
#pragma once
#include "physics/sph/viscosity.h"

typedef struct rh_sph_turns {
    const rh_sph_viscosity *viscosity;
    const rh_sph_prediction *predict;
    struct rh_dynamics *dynamics;  // solids that pressure moves; NULL: none
    double tolerance;              // mean density error that is left
    int most;                      // turns
    int solids;                    // in viscosity->spin
    float *friction;               // as of rh_sph_viscosity_act
} rh_sph_turns;

// Changes the velocities in `flow` and dynamic solids, with their samples, as viscosity and the pressure q do, which
// comes in as the last step's and goes out as this one's, of mean 0. `report` counts the iterations of all solves of
// viscosity; not converged: one of these was not.
rh_code rh_sph_turns_act(rh_sph_fluid *fluid, const rh_sph_turns *turns, rh_arena *arena, rh_krylov_report *report,
                         rh_status *status);
