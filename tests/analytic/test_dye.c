// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dye against the solution of the equation of advection and diffusion: a Gaussian that spreads, in a flow that carries
// or turns it, is a Gaussian of variance s^2 + 2 D t at the place where the flow has brought its centre
// (J. Crank, The Mathematics of Diffusion, 1975, section 2.2).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "grid/fields.h"
#include "physics/dye/dye.h"
#include "solid/shape.h"

static const double START = 0.1;  // m: standard deviation at the start

typedef struct run {
    rh_dye_params params;
    rh_surroundings around;
    rh_fields fields;
    rh_points points;
    rh_shape body;
    const rh_shape *bodies[1];
    void *method;
    rh_dvec3 center;  // of the Gaussian
    double time;
} run;

static double exact(const run *r, rh_dvec3 x)
{
    double d = (double)r->fields.dimension, start = START * START, now = start + 2 * r->params.diffusivity * r->time;
    rh_dvec3 way = rh_d3_sub(x, r->center);
    return pow(start / now, d / 2) * exp(-rh_d3_dot(way, way) / (2 * now));
}

static rh_dvec3 cell_center(const run *r, int32_t t, int c)
{
    rh_tile at = r->fields.at[t];
    double h = r->fields.h;
    return rh_d3((8 * at.x + (c & 7) + 0.5) * h, (8 * at.y + (c >> 3 & 7) + 0.5) * h,
                 r->fields.dimension == 3 ? (8 * at.z + (c >> 6) + 0.5) * h : 0);
}

static void open_run(run *r, int dimension, double cell, rh_dvec3 center)
{
    r->center = center;
    r->body = (rh_shape){.kind = RH_SHAPE_SPHERE, .flat = dimension == 2};
    r->body.as.sphere = (rh_sphere_params){center, 0.6};
    rh_fields_init(&r->fields, dimension, cell);
    rh_points_init(&r->points);
    r->bodies[0] = &r->body;
    r->around = (rh_surroundings){
        .dimension = dimension, .cell = cell, .fields = &r->fields, .bodies = r->bodies, .body_count = 1};
    assert_int_equal(rh_dye.create(&r->params, &r->around, &r->points, &r->method, NULL), RH_OK);
    float *values = rh_fields_find(&r->fields, "dye")->axis[0];
    for (int32_t t = 0; t < r->fields.count; t++)
        for (int c = 0; c < r->fields.cells; c++)
            values[(int64_t)t * r->fields.cells + c] = (float)exact(r, cell_center(r, t, c));
}

static void advance(run *r, double until)
{
    rh_step_report report;
    rh_status status = {0};
    while (r->time < until - 1e-12) {
        double dt = fmin(rh_dye.max_step(r->method, &r->around, &r->points), fmin(until - r->time, 0.01));
        if (rh_dye.step(r->method, &r->around, dt, &r->points, &report, &status) != RH_OK)
            fail_msg("%s", status.message);
        r->time += dt;
    }
}

static void close_run(run *r)
{
    rh_dye.destroy(r->method);
    rh_fields_free(&r->fields);
}

// Largest error relative to the peak, and mass and variance (of x) beside the exact ones.
typedef struct errors {
    double largest, mass, variance;
} errors;

static errors compare(const run *r)
{
    errors e = {0};
    const float *values = r->fields.items[0].axis[0];
    double peak = exact(r, r->center), sum = 0, square = 0, first = 0, d = (double)r->fields.dimension;
    for (int32_t t = 0; t < r->fields.count; t++)
        for (int c = 0; c < r->fields.cells; c++) {
            rh_dvec3 x = cell_center(r, t, c);
            double v = (double)values[(int64_t)t * r->fields.cells + c];
            e.largest = fmax(e.largest, fabs(v - exact(r, x)) / peak);
            sum += v;
            first += v * x.x;
            square += v * x.x * x.x;
        }
    double now = START * START + 2 * r->params.diffusivity * r->time, mean = first / sum;
    e.mass = sum * pow(r->fields.h, d) / pow(2 * M_PI * START * START, d / 2) - 1;
    e.variance = (square / sum - mean * mean) / now - 1;
    return e;
}

