// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids in materials over time: what rests stays, what is neutral does not drift, what several materials press
// on sinks by what they weigh, wheels turn by the momentum of their jet, drums roll as pendulums. With an argument
// only the tests of that name.
#include "lab.h"
#include <stdio.h>
#include "physics/sides.h"
#include "support.h"
#include "world/parts.h"

static const double G = 9.81, RHO = 1000, PI = 3.14159265358979323846;

static const rh_dynamic_solid *solid_of(const lab *l, int n) { return &l->world->dynamics.items[n]; }

// How deep the deepest particle of any material is inside a solid, where that is now.
static double deepest(const lab *l)
{
    double least = 1e30;
    for (int i = 0; i < l->world->material_count; i++) {
        const rh_material *m = &l->world->materials[i];
        const rh_vec3 *x = rh_points_data(m->points, "P", RH_POINT_VEC3F);
        for (int64_t p = 0; p < m->points->count; p++)
            least = fmin(least, rh_obstacles_distance(&m->geometry.obstacles, rh_d3_from(x[p]), NULL));
    }
    return -least;
}

// --- at rest ---------------------------------------------------------------------------------------------------------
typedef struct rest {
    rh_dvec3 at;
    double from, farthest, fastest, energy;
} rest;

static void watch(lab *l, void *user)
{
    rest *r = user;
    const rh_dynamic_solid *s = solid_of(l, 0);
    if (lab_time(l) < r->from) r->at = s->position;
    r->farthest = fmax(r->farthest, rh_d3_length(rh_d3_sub(s->position, r->at)));
    r->fastest = fmax(r->fastest, rh_d3_length(s->linear));
}

static rest stay(const char *method, double cell, const char *solid, double from, double until)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: %g\nmax_step: 0.04\nphysics: {%s: {}}\n"
             "bodies: [{shape: {box: {min: [0, 0, -1], max: [1, 0.6, 1]}}}]\n"
             "solids:\n  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 2, 1]}}}\n  - %s\n",
             cell, method, solid);
    rest r = {.from = from, .at = solid_of(&l, 0)->position};
    lab_run(&l, until, watch, &r);
    print_message("  %s: moved by %.4g mm in %g s, fastest %.2g m/s; turned by %.2g\n", method, 1e3 * r.farthest,
                  until - from, r.fastest, 2 * asin(solid_of(&l, 0)->turn[3]));
    lab_close(&l);
    return r;
}

static void a_stone_on_the_floor_stays_for_a_minute(void **state)
{
    (void)state;
    const char *stone = "{shape: {box: {min: [0.36, 0, -1], max: [0.56, 0.16, 1]}}, dynamic: {density: 2000}}";
    double until = getenv("RHEO_LONG") ? 60 : 10;
    rest r = stay("liquid", 0.04, stone, 0, until);
    assert_true(r.farthest < 1e-5 && r.fastest < 1e-4);
    r = stay("splash", 0.04, stone, 0, until);
    assert_true(r.farthest < 1e-5 && r.fastest < 1e-4);
}

// 20 cells across, anywhere in the grid, round, along it and turned: at most 0.5 % of its size in a second is asked
// for, 0.02 % was found. (Without physics/buoyancy.c it was up to 0.9 %, up or down.)
static void what_is_as_heavy_as_the_liquid_hardly_drifts(void **state)
{
    (void)state;
    const char *solids[] = {
        "{shape: {sphere: {center: [0.51, 0.3, 0], radius: 0.1}}, dynamic: {density: 1000}}",
        "{shape: {box: {min: [0.4163, 0.2271, -1], max: [0.6163, 0.4271, 1]}}, dynamic: {density: 1000},\n"
        "     motion: {pivot: [0.5163, 0.3271, 0], keys: [{time: 0, rotate: [0, 0, 25]}]}}",
    };
    for (int k = 0; k < 2; k++) {
        rest r = stay("liquid", 0.01, solids[k], 0, 1);
        assert_true(r.farthest < 0.005 * 0.2 && r.fastest < 0.005 * 0.2);
    }
}

// --- energy ----------------------------------------------------------------------------------------------------------
typedef struct budget {
    double start, most, end;  // J/m, of liquid and solids: in motion and by height
} budget;

