// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sand runs out of a silo at one rate, however full it is, since the walls and arches carry its weight; a liquid runs
// faster when there is more of it. And that rate goes with the width of the slot, less a grain or two (here cells), to
// the power 1.5 (W. A. Beverloo, H. A. Leniger, J. van de Velde, Chemical Engineering Science 15, 1961, for a slot).
#include "sand_lab.h"

typedef struct discharge {
    int count;
    double time[4096], left[4096];
    double above;
} discharge;  // share of the sand still above the opening

static void note(lab *l, void *user)
{
    discharge *d = user;
    if (d->count == 4096) return;
    int64_t above = 0;
    for (int64_t i = 0; i < lab_count(l); i++) above += (double)lab_positions(l)[i].y > d->above;
    d->time[d->count] = lab_time(l);
    d->left[d->count++] = (double)above;
}

// Rate (of `all` particles per s) from the line of least squares over the time in which the share left goes from at +
// 0.06 to at - 0.06.
static double rate(const discharge *d, double all, double at)
{
    double n = 0, t = 0, y = 0, tt = 0, ty = 0;
    for (int i = 0; i < d->count; i++) {
        double share = d->left[i] / all;
        if (fabs(share - at) > 0.06) continue;
        n++, t += d->time[i], y += share, tt += d->time[i] * d->time[i], ty += d->time[i] * share;
    }
    return n < 4 ? 0 : -(n * ty - t * y) / (n * tt - t * t);
}

// m^2/s through a slot of this width under 1.2 m of sand, 0.8 m wide, at 90, 50 and 25 % of it.
static void silo(const char *model, double slot, double out[3])
{
    lab l;
    static discharge d;
    const double width = 0.8, high = 1.2, edge = 0.5 * (width - slot);
    lab_open(&l,
             "cell: 0.02\ndimension: 2\nframes: {last: 10000}\nphysics: {sand: {model: %s}}\n"
             "bodies:\n - {shape: {box: {min: [0, 0, -1], max: [%g, %g, 1]}}}\n"
             "solids:\n - {friction: 0.5, shape: {box: {min: [-0.2, -0.1, -1], max: [0, 2, 1]}}}\n - {friction: 0.5, "
             "shape: {box: {min: [%g, -0.1, -1], max: [%g, 2, 1]}}}\n"
             " - {friction: 0.5, shape: {box: {min: [-0.2, -0.1, -1], max: [%g, 0, 1]}}}\n - {friction: 0.5, shape: "
             "{box: {min: [%g, -0.1, -1], max: [%g, 0, 1]}}}\n"
             "sinks:\n - {shape: {box: {min: [-1, -2, -1], max: [2, -0.4, 1]}}}\n",
             model, width, high, width, width + 0.2, edge, width - edge, width + 0.2);
    d = (discharge){.above = 0};
    double all = (double)lab_count(&l), unit = sqrt(9.81 * slot * slot * slot);
    for (int n = 1; n < 400 && (n == 1 || d.left[d.count - 1] > 0.18 * all); n++)
        lab_run(&l, 0.02 * n * width * high / unit, note, &d);
    const double at[] = {0.9, 0.5, 0.25};
    for (int n = 0; n < 3; n++) out[n] = rate(&d, all, at[n]) * width * high;
    print_message("%s, slot %g m: %.4f, %.4f, %.4f m^2/s at 90, 50 and 25 %% (%.2f, %.2f, %.2f sqrt(g D^3))\n", model,
                  slot, out[0], out[1], out[2], out[0] / unit, out[1] / unit, out[2] / unit);
    lab_close(&l);
}

static void sand_runs_at_one_rate(void **state)
{
    (void)state;
    const double slots[] = {0.12, 0.16, 0.24};
    double middle[3], source[3];
    for (int n = 0; n < 3; n++) {
        double r[3];
        silo("unilateral", slots[n], r);
        for (int i = 0; i < 3; i++) assert_true(fabs(r[i] - r[1]) < 0.15 * r[1]);
        middle[n] = r[1];
    }
    // Q = C (D - k)^1.5 through the widest and the narrowest.
    double ratio = pow(middle[2] / middle[0], 2 / 3.0), k = (ratio * slots[0] - slots[2]) / (ratio - 1),
           c = middle[0] / pow(slots[0] - k, 1.5);
    double between = c * pow(slots[1] - k, 1.5);
    print_message("rates are %.2f sqrt(g) (D - %.2f cells)^1.5; so that of the middle slot is %.4f m^2/s\n",
                  c / sqrt(9.81), k / 0.02, between);
    assert_true(k > 0 && k < 2.5 * 0.02);            // Beverloo: 1.4 grains
    assert_true(fabs(c / sqrt(9.81) - 1.03) < 0.2);  // 1.03 for slots
    assert_true(fabs(middle[1] - between) < 0.07 * between);
    silo("incompressible", 0.16, source);
    assert_true(fmax(source[0], source[2]) > 1.5 * fmin(source[0], source[2]));  // not so the source's model
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sand_runs_at_one_rate)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
