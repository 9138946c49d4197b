// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A program's place: the reader notes where the first letter of a program stands in its file when the file's lines are
// the program's lines (a block after |, or one line). Messages are then printed against a text in which the program
// stands where it stands in the file.
#include "scene/expressions.h"

#include <errno.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/regular.h"
#include "lang/lang.h"
#include "scene/words.h"

enum { MOST_FILE = 1 << 20 };  // bytes of a program file

const char *const rh_expression_given[] = {"time", "dt", "frame", "step", "fps", "cell", NULL};
const char *const rh_surface_expression_given[] = {"time", "frame", "fps", "cell", NULL};

// --- the table -------------------------------------------------------------------------------------------------------

static const char *const moments[] = {"start", "emit", "forces", "step", "frame", NULL};  // order of rh_expression_at

#define AT(field) offsetof(rh_expression_params, field)
static const rh_param rows[] = {
    {"name", RH_PARAM_TEXT, AT(name), "", .help = "for messages, and to find it with --set"},
    {"material", RH_PARAM_TEXT, AT(material), "",
     .help = "whose particles it runs on: a name in materials; without one the first"},
    {"at", RH_PARAM_CHOICE, AT(at), "", .choices = moments, .required = true,
     .help = "when: start (once, after the bodies are filled), emit (on new particles), forces (before a step), step "
             "(after it), frame (before a frame is written)"},
    {"code", RH_PARAM_CODE, AT(code), "", .help = "the program; see docs/expressions.md"},
    {"file", RH_PARAM_PATH, AT(file), "", .help = "or the file it is in"},
    {"set", RH_PARAM_VALUES, AT(set), "", .help = "values the program reads as $name"},
    {"budget", RH_PARAM_INT, AT(budget), "", "16777216", 1, 1e15,
     .help = "steps in loops that one particle may take; more end the run with a message"},
    {"start", RH_PARAM_FLOAT, AT(start), "s", "0", 0, 1e30, .help = "simulated time from which on it runs"},
    {"stop", RH_PARAM_FLOAT, AT(stop), "s", "1e30", 0, 1e30, .help = "simulated time from which on it no longer runs"},
};
#undef AT

static rh_code check_expression(const void *object, const char **field, rh_status *status)
{
    const rh_expression_params *e = object;
    if (!e->code && !e->file) return rh_fail(status, RH_USER, "expected 'code' or 'file', found neither");
    *field = "file";
    if (e->code && e->file) return rh_fail(status, RH_USER, "expected either 'code' or 'file', found both");
    *field = "stop";
    if (!(e->start < e->stop))
        return rh_fail(status, RH_USER, "must come after start: start is %g s, stop is %g s", e->start, e->stop);
    *field = "set";
    for (int i = 0; i < e->set.count; i++)
        for (int k = 0; rh_expression_given[k]; k++)
            if (strcmp(((const rh_named_value *)e->set.items)[i].name, rh_expression_given[k]) == 0)
                return rh_fail(status, RH_USER, "$%s is given by the run and cannot be set", rh_expression_given[k]);
    return RH_OK;
}

const rh_param_table rh_expression_table = {
    "expression",
    "A program in the expression language (docs/expressions.md) that runs on every particle at a moment of the run.",
    rows,
    RH_PARAM_COUNT(rows),
    sizeof(rh_expression_params),
    check_expression};

// --- places ----------------------------------------------------------------------------------------------------------

static const rh_scene_source *source_of(const rh_scene *scene, const char *value)
{
    for (int i = 0; i < scene->sources.count; i++)
        if (scene->sources.items[i].value == value) return &scene->sources.items[i];
    return NULL;
}

// The file of a place: without line and column, which it ends with when the text's own line is known.
static void file_of(const rh_scene_source *source, char *out, size_t size)
{
    snprintf(out, size, "%s", source->place);
    for (int i = 0; i < 2 && source->line > 0; i++) {
        char *colon = strrchr(out, ':');
        if (colon && colon[1 + strspn(colon + 1, "0123456789")] == 0) *colon = 0;
    }
}

