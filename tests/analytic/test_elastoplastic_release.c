// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Elastoplastic matter that is pressed and let go, against the two methods that the source compares with; and that
// bounces.
#include <math.h>
#include "lab.h"

static const rh_vec3 *rests(lab *l) { return rh_points_data(rh_world_points(l->world), "rest", RH_POINT_VEC3F); }

typedef struct outcome {
    double pressed, after;  // spacings that the particle that moved most is from where it began, but for a turn of all
    double speed;           // m/s: fastest in the whole run
} outcome;

// The turn and the shift of all that fit best are taken out.
static double most_moved(lab *l, double spacing)
{
    rh_dvec3 now = lab_center(l), then = {0, 0, 0};
    double most = 0, along = 0, across = 0, count = (double)lab_count(l);
    for (int64_t i = 0; i < lab_count(l); i++) then = rh_d3_add(then, rh_d3_scale(rh_d3_from(rests(l)[i]), 1 / count));
    for (int turned = 0; turned < 2; turned++)
        for (int64_t i = 0; i < lab_count(l); i++) {
            rh_dvec3 p = rh_d3_sub(rh_d3_from(rests(l)[i]), then), q = rh_d3_sub(rh_d3_from(lab_positions(l)[i]), now);
            double c = along / hypot(along, across), s = across / hypot(along, across);
            if (turned) most = fmax(most, hypot(q.x - c * p.x + s * p.y, q.y - s * p.x - c * p.y));
            else along += p.x * q.x + p.y * q.y, across += p.x * q.y - p.y * q.x;
        }
    return most / spacing;
}

static void watch_speed(lab *l, void *user)
{
    double *most = user;
    *most = fmax(*most, lab_max_speed(l));
}

// scenes/elastoplastic/release.yaml in the plane (D. Gerszewski, figure 4.8; docs/sources.md): a bar is pressed
// together by a force from its middle and let go.
static outcome pressed_and_let_go(const char *options, double viscosity, double spin)
{
    lab l;
    outcome out = {0};
    lab_open(&l,
             "dimension: 2\ncell: 0.03\ngravity: [0, 0, 0]\nrest_position: true\nlimits: {speed: 1e6}\n"
             "physics: {elastoplastic: {stiffness: 2e4, viscosity: %g, %s}}\nbodies: [{angular_velocity: [0, 0, %g], "
             "shape: {box: {min: [-0.15, -0.04, "
             "-1], max: [0.15, 0.04, 1]}}}]\nforces: [{stop: 0.3, force: {radial: {center: [0, 0, 0], acceleration: "
             "40, radius: 0.3}}}]\n",
             viscosity, options, spin);
    lab_run(&l, 0.3, watch_speed, &out.speed);
    out.pressed = most_moved(&l, 0.015);
    lab_run(&l, 0.9, watch_speed, &out.speed);
    out.after = most_moved(&l, 0.015);
    print_message("pressed and let go (%s): moved %.2f spacings, %.3f after; fastest %.2f m/s\n", options, out.pressed,
                  out.after, out.speed);
    lab_close(&l);
    return out;
}

// A bar that turns while it is pressed comes back to its shape, as it does with a stored shape of rest, and not with
// strains that are added up: these stay where they were in space.
static void elastic_bars_come_back(void **state)
{
    (void)state;
    outcome own = pressed_and_let_go("yield: 1e12", 150, 6);
    outcome start = pressed_and_let_go("yield: 1e12, reference: start", 150, 6);
    outcome added = pressed_and_let_go("yield: 1e12, strain: added", 150, 6);
    assert_true(own.after < 0.5 && start.after < 0.5);  // it still spins, which stretches it
    assert_true(added.after > 1);
}

// A bar that flows a great deal stays as it was pressed, as it does with added strains. With a stored shape of rest
// fits degenerate, as neighbours of then are none any more: it flies apart.
static void plastic_bars_stay(void **state)
{
    (void)state;
    outcome own = pressed_and_let_go("yield: 50", 20, 0);
    outcome added = pressed_and_let_go("yield: 50, strain: added, reference: step", 20, 0);
    outcome start = pressed_and_let_go("yield: 50, reference: start", 20, 0);
    assert_true(own.pressed > 4 && fabs(own.after / own.pressed - 1) < 0.1);
    assert_true(added.pressed > 4 && fabs(added.after / added.pressed - 1) < 0.1);
    assert_true(start.after > 2 * own.after && start.speed > 2 * own.speed);
}

// --- bounces ---------------------------------------------------------------------------------------------------------
typedef struct bounce {
    double least, most;  // m: of the middle, until it turns, and after
    bool up;
    int steps;
} bounce;

static void watch_bounce(lab *l, void *user)
{
    bounce *b = user;
    double y = lab_center(l).y;
    b->steps++;
    if (!b->up && y > b->least + 1e-6) b->up = true;
    if (b->up) b->most = fmax(b->most, y);
    else b->least = y;
}

// Share of a fall of 10 cm that a stiff box comes up again.
static double rebound(const char *options, int *steps)
{
    lab l;
    bounce b = {.least = 1e9};
    lab_open(
        &l,
        "dimension: 2\ncell: 0.04\nphysics: {elastoplastic: {stiffness: 1e7, %s}}\nbodies: [{shape: {box: {min: "
        "[-0.1, 0.1, -1], max: [0.1, 0.3, 1]}}}]\nsolids: [{friction: 0, shape: {plane: {point: [0, 0, 0], normal: "
        "[0, 1, 0]}}}]\n",
        options);
    lab_run(&l, 0.28, watch_bounce, &b);
    lab_close(&l);
    print_message("stiff box (%s): %.3f of its fall, %d steps\n", options, (b.most - 0.1) / 0.1, b.steps);
    *steps = b.steps;
    return (b.most - 0.1) / 0.1;
}

// Explicit steps follow the blow, 4 ms long. Implicit ones are longer: what is given back is what `restitution` says,
// its square of the height.
static void stiff_boxes_bounce(void **state)
{
    (void)state;
    int many, few;
    double followed = rebound("implicit: false", &many), share = sqrt(followed);
    char options[80];
    snprintf(options, sizeof options, "implicit: true, restitution: %.3f", share);
    double given = rebound(options, &few);
    assert_true(followed > 0.3 && followed < 1);
    assert_true(fabs(given - followed) < 0.1);
    assert_true(few * 20 < many);
    assert_true(rebound("implicit: true", &few) < 0.05);
    assert_true(rebound("implicit: true, restitution: 1", &few) < 1.001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(elastic_bars_come_back), cmocka_unit_test(plastic_bars_stay),
                                       cmocka_unit_test(stiff_boxes_bounce)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
