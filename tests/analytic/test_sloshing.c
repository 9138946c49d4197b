// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// First standing wave of a tank of length L = 1 m, depth h: w^2 = g k tanh(k h), k = pi / L (H. Lamb, "Hydrodynamics",
// 6th ed., art. 228). The surface starts as A cos(k x), made by the displacement grad (A/k cos(k x) cosh(k y) / sinh(k
// h)), which keeps volume; its sideways centre of mass, which is 2 A L / (pi^2 h) cos(w t) off the middle for this
// mode, tells amplitude and phase without having to look for the surface. A finite amplitude makes the period longer by
// a share of the order of (k A)^2 or (A / h)^2: below 0.7 % here. Period within 2 %, 1 % is the aim (others reach 0.4
// to 2 %). Nothing feeds the wave, so its swing, from one peak to the next, must not grow.
#include "lab.h"

enum { CROSSINGS = 16, PEAKS = 64 };
typedef struct wave {
    double last_time, last, first;
    double crossing[CROSSINGS], peak[PEAKS];
    int crossings, peaks;
} wave;

static void follow(lab *l, void *user)
{
    wave *w = user;
    double now = lab_center(l).x - 0.5, t = lab_time(l);
    if (now * w->last < 0 && w->crossings < CROSSINGS) {
        w->crossing[w->crossings++] = w->last_time + (t - w->last_time) * w->last / (w->last - now);
        w->peaks++;
    }
    w->peak[w->peaks] = fmax(w->peak[w->peaks], fabs(now));
    w->last = now;
    w->last_time = t;
}

// From one peak to the next; a shift of the water as a whole is in neither.
static double swing(const wave *w, int peak) { return 0.5 * (w->peak[peak] + w->peak[peak + 1]); }

// `growth`: what the swing may be of the first after four periods. `seed`: of how particles are placed.
static void slosh_bounded(int seed, double cell, double depth, double amplitude, const char *settings, double exact,
                          double tolerance, double growth)
{
    lab l;
    lab_open(&l,
             "seed: %d\ndimension: 2\ncell: %g\ngravity: [0, -9.81, 0]\nphysics: {liquid: {%s}}\n"
             "bodies: [{shape: {box: {min: [0, 0, -1], max: [1, %g, 1]}}}]\n"
             "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, %g, 1]}}}]\n",
             seed, cell, settings, depth, 2 * depth);
    rh_vec3 *x = rh_points_data(rh_world_points_mutable(l.world), "P", RH_POINT_VEC3F);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        double px = M_PI * (double)x[i].x, py = M_PI * (double)x[i].y, scale = amplitude / sinh(M_PI * depth);
        x[i].x -= (float)(scale * sin(px) * cosh(py));
        x[i].y += (float)(scale * cos(px) * sinh(py));
    }
    wave w = {.last = lab_center(&l).x - 0.5};
    w.first = fabs(w.last);
    lab_run(&l, 5.4 * exact, follow, &w);
    int periods = (w.crossings - 1) / 2;
    double period = periods > 0 ? (w.crossing[2 * periods] - w.crossing[0]) / periods : 0, kept = w.peak[10] / w.first;
    print_message("sloshing, depth %.1f, %.0f cells per L, A = %.2f cells, {%s}: period %.4f s, %+.2f %% (%d periods), "
                  "amplitude after five periods %.2f of the first, swing after four %.3f of the first\n",
                  depth, 1 / cell, amplitude / cell, settings, period, 100 * (period / exact - 1), periods, kept,
                  swing(&w, 9) / swing(&w, 1));
    lab_close(&l);
    assert_true(periods >= 4);
    assert_true(fabs(period / exact - 1) < tolerance);
    assert_true(swing(&w, 9) < growth * swing(&w, 1));
}

static void slosh(double cell, double depth, double amplitude, const char *settings, double exact, double tolerance)
{
    slosh_bounded(1, cell, depth, amplitude, settings, exact, tolerance, 1);
}

static void a_deep_tank_has_the_right_period(void **state)
{
    (void)state;
    slosh(0.025, 0.5, 0.0125, "", 1.1818, 0.02);
    slosh(0.025, 0.5, 0.025, "", 1.1818, 0.02);
    slosh(0.025, 0.5, 0.025, "transfer: apic", 1.1818, 0.02);
}

static void a_shallow_tank_has_the_right_period(void **state)
{
    (void)state;
    slosh(0.025, 0.1, 0.005, "", 2.0520, 0.02);
    slosh(0.0125, 0.1, 0.005, "", 2.0520, 0.02);
}

// Waves lower than a cell, in water that ends at the middle of a cell, at a face and between; depth 1/k among them.
static void small_waves_do_not_grow(void **state)
{
    (void)state;
    slosh(0.025, 0.5, 0.00625, "", 1.1818, 0.02);
    slosh(0.025, 0.3125, 0.00625, "", 1.3036, 0.02);
    slosh(0.025, 0.318, 0.0125, "", 1.2973, 0.02);
    slosh(0.025, 0.325, 0.00625, "", 1.2896, 0.02);
    slosh(0.0125, 0.3125, 0.0125, "", 1.3036, 0.02);
    slosh(0.025, 0.515, 0.0125, "", 1.1772, 0.02);
}

// APIC forgets nothing, so what feeds a wave shows: with the correction of volume at work against its pressure
// (physics/volume_work.h) the last one grew by 2.5 %.
static void small_waves_of_apic_do_not_grow(void **state)
{
    (void)state;
    slosh_bounded(1, 0.025, 0.5, 0.0125, "transfer: apic", 1.1818, 0.02, 1.005);
    slosh_bounded(1, 0.025, 0.318, 0.0125, "transfer: apic", 1.2973, 0.02, 1.005);
    slosh_bounded(1, 0.025, 0.325, 0.025, "transfer: apic", 1.2896, 0.02, 1.005);
    slosh_bounded(1, 0.025, 0.515, 0.025, "transfer: apic", 1.1772, 0.02, 1.005);
    slosh_bounded(3, 0.025, 0.325, 0.0125, "transfer: apic", 1.2896, 0.02, 1.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deep_tank_has_the_right_period), cmocka_unit_test(a_shallow_tank_has_the_right_period),
        cmocka_unit_test(small_waves_do_not_grow), cmocka_unit_test(small_waves_of_apic_do_not_grow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
