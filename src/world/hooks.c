// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Programs are compiled once when a run begins, in two passes: first what each reads and makes, then the code, since
// one may read what a later one makes. After each call velocities and places that no run can go on with are refused
// with the program's name.
#include "world/hooks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "grid/tile_keys.h"
#include "lang/on_points.h"
#include "scene/expressions.h"
#include "world/health.h"

// A value from outside as the program wants it.
typedef struct external {
    const char *name;
    rh_lang_type type;
    double room[3];  // for any scalar and any vec3
} external;

typedef struct hook {
    const rh_expression_params *params;
    char label[96];                  // "expressions[0] ('gust')"
    rh_lang_program *checked;        // without machine code
    const rh_lang_program *program;  // the cache's; NULL when only checked
    rh_lang_points_runner *runner;
    external *values;
    rh_lang_external *externals;
    int external_count;
    bool moves, pushes;  // writes P, v
} hook;

struct rh_hooks {
    const rh_scene *scene;
    rh_lang_cache *programs;
    hook *items;
    int count;
    char kept[RH_POINTS_MAX_ATTRIBUTES][RH_POINT_NAME];  // names that belong to the simulation
    int kept_count;
    double seconds;
};

// --- values from outside ---------------------------------------------------------------------------------------------

static void add_external(hook *h, const char *name, rh_lang_type type)
{
    for (int i = 0; i < h->external_count; i++)
        if (h->values[i].type == type && strcmp(h->values[i].name, name) == 0) return;
    external *value = &h->values[h->external_count];
    *value = (external){.name = name, .type = type};
    h->externals[h->external_count++] = (rh_lang_external){name, rh_lang_type_name(type), value->room};
}

// $name in the type the program wants, and for external("name") as float or vec3f.
static rh_code make_externals(hook *h, rh_status *status)
{
    const rh_lang_listing *l = rh_lang_program_listing(h->checked);
    const rh_named_value *set = h->params->set.items;
    int given = 0;
    while (rh_expression_given[given]) given++;
    size_t most = (size_t)(l->external_count + given + h->params->set.count);
    h->values = rh_alloc_zero(most * sizeof *h->values, "world.hooks", status);
    h->externals = rh_alloc_zero(most * sizeof *h->externals, "world.hooks", status);
    if (!h->values || !h->externals) return RH_MEMORY;
    for (int i = 0; i < l->external_count; i++) add_external(h, l->externals[i].name, l->externals[i].type);
    for (int i = 0; i < given; i++) add_external(h, rh_expression_given[i], RH_LANG_FLOAT);
    for (int i = 0; i < h->params->set.count; i++)
        add_external(h, set[i].name, set[i].is_vector ? RH_LANG_VEC3F : RH_LANG_FLOAT);
    return RH_OK;
}

static void set_externals(hook *h, const rh_scene *scene, const rh_moment *m)
{
    const double given[] = {m->time,           m->dt,      (double)m->frame, (double)m->step,
                            scene->frames.fps, scene->cell};  // order of rh_expression_given
    const rh_named_value *set = h->params->set.items;
    for (int i = 0; i < h->external_count; i++) {
        external *e = &h->values[i];
        for (int k = 0; k < RH_PARAM_COUNT(given); k++)
            if (strcmp(e->name, rh_expression_given[k]) == 0) rh_lang_store_number(e->type, given[k], e->room);
        for (int k = 0; k < h->params->set.count; k++) {
            if (strcmp(e->name, set[k].name) != 0) continue;
            if (set[k].is_vector) rh_lang_store_vector(e->type, set[k].vector, e->room);
            else rh_lang_store_number(e->type, set[k].number, e->room);
        }
    }
}

// --- making ----------------------------------------------------------------------------------------------------------

static bool is_kept(const char *name, const void *user)
{
    const rh_hooks *hooks = user;
    for (int i = 0; i < hooks->kept_count; i++)
        if (strcmp(hooks->kept[i], name) == 0) return true;
    return false;
}

// Nothing but programs and files reads `rest`, so it is the user's to turn or to repeat; and `viscosity`, `stiffness`
// and `yield` are there for programs to write.
static void note_kept(rh_hooks *hooks, const rh_points *points)
{
    static const char *const open[] = {"P", "v", "rest", "viscosity", "stiffness", "yield"};
    for (int i = 0; i < points->attribute_count; i++) {
        bool kept = true;
        for (size_t n = 0; n < sizeof open / sizeof *open; n++)
            kept = kept && strcmp(points->attributes[i].name, open[n]) != 0;
        if (kept) memcpy(hooks->kept[hooks->kept_count++], points->attributes[i].name, RH_POINT_NAME);
    }
}

// Mistakes the compiler and the points find are the scene's.
static rh_code blame(const rh_hooks *hooks, const hook *h, rh_code code, const rh_lang_messages *messages,
                     const rh_status *local, rh_status *status)
{
    if (messages->errors) return rh_scene_blame(hooks->scene, h->params->code, h->label, messages, status);
    return code == RH_OK ? RH_OK
                         : rh_fail(status, code, "%s: %s: %s", rh_scene_place(hooks->scene, h->params->code), h->label,
                                   local->message);
}

