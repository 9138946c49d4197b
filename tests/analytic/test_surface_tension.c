// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Surface tension of the liquid against what is known of drops, waves, threads and caps. Lengths are in cells of 1 cm,
// density is 1000 kg/m^3 and the tension 1 mN/m, so that sqrt(density h^3 / tension) is 1 s: explicit steps of surface
// tension are usually held below 0.4 s here (J. Brackbill, D. Kothe, C. Zemach, J. Comput. Phys. 100, 1992). Speeds of
// a drop of radius R are measured by sqrt(tension / (density R)).
#include "lab.h"

static const double H = 0.01, SIGMA = 1e-3, RHO = 1000;

// The scene's head; `step` s at most, and frames as long.
#define HEAD(dimension, step, settings)                                                                               \
    "dimension: " #dimension "\ncell: 0.01\ngravity: [0, 0, 0]\nmax_step: " #step "\nframes: {fps: 0.001}\nphysics: " \
    "{liquid: {surface_tension: 0.001" settings "}}\n"

static rh_vec3 *positions(lab *l) { return rh_points_data(rh_world_points_mutable(l->world), "P", RH_POINT_VEC3F); }

static double volume(const lab *l) { return (double)lab_count(l) * pow(H / 2, l->scene.dimension); }

// Radius of the drop that all particles make.
static double radius(const lab *l)
{
    return l->scene.dimension == 2 ? sqrt(volume(l) / M_PI) : cbrt(volume(l) * 3 / (4 * M_PI));
}

// A drop off the grid, at the place (0.3, 0.1, 0.2) cells, stretched along the direction at `angle` in the plane of x
// and y by 1 + stretch and narrowed across it so that its volume stays.
static void open_drop(lab *l, int dimension, double cells, double step, const char *settings, double stretch,
                      double angle)
{
    lab_open(l,
             "dimension: %d\ncell: %g\ngravity: [0, 0, 0]\nmax_step: %g\nframes: {fps: 0.001}\n"
             "physics: {liquid: {surface_tension: %g, pressure: true, pressure_time: 0%s}}\n"
             "bodies: [{shape: {sphere: {center: [0.003, 0.001, %g], radius: %g}}}]\n",
             dimension, H, step, SIGMA, settings, dimension == 3 ? 0.002 : 0.0, cells * H);
    double along = 1 + stretch, across = dimension == 2 ? 1 / along : 1 / sqrt(along), c = cos(angle), s = sin(angle);
    rh_vec3 *x = positions(l);
    for (int64_t i = 0; stretch != 0 && i < lab_count(l); i++) {
        double u = along * (c * (double)x[i].x + s * (double)x[i].y),
               v = across * (c * (double)x[i].y - s * (double)x[i].x);
        x[i] = rh_v3((float)(c * u - s * v), (float)(s * u + c * v), (float)across * x[i].z);
    }
}

static double mean_pressure(const lab *l)
{
    const float *p = rh_points_data(rh_world_points(l->world), "pressure", RH_POINT_F32);
    double sum = 0;
    for (int64_t i = 0; i < lab_count(l); i++) sum += (double)p[i];
    return sum / (double)lab_count(l);
}

// --- drops at rest ---------------------------------------------------------------------------------------------------
// Laplace: the pressure inside is tension times curvature, 1/R or 2/R, and nothing moves.
static void rest(int dimension, double cells, double step, int steps, double tolerance, double speed)
{
    lab l;
    open_drop(&l, dimension, cells, step, "", 0, 0);
    lab_run(&l, step * steps, NULL, NULL);
    double r = radius(&l), exact = (dimension - 1) * SIGMA / r, found = mean_pressure(&l),
           moves = lab_max_speed(&l) / sqrt(SIGMA / (RHO * r));
    print_message("drop at rest, %dD, R = %g cells, steps of %g: pressure %+.2f %%, fastest particle %.4f\n", dimension,
                  cells, step, 100 * (found / exact - 1), moves);
    assert_true(fabs(found / exact - 1) < tolerance);
    assert_true(moves < speed);
    lab_close(&l);
}

