// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The table of expressions' benchmarks, and their programs. The step stands as it was printed, with dV where the figure says deltaV, which it does not declare; its
// physics is not meant (drag has no density of the liquid and the test of the Reynolds number is the wrong way round). `products` is the same with powers
// written out, as one would in C.
#include "expression.h"

#define MEMORY(row_name, row_program) {row_name, "expressions-memory", row_program, false, 10000000, .repeats = 7}
#define FILES(row_name, row_program) {row_name, "expressions-files", row_program, true, 10000000, .repeats = 3}
#define TINY(row_name, row_program, in_files) {row_name, "expressions-tiny", row_program, in_files, 20000, .repeats = 2, .when = BENCH_NAMED}

const bench_expression_entry bench_expression_entries[] = {
    MEMORY("step", BENCH_STEP),
    MEMORY("products", BENCH_PRODUCTS),
    MEMORY("decimation", BENCH_DECIMATION),
    FILES("file-step", BENCH_STEP),
    FILES("file-decimation", BENCH_DECIMATION),
    // Over in a blink: for the test of this program.
    TINY("tiny-step", BENCH_STEP, false),
    TINY("tiny-products", BENCH_PRODUCTS, false),
    TINY("tiny-decimation", BENCH_DECIMATION, false),
    TINY("tiny-file-step", BENCH_STEP, true),
    TINY("tiny-file-decimation", BENCH_DECIMATION, true),
};
const int bench_expression_entry_count = sizeof bench_expression_entries / sizeof bench_expression_entries[0];

#define STEP_BEGINS \
    "float dt = 1.0f / (4.0f * 24.0f);\n" \
    "vec3f gravity = {0.0f, -9.81f, 0.0f};\n" \
    "vec3f dV = {2.0f, 0.0f, 0.0f} - vec3f@v;\n" \
    "float lengthV = length(dV);\n" \
    "float Re = lengthV * float@radius / 1.225f;\n" \
    "float C = 0.0f;\n" \
    "if (Re > 1000.0f) C = 24.0f / Re;\n" \
    "else C = 0.424f;\n"

const char *const bench_program_name[BENCH_PROGRAMS] = {"step", "products", "decimation"};
const char *const bench_program_text[BENCH_PROGRAMS] = {
    STEP_BEGINS
    "vec3f drag = 0.5f * 1.2f * C * lengthV * dV * 4.0f * 3.14f * pow(@radius, 2.0f);\n"
    "vec3f@v += (gravity - drag / ((4.0f / 3.0f) * 3.14f * pow(float@radius, 3.0f))) * dt;\n"
    "vec3f@P += v@v * dt;\n",
    STEP_BEGINS
    "vec3f drag = 0.5f * 1.2f * C * lengthV * dV * 4.0f * 3.14f * (@radius * @radius);\n"
    "vec3f@v += (gravity - drag / ((4.0f / 3.0f) * 3.14f * (@radius * @radius * @radius))) * dt;\n"
    "vec3f@P += v@v * dt;\n",
    "int offset = 12345;\n"
    "float threshold = 0.5f;\n"
    "if (rand(offset + int64@id) > threshold) {\n"
    "    deletepoint();\n"
    "}\n",
};
