// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sheets and threads of thick liquid that fall onto a plate: whether they buckle, and how often they fold and coil.
//
// Onset: J. O. Cruickshank, B. R. Munson, "Viscous fluid buckling of plane and axisymmetric jets", J. Fluid Mech. 113,
// 1981, and J. O. Cruickshank, J. Fluid Mech. 193, 1988: a sheet of the thickness D that falls by H folds where H/D is
// above some 10 (theory: 3 pi) and its Reynolds number below 0.56; a round thread of the diameter D coils where H/D is
// above 7.2, below 1.2.
//
// Frequencies of threads: those of the theory of slender threads (thread_theory.h), for the height above the heap.
//
// Of sheets: where bending nu d^3 U/L^4 is balanced by the weight g d, U/L with L = (nu Q d/g)^(1/4) (M. Skorobogatiy,
// L. Mahadevan, Europhys. Lett. 52, 2000). Constants are not published in a form that could be used here, so it is
// tested that they are constants, and of order one.
//
// Without gravity a sheet bends over its whole height H (viscous regime: U/H), or where bending nu d^3 U/L^4 is
// balanced by inertia d U^2/L (inertial: U/L with L = (nu d^2/U)^(1/3); N. M. Ribe, "Periodic folding of viscous
// sheets", Phys. Rev. E 68, 2003, has all three). The plate sinks to make room for the heap, and U is relative to it.
//
// With RHEO_LONG=1 in the environment in three dimensions, too, and in all regimes.
#include "base/parallel.h"
#include "coiling.h"
#include "thread_theory.h"

static thread make(int dimension, double slender, double cells)
{
    const double width = 0.008;
    return (thread){.dimension = dimension,
                    .width = width,
                    .fall = slender * width,
                    .speed = 0.1,
                    .viscosity = 100,
                    .density = 1000,
                    .cells = cells,
                    .cfl = 2,
                    .turns = 1,
                    .gravity = 9.81};
}

// Reynolds numbers are below 0.01. (When it hits the plate it sways once, by some 0.15 of its width; that fades.)
static void a_short_sheet_stays_straight(void **state)
{
    (void)state;
    static thread t;
    t = make(2, 5, 6);
    t.from = 1.2;
    pour(&t, 2);
    way w = tell("sheet", &t);
    assert_true(w.swing < 0.25 * t.width && w.crossings < 3);  // folds: the next test
}

static void a_long_sheet_folds(void **state)
{
    (void)state;
    static thread t;
    t = make(2, 15, 6);
    t.from = 1;
    pour(&t, 2.8);
    way w = tell("sheet", &t);
    assert_true(w.swing > 0.25 * t.width && w.crossings >= 5);
    assert_true(w.frequency > 0.3 * gravitational(&t) && w.frequency < 3 * gravitational(&t));
}

// With pressure and viscosity at once steps of 8 and of 2 ms show the same fold: before it was so, they differed by
// more than the sheet's thickness, and some particles were flung off.
static void long_steps_fold_as_short_ones(void **state)
{
    (void)state;
    static thread t[2];
    double apart = 0;
    for (int n = 0; n < 2; n++) {
        t[n] = make(2, 15, 4);
        t[n].turns = 20;
        t[n].cfl = n ? 0.3 : 2;
        t[n].from = 0.6;
        pour(&t[n], 1.3);
        tell("sheet, both at once", &t[n]);
    }
    for (int i = 0, j = 0; i < t[0].count; i++) {
        while (j + 1 < t[1].count && t[1].time[j] < t[0].time[i]) j++;
        apart = fmax(apart, fabs(t[0].x[i] - t[1].x[j]));
    }
    print_message("%d and %d steps: at most %.3f of the sheet's thickness apart; fastest %.2f and %.2f m/s\n",
                  t[0].count, t[1].count, apart / t[0].width, t[0].fastest, t[1].fastest);
    assert_true(apart < 0.5 * t[0].width && t[1].count > 2 * t[0].count);
    assert_true(fabs(t[0].fastest / t[1].fastest - 1) < 0.1);
}

