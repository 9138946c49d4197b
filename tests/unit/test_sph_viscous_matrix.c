// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the source compares its solver with, on its own matrix (T. Takahashi, chapter 4; docs/sources.md): Jacobi
// sweeps, which serve for slight viscosity only, and conjugate gradients with a modified incomplete Cholesky factor,
// which take fewer iterations than plain ones but whose factor costs more than all of them. And that the matrix grows
// with the number of particles.
#include <stdlib.h>
#include <time.h>
#include "physics/sph/viscosity.h"
#include "sph_support.h"

typedef struct matrix {
    bench b;
    rh_sph_viscosity v;
    rh_sph_viscous a;
    int64_t blocks;
    double seconds;  // of the processor, to extract it
} matrix;

// A block of n^dimension particles, 0.2 off the lattice, of viscosity nu (d^2 a step), alone.
static void open_matrix(matrix *m, int dimension, int n, double nu)
{
    open_bench(&m->b, dimension, rh_d3(-1000, -1000, -1000), rh_d3(1000, 1000, 1000));
    int64_t all = (int64_t)n * n * (dimension == 3 ? n : 1);
    rh_status status = {0};
    assert_int_equal(rh_points_resize(&m->b.points, all, &status), RH_OK);
    rh_vec3 *x = rh_points_data(&m->b.points, "P", RH_POINT_VEC3F);
    for (int64_t i = 0; i < all; i++) {
        double at[3] = {(double)(i % n) + 0.5, (double)(i / n % n) + 0.5, (double)(i / n / n) + 0.5};
        for (int a = 0; a < 3; a++) at[a] += 0.2 * (2 * (double)rh_random(7, (uint64_t)i, 0, (uint32_t)a) - 1);
        x[i] = rh_v3((float)at[0], (float)at[1], dimension == 3 ? (float)at[2] : 0);
    }
    prepare(&m->b);
    m->v = (rh_sph_viscosity){.form = RH_SPH_STRESS,
                              .solver = RH_SPH_VISCOUS_ASSEMBLED,
                              .time = 1,
                              .kinematic = (float)nu,
                              .mass = 1,
                              .tolerance = 1e-4,
                              .max_iterations = 3000};
    rh_sph_viscous_law_init(&m->v.law, &m->b.kernel);
    clock_t begun = clock();
    assert_int_equal(rh_sph_viscous_make(&m->a, &m->b.fluid, &m->v, &m->b.arena, &status), RH_OK);
    m->seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    m->blocks = 0;
    uint32_t at;
    for (int64_t i = 0; i < all; i++)
        for (int64_t k = 0; rh_sph_viscous_matrix_block(&m->a, i, k, &at); k++) m->blocks++;
}

// --- the factor ------------------------------------------------------------------------------------------------------
// Modified incomplete Cholesky (R. Bridson, "Fluid Simulation for Computer Graphics", 2nd ed. 2015, section 5.4): what
// falls outside the pattern is taken from the diagonal, 0.97 of it, but not where little would be left. Dense for
// short: zeros are outside the pattern.
typedef struct factor {
    int size, dimension;  // of the system, of vectors
    double *l;            // [size size] columns of the lower triangle
    double keeps;         // of what falls outside: 0.97, or 0: not modified
    int64_t products;     // multiplications
} factor;

static void fill_factor(factor *f, const matrix *m)
{
    uint32_t at;
    const float *block;
    for (int i = 0; i < m->b.fluid.count; i++)
        for (int64_t n = 0; (block = rh_sph_viscous_matrix_block(&m->a, i, n, &at)); n++)
            for (int r = 0; r < f->dimension; r++)
                for (int c = 0; c < f->dimension; c++)
                    f->l[((int64_t)at * (uint32_t)f->dimension + c) * f->size + i * f->dimension + r] =
                        (double)block[3 * r + c] + (at == (uint32_t)i && r == c);
}

static void decompose(factor *f)
{
    int n = f->size;
    for (int k = 0; k < n; k++) {
        double *column = f->l + (int64_t)k * n, root = sqrt(column[k]);
        for (int i = k; i < n; i++) column[i] /= root;
        for (int j = k + 1; j < n; j++) {
            if (column[j] == 0) continue;
            double *to = f->l + (int64_t)j * n;
            for (int i = j; i < n; i++) {
                double less = column[i] * column[j];
                if (less == 0) continue;
                f->products++;
                if (to[i] != 0 || i == j) {
                    if (i != j || to[i] - less > 0.25 * to[i]) to[i] -= less;
                    continue;
                }
                double *other = f->l + (int64_t)i * n + i;
                if (to[j] - f->keeps * less > 0.25 * to[j]) to[j] -= f->keeps * less;
                if (*other - f->keeps * less > 0.25 * *other) *other -= f->keeps * less;
            }
        }
    }
}

static void by_factor(void *user, const float *r, float *z)
{
    const factor *f = user;
    int n = f->size, d = f->dimension;
    double *y = calloc((size_t)n, sizeof *y);
    assert_non_null(y);
    memset(z, 0, 4 * ((size_t)(n / d) + 1) * sizeof *z);
    for (int i = 0; i < n; i++) y[i] = (double)r[4 * (i / d) + i % d];
    for (int k = 0; k < n; k++) {
        const double *column = f->l + (int64_t)k * n;
        y[k] /= column[k];
        for (int i = k + 1; i < n; i++) y[i] -= column[i] * y[k];
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *column = f->l + (int64_t)k * n;
        for (int i = k + 1; i < n; i++) y[k] -= column[i] * y[i];
        y[k] /= column[k];
    }
    for (int i = 0; i < n; i++) z[4 * (i / d) + i % d] = (float)y[i];
    free(y);
}

