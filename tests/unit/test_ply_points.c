// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Points as PLY: written byte by byte, read back from our files and from what others write.
#include "support.h"
#include "base/memory.h"
#include "io/file.h"
#include "io/ply.h"
#include "io/ply_parts.h"
#include "unit/scratch.h"

static const char expected[] = "comment rheo_unit m\ncomment rheo_up z\ncomment rheo_frame 3\ncomment rheo_time 0.125\n"
                               "comment rheo_fps 24\ncomment rheo_cell 0.5\nelement vertex 5000\n"
                               "property float x\nproperty float y\nproperty float z\nproperty double id\n"
                               "property float vx\nproperty float vy\nproperty float vz\n"
                               "property float w_x\nproperty float w_y\nproperty float w_z\nproperty int "
                               "kind\nproperty float radius\nend_header\n";

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
        struct __attribute__((packed)) {
            float P[3];
            double id;
            float v[3], w[3];
            int32_t kind;
            float radius;
        } want = {{(float)i, -2, 1}, (double)(((int64_t)1 << 40) + i), {3, -4, (float)-i}, {7, -9, 8}, -i, 0.25f};
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

// --- reading ---------------------------------------------------------------------------------------------------------

static void our_points_come_back(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.ply");
    rh_status status = {0};
    rh_points written = make(), read;
    float matrix[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_ok(rh_points_add_uniform(&written, "C", RH_POINT_MAT3F, matrix, &status));
    static const char *const groups[] = {"g_x", "g_y", "g_z"};  // not a vector
    for (int g = 0; g < 3; g++) {
        assert_ok(rh_points_add(&written, groups[g], RH_POINT_GROUP, &status));
        for (int i = 0; i < 5000; i += g + 2) ((uint8_t *)rh_points_data(&written, groups[g], RH_POINT_GROUP))[i] = 1;
    }
    rh_frame_info info = {3, 0.125, 30, 0.5, 0xfedcba9876543210ull, 0}, back;
    assert_ok(rh_ply_write_points(path.text, &written, &info, &status));
    rh_points_init(&read);
    assert_ok(rh_ply_read_points(path.text, &read, &back, &status));
    assert_true(rh_points_is_valid(&read));
    assert_true(support_same_facts(&back, &info));
    assert_int_equal(read.count, 5000);
    assert_int_equal(read.attribute_count, 10);
    assert_string_equal(read.attributes[0].name, "P");
    static const char *const names[] = {"P", "v", "w", "id", "kind", "radius", "C", "g_x", "g_y", "g_z"};
    for (int n = 0; n < 10; n++) {
        const rh_attribute *a = rh_points_find(&written, names[n]), *b = rh_points_find(&read, names[n]);
        assert_true(a && b && a->type == b->type);
        size_t size = rh_point_type_size(a->type);
        for (size_t i = 0; i < 5000; i++)
            assert_memory_equal((char *)a->data + (a->uniform ? 0 : i * size), (char *)b->data + i * size, size);
    }
    rh_points_free(&written);
    rh_points_free(&read);
    scratch_remove(&s);
}

static void groups_are_counted_in_the_header(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.ply");
    rh_points points = make();
    char *data;
    size_t bytes;
    rh_status status = {0};
    assert_ok(rh_points_add(&points, "spray", RH_POINT_GROUP, &status));
    for (int i = 0; i < 5000; i += 3) ((uint8_t *)rh_points_data(&points, "spray", RH_POINT_GROUP))[i] = 1;
    rh_frame_info info = {.fps = 24};
    assert_ok(rh_ply_write_points(path.text, &points, &info, &status));
    assert_ok(rh_file_read(path.text, 1 << 30, &data, &bytes, &status));
    assert_non_null(strstr(data, "\ncomment rheo_group spray 1667\n"));
    const char *end = strstr(data, "property uchar spray\nend_header\n");
    assert_non_null(end);
    assert_int_equal(bytes - (size_t)(strstr(end, "end_header") + 11 - data), 5000 * 53);
    rh_free(data);
    rh_points_free(&points);
    scratch_remove(&s);
}

static rh_points parse(const char *text, size_t bytes)
{
    rh_status status = {0};
    rh_points points;
    rh_points_init(&points);
    assert_ok(rh_ply_parse_points("test.ply", text, bytes, &points, NULL, &status));
    assert_true(rh_points_is_valid(&points));
    return points;
}

static void foreign_text_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "ply\nformat ascii 1.0\ncomment made by hand\nelement camera 1\nproperty float view\nelement vertex 3\n"
        "property uchar red\nproperty double z\nproperty float x\nproperty double y\nproperty list uchar int "
        "seen_by\nproperty float velocity_x\n"
        "property float velocity_y\nproperty float velocity_z\nproperty float nx\nproperty float ny\nproperty float "
        "nz\nproperty uint count\n"
        "property double pscale\nproperty float half_x\nproperty float x_axis\nelement face 1\nproperty list uchar int "
        "vertex_indices\nend_header\n"
        "42\n"
        "255 3 1 2 2 7 8 10 11 12 0 1 0 4000000000 0.25 5 6\n\n"
        "0 -nan 1e3 INF 0 10 11 12 0 1 0 1 -inf 5 6\n"
        "7 0 0 0 1 9 10 11 12 0 1 0 2 1e-3 5 6\nthe faces are not looked at";
    rh_points p = parse(text, sizeof text - 1);
    assert_int_equal(p.count, 3);
    assert_int_equal(p.attribute_count, 8);
    const rh_vec3 *P = rh_points_data(&p, "P", RH_POINT_VEC3F), *v = rh_points_data(&p, "v", RH_POINT_VEC3F),
                  *N = rh_points_data(&p, "N", RH_POINT_VEC3F);
    assert_true(P[0].x == 1 && P[0].y == 2 && P[0].z == 3 && P[1].x == 1000 && P[1].y == INFINITY && isnan(P[1].z));
    assert_true(v[2].x == 10 && v[2].y == 11 && v[2].z == 12 && N[1].y == 1);
    assert_int_equal(((int32_t *)rh_points_data(&p, "red", RH_POINT_I32))[0], 255);
    assert_true(((int64_t *)rh_points_data(&p, "count", RH_POINT_I64))[0] == 4000000000);
    const float *pscale = rh_points_data(&p, "pscale", RH_POINT_F32);  // a double of another program is a number
    assert_true(pscale[0] == 0.25f && pscale[1] == -INFINITY && pscale[2] == 1e-3f);
    assert_true(((float *)rh_points_data(&p, "half_x", RH_POINT_F32))[2] == 5 &&
                ((float *)rh_points_data(&p, "x_axis", RH_POINT_F32))[2] == 6);
    rh_points_free(&p);
}

