// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Thick liquids in whole steps, with particles, pressure, walls, solids and surface tension together, against
// measurements and exact solutions.
#include <math.h>
#include "lab.h"

// --- a cavity with a lid that slides ---------------------------------------------------------------------------------
// U. Ghia, K. N. Ghia, C. T. Shin, J. Comput. Phys. 48, 1982, tables I and II: velocities (of the lid) along the middle
// lines, at Reynolds numbers of 100 and 1000.
enum { PLACES = 15 };
static const double along_y[PLACES] = {.0547, .0625, .0703, .1016, .1719, .2813, .4531, .5,
                                       .6172, .7344, .8516, .9531, .9609, .9688, .9766};
static const double ghia_u[2][PLACES] = {{-.03717, -.04192, -.04775, -.06434, -.10150, -.15662, -.21090, -.20581,
                                          -.13641, .00332, .23151, .68717, .73722, .78871, .84123},
                                         {-.18109, -.20196, -.22220, -.29730, -.38289, -.27805, -.10648, -.06080,
                                          .05702, .18719, .33304, .46604, .51117, .57492, .65928}};
static const double along_x[PLACES] = {.0625, .0703, .0781, .0938, .1563, .2266, .2344, .5,
                                       .8047, .8594, .9063, .9453, .9531, .9609, .9688};
static const double ghia_v[2][PLACES] = {{.09233, .10091, .10890, .12317, .16077, .17507, .17527, .05454, -.24533,
                                          -.22445, -.16914, -.10313, -.08864, -.07391, -.05906},
                                         {.27485, .29012, .30353, .32627, .37095, .33075, .32235, .02526, -.31966,
                                          -.42665, -.51550, -.39188, -.33714, -.27669, -.21388}};

// Mean velocity of the particles around a place, by weights that fall off over a cell.
static double mean_at(const lab *l, double x, double y, int axis, double h)
{
    double sum = 0, weights = 0;
    for (int64_t i = 0; i < lab_count(l); i++) {
        rh_vec3 p = lab_positions(l)[i];
        double dx = fabs((double)p.x - x) / h, dy = fabs((double)p.y - y) / h;
        if (dx >= 1 || dy >= 1) continue;
        double w = (1 - dx) * (1 - dy);
        sum += w * (double)(&lab_velocities(l)[i].x)[axis];
        weights += w;
    }
    return weights > 0 ? sum / weights : 0;
}

// Largest and root mean square difference to the tables, in units of the lid's velocity. Means over the last steps.
static void cavity(int cells, int which, double time, double *worst, double *rms)
{
    lab l;
    double h = 1.0 / cells, u[PLACES] = {0}, v[PLACES] = {0};
    int samples = 40;
    lab_open(&l,
             "dimension: 2\ncell: %.17g\nframes: {last: 100, fps: 1}\ngravity: [0, 0, 0]\n"
             "physics: {liquid: {viscosity: %g, transfer: apic, cfl: 1}}\n"
             "bodies: [{shape: {box: {min: [0, 0, -1], max: [1, 1, 1]}}}]\n"
             "solids: [{shape: {box: {min: [0, 0, -1], max: [1, 2, 1]}}, inside_out: true, wall: no_slip},\n"
             "  {shape: {plane: {point: [0, 1, 0], normal: [0, -1, 0]}}, wall: no_slip,\n"
             "   motion: {keys: [{time: 0}, {time: 100, translate: [100, 0, 0]}]}}]\n",
             h, which ? 1.0 : 10.0);
    for (int n = 0; n < samples; n++) {
        lab_run(&l, time + 0.1 * n, NULL, NULL);
        for (int k = 0; k < PLACES; k++) {
            u[k] += mean_at(&l, 0.5, along_y[k], 0, h) / samples;
            v[k] += mean_at(&l, along_x[k], 0.5, 1, h) / samples;
        }
    }
    *worst = *rms = 0;
    for (int k = 0; k < PLACES; k++) {
        // Nearer to a wall than a cell particles say less than the table.
        double du = along_y[k] > h && along_y[k] < 1 - h ? u[k] - ghia_u[which][k] : 0;
        double dv = along_x[k] > h && along_x[k] < 1 - h ? v[k] - ghia_v[which][k] : 0;
        *worst = fmax(*worst, fmax(fabs(du), fabs(dv)));
        *rms += (du * du + dv * dv) / (2 * PLACES);
    }
    *rms = sqrt(*rms);
    print_message("cavity, Re %d, %d cells: off by %.3f of the lid's speed at most, %.3f rms\n", which ? 1000 : 100,
                  cells, *worst, *rms);
    lab_close(&l);
}

static void a_lid_drives_a_cavity(void **state)
{
    (void)state;
    double worst, rms;
    cavity(32, 0, 8, &worst, &rms);
    assert_true(worst < 0.05 && rms < 0.02);
    if (!getenv("RHEO_LONG")) return;
    cavity(64, 0, 8, &worst, &rms);
    assert_true(worst < 0.03 && rms < 0.012);
    cavity(64, 1, 30, &worst, &rms);
    assert_true(worst < 0.1 && rms < 0.05);
}

