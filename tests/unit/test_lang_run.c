// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Programs from text to results: layouts of columns, threads, limits, strings, groups, values from outside, functions
// of the host.
#include "lang_bench.h"
#include "base/parallel.h"

static void must_compile(lang_bench *b, const char *code)
{
    if (!bench_compile(b, code, RH_LANG_POINTS, true)) fail_msg("%s: %s", code, b->status.message);
}

// The loop vectoriser calls the block it makes so. (Vectors inside one element would not count.)
static bool is_vectorised(const lang_bench *b)
{
    return strstr(rh_lang_program_text(b->program), "vector.body") != NULL;
}

// Gravity, drag and a move (the first program of Jones 2018, table 6.1) against the same in C, to the bit.
static const char simulation[] = "float dt = 1.0f / 96.0f;\n"
                                 "vec3f gravity = {0.0f, -9.81f, 0.0f}, wind = {2.0f, 0.0f, 0.0f};\n"
                                 "vec3f dV = wind - v@v;\n"
                                 "float speed = length(dV), re = speed * f@rad / 1.225f;\n"
                                 "float c = re > 1000.0f ? 24.0f / re : 0.424f;\n"
                                 "vec3f drag = 0.5f * 1.2f * c * speed * dV * 4.0f * 3.14f * f@rad * f@rad;\n"
                                 "v@v += (gravity - drag / ((4.0f / 3.0f) * 3.14f * f@rad * f@rad * f@rad)) * dt;\n"
                                 "v@P += v@v * dt;\n"
                                 "if (v@P.y < 0.0f) { v@P.y = 0.0f; v@v.y *= -0.5f; i@bounces++; }\n";

static void simulate(float *v, float *p, float rad, int32_t *bounces)
{
    float dt = 1.0f / 96.0f, gravity[3] = {0, -9.81f, 0}, wind[3] = {2, 0, 0}, dv[3];
    for (int k = 0; k < 3; k++) dv[k] = wind[k] - v[k];
    float speed = sqrtf(dv[0] * dv[0] + dv[1] * dv[1] + dv[2] * dv[2]), re = speed * rad / 1.225f,
          c = re > 1000.0f ? 24.0f / re : 0.424f;
    for (int k = 0; k < 3; k++) {
        float drag = 0.5f * 1.2f * c * speed * dv[k] * 4.0f * 3.14f * rad * rad;
        v[k] += (gravity[k] - drag / ((4.0f / 3.0f) * 3.14f * rad * rad * rad)) * dt;
        p[k] += v[k] * dt;
    }
    if (p[1] < 0) {
        p[1] = 0;
        v[1] *= -0.5f;
        ++*bounces;
    }
}

static void fill(float *values, int64_t count, float scale)
{
    for (int64_t i = 0; i < count; i++) values[i] = scale * (float)((i * 7919) % 1009 - 300) / 1009.0f;
}

static void equals_c_and_vectorises(void **state)
{
    (void)state;
    enum { N = 10007 };
    lang_bench b;
    must_compile(&b, simulation);
    assert_true(is_vectorised(&b));
    assert_true(b.listing->moves && !b.listing->deletes);
    bench_allocate(&b, N);
    float *v = bench_column(&b, "v"), *p = bench_column(&b, "P"), *rad = bench_column(&b, "rad");
    int32_t *bounces = bench_column(&b, "bounces");
    fill(v, 3 * N, 10);
    fill(p, 3 * N, 1);
    fill(rad, N, 0.01f);
    float *v2 = malloc(12 * N), *p2 = malloc(12 * N);
    int32_t *bounces2 = calloc(N, 4);
    memcpy(v2, v, 12 * N);
    memcpy(p2, p, 12 * N);
    assert_int_equal(bench_run(&b), RH_OK);
    for (int i = 0; i < N; i++) simulate(v2 + 3 * i, p2 + 3 * i, rad[i], &bounces2[i]);
    assert_memory_equal(v, v2, 12 * N);
    assert_memory_equal(p, p2, 12 * N);
    assert_memory_equal(bounces, bounces2, 4 * N);
    free(v2);
    free(p2);
    free(bounces2);
    bench_free(&b);
}

