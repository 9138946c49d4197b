// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Probes against what is known: forces of water at rest (p = rho g depth on a wall, Archimedes on a ball, its own
// weight on all walls), momentum of a whole tank, Torricelli's jet with the contraction of a slot (Kirchhoff 1869), the
// flow of an emitter, the height of still water, volume that passes and volume that is missing. docs/probes.md.
#include "lab.h"
#include <stdio.h>
#include <unistd.h>
#include "rheo/rheo.h"
#include "support.h"
#include "world/probes.h"

static const double G = 9.81, RHO = 1000;

static double value_of(const lab *l, const char *title)
{
    const rh_probes *probes = rh_world_probes(l->world, 0);
    for (int i = 0; i < rh_probes_columns(probes); i++)
        if (strncmp(rh_probes_title(probes, i), title, strlen(title)) == 0) return rh_probes_latest(probes)[i];
    fail_msg("no column %s", title);
    return 0;
}

static void assert_share(const char *what, double found, double exact, double tolerance)
{
    print_message("  %-28s found %12.6g, exact %12.6g: %+.2f %%\n", what, found, exact, 100 * (found / exact - 1));
    assert_true(fabs(found / exact - 1) <= tolerance);
}

// Means over time of columns, from `start` on; steps are not equally long.
typedef struct means {
    const char *titles[6];
    double start, sums[6], time, before;
} means;

static void add_step(lab *l, void *user)
{
    means *m = user;
    double dt = lab_time(l) - m->before;
    m->before = lab_time(l);
    if (lab_time(l) <= m->start) return;
    m->time += dt;
    for (int i = 0; i < 6 && m->titles[i]; i++) m->sums[i] += dt * value_of(l, m->titles[i]);
}

// --- poses -----------------------------------------------------------------------------------------------------------
// A ball thrown where nothing is falls along v t - g t^2 / 2 and keeps its spin; a door follows its keys: 90 degrees in
// a second, about an axis through its pivot.
static void poses_are_those_of_the_solids(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "dimension: 3\ncell: 0.1\nmax_step: 0.02\nphysics: {liquid: {}}\n"
                 "bodies: [{shape: {box: {min: [5, 0, 0], max: [5.2, 0.2, 0.2]}}}]\n"
                 "solids:\n"
                 "  - {name: tank, inside_out: true, shape: {box: {min: [-2, 0, -2], max: [6, 8, 6]}}}\n"
                 "  - {name: ball, shape: {sphere: {center: [0, 3, 0], radius: 0.1}},\n"
                 "     dynamic: {density: 500, velocity: [1, 2, 0.5], angular_velocity: [0, 0, 3.14159265358979]}}\n"
                 "  - {name: door, shape: {box: {min: [2, 0, 0], max: [3, 1, 0.1]}},\n"
                 "     motion: {pivot: [2, 0.5, 0], keys: [{time: 0}, {time: 1, rotate: [0, 90, 0], "
                 "translate: [0, 0.4, 0]}]}}\n"
                 "probes:\n  - {name: b, where: {pose: {name: ball}}}\n  - {name: d, where: {pose: {name: door}}}\n");
    lab_run(&l, 0.5, NULL, NULL);
    double t = lab_time(&l), pi = 3.14159265358979323846, half = 0.5 * 0.02;
    assert_near(value_of(&l, "b.position.x"), t, 1e-6);
    assert_near(value_of(&l, "b.position.y"), 3 + 2 * t - 0.5 * G * t * t, 1e-6);
    assert_near(value_of(&l, "b.position.z"), 0.5 * t, 1e-6);
    assert_near(value_of(&l, "b.velocity.y"), 2 - G * t, G * half + 1e-6);
    assert_near(value_of(&l, "b.turn.z"), pi * t, 1e-6);
    assert_near(value_of(&l, "b.spin.z"), pi, 1e-6);
    assert_near(value_of(&l, "d.turn.y"), 0.5 * pi * t, 1e-6);
    assert_near(value_of(&l, "d.turn.x"), 0, 1e-6);
    assert_near(value_of(&l, "d.position.x"), 2, 1e-6);
    assert_near(value_of(&l, "d.position.y"), 0.5 + 0.4 * t, 1e-6);
    lab_close(&l);
}

