// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Order of accuracy of one projection, with the library's own surface, solids and solver but without time stepping.
//
// Curved free surface: a ball of radius R under the central acceleration -k r^2 x has u = 0 and p = rho k (R^4 - r^4)
// / 4. The ghost fluid method (Gibou, Fedkiw, Cheng, Kang, J. Comput. Phys. 176, 2002) is second order in p when the
// surface is exact. Walls: a closed square turned by 30 degrees against the grid; the field u + grad f with u = curl
// (sin sin), tangent to the walls, and f = cos cos, flat at the walls, must be split into its parts: second order in
// pressure and first in the largest velocity error (Ng, Min, Gibou, J. Comput. Phys. 228, 2009).
#include "lab.h"
#include "base/random.h"
#include "physics/pressure.h"

typedef struct bench {
    rh_points points;
    rh_tiles tiles;
    rh_surface surface;
    rh_cut_cells cut;
    rh_cut_cache cache;
    rh_pressure pressure;
    rh_faces velocity;
    uint8_t *known[3];
    rh_arena arena;
} bench;

typedef struct error {
    double l2, most;
} error;

// Particles with spacing h/2, jittered, where `inside` says so; sorted into tiles.
static void bench_fill(bench *b, int dimension, double h, double reach, bool (*inside)(rh_dvec3 x))
{
    int n = (int)ceil(2 * reach / h);
    rh_points_init(&b->points);
    rh_arena_init(&b->arena, "test");
    b->cache = (rh_cut_cache){0};
    assert_int_equal(rh_points_add(&b->points, "P", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_resize(&b->points, (int64_t)pow(2.0 * n + 1, dimension), NULL), RH_OK);
    rh_vec3 *x = rh_points_data(&b->points, "P", RH_POINT_VEC3F);
    int64_t count = 0;
    for (int k = dimension == 3 ? -n : 0; k < (dimension == 3 ? n : 1); k++)
        for (int j = -n; j < n; j++)
            for (int i = -n; i < n; i++) {
                rh_dvec3 site = {(i + 0.5) * h / 2, (j + 0.5) * h / 2, dimension == 3 ? (k + 0.5) * h / 2 : 0};
                if (!inside(site)) continue;
                for (int a = 0; a < dimension; a++)
                    (&site.x)[a] += 0.25 * h * ((double)rh_random(3, (uint64_t)count, 0, (uint32_t)a) - 0.5);
                x[count++] = rh_v3_from(site);
            }
    assert_int_equal(rh_points_resize(&b->points, count, NULL), RH_OK);
    x = rh_points_data(&b->points, "P", RH_POINT_VEC3F);
    assert_int_equal(rh_tiles_build(&b->tiles, dimension, h, x, count, 4, &b->arena, NULL), RH_OK);
    assert_int_equal(rh_tiles_sort(&b->tiles, &b->points, &b->arena, NULL), RH_OK);
    assert_int_equal(rh_faces_new(&b->velocity, &b->tiles, true, &b->arena, NULL), RH_OK);
    for (int a = 0; a < dimension; a++)
        b->known[a] = rh_arena_take_zero(&b->arena, (size_t)rh_tiles_values(&b->tiles), NULL);
}

static void bench_drop(bench *b)
{
    rh_cut_cache_free(&b->cache);
    rh_arena_free(&b->arena);
    rh_points_free(&b->points);
}

static rh_dvec3 cell_at(const bench *b, int64_t c)
{
    int32_t t = (int32_t)(c / b->tiles.cells);
    int n = (int)(c % b->tiles.cells);
    return rh_d3_from(rh_cell_center(&b->tiles, t, n & 7, n >> 3 & 7, n >> 6));
}

static rh_dvec3 face_at(const bench *b, int64_t c, int a)
{
    rh_dvec3 x = cell_at(b, c);
    (&x.x)[a] -= 0.5 * (double)b->tiles.h;
    return x;
}

static void bench_project(bench *b, rh_dvec3 (*field)(rh_dvec3 x))
{
    for (int64_t c = 0; c < rh_tiles_values(&b->tiles); c++)
        for (int a = 0; a < b->tiles.dimension; a++) {
            rh_dvec3 u = field(face_at(b, c, a));
            b->velocity.axis[a][c] = (float)(&u.x)[a];
        }
    rh_cg_report report;
    assert_int_equal(rh_pressure_prepare(&b->pressure, &b->tiles, &b->surface, &b->cut, NULL, true,
                                         RH_PRECONDITION_MULTIGRID, &b->arena, NULL),
                     RH_OK);
    assert_int_equal(rh_pressure_project(&b->pressure, b->velocity, b->known, 1e-6, 1000, &b->arena, &report, NULL),
                     RH_OK);
    assert_true(report.converged);
}

// Of q h against `exact`; with `free_constant` their means are made equal first. Cells less than a quarter open are
// left out.
static error pressure_error(const bench *b, double (*exact)(rh_dvec3 x), bool free_constant)
{
    error e = {0, 0};
    double h = (double)b->tiles.h, mean = 0, count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t c = 0; c < rh_tiles_values(&b->tiles); c++) {
            if (!rh_pressure_is_unknown(&b->pressure, c) ||
                b->cut.volume[c / b->tiles.cells][c % b->tiles.cells] < 0.25f)
                continue;
            double d = (double)rh_pressure_value(&b->pressure, c) * h - exact(cell_at(b, c));
            if (pass == 0) mean += d, count++;
            else {
                if (free_constant) d -= mean / count;
                e.l2 += d * d / count;
                e.most = fmax(e.most, fabs(d));
            }
        }
    e.l2 = sqrt(e.l2);
    return e;
}

