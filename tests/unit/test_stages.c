// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Stages that a method adds to a step run after the stage they name, in the order of the list, and are told by name.
#include "check.h"
#include <string.h>
#include "base/clock.h"
#include "physics/stages.h"

static const char *const STEP[] = {"sort", "pressure", "advect", NULL};

static rh_code note(const void *view, void *user, rh_status *status)
{
    (void)status;
    char *said = user;
    strcat(said, view);
    return RH_OK;
}

static rh_code refuse(const void *view, void *user, rh_status *status)
{
    (void)view;
    (void)user;
    return rh_fail(status, RH_NUMERIC, "no");
}

static void stages_run_where_they_are_named(void **state)
{
    (void)state;
    char said[64] = "";
    const rh_added_stage stages[] = {
        {"pressure", "friction", note}, {"friction", "heat", note}, {"sort", "look", note}};
    rh_step_method method = {.name = "test", .stages = stages, .stage_count = 3, .user = said};
    rh_step_report report = {0};
    double clock = rh_seconds();
    static const char *const views[] = {"a", "b", "c"};
    assert_true(rh_stages_fit(&method, STEP));
    for (int i = 0; STEP[i]; i++)
        assert_int_equal(rh_stages_end(&method, STEP[i], views[i], &report, &clock, NULL), RH_OK);
    assert_string_equal(said, "abb");
    static const char *const told[] = {"sort", "look", "pressure", "friction", "heat", "advect"};
    assert_int_equal(report.stage_count, 6);
    for (int i = 0; i < 6; i++) assert_string_equal(report.stage_names[i], told[i]);
}

static void what_does_not_fit_is_found(void **state)
{
    (void)state;
    const rh_added_stage unknown[] = {{"presure", "friction", note}},
                         early[] = {{"heat", "friction", note}, {"sort", "heat", note}};
    assert_false(rh_stages_fit(&(rh_step_method){.stages = unknown, .stage_count = 1}, STEP));
    assert_false(rh_stages_fit(&(rh_step_method){.stages = early, .stage_count = 2}, STEP));
    assert_true(rh_stages_fit(&(rh_step_method){.name = "none"}, STEP));
}

static void a_failure_ends_the_step(void **state)
{
    (void)state;
    char said[64] = "";
    const rh_added_stage stages[] = {{"sort", "bad", refuse}, {"sort", "good", note}};
    rh_step_method method = {.stages = stages, .stage_count = 2, .user = said};
    rh_step_report report = {0};
    rh_status status = {0};
    double clock = rh_seconds();
    assert_int_equal(rh_stages_end(&method, "sort", "a", &report, &clock, &status), RH_NUMERIC);
    assert_string_equal(said, "");
    assert_int_equal(report.stage_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stages_run_where_they_are_named),
                                       cmocka_unit_test(what_does_not_fit_is_found),
                                       cmocka_unit_test(a_failure_ends_the_step)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
