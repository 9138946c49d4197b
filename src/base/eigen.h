// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Eigenvalues and eigenvectors of eight symmetric 3 x 3 matrices at once: cyclic Jacobi rotations (G. Golub, C. Van
// Loan, "Matrix Computations", 8.5), a fixed number of sweeps. In float: errors are a few 1e-7 of the largest
// eigenvalue.
#pragma once
#include "base/simd.h"

// `a` = xx yy zz xy xz yz. Values in descending order; vectors[i] is the unit vector of values[i], and the three are
// right-handed. A matrix that is not finite gives values that are not.
void rh_eigen3(const rh_f8 a[6], rh_f8 values[3], rh_f8 vectors[3][3]);