void rh_scene_code_place(const rh_scene *scene, const char *code, const char *label, int line, int column, char *out,
                         size_t size)
{
    const rh_scene_source *source = source_of(scene, code);
    char file[320];
    if (source && source->line > 0) {
        file_of(source, file, sizeof file);
        snprintf(out, size, "%s:%d:%d", file, source->line + line - 1, source->column + column - 1);
    } else {
        snprintf(out, size, "%s: %s: line %d, column %d of the program", source ? source->place : scene->file, label,
                 line, column);
    }
}

// The program's text where its file has it: so many lines down, so many columns to the right.
static char *stand_in_file(const char *code, const rh_scene_source *source, size_t *length, rh_status *status)
{
    size_t lines = 1, right = (size_t)(source->column - 1), down = (size_t)(source->line - 1);
    for (const char *at = code; *at; at++) lines += *at == '\n';
    *length = strlen(code) + down + lines * right;
    char *text = rh_alloc(*length + 1, "scene.blame", status), *to = text;
    if (!text) return NULL;
    memset(to, '\n', down);
    to += down;
    for (const char *at = code;;) {
        size_t bytes = strcspn(at, "\n");
        memset(to, ' ', right);
        memcpy(to + right, at, bytes);
        to += right + bytes;
        at += bytes;
        if (!*at++) break;
        *to++ = '\n';
    }
    *to = 0;
    return text;
}

// As much as fits into a status, in whole messages.
static rh_code fail_with(const char *text, rh_status *status)
{
    static const char more[] = "(there may be more)";
    size_t room = sizeof status->message - sizeof more - 1, length = strlen(text);
    while (length && text[length - 1] == '\n') length--;
    if (length < sizeof status->message) return rh_fail(status, RH_USER, "%.*s", (int)length, text);
    while (room && text[room] != '\n') room--;
    return rh_fail(status, RH_USER, "%.*s\n%s", (int)room, text, more);
}

rh_code rh_scene_blame(const rh_scene *scene, const char *code, const char *label, const rh_lang_messages *messages,
                       rh_status *status)
{
    const rh_scene_source *source = source_of(scene, code);
    char name[640];
    if (!source || source->line == 0) {
        snprintf(name, sizeof name, "%s: %s", source ? source->place : scene->file, label);
        char *text = rh_lang_messages_print(messages, name, code, strlen(code), false, status);
        rh_code result = text ? fail_with(text, status) : RH_MEMORY;
        rh_free(text);
        return result;
    }
    rh_lang_messages moved = {0};
    size_t length = 0;
    rh_code result = RH_OK;
    for (int i = 0; i < messages->count && result == RH_OK; i++) {
        const rh_lang_message *m = &messages->items[i];
        rh_lang_place at = {m->at.line + source->line - 1, m->at.column + source->column - 1, m->at.length};
        result = rh_lang_messages_add(&moved, m->warning, at, m->text, m->suggestion, status);
    }
    char *text = result == RH_OK ? stand_in_file(code, source, &length, status) : NULL, *printed = NULL;
    file_of(source, name, sizeof name);
    if (text) printed = rh_lang_messages_print(&moved, name, text, length, false, status);
    result = printed ? fail_with(printed, status) : RH_MEMORY;
    rh_free(printed);
    rh_free(text);
    rh_lang_messages_free(&moved);
    return result;
}

// --- files -----------------------------------------------------------------------------------------------------------