static void big_endian_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "ply\nformat binary_big_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
        "property short kind\nend_header\n\x3f\x80\0\0\xc0\0\0\0\x7f\xc0\0\0\xff\xfe";
    rh_points p = parse(text, sizeof text - 1);
    const rh_vec3 *P = rh_points_data(&p, "P", RH_POINT_VEC3F);
    assert_true(p.count == 1 && P[0].x == 1 && P[0].y == -2 && isnan(P[0].z));
    assert_int_equal(((int32_t *)rh_points_data(&p, "kind", RH_POINT_I32))[0], -2);
    rh_points_free(&p);
}

static void awkward_headers_are_survived(void **state)
{
    (void)state;
    char text[16384] = "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float "
                       "z\nproperty float x\n"
                       "property float a_name_that_is_longer_than_any_attribute_may_be\nproperty float v\nproperty "
                       "float v_x\nproperty float v_y\nproperty float v_z\n";
    size_t length = strlen(text);
    for (int i = 0; i < 80; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "property int extra%d\n", i);
    length += (size_t)snprintf(text + length, sizeof text - length, "end_header\n");
    rh_points p = parse(text, length);  // with warnings
    assert_true(p.count == 0 && p.attribute_count == RH_POINTS_MAX_ATTRIBUTES);
    assert_int_equal(rh_points_find(&p, "v")->type, RH_POINT_F32);  // who comes first has the name
    rh_points_free(&p);
}

