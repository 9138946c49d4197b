// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Viscosity of smoothed particles: energies of linear velocity fields on the lattice, the operator's symmetry, what it
// conserves, and how many iterations it takes. Lengths are in particle spacings.
#include <stdlib.h>
#include "base/clock.h"
#include "physics/sph/viscosity.h"
#include "sph_support.h"

static const rh_dvec3 FAR_LOW = {-1000, -1000, -1000}, FAR_HIGH = {1000, 1000, 1000};  // nobody sees these walls

// A block of n^dimension particles, up to `jitter` off the lattice, that may touch the floor.
static void open_block(bench *b, int dimension, int n, double jitter, bool floor)
{
    open_bench(b, dimension, floor ? rh_d3(-1000, 0, -1000) : FAR_LOW, FAR_HIGH);
    int64_t all = (int64_t)n * n * (dimension == 3 ? n : 1);
    rh_status status = {0};
    assert_int_equal(rh_points_resize(&b->points, all, &status), RH_OK);
    rh_vec3 *x = rh_points_data(&b->points, "P", RH_POINT_VEC3F);
    for (int64_t m = 0; m < all; m++) {
        double at[3] = {(double)(m % n) + 0.5, (double)(m / n % n) + 0.5, (double)(m / n / n) + 0.5};
        for (int a = 0; a < 3; a++) at[a] += jitter * (2 * (double)rh_random(7, (uint64_t)m, 0, (uint32_t)a) - 1);
        x[m] = rh_v3((float)at[0], (float)at[1], dimension == 3 ? (float)at[2] : 0);
    }
    prepare(b);
}

static rh_sph_viscosity viscosity_of(const bench *b, rh_sph_viscous_form form, double nu)
{
    rh_sph_viscosity v = {
        .form = form, .time = 1, .kinematic = (float)nu, .mass = 1, .tolerance = 1e-4, .max_iterations = 3000};
    rh_sph_viscous_law_init(&v.law, &b->kernel);
    return v;
}

static void set_random(const bench *b, float *x, uint64_t seed)
{
    for (int64_t i = 0; i < 4 * b->fluid.count; i++)
        x[i] = i % 4 < b->around.dimension ? rh_random(seed, (uint64_t)i, 0, 0) - 0.5f : 0;
}

static double dot(const bench *b, const float *x, const float *y)
{
    double sum = 0;
    for (int64_t i = 0; i < 4 * b->fluid.count; i++) sum += (double)x[i] * (double)y[i];
    return sum;
}

// --- what it is
// -------------------------------------------------------------------------------------------------------- u = t (s .
// x)^2 with s across t has no divergence, and the force nu laplacian u = 2 nu t: on the lattice, inside, for any form.
// Along the axes and along the diagonals.
static void shear_flows_of_any_direction(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int form = 0; form < 3; form++)
            for (int turned = 0; turned < 2; turned++) {
                bench b;
                rh_sph_viscous a;
                rh_status status = {0};
                open_block(&b, dimension, 11, 0, false);
                rh_sph_viscosity v = viscosity_of(&b, (rh_sph_viscous_form)form, 1);
                assert_int_equal(rh_sph_viscous_make(&a, &b.fluid, &v, &b.arena, &status), RH_OK);
                float *x = take(&b, 4), *y = take(&b, 4);
                double r = turned ? sqrt(0.5) : 1, t[2] = {r, turned ? r : 0};
                for (int64_t i = 0; i < b.fluid.count; i++) {
                    double across = r * ((double)b.y[i] - 5.5) - (turned ? r * ((double)b.x[i] - 5.5) : 0);
                    for (int k = 0; k < 2; k++) x[4 * i + k] = (float)(t[k] * across * across);
                }
                rh_sph_viscous_apply(&a, x, y);
                int inside = 0;
                for (int64_t i = 0; i < b.fluid.count; i++) {
                    double far = fmax(fabs((double)b.x[i] - 5.5), fabs((double)b.y[i] - 5.5));
                    if (dimension == 3) far = fmax(far, fabs((double)b.z[i] - 5.5));
                    if (far > 1.1) continue;
                    inside++;
                    for (int k = 0; k < 2; k++)
                        assert_true(fabs((double)(y[4 * i + k] - x[4 * i + k]) + 2 * t[k]) < 1e-3);
                }
                assert_int_equal(inside, dimension == 2 ? 9 : 27);
                close_bench(&b);
            }
}

