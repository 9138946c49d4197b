// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the process that reads .vdb files of others hands back: taken when it is whole, refused when any length in it
// lies.
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/memory.h"
#include "io/vdb_helper.h"

// As src/io/vdb_helper.c writes it: letters, code, bytes of warnings, bytes; count, facts, attributes; name, type,
// uniform, values.
typedef struct result {
    char letters[8];
    int32_t code, warnings;
    int64_t bytes;
    int64_t count;
    rh_frame_info info;
    int32_t attributes, unused;
    char name[RH_POINT_NAME];
    int32_t type, uniform;
    float values[2][3];
    char group[RH_POINT_NAME];
    int32_t group_type, group_uniform;
    uint8_t members[2];
} __attribute__((packed)) result;

static result good(void)
{
    result r = {.letters = {'r', 'h', 'e', 'o', 'h', 'l', 'p', '1'},
                .bytes = sizeof r - 24,
                .count = 2,
                .info = {.frame = 7},
                .attributes = 2,
                .name = "P",
                .type = RH_POINT_VEC3F,
                .values = {{1, 2, 3}, {4, 5, 6}},
                .group = "wet",
                .group_type = RH_POINT_GROUP,
                .members = {0, 1}};
    return r;
}

static rh_code take(const result *r, size_t bytes)
{
    rh_points points;
    rh_frame_info info = {0};
    rh_status status = {0};
    rh_points_init(&points);
    rh_code code = rh_vdb_result_points(r, bytes, &points, &info, &status);
    if (code == RH_OK) {
        assert_int_equal(points.count, 2);
        assert_int_equal(info.frame, 7);
        assert_memory_equal(rh_points_data(&points, "P", RH_POINT_VEC3F), r->values, sizeof r->values);
        assert_true(rh_points_is_valid(&points));
    } else {
        assert_int_equal(points.count, 0);
    }
    rh_points_free(&points);
    assert_int_equal(rh_memory_bytes(), 0);
    return code;
}

static void a_whole_result_is_taken(void **state)
{
    (void)state;
    result r = good();
    assert_int_equal(take(&r, sizeof r), RH_OK);
}

static void a_cut_one_is_not(void **state)
{
    (void)state;
    result r = good();
    for (size_t bytes = 0; bytes < sizeof r; bytes++) assert_int_equal(take(&r, bytes), RH_USER);
}

#define REFUSED(change)                                \
    do {                                               \
        result r = good();                             \
        change;                                        \
        assert_int_equal(take(&r, sizeof r), RH_USER); \
    } while (0)

static void lengths_that_lie_are_not(void **state)
{
    (void)state;
    REFUSED(r.letters[0] = 'x');
    REFUSED(r.code = 99);
    REFUSED(r.warnings = -1);
    REFUSED(r.warnings = INT32_MAX);
    REFUSED(r.bytes = -1);
    REFUSED(r.bytes++);
    REFUSED(r.count = -1);
    REFUSED(r.count = INT64_MAX);
    REFUSED(r.count = 3);
    REFUSED(r.count = 1);
    REFUSED(r.attributes = 3);
    REFUSED(r.attributes = 1);
    REFUSED(r.attributes = 0);
    REFUSED(memset(r.name, 'a', sizeof r.name));
    REFUSED(r.name[0] = 0);
    REFUSED(r.type = RH_POINT_TYPES);
    REFUSED(r.type = -1);
    REFUSED(strcpy(r.group, "P"));
    REFUSED(r.members[1] = 2);
}

static void a_failure_is_told(void **state)
{
    (void)state;
    struct {
        char letters[8];
        int32_t code, warnings;
        int64_t bytes;
        char text[9];
    } r = {{'r', 'h', 'e', 'o', 'h', 'l', 'p', '1'}, RH_USER, 0, 9, "no points"};
    rh_status status = {0};
    assert_null(rh_vdb_result_text(&r, 24 + 9, &status));
    assert_int_equal(status.code, RH_USER);
    assert_string_equal(status.message, "no points");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_result_is_taken),
        cmocka_unit_test(a_cut_one_is_not),
        cmocka_unit_test(lengths_that_lie_are_not),
        cmocka_unit_test(a_failure_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
