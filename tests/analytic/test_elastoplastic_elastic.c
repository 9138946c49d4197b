// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Elastoplastic bodies against the theory of elasticity: waves, plates, beams, the torsion of a rod.
#include <math.h>
#include "lab.h"

static const double PI = 3.14159265358979;

static rh_points *points_of(lab *l) { return rh_world_points_mutable(l->world); }
static rh_vec3 *velocities(lab *l) { return rh_points_data(points_of(l), "v", RH_POINT_VEC3F); }

// --- waves -----------------------------------------------------------------------------------------------------------
typedef struct swing {
    int axis;          // of the velocity
    double k, offset;  // its shape: cos(k (x - offset)), along `along`
    int along;
    double near;  // m: only particles so near to the middle of the other axis
    double last, last_time, crossings[8];
    int count;
} swing;

static double amplitude(lab *l, const swing *s)
{
    const rh_vec3 *rest = rh_points_data(points_of(l), "rest", RH_POINT_VEC3F);
    double sum = 0;
    for (int64_t i = 0; i < lab_count(l); i++) {
        if (fabs((double)(&rest[i].x)[1 - s->along]) > s->near) continue;
        sum += (double)(&lab_velocities(l)[i].x)[s->axis] * cos(s->k * ((double)(&rest[i].x)[s->along] - s->offset));
    }
    return sum;
}

static void watch_swing(lab *l, void *user)
{
    swing *s = user;
    double now = amplitude(l, s), time = lab_time(l) - 0.5 * lab_progress(l).dt;  // the time of velocities
    if (s->last * now < 0 && s->count < 8)
        s->crossings[s->count++] = s->last_time + (time - s->last_time) * s->last / (s->last - now);
    s->last = now, s->last_time = time;
}

static void start_swing(lab *l, swing *s, double speed)
{
    const rh_vec3 *rest = rh_points_data(points_of(l), "rest", RH_POINT_VEC3F);
    for (int64_t i = 0; i < lab_count(l); i++)
        (&velocities(l)[i].x)[s->axis] = (float)(speed * cos(s->k * ((double)(&rest[i].x)[s->along] - s->offset)));
    s->last = amplitude(l, s);
}

// Standing waves: of a thin plate along its length (sqrt(E / (1 - nu^2) / rho)), of one between frictionless walls
// (sqrt((lambda + 2 mu) / rho), while pressed: walls do not pull), and of shear in the middle of a wide slab, before
// anything comes from its ends (sqrt(mu / rho)). 40 particles half a wave; usual limit 2 %.
static void speeds_of_waves(void **state)
{
    (void)state;
    double nu = 0.3, e = 1e6, mu = e / 2.6, lame = e * nu / (1.3 * 0.4);
    for (int kind = 0; kind < 3; kind++) {
        lab l;
        swing s = {.k = PI / 1.0, .offset = -0.5, .near = 10};
        double height = kind == 0 ? 0.1 : 0.2, speed = sqrt(e / (1 - nu * nu) / 1000), until;
        if (kind == 1) speed = sqrt((lame + 2 * mu) / 1000);
        if (kind == 2)
            s = (swing){.axis = 0, .along = 1, .k = PI / 0.5, .offset = -0.25, .near = 0.1}, speed = sqrt(mu / 1000),
            height = 0.5;
        double length = kind == 2 ? 2 : 1;
        lab_open(
            &l,
            "dimension: 2\ncell: 0.05\ngravity: [0, 0, 0]\nrest_position: true\nphysics: {elastoplastic: {stiffness: "
            "1e6}}\nbodies: [{shape: {box: {min: [%g, %g, -1], max: [%g, %g, 1]}}}]\n%s",
            -length / 2, -height / 2, length / 2, height / 2,
            kind == 1
                ? "solids: [{friction: 0, inside_out: true, shape: {box: {min: [-5, -0.1, -1], max: [5, 0.1, 1]}}}]\n"
                : "");
        double half = PI / s.k / speed;  // half a period
        until = kind == 0 ? 1.7 * half : 0.75 * half;
        start_swing(&l, &s, 1e-3);
        lab_run(&l, until, watch_swing, &s);
        assert_true(s.count >= 1);
        double period = kind == 0 ? s.crossings[1] - s.crossings[0] : 2 * s.crossings[0];
        static const char *const names[] = {"thin plate", "between walls", "shear"};
        print_message("wave, %s: %.4f of the speed\n", names[kind], half / period);
        assert_true(fabs(half / period - 1) < 0.03);
        lab_close(&l);
    }
}

