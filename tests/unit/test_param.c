// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Parameter tables: defaults, clean-up, names; numbers as text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/param.h"
#include "base/random.h"

static const char *const colours[] = {"red", "green", "blue", NULL};

typedef struct inner {
    char *word;
    double size;
} inner;
static const rh_param inner_rows[] = {
    {"word", RH_PARAM_TEXT, offsetof(inner, word), "", "hello", .help = "a word"},
    {"size", RH_PARAM_FLOAT, offsetof(inner, size), "m", "2.5", 0, 10, .help = "a size"},
};
static const rh_param_table inner_table = {"inner",       "Inner.", inner_rows, RH_PARAM_COUNT(inner_rows),
                                           sizeof(inner), NULL};
static const rh_param_table *const variants[] = {&inner_table, NULL};

typedef struct outer {
    bool flag;
    int64_t count;
    double mass;
    rh_dvec3 up;
    int colour;
    char *text, *path, *none;
    inner block;
    rh_list list;
    rh_variant variant;
} outer;

#define AT(field) offsetof(outer, field)
static const rh_param outer_rows[] = {
    {"flag", RH_PARAM_BOOL, AT(flag), "", "true", .help = ""},
    {"count", RH_PARAM_INT, AT(count), "", "-7", .help = ""},
    {"mass", RH_PARAM_FLOAT, AT(mass), "kg", "1e-3", .help = ""},
    {"up", RH_PARAM_VEC3, AT(up), "", "[ 0,-9.81 , 1e2 ]", .help = ""},
    {"colour", RH_PARAM_CHOICE, AT(colour), "", "blue", .choices = colours, .help = ""},
    {"text", RH_PARAM_TEXT, AT(text), "", "", .help = ""},
    {"path", RH_PARAM_PATH, AT(path), "", "a.obj", .help = ""},
    {"none", RH_PARAM_TEXT, AT(none), "", NULL, .help = ""},
    {"block", RH_PARAM_TABLE, AT(block), "", .table = &inner_table, .help = ""},
    {"list", RH_PARAM_LIST, AT(list), "", .table = &inner_table, .help = ""},
    {"variant", RH_PARAM_VARIANT, AT(variant), "", .variants = variants, .help = ""},
};
static const rh_param_table outer_table = {"outer",       "Outer.", outer_rows, RH_PARAM_COUNT(outer_rows),
                                           sizeof(outer), NULL};