// As people see it: from the working folder when it lies there.
static const char *shown(const char *path)
{
    char folder[4096];
    size_t length = getcwd(folder, sizeof folder) ? strlen(folder) : 0;
    return length && strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

static rh_code read_text(const char *path, char **out, const char **why, rh_status *status)
{
    char real[PATH_MAX];
    // Messages about a program quote its lines, and a scene may name any file: not those of others.
    const char *ending = realpath(path, real) ? strrchr(real, '.') : ".ax";
    if (!ending || strcmp(ending, ".ax") != 0) return *why = "its name (or where it leads) does not end in .ax", RH_OK;
    int handle = rh_open_regular(path, why);
    if (handle < 0) return RH_OK;
    FILE *file = fdopen(handle, "rb");
    if (!file) return close(handle), *why = strerror(errno), RH_OK;
    char *text = rh_alloc(MOST_FILE + 1, "params.text", status);
    size_t bytes = text ? fread(text, 1, MOST_FILE + 1, file) : 0;
    if (ferror(file)) *why = strerror(errno);
    else if (bytes > MOST_FILE) *why = "larger than 1 MiB, the limit of a program";
    else if (text && memchr(text, 0, bytes)) *why = "it contains a zero byte";
    fclose(file);
    if (!text) return RH_MEMORY;
    if (!*why) {
        text[bytes] = 0;
        char *fits = rh_realloc(text, bytes + 1, "params.text", NULL);
        *out = fits ? fits : text;
    } else {
        rh_free(text);
    }
    return RH_OK;
}

// The program takes the place of its file's name; its own place is the file's first letter.
static rh_code load_file(rh_scene *scene, rh_expression_params *e, rh_status *status)
{
    const char *why = NULL;
    char place[4400];
    RH_TRY(read_text(e->file, &e->code, &why, status));
    if (why)
        return rh_fail(status, RH_USER, "%s: cannot read the program '%.300s': %s", rh_scene_place(scene, e->file),
                       shown(e->file), why);
    for (int i = 0; i < scene->sources.count; i++) {
        rh_scene_source *source = &scene->sources.items[i];
        if (source->value != e->file) continue;
        snprintf(place, sizeof place, "%.300s:1:1", shown(e->file));
        char *copy = rh_strdup(place, "scene.sources", status);
        if (!copy) return RH_MEMORY;
        rh_free(source->place);
        *source = (rh_scene_source){e->code, copy, false, 1, 1};
    }
    rh_free(e->file);
    e->file = NULL;
    return RH_OK;
}

// --- checking --------------------------------------------------------------------------------------------------------

// What a program may read from outside.
typedef struct outside {
    const char *const *given;  // numbers, NULL-terminated
    const rh_list *set;        // rh_named_value
} outside;

static bool is_given(const outside *from, const char *name)
{
    for (int i = 0; from->given[i]; i++)
        if (strcmp(name, from->given[i]) == 0) return true;
    return false;
}

static const rh_named_value *value_of(const rh_list *set, const char *name)
{
    const rh_named_value *values = set->items;
    for (int i = 0; i < set->count; i++)
        if (strcmp(values[i].name, name) == 0) return &values[i];
    return NULL;
}

// A $name that nobody gives would be zero for ever: a slip of the finger.
static rh_code missing_value(const rh_lang_external_use *use, const outside *from, rh_lang_messages *messages,
                             rh_status *status)
{
    enum { MOST = 64 };
    const char *names[MOST] = {NULL};
    char text[256], hint[400];
    int count = 0;
    for (int i = 0; from->given[i]; i++) names[count++] = from->given[i];
    for (int i = 0; i < from->set->count && count < MOST; i++)
        names[count++] = ((const rh_named_value *)from->set->items)[i].name;
    snprintf(text, sizeof text, "nobody gives the value $%.60s", use->name);
    rh_words_suggest(use->name, names, count, hint, sizeof hint);
    return rh_lang_messages_add(messages, false, use->at, text, hint, status);
}

static rh_code check_external(const rh_lang_external_use *use, const outside *from, rh_lang_messages *messages,
                              rh_status *status)
{
    char text[256];
    const rh_named_value *value = value_of(from->set, use->name);
    if (!value && !is_given(from, use->name)) return missing_value(use, from, messages, status);
    bool fits = value && value->is_vector ? rh_lang_type_shape(use->type) == RH_LANG_VEC3
                                          : rh_lang_is_number(use->type);
    if (fits) return RH_OK;
    snprintf(text, sizeof text, "$%.60s is %s, the program takes it for %s", use->name,
             value && value->is_vector ? "a vector" : "a number", rh_lang_type_name(use->type));
    char hint[128];
    snprintf(hint, sizeof hint, "write %s$%.60s", value && value->is_vector ? "v" : "f", use->name);
    return rh_lang_messages_add(messages, false, use->at, text, hint, status);
}

// What is set and never read is a slip too.
static rh_code check_set(const rh_scene *scene, const outside *from, const rh_lang_listing *listing, const char *code,
                         const char *label, rh_status *status)
{
    const rh_list *set = from->set;
    const rh_named_value *values = set->items;
    if (strstr(code, "external")) return RH_OK;  // the function of that name may read anything
    for (int i = 0; i < set->count; i++) {
        enum { MOST = 64 };
        const char *names[MOST] = {NULL};
        bool used = false;
        int count = 0;
        for (int k = 0; k < listing->external_count; k++) {
            used |= strcmp(listing->externals[k].name, values[i].name) == 0;
            if (count < MOST && !is_given(from, listing->externals[k].name))
                names[count++] = listing->externals[k].name;
        }
        if (used) continue;
        char hint[320] = "it reads none";
        if (count) rh_words_suggest(values[i].name, names, count, hint, sizeof hint);
        return rh_fail(status, RH_USER, "%s: %s.set: the program does not read $%.60s; %s", rh_scene_place(scene, code),
                       label, values[i].name, hint);
    }
    return RH_OK;
}

static rh_code check_program(const rh_scene *scene, const char *code, const char *label, const outside *from,
                             bool in_run, rh_status *status)
{
    rh_lang_options options = {.domain = RH_LANG_POINTS, .check_only = true};
    if (in_run) options.functions = scene->functions, options.function_count = scene->function_count;
    rh_lang_program *program = NULL;
    rh_lang_messages messages = {0};
    rh_status local = {0};
    rh_code result = rh_lang_compile(code, strlen(code), &options, &program, &messages, &local);
    const rh_lang_listing *listing = program ? rh_lang_program_listing(program) : NULL;
    for (int i = 0; listing && i < listing->external_count && result == RH_OK; i++)
        result = check_external(&listing->externals[i], from, &messages, &local);
    if (messages.errors) result = rh_scene_blame(scene, code, label, &messages, status);
    else if (result != RH_OK) rh_fail(status, result, "%s: %s: %s", rh_scene_place(scene, code), label, local.message);
    else result = check_set(scene, from, listing, code, label, status);
    rh_lang_messages_free(&messages);
    rh_lang_program_free(program);
    return result;
}

rh_code rh_expressions_load(rh_scene *scene, rh_status *status)
{
    rh_expression_params *items = scene->expressions.items;
    const rh_list nothing = {0};
    char label[64];
    for (int i = 0; i < scene->expressions.count; i++) {
        if (items[i].file) RH_TRY(load_file(scene, &items[i], status));
        snprintf(label, sizeof label, "expressions[%d]", i);
        const outside from = {rh_expression_given, &items[i].set};
        RH_TRY(check_program(scene, items[i].code, label, &from, true, status));
    }
    const outside from = {rh_surface_expression_given, &nothing};
    if (scene->surface.expression)
        RH_TRY(check_program(scene, scene->surface.expression, "surface.expression", &from, false, status));
    const rh_material_params *materials = scene->materials.items;
    for (int i = 0; i < scene->materials.count; i++) {
        if (!materials[i].surface || !materials[i].surface->expression) continue;
        snprintf(label, sizeof label, "materials[%d].surface.expression", i);
        RH_TRY(check_program(scene, materials[i].surface->expression, label, &from, false, status));
    }
    return RH_OK;
}
