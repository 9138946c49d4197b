// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids without any material, against mechanics (H. Goldstein, "Classical Mechanics", chapters 4 and 5): free
// flight and free rotation, sliding and rolling on slopes, jumps, stacks at rest, pendulums, motors and limits.
#include "lab.h"
#include <stdio.h>
#include "base/memory.h"
#include "support.h"
#include "world/parts.h"

static const double G = 9.81, PI = 3.14159265358979323846;

static const rh_dynamic_solid *solid_of(const lab *l, int n) { return &l->world->dynamics.items[n]; }

// --- free ------------------------------------------------------------------------------------------------------------
static void what_flies_follows_its_parabola(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "cell: 0.1\nphysics: {ballistic: {}}\nsolids:\n"
                 "  - {shape: {sphere: {center: [0, 5, 0], radius: 0.2}}, dynamic: {velocity: [3, 4, -1]}}\n");
    lab_run(&l, 1, NULL, NULL);
    const rh_dynamic_solid *s = solid_of(&l, 0);
    double fall = 5 + 4 - 0.5 * G;
    print_message("  after 1 s at %.9f %.9f %.9f, exact 3 %.9f -1\n", s->position.x, s->position.y, s->position.z,
                  fall);
    assert_true(fabs(s->position.x - 3) < 1e-6 && fabs(s->position.y - fall) < 1e-5 && fabs(s->position.z + 1) < 1e-6);
    lab_close(&l);
}

// Whoever made the checkpoint: what is not finite, no turn, or of another length is refused.
static void a_state_that_is_no_state_is_refused(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "cell: 0.1\nphysics: {ballistic: {}}\nsolids:\n"
                 "  - {shape: {sphere: {center: [0, 5, 0], radius: 0.2}}, dynamic: {velocity: [3, 4, -1]}}\n");
    rh_status status = {0};
    rh_memory_store *memory = rh_memory_store_create(&status);
    rh_store store = rh_memory_store_open(memory);
    rh_dynamics *d = &l.world->dynamics;
    double *good, bad[64];
    size_t bytes;
    assert_ok(rh_dynamics_put(d, &store, &status));
    assert_ok(rh_store_get_bytes(&store, "solid0", (void **)&good, &bytes, &status));
    assert_ok(rh_dynamics_get(d, &store, &status));
    for (size_t i = 0; i < bytes / sizeof *good; i++) {
        memcpy(bad, good, bytes);
        bad[i] = i % 2 ? (double)NAN : (double)INFINITY;
        assert_ok(rh_store_put_bytes(&store, "solid0", bad, bytes, &status));
        assert_int_equal(rh_dynamics_get(d, &store, &status), RH_IO);
    }
    memcpy(bad, good, bytes);
    for (int k = 0; k < 4; k++) bad[9 + k] = 0;
    assert_ok(rh_store_put_bytes(&store, "solid0", bad, bytes, &status));
    assert_int_equal(rh_dynamics_get(d, &store, &status), RH_IO);
    assert_ok(rh_store_put_bytes(&store, "solid0", good, bytes - 8, &status));
    assert_int_equal(rh_dynamics_get(d, &store, &status), RH_IO);
    rh_free(good);
    rh_memory_store_free(memory);
    lab_close(&l);
}

typedef struct spin_watch {
    rh_dvec3 momentum;
    double worst, most_flip, energy, worst_energy;
} spin_watch;

static void watch_spin(lab *l, void *user)
{
    spin_watch *w = user;
    const rh_dynamic_solid *s = solid_of(l, 0);
    double scale = rh_d3_length(w->momentum);
    w->worst = fmax(w->worst, rh_d3_length(rh_d3_sub(s->spin, w->momentum)) / scale);
    // The axis that it turns about at first, where it points now.
    double x = s->turn[1], z = s->turn[3];
    w->most_flip = fmax(w->most_flip, -(1 - 2 * (x * x + z * z)));
    const rh_obstacle *o = &l->world->materials[0].geometry.obstacles.items[s->obstacle];
    double energy = 0.5 * rh_d3_dot(o->angular, s->spin);
    if (w->energy == 0) w->energy = energy;
    w->worst_energy = fmax(w->worst_energy, fabs(energy / w->energy - 1));
}

