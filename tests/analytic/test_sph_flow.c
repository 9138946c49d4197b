// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Smoothed particles against nature and the laws of conservation. Limits are stated where they are asked for.
#include <math.h>
#include "lab.h"
#include "world/probes.h"

static double rms_speed(const lab *l) { return sqrt(2 * lab_kinetic(l)); }

// --- rest ------------------------------------------------------------------------------------------------------------
// p = rho g (H - y): slope and level of the line through all particles' pressure.
static void pressure_line(const lab *l, double *slope, double *zero)
{
    const rh_vec3 *x = lab_positions(l);
    const float *p = rh_points_data(rh_world_points(l->world), "pressure", RH_POINT_F32);
    double n = 0, sy = 0, sp = 0, syy = 0, syp = 0;
    for (int64_t i = 0; i < lab_count(l); i++) {
        double y = (double)x[i].y, q = (double)p[i] / (1000 * 9.81);
        if (!(q > 0)) continue;
        n++, sy += y, sp += q, syy += y * y, syp += y * q;
    }
    *slope = (n * syp - sy * sp) / (n * syy - sy * sy);
    *zero = (sp - *slope * sy) / n / -*slope;
}

typedef struct mean {
    double slope, zero, speed, count;
} mean;

static void watch_rest(lab *l, void *user)
{
    mean *m = user;
    double slope, zero;
    if (lab_time(l) < 2.26) return;
    pressure_line(l, &slope, &zero);
    m->slope += slope, m->zero += zero, m->speed += rms_speed(l), m->count++;
}

// Tanks 0.5 m deep, 1 m long in the plane and 0.5 m in space. After 10 sqrt(H / g) = 2.26 s, means over 0.2 s; the
// usual limits: slope to 3 %, rms speed below 0.01 sqrt(g H).
static void rest_in(int dimension, double cell, double side)
{
    lab l;
    mean m = {0};
    lab_open(&l,
             "dimension: %d\ncell: %g\nphysics: {sph: {}}\nbodies: [{shape: {box: {min: [0, 0, 0], max: [%g, 0.5, "
             "%g]}}}]\nsolids: [{inside_out: true, shape: {box: {min: [0, 0, 0], max: [%g, 1, %g]}}}]\n",
             dimension, cell, side, side, side, side);
    int64_t all = lab_count(&l);
    lab_run(&l, 2.46, watch_rest, &m);
    print_message("rest: pressure's slope %.4f rho g, 0 at %.4f m, rms speed %.4f sqrt(gH), centre at %.4f m\n",
                  m.slope / m.count, m.zero / m.count, m.speed / m.count / sqrt(9.81 * 0.5), lab_center(&l).y);
    assert_int_equal(lab_count(&l), all);
    assert_true(fabs(m.slope / m.count + 1) < 0.03);
    assert_true(fabs(m.zero / m.count - 0.5) < 0.02);
    assert_true(m.speed / m.count < 0.01 * sqrt(9.81 * 0.5));
    assert_true(fabs(lab_center(&l).y - 0.25) < 0.005);
    assert_true(l.penetration < 0);
    lab_close(&l);
}

// It stays at rest, and keeps its volume: while all of the Laplacian's share acted on the whole pressure (exact.c),
// water in space grew warm after 4 s, to 0.016 sqrt(g H) and more, and sank by 0.5 %.
static void watch_warmth(lab *l, void *user)
{
    mean *m = user;
    if (lab_time(l) > 5) m->speed += rms_speed(l), m->zero += lab_center(l).y, m->count++;
}

static void water_stays_at_rest(void **state)
{
    (void)state;
    if (!getenv("RHEO_LONG")) skip();
    lab l;
    mean m = {0};
    lab_open(&l, "cell: 0.05\nphysics: {sph: {}}\nbodies: [{shape: {box: {min: [0, 0, 0], max: [0.5, 0.5, 0.5]}}}]\n"
                 "solids: [{inside_out: true, shape: {box: {min: [0, 0, 0], max: [0.5, 1, 0.5]}}}]\n");
    lab_run(&l, 6, watch_warmth, &m);
    print_message("at rest from 5 to 6 s: rms speed %.4f sqrt(gH), centre at %.4f m\n",
                  m.speed / m.count / sqrt(9.81 * 0.5), m.zero / m.count);
    assert_true(m.speed / m.count < 0.008 * sqrt(9.81 * 0.5));
    assert_true(fabs(m.zero / m.count - 0.25) < 0.002);
    lab_close(&l);
}

