// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The public interface to expressions: the caller's arrays are the program's columns, nothing is copied but what
// neighbours must see as it was.
#include <string.h>
#include "base/context.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/param.h"
#include "lang/lang.h"
#include "world/api.h"

struct rheo_expression {
    rh_lang_program *program;
    rh_api_functions functions;
};

void rheo_expression_free(rheo_expression *expression)
{
    if (!expression) return;
    rh_lang_program_free(expression->program);
    rh_api_functions_free(&expression->functions);
    rh_free(expression);
}

static rh_code explain(const rh_lang_messages *messages, const char *code, rh_status *status)
{
    char *text = rh_lang_messages_print(messages, "expression", code, strlen(code), false, status);
    if (!text) return RH_MEMORY;
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n') length--;
    rh_fail(status, RH_USER, "%.*s", (int)length, text);
    rh_free(text);
    return RH_USER;
}

rheo_code rheo_expression_compile(const char *code, const rheo_function *functions, int function_count,
                                  rheo_expression **out, rheo_error *error)
{
    rh_status status = {0}, local = {0};
    rh_lang_messages messages = {0};
    *out = NULL;
    rheo_expression *e = rh_alloc_zero(sizeof *e, "api.expression", &status);
    if (!e) return rh_api_return(RH_MEMORY, &status, error);
    rh_code result = rh_api_functions_copy(&e->functions, functions, function_count, &status);
    if (result == RH_OK) {
        const rh_lang_options options = {
            .domain = RH_LANG_POINTS, .functions = e->functions.items, .function_count = e->functions.count};
        result = rh_lang_compile(code, strlen(code), &options, &e->program, &messages, &local);
        if (messages.errors) result = explain(&messages, code, &status);
        else if (result != RH_OK) rh_fail(&status, result, "%s", local.message);
    }
    rh_lang_messages_free(&messages);
    if (result == RH_OK) *out = e;
    else rheo_expression_free(e);
    return rh_api_return(result, &status, error);
}

// --- what it uses ----------------------------------------------------------------------------------------------------

int rheo_expression_use_count(const rheo_expression *expression)
{
    const rh_lang_listing *l = rh_lang_program_listing(expression->program);
    return l->attribute_count + l->external_count + l->group_count;
}

rheo_use rheo_expression_use(const rheo_expression *expression, int index)
{
    const rh_lang_listing *l = rh_lang_program_listing(expression->program);
    if (index < l->attribute_count) {
        const rh_lang_attribute_use *a = &l->attributes[index];
        return (rheo_use){RHEO_USE_ATTRIBUTE, a->name, rh_lang_type_name(a->type), a->reads, a->writes};
    }
    index -= l->attribute_count;
    if (index < l->external_count)
        return (rheo_use){RHEO_USE_VALUE, l->externals[index].name, rh_lang_type_name(l->externals[index].type), 1, 0};
    const rh_lang_group_use *g = &l->groups[index - l->external_count];
    return (rheo_use){RHEO_USE_GROUP, g->name, "group", g->reads, g->adds || g->removes};
}

int rheo_expression_deletes(const rheo_expression *expression)
{
    return rh_lang_program_listing(expression->program)->deletes;
}
double rheo_expression_seconds(const rheo_expression *expression)
{
    return rh_lang_program_seconds(expression->program);
}

// --- running ---------------------------------------------------------------------------------------------------------

// One pass: everything it holds is given back by pass_free.
typedef struct pass {
    const rheo_pass *given;
    const rh_lang_listing *listing;
    rh_lang_scope scope;
    rh_lang_pool pool;
    rh_lang_column *columns;
    rh_lang_external *externals;
    rh_lang_group *groups;
    rh_lang_array *arrays;  // of the neighbours
    void **copies;
    rh_lang_snapshot snapshot;
} pass;

static const rheo_array *find_array(const rheo_pass *given, const char *name, bool group)
{
    for (int i = 0; i < given->array_count; i++)
        if (strcmp(given->arrays[i].name, name) == 0 && (strcmp(given->arrays[i].type, "group") == 0) == group)
            return &given->arrays[i];
    return NULL;
}

