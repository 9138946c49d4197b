// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Splash against what is simply true. Still water stays still over any wall: with p = rho g (H - y) the equations of
// motion hold exactly with u = 0 (hydrostatics), so every speed seen is an error, measured in sqrt(g H), the speed of
// long waves. And a sheet that slides along a smooth wall, gravity normal to it, has nothing to lose its energy to:
// kinetic and potential energy together stay (Bernoulli). RHEO_LONG=1 lets water rest for 10 s instead of 3 s.
#include "lab.h"
#include <stdlib.h>

static bool is_long(void) { return getenv("RHEO_LONG") != NULL; }

// Speeds in sqrt(g H). Deep: more than two cells below the surface. All: the surface and the water's edge too, which on
// a beach is thinner than a cell for as many cells as the slope is long.
typedef struct rest {
    double deep, fastest, all, fastest_of_all, drift;
} rest;

static rest rest_of(const lab *l, double top, double depth)
{
    const rh_vec3 *x = lab_positions(l), *v = lab_velocities(l);
    double all = 0, deep = 0, fastest = 0, fastest_of_all = 0, n = (double)lab_count(l);
    double unit = sqrt(rh_d3_length(l->scene.gravity) * depth);
    int64_t below = 0;
    rh_dvec3 mean = {0, 0, 0};
    for (int64_t i = 0; i < lab_count(l); i++) {
        double speed = (double)rh_v3_length(v[i]);
        all += speed * speed;
        fastest_of_all = fmax(fastest_of_all, speed);
        mean = rh_d3_add(mean, rh_d3_from(v[i]));
        if ((double)x[i].y > top - 2 * l->scene.cell) continue;
        deep += speed * speed;
        fastest = fmax(fastest, speed);
        below++;
    }
    assert_true(below > lab_count(l) / 4);
    double drift = rh_d3_length(mean) / n;
    return (rest){sqrt(deep / (double)below) / unit, fastest / unit, sqrt(all / n) / unit, fastest_of_all / unit,
                  drift / unit};
}

// Water below `top`, at rest from the start. Seen ten times in the last 60 % of the time: root mean squares of the
// first and of the last five looks are below the bounds, and the last ones are not larger.
static void check_rest(lab *l, const char *what, double top, double depth, double until, rest most)
{
    double start = lab_center(l).y, deep[2] = {0, 0};
    rest most_seen = {0};
    for (int n = 0; n < 10; n++) {
        lab_run(l, until * (0.4 + 0.06 * (n + 1)), NULL, NULL);
        rest r = rest_of(l, top, depth);
        deep[n / 5] += r.deep / 5;
        most_seen.all += r.all / 10;
        most_seen.fastest = fmax(most_seen.fastest, r.fastest);
        most_seen.fastest_of_all = fmax(most_seen.fastest_of_all, r.fastest_of_all);
        most_seen.drift += r.drift / 10;
    }
    double level = (lab_center(l).y - start) / l->scene.cell;
    print_message("%s: deep rms %.4f, then %.4f sqrt(g H), fastest %.4f; of all %.4f, fastest %.4f, mean %.4f; level "
                  "%+.3f cells\n",
                  what, deep[0], deep[1], most_seen.fastest, most_seen.all, most_seen.fastest_of_all, most_seen.drift,
                  level);
    assert_true(deep[0] < most.deep && deep[1] < most.deep);
    assert_true(deep[1] < 1.5 * deep[0] + 0.2 * most.deep);
    assert_true(most_seen.fastest < most.fastest);
    assert_true(most_seen.all < most.all);
    assert_true(most_seen.fastest_of_all < most.fastest_of_all);
    assert_true(most_seen.drift < most.drift);
    assert_true(fabs(level) < 0.02);
    assert_true(l->penetration < 0);
    lab_close(l);
}

// --- beaches ---------------------------------------------------------------------------------------------------------
static void beach(int dimension, double slope, double cell, double top, double side, double until)
{
    lab l;
    char what[64];
    snprintf(what, sizeof what, "beach of 1:%g in %dD, cells of %g m", slope, dimension, cell);
    lab_open(&l,
             "cell: %g\ndimension: %d\nframes: {last: 10, fps: 24}\nphysics: {splash: {}}\n"
             "bodies:\n - {shape: {box: {min: [-0.4, 0, 0], max: [%g, %g, 0.2]}}}\n"
             "solids:\n - {inside_out: true, shape: {box: {min: [-0.4, 0, 0], max: [%g, 2, 0.2]}}}\n"
             " - {shape: {plane: {point: [0.013, 0, 0], normal: [-1, %g, %g]}}}\n",
             cell, dimension, 0.1 + top * slope, top, 0.4 + top * slope, slope, side);
    check_rest(&l, what, top, top, until, (rest){0.002, 0.01, 0.003, 0.04, 0.001});
}

