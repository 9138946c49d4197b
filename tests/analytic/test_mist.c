// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Mist over drops whose places are given: what they shed is there to rounding, dries up by its law and sinks at its
// speed; air that is made to keep its volume does not diverge; what is carried stays, however thin.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "physics/base_run.h"
#include "physics/mist/carry.h"
#include "physics/mist/mist.h"
#include "physics/transport.h"

enum { DROPS = 60 };
static const double RADIUS = 0.001;

typedef struct run {
    rh_mist_params params;
    rh_surroundings around;
    rh_fields fields;
    rh_points points;
    rh_base_run base;
    const rh_base_run *bases[1];
    void *method;
    double time;
} run;

// Drops along a slanted line through the origin, off the axes of the grid.
static void open_run(run *r, int dimension)
{
    r->params = (rh_mist_params){
        .over = "spray", .finest = 1, .rate = 0.5, .density = 1000, .air_density = 1.2, .cfl = 2, .least = 1e-7};
    rh_points_init(&r->base.points);
    assert_int_equal(rh_points_add(&r->base.points, "P", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&r->base.points, "v", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_resize(&r->base.points, DROPS, NULL), RH_OK);
    rh_vec3 *x = rh_points_data(&r->base.points, "P", RH_POINT_VEC3F);
    memset(rh_points_data(&r->base.points, "v", RH_POINT_VEC3F), 0, DROPS * sizeof(rh_vec3));
    for (int i = 0; i < DROPS; i++) {
        float s = ((float)i - 0.5f * (DROPS - 1)) / DROPS;
        x[i] = rh_v3(0.4f * s, 0.3f * s, dimension == 3 ? -0.2f * s : 0);
    }
    r->base.name = "spray";
    r->base.dimension = dimension;
    r->base.radius = (float)RADIUS;
    r->bases[0] = &r->base;
    rh_fields_init(&r->fields, dimension, 0.05);
    rh_points_init(&r->points);
    r->around = (rh_surroundings){
        .dimension = dimension, .cell = 0.05, .fields = &r->fields, .bases = r->bases, .base_count = 1};
    assert_int_equal(rh_mist.create(&r->params, &r->around, &r->points, &r->method, NULL), RH_OK);
}

static void advance(run *r, double until, double longest)
{
    rh_step_report report;
    rh_status status = {0};
    while (r->time < until - 1e-12) {
        double dt = fmin(rh_mist.max_step(r->method, &r->around, &r->points), fmin(until - r->time, longest));
        if (rh_mist.step(r->method, &r->around, dt, &r->points, &report, &status) != RH_OK)
            fail_msg("%s", status.message);
        r->time += dt;
    }
}

static void close_run(run *r)
{
    rh_mist.destroy(r->method);
    rh_fields_free(&r->fields);
    rh_points_free(&r->base.points);
    assert_int_equal(rh_memory_bytes(), 0);
}

static double mass_of(run *r, double *height)
{
    const float *values = rh_fields_find(&r->fields, "mist")->axis[0];
    double h = r->fields.h, cell = r->fields.dimension == 3 ? h * h * h : h * h, sum = 0, first = 0;
    for (int32_t t = 0; t < r->fields.count; t++)
        for (int c = 0; c < r->fields.cells; c++) {
            double v = (double)values[(int64_t)t * r->fields.cells + c];
            sum += v;
            first += v * (8 * r->fields.at[t].y + (c >> 3 & 7) + 0.5) * h;
        }
    *height = sum > 0 ? first / sum : 0;
    return sum * cell;
}

static double mass_of_drops(const run *r)
{
    double pi = 3.14159265358979323846;
    double volume = r->base.dimension == 3 ? 4 * pi / 3 * pow(RADIUS, 3) : pi * pow(RADIUS, 2);
    return DROPS * r->params.density * volume;
}

static void what_is_shed_is_there(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        run r = {0};
        double height;
        open_run(&r, dimension);
        r.params.diffusivity = 0.01;
        advance(&r, 0.5, 0.1);
        double mass = mass_of(&r, &height), wanted = 0.5 * r.params.rate * mass_of_drops(&r);
        print_message("%dD: mist %.7g kg, shed %.7g kg\n", dimension, mass, wanted);
        assert_float_equal(mass / wanted, 1, 2e-5);
        r.params.finest = 0.5 * RADIUS;  // nobody is that fine
        advance(&r, 0.6, 0.1);
        assert_float_equal(mass_of(&r, &height) / wanted, 1, 3e-5);
        close_run(&r);
    }
}

