// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One block of parameters changed by settings: what is not set stays as it was to the bit, mistakes are told as in a
// scene, no memory is lost.
#include "check.h"
#include <string.h>
#include "scene/section.h"
#include "surface/surfacing.h"

static const rh_param_table *const table = &rh_surfacing_table;

static rh_code load(const rh_surfacing_params *base, const char *const *sets, int count, rh_surfacing_params *out,
                    rh_status *status)
{
    *status = (rh_status){0};
    return rh_section_load(table, "run/x/scene.yaml: surface", base, sets, count, out, status);
}

static void defaults_without_a_base(void **state)
{
    (void)state;
    rh_surfacing_params p, expected;
    rh_status status;
    assert_int_equal(load(NULL, NULL, 0, &p, &status), RH_OK);
    assert_int_equal(rh_params_defaults(table, &expected, &status), RH_OK);
    assert_true(p.mode == expected.mode && p.close == expected.close && p.vdb && !p.mesh && p.filters.count == 0);
    rh_params_free(table, &p);
    rh_params_free(table, &expected);
}

static void settings_change_the_base(void **state)
{
    (void)state;
    const char *const first[] = {"voxel=0.1", "smoothing=0.30000000000000004", "attributes='a \"b\" #c'",
                                 "filters=[{kind: median, width: 3}, {kind: erode, mask: heat}]"};
    const char *const second[] = {"mode=sphere", "mesh=true", "filters[1].distance=0.25", "mode=density"};
    rh_surfacing_params a, b;
    rh_status status;
    assert_int_equal(load(NULL, first, 4, &a, &status), RH_OK);
    assert_int_equal(load(&a, second, 4, &b, &status), RH_OK);
    const rh_filter_params *f = b.filters.items;
    assert_true(b.voxel == 0.1 && b.smoothing == 0.30000000000000004 && b.mesh);
    assert_string_equal(b.attributes, "a \"b\" #c");
    assert_int_equal(b.mode, RH_SURFACING_DENSITY);
    assert_int_equal(b.filters.count, 2);
    assert_true(f[0].kind == RH_FILTER_MEDIAN && f[0].width == 3 && !f[0].mask);
    assert_true(f[1].kind == RH_FILTER_ERODE && f[1].distance == 0.25 && f[1].iterations == 1);
    assert_string_equal(f[1].mask, "heat");
    assert_true(a.mode == RH_SURFACING_ELLIPSOID && !a.mesh);
    rh_params_free(table, &a);
    rh_params_free(table, &b);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"voxl=1", "--set voxl=1: unknown name 'voxl'; did you mean 'voxel'?"},
        {"voxel", "--set voxel: expected path=value, for example voxel=0.01"},
        {"voxel=-1", "--set voxel=-1: voxel: must be between 0 and 10000, found -1"},
        {"mode=spheer", "--set mode=spheer: mode: unknown choice 'spheer'; did you mean 'sphere'?"},
        {"filters=[{kind: meen}]", "filters[0].kind: unknown choice 'meen'; did you mean 'mean'?"},
        {"filters[0].kind=mean", "'filters' has 0 items"},
        {"surface.voxel=1", "unknown name 'surface'"},
        {"high=0.1", "--set high=0.1: high: must be above low: low is 0.4, high is 0.1"},
        {"low=9", "run/x/scene.yaml: surface: high: must be above low: low is 9, high is 3.5"},
    };
    rh_surfacing_params base, p;
    rh_status status;
    assert_int_equal(load(NULL, NULL, 0, &base, &status), RH_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(load(&base, &cases[i][0], 1, &p, &status), RH_USER);
        if (!strstr(status.message, cases[i][1]))
            fail_msg("'%s' gave '%s', expected '%s'", cases[i][0], status.message, cases[i][1]);
    }
    rh_params_free(table, &base);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    const char *const sets[] = {"attributes=heat", "filters=[{kind: mean, mask: heat}]"};
    rh_surfacing_params base, p;
    rh_status status;
    assert_int_equal(load(NULL, sets, 2, &base, &status), RH_OK);
    int64_t before = rh_memory_bytes();
    rh_code code = RH_MEMORY;
    int failures = 0;
    for (; code != RH_OK; failures++) {
        rh_memory_fail_after(failures);
        code = load(&base, sets, 2, &p, &status);
        rh_memory_fail_after(-1);
        assert_true(code == RH_OK || code == RH_MEMORY);
        if (code == RH_OK) rh_params_free(table, &p);
        assert_int_equal(rh_memory_bytes(), before);
    }
    assert_true(failures > 5);
    rh_params_free(table, &base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults_without_a_base),
                                       cmocka_unit_test(settings_change_the_base), cmocka_unit_test(mistakes_are_told),
                                       cmocka_unit_test(memory_may_run_out)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
