// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Built-in functions on matrices (rows one after the other). All arithmetic is in double, also for float matrices: they
// are small, and products of three or four floats lose half of their digits otherwise. Polar factors: N. Higham,
// "Computing the polar decomposition - with applications", SIAM J. Sci. Stat. Comput. 7 (1986), Newton's iteration X <-
// (s X + X^-T / s) / 2 with the scaling s = sqrt(|X^-1|_F / |X|_F). Eigenvalues: cyclic Jacobi rotations, G. Golub, C.
// Van Loan, "Matrix Computations", 8.5.
#include <float.h>
#include <math.h>
#include <string.h>
#include "lang/library/library.h"

static void widen(double *out, const float *in, int count)
{
    for (int i = 0; i < count; i++) out[i] = in[i];
}

static void narrow(float *out, const double *in, int count)
{
    for (int i = 0; i < count; i++) out[i] = (float)in[i];
}

static void transpose(double out[9], const double m[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) out[3 * c + r] = m[3 * r + c];
}

static double norm(const double *m, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += m[i] * m[i];
    return sqrt(sum);
}

// --- determinants and cofactors --------------------------------------------------------------------------------------

void rh_lang_cofactor_d(double *out, const double *m)
{
    double c[9];
    for (int r = 0; r < 3; r++) {
        const double *a = m + 3 * ((r + 1) % 3), *b = m + 3 * ((r + 2) % 3);
        for (int k = 0; k < 3; k++) c[3 * r + k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
    memcpy(out, c, sizeof c);
}

void rh_lang_adjoint_d(double *out, const double *m)
{
    double c[9];
    rh_lang_cofactor_d(c, m);
    transpose(out, c);
}

double rh_lang_determinant_3d(const double *m)
{
    double c[9];
    rh_lang_cofactor_d(c, m);
    return m[0] * c[0] + m[1] * c[1] + m[2] * c[2];
}

// By the 2 x 2 minors of the upper and the lower two rows (Laplace).
double rh_lang_determinant_4d(const double *m)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 4; j++) {
            int k = i == 0 ? (j == 1 ? 2 : 1) : 0, l = 6 - i - j - k;
            double upper = m[i] * m[4 + j] - m[j] * m[4 + i], lower = m[8 + k] * m[12 + l] - m[8 + l] * m[12 + k];
            sum += (i + j) % 2 == 1 ? upper * lower : -upper * lower;
        }
    return sum;
}

static bool invert(double out[9], const double m[9])
{
    double det = rh_lang_determinant_3d(m);
    if (det == 0 || !isfinite(1 / det)) return false;
    double adjoint[9];
    rh_lang_adjoint_d(adjoint, m);
    for (int i = 0; i < 9; i++) out[i] = adjoint[i] / det;
    return true;
}

void rh_lang_inverse_d(double *out, const double *m)
{
    double inverse[9];
    memcpy(out, invert(inverse, m) ? inverse : m, sizeof inverse);
}

// --- scales ----------------------------------------------------------------------------------------------------------

void rh_lang_prescale_d(double *m, const double *scale)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) m[4 * r + c] *= scale[r];
}

void rh_lang_postscale_d(double *m, const double *scale)
{
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 3; c++) m[4 * r + c] *= scale[c];
}

// --- polar factors ---------------------------------------------------------------------------------------------------

enum { POLAR_STEPS = 64 };  // converges quadratically: ten are enough for a condition of 1e12

static bool newton_step(double x[9], double *change)
{
    double inverse[9], inverse_transposed[9];
    if (!invert(inverse, x)) return false;
    transpose(inverse_transposed, inverse);
    double size = norm(x, 9), scale = sqrt(norm(inverse, 9) / size), moved = 0;
    if (!isfinite(scale) || scale == 0) return false;
    for (int i = 0; i < 9; i++) {
        double next = 0.5 * (scale * x[i] + inverse_transposed[i] / scale);
        moved += (next - x[i]) * (next - x[i]);
        x[i] = next;
    }
    *change = sqrt(moved) / size;
    return true;
}