// Of projected faces, weighted by their open share (L2) and where at least a quarter is open (largest).
static error velocity_error(const bench *b, rh_dvec3 (*exact)(rh_dvec3 x))
{
    error e = {0, 0};
    double count = 0;
    for (int64_t c = 0; c < rh_tiles_values(&b->tiles); c++)
        for (int a = 0; a < b->tiles.dimension; a++) {
            if (!b->known[a][c]) continue;
            rh_dvec3 u = exact(face_at(b, c, a));
            double d = (double)b->velocity.axis[a][c] - (&u.x)[a],
                   open = (double)b->cut.open[a][c / b->tiles.cells][c % b->tiles.cells];
            e.l2 += open * d * d;
            count += open;
            if (open >= 0.25) e.most = fmax(e.most, fabs(d));
        }
    e.l2 = sqrt(e.l2 / count);
    return e;
}

static double order(double coarse, double fine) { return log2(coarse / fine); }

static void print_errors(const char *what, double h, error p, error u)
{
    print_message("%s, h = %.5f: pressure L2 %.2e, most %.2e; velocity L2 %.2e, most %.2e\n", what, h, p.l2, p.most,
                  u.l2, u.most);
}

// --- a ball under a central force ------------------------------------------------------------------------------------
static const double R = 0.5, K = 10;
static bool in_ball(rh_dvec3 x) { return rh_d3_length(x) < R; }
static rh_dvec3 pull(rh_dvec3 x) { return rh_d3_scale(x, -K * rh_d3_dot(x, x)); }
static double ball_pressure(rh_dvec3 x) { return K * (pow(R, 4) - pow(rh_d3_dot(x, x), 2)) / 4; }
static rh_dvec3 rest(rh_dvec3 x)
{
    (void)x;
    return rh_d3(0, 0, 0);
}

static void ball(int dimension, double h, bool exact_surface, error *p, error *u)
{
    bench b;
    rh_obstacles none = {0};
    bench_fill(&b, dimension, h, R + h, in_ball);
    assert_int_equal(rh_surface_build(&b.surface, &b.tiles, rh_points_data(&b.points, "P", RH_POINT_VEC3F),
                                      (float)h / 2, NULL, 4, &b.arena, NULL),
                     RH_OK);
    for (int64_t c = 0; exact_surface && c < rh_tiles_values(&b.tiles); c++) {
        b.surface.phi[c] = (float)(rh_d3_length(cell_at(&b, c)) - R);
    }
    assert_int_equal(rh_cut_cells_build(&b.cut, &b.cache, &b.tiles, &none, &b.arena, NULL), RH_OK);
    bench_project(&b, pull);
    *p = pressure_error(&b, ball_pressure, false);
    *u = velocity_error(&b, rest);
    print_errors(exact_surface ? "ball, exact surface" : "ball, surface of particles", h, *p, *u);
    bench_drop(&b);
}

static void a_curved_surface_is_second_order(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        error p[3], u[3];
        for (int n = 0; n < 3; n++) ball(dimension, (dimension == 3 ? 0.1 : 0.05) / (1 << n), true, &p[n], &u[n]);
        print_message("  orders in %dD: pressure L2 %.2f, most %.2f; velocity L2 %.2f, most %.2f\n", dimension,
                      order(p[0].l2, p[2].l2) / 2, order(p[0].most, p[2].most) / 2, order(u[0].l2, u[2].l2) / 2,
                      order(u[0].most, u[2].most) / 2);
        assert_true(order(p[0].l2, p[2].l2) / 2 > 1.8);
        assert_true(order(p[0].most, p[2].most) / 2 > 1.7);
        assert_true(order(u[0].l2, u[2].l2) / 2 > 1.2);
        assert_true(order(u[0].most, u[2].most) / 2 > 0.8);
    }
}

// The surface of particles is off by a fixed part of a cell, so pressure is first order; its error is that of the
// surface's place times the slope of p, K R^3: less than a tenth of a cell in the mean.
static void a_surface_of_particles_is_first_order(void **state)
{
    (void)state;
    error p[3], u[3];
    for (int n = 0; n < 3; n++) {
        double h = 0.1 / (1 << n);
        ball(3, h, false, &p[n], &u[n]);
        print_message("  as a shift of the surface: %.3f cells\n", p[n].l2 / (K * pow(R, 3) * h));
        assert_true(p[n].l2 / (K * pow(R, 3) * h) < 0.1);
    }
}