static void still_water_over_a_beach(void **state)
{
    (void)state;
    double until = is_long() ? 10 : 3;
    for (int n = 0; n < 5; n++) beach(2, (double[]){1, 2, 5, 19.85, 40}[n], 0.05, 0.4, 0, until);
    for (int n = 0; n < (is_long() ? 5 : 3); n++) beach(2, (double[]){2, 5, 19.85, 1, 40}[n], 1.0 / 30, 0.4, 0, until);
}

static void still_water_over_a_beach_in_space(void **state)
{
    (void)state;
    beach(3, 5, 0.05, 0.25, 0.7, is_long() ? 10 : 6);
    if (is_long()) beach(3, 1, 0.05, 0.3, -0.4, 10);
}

// --- other walls -----------------------------------------------------------------------------------------------------
static void still_water_in_other_vessels(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double low, top;
        const char *solids;
    } vessels[] = {
        {"box turned by 25 degrees", -0.7, 0.1,
         " - {inside_out: true, shape: {box: {min: [-0.6, -0.5, -1], max: [0.6, 1.5, 1]}}, "
         "motion: {keys: [{time: 0, rotate: [0, 0, 25]}]}}\n"},
        {"bowl", -0.8, -0.2, " - {inside_out: true, shape: {sphere: {center: [0, 0, 0], radius: 0.8}}}\n"},
        {"ball under water", 0, 0.5,
         " - {inside_out: true, shape: {box: {min: [-0.7, 0, -1], max: [0.7, 2, 1]}}}\n"
         " - {shape: {sphere: {center: [0.1, 0.23, 0], radius: 0.17}}}\n"},
        {"cone of triangles", 0, 0.5,
         " - {inside_out: true, shape: {box: {min: [-0.8, 0, -1], max: [0.8, 2, 1]}}}\n"
         " - {shape: {mesh: {file: " RHEO_SOURCE_DIR "/scenes/meshes/cone.obj, scale: "
         "0.6, translate: [0.03, 0.1, 0], rotate: [0, 0, 20]}}}\n"},
    };
    for (int n = 0; n < (int)(sizeof vessels / sizeof vessels[0]); n++) {
        lab l;
        lab_open(&l,
                 "cell: 0.05\ndimension: 2\nframes: {last: 10, fps: 24}\nphysics: {splash: {}}\n"
                 "bodies:\n - {shape: {box: {min: [-2, -2, -1], max: [2, %g, 1]}}}\nsolids:\n%s",
                 vessels[n].top, vessels[n].solids);
        check_rest(&l, vessels[n].name, vessels[n].top, vessels[n].top - vessels[n].low, is_long() ? 10 : 3,
                   (rest){0.002, 0.01, 0.002, 0.015, 0.001});
    }
}

// A tank along the grid, its surface anywhere in a cell, the topmost layer of particles complete or not: nothing is
// seen to move, surface included, and neither the water nor its surface sinks. (Particles that lie alone on others may
// rock.)
static int descending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x > y ? -1 : x < y;
}

// Mean height of as many of the highest particles as a complete layer has.
static double surface_of(const lab *l, int64_t layer)
{
    int64_t count = lab_count(l);
    float *heights = malloc((size_t)count * sizeof *heights);
    assert_non_null(heights);
    for (int64_t i = 0; i < count; i++) heights[i] = lab_positions(l)[i].y;
    qsort(heights, (size_t)count, sizeof *heights, descending);
    double sum = 0;
    for (int64_t i = 0; i < layer; i++) sum += (double)heights[i];
    free(heights);
    return sum / (double)layer;
}