// Uneven particles of uneven viscosity beside a floor that holds them: y . A x = x . A y, x . A x >= x . x.
static void the_operator_is_symmetric(void **state)
{
    (void)state;
    const float grip = 1;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int form = 0; form < 3; form++) {
            bench b;
            rh_sph_viscous a;
            rh_status status = {0};
            open_block(&b, dimension, dimension == 2 ? 20 : 9, 0.3, true);
            rh_sph_viscosity v = viscosity_of(&b, (rh_sph_viscous_form)form, 0);
            float *of = take(&b, 1), *x = take(&b, 4), *y = take(&b, 4), *ax = take(&b, 4), *ay = take(&b, 4);
            for (int64_t i = 0; i < b.fluid.count; i++) of[i] = powf(10, 4 * rh_random(9, (uint64_t)i, 0, 0) - 1);
            v.of_particles = of, v.grip = &grip;
            if (form == RH_SPH_PAIRS) v.bulk = of;
            assert_int_equal(rh_sph_viscous_make(&a, &b.fluid, &v, &b.arena, &status), RH_OK);
            set_random(&b, x, 4), set_random(&b, y, 5);
            rh_sph_viscous_apply(&a, x, ax), rh_sph_viscous_apply(&a, y, ay);
            double xx = dot(&b, x, ax), yy = dot(&b, y, ay);
            assert_true(fabs(dot(&b, x, ay) - dot(&b, y, ax)) < 1e-6 * sqrt(xx * yy));
            assert_true(xx > 10 * dot(&b, x, x) && yy > 10 * dot(&b, y, y));
            close_bench(&b);
        }
}

// The source's matrix of neighbours of neighbours is the product of two loops.
static void assembled_is_matrix_free(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench b;
        rh_sph_viscous free_of, stored;
        rh_status status = {0};
        open_block(&b, dimension, dimension == 2 ? 20 : 9, 0.3, false);
        rh_sph_viscosity v = viscosity_of(&b, RH_SPH_STRESS, 0), w;
        float *of = take(&b, 1), *x = take(&b, 4), *y = take(&b, 4), *z = take(&b, 4);
        for (int64_t i = 0; i < b.fluid.count; i++) of[i] = 1 + (float)(i % 7);
        v.of_particles = of;
        w = v, w.solver = RH_SPH_VISCOUS_ASSEMBLED;
        assert_int_equal(rh_sph_viscous_make(&free_of, &b.fluid, &v, &b.arena, &status), RH_OK);
        assert_int_equal(rh_sph_viscous_make(&stored, &b.fluid, &w, &b.arena, &status), RH_OK);
        set_random(&b, x, 4);
        rh_sph_viscous_apply(&free_of, x, y), rh_sph_viscous_apply(&stored, x, z);
        assert_true(stored.matrix && !free_of.matrix);
        double most = 0;
        for (int64_t i = 0; i < 4 * b.fluid.count; i++) most = fmax(most, fabs((double)(y[i] - z[i])));
        assert_true(most < 3e-6 * sqrt(dot(&b, y, y)));
        close_bench(&b);
    }
}

// --- what it keeps
// ------------------------------------------------------------------------------------------------------
typedef struct kept {
    double linear[3], angular[3];  // sums
    double size;                   // of the velocities
} kept;

static kept momentum(const bench *b)
{
    kept k = {{0, 0, 0}, {0, 0, 0}, 0};
    for (int64_t i = 0; i < b->fluid.count; i++) {
        const float *u = b->fluid.flow + 4 * i;
        double x[3] = {b->x[i], b->y[i], b->z[i]};
        for (int a = 0; a < 3; a++) {
            int c = (a + 1) % 3, d = (a + 2) % 3;
            k.linear[a] += (double)u[a];
            k.angular[a] += x[c] * (double)u[d] - x[d] * (double)u[c];
            k.size += (double)(u[a] * u[a]);
        }
    }
    return k;
}

static int act(bench *b, const rh_sph_viscosity *v)
{
    rh_krylov_report report;
    rh_status status = {0};
    assert_int_equal(rh_sph_viscosity_act(&b->fluid, v, NULL, &b->arena, &report, &status), RH_OK);
    assert_true(report.converged);
    return report.iterations;
}

