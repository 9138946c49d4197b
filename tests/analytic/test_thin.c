// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Walls thinner than cells: nothing goes through, and what stands behind them stands still. The walls lie as the grid
// does not like it: with their middle on centres of cells, on faces, between, and across.
#include "lab.h"
#include "unit/scratch.h"

typedef struct method {
    const char *name, *physics;
    double tremble;  // m/s: how much is left in a cup at rest
} method;
static const method methods[] = {
    {"liquid", "liquid: {}", 0.005}, {"splash", "splash: {}", 0.01}, {"sand", "sand: {}", 0.02}};
enum { METHODS = 3 };

static double highest(const lab *l)
{
    double top = -1e30;
    for (int64_t i = 0; i < lab_count(l); i++) top = fmax(top, (double)lab_positions(l)[i].y);
    return top;
}

static double rms_speed(const lab *l) { return sqrt(2 * lab_kinetic(l)); }

// --- a cup -----------------------------------------------------------------------------------------------------------
// Three walls of 3 mm in cells of 5 mm. The cup is 0.1 m wide inside and stands in the air; filled to 6 cm.
static void hold_in_cup(const method *m, double shift)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.005\nphysics: {%s}\n"
             "bodies: [{shape: {box: {min: [%g, %g, -1], max: [%g, %g, 1]}}}]\n"
             "solids:\n"
             "  - shape: {box: {min: [%g, %g, -1], max: [%g, %g, 1]}}\n"
             "  - shape: {box: {min: [%g, %g, -1], max: [%g, %g, 1]}}\n"
             "  - shape: {box: {min: [%g, %g, -1], max: [%g, %g, 1]}}\n",
             m->physics, shift, shift, 0.1 + shift, 0.06 + shift,   //
             -0.003 + shift, -0.003 + shift, 0.103 + shift, shift,  // floor
             -0.003 + shift, -0.003 + shift, shift, 0.1 + shift,    // left
             0.1 + shift, -0.003 + shift, 0.103 + shift, 0.1 + shift);
    int64_t all = lab_count(&l), outside = 0;
    double before = lab_center(&l).y - shift;
    lab_run(&l, 2, NULL, NULL);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        rh_vec3 x = lab_positions(&l)[i];
        outside += (double)x.x < shift || (double)x.x > 0.1 + shift || (double)x.y < shift;
    }
    print_message("cup, %s, walls %.4f m off the grid: %lld of %lld outside, centre %.4f -> %.4f m, top %.4f m, "
                  "rms speed %.4f m/s, deepest %.3f cells in walls\n",
                  m->name, shift, (long long)(outside + all - lab_count(&l)), (long long)all, before,
                  lab_center(&l).y - shift, highest(&l) - shift, rms_speed(&l), l.penetration / l.scene.cell);
    assert_int_equal(outside, 0);
    assert_int_equal(lab_count(&l), all);
    assert_true(l.penetration < 0);
    assert_true(fabs(lab_center(&l).y - shift - before) < 0.03 * before);
    assert_true(rms_speed(&l) < m->tremble);
    lab_close(&l);
}

static void a_cup_holds(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        hold_in_cup(&methods[m], 0);
        hold_in_cup(&methods[m], 0.0015);
        hold_in_cup(&methods[m], 0.004);
    }
}

