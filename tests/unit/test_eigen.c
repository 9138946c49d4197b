// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Eigenvalues and axes of symmetric 3 x 3 matrices, eight at a time: A q = v q, orthonormal axes and descending values,
// of random matrices and of the special ones where closed forms fail.
#include "support.h"
#include "base/eigen.h"

static void check(const rh_f8 a[6], int lane)
{
    rh_f8 s[3], v[3][3];
    rh_eigen3(a, s, v);
    double scale = 0;
    for (int i = 0; i < 3; i++) scale = fmax(scale, fabs((double)s[i][lane]));
    const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double product = 0, dot = 0;
            for (int n = 0; n < 3; n++) {
                product += (double)a[at[k][n]][lane] * v[i][n][lane];
                dot += (double)v[i][n][lane] * v[k][n][lane];
            }
            assert_near(product, (double)s[i][lane] * v[i][k][lane], 3e-6 * scale + 1e-30);
            assert_near(dot, i == k, 3e-6);
        }
    assert_true(s[0][lane] >= s[1][lane] && s[1][lane] >= s[2][lane]);
    double det = 0;
    for (int k = 0; k < 3; k++) {
        int n = (k + 1) % 3, o = (k + 2) % 3;
        det += v[2][k][lane] * ((double)v[0][n][lane] * v[1][o][lane] - (double)v[0][o][lane] * v[1][n][lane]);
    }
    assert_near(det, 1, 1e-5);
}

static void random_matrices(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 2000; n++) {
        rh_f8 a[6];
        for (int i = 0; i < 6; i++)
            for (int l = 0; l < 8; l++)
                a[i][l] = support_random(n * 8 + (uint64_t)l, (uint32_t)i) * (n % 3 == 0 && i > 2 ? 1e-4f : 1);
        for (int l = 0; l < 8; l++) check(a, l);
    }
}

// Zero, multiples of the identity, equal pairs, planes and lines: where formulas in closed form fail.
static void special_matrices(void **state)
{
    (void)state;
    static const float cases[8][6] = {{0, 0, 0, 0, 0, 0},
                                      {2, 2, 2, 0, 0, 0},
                                      {1, 1, 3, 0, 0, 0},
                                      {1, 1, 0, 1, 0, 0},
                                      {1, 1, 1, 1, 1, 1},
                                      {1e-20f, 2e-20f, 3e-20f, 1e-21f, 0, 0},
                                      {1e15f, 1e15f, 0, 0, 0, 1e14f},
                                      {-1, -2, -3, 0.5f, 0, 0}};
    rh_f8 a[6];
    for (int i = 0; i < 6; i++)
        for (int l = 0; l < 8; l++) a[i][l] = cases[l][i];
    for (int l = 0; l < 8; l++) check(a, l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_matrices), cmocka_unit_test(special_matrices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
