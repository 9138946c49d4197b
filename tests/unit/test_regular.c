// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Opening what others have named: regular files only, and only inside.
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/regular.h"
#include "io/file.h"
#include "scratch.h"

static bool opens(int file)
{
    if (file >= 0) close(file);
    return file >= 0;
}

static void make(const scratch *s)
{
    rh_folder_make(scratch_at(s, "in/deep").text, NULL);
    rh_folder_make(scratch_at(s, "out").text, NULL);
    rh_file_write(scratch_at(s, "in/a").text, "a", 1, NULL);
    rh_file_write(scratch_at(s, "in/deep/b").text, "b", 1, NULL);
    rh_file_write(scratch_at(s, "out/c").text, "c", 1, NULL);
    mkfifo(scratch_at(s, "in/pipe").text, 0600);
    assert_int_equal(symlink("../out/c", scratch_at(s, "in/link").text), 0);
    assert_int_equal(symlink("../out", scratch_at(s, "in/folder").text), 0);
    assert_int_equal(symlink("a", scratch_at(s, "in/inner").text), 0);
}

static void clear(const scratch *s)
{
    static const char *const files[] = {"in/a", "in/deep/b", "out/c", "in/pipe", "in/link", "in/folder", "in/inner"},
                             *const folders[] = {"in/deep", "in", "out"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(scratch_at(s, files[i]).text);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) rmdir(scratch_at(s, folders[i]).text);
    scratch_remove(s);
}

static void regular_files_only(void **state)
{
    (void)state;
    scratch s = scratch_make();
    const char *why;
    make(&s);
    assert_true(opens(rh_open_regular(scratch_at(&s, "in/a").text, &why)));
    assert_true(opens(rh_open_regular(scratch_at(&s, "in/link").text, &why)));
    assert_false(opens(rh_open_regular(scratch_at(&s, "in/pipe").text, &why)));
    assert_string_equal(why, "is a pipe or a device, expected a file");
    assert_false(opens(rh_open_regular("/dev/zero", &why)));
    assert_false(opens(rh_open_regular(scratch_at(&s, "in").text, &why)));
    assert_string_equal(why, "is a folder, expected a file");
    assert_false(opens(rh_open_regular(scratch_at(&s, "nothing").text, &why)));
    clear(&s);
}

static void beneath_a_folder(void **state)
{
    (void)state;
    scratch s = scratch_make();
    make(&s);
    int folder = open(scratch_at(&s, "in").text, O_RDONLY | O_DIRECTORY);
    static const char *const fine[] = {"a", "deep/b"}, *const not [] = {"link",     "inner",    "pipe",
                                                                        "folder/c", "../out/c", "deep/../../out/c",
                                                                        "..",       "deep",     "/etc/passwd",
                                                                        "nothing",  "",         "deep//b",
                                                                        "folder"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) assert_true(opens(rh_open_beneath(folder, fine[i])));
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++) assert_false(opens(rh_open_beneath(folder, not [i])));
    assert_true(opens(rh_open_folder_beneath(folder, "deep")));
    assert_false(opens(rh_open_folder_beneath(folder, "folder")));
    assert_false(opens(rh_open_folder_beneath(folder, "..")));
    close(folder);
    clear(&s);
}

static void inside_a_folder(void **state)
{
    (void)state;
    scratch s = scratch_make();
    make(&s);
    char real[4096];
    assert_non_null(realpath(scratch_at(&s, "in").text, real));
    assert_true(rh_path_is_inside(scratch_at(&s, "in/a").text, real));
    assert_true(rh_path_is_inside(scratch_at(&s, "in/inner").text, real));
    assert_true(rh_path_is_inside(scratch_at(&s, "in/deep/../a").text, real));
    assert_false(rh_path_is_inside(scratch_at(&s, "in/link").text, real));
    assert_false(rh_path_is_inside(scratch_at(&s, "in/folder/c").text, real));
    assert_false(rh_path_is_inside(scratch_at(&s, "out/c").text, real));
    assert_false(rh_path_is_inside("/nothing/at/all", real));
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_files_only),
        cmocka_unit_test(beneath_a_folder),
        cmocka_unit_test(inside_a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