// --- a closed square, turned -----------------------------------------------------------------------------------------
static const double PI = 3.14159265358979323846;
static rh_dvec3 turned(rh_dvec3 x, double degrees)  // about the origin
{
    double c = cos(degrees * PI / 180), s = sin(degrees * PI / 180);
    return rh_d3(c * x.x - s * x.y, s * x.x + c * x.y, x.z);
}
// The square is [-1/2, 1/2]^2 in its own space; X, Y there run from 0 to pi.
static rh_dvec3 own(rh_dvec3 x)
{
    x = turned(x, -30);
    return rh_d3(PI * (x.x + 0.5), PI * (x.y + 0.5), 0);
}
static bool in_square(rh_dvec3 x)
{
    x = turned(x, -30);
    return fabs(x.x) < 0.5 && fabs(x.y) < 0.5;
}
static rh_dvec3 swirl(rh_dvec3 x)
{
    rh_dvec3 s = own(x);
    return turned(rh_d3(sin(s.x) * cos(s.y), -cos(s.x) * sin(s.y), 0), 30);
}
static double potential(rh_dvec3 x)
{
    rh_dvec3 s = own(x);
    return cos(s.x) * cos(s.y) / PI;
}
static rh_dvec3 mixed(rh_dvec3 x)
{
    rh_dvec3 s = own(x);
    return rh_d3_add(swirl(x), turned(rh_d3(-sin(s.x) * cos(s.y), -cos(s.x) * sin(s.y), 0), 30));
}

static void open_square(bench *b, double h, rh_obstacles *solids, rh_obstacle *solid, rh_motion_key *key)
{
    *key = (rh_motion_key){.rotate = rh_d3(0, 0, 30)};
    *solid = (rh_obstacle){
        .shape = {.kind = RH_SHAPE_BOX, .as.box = {rh_d3(-0.5, -0.5, -1), rh_d3(0.5, 0.5, 1), 0}, .flat = true},
        .inside_out = true,
        .motion = {.keys = {key, 1}}};
    *solids = (rh_obstacles){.items = solid, .count = 1};
    rh_obstacles_at(solids, 0, 0, solids, NULL);
    bench_fill(b, 2, h, 0.75, in_square);
    assert_int_equal(rh_cut_cells_build(&b->cut, &b->cache, &b->tiles, solids, &b->arena, NULL), RH_OK);
    b->surface = (rh_surface){rh_field_new(&b->tiles, &b->arena, NULL), 4};
    for (int64_t c = 0; c < rh_tiles_values(&b->tiles); c++) b->surface.phi[c] = -1;
}

static void walls_across_the_grid_are_second_order(void **state)
{
    (void)state;
    error p[4], u[4];
    for (int n = 0; n < 4; n++) {
        bench b;
        rh_obstacles solids;
        rh_obstacle solid;
        rh_motion_key key;
        double h = 0.05 / (1 << n);
        open_square(&b, h, &solids, &solid, &key);
        bench_project(&b, mixed);
        p[n] = pressure_error(&b, potential, true);
        u[n] = velocity_error(&b, swirl);
        print_errors("turned square", h, p[n], u[n]);
        bench_drop(&b);
    }
    print_message("  orders: pressure L2 %.2f, most %.2f; velocity L2 %.2f, most %.2f\n", order(p[0].l2, p[3].l2) / 3,
                  order(p[0].most, p[3].most) / 3, order(u[0].l2, u[3].l2) / 3, order(u[0].most, u[3].most) / 3);
    assert_true(order(p[0].l2, p[3].l2) / 3 > 1.8);
    assert_true(order(p[0].most, p[3].most) / 3 > 1);
    assert_true(order(u[0].l2, u[3].l2) / 3 > 1.4);
    assert_true(order(u[0].most, u[3].most) / 3 > 0.8);
}

// Gravity in the turned, half filled square: p is linear, so the scheme is exact but for rounding.
static rh_dvec3 gravity(rh_dvec3 x)
{
    (void)x;
    return rh_d3(0, -1, 0);
}
static double depth(rh_dvec3 x) { return 0.0123 - x.y; }

static void still_water_in_a_turned_square_is_exact(void **state)
{
    (void)state;
    bench b;
    rh_obstacles solids;
    rh_obstacle solid;
    rh_motion_key key;
    open_square(&b, 0.02, &solids, &solid, &key);
    for (int64_t c = 0; c < rh_tiles_values(&b.tiles); c++) {
        b.surface.phi[c] = (float)-depth(cell_at(&b, c));
    }
    bench_project(&b, gravity);
    error p = pressure_error(&b, depth, false), u = velocity_error(&b, rest);
    print_errors("still water in a turned square", 0.02, p, u);
    bench_drop(&b);
    assert_true(p.most < 1e-4 && u.most < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_curved_surface_is_second_order),
                                       cmocka_unit_test(a_surface_of_particles_is_first_order),
                                       cmocka_unit_test(walls_across_the_grid_are_second_order),
                                       cmocka_unit_test(still_water_in_a_turned_square_is_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
