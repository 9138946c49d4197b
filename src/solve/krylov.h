// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Conjugate gradients for any symmetric positive (semi-)definite operator: unknowns in cells, several to a cell or a
// body, on particles. What the operator is made of stays the caller's business; a vector is an array of `size` floats.
// The fused solve of the pressure (solve/cg.h) is its specialisation for the operator and the multigrid on tiles.
//
// Vectors are float and sums double. A product with an operator of a few values a row takes as long as its vectors take
// through the memory: floats halve that. What float loses is lost in sums of millions of terms, not in the vectors: the
// recursion of the residual goes on to about 1e-7 of its start. For more than that solve again for what is left.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"

// A matrix, or a preconditioner: y = A x. x and y differ. The result must not depend on threads (base/parallel.h).
typedef struct rh_operator {
    int64_t size;  // floats of a vector
    void (*apply)(void *user, const float *x, float *y);
    void *user;
} rh_operator;

typedef struct rh_krylov {
    rh_operator a;
    rh_operator m;  // about the inverse of A, symmetric and positive definite; apply NULL: none
    // Takes the null space of A out of v, where A has one: what rounding puts there no iteration takes away again, and
    // it grows until the solve diverges. NULL: there is none.
    void (*project)(void *user, float *v);
    // Whether the residual is small enough, where another measure than its 2-norm counts. NULL: the tolerance decides.
    bool (*enough)(void *user, const float *r);
    // Above 0: no eigenvalue of A (of M A, with a preconditioner) is below that. The solve then ends by its error: when
    // `near` says of x and of a bound of the error in the norm of A that they are enough. NULL: never by that.
    double least;
    bool (*near)(void *user, const float *x, double error);
    // b comes in as the residual of the first guess, which somebody has computed already: `tolerance` is relative to
    // that.
    bool begun;
    void *user;  // of project, enough and near
} rh_krylov;

typedef struct rh_krylov_report {
    int iterations;   // products with A, the first residual not counted
    double residual;  // |b - A x| / |b| in the 2-norm, of the recursion
    double error;     // the bound, where `least` is given
    bool converged;
} rh_krylov_report;

// x comes in as the first guess and goes out as the solution. b is destroyed: it holds the residual afterwards. Memory
// is the arena's and given back: three vectors. RH_NUMERIC only when the numbers are not finite; not converging is told
// in the report.
rh_code rh_krylov_cg(const rh_krylov *system, float *b, float *x, double tolerance, int max_iterations, rh_arena *arena,
                     rh_krylov_report *report, rh_status *status);
// x . y, the same for any number of threads: eight products at a time in float, blocks of fixed size, in double. `sums`
// has a place for each rh_blocks(size).
double rh_krylov_dot(int64_t size, const float *x, const float *y, double *sums);