// At rest the variance grows as it should whatever the step, and dye is neither made nor lost.
static void a_gaussian_spreads(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        run r = {.params = {.diffusivity = 0.02, .cfl = 2, .least = 1e-7}};
        open_run(&r, dimension, 0.04, rh_d3(0.013, 0.02, dimension == 3 ? -0.01 : 0));
        advance(&r, 0.4);
        errors e = compare(&r);
        print_message("spreads in %d dimensions: largest %.2g, mass %.1g, variance %.1g\n", dimension, e.largest,
                      e.mass, e.variance);
        assert_true(e.largest < 0.02 * (dimension - 1));  // of first order in the step, about as much an axis
        assert_true(fabs(e.mass) < 2e-5 && fabs(e.variance) < 1e-3);
        close_run(&r);
    }
    assert_int_equal(rh_memory_bytes(), 0);
}

// Carried over 1.2 m, six of its widths: tiles come and go on the way. Of second order in the cell.
static void a_gaussian_is_carried(void **state)
{
    (void)state;
    double largest[2];
    for (int n = 0; n < 2; n++) {
        run r = {.params = {.diffusivity = 0.002, .cfl = 1, .least = 1e-6, .velocity = {1, 0.5, 0}}};
        open_run(&r, 2, n ? 0.02 : 0.04, rh_d3(-0.6, -0.3, 0));
        int32_t tiles = r.fields.count;
        advance(&r, 1.2);
        r.center = rh_d3(0.6, 0.3, 0);
        errors e = compare(&r);
        largest[n] = e.largest;
        print_message("carried, cells of %g m: largest %.2g, mass %.1g, variance %.1g, %d tiles (%d)\n", r.fields.h,
                      e.largest, e.mass, e.variance, r.fields.count, tiles);
        assert_true(fabs(e.mass) < 0.01);
        assert_true(r.fields.count < 3 * tiles);  // those behind were given up
        close_run(&r);
    }
    assert_true(largest[1] < 0.02 && largest[1] < 0.4 * largest[0]);
}

// Once around an axis beside it.
static void a_gaussian_turns(void **state)
{
    (void)state;
    run r = {.params = {.diffusivity = 0.001, .cfl = 1, .least = 1e-6, .angular_velocity = {0, 0, 2 * M_PI}}};
    open_run(&r, 2, 0.02, rh_d3(0.5, 0, 0));
    advance(&r, 1);
    errors e = compare(&r);
    print_message("turned: largest %.2g, mass %.1g\n", e.largest, e.mass);
    assert_true(e.largest < 0.06 && fabs(e.mass) < 0.02);
    close_run(&r);
}

static double print_of(const rh_fields *fields)
{
    double sum = 0;
    for (int64_t i = 0; i < (int64_t)fields->count * fields->cells; i++)
        sum += (double)fields->items[0].axis[0][i] * sin((double)i);
    return sum;
}

static void threads_change_nothing(void **state)
{
    (void)state;
    double first = 0;
    for (int threads = 1; threads <= 3; threads++) {
        run r = {.params = {.diffusivity = 0.01, .cfl = 2, .least = 1e-5, .velocity = {1, 0.3, -0.4}}};
        rh_threads_set(threads);
        open_run(&r, 3, 0.05, rh_d3(0, 0, 0));
        advance(&r, 0.1);
        double print = print_of(&r.fields);
        if (threads == 1) first = print;
        assert_true(print == first);
        close_run(&r);
    }
    rh_threads_set(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_gaussian_spreads), cmocka_unit_test(a_gaussian_is_carried),
                                       cmocka_unit_test(a_gaussian_turns), cmocka_unit_test(threads_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
