// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The public interface to expressions: arrays of any layout, functions of the caller, neighbours, and every way to give
// it the wrong things. (examples/expressions.c is the way it is meant.)
#include "support.h"
#include <pthread.h>
#include <rheo/rheo.h>

enum { COUNT = 5000 };

static rheo_expression *compile(const char *code)
{
    rheo_error error;
    rheo_expression *e;
    if (rheo_expression_compile(code, NULL, 0, &e, &error) != RHEO_OK) fail_msg("%s", error.message);
    return e;
}

static void run(const rheo_expression *e, const rheo_pass *pass)
{
    rheo_error error;
    if (rheo_expression_run(e, pass, &error) != RHEO_OK) fail_msg("%s", error.message);
    assert_string_equal(error.message, "");
}

static void layouts(void **state)
{
    (void)state;
    typedef struct grain {
        double mass;
        float v[3];
        int32_t kind;
    } grain;
    static grain grains[COUNT];
    static double packed[COUNT];
    for (int i = 0; i < COUNT; i++) grains[i] = (grain){i, {1, 2, 3}, i % 3};
    rheo_expression *e = compile(
        "double@mass *= 2; v@v.y = float(i@kind); double@energy = double@mass * lengthsq(v@v) / 2;");
    const rheo_array arrays[] = {{"mass", "double", &grains[0].mass, sizeof(grain)},
                                 {"v", "vec3f", grains[0].v, sizeof(grain)},
                                 {"kind", "int32", &grains[0].kind, sizeof(grain)},
                                 {"energy", "double", packed, 0}};
    run(e, &(rheo_pass){.count = COUNT, .arrays = arrays, .array_count = 4});
    for (int i = 0; i < COUNT; i++) {
        assert_true(grains[i].mass == 2 * i && grains[i].v[1] == (float)(i % 3) && grains[i].kind == i % 3);
        assert_near(packed[i], i * (10.0 + (i % 3) * (i % 3)), 1e-6 * packed[i]);
    }
    run(e, &(rheo_pass){.count = 0, .arrays = arrays, .array_count = 4});
    rheo_expression_free(e);
    assert_int_equal(rheo_memory_bytes(), 0);
}

// --- functions of the caller -----------------------------------------------------------------------------------------

static int32_t add(int32_t a, int64_t b) { return a + (int32_t)b; }
static double halve(double x) { return x / 2; }
static void cross(float *out, const float *a, const float *b)
{
    const float c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    memcpy(out, c, sizeof c);
}
static void swap(float *a, float *b)
{
    float t[3];
    memcpy(t, a, sizeof t);
    memcpy(a, b, sizeof t);
    memcpy(b, t, sizeof t);
}
#define FUNCTION(f) ((void (*)(void))(f))

static void functions(void **state)
{
    (void)state;
    rheo_error error;
    rheo_expression *e;
    char name[] = "add";
    const rheo_function list[] = {{name, "int32(int32, int64)", FUNCTION(add), 1},
                                  {"halve", "double(double)", FUNCTION(halve), 1},
                                  {"my_cross", "vec3f(vec3f, vec3f)", FUNCTION(cross), 1},
                                  {"swap", "void(&vec3f, &vec3f)", FUNCTION(swap), 0}};
    if (rheo_expression_compile("i@a = add(i@a, 40l); f@b = halve(f@b); v@p = my_cross(v@p, v@q); swap(v@q, v@r);",
                                list, 4, &e, &error) != RHEO_OK)
        fail_msg("%s", error.message);
    name[0] = 'x';  // texts were copied
    int32_t a[2] = {2, 3};
    float b[2] = {5, 7}, p[2][3] = {{1, 0, 0}, {0, 1, 0}}, q[2][3] = {{0, 1, 0}, {0, 0, 1}},
          r[2][3] = {{7, 8, 9}, {4, 5, 6}};
    const rheo_array arrays[] = {
        {"a", "int32", a, 0}, {"b", "float", b, 0}, {"p", "vec3f", p, 0}, {"q", "vec3f", q, 0}, {"r", "vec3f", r, 0}};
    run(e, &(rheo_pass){.count = 2, .arrays = arrays, .array_count = 5});
    assert_true(a[0] == 42 && a[1] == 43 && b[0] == 2.5f && b[1] == 3.5f);
    assert_true(p[0][2] == 1 && p[1][0] == 1 && q[0][1] == 8 && r[1][2] == 1);
    rheo_expression_free(e);
    const rheo_function wrong[] = {{"f", "float(vec9x)", FUNCTION(halve), 1}};
    assert_int_equal(rheo_expression_compile("f@a = 1;", wrong, 1, &e, &error), RHEO_USER);
    assert_non_null(strstr(error.message, "vec9x"));
    assert_null(e);
    assert_int_equal(rheo_memory_bytes(), 0);
}

