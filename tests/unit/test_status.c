// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Messages: the first failure wins, prefixes, texts that do not fit.
#include "check.h"
#include <string.h>
#include "base/status.h"

static void first_failure_wins(void **state)
{
    (void)state;
    rh_status status = {0};
    assert_int_equal(rh_fail(&status, RH_IO, "disk %d is full", 3), RH_IO);
    assert_int_equal(rh_fail(&status, RH_USER, "clean-up failed too"), RH_IO);
    assert_int_equal(status.code, RH_IO);
    assert_string_equal(status.message, "disk 3 is full");
    rh_status_clear(&status);
    assert_int_equal(status.code, RH_OK);
    assert_string_equal(status.message, "");
    assert_int_equal(rh_fail(&status, RH_USER, "now"), RH_USER);
    assert_string_equal(status.message, "now");
}

static void no_status_gives_the_code(void **state)
{
    (void)state;
    assert_int_equal(rh_fail(NULL, RH_NUMERIC, "x"), RH_NUMERIC);
    rh_status_clear(NULL);
    assert_int_equal(rh_status_prefix(NULL, "x"), RH_OK);
}

static void prefix_goes_before(void **state)
{
    (void)state;
    rh_status status = {0};
    assert_int_equal(rh_status_prefix(&status, "nothing to say"), RH_OK);
    assert_string_equal(status.message, "");
    rh_fail(&status, RH_USER, "100%% wrong");
    assert_int_equal(rh_status_prefix(&status, "line %d", 7), RH_USER);
    assert_int_equal(rh_status_prefix(&status, "scene.yaml"), RH_USER);
    assert_string_equal(status.message, "scene.yaml: line 7: 100% wrong");
}

enum { ROOM = sizeof((rh_status *)0)->message };

// For every length around the limit: what fits is there to the last letter, what does not is cut, nothing is written
// beyond.
static void long_texts_are_cut(void **state)
{
    (void)state;
    char text[ROOM + 8], prefix[ROOM + 8];
    for (int length = ROOM - 8; length < ROOM + 4; length++) {
        struct {
            rh_status status;
            char guard[16];
        } s = {0};
        memset(text, 'm', (size_t)length);
        text[length] = 0;
        rh_fail(&s.status, RH_USER, "%s", text);
        assert_int_equal(strlen(s.status.message), length < ROOM ? length : ROOM - 1);
        rh_status_prefix(&s.status, "ab");
        assert_int_equal(strlen(s.status.message), length + 4 < ROOM ? length + 4 : ROOM - 1);
        assert_memory_equal(s.status.message, "ab: mmm", 7);
        memset(prefix, 'p', (size_t)length);
        prefix[length] = 0;
        rh_status_prefix(&s.status, "%s", prefix);
        assert_int_equal(strlen(s.status.message), ROOM - 1);
        for (int i = 0; i < 16; i++) assert_int_equal(s.guard[i], 0);
    }
}

static rh_code tries(rh_code code, int *reached)
{
    RH_TRY(code);
    *reached = 1;
    return RH_OK;
}

static void try_returns_at_once(void **state)
{
    (void)state;
    int reached = 0;
    assert_int_equal(tries(RH_MEMORY, &reached), RH_MEMORY);
    assert_int_equal(reached, 0);
    assert_int_equal(tries(RH_OK, &reached), RH_OK);
    assert_int_equal(reached, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_failure_wins),  cmocka_unit_test(no_status_gives_the_code),
        cmocka_unit_test(prefix_goes_before),  cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(try_returns_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
