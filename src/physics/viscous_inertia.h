// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A preconditioner for the pressure that acts together with viscosity, S = B (M + K)^-1 B^T (physics/viscous_turns.c):
//
//      S^-1 ~ (B M^-1 B^T)^-1 + k        M: masses that viscosity knows, B: divergence; k: resistance of cells
//
// the sum of what inertia and what stress ask for, exact for viscosity of no weight, and of great weight away from
// boundaries (J. Cahouet, J.-P. Chabard, Int. J. Numer. Methods Fluids 8, 1988). Memory is the arena's; pressure and
// system are borrowed.
#pragma once
#include "physics/pressure.h"
#include "physics/viscosity.h"

typedef struct rh_viscous_inertia {
    rh_poisson matrix;  // B M^-1 B^T
    rh_preconditioner preconditioner;
    const rh_pockets *pockets;
    float *resistance;  // k, a vector of the matrix
} rh_viscous_inertia;

rh_code rh_viscous_inertia_prepare(rh_viscous_inertia *m, const rh_pressure *p, const rh_viscosity_system *viscosity,
                                   rh_arena *arena, rh_status *status);
// z = about S^-1 r, symmetric and positive, dynamic solids included; `spare` is scratch.
void rh_viscous_inertia_precondition(const rh_viscous_inertia *m, const float *r, float *z, float *spare);