static double energy_of(const lab *l)
{
    const rh_vec3 *x = lab_positions(l), *v = lab_velocities(l);
    double mass = rh_material_particle_mass(&l->world->materials[0]), sum = 0;
    for (int64_t i = 0; i < lab_count(l); i++) sum += mass * (0.5 * (double)rh_v3_dot(v[i], v[i]) + G * (double)x[i].y);
    for (int n = 0; n < l->world->dynamics.count; n++) {
        const rh_dynamic_solid *s = solid_of(l, n);
        sum += s->mass.mass * (0.5 * rh_d3_dot(s->linear, s->linear) + G * s->position.y);
    }
    return sum;
}

static void watch_energy(lab *l, void *user)
{
    budget *b = user;
    b->end = energy_of(l);
    b->most = fmax(b->most, b->end);
}

// A plank afloat and a stone on the floor, where they belong. Nothing gives energy, so there is never more of it than
// at the start, but for what the correction of volume does to particles as they were seeded: a pool without solids
// gains 3e-5 of what all of it would give by falling as deep as it is, which is the scale.
static void energy_at_rest_never_grows(void **state)
{
    (void)state;
    const char *methods[] = {"liquid", "splash"};
    for (int k = 0; k < 2; k++) {
        lab l;
        lab_open(&l,
                 "dimension: 2\ncell: 0.02\nmax_step: 0.04\nphysics: {%s: {}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, -1], max: [1, 0.5, 1]}}}]\n"
                 "solids:\n  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 2, 1]}}}\n"
                 "  - {shape: {box: {min: [0.3, 0.45, -1], max: [0.7, 0.55, 1]}}, dynamic: {density: 500}}\n"
                 "  - {shape: {box: {min: [0.6, 0, -1], max: [0.8, 0.1, 1]}}, dynamic: {density: 2500}}\n",
                 methods[k]);
        budget b = {.start = energy_of(&l)};
        lab_run(&l, 2, watch_energy, &b);
        double scale = RHO * 0.5 * G * 0.5;
        print_message("  %s: energy at most %+.2e above the start's, %+.2e in the end\n", methods[k],
                      (b.most - b.start) / scale, (b.end - b.start) / scale);
        assert_true(b.most - b.start < 1e-4 * scale);
        lab_close(&l);
    }
}

// --- several materials -----------------------------------------------------------------------------------------------
typedef struct mean {
    double from, before, sum, time, deepest, low, high;
} mean;

static void watch_height(lab *l, void *user)
{
    mean *m = user;
    double dt = lab_time(l) - m->before, y = solid_of(l, 0)->position.y;
    m->before = lab_time(l);
    m->deepest = fmax(m->deepest, deepest(l));
    if (lab_time(l) < m->from) return;
    m->sum += dt * y;
    m->time += dt;
    m->low = m->low == 0 ? y : fmin(m->low, y);
    m->high = fmax(m->high, y);
}

// A raft with sand on it displaces the weight of both.
static void a_raft_bears_its_sand(void **state)
{
    (void)state;
    lab l;
    lab_open(
        &l, "dimension: 2\ncell: 0.02\nmaterials:\n"
            "  - {name: water, physics: {liquid: {}}}\n  - {name: sand, physics: {sand: {}}}\n"
            "bodies:\n  - {material: water, shape: {box: {min: [0, 0, -1], max: [1.2, 0.5, 1]}}}\n"
            "  - {material: sand, shape: {box: {min: [0.5, 0.52, -1], max: [0.7, 0.6, 1]}}}\n"
            "solids:\n  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1.2, 2, 1]}}}\n"
            "  - {friction: 0.8, shape: {box: {min: [0.3, 0.4, -1], max: [0.9, 0.52, 1]}}, dynamic: {density: 500}}\n");
    const rh_material *sand = &l.world->materials[1], *water = &l.world->materials[0];
    double weight = 0.6 * 0.12 * 500 + (double)sand->points->count * rh_material_particle_mass(sand);
    double draught = weight / RHO / 0.6, area = (double)water->points->count * rh_material_particle_mass(water) / RHO;
    double exact = (area + weight / RHO) / 1.2 - draught + 0.06;
    mean m = {.from = 0.5};
    lab_run(&l, 2.5, watch_height, &m);
    print_message("  the raft's centre at %.4f m (%.4f to %.4f), exact %.4f, draught %.4f; particles %.2g m inside\n",
                  m.sum / m.time, m.low, m.high, exact, draught, m.deepest);
    assert_true(fabs(m.sum / m.time - exact) < 0.02 * draught && m.high - m.low < 0.1 * draught);
    assert_true(m.deepest < 1e-6);
    lab_close(&l);
}

