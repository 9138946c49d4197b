// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Lexer and parser: programs against their trees, after the grammar of docs/expressions.md.
#include <string.h>
#include "check.h"
#include "lang/lex.h"
#include "lang/parse.h"

typedef struct sample {
    const char *source, *tree;
} sample;

static void check_tree(const char *source, const char *expected)
{
    rh_status status = {0};
    rh_lang_messages messages = {0};
    rh_lang_unit unit = {.source = source, .length = strlen(source), .messages = &messages, .status = &status};
    rh_arena_init(&unit.arena, "test");
    rh_lang_node *tree = rh_lang_parse(&unit);
    if (messages.errors) fail_msg("%s: %s", source, messages.items[0].text);
    char *text = rh_lang_tree_print(tree, &status);
    char wanted[512];
    snprintf(wanted, sizeof wanted, expected[0] ? "(block %s)" : "(block)", expected);
    if (strcmp(text, wanted) != 0) fail_msg("%s\nfound    %s\nexpected %s", source, text, wanted);
    rh_free(text);
    rh_lang_messages_free(&messages);
    rh_arena_free(&unit.arena);
}

static void check_all(const sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) check_tree(samples[i].source, samples[i].tree);
}
#define CHECK_ALL(samples) check_all(samples, sizeof samples / sizeof samples[0])

static void literals(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"1;", "1"},
        {"12l;", "12l"},
        {"7s;", "7"},
        {"0;", "0"},
        {"2147483647;", "2147483647"},
        {"2147483648;", "-2147483648"},
        {"9223372036854775807l;", "9223372036854775807l"},
        {"18446744073709551615l;", "-1l"},
        {"1.5;", "1.5"},
        {".5;", "0.5"},
        {"1.;", "1"},
        {"1e3;", "1000"},
        {"1.5e+3;", "1500"},
        {"1E-2f;", "0.0099999997764825821f"},
        {"1.f;", "1f"},
        {".25f;", "0.25f"},
        {"true;", "true"},
        {"false;", "false"},
        {"\"a b\";", "\"a b\""},
        {"\"a\\\"b\\n\";", "\"a\\\"b\\n\""},
        {"\"\";", "\"\""},
        {"1 // comment\n;// more", "1"},
        {"", ""},
        {"\t\r\n ", ""},
        {";", "empty"},
        {"1e400;", "inf"},
    };
    CHECK_ALL(samples);
}

static void variables(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"a;", "a"},
        {"_a1;", "_a1"},
        {"@a;", "@a"},
        {"@ a;", "@a"},
        {"v@a;", "vec3f@a"},
        {"f@a;", "float@a"},
        {"i@a;", "int32@a"},
        {"s@a;", "string@a"},
        {"int16@a;", "int16@a"},
        {"3@a;", "mat3f@a"},
        {"4@a;", "mat4f@a"},
        {"float@a;", "float@a"},
        {"float @a;", "float@a"},
        {"int64@a;", "int64@a"},
        {"vector@a;", "vec3f@a"},
        {"matrix@a;", "mat4f@a"},
        {"matrix3@a;", "mat3f@a"},
        {"short@a;", "int32@a"},
        {"vec4d@a;", "vec4d@a"},
        {"$a;", "$a"},
        {"v$a;", "vec3f$a"},
        {"double$a;", "double$a"},
        {"s$a;", "string$a"},
        {"a.x;", "(index a 0)"},
        {"a.g;", "(index a 1)"},
        {"v@a.b;", "(index vec3f@a 2)"},
        {"a .z;", "(index a 2)"},
        {"a[1];", "(index a 1)"},
        {"m[1, i + 1];", "(index m 1 (+ i 1))"},
        {"a[b[0]];", "(index a (index b 0))"},
    };
    CHECK_ALL(samples);
}

