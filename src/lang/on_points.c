// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The set's own arrays are the program's columns: nothing is copied, but what neighbours must see as it was before the
// pass and the program writes.
#include "lang/on_points.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/memory.h"
#include "lang/stop.h"

rh_lang_type rh_lang_from_point_type(rh_point_type type)
{
    static const rh_lang_type types[] = {RH_LANG_FLOAT, RH_LANG_INT32, RH_LANG_INT64,
                                         RH_LANG_VEC3F, RH_LANG_MAT3F, RH_LANG_VOID};
    return types[type];
}

bool rh_lang_to_point_type(rh_lang_type type, rh_point_type *out)
{
    for (int i = 0; i < RH_POINT_TYPES && type != RH_LANG_VOID; i++)
        if (rh_lang_from_point_type((rh_point_type)i) == type) return *out = (rh_point_type)i, true;
    return false;
}

// --- values from outside ---------------------------------------------------------------------------------------------

static int64_t whole(double value, double least, double most) { return (int64_t)fmin(fmax(value, least), most); }

void rh_lang_store_number(rh_lang_type type, double value, void *room)
{
    const bool truth = value != 0;
    const int16_t small = (int16_t)whole(value, INT16_MIN, INT16_MAX);
    const int32_t plain = (int32_t)whole(value, INT32_MIN, INT32_MAX);
    const int64_t large = whole(value, -9223372036854774784.0, 9223372036854774784.0);
    const float single = (float)value;
    const void *from = type == RH_LANG_BOOL    ? (const void *)&truth
                       : type == RH_LANG_INT16 ? (const void *)&small
                       : type == RH_LANG_INT32 ? (const void *)&plain
                       : type == RH_LANG_INT64 ? (const void *)&large
                       : type == RH_LANG_FLOAT ? (const void *)&single
                                               : (const void *)&value;
    memcpy(room, from, rh_lang_type_size(type));
}

void rh_lang_store_vector(rh_lang_type type, rh_dvec3 value, void *room)
{
    rh_lang_type part = RH_LANG_TYPE(RH_LANG_SCALAR, rh_lang_type_element(type));
    for (size_t i = 0; i < 3; i++)
        rh_lang_store_number(part,
                             i == 0   ? value.x
                             : i == 1 ? value.y
                                      : value.z,
                             (char *)room + i * rh_lang_type_size(part));
}

// --- does it fit? ----------------------------------------------------------------------------------------------------

static rh_code add_attribute(const rh_lang_attribute_use *use, rh_points *points, bool kept, rh_lang_messages *messages,
                             rh_status *status)
{
    char text[256];
    rh_point_type type;
    const rh_attribute *found = rh_points_find(points, use->name);
    if (kept) {
        snprintf(text, sizeof text, "the attribute \"%.60s\" belongs to the simulation and can be read, not written",
                 use->name);
        return rh_lang_messages_add(messages, false, use->at, text, NULL, status);
    }
    if (found && rh_lang_from_point_type(found->type) != use->type) return RH_OK;  // rh_lang_points_match has the words
    if (!rh_lang_to_point_type(use->type, &type)) {
        snprintf(text, sizeof text,
                 "the attribute \"%.60s\" is %s, but particles carry float, int32, int64, vec3f and mat3f", use->name,
                 rh_lang_type_name(use->type));
        return rh_lang_messages_add(messages, false, use->at, text, NULL, status);
    }
    if (strlen(use->name) >= RH_POINT_NAME) {
        snprintf(text, sizeof text, "the attribute's name has more than %d letters", RH_POINT_NAME - 1);
        return rh_lang_messages_add(messages, false, use->at, text, NULL, status);
    }
    return rh_points_add(points, use->name, type, status);
}

