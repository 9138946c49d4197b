// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The run-time library of the expression language against values of other origin: published outputs of the generators,
// hashes of the GNU C++ library, identities of linear algebra, and properties of noise.
#include <stdlib.h>
#include <string.h>
#include "support.h"
#include "lang/library/library.h"

static rh_lang_text text(const char *data) { return (rh_lang_text){data, (int64_t)strlen(data)}; }

static double uniform(uint64_t id, uint32_t lane) { return 2 * (double)rh_random(7, id, 0, lane) - 1; }

// --- the table -------------------------------------------------------------------------------------------------------

static bool is_type(const char *word, size_t length)
{
    static const char *const types[] = {"void",  "bool",  "int32", "int64", "float", "double", "string",
                                        "vec2i", "vec2f", "vec2d", "vec3i", "vec3f", "vec3d",  "vec4i",
                                        "vec4f", "vec4d", "mat3f", "mat3d", "mat4f", "mat4d"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i]) == length && memcmp(types[i], word, length) == 0) return true;
    return false;
}

// "type(type, &type)": result and arguments are types of the language.
static bool is_signature(const char *s)
{
    size_t length = strcspn(s, "(");
    if (!is_type(s, length) || s[length] != '(') return false;
    s += length + 1;
    while (*s != ')') {
        if (*s == '&') s++;
        length = strcspn(s, ",)");
        if (!is_type(s, length) || s[length] == 0 || memcmp(s, "void", 4) == 0) return false;
        s += length;
        if (*s == ',') s += 2;
    }
    return s[1] == 0;
}

static void rows_are_well_formed(void **state)
{
    (void)state;
    for (int i = 0; i < rh_lang_function_count; i++) {
        const rh_lang_function *f = &rh_lang_functions[i];
        if (!is_signature(f->signature)) fail_msg("%s: %s is no signature", f->name, f->signature);
        bool written = strchr(f->signature, '&') || strncmp(f->signature, "void", 4) == 0;
        if (written && f->flags & RH_LANG_PURE) fail_msg("%s writes and is called pure", f->name);
        if (f->flags & RH_LANG_CONTEXT && !f->symbol) fail_msg("%s takes a context, which only a symbol can", f->name);
        assert_true(strlen(f->help) > 5 && f->help[strlen(f->help) - 1] != '.');
        for (int k = 0; k < i; k++) {
            const rh_lang_function *g = &rh_lang_functions[k];
            if (strcmp(f->name, g->name) != 0) continue;
            if (strcmp(strchr(f->signature, '('), strchr(g->signature, '(')) == 0)
                fail_msg("%s%s is there twice", f->name, strchr(f->signature, '('));
            if (strcmp(rh_lang_functions[i - 1].name, f->name) != 0)
                fail_msg("the rows of %s do not stand together", f->name);
        }
    }
}

// --- numbers ---------------------------------------------------------------------------------------------------------

// Of one and of eight, the nearest float but for few, compared with the C library's function of doubles.
static void check_real(float (*one)(float), void (*eight)(float *restrict, const float *restrict),
                       double (*exact)(double), double scale)
{
    static const float special[8] = {0, -0.0f, INFINITY, -INFINITY, NAN, 1, -1, 1e-40f};
    int off = 0;
    for (uint64_t k = 0; k < 2000; k++) {
        float x[8], found[8];
        for (uint32_t i = 0; i < 8; i++) x[i] = k == 0 ? special[i] : (float)(uniform(k, i) * (k % 2 ? scale : 1));
        eight(found, x);
        for (int i = 0; i < 8; i++) {
            float alone = one(x[i]), nearest = (float)exact(x[i]);
            assert_true(memcmp(&alone, &found[i], sizeof alone) == 0 || (isnan(alone) && isnan(found[i])));
            assert_true(isnan(nearest) == isnan(alone) && (isnan(nearest) || signbit(nearest) == signbit(alone)));
            if (isnan(nearest) || nearest == alone) continue;
            off++;
            assert_near(alone, nearest, 1.3e-7 * fabs(nearest));
        }
    }
    assert_in_range(off, 0, 16);
}

