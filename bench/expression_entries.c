// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The table of expressions' benchmarks, and their programs. The step stands as it was printed, with dV where the figure
// says deltaV, which it does not declare; its physics is not meant (drag has no density of the liquid and the test of
// the Reynolds number is the wrong way round). `products` is the same with powers written out, as one would in C.
#include "expression.h"

#define MEMORY(row_name, row_program)                                              \
    {                                                                              \
        row_name, "expressions-memory", row_program, false, 10000000, .repeats = 7 \
    }
#define FILES(row_name, row_program)                                             \
    {                                                                            \
        row_name, "expressions-files", row_program, true, 10000000, .repeats = 3 \
    }
#define FAMILY(row_name, row_program)                                                            \
    {                                                                                            \
        row_name, "expressions-families", row_program, true, 1000000, .repeats = 3, .threads = 1 \
    }
#define TINY(row_name, row_program, in_files)                                                         \
    {                                                                                                 \
        row_name, "expressions-tiny", row_program, in_files, 20000, .repeats = 2, .when = BENCH_NAMED \
    }

const bench_expression_entry bench_expression_entries[] = {
    MEMORY("step", BENCH_STEP),
    MEMORY("products", BENCH_PRODUCTS),
    MEMORY("decimation", BENCH_DECIMATION),
    FILES("file-step", BENCH_STEP),
    FILES("file-decimation", BENCH_DECIMATION),
    FAMILY("family-arithmetic", BENCH_ARITHMETIC),
    FAMILY("family-integers", BENCH_INTEGERS),
    FAMILY("family-branches", BENCH_BRANCHES),
    FAMILY("family-vectors", BENCH_VECTORS),
    FAMILY("family-matrices", BENCH_MATRICES),
    FAMILY("family-inverses", BENCH_INVERSES),
    FAMILY("family-rounding", BENCH_ROUNDING),
    FAMILY("family-trigonometry", BENCH_TRIGONOMETRY),
    FAMILY("family-powers", BENCH_POWERS),
    {"family-random", "expressions-families", BENCH_RANDOM, true, 200000, .repeats = 3,
     .threads = 1},  // vdb_ax takes 17 s for a million
    FAMILY("family-noise", BENCH_NOISE),
    FAMILY("family-curl", BENCH_CURL),
    FAMILY("family-colours", BENCH_COLOURS),
    FAMILY("family-sorting", BENCH_SORTING),
    FAMILY("family-strings", BENCH_STRINGS),
    FAMILY("family-groups", BENCH_GROUPS),
    // Over in a blink: for the test of this program.
    TINY("tiny-step", BENCH_STEP, false),
    TINY("tiny-products", BENCH_PRODUCTS, false),
    TINY("tiny-decimation", BENCH_DECIMATION, false),
    TINY("tiny-file-step", BENCH_STEP, true),
    TINY("tiny-file-decimation", BENCH_DECIMATION, true),
    TINY("tiny-file-noise", BENCH_NOISE, true),
};
const int bench_expression_entry_count = sizeof bench_expression_entries / sizeof bench_expression_entries[0];

#define STEP_BEGINS                                 \
    "float dt = 1.0f / (4.0f * 24.0f);\n"           \
    "vec3f gravity = {0.0f, -9.81f, 0.0f};\n"       \
    "vec3f dV = {2.0f, 0.0f, 0.0f} - vec3f@v;\n"    \
    "float lengthV = length(dV);\n"                 \
    "float Re = lengthV * float@radius / 1.225f;\n" \
    "float C = 0.0f;\n"                             \
    "if (Re > 1000.0f) C = 24.0f / Re;\n"           \
    "else C = 0.424f;\n"

const char *const bench_program_name[BENCH_PROGRAMS] = {
    "step",     "products", "decimation", "arithmetic",   "integers", "branches", "vectors",
    "matrices", "inverses", "rounding",   "trigonometry", "powers",   "random",   "noise",
    "curl",     "colours",  "sorting",    "strings",      "groups"};
