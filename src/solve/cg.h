// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Conjugate gradients for the operator of poisson.h. With multigrid the passes over the vectors are fused with each
// other and with the cycle; with other preconditioners it is the general solver (solve/krylov.h). Vectors are float,
// sums double, in fixed order.
#pragma once
#include "solve/pockets.h"
#include "solve/precondition.h"

typedef struct rh_cg_report {
    int iterations;
    double residual;  // |r| / |b| in the 2-norm, of the recursion
    bool converged;
} rh_cg_report;

// Any symmetric term: y += T x; returns x . T x. A + T must stay positive.
typedef struct rh_cg_more {
    double (*add)(void *user, const float *x, float *y);
    void *user;
} rh_cg_more;

// What is added to the operator.
typedef struct rh_cg_beside {
    const rh_term *term;  // NULL = none
    rh_cg_more more;      // add NULL = none
} rh_cg_beside;

// Solves A x = b on the hierarchy's finest level from x = 0 (x is overwritten). b is destroyed: it holds the residual
// afterwards. `pockets` are the parts of A without air: the mean of b over each is taken out first. RH_NUMERIC only
// when the numbers are not finite; not converging is told in the report.
// `beside`: what is added to A; NULL = nothing. The hierarchy should know of its term (rh_multigrid_create_with).
rh_code rh_cg_solve(const rh_multigrid *m, const rh_cg_beside *beside, const rh_pockets *pockets, float *b, float *x,
                    double tolerance, int max_iterations, rh_arena *arena, rh_cg_report *report, rh_status *status);
// The same with any preconditioner, which must be prepared; with multigrid this is rh_cg_solve.
rh_code rh_cg_solve_by(const rh_preconditioner *m, const rh_cg_beside *beside, const rh_pockets *pockets, float *b,
                       float *x, double tolerance, int max_iterations, rh_arena *arena, rh_cg_report *report,
                       rh_status *status);
