// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sand's own model against mechanics: free flight, momentum, no tension, rest, and Coulomb's law for a block on a
// slope.
#include "sand_lab.h"

static rh_dvec3 mean_velocity(const lab *l)
{
    rh_dvec3 sum = {0, 0, 0};
    for (int64_t i = 0; i < lab_count(l); i++) sum = rh_d3_add(sum, rh_d3_from(lab_velocities(l)[i]));
    return rh_d3_scale(sum, 1 / (double)lab_count(l));
}

// A block in free flight keeps its shape: every particle is on the parabola of the block, and as fast as all others.
// (Velocities are those of the middle of a step.)
static void free_fall(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        lab l;
        rh_status status = {0};
        lab_open(&l,
                 "cell: 0.05\ndimension: %d\nframes: {last: 100}\nphysics: {sand: {}}\n"
                 "bodies:\n - {velocity: [1, 2, 0], shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.4]}}}\n",
                 dimension);
        rh_vec3 *start = sand_positions_by_id(&l, &status);
        lab_run(&l, 0.5, NULL, NULL);
        const int64_t *id = rh_points_data(rh_world_points(l.world), "id", RH_POINT_I64);
        rh_dvec3 way = {0.5, 2 * 0.5 - 0.5 * 9.81 * 0.25, 0}, mean = mean_velocity(&l);
        double place = 0, speed = 0;
        for (int64_t i = 0; i < lab_count(&l); i++) {
            rh_dvec3 moved = rh_d3_sub(rh_d3_from(lab_positions(&l)[i]), rh_d3_from(start[id[i]]));
            place = fmax(place, rh_d3_length(rh_d3_sub(moved, way)));
            speed = fmax(speed, rh_d3_length(rh_d3_sub(rh_d3_from(lab_velocities(&l)[i]), mean)));
        }
        print_message(
            "free fall in %dD: particles off by %.2g m, %.2g m/s from each other; velocity (%.4f, %.4f) m/s\n",
            dimension, place, speed, mean.x, mean.y);
        assert_true(place < 1e-5);
        assert_true(speed < 1e-5);
        assert_true(fabs(mean.x - 1) < 1e-5);
        assert_true(fabs(mean.y - (2 - 9.81 * 0.5)) < 0.1);  // half a step of gravity
        rh_free(start);
        lab_close(&l);
    }
}

// Two balls that meet off centre without gravity: friction and pressure are forces between them.
static void momentum_is_kept(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        lab l;
        lab_open(&l,
                 "cell: 0.04\ndimension: %d\nframes: {last: 100}\ngravity: [0, 0, 0]\nphysics: {sand: {}}\n"
                 "bodies:\n - {velocity: [1, 0.2, 0], shape: {sphere: {center: [-0.3, 0, 0], radius: 0.2}}}\n"
                 " - {velocity: [-0.5, 0, 0], shape: {sphere: {center: [0.2, 0.1, 0], radius: 0.24}}}\n",
                 dimension);
        rh_dvec3 before = mean_velocity(&l);
        double energy = lab_kinetic(&l);
        lab_run(&l, 0.6, NULL, NULL);
        double off = rh_d3_length(rh_d3_sub(mean_velocity(&l), before)), left = lab_kinetic(&l) / energy;
        print_message("collision in %dD: momentum off by %.2g m/s (speeds 1 and 0.5), kinetic energy left %.3f\n",
                      dimension, off, left);
        assert_true(off < 2e-3);  // faces with little sand count as heavier than they are
        assert_true(left < 0.5);
        lab_close(&l);
    }
}

// Two halves of a block thrown apart: nothing holds them. Only particles within four cells of the cut, which share
// faces with the other half at first, may be slower.
static void no_tension(void **state)
{
    (void)state;
    lab l;
    rh_status status = {0};
    lab_open(&l, "cell: 0.025\ndimension: 2\nframes: {last: 100}\ngravity: [0, 0, 0]\nphysics: {sand: {}}\n"
                 "bodies:\n - {velocity: [-1, 0, 0], shape: {box: {min: [-0.4, 0, 0], max: [0, 0.4, 1]}}}\n"
                 " - {velocity: [1, 0, 0], shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 1]}}}\n");
    rh_vec3 *start = sand_positions_by_id(&l, &status);
    double energy = lab_kinetic(&l), worst = 0;
    lab_run(&l, 0.3, NULL, NULL);
    const int64_t *id = rh_points_data(rh_world_points(l.world), "id", RH_POINT_I64);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        rh_vec3 v = lab_velocities(&l)[i];
        float from = start[id[i]].x;
        if (fabsf(from) > 0.1f) worst = fmax(worst, (double)rh_v3_length(rh_v3_sub(v, rh_v3(from > 0 ? 1 : -1, 0, 0))));
    }
    print_message("thrown apart: %.3f of the energy is left, velocities away from the cut changed by %.2g m/s of 1\n",
                  lab_kinetic(&l) / energy, worst);
    assert_true(worst < 0.03);  // velocities of neighbours mix a little with every step
    assert_true(lab_kinetic(&l) > 0.9 * energy);
    rh_free(start);
    lab_close(&l);
}