static void simple_programs_vectorise(void **state)
{
    (void)state;
    static const char *const codes[] = {
        "f@a = f@b * 2.0f + 1.0f;",
        "if (f@a > 0.0f) f@b = f@a; else f@b = -f@a;",
        "v@v = normalize(v@v);",
        "f@a = clamp(f@a, 0.0f, 1.0f);",
        "for (int i = 0; i < 3; ++i) v@v[i] = f@a + i;",
        "f@a = f@b > 0.0f && f@c < 1.0f ? sqrt(f@b) : floor(f@c);",
        "i@a = int(f@b);",
        "v@v = v@v * mat3f@m;",
        "if (v@P.x > 1.0f) deletepoint();",
        "if (f@a > 1.0f) addtogroup(\"hot\"); f@b = ingroup(\"old\") ? 1.0f : f@a;",
        "f@a = fit(f@b, 0.0f, 1.0f, 2.0f, 3.0f);",
        "f@a = f@b * $scale;",
        "f@a = f@b * external(\"scale\");",
        "int k = i@i; f@a = v@v[k];",
        "f@a = round(f@a) + abs(f@b);",
        "f@a = pow(f@b, 3.0f) + pow(f@c, -2.0f);",
        "f@a = simplexnoise(v@P);",
        "v@v = curlsimplexnoise(v@P * 2.0f);",
        "f@a = sin(f@b) + pow(f@c, f@b) * atan2(f@a, f@b);",
        "f@a = f@b % f@c;",
        "v@v = sort(v@v);",
        "v@v = rgbtohsv(hsvtorgb(v@v));",
        "mat3f@m = inverse(mat3f@m);",
        "f@a = f@b > 0.0f ? simplexnoise(v@P) : 0.0;",
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        lang_bench b;
        must_compile(&b, codes[i]);
        if (!is_vectorised(&b)) fail_msg("not vectorised: %s", codes[i]);
        bench_free(&b);
    }
    lang_bench b;
    must_compile(&b, "while (f@a > 1.0f) f@a *= 0.5f;");
    assert_false(is_vectorised(&b));
    bench_free(&b);
}

// Dense, strided, one value for all, and through a selection: the same values.
static void layouts(void **state)
{
    (void)state;
    enum { N = 3000 };
    typedef struct row {
        float x, y;
        double pad;
        int32_t n;
    } row;
    row *rows = calloc(N, sizeof *rows);
    float gain = 3;
    int64_t selection[N / 3];
    rh_lang_program *program;
    rh_lang_messages messages = {0};
    rh_status status = {0};
    const char code[] = "f@y = f@x * f@gain; i@n += 1;";
    assert_int_equal(
        rh_lang_compile(code, strlen(code), &(rh_lang_options){.domain = RH_LANG_POINTS}, &program, &messages, &status),
        RH_OK);
    const rh_lang_listing *l = rh_lang_program_listing(program);
    rh_lang_column columns[4];
    for (int i = 0; i < l->attribute_count; i++) {
        const char *name = l->attributes[i].name;
        columns[i] = strcmp(name, "x") == 0   ? (rh_lang_column){&rows->x, sizeof *rows}
                     : strcmp(name, "y") == 0 ? (rh_lang_column){&rows->y, sizeof *rows}
                     : strcmp(name, "n") == 0 ? (rh_lang_column){&rows->n, sizeof *rows}
                                              : (rh_lang_column){&gain, 0};
    }
    for (int i = 0; i < N; i++) rows[i] = (row){.x = (float)i, .pad = 5};
    for (int i = 0; i < N / 3; i++) selection[i] = 3 * i + 1;
    rh_lang_scope scope = {0};
    rh_lang_pool pool;
    rh_lang_result result;
    assert_int_equal(rh_lang_pool_init(&pool, program, &scope, &status), RH_OK);
    rh_lang_elements elements = {.attributes = columns, .selection = selection};
    assert_int_equal(rh_lang_pass(program, &pool, &elements, N / 3, &result, &status), RH_OK);
    for (int i = 0; i < N; i++)
        assert_true(rows[i].y == (i % 3 == 1 ? 3.0f * (float)i : 0) && rows[i].n == (i % 3 == 1) && rows[i].pad == 5);
    rh_lang_result_free(&result);
    elements.selection = NULL;
    assert_int_equal(rh_lang_pass(program, &pool, &elements, N, &result, &status), RH_OK);
    for (int i = 0; i < N; i++) assert_true(rows[i].y == 3.0f * (float)i && rows[i].n == 1 + (i % 3 == 1));
    rh_lang_result_free(&result);
    rh_lang_pool_free(&pool);
    rh_lang_program_free(program);
    rh_lang_messages_free(&messages);
    free(rows);
}