// --- water at rest ---------------------------------------------------------------------------------------------------
// A tank 1 m wide with 0.5 m of water and a ball of 0.15 m (a cylinder across the plane) in it, cells of 1 cm.
static void rest(const char *method)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.01\nphysics: {%s: {}}\n"
             "bodies: [{shape: {box: {min: [0, 0, -1], max: [1, 0.5, 1]}}}]\n"
             "solids:\n"
             "  - {name: tank, inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 1, 1]}}}\n"
             "  - {name: ball, shape: {sphere: {center: [0.4, 0.25, 0], radius: 0.15}}}\n"
             "probes:\n"
             "  - {name: wall, where: {solid: {name: tank, min: [0.999, 0.001, -1], max: [2, 2, 1]}}}\n"
             "  - {name: ball, where: {solid: {name: ball}}}\n"
             "  - {name: all, where: {solid: {}}}\n"
             "  - {name: P, where: {point: {position: [0.75, 0.1, 0]}}}\n"
             "  - {name: tank, where: {box: {min: [0, 0, -1], max: [1, 1, 1]}}}\n",
             method);
    means m = {.titles = {"wall.force.x", "ball.force.y", "all.force.y", "P.pressure", "wall.moment.z", "ball.force.x"},
               .start = 0.25};
    lab_run(&l, 0.75, add_step, &m);
    for (int i = 0; i < 6; i++) m.sums[i] /= m.time;
    print_message("%s at rest\n", method);
    double area = 3.14159265358979 * 0.0225;
    assert_share("force on a wall", m.sums[0], 0.5 * RHO * G * 0.25, 0.01);
    assert_share("lift of a ball", m.sums[1], RHO * G * area, 0.01);
    assert_share("weight on all walls", m.sums[2], -G * value_of(&l, "tank.mass"), 0.01);
    assert_share("pressure at a point", m.sums[3], RHO * G * 0.4, 0.01);
    // The centre of pressure is at a third of the depth, the middle of the tank's bounds at 0.5 m.
    // (Spread over a cell, as splashes have it, the floor's end is in the box too.)
    if (strcmp(method, "liquid") == 0)
        assert_share("moment of a wall", m.sums[4], (0.5 - 0.5 / 3) * 0.5 * RHO * G * 0.25, 0.015);
    assert_true(fabs(m.sums[5]) < 0.01 * m.sums[1]);
    lab_close(&l);
}

static void water_at_rest_pushes_as_deep_as_it_is(void **state)
{
    (void)state;
    rest("liquid");
    rest("splash");
}

// In space: the lift of a ball of ten cells.
static void a_ball_in_space_is_lifted_by_its_volume(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "cell: 0.01\nphysics: {liquid: {}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, 0], max: [0.28, 0.26, 0.28]}}}]\n"
                 "solids:\n"
                 "  - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [0.28, 0.3, 0.28]}}}\n"
                 "  - {name: ball, shape: {sphere: {center: [0.14, 0.13, 0.14], radius: 0.1}}}\n"
                 "probes:\n"
                 "  - {name: ball, where: {solid: {name: ball}}}\n"
                 "  - {name: all, where: {solid: {}}}\n");
    means m = {.titles = {"ball.force.y", "all.force.y"}, .start = 0.01};
    lab_run(&l, 0.1, add_step, &m);
    assert_share("lift of a ball in space", m.sums[0] / m.time, RHO * G * 4.18879020478639 * 1e-3, 0.01);
    assert_share("weight on all walls", m.sums[1] / m.time, -RHO * G * (double)lab_count(&l) * 1.25e-7, 0.01);
    lab_close(&l);
}

static void a_gauge_finds_still_water(void **state)
{
    (void)state;
    static const char *const methods[] = {"liquid", "splash", "sand"};
    for (int k = 0; k < 3; k++)
        for (int n = 0; n < 3; n++) {
            lab l;
            double height = 0.3 + 0.01 * n;  // on a face, through centres, on a face
            lab_open(&l,
                     "dimension: 2\ncell: 0.02\nphysics: {%s: {}}\n"
                     "bodies: [{shape: {box: {min: [0, 0, -1], max: [0.6, %g, 1]}}}]\n"
                     "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [0.6, 1, 1]}}}]\n"
                     "probes:\n"
                     "  - {name: H, where: {line: {from: [0.31, 0, 0], to: [0.31, 1, 0]}}}\n"
                     "  - {name: W, where: {line: {from: [0.005, -0.1, 0], to: [0.005, 0.9, 0]}}}\n"
                     "  - {name: slanted, where: {line: {from: [0.1, 0, 0], to: [0.5, 0.4, 0]}}}\n",
                     methods[k], height);
            lab_run(&l, 0.2, NULL, NULL);
            double found = value_of(&l, "H.height"), at_wall = value_of(&l, "W.height") - 0.1,
                   slanted = value_of(&l, "slanted.height") / sqrt(2);
            print_message("  %s %.2f m: %+.3f cells, at a wall %+.3f, along a slanted line %+.3f\n", methods[k], height,
                          (found - height) / 0.02, (at_wall - height) / 0.02, (slanted - height) / 0.02);
            assert_true(fabs(found - height) < 0.1 * 0.02);
            assert_true(fabs(at_wall - height) < 0.15 * 0.02);
            assert_true(fabs(slanted - height) < 0.15 * 0.02);
            assert_near(value_of(&l, "W.wet"), at_wall, 1e-3);  // without the part below the floor
            lab_close(&l);
        }
}

