// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Checkpoints: everything comes back to the bit; damage, foreign files and a full disk are noticed. A few hundred
// mutations of a good file must all be refused.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>

#include <cmocka.h>
#include <hdf5.h>

#include "base/hash.h"
#include "base/memory.h"
#include "io/checkpoint.h"
#include "io/file.h"
#include "io/seal.h"
#include "unit/scratch.h"

static const uint64_t scene = 0xfedcba9876543210ull;

static rh_points make(int64_t count)
{
    rh_points points;
    rh_points_init(&points);
    float radius = 0.0125f, m[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_int_equal(rh_points_add(&points, "v", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "P", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "id", RH_POINT_I64, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "kind", RH_POINT_I32, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "C", RH_POINT_MAT3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "age", RH_POINT_F32, NULL), RH_OK);
    assert_int_equal(rh_points_add_uniform(&points, "radius", RH_POINT_F32, &radius, NULL), RH_OK);
    assert_int_equal(rh_points_add_uniform(&points, "stretch", RH_POINT_MAT3F, m, NULL), RH_OK);
    uint8_t all = 1;
    assert_int_equal(rh_points_add(&points, "spray", RH_POINT_GROUP, NULL), RH_OK);
    assert_int_equal(rh_points_add_uniform(&points, "everyone", RH_POINT_GROUP, &all, NULL), RH_OK);
    rh_points_find(&points, "C")->transient = true;
    assert_int_equal(rh_points_resize(&points, count, NULL), RH_OK);
    for (int a = 0; a < 6; a++) {
        unsigned char *bytes = points.attributes[a].data;  // any bits, NaN and -0 among them
        size_t total = rh_point_type_size(points.attributes[a].type) * (size_t)count;
        for (size_t i = 0; i < total; i++) bytes[i] = (unsigned char)rh_random_bits(9, i, (uint32_t)a, 0);
    }
    for (int64_t i = 0; i < count; i += 3) ((uint8_t *)rh_points_data(&points, "spray", RH_POINT_GROUP))[i] = 1;
    return points;
}

static rh_code save(const char *path, const rh_points *points, rh_status *status)
{
    rh_checkpoint_writer *w;
    RH_TRY(rh_checkpoint_create(path, scene, &w, status));
    rh_code code = rh_checkpoint_put_points(w, points, status);
    if (code == RH_OK) code = rh_checkpoint_put_int(w, "frame", INT64_MIN + 5, status);
    if (code == RH_OK) code = rh_checkpoint_put_float(w, "time", 0.1, status);
    if (code == RH_OK) code = rh_checkpoint_put_blob(w, "liquid", "a\0b", 3, status);
    if (code == RH_OK) code = rh_checkpoint_put_blob(w, "deep/er", "", 0, status);
    if (code == RH_OK) return rh_checkpoint_commit(w, status);
    rh_checkpoint_abandon(w);
    return code;
}

static bool same_points(const rh_points *a, const rh_points *b)
{
    if (a->count != b->count || a->attribute_count != b->attribute_count) return false;
    for (int i = 0; i < a->attribute_count; i++) {
        const rh_attribute *x = &a->attributes[i], *y = &b->attributes[i];
        size_t bytes = rh_point_type_size(x->type) * (x->uniform ? 1 : (size_t)a->count);
        if (strcmp(x->name, y->name) != 0 || x->type != y->type || x->uniform != y->uniform) return false;
        if (x->transient != y->transient || memcmp(x->data, y->data, bytes) != 0) return false;
    }
    return true;
}

// Reads all and compares; false when the reader refused. Wrong data fails the test.
static bool load_and_compare(const char *path, const rh_points *expected, rh_status *status)
{
    rh_checkpoint_reader *r;
    uint64_t hash = 0;
    rh_points points;
    rh_points_init(&points);
    int64_t frame = 0;
    double time = 0;
    void *blob = NULL, *empty = NULL;
    size_t bytes = 0, none = 1;
    if (rh_checkpoint_open(path, &r, &hash, status) != RH_OK) return false;
    assert_true(hash == scene);
    bool good = rh_checkpoint_get_points(r, &points, status) == RH_OK &&
                rh_checkpoint_get_int(r, "frame", &frame, status) == RH_OK &&
                rh_checkpoint_get_float(r, "time", &time, status) == RH_OK &&
                rh_checkpoint_get_blob(r, "liquid", &blob, &bytes, status) == RH_OK &&
                rh_checkpoint_get_blob(r, "deep/er", &empty, &none, status) == RH_OK;
    if (good) {
        assert_true(same_points(expected, &points));
        assert_true(frame == INT64_MIN + 5 && time == 0.1 && bytes == 3 && none == 0);
        assert_memory_equal(blob, "a\0b", 3);
    }
    rh_free(blob);
    rh_free(empty);
    rh_points_free(&points);
    rh_checkpoint_close(r);
    return good;
}

static void state_comes_back_to_the_bit(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "c.h5");
    static const int64_t counts[] = {0, 1, 1000, 500000};  // the last spans several chunks
    for (int i = 0; i < 4; i++) {
        rh_status status = {0};
        rh_points points = make(counts[i]);
        assert_int_equal(save(path.text, &points, &status), RH_OK);
        assert_int_equal(scratch_count(&s), 1);
        assert_true(load_and_compare(path.text, &points, &status));
        rh_points_free(&points);
    }
    char *text = rh_checkpoint_describe(path.text, NULL);
    assert_non_null(strstr(text, "scene_hash: fedcba9876543210"));
    assert_non_null(strstr(text, "points: 500000"));
    assert_non_null(strstr(text, "points/radius: float, the same for all"));
    assert_non_null(strstr(text, "points/spray: group of 166667 points\n"));
    assert_non_null(strstr(text, "points/everyone: group of 500000 points, the same for all\n"));
    assert_non_null(strstr(text, "state/liquid: 3 bytes"));
    rh_free(text);
    scratch_remove(&s);
}