static rh_lang_type type_of(const rheo_array *array) { return rh_lang_type_named(array->type, strlen(array->type)); }

static bool is_packed(const rheo_array *array)
{
    return array->stride == 0 || strcmp(array->type, "group") == 0 ||
           array->stride == (int64_t)rh_lang_type_size(type_of(array));
}

static rh_code missing(const rheo_pass *given, const rh_lang_attribute_use *use, rh_status *status)
{
    enum { MOST = 64 };
    const char *names[MOST] = {NULL};
    int count = 0;
    for (int i = 0; i < given->array_count && count < MOST; i++) names[count++] = given->arrays[i].name;
    const char *near = rh_nearest_name(use->name, names, count);
    return rh_fail(status, RH_USER, "%d:%d: no array was given for %s@%s%s%s%s", use->at.line, use->at.column,
                   rh_lang_type_name(use->type), use->name, near ? " (did you mean " : "", near ? near : "",
                   near ? "?)" : "");
}

static rh_code find_columns(pass *p, rh_status *status)
{
    for (int i = 0; i < p->listing->attribute_count; i++) {
        const rh_lang_attribute_use *use = &p->listing->attributes[i];
        const rheo_array *array = find_array(p->given, use->name, false);
        if (!array) return missing(p->given, use, status);
        if (type_of(array) != use->type)
            return rh_fail(status, RH_USER, "%d:%d: the array of \"%s\" is %s, the program takes it for %s",
                           use->at.line, use->at.column, use->name, array->type, rh_lang_type_name(use->type));
        if (!array->data && p->given->count > 0)
            return rh_fail(status, RH_USER, "the array of \"%s\" is NULL", use->name);
        p->columns[i] = (rh_lang_column){array->data,
                                         array->stride ? array->stride : (int64_t)rh_lang_type_size(use->type)};
    }
    for (int i = 0; i < p->given->array_count; i++) {
        const rheo_array *array = &p->given->arrays[i];
        if (strcmp(array->type, "group") == 0)
            p->groups[p->scope.group_count++] = (rh_lang_group){array->name, array->data};
    }
    return RH_OK;
}

static bool is_written(const rh_lang_listing *l, const rheo_array *array)
{
    if (strcmp(array->type, "group") == 0) return true;
    for (int i = 0; i < l->attribute_count; i++)
        if (l->attributes[i].writes && strcmp(l->attributes[i].name, array->name) == 0) return true;
    return false;
}

// Neighbours see the arrays the functions can ask for, if they are packed.
static bool is_visible(const rheo_array *array)
{
    static const char *const types[] = {"float", "double", "int32", "int64", "vec3f", "mat3f", "group"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(array->type, types[i]) == 0) return is_packed(array);
    return false;
}

static rh_code take_snapshot(pass *p, rh_status *status)
{
    if (!p->listing->neighbours) return RH_OK;
    const rheo_pass *given = p->given;
    int count = 0;
    for (int i = 0; i < given->array_count; i++) {
        const rheo_array *array = &given->arrays[i];
        const void *data = array->data;
        if (!is_visible(array)) continue;
        if (is_written(p->listing, array)) {
            size_t bytes = (size_t)given->count *
                           (strcmp(array->type, "group") == 0 ? 1 : rh_lang_type_size(type_of(array)));
            data = p->copies[i] = rh_alloc(bytes + 1, "api.expression", status);
            if (!data) return RH_MEMORY;
            memcpy(p->copies[i], array->data, bytes);
        }
        if (strcmp(array->name, "P") == 0 && strcmp(array->type, "vec3f") == 0) p->scope.positions = data;
        p->arrays[count++] = (rh_lang_array){array->name, array->type, data, false};
    }
    if (!p->scope.positions)
        return rh_fail(
            status, RH_USER,
            "the program asks for neighbours, for which an array \"P\" of vec3f, one behind the other, must be given");
    RH_TRY(rh_lang_snapshot_init(&p->snapshot, p->scope.positions, given->count, 0, p->arrays, count, status));
    p->scope.snapshot = &p->snapshot;
    return RH_OK;
}

