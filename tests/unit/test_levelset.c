// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Distances by sweeping against exact ones, and the extension of face values. Where the surface of particles lies is
// tests/analytic/test_surface.c.
#include "support.h"
#include "grid/levelset.h"

enum { BAND = 5 };

typedef struct exact {
    rh_dvec3 center, normal;
    double radius;
} exact;  // sphere when radius > 0, else a plane

static double distance_to(const exact *e, int dimension, rh_dvec3 x)
{
    rh_dvec3 d = rh_d3_sub(x, e->center);
    if (dimension == 2) d.z = 0;
    return e->radius > 0 ? rh_d3_length(d) - e->radius : rh_d3_dot(d, e->normal);
}

// A block of tiles: one particle in every cell of a cube (square) of `cells` cells around the origin.
static void solid_block(cloud *c, int dimension, double h, int cells)
{
    int layers = dimension == 3 ? cells : 1;
    cloud_make(c, (int64_t)cells * cells * layers);
    for (int64_t i = 0; i < c->points.count; i++) {
        int n[3] = {(int)(i % cells), (int)(i / cells % cells), (int)(i / cells / cells)};
        for (int a = 0; a < dimension; a++) (&c->p[i].x)[a] = (float)((n[a] - cells / 2 + 0.5) * h);
    }
    cloud_tile(c, dimension, h, 1);
}

static rh_dvec3 center_of(const rh_tiles *tiles, int64_t v)
{
    double x[3];
    lattice_point(tiles, v, 3, x);
    return rh_d3(x[0] * (double)tiles->h, x[1] * (double)tiles->h, x[2] * (double)tiles->h);
}