static void a_group_holds_only_0_and_1(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "c.h5");
    rh_status status = {0};
    rh_points points = make(10), read;
    ((uint8_t *)rh_points_data(&points, "spray", RH_POINT_GROUP))[9] = 2;
    assert_int_equal(save(path.text, &points, &status), RH_OK);
    rh_checkpoint_reader *r;
    uint64_t hash;
    rh_points_init(&read);
    assert_int_equal(rh_checkpoint_open(path.text, &r, &hash, &status), RH_OK);
    assert_int_equal(rh_checkpoint_get_points(r, &read, &status), RH_USER);
    assert_non_null(strstr(status.message, "damaged: dataset spray"));
    assert_int_equal(read.attribute_count, 0);
    rh_checkpoint_close(r);
    rh_points_free(&points);
    scratch_remove(&s);
}

// A file from before there were groups, kept for the fuzzer.
static void an_old_checkpoint_loads(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_checkpoint_reader *r;
    uint64_t hash;
    rh_points points;
    rh_points_init(&points);
    assert_int_equal(rh_checkpoint_open(RHEO_SOURCE_DIR "/tests/fuzz/corpus/checkpoint/small.h5", &r, &hash, &status),
                     RH_OK);
    assert_int_equal(rh_checkpoint_get_points(r, &points, &status), RH_OK);
    assert_true(rh_points_is_valid(&points));
    assert_true(points.count > 0 && rh_points_find(&points, "P"));
    rh_points_free(&points);
    rh_checkpoint_close(r);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "c.h5");
    rh_points points = make(10);
    rh_checkpoint_reader *r;
    uint64_t hash;
    int64_t whole;
    double real;
    void *blob;
    size_t bytes;
    rh_status status = {0};
    assert_int_equal(save(path.text, &points, &status), RH_OK);
    assert_int_equal(rh_checkpoint_open(path.text, &r, &hash, &status), RH_OK);
    assert_int_equal(rh_checkpoint_get_blob(r, "nothing", &blob, &bytes, &status), RH_IO);
    assert_non_null(strstr(status.message, "no state 'nothing'"));
    assert_int_equal(rh_checkpoint_get_int(r, "time", &whole, NULL), RH_IO);  // a float under that name
    assert_int_equal(rh_checkpoint_get_float(r, "frame", &real, NULL), RH_IO);
    assert_int_equal(rh_checkpoint_get_int(r, "none", &whole, NULL), RH_IO);
    rh_checkpoint_close(r);
    rh_points_free(&points);
    scratch_remove(&s);
}