// --- momentum of a tank ----------------------------------------------------------------------------------------------
typedef struct balance {
    rh_dvec3 walls, weight, start;  // impulses so far; momentum at the start, kg m/s
    double worst, most, before;
} balance;

static rh_dvec3 momentum_of(const lab *l)
{
    rh_dvec3 sum = {0, 0, 0};
    double mass = value_of(l, "tank.mass") / (double)lab_count(l);
    for (int64_t i = 0; i < lab_count(l); i++)
        sum = rh_d3_add(sum, rh_d3_scale(rh_d3_from(lab_velocities(l)[i]), mass));
    return sum;
}

static void add_balance(lab *l, void *user)
{
    balance *b = user;
    double dt = lab_progress(l).dt, kick = 0.5 * (b->before + dt);
    b->before = dt;
    b->walls.x += kick * value_of(l, "all.force.x");
    b->walls.y += kick * value_of(l, "all.force.y");
    b->weight.y -= kick * G * value_of(l, "tank.mass");
    rh_dvec3 is = momentum_of(l), due = rh_d3_sub(b->weight, b->walls);
    b->worst = fmax(b->worst, rh_d3_length(rh_d3_sub(is, due)));
    b->most = fmax(b->most, rh_d3_length(is));
}

// Water behind a gate that is gone at once falls, runs, and hits the far wall: what it has of momentum at any time is
// what weight and walls have given. The error is a share of all that the walls had to give.
static void slosh(const char *method, const char *wall, double tolerance)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.02\nphysics: {%s: {}}\n"
             "bodies: [{shape: {box: {min: [0, 0, -1], max: [0.4, 0.5, 1]}}}]\n"
             "solids: [{name: tank, wall: %s, inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 1, 1]}}}]\n"
             "probes:\n"
             "  - {name: all, where: {solid: {}}}\n"
             "  - {name: tank, where: {box: {min: [-1, -1, -1], max: [2, 2, 1]}}}\n",
             method, wall);
    balance b = {.start = {0, 0, 0}};
    lab_run(&l, 0.6, add_balance, &b);
    print_message(
        "  %s, %s: momentum (%.1f, %.1f), walls gave (%.1f, %.1f), weight %.1f; off by %.2f at most, %.2f %% of "
        "what the walls bore, %.2f %% of the largest momentum\n",
        method, wall, momentum_of(&l).x, momentum_of(&l).y, -b.walls.x, -b.walls.y, b.weight.y, b.worst,
        100 * b.worst / rh_d3_length(b.walls), 100 * b.worst / b.most);
    assert_true(b.worst < tolerance * rh_d3_length(b.walls));
    lab_close(&l);
}

static void momentum_of_a_tank_is_what_its_walls_gave(void **state)
{
    (void)state;
    slosh("liquid", "slip", 0.03);
    slosh("liquid", "separate", 0.03);
    slosh("liquid", "no_slip", 0.03);
    slosh("splash", "separate", 0.03);
    slosh("splash", "no_slip", 0.03);
    slosh("sand", "separate", 0.03);
}

// --- flow ------------------------------------------------------------------------------------------------------------
typedef struct flow {
    double passed, start, before, sum, head, speed, time;  // m^2; box at the start; from half time on: flow, head, jet
} flow;

static void add_flow(lab *l, void *user)
{
    flow *f = user;
    double dt = lab_time(l) - f->before;
    f->before = lab_time(l);
    f->passed += dt * value_of(l, "Q.flow");
    if (lab_time(l) < 0.25) return;
    f->time += dt;
    f->sum += dt * value_of(l, "Q.flow");
    f->head += dt * value_of(l, "H.height");
    f->speed -= dt * value_of(l, "jet.velocity.y");
}