static float twice(float x) { return 2 * x; }

// The caller's functions in programs of a scene; a scene that calls one nobody brings is refused with its place.
static void functions_of_scenes(void **state)
{
    (void)state;
    rheo_error error;
    rheo_simulation *s;
    char name[] = "twice";
    const rheo_function list[] = {{name, "float(float)", FUNCTION(twice), 1},
                                  {"my_cross", "vec3f(vec3f, vec3f)", FUNCTION(cross), 1}};
    const char *scene = RHEO_SOURCE_DIR "/tests/cli/tiny2d.yaml";
    const char *const settings[] = {
        "expressions=[{at: start, code: 'f@doubled = twice(v@P.x); v@n = my_cross({0.0f, 0.0f, 1.0f}, v@P);'}]"};
    if (rheo_open_with(scene, settings, 1, list, 2, &s, &error) != RHEO_OK) fail_msg("%s", error.message);
    name[0] = 'x';  // texts were copied
    if (rheo_advance_frame(s, &error) != RHEO_OK) fail_msg("%s", error.message);
    const float *doubled = rheo_points_float(s, "doubled", 1), *n = rheo_points_float(s, "n", 3);
    assert_true(rheo_point_count(s) > 1000 && doubled && n);
    for (int64_t i = 0; i < rheo_point_count(s); i++)
        assert_true(n[3 * i + 1] > 0 && doubled[i] == 2 * n[3 * i + 1]);  // z cross P = (-y, x, 0)
    rheo_close(s);
    assert_int_equal(rheo_open(scene, settings, 1, &s, &error), RHEO_USER);
    assert_null(s);
    assert_non_null(strstr(error.message, "there is no function twice"));
    assert_int_equal(rheo_memory_bytes(), 0);
}

// --- points ----------------------------------------------------------------------------------------------------------

static void points(void **state)
{
    (void)state;
    static float P[COUNT][3], near[COUNT], drawn[COUNT], again[COUNT];
    static int64_t id[COUNT];
    static unsigned char deleted[COUNT], odd[COUNT];
    for (int i = 0; i < COUNT; i++) {
        P[i][0] = (float)(COUNT - 1 - i) * 0.1f;  // on a line, the other way round
        id[i] = i;
    }
    const char *code = "f@near = neighbours(0.15f); v@P.x += 100; f@drawn = rand(); if (int64@id % 2l == 1l) { "
                       "addtogroup(\"odd\"); if (ingroup(\"odd\")) deletepoint(); }";
    rheo_expression *e = compile(code);
    assert_int_equal(rheo_expression_deletes(e), 1);
    assert_true(rheo_expression_seconds(e) > 0);
    rheo_array arrays[] = {{"P", "vec3f", P, 0},
                           {"near", "float", near, 0},
                           {"drawn", "float", drawn, 0},
                           {"id", "int64", id, 0},
                           {"odd", "group", odd, 0}};
    rheo_pass pass = {.count = COUNT, .arrays = arrays, .array_count = 5, .deleted = deleted, .seed = 3};
    rheo_set_threads(3);
    run(e, &pass);
    for (int i = 0; i < COUNT; i++) {
        assert_true(near[i] == (i == 0 || i == COUNT - 1 ? 2 : 3));
        assert_true(odd[i] == i % 2 && deleted[i] == i % 2);
    }
    // The number belongs to the id, wherever it stands.
    for (int i = 0; i < COUNT; i++) id[i] = COUNT - 1 - i;
    arrays[2].data = again;
    rheo_set_threads(1);
    run(e, &pass);
    for (int i = 0; i < COUNT; i++) assert_true(again[i] == drawn[COUNT - 1 - i]);
    rheo_set_threads(0);
    rheo_expression_free(e);
    assert_int_equal(rheo_memory_bytes(), 0);
}

