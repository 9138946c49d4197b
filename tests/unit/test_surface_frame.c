// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One frame from a points file to surface files, inside and through the public interface: names, times, failures that
// leave nothing behind.
#include "support.h"
#include <rheo/rheo.h>
#include "io/file.h"
#include "io/vdb.h"
#include "scratch.h"
#include "world/surfacing.h"

enum { SIDE = 6 };

// A block of particles 0.1 m apart, moved along x, with velocity to match.
static void write_frame(const char *path, int64_t frame, float shift)
{
    rh_points points;
    rh_status status = {0};
    float radius = 0.062f;
    rh_points_init(&points);
    assert_ok(rh_points_add(&points, "P", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(&points, "v", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(&points, "id", RH_POINT_I64, &status));
    assert_ok(rh_points_add_uniform(&points, "radius", RH_POINT_F32, &radius, &status));
    assert_ok(rh_points_resize(&points, SIDE * SIDE * SIDE, &status));
    rh_vec3 *p = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    int64_t *id = rh_points_data(&points, "id", RH_POINT_I64);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        p[i] = rh_v3(0.1f * (float)(i % SIDE) + shift, 0.1f * (float)(i / SIDE % SIDE),
                     0.1f * (float)(i / SIDE / SIDE));
        v[i] = rh_v3(2.4f, 0, 0);
        id[i] = 1000 - i;
    }
    rh_frame_info info = {.frame = frame, .time = (double)(frame - 1) / 24, .fps = 24, .cell = 0.2};
    assert_ok(rh_vdb_write_points(path, &points, &info, &status));
    rh_points_free(&points);
}

static bool exists(const scratch *s, const char *name)
{
    scratch_path path = scratch_at(s, name);
    return rh_file_exists(path.text);
}

static void numbers_in_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t number;
        int digits;
    } cases[] = {
        {"points.0007.vdb", 7, 4},
        {"a/b9/drop_v2.12.ply", 12, 2},
        {"x/2.vdb", 2, 1},
        {"a9/plain.ply", -1, 0},
        {"v3_final.vdb", 3, 1},
        {"points.0000.vdb", 0, 4},
        {"1234567890123456789.vdb", -1, 19},
        {".vdb", -1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int digits;
        assert_int_equal(rh_surface_frame_number(cases[i].name, &digits), cases[i].number);
        assert_int_equal(digits, cases[i].digits);
    }
    char path[RH_PATH_MAX];
    rh_status status = {0};
    assert_ok(rh_surface_path("f", "surface", 7, 0, 0, ".vdb", path, &status));
    assert_string_equal(path, "f/surface.0007.vdb");
    assert_ok(rh_surface_path("f", "surface", 7, 6, 2.0 / 3, ".ply", path, &status));
    assert_string_equal(path, "f/surface.000007.667.ply");
    scratch s = scratch_make();
    scratch_path nine = scratch_at(&s, "p.0009.vdb"), ten = scratch_at(&s, "p.0010.vdb");
    assert_false(rh_surface_next_file(nine.text, path));
    assert_ok(rh_file_write(ten.text, "x", 1, &status));
    assert_true(rh_surface_next_file(nine.text, path));
    assert_string_equal(path, ten.text);
    assert_false(rh_surface_next_file(ten.text, path));
    scratch_remove(&s);
}

