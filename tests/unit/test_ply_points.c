// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Points as PLY: header and every record, byte by byte.


#include "check.h"
#include "base/memory.h"
#include "io/file.h"
#include "io/ply.h"
#include "unit/scratch.h"

static const char expected[] =
    "comment rheo_unit m\ncomment rheo_up z\ncomment rheo_frame 3\ncomment rheo_time 0.125\n"
    "comment rheo_fps 24\ncomment rheo_cell 0.5\nelement vertex 5000\n"
    "property float x\nproperty float y\nproperty float z\nproperty double id\n"
    "property float vx\nproperty float vy\nproperty float vz\n"
    "property float w_x\nproperty float w_y\nproperty float w_z\nproperty int kind\nproperty float radius\nend_header\n";

static rh_points make(void)
{
    rh_points points;
    rh_points_init(&points);
    float radius = 0.25f;
    rh_vec3 w = rh_v3(7, 8, 9);
    assert_int_equal(rh_points_add(&points, "id", RH_POINT_I64, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "P", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "v", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add_uniform(&points, "w", RH_POINT_VEC3F, &w, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "hidden", RH_POINT_F32, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "kind", RH_POINT_I32, NULL), RH_OK);
    assert_int_equal(rh_points_add_uniform(&points, "radius", RH_POINT_F32, &radius, NULL), RH_OK);
    rh_points_find(&points, "hidden")->transient = true;
    assert_int_equal(rh_points_resize(&points, 5000, NULL), RH_OK);  // more than one block
    for (int i = 0; i < 5000; i++) {
        ((rh_vec3 *)rh_points_data(&points, "P", RH_POINT_VEC3F))[i] = rh_v3((float)i, 1, 2);
        ((rh_vec3 *)rh_points_data(&points, "v", RH_POINT_VEC3F))[i] = rh_v3(3, (float)-i, 4);
        ((int64_t *)rh_points_data(&points, "id", RH_POINT_I64))[i] = ((int64_t)1 << 40) + i;
        ((int32_t *)rh_points_data(&points, "kind", RH_POINT_I32))[i] = -i;
    }
    return points;
}

static void records_are_exact(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.ply"), nowhere = scratch_at(&s, "no/a.ply");
    rh_points points = make();
    rh_frame_info info = {3, 0.125, 24, 0.5, 1, 1};
    rh_status status = {0};
    char *data;
    size_t bytes;
    assert_int_equal(rh_ply_write_points(path.text, &points, &info, &status), RH_OK);
    assert_int_equal(rh_file_read(path.text, 1 << 30, &data, &bytes, &status), RH_OK);
    assert_memory_equal(data, "ply\nformat binary_little_endian 1.0\n", 36);
    const char *rest = strstr(data, "comment rheo_unit");
    assert_non_null(rest);
    assert_memory_equal(rest, expected, sizeof expected - 1);
    const char *record = rest + sizeof expected - 1;
    assert_int_equal(bytes - (size_t)(record - data), 5000 * 52);
    for (int i = 0; i < 5000; i++, record += 52) {
        struct __attribute__((packed)) { float P[3]; double id; float v[3], w[3]; int32_t kind; float radius; } want = {
            {(float)i, -2, 1}, (double)(((int64_t)1 << 40) + i), {3, -4, (float)-i}, {7, -9, 8}, -i, 0.25f};
        assert_memory_equal(record, &want, sizeof want);
    }
    rh_free(data);
    assert_int_equal(rh_ply_write_points(nowhere.text, &points, &info, &status), RH_IO);
    rh_memory_fail_after(0);
    assert_int_equal(rh_ply_write_points(path.text, &points, &info, NULL), RH_MEMORY);
    rh_memory_fail_after(-1);
    rh_points_free(&points);
    assert_int_equal(rh_ply_write_points(path.text, &points, &info, NULL), RH_USER);
    assert_int_equal(scratch_count(&s), 1);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(records_are_exact)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