// Random numbers, strings, groups made on the way, loops: the same bits for any number of threads and any cut into
// ranges.
static void any_number_of_threads(void **state)
{
    (void)state;
    enum { N = 20000 };
    static const char code[] =
        "float s = 0; for (int i = 0; i < i@id % 7; ++i) s += sin(s + i); f@a = s + rand(i@id) + rand();"
        "if (rand() > 0.7) addtogroup(\"g\" + s@kind); s@kind += \"x\"; if (f@a > 2) deletepoint(); if (i@id % 5000 == "
        "0) print(i@id);";
    float *first = NULL;
    uint8_t *first_dead = NULL;
    rh_lang_result first_result = {0};
    for (int threads = 1; threads <= 4; threads++) {
        lang_bench b;
        rh_threads_set(threads);
        must_compile(&b, code);
        bench_allocate(&b, N);
        int32_t *id = bench_column(&b, "id");
        rh_lang_text *kind = bench_column(&b, "kind");
        for (int i = 0; i < N; i++) id[i] = i, kind[i] = (rh_lang_text){i % 3 ? "ab" : "c", i % 3 ? 2 : 1};
        assert_int_equal(bench_run(&b), RH_OK);
        for (int i = 0; i < N; i++)
            assert_true(kind[i].length == (i % 3 ? 3 : 2) && kind[i].data[kind[i].length - 1] == 'x');
        float *a = bench_column(&b, "a");
        if (!first) {
            first = malloc(N * sizeof *first);
            memcpy(first, a, N * sizeof *first);
            first_dead = malloc(N);
            memcpy(first_dead, b.dead, N);
            first_result = b.result;
            b.result = (rh_lang_result){0};
            assert_int_equal(first_result.group_count, 2);
            assert_int_equal(first_result.printed_length, strlen("0\n5000\n10000\n15000\n"));
        } else {
            assert_memory_equal(a, first, N * sizeof *first);
            assert_memory_equal(b.dead, first_dead, N);
            assert_int_equal(b.result.group_count, 2);
            for (int g = 0; g < 2; g++) {
                assert_int_equal(b.result.groups[g].count, first_result.groups[g].count);
                assert_memory_equal(b.result.groups[g].elements, first_result.groups[g].elements,
                                    (size_t)first_result.groups[g].count * sizeof(int64_t));
            }
        }
        bench_free(&b);
    }
    rh_threads_set(0);
    rh_lang_result_free(&first_result);
    free(first);
    free(first_dead);
}

static void refuses(const char *code, const char *expected)
{
    lang_bench b;
    must_compile(&b, code);
    bench_allocate(&b, 5000);
    for (int i = 0; i < b.listing->attribute_count; i++)
        if (strcmp(b.listing->attributes[i].name, "id") == 0)
            for (int k = 0; k < 5000; k++) ((int32_t *)b.columns[i].data)[k] = k;
    b.scope.steps = 1000;
    assert_int_equal(bench_run(&b), RH_USER);
    if (!strstr(b.status.message, expected))
        fail_msg("%s: found \"%s\", expected \"%s\"", code, b.status.message, expected);
    bench_free(&b);
}