// The box turns about its middle axis, which is unstable: it tips over again and again (Dzhanibekov's effect), and its
// angular momentum stays what it is.
static void a_free_box_tips_over_and_keeps_its_angular_momentum(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "cell: 0.1\ngravity: [0, 0, 0]\nphysics: {ballistic: {}}\nsolids:\n"
                 "  - {shape: {box: {min: [-0.1, -0.2, -0.3], max: [0.1, 0.2, 0.3]}},\n"
                 "     dynamic: {angular_velocity: [0.01, 5, 0.01]}}\n");
    spin_watch w = {.momentum = solid_of(&l, 0)->spin};
    lab_run(&l, 10, watch_spin, &w);
    print_message("  angular momentum off by %.1e, energy by %.1e; it tips to cosine %.2f\n", w.worst, w.worst_energy,
                  -w.most_flip);
    assert_true(w.worst < 1e-12);
    assert_true(w.worst_energy < 0.02);
    assert_true(w.most_flip > 0.9);
    lab_close(&l);
}

// --- on slopes -------------------------------------------------------------------------------------------------------
// A solid on a plane of so many degrees: how far has it come after a second?
static double slide(const char *shape, double degrees, double friction, double turned)
{
    lab l;
    double a = degrees * PI / 180;
    lab_open(&l,
             "cell: 0.1\nphysics: {ballistic: {}}\nsolids:\n"
             "  - {friction: %g, shape: {plane: {point: [0, 0, 0], normal: [%.12g, %.12g, 0]}}}\n"
             "  - {friction: %g, shape: {%s}, motion: {keys: [{time: 0, rotate: [0, %g, %.12g]}]}, dynamic: {}}\n",
             friction, sin(a), cos(a), friction, shape, turned, -degrees);
    rh_dvec3 start = solid_of(&l, 0)->position;
    lab_run(&l, 1, NULL, NULL);
    double way = rh_d3_length(rh_d3_sub(solid_of(&l, 0)->position, start));
    lab_close(&l);
    return way;
}

static const char *const BOX = "box: {min: [-0.1, 0, -0.1], max: [0.1, 0.1, 0.1]}";
static const char *const BALL = "sphere: {center: [0, 0.1, 0], radius: 0.1}";
static const char *const ROLLER = "cylinder: {from: [0, 0.1, -0.1], to: [0, 0.1, 0.1], radius: 0.1}";

static void check_way(const char *what, double degrees, double friction, double found, double a)
{
    print_message("  %s, %g degrees, friction %g: %.4f m in a second, exact %.4f\n", what, degrees, friction, found,
                  0.5 * a);
    assert_true(fabs(found - 0.5 * a) < 0.01 * fmax(a, 0.001));
}

static void slopes_are_slid_and_rolled_down_by_coulombs_law(void **state)
{
    (void)state;
    double s = sin(PI / 6), c = cos(PI / 6);
    check_way("box", 30, 0, slide(BOX, 30, 0, 0), G * s);
    check_way("box", 30, 0.3, slide(BOX, 30, 0.3, 0), G * (s - 0.3 * c));
    check_way("box, turned by 30", 30, 0.3, slide(BOX, 30, 0.3, 30), G * (s - 0.3 * c));
    check_way("box", 30, 0.6, slide(BOX, 30, 0.6, 0), 0);
    // Rolling: a = g sin / (1 + I/mr^2) while the friction needed is there.
    check_way("ball", 30, 0.5, slide(BALL, 30, 0.5, 0), G * s / 1.4);
    check_way("ball", 30, 0.1, slide(BALL, 30, 0.1, 0), G * (s - 0.1 * c));
    check_way("roller", 30, 0.5, slide(ROLLER, 30, 0.5, 0), G * s / 1.5);
}

// --- impacts ---------------------------------------------------------------------------------------------------------
typedef struct jump_watch {
    double last, top[4];
    bool up;
    int jumps;
} jump_watch;

static void watch_jump(lab *l, void *user)
{
    jump_watch *w = user;
    double v = solid_of(l, 0)->linear.y, y = solid_of(l, 0)->position.y - 0.1;
    if (v > 0 && !w->up) w->jumps++;
    w->up = v > 0;
    if (w->jumps < 4) w->top[w->jumps] = fmax(w->top[w->jumps], y);
}