// Every level of the grammar, and its neighbours.
static void precedence(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"a || b && c;", "(|| a (&& b c))"},
        {"a && b | c;", "(&& a (| b c))"},
        {"a | b ^ c;", "(| a (^ b c))"},
        {"a ^ b & c;", "(^ a (& b c))"},
        {"a & b == c;", "(& a (== b c))"},
        {"a == b < c;", "(== a (< b c))"},
        {"a != b >= c;", "(!= a (>= b c))"},
        {"a < b << c;", "(< a (<< b c))"},
        {"a << b + c;", "(<< a (+ b c))"},
        {"a + b * c;", "(+ a (* b c))"},
        {"a * b + c;", "(+ (* a b) c)"},
        {"a * -b;", "(* a (- b))"},
        {"a - b - c;", "(- (- a b) c)"},
        {"a / b % c * d;", "(* (% (/ a b) c) d)"},
        {"a >> b << c;", "(<< (>> a b) c)"},
        {"a <= b > c;", "(> (<= a b) c)"},
        {"(a + b) * c;", "(* (+ a b) c)"},
        {"- -a;", "(- (- a))"},
        {"!~+-a;", "(! (~ (+ (- a))))"},
        {"-a++;", "(- (post++ a))"},
        {"!--a;", "(! (-- a))"},
        {"a - -b;", "(- a (- b))"},
        {"a---b;", "(- (post-- a) b)"},
        {"a+++b;", "(+ (post++ a) b)"},
        {"++a++;", "(post++ (++ a))"},
        {"++++a;", "(++ (++ a))"},
        {"a ? b : c ? d : e;", "(? a b (? c d e))"},
        {"a ?: c;", "(? a c)"},
        {"a || b ? c : d;", "(? (|| a b) c d)"},
        {"a ? b = 1 : c;", "(? a (= b 1) c)"},
        {"a ? b : c = d;", "(? a b (= c d))"},
        {"a = b = c;", "(= a (= b c))"},
        {"a += b ? c : d;", "(+= a (? b c d))"},
        {"a = b + c;", "(= a (+ b c))"},
        {"a, b, c;", "(, a b c)"},
        {"a = 1, b = 2;", "(, (= a 1) (= b 2))"},
        {"(a, b) + c;", "(+ (, a b) c)"},
        {"f(a, (b, c));", "(call f a (, b c))"},
        {"a -= 1;", "(-= a 1)"},
        {"a *= 1;", "(*= a 1)"},
        {"a /= 1;", "(/= a 1)"},
        {"a %= 1;", "(%= a 1)"},
        {"a &= 1;", "(&= a 1)"},
        {"a |= 1;", "(|= a 1)"},
        {"a ^= 1;", "(^= a 1)"},
        {"a <<= 1;", "(<<= a 1)"},
        {"a >>= 1;", "(>>= a 1)"},
        {"v@a.x += 1;", "(+= (index vec3f@a 0) 1)"},
        {"++a = 3;", "(= (++ a) 3)"},
        {"float(a) + 1;", "(+ (cast float a) 1)"},
        {"int64(a + 1);", "(cast int64 (+ a 1))"},
        {"bool(a);", "(cast bool a)"},
        {"f();", "(call f)"},
        {"{1, 2, a + 3};", "(array 1 2 (+ a 3))"},
        {"a = {1, 2} + b;", "(= a (+ (array 1 2) b))"},
        {"{f(1), {2, 3}};", "(array (call f 1) (array 2 3))"},
    };
    CHECK_ALL(samples);
}

static void statements(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"float a;", "(declares (declare float a))"},
        {"float a = 1, b, c = a;", "(declares (declare float a 1) (declare float b) (declare float c a))"},
        {"{}", "(block)"},
        {"{ a; { b; } }", "(block a (block b))"},
        {"{ {} {} }", "(block (block) (block))"},
        {"{;}", "(block empty)"},
        {"if (a) b;", "(if a b)"},
        {"if (a) b; else c;", "(if a b c)"},
        {"if (a) if (b) c; else d;", "(if a (if b c d))"},
        {"if (a) {} else if (b) {} else {}", "(if a (block) (if b (block) (block)))"},
        {"if (a, b) c;", "(if (, a b) c)"},
        {"for (;;) a;", "(for empty empty empty a)"},
        {"for (int i = 0; i < 3; ++i) {}", "(for (declares (declare int32 i 0)) (< i 3) (++ i) (block))"},
        {"for (i = 0, j = 1; int k = i; ++i, ++j) k;",
         "(for (, (= i 0) (= j 1)) (declare int32 k i) (, (++ i) (++ j)) k)"},
        {"while (a) b;", "(for empty a empty b)"},
        {"while (int a = b) {}", "(for empty (declare int32 a b) empty (block))"},
        {"do a; while (b)", "(do a b)"},
        {"do { a; } while (b) c;", "(do (block a) b) c"},
        {"return;", "return"},
        {"while (a) { break; continue; }", "(for empty a empty (block break continue))"},
        {"if (a) int b = 1;", "(if a (declares (declare int32 b 1)))"},
        {"float @a = 1;", "(= float@a 1)"},
        {"a; ; b;", "a empty b"},
    };
    CHECK_ALL(samples);
}

static void places(void **state)
{
    (void)state;
    const char *source = "a\n  + bc;\n\"x\" 12.5f";
    rh_status status = {0};
    rh_lang_messages messages = {0};
    rh_lang_unit unit = {.source = source, .length = strlen(source), .messages = &messages, .status = &status};
    rh_arena_init(&unit.arena, "test");
    const rh_lang_token *t = rh_lang_lex(&unit);
    static const int expected[][3] = {{1, 1, 1}, {2, 3, 1}, {2, 5, 2}, {2, 7, 1}, {3, 1, 3}, {3, 5, 5}, {3, 10, 0}};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(t[i].at.line, expected[i][0]);
        assert_int_equal(t[i].at.column, expected[i][1]);
        assert_int_equal(t[i].at.length, expected[i][2]);
    }
    assert_int_equal(t[6].kind, RH_LANG_T_END);
    rh_arena_free(&unit.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals),   cmocka_unit_test(variables), cmocka_unit_test(precedence),
        cmocka_unit_test(statements), cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