// --- a ball ----------------------------------------------------------------------------------------------------------
// In the middle of a round container of radius b a ball of radius a sinks, at U = F / (6 pi mu a K) (E. Cunningham,
// Proc. R. Soc. A 83, 1910; J. Happel, H. Brenner, 1965, 4-22): K = (1 - l^5) / (1 - 9/4 l + 5/2 l^3 - 9/4 l^5 + l^6),
// l = a/b.
static double ball_speed(int across)
{
    lab l;
    double a = 0.1, b = 0.3, h = 2 * a / across, r = a / b, viscosity = 1000;
    double k = (1 - pow(r, 5)) / (1 - 2.25 * r + 2.5 * pow(r, 3) - 2.25 * pow(r, 5) + pow(r, 6));
    lab_open(&l,
             "cell: %.17g\nframes: {last: 2, fps: 1}\ngravity: [0, -9.81, 0]\n"
             "physics: {liquid: {viscosity: %g, viscosity_turns: 4}}\n"
             "bodies: [{shape: {sphere: {radius: %g}}}]\n"
             "solids: [{shape: {sphere: {radius: %g}}, inside_out: true, wall: no_slip},\n"
             "  {shape: {sphere: {radius: %g}}, wall: no_slip, dynamic: {density: 3000}}]\n",
             h, viscosity, b, b, a);
    for (int n = 1; n <= 4; n++) lab_run(&l, n * 0.005, NULL, NULL);
    double speed = -rh_world_solids(l.world)->items[1].linear.y;
    double exact = 2.0 / 9 * 2000 * 9.81 * a * a / (viscosity * k);
    print_message("ball of %d cells in a round container: %.3f of Stokes' speed with walls\n", across, speed / exact);
    lab_close(&l);
    return speed / exact;
}

static void a_ball_sinks_as_stokes_says(void **state)
{
    (void)state;
    assert_float_equal(ball_speed(8), 1, 0.05);
    if (getenv("RHEO_LONG")) assert_float_equal(ball_speed(16), 1, 0.05);
}

// --- a drop ----------------------------------------------------------------------------------------------------------
// Half the difference of its extent along x and y.
static double stretch(const lab *l)
{
    double sum[2] = {0};
    for (int64_t i = 0; i < lab_count(l); i++) {
        rh_vec3 p = lab_positions(l)[i];
        sum[0] += (double)(p.x * p.x), sum[1] += (double)(p.y * p.y);
    }
    return (sum[0] - sum[1]) / (sum[0] + sum[1]);
}

// An ellipse under tension, with viscosity: its swing of two lobes has the frequency sqrt(6 sigma / rho R^3) and fades
// with exp(-4 nu t / R^2) (H. Lamb, "Hydrodynamics", 6th ed. 1932, art. 355, for a cylinder of liquid). Compared: the
// swings after half and after whole periods.
static void tension_and_viscosity_act_together(void **state)
{
    (void)state;
    lab l;
    double radius = 0.2, tension = 50, density = 1000, viscosity = 6;
    double rate = sqrt(6 * tension / (density * pow(radius, 3))), fading = 4 * viscosity / (density * radius * radius);
    lab_open(&l,
             "dimension: 2\ncell: 0.0166666\nframes: {last: 2, fps: 0.1}\ngravity: [0, 0, 0]\n"
             "physics: {liquid: {surface_tension: %g, viscosity: %g}}\n"
             "bodies: [{shape: {sphere: {radius: %g}}}]\n",
             tension, viscosity, radius);
    rh_vec3 *x = rh_points_data(rh_world_points(l.world), "P", RH_POINT_VEC3F);
    for (int64_t i = 0; i < lab_count(&l); i++) x[i].x *= 1.1f, x[i].y /= 1.1f;
    double start = stretch(&l), before = start, last = 0, crossing[3] = {0}, low = 0;
    int crossings = 0;
    for (int n = 1; crossings < 3 && n < 400; n++) {
        double time = n * 0.01;
        lab_run(&l, time, NULL, NULL);
        double now = stretch(&l);
        low = fmin(low, now);
        if (now * before < 0) crossing[crossings++] = last + (time - last) * before / (before - now);
        before = now, last = time;
    }
    double swing = sqrt(rate * rate - fading * fading), period = crossing[2] - crossing[0], exact = 2 * M_PI / swing;
    double faded = -log(-low / start) / (M_PI / swing);
    print_message("drop with tension and viscosity: period %.3f of Lamb's, fades %.2f times as fast\n", period / exact,
                  faded / fading);
    assert_float_equal(period / exact, 1, 0.05);
    assert_float_equal(faded / fading, 1, 0.15);
    lab_close(&l);
}

// --- viscosity by particle -------------------------------------------------------------------------------------------
// A program sets the left half of a heap to pitch: it stays, and the right half runs.
static void what_a_program_sets_stands(void **state)
{
    (void)state;
#ifdef RHEO_NO_LANG
    skip();
#endif
    lab l;
    lab_open(&l, "dimension: 2\ncell: 0.02\nframes: {last: 13, fps: 24}\ngravity: [0, -9.81, 0]\n"
                 "physics: {liquid: {viscosity: 0.1, viscosity_varies: true}}\n"
                 "bodies: [{shape: {box: {min: [-0.2, 0, -1], max: [0.2, 0.2, 1]}}}]\n"
                 "solids: [{shape: {plane: {normal: [0, 1, 0]}}, wall: no_slip}]\n"
                 "expressions: [{at: step, code: 'if (@P.x < 0) float@viscosity = 1e5;'}]\n");
    lab_run(&l, 0.5, NULL, NULL);
    double left = 0, right = 0;
    for (int64_t i = 0; i < lab_count(&l); i++) {
        left = fmin(left, (double)lab_positions(&l)[i].x);
        right = fmax(right, (double)lab_positions(&l)[i].x);
    }
    print_message("heap, its left half set by a program: from %.3f to %.3f m (from -0.2 to 0.2)\n", left, right);
    assert_true(left > -0.23 && right > 0.5);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lid_drives_a_cavity),
        cmocka_unit_test(a_ball_sinks_as_stokes_says),
        cmocka_unit_test(tension_and_viscosity_act_together),
        cmocka_unit_test(what_a_program_sets_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