static void a_plain_tank_is_quiet(void **state)
{
    (void)state;
    enum { FLAT = 10 };
    for (int n = 0; n < FLAT + 2; n++) {
        int dimension = n < FLAT ? 2 : 3;
        double depth = (double[FLAT + 2]){6, 6.34, 6.68, 10.3, 10.5, 10.6, 10.75, 10.8, 10.85, 10.95, 4, 3.8}[n];
        lab l;
        lab_open(&l,
                 "cell: 0.05\ndimension: %d\nframes: {last: 10, fps: 24}\nphysics: {splash: {}}\n"
                 "bodies:\n - {shape: {box: {min: [0, 0, 0], max: [0.6, %g, 0.3]}}}\n"
                 "solids:\n - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [0.6, 1, 0.3]}}}\n",
                 dimension, 0.05 * depth);
        int64_t layer = dimension == 2 ? 36 : 36 * 18;
        double start = lab_center(&l).y, surface = surface_of(&l, layer), fastest = 0, rms = 0, sunk = 0,
               unit = sqrt(9.81 * 0.05 * depth);
        for (int k = 0; k < 20; k++) {
            lab_run(&l, 0.15 * (k + 1), NULL, NULL);
            rms = fmax(rms, rest_of(&l, 0.05 * depth, 0.05 * depth).all);
            if (k >= 10) fastest = fmax(fastest, lab_max_speed(&l));
            sunk = fmax(sunk, (surface - surface_of(&l, layer)) / 0.05);
        }
        double level = (lab_center(&l).y - start) / 0.05;
        print_message("tank in %dD, %g cells deep: rms at most %.4f, fastest of all %.4f sqrt(g H), level %+.4f, "
                      "surface sinks %.2f cells\n",
                      dimension, depth, rms, fastest / unit, level, sunk);
        bool complete = fabs(remainder(depth, 1.0 / 3)) < 1e-9;
        assert_true(fastest < (complete ? 0.01 : 0.02) * unit);
        assert_true(rms < 0.01);
        assert_true(fabs(level) < 0.02);
        assert_true(sunk < 0.1);
        lab_close(&l);
    }
}

// --- a sheet along a wall --------------------------------------------------------------------------------------------
// Half a capsule, 3 m long and 0.15 m thick, slides at 3 m/s along a plane. Returns the energy, as a part of the
// kinetic energy at the start, that is lost in a second.
static double sheet(double slope)
{
    double length = slope > 0 ? hypot(1, slope) : 1;
    rh_dvec3 t = slope > 0 ? rh_d3(slope / length, 1 / length, 0) : rh_d3(1, 0, 0), n = rh_d3(-t.y, t.x, 0);
    lab l;
    lab_open(&l,
             "cell: 0.05\ndimension: 2\ngravity: [%.9g, %.9g, 0]\nframes: {last: 10, fps: 24}\n"
             "physics: {splash: {}}\n"
             "bodies:\n - {velocity: [%.9g, %.9g, 0], shape: {capsule: {from: [%.9g, %.9g, 0], "
             "to: [%.9g, %.9g, 0], radius: 0.15}}}\n"
             "solids:\n - {shape: {plane: {normal: [%.9g, %.9g, 0]}}}\n",
             -9.81 * n.x, -9.81 * n.y, 3 * t.x, 3 * t.y, 0.3 * t.x, 0.3 * t.y, 3.3 * t.x, 3.3 * t.y, n.x, n.y);
    double start = lab_energy(&l), kinetic = lab_kinetic(&l);
    lab_run(&l, 1, NULL, NULL);
    double lost = (start - lab_energy(&l)) / kinetic, along = 0;
    for (int64_t i = 0; i < lab_count(&l); i++) along += rh_d3_dot(rh_d3_from(lab_velocities(&l)[i]), t);
    along /= (double)lab_count(&l);
    print_message("sheet along 1:%g: %.2f %% of its energy lost in a second, mean velocity %.4f of the start\n", slope,
                  100 * lost, along / 3);
    assert_true(fabs(along / 3 - 1) < 0.02);
    lab_close(&l);
    return lost;
}

static void a_sheet_keeps_its_energy(void **state)
{
    (void)state;
    double flat = sheet(0);
    assert_true(fabs(flat) < 0.015);
    for (int n = 0; n < 3; n++) assert_true(fabs(sheet((double[]){20, 5, 1}[n])) < 0.02);
}

// The source's own form can still be had, and still boils: what the bounds above are for.
static void the_sources_form_boils(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "cell: 0.05\ndimension: 2\nframes: {last: 10, fps: 24}\n"
                 "physics: {splash: {shares: sampled, well_balanced: false}}\n"
                 "bodies:\n - {shape: {box: {min: [-0.4, 0, 0], max: [2.1, 0.4, 0.2]}}}\n"
                 "solids:\n - {inside_out: true, shape: {box: {min: [-0.4, 0, 0], max: [2.4, 2, 0.2]}}}\n"
                 " - {shape: {plane: {point: [0.013, 0, 0], normal: [-1, 5, 0]}}}\n");
    lab_run(&l, 3, NULL, NULL);
    rest r = rest_of(&l, 0.4, 0.4);
    print_message("source's form over 1:5: deep rms %.3f sqrt(g H), fastest %.3f\n", r.deep, r.fastest);
    assert_true(r.deep > 0.05);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(still_water_over_a_beach),     cmocka_unit_test(still_water_over_a_beach_in_space),
        cmocka_unit_test(still_water_in_other_vessels), cmocka_unit_test(a_plain_tank_is_quiet),
        cmocka_unit_test(a_sheet_keeps_its_energy),     cmocka_unit_test(the_sources_form_boils),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