static void limits(void **state)
{
    (void)state;
    refuses("while (true) {}", "1:1: an element took more than 1000 steps and was in this loop (if the program is "
                               "right, allow more: --budget");
    refuses("f@a = 1;\n  for (;;) { f@a += 1; }", "2:3: an element took more than 1000 steps");
    refuses("do {} while (1)", "took more than 1000 steps");
    refuses("for (int i = 0; i < 10; ++i) { i = 0; }", "took more than 1000 steps");
    refuses("for (int i = 0; i <= 2147483647; ++i) {}", "took more than 1000 steps");
    refuses("for (int i = 0; i < 100; ++i) for (int j = 0; j < 100; ++j) f@a += 1;", "took more than 1000 steps");
    refuses("if (i@id == 4321) while (true) {}", "took more than 1000 steps");
    refuses("string s = \"xxxxxxxxxxxxxxxx\"; for (int i = 0; i < 100; ++i) s += s;", "");
    refuses("int k = 3; f@a = v@v[k];",
            "1:18: the index 3 is outside of the vector, expected 0 to 2 (element 0, the first)");
    refuses("int k = -1; v@v[k] = 1;", "1:13: the index -1 is outside of the vector");
    refuses("int k = 9; f@a = mat3f@m[k];", "1:18: the index 9 is outside of the matrix, expected 0 to 8");
    refuses("int k = 3; f@a = mat3f@m[0, k];", "the index 3 is outside of the matrix, expected 0 to 2");
    refuses("int64 k = 4294967296l; v@v[k] = 1;", "the index 8388607 is outside");
    refuses("f@a = v@v[i@id == 4999 ? 3 : 0];",
            "the index 3 is outside of the vector, expected 0 to 2 (element 4999, the first)");
}

// The first of several failures is the one that is told, on any number of threads.
static void first_failure(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        rh_threads_set(threads);
        lang_bench b;
        must_compile(&b, "int k = 3;\nif (i@id == 30000) f@a = v@v[k];\nif (i@id == 70000) while (true) {}\nif (i@id > "
                         "90000) while (true) {}");
        bench_allocate(&b, 200000);
        for (int i = 0; i < 200000; i++) ((int32_t *)bench_column(&b, "id"))[i] = i;
        b.scope.steps = 100;
        assert_int_equal(bench_run(&b), RH_USER);
        if (strncmp(b.status.message, "2:", 2) != 0) fail_msg("%d threads: %s", threads, b.status.message);
        bench_free(&b);
    }
    rh_threads_set(0);
}

static void limits_can_be_raised(void **state)
{
    (void)state;
    lang_bench b;
    must_compile(&b, "int n = 0; for (int i = 0; i < i@limit; ++i) ++n; i@n = n;");
    bench_allocate(&b, 2);
    int32_t *limit = bench_column(&b, "limit");
    limit[0] = limit[1] = 20000000;
    assert_int_equal(bench_run(&b), RH_USER);
    rh_status_clear(&b.status);
    b.scope.steps = 20000000;
    rh_lang_pool_free(&b.pool);
    assert_int_equal(bench_run(&b), RH_OK);
    assert_int_equal(((int32_t *)bench_column(&b, "n"))[1], 20000000);
    bench_free(&b);
}

// An index outside reads 0 and writes nothing, whatever the message.
static void outside_touches_nothing(void **state)
{
    (void)state;
    lang_bench b;
    must_compile(&b, "int k = i@k; v@v[k] = 7; f@r = v@w[k] + 1;");
    bench_allocate(&b, 4);
    int32_t *k = bench_column(&b, "k");
    float *v = bench_column(&b, "v"), *w = bench_column(&b, "w"), *r = bench_column(&b, "r");
    k[0] = 1, k[1] = 3, k[2] = -1, k[3] = 2147483647;
    for (int i = 0; i < 12; i++) v[i] = w[i] = 5;
    assert_int_equal(bench_run(&b), RH_USER);
    for (int i = 0; i < 12; i++) assert_true(v[i] == (i == 1 ? 7 : 5));
    assert_true(r[0] == 6 && r[1] == 1 && r[2] == 1 && r[3] == 1);
    bench_free(&b);
}