static void functions_of_floats(void **state)
{
    (void)state;
#define REAL(name, scale) check_real(rh_lang_##name##_1, rh_lang_##name##_8, name, scale)
    REAL(sin, 1e3), REAL(cos, 1e3), REAL(tan, 1e3), REAL(atan, 1e3), REAL(asin, 1), REAL(acos, 1), REAL(exp, 80),
        REAL(exp2, 100);
    REAL(log, 1e6), REAL(log2, 1e6), REAL(log10, 1e6), REAL(cbrt, 1e6), REAL(sinh, 80), REAL(cosh, 80), REAL(tanh, 20);
    for (uint64_t k = 0; k < 2000; k++) {
        float x[8], y[8], angle[8], power[8], rest[8];
        for (uint32_t i = 0; i < 8; i++)
            x[i] = (float)(uniform(k, i) * (k % 2 ? 1e4 : 3)), y[i] = (float)(uniform(k, 8 + i) * 4);
        if (k == 0)
            x[0] = 0, x[1] = -0.0f, y[2] = 0, x[3] = INFINITY, y[4] = NAN, y[5] = -INFINITY, x[6] = 1e38f,
            y[6] = 1e-38f;
        rh_lang_atan2_8(angle, x, y), rh_lang_pow_8(power, x, y), rh_lang_fmod_8(rest, x, y);
        for (int i = 0; i < 8; i++) {
            float alone[] = {rh_lang_atan2_1(x[i], y[i]), rh_lang_pow_1(x[i], y[i]), rh_lang_fmod_1(x[i], y[i])},
                  eight[] = {angle[i], power[i], rest[i]};
            double exact[] = {atan2(x[i], y[i]), pow(x[i], y[i]), fmodf(x[i], y[i])};
            for (int f = 0; f < 3; f++) {
                assert_true(memcmp(&alone[f], &eight[f], sizeof alone[f]) == 0 || (isnan(alone[f]) && isnan(eight[f])));
                if (isnan(exact[f])) assert_true(isnan(alone[f]));
                else if (isinf((float)exact[f])) assert_true(alone[f] == (float)exact[f]);
                else assert_near(alone[f], exact[f], f == 2 ? 0 : 1.3e-7 * fabs(exact[f]) + 1e-45);
            }
        }
    }
}

// --- matrices --------------------------------------------------------------------------------------------------------

static void random_matrix(double *m, int count, uint64_t id)
{
    for (int i = 0; i < count; i++) m[i] = uniform(id, (uint32_t)i);
}

static void multiply(double *out, const double *a, const double *b, int n)
{
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) {
            out[n * r + c] = 0;
            for (int k = 0; k < n; k++) out[n * r + c] += a[n * r + k] * b[n * k + c];
        }
}

// Leibniz' sum over all permutations, by Heap's recursion.
static double leibniz(const double *m, int n, int *order, int k)
{
    if (k == n) {
        double product = 1;
        for (int r = 0; r < n; r++) product *= m[n * r + order[r]];
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                if (order[i] > order[j]) product = -product;
        return product;
    }
    double sum = 0;
    for (int i = k; i < n; i++) {
        int swap = order[k];
        order[k] = order[i], order[i] = swap;
        sum += leibniz(m, n, order, k + 1);
        swap = order[k], order[k] = order[i], order[i] = swap;
    }
    return sum;
}

static void determinants_and_inverses(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 200; id++) {
        double m[16], inverse[9], product[9];
        random_matrix(m, 16, id);
        assert_near(rh_lang_determinant_4d(m), leibniz(m, 4, (int[]){0, 1, 2, 3}, 0), 1e-14);
        double det = leibniz(m, 3, (int[]){0, 1, 2}, 0);
        assert_near(rh_lang_determinant_3d(m), det, 1e-14);
        rh_lang_inverse_d(inverse, m);
        multiply(product, m, inverse, 3);
        for (int i = 0; i < 9; i++) assert_near(product[i], i % 4 == 0, 1e-13 / fabs(det));
        rh_lang_adjoint_d(inverse, m);
        multiply(product, m, inverse, 3);
        for (int i = 0; i < 9; i++) assert_near(product[i], i % 4 == 0 ? det : 0, 1e-14);
    }
    const double singular[9] = {1, 2, 3, 2, 4, 6, 0, 1, 5};
    double same[9];
    rh_lang_inverse_d(same, singular);
    assert_memory_equal(same, singular, sizeof same);
}