// --- a plate across the grid -----------------------------------------------------------------------------------------
// A box is parted by a plate of half a cell that stands at 25 degrees to the grid; left of it is water.
static void hold_behind_plate(const method *m)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.01\nphysics: {%s}\n"
             "bodies: [{shape: {box: {min: [-0.5, 0, -1], max: [0.02, 0.2, 1]}}}]\n"
             "solids:\n"
             "  - {inside_out: true, shape: {box: {min: [-0.3, 0, -1], max: [0.3, 0.4, 1]}}}\n"
             "  - shape: {box: {min: [-0.0025, -0.1, -1], max: [0.0025, 0.5, 1]}}\n"
             "    motion: {pivot: [0, 0, 0], keys: [{time: 0, rotate: [0, 0, -25]}]}\n",
             m->physics);
    // Only what is left of the plate's middle line is to be held; the body reaches beyond.
    rh_dvec3 along = rh_d3(sin(25 * 0.017453292519943295), cos(25 * 0.017453292519943295), 0);
    int64_t left = 0, right = 0, found[2] = {0, 0};
    for (int64_t i = 0; i < lab_count(&l); i++) {
        rh_vec3 x = lab_positions(&l)[i];
        if ((double)x.x * along.y - (double)x.y * along.x < 0) left++;
        else right++;
    }
    lab_run(&l, 2, NULL, NULL);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        rh_vec3 x = lab_positions(&l)[i];
        found[(double)x.x * along.y - (double)x.y * along.x > 0]++;
    }
    print_message("plate at 25 degrees, %s: %lld and %lld particles on its sides, after 2 s %lld and %lld; centre "
                  "%.4f m high, rms speed %.4f m/s, deepest %.3f cells in walls\n",
                  m->name, (long long)left, (long long)right, (long long)found[0], (long long)found[1],
                  lab_center(&l).y, rms_speed(&l), l.penetration / l.scene.cell);
    assert_int_equal(left, found[0]);
    assert_int_equal(right, found[1]);
    assert_true(l.penetration < 0);
    lab_close(&l);
}

static void an_oblique_plate_holds(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) hold_behind_plate(&methods[m]);
}

// --- a piston --------------------------------------------------------------------------------------------------------
// A plate of 0.3 cells sweeps a channel at 160 cells a second and pushes the water before it: all of it stays before
// it.
static void sweep(const method *m)
{
    lab l;
    lab_open(&l,
             "dimension: 2\ncell: 0.01\nphysics: {%s}\n"
             "bodies: [{shape: {box: {min: [0.1, 0, -1], max: [0.6, 0.06, 1]}}}]\n"
             "solids:\n"
             "  - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1.5, 0.5, 1]}}}\n"
             "  - shape: {box: {min: [0.04, -0.02, -1], max: [0.043, 0.5, 1]}}\n"
             "    motion: {keys: [{time: 0}, {time: 0.5, translate: [0.8, 0, 0]}]}\n",
             m->physics);
    lab_run(&l, 0.5, NULL, NULL);
    int64_t behind = 0;
    for (int64_t i = 0; i < lab_count(&l); i++) behind += (double)lab_positions(&l)[i].x < 0.84;
    print_message("piston, %s: %lld of %lld particles behind it, mean x %.3f m, fastest %.2f m/s\n", m->name,
                  (long long)behind, (long long)lab_count(&l), lab_center(&l).x, lab_max_speed(&l));
    assert_int_equal(behind, 0);
    lab_close(&l);
}

static void a_piston_lets_nothing_by(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) sweep(&methods[m]);
}

// --- meshes ----------------------------------------------------------------------------------------------------------
static void put_quad(FILE *f, int a, int b, int c, int d) { fprintf(f, "f %d %d %d\nf %d %d %d\n", a, b, c, a, c, d); }

// A terrain of one layer of triangles, a valley from -0.2 to 0.2 m along x and z, 5 cm deep in the middle.
static void write_valley(const char *path)
{
    enum { N = 16 };
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int k = 0; k <= N; k++)
        for (int i = 0; i <= N; i++) {
            double x = -0.2 + 0.4 * i / N, z = -0.2 + 0.4 * k / N;
            fprintf(f, "v %.9g %.9g %.9g\n", x, 0.05 * fmin(1, (x * x + z * z) / 0.0225), z);
        }
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++) {
            int a = 1 + i + (N + 1) * k;
            put_quad(f, a, a + N + 1, a + N + 2, a + 1);
        }
    fclose(f);
}

