// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Fill and flow are exact to one particle, for any shape anywhere on the lattice, for methods that jitter their
// particles and those that weigh them.
#include "unit/seed_support.h"
#include "base/random.h"
#include "io/mesh_file.h"
#include "solid/measure.h"

static const double PI = 3.14159265358979323846;

// `text` is of a liquid; with three particles an axis it becomes a splash.
static void make(setting *s, int per_axis, double jitter, const char *text)
{
    char own[2048];
    snprintf(own, sizeof own, "%s", text);
    if (per_axis == 3) memcpy(strstr(own, "liquid"), "splash", 6);
    setting_make(s, per_axis, jitter, own);
}

static void clear(setting *s)
{
    setting_free(s);
    assert_int_equal(rh_memory_bytes(), 0);
}

static double particle(const setting *s) { return pow(s->seeder.spacing, s->seeder.dimension); }

// Chance, 0..1: number n of test t.
static double chance(int t, int n) { return (double)rh_random(7, (uint64_t)t, 0, (uint32_t)n); }

static double between(int t, int n, double low, double high) { return low + (high - low) * chance(t, n); }

// --- shares of cubes -------------------------------------------------------------------------------------------------
static double tilted(const double at[3], const void *user)
{
    const double *plane = user;
    return at[0] * plane[0] + at[1] * plane[1] + at[2] * plane[2] - plane[3];
}

// Against a count of 10^6 points.
static void shares_of_planes_are_exact(void **state)
{
    (void)state;
    for (int t = 0; t < 40; t++) {
        enum { N = 100 };
        double plane[4] = {between(t, 0, -1, 1), between(t, 1, -1, 1), between(t, 2, -1, 1), 0}, length = 0,
               counted = 0;
        for (int a = 0; a < 3; a++) length += plane[a] * plane[a];
        for (int a = 0; a < 3; a++) plane[a] /= sqrt(length);
        plane[3] = between(t, 3, -0.5, 0.5);
        rh_measure m = {tilted, plane, 3, 0, false, 0};
        for (int n = 0; n < N * N * N; n++) {
            const double at[3] = {(n % N + 0.5) / N - 0.5, (n / N % N + 0.5) / N - 0.5, (n / N / N + 0.5) / N - 0.5};
            counted += tilted(at, plane) < 0;
        }
        assert_near(rh_measure_share(&m, (const double[3]){0, 0, 0}, 1), counted / (N * N * N), 2e-3);
    }
    // Known ones: half a cube, a corner of a sixth of a cube, nothing and all.
    assert_near(rh_measure_plane(0, (const double[3]){0.3, 0.5, -0.7}, 3), 0.5, 1e-12);
    assert_near(rh_measure_plane(0.5, (const double[3]){1, 1, 1}, 3), 1.0 / 6, 1e-12);
    assert_near(rh_measure_plane(0.25, (const double[3]){0, 1, 0}, 3), 0.25, 1e-12);
    assert_near(rh_measure_plane(2, (const double[3]){1, 1, 1}, 3), 0, 0);
    assert_near(rh_measure_plane(-2, (const double[3]){1, 1, 1}, 3), 1, 0);
}

// --- bodies ----------------------------------------------------------------------------------------------------------
// Seeds and wants the number of the volume, no particle in a solid, and none further out than half a spacing.
static void check_bodies(const char *name, const char *text, double volume)
{
    for (int weighed = 0; weighed < 2; weighed++) {
        setting s;
        rh_status status = {0};
        int64_t counted;
        make(&s, weighed ? 3 : 2, weighed ? 0 : 1, text);
        assert_ok(rh_seed_count(&s.seeder, &counted, &status));
        assert_ok(rh_seed_bodies(&s.seeder, &s.points, &status));
        assert_int_equal(counted, s.points.count);
        double wanted = volume / particle(&s);
        if (fabs((double)counted - wanted) > 1)
            fail_msg("%s: %lld particles of %.3f\n%s", name, (long long)counted, wanted, text);
        const rh_vec3 *p = rh_points_data(&s.points, "P", RH_POINT_VEC3F);
        for (int64_t i = 0; i < counted; i++) {
            rh_dvec3 x = rh_d3_from(p[i]);
            double nearest = INFINITY;
            for (int b = 0; b < s.scene.bodies.count; b++)
                nearest = fmin(nearest, rh_shape_distance(&s.geometry.bodies[b], x));
            if (nearest > 0.51 * s.seeder.spacing)
                fail_msg("%s: a particle %g spacings outside\n%s", name, nearest / s.seeder.spacing, text);
            double room = rh_obstacles_distance(&s.geometry.obstacles, x, NULL);
            if (room < -0.2 * s.seeder.spacing)
                fail_msg("%s: a particle %g spacings in a solid\n%s", name, -room / s.seeder.spacing, text);
        }
        clear(&s);
    }
}

#define HEAD "rheo: 1\nphysics: {liquid: {}}\n"