// A slot of 16 cm in a thin floor below 0.5 m of water. Torricelli: the jet's speed is sqrt(2 g head). It is narrower
// than the slot: for a slot in a thin wall Kirchhoff's free streamlines give pi / (pi + 2) = 0.611 of it. With the
// weight of the jet itself, which is pulled long below the slot, and ten cells across, a few percent are left.
static void water_runs_out_as_torricelli_says(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "dimension: 2\ncell: 0.01\nphysics: {liquid: {}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, -1], max: [2, 0.5, 1]}}}]\n"
                 "solids:\n"
                 "  - {inside_out: true, wall: separate, shape: {box: {min: [0, -0.5, -1], max: [2, 1, 1]}}}\n"
                 "  - {wall: separate, shape: {box: {min: [-1, -0.02, -1], max: [0.92, 0, 1]}}}\n"
                 "  - {wall: separate, shape: {box: {min: [1.08, -0.02, -1], max: [3, 0, 1]}}}\n"
                 "sinks: [{shape: {box: {min: [-1, -0.6, -1], max: [3, -0.3, 1]}}}]\n"
                 "probes:\n"
                 "  - {name: Q, where: {rectangle: {corner: [0.9, -0.01, 0], side_a: [0.2, 0, 0]}}}\n"
                 "  - {name: H, where: {line: {from: [0.4, 0.005, 0], to: [0.4, 1, 0]}}}\n"
                 "  - {name: jet, where: {point: {position: [1, -0.16, 0]}}}\n"
                 "  - {name: tank, where: {box: {min: [0, -0.01, -1], max: [2, 1, 1]}}}\n");
    flow f = {.start = (double)lab_count(&l) * 0.005 * 0.005};
    lab_run(&l, 0.5, add_flow, &f);
    double head = f.head / f.time + 0.005, speed = sqrt(2 * G * head);
    // side_a x z points down for a side along +x: what runs out is positive
    assert_near(f.passed, f.start - value_of(&l, "tank.volume"), 1e-9);
    assert_share("speed of the jet", f.speed / f.time, sqrt(2 * G * (head + 0.16)), 0.05);
    assert_share("contraction", f.sum / f.time / (0.16 * speed), 0.611, 0.06);
    lab_close(&l);
}

// Two clouds of drops run into each other at a rectangle that is wider than both: drops merge, part and shed others,
// and what passed is still what is missing on its left. Particles that only fly, too.
static void add_passed(lab *l, void *user)
{
    flow *f = user;
    f->passed += (lab_time(l) - f->before) * value_of(l, "Q.flow");
    f->before = lab_time(l);
}

static void clouds(const char *physics, int64_t least)
{
    lab l;
    lab_open(&l,
             "cell: 0.02\nmax_step: 0.01\ngravity: [0, 0, 0]\nphysics: {%s}\n"
             "bodies:\n"
             "  - {velocity: [4, 0, 0], shape: {box: {min: [-0.35, 0, 0], max: [-0.1, 0.3, 0.3]}}}\n"
             "  - {velocity: [-2, 0.3, 0], shape: {box: {min: [0.02, 0, 0], max: [0.2, 0.3, 0.3]}}}\n"
             "probes:\n"
             "  - {name: Q, where: {rectangle: {corner: [0, -5, -5], side_a: [0, 10, 0], side_b: [0, 0, 10]}}}\n"
             "  - {name: left, where: {box: {min: [-9, -9, -9], max: [0, 9, 9]}}}\n"
             "  - {name: all, where: {box: {min: [-9, -9, -9], max: [9, 9, 9]}}}\n",
             physics);
    int64_t before = lab_count(&l);
    lab_run(&l, 1e-4, NULL, NULL);
    flow f = {.start = value_of(&l, "left.volume"), .before = lab_time(&l)};
    double all = value_of(&l, "all.volume");
    lab_run(&l, 0.09, add_passed, &f);
    print_message("%s: %lld of %lld particles, %.3f of all passed\n", physics, (long long)lab_count(&l),
                  (long long)before, f.passed / all);
    assert_true(llabs(lab_count(&l) - before) >= least);
    assert_true(fabs(f.passed) > 0.02 * all);
    assert_near(value_of(&l, "all.volume") / all, 1, 1e-5);
    assert_near(f.passed / all, (f.start - value_of(&l, "left.volume")) / all, 1e-5);
    lab_close(&l);
}