// Random velocities on uneven particles that nobody touches. Momentum stays with every form, angular momentum with
// pairs; with the stress of particles as far as rigid rotation has none, which is not so at surfaces.
static void momentum_is_kept(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int form = 0; form < 3; form++) {
            bench b;
            open_block(&b, dimension, dimension == 2 ? 24 : 9, 0.3, false);
            set_random(&b, b.fluid.flow, 4);
            for (int64_t i = 0; i < b.fluid.count; i++) b.fluid.flow[4 * i] += 0.02f * (b.y[i] - 5);
            kept before = momentum(&b);
            rh_sph_viscosity v = viscosity_of(&b, (rh_sph_viscous_form)form, 10);
            v.tolerance = 1e-6;
            float *bulk = take(&b, 1);
            for (int64_t i = 0; i < b.fluid.count; i++) bulk[i] = i % 3 ? 200 : 0;
            if (form == RH_SPH_PAIRS) v.bulk = bulk;
            act(&b, &v);
            kept after = momentum(&b);
            double off = 0, turned = 0, all = sqrt(before.size * (double)b.fluid.count);
            for (int a = 0; a < 3; a++) {
                off = fmax(off, fabs(after.linear[a] - before.linear[a]) / all);
                turned = fmax(turned, fabs(after.angular[a] - before.angular[a]) / (10 * all));
            }
            print_message("form %d in %d dimensions: momentum off by %.1e, angular by %.1e of all\n", form, dimension,
                          off, turned);
            assert_true(after.size < 0.2 * before.size && off < 1e-6);
            if (form == RH_SPH_PAIRS) assert_true(turned < 2e-6);
            close_bench(&b);
        }
}

// A thick block that rotates goes on rotating. The Laplacian stops it, and so does the stress of particles if it is
// thick enough: at surfaces their gradients take rotation for strain.
static void rotation_is_not_damped(void **state)
{
    (void)state;
    for (int form = 0; form < 3; form++) {
        bench b;
        open_block(&b, 3, 9, 0.2, false);
        for (int64_t i = 0; i < b.fluid.count; i++) {
            b.fluid.flow[4 * i] = -(b.y[i] - 4.5f), b.fluid.flow[4 * i + 1] = b.x[i] - 4.5f;
        }
        kept before = momentum(&b);
        rh_sph_viscosity v = viscosity_of(&b, (rh_sph_viscous_form)form, 1000);
        act(&b, &v);
        double left = momentum(&b).angular[2] / before.angular[2];
        print_message("rotation left by form %d: %.6f\n", form, left);
        if (form == RH_SPH_PAIRS) assert_true(fabs(left - 1) < 1e-5);
        else assert_true(left < 0.5);
        close_bench(&b);
    }
}

// Shear flow over a floor without slip, u = y (slip length l: y + l): every layer but the highest has no force on it.
static void walls_bear_the_stress(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int slides = 0; slides < 2; slides++) {
            bench b;
            rh_sph_viscous a;
            rh_status status = {0};
            const float length = slides ? 3 : 0, grip = 0.5f / (0.5f + length);
            open_block(&b, dimension, 9, 0, true);
            rh_sph_viscosity v = viscosity_of(&b, RH_SPH_PAIRS, 1);
            v.grip = &grip;
            assert_int_equal(rh_sph_viscous_make(&a, &b.fluid, &v, &b.arena, &status), RH_OK);
            float *x = take(&b, 4), *y = take(&b, 4);
            for (int64_t i = 0; i < b.fluid.count; i++) x[4 * i] = b.y[i] + length;
            rh_sph_viscous_apply(&a, x, y);
            for (int64_t i = 0; i < b.fluid.count; i++) {
                bool inside = fabs((double)b.x[i] - 4.5) < 2 && (dimension == 2 || fabs((double)b.z[i] - 4.5) < 2);
                if (inside && b.y[i] < 7) assert_true(fabsf(y[4 * i] - x[4 * i]) < 1e-3f);
            }
            close_bench(&b);
        }
}

// --- iterations
// --------------------------------------------------------------------------------------------------------- A block on
// a floor without slip that falls at 1 a step with random velocities of 1 on top; to 1e-4.
static int iterations(int dimension, int n, rh_sph_viscous_form form, rh_sph_viscous_solver solver, double nu,
                      double *seconds)
{
    bench b;
    const float grip = 1;
    float spin[3] = {0, 0, 0};
    open_block(&b, dimension, n, 0.2, true);
    set_random(&b, b.fluid.flow, 4);
    for (int64_t i = 0; i < b.fluid.count; i++) b.fluid.flow[4 * i + 1] -= 1;
    rh_sph_viscosity v = viscosity_of(&b, form, nu);
    v.solver = solver, v.grip = &grip, v.spin = spin;
    double clock = rh_seconds();
    int count = act(&b, &v);
    *seconds = rh_seconds() - clock;
    close_bench(&b);
    return count;
}