// Light planks among smoothed particles, whose pressure moves them and the liquid at once. Off by a quarter of the
// spacing at most.
static void smoothed_particles_bear_light_planks(void **state)
{
    (void)state;
    const double densities[] = {500, 250, 100, 50}, cells[] = {0.04, 0.04, 0.02, 0.02};
    for (int i = 0; i < 4; i++) {
        lab l;
        double draught = 0.1 * densities[i] / RHO, spacing = 0.5 * cells[i];
        lab_open(&l,
                 "dimension: 2\ncell: %g\nphysics: {sph: {}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, -1], max: [1, 0.4, 1]}}}]\n"
                 "solids:\n  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 2, 1]}}}\n"
                 "  - {shape: {box: {min: [0.3, %g, -1], max: [0.7, %g, 1]}}, dynamic: {density: %g}}\n",
                 cells[i], 0.4 - draught, 0.5 - draught, densities[i]);
        mean m = {.from = i < 2 ? 1 : 0.4};
        lab_run(&l, i < 2 ? 2 : 0.8, watch_height, &m);
        print_message("  sph, %g kg/m^3: %.4f to %.4f m, exact %.4f\n", densities[i], m.low, m.high, 0.45 - draught);
        assert_true(fabs(m.sum / m.time - 0.45 + draught) < 0.25 * spacing && m.high - m.low < spacing);
        lab_close(&l);
    }
}

// Momentum in the plane, with what solids are still owed; the third number: how much of it there is.
static void sum_momenta(const lab *l, double out[3])
{
    const rh_material *m = &l->world->materials[0];
    const rh_vec3 *v = lab_velocities(l);
    double mass = rh_material_particle_mass(m);
    const rh_dynamic_solid *s = solid_of(l, 0);
    for (int k = 0; k < 2; k++) out[k] = s->mass.mass * (&s->linear.x)[k] + s->owed[k];
    out[2] = 0;
    for (int64_t i = 0; i < lab_count(l); i++) {
        out[0] += mass * (double)v[i].x, out[1] += mass * (double)v[i].y;
        out[2] += mass * (double)rh_v3_length(v[i]);
    }
}

// A drop hits a plank of a twentieth of its density in empty space.
static void a_drop_takes_a_light_plank_along(void **state)
{
    (void)state;
    const char *const solvers[] = {"exact", "multilevel"};
    const double densities[] = {50, 100};
    for (int n = 0; n < 2; n++) {
        lab l;
        double before[3], after[3];
        lab_open(&l,
                 "dimension: 2\ncell: 0.04\ngravity: [0, 0, 0]\nphysics: {sph: {solver: %s}}\n"
                 "bodies: [{velocity: [1, 0, 0], shape: {sphere: {center: [0, 0, 0], radius: 0.2}}}]\n"
                 "solids: [{shape: {box: {min: [0.22, -0.1, -1], max: [0.32, 0.3, 1]}}, dynamic: {density: %g}}]\n",
                 solvers[n], densities[n]);
        sum_momenta(&l, before);
        lab_run(&l, 0.3, NULL, NULL);
        sum_momenta(&l, after);
        const rh_dynamic_solid *s = solid_of(&l, 0);
        print_message("  %s: momentum off by %.2g and %.2g of all; the plank goes at %.3f m/s\n", solvers[n],
                      (after[0] - before[0]) / before[2], after[1] / before[2], s->linear.x);
        assert_true(fabs(after[0] - before[0]) < 1e-6 * before[2] && fabs(after[1]) < 1e-6 * before[2]);
        // What meets much that is heavier leaves between as fast as that and twice as fast.
        assert_true(s->linear.x > 0.5 && s->linear.x < 2);
        lab_close(&l);
    }
}

// --- fast ------------------------------------------------------------------------------------------------------------
typedef struct throw
{
    double deepest, fastest;
    double before;
    double farthest;  // way of the solid in a step, of its radius
    rh_dvec3 at;
    int64_t behind;  // particles behind the middle of a plank that they all were before
}
throw;

static int64_t count_behind(const lab *l)
{
    const rh_vec3 *x = lab_positions(l);
    rh_dvec3 at = solid_of(l, 0)->position;
    int64_t count = 0;
    for (int64_t i = 0; i < lab_count(l); i++)
        count += (double)x[i].x < at.x - 0.025 && fabs((double)x[i].y - at.y) < 0.04;
    return count;
}

