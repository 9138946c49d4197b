// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Thick liquids of smoothed particles in whole steps, with pressure, walls and solids, against exact solutions and what
// thick liquids are known to do.
#include <math.h>
#include "lab.h"

static const double PI = 3.14159265358979323846;

// --- a film ------------------------------------------------------------------------------------------------------------
// A film of depth H on a plate, drawn along it by g: u = g / nu (H y - y^2 / 2), half of Poiseuille's profile, comes about
// as 1 - exp(-pi^2 nu t / 4 H^2): u(y, t) = steady - sum over odd n of 16 g H^2 / (nu n^3 pi^3) sin(n pi y / 2 H)
// exp(-n^2 pi^2 nu t / 4 H^2).
static double film_at(double y, double time, double depth, double nu, double g)
{
    double u = g / nu * (depth * y - 0.5 * y * y);
    for (int n = 1; n < 20; n += 2)
        u -= 16 * g * depth * depth / (nu * pow(n * PI, 3)) * sin(n * PI * y / (2 * depth)) *
             exp(-n * n * PI * PI * nu * time / (4 * depth * depth));
    return u;
}

// Root mean square difference of the particles in the middle of the film to that, over the speed at the surface.
static double film_error(const char *form, double slope, double until, double cell)
{
    lab l;
    double depth = 0.1, nu = 0.2, g = 1, length = 1.2, c = cos(slope), s = sin(slope);
    lab_open(&l,
             "dimension: 2\ncell: %g\nframes: {last: 2, fps: 0.1}\ngravity: [%.9g, %.9g, 0]\n"
             "physics: {sph: {viscosity: 200, time_step: 5e-4, viscosity_form: %s}}\n"
             "bodies: [{shape: {box: {min: [%g, 2, -1], max: [%g, %g, 1]}}}]\n"
             "solids: [{shape: {plane: {point: [0, 0, 0], normal: [%.9g, %.9g, 0]}}, wall: no_slip}]\n",
             cell, g * c, g * s, form, -0.5 * length, 0.5 * length, 2 + depth, -s, c);
    rh_vec3 *x = rh_points_data(rh_world_points(l.world), "P", RH_POINT_VEC3F);  // made above the plate, and laid on it
    for (int64_t i = 0; i < lab_count(&l); i++) {
        double along = (double)x[i].x, y = (double)x[i].y - 2;
        x[i].x = (float)(c * along - s * y), x[i].y = (float)(s * along + c * y);
    }
    lab_run(&l, until, NULL, NULL);
    double sum = 0, count = 0, top = film_at(depth, until, depth, nu, g);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        rh_vec3 p = lab_positions(&l)[i], v = lab_velocities(&l)[i];
        double along = c * (double)p.x + s * (double)p.y, y = c * (double)p.y - s * (double)p.x;
        if (fabs(along) > 0.2 * length) continue;
        double off = c * (double)v.x + s * (double)v.y - film_at(y, until, depth, nu, g);
        sum += off * off, count++;
    }
    lab_close(&l);
    print_message("film, form %s, %.0f degrees, cells of %g, after %g s: off by %.4f of its speed\n", form,
                  slope * 180 / PI, cell, until, sqrt(sum / count) / top);
    return sqrt(sum / count) / top;
}

static void a_film_flows_down_a_plate(void **state)
{
    (void)state;
    assert_true(film_error("pairs", 0, 0.01, 0.02) < 0.03);
    assert_true(film_error("pairs", 0, 0.05, 0.02) < 0.01);
    assert_true(film_error("pairs", 0.5, 0.05, 0.02) < 0.01);
    assert_true(film_error("laplacian", 0, 0.05, 0.02) < 0.01);
    assert_true(film_error("stress", 0, 0.05, 0.02) < 0.1);
}