static void abandoned_leaves_nothing(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "c.h5"), nowhere = scratch_at(&s, "no/c.h5");
    rh_points points = make(1000);
    rh_checkpoint_writer *w;
    rh_status status = {0};
    assert_int_equal(rh_checkpoint_create(path.text, scene, &w, &status), RH_OK);
    assert_int_equal(rh_checkpoint_put_points(w, &points, &status), RH_OK);
    assert_int_equal(rh_checkpoint_put_int(w, "format", 2, NULL), RH_IO);  // taken
    rh_checkpoint_abandon(w);
    assert_int_equal(scratch_count(&s), 0);
    assert_int_equal(rh_checkpoint_create(nowhere.text, scene, &w, &status), RH_IO);
    assert_non_null(strstr(status.message, "No such file"));
    points.attributes[0].name[0] = '/';
    assert_int_equal(save(path.text, &points, NULL), RH_USER);
    assert_int_equal(scratch_count(&s), 0);
    rh_points_free(&points);
    scratch_remove(&s);
}

static void a_full_disk_is_noticed(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "c.h5");
    rh_points points = make(30000), small_points = make(5);
    rh_status status = {0};
    assert_int_equal(save(path.text, &small_points, &status), RH_OK);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 0; limit < 2200000; limit = limit * 3 / 2 + 300) {  // it may fill up at any moment
        rh_status_clear(&status);
        small.rlim_cur = limit;
        setrlimit(RLIMIT_FSIZE, &small);
        rh_code code = save(path.text, &points, &status);
        setrlimit(RLIMIT_FSIZE, &before);
        if (code == RH_OK) fail_msg("a checkpoint of 2.3 MB fitted into %lu bytes", (unsigned long)limit);
        assert_int_equal(code, RH_IO);
        assert_non_null(strstr(status.message, "File too large"));
        assert_int_equal(scratch_count(&s), 1);
    }
    rh_status_clear(&status);
    assert_true(load_and_compare(path.text, &small_points, &status));  // the old one still stands
    rh_points_free(&points);
    rh_points_free(&small_points);
    scratch_remove(&s);
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "f.h5"), none = scratch_at(&s, "none.h5");
    rh_checkpoint_reader *r;
    uint64_t hash;
    rh_status status = {0};
    assert_int_equal(rh_checkpoint_open(none.text, &r, &hash, &status), RH_IO);
    assert_non_null(strstr(status.message, "No such file"));
    static const char *const texts[] = {"", "x", "some text that is long enough", "\211HDF\r\n\032\n"};
    for (int i = 0; i < 4; i++) {
        rh_status_clear(&status);
        assert_int_equal(rh_file_write(path.text, texts[i], strlen(texts[i]), NULL), RH_OK);
        assert_int_equal(rh_checkpoint_open(path.text, &r, &hash, &status), RH_USER);
        assert_non_null(strstr(status.message, "not a Rheo checkpoint"));
    }
    hid_t file = H5Fcreate(path.text, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    for (int sealed = 0; sealed < 2; sealed++) {
        rh_status_clear(&status);
        assert_int_equal(rh_checkpoint_open(path.text, &r, &hash, &status), RH_USER);
        assert_non_null(strstr(status.message, "not a Rheo checkpoint"));
        assert_int_equal(rh_seal_write(path.text, NULL), RH_OK);
    }
    assert_null(rh_checkpoint_describe(path.text, NULL));
    scratch_remove(&s);
}

static void set_root_int(const char *path, const char *name, int64_t value)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), attribute = H5Aopen(file, name, H5P_DEFAULT);
    assert_true(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, &value) >= 0);
    H5Aclose(attribute);
    H5Fclose(file);
    assert_int_equal(rh_seal_write(path, NULL), RH_OK);
}

static void version_and_end_are_checked(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "c.h5");
    rh_points points = make(10);
    rh_status status = {0};
    assert_int_equal(save(path.text, &points, &status), RH_OK);
    set_root_int(path.text, "format", 99);
    assert_false(load_and_compare(path.text, &points, &status));
    assert_non_null(strstr(status.message, "format 99"));
    rh_status_clear(&status);
    set_root_int(path.text, "format", 1);
    set_root_int(path.text, "complete", 0);
    assert_false(load_and_compare(path.text, &points, &status));
    assert_non_null(strstr(status.message, "not written to its end"));
    rh_points_free(&points);
    scratch_remove(&s);
}

