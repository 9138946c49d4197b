// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Assertions are on in the build that is tested: what breaks an invariant of the library ends the process, and says
// what was broken.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/assert.h"
#include "support.h"

// Runs `act` in a process of its own; what it said on standard error goes to `said`. Returns the signal that ended it.
static int signal_of(void (*act)(void), char *said, size_t room)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], 2);
        act();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t n; length + 1 < room && (n = read(ends[0], said + length, room - 1 - length)) > 0;)
        length += (size_t)n;
    said[length] = 0;
    close(ends[0]);
    int state = 0;
    assert_int_equal(waitpid(child, &state, 0), child);
    return WIFSIGNALED(state) ? WTERMSIG(state) : 0;
}

static void resize_below_nothing(void)
{
    rh_points points;
    rh_points_init(&points);
    rh_points_resize(&points, -1, NULL);
}

// Marks nest: what was given back with an older mark cannot be given back to a newer one.
static void restore_out_of_order(void)
{
    rh_arena arena;
    rh_arena_init(&arena, "test");
    rh_arena_mark first = rh_arena_save(&arena);
    rh_arena_take(&arena, 100, NULL);
    rh_arena_mark second = rh_arena_save(&arena);
    rh_arena_restore(&arena, first);
    rh_arena_restore(&arena, second);
}

static void nothing_wrong(void) {}

static void broken_invariants_end_the_process(void **state)
{
    (void)state;
    char said[4096];
    assert_true(rh_assert_is_on());
    assert_int_equal(signal_of(nothing_wrong, said, sizeof said), 0);
    assert_int_equal(signal_of(resize_below_nothing, said, sizeof said), SIGABRT);
    assert_non_null(strstr(said, "points.c"));
    assert_non_null(strstr(said, "rh_points_resize: broken invariant: count >= 0"));
    assert_int_equal(signal_of(restore_out_of_order, said, sizeof said), SIGABRT);
    assert_non_null(strstr(said, "rh_arena_restore"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(broken_invariants_end_the_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