static void externals_change_without_compiling(void **state)
{
    (void)state;
    lang_bench b;
    must_compile(
        &b,
        "f@a = $time * 2; v@b = v$wind; i@c = i$n; s@d = s$name; double@e = double$time2; f@missing = $nothing;"
        "f@g = external(\"time\"); v@h = externalv(\"wind\"); f@i = external(\"wind\"); f@j = external(\"ti\" + s@k);");
    bench_allocate(&b, 3);
    for (int i = 0; i < 3; i++) ((rh_lang_text *)bench_column(&b, "k"))[i] = (rh_lang_text){"me", 2};
    float time = 1.5f, wind[3] = {1, 2, 3};
    int32_t n = 7;
    rh_lang_text name = {"abc", 3};
    rh_lang_external externals[] = {{"time", "float", &time},
                                    {"wind", "vec3f", wind},
                                    {"n", "int32", &n},
                                    {"name", "string", &name},
                                    {"time2", "float", &time}};
    b.scope.externals = externals;
    b.scope.external_count = 5;
    for (int pass = 0; pass < 2; pass++, time = 4) {
        rh_lang_result_free(&b.result);
        assert_int_equal(bench_run(&b), RH_OK);
        assert_true(((float *)bench_column(&b, "a"))[2] == 2 * time && ((float *)bench_column(&b, "b"))[8] == 3);
        assert_true(((int32_t *)bench_column(&b, "c"))[1] == 7 && ((double *)bench_column(&b, "e"))[1] == 0);
        assert_memory_equal(((rh_lang_text *)bench_column(&b, "d"))[2].data, "abc", 3);
        assert_true(((float *)bench_column(&b, "g"))[1] == time && ((float *)bench_column(&b, "h"))[5] == 3 &&
                    ((float *)bench_column(&b, "i"))[1] == 0);
        assert_true(((float *)bench_column(&b, "j"))[1] == time);
    }
    bench_free(&b);
}

static void no_elements(void **state)
{
    (void)state;
    lang_bench b;
    must_compile(&b, "f@a = 1; addtogroup(\"g\"); print(f@a);");
    bench_allocate(&b, 0);
    assert_int_equal(bench_run(&b), RH_OK);
    assert_int_equal(b.result.printed_length, 0);
    b.count = 1;  // for bench_free
    bench_free(&b);
    must_compile(&b, "");
    bench_allocate(&b, 3);
    assert_int_equal(bench_run(&b), RH_OK);
    bench_free(&b);
}

static rh_lang_type host_type(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "mass") == 0 ? RH_LANG_DOUBLE : strcmp(name, "v") == 0 ? RH_LANG_VEC3F : RH_LANG_VOID;
}

static void matching(void **state)
{
    (void)state;
    static const char *const names[] = {"mass", "v"};
    rh_lang_host host = {
        .attribute = host_type, .external = host_type, .create_missing = true, .names = names, .name_count = 2};
    lang_bench b;
    must_compile(&b, "v@v += 1; double@mass = 2; f@fresh = 3;");
    assert_int_equal(rh_lang_match(b.program, &host, &b.messages, &b.status), RH_OK);
    host.create_missing = false;
    assert_int_equal(rh_lang_match(b.program, &host, &b.messages, &b.status), RH_USER);
    assert_string_equal(b.status.message, "1:28: there is no attribute \"fresh\"");
    bench_free(&b);
    must_compile(&b, "f@mass = 2; f@masss = $mass;");
    assert_int_equal(rh_lang_match(b.program, &host, &b.messages, &b.status), RH_USER);
    assert_int_equal(b.messages.errors, 3);
    assert_string_equal(b.messages.items[0].suggestion, "write double@mass");
    assert_string_equal(b.messages.items[1].suggestion, "did you mean @mass?");
    assert_string_equal(b.messages.items[2].suggestion, "write double$mass");
    bench_free(&b);
}

