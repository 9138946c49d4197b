// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The run-time library against what OpenVDB AX itself computed from the same inputs (tests/lang/golden/functions*.txt):
// random numbers, hashes and whole numbers to the bit, the rest within rounding.
#include "support.h"
#include "lang/golden.h"
#include "lang/library/library.h"

enum { MAX_POINTS = 16 };

static golden_rows inputs;
static golden_file functions, numbers;

static int open_files(void **state)
{
    (void)state;
    inputs = golden_input("points");
    functions = golden_open("functions"), numbers = golden_open("functions_numbers");
    return inputs.points > 0 && inputs.points <= MAX_POINTS ? 0 : -1;
}

static int close_files(void **state)
{
    golden_free(&inputs);
    golden_close(&functions), golden_close(&numbers);
    return nothing_left(state);
}

static const golden_row *input(const char *name)
{
    const golden_row *row = golden_find(&inputs, name);
    if (!row) fail_msg("there is no input %s", name);
    return row;
}

static const golden_row *output(const char *program, const char *name)
{
    const golden_program *p = golden_program_named(&functions, program);
    if (!p) p = golden_program_named(&numbers, program);
    if (!p) fail_msg("there is no program %s", program);
    const golden_row *row = golden_find(&p->rows, name);
    if (!row) fail_msg("the program %s has no output %s", program, name);
    return row;
}

static void reals(const golden_row *row, int point, int width, double *out)
{
    assert_int_equal(row->count, width * inputs.points);
    for (int i = 0; i < width; i++) out[i] = golden_real(row->words[point * width + i]);
}

static double number(const char *name, int point)
{
    double value;
    reals(input(name), point, 1, &value);
    return value;
}

static void narrow(float *out, const double *in, int count)
{
    for (int i = 0; i < count; i++) out[i] = (float)in[i];
}

static void check(const char *program, const char *name, int point, const double *found, int width, double tolerance)
{
    double expected[16];
    reals(output(program, name), point, width, expected);
    for (int i = 0; i < width; i++)
        if (!(fabs(found[i] - expected[i]) <= tolerance * fmax(1, fabs(expected[i]))))
            fail_msg("%s, %s, point %d, component %d: found %.17g, expected %.17g", program, name, point, i, found[i],
                     expected[i]);
}

static void check_one(const char *program, const char *name, int point, double found, double tolerance)
{
    check(program, name, point, &found, 1, tolerance);
}

static void check_floats(const char *program, const char *name, int point, const float *found, int width)
{
    double wide[16];
    for (int i = 0; i < width; i++) wide[i] = found[i];
    check(program, name, point, wide, width, 4e-6);
}

static rh_lang_text name_of(int point)
{
    char *word = input("name")->words[point];
    return (rh_lang_text){word, (int64_t)strlen(word)};
}

static rh_lang_text text(const char *data) { return (rh_lang_text){data, (int64_t)strlen(data)}; }

// --- the table -------------------------------------------------------------------------------------------------------

static bool same_signature(const char *ours, const char *theirs)  // theirs does not say which arguments are written
{
    for (; *ours; ours++)
        if (*ours != '&' && *ours != *theirs++) return false;
    return *theirs == 0;
}

static int row_of(const char *name, const char *signature)
{
    for (int i = 0; i < rh_lang_function_count; i++)
        if (strcmp(rh_lang_functions[i].name, name) == 0 && same_signature(rh_lang_functions[i].signature, signature))
            return i;
    return -1;
}

// Every overload is there, and those of a name in the order in which they are tried.
static void all_overloads_are_there(void **state)
{
    (void)state;
    char path[1024], line[256], before[256] = "";
    int row_before = -1, count = 0;
    snprintf(path, sizeof path, "%s/tests/lang/signatures.txt", RHEO_SOURCE_DIR);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        line[strcspn(line, "\n")] = 0;
        char *signature = strchr(line, ' ');
        assert_non_null(signature);
        *signature++ = 0;
        int row = row_of(line, signature);
        if (row < 0) fail_msg("there is no %s %s", line, signature);
        if (strcmp(before, line) == 0 && row < row_before) fail_msg("%s %s comes too early", line, signature);
        snprintf(before, sizeof before, "%s", line);
        row_before = row, count++;
    }
    fclose(file);
    assert_true(count > 200);
}