// --- wrong things ----------------------------------------------------------------------------------------------------

static void refuse(const char *code, const rheo_pass *pass, const char *expected)
{
    rheo_error error;
    rheo_expression *e = compile(code);
    rheo_code found = rheo_expression_run(e, pass, &error);
    if (found != RHEO_USER || !strstr(error.message, expected))
        fail_msg("%s: expected %s\nfound (%d) %s", code, expected, (int)found, error.message);
    rheo_expression_free(e);
    assert_int_equal(rheo_memory_bytes(), 0);
}

static void wrong_things(void **state)
{
    (void)state;
    static float heat[COUNT], P[COUNT][3];
    const rheo_array arrays[] = {{"heat", "float", heat, 0}, {"P", "vec3f", P, 16}, {"gone", "float", NULL, 0}};
    const rheo_pass pass = {.count = COUNT, .arrays = arrays, .array_count = 3, .budget = 1000};
    refuse("f@haet = 1;", &pass, "1:1: no array was given for float@haet (did you mean heat?)");
    refuse("\nv@heat = 1;", &pass, "2:1: the array of \"heat\" is float, the program takes it for vec3f");
    refuse("f@gone = 1;", &pass, "the array of \"gone\" is NULL");
    refuse("f@heat = 1; deletepoint();", &pass, "`deleted` is NULL");
    refuse("f@heat = neighbours(1.0f);", &pass, "an array \"P\" of vec3f");
    refuse("addtogroup(\"wet\");", &pass, "the group \"wet\", which was not made");
    refuse("string a = \"we\"; a += \"t\"; addtogroup(a);", &pass,
           "makes the group \"wet\", for which no array was given");
    refuse("while (true) f@heat += 1;", &pass, "1:1: an element took more than 1000 steps");
    rheo_error error;
    rheo_expression *e;
    assert_int_equal(rheo_expression_compile("f@a = lenth(v@v)", NULL, 0, &e, &error), RHEO_USER);
    assert_null(e);
    assert_int_equal(rheo_expression_compile("f@a = 1 +;", NULL, 0, &e, NULL),
                     RHEO_USER);  // nobody need look at the error
    assert_int_equal(rheo_memory_bytes(), 0);
}

// --- from several threads at once ------------------------------------------------------------------------------------

typedef struct worker {
    const rheo_expression *e;
    float values[COUNT];
    float offset;
} worker;

static void *work(void *user)
{
    worker *w = user;
    const rheo_array arrays[] = {{"a", "float", w->values, 0}};
    const rheo_value values[] = {{"offset", "float", &w->offset}};
    for (int n = 0; n < 20; n++)
        if (rheo_expression_run(
                w->e,
                &(rheo_pass){.count = COUNT, .arrays = arrays, .array_count = 1, .values = values, .value_count = 1},
                NULL) != RHEO_OK)
            return NULL;
    return w;
}

static void several_at_once(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    rheo_expression *e = compile("for (int i = 0; i < int64(@a) % 5l; ++i) @a += 0; @a += $offset;");
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.e = e, .offset = (float)i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *done;
        pthread_join(threads[i], &done);
        assert_non_null(done);
        for (int k = 0; k < COUNT; k++) assert_true(workers[i].values[k] == 20 * (float)i);
    }
    rheo_expression_free(e);
    assert_int_equal(rheo_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts), cmocka_unit_test(functions),    cmocka_unit_test(functions_of_scenes),
        cmocka_unit_test(points),  cmocka_unit_test(wrong_things), cmocka_unit_test(several_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