// Plane waves at an angle to the lattice, of pressure and of shear, in the middle of a block before anything comes from
// its faces: v = d cos(k n . x) stands, and is zero after a quarter of its period.
typedef struct plane_wave {
    rh_dvec3 n, d;  // unit: direction of the wave, and of its velocity
    double k;       // 1/m
    double near;    // m: from the middle
    double last, last_time, zero;
} plane_wave;

static double wave_amplitude(lab *l, const plane_wave *w)
{
    const rh_vec3 *rest = rh_points_data(points_of(l), "rest", RH_POINT_VEC3F);
    double sum = 0;
    for (int64_t i = 0; i < lab_count(l); i++) {
        rh_dvec3 x = rh_d3_from(rest[i]);
        if (rh_d3_length(x) > w->near) continue;
        sum += rh_d3_dot(rh_d3_from(lab_velocities(l)[i]), w->d) * cos(w->k * rh_d3_dot(x, w->n));
    }
    return sum;
}

static void watch_wave(lab *l, void *user)
{
    plane_wave *w = user;
    double now = wave_amplitude(l, w), time = lab_time(l) - 0.5 * lab_progress(l).dt;
    if (w->zero == 0 && now <= 0) w->zero = w->last_time + (time - w->last_time) * w->last / (w->last - now);
    w->last = now, w->last_time = time;
}

static void oblique_wave(int dimension, rh_dvec3 n, rh_dvec3 d, const char *name)
{
    double a = 0.0125, length = (dimension == 2 ? 40 : 24) * a, half = (dimension == 2 ? 1 : 0.75) * length;
    double mu = 1e6 / 2.6, lame = 1e6 * 0.3 / (1.3 * 0.4);
    double speed = sqrt((fabs(rh_d3_dot(n, d)) > 0.5 ? lame + 2 * mu : mu) / 1000);
    plane_wave w = {.n = n, .d = d, .k = 2 * PI / length, .near = 0.2 * length};
    lab l;
    lab_open(&l,
             "dimension: %d\ncell: %g\ngravity: [0, 0, 0]\nrest_position: true\nphysics: {elastoplastic: {stiffness: "
             "1e6, cfl: 0.3}}\nbodies: [{shape: {box: {min: [%g, %g, %g], max: [%g, %g, %g]}}}]\n",
             dimension, 2 * a, -half, -half, -half, half, half, half);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        double at = cos(w.k * rh_d3_dot(n, rh_d3_from(lab_positions(&l)[i])));
        velocities(&l)[i] = rh_v3_from(rh_d3_scale(d, 1e-3 * at));
    }
    w.last = wave_amplitude(&l, &w);
    lab_run(&l, 0.35 * length / speed, watch_wave, &w);
    assert_true(w.zero > 0);
    double found = 0.25 * length / w.zero / speed;
    print_message("%s: %.4f of its speed\n", name, found);
    assert_true(fabs(found - 1) < 0.02);
    lab_close(&l);
}

static void waves_at_angles_to_the_lattice(void **state)
{
    (void)state;
    for (int angle = 0; angle <= 45; angle += 15) {
        double c = cos(angle * PI / 180), s = sin(angle * PI / 180);
        char name[80];
        snprintf(name, sizeof name, "wave of pressure at %d degrees", angle);
        oblique_wave(2, rh_d3(c, s, 0), rh_d3(c, s, 0), name);
        snprintf(name, sizeof name, "wave of shear at %d degrees", angle);
        oblique_wave(2, rh_d3(c, s, 0), rh_d3(-s, c, 0), name);
    }
    double third = 1 / sqrt(3);
    oblique_wave(3, rh_d3(third, third, third), rh_d3(third, third, third), "wave of pressure along (1, 1, 1)");
    oblique_wave(3, rh_d3(third, third, third), rh_d3(sqrt(0.5), -sqrt(0.5), 0), "wave of shear along (1, 1, 1)");
}