// In cells half as large, in steps a quarter as long, and with other viscosities (the frequency itself goes from 2.7 to
// 1.3 Hz) it is the same share of the gravitational frequency: 1.05 to 1.21. Of speed over height, the scale of viscous
// coiling, it is 8.1 to 5.3. (At 60 Pa s, where the sheet is 3.3 cells thick above the heap, 1.42.)
static void folds_follow_bending_and_weight(void **state)
{
    (void)state;
    static thread t;
    static const struct {
        double cells, cfl, viscosity, until;
    } rows[] = {{6, 2, 100, 3}, {12, 2, 100, 3}, {6, 0.5, 100, 3}, {8, 2, 160, 3.2}, {8, 2, 250, 3.4}};
    double least = 1e30, most = 0;
    if (!getenv("RHEO_LONG")) return;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        t = make(2, 15, rows[n].cells);
        t.cfl = rows[n].cfl;
        t.viscosity = rows[n].viscosity;
        t.from = 1;
        pour(&t, rows[n].until);
        double share = tell("sheet", &t).frequency / gravitational(&t);
        least = fmin(least, share), most = fmax(most, share);
    }
    assert_true(most < 1.3 * least);  // 15 % to both sides
}

// Without gravity, U = 0.1 m/s, d = 1 cm.
typedef struct folding {
    double slender, reynolds;  // H/d, U d/nu
    double cells, floor;       // in d; of U: about d a fold, so that the nozzle stays as high above the heap
    double from, until;        // d/U
} folding;

// Angular frequency times d/U, and what the regime says of it.
static void fold(const folding *f, bool inertial, double *found, double *law)
{
    static thread t;
    t = make(2, f->slender, f->cells);
    double time = t.width / t.speed;
    t.viscosity = t.density * t.speed * t.width / f->reynolds;
    t.gravity = 0, t.turns = 20;
    t.floor = f->floor * t.speed, t.near = 5 * t.width;
    t.from = f->from * time;
    pour(&t, f->until * time);
    double arrives = 1 - f->floor, height = (t.fall - t.top) / t.width;
    *found = 2 * PI * fold_frequency(&t) * time;
    *law = inertial ? pow(arrives, 4.0 / 3) * cbrt(f->reynolds) : arrives / height;
    print_message("sheet without gravity, Re %g, %.1f thicknesses above its heap: %.4f U/d, %.3f of %s\n", f->reynolds,
                  height, *found, *found / *law, inertial ? "the inertial frequency" : "speed over height");
}

// The exponent of the frequency found over that of the law: the slope of their logarithms.
static double exponent(const folding *rows, int count, bool inertial)
{
    double x[8], y[8], mx = 0, my = 0, xy = 0, xx = 0;
    for (int n = 0; n < count; n++) {
        double found, law;
        fold(&rows[n], inertial, &found, &law);
        assert_true(found > 0.3 * law && found < 10 * law);
        x[n] = log(law), y[n] = log(found);
        mx += x[n] / count, my += y[n] / count;
    }
    for (int n = 0; n < count; n++) xy += (x[n] - mx) * (y[n] - my), xx += (x[n] - mx) * (x[n] - mx);
    print_message("%s: exponent %.3f\n", inertial ? "inertial" : "viscous", xy / xx);
    return xy / xx;
}

static void folds_follow_height_or_inertia_without_gravity(void **state)
{
    (void)state;
    static const folding viscous[] = {
        {12, 1e-3, 6, 0.1, 36, 120}, {18, 1e-3, 6, 0.07, 54, 180}, {27, 5e-4, 5, 0.05, 70, 200}};
    static const folding inertial[] = {
        {60, 0.01, 5, 0.07, 120, 220}, {60, 0.03, 5, 0.09, 120, 200}, {60, 0.1, 5, 0.115, 110, 190}};
    if (!getenv("RHEO_LONG")) return;
    assert_true(fabs(exponent(viscous, 3, false) - 1) < 0.15);
    assert_true(fabs(exponent(inertial, 3, true) - 1) < 0.15);
}

