// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Cholesky's factorisation by rows (G. Golub, C. Van Loan, "Matrix Computations", 4.2).
#include "solve/dense.h"

#include <math.h>
#include <string.h>
#include "base/assert.h"

static const double NOTHING = 1e-12;  // of the diagonal before: what is left is rounding

void rh_cholesky(double *a, int n)
{
    RH_ASSERT(n >= 0);
    for (int i = 0; i < n; i++) {
        double *row = a + (long)i * n, whole = row[i];
        for (int j = 0; j < i; j++) {
            const double *other = a + (long)j * n;
            double sum = row[j];
            for (int k = 0; k < j; k++) sum -= row[k] * other[k];
            row[j] = other[j] > 0 ? sum / other[j] : 0;
        }
        for (int k = 0; k < i; k++) row[i] -= row[k] * row[k];
        bool there = row[i] > NOTHING * whole && whole > 0;
        row[i] = there ? sqrt(row[i]) : 0;
        if (!there) memset(row, 0, (size_t)i * sizeof *row);
    }
}

void rh_cholesky_solve(const double *l, int n, double *x)
{
    for (int i = 0; i < n; i++) {
        const double *row = l + (long)i * n;
        for (int k = 0; k < i; k++) x[i] -= row[k] * x[k];
        x[i] = row[i] > 0 ? x[i] / row[i] : 0;
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *row = l + (long)i * n;
        x[i] = row[i] > 0 ? x[i] / row[i] : 0;
        for (int k = 0; k < i; k++) x[k] -= row[k] * x[i];
    }
}

void rh_symmetric_inverse(const double *a, int n, double *out)
{
    double l[RH_DENSE_SMALL * RH_DENSE_SMALL], x[RH_DENSE_SMALL];
    RH_ASSERT(n <= RH_DENSE_SMALL);
    memcpy(l, a, (size_t)(n * n) * sizeof *l);
    rh_cholesky(l, n);
    for (int i = 0; i < n; i++) {
        memset(x, 0, sizeof x);
        x[i] = 1;
        rh_cholesky_solve(l, n, x);
        for (int j = 0; j < n; j++) out[j * n + i] = x[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) out[i * n + j] = out[j * n + i] = 0.5 * (out[i * n + j] + out[j * n + i]);
}
