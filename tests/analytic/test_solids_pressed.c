// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids that shut liquid in, as lids and pistons do, and solids far lighter than the liquid that waves throw
// about: pressure bears what stands on it, and nothing gains energy. With an argument only the tests of that name.
#include "lab.h"
#include "world/parts.h"

static const double G = 9.81, DEGREE = 0.017453292519943295;

static const rh_dynamic_solid *solid_of(const lab *l, int n) { return &l->world->dynamics.items[n]; }

// --- lids ------------------------------------------------------------------------------------------------------------
typedef struct lid {
    rh_dvec3 at, along;
    double farthest, fastest;
} lid;

static void watch_lid(lab *l, void *user)
{
    lid *w = user;
    const rh_dynamic_solid *s = solid_of(l, 0);
    w->farthest = fmax(w->farthest, fabs(rh_d3_dot(rh_d3_sub(s->position, w->at), w->along)));
    w->fastest = fmax(w->fastest, rh_d3_length(s->linear));
}

// A pot of 0.4 m, filled up to a lid of 0.4 x 0.4 m that slides in it; pot, lid and gravity turned.
static lid close_pot(const char *method, double density, double degrees)
{
    lab l;
    double s = sin(degrees * DEGREE), c = cos(degrees * DEGREE);
    lab_open(&l,
             "dimension: 2\ncell: 0.02\nphysics: {%s}\ngravity: [%.9f, %.9f, 0]\n"
             "bodies: [{shape: {box: {min: [-0.3, -0.1, -1], max: [0.5, 0.5, 1]}}}]\n"
             "solids:\n"
             "  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [0.4, 1.4, 1]}},\n"
             "     motion: {pivot: [0, 0, 0], keys: [{time: 0, rotate: [0, 0, %g]}]}}\n"
             "  - {name: lid, shape: {box: {min: [0, 0.3, -1], max: [0.4, 0.7, 1]}},\n"
             "     motion: {pivot: [0, 0, 0], keys: [{time: 0, rotate: [0, 0, %g]}]}, dynamic: {density: %g}}\n"
             "joints: [{solid: lid, joint: {slider: {axis: [%.9f, %.9f, 0]}}}]\n",
             method, G * s, -G * c, degrees, degrees, density, -s, c);
    lid w = {.at = solid_of(&l, 0)->position, .along = rh_d3(-s, c, 0)};
    lab_run(&l, 0.5, watch_lid, &w);
    print_message("  %s, %g kg/m^3, turned by %g degrees: moved by %.4f mm, fastest %.4f m/s\n", method, density,
                  degrees, 1e3 * w.farthest, w.fastest);
    lab_close(&l);
    return w;
}

// It has nowhere to go: liquid cannot be pressed together. (In `splash` liquid gives way by some hundredths of a cell
// until its pressure is there; walls off the grid have their room counted a little otherwise.)
static void a_lid_rests_on_a_full_pot(void **state)
{
    (void)state;
    const double densities[] = {100, 3000};
    for (int i = 0; i < 2; i++)
        for (int turned = 0; turned < 2; turned++) {
            lid liquid = close_pot("liquid: {}", densities[i], 25 * turned),
                splash = close_pot("splash: {}", densities[i], 25 * turned);
            assert_true(liquid.farthest < 0.02 * 0.02 && splash.farthest < 0.1 * 0.02);
        }
    assert_true(close_pot("liquid: {viscosity: 100, viscosity_turns: 20}", 3000, 0).farthest < 0.02 * 0.02);
}

