// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids in water against what is known. Archimedes' law: what floats displaces its weight. Bodies that are
// let go: a = (rho_b - rho) g / (rho_b + C rho) with the added mass C of potential flow, 1/2 for a sphere and 1 for a
// cylinder (H. Lamb, "Hydrodynamics", 1932, articles 68 and 92), whatever they weigh.
#include "lab.h"
#include <stdio.h>
#include "support.h"
#include "world/parts.h"

static const double G = 9.81, RHO = 1000;

static const rh_dynamic_solid *solid_of(const lab *l, int n) { return &l->world->dynamics.items[n]; }

// --- let go ----------------------------------------------------------------------------------------------------------
typedef struct release {
    int dimension;
    double density, cells;  // of the solid; across its radius
    double error;           // found, of the acceleration
} release;

// In the middle of a tank of twenty radii. The walls add a few per cent to the added mass.
static void let_go(release *r)
{
    lab l;
    double radius = 0.1, side = r->dimension == 2 ? 2 : 1.2, half = 0.5 * side, cell = radius / r->cells;
    lab_open(&l,
             "dimension: %d\ncell: %.6g\nphysics: {liquid: {}}\n"
             "bodies: [{shape: {box: {min: [0, 0, 0], max: [%g, %g, %g]}}}]\n"
             "solids:\n"
             "  - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [%g, %g, %g]}}}\n"
             "  - {name: ball, shape: {sphere: {center: [%g, %g, %g], radius: %g}}, dynamic: {density: %g}}\n",
             r->dimension, cell, side, side, side, side, 2 * side, side, half + 0.003, half + 0.007,
             r->dimension == 2 ? 0.0 : half + 0.004, radius, r->density);
    double dt, added = r->dimension == 2 ? 1 : 0.5;
    rh_status status = {0};
    lab_check(rh_world_step(l.world, 0.004, &dt, &status), &status);
    double a = solid_of(&l, 0)->linear.y / (0.5 * dt);
    double exact = (RHO - r->density) * G / (r->density + added * RHO);
    r->error = a / exact - 1;
    print_message("  %dD, %g kg/m^3, %g cells a radius: %.3f m/s^2, exact %.3f: %+.1f %%, %d iterations\n",
                  r->dimension, r->density, r->cells, a, exact, 100 * r->error, rh_world_report(l.world)->iterations);
    lab_close(&l);
}

static void solids_let_go_move_with_their_added_mass(void **state)
{
    (void)state;
    const double densities[] = {0, 1, 100, 500, 2000, 20000};
    for (int i = 0; i < 6; i++) {
        release r = {2, densities[i], 8, 0};
        let_go(&r);
        assert_true(fabs(r.error) < 0.05);
    }
    for (int i = 0; i < 6; i += 3) {
        release r = {3, densities[i], 5, 0};
        let_go(&r);
        assert_true(fabs(r.error) < 0.05);
    }
}

// --- at rest ---------------------------------------------------------------------------------------------------------
typedef struct watch {
    double from;               // s
    double sum, time, before;  // of the height; of the steps
    double fastest;            // m/s, of the solid
} watch;

static void look(lab *l, void *user)
{
    watch *w = user;
    double dt = lab_time(l) - w->before;
    w->before = lab_time(l);
    if (lab_time(l) < w->from) return;
    w->sum += dt * solid_of(l, 0)->position.y;
    w->time += dt;
    w->fastest = fmax(w->fastest, rh_d3_length(solid_of(l, 0)->linear));
}