// --- a free plate ----------------------------------------------------------------------------------------------------
// The first bending mode of a plate whose ends are free, L = 20 H, which knows no clamp: beta L = 4.7300,
// omega^2 = E' H^2 beta^4 / (12 rho) (1 - (beta H)^2 (17 - 7 nu) / (60 (1 - nu))), the last for shear and the inertia
// of turning, of Lamb's antisymmetric waves (K. F. Graff, "Wave motion in elastic solids", 1975, chapter 8).
typedef struct mode {
    double beta, last, last_time, crossings[4];
    int count;
} mode;

static double mode_shape(const mode *m, double x)  // even, x from the middle
{
    double half = 0.5 * 4.7300407;
    return cos(m->beta * x) / cos(half) + cosh(m->beta * x) / cosh(half);
}

static void watch_mode(lab *l, void *user)
{
    const rh_vec3 *rest = rh_points_data(points_of(l), "rest", RH_POINT_VEC3F);
    mode *m = user;
    double now = 0, time = lab_time(l) - 0.5 * lab_progress(l).dt;
    for (int64_t i = 0; i < lab_count(l); i++) now += (double)lab_velocities(l)[i].y * mode_shape(m, (double)rest[i].x);
    if (m->last * now < 0 && m->count < 4)
        m->crossings[m->count++] = m->last_time + (time - m->last_time) * m->last / (m->last - now);
    m->last = now, m->last_time = time;
}

static void a_free_plate_swings(void **state)
{
    (void)state;
    for (int thick = 4; thick <= (getenv("RHEO_LONG") ? 16 : 8); thick *= 2) {
        double height = 0.02, length = 0.4, nu = 0.3, beta = 4.7300407 / length, flat = beta * height;
        double square = 1e6 / (1 - nu * nu) * height * height * pow(beta, 4) / 12000;
        double omega = sqrt(square * (1 - flat * flat * (17 - 7 * nu) / (60 * (1 - nu))));
        mode m = {.beta = beta};
        lab l;
        lab_open(
            &l,
            "dimension: 2\ncell: %g\ngravity: [0, 0, 0]\nrest_position: true\nphysics: {elastoplastic: {stiffness: "
            "1e6, implicit: true, implicit_damping: 0, time_step: %g}}\nbodies: [{shape: {box: {min: "
            "[-0.2, -0.01, -1], max: [0.2, 0.01, 1]}}}]\n",
            2 * height / thick, PI / omega / 100);
        for (int64_t i = 0; i < lab_count(&l); i++)
            velocities(&l)[i].y = (float)(1e-3 * mode_shape(&m, (double)lab_positions(&l)[i].x));
        lab_run(&l, 1.7 * PI / omega, watch_mode, &m);
        assert_true(m.count == 2);
        double found = PI / (m.crossings[1] - m.crossings[0]) / omega;
        print_message("free plate %d particles thick: %.4f of its frequency\n", thick, found);
        assert_true(fabs(found - 1) < (thick < 8 ? 0.05 : 0.015));
        lab_close(&l);
    }
}

// --- beams -----------------------------------------------------------------------------------------------------------
// Displacement (m) of the middle of the end at `length`, from the last two columns of particles.
static rh_dvec3 end_moved(lab *l, double length, double spacing)
{
    const rh_vec3 *rest = rh_points_data(points_of(l), "rest", RH_POINT_VEC3F);
    rh_dvec3 sum[2] = {{0, 0, 0}, {0, 0, 0}};
    double count[2] = {0, 0};
    for (int64_t i = 0; i < lab_count(l); i++) {
        int column = (int)((length - (double)rest[i].x) / spacing);
        if (column > 1) continue;
        sum[column] = rh_d3_add(sum[column], rh_d3_from(rh_v3_sub(lab_positions(l)[i], rest[i])));
        count[column]++;
    }
    return rh_d3_sub(rh_d3_scale(sum[0], 1.5 / count[0]), rh_d3_scale(sum[1], 0.5 / count[1]));
}

typedef struct beam {
    double length, spacing;      // m
    double low, low_time, left;  // m, s, m: lowest place of the end
    double last[2], last_time;
} beam;

static void watch_end(lab *l, void *user)
{
    beam *b = user;
    rh_dvec3 end = end_moved(l, b->length, b->spacing);
    if (end.y < b->low) b->low = end.y, b->low_time = lab_time(l), b->left = end.x;
}