const char *const bench_program_text[BENCH_PROGRAMS] = {
    STEP_BEGINS "vec3f drag = 0.5f * 1.2f * C * lengthV * dV * 4.0f * 3.14f * pow(@radius, 2.0f);\n"
                "vec3f@v += (gravity - drag / ((4.0f / 3.0f) * 3.14f * pow(float@radius, 3.0f))) * dt;\n"
                "vec3f@P += v@v * dt;\n",
    STEP_BEGINS "vec3f drag = 0.5f * 1.2f * C * lengthV * dV * 4.0f * 3.14f * (@radius * @radius);\n"
                "vec3f@v += (gravity - drag / ((4.0f / 3.0f) * 3.14f * (@radius * @radius * @radius))) * dt;\n"
                "vec3f@P += v@v * dt;\n",
    "int offset = 12345;\n"
    "float threshold = 0.5f;\n"
    "if (rand(offset + int64@id) > threshold) {\n"
    "    deletepoint();\n"
    "}\n",
    // Families. Each calls its functions several times over, on numbers of many sizes, so that they and not the file
    // count.
    "float a = v@v.x, b = v@v.y, c = v@v.z;\n"
    "for (int i = 0; i < 8; ++i) { a = a * b + c; b = b / (a * a + 1.0f) - c; c = (a - b) * 0.5f + c * 0.25f; }\n"
    "f@o = a + b + c;\n",
    "int a = int(int64@id), b = a * 7919 + 13, c = a ^ b;\n"
    "for (int i = 0; i < 8; ++i) { a = (a << 5) + b % 97; b = b ^ (a >> 3) | c; c = c / 3 - (a & 255) + ~b; }\n"
    "i@o = a + b + c;\n",
    "float a = v@v.x, b = v@v.y;\n"
    "for (int i = 0; i < 8; ++i) { if (a > b) a -= 0.3f; else if (a * b < 0.1f) b -= 0.7f; else a += b > 0.0f ? 0.1f : "
    "0.2f; }\n"
    "f@o = a + b;\n",
    "vec3f a = v@v, b = v@P;\n"
    "for (int i = 0; i < 4; ++i) { a = cross(a, b) + normalize(a) * dot(a, b); b = b + a / (length(a) + 1.0f); }\n"
    "f@o = length(a) + lengthsq(b);\n",
    "mat3f m = {v@v.x, 0.1f, 0.2f, 0.3f, v@v.y, 0.4f, 0.5f, 0.6f, v@v.z}, n = transpose(m);\n"
    "for (int i = 0; i < 3; ++i) { n = n * m * 0.5f; m = m + 0.1f; }\n"
    "vec3f r = v@P * n + m * v@v; f@o = trace(n) + r.x + r.y + r.z;\n",
    "mat3f m = {v@v.x, 0.1f, 0.2f, 0.3f, v@v.y + 3.0f, 0.4f, 0.5f, 0.6f, v@v.z + 5.0f};\n"
    "mat3f n = inverse(m) + cofactor(m); n = inverse(n) + adjoint(m); f@o = determinant(n) + trace(n);\n",
    "float a = v@v.x, b = v@v.y, c = v@v.z, s = 0.0f;\n"
    "for (int i = 0; i < 4; ++i) {\n"
    "    s += floor(a * 3.0f) + ceil(b * 5.0f) + round(c * 7.0f) + clamp(a, -0.5f, 0.5f) + fit(b, -1.0f, 1.0f, 0.0f, "
    "3.0f);\n"
    "    s += lerp(a, b, c) + max(a, b) - min(b, c) + abs(c) + sign(a) + a % 0.3f; a += 0.11f; b -= 0.07f; c += "
    "0.05f;\n"
    "}\n"
    "f@o = s;\n",
    "float a = v@v.x, b = v@v.y, c = v@v.z;\n"
    "f@o = sin(a) + cos(b) + tan(c) + atan(a) + atan2(b, c) + asin(b * 0.9f) + acos(c * 0.9f) + sinh(a) + tanh(b);\n",
    "float a = v@v.x, b = abs(v@v.y) + 0.1f;\n"
    "f@o = exp(a) + log(b) + pow(b, a) + pow(b, 3.0f) + sqrt(b) + cbrt(a) + log10(b) + exp2(a) + log2(b);\n",
    "f@o = rand(int64@id) + rand() + rand32(int64@id) + rand(v@v.x);\n",
    "f@o = simplexnoise(v@P) + simplexnoise(v@P * 3.1f) + simplexnoise(v@P * 7.7f) + simplexnoise(v@P.x, v@P.y);\n",
    "v@o = curlsimplexnoise(v@P) + curlsimplexnoise(v@P * 2.3f);\n",
    "vec3f a = hsvtorgb(v@v); vec3f b = rgbtohsv(abs(v@v.x) * a + 0.1f); vec3f c = hsvtorgb(b); v@o = rgbtohsv(c) + "
    "a;\n",
    "vec3f a = sort(v@v), b = v@P - v@v; b = sort(b); vec4f c = {a.x, b.x, a.y, b.y}; c = sort(c); f@o = a.x + b.y + "
    "c[2] + c[3];\n",
    "string a = \"p\"; if (v@v.y > 0.0f) a = a + \"up\"; else a = a + \"down\"; s@o = a + \"x\"; i@n = hash(a);\n",
    "if (v@v.y > 0.0f) addtogroup(\"up\"); if (v@v.z > 0.5f) addtogroup(\"near\"); if (ingroup(\"up\")) "
    "removefromgroup(\"near\"); f@o = ingroup(\"near\");\n",
};
