// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Jacobi's rotations, eight matrices at a time (G. H. Golub, C. F. Van Loan, "Matrix Computations", section 8.5).
#include "base/eigen.h"

enum { SWEEPS = 5 };  // convergence is quadratic: four leave 1e-7 off the diagonal at worst, the fifth is to be sure

// Off the diagonal, over the whole matrix: less is none. Far below rounding; but as convergence is quadratic, what is
// left soon leads to denormal numbers, with which a matrix took four times as long.
static const float NOTHING = 1e-12f;

// The rotation in the plane (p, q) that makes a[p][q] zero; r is the third axis.
static inline void rotate(rh_f8 a[3][3], rh_f8 v[3][3], rh_f8 least, int p, int q, int r)
{
    rh_f8 none = {0}, gap = a[q][q] - a[p][p];
    rh_f8 off = rh_f8_select(rh_f8_abs(a[p][q]) < least, none, a[p][q]);
    rh_f8 root = rh_f8_sqrt(gap * gap + 4 * off * off);
    rh_f8 below = rh_f8_select(gap < none, gap - root, gap + root);
    rh_f8 t = rh_f8_select(below == none, none, 2 * off / below);
    rh_f8 c = 1 / rh_f8_sqrt(1 + t * t), s = t * c;
    a[p][p] = a[p][p] - t * off;
    a[q][q] = a[q][q] + t * off;
    a[p][q] = a[q][p] = none;
    rh_f8 rp = a[r][p], rq = a[r][q];
    a[r][p] = a[p][r] = c * rp - s * rq;
    a[r][q] = a[q][r] = s * rp + c * rq;
    for (int k = 0; k < 3; k++) {
        rh_f8 vp = v[p][k], vq = v[q][k];
        v[p][k] = c * vp - s * vq;
        v[q][k] = s * vp + c * vq;
    }
}

static inline bool is_diagonal(rh_f8 m[3][3], rh_f8 least)
{
    rh_f8 most = rh_f8_max(rh_f8_max(rh_f8_abs(m[0][1]), rh_f8_abs(m[0][2])), rh_f8_abs(m[1][2]));
    return !rh_i8_bits((most >= least) & (most > rh_f8_all(0)));
}

static inline void order(rh_f8 values[3], rh_f8 v[3][3], int i, int j)
{
    rh_i8 swap = values[i] < values[j];
    rh_f8 low = rh_f8_select(swap, values[i], values[j]);
    values[i] = rh_f8_select(swap, values[j], values[i]);
    values[j] = low;
    for (int k = 0; k < 3; k++) {
        rh_f8 second = rh_f8_select(swap, v[i][k], v[j][k]);
        v[i][k] = rh_f8_select(swap, v[j][k], v[i][k]);
        v[j][k] = second;
    }
}

void rh_eigen3(const rh_f8 a[6], rh_f8 values[3], rh_f8 vectors[3][3])
{
    rh_f8 m[3][3] = {{a[0], a[3], a[4]}, {a[3], a[1], a[5]}, {a[4], a[5], a[2]}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) vectors[i][k] = rh_f8_all(i == k);
    rh_f8 least = rh_f8_all(0);
    for (int n = 0; n < 6; n++) least += NOTHING * rh_f8_abs(a[n]);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        rotate(m, vectors, least, 0, 1, 2);
        rotate(m, vectors, least, 0, 2, 1);
        rotate(m, vectors, least, 1, 2, 0);
        if (is_diagonal(m, least)) break;
    }
    for (int i = 0; i < 3; i++) values[i] = m[i][i];
    order(values, vectors, 0, 1);
    order(values, vectors, 1, 2);
    order(values, vectors, 0, 1);
    // The third vector once more, from the other two: swapping may have made a reflection.
    for (int k = 0; k < 3; k++) {
        int n = (k + 1) % 3, o = (k + 2) % 3;
        vectors[2][k] = vectors[0][n] * vectors[1][o] - vectors[0][o] * vectors[1][n];
    }
}