// dm/dt = rate M - m / life; a step's end is off by half a step's share.
static void it_dries_up(void **state)
{
    (void)state;
    run r = {0};
    double height, life = 0.4;
    open_run(&r, 2);
    r.params.life = life;
    advance(&r, 0.8, 0.01);
    double wanted = r.params.rate * mass_of_drops(&r) * life * (1 - exp(-0.8 / life));
    assert_float_equal(mass_of(&r, &height) / wanted, 1, 0.5 * 0.01 / life + 1e-3);
    r.params.rate = 0;
    advance(&r, 1.2, 0.1);
    assert_float_equal(mass_of(&r, &height) / wanted, exp(-1), 0.02);
    close_run(&r);
}

// Air as heavy as lead is not moved by mist, which sinks through it; light air is pulled down with it, and faster.
static void it_sinks(void **state)
{
    (void)state;
    double heights[2];
    for (int light = 0; light < 2; light++) {
        run r = {0};
        open_run(&r, 2);
        r.around.gravity = rh_d3(0, -9.81, 0);
        r.params.fall = 0.2;
        r.params.air_density = light ? 1.2 : 1e4;
        r.params.diffusivity = 0.01;
        advance(&r, 0.1, 0.05);
        r.params.rate = 0;
        double before, mass = mass_of(&r, &before);
        advance(&r, 0.6, 0.05);
        assert_float_equal(mass_of(&r, &heights[light]) / mass, 1, 0.02);
        heights[light] -= before;
        close_run(&r);
    }
    print_message("sank by %.4f m in heavy air, %.4f m in light\n", -heights[0], -heights[1]);
    assert_float_equal(heights[0], -0.2 * 0.5, 0.002);
    assert_true(heights[1] < heights[0] - 0.01);
}

// Particles that fly take the air along: behind them it moves their way, and hardly diverges.
static void the_air_goes_along(void **state)
{
    (void)state;
    run r = {0};
    open_run(&r, 3);
    r.params.drag = 50;
    rh_vec3 *v = rh_points_data(&r.base.points, "v", RH_POINT_VEC3F);
    for (int i = 0; i < DROPS; i++) v[i] = rh_v3(2, 1, 0);
    r.base.fastest = 2.3f;
    advance(&r, 0.2, 0.05);
    const rh_field *air = rh_fields_find(&r.fields, "air");
    double along = 0, across = 0;
    for (int64_t i = 0; i < (int64_t)r.fields.count * r.fields.cells; i++) {
        along += (double)air->axis[0][i];
        across += (double)air->axis[1][i];
    }
    assert_true(along > 0);
    assert_float_equal(across / along, 0.5, 0.1);
    close_run(&r);
}

static rh_dvec3 center_of(run *r)
{
    const float *values = rh_fields_find(&r->fields, "mist")->axis[0];
    rh_dvec3 first = {0, 0, 0};
    double h = r->fields.h, sum = 0;
    for (int64_t i = 0; i < (int64_t)r->fields.count * r->fields.cells; i++) {
        int c = (int)(i % r->fields.cells);
        rh_tile at = r->fields.at[i / r->fields.cells];
        rh_dvec3 x = rh_d3(8 * at.x + (c & 7) + 0.5, 8 * at.y + (c >> 3 & 7) + 0.5, 8 * at.z + (c >> 6) + 0.5);
        first = rh_d3_add(first, rh_d3_scale(x, h * (double)values[i]));
        sum += (double)values[i];
    }
    return rh_d3_scale(first, 1 / sum);
}

// A cloud some cells thick goes as far as the wind, across the grid, and is neither more nor less afterwards.
static void the_wind_carries_it(void **state)
{
    (void)state;
    run r = {0};
    double unused;
    open_run(&r, 3);
    r.params.wind = rh_d3(0.31, 0.17, -0.23);
    r.params.diffusivity = 0.01;
    advance(&r, 0.1, 0.05);
    r.params.rate = 0;
    double before = mass_of(&r, &unused);
    rh_dvec3 from = center_of(&r);
    advance(&r, 0.5, 0.05);
    rh_dvec3 off = rh_d3_sub(rh_d3_sub(center_of(&r), from), rh_d3_scale(r.params.wind, 0.4));
    double share = mass_of(&r, &unused) / before;
    print_message("cloud in the wind: mass x %.5f, off by %.2g m\n", share, rh_d3_length(off));
    assert_float_equal(share, 1, 0.002);
    assert_true(rh_d3_length(off) < 0.1 * r.fields.h);
    close_run(&r);
}