static void a_ball_jumps_as_high_as_its_restitution_says(void **state)
{
    (void)state;
    const double shares[] = {1, 0.8, 0.5};
    for (int i = 0; i < 3; i++) {
        lab l;
        lab_open(&l,
                 "cell: 0.1\nmax_step: 0.002\nphysics: {ballistic: {}}\nsolids:\n"
                 "  - {shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}\n"
                 "  - {shape: {sphere: {center: [0, 1.1, 0], radius: 0.1}}, dynamic: {restitution: %g}}\n",
                 shares[i]);
        jump_watch w = {0};
        lab_run(&l, 1.5, watch_jump, &w);
        double share = shares[i] * shares[i];
        print_message("  restitution %g: jumps to %.4f, %.4f of its height, exact %.4f, %.4f\n", shares[i], w.top[1],
                      w.top[2], share, share * share);
        assert_true(fabs(w.top[1] - share) < 0.02);
        lab_close(&l);
    }
}

// Equal balls on a line: the first stops, the last leaves with its speed.
static void a_blow_goes_through_and_keeps_momentum(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "cell: 0.1\ngravity: [0, 0, 0]\nmax_step: 0.002\nphysics: {ballistic: {}}\nsolids:\n"
                 "  - {shape: {sphere: {center: [0, 0, 0], radius: 0.1}},\n"
                 "     dynamic: {restitution: 1, velocity: [2, 0, 0]}}\n"
                 "  - {shape: {sphere: {center: [0.5, 0, 0], radius: 0.1}}, dynamic: {restitution: 1}}\n");
    lab_run(&l, 0.5, NULL, NULL);
    print_message("  2 and 0 m/s become %.9f and %.9f\n", solid_of(&l, 0)->linear.x, solid_of(&l, 1)->linear.x);
    assert_true(fabs(solid_of(&l, 0)->linear.x) < 1e-5);
    assert_true(fabs(solid_of(&l, 0)->linear.x + solid_of(&l, 1)->linear.x - 2) < 1e-12);
    lab_close(&l);
}

static void what_is_fast_does_not_pass_through(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "cell: 0.1\ngravity: [0, 0, 0]\nphysics: {ballistic: {}}\nsolids:\n"
                 "  - {shape: {box: {min: [0, -1, -1], max: [0.002, 1, 1]}}}\n"
                 "  - {shape: {sphere: {center: [-1, 0.03, 0.02], radius: 0.02}}, dynamic: {velocity: [200, 0, 0]}}\n"
                 "  - {shape: {box: {min: [-1, 0.3, 0.02], max: [-0.97, 0.33, 0.05]}},\n"
                 "     dynamic: {velocity: [200, 0, 0], angular_velocity: [0, 0, 9]}}\n");
    lab_run(&l, 0.1, NULL, NULL);
    for (int n = 0; n < 2; n++) {
        print_message("  at 200 m/s against 2 mm: stopped at %.4f\n", solid_of(&l, n)->position.x);
        assert_true(solid_of(&l, n)->position.x < 0);
    }
    lab_close(&l);
}

// --- at rest ---------------------------------------------------------------------------------------------------------
typedef struct rest_watch {
    double from, worst_speed;
} rest_watch;

static void watch_rest(lab *l, void *user)
{
    rest_watch *w = user;
    for (int n = 0; n < l->world->dynamics.count && lab_time(l) > w->from; n++)
        w->worst_speed = fmax(w->worst_speed, rh_d3_length(solid_of(l, n)->linear));
}