static void boxes_anywhere_have_their_volume(void **state)
{
    (void)state;
    char text[1024];
    for (int t = 0; t < 12; t++) {
        double low[3], size[3];
        for (int a = 0; a < 3; a++) low[a] = between(t, a, -1, 1), size[a] = between(t, 3 + a, 0.07, 0.6);
        snprintf(
            text, sizeof text,
            HEAD
            "cell: 0.05\ndimension: %d\nbodies: [{shape: {box: {min: [%.9g, %.9g, %.9g], max: [%.9g, %.9g, %.9g]}}}]\n",
            t % 2 + 2, low[0], low[1], low[2], low[0] + size[0], low[1] + size[1], low[2] + size[2]);
        check_bodies("box", text, size[0] * size[1] * (t % 2 ? size[2] : 1));
    }
    // A sheet thinner than the spacing.
    check_bodies("sheet",
                 HEAD
                 "cell: 0.05\nbodies: [{shape: {box: {min: [0.003, 0.007, 0.011], max: [0.703, 0.017, 0.511]}}}]\n",
                 0.7 * 0.01 * 0.5);
}

static void round_bodies_have_their_volume(void **state)
{
    (void)state;
    char text[1024];
    for (int t = 0; t < 6; t++) {
        double r = between(t, 0, 0.08, 0.3), x = between(t, 1, -1, 1), y = between(t, 2, -1, 1),
               z = between(t, 3, -1, 1);
        double u = between(t, 4, -0.3, 0.3), v = between(t, 5, -0.3, 0.3), w = between(t, 6, 0.1, 0.3),
               length = sqrt(u * u + v * v + w * w);
        snprintf(text, sizeof text,
                 HEAD
                 "cell: 0.04\ndimension: %d\nbodies: [{shape: {sphere: {center: [%.9g, %.9g, %.9g], radius: %.9g}}}]\n",
                 t % 2 + 2, x, y, z, r);
        check_bodies("sphere", text, t % 2 ? 4.0 / 3 * PI * r * r * r : PI * r * r);
        snprintf(text, sizeof text,
                 HEAD "cell: 0.04\nbodies: [{shape: {cylinder: {from: [%.9g, %.9g, %.9g], to: [%.9g, %.9g, %.9g], "
                      "radius: %.9g}}}]\n",
                 x, y, z, x + u, y + v, z + w, r);
        check_bodies("cylinder", text, PI * r * r * length);
        snprintf(text, sizeof text,
                 HEAD "cell: 0.04\nbodies: [{shape: {capsule: {from: [%.9g, %.9g, %.9g], to: [%.9g, %.9g, %.9g], "
                      "radius: %.9g}}}]\n",
                 x, y, z, x + u, y + v, z + w, r);
        check_bodies("capsule", text, PI * r * r * length + 4.0 / 3 * PI * r * r * r);
    }
}

// A mesh's volume is known by the divergence theorem; its distance is only sampled.
static void meshes_have_their_volume(void **state)
{
    (void)state;
    char text[1024];
    rh_status status = {0};
    rh_mesh mesh;
    rh_mesh_report report;
    const char *file = RHEO_SOURCE_DIR "/scenes/meshes/torus_knot.obj";
    assert_ok(rh_mesh_read(file, &mesh, &status));
    assert_ok(rh_mesh_inspect(&mesh, &report, &status));
    rh_dbox box = rh_mesh_bounds(&mesh);
    rh_mesh_free(&mesh);
    snprintf(text, sizeof text,
             HEAD
             "cell: %.9g\nbodies: [{shape: {mesh: {file: %s, rotate: [10, 20, 30], translate: [0.0123, 0, 0]}}}]\n",
             (box.max.x - box.min.x) / 20, file);
    check_bodies("knot", text, report.volume);
}

// What is asked for is the shape without solids and without what earlier bodies took.
static void solids_and_earlier_bodies_are_left_out(void **state)
{
    (void)state;
    // A sea in a tank, round a post.
    check_bodies("sea",
                 HEAD "cell: 0.05\nbodies: [{shape: {plane: {point: [0, 0.313, 0], normal: [0, 1, 0]}}}]\nsolids:\n"
                      " - {inside_out: true, shape: {box: {min: [0.007, 0.004, -0.013], max: [0.811, 1, 0.709]}}}\n"
                      " - {shape: {cylinder: {from: [0.4, -1, 0.35], to: [0.4, 2, 0.35], radius: 0.147}}}\n",
                 (0.804 * 0.722 - PI * 0.147 * 0.147) * 0.309);
    check_bodies(
        "sea on a slope",
        HEAD
        "cell: 0.02\ndimension: 2\nbodies: [{shape: {plane: {point: [0, 0.313, 0], normal: [0, 1, 0]}}}]\nsolids:\n"
        " - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [2, 1, 1]}}}\n - {shape: {plane: {point: [0.5, 0, "
        "0], normal: [-0.3, 1, 0]}}}\n",
        0.313 * (0.5 + 0.5 * 0.313 / 0.3));
    // Two boxes that overlap, and a third that touches.
    check_bodies("overlap",
                 HEAD "cell: 0.05\nbodies:\n - {shape: {box: {min: [0, 0, 0], max: [0.313, 0.417, 0.2]}}}\n - {shape: "
                      "{box: {min: [0.113, 0.213, 0.017], max: [0.517, 0.619, 0.333]}}}\n"
                      " - {shape: {box: {min: [0.517, 0.213, 0.017], max: [0.617, 0.619, 0.333]}}}\n",
                 0.313 * 0.417 * 0.2 + 0.404 * 0.406 * 0.316 - 0.2 * 0.204 * 0.183 + 0.1 * 0.406 * 0.316);
}