// Groups have no place of their own in the list.
static rh_code add_group(const rh_lang_group_use *use, rh_points *points, bool kept, rh_lang_messages *messages,
                         rh_status *status)
{
    char text[256] = "";
    const rh_attribute *found = rh_points_find(points, use->name);
    if (found && found->type != RH_POINT_GROUP)
        snprintf(text, sizeof text, "\"%.60s\" is an attribute of the particles and cannot be a group", use->name);
    else if (kept && (use->adds || use->removes))
        snprintf(text, sizeof text, "the group \"%.60s\" belongs to the simulation and can be read, not changed",
                 use->name);
    else if (strlen(use->name) >= RH_POINT_NAME)
        snprintf(text, sizeof text, "the group's name \"%.60s\" has more than %d letters", use->name,
                 RH_POINT_NAME - 1);
    if (text[0]) return rh_lang_messages_add(messages, false, (rh_lang_place){1, 1, 1}, text, NULL, status);
    return use->adds || (found && use->removes) ? rh_points_add(points, use->name, RH_POINT_GROUP, status) : RH_OK;
}

rh_code rh_lang_points_add_written(const rh_lang_program *program, rh_points *points,
                                   bool (*is_kept)(const char *name, const void *user), const void *user,
                                   rh_lang_messages *messages, rh_status *status)
{
    const rh_lang_listing *l = rh_lang_program_listing(program);
    for (int i = 0; i < l->attribute_count; i++) {
        const rh_lang_attribute_use *use = &l->attributes[i];
        if (use->writes) RH_TRY(add_attribute(use, points, is_kept && is_kept(use->name, user), messages, status));
    }
    for (int i = 0; i < l->group_count; i++) {
        const rh_lang_group_use *use = &l->groups[i];
        RH_TRY(add_group(use, points, is_kept && is_kept(use->name, user), messages, status));
    }
    return RH_OK;
}

static rh_lang_type attribute_type(void *user, const char *name)
{
    const rh_attribute *found = rh_points_find(user, name);
    return found ? rh_lang_from_point_type(found->type) : RH_LANG_VOID;
}

rh_code rh_lang_points_match(const rh_lang_program *program, const rh_points *points, rh_lang_messages *messages,
                             rh_status *status)
{
    const char *names[RH_POINTS_MAX_ATTRIBUTES] = {NULL};
    rh_points set = *points;
    rh_lang_host host = {.attribute = attribute_type, .user = &set, .names = names};
    rh_status local = {0};
    for (int i = 0; i < points->attribute_count; i++)
        if (points->attributes[i].type != RH_POINT_GROUP) names[host.name_count++] = points->attributes[i].name;
    rh_code code = rh_lang_match(program, &host, messages, &local);
    return code == RH_USER ? RH_OK : code == RH_OK ? RH_OK : rh_fail(status, code, "%s", local.message);
}

// --- running ---------------------------------------------------------------------------------------------------------

struct rh_lang_points_runner {
    const rh_lang_program *program;
    rh_lang_scope scope;  // the threads of the pool hold its address
    rh_lang_pool pool;
    rh_lang_column *columns;
    rh_lang_group groups[RH_POINTS_MAX_ATTRIBUTES];
    uint8_t *dead;
    int64_t dead_room;
    int64_t *selection;
    int64_t selection_room;
    rh_lang_array arrays[RH_POINTS_MAX_ATTRIBUTES];  // of the neighbours
    void *copies[RH_POINTS_MAX_ATTRIBUTES];
    rh_lang_snapshot snapshot;
};

rh_code rh_lang_points_runner_create(const rh_lang_program *program, rh_lang_points_runner **out, rh_status *status)
{
    rh_lang_points_runner *r = *out = rh_alloc_zero(sizeof *r, "lang.points", status);
    if (!r) return RH_MEMORY;
    r->program = program;
    r->columns = rh_alloc_zero((size_t)(rh_lang_program_listing(program)->attribute_count + 1) * sizeof *r->columns,
                               "lang.points", status);
    rh_code code = r->columns ? rh_lang_pool_init(&r->pool, program, &r->scope, status) : RH_MEMORY;
    if (code == RH_OK) return RH_OK;
    rh_free(r->columns);
    rh_free(r);
    *out = NULL;
    return code;
}

void rh_lang_points_runner_free(rh_lang_points_runner *r)
{
    if (!r) return;
    rh_lang_pool_free(&r->pool);
    rh_free(r->columns);
    rh_free(r->dead);
    rh_free(r->selection);
    rh_free(r);
}

static rh_code make_room(void **data, int64_t *room, int64_t count, size_t size, rh_status *status)
{
    if (*data && *room >= count) return RH_OK;
    rh_free(*data);
    *room = count + count / 4 + 1;
    *data = rh_alloc((size_t)*room * size, "lang.points", status);
    if (*data) return RH_OK;
    *room = 0;
    return RH_MEMORY;
}

