// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The source's model of sand (Zhu 2005, chapter 2) against mechanics: free flight, piles that stay, Coulomb's law for a
// block on a slope.
#include "lab.h"

#define FLAT "cell: 0.04\ndimension: 2\nframes: {last: 1000}\n"
#define BIN "solids:\n - {inside_out: true, friction: %g, shape: {box: {min: [-1.6, 0, -1], max: [1.6, 1.6, 1]}}}\n"
#define COLUMN "bodies:\n - {shape: {box: {min: [-0.2, 0, 0], max: [0.2, 0.8, 0.4]}}}\n"

// A block in free flight is on its parabola, and stays in one piece.
static void free_flight(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        lab l;
        lab_open(&l,
                 "cell: 0.05\ndimension: %d\nframes: {last: 100}\nphysics: {sand_incompressible: {}}\n"
                 "bodies:\n - {velocity: [1, 2, 0], shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.4]}}}\n",
                 dimension);
        rh_dvec3 start = lab_center(&l);
        lab_run(&l, 0.5, NULL, NULL);
        rh_dvec3 end = lab_center(&l);
        assert_true(fabs(end.x - start.x - 0.5) < 1e-5);
        assert_true(fabs(end.y - start.y - (2 * 0.5 - 0.5 * 9.81 * 0.25)) < 2e-5);
        const rh_vec3 *v = lab_velocities(&l);
        for (int64_t i = 0; i < lab_count(&l); i++)
            assert_true(fabsf(v[i].x - 1) < 1e-5f && fabsf(v[i].y - v[0].y) < 1e-4f);
        lab_close(&l);
    }
}

typedef struct pile {
    double height, later, moved;
    int64_t count;
} pile;

// Height of the centre of mass after `seconds`, and again after `rest` more; which share of the particles moved by more
// than a tenth of a cell in between.
static pile settle(const char *physics, double friction, double seconds, double rest)
{
    lab l;
    rh_status status = {0};
    lab_open(&l, FLAT "physics: {%s}\n" COLUMN BIN, physics, friction);
    lab_run(&l, seconds, NULL, NULL);
    pile p = {.height = lab_center(&l).y, .count = lab_count(&l)};
    rh_vec3 *before = rh_alloc((size_t)p.count * sizeof *before, "test", &status);
    const int64_t *id = rh_points_data(rh_world_points(l.world), "id", RH_POINT_I64);
    for (int64_t i = 0; i < p.count; i++) before[id[i]] = lab_positions(&l)[i];
    if (rest > 0) lab_run(&l, seconds + rest, NULL, NULL);
    p.later = lab_center(&l).y;
    id = rh_points_data(rh_world_points(l.world), "id", RH_POINT_I64);
    int64_t far = 0;
    for (int64_t i = 0; i < p.count; i++)
        far += (double)rh_v3_length(rh_v3_sub(before[id[i]], lab_positions(&l)[i])) > 0.004;
    p.moved = (double)far / (double)p.count;
    rh_free(before);
    lab_close(&l);
    return p;
}

// Of a triangle of the column's area with this centre of mass.
static double slope(pile p) { return atan(9 * p.height * p.height / 0.32) * 57.29577951308232; }

// The last slips are over after 10 s; from then on nothing moves. Water takes 8 s until its waves are low.
static void a_pile_stays_where_water_does_not(void **state)
{
    (void)state;
    pile sand = settle("sand_incompressible: {}", 0.5, 10, 12), water = settle("liquid: {}", 0.5, 8, 0);
    print_message("centre of mass: sand %.4f m, 12 s later %.4f, %.1f %% of it moved by a tenth of a cell; water %.4f "
                  "m (flat: 0.05)\n",
                  sand.height, sand.later, 100 * sand.moved, water.height);
    assert_true(sand.height > 0.10);
    assert_true(fabs(sand.later - sand.height) < 1e-3 * sand.height);
    assert_true(sand.moved < 0.01);
    assert_true(fabs(water.height - 0.05) < 0.012);
}

static void friction_decides_the_slope(void **state)
{
    (void)state;
    const double angles[] = {10, 30, 60};
    double last = 0;
    for (int n = 0; n < 3; n++) {
        char physics[64];
        snprintf(physics, sizeof physics, "sand_incompressible: {friction_angle: %g}", angles[n]);
        double found = slope(settle(physics, 0.6, 4, 0));
        print_message("friction angle %g: slope %.1f degrees\n", angles[n], found);
        assert_true(found > last + 2);
        last = found;
    }
}

