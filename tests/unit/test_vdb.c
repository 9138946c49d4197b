// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Points through OpenVDB and back: every value, uniform and transient attributes, axes, limits, damaged files.
#include "check.h"
#include <signal.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "io/file.h"
#include "io/vdb.h"
#include "unit/foreign_vdb.h"
#include "unit/scratch.h"

static const rh_frame_info facts = {7, 0.25, 24, 0.05, 0xfedcba9876543210ull, 0};

static rh_points make(int64_t count)
{
    rh_points points;
    rh_points_init(&points);
    float radius = 0.0125f;
    assert_int_equal(rh_points_add(&points, "id", RH_POINT_I64, NULL), RH_OK);  // P need not come first
    assert_int_equal(rh_points_add(&points, "P", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "v", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "age", RH_POINT_F32, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "kind", RH_POINT_I32, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "C", RH_POINT_MAT3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "scratch", RH_POINT_F32, NULL), RH_OK);
    assert_int_equal(rh_points_add_uniform(&points, "radius", RH_POINT_F32, &radius, NULL), RH_OK);
    rh_points_find(&points, "scratch")->transient = true;
    assert_int_equal(rh_points_resize(&points, count, NULL), RH_OK);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    int64_t *id = rh_points_data(&points, "id", RH_POINT_I64);
    float *age = rh_points_data(&points, "age", RH_POINT_F32), *C = rh_points_data(&points, "C", RH_POINT_MAT3F);
    int32_t *kind = rh_points_data(&points, "kind", RH_POINT_I32);
    for (int64_t i = 0; i < count; i++) {
        uint64_t u = (uint64_t)i;
        P[i] = rh_v3(2 * rh_random(1, u, 0, 0) - 1, 3 * rh_random(1, u, 0, 1) - 1, rh_random(1, u, 0, 2) - 0.5f);
        v[i] = rh_v3(rh_random(2, u, 0, 0), -rh_random(2, u, 0, 1), 5);
        id[i] = ((int64_t)1 << 40) + i;
        age[i] = rh_random(3, u, 0, 0);
        kind[i] = -(int32_t)i;
        for (int k = 0; k < 9; k++) C[9 * i + k] = (float)(100 * i + k);
    }
    return points;
}

// Point of `points` with this id, by search from a guess (ids are unique).
static int64_t *index_by_id(const rh_points *points, int64_t count)
{
    const int64_t *id = rh_points_data(points, "id", RH_POINT_I64);
    int64_t *index = malloc((size_t)count * sizeof *index);
    for (int64_t i = 0; i < count; i++) index[i] = -1;
    for (int64_t i = 0; i < points->count; i++) {
        int64_t key = id[i] - ((int64_t)1 << 40);
        assert_true(key >= 0 && key < count && index[key] == -1);
        index[key] = i;
    }
    return index;
}

static void assert_near(rh_vec3 a, rh_vec3 b, float cell)
{
    const float *p = &a.x, *q = &b.x;
    for (int k = 0; k < 3; k++) assert_true(fabsf(p[k] - q[k]) <= 1.2e-7f * fabsf(q[k]) + 0x1p-25f * cell);
}

static void compare(const rh_points *written, const rh_points *read, bool turned)
{
    assert_int_equal(read->count, written->count);
    int64_t *index = index_by_id(read, written->count);
    static const char *const exact[] = {"age", "kind", "C"};
    for (int e = 0; e < 3; e++) {
        const rh_attribute *a = rh_points_find(written, exact[e]), *b = rh_points_find(read, exact[e]);
        assert_true(b && b->type == a->type && !b->uniform);
        size_t size = rh_point_type_size(a->type);
        for (int64_t i = 0; i < written->count; i++)
            assert_memory_equal((char *)a->data + (size_t)i * size, (char *)b->data + (size_t)index[i] * size, size);
    }
    const rh_vec3 *P = rh_points_data(written, "P", RH_POINT_VEC3F), *Q = rh_points_data(read, "P", RH_POINT_VEC3F);
    const rh_vec3 *v = rh_points_data(written, "v", RH_POINT_VEC3F), *w = rh_points_data(read, "v", RH_POINT_VEC3F);
    for (int64_t i = 0; i < written->count; i++) {
        rh_vec3 p = P[i], u = v[i];
        if (turned) p = rh_v3(p.x, -p.z, p.y), u = rh_v3(u.x, -u.z, u.y);
        assert_near(Q[index[i]], p, (float)facts.cell);
        assert_memory_equal(&w[index[i]], &u, sizeof u);
    }
    const rh_attribute *radius = rh_points_find(read, "radius");
    assert_true(radius && radius->uniform && *(float *)radius->data == 0.0125f);
    assert_null(rh_points_find(read, "scratch"));
    free(index);
}