// `shift`, m: every other box stands so far aside.
static void stack(double shift, double seconds, double *drift, double *speed)
{
    lab l;
    lab_open(&l,
             "cell: 0.1\nphysics: {ballistic: {}}\nsolids:\n"
             "  - {inside_out: true, shape: {box: {min: [-1, 0, -1], max: [1, 3, 1]}}}\n"
             "  - {shape: {box: {min: [0, 0.0, 0], max: [0.2, 0.2, 0.2]}}, dynamic: {}}\n"
             "  - {shape: {box: {min: [%g, 0.2, 0], max: [%g, 0.4, 0.2]}}, dynamic: {density: 2000}}\n"
             "  - {shape: {box: {min: [0, 0.4, 0], max: [0.2, 0.6, 0.2]}}, dynamic: {density: 100}}\n"
             "  - {shape: {box: {min: [%g, 0.6, 0], max: [%g, 0.8, 0.2]}}, dynamic: {}}\n"
             "  - {shape: {box: {min: [0, 0.8, 0], max: [0.2, 1.0, 0.2]}}, dynamic: {density: 3000}}\n"
             "  - {shape: {sphere: {center: [-0.9, 0.1, -0.9], radius: 0.1}}, dynamic: {}}\n",
             shift, 0.2 + shift, shift, 0.2 + shift);
    rh_dvec3 start[6];
    for (int n = 0; n < 6; n++) start[n] = solid_of(&l, n)->position;
    rest_watch w = {.from = 1};
    lab_run(&l, seconds, watch_rest, &w);
    *drift = 0;
    *speed = w.worst_speed;
    for (int n = 0; n < 6; n++) *drift = fmax(*drift, rh_d3_length(rh_d3_sub(solid_of(&l, n)->position, start[n])));
    print_message("  every other box %g m aside, after %g s: moved by %.2e m, fastest %.2e m/s\n", shift, seconds,
                  *drift, *speed);
    lab_close(&l);
}

static void a_stack_stands(void **state)
{
    (void)state;
    double drift, speed;
    stack(0, 60, &drift, &speed);
    assert_true(drift < 1e-4 && speed < 1e-4);
    stack(0.02, 10, &drift, &speed);
    assert_true(drift < 1e-3 && speed < 0.02);
}

// --- joints ----------------------------------------------------------------------------------------------------------
typedef struct swing_watch {
    double before, crossed, period, worst, start;
    int crossings;
} swing_watch;

static void watch_swing(lab *l, void *user)
{
    swing_watch *w = user;
    const rh_dynamic_solid *s = solid_of(l, 0);
    double x = s->position.x;
    w->worst = fmax(w->worst, fabs(hypot(s->position.x, s->position.y) - 1));
    double crossed = lab_time(l) - x / s->linear.x;  // between steps
    if (x < 0 && w->before >= 0 && w->crossings++ == 0) w->start = crossed;
    else if (x < 0 && w->before >= 0) w->period = (crossed - w->start) / (w->crossings - 1);
    w->before = x;
}

// A box that swings on a hinge: T = 2 pi sqrt((I + m r^2) / (m g r)), and for its 10 degrees 0.19 % more.
static void a_pendulum_on_a_hinge_keeps_its_period(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        lab l;
        lab_open(&l,
                 "dimension: %d\ncell: 0.1\nphysics: {ballistic: {}}\nsolids:\n"
                 "  - {name: bob, shape: {box: {min: [-0.1, -1.2, -0.1], max: [0.1, -0.8, 0.1]}},\n"
                 "     motion: {pivot: [0, 0, 0], keys: [{time: 0, rotate: [0, 0, 10]}]}, dynamic: {}}\n"
                 "joints: [{solid: bob, joint: {hinge: {point: [0, 0, 0], axis: [0, 0, 1]}}}]\n",
                 dimension);
        swing_watch w = {0};
        lab_run(&l, 10, watch_swing, &w);
        double inertia = (0.04 + 0.16) / 12,
               exact = 2 * PI * sqrt((inertia + 1) / G) * (1 + 10 * 10 * PI * PI / 180 / 180 / 16);
        print_message("  %dD: period %.4f s, exact %.4f; hinge off by %.1e m\n", dimension, w.period, exact, w.worst);
        assert_true(fabs(w.period / exact - 1) < 0.005);
        assert_true(w.worst < 2e-4);
        lab_close(&l);
    }
}

