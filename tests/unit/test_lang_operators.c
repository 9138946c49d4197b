// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Types and operators: every binary operator on every pair of scalar types against C, every conversion, and the cases
// that C leaves undefined.
#include <inttypes.h>
#include "lang_bench.h"
#include "lang/operators.h"

static const char *const type_names[] = {"bool", "int16", "int32", "int64", "float", "double"};
static const rh_lang_type types[] = {RH_LANG_BOOL,  RH_LANG_INT16, RH_LANG_INT32,
                                     RH_LANG_INT64, RH_LANG_FLOAT, RH_LANG_DOUBLE};

enum { SAMPLES = 20 };
static const double samples[SAMPLES] = {0,    1,    -1,    2,      3, -3, 7,  -7, 31, 100,
                                        -100, 1000, 30000, -32768, 2, 0,  -1, 5,  -5, 64};
static const double fractions[SAMPLES] = {0,   0.5, -0.25, 0, 0.75, 0,    -0.5, 0, 0.125, 0,
                                          0.1, 0.9, 0,     0, 0.3,  -0.0, 0.6,  0, 0.2,   0};

// A sample as a value of the type, in its own column.
static void put(rh_lang_type type, void *column, int i, int sample)
{
    double value = samples[sample], fraction = fractions[sample];
    switch (type) {
    case RH_LANG_BOOL: ((uint8_t *)column)[i] = value != 0; break;
    case RH_LANG_INT16: ((int16_t *)column)[i] = (int16_t)value; break;
    case RH_LANG_INT32: ((int32_t *)column)[i] = (int32_t)value * 1009; break;
    case RH_LANG_INT64: ((int64_t *)column)[i] = (int64_t)value * 100000000007; break;
    case RH_LANG_FLOAT: ((float *)column)[i] = (float)(value + fraction); break;
    default: ((double *)column)[i] = value * 1.1 + fraction; break;
    }
}

static int64_t whole(rh_lang_type type, const void *column, int i)
{
    switch (type) {
    case RH_LANG_BOOL: return ((const uint8_t *)column)[i];
    case RH_LANG_INT16: return ((const int16_t *)column)[i];
    case RH_LANG_INT32: return ((const int32_t *)column)[i];
    default: return ((const int64_t *)column)[i];
    }
}

static double real(rh_lang_type type, const void *column, int i)
{
    return type == RH_LANG_FLOAT    ? (double)((const float *)column)[i]
           : type == RH_LANG_DOUBLE ? ((const double *)column)[i]
                                    : (double)whole(type, column, i);
}

static int64_t wrap(rh_lang_type type, uint64_t value)
{
    return type == RH_LANG_INT16 ? (int16_t)value : type == RH_LANG_INT32 ? (int32_t)value : (int64_t)value;
}