static void round_trip(int64_t count, int z_up)
{
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "points.0007.vdb");
    rh_status status = {0};
    rh_points written = make(count), read;
    rh_points_init(&read);
    rh_frame_info info = facts, back = {0};
    info.z_up = z_up;
    assert_int_equal(rh_vdb_write_points(path.text, &written, &info, &status), RH_OK);
    assert_int_equal(scratch_count(&s), 1);
    assert_int_equal(rh_vdb_read_points(path.text, &read, &back, &status), RH_OK);
    assert_true(rh_points_is_valid(&read));
    compare(&written, &read, z_up);
    assert_int_equal(back.frame, 7);
    assert_true(back.time == 0.25 && back.fps == 24 && back.cell == 0.05);
    assert_true(back.scene_hash == facts.scene_hash && back.z_up == z_up);
    char *text = rh_vdb_describe(path.text, &status);
    assert_non_null(text);
    assert_non_null(strstr(text, "points: ptdataidx32"));
    assert_non_null(strstr(text, "radius:float"));
    rh_free(text);
    rh_points_free(&written);
    rh_points_free(&read);
    scratch_remove(&s);
}

static void values_come_back(void **state)
{
    (void)state;
    round_trip(20000, 0);
}
static void z_up_turns_vectors(void **state)
{
    (void)state;
    round_trip(3000, 1);
}
static void one_point(void **state)
{
    (void)state;
    round_trip(1, 0);
}

static void no_point(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "empty.vdb");
    rh_points written = make(0), read;
    rh_points_init(&read);
    rh_frame_info back;
    assert_int_equal(rh_vdb_write_points(path.text, &written, &facts, NULL), RH_OK);
    assert_int_equal(rh_vdb_read_points(path.text, &read, &back, NULL), RH_OK);
    assert_int_equal(read.count, 0);
    assert_int_equal(back.frame, 7);
    assert_non_null(rh_points_find(&read, "P"));
    char *text = rh_vdb_describe(path.text, NULL);
    assert_non_null(strstr(text, " 0 points"));
    rh_free(text);
    rh_points_free(&written);
    rh_points_free(&read);
    scratch_remove(&s);
}

static bool in_group(int g, int64_t key)
{
    return g == 3 ? false : g == 4 ? true : rh_random_bits(11, (uint64_t)key, (uint32_t)g, 0) % (uint32_t)(g + 2) == 0;
}

// Enough for four bytes of bits; one is empty, one has all, one is uniform, one is not for files.
static rh_points make_groups(int64_t count, int groups)
{
    rh_points points = make(count);
    char name[16];
    uint8_t all = 1;
    for (int g = 0; g < groups; g++) {
        snprintf(name, sizeof name, "g%02d", g);
        assert_int_equal(rh_points_add(&points, name, RH_POINT_GROUP, NULL), RH_OK);
        uint8_t *member = rh_points_data(&points, name, RH_POINT_GROUP);
        for (int64_t i = 0; i < count; i++) member[i] = in_group(g, i);
    }
    assert_int_equal(rh_points_add_uniform(&points, "everyone", RH_POINT_GROUP, &all, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "mine", RH_POINT_GROUP, NULL), RH_OK);
    rh_points_find(&points, "mine")->transient = true;
    return points;
}

