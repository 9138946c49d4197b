// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Compiling: the steps in order, and what a host may ask about the result.
#include "lang/lang.h"
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/param.h"
#include "lang/depend.h"
#include "lang/operators.h"
#include "lang/parse.h"
#include "lang/program.h"

static void fill_listing(rh_lang_program *p)
{
    const rh_lang_facts *f = &p->facts;
    p->listing = (rh_lang_listing){
        .attributes = f->attributes,
        .attribute_count = f->attribute_count,
        .externals = f->externals,
        .external_count = f->external_count,
        .groups = f->groups,
        .group_count = f->named_groups ? f->group_count : 0,
        .unnamed_groups = !f->named_groups,
        .deletes = f->deletes,
        .neighbours = f->neighbours,
        .random = f->random,
        .coordinates = f->coordinates,
    };
    for (int i = 0; i < f->attribute_count; i++) {
        const rh_lang_attribute_use *a = &f->attributes[i];
        p->listing.moves |= a->writes && strcmp(a->name, "P") == 0;
        p->listing.strings |= a->writes && a->type == RH_LANG_STRING;
    }
}

// The status repeats the first error, for hosts that show one line.
static rh_code refuse(const rh_lang_messages *messages, const rh_lang_options *options, rh_status *status)
{
    for (int i = 0; i < messages->count; i++) {
        const rh_lang_message *m = &messages->items[i];
        if (m->warning && !options->warnings_are_errors) continue;
        return rh_fail(status, RH_USER, "%d:%d: %s%s%s%s", m->at.line, m->at.column, m->text, m->suggestion ? " (" : "",
                       m->suggestion ? m->suggestion : "", m->suggestion ? ")" : "");
    }
    return rh_fail(status, RH_USER, "the expression is wrong");
}

static rh_code check_host_functions(const rh_lang_options *options, rh_status *status)
{
    for (int i = 0; i < options->function_count; i++) {
        const rh_lang_function *row = &options->functions[i];
        rh_lang_signature signature;
        if (!row->symbol || !rh_lang_signature_read(row->signature, &signature))
            return rh_fail(status, RH_USER,
                           "the host's function %s has the signature \"%s\", expected one such as \"float(vec3f, "
                           "int32)\" and an address",
                           row->name, row->signature);
    }
    return RH_OK;
}

static rh_code compile_unit(rh_lang_unit *unit, const rh_lang_options *options, rh_lang_program *program)
{
    if (unit->length > RH_LANG_MOST_SOURCE)
        return rh_fail(unit->status, RH_USER, "the expression has %zu bytes, expected at most %d", unit->length,
                       RH_LANG_MOST_SOURCE);
    RH_TRY(check_host_functions(options, unit->status));
    rh_lang_node *tree = rh_lang_parse(unit);
    if (unit->failed) return RH_MEMORY;
    // A tree with syntax errors has holes: checking it would complain about them.
    if (unit->messages->errors == 0 && !rh_lang_check(unit, tree, options, &program->facts)) return RH_MEMORY;
    rh_lang_messages_sort(unit->messages);
    if (unit->messages->errors || (options->warnings_are_errors && unit->messages->count))
        return refuse(unit->messages, options, unit->status);
    if (!rh_lang_depend(unit, tree, options, &program->facts)) return RH_MEMORY;
    program->tree = tree;
    return options->check_only ? RH_OK : rh_lang_code_make(unit, tree, options, &program->facts, &program->code);
}

