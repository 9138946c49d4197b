// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles that are too close part: by densities, scaled or not, and by distances; those of a lattice stay.
#include "physics/position_correction.h"
#include <math.h>
#include "analytic/tank.h"

// A block of particles, at half a cell, pressed together along x to `squeeze` of its width.
static int64_t make_block(int dimension, float h, float squeeze, rh_vec3 *x)
{
    int64_t count = 0;
    int side = dimension == 3 ? 12 : 24;
    for (int k = 0; k < (dimension == 3 ? side : 1); k++)
        for (int j = 0; j < side; j++)
            for (int i = 0; i < side; i++) {
                float wobble = 0.05f * h * (float)((i * 7 + j * 3 + k * 5) % 11 - 5) / 5 * (squeeze < 1);
                x[count++] = rh_v3(squeeze * 0.5f * h * ((float)(i - side / 2) + 0.5f) + wobble,
                                   0.5f * h * ((float)(j - side / 2) + 0.5f) - wobble,
                                   dimension == 3 ? 0.5f * h * ((float)(k - side / 2) + 0.5f) : 0);
            }
    return count;
}

static rh_position_report correct(int dimension, rh_position_correction how, float squeeze, int sweeps, rh_vec3 *x,
                                  int64_t *count)
{
    tank k;
    rh_neighbours search = {0};
    rh_position_report report;
    rh_status status = {0};
    tank_open(&k, dimension, 1.0 / 16, 1, everywhere, "");
    *count = make_block(dimension, k.tiles.h, squeeze, x);
    rh_position_input in = {how, &k.tiles, &k.cut, 0.5f * k.tiles.h, sweeps, *count};
    lab_check(rh_position_correct(&in, &search, x, &k.arena, &report, &status), &status);
    rh_neighbours_free(&search);
    tank_close(&k);
    return report;
}

enum { MOST = 24 * 24 * 24 };

static void a_lattice_stays(void **state)
{
    (void)state;
    static rh_vec3 x[MOST], as_it_was[MOST];
    int64_t count;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (rh_position_correction how = RH_POSITION_NONE; how <= RH_POSITION_DISTANCE; how++) {
            rh_position_report report = correct(dimension, how, 1, 10, x, &count);
            make_block(dimension, 1.0f / 16, 1, as_it_was);
            assert_int_equal(report.sweeps, 0);
            assert_memory_equal(x, as_it_was, (size_t)count * sizeof *x);
        }
}

static void what_is_pressed_together_parts(void **state)
{
    (void)state;
    static rh_vec3 x[MOST];
    int64_t count;
    for (int dimension = 2; dimension <= 3; dimension++) {
        int sweeps[4] = {0};
        double most[4] = {0};
        for (rh_position_correction how = RH_POSITION_SCALED_DENSITY; how <= RH_POSITION_DISTANCE; how++) {
            rh_position_report report = correct(dimension, how, 0.75f, 100, x, &count);
            double middle[3] = {0};
            for (int64_t i = 0; i < count; i++)
                for (int a = 0; a < 3; a++) middle[a] += (double)(&x[i].x)[a] / (double)count;
            for (int a = 0; a < 3; a++) assert_true(fabs(middle[a]) < 0.1 / 16);
            sweeps[how] = report.sweeps, most[how] = report.most;
            print_message("%dD, %s: density %.3f above rest after %d sweeps\n", dimension,
                          rh_position_correction_names[how], report.most, report.sweeps);
        }
        // Parting of pairs ends when pairs are apart, which a lattice pressed along one axis is sooner than it is thin.
        assert_true(most[RH_POSITION_SCALED_DENSITY] <= 0.1 && most[RH_POSITION_DENSITY] <= 0.1);
        assert_true(most[RH_POSITION_DISTANCE] > 0.1 && sweeps[RH_POSITION_DENSITY] < 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lattice_stays),
        cmocka_unit_test(what_is_pressed_together_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
