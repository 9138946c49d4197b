// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Files that appear whole or not at all, folders, and the sweep of what killed runs left.
#include "check.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "io/file.h"
#include "unit/scratch.h"

static void written_text_comes_back(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.txt");
    rh_status status = {0};
    char *data;
    size_t bytes;
    assert_int_equal(rh_file_write(path.text, "one\0two", 7, &status), RH_OK);
    assert_int_equal(rh_file_read(path.text, 100, &data, &bytes, &status), RH_OK);
    assert_int_equal(bytes, 7);
    assert_memory_equal(data, "one\0two", 8);
    rh_free(data);
    assert_int_equal(rh_file_write(path.text, "", 0, &status), RH_OK);  // replaces
    assert_int_equal(rh_file_read(path.text, 0, &data, &bytes, &status), RH_OK);
    assert_int_equal(bytes, 0);
    assert_int_equal(data[0], 0);
    rh_free(data);
    assert_int_equal(scratch_count(&s), 1);
    scratch_remove(&s);
}

static void reading_says_what_is_wrong(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.txt"), missing = scratch_at(&s, "none");
    rh_status status = {0};
    char *data;
    size_t bytes;
    assert_int_equal(rh_file_read(missing.text, 10, &data, &bytes, &status), RH_IO);
    assert_non_null(strstr(status.message, missing.text));
    assert_non_null(strstr(status.message, "No such file"));
    rh_status_clear(&status);
    assert_int_equal(rh_file_read(s.folder, 10, &data, &bytes, &status), RH_USER);
    assert_non_null(strstr(status.message, "is a folder"));
    rh_status_clear(&status);
    assert_int_equal(rh_file_write(path.text, "0123456789", 10, &status), RH_OK);
    assert_int_equal(rh_file_read(path.text, 9, &data, &bytes, &status), RH_USER);
    assert_null(data);
    rh_status_clear(&status);
    assert_int_equal(rh_file_read("/dev/zero", 100000, &data, &bytes, &status), RH_USER);  // no size, no end
    assert_null(data);
    rh_status_clear(&status);
    assert_int_equal(rh_file_read("/proc/self/stat", 100000, &data, &bytes, &status), RH_OK);  // claims 0 bytes
    assert_true(bytes > 0 && strlen(data) == bytes);
    rh_free(data);
    rh_memory_fail_after(0);
    assert_int_equal(rh_file_read(path.text, 10, &data, &bytes, &status), RH_MEMORY);
    rh_memory_fail_after(-1);
    scratch_remove(&s);
}

static void a_failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.txt"), folder = scratch_at(&s, "taken"), deep = scratch_at(&s, "no/such/a");
    rh_status status = {0};
    char *data;
    size_t bytes;
    assert_int_equal(rh_file_write(path.text, "old", 3, &status), RH_OK);
    // A file size limit stands in for a full disk: write() fails half-way.
    static char large[300000];
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    rh_code code = rh_file_write(path.text, large, sizeof large, &status);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(code, RH_IO);
    assert_non_null(strstr(status.message, path.text));
    assert_int_equal(scratch_count(&s), 1);
    rh_status_clear(&status);
    assert_int_equal(rh_file_read(path.text, 10, &data, &bytes, &status), RH_OK);
    assert_memory_equal(data, "old", 4);
    rh_free(data);

    assert_int_equal(rh_folder_make(folder.text, &status), RH_OK);
    assert_int_equal(rh_file_write(folder.text, "x", 1, &status), RH_IO);
    assert_int_equal(scratch_count(&s), 2);
    rh_status_clear(&status);
    assert_int_equal(rh_file_write(deep.text, "x", 1, &status), RH_IO);
    rh_status_clear(&status);
    assert_int_equal(rh_file_write("", "x", 1, &status), RH_USER);
    rh_status_clear(&status);
    static char too_long[2 * RH_PATH_MAX];
    memset(too_long, 'a', sizeof too_long - 1);
    assert_int_equal(rh_file_write(too_long, "x", 1, &status), RH_USER);
    scratch_remove(&s);
}

static void folders_with_parents(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path one = scratch_at(&s, "p"), two = scratch_at(&s, "p//q/"), file = scratch_at(&s, "f");
    scratch_path below = scratch_at(&s, "f/g");
    rh_status status = {0};
    assert_int_equal(rh_folder_make(two.text, &status), RH_OK);
    assert_int_equal(rh_folder_make(two.text, &status), RH_OK);
    assert_true(rh_file_exists(two.text));
    assert_int_equal(rh_file_write(file.text, "x", 1, &status), RH_OK);
    assert_int_equal(rh_folder_make(file.text, &status), RH_IO);
    assert_non_null(strstr(status.message, "a file of that name is there"));
    assert_int_equal(rh_folder_make(below.text, NULL), RH_IO);
    assert_int_equal(rh_folder_make("", NULL), RH_USER);
    rmdir(two.text);
    rmdir(one.text);
    scratch_remove(&s);
}

static void put(const scratch *s, const char *name)
{
    scratch_path path = scratch_at(s, name);
    FILE *file = fopen(path.text, "w");
    assert_non_null(file);
    fclose(file);
}

static bool there(const scratch *s, const char *name)
{
    scratch_path path = scratch_at(s, name);
    return rh_file_exists(path.text);
}

static void sweep_takes_only_what_the_dead_left(void **state)
{
    (void)state;
    scratch s = scratch_make();
    pid_t dead = fork();
    if (dead == 0) _exit(0);
    waitpid(dead, NULL, 0);
    char of_dead[64], of_us[64];
    snprintf(of_dead, sizeof of_dead, "points.0001.vdb.tmp-%d", (int)dead);
    snprintf(of_us, sizeof of_us, "points.0002.vdb.tmp-%d", (int)getpid());
    const char *keep[] = {of_us,
                          "a.tmp-",
                          "a.tmp-12x",
                          "a.tmp",
                          "tmp-7",
                          ".tmp-999999999999",
                          "points.0001.vdb",
                          "mine.txt.tmp-99999999999999999999999",
                          "points.keep.vdb.tmp-99999999999999999999999"};
    put(&s, of_dead);
    put(&s, "scene.yaml.tmp-99999999999999999999999");
    for (size_t i = 0; i < sizeof keep / sizeof *keep; i++) put(&s, keep[i]);
    scratch_path folder = scratch_at(&s, "folder.tmp-999999999999");
    mkdir(folder.text, 0777);
    rh_folder_sweep(s.folder);
    assert_false(there(&s, of_dead));
    assert_false(there(&s, "scene.yaml.tmp-99999999999999999999999"));
    for (size_t i = 0; i < sizeof keep / sizeof *keep; i++) assert_true(there(&s, keep[i]));
    assert_true(there(&s, "folder.tmp-999999999999"));
    rh_folder_sweep("no/such/folder");
    scratch_remove(&s);
}

static void free_space_is_known(void **state)
{
    (void)state;
    assert_true(rh_folder_free_bytes(".") > 0);
    assert_true(rh_folder_free_bytes("no/such/folder") < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_text_comes_back),
        cmocka_unit_test(reading_says_what_is_wrong),
        cmocka_unit_test(a_failed_write_leaves_the_old_file),
        cmocka_unit_test(folders_with_parents),
        cmocka_unit_test(sweep_takes_only_what_the_dead_left),
        cmocka_unit_test(free_space_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