static void scales_multiply_rows_or_columns(void **state)
{
    (void)state;
    double m[16], scale[16] = {2, 0, 0, 0, 0, 3, 0, 0, 0, 0, -5, 0, 0, 0, 0, 1}, expected[16];
    random_matrix(m, 16, 3);
    double before[16], after[16];
    memcpy(before, m, sizeof m), memcpy(after, m, sizeof m);
    rh_lang_prescale_d(before, (double[]){2, 3, -5});
    multiply(expected, scale, m, 4);
    for (int i = 0; i < 16; i++) assert_near(before[i], expected[i], 1e-15);
    rh_lang_postscale_d(after, (double[]){2, 3, -5});
    multiply(expected, m, scale, 4);
    for (int i = 0; i < 16; i++) assert_near(after[i], expected[i], 1e-15);
}

static void polar_factors(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 200; id++) {
        double m[9], q[9], h[9], product[9], qt[9];
        random_matrix(m, 9, id);
        if (id % 4 == 0)
            for (int i = 0; i < 9; i++) m[i] *= id % 8 == 0 ? 1e-12 : 1e12;
        assert_true(rh_lang_polardecompose_d(m, q, h));
        multiply(product, q, h, 3);
        double size = 0;
        for (int i = 0; i < 9; i++) size = fmax(size, fabs(m[i]));
        for (int i = 0; i < 9; i++) assert_near(product[i], m[i], 1e-13 * size);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) qt[3 * c + r] = q[3 * r + c], assert_true(h[3 * r + c] == h[3 * c + r]);
        multiply(product, qt, q, 3);
        for (int i = 0; i < 9; i++) assert_near(product[i], i % 4 == 0, 1e-13);
        // The symmetric factor is positive: its principal minors are.
        assert_true(h[0] > 0 && h[0] * h[4] - h[1] * h[3] > 0 && rh_lang_determinant_3d(h) > 0);
    }
    double singular[9] = {1, 2, 3, 2, 4, 6, 3, 6, 9}, q[9], h[9];
    assert_false(rh_lang_polardecompose_d(singular, q, h));
    assert_false(rh_lang_polardecompose_d((double[9]){NAN}, q, h));
}

static void eigenvalues(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 200; id++) {
        double m[9], values[3], v[9];
        random_matrix(m, 9, id);
        m[3] = m[1], m[6] = m[2], m[7] = m[5];
        assert_true(rh_lang_eigen_d(m, values, v));
        assert_true(values[0] >= values[1] && values[1] >= values[2]);
        for (int i = 0; i < 3; i++)
            for (int r = 0; r < 3; r++) {
                double mv = m[3 * r] * v[3 * i] + m[3 * r + 1] * v[3 * i + 1] + m[3 * r + 2] * v[3 * i + 2];
                assert_near(mv, values[i] * v[3 * i + r], 1e-14);
            }
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                assert_near(v[3 * i] * v[3 * k] + v[3 * i + 1] * v[3 * k + 1] + v[3 * i + 2] * v[3 * k + 2], i == k,
                            1e-14);
    }
    float values[3], v[9];
    assert_true(rh_lang_eigen_f((float[]){2, 1, 0, 1, 2, 0, 0, 0, 7}, values, v));  // 7, 3, 1
    assert_near(values[0], 7, 1e-6), assert_near(values[1], 3, 1e-6), assert_near(values[2], 1, 1e-6);
    assert_false(rh_lang_eigen_f((float[9]){INFINITY}, values, v));
}

// --- random ----------------------------------------------------------------------------------------------------------

// The C++ standard (26.6.6, [rand.predef]) gives the 10000th number after the default seed 5489 for both generators.
static void twisters_give_published_numbers(void **state)
{
    (void)state;
    rh_lang_twister64 *a = test_malloc(sizeof *a);
    rh_lang_twister32 *b = test_malloc(sizeof *b);
    uint64_t last64 = 0;
    uint32_t last32 = 0;
    rh_lang_twister64_seed(a, 5489), rh_lang_twister32_seed(b, 5489);
    for (int i = 0; i < 10000; i++) last64 = rh_lang_twister64_draw(a), last32 = rh_lang_twister32_draw(b);
    assert_true(last64 == 9981545732273789042ull);
    assert_true(last32 == 4123659995u);
    rh_lang_twister64_seed(a, 42), rh_lang_twister32_seed(b, 42);
    assert_true(rh_lang_twister64_draw(a) == 13930160852258120406ull);
    assert_true(rh_lang_twister32_draw(b) == 1608637542u);
    test_free(a);
    test_free(b);
}