static void check_groups(int64_t count, int groups)
{
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "groups.vdb");
    rh_points written = make_groups(count, groups), read;
    rh_points_init(&read);
    assert_int_equal(rh_vdb_write_points(path.text, &written, &facts, NULL), RH_OK);
    assert_int_equal(rh_vdb_read_points(path.text, &read, NULL, NULL), RH_OK);
    assert_true(rh_points_is_valid(&read));
    compare(&written, &read, false);
    assert_int_equal(read.attribute_count, written.attribute_count - 2);  // without scratch and mine
    int64_t *index = index_by_id(&read, count);
    char name[16], words[64], *text = rh_vdb_describe(path.text, NULL);
    for (int g = 0; g < groups; g++) {
        int64_t size = 0;
        snprintf(name, sizeof name, "g%02d", g);
        const rh_attribute *group = rh_points_find(&read, name);
        assert_true(group && group->type == RH_POINT_GROUP && !group->uniform);
        for (int64_t i = 0; i < count; size += in_group(g, i), i++)
            assert_int_equal(((const uint8_t *)group->data)[index[i]], in_group(g, i));
        snprintf(words, sizeof words, ", group %s of %lld points", name, (long long)size);
        assert_non_null(strstr(text, words));
    }
    assert_int_equal(rh_points_group_size(&read, rh_points_find(&read, "everyone")), count);
    assert_null(strstr(text, "__group"));
    rh_free(text);
    free(index);
    rh_points_free(&written);
    rh_points_free(&read);
    scratch_remove(&s);
}

static void groups_come_back(void **state)
{
    (void)state;
    check_groups(20000, 32);
    check_groups(300, 7);  // with the uniform one exactly a byte
    check_groups(1, 8);
}

static void order_in_the_file_does_not_depend_on_threads(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.vdb");
    rh_points written = make_groups(50000, 9), first, read;
    for (int threads = 1; threads <= 4; threads++) {
        rh_points_init(&read);
        rh_threads_set(threads);
        assert_int_equal(rh_vdb_write_points(path.text, &written, &facts, NULL), RH_OK);
        assert_int_equal(rh_vdb_read_points(path.text, &read, NULL, NULL), RH_OK);
        if (threads == 1) {
            first = read;
            continue;
        }
        for (int a = 0; a < read.attribute_count; a++) {
            size_t size = rh_point_type_size(read.attributes[a].type);
            size_t bytes = read.attributes[a].uniform ? size : size * (size_t)read.count;
            assert_memory_equal(read.attributes[a].data, first.attributes[a].data, bytes);
        }
        rh_points_free(&read);
    }
    rh_threads_set(0);
    rh_points_free(&first);
    rh_points_free(&written);
    scratch_remove(&s);
}

static void what_cannot_be_written_is_said(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.vdb"), nowhere = scratch_at(&s, "no/a.vdb");
    rh_status status = {0};
    rh_points points = make(100);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F);
    P[42].y = NAN;
    P[77].x = INFINITY;
    assert_int_equal(rh_vdb_write_points(path.text, &points, &facts, &status), RH_NUMERIC);
    assert_non_null(strstr(status.message, "point 42 "));
    P[42].y = 1e30f;
    P[77].x = 0;
    assert_int_equal(rh_vdb_write_points(path.text, &points, &facts, NULL), RH_NUMERIC);
    P[42].y = (float)(0.05 * ((1 << 23) - 1));  // the farthest
    assert_int_equal(rh_vdb_write_points(path.text, &points, &facts, NULL), RH_OK);
    rh_points read;
    rh_points_init(&read);
    assert_int_equal(rh_vdb_read_points(path.text, &read, NULL, NULL), RH_OK);
    compare(&points, &read, false);
    rh_points_free(&read);
    rh_status_clear(&status);
    assert_int_equal(rh_vdb_write_points(nowhere.text, &points, &facts, &status), RH_IO);
    assert_non_null(strstr(status.message, "No such file"));
    rh_frame_info wrong = facts;
    wrong.cell = 0;
    assert_int_equal(rh_vdb_write_points(path.text, &points, &wrong, NULL), RH_USER);
    rh_points none;
    rh_points_init(&none);
    assert_int_equal(rh_vdb_write_points(path.text, &none, &facts, NULL), RH_USER);
    rh_points_free(&points);
    assert_int_equal(scratch_count(&s), 1);
    scratch_remove(&s);
}