// --- random ----------------------------------------------------------------------------------------------------------

static void random_numbers(void **state)
{
    (void)state;
    rh_lang_scope scope = {0};
    rh_lang_context *context = test_malloc(sizeof *context);
    rh_status status = {0};
    assert_ok(rh_lang_context_init(context, &scope, &status));
    for (int p = 0; p < inputs.points; p++) {
        int64_t l = golden_whole(input("l")->words[p]);
        int32_t i = (int32_t)golden_whole(input("i")->words[p]);
        context->element = p;
        check_one("rand_int64", "r", p, rh_lang_rand_l(context, l), 0);
        check_one("rand_int64", "r2", p, rh_lang_rand_l(context, 42), 0);
        check_one("rand_int", "r", p, rh_lang_rand_d(context, i), 0);
        check_one("rand_double", "r", p, rh_lang_rand_d(context, number("d", p)), 0);
        check_one("rand_double", "r3", p, rh_lang_rand_d(context, -0.0), 0);
        check_one("rand_float", "r", p, rh_lang_rand_d(context, number("f", p)), 0);
        check_one("rand_continues", "r", p, rh_lang_rand_d(context, p), 0);
        check_one("rand_continues", "r2", p, rh_lang_rand(context), 0);
        check_one("rand_continues", "r3", p, rh_lang_rand(context), 0);
        double sum = rh_lang_rand_l(context, 7);
        for (int k = 0; k < 700; k++) sum += rh_lang_rand(context);
        check_one("rand_many", "r", p, sum, 0);
        check_one("rand32_int", "r", p, rh_lang_rand32_i(context, i), 0);
        check_one("rand32_double", "r", p, rh_lang_rand32_d(context, number("d", p)), 0);
        check_one("rand32_continues", "r", p, rh_lang_rand32_i(context, p), 0);
        check_one("rand32_continues", "r2", p, rh_lang_rand32(context), 0);
        sum = rh_lang_rand32_i(context, 7);
        for (int k = 0; k < 1300; k++) sum += rh_lang_rand32(context);
        check_one("rand32_many", "r", p, sum, 0);
    }
    rh_lang_context_free(context);
    test_free(context);
}

// --- noise -----------------------------------------------------------------------------------------------------------

// The original holds the places of its differences in float; done so, ours gives its numbers. That is all the
// difference there is.
static double slope_in_float(const double p[3], int potential, int axis)
{
    static const float apart[3][3] = {{0, 0, 0}, {256, -256, 256}, {-512, 512, -512}};
    float up[3], down[3];
    for (int k = 0; k < 3; k++) up[k] = down[k] = (float)p[k] + apart[potential][k];
    up[axis] += 1e-4f, down[axis] -= 1e-4f;
    return (rh_lang_simplexnoise_3(up[0], up[1], up[2]) - rh_lang_simplexnoise_3(down[0], down[1], down[2])) / 2e-4;
}

static void curl_in_float(const double p[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        out[a] = slope_in_float(p, c, b) - slope_in_float(p, b, c);
    }
}

