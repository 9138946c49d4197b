// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parts of smoothed particles: sums of the kernels over the lattice and beside a flat wall against values computed
// apart, lists against all pairs, and the symmetry of the pressure's system. Lengths are in particle spacings.
#include "physics/time_step.h"
#include "sph_support.h"

static const rh_dvec3 FAR_LOW = {-100, 0, -100}, FAR_HIGH = {100, 100, 100};  // a floor, in effect

static int64_t particle_at(const bench *b, double x, double y, double z)
{
    for (int64_t i = 0; i < b->fluid.count; i++)
        if (fabs((double)b->x[i] - x) + fabs((double)b->y[i] - y) + fabs((double)b->z[i] - z) < 1e-3) return i;
    fail_msg("no particle at %g %g %g", x, y, z);
    return -1;
}

static bool near_to(double found, double expected, double most) { return fabs(found - expected) <= most; }

// Values of the lattice, computed apart from this code by plain sums in double.
static void sums_over_the_lattice(void **state)
{
    (void)state;
    rh_sph_kernel k;
    make_kernel(&k, 3, 1, true);
    assert_true(near_to((double)k.volume, 0.990319, 1e-6) && near_to((double)k.number, 12.208167, 1e-5));
    assert_true(near_to((double)k.stiffness, 3.967924, 1e-5) && near_to((double)k.gradient, 0.947032, 1e-5));
    assert_true(near_to((double)k.flat_volume, 1.601987, 1e-5) && near_to((double)k.depth, 0.653, 1e-3));
    assert_true(near_to((double)k.mirror, 2 * 0.89637, 2e-3));
    make_kernel(&k, 2, 0.5, true);  // volumes go with the spacing
    assert_true(near_to((double)k.volume, 0.25 * 0.985598, 1e-6) && near_to((double)k.gradient, 0.873695, 1e-5));
    assert_true(near_to((double)k.flat_volume, 0.25 * 1.703915, 1e-5) && near_to((double)k.mirror, 2 * 0.9044, 2e-3));
}

// Density of a site of the lattice, stretched by e^s along one direction of the x-y plane and e^-s across it; at 45
// degrees to the lattice or along it.
static double sheared(const rh_sph_kernel *k, double s, bool oblique)
{
    double sum = 0, c = oblique ? sqrt(0.5) : 1, n = oblique ? sqrt(0.5) : 0;
    int deep = k->dimension == 3 ? 3 : 0;
    for (int i = -3; i <= 3; i++)
        for (int j = -3; j <= 3; j++)
            for (int l = -deep; l <= deep; l++) {
                double along = (c * i + n * j) * exp(s), across = (c * j - n * i) * exp(-s);
                sum += (double)k->volume * (double)rh_sph_value_of(k, (float)(along * along + across * across + l * l));
            }
    return sum;
}

// The mean over directions of the second derivative by s. Of the strains without change of volume those along axes are
// one of two in the plane and two of five in space, the others are oblique; any is a sum of these.
static double shear_density(const rh_sph_kernel *k)
{
    const double s = 0.05, axes = k->dimension == 3 ? 0.4 : 0.5;
    double along = sheared(k, s, false) + sheared(k, -s, false) - 2 * sheared(k, 0, false),
           oblique = sheared(k, s, true) + sheared(k, -s, true) - 2 * sheared(k, 0, true);
    return (axes * along + (1 - axes) * oblique) / (s * s);
}

// Values of wendland computed apart. The isochoric kernel's slope is that of its value, too.
static void shear_leaves_the_density(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        rh_sph_kernel k[2];
        for (int n = 0; n < 2; n++)
            rh_sph_kernel_init(&k[n], &(rh_sph_kernel_options){dimension, 1, 2, n ? RH_SPH_WENDLAND : RH_SPH_ISOCHORIC,
                                                               1e9, 1e9, true});
        print_message("density by shear, %dD: isochoric %.3f, wendland %.3f\n", dimension, shear_density(&k[0]),
                      shear_density(&k[1]));
        assert_true(fabs(shear_density(&k[0])) < 0.08);
        assert_true(near_to(shear_density(&k[1]), dimension == 3 ? 0.37 : 0.22, 0.01));
        for (float r = 0.2f; r < 2; r += 0.3f) {
            double low = (double)rh_sph_value_of(&k[0], (r - 0.01f) * (r - 0.01f)),
                   high = (double)rh_sph_value_of(&k[0], (r + 0.01f) * (r + 0.01f)),
                   slope = (double)(r * rh_sph_slope(&k[0], rh_f8_all(r))[0]);
            assert_true(near_to((low - high) / 0.02, slope, 2e-3 * (double)k[0].value));
        }
    }
}