// What the GNU C++ library's std::hash gives on 64-bit machines.
static void hashes_are_those_of_the_original(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t hash;
    } known[] = {
        {"", 6142509188972423790ull},
        {"a", 4993892634952068459ull},
        {"rheo", 6322057846375030635ull},
        {"12345678", 10113836418918046885ull},
        {"a longer text, with 31 letters.", 1271131521111841832ull},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        rh_lang_text t = text(known[i].text);
        assert_true((uint64_t)rh_lang_hash(&t) == known[i].hash);
    }
}

static void random_numbers_follow_their_seed(void **state)
{
    (void)state;
    rh_lang_scope scope = {.seed = 3};
    rh_lang_context *context = test_malloc(sizeof *context);
    rh_status status = {0};
    assert_ok(rh_lang_context_init(context, &scope, &status));
    double first = rh_lang_rand_l(context, 42), second = rh_lang_rand(context);
    assert_true(first == (double)13930160852258120406ull * 0x1p-64);
    context->element = 9;
    assert_true(rh_lang_rand_l(context, 42) == first && rh_lang_rand(context) == second);
    assert_true(rh_lang_rand_d(context, -0.0) == rh_lang_rand_l(context, 0));
    assert_true(rh_lang_rand_d(context, 1.0) == rh_lang_rand_l(context, (int64_t)8386164645967068059ull));
    assert_true(rh_lang_rand32_i(context, 42) == (1608637542u + 3421126067u * 0x1p32) * 0x1p-64);
    // Without a seed: a sequence of the element's own, whoever came before.
    context->element = 100;
    double own = rh_lang_rand(context), next = rh_lang_rand(context);
    context->element = 101;
    double other = rh_lang_rand(context);
    rh_lang_context_begin(context, 0);
    context->element = 100;
    assert_true(rh_lang_rand(context) == own && rh_lang_rand(context) == next && own != next && own != other);
    // Mean and variance of a uniform number: 1/2 and 1/12.
    double sum = 0, squares = 0;
    enum { COUNT = 20000 };
    for (int i = 0; i < COUNT; i++) {
        double r = rh_lang_rand_d(context, i);
        assert_true(r >= 0 && r < 1);
        sum += r, squares += r * r;
    }
    assert_near(sum / COUNT, 0.5, 4 * sqrt(1.0 / 12 / COUNT));
    assert_near(squares / COUNT - sum * sum / COUNT / COUNT, 1 / 12.0, 4 * sqrt(1.0 / 180 / COUNT));
    rh_lang_context_free(context);
    test_free(context);
}

// --- noise -----------------------------------------------------------------------------------------------------------

typedef double noise_function(double, double, double);

#define SIMPLEX_LEFT_OUT 1e-4

static void check_noise(noise_function *noise, double steepest)
{
    double low = 1, high = 0, sum = 0;
    enum { COUNT = 20000 };
    for (uint64_t i = 0; i < COUNT; i++) {
        double x = 50 * uniform(i, 0), y = 50 * uniform(i, 1), z = 50 * uniform(i, 2), value = noise(x, y, z);
        low = fmin(low, value), high = fmax(high, value), sum += value;
        // Continuous everywhere: a small step changes little, also across the faces of cells.
        double near = noise(x + 1e-7 * uniform(i, 3), y + 1e-7 * uniform(i, 4), z + 1e-7 * uniform(i, 5));
        assert_near(near, value, 2e-7 * steepest + (noise == rh_lang_simplexnoise_3 ? SIMPLEX_LEFT_OUT : 0));
    }
    assert_true(low >= 0 && high <= 1 && low < 0.2 && high > 0.8);
    assert_near(sum / COUNT, 0.5, 0.02);
}