bool rh_lang_polardecompose_d(const double *m, double *unitary, double *symmetric)
{
    double x[9], h[9], change = 1;
    memcpy(x, m, sizeof x);
    for (int step = 0; change > 4 * DBL_EPSILON; step++)
        if (step == POLAR_STEPS || !newton_step(x, &change)) return false;
    for (int r = 0; r < 3; r++)  // H = X^T M, made symmetric to the last bit
        for (int c = 0; c < 3; c++) h[3 * r + c] = x[r] * m[c] + x[3 + r] * m[3 + c] + x[6 + r] * m[6 + c];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) symmetric[3 * r + c] = 0.5 * (h[3 * r + c] + h[3 * c + r]);
    memcpy(unitary, x, sizeof x);
    return true;
}

// --- eigenvalues -----------------------------------------------------------------------------------------------------

enum { JACOBI_SWEEPS = 16 };

static void rotate(double a[9], double v[9], int p, int q)
{
    double off = a[3 * p + q];
    if (off == 0) return;
    double theta = (a[3 * q + q] - a[3 * p + p]) / (2 * off);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1)), c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; k++) {  // columns
        double kp = a[3 * k + p], kq = a[3 * k + q];
        a[3 * k + p] = c * kp - s * kq, a[3 * k + q] = s * kp + c * kq;
    }
    for (int k = 0; k < 3; k++) {  // rows, and the rows of v
        double pk = a[3 * p + k], qk = a[3 * q + k], vp = v[3 * p + k], vq = v[3 * q + k];
        a[3 * p + k] = c * pk - s * qk, a[3 * q + k] = s * pk + c * qk;
        v[3 * p + k] = c * vp - s * vq, v[3 * q + k] = s * vp + c * vq;
    }
    a[3 * p + q] = a[3 * q + p] = 0;
}

// The lower half is not read. False when there is a component that is not finite; the outputs are then left alone.
bool rh_lang_eigen_d(const double *m, double *values, double *vectors)
{
    double a[9] = {m[0], m[1], m[2], m[1], m[4], m[5], m[2], m[5], m[8]}, v[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    if (!isfinite(norm(a, 9))) return false;
    for (int sweep = 0; sweep < JACOBI_SWEEPS; sweep++) rotate(a, v, 0, 1), rotate(a, v, 0, 2), rotate(a, v, 1, 2);
    double diagonal[3] = {-a[0], -a[4], -a[8]};
    int order[3] = {0, 1, 2};
    for (int last = 1; last < 3; last++)
        for (int i = last; i > 0 && diagonal[order[i]] < diagonal[order[i - 1]]; i--) {
            int swap = order[i];
            order[i] = order[i - 1], order[i - 1] = swap;
        }
    for (int i = 0; i < 3; i++) {
        values[i] = -diagonal[order[i]];
        memcpy(vectors + 3 * i, v + 3 * order[i], 3 * sizeof(double));
    }
    return true;
}

// --- for floats ------------------------------------------------------------------------------------------------------

float rh_lang_determinant_3f(const float *m)
{
    double wide[9];
    widen(wide, m, 9);
    return (float)rh_lang_determinant_3d(wide);
}

float rh_lang_determinant_4f(const float *m)
{
    double wide[16];
    widen(wide, m, 16);
    return (float)rh_lang_determinant_4d(wide);
}

#define IN_FLOAT(name)                        \
    void name##_f(float *out, const float *m) \
    {                                         \
        double wide[9];                       \
        widen(wide, m, 9);                    \
        name##_d(wide, wide);                 \
        narrow(out, wide, 9);                 \
    }
IN_FLOAT(rh_lang_cofactor)
IN_FLOAT(rh_lang_adjoint)
IN_FLOAT(rh_lang_inverse)

void rh_lang_prescale_f(float *m, const float *scale)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) m[4 * r + c] *= scale[r];
}

void rh_lang_postscale_f(float *m, const float *scale)
{
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 3; c++) m[4 * r + c] *= scale[c];
}

bool rh_lang_polardecompose_f(const float *m, float *unitary, float *symmetric)
{
    double wide[9], x[9], h[9];
    widen(wide, m, 9);
    if (!rh_lang_polardecompose_d(wide, x, h)) return false;
    narrow(unitary, x, 9), narrow(symmetric, h, 9);
    return true;
}

bool rh_lang_eigen_f(const float *m, float *values, float *vectors)
{
    double wide[9], w[3], v[9];
    widen(wide, m, 9);
    if (!rh_lang_eigen_d(wide, w, v)) return false;
    narrow(values, w, 3), narrow(vectors, v, 9);
    return true;
}
