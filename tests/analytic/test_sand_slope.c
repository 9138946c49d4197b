// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sand's own model: below which slopes a layer holds and above which it flows, and how steep the pile is that a column
// leaves, for angles of friction from 15 to 45 degrees.
//
// On a long slope a layer flows on where it is steeper than its angle of friction and stops where it is not, whatever
// its depth; at rest it holds up to one to three degrees more (A. Daerr, S. Douady, Nature 399, 1999). What a column
// leaves is flatter, since it arrives with speed.
#include "sand_lab.h"

// A layer eight cells deep in a trough of 8 m, in gravity turned by `slope`: how far its middle 2 m have moved along
// the floor at each of two times, in cells. (In a trough of 2.4 m the lower end wall held layers up to five degrees too
// steep.)
static void tilt(double friction_angle, double slope, double speed, const double times[2], double out[2])
{
    lab l;
    rh_status status = {0};
    lab_open(&l,
             "cell: 0.02\ndimension: 2\nframes: {last: 10000}\ngravity: [%.17g, %.17g, 0]\nphysics: {sand: "
             "{friction_angle: %g}}\n"
             "bodies:\n - {velocity: [%g, 0, 0], shape: {box: {min: [0, 0, -1], max: [8, 0.16, 1]}}}\n"
             "solids:\n - {inside_out: true, friction: 1, shape: {box: {min: [0, 0, -1], max: [8, 1, 1]}}}\n",
             9.81 * sin(slope * SAND_DEGREE), -9.81 * cos(slope * SAND_DEGREE), friction_angle, speed);
    rh_vec3 *start = sand_positions_by_id(&l, &status);
    for (int n = 0; n < 2; n++) {
        lab_run(&l, times[n], NULL, NULL);
        const int64_t *id = rh_points_data(rh_world_points(l.world), "id", RH_POINT_I64);
        double sum = 0, count = 0;
        for (int64_t i = 0; i < lab_count(&l); i++)
            if (fabsf(start[id[i]].x - 4) < 1) sum += (double)(lab_positions(&l)[i].x - start[id[i]].x), count++;
        out[n] = sum / count / 0.02;
    }
    rh_free(start);
    lab_close(&l);
}

// Friction is bounded by t = tan(angle) times the mean pressure. Stress along the slope adds to that, so a layer can
// hold up to tan(slope) = t / sqrt(1 - t^2): 15.5, 27.8 and 44.4 degrees for 15, 25 and 35. That is more than sand does
// above 25 degrees (docs/limits.md): the test says what the model does, and nothing of the slopes between.
static double steepest(double angle)
{
    double t = tan(angle * SAND_DEGREE);
    return atan(t / sqrt(1 - t * t)) / SAND_DEGREE;
}

static void slopes_hold_below_the_angle_and_flow_above_the_model_s_limit(void **state)
{
    (void)state;
    const double times[] = {0.8, 1.2};
    for (double angle = 15; angle < 40; angle += 10) {
        double held[2], flows[2], stops[2], runs[2], limit = steepest(angle) + 3;
        tilt(angle, angle - 2, 0, times, held);
        tilt(angle, limit, 0, times, flows);
        tilt(angle, angle - 2, 0.3, times, stops);
        tilt(angle, limit, 0.3, times, runs);
        print_message("friction angle %g: at rest %.2f cells in 1.2 s at %.1f degrees, %.2f at %.1f; pushed %.2f and "
                      "%.2f cells in the last 0.4 s\n",
                      angle, held[1], angle - 2, flows[1], limit, stops[1] - stops[0], runs[1] - runs[0]);
        assert_true(held[1] < 0.5);
        assert_true(flows[1] > 2);
        assert_true(stops[1] - stops[0] < 0.5);
        assert_true(runs[1] - runs[0] > 2);
    }
}

static void a_column_leaves_a_steeper_pile_for_more_friction(void **state)
{
    (void)state;
    double last = 0;
    for (double angle = 15; angle <= 45; angle += 5) {
        lab l;
        static sand_profile p;
        lab_open(&l,
                 "cell: 0.025\ndimension: 2\nframes: {last: 10000}\nphysics: {sand: {friction_angle: %g}}\n"
                 "bodies:\n - {shape: {box: {min: [0, 0, -1], max: [0.5, 0.5, 1]}}}\n"
                 "solids:\n - {inside_out: true, friction: 1, shape: {box: {min: [0, 0, -1], max: [4, 2, 1]}}}\n",
                 angle);
        lab_run(&l, 3, NULL, NULL);
        sand_measure(&l, &p);
        double found = sand_slope(&p);
        print_message("friction angle %g: the pile's slope is %.1f degrees, its front at %.3f m\n", angle, found,
                      sand_front(&p, 0.1));
        assert_true(found > last + 0.2);
        assert_true(found < angle + 1 && found > angle - (angle > 36 ? 12 : 8));
        last = found;
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slopes_hold_below_the_angle_and_flow_above_the_model_s_limit),
                                       cmocka_unit_test(a_column_leaves_a_steeper_pile_for_more_friction)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