static void water_at_rest(void **state)
{
    (void)state;
    rest_in(2, 0.04, 1);
    if (getenv("RHEO_LONG")) rest_in(3, 0.05, 0.5);
}

// --- a standing wave -------------------------------------------------------------------------------------------------
// The first of a tank of 1 m, 0.5 m deep: w^2 = g k tanh (k depth), k = pi / 1 m (Lamb, art. 228), started flat with
// its velocities, 3 cm high. Found: half a period of 0.995 to 1.000 of the exact one with 20, 25 and 40 particles of
// depth; wendland, whose density changes with shear (sph_kernel.c), 0.94. In space, 20 deep and 8 across: 1.003, 0.879.
typedef struct swing {
    double middle, last, time;  // m, m, s
    double returned;            // s: when the centre of mass was in the middle again; 0: not yet
} swing;

static void watch_swing(lab *l, void *user)
{
    swing *s = user;
    double off = lab_center(l).x - s->middle, now = lab_time(l);
    if (s->returned == 0 && now > 0.2 && s->last * off < 0)
        s->returned = s->time + (now - s->time) * s->last / (s->last - off);
    s->last = off, s->time = now;
}

static void wave_in(int dimension, const char *kernel, double expected)
{
    const double k = 3.14159265358979, depth = 0.5, rate = sqrt(9.81 * k * tanh(k * depth)), high = 0.03;
    lab l;
    lab_open(&l,
             "dimension: %d\ncell: 0.05\nphysics: {sph: {kernel: %s}}\n"
             "bodies: [{shape: {box: {min: [0, 0, -0.1], max: [1, %g, 0.1]}}}]\n"
             "solids: [{inside_out: true, shape: {box: {min: [0, 0, -0.1], max: [1, 1, 0.1]}}}]\n",
             dimension, kernel, depth);
    rh_vec3 *v = rh_points_data(rh_world_points_mutable(l.world), "v", RH_POINT_VEC3F);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        double x = k * (double)lab_positions(&l)[i].x, y = k * (double)lab_positions(&l)[i].y;
        double scale = high * rate / sinh(k * depth);
        v[i] = rh_v3((float)(-scale * cosh(y) * sin(x)), (float)(scale * sinh(y) * cos(x)), 0);
    }
    swing s = {.middle = lab_center(&l).x};
    lab_run(&l, 1.2 * k / rate, watch_swing, &s);
    print_message("standing wave, %dD, kernel %s: half a period in %.4f of the exact time\n", dimension, kernel,
                  s.returned * rate / k);
    assert_float_equal(s.returned * rate / k, expected, 0.02);
    lab_close(&l);
}

static void a_standing_wave(void **state)
{
    (void)state;
    wave_in(2, "automatic", 1);
    if (!getenv("RHEO_LONG")) return;
    wave_in(3, "isochoric", 1);
    wave_in(3, "automatic", 0.88);  // wendland: a limit (docs/limits.md)
}

// --- a vessel without a free surface ---------------------------------------------------------------------------------
// One vortex of G. I. Taylor and A. E. Green (Proc. R. Soc. A 158, 1937) fills a box of 1 m, u = (sin pi x cos pi y,
// -cos pi x sin pi y) m/s: the walls are its stream lines, and without viscosity it stays. Its pressure is lowest in
// the middle, where it would tear if pressure could not be negative there: then 0.02 of the energy is left after 1 s.
// Without a level of the pressure particles gather in clumps there, and of those within a fifth of the width a tenth
// are left after 1 s, with 0.55 to 0.8 of the energy. Found: 0.73 to 0.83 and 0.6 to 1 with 40 a side, 0.83 to 0.89 and
// 0.99 with 80. Run in parts, whose last steps are short: while the level was what the last solve had left it grew with
// the ratio of steps until such vortices burst.
static int within(const lab *l, double radius)
{
    int count = 0;
    for (int64_t i = 0; i < lab_count(l); i++)
        count += hypot((double)lab_positions(l)[i].x - 0.5, (double)lab_positions(l)[i].y - 0.5) < radius;
    return count;
}