// The theory's three regimes: the constants of U/H (M. Maleki, M. Habibi, R. Golestanian, N. M. Ribe, D. Bonn, Phys.
// Rev. Lett. 93, 214502, 2004, have the laws), of (Q^4/(nu a^10))^(1/3), and of (g Q^3/(nu a^8))^(1/4), which falls
// slowly as the thread hangs from ever higher. The thread is thin enough not to be stretched.
static void slender_threads_have_three_regimes(void **state)
{
    (void)state;
    coiling c = {.radius = 1e-6, .speed = 1, .height = 1, .viscosity = 1e16};
    assert_true(coiling_find(&c));
    assert_true(fabs(2 * PI * c.frequency / 4 - 1) < 1e-3);
    double bending = 0.75 * c.radius * c.radius * c.speed;  // times viscosity, over height^4
    for (int n = 0; n < 2; n++) {
        c.viscosity = 1 / bending / (n ? 2e4 : 2e3);
        c.gravity = 0;
        assert_true(coiling_find(&c));
        double inertial = 2 * PI * c.frequency / cbrt(pow(PI, 4) / (c.viscosity * c.radius * c.radius));
        c.viscosity = 1e16, c.gravity = c.viscosity * bending * (n ? 1e5 : 1e3);
        assert_true(coiling_find(&c));
        double share = 2 * PI * c.frequency / pow(c.gravity * pow(PI, 3) / (c.viscosity * c.radius * c.radius), 0.25);
        print_message("inertial constant %.4f, gravitational %.4f\n", inertial, share);
        assert_true(fabs(inertial / 0.176 - 1) < 0.02 && fabs(share / (n ? 0.50 : 0.54) - 1) < 0.02);
    }
}

typedef struct coil {
    double viscosity, gravity;  // Pa s, m/s^2
    double slender, cells, floor;
    int turns;
    double near, until;  // diameters; s
    double count;        // turns that count
    bool particles;
} coil;

// Diameter 8 mm, 0.1 m/s. Returns the share of the theory's frequency.
static double coil_share(const coil *row)
{
    static thread t;
    double heap = 0;
    t = make(3, row->slender, row->cells);
    t.viscosity = row->viscosity, t.gravity = row->gravity;
    t.floor = row->floor, t.turns = row->turns, t.near = row->near * t.width;
    t.particles = row->particles;
    t.from = 0.5;
    pour(&t, row->until);
    double found = coil_frequency(&t, row->count, &heap);
    coiling c = {.radius = 0.5 * t.width,
                 .speed = t.speed,
                 .height = t.fall - heap,
                 .viscosity = t.viscosity / t.density,
                 .gravity = t.gravity,
                 .sinks = t.floor};
    assert_true(coiling_find(&c));
    double w = 2 * PI * found, a = c.end_radius, q = c.end_speed * PI * a * a;
    print_message(
        "thread, %g Pa s, gravity %g, %.1f diameters above its heap: %.3f Hz, %.3f of the theory's; there %.2f "
        "of its width and %.2f of its speed arrive. %.2f of speed over height, %.3f of the gravitational, "
        "%.3f of the inertial frequency\n",
        t.viscosity, t.gravity, c.height / t.width, found, found / c.frequency, a / c.radius, c.end_speed / c.speed,
        w * c.height / c.end_speed, w / pow(t.gravity * q * q * q / (c.viscosity * pow(a, 8)), 0.25),
        w / cbrt(pow(q, 4) / (c.viscosity * pow(a, 10))));
    return found / c.frequency;
}

static void threads_coil_as_slender_ones(void **state)
{
    (void)state;
    static const coil rows[] = {
        {100, 9.81, 10, 8, 0, 1, 0, 2.45, 1.5, false},
        {800, 0, 10, 6, 0.006, 20, 0, 4.9, 1, false},
        {8, 0, 12, 6, 0.007, 20, 6, 7, 3, false},
    };
    if (!getenv("RHEO_LONG")) return;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) assert_true(fabs(coil_share(&rows[n]) - 1) < 0.2);
}

// Eight smoothed particles across.
static void threads_of_particles_do_so_too(void **state)
{
    (void)state;
    static const coil rows[] = {{100, 9.81, 10, 4, 0, 1, 0, 2.7, 2, true},
                                {250, 9.81, 10, 4, 0, 1, 0, 3.2, 2, true},
                                {800, 0, 10, 4, 0.006, 1, 0, 4.9, 1, true},
                                {8, 0, 12, 4, 0.007, 1, 6, 7, 3, true}};
    if (!getenv("RHEO_LONG")) return;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) assert_true(fabs(coil_share(&rows[n]) - 1) < 0.2);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    if (!getenv("RHEO_LONG")) rh_threads_set(1);  // a few hundred cells: a second thread would only wait
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_sheet_stays_straight),
        cmocka_unit_test(a_long_sheet_folds),
        cmocka_unit_test(long_steps_fold_as_short_ones),
        cmocka_unit_test(folds_follow_bending_and_weight),
        cmocka_unit_test(folds_follow_height_or_inertia_without_gravity),
        cmocka_unit_test(slender_threads_have_three_regimes),
        cmocka_unit_test(threads_coil_as_slender_ones),
        cmocka_unit_test(threads_of_particles_do_so_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