// A plank that floats (four times as wide as high: a square one would turn over on its edge), put where it should be:
// by how much of its draught is it elsewhere in the end, and how fast is it?
static void float_box(const char *method, double cell, double density, double shift, double share)
{
    lab l;
    double size = 0.1, draught = size * density / RHO, level = 0.5 + shift, bottom = level - draught;
    lab_open(&l,
             "dimension: 2\ncell: %.6g\nmax_step: 0.04\nphysics: {%s: {}}\n"
             "bodies: [{shape: {box: {min: [0, 0, 0], max: [1, %.9g, 1]}}}]\n"
             "solids:\n"
             "  - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [1, 2, 1]}}}\n"
             "  - {name: crate, shape: {box: {min: [0.3, %.9g, -1], max: [0.7, %.9g, 1]}},\n"
             "     dynamic: {density: %g}}\n",
             cell, method, level, bottom, bottom + size, density);
    watch w = {.from = 1};
    lab_run(&l, 2, look, &w);
    double off = w.sum / w.time - (bottom + 0.5 * size);
    print_message("  %s, cells of %g, %g kg/m^3, level %g: off by %+.2f %% of its draught, %.4f m/s, turned %+.3f\n",
                  method, cell, density, level, 100 * off / draught, w.fastest, 2 * asin(solid_of(&l, 0)->turn[3]));
    assert_true(fabs(off) < share * draught && w.fastest < 0.03);
    lab_close(&l);
}

static void what_floats_displaces_its_weight(void **state)
{
    (void)state;
    float_box("liquid", 0.02, 500, 0, 0.01);
    float_box("liquid", 0.02, 700, 0.007, 0.01);
    float_box("liquid", 0.02, 300, 0.013, 0.03);  // one and a half cells deep
    float_box("splash", 0.02, 500, 0.003, 0.03);
}

// --- touching --------------------------------------------------------------------------------------------------------
typedef struct rest {
    rh_dvec3 at;  // after `from`
    double from, farthest, fastest;
} rest;

static void watch_rest(lab *l, void *user)
{
    rest *r = user;
    const rh_dynamic_solid *s = solid_of(l, 0);
    if (lab_time(l) < r->from) {
        r->at = s->position;
        return;
    }
    r->farthest = fmax(r->farthest, rh_d3_length(rh_d3_sub(s->position, r->at)));
    r->fastest = fmax(r->fastest, rh_d3_length(s->linear));
}

// A box of 0.2 x 0.15 m on the floor below half a metre of water, or pressed from below against a shelf.
static rest rest_below(const char *method, double density, double low, double seconds)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.02\nmax_step: 0.04\nphysics: {%s: {}}\n"
             "bodies: [{shape: {box: {min: [0, 0, -1], max: [1, 0.6, 1]}}}]\n"
             "solids:\n"
             "  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 2, 1]}}}\n"
             "  - {shape: {box: {min: [0.2, 0.4, -1], max: [0.7, 0.45, 1]}}}\n"
             "  - {shape: {box: {min: [0.35, %g, -1], max: [0.55, %g, 1]}}, dynamic: {density: %g}}\n",
             method, low, low + 0.15, density);
    rest r = {.from = 1};
    lab_run(&l, 1 + seconds, watch_rest, &r);
    print_message("  %s, %g kg/m^3: within %.3f mm, %.4f m/s; at (%.4f, %.4f)\n", method, density, 1e3 * r.farthest,
                  r.fastest, r.at.x, r.at.y);
    lab_close(&l);
    return r;
}

static void what_lies_below_water_stays(void **state)
{
    (void)state;
    rest stone = rest_below("liquid", 2000, 0, 1), cork = rest_below("liquid", 10, 0.25, 1);
    assert_true(fabs(stone.at.y - 0.075) < 1e-4 && stone.farthest < 1e-5 && stone.fastest < 1e-4);
    assert_true(fabs(cork.at.y - 0.325) < 1e-4 && cork.farthest < 1e-5 && cork.fastest < 1e-3);
    stone = rest_below("splash", 2000, 0, 1);
    assert_true(fabs(stone.at.y - 0.075) < 1e-4 && stone.farthest < 1e-5 && stone.fastest < 1e-4);
    cork = rest_below("splash", 10, 0.25, 1);
    assert_true(fabs(cork.at.y - 0.325) < 1e-4 && cork.farthest < 1e-4 && cork.fastest < 0.01);
}