static rh_code find_columns(rh_lang_points_runner *r, const rh_points *points, rh_status *status)
{
    const rh_lang_listing *l = rh_lang_program_listing(r->program);
    for (int i = 0; i < l->attribute_count; i++) {
        const rh_attribute *a = rh_points_find(points, l->attributes[i].name);
        // Points that came out of a file need not be those that were matched.
        if (!a || rh_lang_from_point_type(a->type) != l->attributes[i].type || (a->uniform && l->attributes[i].writes))
            return rh_fail(status, RH_IO, "the points have no attribute \"%.60s\" of type %s for each point",
                           l->attributes[i].name, rh_lang_type_name(l->attributes[i].type));
        r->columns[i] = (rh_lang_column){a->data, a->uniform ? 0 : (int64_t)rh_point_type_size(a->type)};
    }
    r->scope.groups = r->groups;
    r->scope.group_count = 0;
    for (int i = 0; i < points->attribute_count; i++) {
        const rh_attribute *a = &points->attributes[i];
        if (a->type == RH_POINT_GROUP && !a->uniform)
            r->groups[r->scope.group_count++] = (rh_lang_group){a->name, a->data};
    }
    return RH_OK;
}

static bool writes(const rh_lang_listing *l, const rh_attribute *a)
{
    // A program that makes names of groups up may change any.
    if (a->type == RH_POINT_GROUP) return true;
    for (int i = 0; i < l->attribute_count; i++)
        if (l->attributes[i].writes && strcmp(l->attributes[i].name, a->name) == 0) return true;
    return false;
}

static void drop_snapshot(rh_lang_points_runner *r)
{
    if (!r->scope.snapshot) return;
    rh_lang_snapshot_free(&r->snapshot);
    for (int i = 0; i < RH_POINTS_MAX_ATTRIBUTES; i++) {
        rh_free(r->copies[i]);
        r->copies[i] = NULL;
    }
    r->scope.snapshot = NULL;
    r->scope.positions = NULL;
}

// What neighbours see: the arrays themselves, and copies of those that change during the pass.
static rh_code take_snapshot(rh_lang_points_runner *r, const rh_points *points, rh_status *status)
{
    const rh_lang_listing *l = rh_lang_program_listing(r->program);
    if (!l->neighbours) return RH_OK;
    const rh_vec3 *positions = NULL;
    r->scope.snapshot = &r->snapshot;  // from here on drop_snapshot gives everything back
    r->snapshot = (rh_lang_snapshot){0};
    for (int i = 0; i < points->attribute_count; i++) {
        const rh_attribute *a = &points->attributes[i];
        const void *data = a->data;
        if (!a->uniform && writes(l, a)) {
            size_t bytes = (size_t)points->count * rh_point_type_size(a->type);
            data = r->copies[i] = rh_alloc(bytes + 1, "lang.snapshot", status);
            if (!data) return RH_MEMORY;
            memcpy(r->copies[i], a->data, bytes);
        }
        r->arrays[i] = (rh_lang_array){a->name, rh_point_type_name(a->type), data, a->uniform};
        if (strcmp(a->name, "P") == 0 && a->type == RH_POINT_VEC3F && !a->uniform) positions = data;
    }
    if (!positions)
        return rh_fail(status, RH_USER, "the program asks for neighbours, but the points have no positions P");
    r->scope.positions = positions;
    return rh_lang_snapshot_init(&r->snapshot, positions, points->count, 0, r->arrays, points->attribute_count, status);
}