static void drops_pass_with_all_they_weigh(void **state)
{
    (void)state;
    clouds("droplets: {particles_per_axis: 1, radius: 0.006, rest_time: 0.005, drag: none}", 50);
    clouds("ballistic: {particles_per_axis: 1, drag: 0}", 0);
}

// A square nozzle of 0.1 m pours 2 m/s downwards.
static void an_emitter_gives_what_it_says(void **state)
{
    (void)state;
    lab l;
    lab_open(
        &l,
        "cell: 0.025\ngravity: [0, 0, 0]\nphysics: {splash: {}}\noutput: {probe_rate: 10}\n"
        "emitters: [{shape: {box: {min: [0, 0.5, 0], max: [0.1, 0.6, 0.1]}}, velocity: [0, -2, 0]}]\n"
        "probes:\n"
        "  - {name: Q, where: {rectangle: {corner: [-0.2, 0.2, -0.2], side_a: [0.5, 0, 0], side_b: [0, 0, 0.5]}}}\n"
        "  - {name: up, where: {rectangle: {corner: [-0.2, 0.2, -0.2], side_a: [0, 0, 0.5], side_b: [0.5, 0, 0]}}}\n"
        "  - {name: beside, where: {rectangle: {corner: [0.3, 0.2, -0.2], side_a: [0.5, 0, 0], side_b: [0, 0, 1]}}}\n");
    lab_run(&l, 0.8, NULL, NULL);
    assert_share("flow of an emitter", value_of(&l, "Q.flow"), 0.02, 0.02);  // x cross z is down
    assert_near(value_of(&l, "up.flow"), -value_of(&l, "Q.flow"), 1e-12);
    assert_near(value_of(&l, "beside.flow"), 0, 0);
    lab_close(&l);
}

// --- rows ------------------------------------------------------------------------------------------------------------
typedef struct rows {
    double impulse, time, next;
    int count;
} rows;

static void add_rows(lab *l, void *user)
{
    rows *r = user;
    const double *row;
    const rh_probes *probes = rh_world_probes(l->world, 0);
    int64_t count = rh_probes_rows(probes, &row);
    for (int64_t i = 0; i < count; i++, row += rh_probes_columns(probes) + 1) {
        if (l->scene.output.probe_rate > 0) assert_near(row[0], ++r->next / l->scene.output.probe_rate, 1e-12);
        r->impulse += (row[0] - r->time) * row[2];
        r->time = row[0];
        r->count++;
    }
}

// Water falls on a floor and comes to rest: with any rate, and any time step, the floor has borne its weight for all
// of the time.
static double drop(double rate, double max_step, int *count)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.02\nmax_step: %g\nphysics: {liquid: {}}\noutput: {probe_rate: %g}\n"
             "bodies: [{shape: {box: {min: [0, 0.1, -1], max: [0.4, 0.3, 1]}}}]\n"
             "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [0.4, 1, 1]}}}]\n"
             "probes: [{name: floor, where: {solid: {}}}]\n",
             max_step, rate);
    rows r = {0};
    lab_run(&l, 2, add_rows, &r);
    *count = r.count;
    lab_close(&l);
    return -r.impulse;
}

static void impulses_do_not_depend_on_rows_or_steps(void **state)
{
    (void)state;
    int every, even, dense, fine;
    double a = drop(0, 0, &every), b = drop(50, 0, &even), c = drop(2000, 0, &dense), d = drop(50, 0.002, &fine);
    double exact = RHO * 0.4 * 0.2 * G * 2;
    print_message(
        "  impulse: every step %.1f in %d rows, 50 a second %.1f, 2000 a second %.1f, short steps %.1f; exact "
        "%.1f N s/m\n",
        a, every, b, c, d, exact);
    assert_int_equal(even, 100);
    assert_int_equal(dense, 4000);
    assert_int_equal(fine, 100);
    assert_true(fabs(a / exact - 1) < 0.02 && fabs(b / exact - 1) < 0.02);
    assert_true(fabs(c / exact - 1) < 0.02);
    // Water that meets a floor in short steps gets less than the pressure gives (gains.h), and falls longer.
    assert_true(fabs(d / exact - 1) < 0.05);
}

