// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Expressions on volumes. A program runs once for each grid it writes, over that grid's voxels, with all other grids as
// columns sampled there; what it writes to those is lost, they have their own turn.
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/memory.h"
#include "io/expression.h"
#include "io/expression_runner.h"
#include "lang/stop.h"

typedef struct volumes {
    rh_vdb_data *data;
    const rh_lang_program *program;
    const rh_lang_listing *listing;
    const rh_expression_options *options;
    rh_expression_report *report;
    int *grids;  // of the listed attributes
    bool *reads, *writes;
} volumes;

static int find_grid(const rh_vdb_data *data, const char *name, rh_lang_type type)
{
    for (int i = 0; i < rh_vdb_data_count(data); i++) {
        rh_vdb_grid grid = rh_vdb_data_grid(data, i);
        if (grid.kind == RH_VDB_VOLUME && strcmp(grid.name, name) == 0 && (type == RH_LANG_VOID || grid.type == type))
            return i;
    }
    return -1;
}

// ---- do they fit?

static const rh_lang_attribute_use *use_of(const rh_lang_listing *listing, const char *name)
{
    for (int i = 0; i < listing->attribute_count; i++)
        if (strcmp(listing->attributes[i].name, name) == 0) return &listing->attributes[i];
    return NULL;
}

// Of several grids of one name the one of the program's type counts; one of another type is none, unless nothing may be
// made.
static rh_lang_type grid_type(void *user, const char *name)
{
    const volumes *v = user;
    const rh_lang_attribute_use *use = use_of(v->listing, name);
    const char *data = rh_expression_bound(v->options, name);
    if (find_grid(v->data, data, use->type) >= 0) return use->type;
    int other = v->options->strict ? find_grid(v->data, data, RH_LANG_VOID) : -1;
    return other >= 0 ? rh_vdb_data_grid(v->data, other).type : RH_LANG_VOID;
}

static rh_lang_type external_type(void *user, const char *name)
{
    const volumes *v = user;
    for (int i = 0; i < v->options->external_count; i++) {
        const rh_lang_external *given = &v->options->externals[i];
        if (strcmp(given->name, name) == 0) return rh_lang_type_named(given->type, strlen(given->type));
    }
    return RH_LANG_VOID;
}

static rh_code refuse_types(const volumes *v, rh_lang_messages *messages, rh_status *status)
{
    static const rh_lang_type known[] = {RH_LANG_BOOL,   RH_LANG_INT32, RH_LANG_INT64, RH_LANG_FLOAT,
                                         RH_LANG_DOUBLE, RH_LANG_VEC3I, RH_LANG_VEC3F, RH_LANG_VEC3D};
    for (int i = 0; i < v->listing->attribute_count; i++) {
        const rh_lang_attribute_use *use = &v->listing->attributes[i];
        bool fine = false;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) fine |= known[k] == use->type;
        if (fine) continue;
        char text[256];
        snprintf(text, sizeof text,
                 "there are no volumes of type %s, expected bool, int32, int64, float, double, vec3i, vec3f or vec3d",
                 rh_lang_type_name(use->type));
        RH_TRY(rh_lang_messages_add(messages, false, use->at, text, NULL, status));
        return rh_fail(status, RH_USER, "%d:%d: %s", use->at.line, use->at.column, text);
    }
    return RH_OK;
}

static rh_code match(volumes *v, rh_lang_messages *messages, rh_status *status)
{
    int count = rh_vdb_data_count(v->data), names = 0;
    const char **list = rh_alloc((size_t)(count + 1) * sizeof *list, "expression.names", status);
    if (!list) return RH_MEMORY;
    for (int i = 0; i < count; i++)
        if (rh_vdb_data_grid(v->data, i).kind == RH_VDB_VOLUME) list[names++] = rh_vdb_data_grid(v->data, i).name;
    rh_lang_host host = {.attribute = grid_type,
                         .external = external_type,
                         .user = v,
                         .create_missing = !v->options->strict,
                         .names = list,
                         .name_count = names};
    rh_code code = rh_expression_bindings_check(v->options, v->listing, status);
    if (code == RH_OK) code = refuse_types(v, messages, status);
    if (code == RH_OK) code = rh_lang_match(v->program, &host, messages, status);
    rh_free(list);
    return code;
}

