// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rough walls against what hydraulics knows of wide channels: the velocity of uniform flow, and how a sheet that
// nothing drives slows down. With depth h, slope S and the coefficient C of the law (tau = C rho U^2):
//
//      uniform flow       U = sqrt(g h S / C):  Manning's U = h^(2/3) S^(1/2) / n,  or  U = u* / 0.41 (ln(h / z0) - 1),
//                         u* = sqrt(g h S), z0 = roughness / 30
//      on the way there   dU/dt = g S - C U^2 / h:  U tanh(t/T + artanh(u0/U)), T = U / (g S); coth when it is faster
//      no slope           U = u0 / (1 + C u0 t / h)
//
// With RHEO_LONG=1 in the environment more depths.
#include <stdlib.h>
#include "lab.h"

static const double G = 9.81;

typedef struct channel {
    const char *method;
    int dimension;
    double cells;  // of depth
    double slope;  // sine; of gravity against a floor along the grid, or of the floor
    bool tilted;   // the floor
    const char *law;
    double start;  // of the velocity of uniform flow (without slope: m/s)
    double seconds;
} channel;

static const double DEPTH = 0.1, LENGTH = 9, WIDTH = 0.1;

// The sheet fills what is between the floor and a plane above it; at the start a sink takes away the rest of a box.
static void open_channel(lab *l, const channel *c, double speed)
{
    double s = c->tilted ? c->slope : 0, k = sqrt(1 - s * s), g = c->slope > 0 ? G : 0, pull = c->tilted ? 0 : c->slope;
    lab_open(l,
             "dimension: %d\ncell: %.12g\nmax_step: 0.02\ngravity: [%.12g, %.12g, 0]\nphysics: {%s: {}}\n"
             "bodies: [{velocity: [%.12g, %.12g, 0], shape: {box: {min: [0, %g, 0], max: [%g, %g, %g]}}}]\n"
             "solids: [{%s, shape: {plane: {normal: [%.12g, %.12g, 0]}}}%s]\n"
             "sinks: [{stop: 0.0001, shape: {plane: {point: [%.12g, %.12g, 0], normal: [%.12g, %.12g, 0]}}}]\n",
             c->dimension, DEPTH / c->cells, g * pull, -g * sqrt(1 - pull * pull), c->method, speed * k, -speed * s,
             -2 * LENGTH * s, LENGTH, 2 * DEPTH, WIDTH, c->law, s, k,
             c->dimension == 3 ? ", {inside_out: true, shape: {box: {min: [-90, -90, 0], max: [90, 90, 0.1]}}}" : "",
             DEPTH * s, DEPTH * k, -s, -k);
}

// Mean velocity along the floor of the middle of the sheet, where its ends are not yet felt.
static double middle_speed(const lab *l, const channel *c)
{
    const rh_vec3 *x = lab_positions(l), *v = lab_velocities(l);
    double s = c->tilted ? c->slope : 0, k = sqrt(1 - s * s), middle = lab_center(l).x, sum = 0, count = 0;
    for (int64_t i = 0; i < lab_count(l); i++) {
        if (fabs((double)x[i].x - middle) > 0.5) continue;
        sum += k * (double)v[i].x - s * (double)v[i].y;
        count++;
    }
    return sum / count;
}

// What the law says, written here once more.
static double coefficient(const char *law)
{
    double value = atof(strchr(law, ':') + 1);
    if (law[0] == 'm') return G * value * value / cbrt(DEPTH);
    double mean = (log(DEPTH / (value / 30)) - 1) / 0.41;
    return 1 / (mean * mean);
}

static double expected(const channel *c, double uniform, double start, double t)
{
    if (c->slope == 0) return start / (1 + coefficient(c->law) * start * t / DEPTH);
    double time = uniform / (G * c->slope), part = start / uniform;
    if (part == 1) return uniform;
    return part < 1 ? uniform * tanh(t / time + atanh(part)) : uniform / tanh(t / time + atanh(1 / part));
}

static void flow(channel c, double allowed)
{
    double uniform = c.slope > 0 ? sqrt(G * DEPTH * c.slope / coefficient(c.law)) : 1, start = c.start * uniform;
    lab l;
    open_channel(&l, &c, start);
    double worst = 0;
    for (int n = 1; n <= 4; n++) {
        double t = c.seconds * n / 4;
        lab_run(&l, t, NULL, NULL);
        double off = middle_speed(&l, &c) / expected(&c, uniform, start, lab_time(&l)) - 1;
        if (fabs(off) > fabs(worst)) worst = off;
    }
    print_message("%s %dD, %s, %g cells deep, slope %g%s: from %.3f to %.3f m/s in %g s, expected %.3f (uniform flow "
                  "%.3f); off by at most %+.1f %%\n",
                  c.method, c.dimension, c.law, c.cells, c.slope, c.tilted ? " of the floor" : "", start,
                  middle_speed(&l, &c), c.seconds, expected(&c, uniform, start, lab_time(&l)),
                  c.slope > 0 ? uniform : 0.0, 100 * worst);
    assert_true(fabs(worst) < allowed);
    lab_close(&l);
}

