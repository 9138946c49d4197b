// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Expressions on points. Most columns are the arrays of the file, leaf by leaf. What cannot be is an array over all
// points, put into the file after the pass: positions (in the world there, relative to voxels in the file), groups
// (bits there, bytes here), strings that are written (numbers of a shared table there).
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/memory.h"
#include "base/param.h"
#include "io/expression.h"
#include "io/expression_runner.h"
#include "lang/stop.h"

typedef struct pass {
    rh_vdb_points *points;
    const char *grid;
    const rh_lang_program *program;
    const rh_lang_listing *listing;
    const rh_expression_options *options;
    int64_t count;
    // For each listed attribute.
    int *attributes;
    bool *writes;
    rh_lang_column *own;
    rh_lang_text **texts;  // of a string that is written, else NULL
    // Over all points.
    rh_vec3 *positions, *before;  // `before` holds still while positions are written
    uint8_t *dead, *only;
    rh_lang_group *groups;  // with owned members
    int group_count;
    rh_lang_array *arrays;  // what neighbours see, with owned data
    int array_count;
    rh_lang_snapshot snapshot;
} pass;

// ---- do they fit?

static const char *bound(const pass *p, int attribute)
{
    return rh_expression_bound(p->options, p->listing->attributes[attribute].name);
}

static rh_lang_type attribute_type(void *user, const char *name)
{
    const pass *p = user;
    int at = rh_vdb_points_find(p->points, rh_expression_bound(p->options, name));
    return at >= 0 ? rh_vdb_points_attribute(p->points, at).type : RH_LANG_VOID;
}

static rh_lang_type external_type(void *user, const char *name)
{
    const pass *p = user;
    for (int i = 0; i < p->options->external_count; i++) {
        const rh_lang_external *given = &p->options->externals[i];
        if (strcmp(given->name, name) == 0) return rh_lang_type_named(given->type, strlen(given->type));
    }
    return RH_LANG_VOID;
}

// An attribute that is there, in a form the language has no type for.
static rh_code refuse_stored(const pass *p, rh_lang_messages *messages, rh_status *status)
{
    for (int i = 0; i < p->listing->attribute_count; i++) {
        const rh_lang_attribute_use *use = &p->listing->attributes[i];
        int at = rh_vdb_points_find(p->points, bound(p, i));
        if (at < 0 || rh_vdb_points_attribute(p->points, at).type != RH_LANG_VOID) continue;
        char text[256];
        snprintf(text, sizeof text, "the attribute \"%.60s\" is stored as %.60s, for which expressions have no type",
                 bound(p, i), rh_vdb_points_attribute(p->points, at).stored);
        RH_TRY(rh_lang_messages_add(messages, false, use->at, text, NULL, status));
        return rh_fail(status, RH_USER, "%d:%d: %s", use->at.line, use->at.column, text);
    }
    return RH_OK;
}

static rh_code match(pass *p, rh_lang_messages *messages, rh_status *status)
{
    int count = rh_vdb_points_attributes(p->points);
    const char **names = rh_alloc((size_t)(count + 1) * sizeof *names, "expression.names", status);
    if (!names) return RH_MEMORY;
    for (int i = 0; i < count; i++) names[i] = rh_vdb_points_attribute(p->points, i).name;
    rh_lang_host host = {.attribute = attribute_type,
                         .external = external_type,
                         .user = p,
                         .create_missing = !p->options->strict,
                         .names = names,
                         .name_count = count};
    rh_code code = rh_expression_bindings_check(p->options, p->listing, status);
    if (code == RH_OK) code = refuse_stored(p, messages, status);
    if (code == RH_OK) code = rh_lang_match(p->program, &host, messages, status);
    rh_free(names);
    return code;
}

// ---- what the pass needs over all points

static void *array_of(const pass *p, size_t size, rh_status *status)
{
    return rh_alloc_zero(((size_t)p->count + 1) * size, "expression.points", status);
}

