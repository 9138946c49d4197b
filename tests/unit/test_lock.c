// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One run at a time in a folder: a second one is refused and told who is there, a dead one blocks nobody.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "io/lock.h"
#include "support.h"

static char folder[64], path[96];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "lock-test-%ld/run", (long)getpid());
    snprintf(path, sizeof path, "%s/.lock", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    rmdir(folder);
    *strrchr(folder, '/') = 0;
    rmdir(folder);
    return 0;
}

// A process of its own that takes the lock, says so through the pipe and waits for its end.
static pid_t start_holder(void)
{
    int told[2];
    char letter = 0;
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        rh_folder_lock lock;
        letter = rh_folder_lock_take(&lock, folder, NULL) == RH_OK ? 'y' : 'n';
        (void)!write(told[1], &letter, 1);
        for (;;) pause();
    }
    assert_int_equal(read(told[0], &letter, 1), 1);
    assert_int_equal(letter, 'y');
    close(told[0]);
    close(told[1]);
    return child;
}

static void end_holder(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void taken_and_given_back(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_folder_lock lock;
    for (int i = 0; i < 2; i++) {
        assert_ok(rh_folder_lock_take(&lock, folder, &status));
        assert_true(rh_file_exists(path));
        rh_folder_lock_release(&lock);
        assert_false(rh_file_exists(path));
        rh_folder_lock_release(&lock);  // twice is fine
    }
}

static void a_second_run_is_refused(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_folder_lock lock;
    pid_t child = start_holder();
    rh_code code = rh_folder_lock_take(&lock, folder, &status);
    end_holder(child);
    char who[32];
    snprintf(who, sizeof who, "process %ld on", (long)child);
    assert_int_equal(code, RH_USER);
    assert_non_null(strstr(status.message, folder));
    assert_non_null(strstr(status.message, who));
    assert_int_equal(lock.descriptor, -1);
}

static void a_dead_run_blocks_nobody(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_folder_lock lock;
    end_holder(start_holder());
    assert_true(rh_file_exists(path));  // killed: its file is still there
    assert_ok(rh_folder_lock_take(&lock, folder, &status));
    rh_folder_lock_release(&lock);
    assert_false(rh_file_exists(path));
}

// A lock file that somebody removed is not ours to remove again when another run has made its own.
static void a_removed_file_is_left_alone(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_folder_lock lock;
    assert_ok(rh_folder_lock_take(&lock, folder, &status));
    unlink(path);
    pid_t child = start_holder();
    rh_folder_lock_release(&lock);
    bool there = rh_file_exists(path);
    end_holder(child);
    assert_true(there);
}

static void what_cannot_be_locked_is_told(void **state)
{
    (void)state;
    rh_folder_lock lock;
    rh_status status = {0};
    char longest[RH_PATH_MAX];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(rh_folder_lock_take(&lock, longest, &status), RH_USER);
    rh_status_clear(&status);
    assert_int_equal(rh_folder_lock_take(&lock, "/proc/self/fdinfo", &status), RH_IO);
    assert_non_null(strstr(status.message, "/proc/self/fdinfo"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_and_given_back), cmocka_unit_test(a_second_run_is_refused),
        cmocka_unit_test(a_dead_run_blocks_nobody), cmocka_unit_test(a_removed_file_is_left_alone),
        cmocka_unit_test(what_cannot_be_locked_is_told)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
