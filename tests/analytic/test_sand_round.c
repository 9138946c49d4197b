// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sand's own model in three dimensions against experiments: a round column lets go on a rough floor. In units of its
// radius, with a = height / radius,
//      height at the end    a up to a = 1, then 0.88 a^(1/6) above 1.7      Lube and others (sand)
//                           a up to 0.74, then 0.74                        Lajeunesse and others (glass beads)
//      run-out              1.24 a up to 1.7                                Lube and others
// G. Lube, H. E. Huppert, R. S. J. Sparks, M. A. Hallworth, Journal of Fluid Mechanics 508, 2004; E. Lajeunesse,
// A. Mangeney-Castelnau, J. P. Vilotte, Physics of Fluids 16, 2004.
#include "sand_lab.h"

enum { RINGS = 64 };
typedef struct heap {
    double height, runout, slope;
} heap;

// Rings of one cell: the volume of sand over each, over its area.
static heap measure(const lab *l, double radius)
{
    double h = l->scene.cell, level[RINGS] = {0};
    const rh_vec3 *x = lab_positions(l);
    for (int64_t i = 0; i < lab_count(l); i++) {
        int n = (int)(hypot((double)x[i].x, (double)x[i].z) / h);
        if (n < RINGS) level[n] += 0.125 * h / (3.14159265358979323846 * (2 * n + 1));
    }
    double top = (level[0] + 3 * level[1] + 5 * level[2]) / 9, n = 0, r = 0, y = 0, rr = 0, ry = 0;
    heap out = {.height = top / radius};
    int front = 0;
    while (front < RINGS && level[front] > 0.5 * h) front++;
    for (int i = 0; i < front; i++)
        if (level[i] < 0.6 * top && level[i] > 0.15 * top)
            n++, r += i * h, y += level[i], rr += i * h * i * h, ry += i * h * level[i];
    out.slope = atan(-(n * ry - r * y) / (n * rr - r * r)) / SAND_DEGREE;
    out.runout = front * h / radius - 1;
    return out;
}

// The front thinner than half a cell does not count; with that radius of 20 cells it is a fifth of the way and more.
// Run- outs are 0.56 and 0.65 of the experiment's: a known limit (docs/limits.md), and the bound keeps it from getting
// worse.
static void round_columns_leave_cones_and_stop_early(void **state)
{
    (void)state;
    const double aspects[] = {0.5, 1}, lowest[] = {0.5, 0.74}, furthest[] = {0.62, 1.24};
    for (int k = 0; k < 2; k++) {
        lab l;
        const double radius = 0.1, a = aspects[k];
        lab_open(&l,
                 "cell: 0.005\nframes: {last: 1000}\nphysics: {sand: {}}\nbodies:\n - {shape: {cylinder: {from: [0, 0, "
                 "0], to: [0, %g, 0], radius: 0.1}}}\n"
                 "solids:\n - {friction: 0.6, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}\n",
                 a * radius);
        lab_run(&l, 4 * sqrt(a * radius / 9.81), NULL, NULL);
        heap c = measure(&l, radius);
        print_message("round column, height to radius %g: height %.3f (experiments %.2f to %.2f), run-out %.2f (%.2f), "
                      "slope %.1f degrees\n",
                      a, c.height, lowest[k], a, c.runout, furthest[k], c.slope);
        assert_true(c.height > 0.97 * lowest[k] && c.height < 1.05 * a);
        assert_true(c.runout > 0.55 * furthest[k] && c.runout < 1.1 * furthest[k]);
        assert_true(c.slope > 20 && c.slope < 30);  // of 30 degrees
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_columns_leave_cones_and_stop_early)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