static rh_code add_missing(pass *p, rh_status *status)
{
    for (int i = 0; i < p->listing->attribute_count; i++) {
        const rh_lang_attribute_use *use = &p->listing->attributes[i];
        if (rh_vdb_points_find(p->points, bound(p, i)) < 0)
            RH_TRY(rh_vdb_points_add(p->points, bound(p, i), use->type, status));
    }
    return RH_OK;
}

static rh_code load_positions(pass *p, rh_status *status)
{
    p->positions = array_of(p, sizeof *p->positions, status);
    if (!p->positions) return RH_MEMORY;
    RH_TRY(rh_vdb_points_positions(p->points, p->positions, status));
    if (!p->listing->neighbours || !p->listing->moves) return RH_OK;
    p->before = array_of(p, sizeof *p->before, status);
    if (!p->before) return RH_MEMORY;
    memcpy(p->before, p->positions, (size_t)p->count * sizeof *p->before);
    return RH_OK;
}

static rh_code load_texts(pass *p, int column, rh_status *status)
{
    p->texts[column] = array_of(p, sizeof **p->texts, status);
    if (!p->texts[column]) return RH_MEMORY;
    p->own[column] = (rh_lang_column){p->texts[column], (int64_t)sizeof **p->texts};
    return rh_vdb_points_texts(p->points, rh_vdb_points_find(p->points, bound(p, column)), p->texts[column], status);
}

static rh_code bind_columns(pass *p, rh_status *status)
{
    bool positions = p->listing->neighbours;
    for (int i = 0; i < p->listing->attribute_count; i++) positions |= strcmp(p->listing->attributes[i].name, "P") == 0;
    if (positions) RH_TRY(load_positions(p, status));
    for (int i = 0; i < p->listing->attribute_count; i++) {
        const rh_lang_attribute_use *use = &p->listing->attributes[i];
        p->writes[i] = use->writes;
        p->attributes[i] = rh_vdb_points_find(p->points, bound(p, i));
        bool is_position = strcmp(use->name, "P") == 0, written_text = use->type == RH_LANG_STRING && use->writes;
        if (written_text) RH_TRY(load_texts(p, i, status));
        if (is_position) p->own[i] = (rh_lang_column){p->positions, (int64_t)sizeof *p->positions};
        if (is_position || written_text) p->attributes[i] = -1;
    }
    return RH_OK;
}

static bool has_group(const pass *p, const char *name)
{
    for (int i = 0; i < rh_vdb_points_groups(p->points); i++)
        if (strcmp(rh_vdb_points_group(p->points, i), name) == 0) return true;
    return false;
}

// `name` must outlive the pass.
static rh_code load_group(pass *p, const char *name, rh_status *status)
{
    rh_lang_group *group = &p->groups[p->group_count];
    *group = (rh_lang_group){.name = name, .member = array_of(p, 1, status)};
    if (!group->member) return RH_MEMORY;
    p->group_count++;
    return has_group(p, name) ? rh_vdb_points_group_read(p->points, name, group->member, status) : RH_OK;
}

static rh_code load_groups(pass *p, rh_status *status)
{
    int there = rh_vdb_points_groups(p->points), most = p->listing->unnamed_groups ? there : p->listing->group_count;
    p->groups = rh_alloc_zero((size_t)(most + 1) * sizeof *p->groups, "expression.groups", status);
    if (!p->groups) return RH_MEMORY;
    for (int i = 0; i < most; i++) {
        if (p->listing->unnamed_groups) {
            RH_TRY(load_group(p, rh_vdb_points_group(p->points, i), status));
        } else if (p->listing->groups[i].adds || has_group(p, p->listing->groups[i].name)) {
            RH_TRY(load_group(p, p->listing->groups[i].name, status));
        }
    }
    return RH_OK;
}