// A lattice on a flat floor: the gap between the lowest particles and the samples decides density and wall terms.
// Values of the half-space in space, computed apart. (The regularised term also for a gap of 0.7: 0.505 with all
// volumes at rest, 0.417 here with those of the compressed particles.)
static void a_flat_wall(void **state)
{
    (void)state;
    const double gap[4] = {0.7, 1.0, 1.1, 1.2}, density[4] = {1.399, 1.118, 1.038, 0.969},
                 term[2][4] = {{0.417, 0.091, 0.009, 0}, {0.759, 0.469, 0.344, 0.226}};
    for (int n = 0; n < 4; n++)
        for (int wall = 0; wall < 2; wall++) {
            bench b;
            rh_sph_system s;
            rh_status status = {0};
            open_bench(&b, 3, FAR_LOW, FAR_HIGH);
            fill(&b, 9, 4, gap[n] - (double)b.kernel.depth - 0.5, 0);
            prepare(&b);
            int64_t i = particle_at(&b, 4.5, gap[n] - (double)b.kernel.depth, 4.5);
            const rh_sph_solve_options o = {.wall_term = wall};
            assert_int_equal(rh_sph_system_make(&s, &b.fluid, &o, &b.arena, &status), RH_OK);
            assert_true(near_to((double)b.fluid.density[i], density[n], 1e-3));
            assert_true(near_to((double)s.wall[i], term[wall][n], 4.5e-3));
            close_bench(&b);
        }
}

// With the depth that the kernel finds, a lattice that begins half a spacing from a wall has the density of rest.
static void a_tank_is_filled_as_drawn(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench b;
        open_bench(&b, dimension, rh_d3(0, 0, 0), rh_d3(12, 20, 12));
        fill(&b, 12, 8, 0, 0);
        prepare(&b);
        double z = dimension == 3 ? 6.5 : 0;
        assert_true(near_to((double)b.fluid.density[particle_at(&b, 6.5, 0.5, z)], 1, 1e-4));
        assert_true(near_to((double)b.fluid.density[particle_at(&b, 0.5, 4.5, z)], 1, 1e-4));
        assert_true(near_to((double)b.fluid.density[particle_at(&b, 6.5, 4.5, z)], 1, 1e-5));
        assert_true(near_to((double)b.fluid.density[particle_at(&b, 0.5, 0.5, z)], 1, 0.08));  // in a corner
        close_bench(&b);
    }
}

// Every list has all that is near, and densities are the sums of all.
static void check_lists(const bench *b)
{
    const rh_sph_list *list = &b->lists.fluid;
    for (int64_t i = 0; i < b->fluid.count; i++) {
        int found = 0, expected = 0;
        double sum = 0;
        for (uint64_t n = 8 * (uint64_t)list->first[i]; n < 8 * (uint64_t)list->first[i + 1]; n++) {
            uint32_t j = list->near[n];
            if (j == list->nobody) continue;
            float x = b->x[i] - b->x[j], y = b->y[i] - b->y[j], z = b->z[i] - b->z[j];
            assert_true(j != i && x * x + y * y + z * z < 4);
            found++;
        }
        for (int64_t j = 0; j < b->fluid.count; j++) {
            float x = b->x[i] - b->x[j], y = b->y[i] - b->y[j], z = b->z[i] - b->z[j];
            expected += j != i && x * x + y * y + z * z < 4;
            sum += (double)rh_sph_value_of(&b->kernel, x * x + y * y + z * z);
        }
        assert_int_equal(found, expected);
        assert_true(b->fluid.covered[i] > 0 ||
                    near_to((double)b->fluid.density[i] / ((double)b->kernel.volume * sum), 1, 1e-5));
    }
}

