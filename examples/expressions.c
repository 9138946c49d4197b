// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Expressions over arrays of one's own: a cloud of sparks falls, drifts in a wind that is a C function of this program,
// glows by its speed and dies on the floor. Prints what the program uses and how many are left; ends with 1 when a
// result is not what it should be.
//   expressions
#include <rheo/rheo.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 10000, STEPS = 48 };

static float P[COUNT][3], v[COUNT][3], Cd[COUNT][3];
static int64_t id[COUNT];
static unsigned char deleted[COUNT], fast[COUNT];

// vec3f wind(vec3f place, float time): the result comes first, vectors are pointers to their elements.
static void wind(float *out, const float *place, float time)
{
    out[0] = 3 * sinf(place[1] + time);
    out[1] = 0;
    out[2] = 3 * cosf(place[1] + time);
}

static const char code[] = "v@v += ({0.0f, -9.81f, 0.0f} + wind(v@P, $time)) * $dt;\n"
                           "v@P += v@v * $dt;\n"
                           "float speed = length(v@v);\n"
                           "v@Cd = {1.0f, speed / 10, speed / 40};\n"
                           "if (speed > 5) addtogroup(\"fast\");\n"
                           "if (v@P.y < 0) deletepoint();\n";

static void list_uses(const rheo_expression *program)
{
    static const char *const kinds[] = {"attribute", "value", "group"};
    for (int i = 0; i < rheo_expression_use_count(program); i++) {
        rheo_use use = rheo_expression_use(program, i);
        printf("  %-10s %-6s %-5s %s%s\n", kinds[use.kind], use.name, use.type, use.reads ? "reads " : "",
               use.writes ? "writes" : "");
    }
}

// Elements may not vanish while a program runs: it marks them, and the caller moves the others together.
static int64_t remove_deleted(int64_t count)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (deleted[i]) continue;
        memmove(P[kept], P[i], sizeof P[i]);
        memmove(v[kept], v[i], sizeof v[i]);
        memmove(Cd[kept], Cd[i], sizeof Cd[i]);
        id[kept] = id[i];
        fast[kept++] = fast[i];
    }
    return kept;
}

static int fail(const rheo_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return 1;
}

int main(void)
{
    rheo_error error;
    rheo_expression *start, *program;
    const rheo_function functions[] = {{"wind", "vec3f(vec3f, float)", (void (*)(void))wind, 1}};
    const rheo_array arrays[] = {{"P", "vec3f", P, 0},
                                 {"v", "vec3f", v, 0},
                                 {"Cd", "vec3f", Cd, 0},
                                 {"id", "int64", id, 0},
                                 {"fast", "group", fast, 0}};
    float dt = 1.0f / 48, time = 0;
    const rheo_value values[] = {{"dt", "float", &dt}, {"time", "float", &time}};
    rheo_pass pass = {.count = COUNT,
                      .arrays = arrays,
                      .array_count = 5,
                      .values = values,
                      .value_count = 2,
                      .deleted = deleted,
                      .seed = 7};

    // A mistake is told as a person would read it.
    if (rheo_expression_compile("v@v += wint(v@P, $time);", functions, 1, &program, &error) != RHEO_USER ||
        !strstr(error.message, "did you mean wind?"))
        return fail(&error);
    printf("%s\n", error.message);

    for (int64_t i = 0; i < COUNT; i++) id[i] = i;
    if (rheo_expression_compile("v@P = {rand() - 0.5, 2 + rand(), rand() - 0.5};", NULL, 0, &start, &error) != RHEO_OK)
        return fail(&error);
    if (rheo_expression_run(start, &pass, &error) != RHEO_OK) return fail(&error);
    rheo_expression_free(start);

    if (rheo_expression_compile(code, functions, 1, &program, &error) != RHEO_OK) return fail(&error);
    list_uses(program);
    for (int n = 0; n < STEPS && pass.count > 0; n++) {
        if (rheo_expression_run(program, &pass, &error) != RHEO_OK) return fail(&error);
        pass.count = remove_deleted(pass.count);
        time += dt;
        if (n % 12 == 11) printf("time %.2f s  sparks %lld\n", (double)time, (long long)pass.count);
    }
    rheo_expression_free(program);
    // From a height h a spark falls for sqrt(2 h / g): 0.64 to 0.78 s from 2 to 3 m, so after a second none is left.
    return pass.count == 0 && rheo_memory_bytes() == 0 ? 0 : 1;
}
