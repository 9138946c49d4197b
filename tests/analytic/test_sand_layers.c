// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Thin layers of sand on walls across the grid against Coulomb's law, a = g (sin - friction cos). Without friction they
// must go nearly as fast as it says. The friction of such walls is too much under thin layers (docs/theory/sand.md has
// the figures); how much too much it may be is bounded here.
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

static void layers_slide_without_friction(void **state)
{
    (void)state;
    for (double degrees = 20; degrees < 50; degrees += degrees < 30 ? 10 : 15) {
        expect((layer){degrees, 0, 2, 0.007}, 0.87, 1.02);
        expect((layer){degrees, 0, 4, 0.007}, 0.93, 1.02);
    }
}

static void walls_between_rub(void **state)
{
    (void)state;
    for (double degrees = 20; degrees < 31; degrees += 10) {
        expect((layer){degrees, 0.3, 8, 0.007}, 0.9, 1.2);
        expect((layer){degrees, 0.3, 4, 0.007}, 0.9, 1.35);
        expect((layer){degrees, 0.3, 2, 0.007}, 0.9, 1.55);
        expect((layer){degrees, 0.3, 1, 0.007}, 0.9, 1.85);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_slide_without_friction),
                                       cmocka_unit_test(walls_between_rub)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
