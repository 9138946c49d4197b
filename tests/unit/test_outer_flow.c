// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A flow without sources, u = S x with trace S = 0, is known in a half space and extended beyond it. As much must flow
// out of the first cells beyond as in; and for a flow that only stretches along a surface along the grid, the velocity
// through it must go on as in the liquid. Ways in frames that travel with the particles press a flow together by
// dt^2/2 tr S^2.
#include <stdlib.h>
#include <string.h>
#include "support.h"
#include "grid/advect.h"
#include "grid/levelset.h"
#include "grid/outer_flow.h"
#include "grid/shear.h"

static const double H = 0.1;
enum { SIDE = 32 };

typedef struct half_space {
    cloud c;
    int dimension;
    float *phi;
    const float **open, **wall;  // tiles apart
    rh_faces u;
    uint8_t *known[3];
} half_space;

static double flow(const double s[3][3], const double x[3], int a)
{
    double sum = 0;
    for (int b = 0; b < 3; b++) sum += s[a][b] * x[b] * H;
    return sum;
}

static double distance(rh_dvec3 normal, const double x[3])
{
    return H * rh_d3_dot(normal, rh_d3(x[0], x[1], x[2])) - 0.23 * H;
}

static bool is_liquid(const half_space *of, rh_dvec3 normal, int64_t v, int axis, int by)
{
    double x[3];
    lattice_point(&of->c.tiles, v, 3, x);
    x[axis] += by;
    return distance(normal, x) < 0;
}

static void make_half_space(half_space *of, int dimension, rh_dvec3 normal, const double s[3][3])
{
    *of = (half_space){.dimension = dimension};
    cloud_make(&of->c, dimension == 3 ? SIDE * SIDE * SIDE : SIDE * SIDE);
    for (int64_t i = 0; i < of->c.points.count; i++) {
        int64_t n[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int a = 0; a < dimension; a++) (&of->c.p[i].x)[a] = (float)(((double)n[a] - SIDE / 2 + 0.5) * H);
    }
    cloud_tile(&of->c, dimension, H, 1);
    const rh_tiles *tiles = &of->c.tiles;
    int64_t values = rh_tiles_values(tiles);
    of->phi = rh_field_new(tiles, &of->c.arena, NULL);
    float *ones = rh_field_new(tiles, &of->c.arena, NULL), *zeros = rh_field_new(tiles, &of->c.arena, NULL);
    of->open = rh_arena_take(&of->c.arena, (size_t)tiles->count * sizeof *of->open, NULL);
    of->wall = rh_arena_take(&of->c.arena, (size_t)tiles->count * sizeof *of->wall, NULL);
    for (int32_t t = 0; t < tiles->count; t++) of->open[t] = ones, of->wall[t] = zeros;
    assert_int_equal(rh_faces_new(&of->u, tiles, false, &of->c.arena, NULL), RH_OK);
    for (int a = 0; a < dimension; a++) of->known[a] = rh_arena_take(&of->c.arena, (size_t)values, NULL);
    for (int64_t v = 0; v < values; v++) {
        double x[3];
        lattice_point(tiles, v, 3, x);
        of->phi[v] = (float)distance(normal, x), ones[v] = 1, zeros[v] = 0;
        for (int a = 0; a < dimension; a++) {
            lattice_point(tiles, v, a, x);
            of->known[a][v] = is_liquid(of, normal, v, a, 0) || is_liquid(of, normal, v, a, -1);
            of->u.axis[a][v] = (float)flow(s, x, a);
        }
    }
}

static void extend_and_balance(half_space *of, bool balance)
{
    rh_status status = {0};
    assert_int_equal(rh_faces_extend(&of->c.tiles, of->phi, NULL, 4, NULL, of->u, of->known, &of->c.arena, &status),
                     RH_OK);
    rh_outer_flow beyond = {.tiles = &of->c.tiles,
                            .phi = of->phi,
                            .open = {of->open, of->open, of->open},
                            .wall = {of->wall, of->wall, of->wall},
                            .velocity = of->u,
                            .known = {of->known[0], of->known[1], of->known[2]}};
    if (balance) assert_int_equal(rh_outer_flow_balance(&beyond, &of->c.arena, &status), RH_OK);
}

// The largest net outflow (m/s) of a cell beyond the liquid within a cell of it, away from the ends of the grid.
static double worst_outflow(const half_space *of)
{
    const rh_tiles *tiles = &of->c.tiles;
    double worst = 0;
    for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
        int at[3];
        cell_of(tiles, v, at);
        bool inside = (double)of->phi[v] >= 0 && (double)of->phi[v] < H;
        for (int a = 0; a < of->dimension; a++) inside = inside && abs(at[a]) < SIDE / 2 - 6;
        if (!inside) continue;
        double out = 0;
        for (int a = 0; a < of->dimension; a++) {
            int above[3] = {at[0], at[1], at[2]};
            above[a]++;
            out += (double)of->u.axis[a][value_at(tiles, above[0], above[1], above[2])] - (double)of->u.axis[a][v];
        }
        worst = fmax(worst, fabs(out));
    }
    return worst;
}