static void motors_limits_and_locks_do_as_told(void **state)
{
    (void)state;
    lab l;
    lab_open(&l,
             "cell: 0.1\nphysics: {ballistic: {}}\nsolids:\n"
             "  - {name: wheel, shape: {cylinder: {from: [0, 0, -0.1], to: [0, 0, 0.1], radius: 0.5}}, dynamic: {}}\n"
             "  - {name: door, shape: {box: {min: [2, -0.1, -0.1], max: [3, 0.1, 0.1]}}, dynamic: {}}\n"
             "  - {name: lift, shape: {box: {min: [4, -0.1, -0.1], max: [4.2, 0.1, 0.1]}}, dynamic: {mass: 10}}\n"
             "  - {name: bead, shape: {sphere: {center: [6, 0, 0], radius: 0.1}},\n"
             "     dynamic: {velocity: [1, 1, 0], angular_velocity: [0, 0, 3], lock: {y: true, rz: true}}}\n"
             "joints:\n"
             "  - {solid: wheel, joint: {hinge: {point: [0, 0, 0], motor: {speed: 90, strength: 1e6}}}}\n"
             "  - {solid: door, joint: {hinge: {point: [2, 0, 0], limits: {low: -30, high: 10}}}}\n"
             "  - {solid: lift, joint: {slider: {axis: [0, 1, 0], motor: {speed: 1, strength: 110}}}}\n");
    lab_run(&l, 2, NULL, NULL);
    const rh_dynamics *d = &l.world->dynamics;
    const rh_obstacles *solids = &l.world->materials[0].geometry.obstacles;
    double spin = solids->items[0].angular.z, door = rh_joints_position(&d->joints, 1, solids) * 180 / PI;
    double lift = solid_of(&l, 2)->linear.y, rise = solid_of(&l, 2)->position.y;
    print_message("  wheel %.4f rad/s, door at %.3f degrees, lift %.4f m/s at %.4f m, bead at %g %g\n", spin, door,
                  lift, rise, solid_of(&l, 3)->position.x, solid_of(&l, 3)->position.y);
    assert_true(fabs(spin - PI / 2) < 1e-3);
    assert_true(fabs(door + 30) < 0.5);
    assert_true(fabs(lift - 1) < 1e-3);  // 110 N against 98.1 N: a = 1.19 m/s^2 until 1 m/s
    assert_true(fabs(rise - (2 - 0.5 / 1.19)) < 0.02);
    assert_true(fabs(solid_of(&l, 3)->position.x - 8) < 1e-6 && fabs(solid_of(&l, 3)->position.y) < 1e-8);
    assert_true(fabs(solids->items[3].angular.z) < 1e-8);
    lab_close(&l);
}

// --- keys ------------------------------------------------------------------------------------------------------------
static void keys_release_a_solid_and_take_it_back(void **state)
{
    (void)state;
    lab l;
    lab_open(
        &l,
        "cell: 0.1\nphysics: {ballistic: {}}\nsolids:\n"
        "  - {shape: {sphere: {center: [0, 0, 0], radius: 0.1}}, dynamic: {from: 1, until: 1.5, return_time: 0.5},\n"
        "     motion: {interpolation: linear, keys: [{time: 0}, {time: 4, translate: [8, 0, 0]}]}}\n");
    lab_run(&l, 1, NULL, NULL);
    assert_true(fabs(solid_of(&l, 0)->position.x - 2) < 1e-9);
    lab_run(&l, 1.5, NULL, NULL);
    rh_dvec3 at = solid_of(&l, 0)->position;
    print_message("  let go at 2 m with 2 m/s: after half a second at %.4f %.4f\n", at.x, at.y);
    assert_true(fabs(at.x - 3) < 1e-3 && fabs(at.y + 0.5 * G * 0.25) < 0.05);
    lab_run(&l, 2.2, NULL, NULL);
    at = solid_of(&l, 0)->position;
    print_message("  taken back: at %.6f %.6f\n", at.x, at.y);
    assert_true(fabs(at.x - 4.4) < 1e-6 && fabs(at.y) < 1e-6);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_flies_follows_its_parabola),
        cmocka_unit_test(a_state_that_is_no_state_is_refused),
        cmocka_unit_test(a_free_box_tips_over_and_keeps_its_angular_momentum),
        cmocka_unit_test(slopes_are_slid_and_rolled_down_by_coulombs_law),
        cmocka_unit_test(a_ball_jumps_as_high_as_its_restitution_says),
        cmocka_unit_test(a_blow_goes_through_and_keeps_momentum),
        cmocka_unit_test(what_is_fast_does_not_pass_through),
        cmocka_unit_test(a_stack_stands),
        cmocka_unit_test(a_pendulum_on_a_hinge_keeps_its_period),
        cmocka_unit_test(motors_limits_and_locks_do_as_told),
        cmocka_unit_test(keys_release_a_solid_and_take_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