// For `rheo check`: in a run they would come every time.
static void show_warnings(const rh_hooks *hooks, const hook *h, const rh_lang_messages *messages)
{
    char place[640];
    for (int i = 0; i < messages->count; i++) {
        const rh_lang_message *m = &messages->items[i];
        if (!m->warning) continue;
        rh_scene_code_place(hooks->scene, h->params->code, h->label, m->at.line, m->at.column, place, sizeof place);
        rh_log(RH_LOG_WARNING, "%s: %s%s%s%s", place, m->text, m->suggestion ? " (" : "",
               m->suggestion ? m->suggestion : "", m->suggestion ? ")" : "");
    }
}

// First without machine code: what a program makes may be read by one before it in the list.
static rh_code declare(rh_hooks *hooks, hook *h, int index, rh_points *points, rh_status *status)
{
    h->params = (const rh_expression_params *)hooks->scene->expressions.items + index;
    if (h->params->name) snprintf(h->label, sizeof h->label, "expressions[%d] ('%.60s')", index, h->params->name);
    else snprintf(h->label, sizeof h->label, "expressions[%d]", index);
    const rh_lang_options options = {.domain = RH_LANG_POINTS,
                                     .check_only = true,
                                     .functions = hooks->scene->functions,
                                     .function_count = hooks->scene->function_count};
    rh_lang_messages messages = {0};
    rh_status local = {0};
    rh_code code = rh_lang_compile(h->params->code, strlen(h->params->code), &options, &h->checked, &messages, &local);
    if (code == RH_OK) code = rh_lang_points_add_written(h->checked, points, is_kept, hooks, &messages, &local);
    code = blame(hooks, h, code, &messages, &local, status);
    if (code == RH_OK && !hooks->programs) show_warnings(hooks, h, &messages);
    rh_lang_messages_free(&messages);
    RH_TRY(code);
    const rh_lang_listing *l = rh_lang_program_listing(h->checked);
    for (int i = 0; i < l->attribute_count; i++) {
        h->moves |= l->attributes[i].writes && strcmp(l->attributes[i].name, "P") == 0;
        h->pushes |= l->attributes[i].writes && strcmp(l->attributes[i].name, "v") == 0;
    }
    return make_externals(h, status);
}

static rh_code finish(rh_hooks *hooks, hook *h, const rh_points *points, rh_status *status)
{
    const rh_lang_options options = {
        .domain = RH_LANG_POINTS, .functions = hooks->scene->functions, .function_count = hooks->scene->function_count};
    rh_lang_messages messages = {0};
    rh_status local = {0};
    rh_code code = rh_lang_points_match(h->checked, points, &messages, &local);
    if (code == RH_OK && !messages.errors && hooks->programs)
        code = rh_lang_cache_get(hooks->programs, h->params->code, strlen(h->params->code), &options, &h->program,
                                 &messages, &local);
    if (code == RH_OK && h->program) code = rh_lang_points_runner_create(h->program, &h->runner, &local);
    code = blame(hooks, h, code, &messages, &local, status);
    rh_lang_messages_free(&messages);
    return code;
}

rh_code rh_hooks_create(const rh_scene *scene, int material, rh_points *points, rh_lang_cache *programs, rh_hooks **out,
                        rh_status *status)
{
    int count = scene->expressions.count;
    rh_hooks *hooks = rh_alloc_zero(sizeof *hooks, "world.hooks", status);
    *out = NULL;
    if (!hooks) return RH_MEMORY;
    *hooks = (rh_hooks){.scene = scene, .programs = programs};
    hooks->items = rh_alloc_zero((size_t)(count + 1) * sizeof *hooks->items, "world.hooks", status);
    rh_code code = hooks->items ? RH_OK : RH_MEMORY;
    note_kept(hooks, points);
    const rh_expression_params *params = scene->expressions.items;
    for (int i = 0; i < count && code == RH_OK; i++)
        if (params[i].material_index == material)
            code = declare(hooks, &hooks->items[hooks->count++], i, points, status);
    for (int i = 0; i < hooks->count && code == RH_OK; i++) code = finish(hooks, &hooks->items[i], points, status);
    if (code == RH_OK) *out = hooks;
    else rh_hooks_free(hooks);
    return code;
}

void rh_hooks_free(rh_hooks *hooks)
{
    if (!hooks) return;
    for (int i = 0; i < hooks->count; i++) {
        hook *h = &hooks->items[i];
        rh_lang_points_runner_free(h->runner);
        if (h->program) rh_lang_cache_release(hooks->programs, h->program);
        rh_lang_program_free(h->checked);
        rh_free(h->values);
        rh_free(h->externals);
    }
    rh_free(hooks->items);
    rh_free(hooks);
}

// --- running ---------------------------------------------------------------------------------------------------------