static void place_drops(run *r, rh_vec3 along)
{
    rh_vec3 *x = rh_points_data(&r->base.points, "P", RH_POINT_VEC3F);
    for (int i = 0; i < DROPS; i++) x[i] = rh_v3_scale(along, ((float)i - 0.5f * (DROPS - 1)) / DROPS);
}

// Lines and a dot of single cells, along and across the grid, without anything that would smooth them: neither more nor
// less afterwards, and as far as the wind but for part of a cell (what is as thin as that lags until it has spread).
static void thin_clouds_keep_their_mass(void **state)
{
    (void)state;
    const rh_vec3 lines[4] = {{0.4f, 0, 0}, {0, 0.4f, 0}, {0.4f, 0.3f, 0}, {0, 0, 0}};
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int n = 0; n < 4; n++) {
            run r = {0};
            double unused;
            open_run(&r, dimension);
            place_drops(&r, lines[n]);
            r.params.least = 1e-12;
            advance(&r, 0.1, 0.05);
            r.params.rate = 0;
            r.params.wind = rh_d3(0.31, 0.17, dimension == 3 ? -0.23 : 0);
            double before = mass_of(&r, &unused);
            rh_dvec3 from = center_of(&r);
            advance(&r, 0.9, 0.05);
            rh_dvec3 off = rh_d3_sub(rh_d3_sub(center_of(&r), from), rh_d3_scale(r.params.wind, 0.8));
            if (dimension == 2) off.z = 0;
            double share = mass_of(&r, &unused) / before;
            print_message("%dD, line %d: mass x %.7f, off by %.2g m\n", dimension, n, share, rh_d3_length(off));
            assert_float_equal(share, 1, 1e-5);
            assert_true(rh_d3_length(off) < 0.5 * r.fields.h);
            close_run(&r);
        }
}

// A plate one and a half cells thick in the way of the wind: nothing comes through it nor is lost at it, and what is
// in the air goes round.
static void a_plate_stops_it(void **state)
{
    (void)state;
    run r = {0};
    double unused, behind = 0, wide[2] = {0};
    rh_obstacle plate = {.shape = {.kind = RH_SHAPE_BOX, .as.box = {{0.295, -0.4, -9}, {0.37, 0.4, 9}, 0}}};
    rh_obstacles solids = {.items = &plate, .count = 1};
    assert_int_equal(rh_obstacles_at(&solids, 0, 0, &solids, NULL), RH_OK);
    open_run(&r, 2);
    r.around.obstacles = r.around.obstacles_after = &solids;
    place_drops(&r, rh_v3(0, 0.4f, 0));
    r.params.least = 1e-12;
    advance(&r, 0.1, 0.05);
    r.params.rate = 0;
    r.params.wind = rh_d3(0.5, 0, 0);
    double before = mass_of(&r, &unused);
    for (int late = 0; late < 2; late++) {
        advance(&r, late ? 1.1 : 0.2, 0.05);
        const float *values = rh_fields_find(&r.fields, "mist")->axis[0];
        double sum = 0;
        behind = 0;
        for (int64_t i = 0; i < (int64_t)r.fields.count * r.fields.cells; i++) {
            int c = (int)(i % r.fields.cells);
            rh_tile at = r.fields.at[i / r.fields.cells];
            double x = (8 * at.x + (c & 7) + 0.5) * r.fields.h, y = (8 * at.y + (c >> 3) + 0.5) * r.fields.h;
            sum += (double)values[i];
            wide[late] += (double)values[i] * y * y;
            if (x > 0.295 && fabs(y) < 0.35) behind += (double)values[i];
        }
        wide[late] = sqrt(wide[late] / sum);
        behind /= sum;
    }
    double share = mass_of(&r, &unused) / before;
    print_message("at a plate: mass x %.7f, behind it %.2g, width %.3f -> %.3f m\n", share, behind, wide[0], wide[1]);
    assert_float_equal(share, 1, 1e-5);
    assert_true(behind < 1e-6);
    assert_true(wide[1] > 1.3 * wide[0]);  // without the plate it would not change
    close_run(&r);
}

typedef struct sheet {
    rh_arena arena;
    rh_tiles tiles;
    rh_faces flow;
    float *density;
} sheet;