// One cell of the upwind equations, in double: the smallest neighbour along each axis counts when it is nearer.
static double upwind(const rh_tiles *tiles, const double *d, int64_t v, double band)
{
    double near[3] = {1e10, 1e10, 1e10};
    for (int a = 0; a < tiles->dimension; a++)
        for (int s = -1; s <= 1; s += 2) {
            int at[3];
            cell_of(tiles, v, at);
            at[a] += s;
            int64_t other = value_at(tiles, at[0], at[1], at[2]);
            near[a] = fmin(near[a], other < 0 ? band : d[other]);
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            if (near[j] > near[j + 1]) {
                double swap = near[j];
                near[j] = near[j + 1];
                near[j + 1] = swap;
            }
    double sum = 0, squares = 0, value = 1e10;
    for (int n = 1; n <= 3 && value > near[n - 1]; n++) {
        sum += near[n - 1];
        squares += near[n - 1] * near[n - 1];
        value = (sum + sqrt(fmax(sum * sum - n * (squares - 1), 0))) / n;
    }
    return value;
}

// The same equations solved to the end on all cells at once: what tiles, colours and rounds must reproduce.
static double *reference(const rh_tiles *tiles, const float *phi, const rh_bits *todo, double band)
{
    int64_t values = rh_tiles_values(tiles);
    double *d = rh_alloc((size_t)values * sizeof *d, "test", NULL);
    for (int64_t v = 0; v < values; v++) d[v] = fabs((double)phi[v]) / (double)tiles->h;
    for (double change = 1; change > 1e-9;) {
        change = 0;
        for (int64_t v = 0; v < values; v++) {
            if (!(todo[v / tiles->cells].layer[v % tiles->cells >> 6] >> (v & 63) & 1)) continue;
            double value = upwind(tiles, d, v, band);
            if (value >= d[v]) continue;
            change = fmax(change, d[v] - value);
            d[v] = value;
        }
    }
    return d;
}

typedef struct sweep_result {
    double against_reference, against_exact;
} sweep_result;  // worst, in cells

// Exact distances within a cell of the surface, the rest by sweeping.
static sweep_result sweep(int dimension, double h, int cells, const exact *e)
{
    cloud c;
    solid_block(&c, dimension, h, cells);
    int64_t values = rh_tiles_values(&c.tiles);
    float *phi = rh_field_new(&c.tiles, &c.arena, NULL);
    rh_bits *todo = rh_arena_take_zero(&c.arena, (size_t)c.tiles.count * sizeof *todo, NULL);
    for (int64_t v = 0; v < values; v++) {
        double d = distance_to(e, dimension, center_of(&c.tiles, v));
        bool fixed = fabs(d) < h;
        phi[v] = fixed ? (float)d : copysignf(BAND * (float)h, (float)d);
        if (!fixed) todo[v / c.tiles.cells].layer[v % c.tiles.cells >> 6] |= (uint64_t)1 << (v & 63);
    }
    double *expected = reference(&c.tiles, phi, todo, BAND);
    assert_int_equal(rh_levelset_sweep(&c.tiles, phi, todo, BAND, &c.arena, NULL), RH_OK);
    sweep_result worst = {0, 0};
    for (int64_t v = 0; v < values; v++) {
        double d = distance_to(e, dimension, center_of(&c.tiles, v)), found = fabs((double)phi[v]) / h;
        assert_true((phi[v] < 0) == (d < 0) || fabs(d) < 1e-6 * h);
        assert_true(found <= BAND * 1.0001);
        worst.against_reference = fmax(worst.against_reference, fabs(found - fmin(expected[v], BAND)));
        worst.against_exact = fmax(worst.against_exact, fabs(found - fmin(fabs(d) / h, BAND)));
    }
    rh_free(expected);
    cloud_free(&c);
    return worst;
}

static void planes_are_swept(void **state)
{
    (void)state;
    double worst = 0;
    for (int n = 0; n < 12; n++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            rh_dvec3 normal = rh_d3(support_random((uint64_t)n, 0), support_random((uint64_t)n, 1),
                                    dimension == 3 ? support_random((uint64_t)n, 2) : 0);
            if (n < dimension) normal = rh_d3(n == 0, n == 1, n == 2);
            exact e = {.center = {0.013, 0.004, -0.007}, .normal = rh_d3_unit(normal)};
            sweep_result r = sweep(dimension, 0.1, dimension == 3 ? 24 : 48, &e);
            worst = fmax(worst, r.against_reference);
            // Along the grid there is nothing to approximate.
            if (n < dimension) assert_near(r.against_exact, 0, 1e-5);
        }
    print_message("planes: tiles differ from the whole grid by %.2g cells at most\n", worst);
    assert_true(worst < 1e-4);
}

// First-order upwind: in cells, the error of a sphere falls with its radius in cells (H. Zhao, Math. Comp. 74, 2005,
// theorem 4.1: h log h); how large it is near the centre is the scheme's affair, so only the order is asked for.
static void spheres_are_swept(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        exact e = {.center = {0.03, -0.02, dimension == 3 ? 0.01 : 0}, .radius = 0.6};
        sweep_result coarse = sweep(dimension, 0.1, 32, &e), fine = sweep(dimension, 0.05, 48, &e);
        print_message(
            "sphere, %dD: worst error %.3f cells at r = 6 cells, %.3f at r = 12; tiles against whole grid %.2g, %.2g\n",
            dimension, coarse.against_exact, fine.against_exact, coarse.against_reference, fine.against_reference);
        assert_true(coarse.against_reference < 1e-4 && fine.against_reference < 1e-4);
        assert_true(fine.against_exact < 0.67 * coarse.against_exact);
    }
}

static void threads_do_not_show(void **state)
{
    (void)state;
    exact e = {.radius = 0.6};
    rh_threads_set(1);
    double one = sweep(3, 0.1, 32, &e).against_exact;
    for (int threads = 2; threads <= 8; threads *= 2) {
        rh_threads_set(threads);
        assert_true(sweep(3, 0.1, 32, &e).against_exact == one);
    }
    rh_threads_set(0);
}

// --- extension -------------------------------------------------------------------------------------------------------

// A field that is constant along the normal of a plane, u = t . x + 1 with t . n = 0, is extended exactly: the weights
// are the n_a, and sum n_a t_a = 0. Values change by 0.1 a cell; a hundredth of that is granted, because tiles may wait
// for each other longer than there are rounds.
static double worst_extension;