static void test_defaults(void **state)
{
    (void)state;
    outer o;
    memset(&o, 0xff, sizeof o);
    rh_status status = {0};
    assert_int_equal(rh_params_defaults(&outer_table, &o, &status), RH_OK);
    assert_true(o.flag);
    assert_int_equal(o.count, -7);
    assert_true(o.mass == 1e-3);
    assert_true(o.up.x == 0 && o.up.y == -9.81 && o.up.z == 100);
    assert_int_equal(o.colour, 2);
    assert_string_equal(o.text, "");
    assert_string_equal(o.path, "a.obj");
    assert_null(o.none);
    assert_string_equal(o.block.word, "hello");
    assert_true(o.block.size == 2.5);
    assert_int_equal(o.list.count, 0);
    assert_null(o.list.items);
    assert_int_equal(o.variant.kind, -1);
    assert_null(o.variant.value);
    rh_params_free(&outer_table, &o);
    assert_null(o.text);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void test_free_is_recursive(void **state)
{
    (void)state;
    outer o;
    rh_status status = {0};
    assert_int_equal(rh_params_defaults(&outer_table, &o, &status), RH_OK);
    inner *items = rh_alloc_zero(3 * sizeof *items, "test", &status);
    assert_non_null(items);
    for (int i = 0; i < 3; i++) assert_int_equal(rh_params_defaults(&inner_table, &items[i], &status), RH_OK);
    o.list = (rh_list){items, 3};
    o.variant = (rh_variant){0, rh_alloc_zero(sizeof(inner), "test", &status)};
    assert_int_equal(rh_params_defaults(&inner_table, o.variant.value, &status), RH_OK);
    assert_int_equal(rh_memory_blocks(), 9);
    rh_params_free(&outer_table, &o);
    assert_int_equal(rh_memory_blocks(), 0);
    assert_int_equal(o.variant.kind, -1);
    rh_params_free(&outer_table, &o);  // twice does no harm
}

// A wrong default is a mistake in a table; it must come out as a message, and free what was made before it.
static void test_wrong_defaults(void **state)
{
    (void)state;
    static const struct {
        rh_param_type type;
        const char *text;
    } wrong[] = {
        {RH_PARAM_BOOL, "yes"},       {RH_PARAM_INT, "1.5"},         {RH_PARAM_INT, ""},
        {RH_PARAM_FLOAT, "nan"},      {RH_PARAM_FLOAT, "1 m"},       {RH_PARAM_VEC3, "[1, 2]"},
        {RH_PARAM_VEC3, "[1, 2, 3"},  {RH_PARAM_VEC3, "[1, 2, 3]]"}, {RH_PARAM_VEC3, "1, 2, 3]"},
        {RH_PARAM_VEC3, "[1, 2, x]"}, {RH_PARAM_CHOICE, "purple"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const rh_param rows[] = {outer_rows[5],
                                 {"bad", wrong[i].type, AT(up), "", wrong[i].text, .choices = colours, .help = ""}};
        const rh_param_table table = {"broken", "", rows, 2, sizeof(outer), NULL};
        outer o;
        rh_status status = {0};
        assert_int_equal(rh_params_defaults(&table, &o, &status), RH_USER);
        assert_non_null(strstr(status.message, "'bad'"));
        assert_int_equal(rh_memory_bytes(), 0);
    }
}

static void test_defaults_without_memory(void **state)
{
    (void)state;
    int failures = 0;
    for (int n = 0; n < 16; n++) {
        outer o;
        rh_status status = {0};
        rh_memory_fail_after(n);
        rh_code code = rh_params_defaults(&outer_table, &o, &status);
        rh_memory_fail_after(-1);
        if (code == RH_OK) rh_params_free(&outer_table, &o);
        else assert_int_equal(code, RH_MEMORY), failures++;
        assert_int_equal(rh_memory_bytes(), 0);
    }
    assert_int_equal(failures, 3);  // text, path and the word of the block
}

static void test_find(void **state)
{
    (void)state;
    assert_ptr_equal(rh_params_find(&outer_table, "mass"), &outer_rows[2]);
    assert_null(rh_params_find(&outer_table, "mas"));
    assert_null(rh_params_find(&outer_table, ""));
}

static void test_nearest_name(void **state)
{
    (void)state;
    static const char *const names[] = {"flip", "density", "tolerance", "wall", "no_slip", "up"};
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        {"flop", "flip"},
        {"filp", "flip"},
        {"FLIP", "flip"},
        {"dens1ty", "density"},
        {"tolernace", "tolerance"},  // a transposition
        {"wal", "wall"},
        {"walls", "wall"},
        {"no-slip", "no_slip"},
        {"xyz", NULL},
        {"", NULL},
        {"ab", NULL},
        {"densities", "density"},
        {"dnst", NULL},
        {"flxx", NULL},
        {"up", "up"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = rh_nearest_name(cases[i].word, names, 6);
        if (cases[i].nearest) assert_non_null(found), assert_string_equal(found, cases[i].nearest);
        else assert_null(found);
    }
    char vast[5000];
    memset(vast, 'a', sizeof vast - 1);
    vast[sizeof vast - 1] = 0;
    assert_null(rh_nearest_name(vast, names, 6));
    const char *const itself = vast;
    assert_null(rh_nearest_name("flip", &itself, 1));
    assert_null(rh_nearest_name("flip", NULL, 0));
}

static void test_number_grammar(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        rh_number_result result;
        double value;
    } cases[] = {
        {"0", RH_NUMBER_OK, 0},
        {"-1.5", RH_NUMBER_OK, -1.5},
        {"+2", RH_NUMBER_OK, 2},
        {".5", RH_NUMBER_OK, 0.5},
        {"5.", RH_NUMBER_OK, 5},
        {"1e3", RH_NUMBER_OK, 1000},
        {"1E-3", RH_NUMBER_OK, 1e-3},
        {"1e-999", RH_NUMBER_OK, 0},
        {"", RH_NUMBER_BAD, 0},
        {".", RH_NUMBER_BAD, 0},
        {"-", RH_NUMBER_BAD, 0},
        {"e3", RH_NUMBER_BAD, 0},
        {"1e", RH_NUMBER_BAD, 0},
        {"1e+", RH_NUMBER_BAD, 0},
        {" 1", RH_NUMBER_BAD, 0},
        {"1 ", RH_NUMBER_BAD, 0},
        {"0x10", RH_NUMBER_BAD, 0},
        {"1,5", RH_NUMBER_BAD, 0},
        {"--1", RH_NUMBER_BAD, 0},
        {"1.2.3", RH_NUMBER_BAD, 0},
        {"1e999", RH_NUMBER_TOO_LARGE, 0},
        {"-1e999", RH_NUMBER_TOO_LARGE, 0},
        {"nan", RH_NUMBER_NOT_FINITE, 0},
        {".NaN", RH_NUMBER_NOT_FINITE, 0},
        {"-.inf", RH_NUMBER_NOT_FINITE, 0},
        {"Infinity", RH_NUMBER_NOT_FINITE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = -123;
        assert_int_equal(rh_number_parse(cases[i].text, &value), cases[i].result);
        assert_true(value == (cases[i].result == RH_NUMBER_OK ? cases[i].value : -123));
    }
}

static void test_integers(void **state)
{
    (void)state;
    int64_t value = 5;
    assert_int_equal(rh_integer_parse("-9223372036854775808", &value), RH_NUMBER_OK);
    assert_true(value == INT64_MIN);
    assert_int_equal(rh_integer_parse("9223372036854775807", &value), RH_NUMBER_OK);
    assert_true(value == INT64_MAX);
    assert_int_equal(rh_integer_parse("9223372036854775808", &value), RH_NUMBER_TOO_LARGE);
    assert_int_equal(rh_integer_parse("007", &value), RH_NUMBER_OK);
    assert_int_equal(value, 7);
    assert_int_equal(rh_integer_parse("1.0", &value), RH_NUMBER_FRACTION);
    assert_int_equal(rh_integer_parse("1e3", &value), RH_NUMBER_FRACTION);
    assert_int_equal(rh_integer_parse("x", &value), RH_NUMBER_BAD);
    assert_int_equal(rh_integer_parse("", &value), RH_NUMBER_BAD);
    assert_int_equal(rh_integer_parse("nan", &value), RH_NUMBER_NOT_FINITE);
    assert_int_equal(value, 7);
}

// Any finite bit pattern comes back, and round numbers stay short.
static void test_number_print(void **state)
{
    (void)state;
    char text[RH_NUMBER_TEXT];
    assert_string_equal(rh_number_print(0.1, text), "0.1");
    assert_string_equal(rh_number_print(-9.81, text), "-9.81");
    assert_string_equal(rh_number_print(1e9, text), "1e+09");
    assert_string_equal(rh_number_print(0.015625, text), "0.015625");
    assert_string_equal(rh_number_print(-0.0, text), "-0");
    int tried = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t bits = rh_mix64(i + 1);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        assert_int_equal(rh_number_parse(rh_number_print(value, text), &back), RH_NUMBER_OK);
        assert_memory_equal(&value, &back, sizeof value);
        tried++;
    }
    assert_true(tried > 19000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),       cmocka_unit_test(test_free_is_recursive),
        cmocka_unit_test(test_wrong_defaults), cmocka_unit_test(test_defaults_without_memory),
        cmocka_unit_test(test_find),           cmocka_unit_test(test_nearest_name),
        cmocka_unit_test(test_number_grammar), cmocka_unit_test(test_integers),
        cmocka_unit_test(test_number_print),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : rh_memory_bytes() != 0;
}