static void open_sheet(sheet *s)
{
    rh_tile keys[49];
    for (int k = 0; k < 49; k++) keys[k] = (rh_tile){k % 7 - 3, k / 7 - 3, 0};
    rh_arena_init(&s->arena, "test");
    assert_int_equal(rh_tiles_from_keys(&s->tiles, 2, 1, keys, 49, &s->arena, NULL), RH_OK);
    assert_int_equal(rh_faces_new(&s->flow, &s->tiles, true, &s->arena, NULL), RH_OK);
    s->density = rh_arena_take(&s->arena, (size_t)rh_tiles_values(&s->tiles) * sizeof(float), NULL);
    assert_non_null(s->density);
}

static rh_vec3 place_of(const sheet *s, int64_t i)
{
    return rh_cell_center(&s->tiles, (int32_t)(i / 64), (int)(i & 7), (int)(i >> 3 & 7), 0);
}

// A Gaussian 2.5 cells wide that turns once around a point 12 cells off, in 40 steps of up to two cells: where it was,
// as much, and nearly as high.
static void a_turn_keeps_its_form(void **state)
{
    (void)state;
    sheet s;
    double sums[2] = {0}, peaks[2] = {0}, wrong = 0, all = 0, pi = 3.14159265358979323846;
    open_sheet(&s);
    int64_t values = rh_tiles_values(&s.tiles);
    float *first = rh_arena_take(&s.arena, (size_t)values * sizeof *first, NULL);
    assert_non_null(first);
    for (int64_t i = 0; i < values; i++) {
        rh_vec3 x = place_of(&s, i);
        s.flow.axis[0][i] = -x.y, s.flow.axis[1][i] = x.x;
        first[i] = s.density[i] = expf(-((x.x - 12) * (x.x - 12) + x.y * x.y) / (2 * 2.5f * 2.5f));
    }
    for (int n = 0; n < 40; n++) {
        const rh_carried c = {&s.tiles, s.flow, NULL, n & 1, 2 * pi / 40};
        assert_int_equal(rh_carry(&c, s.density, &s.arena, NULL), RH_OK);
    }
    for (int64_t i = 0; i < values; i++) {
        sums[0] += (double)first[i], sums[1] += (double)s.density[i];
        peaks[0] = fmax(peaks[0], (double)first[i]), peaks[1] = fmax(peaks[1], (double)s.density[i]);
        wrong += fabs((double)(s.density[i] - first[i])), all += (double)first[i];
        assert_true(s.density[i] > -1e-6f);
    }
    print_message("a turn: sum x %.7f, peak x %.3f, wrong by %.3f\n", sums[1] / sums[0], peaks[1] / peaks[0],
                  wrong / all);
    assert_float_equal(sums[1] / sums[0], 1, 1e-5);
    assert_float_equal(peaks[1] / peaks[0], 1, 0.1);
    assert_true(wrong / all < 0.15);
    rh_arena_free(&s.arena);
}

// Where a flow stretches along one axis and shrinks along the other the density stays, though axes are carried along
// one by one: here by a quarter of a cell a cell and step.
static void stretched_air_keeps_its_density(void **state)
{
    (void)state;
    sheet s;
    open_sheet(&s);
    for (int64_t i = 0; i < rh_tiles_values(&s.tiles); i++) {
        rh_vec3 x = place_of(&s, i);
        s.flow.axis[0][i] = 0.25f * x.x, s.flow.axis[1][i] = -0.25f * x.y;
        s.density[i] = 1;
    }
    for (int n = 0; n < 4; n++) {
        const rh_carried c = {&s.tiles, s.flow, NULL, n & 1, 1};
        assert_int_equal(rh_carry(&c, s.density, &s.arena, NULL), RH_OK);
    }
    float found = s.density[(int64_t)rh_tiles_find(&s.tiles, (rh_tile){0, 0, 0}) * 64];
    print_message("stretched: density %.5f\n", (double)found);
    assert_float_equal(found, 1, 0.01);
    rh_arena_free(&s.arena);
}

static rh_dvec3 momentum_of_air(run *r)
{
    const rh_field *air = rh_fields_find(&r->fields, "air");
    double sum[3] = {0}, h = r->fields.h;
    for (int a = 0; a < r->fields.dimension; a++)
        for (int64_t i = 0; i < (int64_t)r->fields.count * r->fields.cells; i++) sum[a] += (double)air->axis[a][i];
    return rh_d3_scale(rh_d3(sum[0], sum[1], sum[2]),
                       r->params.air_density * (r->fields.dimension == 3 ? h * h * h : h * h));
}