// A uchar is a number, whoever wrote it, unless our own header calls it a group.
static void only_our_comment_makes_a_group(void **state)
{
    (void)state;
    static const char *const head = "ply\nformat ascii 1.0\n",
                             *const tail =
                                 "element vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
                                 "property uchar red\nproperty uchar wet\nend_header\n0 0 0 200 1\n0 0 0 7 0\n";
    static const char *const comments[] = {"", "comment rheo_version 1\n", "comment rheo_group wet 1\n",
                                           "comment rheo_group wet 1\ncomment rheo_version 1\n"};
    for (int k = 0; k < 4; k++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s%s", head, comments[k], tail);
        rh_points p = parse(text, strlen(text));
        assert_int_equal(((int32_t *)rh_points_data(&p, "red", RH_POINT_I32))[0], 200);
        if (k < 3) assert_int_equal(((int32_t *)rh_points_data(&p, "wet", RH_POINT_I32))[0], 1);
        else assert_memory_equal(rh_points_data(&p, "wet", RH_POINT_GROUP), "\1\0", 2);
        rh_points_free(&p);
    }
}

static void refuse(const char *text, const char *words)
{
    rh_status status = {0};
    rh_points points;
    rh_points_init(&points);
    assert_int_equal(rh_ply_parse_points("test.ply", text, strlen(text), &points, NULL, &status), RH_USER);
    if (!strstr(status.message, words)) print_error("found: %s\nexpected: %s\n", status.message, words);
    assert_non_null(strstr(status.message, words));
    assert_true(points.attribute_count == 0 && points.count == 0);
}

#define XYZ "property float x\nproperty float y\nproperty float z\n"
static void mistakes_are_named(void **state)
{
    (void)state;
    refuse("", "test.ply:1:1: found end of file, expected 'ply'");
    refuse("ply\nformat ascii 1.0\nelement face 0\nend_header\n", "found no element 'vertex'");
    refuse("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n",
           "test.ply:3:9: found element vertex without properties x, y and z");
    refuse("ply\nformat ascii 1.0\nelement vertex 1\n" XYZ "end_header\n1 2 three\n",
           "test.ply:8:5: found 'three', expected a number");
    refuse("ply\nformat ascii 1.0\nelement vertex 2\n" XYZ "end_header\n1 2 3.000000\n",
           "test.ply:9:1: found end of file, expected 2 records of element vertex");
    refuse("ply\nformat ascii 1.0\nelement vertex 1000\n" XYZ "end_header\n1 2 3\n",
           "found a count of 1000, expected at most");
    refuse("ply\nformat binary_little_endian 1.0\nelement vertex 2\n" XYZ "end_header\n0123456789012345678901",
           "found a count of 2, expected at most 1");
    refuse("ply\nformat binary_little_endian 1.0\nelement vertex 1\n" XYZ
           "property list uchar int l\nend_header\n012345678901\x02"
           "0123",
           "byte ");
    refuse("ply\nformat ascii 1.0\nelement vertex 1\n" XYZ "property int k\nend_header\n1 2 3 3000000000\n",
           "found 3e+09 for property 'k', expected a whole number of 32 bits");
    refuse("ply\nformat ascii 1.0\ncomment rheo_version 1\ncomment rheo_group k 1\nelement vertex 1\n" XYZ
           "property uchar k\nend_header\n1 2 3 2\n",
           "vertex 0: found 2 for property 'k', expected 0 or 1");
    rh_points points;
    rh_points_init(&points);
    assert_int_equal(rh_ply_read_points("no/such.ply", &points, NULL, NULL), RH_IO);
}

static void reading_survives_failing_memory(void **state)
{
    (void)state;
    static const char text[] = "ply\nformat ascii 1.0\nelement vertex 2\n" XYZ
                               "property int k\nend_header\n1 2 3 4\n5 6 7 8\n";
    rh_code code = RH_MEMORY;
    int tries = 0;
    for (; code != RH_OK; tries++) {
        rh_points points;
        rh_points_init(&points);
        rh_memory_fail_after(tries);
        code = rh_ply_parse_points("test.ply", text, sizeof text - 1, &points, NULL, NULL);
        rh_memory_fail_after(-1);
        assert_true(code == RH_OK || (code == RH_MEMORY && points.attribute_count == 0));
        rh_points_free(&points);
    }
    assert_true(tries > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_exact),
        cmocka_unit_test(our_points_come_back),
        cmocka_unit_test(groups_are_counted_in_the_header),
        cmocka_unit_test(only_our_comment_makes_a_group),
        cmocka_unit_test(foreign_text_is_read),
        cmocka_unit_test(big_endian_is_read),
        cmocka_unit_test(awkward_headers_are_survived),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(reading_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