static int64_t floored(int64_t a, int64_t b)
{
    if (b == 0) return a;
    if (b == -1) return 0;
    int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t integer_reference(rh_lang_operator op, rh_lang_type type, int64_t a, int64_t b)
{
    int bits = type == RH_LANG_INT16 ? 15 : type == RH_LANG_INT32 ? 31 : 63;
    switch (op) {
    case RH_LANG_ADD: return wrap(type, (uint64_t)a + (uint64_t)b);
    case RH_LANG_SUB: return wrap(type, (uint64_t)a - (uint64_t)b);
    case RH_LANG_MUL: return wrap(type, (uint64_t)a * (uint64_t)b);
    case RH_LANG_DIV: return b == 0 ? 0 : b == -1 ? wrap(type, 0 - (uint64_t)a) : a / b;
    case RH_LANG_MOD: return floored(a, b);
    case RH_LANG_BIT_AND: return a & b;
    case RH_LANG_BIT_OR: return a | b;
    case RH_LANG_BIT_XOR: return a ^ b;
    case RH_LANG_SHL: return wrap(type, (uint64_t)a << (b & bits));
    case RH_LANG_SHR: return a >> (b & bits);
    case RH_LANG_EQ: return a == b;
    case RH_LANG_NE: return a != b;
    case RH_LANG_LT: return a < b;
    case RH_LANG_GT: return a > b;
    case RH_LANG_LE: return a <= b;
    case RH_LANG_GE: return a >= b;
    case RH_LANG_AND: return a && b;
    default: return a || b;
    }
}

static double real_reference(rh_lang_operator op, bool single, double a, double b)
{
    double rest = single ? (double)fmodf((float)a, (float)b) : fmod(a, b);
    switch (op) {
    case RH_LANG_ADD: return single ? (double)((float)a + (float)b) : a + b;
    case RH_LANG_SUB: return single ? (double)((float)a - (float)b) : a - b;
    case RH_LANG_MUL: return single ? (double)((float)a * (float)b) : a * b;
    case RH_LANG_DIV: return single ? (double)((float)a / (float)b) : a / b;
    case RH_LANG_MOD:
        if (rest == 0 || isnan(rest) || (rest < 0) == (b < 0)) return rest;
        return single ? (double)((float)rest + (float)b) : rest + b;
    case RH_LANG_EQ: return a == b;
    case RH_LANG_NE: return a < b || a > b;
    case RH_LANG_LT: return a < b;
    case RH_LANG_GT: return a > b;
    case RH_LANG_LE: return a <= b;
    case RH_LANG_GE: return a >= b;
    case RH_LANG_AND: return a != 0 && b != 0;
    default: return a != 0 || b != 0;
    }
}

static bool is_real(rh_lang_type type) { return type == RH_LANG_FLOAT || type == RH_LANG_DOUBLE; }

static void check_value(rh_lang_operator op, int ta, int tb, const lang_bench *b, int i)
{
    char name[8];
    rh_lang_rule rule;
    snprintf(name, sizeof name, "r%d", op);
    const void *ca = bench_column(b, "a"), *cb = bench_column(b, "b"), *cr = bench_column(b, name);
    if (!cr || !rh_lang_binary_rule(op, types[ta], types[tb], &rule)) return;
    rh_lang_type common = rh_lang_common(types[ta], types[tb]);
    bool single = common == RH_LANG_FLOAT;
    if (!is_real(common)) {
        int64_t x = whole(types[ta], ca, i), y = whole(types[tb], cb, i), found = whole(rule.result, cr, i),
                wanted = integer_reference(op, common, x, y);
        if (found != wanted)
            fail_msg("%s %s %s of %" PRId64 " and %" PRId64 ": %" PRId64 ", expected %" PRId64, type_names[ta],
                     rh_lang_operator_name(op), type_names[tb], x, y, found, wanted);
        return;
    }
    double x = real(types[ta], ca, i), y = real(types[tb], cb, i), found = real(rule.result, cr, i);
    // Whole numbers become reals directly, not by way of double.
    if (single)
        x = is_real(types[ta]) ? (float)x : (float)whole(types[ta], ca, i),
        y = is_real(types[tb]) ? (float)y : (float)whole(types[tb], cb, i);
    double wanted = real_reference(op, single, x, y);
    if (found != wanted && !(isnan(found) && isnan(wanted)))
        fail_msg("%s %s %s of %.17g and %.17g: %.17g, expected %.17g", type_names[ta], rh_lang_operator_name(op),
                 type_names[tb], x, y, found, wanted);
}

// All operators of a pair in one program. Each result is stored in a column of its own type (that of the rule), so it
// is seen as it is.
static void check_pair(int ta, int tb)
{
    char code[2048] = "";
    for (rh_lang_operator op = RH_LANG_ADD; op <= RH_LANG_OR; op++) {
        rh_lang_rule rule;
        bool bits = op >= RH_LANG_BIT_AND && op <= RH_LANG_SHR,
             legal = rh_lang_binary_rule(op, types[ta], types[tb], &rule);
        assert_int_equal(legal, !bits || !(is_real(types[ta]) || is_real(types[tb])));
        if (legal)
            snprintf(code + strlen(code), sizeof code - strlen(code), "%s@r%d = %s@a %s %s@b;\n",
                     rh_lang_type_name(rule.result), op, type_names[ta], rh_lang_operator_name(op), type_names[tb]);
    }
    lang_bench b;
    if (!bench_compile(&b, code, RH_LANG_POINTS, false)) fail_msg("%s: %s", code, b.status.message);
    bench_allocate(&b, SAMPLES * SAMPLES);
    for (int i = 0; i < SAMPLES * SAMPLES; i++) {
        put(types[ta], bench_column(&b, "a"), i, i % SAMPLES);
        put(types[tb], bench_column(&b, "b"), i, i / SAMPLES);
    }
    assert_int_equal(bench_run(&b), RH_OK);
    for (rh_lang_operator op = RH_LANG_ADD; op <= RH_LANG_OR; op++)
        for (int i = 0; i < SAMPLES * SAMPLES; i++) check_value(op, ta, tb, &b, i);
    bench_free(&b);
}

static void every_operator_on_every_pair(void **state)
{
    (void)state;
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) check_pair(a, b);
}