static void a_full_disk_is_noticed(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.vdb");
    rh_status status = {0};
    rh_points points = make(20000);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    rh_code code = rh_vdb_write_points(path.text, &points, &facts, &status);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(code, RH_IO);
    assert_non_null(strstr(status.message, "cannot write"));
    assert_int_equal(scratch_count(&s), 0);
    rh_points_free(&points);
    scratch_remove(&s);
}

static void expect_refusal(const char *path, const void *data, size_t bytes, rh_code code, const char *words)
{
    rh_status status = {0};
    rh_points read;
    rh_points_init(&read);
    if (data) assert_int_equal(rh_file_write(path, data, bytes, NULL), RH_OK);
    assert_int_equal(rh_vdb_read_points(path, &read, NULL, &status), code);
    assert_non_null(strstr(status.message, words));
    assert_non_null(strstr(status.message, path));
    assert_int_equal(read.attribute_count, 0);
    assert_null(rh_vdb_describe(path, NULL));
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path good = scratch_at(&s, "good.vdb"), bad = scratch_at(&s, "bad.vdb"), none = scratch_at(&s, "none.vdb");
    rh_points points = make(5000);
    char *data;
    size_t bytes;
    assert_int_equal(rh_vdb_write_points(good.text, &points, &facts, NULL), RH_OK);
    assert_int_equal(rh_file_read(good.text, 1 << 30, &data, &bytes, NULL), RH_OK);
    expect_refusal(none.text, NULL, 0, RH_IO, "No such file");
    expect_refusal(bad.text, "", 0, RH_USER, "not an OpenVDB file");
    expect_refusal(bad.text, "ply\nformat ascii 1.0\n", 21, RH_USER, "not an OpenVDB file");
    for (size_t cut = 1; cut < 40; cut++)  // every truncation must be noticed, wherever it falls
        expect_refusal(bad.text, data, bytes * cut / 40, RH_USER, cut < 2 ? "" : "damaged");
    for (size_t end = 17; end < 24; end++) expect_refusal(bad.text, data, bytes - end, RH_USER, "damaged");
    for (uint32_t flip = 0; flip < 300; flip++) {
        size_t byte = rh_random_bits(5, flip, 0, 0) % (bytes - 16);
        data[byte] ^= (char)(1 << flip % 8);
        expect_refusal(bad.text, data, bytes, RH_USER, byte < 8 ? "not an OpenVDB file" : "");
        data[byte] ^= (char)(1 << flip % 8);
    }
    rh_free(data);
    rh_points_free(&points);
    scratch_remove(&s);
}

static void running_out_of_memory(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.vdb");
    rh_points points = make(100), read;
    assert_int_equal(rh_vdb_write_points(path.text, &points, &facts, NULL), RH_OK);
    rh_points_free(&points);
    rh_code code = RH_MEMORY;
    int tries = 0;
    for (; code != RH_OK; tries++) {
        rh_points_init(&read);
        rh_memory_fail_after(tries);
        code = rh_vdb_read_points(path.text, &read, NULL, NULL);
        rh_memory_fail_after(-1);
        assert_true(code == RH_MEMORY || code == RH_OK);
    }
    assert_true(tries > 5);
    rh_points_free(&read);
    rh_memory_fail_after(0);
    assert_null(rh_vdb_describe(path.text, NULL));
    rh_memory_fail_after(-1);
    scratch_remove(&s);
}