static void watch_throw(lab *l, void *user)
{
    throw *t = user;
    t->deepest = fmax(t->deepest, deepest(l));
    if (t->before > 0) t->farthest = fmax(t->farthest, rh_d3_length(rh_d3_sub(solid_of(l, 0)->position, t->at)) / 0.06);
    t->before = lab_time(l);
    t->at = solid_of(l, 0)->position;
    if (t->at.x < 0.4) t->behind += count_behind(l);
}

// A heavy ball and a plank, thrown through water so fast that they go farther than their own size in a step.
static void no_particle_ends_in_what_is_fast(void **state)
{
    (void)state;
    const char *solids[] = {"{shape: {sphere: {center: [0.1, 0.3, 0], radius: 0.06}}, dynamic: {density: 20000, "
                            "velocity: [30, 2, 0], angular_velocity: [0, 0, 20]}}",
                            "{shape: {box: {min: [0.08, 0.2, -1], max: [0.13, 0.4, 1]}}, dynamic: {density: 20000, "
                            "velocity: [30, 0, 0]}}"};
    const char *methods[] = {"liquid", "splash"};
    for (int k = 0; k < 4; k++) {
        lab l;
        lab_open(&l,
                 "dimension: 2\ncell: 0.02\nphysics: {%s: {cfl: 4}}\n"
                 "bodies: [{shape: {box: {min: [0.2, 0, -1], max: [1.6, 0.6, 1]}}}]\n"
                 "solids:\n  - {inside_out: true, shape: {box: {min: [-1, 0, -1], max: [4, 4, 1]}}}\n  - %s\n",
                 methods[k / 2], solids[k % 2]);
        throw t = {0};
        lab_run(&l, 0.06, watch_throw, &t);
        print_message("  %s, %s: %.2g m inside at most, up to %.2f of 0.06 m in a step, %lld behind it\n",
                      methods[k / 2], k % 2 ? "plank" : "ball", t.deepest, t.farthest, (long long)t.behind);
        assert_true(t.deepest < 1e-6 && (k % 2 == 0 || t.behind == 0));
        lab_close(&l);
    }
}

// A plank of 0.05 m that goes 0.1 m in a step takes particles at rest before it along; by their nearest surface alone
// they would be left behind it.
static void fast_solids_take_particles_along(void **state)
{
    (void)state;
    enum { COUNT = 50 };
    lab l;
    rh_status status = {0};
    rh_obstacles before, after;
    rh_vec3 start[COUNT], at[COUNT], velocity[COUNT];
    lab_open(&l, "dimension: 2\ncell: 0.02\nphysics: {liquid: {}}\n"
                 "bodies: [{shape: {box: {min: [5, 5, -1], max: [5.1, 5.1, 1]}}}]\n"
                 "solids: [{shape: {box: {min: [0.08, 0.2, -1], max: [0.13, 0.4, 1]}}, "
                 "motion: {keys: [{time: 0}, {time: 0.01, translate: [0.1, 0, 0]}]}}]\n");
    const rh_obstacles *solids = &l.world->materials[0].geometry.obstacles;
    lab_check(rh_obstacles_create(solids, &before, &status), &status);
    lab_check(rh_obstacles_create(solids, &after, &status), &status);
    lab_check(rh_obstacles_at(solids, 0, 0.01, &before, &status), &status);
    lab_check(rh_obstacles_at(solids, 0.01, 0, &after, &status), &status);
    for (int i = 0; i < COUNT; i++) {
        start[i] = at[i] = rh_v3(0.1305f + 0.002f * (float)i, 0.3f, 0);
        velocity[i] = rh_v3(0, 0, 0);
    }
    rh_surroundings around = {.dimension = 2, .cell = 0.02, .obstacles = &before, .obstacles_after = &after};
    rh_collision collision = {.gap = 0.0005, .stop = true};
    assert_true(rh_sides_walk(&around));
    rh_sides_hold(&around, &collision, COUNT, start, at, velocity);
    for (int i = 0; i < COUNT; i++) assert_true((double)at[i].x > 0.23);
    rh_obstacles_free(&before);
    rh_obstacles_free(&after);
    lab_close(&l);
}

// --- wheels, drums ---------------------------------------------------------------------------------------------------
typedef struct turn {
    rh_dvec3 hinge;
    double from, sum, before, time;
} turn;