static void through_the_public_header(void **state)
{
    (void)state;
    scratch s = scratch_make(), out = scratch_make();
    scratch_path one = scratch_at(&s, "points.0007.vdb"), two = scratch_at(&s, "points.0008.vdb");
    write_frame(one.text, 7, 0);
    write_frame(two.text, 8, 0.1f);
    const char *const settings[] = {"mesh=true", "attributes=id"};
    rheo_error error;
    assert_int_equal(rheo_surface_frame(one.text, NULL, 0, out.folder, settings, 2, &error), RHEO_OK);
    assert_true(exists(&out, "surface.0007.vdb") && exists(&out, "surface.0007.ply"));
    assert_int_equal(rheo_surface_frame(one.text, two.text, 0.5, out.folder, settings, 1, &error), RHEO_OK);
    assert_true(exists(&out, "surface.0007.500.vdb") && exists(&out, "surface.0007.500.ply"));
    assert_int_equal(scratch_count(&out), 4);
    scratch_remove(&out);

    static const char *const wrong[] = {"mode=spere"};
    assert_int_equal(rheo_surface_frame(one.text, NULL, 0, out.folder, wrong, 1, &error), RHEO_USER);
    assert_non_null(strstr(error.message, "did you mean 'sphere'?"));
    assert_int_equal(rheo_surface_frame(one.text, NULL, 1, out.folder, NULL, 0, &error), RHEO_USER);
    assert_int_equal(rheo_surface_frame("gone.vdb", NULL, 0, out.folder, NULL, 0, &error), RHEO_IO);
    assert_int_equal(rheo_surface_frame(one.text, "gone.vdb", 0.5, out.folder, NULL, 0, &error), RHEO_IO);
    assert_false(rh_file_exists(out.folder));
    assert_int_equal(rheo_memory_bytes(), 0);
    scratch_remove(&s);
}

// What is counted is what was in the file; the frame comes from the file when the name has none.
static void results_are_told(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "water.vdb");
    write_frame(path.text, 31, 0);
    rh_surfacing_params params;
    rh_surface_result result;
    rh_status status = {0};
    assert_ok(rh_params_defaults(&rh_surfacing_table, &params, &status));
    params.mesh = params.diagnostics = true;
    rh_surface_task task = {.points = path.text, .folder = s.folder, .frame = rh_surface_frame_number(path.text, NULL)};
    assert_ok(rh_surface_frame(&params, &task, &result, &status));
    assert_int_equal(result.frame, 31);
    assert_int_equal(result.particles, SIDE * SIDE * SIDE);
    assert_true(result.voxels > 1000 && result.vertices > 500 && result.polygons > 500 && result.seconds > 0);
    assert_true(exists(&s, "surface.0031.vdb") && exists(&s, "surface.0031.ply") && exists(&s, "ellipsoids.0031.vdb"));
    // Without a next frame they go on with their velocity: 2.4 m/s for half a frame is 0.05 m.
    rh_points points;
    rh_frame_info info;
    task.fraction = 0.5;
    assert_ok(rh_surface_frame(&params, &task, &result, &status));
    scratch_path moved = scratch_at(&s, "ellipsoids.0031.500.vdb");
    rh_points_init(&points);
    assert_ok(rh_surface_read_points(moved.text, &points, &info, &status));
    float least = 1;
    const rh_vec3 *p = rh_points_data(&points, "P", RH_POINT_VEC3F);
    for (int64_t i = 0; i < points.count; i++) least = fminf(least, p[i].x);
    assert_near(least, 0.05, 1e-6);
    assert_near(info.time, 30.5 / 24, 1e-12);
    rh_points_free(&points);
    rh_params_free(&rh_surfacing_table, &params);
    scratch_remove(&s);
}

static void read_points(const scratch *s, const char *name, rh_points *points)
{
    scratch_path path = scratch_at(s, name);
    rh_status status = {0};
    rh_points_init(points);
    assert_ok(rh_vdb_read_points(path.text, points, NULL, &status));
}

// The symmetric matrix with these axes (columns) and stretches: axes of equal stretch may differ, their matrix may not.
static double shape(const float axes[9], rh_vec3 stretch, int a, int b)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += (double)axes[3 * a + k] * (double)(&stretch.x)[k] * (double)axes[3 * b + k];
    return sum;
}