static void promotion(void **state)
{
    (void)state;
    assert_int_equal(rh_lang_common(RH_LANG_BOOL, RH_LANG_BOOL), RH_LANG_INT32);
    assert_int_equal(rh_lang_common(RH_LANG_INT16, RH_LANG_BOOL), RH_LANG_INT16);
    assert_int_equal(rh_lang_common(RH_LANG_INT64, RH_LANG_FLOAT), RH_LANG_FLOAT);
    assert_int_equal(rh_lang_common(RH_LANG_FLOAT, RH_LANG_DOUBLE), RH_LANG_DOUBLE);
    assert_int_equal(rh_lang_common(RH_LANG_VEC3I, RH_LANG_FLOAT), RH_LANG_VEC3F);
    assert_int_equal(rh_lang_common(RH_LANG_VEC3F, RH_LANG_VEC3D), RH_LANG_VEC3D);
    assert_int_equal(rh_lang_common(RH_LANG_VEC3F, RH_LANG_VEC2F), RH_LANG_VOID);
    assert_int_equal(rh_lang_common(RH_LANG_VEC3F, RH_LANG_MAT3F), RH_LANG_VOID);
    assert_int_equal(rh_lang_common(RH_LANG_STRING, RH_LANG_INT32), RH_LANG_VOID);
    assert_true(rh_lang_assignable(RH_LANG_VEC3F, RH_LANG_INT32) && rh_lang_assignable(RH_LANG_MAT4D, RH_LANG_FLOAT));
    assert_false(rh_lang_assignable(RH_LANG_FLOAT, RH_LANG_VEC3F) || rh_lang_assignable(RH_LANG_VEC4F, RH_LANG_VEC3F));
    assert_false(rh_lang_convertible(RH_LANG_VEC3F, RH_LANG_FLOAT));
}

static double run_one(const char *code, const char *name)
{
    lang_bench b;
    if (!bench_compile(&b, code, RH_LANG_POINTS, false)) fail_msg("%s: %s", code, b.status.message);
    bench_allocate(&b, 1);
    if (bench_run(&b) != RH_OK) fail_msg("%s: %s", code, b.status.message);
    double value = NAN;
    for (int i = 0; i < b.listing->attribute_count; i++)
        if (strcmp(b.listing->attributes[i].name, name) == 0)
            value = real(b.listing->attributes[i].type, b.columns[i].data, 0);
    bench_free(&b);
    return value;
}

static void conversions_outside_the_range(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        double expected;
    } cases[] = {
        {"i@r = int(1e20);", 2147483647},
        {"i@r = int(-1e20);", -2147483648.0},
        {"i@r = int(0.0 / 0.0);", 0},
        {"i@r = int(1.0f / 0.0f);", 2147483647},
        {"i@r = int(2147483647.0);", 2147483647},
        {"i@r = int(-2147483648.9);", -2147483648.0},
        {"i@r = int(-2.9f);", -2},
        {"i@r = int(2.9);", 2},
        {"int64@r = int64(1e30);", 9223372036854775807.0},
        {"int64@r = int64(-1e30f);", -9223372036854775808.0},
        {"int16@r = 40000.5;", -25536},
        {"int16@r = 70000;", 4464},
        {"bool@r = bool(0.1f);", 1},
        {"bool@r = bool(-0.0);", 0},
        {"bool@r = bool(0.0 / 0.0);", 0},
        {"bool@r = bool(256);", 1},
        {"int16@r = int16@r - 1; bool@r2 = int16@r;", -1},
        {"i@r = 2147483647 + 1;", -2147483648.0},
        {"int a = -2147483647 - 1; i@r = a / -1;", -2147483648.0},
        {"int a = -2147483647 - 1; i@r = a % -1;", 0},
        {"int a = -2147483647 - 1; i@r = abs(a);", -2147483648.0},
        {"i@r = 5 / 0;", 0},
        {"i@r = 5 % 0;", 5},
        {"i@r = 1 << 32;", 1},
        {"i@r = 1 << -1;", -2147483648.0},
        {"i@r = -1 >> 31;", -1},
        {"i@r = floormod(-7, 0);", -7},
        {"i@r = euclideanmod(-7, 3);", 2},
        {"i@r = truncatemod(-7, 3);", -1},
        {"double nan = 0.0 / 0.0; i@r = (nan == nan) + 2 * (nan != nan) + 4 * (nan < 1) + 8 * (nan >= 1);", 0},
        {"vec3d n = 0.0 / 0.0; i@r = (n == n) + 2 * (n != n);", 0},
        {"float n = 0.0f / 0.0f; i@r = !n;", 0},
        {"i@r = !0.0;", 1},
        {"float n = 0.0f / 0.0f; f@r = max(n, 3.0f);", 3},
        {"float n = 0.0f / 0.0f; f@r = min(3.0f, n);", 3},
        {"float n = 0.0f / 0.0f; f@r = clamp(n, 2.0f, 3.0f);", 2},
        {"float n = 0.0f / 0.0f; f@r = fit(n, 0.0f, 1.0f, 2.0f, 3.0f);", 2},
        {"float n = 0.0f / 0.0f; f@r = fit(0.1f, n, 1.0f, 2.0f, 3.0f);", 2.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double found = run_one(cases[i].code, "r");
        if (found != cases[i].expected) fail_msg("%s: %.17g, expected %.17g", cases[i].code, found, cases[i].expected);
    }
}