// --- between two cylinders -----------------------------------------------------------------------------------------------
// The inner one, of radius a, turns at W, the outer one, of radius b, stands: u = W a^2 / (b^2 - a^2) (b^2 / r - r), and the
// moment on the outer one is 4 pi mu W a^2 b^2 / (b^2 - a^2) per metre; with a slip length l on the outer one
// u = A r + B / r with u(b) = -l r d(u / r)/dr at b.
static void between_cylinders(double slip, double *off, double *moment)
{
    lab l;
    double a = 0.1, b = 0.2, mu = 100, turn = 1, sum = 0, count = 0;
    lab_open(&l,
             "dimension: 2\ncell: 0.02\nframes: {last: 2, fps: 0.1}\ngravity: [0, 0, 0]\n"
             "physics: {sph: {viscosity: %g, time_step: 0.01, full: true}}\n"
             "bodies: [{shape: {sphere: {radius: 0.2}}}]\n"
             "solids: [{inside_out: true, shape: {sphere: {radius: 0.2}}, wall: no_slip, slip_length: %g},\n"
             "  {shape: {sphere: {radius: 0.1}}, wall: no_slip, motion: {keys: [{time: 0}, {time: 10, rotate: [0, 0, "
             "%.9g]}]}}]\n\n",
             mu, slip, 10 * turn * 180 / PI);
    lab_run(&l, 1, NULL, NULL);
    double c = b * b / (b * b * b + 2 * slip * b * b), tied = 1 / (1 / (a * a) - c / b * b + 0);
    (void)tied, (void)moment;
    double bb = turn / (1 / (a * a) - (1 / (b * b)) * (1 - 2 * slip / b) / 1), aa = turn - bb / (a * a);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        rh_vec3 p = lab_positions(&l)[i], v = lab_velocities(&l)[i];
        double r = hypot((double)p.x, (double)p.y), u = ((double)p.x * (double)v.y - (double)p.y * (double)v.x) / r;
        double exact = aa * r + bb / r;
        sum += (u - exact) * (u - exact), count++;
    }
    *off = sqrt(sum / count) / (turn * a);
    print_message("between cylinders, slip length %g: off by %.4f of the inner one's speed, %g particles\n", slip, *off,
                  count);
    lab_close(&l);
}

static void one_cylinder_turns_in_another(void **state)
{
    (void)state;
    double off, moment;
    between_cylinders(0, &off, &moment);
}

// --- a ball --------------------------------------------------------------------------------------------------------------
// As in test_viscous_flows.c: in the middle of a round container of radius b a ball of radius a sinks at F / (6 pi mu a K).
static double ball_speed(int across, const char *coupling)
{
    lab l;
    double a = 0.1, b = 0.3, h = 2 * a / across, r = a / b, viscosity = 1000;
    double k = (1 - pow(r, 5)) / (1 - 2.25 * r + 2.5 * pow(r, 3) - 2.25 * pow(r, 5) + pow(r, 6));
    lab_open(&l,
             "cell: %.17g\nframes: {last: 2, fps: 1}\ngravity: [0, -9.81, 0]\n"
             "physics: {sph: {viscosity: %g, full: true, time_step: 0.005, viscosity_coupling: %s}}\n"
             "bodies: [{shape: {sphere: {radius: %g}}}]\n"
             "solids: [{shape: {sphere: {radius: %g}}, inside_out: true, wall: no_slip},\n"
             "  {shape: {sphere: {radius: %g}}, wall: no_slip, dynamic: {density: 3000}}]\n",
             h, viscosity, coupling, b, b, a);
    double exact = 2.0 / 9 * 2000 * 9.81 * a * a / (viscosity * k), speed = 0;
    for (int n = 1; n <= 30; n++) {
        lab_run(&l, n * 0.005, NULL, NULL);
        speed = -rh_world_solids(l.world)->items[1].linear.y;
        print_message("%.3f ", speed / exact);
    }
    print_message("ball of %d cells in a round container, %s: %.3f of Stokes' speed with walls\n", across, coupling,
                  speed / exact);
    lab_close(&l);
    return speed / exact;
}

static void a_ball_sinks_as_stokes_says(void **state)
{
    (void)state;
    ball_speed(4, "strong");
    ball_speed(4, "one_way");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_film_flows_down_a_plate),
        cmocka_unit_test(one_cylinder_turns_in_another),
        cmocka_unit_test(a_ball_sinks_as_stokes_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