static void noise_is_smooth_and_bounded(void **state)
{
    (void)state;
    check_noise(rh_lang_simplexnoise_3, 4);
    check_noise(rh_lang_noise_3, 4);
    // Along lines through lattice points and cell faces, where cases meet.
    for (int i = -4000; i < 4000; i++) {
        double t = i * 0.001, e = 1e-9;
        assert_near(rh_lang_simplexnoise_3(t, t, t), rh_lang_simplexnoise_3(t + e, t - e, t + e), 1e-7);
        assert_near(rh_lang_simplexnoise_2(t, -t), rh_lang_simplexnoise_3(t + e, -t + e, e), 1e-7);
        assert_near(rh_lang_noise_1(t), rh_lang_noise_3(t + e, -e, e), 1e-7);
    }
    assert_true(rh_lang_simplexnoise_1(0.3) == rh_lang_simplexnoise_v((double[]){0.3, 0, 0}));
    assert_near(rh_lang_noise_3(3, -7, 12), 0.5, 0);  // gradient noise is zero at its lattice
    assert_near(rh_lang_simplexnoise_3(1e300, 0, 0), 0.5, 0);
    assert_near(rh_lang_noise_3(NAN, 0, 0), 0.5, 0);
    assert_near(rh_lang_simplexnoise_3(-INFINITY, 0, 0), 0.5, 0);
}

// The author's recipe for the seed 0: a linear congruential generator shuffles 0 .. 255. The table itself is not
// visible; the lattice points are: the noise near one is the height of its plane, and 24 directions distinguish
// neighbouring points.
static void simplex_planes(double *slope, int x, int y, int z)
{
    uint8_t source[256], shuffled[256];
    uint64_t seed = 0;
    for (int i = 0; i < 3; i++) seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    for (int i = 0; i < 256; i++) source[i] = (uint8_t)i;
    for (int i = 255; i >= 0; i--) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        int r = (int)((int64_t)(seed + 31) % (i + 1));
        if (r < 0) r += i + 1;
        shuffled[i] = source[r], source[r] = source[i];
    }
    int d = shuffled[(shuffled[(shuffled[x & 255] + y) & 255] + z) & 255] % 24;
    static const int signs[8][3] = {{-1, 1, 1},  {1, 1, 1},  {-1, -1, 1},  {1, -1, 1},
                                    {-1, 1, -1}, {1, 1, -1}, {-1, -1, -1}, {1, -1, -1}};
    for (int a = 0; a < 3; a++) slope[a] = signs[d / 3][a] * (a == d % 3 ? 11 : 4);
}

// The same bits alone and as one of eight, also on the faces of cells, far away and at no place at all.
static void noise_of_eight_places(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 20000; k++) {
        double x[8], y[8], z[8], found[8], curl[3][8];
        double scale = k % 3 == 0 ? 1 : k % 3 == 1 ? 100 : 1e6;
        for (uint32_t i = 0; i < 8; i++) {
            x[i] = scale * uniform(k, i), y[i] = scale * uniform(k, 8 + i),
            z[i] = k % 11 == 0 ? x[i] : scale * uniform(k, 16 + i);
            if (k % 7 == 0) x[i] = floor(x[i]), y[i] = floor(2 * y[i]) / 2;
        }
        if (k == 0) x[0] = NAN, y[1] = INFINITY, z[2] = 1e300, x[3] = -0x1p50;
        rh_lang_simplexnoise_8(found, x, y, z);
        rh_lang_curlsimplex_8x(curl[0], x, y, z), rh_lang_curlsimplex_8y(curl[1], x, y, z),
            rh_lang_curlsimplex_8z(curl[2], x, y, z);
        for (int i = 0; i < 8; i++) {
            double alone = rh_lang_simplexnoise_3(x[i], y[i], z[i]), whole[3];
            assert_memory_equal(&alone, &found[i], sizeof alone);
            rh_lang_curlsimplexnoise_3(whole, x[i], y[i], z[i]);
            for (int a = 0; a < 3; a++) assert_memory_equal(&whole[a], &curl[a][i], sizeof alone);
        }
    }
}