static rh_code bind_grids(volumes *v, rh_status *status)
{
    for (int i = 0; i < v->listing->attribute_count; i++) {
        const rh_lang_attribute_use *use = &v->listing->attributes[i];
        v->reads[i] = use->reads, v->writes[i] = use->writes;
        const char *name = rh_expression_bound(v->options, use->name);
        v->grids[i] = find_grid(v->data, name, use->type);
        if (v->grids[i] >= 0) continue;
        rh_log(RH_LOG_WARNING,
               "there is no volume \"%s\" of type %s: an empty one is made, which has no voxels to visit", name,
               rh_lang_type_name(use->type));
        RH_TRY(rh_vdb_volume_add(v->data, name, use->type, &v->grids[i], status));
    }
    return RH_OK;
}

// ---- running

static bool depends_on_others(const volumes *v, int target)
{
    for (int i = 0; i < v->listing->attribute_count; i++)
        if (i != target && v->reads[i] && rh_lang_program_depends(v->program, target, i)) return true;
    return false;
}

// Those that come later must see what was there before.
static bool is_read_later(const volumes *v, int target)
{
    for (int i = target + 1; i < v->listing->attribute_count; i++)
        if (v->writes[i] && v->reads[target] && rh_lang_program_depends(v->program, i, target)) return true;
    return false;
}

static rh_code run_target(volumes *v, int target, rh_status *status)
{
    rh_vdb_grid grid = rh_vdb_data_grid(v->data, v->grids[target]);
    if (!grid.linear && v->listing->coordinates)
        return rh_fail(
            status, RH_USER,
            "the volume \"%s\" has a transform that is not linear, expected one where the program asks for coordinates",
            grid.name);
    if (is_read_later(v, target)) RH_TRY(rh_vdb_data_remember(v->data, v->grids[target], status));
    rh_lang_scope scope = {.externals = v->options->externals,
                           .external_count = v->options->external_count,
                           .seed = v->options->seed,
                           .steps = v->options->steps};
    memcpy(scope.to_world, grid.to_world, sizeof scope.to_world);
    // A tile is one element where all its voxels would become the same.
    bool differ = v->listing->coordinates || v->listing->random || depends_on_others(v, target);
    bool expand = v->options->stream == RH_STREAM_ON || (v->options->stream == RH_STREAM_AUTO && differ);
    rh_vdb_volume_job job = {.grids = v->grids,
                             .reads = v->reads,
                             .writes = v->writes,
                             .count = v->listing->attribute_count,
                             .target = target,
                             .states = v->options->states,
                             .skipped = v->options->skipped,
                             .expand = expand};
    rh_expression_runner runner;
    RH_TRY(rh_expression_runner_init(&runner, v->program, &scope, v->report, status));
    rh_lang_pool_watch(&runner.pool, v->options->stop);
    rh_vdb_visitor visitor = rh_expression_runner_visitor(&runner);
    rh_code code = rh_vdb_volume_visit(v->data, &job, &visitor, status);
    v->report->voxels += runner.elements;
    v->report->grids++;
    rh_expression_runner_free(&runner);
    return code;
}

static rh_code run_targets(volumes *v, rh_lang_messages *messages, rh_status *status)
{
    RH_TRY(match(v, messages, status));
    RH_TRY(bind_grids(v, status));
    for (int i = 0; i < v->listing->attribute_count; i++)
        if (v->writes[i]) RH_TRY(run_target(v, i, status));
    return RH_OK;
}

rh_code rh_expression_volumes(rh_vdb_data *data, const rh_lang_program *program, const rh_expression_options *options,
                              rh_expression_report *report, rh_lang_messages *messages, rh_status *status)
{
    volumes v = {.data = data,
                 .program = program,
                 .listing = rh_lang_program_listing(program),
                 .options = options,
                 .report = report};
    size_t count = (size_t)v.listing->attribute_count + 1;
    v.grids = rh_alloc_zero(count * sizeof *v.grids, "expression.grids", status);
    v.reads = rh_alloc_zero(count * sizeof *v.reads, "expression.grids", status);
    v.writes = rh_alloc_zero(count * sizeof *v.writes, "expression.grids", status);
    rh_code code = v.grids && v.reads && v.writes ? run_targets(&v, messages, status) : RH_MEMORY;
    rh_vdb_data_forget(data);
    rh_free(v.grids);
    rh_free(v.reads);
    rh_free(v.writes);
    return code;
}