static void lists_are_all_pairs(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench b;
        open_bench(&b, dimension, rh_d3(0, 0, 0), rh_d3(9, 20, 9));
        fill(&b, 9, 9, 0, 0.3);
        prepare(&b);
        check_lists(&b);
        close_bench(&b);
    }
}

// More candidates around a cell than are held at a time, and lists that do not fit where the first pass keeps them.
static void lists_of_a_crowd(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench b;
        open_bench(&b, dimension, rh_d3(0, 0, 0), rh_d3(40, 40, 40));
        for (uint64_t n = 0; n < 1600; n++) {
            double at[3];
            for (uint32_t a = 0; a < 3; a++) at[a] = 18 + 3 * (double)rh_random(9, n, 0, a);
            add(&b, at[0], at[1], dimension == 3 ? at[2] : 0);
        }
        prepare(&b);
        assert_true(b.lists.fluid.first[b.fluid.count] > 6 * b.fluid.count);
        check_lists(&b);
        close_bench(&b);
    }
}

// y . A x = x . A y to rounding, and x . A x > 0.
static void the_system_is_symmetric(void **state)
{
    (void)state;
    for (int wall = 0; wall < 2; wall++) {
        bench b;
        rh_sph_system s;
        rh_status status = {0};
        open_bench(&b, 3, rh_d3(0, 0, 0), rh_d3(9, 20, 9));
        fill(&b, 9, 9, 0, 0.2);
        prepare(&b);
        for (int64_t i = 0; i < b.fluid.count; i++) b.fluid.excess[i] = rh_random(3, (uint64_t)i, 0, 0) - 0.2f;
        const rh_sph_solve_options o = {.wall_term = wall};
        assert_int_equal(rh_sph_system_make(&s, &b.fluid, &o, &b.arena, &status), RH_OK);
        assert_true(s.unknowns > 300 && s.unknowns < b.fluid.count);
        float *x = take(&b, 1), *y = take(&b, 1), *ax = take(&b, 1), *ay = take(&b, 1);
        for (int64_t i = 0; i < b.fluid.count; i++) {
            x[i] = s.unknown[i] ? rh_random(4, (uint64_t)i, 0, 0) - 0.5f : 0;
            y[i] = s.unknown[i] ? rh_random(5, (uint64_t)i, 0, 0) - 0.5f : 0;
        }
        double xx = rh_sph_system_apply(&s, x, ax), yy = rh_sph_system_apply(&s, y, ay), xy = 0, yx = 0;
        for (int64_t i = 0; i < b.fluid.count; i++)
            xy += (double)x[i] * (double)ay[i], yx += (double)y[i] * (double)ax[i];
        assert_true(xx > 0 && yy > 0 && fabs(xy - yx) < 1e-6 * sqrt(xx * yy));
        close_bench(&b);
    }
}

// Two particles alone in the air have no pressure; two on a floor that press on it do, by the solution of their system.
static void a_pair(void **state)
{
    (void)state;
    rh_status status = {0};
    for (int on_floor = 0; on_floor < 2; on_floor++) {
        bench b;
        rh_sph_solved solved;
        open_bench(&b, 3, FAR_LOW, FAR_HIGH);
        double y = on_floor ? 0.2 : 50;
        add(&b, 0.5, y, 0.5);
        add(&b, 1.4, y, 0.5);
        prepare(&b);
        for (int i = 0; i < 2; i++) b.fluid.excess[i] = on_floor ? 0.1f * (float)(i + 1) : -0.5f;
        const rh_sph_solve_options o = {.tolerance = 1e-7, .max_iterations = 100};
        rh_sph_system s;
        assert_int_equal(rh_sph_system_make(&s, &b.fluid, &o, &b.arena, &status), RH_OK);
        double a = (double)s.links[0], k1 = (double)s.wall[0], k2 = (double)s.wall[1], f1 = (double)b.fluid.excess[0],
               f2 = (double)b.fluid.excess[1];
        assert_int_equal(rh_sph_solve_isph(&b.fluid, &o, &b.arena, &solved, &status), RH_OK);
        assert_true(solved.converged);
        assert_int_equal(solved.unknowns, on_floor ? 2 : 0);
        double expected = on_floor ? (a * (f1 + f2) + k2 * f1) / (a * (k1 + k2) + k1 * k2) : 0;
        assert_true(on_floor ? k1 > 0 && near_to((double)b.fluid.q[0], expected, 1e-4 * expected) : b.fluid.q[0] == 0);
        close_bench(&b);
    }
}