static void noise(void **state)
{
    (void)state;
    for (int p = 0; p < inputs.points; p++) {
        double u = number("u", p), e = number("e", p), d = number("d", p), vd[3], out[3];
        reals(input("vd"), p, 3, vd);
        check_one("simplexnoise", "r", p, rh_lang_simplexnoise_1(u), 1e-13);
        check_one("simplexnoise", "r2", p, rh_lang_simplexnoise_2(u, e), 1e-13);
        check_one("simplexnoise", "r3", p, rh_lang_simplexnoise_3(u, e, d), 1e-11);  // d goes up to 1e5
        check_one("simplexnoise", "r4", p, rh_lang_simplexnoise_v(vd), 1e-13);
        double sum = 0;
        for (int k = 0; k < 200; k++) sum = sum * 0.9 + rh_lang_simplexnoise_3(k * 0.173 + p, k * -0.211, k * 0.057);
        check_one("simplexnoise_line", "r", p, sum, 1e-12);
        check_one("simplexnoise_lattice", "r2", p, rh_lang_simplexnoise_2(p, 0), 1e-13);
        check_one("simplexnoise_lattice", "r3", p, rh_lang_simplexnoise_3(p, p, p), 1e-13);
        curl_in_float(vd, out);
        check("curlsimplexnoise", "r", p, out, 3, 1e-6);
        curl_in_float((double[]){u, e, d}, out);
        check("curlsimplexnoise", "r2", p, out, 3, 1e-6);
    }
}

// --- texts, colours, vectors -----------------------------------------------------------------------------------------

static void texts(void **state)
{
    (void)state;
    for (int p = 0; p < inputs.points; p++) {
        rh_lang_text name = name_of(p), rheo = text("rheo"), nothing = text("");
        assert_true(rh_lang_hash(&name) == golden_whole(output("hash", "r")->words[p]));
        assert_true(rh_lang_hash(&rheo) == golden_whole(output("hash", "r2")->words[p]));
        assert_true(rh_lang_hash(&nothing) == golden_whole(output("hash", "r3")->words[p]));
        assert_int_equal(rh_lang_atoi(&name), golden_whole(output("atoi", "r")->words[p]));
        check_one("atof", "r", p, rh_lang_atof(&name), 0);
    }
}

static void powers(void **state)
{
    (void)state;
    for (int p = 0; p < inputs.points; p++) {
        check_one("pow", "r3", p, rh_lang_pow_di(number("u", p), 3), 0);
        check_one("pow", "r4", p, rh_lang_pow_di(number("e", p), -2), 0);
    }
}

// --- matrices --------------------------------------------------------------------------------------------------------

static void matrices(void **state)
{
    (void)state;
    for (int p = 0; p < inputs.points; p++) {
        double m[9], md[9], q[16], qd[16], vd[3], out[9], u[9], s[9];
        float mf[9], qf[16], outf[9];
        reals(input("m"), p, 9, m), reals(input("md"), p, 9, md), reals(input("q"), p, 16, q),
            reals(input("qd"), p, 16, qd);
        reals(input("vd"), p, 3, vd);
        narrow(mf, m, 9), narrow(qf, q, 16);
        check_floats("determinant", "r", p, (float[]){rh_lang_determinant_3f(mf)}, 1);
        check_one("determinant", "r2", p, rh_lang_determinant_3d(md), 1e-13);
        check_floats("determinant", "r3", p, (float[]){rh_lang_determinant_4f(qf)}, 1);
        check_one("determinant", "r4", p, rh_lang_determinant_4d(qd), 1e-13);
        rh_lang_adjoint_d(out, md), check("adjoint", "r2", p, out, 9, 1e-13);
        rh_lang_cofactor_d(out, md), check("cofactor", "r2", p, out, 9, 1e-13);
        rh_lang_inverse_d(out, md), check("inverse", "r2", p, out, 9, 1e-12);
        rh_lang_adjoint_f(outf, mf), check_floats("adjoint", "r", p, outf, 9);
        rh_lang_cofactor_f(outf, mf), check_floats("cofactor", "r", p, outf, 9);
        rh_lang_inverse_f(outf, mf), check_floats("inverse", "r", p, outf, 9);
        assert_true(rh_lang_polardecompose_d(md, u, s));
        check("polardecompose_double", "r2", p, u, 9, 1e-6);  // the original stops when a step changes little
        check("polardecompose_double", "r3", p, s, 9, 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_overloads_are_there),
        cmocka_unit_test(random_numbers),
        cmocka_unit_test(noise),
        cmocka_unit_test(texts),
        cmocka_unit_test(powers),
        cmocka_unit_test(matrices),
    };
    return cmocka_run_group_tests(tests, open_files, close_files);
}