static void drops_rest(void **state)
{
    (void)state;
    rest(2, 6, 1, 60, 0.02, 0.12);
    rest(2, 10, 1, 200, 0.01, 0.06);
    rest(2, 20, 1, 100, 0.01, 0.06);
    rest(2, 14.3, 10, 30, 0.01, 0.005);
    rest(2, 10, 200, 20, 0.01, 0.005);
    rest(3, 12, 4, 12, 0.01, 0.06);
}

// --- drops that oscillate --------------------------------------------------------------------------------------------
// Lowest mode of a drop in air without mass: w^2 = n (n^2 - 1) T / (density R^3) in the plane, n (n - 1) (n + 2) in
// space, n = 2 (H. Lamb, "Hydrodynamics", 6th ed., arts. 273, 275). The difference of the second moments along and
// across the stretch tells the phase.
typedef struct swing {
    double angle, last, last_time, first_crossing, crossing, most_kinetic, peak, last_peak;
    int crossings;
} swing;

static double elongation(const lab *l, double angle)
{
    const rh_vec3 *x = lab_positions(l);
    rh_dvec3 c = lab_center(l);
    double sum = 0;
    for (int64_t i = 0; i < lab_count(l); i++) {
        double a = (double)x[i].x - c.x, b = (double)x[i].y - c.y;
        sum += (a * a - b * b) * cos(2 * angle) + 2 * a * b * sin(2 * angle);
    }
    return sum / (double)lab_count(l);
}

static void follow_swing(lab *l, void *user)
{
    swing *s = user;
    double now = elongation(l, s->angle), t = lab_time(l);
    if (now * s->last < 0) {
        s->crossing = s->last_time + (t - s->last_time) * s->last / (s->last - now);
        if (s->crossings++ == 0) s->first_crossing = s->crossing;
        s->last_peak = s->peak;
        s->peak = 0;
    }
    s->peak = fmax(s->peak, fabs(now));
    s->most_kinetic = fmax(s->most_kinetic, lab_kinetic(l));
    s->last = now;
    s->last_time = t;
}

static void oscillate(int dimension, double cells, double step, const char *settings, double angle, int half_periods,
                      double tolerance)
{
    lab l;
    open_drop(&l, dimension, cells, step, settings, 0.05, angle);
    double r = radius(&l), exact = 2 * M_PI / sqrt((dimension == 2 ? 6 : 8) * SIGMA / (RHO * r * r * r));
    swing s = {.angle = angle, .last = elongation(&l, angle)};
    double first = s.last;
    lab_run(&l, (0.25 + 0.5 * half_periods + 0.05) * exact, follow_swing, &s);
    double period = 2 * (s.crossing - s.first_crossing) / (s.crossings - 1);
    // Energy of the surface over that of the round drop, by the mode's amplitude e: in the plane the boundary is longer
    // by 3/2 pi e^2 / R, in space larger by 8/5 pi e^2 for a second zonal harmonic of amplitude e at the pole.
    double e = 0.05 * r, energy = dimension == 2 ? 1.5 * M_PI * e * e / r * SIGMA / (RHO * M_PI * r * r)
                                                 : 1.6 * M_PI * e * e * SIGMA / (RHO * 4 / 3.0 * M_PI * r * r * r);
    print_message("oscillating drop, %dD, R = %g cells, steps of %g%s, at %.0f degrees: period %+.2f %%, last swing "
                  "%.3f of the first, kinetic energy up to %.3f of what the surface gives\n",
                  dimension, cells, step, settings, angle * 180 / M_PI, 100 * (period / exact - 1), s.last_peak / first,
                  s.most_kinetic / energy);
    assert_int_equal(s.crossings, half_periods + 1);
    assert_true(fabs(period / exact - 1) < tolerance);
    assert_true(s.last_peak < 1.03 * first);
    assert_true(s.most_kinetic < 1.05 * energy);
    lab_close(&l);
}

static void drops_oscillate(void **state)
{
    (void)state;
    oscillate(2, 16, 2, "", 0, 4, 0.02);
    oscillate(2, 16, 2, "", M_PI / 6, 2, 0.02);
    oscillate(2, 10, 0.5, ", transfer: apic", M_PI / 4, 2, 0.02);
    oscillate(3, 12, 2, "", 0, 1, 0.02);
}