// Operands are read when their operator runs, from left to right; an index and a condition at once.
static void order_of_evaluation(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        double expected;
    } cases[] = {
        {"int a = 3; i@r = a + a++;", 7},
        {"int a = 3; i@r = a++ + a;", 7},
        {"int a = 3; i@r = a + (a = 5);", 10},
        {"int a = 3; i@r = -a + (a = 5);", 2},
        {"int a = 3; i@r = +a + (a = 5);", 10},
        {"int a = 3; i@r = (a++, a) + (a++, a);", 10},
        {"int a = 3; i@r = ++a += a;", 8},
        {"int a = 3; i@r = ++a + ++a;", 10},
        {"vec3f v = 1; int i = 0; v[i++] = i + 6; f@r = v[0] * 10 + i;", 71},
        {"vec3f v = 1; int i = 0; v[i] += (i = 2); f@r = v[0];", 3},
        {"vec3f v = {1, 2, 3}; int i = 0; f@r = v[i] + (i = 1) + v[i];", 4},
        {"int a = 3, b = 4; i@r = (a ? a : b) + (a = 5);", 10},
        {"int a = 3; i@r = (a ? a : 4) + (a = 5);", 8},
        {"vec3f v = 1; f@r = dot(1 ? v : {2.0f, 2.0f, 2.0f}, v = 3.0f);", 27},
        {"int a = 1; i@r = max(a, a++);", 2},
        {"int a = 3; i@r = 2 * a = 3 + 4;", 14},
        {"int a = 1; a && a = 7; i@r = a;", 7},
        {"int a = 3; i@r = -a = 4;", -4},
        {"int a = 7, b = 3; i@r = b * +a % 5;", 6},
        {"vec3f v = {1, 2, 3}; int i = 0; ++v[i++] = 7; f@r = v[0] + 10 * i;", 17},
        {"int a = 2, b = 5; i@r = (a > 1 ? (b > 9 ? a : b) : a) + (b = 1);", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double found = run_one(cases[i].code, "r");
        if (found != cases[i].expected) fail_msg("%s: %.17g, expected %.17g", cases[i].code, found, cases[i].expected);
    }
}

static void sorting_and_colours(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        double expected;
    } cases[] = {
        {"vec3f v = {3.0f, -1.0f, 2.0f}; v = sort(v); f@r = v[0] * 100 + v[1] * 10 + v[2];", -77},
        {"vec4i o = argsort({2.0f, 1.0f, 2.0f, 1.0f}); i@r = o[0] * 1000 + o[1] * 100 + o[2] * 10 + o[3];",
         1302},  // equal ones stay in order
        {"vec4i v = {2147483647, -2147483647, 0, -1}; v = sort(v); i@r = v[1] * 10 + v[2];", -10},
        {"vec3f h = rgbtohsv({0.5f, 0.25f, 0.25f}); f@r = h[0] * 100 + h[1] * 10 + h[2];", 5.5},
        {"vec3f h = rgbtohsv({0.0f, -1.0f, -2.0f}); f@r = abs(h[0]) + abs(h[1]) + abs(h[2]);", 0},  // black
        {"vec3d c = hsvtorgb({2.0 / 3 + 2, 1.0, 4.0}); double@r = floor(c[0] * 100 + c[1] * 10 + c[2] + 0.5);", 4},
        {"vec3f c = hsvtorgb({-1e-20f, 0.5f, 1.0f}); f@r = c[0] * 100 + c[1] * 10 + c[2];", 105.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double found = run_one(cases[i].code, "r");
        if (found != cases[i].expected) fail_msg("%s: %.17g, expected %.17g", cases[i].code, found, cases[i].expected);
    }
}

static void signatures(void **state)
{
    (void)state;
    rh_lang_signature s;
    for (int i = 0; i < rh_lang_function_count; i++)
        if (!rh_lang_signature_read(rh_lang_functions[i].signature, &s))
            fail_msg("%s: %s", rh_lang_functions[i].name, rh_lang_functions[i].signature);
    assert_true(rh_lang_signature_read("bool(mat3f, &vec3d)", &s));
    assert_true(s.result == RH_LANG_BOOL && s.count == 2 && s.arguments[1] == RH_LANG_VEC3D && s.written[1] &&
                !s.written[0]);
    assert_false(rh_lang_signature_read("float", &s) || rh_lang_signature_read("float(bar)", &s) ||
                 rh_lang_signature_read("float(int32", &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promotion),
        cmocka_unit_test(every_operator_on_every_pair),
        cmocka_unit_test(conversions_outside_the_range),
        cmocka_unit_test(order_of_evaluation),
        cmocka_unit_test(sorting_and_colours),
        cmocka_unit_test(signatures),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