static void a_flip_in_the_data_is_noticed_twice(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "c.h5");
    rh_points points = make(5000);
    char *data;
    size_t bytes;
    rh_status status = {0};
    assert_int_equal(save(path.text, &points, &status), RH_OK);
    assert_int_equal(rh_file_read(path.text, 1 << 30, &data, &bytes, NULL), RH_OK);
    char *P = memmem(data, bytes, rh_points_data(&points, "P", RH_POINT_VEC3F), 12);
    assert_non_null(P);
    P[30000] ^= 16;
    assert_int_equal(rh_file_write(path.text, data, bytes, NULL), RH_OK);
    assert_false(load_and_compare(path.text, &points, &status));
    assert_non_null(strstr(status.message, "damaged: its bytes do not match its checksum"));
    rh_status_clear(&status);
    assert_int_equal(rh_seal_write(path.text, NULL), RH_OK);  // as if it had been damaged before it was sealed
    assert_false(load_and_compare(path.text, &points, &status));
    assert_non_null(strstr(status.message, "damaged: dataset P fails its checksum"));
    rh_free(data);
    rh_points_free(&points);
    scratch_remove(&s);
}

static void mutations_are_refused(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path good = scratch_at(&s, "good.h5"), bad = scratch_at(&s, "bad.h5");
    rh_points points = make(60);
    char *data;
    size_t bytes;
    int refused = 0;
    assert_int_equal(save(good.text, &points, NULL), RH_OK);
    assert_int_equal(rh_file_read(good.text, 1 << 30, &data, &bytes, NULL), RH_OK);
    char *copy = malloc(bytes);
    for (uint32_t m = 0; m < 800; m++) {
        size_t length = bytes;
        memcpy(copy, data, bytes);
        if (m % 4 == 0)
            length = rh_random_bits(6, m, 0, 4) % 2 ? bytes - 1 - m % 32 : rh_random_bits(6, m, 0, 0) % bytes;
        else if (m % 4 == 1) memset(copy + rh_random_bits(6, m, 0, 1) % (bytes - 16), (int)(m % 3) * 127, 16);
        else copy[rh_random_bits(6, m, 0, 2) % bytes] ^= (char)(1 << rh_random_bits(6, m, 0, 3) % 8);
        if (m < 64) length = bytes, memcpy(copy, data, bytes), copy[m] ^= (char)(1 << m % 8);  // the superblock
        FILE *file = fopen(bad.text, "wb");
        fwrite(copy, 1, length, file);
        fclose(file);
        bool changed = length != bytes || memcmp(copy, data, bytes) != 0;
        assert_true(load_and_compare(bad.text, &points, NULL) == !changed);
        refused += changed;
        rh_free(rh_checkpoint_describe(bad.text, NULL));
    }
    print_message("%d of 800 files were changed\n", refused);
    assert_true(refused > 760);
    free(copy);
    rh_free(data);
    rh_points_free(&points);
    scratch_remove(&s);
}

static void running_out_of_memory(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "c.h5");
    rh_points points = make(10);
    rh_status status = {0};
    rh_memory_fail_after(0);
    assert_int_equal(save(path.text, &points, &status), RH_MEMORY);
    rh_memory_fail_after(-1);
    assert_int_equal(save(path.text, &points, NULL), RH_OK);
    bool good = false;
    for (int tries = 0; !good; tries++) {
        rh_status_clear(&status);
        rh_memory_fail_after(tries);
        good = load_and_compare(path.text, &points, &status);
        rh_memory_fail_after(-1);
        assert_true(good || status.code == RH_MEMORY);
    }
    rh_points_free(&points);
    scratch_remove(&s);
}

static int nothing_left(void **state)
{
    (void)state;
    ssize_t open = H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL);  // ids we forgot to close
    return rh_memory_bytes() == 0 && rh_memory_blocks() == 0 && open == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_comes_back_to_the_bit),
        cmocka_unit_test(a_group_holds_only_0_and_1),
        cmocka_unit_test(an_old_checkpoint_loads),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(abandoned_leaves_nothing),
        cmocka_unit_test(a_full_disk_is_noticed),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(version_and_end_are_checked),
        cmocka_unit_test(a_flip_in_the_data_is_noticed_twice),
        cmocka_unit_test(mutations_are_refused),
        cmocka_unit_test(running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
