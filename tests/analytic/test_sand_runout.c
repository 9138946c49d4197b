// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sand's own model against experiments: a column released beside a wall in two dimensions. How far it runs follows from
// its aspect ratio a = height / length alone:
//      (run-out - length) / length = 1.2 a (a < 1.8),  1.9 a^(2/3) (a > 2.8)     Lube and others
//                                    1.8 a (a < 3),    2.3 a^(2/3) (a > 3)       Lajeunesse and others
// G. Lube, H. E. Huppert, R. S. J. Sparks, A. Freundt, Phys. Rev. E 72, 2005; E. Lajeunesse, J. B. Monnier, G. M.
// Homsy, Physics of Fluids 17, 2005. The first are of sand, rice, sugar and others, the second of glass beads.
#include "sand_lab.h"

typedef struct collapse {
    double runout, height, slope, time;
} collapse;

// A column `cells` cells long of 0.32 m; in units of its length. `time`: when the front reached 99 % of its way, in
// sqrt(H / g). The floor is rough, the wall smooth: it could be the middle of a column twice as long.
static collapse release(double aspect, int cells)
{
    lab l;
    static sand_profile p;
    const double length = 0.32, high = aspect * length;
    lab_open(&l,
             "cell: %.17g\ndimension: 2\nframes: {last: 100000}\nphysics: {sand: {}}\n"
             "bodies:\n - {shape: {box: {min: [0, 0, 0], max: [%.17g, %.17g, 1]}}}\n"
             "solids:\n - {friction: 0.6, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}\n - {friction: 0, "
             "shape: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}}\n",
             length / cells, length, high);
    collapse c = {0};
    double unit = sqrt(high / 9.81), front[81];
    for (int n = 0; n <= 80; n++) {
        if (n) lab_run(&l, 0.1 * n * unit, NULL, NULL);
        sand_measure(&l, &p);
        front[n] = sand_front(&p, 0.5 * length);
    }
    for (int n = 80; n > 0 && front[n] - length > 0.99 * (front[80] - length); n--) c.time = 0.1 * n;
    c.runout = (front[80] - length) / length;
    c.height = p.height[0] / length;
    c.slope = sand_slope(&p);
    lab_close(&l);
    return c;
}

// Between the two experiments, 15 % to either side. The lowest column ends in a wedge thinner than a cell, which is
// where its front would be: there 20 %.
static void runout_follows_the_aspect_ratio(void **state)
{
    (void)state;
    const double aspects[] = {0.5, 1, 2, 4, 8};
    double found[5];
    for (int n = 0; n < 5; n++) {
        double a = aspects[n], shortest = a < 2.8 ? 1.2 * a : 1.9 * pow(a, 2.0 / 3),
               longest = a < 3 ? 1.8 * a : 2.3 * pow(a, 2.0 / 3), scatter = a < 1 ? 0.2 : 0.15;
        collapse c = release(a, a > 4 ? 16 : a < 1 ? 48 : 32);
        found[n] = c.runout;
        print_message("aspect ratio %g: run-out %.2f (Lube %.2f, Lajeunesse %.2f), height %.2f, slope %.1f degrees, "
                      "done after %.1f sqrt(H/g)\n",
                      a, c.runout, shortest, longest, c.height, c.slope, c.time);
        assert_true(c.runout > (1 - scatter) * shortest && c.runout < (1 + scatter) * longest);
        assert_true(c.time > 2 && c.time < 4.5);  // 3.3 in Lube's experiments
        assert_true(c.height <= 1.02 * a &&
                    c.height > 0.85 * fmin(a, pow(a, 1.0 / 3)));  // Lajeunesse a^(1/3), Lube a^(2/5) for tall ones
    }
    double low = log(found[2] / found[0]) / log(4), tall = log(found[4] / found[3]) / log(2);
    print_message("exponents: %.2f up to 2 (1 in experiments), %.2f above 4 (0.67)\n", low, tall);
    assert_true(fabs(low - 1) < 0.3);
    assert_true(fabs(tall - 0.67) < 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runout_follows_the_aspect_ratio)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
