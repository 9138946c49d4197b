// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A multigrid V-cycle for the operator of viscous.h: symmetric and positive definite, so that it can precondition
// conjugate gradients (rh_krylov). The source says how. All memory comes from the arena it was made with.
#pragma once
#include "solve/viscous.h"

enum { RH_VISCOUS_LEVELS = 16 };

typedef struct rh_viscous_level {
    rh_viscous a;
    int32_t *parent;   // per tile: that of the coarser level
    uint8_t *feeds;    // per tile: there are coarse unknowns in its place
    float *share[3];   // per face: what its value from the coarser level is multiplied with; 0 where it is no unknown
    float *hold[3];    // per face: what walls hold it with, as a mass
    float *b, *x, *y;  // right-hand side (not on the finest), solution and scratch
} rh_viscous_level;

typedef struct rh_viscous_multigrid {
    int count;
    rh_viscous_level levels[RH_VISCOUS_LEVELS];  // finest first
} rh_viscous_multigrid;

// The operator's arrays must live as long as the hierarchy.
rh_code rh_viscous_multigrid_create(rh_viscous_multigrid *m, const rh_viscous *a, rh_arena *arena, rh_status *status);
// One cycle from 0: z = M r.
void rh_viscous_multigrid_cycle(const rh_viscous_multigrid *m, const float *r, float *z);
