// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Free particles with drag and wind against the solution of dv/dt = g - k (v - wind): with v1 = wind + g / k,
//      v(t) = v1 + (v0 - v1) e^-kt,    x(t) = x0 + v1 t + (v0 - v1) (1 - e^-kt) / k,
// and of quadratic drag at its terminal speed, sqrt(g / c). Steps are coarse on purpose: the method is exact, so their
// length must not matter.
#include <math.h>
#include "lab.h"

#define BODY "bodies: [{velocity: [2, 5, 0], shape: {box: {min: [0, 0, -1], max: [0.2, 0.2, 1]}}}]\n"

static rh_dvec3 mean(const rh_vec3 *values, int64_t count)
{
    rh_dvec3 sum = {0};
    for (int64_t i = 0; i < count; i++) sum = rh_d3_add(sum, rh_d3_from(values[i]));
    return rh_d3_scale(sum, 1 / (double)count);
}

static void linear_drag_is_exact(void **state)
{
    (void)state;
    const double k = 3, wind[2] = {-1, 0.5}, g[2] = {0, -9.81}, v0[2] = {2, 5}, steps[] = {0.3, 0.011};
    for (int n = 0; n < 2; n++) {
        lab l;
        lab_open(&l,
                 "dimension: 2\ncell: 0.05\nmax_step: %g\nphysics: {ballistic: {drag: 3, wind: [-1, 0.5, 0]}}\n" BODY,
                 steps[n]);
        rh_dvec3 start = mean(lab_positions(&l), lab_count(&l));
        double last = 0;
        rh_status status = {0};
        while (lab_time(&l) < 0.9) assert_int_equal(rh_world_step(l.world, 1, &last, &status), RH_OK);
        rh_dvec3 x = mean(lab_positions(&l), lab_count(&l)), v = mean(lab_velocities(&l), lab_count(&l));
        double t = lab_time(&l), half = t - 0.5 * last;  // velocities are half a step behind
        for (int a = 0; a < 2; a++) {
            double end = wind[a] + g[a] / k;
            assert_true(fabs((&x.x)[a] - (&start.x)[a] - end * t - (v0[a] - end) * (1 - exp(-k * t)) / k) < 1e-5);
            assert_true(fabs((&v.x)[a] - end - (v0[a] - end) * exp(-k * half)) < 1e-5);
        }
        lab_close(&l);
    }
}

static void without_drag_it_is_a_parabola(void **state)
{
    (void)state;
    lab l;
    rh_status status = {0};
    lab_open(&l, "dimension: 2\ncell: 0.05\nphysics: {ballistic: {drag: 0, wind: [9, 9, 0]}}\n" BODY);
    rh_dvec3 start = mean(lab_positions(&l), lab_count(&l));
    for (int n = 0; n < 3; n++) assert_int_equal(rh_world_step(l.world, 0.25, NULL, &status), RH_OK);
    rh_dvec3 x = mean(lab_positions(&l), lab_count(&l));
    double t = lab_time(&l);
    assert_true(fabs(x.x - start.x - 2 * t) < 1e-5 && fabs(x.y - start.y - 5 * t + 9.81 / 2 * t * t) < 1e-5);
    lab_close(&l);
}

// A drop of 3 mm: c = 3/4 C_d (air / water) / d = 0.12 / m with C_d = 0.4; falls at 9 m/s.
static void quadratic_drag_ends_at_its_terminal_speed(void **state)
{
    (void)state;
    const double steps[] = {0.5, 0.02};
    for (int n = 0; n < 2; n++) {
        lab l;
        rh_status status = {0};
        lab_open(&l, "dimension: 2\ncell: 0.05\nmax_step: %g\nphysics: {ballistic: {drag: 0, drag_speed: 0.12}}\n" BODY,
                 steps[n]);
        while (lab_time(&l) < 12) assert_int_equal(rh_world_step(l.world, 1, NULL, &status), RH_OK);
        rh_dvec3 v = mean(lab_velocities(&l), lab_count(&l));
        assert_true(fabs(v.y + sqrt(9.81 / 0.12)) < 1e-3 && fabs(v.x) < 1e-3);
        lab_close(&l);
    }
}

// Nothing gets into a solid; with restitution 0 what has fallen lies still, with 1 it keeps its energy but for the size
// of a step.
static void walls_hold_and_throw_back(void **state)
{
    (void)state;
    for (int bounce = 0; bounce < 2; bounce++) {
        lab l;
        rh_status status = {0};
        lab_open(&l,
                 "dimension: 2\ncell: 0.05\nphysics: {ballistic: {drag: 0, restitution: %d}}\n"
                 "bodies: [{shape: {box: {min: [0.4, 0.5, -1], max: [0.6, 0.7, 1]}}}]\n"
                 "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 2, 1]}}}, "
                 "{shape: {sphere: {center: [0.45, 0, 0], radius: 0.1}}}]\n",
                 bounce);
        double highest = 0;
        while (lab_time(&l) < 1.5) {
            assert_int_equal(rh_world_step(l.world, 1, NULL, &status), RH_OK);
            for (int64_t i = 0; i < lab_count(&l); i++) {
                rh_vec3 x = lab_positions(&l)[i];
                assert_true(x.x >= 0 && x.x <= 1 && x.y >= 0 && hypotf(x.x - 0.45f, x.y) >= 0.1f - 1e-5f);
                if (lab_time(&l) > 0.6) highest = fmax(highest, (double)x.y);
            }
        }
        assert_true(bounce ? highest > 0.4 : highest < 0.11);
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_drag_is_exact), cmocka_unit_test(without_drag_it_is_a_parabola),
        cmocka_unit_test(quadratic_drag_ends_at_its_terminal_speed), cmocka_unit_test(walls_hold_and_throw_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
