// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Water around solids that follow sequences of meshes: a ball that grows under water lifts it by its volume, and a ball
// that is carried along by its files does to the water what the same ball with keys does.
#include "analytic/lab.h"
#include <stdlib.h>
#include <unistd.h>

enum { RINGS = 10, SIDES = 32, FILES = 13 };
static const double PI = 3.14159265358979323846;

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/rheo-sequence-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void write_ball(const char *name, int number, double radius, double x, double y)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s.%04d.obj", folder, name, number);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i <= RINGS; i++)
        for (int j = 0; j < SIDES; j++) {
            double a = PI * i / RINGS, b = 2 * PI * j / SIDES;  // poles are many vertices at one place
            fprintf(f, "v %.9g %.9g %.9g\n", x + radius * sin(a) * cos(b), y + radius * sin(a) * sin(b),
                    radius * cos(a));
        }
    for (int i = 0; i < RINGS; i++)
        for (int j = 0; j < SIDES; j++) {
            int a = 1 + i * SIDES + j, b = 1 + i * SIDES + (j + 1) % SIDES, c = a + SIDES, d = b + SIDES;
            if (i > 0) fprintf(f, "f %d %d %d\n", a, d, b);
            if (i < RINGS - 1) fprintf(f, "f %d %d %d\n", a, c, d);
        }
    assert_int_equal(fclose(f), 0);
}

#define TANK "{inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 0.9, 1]}}}"
#define WATER "bodies: [{shape: {box: {min: [0, 0, -1], max: [1, 0.5, 1]}}}]\n"

// The water's centre of mass, by Archimedes: a level tank less the ball.
static double height_of_water(double water, double ball, double ball_height)
{
    double level = water + ball;  // m^2 in a tank 1 m wide
    return (0.5 * level * level - ball * ball_height) / water;
}

static void grow_in(const char *method, double error)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.04\nphysics: {%s: {}}\n" WATER "solids: [" TANK
             ", {shape: {mesh_sequence: {files: %s/grow.####.obj, fps: 12, start: 0.2}}}]\n",
             method, folder);
    double low = PI * 0.1 * 0.1, high = PI * 0.16 * 0.16, water = 0.5 - low;
    double before = lab_center(&l).y;
    lab_run(&l, 1.6, NULL, NULL);
    double rise = lab_center(&l).y - before,
           expected = height_of_water(water, high, 0.22) - height_of_water(water, low, 0.22);
    print_message("  %s: the water rose by %.5f m, Archimedes %.5f (%+.2f %%); deepest in a solid %.2g m\n", method,
                  rise, expected, 100 * (rise / expected - 1), l.penetration);
    assert_true(fabs(rise / expected - 1) < error);
    assert_true(l.penetration < 0.1 * l.scene.cell);
    lab_close(&l);
}

static void a_growing_ball_lifts_the_water(void **state)
{
    (void)state;
    for (int n = 1; n <= FILES; n++) write_ball("grow", n, 0.1 + 0.06 * (n - 1) / (FILES - 1), 0.5, 0.22);
    grow_in("liquid", 0.05);
    grow_in("splash", 0.05);
}

typedef struct outcome {
    double energy, height, middle;  // at the end
    double mean_energy;             // over all steps
    int steps;
} outcome;

static void add_energy(lab *l, void *user)
{
    outcome *o = user;
    o->mean_energy += lab_kinetic(l);
    o->steps++;
}

static outcome push_with(const char *method, const char *solid)
{
    lab l;
    outcome o = {0};
    lab_open(&l, "dimension: 2\ncell: 0.04\nphysics: {%s: {}}\n" WATER "solids: [" TANK ", %s]\n", method, solid);
    lab_run(&l, 0.4, add_energy, &o);
    o.mean_energy /= o.steps;
    o.energy = lab_kinetic(&l);
    o.height = lab_center(&l).y;
    o.middle = lab_center(&l).x;
    assert_true(l.penetration < 0.1 * l.scene.cell);
    lab_close(&l);
    return o;
}

static void carried_by_files_is_as_carried_by_keys(void **state)
{
    (void)state;
    static const char *const methods[] = {"liquid", "splash", "sand"};
    char sequence[256], keyed[256];
    for (int n = 1; n <= FILES; n++) write_ball("carry", n, 0.12, 0.25 + 0.5 * (n - 1) / (FILES - 1), 0.3);
    snprintf(sequence, sizeof sequence, "{shape: {mesh_sequence: {files: %s/carry.####.obj, fps: 24}}}", folder);
    snprintf(keyed, sizeof keyed,
             "{shape: {mesh: {file: %s/carry.0001.obj}}, motion: {keys: [{time: 0}, {time: 0.5, translate: [0.5, 0, "
             "0]}]}}",
             folder);
    for (int m = 0; m < 3; m++) {
        outcome a = push_with(methods[m], sequence), b = push_with(methods[m], keyed);
        print_message("  %s: energy %.5f and %.5f J/kg, mean %.5f and %.5f, centre (%.5f, %.5f) and (%.5f, %.5f) m\n",
                      methods[m], a.energy, b.energy, a.mean_energy, b.mean_energy, a.middle, a.height, b.middle,
                      b.height);
        // Distances are sampled on other lattices. Found at the end: 0 and 0.4 %; with cells of half the size 6 % in
        // the liquid, whose wake is turbulent. In sand single slides decide about the energy of a moment (ball moved by
        // 0.3 mm: -20 to +50 %), less about its mean (10 %; found 0.04, in splash 2.5).
        if (m < 2) assert_true(fabs(a.energy / b.energy - 1) < 0.1);
        assert_true(fabs(a.mean_energy / b.mean_energy - 1) < 0.1);
        assert_true(fabs(a.middle - b.middle) < 2e-3 && fabs(a.height - b.height) < 2e-3);
    }
}

static rh_code build(const char *text, rh_status *status)
{
    rh_scene scene;
    rh_geometry geometry;
    RH_TRY(rh_scene_load_text("lab.yaml", text, strlen(text), NULL, 0, &scene, status));
    rh_code code = rh_geometry_build(&scene, &geometry, status);
    rh_geometry_free(&geometry);
    rh_scene_free(&scene);
    return code;
}

static void files_must_be_there(void **state)
{
    (void)state;
    char text[512], gone[160];
    int64_t blocks = rh_memory_blocks();
    rh_status status = {0};
    for (int n = 1; n <= 9; n++) write_ball("gap", n, 0.1, 0, 0);
    snprintf(gone, sizeof gone, "%s/gap.0005.obj", folder);
    assert_int_equal(unlink(gone), 0);
    snprintf(text, sizeof text,
             "rheo: 1\ncell: 0.05\nphysics: {liquid: {}}\nbodies: [{shape: {sphere: {radius: 1}}}]\n"
             "solids: [{shape: {mesh_sequence: {files: %s/gap.####.obj}}}]\n",
             folder);
    assert_int_equal(build(text, &status), RH_USER);
    assert_non_null(strstr(status.message, "lab.yaml:5:"));
    assert_non_null(strstr(status.message, "gap.0005.obj"));
    assert_int_equal(rh_memory_blocks(), blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_growing_ball_lifts_the_water),
                                       cmocka_unit_test(carried_by_files_is_as_carried_by_keys),
                                       cmocka_unit_test(files_must_be_there)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