static void watch_torque(lab *l, void *user)
{
    turn *t = user;
    const rh_obstacle *o = &l->world->materials[0].geometry.obstacles.items[solid_of(l, 0)->obstacle];
    double dt = lab_time(l) - t->before;
    t->before = lab_time(l);
    if (lab_time(l) < t->from) return;
    t->sum += rh_impulse_about(&o->received, t->hinge).z;
    t->time += dt;
}

// A jet of width 0.1 m and 2 m/s onto a paddle 0.4 m from its hinge, which a brake holds: it leaves along the paddle,
// so all of its momentum is the paddle's.
static void a_wheel_gets_the_momentum_of_its_jet(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "dimension: 2\ncell: 0.02\ngravity: [0, 0, 0]\nphysics: {liquid: {}}\n"
                 "emitters: [{shape: {box: {min: [0.35, 0.36, -1], max: [0.45, 0.4, 1]}}, velocity: [0, -2, 0]}]\n"
                 "sinks: [{shape: {box: {min: [-9, -9, -1], max: [-0.3, 9, 1]}}},\n"
                 "        {shape: {box: {min: [1.1, -9, -1], max: [9, 9, 1]}}}]\n"
                 "solids: [{name: paddle, shape: {box: {min: [-0.2, -0.06, -1], max: [1, 0, 1]}}, "
                 "dynamic: {density: 500}}]\n"
                 "joints: [{solid: paddle, joint: {hinge: {point: [0, 0, 0], motor: {speed: 0, strength: 1e7}}}}]\n");
    turn t = {.hinge = {0, 0, 0}, .from = 0.5};
    lab_run(&l, 1.2, watch_torque, &t);
    double exact = -RHO * 0.1 * 2 * 2 * 0.4;
    print_message("  torque %.2f N m/m, of the jet's momentum %.2f: %+.1f %%\n", t.sum / t.time, exact,
                  100 * (t.sum / t.time / exact - 1));
    assert_true(fabs(t.sum / t.time / exact - 1) < 0.1);
    lab_close(&l);
}

typedef struct swing {
    double last, crossed[8], before;
    int count;
} swing;

static void watch_swing(lab *l, void *user)
{
    swing *s = user;
    double angle = 2 * asin(solid_of(l, 0)->turn[3]), t = lab_time(l);
    if (s->before > 0 && angle * s->last < 0 && s->count < 8)
        s->crossed[s->count++] = s->before + (t - s->before) * s->last / (s->last - angle);
    s->last = angle;
    s->before = t;
}

// A drum half in water, whose weight is below its axis, on a hinge there: an ideal liquid does not feel it turn, so it
// swings as a pendulum in air would, T = 2 pi sqrt(I / (m g d)), here with 0.1 kg m^2 and 40 kg m.
static void a_drum_rolls_as_a_pendulum(void **state)
{
    (void)state;
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.02\nphysics: {liquid: {}}\n"
             "bodies: [{shape: {box: {min: [0, 0, -1], max: [1.2, 0.4, 1]}}}]\n"
             "solids:\n  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1.2, 2, 1]}}}\n"
             "  - {name: drum, group: a, shape: {cylinder: {from: [0.6, 0.4, -1], to: [0.6, 0.4, 1], radius: 0.2}}, "
             "dynamic: {density: 300, angular_velocity: [0, 0, 0.5]}}\n"
             "  - {name: keel, group: a, shape: {box: {min: [0.56, 0.24, -1], max: [0.64, 0.28, 1]}}, "
             "dynamic: {density: 9000, velocity: [0.07, 0, 0], angular_velocity: [0, 0, 0.5]}}\n"
             "joints:\n  - {solid: drum, joint: {hinge: {point: [0.6, 0.4, 0]}}}\n"
             "  - {solid: keel, to: drum, joint: {fixed: {point: [0.6, 0.26, 0]}}}\n");
    double drum = 300 * PI * 0.04, keel = 9000 * 0.08 * 0.04, d = 0.14;
    double inertia = 0.5 * drum * 0.04 + keel * ((0.0064 + 0.0016) / 12 + d * d);
    double exact = 2 * PI * sqrt(inertia / (keel * G * d));
    swing s = {0};
    lab_run(&l, 3 * exact, watch_swing, &s);
    assert_true(s.count >= 3);
    double period = 2 * (s.crossed[s.count - 1] - s.crossed[0]) / (s.count - 1);
    print_message("  period %.4f s, exact %.4f: %+.2f %%\n", period, exact, 100 * (period / exact - 1));
    assert_true(fabs(period / exact - 1) < 0.05);
    lab_close(&l);
}

