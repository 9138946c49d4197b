// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Thin layers of sand on walls across the grid against Coulomb's law, a = g (sin - friction cos), for walls at several
// angles and places on the grid. Without friction they must go nearly as fast as it says; with it, layers of two cells
// and more have the law's friction within a tenth, one of a single cell within a quarter (docs/theory/sand.md).
#include "sand_lab.h"

static const double CELL = 0.02, LENGTH = 1, SECONDS = 0.5;

typedef struct layer {
    double degrees, friction, cells;
    double y;  // m: where the wall lies at x = 0.003
} layer;

static void open_layer(lab *l, const layer *a)
{
    double c = cos(a->degrees * SAND_DEGREE), s = sin(a->degrees * SAND_DEGREE);
    lab_open(l,
             "cell: %g\ndimension: 2\nframes: {last: 100}\nphysics: {sand: {}}\n"
             "bodies:\n - {shape: {capsule: {from: [0.003, %g, 0], to: [%.17g, %.17g, 0], radius: %g}}}\n"
             "solids:\n - {friction: %g, shape: {plane: {point: [0.003, %g, 0], normal: [%.17g, %.17g, 0]}}}\n",
             CELL, a->y, 0.003 + LENGTH * c, a->y - LENGTH * s, a->cells * CELL, a->friction, a->y, s, c);
}

// Mean speed down the slope of the middle of the layer, whose ends spread.
static double slide(const layer *a)
{
    lab l;
    rh_status status = {0};
    open_layer(&l, a);
    double c = cos(a->degrees * SAND_DEGREE), s = sin(a->degrees * SAND_DEGREE), sum = 0, count = 0;
    rh_vec3 *start = sand_positions_by_id(&l, &status);
    const int64_t *id;
    lab_run(&l, SECONDS, NULL, NULL);
    id = rh_points_data(rh_world_points(l.world), "id", RH_POINT_I64);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        rh_vec3 p = start[id[i]], v = lab_velocities(&l)[i];
        double along = ((double)p.x - 0.003) * c - ((double)p.y - a->y) * s;
        if (along < 0.3 * LENGTH || along > 0.7 * LENGTH) continue;
        sum += (double)v.x * c - (double)v.y * s;
        count++;
    }
    rh_free(start);
    lab_close(&l);
    return sum / count;
}

// Friction found, of Coulomb's; without friction the speed found, of the law's.
static void expect(layer a, double least, double most)
{
    double c = cos(a.degrees * SAND_DEGREE), s = sin(a.degrees * SAND_DEGREE), fall = 9.81 * SECONDS * s,
           speed = slide(&a),
           found = a.friction > 0 ? (fall - speed) / (9.81 * SECONDS * a.friction * c) : speed / fall;
    print_message("%g degrees, friction %g, %g cells, wall at %g m: %.3f m/s, Coulomb's law %.3f; %s %.2f\n", a.degrees,
                  a.friction, a.cells, a.y, speed, fall - 9.81 * SECONDS * a.friction * c,
                  a.friction > 0 ? "friction" : "speed", found);
    assert_true(found > least && found < most);
}

// At 45 degrees a layer of a single cell may stick where the wall goes through corners of cells: begin with two.
static int alone(double degrees) { return degrees == 45 ? 1 : 0; }

static const double PLACES[2] = {0.007, 0.013};

// The flatter the wall the less drives the layer, and the more the errors of pressure on its steps count.
static void layers_slide_without_friction(void **state)
{
    (void)state;
    static const struct {
        double degrees, least[4];
    } walls[] = {{10, {0.65, 0.75, 0.78, 0.85}}, {20, {0.8, 0.85, 0.87, 0.9}},  {30, {0.92, 0.92, 0.93, 0.93}},
                 {38, {0.94, 0.94, 0.94, 0.94}}, {45, {0.9, 0.94, 0.94, 0.94}}, {60, {0.92, 0.94, 0.94, 0.94}}};
    for (int n = 0; n < (int)(sizeof walls / sizeof walls[0]); n++)
        for (int k = alone(walls[n].degrees); k < 4; k++)
            expect((layer){walls[n].degrees, 0, 1 << k, PLACES[n % 2]}, walls[n].least[k], 1.06);
}

static void walls_across_the_grid_rub_by_coulomb_s_law(void **state)
{
    (void)state;
    static const double degrees[5] = {20, 30, 38, 45, 60}, least[4] = {0.85, 0.86, 0.9, 0.93},
                        most[4] = {1.25, 1.12, 1.08, 1.07};
    for (int n = 0; n < 10; n++)
        for (int k = alone(degrees[n / 2]); k < 4; k++)
            expect((layer){degrees[n / 2], 0.3, 1 << k, PLACES[n % 2]}, least[k], most[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_slide_without_friction),
                                       cmocka_unit_test(walls_across_the_grid_rub_by_coulomb_s_law)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
