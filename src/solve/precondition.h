// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The preconditioners of the operator of poisson.h, as a table: a new one is a row there and nothing else. Both solvers
// (cg.h, mprgp.h) take theirs from it.
#pragma once
#include "solve/mic.h"
#include "solve/multigrid.h"

typedef enum rh_precondition { RH_PRECONDITION_MULTIGRID, RH_PRECONDITION_MIC, RH_PRECONDITION_NONE } rh_precondition;
extern const char *const rh_precondition_names[];  // "multigrid", "mic", "none", NULL

typedef struct rh_preconditioner {
    const struct rh_precondition_method *method;
    const rh_poisson *a;
    const rh_bodies *bodies;    // beside it, for those that can take them into account; NULL = none
    const rh_pockets *pockets;  // with bodies
    rh_multigrid multigrid;
    rh_mic mic;
} rh_preconditioner;

typedef struct rh_precondition_method {
    rh_precondition which;
    bool is_identity;         // nothing to prepare
    bool has_levels;          // the operator's coarser versions, which a first guess can come from
    rh_precondition instead;  // what to take up when a solve gets nowhere; itself: nothing better is known
    // Takes memory that stays while the operator's values change; the operator must live as long.
    rh_code (*init)(rh_preconditioner *m, rh_arena *arena, rh_status *status);
    // For the operator's present values. Memory it takes is needed until the next call.
    rh_code (*prepare)(rh_preconditioner *m, rh_arena *arena, rh_status *status);
    // M r in z or in `spare`: the one returned; both are overwritten. r is 0 where nothing is unknown.
    float *(*apply)(const rh_preconditioner *m, const float *r, float *z, float *spare);
    size_t (*bytes)(const rh_preconditioner *m);  // of memory, once prepared
} rh_precondition_method;
extern const rh_precondition_method rh_precondition_methods[];  // by rh_precondition

rh_code rh_preconditioner_init(rh_preconditioner *m, rh_precondition which, const rh_poisson *a, rh_arena *arena,
                               rh_status *status);
// The same for the operator alone, without the bodies beside it: a copy that shares all memory with `m`.
rh_preconditioner rh_preconditioner_alone(const rh_preconditioner *m);