// The tolerance is the error of velocities: a solve to 1e-4 beside one to 1e-6.
static void tolerance_bounds_the_error(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int form = 0; form < 3; form++)
            for (double nu = 1; nu < 2e5; nu *= 100) {
                bench b;
                const float grip = 1;
                float spin[3] = {0, 0, 0};
                open_block(&b, dimension, dimension == 2 ? 40 : 12, 0.2, true);
                float *found[2] = {take(&b, 4), take(&b, 4)};
                set_random(&b, b.fluid.flow, 4);
                for (int64_t i = 0; i < b.fluid.count; i++) b.fluid.flow[4 * i + 1] -= 1;
                double size = sqrt(dot(&b, b.fluid.flow, b.fluid.flow));
                rh_sph_viscosity v = viscosity_of(&b, (rh_sph_viscous_form)form, nu);
                v.grip = &grip, v.spin = spin;
                for (int way = 0; way < 2; way++) {
                    set_random(&b, b.fluid.flow, 4);
                    for (int64_t i = 0; i < b.fluid.count; i++) b.fluid.flow[4 * i + 1] -= 1;
                    v.tolerance = way ? 1e-6 : 1e-4;
                    act(&b, &v);
                    memcpy(found[way], b.fluid.flow, 4 * (size_t)b.fluid.count * sizeof(float));
                }
                for (int64_t i = 0; i < 4 * b.fluid.count; i++) found[0][i] -= found[1][i];
                double off = sqrt(dot(&b, found[0], found[0])) / size;
                print_message("form %d in %d dimensions, nu %g: off by %.1e of the velocities\n", form, dimension, nu,
                              off);
                assert_true(off < 1e-4);
                close_bench(&b);
            }
}

// In units of the spacing and the step: water in 1 cm and 1 ms is 1e-5, honey 0.1, 1e5 Pa s 1000 and in steps of 20 ms
// 2e4. RHEO_LONG: to a million particles.
static void iterations_are_flat(void **state)
{
    (void)state;
    bool extra = getenv("RHEO_LONG") != NULL;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int size = 0; size < (extra ? 3 : 2); size++) {
            int n = dimension == 2 ? (const int[]){40, 160, 1000}[size] : (const int[]){10, 30, 100}[size];
            for (double nu = 0.1; nu < 2e5; nu *= 100) {
                double seconds[2] = {0, 0};
                int with = iterations(dimension, n, RH_SPH_PAIRS, RH_SPH_VISCOUS_LEVELS, nu, &seconds[0]), without = 0;
                if (size < 2 && nu < 20)
                    without = iterations(dimension, n, RH_SPH_PAIRS, RH_SPH_VISCOUS_DIAGONAL, nu, &seconds[1]);
                print_message("%d^%d particles, nu %g: %d iterations, %.2f s; diagonal %d, %.2f s\n", n, dimension, nu,
                              with, seconds[0], without, seconds[1]);
                assert_true(with <= 30);
            }
        }
}

// The source's form, with grids, by the diagonal, and by the diagonal with its matrix stored: RHEO_LONG prints times.
static void stress_by_three_ways(void **state)
{
    (void)state;
    static const char *const names[] = {"levels", "diagonal", "assembled"};
    for (int dimension = 2; dimension <= 3; dimension++)
        for (double nu = 1; nu < 2000; nu *= 30) {
            int n = getenv("RHEO_LONG") ? dimension == 2 ? 160 : 30 : dimension == 2 ? 40 : 10, found[3];
            for (int way = 0; way < 3; way++) {
                double seconds;
                found[way] = iterations(dimension, n, RH_SPH_STRESS, (rh_sph_viscous_solver)way, nu, &seconds);
                print_message("stress, %d^%d particles, nu %g, %s: %d iterations, %.2f s\n", n, dimension, nu,
                              names[way], found[way], seconds);
            }
            assert_true(abs(found[1] - found[2]) <= 2 + found[1] / 10);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shear_flows_of_any_direction), cmocka_unit_test(the_operator_is_symmetric),
        cmocka_unit_test(assembled_is_matrix_free),     cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(rotation_is_not_damped),       cmocka_unit_test(walls_bear_the_stress),
        cmocka_unit_test(tolerance_bounds_the_error),   cmocka_unit_test(iterations_are_flat),
        cmocka_unit_test(stress_by_three_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