// A frame exported with z up gives the ellipsoids of the one with y up, turned. Without recentring: at the block's
// corners its axes are arbitrary, and the end of the material is looked for along them.
static void z_up_turns_the_ellipsoids(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path y = scratch_at(&s, "p.0001.vdb"), z = scratch_at(&s, "p.0002.vdb");
    rh_points points, a, b;
    rh_status status = {0};
    rh_surfacing_params params;
    write_frame(y.text, 1, 0);
    read_points(&s, "p.0001.vdb", &points);
    assert_ok(
        rh_vdb_write_points(z.text, &points, &(rh_frame_info){.frame = 2, .fps = 24, .cell = 0.2, .z_up = 1}, &status));
    assert_ok(rh_params_defaults(&rh_surfacing_table, &params, &status));
    params.diagnostics = true;
    params.recentre = false;
    for (int k = 1; k <= 2; k++) {
        rh_surface_task task = {.points = k == 1 ? y.text : z.text, .folder = s.folder, .frame = k};
        assert_ok(rh_surface_frame(&params, &task, NULL, &status));
    }
    read_points(&s, "ellipsoids.0001.vdb", &a);
    read_points(&s, "ellipsoids.0002.vdb", &b);
    const int64_t *ids = rh_points_data(&a, "id", RH_POINT_I64), *other = rh_points_data(&b, "id", RH_POINT_I64);
    const rh_vec3 *ca = rh_points_data(&a, "centre", RH_POINT_VEC3F),
                  *cb = rh_points_data(&b, "centre", RH_POINT_VEC3F);
    const rh_vec3 *sa = rh_points_data(&a, "stretch", RH_POINT_VEC3F),
                  *sb = rh_points_data(&b, "stretch", RH_POINT_VEC3F);
    const float(*ra)[9] = rh_points_data(&a, "rotation", RH_POINT_MAT3F),
          (*rb)[9] = rh_points_data(&b, "rotation", RH_POINT_MAT3F);
    assert_true(a.count == b.count && a.count == SIDE * SIDE * SIDE);
    for (int64_t i = 0; i < a.count; i++) {
        int64_t j = 0;
        while (other[j] != ids[i]) j++;
        static const int from[3] = {0, 2, 1};
        static const double sign[3] = {1, -1, 1};
        for (int m = 0; m < 3; m++) {
            assert_near((&cb[j].x)[m], sign[m] * (double)(&ca[i].x)[from[m]], 1e-5);
            for (int n = 0; n < 3; n++)
                assert_near(shape(rb[j], sb[j], m, n), sign[m] * sign[n] * shape(ra[i], sa[i], from[m], from[n]), 1e-3);
        }
    }
    rh_points_free(&points);
    rh_points_free(&a);
    rh_points_free(&b);
    rh_params_free(&rh_surfacing_table, &params);
    scratch_remove(&s);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    scratch s = scratch_make(), out = scratch_make();
    scratch_path one = scratch_at(&s, "p.0001.vdb"), two = scratch_at(&s, "p.0002.vdb");
    write_frame(one.text, 1, 0);
    write_frame(two.text, 2, 0.1f);
    rh_surfacing_params params;
    rh_status status = {0};
    assert_ok(rh_params_defaults(&rh_surfacing_table, &params, &status));
    params.mesh = true;
    int64_t before = rh_memory_bytes();
    rh_surface_task task = {.points = one.text, .next = two.text, .fraction = 0.5, .folder = out.folder, .frame = 1};
    rh_code code = RH_MEMORY;
    int failures = 0;
    for (; code != RH_OK; failures++) {
        status = (rh_status){0};
        rh_memory_fail_after(failures);
        code = rh_surface_frame(&params, &task, NULL, &status);
        rh_memory_fail_after(-1);
        if (code != RH_OK && code != RH_MEMORY) fail_msg("allocation %d: %s", failures, status.message);
        assert_int_equal(rh_memory_bytes(), before);
    }
    assert_true(failures > 10);
    assert_int_equal(scratch_count(&out), 2);
    rh_params_free(&rh_surfacing_table, &params);
    scratch_remove(&s);
    scratch_remove(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_in_names), cmocka_unit_test(through_the_public_header),
                                       cmocka_unit_test(results_are_told), cmocka_unit_test(z_up_turns_the_ellipsoids),
                                       cmocka_unit_test(memory_may_run_out)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
