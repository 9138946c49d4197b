// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Programs from text to results: layouts of columns, threads, budgets, faults, vectorisation.
#include "lang_bench.h"
#include "base/parallel.h"

static void one_line(void **state)
{
    (void)state;
    lang_bench b;
    assert_true(bench_compile(&b, "float@x = 2.0f * @y + 1.0f;", RH_LANG_POINTS, true));
    bench_allocate(&b, 10000);
    float *y = bench_column(&b, "y"), *x = bench_column(&b, "x");
    for (int i = 0; i < 10000; i++) y[i] = (float)i * 0.1f;
    assert_int_equal(bench_run(&b), RH_OK);
    for (int i = 0; i < 10000; i++) assert_true(x[i] == 2.0f * y[i] + 1.0f);
    assert_non_null(strstr(rh_lang_program_text(b.program), "x float>"));
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
