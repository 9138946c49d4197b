// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Small dense symmetric systems, in double: the masses of rigid bodies, coarse spaces of solvers. Matrices are n by n
// in rows; only the lower triangle is read.
#pragma once
#include <stdbool.h>

// A = L L^T in place (the lower triangle). Directions along which A is, but for rounding, not positive are left out:
// their unknowns become 0 (rank-revealing without pivoting; for matrices whose null space follows coordinates).
void rh_cholesky(double *a, int n);
void rh_cholesky_solve(const double *l, int n, double *x);  // x comes in as the right-hand side
// The inverse of a symmetric matrix of at most RH_DENSE_SMALL rows, all of it; rows and columns left out as above are
// 0.
enum { RH_DENSE_SMALL = 16 };
void rh_symmetric_inverse(const double *a, int n, double *out);