static rh_code choose_points(pass *p, rh_status *status)
{
    const char *name = p->options->group;
    if (!name) return RH_OK;
    if (!has_group(p, name)) {
        enum { MOST = 64 };
        const char *names[MOST];
        int count = rh_vdb_points_groups(p->points);
        if (count > MOST) count = MOST;
        for (int i = 0; i < count; i++) names[i] = rh_vdb_points_group(p->points, i);
        const char *near = rh_nearest_name(name, names, count);
        return rh_fail(status, RH_USER, "the points \"%s\" have no group \"%.80s\"%s%s%s", p->grid, name,
                       near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    p->only = array_of(p, 1, status);
    return p->only ? rh_vdb_points_group_read(p->points, name, p->only, status) : RH_MEMORY;
}

// ---- neighbours

static bool neighbours_know(rh_lang_type type)
{
    return type == RH_LANG_FLOAT || type == RH_LANG_DOUBLE || type == RH_LANG_INT32 || type == RH_LANG_INT64 ||
           type == RH_LANG_VEC3F || type == RH_LANG_MAT3F;
}

static rh_code picture_attributes(pass *p, rh_status *status)
{
    for (int i = 0; i < rh_vdb_points_attributes(p->points); i++) {
        rh_vdb_attribute attribute = rh_vdb_points_attribute(p->points, i);
        if (!neighbours_know(attribute.type) || strcmp(attribute.name, "P") == 0) continue;
        void *values = array_of(p, rh_lang_type_size(attribute.type), status);
        if (!values) return RH_MEMORY;
        p->arrays[p->array_count++] = (rh_lang_array){
            .name = attribute.name, .type = rh_lang_type_name(attribute.type), .data = values};
        RH_TRY(rh_vdb_points_copy(p->points, i, values, status));
    }
    return RH_OK;
}

static rh_code picture_groups(pass *p, rh_status *status)
{
    for (int i = 0; i < rh_vdb_points_groups(p->points); i++) {
        const char *name = rh_vdb_points_group(p->points, i);
        uint8_t *member = array_of(p, 1, status);
        if (!member) return RH_MEMORY;
        p->arrays[p->array_count++] = (rh_lang_array){.name = name, .type = "group", .data = member};
        RH_TRY(rh_vdb_points_group_read(p->points, name, member, status));
    }
    return RH_OK;
}

// All of it: which attributes a program asks for may be computed.
static rh_code take_picture(pass *p, rh_status *status)
{
    if (!p->listing->neighbours) return RH_OK;
    size_t most = (size_t)(rh_vdb_points_attributes(p->points) + rh_vdb_points_groups(p->points));
    p->arrays = rh_alloc_zero((most + 1) * sizeof *p->arrays, "expression.points", status);
    if (!p->arrays) return RH_MEMORY;
    RH_TRY(picture_attributes(p, status));
    RH_TRY(picture_groups(p, status));
    return rh_lang_snapshot_init(&p->snapshot, p->before ? p->before : p->positions, p->count, 0, p->arrays,
                                 p->array_count, status);
}

// ---- running

static rh_code prepare(pass *p, rh_status *status)
{
    RH_TRY(add_missing(p, status));
    RH_TRY(bind_columns(p, status));
    RH_TRY(load_groups(p, status));
    RH_TRY(choose_points(p, status));
    if (p->listing->deletes) {
        p->dead = array_of(p, 1, status);
        if (!p->dead) return RH_MEMORY;
    }
    return take_picture(p, status);
}

static bool any_member(const uint8_t *member, int64_t count) { return memchr(member, 1, (size_t)count) != NULL; }

// Groups that nobody joined are not made.
static rh_code store_groups(pass *p, const rh_lang_result *result, rh_status *status)
{
    for (int i = 0; i < p->group_count; i++)
        if (has_group(p, p->groups[i].name) || any_member(p->groups[i].member, p->count))
            RH_TRY(rh_vdb_points_group_write(p->points, p->groups[i].name, p->groups[i].member, status));
    uint8_t *member = result->group_count > 0 ? array_of(p, 1, status) : NULL;
    if (result->group_count > 0 && !member) return RH_MEMORY;
    rh_code code = RH_OK;
    for (int i = 0; code == RH_OK && i < result->group_count; i++) {
        const rh_lang_new_group *group = &result->groups[i];
        memset(member, 0, (size_t)p->count);
        for (int64_t k = 0; k < group->count; k++) member[group->elements[k]] = 1;
        if (group->count > 0) code = rh_vdb_points_group_write(p->points, group->name, member, status);
    }
    rh_free(member);
    return code;
}

static rh_code store(pass *p, const rh_lang_result *result, rh_expression_report *report, rh_status *status)
{
    for (int i = 0; i < p->listing->attribute_count; i++)
        if (p->texts[i])
            RH_TRY(
                rh_vdb_points_texts_write(p->points, rh_vdb_points_find(p->points, bound(p, i)), p->texts[i], status));
    RH_TRY(store_groups(p, result, status));
    for (int64_t i = 0; p->dead && i < p->count; i++) report->deleted += p->dead[i] != 0;
    if (!p->listing->moves && !p->dead) return RH_OK;
    return rh_vdb_points_rebuild(p->points, p->listing->moves ? p->positions : NULL, p->dead, status);
}

static rh_code run(pass *p, rh_expression_report *report, rh_status *status)
{
    rh_lang_scope scope = {.externals = p->options->externals,
                           .external_count = p->options->external_count,
                           .groups = p->groups,
                           .group_count = p->group_count,
                           .dead = p->dead,
                           .snapshot = p->listing->neighbours ? &p->snapshot : NULL,
                           .positions = p->before ? p->before : p->positions,
                           .seed = p->options->seed,
                           .steps = p->options->steps};
    rh_vdb_points_job job = {.attributes = p->attributes,
                             .writes = p->writes,
                             .own = p->own,
                             .count = p->listing->attribute_count,
                             .only = p->only};
    rh_expression_runner runner;
    RH_TRY(rh_expression_runner_init(&runner, p->program, &scope, report, status));
    rh_lang_pool_watch(&runner.pool, p->options->stop);
    rh_vdb_visitor visitor = rh_expression_runner_visitor(&runner);
    rh_code code = rh_vdb_points_visit(p->points, &job, &visitor, status);
    if (code == RH_OK) code = store(p, &runner.result, report, status);  // strings live in the runner
    report->points += runner.elements;
    report->grids++;
    rh_expression_runner_free(&runner);
    return code;
}

static rh_code begin(pass *p, rh_status *status)
{
    size_t columns = (size_t)p->listing->attribute_count + 1;
    p->attributes = rh_alloc_zero(columns * sizeof *p->attributes, "expression.columns", status);
    p->writes = rh_alloc_zero(columns * sizeof *p->writes, "expression.columns", status);
    p->own = rh_alloc_zero(columns * sizeof *p->own, "expression.columns", status);
    p->texts = rh_alloc_zero(columns * sizeof *p->texts, "expression.columns", status);
    return p->attributes && p->writes && p->own && p->texts ? RH_OK : RH_MEMORY;
}

static void end(pass *p)
{
    for (int i = 0; p->texts && i < p->listing->attribute_count; i++) rh_free(p->texts[i]);
    for (int i = 0; i < p->group_count; i++) rh_free(p->groups[i].member);
    for (int i = 0; i < p->array_count; i++) rh_free((void *)p->arrays[i].data);
    rh_lang_snapshot_free(&p->snapshot);
    void *const all[] = {p->attributes, p->writes, p->own,  p->texts,  p->positions,
                         p->before,     p->dead,   p->only, p->groups, p->arrays};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) rh_free(all[i]);
    rh_vdb_points_close(p->points);
}

rh_code rh_expression_points(rh_vdb_data *data, int grid, const rh_lang_program *program,
                             const rh_expression_options *options, rh_expression_report *report,
                             rh_lang_messages *messages, rh_status *status)
{
    pass p = {.program = program,
              .listing = rh_lang_program_listing(program),
              .options = options,
              .grid = rh_vdb_data_grid(data, grid).name};
    RH_TRY(rh_vdb_points_open(data, grid, &p.points, status));
    p.count = rh_vdb_points_count(p.points);
    rh_code code = RH_OK;
    if (p.count == 0) rh_log(RH_LOG_WARNING, "the points \"%s\" are none", p.grid);
    else code = match(&p, messages, status);
    if (code == RH_OK && p.count > 0) code = begin(&p, status);
    if (code == RH_OK && p.count > 0) code = prepare(&p, status);
    if (code == RH_OK && p.count > 0) code = run(&p, report, status);
    end(&p);
    return code;
}