static void listing(void **state)
{
    (void)state;
    lang_bench b;
    must_compile(&b, "f@a = f@b; f@c += 1; v@d.x = 2; i@e++; if (ingroup(\"g\")) addtogroup(\"h\"); "
                     "removefromgroup(\"g\"); f@f = $t + neighbours(1.0f); deletepoint();");
    const rh_lang_listing *l = b.listing;
    static const struct {
        const char *name;
        bool reads, writes;
    } expected[] = {{"b", true, false}, {"a", false, true}, {"c", true, true},
                    {"d", true, true},  {"e", true, true},  {"f", false, true}};
    assert_int_equal(l->attribute_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(l->attributes[i].name, expected[i].name);
        assert_true(l->attributes[i].reads == expected[i].reads && l->attributes[i].writes == expected[i].writes);
    }
    assert_int_equal(l->group_count, 2);
    assert_true(l->groups[0].reads && !l->groups[0].adds && l->groups[0].removes && l->groups[1].adds &&
                !l->groups[1].reads);
    assert_true(l->deletes && !l->moves && l->neighbours && l->external_count == 1);
    bench_free(&b);
}

// A function of the host's own, with the context and a result through a pointer.
static void host_double_it(rh_lang_context *context, float *out, const float *v)
{
    for (int i = 0; i < 3; i++) out[i] = 2 * v[i] + (float)context->element;
}

static void functions_of_the_host(void **state)
{
    (void)state;
    static const rh_lang_function own[] = {
        {"double_it", "vec3f(vec3f)", (void (*)(void))host_double_it, RH_LANG_CONTEXT, "twice the vector"}};
    rh_lang_options options = {.domain = RH_LANG_POINTS, .functions = own, .function_count = 1};
    const char code[] = "v@v = double_it({1.0f, 2.0f, 3.0f});";
    lang_bench b = {0};
    assert_int_equal(rh_lang_compile(code, strlen(code), &options, &b.program, &b.messages, &b.status), RH_OK);
    b.listing = rh_lang_program_listing(b.program);
    bench_allocate(&b, 5000);
    assert_int_equal(bench_run(&b), RH_OK);
    for (int i = 0; i < 5000; i++) assert_true(((float *)bench_column(&b, "v"))[3 * i + 2] == 6.0f + (float)i);
    bench_free(&b);
}

static void wrong_functions_of_the_host(void **state)
{
    (void)state;
    static const rh_lang_function wrong[] = {{"f", "vec3f(colour)", (void (*)(void))host_double_it, 0, ""},
                                             {"g", "float()", NULL, 0, ""}};
    for (int i = 0; i < 2; i++) {
        rh_lang_options options = {.domain = RH_LANG_POINTS, .functions = &wrong[i], .function_count = 1};
        lang_bench b = {0};
        assert_int_equal(rh_lang_compile("@a = 1;", 7, &options, &b.program, &b.messages, &b.status), RH_USER);
        assert_non_null(strstr(b.status.message, "the host's function"));
        bench_free(&b);
    }
}

// Functions that write, called with targets whose index is a call: everything keeps its value.
static void calls_in_calls(void **state)
{
    (void)state;
    lang_bench b;
    must_compile(&b, "vec3d e; mat3d r; mat3d m = {2, 0, 0, 0, 3, 0, 0, 0, 4};"
                     "eigen(m, e, r); f@a = e.x + 10 * e.y + 100 * e.z;"
                     "f@b = dot(sort(hsvtorgb({0.0f, 0.0f, float(pow(2.0, 1))})), sort({3.0f, 1.0f, 2.0f}));"
                     "s@s = \"a\" + (\"b\" + \"c\") + (\"d\" + \"e\");");
    bench_allocate(&b, 2);
    assert_int_equal(bench_run(&b), RH_OK);
    assert_true(((float *)bench_column(&b, "a"))[1] == 4 + 30 + 200 && ((float *)bench_column(&b, "b"))[1] == 12);
    rh_lang_text *text = bench_column(&b, "s");
    assert_true(text[1].length == 5 && memcmp(text[1].data, "abcde", 5) == 0);
    bench_free(&b);
}