static void apply(void *user, const float *x, float *y)
{
    const rh_sph_viscous *a = user;
    rh_sph_viscous_apply(a, x, y);
}

static int by_gradients(matrix *m, factor *f)
{
    int64_t size = rh_sph_viscous_size(&m->a);
    float *b = calloc((size_t)size + 32, sizeof *b), *x = calloc((size_t)size + 32, sizeof *x);
    rh_status status = {0};
    rh_krylov_report report;
    for (int64_t i = 0; i < 4 * m->b.fluid.count; i++)
        b[i] = i % 4 < m->b.around.dimension ? rh_random(4, (uint64_t)i, 0, 0) - 0.5f : 0;
    enum { MOST = 1000 };
    const rh_krylov k = {.a = {size, apply, &m->a}, .m = {size, f ? by_factor : NULL, f}};
    assert_int_equal(rh_krylov_cg(&k, b, x, 1e-4, MOST, &m->b.arena, &report, &status), RH_OK);
    free(b), free(x);
    return report.converged ? report.iterations : MOST;
}

// Sweeps x += D^-1 (b - A x); 1000: too many, or they go astray.
static int by_sweeps(const matrix *m)
{
    enum { MOST = 1000 };
    int64_t size = rh_sph_viscous_size(&m->a), count = m->b.fluid.count;
    float *b = calloc((size_t)size + 32, sizeof *b), *x = calloc((size_t)size + 32, sizeof *x),
          *y = calloc((size_t)size + 32, sizeof *y);
    int sweeps = 0;
    double left = 1, all = 0;
    for (int64_t i = 0; i < 4 * count; i++) {
        b[i] = i % 4 < m->b.around.dimension ? rh_random(4, (uint64_t)i, 0, 0) - 0.5f : 0;
        all += (double)(b[i] * b[i]);
    }
    for (; sweeps < MOST && left > 1e-8 && left < 1e8; sweeps++) {
        rh_sph_viscous_apply(&m->a, x, y);
        left = 0;
        for (int64_t i = 0; i < count; i++) {
            const float *v = m->a.inverse + 6 * i;
            float r[3];
            for (int k = 0; k < 3; k++) r[k] = b[4 * i + k] - y[4 * i + k], left += (double)(r[k] * r[k]) / all;
            x[4 * i] += v[0] * r[0] + v[1] * r[1] + v[2] * r[2];
            x[4 * i + 1] += v[1] * r[0] + v[3] * r[1] + v[4] * r[2];
            x[4 * i + 2] += v[2] * r[0] + v[4] * r[1] + v[5] * r[2];
        }
    }
    free(b), free(x), free(y);
    return left <= 1e-8 ? sweeps : MOST;
}

static void other_solvers(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (double nu = 0.1; nu < 200; nu *= 10) {
            matrix m;
            open_matrix(&m, dimension, dimension == 2 ? 20 : 7, nu);
            int plain = by_gradients(&m, NULL), sweeps = by_sweeps(&m), factored[2];
            double products = 0;
            for (int modified = 0; modified < 2; modified++) {
                factor f = {.size = dimension * (int)m.b.fluid.count, .dimension = dimension, .keeps = 0.97 * modified};
                f.l = calloc((size_t)f.size * (size_t)f.size, sizeof *f.l);
                assert_non_null(f.l);
                fill_factor(&f, &m);
                decompose(&f);
                factored[modified] = by_gradients(&m, &f);
                products = (double)f.products / (double)(m.blocks * dimension * dimension);
                free(f.l);
            }
            print_message(
                "%dD, %lld particles, nu %g: conjugate gradients %d, with a factor %d, modified %d (it costs %.0f "
                "products), sweeps %d\n",
                dimension, (long long)m.b.fluid.count, nu, plain, factored[0], factored[1], products, sweeps);
            assert_true(plain < 1000 && factored[0] < plain);
            if (nu < 0.2) assert_true(sweeps < 100);
            if (nu > 50) assert_true(sweeps == 1000);
            close_bench(&m.b);
        }
}

// RHEO_LONG: to a million, in some 8 GB, and times.
static void the_matrix_grows_with_the_particles(void **state)
{
    (void)state;
    double before = 0;
    for (int k = 0; k < (getenv("RHEO_LONG") ? 5 : 2); k++) {
        int n = (const int[]){10, 20, 30, 60, 100}[k];
        matrix m;
        open_matrix(&m, 3, n, 10);
        double inside = (double)m.blocks / pow(n - 1.6, 3);
        print_message("%d^3 particles: %.0f blocks a particle, %.0f inside; %.2g s, %.3g us a particle\n", n,
                      (double)m.blocks / (double)m.b.fluid.count, inside, m.seconds,
                      1e6 * m.seconds / (double)m.b.fluid.count);
        if (before > 0) assert_true(inside < 1.15 * before);
        before = inside;
        close_bench(&m.b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_solvers),
                                       cmocka_unit_test(the_matrix_grows_with_the_particles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
