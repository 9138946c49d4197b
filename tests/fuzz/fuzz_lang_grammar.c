// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Grammar-aware fuzzing of the expression language: the input's bytes choose their way through the grammar, so every
// input is a program with correct types. It must compile, and the optimised code must give the same values as the
// unoptimised one: where the emitted code had undefined behaviour, the optimiser would sooner or later make something
// else of it.
//   fuzz_lang_grammar tests/fuzz/corpus/lang_grammar
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "lang/lang.h"
#include "lang/operators.h"
#include "target.h"

enum { ELEMENTS = 9, LOCALS = 24, TYPES = 21, TEXT = 1 << 15 };

static const rh_lang_type types[TYPES] = {
    RH_LANG_BOOL,  RH_LANG_INT32, RH_LANG_INT64, RH_LANG_FLOAT, RH_LANG_DOUBLE, RH_LANG_VEC2I, RH_LANG_VEC2F,
    RH_LANG_VEC2D, RH_LANG_VEC3I, RH_LANG_VEC3F, RH_LANG_VEC3D, RH_LANG_VEC4I,  RH_LANG_VEC4F, RH_LANG_VEC4D,
    RH_LANG_MAT3F, RH_LANG_MAT3D, RH_LANG_MAT4F, RH_LANG_MAT4D, RH_LANG_STRING, RH_LANG_FLOAT, RH_LANG_VEC3F,
};

typedef struct writer {
    const uint8_t *data;
    size_t size, at;
    char text[TEXT];
    size_t length;
    rh_lang_type locals[LOCALS];
    int local_count, loops, depth;
} writer;

static unsigned choose(writer *w, unsigned count) { return w->at < w->size ? w->data[w->at++] % count : 0; }
static bool is_over(const writer *w) { return w->at >= w->size || w->length > TEXT - 4096; }

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (w->length < TEXT - 256)
        w->length += (size_t)vsnprintf(w->text + w->length, TEXT - w->length, format, arguments);
    va_end(arguments);
}

static void put_expression(writer *w, rh_lang_type type);

static void put_literal(writer *w, rh_lang_type type)
{
    static const char *const wholes[] = {"0", "1", "2", "3", "7", "100", "2147483647", "65536"},
                             *const reals[] = {"0.0", "1.0", "0.5", "1e-3", "3.25", "1e30", "2147483648.0", "1e300"};
    unsigned k = choose(w, 8);
    switch (rh_lang_type_element(type)) {
    case RH_LANG_E_BOOL: put(w, k & 1 ? "true" : "false"); break;
    case RH_LANG_E_INT32: put(w, "%s", wholes[k]); break;
    case RH_LANG_E_INT64: put(w, "%sl", wholes[k]); break;
    case RH_LANG_E_FLOAT: put(w, "%sf", reals[k % 7]); break;
    case RH_LANG_E_DOUBLE: put(w, "%s", reals[k]); break;
    default: put(w, "\"%s\"", wholes[k]); break;
    }
}

static void put_attribute(writer *w, rh_lang_type type)
{
    put(w, "%s@%s_%u", rh_lang_type_name(type), rh_lang_type_name(type), choose(w, 3));
}

static bool put_local(writer *w, rh_lang_type type)
{
    unsigned start = choose(w, LOCALS);
    for (int i = 0; i < w->local_count; i++) {
        int slot = (int)(start + (unsigned)i) % w->local_count;
        if (w->locals[slot] != type) continue;
        put(w, "x%d", slot);
        return true;
    }
    return false;
}

static void put_variable(writer *w, rh_lang_type type)
{
    if (choose(w, 2) || !put_local(w, type)) put_attribute(w, type);
}

// Brings any expression of the same shape to the type; strings have their own ways.
static void put_call(writer *w, rh_lang_type type)
{
    unsigned start = choose(w, 256) * 2 + choose(w, 2);
    for (int i = 0; i < rh_lang_function_count; i++) {
        const rh_lang_function *row = &rh_lang_functions[((int)start + i) % rh_lang_function_count];
        rh_lang_signature s;
        // Functions of the context may stop the program, random ones would make NaN of everything after a while.
        if ((row->flags & (RH_LANG_CONTEXT | RH_LANG_VOLUMES)) || !rh_lang_signature_read(row->signature, &s) ||
            s.result != type)
            continue;
        put(w, "%s(", row->name);
        for (int k = 0; k < s.count; k++) {
            put(w, k ? ", " : "");
            if (s.written[k]) put_attribute(w, s.arguments[k]);
            else put_expression(w, s.arguments[k]);
        }
        put(w, ")");
        return;
    }
    put_variable(w, type);
}

static void put_array(writer *w, rh_lang_type type)
{
    put(w, "{");
    for (int i = 0; i < rh_lang_type_parts(type); i++) {
        put(w, i ? ", " : "");
        if (i) put_literal(w, RH_LANG_TYPE(RH_LANG_SCALAR, rh_lang_type_element(type)));
        else put_expression(w, RH_LANG_TYPE(RH_LANG_SCALAR, rh_lang_type_element(type)));
    }
    put(w, "}");
}

