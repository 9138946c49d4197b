// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sand runs out of a silo at one rate, however full it is, since the walls and arches carry its weight; a liquid runs faster when there is more of it. And that rate goes with the
// width of the slot to the power 1.5 (W. A. Beverloo, H. A. Leniger, J. van de Velde, Chemical Engineering Science 15, 1961, for a slot).
#include "sand_lab.h"

typedef struct discharge { int count; double time[4096], left[4096]; double above; } discharge;  // share of the sand still above the opening

static void note(lab *l, void *user)
{
    discharge *d = user;
    if (d->count == 4096) return;
    int64_t above = 0;
    for (int64_t i = 0; i < lab_count(l); i++) above += (double)lab_positions(l)[i].y > d->above;
    d->time[d->count] = lab_time(l);
    d->left[d->count++] = (double)above;
}

// Rate (of `all` particles per s) from the line of least squares over the time in which the share left goes from at + 0.06 to at - 0.06.
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
    lab_open(&l, "cell: 0.02\ndimension: 2\nframes: {last: 10000}\nphysics: {sand: {model: %s}}\n"
             "bodies:\n - {shape: {box: {min: [0, 0, -1], max: [%g, %g, 1]}}}\n"
             "solids:\n - {friction: 0.5, shape: {box: {min: [-0.2, -0.1, -1], max: [0, 2, 1]}}}\n - {friction: 0.5, shape: {box: {min: [%g, -0.1, -1], max: [%g, 2, 1]}}}\n"
             " - {friction: 0.5, shape: {box: {min: [-0.2, -0.1, -1], max: [%g, 0, 1]}}}\n - {friction: 0.5, shape: {box: {min: [%g, -0.1, -1], max: [%g, 0, 1]}}}\n"
             "sinks:\n - {shape: {box: {min: [-1, -2, -1], max: [2, -0.4, 1]}}}\n", model, width, high, width, width + 0.2, edge, width - edge, width + 0.2);
    d = (discharge){.above = 0};
    double all = (double)lab_count(&l), unit = sqrt(9.81 * slot * slot * slot);
    for (int n = 1; n < 400 && (n == 1 || d.left[d.count - 1] > 0.18 * all); n++) lab_run(&l, 0.02 * n * width * high / unit, note, &d);
    const double at[] = {0.9, 0.5, 0.25};
    for (int n = 0; n < 3; n++) out[n] = rate(&d, all, at[n]) * width * high;
    print_message("%s, slot %g m: %.4f, %.4f, %.4f m^2/s at 90, 50 and 25 %% (%.2f, %.2f, %.2f sqrt(g D^3))\n", model, slot, out[0], out[1], out[2],
                  out[0] / unit, out[1] / unit, out[2] / unit);
    lab_close(&l);
}

// Beverloo's constant for slots is about 1.03, less a grain or two of width.
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
    double exponent = log(middle[2] / middle[0]) / log(2);
    print_message("the rate goes with the slot's width to the power %.2f\n", exponent);
    assert_true(fabs(exponent - 1.5) < 0.4);  // 1.5 for slots of many grains: rates of (D - k d)^1.5 with k d of a cell and a half have 1.8 here
    silo("incompressible", 0.16, source);
    assert_true(fmax(source[0], source[2]) > 1.5 * fmin(source[0], source[2]));  // not so the source's model
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sand_runs_at_one_rate)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
