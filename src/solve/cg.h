// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Preconditioned conjugate gradients on tile vectors. Vectors are float, sums double, in fixed order. The
// preconditioner is an interface so that better ones can take its place.
#pragma once
#include "solve/poisson.h"

typedef struct rh_preconditioner {
    // z = M^-1 r, M symmetric positive definite; z is zero where the operator has no unknown.
    void (*apply)(const void *self, const float *r, float *z);
    const void *self;
} rh_preconditioner;

typedef struct rh_cg_report {
    int iterations;
    double residual;  // |r| / |b| in the 2-norm, of the recursion
    bool converged;
} rh_cg_report;

// Solves A x = b from x = 0 (x is overwritten; it must be 0 outside the operator's tiles). b is destroyed: it holds
// the residual afterwards. RH_NUMERIC only when the numbers are not finite; not converging is told in the report.
rh_code rh_cg_solve(const rh_poisson *a, rh_preconditioner m, float *b, float *x, double tolerance, int max_iterations,
                    rh_arena *arena, rh_cg_report *report, rh_status *status);

// --- a preconditioner: modified incomplete Cholesky inside each tile ------------------------------------------------
// MIC(0) (I. Gustafsson 1978; used for liquids in R. Bridson, "Fluid Simulation for Computer Graphics", 2nd ed., ch. 5),
// cut at tile borders: every tile factorises and solves its own 8^3 block, so tiles run in parallel and the result
// does not depend on how many threads there are. Keeps one value per cell.
typedef struct rh_tile_mic {
    const rh_poisson *a;
    float *inverse;  // 1 / (pivot), per cell; 0 where there is no unknown
} rh_tile_mic;

rh_code rh_tile_mic_create(rh_tile_mic *mic, const rh_poisson *a, rh_arena *arena, rh_status *status);
rh_preconditioner rh_tile_mic_preconditioner(const rh_tile_mic *mic);