static rh_code prepare(rh_lang_points_runner *r, const rh_lang_points_job *job, const rh_points *points,
                       rh_status *status)
{
    const rh_lang_listing *l = rh_lang_program_listing(r->program);
    const rh_attribute *id = rh_points_find(points, "id");
    RH_TRY(find_columns(r, points, status));
    r->scope.externals = job->externals;
    r->scope.external_count = job->external_count;
    r->scope.seed = job->seed;
    r->scope.steps = job->steps;
    r->scope.ids = id && id->type == RH_POINT_I64 && !id->uniform ? id->data : NULL;
    r->scope.first_id = job->first_id;
    r->scope.dead = NULL;
    if (l->deletes) {
        void *dead = r->dead;
        rh_code code = make_room(&dead, &r->dead_room, points->count, 1, status);
        r->dead = dead;
        RH_TRY(code);
        memset(r->dead, 0, (size_t)points->count);
        r->scope.dead = r->dead;
    }
    if (job->first > 0) {
        void *selection = r->selection;
        rh_code code = make_room(&selection, &r->selection_room, points->count, sizeof *r->selection, status);
        r->selection = selection;
        RH_TRY(code);
        for (int64_t i = job->first; i < points->count; i++) r->selection[i - job->first] = i;
    }
    return take_snapshot(r, points, status);
}

// Groups that the program named in passing.
static rh_code keep_new_groups(const rh_lang_result *result, rh_points *points, rh_status *status)
{
    for (int i = 0; i < result->group_count; i++) {
        const rh_lang_new_group *g = &result->groups[i];
        const rh_attribute *found = rh_points_find(points, g->name);
        if (found && found->type != RH_POINT_GROUP)
            return rh_fail(status, RH_USER, "the program adds points to the group \"%.60s\", but that is an attribute",
                           g->name);
        RH_TRY(rh_points_add(points, g->name, RH_POINT_GROUP, status));
        uint8_t *member = rh_points_data(points, g->name, RH_POINT_GROUP);
        for (int64_t k = 0; k < g->count; k++) member[g->elements[k]] = 1;
    }
    return RH_OK;
}

static rh_code remove_dead(const rh_lang_points_runner *r, rh_points *points, int64_t *deleted, rh_status *status)
{
    int64_t kept = 0, count = points->count;
    *deleted = 0;
    if (!r->scope.dead) return RH_OK;
    for (int64_t i = 0; i < count; i++) *deleted += r->dead[i] != 0;
    if (!*deleted) return RH_OK;
    uint32_t *order = rh_alloc((size_t)count * sizeof *order, "lang.points", status);
    if (!order) return RH_MEMORY;
    for (int64_t i = 0; i < count; i++)
        if (!r->dead[i]) order[kept++] = (uint32_t)i;
    rh_code code = rh_points_permute(points, order, kept, status);
    rh_free(order);
    return code;
}

rh_code rh_lang_points_run(rh_lang_points_runner *r, const rh_lang_points_job *job, rh_points *points,
                           rh_lang_points_done *done, rh_status *status)
{
    rh_lang_points_done unwanted;
    if (!done) done = &unwanted;
    *done = (rh_lang_points_done){0};
    if (points->count <= job->first) return RH_OK;
    rh_lang_result result = {0};
    rh_code code = prepare(r, job, points, status);
    if (code == RH_OK) {
        const rh_lang_elements elements = {.attributes = r->columns, .selection = job->first > 0 ? r->selection : NULL};
        rh_lang_pool_watch(&r->pool, job->stop);
        code = rh_lang_pass(r->program, &r->pool, &elements, points->count - job->first, &result, status);
    }
    drop_snapshot(r);
    if (code == RH_OK) code = keep_new_groups(&result, points, status);
    if (code == RH_OK) code = remove_dead(r, points, &done->deleted, status);
    if (code == RH_OK && done != &unwanted && result.printed_length > 0) {
        done->printed = result.printed;
        done->printed_length = result.printed_length;
        result.printed = NULL;
    }
    rh_lang_result_free(&result);
    return code;
}

void rh_lang_points_show(const char *label, rh_lang_points_done *done)
{
    enum { MOST_LINES = 20, MOST_LETTERS = 400 };
    if (!done->printed) return;
    const char *at = done->printed, *end = at + done->printed_length;
    int64_t lines = 0;
    for (; at < end; lines++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        if (lines < MOST_LINES)
            rh_log(RH_LOG_INFO, "%s: %.*s", label, (int)(length < MOST_LETTERS ? length : MOST_LETTERS), at);
        at = stop ? stop + 1 : end;
    }
    if (lines > MOST_LINES) rh_log(RH_LOG_INFO, "%s: ... and %lld more lines", label, (long long)(lines - MOST_LINES));
    rh_free(done->printed);
    done->printed = NULL;
}