// Particles whose columns end at a clamp have no slope half a spacing before it. So a beam is measured twice, with the
// last column that is held half a spacing before the clamp and behind it: the means are those of a clamp between.
static beam swung(double length, double height, double cell, double until, const char *head, const char *matter)
{
    beam mean = {0};
    for (int n = 0; n < 2; n++) {
        rh_status status = {0};
        beam b = {.length = length, .spacing = 0.5 * cell};
        lab l;
        lab_open(&l,
                 "dimension: 2\ncell: %g\nrest_position: true\n%sphysics: {elastoplastic: {implicit: true, "
                 "implicit_damping: 0, %s}}\nbodies: [{shape: {box: {min: [%g, 0, -1], max: [%g, %g, "
                 "1]}}}]\n",
                 cell, head, matter, -3 * cell, length, height);
        lab_check(rh_points_add(points_of(&l), "held", RH_POINT_GROUP, &status), &status);
        uint8_t *held = rh_points_data(points_of(&l), "held", RH_POINT_GROUP);
        for (int64_t i = 0; i < lab_count(&l); i++) held[i] = (double)lab_positions(&l)[i].x < n * b.spacing;
        lab_run(&l, until, watch_end, &b);
        lab_close(&l);
        mean.low += 0.5 * b.low, mean.left += 0.5 * b.left, mean.low_time += 0.5 * b.low_time;
    }
    return mean;
}

// A plate, L = 0.2 m, H = 0.02 m, E = 2e6 Pa, nu = 0.3975 (J. P. Gray, J. J. Monaghan, R. P. Swift, Comput. Methods
// Appl. Mech. Eng. 190, 2001), clamped, let go under gravity: it swings about its deflection at rest, q L^4 / 8 E' I,
// with the period T of kL = 1.875. Small deflections: g = 0.2 m/s^2. So thick a plate is a little softer by shear (0.6
// % of the deflection; S. P. Timoshenko).
static void a_clamped_plate_swings(void **state)
{
    (void)state;
    double e = 2e6 / (1 - 0.3975 * 0.3975), g = 0.2, inertia = pow(0.02, 3) / 12, q = 1000 * g * 0.02;
    double cell = getenv("RHEO_LONG") ? 0.0025 : 0.005, length = 0.2, period = 0.2541;
    double rest = q * pow(length, 4) / (8 * e * inertia) * 1.006;
    beam b = swung(length, 0.02, cell, 0.6 * period, "gravity: [0, -0.2, 0]\n",
                   "stiffness: 2e6, poisson: 0.3975, time_step: 1e-3");
    print_message("clamped plate, %g particles thick: deflection %.4f of the theory, half a period %.4f\n",
                  0.02 / cell * 2, -b.low / 2 / rest, b.low_time / (0.5 * period));
    assert_true(fabs(-b.low / 2 / rest - 1) < 0.03);
    assert_true(fabs(b.low_time / (0.5 * period) - 1) < 0.03);
}

// The beam of S. Turek, J. Hron, "Proposal for numerical benchmarking of fluid-structure interaction", 2006, alone
// (CSM3): 0.35 x 0.02 m, E = 1.4e6 Pa, nu = 0.4, g = 2 m/s^2, let go: the end swings between 0 and -128.8 mm, and to
// -28.6 mm along the beam, 1.0995 times a second.
static void the_beam_of_turek_and_hron(void **state)
{
    (void)state;
    double cell = getenv("RHEO_LONG") ? 0.005 : 0.01, rate = 1.0995;
    beam b = swung(0.35, 0.02, cell, 0.62 / rate, "gravity: [0, -2, 0]\n",
                   "law: stvk, stiffness: 1.4e6, poisson: 0.4, time_step: 2e-3");
    print_message(
        "Turek's and Hron's beam, %g particles thick: down %.1f mm (128.8), along %.1f mm (28.6), %.3f Hz (%.3f)\n",
        0.02 / cell * 2, -1e3 * b.low, -1e3 * b.left, 0.5 / b.low_time, rate);
    assert_true(fabs(b.low / -0.1288 - 1) < 0.03);
    assert_true(fabs(b.left / -0.0286 - 1) < (getenv("RHEO_LONG") ? 0.03 : 0.04));  // goes with the square of the other
    assert_true(fabs(0.5 / b.low_time / rate - 1) < 0.03);
}