// --- shapes ----------------------------------------------------------------------------------------------------------
static double drop_cube(const char *shape)
{
    lab l;
    lab_open(&l,
             "cell: 0.05\nphysics: {liquid: {}}\n"
             "bodies: [{shape: {box: {min: [0, 0, 0], max: [0.8, 0.4, 0.8]}}}]\n"
             "solids:\n  - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [0.8, 2, 0.8]}}}\n"
             "  - {shape: %s, dynamic: {density: 500}}\n",
             shape);
    mean m = {.from = 0.1};
    lab_run(&l, 0.6, watch_height, &m);
    print_message("  %.30s: %.4f to %.4f m, mean %.4f; particles %.2g m inside\n", shape, m.low, m.high, m.sum / m.time,
                  m.deepest);
    assert_true(m.deepest < 0.001);
    lab_close(&l);
    return m.sum / m.time;
}

// A mesh moves as the shape that it is of.
static void meshes_move_in_space(void **state)
{
    (void)state;
    char path[] = "/tmp/rheo_cube_XXXXXX.obj", shape[128];
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    for (int i = 0; i < 8; i++)
        fprintf(out, "v %g %g %g\n", i & 1 ? 0.525 : 0.275, i & 2 ? 0.65 : 0.4, i & 4 ? 0.525 : 0.275);
    fprintf(out, "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
    fclose(out);
    snprintf(shape, sizeof shape, "{mesh: {file: %s}}", path);
    double box = drop_cube("{box: {min: [0.275, 0.4, 0.275], max: [0.525, 0.65, 0.525]}}"), mesh = drop_cube(shape);
    remove(path);
    assert_true(fabs(box - mesh) < 0.05 * 0.25);
}

// A plate a third of a cell thick, let go across its way: it has its own mass and that of the circle around it (H.
// Lamb, "Hydrodynamics", 1932, article 71).
static void thin_plates_feel_the_liquid(void **state)
{
    (void)state;
    lab l;
    double width = 0.3, thick = 0.006, density = 20000;
    lab_open(&l,
             "dimension: 2\ncell: 0.02\nphysics: {liquid: {}}\n"
             "bodies: [{shape: {box: {min: [0, 0, -1], max: [2, 1.6, 1]}}}]\n"
             "solids:\n  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [2, 2.4, 1]}}}\n"
             "  - {shape: {box: {min: [0.85, 0.803, -1], max: [1.15, 0.809, 1]}}, dynamic: {density: %g}}\n",
             density);
    double dt, own = density * width * thick, added = RHO * PI / 4 * width * width;
    rh_status status = {0};
    lab_check(rh_world_step(l.world, 0.004, &dt, &status), &status);
    double a = solid_of(&l, 0)->linear.y / (0.5 * dt), exact = -(own - RHO * width * thick) * G / (own + added);
    print_message("  first acceleration %.3f m/s^2, exact %.3f: %+.1f %%\n", a, exact, 100 * (a / exact - 1));
    throw t = {0};
    lab_run(&l, 0.3, watch_throw, &t);
    print_message("  after 0.3 s at %.3f m with %.3f m/s, turned by %.3f; particles %.2g m inside\n",
                  solid_of(&l, 0)->position.y, solid_of(&l, 0)->linear.y, 2 * asin(solid_of(&l, 0)->turn[3]),
                  t.deepest);
    assert_true(fabs(a / exact - 1) < 0.15 && t.deepest < 1e-6);
    lab_close(&l);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stone_on_the_floor_stays_for_a_minute),
        cmocka_unit_test(what_is_as_heavy_as_the_liquid_hardly_drifts),
        cmocka_unit_test(energy_at_rest_never_grows),
        cmocka_unit_test(a_raft_bears_its_sand),
        cmocka_unit_test(smoothed_particles_bear_light_planks),
        cmocka_unit_test(a_drop_takes_a_light_plank_along),
        cmocka_unit_test(no_particle_ends_in_what_is_fast),
        cmocka_unit_test(fast_solids_take_particles_along),
        cmocka_unit_test(a_wheel_gets_the_momentum_of_its_jet),
        cmocka_unit_test(a_drum_rolls_as_a_pendulum),
        cmocka_unit_test(meshes_move_in_space),
        cmocka_unit_test(thin_plates_feel_the_liquid),
    };
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