static rh_code prepare(pass *p, const rh_lang_program *program, rh_status *status)
{
    const rheo_pass *given = p->given;
    size_t arrays = (size_t)given->array_count + 1;
    p->columns = rh_alloc_zero((size_t)(p->listing->attribute_count + 1) * sizeof *p->columns, "api.expression",
                               status);
    p->externals = rh_alloc_zero((size_t)(given->value_count + 1) * sizeof *p->externals, "api.expression", status);
    p->groups = rh_alloc_zero(arrays * sizeof *p->groups, "api.expression", status);
    p->arrays = rh_alloc_zero(arrays * sizeof *p->arrays, "api.expression", status);
    p->copies = rh_alloc_zero(arrays * sizeof *p->copies, "api.expression", status);
    if (!p->columns || !p->externals || !p->groups || !p->arrays || !p->copies) return RH_MEMORY;
    if (p->listing->deletes && !given->deleted)
        return rh_fail(status, RH_USER, "the program deletes elements, but `deleted` is NULL");
    if (given->deleted) memset(given->deleted, 0, (size_t)given->count);
    for (int i = 0; i < given->value_count; i++)
        p->externals[i] = (rh_lang_external){given->values[i].name, given->values[i].type, given->values[i].value};
    const rheo_array *id = find_array(given, "id", false);
    p->scope = (rh_lang_scope){.externals = p->externals,
                               .external_count = given->value_count,
                               .groups = p->groups,
                               .dead = given->deleted,
                               .seed = given->seed,
                               .steps = given->budget,
                               .ids = id && type_of(id) == RH_LANG_INT64 && is_packed(id) ? id->data : NULL};
    RH_TRY(find_columns(p, status));
    RH_TRY(take_snapshot(p, status));
    return rh_lang_pool_init(&p->pool, program, &p->scope, status);
}

static void pass_free(pass *p)
{
    rh_lang_pool_free(&p->pool);
    if (p->scope.snapshot) rh_lang_snapshot_free(&p->snapshot);
    for (int i = 0; p->copies && i < p->given->array_count; i++) rh_free(p->copies[i]);
    rh_free(p->copies);
    rh_free(p->arrays);
    rh_free(p->groups);
    rh_free(p->externals);
    rh_free(p->columns);
}

static void log_printed(const rh_lang_result *result)
{
    for (int64_t at = 0; at < result->printed_length;) {
        const char *line = result->printed + at, *end = memchr(line, '\n', (size_t)(result->printed_length - at));
        int64_t length = end ? end - line : result->printed_length - at;
        rh_log(RH_LOG_INFO, "%.*s", (int)(length < 1000 ? length : 1000), line);
        at += length + 1;
    }
}

static rh_code run(const rheo_expression *expression, const rheo_pass *given, rh_status *status)
{
    rh_lang_result result = {0};
    pass p = {.given = given, .listing = rh_lang_program_listing(expression->program)};
    if (p.listing->strings)
        return rh_fail(status, RH_USER, "the program writes a string, which arrays of a caller cannot hold");
    rh_code code = prepare(&p, expression->program, status);
    if (code == RH_OK && given->count > 0) {
        const rh_lang_elements elements = {.attributes = p.columns};
        code = rh_lang_pass(expression->program, &p.pool, &elements, given->count, &result, status);
    }
    if (code == RH_OK && result.group_count)
        code = rh_fail(status, RH_USER, "the program makes the group \"%s\", for which no array was given",
                       result.groups[0].name);
    log_printed(&result);
    rh_lang_result_free(&result);
    pass_free(&p);
    return code;
}

rheo_code rheo_expression_run(const rheo_expression *expression, const rheo_pass *given, rheo_error *error)
{
    rh_status status = {0};
    rh_context_scope before = rh_context_enter(NULL);
    rh_code code = run(expression, given, &status);
    rh_context_leave(before);
    return rh_api_return(code, &status, error);
}