// --- a bar that is bent by three loads -------------------------------------------------------------------------------
// A bar with free ends is pushed up in its middle and down at its ends: each half is a cantilever with a load at its
// end, whose clamp is symmetry. L = 1 m, 0.1 x 0.1 m, E = 1e6 Pa, F = 1 N: F L^3 / 3 E I = 40.0 mm, and F L / (5/6 G
// A), 0.24 mm, by shear (S. P. Timoshenko). In the plane with Poisson's ratio 0 it is the bar in space. Backward Euler
// steps of a tenth of its period let it come to rest. Loads act on two columns of particles: on a single one they
// mostly bend every other column (2 % more).
typedef struct loads {
    double force, spacing, dt;  // N at either end, m, s
    double moved;               // m: ends below the middle
} loads;

static void push_bar(lab *l, void *user)
{
    const rh_vec3 *rest = rh_points_data(points_of(l), "rest", RH_POINT_VEC3F);
    loads *p = user;
    double patch = 2 * 1000 * p->spacing * 0.1 * 0.1, end = 0, middle = 0, count = 0;  // kg, m
    for (int64_t i = 0; i < lab_count(l); i++) {
        double x = fabs((double)rest[i].x), moved = (double)(lab_positions(l)[i].y - rest[i].y);
        if (x < 2 * p->spacing) velocities(l)[i].y += (float)(p->dt * p->force / patch), middle += moved, count++;
        if (x > 1 - 2 * p->spacing) velocities(l)[i].y -= (float)(p->dt * p->force / patch), end += moved;
    }
    p->moved = (middle - end) / count;
}

static void a_bar_bends_under_loads(void **state)
{
    (void)state;
    const double inertia = pow(0.1, 4) / 12, omega = sqrt(1e6 * inertia / 10) * pow(4.7300407 / 2, 2);
    loads p = {.force = 1, .spacing = 0.1 / 8, .dt = 0.2 * PI / omega};
    double arm = 1 - 2 * p.spacing;  // the middles of the loads are a spacing from the end and from the middle
    double theory = arm * arm * (arm / 3 + p.spacing) / (1e6 * inertia) + arm / (5. / 6 * 0.5e6 * 0.01);
    lab l;
    lab_open(&l,
             "dimension: 2\nframes: {fps: %.9g}\ncell: %g\ngravity: [0, 0, 0]\nrest_position: true\nphysics: "
             "{elastoplastic: {stiffness: 1e6, poisson: 0, implicit: true, implicit_damping: 1, "
             "time_step: %.9g}}\nbodies: [{shape: {box: {min: [-1, -0.05, -1], max: [1, 0.05, 1]}}}]\n",
             1 / p.dt, 2 * p.spacing, 1.001 * p.dt);
    push_bar(&l, &p);
    lab_run(&l, 60 * p.dt, push_bar, &p);
    print_message("bar 8 particles thick, load at its end: %.2f mm (%.2f)\n", 1e3 * p.moved, 1e3 * theory);
    assert_true(fabs(p.moved / theory - 1) < 0.04);
    lab_close(&l);
}

// --- torsion ---------------------------------------------------------------------------------------------------------
// A round rod, R = 8 spacings, whose ends are turned. Elastic: torque mu pi R^4 / 2 times the twist; it begins to flow
// at pi R^3 Y / (2 sqrt 3), and bears 4/3 of that when all of it flows (R. Hill, "The mathematical theory of
// plasticity", 1950). (Squares in place of the circle change the torque by 0.3 %.)
typedef struct twisting {
    double rate;           // radians per m and s
    double middle;         // m: half the length that is measured
    double first;          // N m: torque when the first particle flows; 0: none has
    double stiff;          // N m^2: torque over twist until then
    double torque, twist;  // N m, radians per m
} twisting;

static const double TWIST_MU = 1e6 / 2.6, TWIST_YIELD = 1e4, TWIST_SPACING = 0.0125;

// Torque of the middle part, by its strains (F F^T - 1) / 2.
static double torque_of(lab *l, const twisting *t)
{
    double sum = 0, volume = pow(TWIST_SPACING, 3);
    for (int64_t i = 0; i < lab_count(l); i++) {
        const float *f = rh_points_data(points_of(l), "deformation", RH_POINT_MAT3F);
        rh_vec3 x = lab_positions(l)[i];
        f += 9 * i;
        if (fabs((double)x.z) > t->middle) continue;
        double xz = (double)(f[2] + f[6] + f[0] * f[6] + f[1] * f[7] + f[2] * f[8]);
        double yz = (double)(f[5] + f[7] + f[3] * f[6] + f[4] * f[7] + f[5] * f[8]);
        sum += volume * TWIST_MU * ((double)x.x * yz - (double)x.y * xz);
    }
    return sum / (2 * t->middle);
}