static void vortex_in(double cell, double energy, double middle)
{
    const double pi = 3.14159265358979;
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: %g\ngravity: [0, 0, 0]\nphysics: {sph: {full: true}}\n"
             "bodies: [{shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]\n"
             "solids: [{inside_out: true, shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]\n",
             cell);
    rh_vec3 *v = rh_points_data(rh_world_points_mutable(l.world), "v", RH_POINT_VEC3F);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        double x = pi * (double)lab_positions(&l)[i].x, y = pi * (double)lab_positions(&l)[i].y;
        v[i] = rh_v3((float)(sin(x) * cos(y)), (float)(-cos(x) * sin(y)), 0);
    }
    double before = lab_kinetic(&l);
    int inside = within(&l, 0.2);
    for (int n = 1; n <= 10; n++) {
        lab_run(&l, 0.1 * n, NULL, NULL);
        assert_true(lab_kinetic(&l) < 1.005 * before);
    }
    double left = (double)within(&l, 0.2) / inside;
    print_message("vortex, %g a side: %.4f of its energy after 1 s, %.2f of its middle\n", 2 / cell,
                  lab_kinetic(&l) / before, left);
    assert_true(lab_kinetic(&l) > energy * before && lab_kinetic(&l) < before);
    assert_true(left > middle);
    assert_true(l.penetration < 0);
    lab_close(&l);
}

static void a_vortex_in_a_full_vessel(void **state)
{
    (void)state;
    vortex_in(0.05, 0.7, 0.4);
    vortex_in(0.025, 0.85, 0.95);
}

// --- a drop that is stretched ----------------------------------------------------------------------------------------
// J. J. Monaghan, "Simulating free surface flows with SPH", J. Comput. Phys. 110, 1994: a disc of radius 1 with u =
// (-100 x, 100 y) stays an ellipse; of its axes a b = 1, and b = 1.9445, a = 0.5143 at t = 0.0076. Usual limit 2 %. 50
// particles a radius: the flow draws them into rows, whose derivatives along and across are off in unlike ways, and
// with 20 a radius the short axis is some 12 % too long.
static double second_moment(const lab *l, int axis)
{
    double sum = 0;
    for (int64_t i = 0; i < lab_count(l); i++) sum += pow((double)(&lab_positions(l)[i].x)[axis], 2);
    return sum / (double)lab_count(l);
}

static void an_elliptical_drop(void **state)
{
    (void)state;
    lab l;
    lab_open(&l, "dimension: 2\ncell: 0.04\ngravity: [0, 0, 0]\nlimits: {speed: 1e6}\nphysics: {sph: "
                 "{artificial_viscosity: 0}}\n"
                 "bodies: [{shape: {sphere: {center: [0, 0, 0], radius: 1}}}]\n");
    rh_vec3 *v = rh_points_data(rh_world_points_mutable(l.world), "v", RH_POINT_VEC3F);
    for (int64_t i = 0; i < lab_count(&l); i++)
        v[i] = rh_v3(-100 * lab_positions(&l)[i].x, 100 * lab_positions(&l)[i].y, 0);
    double before = lab_kinetic(&l), radius = sqrt(4 * second_moment(&l, 0));
    lab_run(&l, 0.0076, NULL, NULL);
    double a = sqrt(4 * second_moment(&l, 0)) / radius, b = sqrt(4 * second_moment(&l, 1)) / radius;
    print_message("drop: axes %.4f %.4f (0.5143, 1.9445), kinetic energy %.4f of the start\n", a, b,
                  lab_kinetic(&l) / before);
    assert_true(fabs(b - 1.9445) < 0.02 * 1.9445);
    assert_true(fabs(a - 0.5143) < 0.02 * 0.5143);
    assert_true(lab_kinetic(&l) < 1.001 * before);
    lab_close(&l);
}