// --- momentum --------------------------------------------------------------------------------------------------------
static rh_dvec3 mean_velocity(const lab *l)
{
    const rh_vec3 *v = lab_velocities(l);
    rh_dvec3 sum = {0, 0, 0};
    for (int64_t i = 0; i < lab_count(l); i++) sum = rh_d3_add(sum, rh_d3_from(v[i]));
    return rh_d3_scale(sum, 1 / (double)lab_count(l));
}

// Tension of a closed surface has no resultant: a stretched drop that flies goes on as it was. It turns on, too, but
// for the 4 % that the share of PIC takes in a hundred steps, and in long steps what damps the bending of its surface.
static void drop_flies(double step, double spin, double kept)
{
    lab l;
    open_drop(&l, 2, 10, step, "", 0.2, 0.3);
    rh_vec3 *v = rh_points_data(rh_world_points_mutable(l.world), "v", RH_POINT_VEC3F);
    const rh_vec3 *x = lab_positions(&l);
    const double speed[2] = {1e-3, -4e-4};
    for (int64_t i = 0; i < lab_count(&l); i++)
        v[i] = rh_v3((float)(speed[0] - spin * (double)x[i].y), (float)(speed[1] + spin * (double)x[i].x), 0);
    rh_dvec3 start = mean_velocity(&l), center = lab_center(&l);
    double turns[2];
    for (int n = 0; n < 2; n++) {
        if (n) lab_run(&l, 100, NULL, NULL);
        rh_dvec3 c = lab_center(&l), sum = {0, 0, 0};
        const rh_vec3 *at = lab_positions(&l), *now = lab_velocities(&l);
        for (int64_t i = 0; i < lab_count(&l); i++)
            sum = rh_d3_add(sum, rh_d3_cross(rh_d3_sub(rh_d3_from(at[i]), c), rh_d3_from(now[i])));
        turns[n] = sum.z;
    }
    rh_dvec3 end = mean_velocity(&l), way = rh_d3_sub(lab_center(&l), center);
    double change = rh_d3_length(rh_d3_sub(end, start)) / rh_d3_length(start),
           off = rh_d3_length(rh_d3_sub(way, rh_d3_scale(start, 100))) / (100 * rh_d3_length(start));
    print_message("drop that flies and turns, steps of %g: momentum changes by %.1e, way by %.1e, angular momentum to "
                  "%.4f\n",
                  step, change, off, turns[1] / turns[0]);
    assert_true(change < 1e-5 && off < 0.006);
    assert_true(turns[1] / turns[0] > kept && turns[1] / turns[0] < 1.005);
    lab_close(&l);
}

static void momentum_stays(void **state)
{
    (void)state;
    drop_flies(1, 0.02, 0.94);
    drop_flies(10, 0.02, 0.68);
}

// --- long steps ------------------------------------------------------------------------------------------------------
// Steps of 25 to 500 times the explicit limit: a stretched drop becomes round and rests, and never has more energy than
// its surface gave it.
static void long_step(int dimension, double cells, double step)
{
    lab l;
    open_drop(&l, dimension, cells, step, "", 0.2, 0.4);
    double first = elongation(&l, 0.4), r = radius(&l);
    swing s = {.angle = 0.4, .last = first};
    lab_run(&l, 40 * step, follow_swing, &s);
    double left = fabs(s.last / first), speed = lab_max_speed(&l) / sqrt(SIGMA / (RHO * r)),
           energy = (dimension == 2 ? 1.5 : 1.2) * 0.2 * 0.2 * SIGMA / (RHO * r);
    print_message("stretched drop, %dD, R = %g cells, steps of %g: elongation falls to %.3f, fastest particle %.4f, "
                  "kinetic energy up to %.3f of what the surface gives\n",
                  dimension, cells, step, left, speed, s.most_kinetic / energy);
    assert_true(left < 0.05 && speed < 0.1);
    assert_true(s.most_kinetic < energy);
    lab_close(&l);
}

static void long_steps_are_stable(void **state)
{
    (void)state;
    long_step(2, 10, 20);
    long_step(2, 10, 200);
    long_step(3, 6, 50);
}