static const double STRETCH[3][3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 0}};
static const double SHEARED[3][3] = {{0.7, 0.4, -0.3}, {0.2, -1, 0.5}, {0.6, -0.2, 0.3}};
static const double FLAT_SHEARED[3][3] = {{0.7, 0.4, 0}, {0.2, -0.7, 0}, {0, 0, 0}};

static void as_much_flows_out_as_in(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (uint64_t n = 0; n < 8; n++) {
            rh_dvec3 normal = rh_d3(support_random(n, 0), support_random(n, 1),
                                    dimension == 3 ? support_random(n, 2) : 0);
            bool along = n < (uint64_t)dimension;
            if (along) normal = rh_d3(n == 0, n == 1, n == 2);
            normal = rh_d3_unit(normal);
            double outflow[2];
            for (int balance = 0; balance < 2; balance++) {
                half_space of;
                make_half_space(&of, dimension, normal, dimension == 3 ? SHEARED : FLAT_SHEARED);
                extend_and_balance(&of, balance);
                outflow[balance] = worst_outflow(&of);
                cloud_free(&of.c);
            }
            print_message("%dD, normal %+.2f %+.2f %+.2f: net outflow %.4f m/s, balanced %.5f\n", dimension, normal.x,
                          normal.y, normal.z, outflow[0], outflow[1]);
            assert_true(outflow[0] > 0.01);
            assert_true(outflow[1] < (along ? 1e-5 : 0.4 * outflow[0]));
        }
}

// Stretched along x, thinned along y: beyond a surface across y the velocity goes on as -y.
static void a_stretched_film_thins_to_its_surface(void **state)
{
    (void)state;
    half_space of;
    make_half_space(&of, 2, rh_d3(0, 1, 0), STRETCH);
    extend_and_balance(&of, true);
    for (int x = -8; x < 8; x++) {
        int64_t last = value_at(&of.c.tiles, x, 1, 0);  // the upper face of the first cell beyond
        assert_int_equal(of.known[1][last], 2);
        assert_near(of.u.axis[1][last], -1 * H, 1e-5);
        assert_near(of.u.axis[1][value_at(&of.c.tiles, x, -1, 0)], 1 * H, 1e-6);  // the liquid's own stay
    }
    cloud_free(&of.c);
}

// det(1 + dt S) = 1 - dt^2/2 tr S^2 in a plane, where particles keep the velocity they begin with.
static void ways_that_travel_press_together(void **state)
{
    (void)state;
    static const double turn[3][3] = {{0, -1, 0}, {1, 0, 0}, {0, 0, 0}};
    const double dt = 0.1;
    for (int n = 0; n < 2; n++) {
        half_space of;
        make_half_space(&of, 2, rh_d3(0, 1, 0), n ? turn : STRETCH);  // nothing is extended: all of it is the flow
        _Alignas(32) float rates[RH_TILE * RH_TILE], found[RH_TILE * RH_TILE];
        int32_t t = rh_tiles_find(&of.c.tiles, (rh_tile){0, 0, 0});
        rh_shear_and_compression(&of.c.tiles, of.u, t, rh_v3(1, 1, 0), (float)dt, rates, found);
        for (int c = 0; c < RH_TILE * RH_TILE; c++) {
            assert_near(found[c], n ? -dt * dt : dt * dt, 1e-4 * dt * dt);
            assert_near(rates[c], n ? 0 : 2, 1e-4);
        }
        rh_vec3 *share = rh_arena_take(&of.c.arena, (size_t)of.c.tiles.count * sizeof *share, NULL);
        for (int32_t i = 0; i < of.c.tiles.count; i++) share[i] = rh_v3(1, 1, 0);
        rh_vec3 *start = malloc((size_t)of.c.points.count * sizeof *start);
        memcpy(start, of.c.p, (size_t)of.c.points.count * sizeof *start);
        rh_paths way = {.velocity = of.u, .frame_share = share, .dt = (float)dt, .rule = RH_PATH_MIDPOINT};
        rh_status status = {0};
        assert_int_equal(rh_particles_advect(&of.c.tiles, &way, of.c.v, of.c.p, &of.c.arena, &status), RH_OK);
        for (int64_t i = 0; i < of.c.points.count; i++) {
            double x = (double)start[i].x, y = (double)start[i].y;
            if (fabs(x) > 1 || fabs(y) > 1) continue;
            assert_near(of.c.p[i].x, x + dt * (n ? -y : x), 1e-5);
            assert_near(of.c.p[i].y, y + dt * (n ? x : -y), 1e-5);
        }
        free(start);
        cloud_free(&of.c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_much_flows_out_as_in),
                                       cmocka_unit_test(a_stretched_film_thins_to_its_surface),
                                       cmocka_unit_test(ways_that_travel_press_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