// Literal whole exponents become products: as exact as the C library, for all kinds of numbers.
static void small_powers(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    static const float odd[] = {0,      -0.0f,   1,     -1,     INFINITY, -INFINITY, NAN,
                                1e-45f, -1e-45f, 3e38f, -3e38f, 1e-38f,   2e19f,     1e-13f};
    lang_bench b;
    must_compile(&b, "f@p2 = pow(f@x, 2.0f); f@p3 = pow(f@x, 3.0f); f@p7 = pow(f@x, 7.0f); f@m1 = pow(f@x, -1.0f); "
                     "f@m4 = pow(f@x, -4.0f); f@root = pow(f@x, 0.5f);"
                     "double@d2 = pow(double@y, 2.0); double@d3 = pow(double@y, 3); double@n = pow(double@y, 0.0);");
    bench_allocate(&b, COUNT);
    float *x = bench_column(&b, "x");
    double *y = bench_column(&b, "y");
    for (int i = 0; i < COUNT; i++) {
        x[i] = i < (int)(sizeof odd / sizeof odd[0]) ? odd[i] : (float)((i % 2 ? -1 : 1) * exp(i * 0.04 - 80));
        y[i] = (double)x[i] * 1.1;
    }
    assert_int_equal(bench_run(&b), RH_OK);
    const struct {
        const char *name;
        float exponent;
    } floats[] = {{"p2", 2}, {"p3", 3}, {"p7", 7}, {"m1", -1}, {"m4", -4}, {"root", 0.5f}};
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < COUNT; i++) {
            float found = ((float *)bench_column(&b, floats[k].name))[i], expected = powf(x[i], floats[k].exponent);
            bool same = isnan(expected)
                            ? isnan(found)
                            : found == expected || fabsf(found - expected) <= 1.2e-7f * fabsf(expected) + 1.5e-45f;
            if (!same || (!isnan(found) && signbit(found) != signbit(expected)))
                fail_msg("pow(%a, %g): found %a, expected %a", (double)x[i], (double)floats[k].exponent, (double)found,
                         (double)expected);
        }
    const struct {
        const char *name;
        double exponent;
    } doubles[] = {{"d2", 2}, {"d3", 3}, {"n", 0}};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < COUNT; i++) {
            double found = ((double *)bench_column(&b, doubles[k].name))[i], expected = pow(y[i], doubles[k].exponent);
            assert_true(isnan(expected) ? isnan(found)
                                        : found == expected || fabs(found - expected) <= 2.3e-16 * fabs(expected));
        }
    bench_free(&b);
}

static void compiling_on_many_threads(void **state)
{
    (void)state;
    int wrong = 0;
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
    for (int i = 0; i < 16; i++) {
        char code[64];
        lang_bench b;
        snprintf(code, sizeof code, "f@a = %d.0f + sqrt(f@b);", i);
        bool good = bench_compile(&b, code, RH_LANG_POINTS, false);
        if (good) {
            bench_allocate(&b, 10);
            good = bench_run(&b) == RH_OK && ((float *)bench_column(&b, "a"))[9] == (float)i;
        }
        wrong += !good;
        bench_free(&b);
    }
    assert_int_equal(wrong, 0);
}

// Long programs are compiled with other passes and another code generator, which must give the same values.
static void long_programs(void **state)
{
    (void)state;
    static const struct {
        const char *piece, *column;
        int count;
        double expected;
    } cases[] = {{"i@a += 3; i@a ^= 5;", "a", 3000, 0},
                 {"4@m *= 4@n; i@a += 1;", "a", 150, 150},
                 {"4@m *= 4@n; i@a += 1;", "a", 400, 400},
                 {"for (int i = 0; i < 5; ++i) i@a += i;", "a", 300, 3000}};
    int32_t reference = 0;
    for (int i = 0; i < 3000; i++) reference = (reference + 3) ^ 5;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        size_t length = strlen(cases[c].piece);
        char *code = calloc(1, length * (size_t)cases[c].count + 1);
        for (int i = 0; i < cases[c].count; i++) memcpy(code + (size_t)i * length, cases[c].piece, length);
        lang_bench b;
        must_compile(&b, code);
        bench_allocate(&b, 40);
        assert_int_equal(bench_run(&b), RH_OK);
        for (int i = 0; i < 40; i++)
            assert_int_equal(((int32_t *)bench_column(&b, cases[c].column))[i],
                             c == 0 ? reference : (int32_t)cases[c].expected);
        bench_free(&b);
        free(code);
    }
}