// --- waves -----------------------------------------------------------------------------------------------------------
// First standing wave of a tank under tension alone: w^2 = T k^3 / density tanh (k depth), k = pi / L (Lamb, art. 266),
// the surface at right angles to the walls. As in test_sloshing.c.
static void wave(double length, double depth, double amplitude, double tolerance)
{
    lab l;
    const double k = M_PI / (length * H);
    lab_open(&l,
             HEAD(2, 2, "") "bodies: [{shape: {box: {min: [0, 0, -1], max: [%g, %g, 1]}}}]\n"
                            "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [%g, %g, 1]}}}]\n",
             length * H, depth * H, length * H, 30 * H);
    rh_vec3 *x = positions(&l);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        double a = k * (double)x[i].x, b = k * (double)x[i].y, scale = amplitude * H / sinh(k * depth * H);
        x[i].x -= (float)(scale * sin(a) * cosh(b));
        x[i].y += (float)(scale * cos(a) * sinh(b));
    }
    double exact = 2 * M_PI / sqrt(SIGMA * k * k * k / RHO * tanh(k * depth * H)), crossing[3] = {0};
    double last = lab_center(&l).x - 0.5 * length * H, before = 0;
    for (int n = 0; n < 3 && lab_time(&l) < 3 * exact;) {
        lab_run(&l, lab_time(&l) + 2, NULL, NULL);
        double now = lab_center(&l).x - 0.5 * length * H;
        if (now * last < 0) crossing[n++] = before + (lab_time(&l) - before) * last / (last - now);
        last = now;
        before = lab_time(&l);
    }
    print_message("capillary wave of %g cells: period %+.2f %%\n", 2 * length,
                  100 * ((crossing[2] - crossing[0]) / exact - 1));
    assert_true(fabs((crossing[2] - crossing[0]) / exact - 1) < tolerance);
    lab_close(&l);
}

static void waves(void **state)
{
    (void)state;
    wave(24, 12.2, 0.6, 0.02);
    wave(12, 9.7, 0.4, 0.06);
}

// --- a thread --------------------------------------------------------------------------------------------------------
// Rayleigh and Plateau: a thread of radius R with a swelling of wave number k grows with s^2 = T / (density R^3) x (1 -
// x^2) I1(x) / I0(x), x = k R (Rayleigh, Proc. London Math. Soc. 10, 1878); the fastest has x = 0.697. Half a wave
// between two walls. It begins at rest: the swelling is its start times cosh (s t). Short waves, x > 1, do not grow.
static double bessel(int order, double x)
{
    double term = order ? x / 2 : 1, sum = 0;
    for (int m = 0; m < 30; m++) {
        sum += term;
        term *= x * x / 4 / ((m + 1) * (m + 1 + order));
    }
    return sum;
}

static void threads(void **state)
{
    (void)state;
    lab l;
    const double r = 5, length = 22.5, swelling = 0.04;
    lab_open(&l,
             HEAD(3, 3, "") "bodies: [{shape: {cylinder: {from: [-0.1, 0.002, 0.001], to: [%g, 0.002, 0.001], radius: "
                            "%g}}}]\nsolids: [{inside_out: true, shape: {box: {min: [0, -1, -1], max: [%g, 1, 1]}}}]\n",
             length * H + 0.1, r * H, length * H);
    rh_vec3 *x = positions(&l);
    double k = M_PI / length, start = 0, now = 0;
    for (int64_t i = 0; i < lab_count(&l); i++) {
        float wider = (float)(1 + swelling * cos(k * (double)x[i].x / H));
        x[i] = rh_v3(x[i].x - (float)(2 * swelling * H / k * sin(k * (double)x[i].x / H)), x[i].y * wider,
                     x[i].z * wider);
    }
    for (int n = 0; n < 2; n++) {
        if (n) lab_run(&l, 60, NULL, NULL);
        double sum = 0;
        const rh_vec3 *at = lab_positions(&l);
        for (int64_t i = 0; i < lab_count(&l); i++) sum += cos(k * (double)at[i].x / H);
        *(n ? &now : &start) = sum / (double)lab_count(&l);
    }
    double real = sqrt(volume(&l) / (M_PI * length * H)) / H, wave = k * real,
           exact = sqrt(wave * (1 - wave * wave) * bessel(1, wave) / bessel(0, wave) / (real * real * real)),
           found = acosh(now / start) / 60;
    print_message("thread of radius %.2f cells, k R = %.3f: grows %.2f times, rate %+.2f %%\n", real, wave, now / start,
                  100 * (found / exact - 1));
    assert_true(fabs(found / exact - 1) < 0.05);
    lab_close(&l);
}