static void a_sheet_without_slope_slows_down(void **state)
{
    (void)state;
    flow((channel){"liquid", 2, 3, 0, false, "manning: 0.05", 1, 3}, 0.05);
    flow((channel){"liquid", 2, 6, 0, false, "roughness: 0.02", 1, 3}, 0.05);
    flow((channel){"liquid", 2, 0.5, 0, false, "manning: 0.05", 1, 3}, 0.05);
    flow((channel){"splash", 2, 3, 0, false, "manning: 0.05", 1, 3}, 0.05);
}

static void uniform_flow_is_reached_and_kept(void **state)
{
    (void)state;
    for (double cells = 3; cells < 20; cells *= 2)
        flow((channel){"liquid", 2, cells, 0.1, false, "manning: 0.05", 1, 2}, 0.1);
    flow((channel){"liquid", 2, 3, 0.1, false, "manning: 0.05", 0.2, 2}, 0.1);
    flow((channel){"liquid", 2, 3, 0.1, false, "manning: 0.05", 2, 2}, 0.1);
    flow((channel){"liquid", 2, 3, 0.1, false, "roughness: 0.05", 1, 2}, 0.1);
    flow((channel){"liquid", 2, 6, 0.1, false, "roughness: 0.05", 0.2, 2}, 0.1);
    flow((channel){"liquid", 2, 3, 0.1, true, "manning: 0.05", 1, 2}, 0.1);
    flow((channel){"liquid", 2, 6, 0.1, true, "manning: 0.05", 0.2, 2}, 0.1);
    flow((channel){"splash", 2, 3, 0.1, false, "manning: 0.05", 1, 2}, 0.1);
    flow((channel){"splash", 2, 6, 0.1, true, "manning: 0.05", 0.2, 2}, 0.1);
    flow((channel){"liquid", 2, 0.5, 0.1, false, "manning: 0.05", 1, 2}, 0.1);
    flow((channel){"liquid", 3, 3, 0.1, false, "manning: 0.05", 0.2, 1}, 0.1);
    if (!getenv("RHEO_LONG")) return;
    flow((channel){"liquid", 2, 1, 0.1, false, "manning: 0.05", 1, 2}, 0.1);
    flow((channel){"liquid", 2, 24, 0.1, false, "manning: 0.05", 1, 2}, 0.1);
    flow((channel){"liquid", 2, 12, 0.1, true, "roughness: 0.05", 0.2, 2}, 0.1);
    flow((channel){"liquid", 3, 6, 0.1, true, "manning: 0.05", 0.2, 1}, 0.1);
    flow((channel){"splash", 3, 3, 0.1, false, "manning: 0.05", 0.2, 1}, 0.1);
}

// As seen from the wall it does not matter which of the two moves.
static void a_moving_wall_draws_liquid_along(void **state)
{
    (void)state;
    for (int splash = 0; splash < 2; splash++) {
        lab l;
        lab_open(
            &l,
            "dimension: 2\ncell: 0.0333\ngravity: [0, 0, 0]\nphysics: {%s: {}}\n"
            "bodies: [{shape: {box: {min: [0, 0, -1], max: [4, %g, 1]}}}]\n"
            "solids: [{manning: 0.05, shape: {box: {min: [-50, -2, -2], max: [50, 0, 2]}}, motion: {interpolation: "
            "linear, keys: [{time: 0}, {time: 10, translate: [10, 0, 0]}]}}]\n",
            splash ? "splash" : "liquid", DEPTH);
        lab_run(&l, 2, NULL, NULL);
        channel c = {.tilted = false};
        double mean = middle_speed(&l, &c), truth = 1 - 1 / (1 + coefficient("manning: 0.05") * 2 / DEPTH);
        print_message("a wall at 1 m/s under resting liquid: %.4f m/s after 2 s, expected %.4f\n", mean, truth);
        assert_true(fabs(mean / truth - 1) < 0.05);
        lab_close(&l);
    }
}

static void look_back(lab *l, void *user)
{
    const rh_vec3 *v = lab_velocities(l);
    for (int64_t i = 0; i < lab_count(l); i++) *(double *)user = fmin(*(double *)user, (double)v[i].x);
}

// The strongest friction in the longest steps stops and does not turn around.
static void nothing_is_turned_around(void **state)
{
    (void)state;
    lab l;
    double least = 1;
    lab_open(&l, "dimension: 2\ncell: 0.0333\ngravity: [0, 0, 0]\nphysics: {liquid: {}}\n"
                 "bodies: [{velocity: [1, 0, 0], shape: {box: {min: [0, 0, -1], max: [4, 0.0333, 1]}}}]\n"
                 "solids: [{manning: 1, shape: {plane: {}}}]\n");
    lab_run(&l, 2, look_back, &least);
    print_message("the strongest friction: %.5f m/s after 2 s, at least %.5f\n", lab_max_speed(&l), least);
    assert_true(lab_max_speed(&l) < 0.01 && least > -1e-3);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_without_slope_slows_down), cmocka_unit_test(uniform_flow_is_reached_and_kept),
        cmocka_unit_test(a_moving_wall_draws_liquid_along), cmocka_unit_test(nothing_is_turned_around)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