// --- rest ------------------------------------------------------------------------------------------------------------
typedef struct rest {
    double speed, kinetic;
} rest;  // largest since the watch began

static void watch(lab *l, void *user)
{
    rest *r = user;
    r->speed = fmax(r->speed, lab_max_speed(l));
    r->kinetic = fmax(r->kinetic, lab_kinetic(l));
}

// m/s; J/kg; m, of the centre of mass; share of the particles that moved by a tenth of a cell.
typedef struct rest_bounds {
    double speed, kinetic, drift, moved;
} rest_bounds;

// From `settled` s on: the largest speed of any particle in any step, energy, the way of the centre of mass and of
// every particle.
static void stays_at_rest(int dimension, double cell, const char *shape, double settled, double seconds,
                          rest_bounds most)
{
    lab l;
    rest r = {0};
    rh_status status = {0};
    lab_open(&l,
             "cell: %g\ndimension: %d\nframes: {last: 10000}\nphysics: {sand: {}}\nbodies:\n - {shape: {box: %s}}\n"
             "solids:\n - {inside_out: true, friction: 0.6, shape: {box: {min: [-1, 0, -1], max: [1, 2, 1]}}}\n",
             cell, dimension, shape);
    double top = lab_center(&l).y;
    lab_run(&l, settled, NULL, NULL);
    rh_vec3 *start = sand_positions_by_id(&l, &status);
    rh_dvec3 center = lab_center(&l);
    lab_run(&l, settled + seconds, watch, &r);
    rh_dvec3 drift = rh_d3_sub(lab_center(&l), center);
    double moved = sand_moved(&l, start, 0.1 * cell);
    print_message("pile in %dD, %g s: largest speed %.3g m/s, kinetic energy %.3g J/kg, centre of mass %.4f m moved by "
                  "(%.2g, %.2g) m, farthest particle %.3g m, "
                  "%.2f %% by a tenth of a cell\n",
                  dimension, seconds, r.speed, r.kinetic, center.y, drift.x, drift.y, sand_farthest(&l, start),
                  100 * moved);
    assert_true(center.y < 0.5 * top);  // it did collapse
    assert_true(r.speed < most.speed);
    assert_true(r.kinetic < most.kinetic);
    assert_true(rh_d3_length(drift) < most.drift);
    assert_true(moved < most.moved);
    rh_free(start);
    lab_close(&l);
}

static void a_pile_stays_for_a_minute(void **state)
{
    (void)state;
    stays_at_rest(2, 0.025, "{min: [-0.25, 0, -1], max: [0.25, 0.5, 1]}", 6, 60,
                  (rest_bounds){1e-3, 1e-8, 1e-5, 0.001});
}

// From ten cells' height. Single grains at the foot may still roll.
static void a_pile_stays_in_space(void **state)
{
    (void)state;
    stays_at_rest(3, 0.05, "{min: [-0.25, 0, -0.25], max: [0.25, 0.5, 0.25]}", 4, 10,
                  (rest_bounds){0.15, 1e-5, 1e-4, 0.06});
}

static void water_levels_out(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "cell: 0.025\ndimension: 2\nframes: {last: 1000}\nphysics: {liquid: {}}\nbodies:\n - {shape: {box: "
                 "{min: [-0.25, 0, -1], max: [0.25, 0.5, 1]}}}\n"
                 "solids:\n - {inside_out: true, friction: 0.6, shape: {box: {min: [-1, 0, -1], max: [1, 2, 1]}}}\n");
    lab_run(&l, 6, NULL, NULL);
    print_message("water: centre of mass %.4f m (level: 0.0625)\n", lab_center(&l).y);
    assert_true(fabs(lab_center(&l).y - 0.0625) < 0.012);
    lab_close(&l);
}

// --- Coulomb ---------------------------------------------------------------------------------------------------------
// A layer ten cells deep and 2 m long in gravity turned by 30 degrees, rougher inside than the floor: the mean
// acceleration of its middle along the floor, from the way in `seconds`.
static double slide_layer(double friction, double seconds)
{
    lab l;
    rh_status status = {0};
    lab_open(&l,
             "cell: 0.02\ndimension: 2\nframes: {last: 1000}\ngravity: [4.905, -8.4957092111, 0]\nphysics: {sand: "
             "{friction_angle: 45}}\n"
             "bodies:\n - {shape: {box: {min: [0, 0, -1], max: [2, 0.2, 1]}}}\nsolids:\n - {friction: %g, shape: "
             "{plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}\n",
             friction);
    rh_vec3 *start = sand_positions_by_id(&l, &status);
    lab_run(&l, seconds, NULL, NULL);
    const int64_t *id = rh_points_data(rh_world_points(l.world), "id", RH_POINT_I64);
    double way = 0, count = 0;
    for (int64_t i = 0; i < lab_count(&l); i++)
        if (fabsf(start[id[i]].x - 1) < 0.3f) way += (double)(lab_positions(&l)[i].x - start[id[i]].x), count++;
    rh_free(start);
    lab_close(&l);
    return 2 * way / count / (seconds * seconds);
}

