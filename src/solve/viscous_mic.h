// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Modified incomplete Cholesky for the operator of viscous.h, the preconditioner that viscosity solves commonly have: a
// reference for the multigrid, one thread, and the matrix is stored. Memory is the arena's.
#pragma once
#include "solve/viscous.h"

typedef struct rh_viscous_mic {
    int64_t count;     // unknowns
    int64_t *at;       // [count]: of each, in vectors of the operator
    int64_t *first;    // [count + 1]: its entries
    int32_t *column;   // numbers of unknowns behind it, rising
    float *entry;      // of the factor, divided by the pivot
    float *inverse;    // [count]: 1 / pivot
    double *scratch;   // [count]
    int64_t replaced;  // pivots that had become too small
} rh_viscous_mic;

rh_code rh_viscous_mic_create(rh_viscous_mic *m, const rh_viscous *a, rh_arena *arena, rh_status *status);
void rh_viscous_mic_apply(void *mic, const float *r, float *z);  // z = M r, z all 0 where nothing is unknown
