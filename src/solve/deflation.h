// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A few directions taken out of conjugate gradients and solved for directly: deflation (Y. Saad, M. Yeung, J. Erhel, F.
// Guyomarc'h, "A deflated version of the conjugate gradient algorithm", SIAM J. Sci. Comput. 21, 2000). Here they are
// the pressure around bodies so light that the term of low rank (term.h) dwarfs the operator along them: a
// preconditioner that knows the operator alone takes as many steps more as there are such bodies.
//
// Six directions a body, each zero but around its body and none beside another's, so that Z^T (A + term) Z falls into
// blocks of six by six.
#pragma once
#include "solve/term.h"

typedef struct rh_deflation {
    const rh_poisson *a;
    const rh_term *term;  // of the operator
    rh_term z;            // the directions; only its entries and scratch are used
    const float *zeros;   // a vector of the operator
    double *answer;   // [36 blocks]: scale (J^T Z)^T C of each body: the term's part of (A Z)^T v is this times J^T v
    double *inverse;  // [36 blocks]: of Z^T (A + term) Z
    double *parts, *left;  // scratch, [6 blocks]
} rh_deflation;

// x = Z (Z^T A Z)^-1 Z^T b: after that the residual has nothing along Z. x comes in as 0.
void rh_deflation_start(const rh_deflation *deflation, const float *b, float *x);
// z, which a preconditioner made of the residual r, becomes conjugate to Z, and answers what of r lies along Z. Returns
// by how much r . z grew but for what is conjugate (0 but for rounding).
double rh_deflation_correct(const rh_deflation *deflation, const float *r, float *z);
// out[6 blocks] = Z^T A v, without the term.
void rh_deflation_gather(const rh_deflation *deflation, const float *v, double *out);