// --- walls -----------------------------------------------------------------------------------------------------------
// Half a drop on a plane becomes the cap of its contact angle. Long steps take it there quickly.
static void cap(int dimension, double cells, double floor, double angle, const char *turned, double tolerance)
{
    lab l;
    lab_open(&l,
             "dimension: %d\ncell: 0.01\ngravity: [0, 0, 0]\nmax_step: 40\nframes: {fps: 0.001}\n"
             "physics: {liquid: {surface_tension: 0.001, contact_angle: %g}}\n"
             "bodies: [{shape: {sphere: {center: [0.003, %g, %g], radius: %g}}}]\n"
             "solids: [{shape: {box: {min: [-2, -2, -2], max: [2, %g, 2]}}%s}]\n",
             dimension, angle, floor * H, dimension == 3 ? 0.002 : 0.0, cells * H, floor * H, turned);
    lab_run(&l, 1200, NULL, NULL);
    double a = angle * M_PI / 180, c = cos(a), s = sin(a), r, exact;
    if (dimension == 2) {
        r = sqrt(volume(&l) / (a - s * c));
        exact = r * (2 / 3.0 * s * s * s / (a - s * c) - c);
    } else {
        r = cbrt(3 * volume(&l) / (M_PI * (2 + c) * (1 - c) * (1 - c)));
        exact = 3 * pow(r + r * c, 2) / (4 * (2 * r + r * c)) - r * c;
    }
    double mean = 0;
    for (int64_t i = 0; i < lab_count(&l); i++)
        mean += rh_obstacles_distance(&l.geometry.obstacles, rh_d3_from(lab_positions(&l)[i]), NULL);
    mean /= (double)lab_count(&l);
    print_message("cap, %dD, %g degrees%s, floor at %g cells: height of its centre %+.2f %%, fastest particle %.4f\n",
                  dimension, angle, *turned ? ", tilted" : "", floor, 100 * (mean / exact - 1),
                  lab_max_speed(&l) / sqrt(SIGMA / (RHO * r)));
    assert_true(fabs(mean / exact - 1) < tolerance);
    lab_close(&l);
}

static void caps(void **state)
{
    (void)state;
    const double angles[] = {60, 90, 120};
    for (int n = 0; n < 3; n++) {
        cap(2, 10, 0, angles[n], "", 0.03);
        cap(2, 10, 0.4, angles[n], "", 0.03);
    }
    cap(2, 10, 0, 60, ", motion: {keys: [{time: 0, rotate: [0, 0, 25]}]}", 0.08);
    cap(3, 8, 0, 60, "", 0.05);
}

// --- a film ----------------------------------------------------------------------------------------------------------
// A flat film between two walls has no curvature: it stays (to a third of a cell), two cells thick wherever it lies on
// the grid, and one cell thick where that is a row of cells.
static void film(double low, double thick)
{
    lab l;
    lab_open(&l,
             HEAD(2, 2, "") "bodies: [{shape: {box: {min: [0, %g, -1], max: [%g, %g, 1]}}}]\n"
                            "solids: [{inside_out: true, shape: {box: {min: [0, -1, -1], max: [%g, 1, 1]}}}]\n",
             low * H, 30 * H, (low + thick) * H, 30 * H);
    lab_run(&l, 100, NULL, NULL);
    double most = 0, middle = (low + 0.5 * thick) * H;
    for (int64_t i = 0; i < lab_count(&l); i++) most = fmax(most, fabs((double)lab_positions(&l)[i].y - middle) / H);
    print_message("film of %g cells, %g cells up: particles up to %.3f cells off its middle, fastest %.5f m/s\n", thick,
                  low, most, lab_max_speed(&l));
    assert_true(most < 0.5 * thick + 0.3);
    lab_close(&l);
}

static void films_stay(void **state)
{
    (void)state;
    film(0, 1);
    for (int n = 0; n < 4; n++) film(0.25 * n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_rest),     cmocka_unit_test(drops_oscillate),
        cmocka_unit_test(momentum_stays), cmocka_unit_test(long_steps_are_stable),
        cmocka_unit_test(waves),          cmocka_unit_test(threads),
        cmocka_unit_test(caps),           cmocka_unit_test(films_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