// Radians per m, of the same part.
static double twist_of(lab *l, const twisting *t)
{
    const rh_vec3 *rest = rh_points_data(points_of(l), "rest", RH_POINT_VEC3F);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < lab_count(l); i++) {
        rh_dvec3 was = rh_d3_from(rest[i]), x = rh_d3_from(lab_positions(l)[i]);
        if (fabs(was.z) > t->middle) continue;
        double weight = was.z * was.z * (was.x * was.x + was.y * was.y);
        sum += was.z * (was.x * x.y - was.y * x.x), squares += weight;
    }
    return sum / squares;
}

static void turn_ends(lab *l, void *user)
{
    twisting *t = user;
    const uint8_t *held = rh_points_data(points_of(l), "held", RH_POINT_GROUP);
    const float *stress = rh_points_data(points_of(l), "stress", RH_POINT_F32);
    float most = 0;
    for (int64_t i = 0; i < lab_count(l); i++) {
        rh_vec3 x = lab_positions(l)[i];
        float by = (float)(t->rate * (double)x.z);
        if (held[i] || lab_time(l) == 0) velocities(l)[i] = rh_v3(-by * x.y, by * x.x, 0);
        if (fabs((double)x.z) < t->middle) most = fmaxf(most, stress[i]);
    }
    t->torque = torque_of(l, t), t->twist = twist_of(l, t);
    if (t->first > 0 || lab_time(l) == 0) return;
    t->stiff = t->torque / t->twist;
    if ((double)most > TWIST_YIELD) t->first = t->torque;
}

static void a_rod_is_twisted(void **state)
{
    (void)state;
    double radius = 0.1, half = 0.2, a = TWIST_SPACING, strain = TWIST_YIELD / sqrt(3) / TWIST_MU;
    double moment = 0.5 * PI * pow(radius, 4), first = PI * pow(radius, 3) * TWIST_YIELD / (2 * sqrt(3));
    twisting t = {.rate = 6 * strain / radius / 0.1, .middle = 4 * a};  // six times the strain of yield, in 0.1 s
    lab l;
    lab_open(&l,
             "cell: %g\ngravity: [0, 0, 0]\nrest_position: true\nphysics: {elastoplastic: {stiffness: 1e6, yield: %g, "
             "viscosity: 20}}\n"
             "bodies: [{shape: {cylinder: {from: [0, 0, %g], to: [0, 0, %g], radius: %g}}}]\n",
             2 * a, TWIST_YIELD, -half, half, radius);
    rh_status status = {0};
    lab_check(rh_points_add(points_of(&l), "held", RH_POINT_GROUP, &status), &status);
    uint8_t *held = rh_points_data(points_of(&l), "held", RH_POINT_GROUP);
    for (int64_t i = 0; i < lab_count(&l); i++) held[i] = fabs((double)lab_positions(&l)[i].z) > half - 3 * a;
    turn_ends(&l, &t);
    lab_run(&l, 0.1, turn_ends, &t);
    print_message("rod: stiffness %.4f, first yield at %.4f of the torque, fully plastic %.4f\n",
                  t.stiff / (TWIST_MU * moment), t.first / first, t.torque / (first * 4 / 3));
    assert_true(fabs(t.stiff / (TWIST_MU * moment) - 1) < 0.1);  // staircases warp more than they should
    assert_true(fabs(t.first / first - 1) < 0.15);               // a single particle, in a rod that swings a little
    assert_true(fabs(t.torque / (first * 4 / 3) - 1) < 0.02);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speeds_of_waves),         cmocka_unit_test(waves_at_angles_to_the_lattice),
        cmocka_unit_test(a_free_plate_swings),     cmocka_unit_test(a_clamped_plate_swings),
        cmocka_unit_test(a_bar_bends_under_loads), cmocka_unit_test(the_beam_of_turek_and_hron),
        cmocka_unit_test(a_rod_is_twisted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