static void walls_hold_the_pile_s_foot(void **state)
{
    (void)state;
    double rough = settle("sand_incompressible: {}", 0.6, 4, 0).height,
           smooth = settle("sand_incompressible: {}", 0, 4, 0).height;
    print_message("centre of mass: %.4f m on a rough floor, %.4f m on a smooth one\n", rough, smooth);
    assert_true(rough > 1.15 * smooth);
}

// --- Coulomb ---------------------------------------------------------------------------------------------------------
// A block that cohesion keeps whole, on a slope of 30 degrees. Returns its acceleration down the slope, from the way in
// `seconds`.
static double slide(bool tilted, double friction, double speed, double seconds)
{
    lab l;
    const double c = 0.86602540378443865, s = 0.5, g = 9.81;
    const char *head =
        "cell: 0.02\ndimension: 2\nframes: {last: 1000}\nphysics: {sand_incompressible: {cohesion: 1e5}}\n";
    if (tilted)
        lab_open(
            &l,
            "%sbodies:\n - {velocity: [%.9g, %.9g, 0], shape: {box: {min: [0, -0.4, 0], max: [0.48, 0.12, 0.4]}}}\n"
            "solids:\n - {friction: %g, shape: {plane: {point: [0, 0, 0], normal: [%.17g, %.17g, 0]}}}\n",
            head, speed * c, -speed * s, friction, s, c);
    else
        lab_open(&l,
                 "%sgravity: [%.17g, %.17g, 0]\nbodies:\n - {velocity: [%.9g, 0, 0], shape: {box: {min: [0, 0, 0], "
                 "max: [0.48, 0.2, 0.4]}}}\n"
                 "solids:\n - {friction: %g, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}\n",
                 head, g * s, -g * c, speed, friction);
    rh_dvec3 start = lab_center(&l), way;
    lab_run(&l, seconds, NULL, NULL);
    way = rh_d3_sub(lab_center(&l), start);
    double along = tilted ? way.x * c - way.y * s : way.x, across = tilted ? way.x * s + way.y * c : way.y;
    assert_true(fabs(across) < 0.01);  // half a cell: it neither sinks in nor lifts off
    lab_close(&l);
    return 2 * (along - speed * seconds) / (seconds * seconds);
}

static void a_block_slides_by_coulomb_s_law(void **state)
{
    (void)state;
    for (int tilted = 0; tilted < 2; tilted++) {
        const double frictions[] = {0, 0.3, 0.5};
        for (int n = 0; n < 3; n++) {
            double found = slide(tilted, frictions[n], 0, 0.4),
                   expected = 9.81 * (0.5 - frictions[n] * 0.86602540378443865);
            print_message("%s slope, friction %g: %.3f m/s^2, Coulomb's law %.3f\n", tilted ? "real" : "gravity's",
                          frictions[n], found, expected);
            assert_true(fabs(found - expected) < 0.02 * 9.81);
        }
    }
}

static void a_block_sticks_below_the_limit(void **state)
{
    (void)state;
    for (int tilted = 0; tilted < 2; tilted++) {
        double found = slide(tilted, 0.62, 0, 1);  // tan 30 = 0.577
        print_message("%s slope, friction 0.62: moved %.2g m in 1 s\n", tilted ? "real" : "gravity's", 0.5 * found);
        assert_true(fabs(found) < 1e-4);
    }
}

// A block thrown up the slope is braked by both and then stays: friction does not turn motion around.
static void friction_brakes_to_rest(void **state)
{
    (void)state;
    double braking = 9.81 * (0.5 + 0.8 * 0.86602540378443865), way = -0.5 / braking;  // v^2 / 2a
    double found = 0.5 * slide(false, 0.8, -1, 1) - 1;
    print_message("thrown up at 1 m/s: %.4f m, expected %.4f\n", found, way);
    assert_true(fabs(found - way) < 0.02 * fabs(way) + 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_flight),
                                       cmocka_unit_test(a_pile_stays_where_water_does_not),
                                       cmocka_unit_test(friction_decides_the_slope),
                                       cmocka_unit_test(walls_hold_the_pile_s_foot),
                                       cmocka_unit_test(a_block_slides_by_coulomb_s_law),
                                       cmocka_unit_test(a_block_sticks_below_the_limit),
                                       cmocka_unit_test(friction_brakes_to_rest)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