static void check_extension(int dimension, rh_dvec3 normal, rh_dvec3 along)
{
    cloud c;
    solid_block(&c, dimension, 0.1, dimension == 3 ? 32 : 48);
    int64_t values = rh_tiles_values(&c.tiles);
    float *distance = rh_field_new(&c.tiles, &c.arena, NULL);
    rh_faces field;
    uint8_t *known[3] = {NULL, NULL, NULL};
    assert_int_equal(rh_faces_new(&field, &c.tiles, false, &c.arena, NULL), RH_OK);
    for (int axis = 0; axis < dimension; axis++) {
        known[axis] = rh_arena_take(&c.arena, (size_t)values, NULL);
        for (int64_t v = 0; v < values; v++) {
            double x[3];
            lattice_point(&c.tiles, v, axis, x);
            distance[v] = (float)rh_d3_dot(center_of(&c.tiles, v), normal);
            known[axis][v] = 0.1 * rh_d3_dot(rh_d3(x[0], x[1], x[2]), normal) < 0;
            field.axis[axis][v] = known[axis][v] ? (float)(1 + 0.1 * rh_d3_dot(rh_d3(x[0], x[1], x[2]), along)) : 1e6f;
        }
    }
    assert_int_equal(rh_faces_extend(&c.tiles, distance, NULL, BAND, NULL, field, known, &c.arena, NULL), RH_OK);
    int tested = 0, half = (dimension == 3 ? 32 : 48) / 2;
    for (int64_t v = 0; v < dimension * values; v++) {
        int axis = (int)(v / values);
        int64_t at = v % values;
        double x[3];
        lattice_point(&c.tiles, at, axis, x);
        double d = rh_d3_dot(rh_d3(x[0], x[1], x[2]), normal);
        bool inside = true;
        for (int a = 0; a < dimension; a++) inside = inside && fabs(x[a]) < half - 8;
        if (!inside || d >= BAND - 0.01) continue;
        assert_int_equal(known[axis][at], d < 0 ? 1 : 2);
        double wrong = fabs((double)field.axis[axis][at] - (1 + 0.1 * rh_d3_dot(rh_d3(x[0], x[1], x[2]), along)));
        worst_extension = fmax(worst_extension, wrong);
        assert_near(wrong, 0, 1e-3);
        tested += d >= 0;
    }
    assert_true(tested > 50 * dimension);
    cloud_free(&c);
}

static void extension_is_exact_on_planes(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (uint64_t n = 0; n < 12; n++) {
            rh_dvec3 normal = rh_d3(support_random(n, 0), support_random(n, 1),
                                    dimension == 3 ? support_random(n, 2) : 0);
            if (n < (uint64_t)dimension) normal = rh_d3(n == 0, n == 1, n == 2);
            normal = rh_d3_unit(normal);
            rh_dvec3 along = rh_d3(support_random(n, 3), support_random(n, 4),
                                   dimension == 3 ? support_random(n, 5) : 0);
            along = rh_d3_sub(along, rh_d3_scale(normal, rh_d3_dot(along, normal)));
            check_extension(dimension, normal, along);
        }
    print_message("extension on planes: wrong by %.2g at most\n", worst_extension);
}

// --- volume ----------------------------------------------------------------------------------------------------------

// Exact for a plane along the grid at any place in a cell; a share of free space counts.
static void volume_of_a_slab(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        cloud c;
        solid_block(&c, dimension, 0.1, 16);
        int64_t values = rh_tiles_values(&c.tiles);
        float *phi = rh_field_new(&c.tiles, &c.arena, NULL), *open = rh_field_new(&c.tiles, &c.arena, NULL);
        const float **apart = rh_arena_take(&c.arena, (size_t)c.tiles.count * sizeof *apart, NULL);
        for (int32_t t = 0; t < c.tiles.count; t++) apart[t] = open + (int64_t)t * c.tiles.cells;
        for (int n = 0; n < 10; n++) {
            double width = 0;
            for (int64_t v = 0; v < values; v++) {
                rh_dvec3 x = center_of(&c.tiles, v);
                phi[v] = (float)(fabs(x.x) - 0.5 - 0.01 * n);
                open[v] = 0.25f;
                width += fabs(x.x) < 0.06;  // cells of two layers
            }
            double exact_volume = 2 * (0.5 + 0.01 * n) * (width / 2) * pow(0.1, dimension - 1);
            assert_near(rh_surface_volume(&c.tiles, phi, NULL, &c.arena, NULL), exact_volume, 1e-5 * exact_volume);
            assert_near(rh_surface_volume(&c.tiles, phi, apart, &c.arena, NULL), 0.25 * exact_volume,
                        1e-5 * exact_volume);
        }
        cloud_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_swept),    cmocka_unit_test(spheres_are_swept),
        cmocka_unit_test(threads_do_not_show), cmocka_unit_test(extension_is_exact_on_planes),
        cmocka_unit_test(volume_of_a_slab),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