// --- in free space ---------------------------------------------------------------------------------------------------
static rh_dvec3 momentum(const lab *l)
{
    const rh_vec3 *v = lab_velocities(l);
    const rh_dynamic_solid *s = solid_of(l, 0);
    rh_dvec3 sum = {0, 0, 0}, owed = {s->owed[0], s->owed[1], s->owed[2]};
    for (int64_t i = 0; i < lab_count(l); i++) sum = rh_d3_add(sum, rh_d3_from(v[i]));
    sum = rh_d3_scale(sum, rh_material_particle_mass(&l->world->materials[0]));
    return rh_d3_add(rh_d3_add(sum, rh_d3_scale(s->linear, s->mass.mass)), owed);
}

// A ball shot into a drop without gravity. `method`: with its parameters.
static void shoot(const char *method, double density)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.02\ngravity: [0, 0, 0]\nmax_step: 0.005\nphysics: {%s}\n"
             "bodies: [{shape: {sphere: {center: [0, 0, 0], radius: 0.3}}}]\n"
             "solids: [{shape: {sphere: {center: [-0.45, 0.05, 0], radius: 0.1}}, wall: %s,\n"
             "          dynamic: {density: %g, velocity: [1, 0, 0]}}]\n",
             method, strstr(method, "viscosity") ? "no_slip" : "slip", density);
    rh_dvec3 before = momentum(&l);
    lab_run(&l, 0.6, NULL, NULL);
    rh_dvec3 after = momentum(&l), error = rh_d3_sub(after, before);
    print_message("  %s, %g kg/m^3: %.4g kg m/s before, off by %.2g, %.2g; the ball at %.3f with %.3f m/s\n", method,
                  density, before.x, error.x / before.x, error.y / before.x, solid_of(&l, 0)->position.x,
                  solid_of(&l, 0)->linear.x);
    double most = 1e-6 * before.x;
    assert_true(fabs(error.x) < most && fabs(error.y) < most);
    lab_close(&l);
}

static void momentum_of_liquid_and_solids_stays(void **state)
{
    (void)state;
    shoot("liquid: {}", 1000);
    shoot("liquid: {}", 100);
    shoot("splash: {}", 1000);
    shoot("splash: {}", 100);
    shoot("liquid: {viscosity: 10}", 1000);
    shoot("liquid: {viscosity: 10, viscosity_turns: 20}", 1000);
    shoot("liquid: {viscosity: 1000, viscosity_turns: 20}", 100);
}

// --- the solve -------------------------------------------------------------------------------------------------------
// Iterations of the first pressure of a tank of 128 x 128 cells with `side` times `side` balls or squares, turned, in
// it.
static int iterations(const char *method, int side, double density, const char *shape)
{
    lab l;
    static char solids[32768], head[512];
    int used = 0;
    double gap = 1.28 / (side + 1);
    solids[0] = 0;
    for (int n = 0; n < side * side; n++) {
        double x = gap * (n % side + 1), y = gap * (n / side + 1), r = 0.03;
        bool ball = strcmp(shape, "ball") == 0;
        used += snprintf(solids + used, sizeof solids - (size_t)used,
                         ball ? "  - {shape: {sphere: {center: [%g, %g, 0], radius: %g}}, dynamic: {density: %g}}\n"
                              : "  - {shape: {box: {min: [%g, %g, -1], max: [%g, %g, 1]}}, dynamic: {density: %g}}\n",
                         ball ? x : x - r, ball ? y : y - 0.6 * r, ball ? r : x + r, ball ? density : y + 0.6 * r,
                         density);
    }
    snprintf(head, sizeof head,
             "dimension: 2\ncell: 0.01\nphysics: {%s}\n"
             "bodies: [{shape: {box: {min: [0, 0, -1], max: [1.28, 1.28, 1]}}}]\n"
             "solids:\n"
             "  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1.28, 2, 1]}}}\n",
             method);
    lab_open_long(&l, head, solids);
    rh_status status = {0};
    lab_check(rh_world_step(l.world, 0.01, NULL, &status), &status);
    int found = rh_world_report(l.world)->iterations;
    lab_close(&l);
    return found;
}

