// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The liquid's surface from its particles: where does it lie for known shapes? The level set's radius is derived in
// grid/levelset.c for a uniformly filled half space; here particles are jittered as in a run.
#include "check.h"
#include "grid/levelset.h"
#include "base/random.h"

typedef double shape_function(rh_dvec3 x, const void *data);  // signed distance, gradient of length 1

typedef struct cloud {
    rh_points points;
    rh_tiles tiles;
    rh_surface surface;
    rh_arena arena;
} cloud;

// Particles with spacing h/2 where the shape is negative, jittered by half a spacing; the outermost layer is moved to
// half a spacing inside, as the seeding does.
static void fill(cloud *c, int dimension, double h, rh_dvec3 low, rh_dvec3 high, shape_function *shape,
                 const void *data)
{
    double s = h / 2;
    rh_points_init(&c->points);
    assert_int_equal(rh_points_add(&c->points, "P", RH_POINT_VEC3F, NULL), RH_OK);
    int64_t n = 0, n0[3] = {(int64_t)floor(low.x / s), (int64_t)floor(low.y / s),
                            dimension == 3 ? (int64_t)floor(low.z / s) : 0};
    int64_t n1[3] = {(int64_t)ceil(high.x / s), (int64_t)ceil(high.y / s),
                     dimension == 3 ? (int64_t)ceil(high.z / s) : 1};
    for (int64_t k = n0[2]; k < n1[2]; k++)
        for (int64_t j = n0[1]; j < n1[1]; j++)
            for (int64_t i = n0[0]; i < n1[0]; i++) {
                rh_dvec3 site = {((double)i + 0.5) * s, ((double)j + 0.5) * s,
                                 dimension == 3 ? ((double)k + 0.5) * s : 0},
                         x = site;
                if (shape(site, data) >= 0) continue;
                uint64_t id = (uint64_t)((i * 4001 + j) * 4001 + k);
                for (int a = 0; a < dimension; a++)
                    (&x.x)[a] += 0.5 * s * ((double)rh_random(7, id, 0, (uint32_t)a) - 0.5);
                if (shape(site, data) > -s) {
                    rh_dvec3 g = {0, 0, 0};
                    for (int a = 0; a < dimension; a++) {
                        rh_dvec3 p = x, m = x;
                        (&p.x)[a] += 1e-6;
                        (&m.x)[a] -= 1e-6;
                        (&g.x)[a] = (shape(p, data) - shape(m, data)) / 2e-6;
                    }
                    x = rh_d3_sub(x, rh_d3_scale(g, shape(x, data) + 0.5 * s));
                }
                assert_int_equal(rh_points_resize(&c->points, n + 1, NULL), RH_OK);
                ((rh_vec3 *)rh_points_data(&c->points, "P", RH_POINT_VEC3F))[n++] = rh_v3_from(x);
            }
    rh_arena_init(&c->arena, "test");
    const rh_vec3 *P = rh_points_data(&c->points, "P", RH_POINT_VEC3F);
    assert_int_equal(rh_tiles_build(&c->tiles, dimension, h, P, n, 5, &c->arena, NULL), RH_OK);
    assert_int_equal(rh_tiles_sort(&c->tiles, &c->points, &c->arena, NULL), RH_OK);
    assert_true(rh_tiles_is_valid(&c->tiles));
    P = rh_points_data(&c->points, "P", RH_POINT_VEC3F);
    assert_int_equal(rh_surface_build(&c->surface, &c->tiles, P, (float)s, NULL, 5, &c->arena, NULL), RH_OK);
}

static void drop(cloud *c)
{
    rh_arena_free(&c->arena);
    rh_points_free(&c->points);
}

// Mean and rms error of phi in cells within one cell of the true surface, in cells; only inside a box.
static void phi_error(const cloud *c, shape_function *shape, const void *data, rh_dbox box, double *mean, double *rms,
                      int *count)
{
    double sum = 0, squares = 0, h = (double)c->tiles.h;
    *count = 0;
    for (int32_t t = 0; t < c->tiles.count; t++)
        for (int n = 0; n < c->tiles.cells; n++) {
            rh_dvec3 x = rh_d3_from(rh_cell_center(&c->tiles, t, n & 7, n >> 3 & 7, n >> 6));
            bool in = fabs(shape(x, data)) < h;
            for (int b = 0; b < c->tiles.dimension; b++)
                in = in && (&x.x)[b] > (&box.min.x)[b] && (&x.x)[b] < (&box.max.x)[b];
            if (!in) continue;
            double e = (shape(x, data) - (double)c->surface.phi[(int64_t)t * c->tiles.cells + n]) / h;
            sum += e;
            squares += e * e;
            (*count)++;
        }
    *mean = sum / *count;
    *rms = sqrt(squares / *count);
}

typedef struct plane {
    rh_dvec3 n;
    double d;
} plane;
static double plane_distance(rh_dvec3 x, const void *data)
{
    const plane *p = data;
    return rh_d3_dot(p->n, x) - p->d;
}

static void a_flat_surface_is_where_it_should_be(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int n = 0; n < 5; n++) {
            double h = 0.1;
            plane p = {rh_d3(0, 1, 0), 1 + 0.2 * n * h};  // also between lattice layers
            cloud c;
            fill(&c, dimension, h, rh_d3(0, 0, 0), rh_d3(2, 2, 2), plane_distance, &p);
            double mean, rms;
            int count;
            phi_error(&c, plane_distance, &p, (rh_dbox){{0.4, 0.6, 0.4}, {1.6, 2, 1.6}}, &mean, &rms, &count);
            print_message("flat %dD offset %.1f h: mean %+.3f h, rms %.3f h (%d cells)\n", dimension, 0.2 * n, mean,
                          rms, count);
            assert_true(count > 10);
            assert_true(fabs(mean) < 0.1);
            drop(&c);
        }
}

static double ball_distance(rh_dvec3 x, const void *data) { return rh_d3_length(x) - *(const double *)data; }

// The surface of particles is off by a fixed part of a cell, its bias: at most 0.06 cells in the mean at every
// resolution. So its place converges with the first power of the cell, and with it the volume: off by area times bias,
// 3 * 0.06 h / R of the whole.
static void a_ball_is_off_by_a_fixed_part_of_a_cell(void **state)
{
    (void)state;
    double radius = 0.5, errors[3];
    bool good = true;
    for (int n = 0; n < 3; n++) {
        double h = 0.1 / (1 << n), mean, rms;
        int count;
        cloud c;
        fill(&c, 3, h, rh_d3(-0.6, -0.6, -0.6), rh_d3(0.6, 0.6, 0.6), ball_distance, &radius);
        phi_error(&c, ball_distance, &radius, (rh_dbox){{-1, -1, -1}, {1, 1, 1}}, &mean, &rms, &count);
        double volume = rh_surface_volume(&c.tiles, c.surface.phi, NULL, &c.arena, NULL),
               exact = 4.0 / 3 * 3.14159265 * radius * radius * radius;
        errors[n] = fabs(volume / exact - 1);
        print_message("ball h %.4f: mean %+.3f h, rms %.3f h, volume %+.2f %%\n", h, mean, rms,
                      100 * (volume / exact - 1));
        good = good && fabs(mean) < 0.08 && rms < 0.15 && errors[n] < 3 * 0.06 * h / radius;
        drop(&c);
    }
    assert_true(good);
    assert_true(errors[2] < 0.3 * errors[0]);  // the cell is a quarter of the first
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_flat_surface_is_where_it_should_be),
                                       cmocka_unit_test(a_ball_is_off_by_a_fixed_part_of_a_cell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