// --- what is conserved -----------------------------------------------------------------------------------------------
static rh_dvec3 momentum(const lab *l)
{
    rh_dvec3 sum = {0, 0, 0};
    for (int64_t i = 0; i < lab_count(l); i++) sum = rh_d3_add(sum, rh_d3_from(lab_velocities(l)[i]));
    return rh_d3_scale(sum, 1 / (double)lab_count(l));
}

// Two balls meet in empty space, with all solvers.
static void momentum_of_a_collision(void **state)
{
    (void)state;
    static const char *const solvers[] = {"exact", "isph", "iisph", "multilevel"};
    for (int n = 0; n < 4; n++) {
        lab l;
        lab_open(&l,
                 "cell: 0.1\ngravity: [0, 0, 0]\nphysics: {sph: {solver: %s, surface_tension: 1}}\n"
                 "bodies:\n - {velocity: [2, 0, 0], shape: {sphere: {center: [-0.32, 0.07, 0], radius: 0.3}}}\n"
                 " - {velocity: [-1, 0.3, 0], shape: {sphere: {center: [0.33, 0, 0.02], radius: 0.3}}}\n",
                 solvers[n]);
        rh_dvec3 before = momentum(&l);
        double energy = lab_kinetic(&l);
        lab_run(&l, 0.15, NULL, NULL);
        double off = rh_d3_length(rh_d3_sub(momentum(&l), before));
        print_message("collision, %s: momentum off by %.2g m/s, kinetic energy %.3f of the start\n", solvers[n], off,
                      lab_kinetic(&l) / energy);
        assert_true(off < 2e-6);
        assert_true(lab_kinetic(&l) < energy);
        lab_close(&l);
    }
}

// --- walls -----------------------------------------------------------------------------------------------------------
// A cup of walls thinner than a particle spacing, hit by water that falls into it; and a plate of no thickness to speak
// of across a dam break. What leaves the cup flies over its rim: the way of every particle in every step is looked at,
// and none passes a wall.
enum { CUP = 300 };
static const double rim = 4;  // m: above the highest of what the impact throws up
typedef struct ways {
    rh_vec3 last[CUP];
    int through, over;
    double highest;
} ways;

// Passes the way from a to b the line x = at below the rim, or the floor within the cup?
static bool passes(rh_vec3 a, rh_vec3 b, float at, double *height)
{
    if ((a.x < at) == (b.x < at)) return false;
    *height = (double)(a.y + (b.y - a.y) * (at - a.x) / (b.x - a.x));
    return true;
}

static void watch_ways(lab *l, void *user)
{
    ways *w = user;
    const rh_vec3 *x = lab_positions(l);
    const int64_t *id = rh_points_data(rh_world_points(l->world), "id", RH_POINT_I64);
    for (int64_t i = 0; i < lab_count(l); i++) {
        assert_true(id[i] >= 0 && id[i] < CUP);
        rh_vec3 *last = &w->last[id[i]];
        double height = 0;
        for (int side = 0; side < 2; side++)
            if (passes(*last, x[i], side ? 0.3f : 0, &height)) *(height < rim ? &w->through : &w->over) += 1;
        bool within = last->x > 0 && last->x < 0.3f && x[i].x > 0 && x[i].x < 0.3f;
        w->through += within && last->y > 0 && x[i].y < 0;
        w->highest = fmax(w->highest, (double)x[i].y);
        *last = x[i];
    }
}