static void too_many_variables(void **state)
{
    (void)state;
    char *code = calloc(1, 1 << 16);
    for (int i = 0; i < 600; i++) sprintf(code + strlen(code), "mat4d m%d = 1; mat4d@m += m%d;", i, i);
    lang_bench b;
    assert_false(bench_compile(&b, code, RH_LANG_POINTS, false));
    assert_non_null(strstr(b.status.message, "expected at most 8192"));
    bench_free(&b);
    code[strlen(code) / 2] = 0;
    *strrchr(code, ';') = 0;
    strcat(code, ";");
    must_compile(&b, code);
    bench_allocate(&b, 20);
    assert_int_equal(bench_run(&b), RH_OK);
    assert_true(((double *)bench_column(&b, "m"))[0] >= 295);
    bench_free(&b);
    free(code);
}

// Every row of the table can be called: it has a symbol or code of its own.
static void every_function_compiles(void **state)
{
    (void)state;
    static const char *const values[] = {
        [RH_LANG_BOOL] = "true",  [RH_LANG_INT32] = "2",     [RH_LANG_INT64] = "3l",
        [RH_LANG_FLOAT] = "0.5f", [RH_LANG_DOUBLE] = "0.25", [RH_LANG_STRING] = "\"a\""};
    for (int i = 0; i < rh_lang_function_count; i++) {
        const rh_lang_function *row = &rh_lang_functions[i];
        char code[1024] = "", call[256] = "", types[128];
        const char *open = strchr(row->signature, '(') + 1;
        snprintf(types, sizeof types, "%.*s", (int)strcspn(open, ")"), open);
        int k = 0;
        for (char *type = strtok(types, ", "); type; type = strtok(NULL, ", "), k++) {
            if (*type == '&') type++;
            rh_lang_type t = rh_lang_type_named(type, strlen(type));
            snprintf(code + strlen(code), sizeof code - strlen(code), "%s x%d = %s; ", type, k,
                     rh_lang_is_container(t) ? "1" : values[t]);
            snprintf(call + strlen(call), sizeof call - strlen(call), "%sx%d", k ? ", " : "", k);
        }
        size_t used = strlen(code);
        if (strncmp(row->signature, "void(", 5) == 0)
            snprintf(code + used, sizeof code - used, "%s(%s);", row->name, call);
        else
            snprintf(code + used, sizeof code - used, "%.*s@r = %s(%s);", (int)(open - 1 - row->signature),
                     row->signature, row->name, call);
        lang_bench b;
        if (!bench_compile(&b, code, row->flags & RH_LANG_VOLUMES ? RH_LANG_VOLUMES : RH_LANG_POINTS, false))
            fail_msg("%s: %s", code, b.status.message);
        bench_free(&b);
    }
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (int n = 0; n < 100; n++) {
        lang_bench b;
        must_compile(&b, "s@a += \"b\"; f@c = $d; if (ingroup(s@a)) addtogroup(s@a + \"x\"); print(f@c);");
        bench_allocate(&b, 3);
        rh_memory_fail_after(n);
        rh_code code = bench_run(&b);
        rh_memory_fail_after(-1);
        bench_free(&b);
        if (code == RH_OK) return;
        assert_int_equal(code, RH_MEMORY);
    }
    fail_msg("never succeeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_c_and_vectorises),
        cmocka_unit_test(simple_programs_vectorise),
        cmocka_unit_test(layouts),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(limits),
        cmocka_unit_test(first_failure),
        cmocka_unit_test(limits_can_be_raised),
        cmocka_unit_test(outside_touches_nothing),
        cmocka_unit_test(externals_change_without_compiling),
        cmocka_unit_test(no_elements),
        cmocka_unit_test(matching),
        cmocka_unit_test(listing),
        cmocka_unit_test(functions_of_the_host),
        cmocka_unit_test(wrong_functions_of_the_host),
        cmocka_unit_test(calls_in_calls),
        cmocka_unit_test(small_powers),
        cmocka_unit_test(compiling_on_many_threads),
        cmocka_unit_test(long_programs),
        cmocka_unit_test(too_many_variables),
        cmocka_unit_test(every_function_compiles),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