// --- presses ---------------------------------------------------------------------------------------------------------
// Two pistons of 0.2 and 0.4 m on one full vessel, 0.1 m high. The wider one weighs `share` of what a balance asks for.
static void press(const char *method, double share, double *small, double *large)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.02\nphysics: {%s: {}}\n"
             "bodies:\n"
             "  - {shape: {box: {min: [0, 0, -1], max: [1, 0.2, 1]}}}\n"
             "  - {shape: {box: {min: [0, 0.2, -1], max: [0.2, 0.4, 1]}}}\n"
             "  - {shape: {box: {min: [0.6, 0.2, -1], max: [1, 0.4, 1]}}}\n"
             "solids:\n"
             "  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 0.9, 1]}}}\n"
             "  - {shape: {box: {min: [0.2, 0.2, -1], max: [0.6, 0.9, 1]}}}\n"
             "  - {name: small, shape: {box: {min: [0, 0.4, -1], max: [0.2, 0.5, 1]}}, dynamic: {density: 3000}}\n"
             "  - {name: large, shape: {box: {min: [0.6, 0.4, -1], max: [1, 0.5, 1]}}, dynamic: {density: %g}}\n"
             "joints:\n"
             "  - {solid: small, joint: {slider: {axis: [0, 1, 0]}}}\n"
             "  - {solid: large, joint: {slider: {axis: [0, 1, 0]}}}\n",
             method, 3000 * share);
    lab_run(&l, 0.4, NULL, NULL);
    *small = solid_of(&l, 0)->position.y - 0.45;
    *large = solid_of(&l, 1)->position.y - 0.45;
    print_message("  %s, %g of a balance: small %+.2f mm, large %+.2f mm\n", method, share, 1e3 * *small, 1e3 * *large);
    lab_close(&l);
}

// What one piston sweeps the other does, and equal pressures rest: Pascal's law. Volume is kept as well as by
// particles.
static void a_press_balances_by_areas(void **state)
{
    (void)state;
    const char *methods[] = {"liquid", "splash"};
    for (int k = 0; k < 2; k++) {
        double small, large;
        press(methods[k], 1, &small, &large);
        assert_true(fabs(small) < (k ? 0.1 : 0.02) * 0.02 && fabs(large) < (k ? 0.1 : 0.02) * 0.02);
        press(methods[k], 0.8, &small, &large);
        assert_true(small < -0.01 && fabs(0.2 * small + 0.4 * large) < 0.02 * 0.2 * fabs(small));
    }
}

// --- light solids ----------------------------------------------------------------------------------------------------
typedef struct budget {
    double start, most, fastest, deepest;
} budget;

static double energy_of(const lab *l)
{
    const rh_vec3 *x = lab_positions(l), *v = lab_velocities(l);
    double mass = rh_material_particle_mass(&l->world->materials[0]), sum = 0;
    for (int64_t i = 0; i < lab_count(l); i++) sum += mass * (0.5 * (double)rh_v3_dot(v[i], v[i]) + G * (double)x[i].y);
    for (int n = 0; n < l->world->dynamics.count; n++) {
        const rh_dynamic_solid *s = solid_of(l, n);
        double turning = s->mass.inertia.row[2].z > 0 ? s->spin.z * s->spin.z / s->mass.inertia.row[2].z : 0;
        sum += s->mass.mass * (0.5 * rh_d3_dot(s->linear, s->linear) + G * s->position.y) + 0.5 * turning;
    }
    return sum;
}

// How deep the deepest particle is inside a solid, where that is now.
static double deepest(const lab *l)
{
    const rh_obstacles *solids = &l->world->materials[0].geometry.obstacles;
    double least = 0;
    for (int64_t i = 0; i < lab_count(l); i++)
        least = fmin(least, rh_obstacles_distance(solids, rh_d3_from(lab_positions(l)[i]), NULL));
    return -least;
}

static void watch_budget(lab *l, void *user)
{
    budget *b = user;
    b->deepest = fmax(b->deepest, deepest(l));
    b->most = fmax(b->most, energy_of(l));
    for (int n = 0; n < l->world->dynamics.count; n++)
        b->fastest = fmax(b->fastest, rh_d3_length(solid_of(l, n)->linear));
}

