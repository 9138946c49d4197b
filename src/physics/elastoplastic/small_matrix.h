// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// 3 x 3 matrices of floats, rows, one at a time. Symmetric ones: xx yy zz xy xz yz.
#pragma once
#include <math.h>
#include "base/eigen.h"

typedef struct rh_matrix_axes {
    float value[3], vector[3][3];  // descending; unit vectors
} rh_matrix_axes;

static inline void rh_matrix_times(const float a[9], const float b[9], float out[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] = a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c];
}

// a b^T
static inline void rh_matrix_times_turned(const float a[9], const float b[9], float out[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] = a[3 * r] * b[3 * c] + a[3 * r + 1] * b[3 * c + 1] + a[3 * r + 2] * b[3 * c + 2];
}

// a^T b
static inline void rh_matrix_turned_times(const float a[9], const float b[9], float out[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) out[3 * r + c] = a[r] * b[c] + a[3 + r] * b[3 + c] + a[6 + r] * b[6 + c];
}

// a times a symmetric one.
static inline void rh_matrix_times_symmetric(const float a[9], const float k[6], float out[9])
{
    for (int n = 0; n < 3; n++) {
        const float *r = a + 3 * n;
        out[3 * n] = r[0] * k[0] + r[1] * k[3] + r[2] * k[4];
        out[3 * n + 1] = r[0] * k[3] + r[1] * k[1] + r[2] * k[5];
        out[3 * n + 2] = r[0] * k[4] + r[1] * k[5] + r[2] * k[2];
    }
}

static inline float rh_matrix_determinant(const float a[9])
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) + a[1] * (a[5] * a[6] - a[3] * a[8]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

// Returns the determinant.
static inline float rh_matrix_invert(const float a[9], float out[9])
{
    float x = a[4] * a[8] - a[5] * a[7], y = a[5] * a[6] - a[3] * a[8], z = a[3] * a[7] - a[4] * a[6];
    float det = a[0] * x + a[1] * y + a[2] * z, by = 1 / det;
    out[0] = by * x, out[3] = by * y, out[6] = by * z;
    out[1] = by * (a[2] * a[7] - a[1] * a[8]), out[4] = by * (a[0] * a[8] - a[2] * a[6]);
    out[7] = by * (a[1] * a[6] - a[0] * a[7]);
    out[2] = by * (a[1] * a[5] - a[2] * a[4]), out[5] = by * (a[2] * a[3] - a[0] * a[5]);
    out[8] = by * (a[0] * a[4] - a[1] * a[3]);
    return det;
}

static inline rh_matrix_axes rh_matrix_axes_of(const float k[6])
{
    rh_f8 in[6], values[3], vectors[3][3];
    rh_matrix_axes out;
    for (int n = 0; n < 6; n++) in[n] = rh_f8_all(k[n]);
    rh_eigen3(in, values, vectors);
    for (int a = 0; a < 3; a++) {
        out.value[a] = values[a][0];
        for (int b = 0; b < 3; b++) out.vector[a][b] = vectors[a][b][0];
    }
    return out;
}

// Of a a^T.
static inline rh_matrix_axes rh_matrix_axes_of_square(const float a[9])
{
    float s[9];
    rh_matrix_times_turned(a, a, s);
    return rh_matrix_axes_of((const float[6]){s[0], s[4], s[8], s[1], s[2], s[5]});
}

// Bounds of the eigenvalues of a a^T, without finding them: mean -+ sqrt(2/3) |rest|, which one of the two is when two
// of the three are equal.
static inline void rh_matrix_bounds_of_square(const float a[9], float *least, float *most)
{
    float s[9];
    rh_matrix_times_turned(a, a, s);
    float mean = (s[0] + s[4] + s[8]) / 3, x = s[0] - mean, y = s[4] - mean, z = s[8] - mean;
    float rest = x * x + y * y + z * z + 2 * (s[1] * s[1] + s[2] * s[2] + s[5] * s[5]), way = sqrtf(rest * (2.f / 3));
    *least = mean - way, *most = mean + way;
}