// At a place x the noise is the sum over all lattice points, but for what the author's two extra points leave out.
static void simplex_noise_is_the_sum_over_its_lattice(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 4000; id++) {
        double x = 20 * uniform(id, 0), y = 20 * uniform(id, 1), z = 20 * uniform(id, 2), stretch = (x + y + z) / -6,
               sum = 0;
        int xb = (int)floor(x + stretch), yb = (int)floor(y + stretch), zb = (int)floor(z + stretch);
        for (int i = xb - 3; i <= xb + 4; i++)
            for (int j = yb - 3; j <= yb + 4; j++)
                for (int k = zb - 3; k <= zb + 4; k++) {
                    double squish = (i + j + k) / 3.0, dx = x - i - squish, dy = y - j - squish, dz = z - k - squish,
                           slope[3];
                    double weight = 2 - dx * dx - dy * dy - dz * dz;
                    if (weight <= 0) continue;
                    simplex_planes(slope, i, j, k);
                    sum += pow(weight, 4) * (slope[0] * dx + slope[1] * dy + slope[2] * dz);
                }
        double error = fabs(rh_lang_simplexnoise_3(x, y, z) - (0.5 + 0.5 * sum / 103));
        assert_near(error, 0, SIMPLEX_LEFT_OUT);
    }
}

static void curls_have_no_divergence(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 100; id++) {
        double p[3] = {5 * uniform(id, 0), 5 * uniform(id, 1), 5 * uniform(id, 2)}, divergence[2] = {0, 0}, size = 0;
        const double step = 1e-4;
        for (int a = 0; a < 3; a++) {
            double up[3] = {p[0], p[1], p[2]}, down[3] = {p[0], p[1], p[2]}, u[3], d[3];
            up[a] += step, down[a] -= step;
            rh_lang_curlsimplexnoise_v(u, up), rh_lang_curlsimplexnoise_v(d, down);
            divergence[0] += (u[a] - d[a]) / (2 * step);
            rh_lang_curlnoise_v(u, up), rh_lang_curlnoise_v(d, down);
            divergence[1] += (u[a] - d[a]) / (2 * step), size = fmax(size, fabs(u[a]));
        }
        assert_true(size > 1e-6);
        assert_near(divergence[0], 0, 1e-6), assert_near(divergence[1], 0, 1e-6);  // 1e-16 / step^2 is the rounding
    }
}

// --- strings ---------------------------------------------------------------------------------------------------------

static void texts_become_numbers(void **state)
{
    (void)state;
    static const char *const texts[] = {"12",          "-7",  " +42abc", "",     "abc", "-",     "2147483647",
                                        "-2147483648", "1.5", "-1e3",    ".25x", "1e",  "\t\n9", "0x10"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rh_lang_text t = text(texts[i]);
        assert_int_equal(rh_lang_atoi(&t), atoi(texts[i]));
        assert_true(rh_lang_atof(&t) == atof(texts[i]));
    }
    rh_lang_text large = text("99999999999999999999"), small = text("-99999999999999999999"), part = {"123456", 3},
                 half = {"1.55", 3};
    assert_int_equal(rh_lang_atoi(&large), INT32_MAX);
    assert_int_equal(rh_lang_atoi(&small), INT32_MIN);
    assert_int_equal(rh_lang_atoi(&part), 123);  // texts do not end with a zero
    assert_true(rh_lang_atof(&half) == 1.5);
    char *long_text = test_malloc(5000);
    memset(long_text, '9', 5000);
    rh_lang_text digits = {long_text, 5000};
    assert_true(rh_lang_atof(&digits) > 1e300);
    test_free(long_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_well_formed),
        cmocka_unit_test(functions_of_floats),
        cmocka_unit_test(noise_of_eight_places),
        cmocka_unit_test(determinants_and_inverses),
        cmocka_unit_test(scales_multiply_rows_or_columns),
        cmocka_unit_test(polar_factors),
        cmocka_unit_test(eigenvalues),
        cmocka_unit_test(twisters_give_published_numbers),
        cmocka_unit_test(hashes_are_those_of_the_original),
        cmocka_unit_test(random_numbers_follow_their_seed),
        cmocka_unit_test(noise_is_smooth_and_bounded),
        cmocka_unit_test(simplex_noise_is_the_sum_over_its_lattice),
        cmocka_unit_test(curls_have_no_divergence),
        cmocka_unit_test(texts_become_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