// A failure names line and column of the program first, where it knows them: make that a place in the file.
static rh_code stop_run(const rh_hooks *hooks, const hook *h, const rh_moment *m, const rh_status *why,
                        rh_status *status)
{
    int line = 0, column = 0, used = 0;
    char place[640];
    if (why->code != RH_USER) return rh_fail(status, why->code, "%s: %s", h->label, why->message);
    if (sscanf(why->message, "%d:%d: %n", &line, &column, &used) == 2 && used > 0)
        rh_scene_code_place(hooks->scene, h->params->code, h->label, line, column, place, sizeof place);
    else snprintf(place, sizeof place, "%s", rh_scene_place(hooks->scene, h->params->code));
    return rh_fail(status, RH_NUMERIC, "%s: %s at step %lld, time %g s: %s", place, h->label, (long long)m->step,
                   m->time, why->message + used);
}

static bool is_finite(rh_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }
static bool is_within(rh_vec3 v, double most)
{
    return (double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z <= most * most;
}

static rh_code blame_program(const rh_hooks *hooks, const hook *h, const rh_moment *m, const char *what, int64_t id,
                             rh_status *status)
{
    return rh_fail(
        status, RH_NUMERIC, "%s: %s at step %lld, time %g s: leaves a %s, of the particle with id %lld among others",
        rh_scene_place(hooks->scene, h->params->code), h->label, (long long)m->step, m->time, what, (long long)id);
}

// The simulation would go on with garbage, or stop later without knowing why, and a checkpoint in between would hold
// it. In two dimensions nothing leaves the plane.
static rh_code check_written(const rh_hooks *hooks, const hook *h, const rh_moment *m, rh_points *points,
                             const char *name, rh_status *status)
{
    rh_vec3 *values = rh_points_data(points, name, RH_POINT_VEC3F);
    int64_t count = points->count, bad = count;
    bool flat = hooks->scene->dimension == 2, place = name[0] == 'P';
    double most = place ? RH_FAR_CELLS * hooks->scene->cell : rh_health_limits_of(hooks->scene, 0).speed;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < count; i++) {
        if (flat) values[i].z = 0;
        if (!is_within(values[i], most) && i < bad) bad = i;
    }
    if (bad == count) return RH_OK;
    const int64_t *id = rh_points_data(points, "id", RH_POINT_I64);
    char what[160];
    rh_vec3 v = values[bad];
    if (!is_finite(v)) snprintf(what, sizeof what, "%s that is not finite", name);
    else
        snprintf(what, sizeof what, "%s of (%.4g, %.4g, %.4g) %s, beyond %s (%.4g %s)", name, (double)v.x, (double)v.y,
                 (double)v.z, place ? "m" : "m/s",
                 place                            ? "the reach of the grid"
                 : hooks->scene->limits.speed > 0 ? "limits.speed"
                                                  : "4096 cells a frame",
                 most, place ? "m" : "m/s");
    return blame_program(hooks, h, m, what, id[bad], status);
}

static rh_code run_one(rh_hooks *hooks, int index, const rh_moment *m, rh_points *points, int64_t *deleted,
                       rh_status *status)
{
    hook *h = &hooks->items[index];
    rh_status local = {0};
    rh_lang_points_done done;
    set_externals(h, hooks->scene, m);
    uint64_t seed = rh_mix64((uint64_t)hooks->scene->seed) ^ rh_mix64((uint64_t)m->step * 64 + (uint64_t)m->at) ^
                    rh_mix64((uint64_t)index + 0x5bd1e995ull);
    const rh_lang_points_job job = {.externals = h->externals,
                                    .external_count = h->external_count,
                                    .seed = seed,
                                    .steps = h->params->budget,
                                    .first = m->first,
                                    .first_id = m->first_id,
                                    .stop = m->stop};
    rh_code code = rh_lang_points_run(h->runner, &job, points, &done, &local);
    if (code != RH_OK) return stop_run(hooks, h, m, &local, status);
    rh_lang_points_show(h->label, &done);
    *deleted += done.deleted;
    if (h->moves) RH_TRY(check_written(hooks, h, m, points, "P", status));
    return h->pushes ? check_written(hooks, h, m, points, "v", status) : RH_OK;
}

rh_code rh_hooks_run(rh_hooks *hooks, const rh_moment *moment, rh_points *points, int64_t *deleted, rh_status *status)
{
    double began = rh_seconds();
    rh_code code = RH_OK;
    for (int i = 0; i < hooks->count && code == RH_OK; i++) {
        const rh_expression_params *p = hooks->items[i].params;
        if (p->at == (int)moment->at && moment->time >= p->start && moment->time < p->stop)
            code = run_one(hooks, i, moment, points, deleted, status);
    }
    hooks->seconds += rh_seconds() - began;
    return code;
}

bool rh_hooks_any(const rh_hooks *hooks, rh_expression_at at)
{
    for (int i = 0; i < hooks->count; i++)
        if (hooks->items[i].params->at == (int)at) return true;
    return false;
}

double rh_hooks_take_seconds(rh_hooks *hooks)
{
    double seconds = hooks->seconds;
    hooks->seconds = 0;
    return seconds;
}