rh_code rh_lang_compile(const char *source, size_t length, const rh_lang_options *options, rh_lang_program **out,
                        rh_lang_messages *messages, rh_status *status)
{
    double start = rh_seconds();
    *out = NULL;
    rh_status own = {0};
    rh_lang_unit unit = {.source = source, .length = length, .messages = messages, .status = status ? status : &own};
    rh_lang_program *program = rh_alloc_zero(sizeof *program, "lang.program", unit.status);
    if (!program) return RH_MEMORY;
    rh_arena_init(&unit.arena, "lang.program");
    rh_code code = compile_unit(&unit, options, program);
    program->arena = unit.arena;
    if (code != RH_OK) {
        rh_lang_program_free(program);
        return code;
    }
    program->domain = options->domain;
    if (program->code) program->kernel = rh_lang_code_kernel(program->code);
    fill_listing(program);
    program->seconds = rh_seconds() - start;
    *out = program;
    return RH_OK;
}

void rh_lang_program_free(rh_lang_program *program)
{
    if (!program) return;
    if (program->code) rh_lang_code_free(program->code);
    rh_arena_free(&program->arena);
    rh_free(program);
}

const rh_lang_listing *rh_lang_program_listing(const rh_lang_program *program) { return &program->listing; }
bool rh_lang_program_depends(const rh_lang_program *program, int index, int other)
{
    RH_ASSERT(index >= 0 && other >= 0);
    int words = (program->facts.attribute_count + 63) / 64;
    return program->facts.depends[index * words + other / 64] >> (other % 64) & 1;
}

char *rh_lang_program_tree(const rh_lang_program *program, rh_status *status)
{
    return rh_lang_tree_print(program->tree, status);
}
double rh_lang_program_seconds(const rh_lang_program *program) { return program->seconds; }
const char *rh_lang_program_text(const rh_lang_program *program)
{
    return program->code ? rh_lang_code_text(program->code) : NULL;
}

// ---- does the host's data fit?

static rh_code match_attribute(const rh_lang_attribute_use *use, const rh_lang_host *host, rh_lang_messages *messages,
                               rh_status *status)
{
    char text[256], hint[128] = "";
    rh_lang_type type = host->attribute ? host->attribute(host->user, use->name) : RH_LANG_VOID;
    if (type == use->type || (type == RH_LANG_VOID && host->create_missing)) return RH_OK;
    if (type != RH_LANG_VOID) {
        snprintf(text, sizeof text, "the attribute \"%s\" is of type %s, the program takes it for %s", use->name,
                 rh_lang_type_name(type), rh_lang_type_name(use->type));
        snprintf(hint, sizeof hint, "write %s@%s", rh_lang_type_name(type), use->name);
    } else {
        const char *near = rh_nearest_name(use->name, host->names, host->name_count);
        snprintf(text, sizeof text, "there is no attribute \"%s\"", use->name);
        if (near) snprintf(hint, sizeof hint, "did you mean @%s?", near);
    }
    return rh_lang_messages_add(messages, false, use->at, text, hint[0] ? hint : NULL, status);
}

static rh_code match_external(const rh_lang_external_use *use, const rh_lang_host *host, rh_lang_messages *messages,
                              rh_status *status)
{
    char text[256], hint[128];
    rh_lang_type type = host->external ? host->external(host->user, use->name) : RH_LANG_VOID;
    if (type == use->type || type == RH_LANG_VOID) return RH_OK;
    snprintf(text, sizeof text, "the value $%s is given as %s, the program takes it for %s", use->name,
             rh_lang_type_name(type), rh_lang_type_name(use->type));
    snprintf(hint, sizeof hint, "write %s$%s", rh_lang_type_name(type), use->name);
    return rh_lang_messages_add(messages, false, use->at, text, hint, status);
}

rh_code rh_lang_match(const rh_lang_program *program, const rh_lang_host *host, rh_lang_messages *messages,
                      rh_status *status)
{
    const rh_lang_listing *l = &program->listing;
    int before = messages->errors;
    for (int i = 0; i < l->attribute_count; i++) RH_TRY(match_attribute(&l->attributes[i], host, messages, status));
    for (int i = 0; i < l->external_count; i++) RH_TRY(match_external(&l->externals[i], host, messages, status));
    return messages->errors == before ? RH_OK : refuse(messages, &(rh_lang_options){0}, status);
}