// --- emitters --------------------------------------------------------------------------------------------------------
// At any time of any sequence of steps the number is the volume that has been poured.
static void check_flow(const char *name, const char *text, int per_axis, double volume, double area, double speed)
{
    static const int steps[] = {40, 97};
    for (int n = 0; n < 2; n++) {
        setting s;
        rh_status status = {0};
        make(&s, per_axis, per_axis == 2, text);
        double worst = 0, start = 0.3;
        for (int i = 0; i <= steps[n]; i++) {
            double time = 1.7 * i / steps[n];
            assert_ok(rh_emit(&s.seeder, time, &s.points, &status));
            double wanted = time < start ? 0 : (volume + area * speed * (fmin(time, 1.5) - start)) / particle(&s);
            worst = fmax(worst, fabs((double)s.points.count - wanted));
        }
        if (worst > 1) fail_msg("%s: off by %.3f particles of %lld\n%s", name, worst, (long long)s.points.count, text);
        clear(&s);
    }
}

#define TIMES "start: 0.3, stop: 1.5, "

static void emitters_pour_their_volume_at_any_time(void **state)
{
    (void)state;
    char text[1024];
    // A slot of 4.6 columns of particles.
    check_flow("slot",
               HEAD "cell: 0.02\ndimension: 2\nemitters: [{" TIMES
                    "velocity: [2, 0, 0], shape: {box: {min: [0, 0.003, 0], max: [0.02, 0.049, 1]}}}]\n",
               2, 0.02 * 0.046, 0.046, 2);
    for (int t = 0; t < 6; t++) {
        double angle = between(t, 0, 0, 2 * PI), u = 1.5 * cos(angle), v = 1.5 * sin(angle),
               wide = between(t, 1, 0.02, 0.2), long_ = between(t, 2, 0.02, 0.1), x = between(t, 3, -1, 1);
        snprintf(text, sizeof text,
                 HEAD "cell: 0.02\ndimension: 2\nemitters: [{" TIMES
                      "velocity: [%.17g, %.17g, 0], shape: {box: {min: [%.9g, 0.0013, 0], max: [%.9g, %.9g, 1]}}}]\n",
                 u, v, x, x + wide, 0.0013 + long_);
        check_flow("slot at an angle", text, 2 + t % 2, wide * long_, wide * fabs(v) / 1.5 + long_ * fabs(u) / 1.5,
                   1.5);
    }
    check_flow(
        "nozzle",
        HEAD
        "cell: 0.05\nemitters: [{" TIMES
        "velocity: [1, 2, 2], shape: {cylinder: {from: [0.01, 0.02, 0.03], to: [0.04, 0.08, 0.09], radius: 0.113}}}]\n",
        2, PI * 0.113 * 0.113 * 0.09, PI * 0.113 * 0.113, 3);
    check_flow("ball",
               HEAD "cell: 0.05\nemitters: [{" TIMES
                    "velocity: [0, -2, 0], shape: {sphere: {center: [0.1, 0.2, 0.3], radius: 0.137}}}]\n",
               3, 4.0 / 3 * PI * pow(0.137, 3), PI * 0.137 * 0.137, 2);
    check_flow("drop",
               HEAD "cell: 0.05\nemitters: [{" TIMES "shape: {sphere: {center: [0.1, 0.2, 0.3], radius: 0.137}}}]\n", 2,
               4.0 / 3 * PI * pow(0.137, 3), 0, 0);
}

// A slot in a wall: what it pours begins in the wall's surface and is there all the same.
static void emitters_at_walls_pour(void **state)
{
    (void)state;
    setting s;
    rh_status status = {0};
    make(&s, 3, 0,
         HEAD "cell: 0.05\ndimension: 2\nemitters: [{velocity: [1, 0, 0], shape: {box: {min: [0, 0.1, 0], max: "
              "[0.05, 0.313, 1]}}}]\n"
              "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [3, 1, 1]}}}]\n");
    for (int i = 0; i <= 60; i++) assert_ok(rh_emit(&s.seeder, i / 60.0, &s.points, &status));
    assert_near((double)s.points.count, 0.213 * 1.05 / particle(&s), 1);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_planes_are_exact),
        cmocka_unit_test(boxes_anywhere_have_their_volume),
        cmocka_unit_test(round_bodies_have_their_volume),
        cmocka_unit_test(meshes_have_their_volume),
        cmocka_unit_test(solids_and_earlier_bodies_are_left_out),
        cmocka_unit_test(emitters_pour_their_volume_at_any_time),
        cmocka_unit_test(emitters_at_walls_pour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
