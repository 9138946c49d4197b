// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Linear complementarity with the operator of poisson.h: finds x with
//
//   x >= l,   w = A x + b >= 0,   (x - l) . w = 0
//
// which is the least of x.Ax/2 + b.x over x >= l, by MPRGP (modified proportioning with reduced gradient projections),
// preconditioned on the free set (the unknowns above their bound). Vectors are those of the operator, sums double in
// fixed order.
#pragma once
#include "solve/pockets.h"
#include "solve/precondition.h"
#include "solve/term.h"

// What to do when a conjugate gradient step would leave the feasible set.
typedef enum rh_expansion {
    RH_EXPANSION_PROJECTED,  // take it and project, when that lowers the energy; else as below
    RH_EXPANSION_GRADIENT,   // stop at the bound, then one gradient step of fixed length, projected
} rh_expansion;
extern const char *const rh_expansion_names[];  // "projected", "gradient", NULL

typedef struct rh_mprgp_options {
    double tolerance;  // on |free + chopped gradient|, relative to that at x = l (0 where l is -INFINITY): |min(b, 0)|
                       // for l = 0; 2-norms
    double largest;    // or on the largest |component| of it, in the units of b; 0 = not used
    int max_iterations;  // products with A, looked at between steps
    rh_precondition preconditioner;
    rh_expansion expansion;
    bool estimate_norm;       // power iteration for |A| instead of the bound of twice the largest diagonal
    const rh_term *term;      // added to A; NULL = none
    const rh_bodies *bodies;  // the same for multigrid, which then knows of it on the free set; NULL = it does not
} rh_mprgp_options;

typedef struct rh_mprgp_report {
    int iterations;  // all steps
    int cg, expansions, proportionings;
    int preparations;  // of the preconditioner: the free set had changed
    double residual;   // what the tolerance is on, of the w that is handed out. The rounding of x alone makes about |A|
                       // 1e-7 |x| of it, more than a tight tolerance where pressure is high; that much is let pass once
                       // the recursion has converged
    double worst;      // largest |min(x - l, w)|, in the units of b
    double norm;       // used for |A|
    bool converged;
} rh_mprgp_report;

// x comes in as a first guess (lifted to l where it is below; with multigrid, a guess far off is replaced by one from
// coarse levels where that has the lower energy) and goes out as the solution; w = A x + b. b is 0 where nothing is
// unknown. `lower` NULL: l = 0; -INFINITY lets an unknown go free. Parts of A without air that b overfills (its sum
// there is negative) have no solution: their excess is spread out of b evenly first, so that b changes there.
// RH_NUMERIC only when the numbers are not finite; not converging is told in the report.
rh_code rh_mprgp_solve(const rh_poisson *a, float *b, const float *lower, float *x, float *w,
                       const rh_mprgp_options *options, rh_arena *arena, rh_mprgp_report *report, rh_status *status);