// Where liquid may lie (T. Takahashi, figure 2.2): a drop in the air, on a floor, on a solid with air all around it.
// The system has a solution whoever has pressure 0, even when all of a drop in the air is too dense: then one gets it.
static void a_drop_anywhere(void **state)
{
    (void)state;
    rh_status status = {0};
    for (int n = 0; n < 12; n++) {
        bench b;
        rh_sph_solved solved;
        bool in_air = n % 3 == 0, island = n % 3 == 2, all = n / 3 % 2;
        open_bench(&b, 3, island ? rh_d3(0, 0, 0) : FAR_LOW, island ? rh_d3(5, 4, 5) : FAR_HIGH);
        b.solid.inside_out = !island;
        fill(&b, 5, 5, in_air ? 50 : island ? 4 : 0, 0.1);
        prepare(&b);
        for (int64_t i = 0; i < b.fluid.count; i++)
            b.fluid.excess[i] = all || b.fluid.density[i] > 0.9f ? 0.05f : -0.2f;
        const rh_sph_solve_options o = {.tolerance = 1e-6,
                                        .max_iterations = 300,
                                        .wall_term = n / 6,
                                        .surface = RH_SPH_SOURCE,
                                        .levels = n / 6 == 1};
        assert_int_equal(rh_sph_solve_isph(&b.fluid, &o, &b.arena, &solved, &status), RH_OK);
        assert_true(solved.converged && solved.unknowns > 0);
        if (all) assert_int_equal(solved.unknowns, b.fluid.count - in_air);
        float most = 0;
        for (int64_t i = 0; i < b.fluid.count; i++) most = rh_max_of(most, b.fluid.q[i]);
        assert_true(most > 0.01f && most < 100);
        close_bench(&b);
    }
}

// One in a hundred goes at twice the speed of the others: it halves the step, but not while it flies; at five times
// their speed it halves it even so. Speeds are known to 3 %.
static void what_flies_may_go_farther(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    rh_status status = {0};
    rh_points points;
    rh_obstacles nothing = {.count = 0};
    const rh_surroundings around = {.dimension = 3, .cell = 1, .obstacles = &nothing};
    float pressed[COUNT];
    rh_points_init(&points);
    assert_int_equal(rh_points_add(&points, "v", RH_POINT_VEC3F, &status), RH_OK);
    assert_int_equal(rh_points_resize(&points, COUNT, &status), RH_OK);
    rh_vec3 *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    for (int i = 0; i < COUNT; i++) v[i] = rh_v3(0, -1, 0), pressed[i] = 1;
    double usual = rh_time_step_limit(0.2, &around, &points);
    v[7].y = 2;
    assert_true(near_to(rh_time_step_limit(0.2, &around, &points) / usual, 0.5, 0.02));
    assert_true(near_to(rh_time_step_limit_in_flight(0.2, 2.5, pressed, &around, &points) / usual, 0.5, 0.02));
    pressed[7] = 0;
    assert_true(near_to(rh_time_step_limit_in_flight(0.2, 2.5, pressed, &around, &points) / usual, 1, 0.04));
    v[7].y = 5;
    assert_true(near_to(rh_time_step_limit_in_flight(0.2, 2.5, pressed, &around, &points) / usual, 0.5, 0.02));
    rh_points_free(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_over_the_lattice),
                                       cmocka_unit_test(shear_leaves_the_density),
                                       cmocka_unit_test(a_flat_wall),
                                       cmocka_unit_test(a_tank_is_filled_as_drawn),
                                       cmocka_unit_test(lists_are_all_pairs),
                                       cmocka_unit_test(lists_of_a_crowd),
                                       cmocka_unit_test(what_flies_may_go_farther),
                                       cmocka_unit_test(the_system_is_symmetric),
                                       cmocka_unit_test(a_pair),
                                       cmocka_unit_test(a_drop_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