// Mist weighs on the air: its momentum grows along the weight and by no more than the impulse (part of it goes into the
// pressure around). Drops and weight turned by a right angle give the same, turned.
static void weight_moves_the_air(void **state)
{
    (void)state;
    rh_dvec3 found[2];
    for (int turned = 0; turned < 2; turned++) {
        run r = {0};
        double unused;
        open_run(&r, 2);
        rh_vec3 *x = rh_points_data(&r.base.points, "P", RH_POINT_VEC3F);
        for (int i = 0; i < DROPS && turned; i++) x[i] = rh_v3(-x[i].y, x[i].x, 0);
        r.params.diffusivity = 0.01;
        advance(&r, 0.1, 0.05);
        r.params.rate = 0;
        rh_dvec3 g = turned ? rh_d3(8, -5, 0) : rh_d3(-5, -8, 0);
        r.around.gravity = g;
        advance(&r, 0.15, 0.0125);
        rh_dvec3 impulse = rh_d3_scale(g, 0.05 * mass_of(&r, &unused)), got = momentum_of_air(&r);
        double share = rh_d3_dot(got, impulse) / rh_d3_dot(impulse, impulse);
        print_message("air has %.3f of the impulse of the weight\n", share);
        assert_true(share > 0 && share <= 1 + 1e-3);
        found[turned] = rh_d3_scale(got, 1 / rh_d3_length(impulse));
        close_run(&r);
    }
    assert_float_equal(found[1].x, -found[0].y, 1e-3);
    assert_float_equal(found[1].y, found[0].x, 1e-3);
}

static void projected_air_keeps_its_volume(void **state)
{
    (void)state;
    rh_arena arena;
    rh_tiles tiles;
    rh_faces flow;
    rh_step_report report = {0};
    rh_tile keys[27];
    double before = 0, after = 0;
    for (int k = 0; k < 27; k++) keys[k] = (rh_tile){k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
    rh_arena_init(&arena, "test");
    assert_int_equal(rh_tiles_from_keys(&tiles, 3, 0.05, keys, 27, &arena, NULL), RH_OK);
    assert_int_equal(rh_faces_new(&flow, &tiles, true, &arena, NULL), RH_OK);
    for (int64_t i = 0; i < rh_tiles_values(&tiles); i++) {
        int c = (int)(i % 512);
        rh_vec3 x = rh_cell_center(&tiles, (int32_t)(i / 512), c & 7, c >> 3 & 7, c >> 6);
        float bump = expf(-rh_v3_dot(x, x) / (2 * 0.15f * 0.15f));
        flow.axis[0][i] = bump, flow.axis[1][i] = 2 * bump * x.x / 0.15f, flow.axis[2][i] = -bump;
    }
    for (int pass = 0; pass < 2; pass++) {
        double sum = 0;
        for (int32_t t = 0; t < tiles.count; t++) {
            if (t != rh_tiles_find(&tiles, (rh_tile){0, 0, 0})) continue;
            float block[3][1000];
            for (int a = 0; a < 3; a++) rh_block_load(&tiles, flow.axis[a], t, 1, 0, block[a]);
            for (int c = 0; c < 512; c++) {
                int at = rh_block_index(&tiles, 1, c & 7, c >> 3 & 7, c >> 6);
                sum += fabs((double)(block[0][at + 1] - block[0][at - 1] + block[1][at + 10] - block[1][at - 10] +
                                     block[2][at + 100] - block[2][at - 100]));
            }
        }
        *(pass ? &after : &before) = sum;
        if (!pass) assert_int_equal(rh_transport_project(&tiles, NULL, flow, &arena, &report, NULL), RH_OK);
    }
    print_message("divergence %g -> %g, %d iterations\n", before, after, report.iterations);
    assert_true(after < 0.05 * before);
    rh_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shed_is_there),
        cmocka_unit_test(it_dries_up),
        cmocka_unit_test(it_sinks),
        cmocka_unit_test(the_air_goes_along),
        cmocka_unit_test(the_wind_carries_it),
        cmocka_unit_test(thin_clouds_keep_their_mass),
        cmocka_unit_test(a_plate_stops_it),
        cmocka_unit_test(a_turn_keeps_its_form),
        cmocka_unit_test(stretched_air_keeps_its_density),
        cmocka_unit_test(weight_moves_the_air),
        cmocka_unit_test(projected_air_keeps_its_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