static void put_binary(writer *w, rh_lang_type type)
{
    static const char *const arithmetic[] = {"+", "-", "*", "/", "%"}, *const bits[] = {"&", "|", "^", "<<", ">>"},
                             *const tests[] = {"==", "!=", "<", ">", "<=", ">=", "&&", "||"};
    bool whole = type == RH_LANG_INT32 || type == RH_LANG_INT64;
    rh_lang_type operand = type;
    const char *sign = arithmetic[choose(w, rh_lang_is_matrix(type) ? 3 : 5)];
    if (whole && choose(w, 3) == 0) sign = bits[choose(w, 5)];
    if (type == RH_LANG_STRING) sign = "+";
    if (type == RH_LANG_BOOL) {
        sign = tests[choose(w, 8)];
        operand = types[1 + choose(w, 4)];
    }
    put(w, "(");
    put_expression(w, operand);
    put(w, " %s ", sign);
    put_expression(w, operand);
    put(w, ")");
}

static void put_index(writer *w, rh_lang_type type)
{
    static const rh_lang_shape shapes[] = {RH_LANG_VEC2, RH_LANG_VEC3, RH_LANG_VEC4, RH_LANG_MAT3, RH_LANG_MAT4};
    rh_lang_element element = rh_lang_type_element(type);
    if (element != RH_LANG_E_FLOAT && element != RH_LANG_E_DOUBLE) {
        put_variable(w, type);
        return;
    }
    rh_lang_type container = RH_LANG_TYPE(shapes[choose(w, 5)], element);
    put_attribute(w, container);
    if (choose(w, 2)) {
        put(w, "[%u]", choose(w, (unsigned)rh_lang_type_parts(container)));
    } else {
        put(w, "[");
        put_expression(w, RH_LANG_INT32);
        put(w, " & 1]");
    }
}

static void put_scalar(writer *w, rh_lang_type type)
{
    switch (choose(w, 4)) {
    case 0:
        put(w, "%s(", rh_lang_type_name(type));
        put_expression(w, types[choose(w, 5)]);
        put(w, ")");
        break;
    case 1:
        put(w, type == RH_LANG_BOOL ? "!(" : "-(");
        put_expression(w, type);
        put(w, ")");
        break;
    case 2: put_index(w, type); break;
    default: put_call(w, type); break;
    }
}

static void put_expression(writer *w, rh_lang_type type)
{
    if (is_over(w) || w->depth > 12) {
        if (rh_lang_is_container(type)) put_attribute(w, type);
        else put_literal(w, type);
        return;
    }
    w->depth++;
    unsigned kind = choose(w, 8);
    if (kind <= 1) put_variable(w, type);
    else if (kind <= 3) put_binary(w, type);
    else if (kind == 4) {
        put(w, "(");
        put_expression(w, RH_LANG_BOOL);
        put(w, " ? ");
        put_expression(w, type);
        put(w, " : ");
        put_expression(w, type);
        put(w, ")");
    } else if (kind == 5) put_call(w, type);
    else if (rh_lang_is_number(type)) put_scalar(w, type);
    else if (rh_lang_is_container(type)) put_array(w, type);
    else put_literal(w, type);
    w->depth--;
}

static void put_statement(writer *w);

static void put_body(writer *w)
{
    int locals = w->local_count;
    put(w, "{\n");
    for (unsigned i = choose(w, 3) + 1; i > 0; i--) put_statement(w);
    put(w, "}\n");
    w->local_count = locals;
}

static void put_loop(writer *w)
{
    int name = w->loops++;
    bool proved = choose(w, 2);
    put(w, "for (int k%d = 0; k%d < %s; ++k%d) ", name, name, proved ? "3" : "int32@int32_0 % 5", name);
    put_body(w);
}

static void put_assignment(writer *w, rh_lang_type type)
{
    static const char *const signs[] = {"=", "=", "+=", "-=", "*=", "/=", "%="};
    put_variable(w, type);
    put(w, " %s ",
        rh_lang_is_matrix(type)  ? signs[choose(w, 5)]
        : type == RH_LANG_STRING ? signs[choose(w, 3)]
                                 : signs[choose(w, 7)]);
    put_expression(w, type);
    put(w, ";\n");
}

static void put_statement(writer *w)
{
    rh_lang_type type = types[choose(w, TYPES)];
    if (is_over(w) || w->depth > 6) {
        put(w, ";\n");
        return;
    }
    w->depth++;
    switch (choose(w, 8)) {
    case 0:
    case 1:
        if (w->local_count < LOCALS) {
            put(w, "%s x%d = ", rh_lang_type_name(type), w->local_count);
            put_expression(w, type);
            put(w, ";\n");
            w->locals[w->local_count++] = type;
        }
        break;
    case 2:
        put(w, "if (");
        put_expression(w, RH_LANG_BOOL);
        put(w, ") ");
        put_body(w);
        if (choose(w, 2)) {
            put(w, "else ");
            put_body(w);
        }
        break;
    case 3:
        if (w->loops < 6) put_loop(w);
        break;
    case 4:
        put(w, choose(w, 2) ? "++" : "--");
        put_attribute(w, types[1 + choose(w, 4)]);
        put(w, ";\n");
        break;
    case 5:
        if (choose(w, 4) == 0) put(w, "return;\n");
        break;
    default: put_assignment(w, type); break;
    }
    w->depth--;
}