static void a_layer_slides_by_coulomb_s_law(void **state)
{
    (void)state;
    const double frictions[] = {0, 0.2, 0.3, 0.4, 0.5};
    for (int n = 0; n < 5; n++) {
        double found = slide_layer(frictions[n], 0.3), expected = 9.81 * (0.5 - frictions[n] * 0.86602540378443865);
        print_message("layer, friction %g: %.3f m/s^2, Coulomb's law %.3f\n", frictions[n], found, expected);
        assert_true(fabs(found - expected) < 0.08);
    }
    for (double friction = 0.7; friction < 1.1; friction += 0.3) {
        double moved = 0.5 * slide_layer(friction, 1);
        print_message("layer, friction %g: moved %.2g m in 1 s\n", friction, moved);
        assert_true(fabs(moved) < 0.02);  // a cell
    }
}

// A block that cohesion keeps whole, on a slope of 30 degrees. Returns its acceleration down the slope, from the way in
// `seconds`.
static double slide_block(bool tilted, double friction, double seconds)
{
    lab l;
    const double c = 0.86602540378443865, s = 0.5;
    const char *head = "cell: 0.02\ndimension: 2\nframes: {last: 1000}\nphysics: {sand: {cohesion: 1e5}}\n";
    if (tilted)
        lab_open(&l,
                 "%sbodies:\n - {shape: {box: {min: [0, -0.4, 0], max: [0.48, 0.12, 0.4]}}}\n"
                 "solids:\n - {friction: %g, shape: {plane: {point: [0, 0, 0], normal: [%.17g, %.17g, 0]}}}\n",
                 head, friction, s, c);
    else
        lab_open(&l,
                 "%sgravity: [%.17g, %.17g, 0]\nbodies:\n - {shape: {box: {min: [0, 0, 0], max: [0.48, 0.2, 0.4]}}}\n"
                 "solids:\n - {friction: %g, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}\n",
                 head, 9.81 * s, -9.81 * c, friction);
    rh_dvec3 start = lab_center(&l), way;
    lab_run(&l, seconds, NULL, NULL);
    way = rh_d3_sub(lab_center(&l), start);
    assert_true(fabs(tilted ? way.x * s + way.y * c : way.y) < 0.02);  // a cell: it neither sinks in nor lifts off
    lab_close(&l);
    return 2 * (tilted ? way.x * c - way.y * s : way.x) / (seconds * seconds);
}

static void a_block_slides_by_coulomb_s_law(void **state)
{
    (void)state;
    for (int tilted = 0; tilted < 2; tilted++) {
        const double frictions[] = {0, 0.3, 0.5};
        for (int n = 0; n < 3; n++) {
            double found = slide_block(tilted, frictions[n], 0.4),
                   expected = 9.81 * (0.5 - frictions[n] * 0.86602540378443865);
            print_message("block on %s slope, friction %g: %.3f m/s^2, Coulomb's law %.3f\n",
                          tilted ? "a real" : "gravity's", frictions[n], found, expected);
            assert_true(fabs(found - expected) < (tilted ? 0.08 : 0.04) * 9.81);
        }
    }
}

// A blade presses sand against a wall, both rough, at up to 0.9 m/s: more than friction lets out. It must not run
// away (1700 m/s once). Single grains still leave at 11 m/s (16 before what walls push was held back)
// where the volume that is pushed out asks for 3: a known limit (docs/limits.md), which the bound only keeps from
// growing.
static void wedged_sand_does_not_run_away(void **state)
{
    (void)state;
    lab l;
    rest r = {0};
    lab_open(&l, "cell: 0.02\ndimension: 2\nframes: {last: 100}\nphysics: {sand: {friction_angle: 40, cohesion: "
                 "20}}\nbodies:\n - {shape: {box: {min: [0, 0, 0], max: [0.3, 0.5, 0.4]}}}\n"
                 "solids:\n - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [0.8, 2, 0.4]}}}\n"
                 " - {friction: 1, shape: {box: {min: [0.35, -0.1, 0.1], max: [0.45, 0.6, 0.3]}}, motion: "
                 "{interpolation: smooth, pivot: [0.4, 0.2, 0.2], "
                 "keys: [{time: 0}, {time: 0.25, translate: [-0.15, 0, 0], rotate: [0, 0, 20]}]}}\n");
    lab_run(&l, 0.5, watch, &r);
    print_message("wedged between a wall and a blade at 0.9 m/s: largest speed %.2f m/s\n", r.speed);
    assert_true(r.speed < 14);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_fall),
                                       cmocka_unit_test(momentum_is_kept),
                                       cmocka_unit_test(no_tension),
                                       cmocka_unit_test(a_layer_slides_by_coulomb_s_law),
                                       cmocka_unit_test(a_block_slides_by_coulomb_s_law),
                                       cmocka_unit_test(wedged_sand_does_not_run_away),
                                       cmocka_unit_test(a_pile_stays_in_space),
                                       cmocka_unit_test(a_pile_stays_for_a_minute),
                                       cmocka_unit_test(water_levels_out)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