// Houdini's packing: positions within 2^-16 of a voxel, halves within 2^-11 of the value, directions within a degree.
static void packed_points_are_read(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "packed.vdb");
    rh_status status = {0};
    rh_points read;
    rh_points_init(&read);
    foreign_points(path.text, COUNT);
    assert_int_equal(rh_vdb_read_points(path.text, &read, NULL, &status), RH_OK);
    assert_int_equal(read.count, COUNT);
    const rh_vec3 *P = rh_points_data(&read, "P", RH_POINT_VEC3F), *v = rh_points_data(&read, "v", RH_POINT_VEC3F),
                  *N = rh_points_data(&read, "N", RH_POINT_VEC3F);
    const float *pscale = rh_points_data(&read, "pscale", RH_POINT_F32);
    for (int i = 0; i < COUNT; i++) {
        float place[3], speed[3];
        foreign_point(i, place, speed);
        rh_vec3 p = rh_v3(place[0], place[1], place[2]), u = rh_v3(speed[0], speed[1], speed[2]);
        int64_t at = 0;
        while (at < COUNT && rh_v3_length(rh_v3_sub(P[at], p)) > 5e-6f) at++;
        assert_true(at < COUNT);
        assert_true(rh_v3_length(rh_v3_sub(v[at], u)) < 1e-3f);
        assert_true(fabsf(pscale[at] / foreign_size(i) - 1) < 1e-3f);
        assert_true(rh_v3_dot(N[at], u) / rh_v3_length(u) > 0.999f);
    }
    assert_int_equal(rh_points_group_size(&read, rh_points_find(&read, "fast")), foreign_fast(COUNT));
    const uint8_t *fast = rh_points_data(&read, "fast", RH_POINT_GROUP);
    for (int i = 0; i < COUNT; i++) assert_true(fast[i] == (pscale[i] > 0.02f) || fabsf(pscale[i] - 0.02f) < 1e-4f);
    char *text = rh_vdb_describe(path.text, &status);
    assert_non_null(strstr(text, "fluid: ptdataidx32"));
    assert_non_null(strstr(text, "pscale:float"));
    rh_free(text);
    rh_points_free(&read);
    scratch_remove(&s);
}

// In the file a name is followed by its place among the arrays of a leaf (of a group: its bit). A place that is not
// there must not end the process.
static void places_that_no_leaf_has(void **state)
{
    (void)state;
    static const char *const names[] = {"pscale", "fast", "P"};
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.vdb");
    for (int n = 0; n < 3; n++) {
        char *data, key[16] = {0};
        size_t bytes, length = strlen(names[n]);
        rh_points read;
        rh_points_init(&read);
        foreign_points(path.text, 100);
        assert_int_equal(rh_file_read(path.text, 1 << 30, &data, &bytes, NULL), RH_OK);
        key[0] = (char)length;  // a string is its length in 32 bits and its letters
        memcpy(key + 4, names[n], length);
        char *found = memmem(data, bytes, key, 4 + length);
        assert_non_null(found);
        found[4 + length] = 100;
        assert_int_equal(rh_file_write(path.text, data, bytes, NULL), RH_OK);
        rh_code code = rh_vdb_read_points(path.text, &read, NULL, NULL);
        assert_true(code == RH_USER || (code == RH_OK && !rh_points_find(&read, names[n])));
        rh_free(rh_vdb_describe(path.text, NULL));
        rh_points_free(&read);
        rh_free(data);
    }
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(z_up_turns_vectors),
        cmocka_unit_test(one_point),
        cmocka_unit_test(no_point),
        cmocka_unit_test(groups_come_back),
        cmocka_unit_test(order_in_the_file_does_not_depend_on_threads),
        cmocka_unit_test(what_cannot_be_written_is_said),
        cmocka_unit_test(a_full_disk_is_noticed),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(running_out_of_memory),
        cmocka_unit_test(packed_points_are_read),
        cmocka_unit_test(places_that_no_leaf_has),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
