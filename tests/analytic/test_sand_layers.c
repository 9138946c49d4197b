// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Thin layers of sand on walls across the grid against Coulomb's law, a = g (sin - friction cos), for walls at several
// angles and places on the grid, and ridges on walls that are turned against all axes. Without friction they must go
// nearly as fast as it says; with it they have the law's friction within a tenth (docs/theory/sand.md).
#include "sand_lab.h"

static const double CELL = 0.02, LENGTH = 1, SECONDS = 0.5;

typedef struct layer {
    double degrees, friction, cells;
    double y;     // m: where the wall lies at x = 0.003
    double turn;  // degrees about y that the way down is turned by; not 0: a ridge in three dimensions
    bool smooth;  // grains without friction among themselves either
} layer;

static rh_dvec3 way_down(const layer *a)
{
    double c = cos(a->degrees * SAND_DEGREE), turn = a->turn * SAND_DEGREE;
    return rh_d3(c * cos(turn), -sin(a->degrees * SAND_DEGREE), c * sin(turn));
}

static void open_layer(lab *l, const layer *a)
{
    double c = cos(a->degrees * SAND_DEGREE), s = sin(a->degrees * SAND_DEGREE), turn = a->turn * SAND_DEGREE;
    rh_dvec3 way = rh_d3_scale(way_down(a), LENGTH);
    lab_open(l,
             "cell: %g\ndimension: %d\nframes: {last: 100}\nphysics: {sand: {friction_angle: %g}}\n"
             "bodies:\n - {shape: {capsule: {from: [0.003, %g, 0], to: [%.17g, %.17g, %.17g], radius: %g}}}\n"
             "solids:\n - {friction: %g, shape: {plane: {point: [0.003, %g, 0], normal: [%.17g, %.17g, %.17g]}}}\n",
             CELL, a->turn == 0 ? 2 : 3, a->smooth ? 0.0 : 30.0, a->y, 0.003 + way.x, a->y + way.y, way.z,
             a->cells * CELL, a->friction, a->y, s * cos(turn), c, s * sin(turn));
}

// Mean speed down the slope of the middle of the layer, whose ends spread.
static double slide(const layer *a)
{
    lab l;
    rh_status status = {0};
    open_layer(&l, a);
    double sum = 0, count = 0;
    rh_dvec3 way = way_down(a), top = rh_d3(0.003, a->y, 0);
    rh_vec3 *start = sand_positions_by_id(&l, &status);
    const int64_t *id;
    lab_run(&l, SECONDS, NULL, NULL);
    id = rh_points_data(rh_world_points(l.world), "id", RH_POINT_I64);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        double along = rh_d3_dot(rh_d3_sub(rh_d3_from(start[id[i]]), top), way);
        if (along < 0.3 * LENGTH || along > 0.7 * LENGTH) continue;
        sum += rh_d3_dot(rh_d3_from(lab_velocities(&l)[i]), way);
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
    print_message(
        "%g degrees, friction %g, %g cells, wall at %g m, turned by %g: %.3f m/s, Coulomb's law %.3f; %s %.2f\n",
        a.degrees, a.friction, a.cells, a.y, a.turn, speed, fall - 9.81 * SECONDS * a.friction * c,
        a.friction > 0 ? "friction" : "speed", found);
    assert_true(found > least && found < most);
}

// At 45 degrees a layer of a single cell sticks to a wall that goes through the middles of faces: begin with two.
static int alone(double degrees) { return degrees == 45 ? 1 : 0; }

static const double PLACES[2] = {0.007, 0.013};

// The flatter the wall the less drives the layer, and the more the errors of pressure on its steps count.
static void layers_slide_without_friction(void **state)
{
    (void)state;
    static const struct {
        double degrees, least[4];
    } walls[] = {{10, {0.9, 0.9, 0.88, 0.92}},   {20, {0.92, 0.93, 0.93, 0.95}}, {30, {0.94, 0.95, 0.95, 0.96}},
                 {38, {0.94, 0.95, 0.96, 0.96}}, {45, {0.93, 0.95, 0.96, 0.96}}, {60, {0.94, 0.96, 0.96, 0.96}}};
    for (int n = 0; n < (int)(sizeof walls / sizeof walls[0]); n++)
        for (int k = alone(walls[n].degrees); k < 4; k++)
            expect((layer){walls[n].degrees, 0, 1 << k, PLACES[n % 2], 0, false}, walls[n].least[k], 1.03);
}

static void walls_across_the_grid_rub_by_coulomb_s_law(void **state)
{
    (void)state;
    static const double degrees[5] = {20, 30, 38, 45, 60}, least[5] = {0.93, 0.95, 0.96, 0.94, 0.85},
                        most[4] = {1.1, 1.1, 1.06, 1.05};
    for (int n = 0; n < 10; n++)
        for (int k = alone(degrees[n / 2]); k < 4; k++)
            expect((layer){degrees[n / 2], 0.3, 1 << k, PLACES[n % 2], 0, false}, least[n / 2], most[k]);
}

static void ridges_slide_on_walls_turned_against_all_axes(void **state)
{
    (void)state;
    expect((layer){30, 0, 2, PLACES[0], 23, false}, 0.87, 1.03);
    expect((layer){30, 0.3, 2, PLACES[0], 23, false}, 0.9, 1.16);
}

// Once they stuck: where nothing bears anything all sand was taken for single grains that have just landed.
static void grains_without_friction_slide(void **state)
{
    (void)state;
    expect((layer){30, 0, 2, PLACES[0], 0, true}, 0.9, 1.05);
    expect((layer){10, 0, 4, PLACES[1], 0, true}, 0.85, 1.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_slide_without_friction),
                                       cmocka_unit_test(walls_across_the_grid_rub_by_coulomb_s_law),
                                       cmocka_unit_test(ridges_slide_on_walls_turned_against_all_axes),
                                       cmocka_unit_test(grains_without_friction_slide)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