// A cup of 24 sides: inside 5 cm wide, walls and floor of 3 mm, closed at the rim.
static void write_cup(const char *path)
{
    enum { N = 24 };
    static const double ring[4][2] = {{0.028, -0.003}, {0.028, 0.06}, {0.025, 0.06}, {0.025, 0}};  // radius, height
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < N; i++) {
            double angle = 6.283185307179586 * i / N;
            fprintf(f, "v %.9g %.9g %.9g\n", ring[r][0] * cos(angle), ring[r][1], ring[r][0] * sin(angle));
        }
    fprintf(f, "v 0 -0.003 0\nv 0 0 0\n");
    for (int i = 0; i < N; i++) {
        int next = (i + 1) % N;
        for (int r = 0; r < 3; r++)
            put_quad(f, 1 + i + N * r, 1 + i + N * (r + 1), 1 + next + N * (r + 1), 1 + next + N * r);
        fprintf(f, "f %d %d %d\nf %d %d %d\n", 1 + i, 1 + next, 4 * N + 1, 1 + next + 3 * N, 1 + i + 3 * N, 4 * N + 2);
    }
    fclose(f);
}

static void hold_in_mesh_cup(const method *m, const char *path)
{
    lab l;
    lab_open(&l,
             "cell: 0.005\nphysics: {%s}\n"
             "bodies: [{shape: {cylinder: {from: [0, 0, 0], to: [0, 0.03, 0], radius: 0.024}}}]\n"
             "solids: [{shape: {mesh: {file: %s}}}]\n",
             m->physics, path);
    int64_t all = lab_count(&l), outside = 0;
    double before = lab_center(&l).y;
    lab_run(&l, 0.3, NULL, NULL);
    for (int64_t i = 0; i < lab_count(&l); i++) {
        rh_vec3 x = lab_positions(&l)[i];
        outside += (double)(x.x * x.x + x.z * x.z) > 0.0255 * 0.0255 || (double)x.y < 0;
    }
    print_message("cup as a mesh, %s: %lld of %lld outside, centre %.4f -> %.4f m, rms speed %.4f m/s\n", m->name,
                  (long long)outside, (long long)all, before, lab_center(&l).y, rms_speed(&l));
    assert_int_equal(outside, 0);
    // It was seeded 1 mm off the walls: (24/25)^2 of the height, more for the cup's corners, when it fills all of it.
    assert_true(fabs(lab_center(&l).y - 0.93 * before) < 0.1 * before);
    lab_close(&l);
}

static void a_cup_of_triangles_holds(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "cup.obj");
    write_cup(path.text);
    for (int m = 0; m < METHODS; m++) hold_in_mesh_cup(&methods[m], path.text);
    scratch_remove(&s);
}

static void hold_on_sheet(const method *m, const char *path)
{
    lab l;
    lab_open(&l,
             "cell: 0.01\nphysics: {%s}\n"
             "bodies: [{shape: {cylinder: {from: [0, 0.05, 0], to: [0, 0.1, 0], radius: 0.06}}}]\n"
             "solids: [{shape: {mesh: {file: %s, thickness: 0.001}}}]\n",
             m->physics, path);
    lab_run(&l, 0.4, NULL, NULL);
    int64_t below = 0;
    double lowest = 0;
    for (int64_t i = 0; i < lab_count(&l); i++) {
        rh_vec3 x = lab_positions(&l)[i];
        // Where the slope ends the triangles cut its corner, by 6 mm at most.
        double ground = 0.05 * fmin(1, (double)(x.x * x.x + x.z * x.z) / 0.0225);
        if (fabsf(x.x) < 0.2f && fabsf(x.z) < 0.2f) lowest = fmin(lowest, (double)x.y - ground);
        below += (double)x.y < ground - 0.008 && fabsf(x.x) < 0.2f && fabsf(x.z) < 0.2f;
    }
    print_message("open sheet of 0.1 cells, %s: %lld of %lld below it, centre %.4f m, lowest %.4f m\n", m->name,
                  (long long)below, (long long)lab_count(&l), lab_center(&l).y, lowest);
    assert_int_equal(below, 0);
    assert_true(lab_center(&l).y > 0);
    lab_close(&l);
}

static void an_open_sheet_holds(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "valley.obj");
    write_valley(path.text);
    for (int m = 0; m < METHODS; m++) hold_on_sheet(&methods[m], path.text);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cup_holds),
        cmocka_unit_test(an_oblique_plate_holds),
        cmocka_unit_test(a_piston_lets_nothing_by),
        cmocka_unit_test(a_cup_of_triangles_holds),
        cmocka_unit_test(an_open_sheet_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
