// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A slab of water falls flat on a floor. It is stopped at once, so its pressure has no peak of its own, only an
// impulse: by the end, when all is at rest, the floor has given the slab's weight times the whole time, fall
// included: rho g H t, and at a depth d below the surface rho g d t. The reported pressure must have this as its
// integral over time, and, being a mean over a stated time, be much the same for any time step.
#include "lab.h"

typedef struct gauge {
    double time, impulse, expected, peak;
    int steps;
    double longest;
} gauge;

// The mean over particles in the lowest 2 cm.
static void watch(lab *l, void *user)
{
    gauge *g = user;
    const rh_vec3 *x = lab_positions(l);
    const float *p = rh_points_data(rh_world_points(l->world), "pressure", RH_POINT_F32);
    double sum = 0, n = 0, dt = lab_time(l) - g->time;
    for (int64_t i = 0; i < lab_count(l); i++) {
        if ((double)x[i].y > 0.02) continue;
        sum += (double)p[i];
        n++;
    }
    if (n > 0) {
        g->impulse += sum / n * dt;
        g->peak = fmax(g->peak, sum / n);
    }
    g->time = lab_time(l);
    g->expected = 1000 * 9.81 * (0.15 - 0.01) * g->time;
    g->longest = fmax(g->longest, dt);
    g->steps++;
}

static gauge fall(double max_step, double pressure_time)
{
    lab l;
    gauge g = {0};
    lab_open(&l,
             "dimension: 2\ncell: 0.015\nmax_step: %g\nphysics: {liquid: {pressure: true, pressure_time: %g}}\n"
             "bodies: [{shape: {box: {min: [0, 0.2, 0], max: [0.6, 0.35, 1]}}}]\nsolids: [{inside_out: true, shape: "
             "{box: {min: [0, 0, -1], max: [0.6, 1, 1]}}}]\n",
             max_step, pressure_time);
    lab_run(&l, 0.6, watch, &g);
    print_message("steps of %g s, mean over %g s: impulse %.1f of %.1f Pa s, peak %.1f kPa, %d steps\n", max_step,
                  pressure_time, g.impulse, g.expected, g.peak * 1e-3, g.steps);
    lab_close(&l);
    assert_true(g.longest <= max_step * (1 + 1e-9));
    return g;
}

static void an_impact_has_its_impulse_in_any_steps(void **state)
{
    (void)state;
    static const double steps[] = {0.01, 0.005, 0.0025, 0.00125};
    double least = INFINITY, most = 0;
    for (int n = 0; n < 4; n++) {
        gauge g = fall(steps[n], 0.01);
        assert_true(fabs(g.impulse - g.expected) < 0.05 * g.expected);
        least = fmin(least, g.peak);
        most = fmax(most, g.peak);
    }
    // The mean over a time T of an impulse that comes within a step dt is lower by T / dt (1 - exp(-dt / T)), 0.63
    // for dt = T; with the pressure of single steps the peaks differ by six.
    assert_true(most < 1.6 * least);
    gauge raw[2] = {fall(0.01, 0), fall(0.00125, 0)};
    assert_true(raw[1].peak > 3 * raw[0].peak);
    for (int n = 0; n < 2; n++) assert_true(fabs(raw[n].impulse - raw[n].expected) < 0.05 * raw[n].expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_impact_has_its_impulse_in_any_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