// A boat of four boxes, one of which three joints hold: as many iterations as one solid takes. (How stiff a joint is in
// the multigrid followed from the joints before it, and the second and third stalled the solve.)
static void a_chain_of_joints_costs_no_iterations(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "dimension: 2\ncell: 0.02\nphysics: {liquid: {}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, -1], max: [1.6, 0.5, 1]}}}]\nsolids:\n"
                 "  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1.6, 1.2, 1]}}}\n"
                 "  - {name: floor, group: boat, shape: {box: {min: [0.5, 0.36, -1], max: [0.8, 0.42, 1]}},\n"
                 "     dynamic: {density: 400}}\n"
                 "  - {name: other, group: boat, shape: {box: {min: [0.8, 0.36, -1], max: [1.1, 0.42, 1]}},\n"
                 "     dynamic: {density: 400}}\n"
                 "  - {name: stern, group: boat, shape: {box: {min: [0.44, 0.36, -1], max: [0.5, 0.66, 1]}},\n"
                 "     dynamic: {density: 400}}\n"
                 "  - {name: mast, group: boat, shape: {box: {min: [0.7, 0.42, -1], max: [0.74, 0.8, 1]}},\n"
                 "     dynamic: {density: 400}}\n"
                 "joints:\n"
                 "  - {solid: stern, to: floor, joint: {fixed: {point: [0.5, 0.4, 0]}}}\n"
                 "  - {solid: other, to: floor, joint: {fixed: {point: [0.8, 0.4, 0]}}}\n"
                 "  - {solid: mast, to: floor, joint: {fixed: {point: [0.72, 0.42, 0]}}}\n");
    lab_run(&l, 0.1, NULL, NULL);
    int found = rh_world_report(l.world)->iterations;
    print_message("  four boxes, three joints: %d iterations\n", found);
    assert_true(found > 0 && found <= 15);
    lab_close(&l);
}

static void many_solids_and_light_ones_cost_no_iterations(void **state)
{
    (void)state;
    const double densities[] = {1, 10, 100, 1000, 20000};
    int none = iterations("liquid: {tolerance: 1e-6}", 0, 0, "ball");
    print_message("  without solids: %d iterations\n", none);
    for (int shape = 0; shape < 2; shape++)
        for (int i = 0; i < 5; i++) {
            int one = iterations("liquid: {tolerance: 1e-6}", 1, densities[i], shape ? "box" : "ball"),
                hundred = iterations("liquid: {tolerance: 1e-6}", 10, densities[i], shape ? "box" : "ball");
            print_message("  %s of %g kg/m^3: one %d, a hundred %d\n", shape ? "boxes" : "balls", densities[i], one,
                          hundred);
            assert_true(one <= none + 2 && hundred <= none + 5);
        }
}

// The same of pressure that only pushes (MPRGP), preconditioned on its free set. (When multigrid there did not know of
// the solids, a hundred light ones took 76 iterations in splash and 57 in sand.) With RHEO_LONG=1 all densities.
static void solids_in_splash_and_sand_cost_few_iterations(void **state)
{
    (void)state;
    static const char *const methods[] = {"splash: {}", "sand: {}"};
    const double densities[] = {100, 10, 500, 2000};
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < (getenv("RHEO_LONG") ? 4 : 1); i++) {
            int none = i ? 0 : iterations(methods[m], 0, 0, "ball");
            int one = iterations(methods[m], 1, densities[i], "ball"),
                hundred = iterations(methods[m], 10, densities[i], "ball");
            print_message("  %s: balls of %g kg/m^3: none %d, one %d, a hundred %d\n", methods[m], densities[i], none,
                          one, hundred);
            assert_true(one <= 25 && hundred <= 45);
        }
}

// With an argument only the tests of that name ("momentum*").
int main(int count, char **arguments)
{
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum_of_liquid_and_solids_stays),
        cmocka_unit_test(what_lies_below_water_stays),
        cmocka_unit_test(solids_let_go_move_with_their_added_mass),
        cmocka_unit_test(many_solids_and_light_ones_cost_no_iterations),
        cmocka_unit_test(solids_in_splash_and_sand_cost_few_iterations),
        cmocka_unit_test(a_chain_of_joints_costs_no_iterations),
        cmocka_unit_test(what_floats_displaces_its_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