static void thin_walls_hold(void **state)
{
    (void)state;
    lab l;
    ways w = {.through = 0};
    lab_open(&l,
             "dimension: 2\ncell: 0.02\nphysics: {sph: {}}\n"
             "bodies: [{velocity: [0, -2, 0], shape: {box: {min: [0.05, 0.1, -1], max: [0.25, 0.25, 1]}}}]\n"
             "solids:\n - shape: {box: {min: [-0.005, -0.005, -1], max: [0.305, 0, 1]}}\n"
             " - shape: {box: {min: [-0.005, -0.005, -1], max: [0, %g, 1]}}\n"
             " - shape: {box: {min: [0.3, -0.005, -1], max: [0.305, %g, 1]}}\n",
             rim, rim);
    assert_int_equal(lab_count(&l), CUP);
    const int64_t *id = rh_points_data(rh_world_points(l.world), "id", RH_POINT_I64);
    for (int64_t i = 0; i < CUP; i++) w.last[id[i]] = lab_positions(&l)[i];
    lab_run(&l, 0.5, watch_ways, &w);
    print_message("cup: %d ways through its walls, %d over its rim, highest %.3f m\n", w.through, w.over, w.highest);
    assert_int_equal(w.through, 0);
    assert_int_equal(w.over, 0);
    assert_int_equal(lab_count(&l), CUP);
    lab_close(&l);

    lab_open(&l, "dimension: 2\ncell: 0.04\nphysics: {sph: {}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, -1], max: [0.4, 0.6, 1]}}}]\n"
                 "solids:\n - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 1, 1]}}}\n"
                 " - shape: {box: {min: [0.4, -0.1, -1], max: [0.402, 1.1, 1]}}\n");
    lab_run(&l, 0.3, NULL, NULL);
    double farthest = 0;
    for (int64_t i = 0; i < lab_count(&l); i++) farthest = fmax(farthest, (double)lab_positions(&l)[i].x);
    print_message("plate: nothing beyond %.4f m of 0.4, rms speed %.3f m/s\n", farthest, rms_speed(&l));
    assert_true(farthest <= 0.4);
    lab_close(&l);
}

// --- a dam break -----------------------------------------------------------------------------------------------------
// J. C. Martin, W. J. Moyce, Phil. Trans. R. Soc. A 244, 1952: column of a = 2.25 inches and twice that height; their
// table 2 as in test_dam_break.c, with the same shift of T by 0.175 for the gate. The front is the foremost of the
// particles that have another one within two spacings ahead of or above them: here simply the 99.5 % of x.
static const double front_data[][2] = {{1.19, 1.44}, {1.63, 1.89}, {1.98, 2.33},
                                       {2.32, 2.78}, {2.65, 3.22}, {2.98, 3.67}};
enum { FRONTS = sizeof front_data / sizeof front_data[0], CLASSES = 4096 };

static double front_of(const lab *l, double most)
{
    int counts[CLASSES] = {0};
    for (int64_t i = 0; i < lab_count(l); i++) {
        int c = (int)((double)lab_positions(l)[i].x / most * CLASSES);
        counts[c < 0 ? 0 : c >= CLASSES ? CLASSES - 1 : c]++;
    }
    int64_t left = lab_count(l) / 200;
    int c = CLASSES - 1;
    while (c > 0 && (left -= counts[c]) > 0) c--;
    return (c + 1) * most / CLASSES + l->scene.cell / 4;
}

static void a_dam_break(void **state)
{
    (void)state;
    const double a = 0.05715, unit = sqrt(2 * 9.81 / a), shift = 0.175;
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: %.9g\nphysics: {sph: {}}\nbodies: [{shape: {box: {min: [0, 0, -1], max: [%.9g, %.9g, "
             "1]}}}]\n"
             "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [%.9g, 1, 1]}}}]\n",
             a / 16, a, 2 * a, 6 * a);
    double energy = lab_energy(&l), sum = 0, worst = 0;
    for (int n = 0; n < FRONTS; n++) {
        lab_run(&l, (front_data[n][0] - shift) / unit, NULL, NULL);
        double off = front_of(&l, 6 * a) / a / front_data[n][1] - 1;
        print_message("front at T = %.2f: %.3f, measured %.2f\n", front_data[n][0], front_of(&l, 6 * a) / a,
                      front_data[n][1]);
        sum += fabs(off), worst = fmax(worst, fabs(off));
        assert_true(lab_energy(&l) < 1.001 * energy);
    }
    print_message("dam break: front off by %.3f on average, %.3f at most\n", sum / FRONTS, worst);
    assert_true(sum / FRONTS < 0.05 && worst < 0.10);
    assert_true(l.penetration < 0);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin_walls_hold),         cmocka_unit_test(water_at_rest),
        cmocka_unit_test(water_stays_at_rest),     cmocka_unit_test(a_vortex_in_a_full_vessel),
        cmocka_unit_test(an_elliptical_drop),      cmocka_unit_test(a_standing_wave),
        cmocka_unit_test(momentum_of_a_collision), cmocka_unit_test(a_dam_break)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