// Through the public interface.
static void the_library_reads_probes(void **state)
{
    (void)state;
    char path[] = "scratch-probes-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fputs("rheo: 1\ndimension: 2\ncell: 0.02\nphysics: {liquid: {}}\n"
          "bodies: [{shape: {box: {min: [0, 0, -1], max: [0.4, 0.2, 1]}}}]\n"
          "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [0.4, 1, 1]}}}]\n"
          "probes: [{name: P, where: {point: {position: [0.2, 0.1, 0]}}}]\n",
          file);
    fclose(file);
    rheo_simulation *simulation;
    rheo_error error;
    assert_int_equal(rheo_open(path, NULL, 0, &simulation, &error), RHEO_OK);
    unlink(path);
    assert_int_equal(rheo_probe_count(simulation), 3);
    assert_string_equal(rheo_probe_title(simulation, 0), "P.pressure [Pa]");
    assert_string_equal(rheo_probe_title(simulation, 2), "P.velocity.y [m/s]");
    assert_true(rheo_probe_time(simulation) == 0 && rheo_probe_value(simulation, 0) == 0);
    assert_int_equal(rheo_advance_frame(simulation, &error), RHEO_OK);
    assert_near(rheo_probe_time(simulation), 1.0 / 24, 1e-12);
    assert_share("pressure", rheo_probe_value(simulation, 0), RHO * G * 0.1, 0.01);
    rheo_close(simulation);
}

// Probes of all materials, those of the first one first; a box of falling particles and one of still water.
static void the_library_reads_probes_of_all_materials(void **state)
{
    (void)state;
    char path[] = "scratch-probes-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fputs("rheo: 1\ndimension: 2\ncell: 0.05\n"
          "materials: [{name: water, physics: {liquid: {}}}, {name: dust, physics: {ballistic: {drag: 0}}}]\n"
          "bodies: [{shape: {box: {min: [0, 0, -1], max: [0.4, 0.2, 1]}}},\n"
          "  {material: dust, shape: {box: {min: [2, 2, -1], max: [2.2, 2.1, 1]}}}]\n"
          "solids: [{shape: {box: {min: [-0.1, -0.1, -1], max: [0.5, 0, 1]}}},\n"
          "  {shape: {box: {min: [-0.1, 0, -1], max: [0, 1, 1]}}}, {shape: {box: {min: [0.4, 0, -1], max: [0.5, 1, "
          "1]}}}]\n"
          "probes: [{name: B, material: dust, where: {box: {min: [1, 0, -1], max: [3, 3, 1]}}},\n"
          "  {name: P, where: {point: {position: [0.2, 0.1, 0]}}}]\n",
          file);
    fclose(file);
    rheo_simulation *simulation;
    rheo_error error;
    assert_int_equal(rheo_open(path, NULL, 0, &simulation, &error), RHEO_OK);
    unlink(path);
    assert_int_equal(rheo_probe_count(simulation), 3 + 6);
    assert_string_equal(rheo_probe_title(simulation, 0), "P.pressure [Pa]");
    assert_string_equal(rheo_probe_material(simulation, 2), "water");
    assert_string_equal(rheo_probe_title(simulation, 3), "B.volume [m^2]");
    assert_string_equal(rheo_probe_material(simulation, 3), "dust");
    assert_null(rheo_probe_title(simulation, 9));
    assert_int_equal(rheo_advance_frame(simulation, &error), RHEO_OK);
    double time = 1.0 / 24, mass = rheo_probe_value(simulation, 4);
    assert_share("mass of the dust", mass, 0.2 * 0.1 * 1000, 1e-6);
    assert_share("its way", rheo_probe_value(simulation, 6), 2.05 - 0.5 * G * time * time, 1e-3);
    rheo_close(simulation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(poses_are_those_of_the_solids),
                                       cmocka_unit_test(water_at_rest_pushes_as_deep_as_it_is),
                                       cmocka_unit_test(a_ball_in_space_is_lifted_by_its_volume),
                                       cmocka_unit_test(a_gauge_finds_still_water),
                                       cmocka_unit_test(momentum_of_a_tank_is_what_its_walls_gave),
                                       cmocka_unit_test(water_runs_out_as_torricelli_says),
                                       cmocka_unit_test(drops_pass_with_all_they_weigh),
                                       cmocka_unit_test(an_emitter_gives_what_it_says),
                                       cmocka_unit_test(impulses_do_not_depend_on_rows_or_steps),
                                       cmocka_unit_test(the_library_reads_probes),
                                       cmocka_unit_test(the_library_reads_probes_of_all_materials)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