// ---- both ways

typedef struct outcome {
    rh_lang_program *program;
    char *columns[128];
    rh_lang_thread thread;
    rh_code code;
} outcome;

static void fill_column(rh_lang_type type, char *column, int which)
{
    for (int i = 0; i < ELEMENTS * rh_lang_type_parts(type); i++) {
        int value = (i * 37 + which * 11) % 23 - 7;
        switch (rh_lang_type_element(type)) {
        case RH_LANG_E_BOOL: column[i] = value & 1; break;
        case RH_LANG_E_INT32: ((int32_t *)(void *)column)[i] = value; break;
        case RH_LANG_E_INT64: ((int64_t *)(void *)column)[i] = value; break;
        case RH_LANG_E_FLOAT: ((float *)(void *)column)[i] = (float)value * 0.75f; break;
        case RH_LANG_E_DOUBLE: ((double *)(void *)column)[i] = (double)value * 0.3; break;
        default: ((rh_lang_text *)(void *)column)[i] = (rh_lang_text){"3.5 text", value & 7}; break;
        }
    }
}

static void run(outcome *o, const char *text, bool unoptimised)
{
    rh_lang_options options = {.domain = RH_LANG_POINTS, .unoptimised = unoptimised};
    rh_lang_messages messages = {0};
    rh_status status = {0};
    rh_code code = rh_lang_compile(text, strlen(text), &options, &o->program, &messages, &status);
    if (code != RH_OK) {
        fprintf(stderr, "%s\n%s\n", text, status.message);
        abort();
    }
    rh_lang_messages_free(&messages);
    const rh_lang_listing *l = rh_lang_program_listing(o->program);
    require(l->attribute_count <= 128);
    rh_lang_column columns[128];
    for (int i = 0; i < l->attribute_count; i++) {
        size_t size = rh_lang_type_size(l->attributes[i].type);
        o->columns[i] = malloc(size * ELEMENTS);
        fill_column(l->attributes[i].type, o->columns[i], i);
        columns[i] = (rh_lang_column){o->columns[i], (int64_t)size};
    }
    rh_lang_scope scope = {.steps = 500, .text_room = 65536};
    rh_lang_elements elements = {.attributes = columns};
    require(rh_lang_thread_init(&o->thread, o->program, &scope, &status) == RH_OK);
    rh_lang_context_begin(&o->thread.context, 0);
    o->code = rh_lang_run(o->program, &o->thread, &elements, 0, ELEMENTS, &status);
}

static bool same_number(rh_lang_element element, const char *a, const char *b)
{
    if (element == RH_LANG_E_FLOAT && isnan(*(const float *)(const void *)a))
        return isnan(*(const float *)(const void *)b);
    if (element == RH_LANG_E_DOUBLE && isnan(*(const double *)(const void *)a))
        return isnan(*(const double *)(const void *)b);
    if (element != RH_LANG_E_STRING) return memcmp(a, b, rh_lang_element_size(element)) == 0;
    const rh_lang_text *x = (const void *)a, *y = (const void *)b;
    return x->length == y->length && memcmp(x->data, y->data, (size_t)x->length) == 0;
}

static void compare(const outcome *a, const outcome *b, const char *text)
{
    const rh_lang_listing *l = rh_lang_program_listing(a->program);
    require(a->code == b->code);
    for (int i = 0; i < l->attribute_count && a->code == RH_OK; i++) {
        rh_lang_element element = rh_lang_type_element(l->attributes[i].type);
        size_t size = rh_lang_element_size(element);
        for (int k = 0; k < ELEMENTS * rh_lang_type_parts(l->attributes[i].type); k++) {
            if (same_number(element, a->columns[i] + (size_t)k * size, b->columns[i] + (size_t)k * size)) continue;
            fprintf(stderr, "%s\n%s differs at %d\n", text, l->attributes[i].name, k);
            abort();
        }
    }
}

static void release(outcome *o)
{
    for (int i = 0; i < rh_lang_program_listing(o->program)->attribute_count; i++) free(o->columns[i]);
    rh_lang_thread_free(&o->thread);
    rh_lang_program_free(o->program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    writer *w = calloc(1, sizeof *w);
    require(w != NULL);
    w->data = data;
    w->size = size < 600 ? size : 600;
    while (!is_over(w)) put_statement(w);
    outcome fast = {0}, plain = {0};
    run(&fast, w->text, false);
    run(&plain, w->text, true);
    compare(&fast, &plain, w->text);
    release(&fast);
    release(&plain);
    free(w);
    require(rh_memory_bytes() == 0);
    return 0;
}