// A dam breaks onto crates that fall onto the floor of a turned tank, some of a two hundredth of the liquid's density,
// some heavier than it, which come to lie on each other and shut cells in between them.
static budget break_dam(const char *method, double width, const double densities[5], double seconds)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.02\nphysics: {%s}\n"
             "bodies: [{shape: {box: {min: [0, 0, -1], max: [%.9g, 0.5, 1]}}}]\n"
             "solids:\n"
             "  - {wall: no_slip, inside_out: true, shape: {box: {min: [-0.1, -0.15, -1], max: [1.1, 0.9, 1]}},\n"
             "     motion: {pivot: [0.5, 0.4, 0], keys: [{time: 0, rotate: [0, 0, 17]}]}}\n"
             "  - {shape: {box: {min: [0.5, 0.1, -1], max: [0.62, 0.2, 1]}}, dynamic: {density: %g}}\n"
             "  - {shape: {box: {min: [0.72, 0.25, -1], max: [0.84, 0.35, 1]}}, dynamic: {density: %g}}\n"
             "  - {shape: {box: {min: [0.54, 0.4, -1], max: [0.66, 0.5, 1]}}, dynamic: {density: %g}}\n"
             "  - {shape: {box: {min: [0.76, 0.55, -1], max: [0.88, 0.65, 1]}}, dynamic: {density: %g}}\n"
             "  - {shape: {box: {min: [0.58, 0.7, -1], max: [0.7, 0.8, 1]}}, dynamic: {density: %g}}\n",
             method, width, densities[0], densities[1], densities[2], densities[3], densities[4]);
    budget b = {.start = energy_of(&l)};
    lab_run(&l, seconds, watch_budget, &b);
    print_message(
        "  %s, %g to %g kg/m^3: energy %.1f J/m at the start, at most %.1f; fastest solid %.1f m/s; deepest particle "
        "%.2g m\n",
        method, densities[0], densities[4], b.start, b.most, b.fastest, b.deepest);
    lab_close(&l);
    return b;
}

// The wave runs at 3 to 4 m/s; one of a two hundredth of its density may be squeezed out from below it as a jet would
// be. (Light ones were once thrown at 200 m/s, and then the run ended.)
static void light_solids_are_not_thrown(void **state)
{
    (void)state;
    static const double light[5] = {5, 5, 20, 5, 50}, mixed[5] = {5, 300, 900, 2500, 8000};
    const char *methods[] = {"splash: {}", "sand: {}", "liquid: {}"};
    for (int k = 0; k < 3; k++) {
        budget b = break_dam(methods[k], 0.4, light, 0.7), c = break_dam(methods[k], 0.4, mixed, 1.2);
        assert_true(b.most < 1.002 * b.start && c.most < 1.002 * c.start);
        // Between crates that lie in each other by as much, a fifth of a cell.
        assert_true(b.deepest < 0.004 && c.deepest < 0.004);
        assert_true(b.fastest < 15 && c.fastest < 15);
    }
}

// Honey that heavy crates press to the floor: between two solids that touch each particle is in one of them, but in
// none deeper than the two lie in each other, and none goes through the floor. (Some did, and fell for ever.)
static void nothing_goes_through_a_floor_below_crates(void **state)
{
    (void)state;
    static const double mixed[5] = {300, 300, 900, 2500, 8000};
    budget thick = break_dam("sph: {substance: honey}", 0.4, mixed, 1.2), thin = break_dam("sph: {}", 0.4, mixed, 1);
    assert_true(thick.deepest < 0.002 && thin.deepest < 0.002);
    assert_true(thick.most < 1.002 * thick.start && thin.most < 1.002 * thin.start);
}

// Heavy crates that fall on light ones shut in more water than there is room for, now and then: dams wider by these
// parts of themselves ended so.
static void what_dynamic_solids_shut_in_ends_nothing(void **state)
{
    (void)state;
    static const double mixed[5] = {5, 300, 900, 2500, 8000}, wider[2] = {7e-5, 12e-5};
    for (int k = 0; k < 2; k++) {
        budget b = break_dam("liquid: {}", 0.4 * (1 + wider[k]), mixed, 0.6);
        assert_true(b.most < 1.002 * b.start && b.fastest < 15);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lid_rests_on_a_full_pot),
        cmocka_unit_test(a_press_balances_by_areas),
        cmocka_unit_test(light_solids_are_not_thrown),
        cmocka_unit_test(what_dynamic_solids_shut_in_ends_nothing),
        cmocka_unit_test(nothing_goes_through_a_floor_below_crates),
    };
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
