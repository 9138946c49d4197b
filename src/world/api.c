// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The public interface: a thin layer over world.h that keeps internal types out of the public header.
#include "world/api.h"

#include <stdio.h>
#include <string.h>
#include "base/context.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "grid/fields.h"
#include "io/vdb_fields.h"
#include "scene/section.h"
#include "world/probes.h"
#include "world/surfacing.h"
#include "world/world.h"

typedef struct api_set {
    char name[RH_MATERIAL_NAME + RH_POINT_NAME + 2];
    const rh_points *points;  // the world's; stays where it is
} api_set;

typedef struct log_receiver {
    rheo_log_function *function;
    void *user;
} log_receiver;

struct rheo_simulation {
    rh_context *context;
    log_receiver log;
    api_set *sets;  // owned
    int set_count;
    rh_api_functions functions;  // of the caller's, for the scene's expressions
    rh_scene scene;
    rh_world *world;
    int64_t frame;
};

static log_receiver g_log;  // of the process' context

static void forward(rh_log_level level, const char *message, void *user)
{
    const log_receiver *to = user;
    if (level != RH_LOG_DEBUG) to->function(message, to->user);
}

rheo_code rh_api_return(rh_code code, const rh_status *status, rheo_error *error)
{
    rheo_code out = code == RH_OK        ? RHEO_OK
                    : code == RH_USER    ? RHEO_USER
                    : code == RH_MEMORY  ? RHEO_MEMORY
                    : code == RH_NUMERIC ? RHEO_NUMERIC
                                         : RHEO_IO;
    if (error) {
        error->code = out;
        memcpy(error->message, status->message, sizeof error->message);
    }
    return out;
}

const char *rheo_version(void) { return RHEO_VERSION; }

void rheo_set_threads(int count)
{
    rh_context_scope before = rh_context_enter(NULL);
    rh_threads_set(count);
    rh_context_leave(before);
}

void rheo_set_log(rheo_log_function *function, void *user)
{
    rh_context_scope before = rh_context_enter(NULL);
    g_log = (log_receiver){function, user};
    rh_log_set_sink(function ? forward : NULL, &g_log);
    rh_context_leave(before);
}

void rh_api_functions_free(rh_api_functions *functions)
{
    for (int i = 0; i < functions->count; i++) {
        rh_free((char *)(uintptr_t)functions->items[i].name);
        rh_free((char *)(uintptr_t)functions->items[i].signature);
    }
    rh_free(functions->items);
    *functions = (rh_api_functions){0};
}

rh_code rh_api_functions_copy(rh_api_functions *out, const rheo_function *functions, int count, rh_status *status)
{
    *out = (rh_api_functions){
        .items = rh_alloc_zero((size_t)(count + 1) * sizeof *out->items, "api.functions", status)};
    if (!out->items) return RH_MEMORY;
    for (int i = 0; i < count; i++) {
        rh_lang_function *f = &out->items[i];
        *f = (rh_lang_function){.name = rh_strdup(functions[i].name, "api.functions", status),
                                .signature = rh_strdup(functions[i].signature, "api.functions", status),
                                .symbol = functions[i].function,
                                .flags = functions[i].pure ? RH_LANG_PURE : 0,
                                .help = "a function of the host"};
        out->count = i + 1;
        if (!f->name || !f->signature) return RH_MEMORY;
    }
    return RH_OK;
}

static rh_code list_sets(rheo_simulation *s, rh_status *status)
{
    int count = 0;
    for (int m = 0; m < rh_world_material_count(s->world); m++) count += rh_world_material_sets(s->world, m)->count;
    s->sets = rh_alloc_zero((size_t)count * sizeof *s->sets, "api", status);
    if (!s->sets) return RH_MEMORY;
    for (int m = 0; m < rh_world_material_count(s->world); m++) {
        const rh_sets *sets = rh_world_material_sets(s->world, m);
        for (int k = 0; k < sets->count; k++) {
            api_set *to = &s->sets[s->set_count++];
            const char *own = sets->items[k].name;
            to->points = &sets->items[k].points;
            snprintf(to->name, sizeof to->name, "%s%s%s", rh_world_material_name(s->world, m), own[0] ? "." : "", own);
        }
    }
    return RH_OK;
}

static rh_code open_scene(rheo_simulation *s, const char *path, const char *const *settings, int setting_count,
                          rh_status *status)
{
    RH_TRY(
        rh_scene_load_with(path, settings, setting_count, s->functions.items, s->functions.count, &s->scene, status));
    rh_code code = rh_world_create(&s->scene, &s->world, status);
    if (code == RH_OK && (code = list_sets(s, status)) != RH_OK) {
        rh_world_free(s->world);
        s->world = NULL;
    }
    if (code != RH_OK) rh_scene_free(&s->scene);
    return code;
}

rheo_code rheo_open(const char *scene_path, const char *const *settings, int setting_count, rheo_simulation **out,
                    rheo_error *error)
{
    return rheo_open_as(scene_path, settings, setting_count, &(rheo_options){0}, out, error);
}

rheo_code rheo_open_with(const char *scene_path, const char *const *settings, int setting_count,
                         const rheo_function *functions, int function_count, rheo_simulation **out, rheo_error *error)
{
    const rheo_options options = {.functions = functions, .function_count = function_count};
    return rheo_open_as(scene_path, settings, setting_count, &options, out, error);
}

static void free_simulation(rheo_simulation *s)
{
    rh_context *context = s->context;
    rh_world_free(s->world);
    rh_free(s->sets);
    if (s->world) rh_scene_free(&s->scene);
    rh_api_functions_free(&s->functions);
    rh_free(s);
    rh_context_release(context);
}

// A simulation without a scene yet, in a context of its own that has what the caller wishes.
static rheo_simulation *new_simulation(const rheo_options *options, rh_status *status)
{
    rh_context *context = rh_context_create(status);
    if (!context) return NULL;
    rh_context_scope before = rh_context_enter(context);
    rheo_simulation *s = rh_alloc_zero(sizeof *s, "api", status);
    if (s) {
        s->context = context;
        s->log = (log_receiver){options->log, options->log_user};
        if (options->threads > 0) rh_threads_set(options->threads);
        if (options->memory_limit > 0) rh_memory_set_limit(options->memory_limit);
        if (options->log) rh_log_set_sink(forward, &s->log);
    }
    rh_context_leave(before);
    if (!s) rh_context_release(context);
    return s;
}

rheo_code rheo_open_as(const char *scene_path, const char *const *settings, int setting_count,
                       const rheo_options *options, rheo_simulation **out, rheo_error *error)
{
    rh_status status = {0};
    *out = NULL;
    if (rh_cpu_lacks())
        return rh_api_return(rh_fail(&status, RH_USER, "this processor lacks %s", rh_cpu_lacks()), &status, error);
    rheo_simulation *s = new_simulation(options, &status);
    if (!s) return rh_api_return(RH_MEMORY, &status, error);
    rh_context_scope before = rh_context_enter(s->context);
    rh_code code = rh_api_functions_copy(&s->functions, options->functions, options->function_count, &status);
    if (code == RH_OK) code = open_scene(s, scene_path, settings, setting_count, &status);
    rh_context_leave(before);
    if (code != RH_OK) {
        free_simulation(s);
        return rh_api_return(code, &status, error);
    }
    s->frame = s->scene.frames.first;
    *out = s;
    return rh_api_return(RH_OK, &status, error);
}

void rheo_close(rheo_simulation *simulation)
{
    if (simulation) free_simulation(simulation);
}

void rheo_simulation_set_threads(rheo_simulation *simulation, int count)
{
    rh_context_set_threads(simulation->context, count);
}

int64_t rheo_simulation_memory(const rheo_simulation *simulation, int64_t *peak)
{
    rh_context_scope before = rh_context_enter(simulation->context);
    int64_t bytes = rh_memory_bytes();
    if (peak) *peak = rh_memory_peak();
    rh_context_leave(before);
    return bytes;
}

rheo_code rheo_advance_step(rheo_simulation *simulation, double limit, double *taken, rheo_error *error)
{
    rh_status status = {0};
    rh_context_scope before = rh_context_enter(simulation->context);
    rh_code code = rh_world_step(simulation->world, limit, taken, &status);
    rh_context_leave(before);
    return rh_api_return(code, &status, error);
}

rheo_code rheo_advance_frame(rheo_simulation *simulation, rheo_error *error)
{
    rh_status status = {0};
    rh_context_scope before = rh_context_enter(simulation->context);
    rh_code code = rh_world_advance_to(simulation->world, simulation->frame + 1, &status);
    rh_context_leave(before);
    if (code == RH_OK) simulation->frame++;
    return rh_api_return(code, &status, error);
}

struct rheo_snapshot {
    rh_memory_store *state;
    int64_t frame;
};

void rheo_snapshot_free(rheo_snapshot *snapshot)
{
    if (!snapshot) return;
    rh_memory_store_free(snapshot->state);
    rh_free(snapshot);
}

static rheo_snapshot *new_snapshot(rh_status *status)
{
    rheo_snapshot *s = rh_alloc_zero(sizeof *s, "api.snapshot", status);
    if (s && !(s->state = rh_memory_store_create(status))) {
        rh_free(s);
        return NULL;
    }
    return s;
}

rheo_code rheo_snapshot_take(const rheo_simulation *simulation, rheo_snapshot **into, rheo_error *error)
{
    rh_status status = {0};
    rh_context_scope before = rh_context_enter(simulation->context);
    rheo_snapshot *s = *into ? *into : new_snapshot(&status);
    rh_code code = s ? rh_world_snapshot(simulation->world, s->state, &status) : RH_MEMORY;
    rh_context_leave(before);
    if (s) s->frame = simulation->frame;
    if (code != RH_OK && s != *into) rheo_snapshot_free(s);
    if (code == RH_OK) *into = s;
    return rh_api_return(code, &status, error);
}

rheo_code rheo_snapshot_restore(rheo_simulation *simulation, const rheo_snapshot *snapshot, rheo_error *error)
{
    rh_status status = {0};
    rh_context_scope before = rh_context_enter(simulation->context);
    rh_code code = rh_world_restore(simulation->world, snapshot->state, &status);
    rh_context_leave(before);
    if (code == RH_OK) simulation->frame = snapshot->frame;
    return rh_api_return(code, &status, error);
}

double rheo_time(const rheo_simulation *simulation) { return rh_world_time(simulation->world); }
int64_t rheo_frame(const rheo_simulation *simulation) { return simulation->frame; }
int64_t rheo_point_count(const rheo_simulation *simulation) { return rh_world_points(simulation->world)->count; }

// --- particle sets ---------------------------------------------------------------------------------------------------
int rheo_set_count(const rheo_simulation *simulation) { return simulation->set_count; }
const char *rheo_set_name(const rheo_simulation *simulation, int set) { return simulation->sets[set].name; }

int rheo_set_find(const rheo_simulation *simulation, const char *name)
{
    for (int i = 0; i < simulation->set_count; i++)
        if (strcmp(simulation->sets[i].name, name) == 0) return i;
    return -1;
}

int64_t rheo_set_point_count(const rheo_simulation *simulation, int set) { return simulation->sets[set].points->count; }

const float *rheo_set_float(const rheo_simulation *simulation, int set, const char *name, int components)
{
    const rh_attribute *a = rh_points_find(simulation->sets[set].points, name);
    if (!a || a->uniform) return NULL;
    int have = a->type == RH_POINT_F32 ? 1 : a->type == RH_POINT_VEC3F ? 3 : a->type == RH_POINT_MAT3F ? 9 : 0;
    return have == components ? a->data : NULL;
}

const int64_t *rheo_set_id(const rheo_simulation *simulation, int set)
{
    const rh_attribute *a = rh_points_find(simulation->sets[set].points, "id");
    return a && a->type == RH_POINT_I64 && !a->uniform ? a->data : NULL;
}

float rheo_set_radius(const rheo_simulation *simulation, int set)
{
    const rh_attribute *a = rh_points_find(simulation->sets[set].points, "radius");
    return a && a->type == RH_POINT_F32 && a->uniform ? *(const float *)a->data : 0;
}

const float *rheo_points_float(const rheo_simulation *simulation, const char *name, int components)
{
    return rheo_set_float(simulation, 0, name, components);
}

const int64_t *rheo_points_id(const rheo_simulation *simulation) { return rheo_set_id(simulation, 0); }
float rheo_radius(const rheo_simulation *simulation) { return rheo_set_radius(simulation, 0); }

int rheo_field_count(const rheo_simulation *simulation)
{
    rh_owned_fields all[RH_MAX_MATERIALS];
    int sets = rh_world_owned_fields(simulation->world, all), count = 0;
    for (int i = 0; i < sets; i++) count += all[i].fields->field_count;
    return count;
}

rheo_field rheo_field_at(const rheo_simulation *simulation, int index)
{
    rh_owned_fields all[RH_MAX_MATERIALS];
    rh_world_owned_fields(simulation->world, all);
    const rh_owned_fields *of = all;
    while (index >= of->fields->field_count) index -= of++->fields->field_count;
    const rh_fields *fields = of->fields;
    const rh_field *field = &fields->items[index];
    return (rheo_field){.name = field->name,
                        .material = of->owner,
                        .components = rh_field_components(field->kind),
                        .at_faces = field->kind == RH_FIELD_FACES,
                        .background = field->background,
                        .cell = fields->h,
                        .tile_count = fields->count,
                        .cells = fields->cells,
                        .tiles = (const int32_t(*)[3])fields->at,
                        .values = {field->axis[0], field->axis[1], field->axis[2]}};
}

// The probes that a column belongs to, and which of theirs it is; materials in the order of the scene.
static const rh_probes *probes_of(const rheo_simulation *simulation, int index, int *column, int *material)
{
    for (int i = 0; i < rh_world_material_count(simulation->world); i++) {
        const rh_probes *probes = rh_world_probes(simulation->world, i);
        int columns = probes ? rh_probes_columns(probes) : 0;
        if (index < columns) return *column = index, *material = i, probes;
        index -= columns;
    }
    return NULL;
}

int rheo_probe_count(const rheo_simulation *simulation)
{
    int count = 0;
    for (int i = 0; i < rh_world_material_count(simulation->world); i++) {
        const rh_probes *probes = rh_world_probes(simulation->world, i);
        count += probes ? rh_probes_columns(probes) : 0;
    }
    return count;
}

const char *rheo_probe_title(const rheo_simulation *simulation, int index)
{
    int column, material;
    const rh_probes *probes = probes_of(simulation, index, &column, &material);
    return probes ? rh_probes_title(probes, column) : NULL;
}

const char *rheo_probe_material(const rheo_simulation *simulation, int index)
{
    int column, material;
    const rh_probes *probes = probes_of(simulation, index, &column, &material);
    return probes ? rh_world_material_name(simulation->world, material) : NULL;
}

double rheo_probe_value(const rheo_simulation *simulation, int index)
{
    int column, material;
    const rh_probes *probes = probes_of(simulation, index, &column, &material);
    return probes ? rh_probes_latest(probes)[column] : 0;
}

double rheo_probe_time(const rheo_simulation *simulation)
{
    int column, material;
    const rh_probes *probes = probes_of(simulation, 0, &column, &material);
    return probes ? rh_probes_latest_time(probes) : 0;
}

int rheo_solid_count(const rheo_simulation *simulation) { return rh_world_dynamics(simulation->world)->count; }

rheo_solid rheo_solid_at(const rheo_simulation *simulation, int index)
{
    const rh_dynamic_solid *s = &rh_world_dynamics(simulation->world)->items[index];
    const rh_obstacle *o = &rh_world_solids(simulation->world)->items[s->obstacle];
    const char *name = rh_world_solid_name(simulation->world, s->obstacle);
    rheo_solid out = {.name = name ? name : "", .solid = s->obstacle, .mass = s->mass.mass};
    rh_dvec3 origin = rh_pose_to_world(&o->pose, rh_d3(0, 0, 0));
    for (int k = 0; k < 3; k++) {
        out.origin[k] = (&origin.x)[k];
        out.center[k] = (&s->position.x)[k];
        out.velocity[k] = (&s->linear.x)[k];
        out.angular[k] = (&o->angular.x)[k];
    }
    for (int k = 0; k < 4; k++) out.turn[k] = s->turn[k];
    return out;
}

static rh_code make_surface(const char *points, const char *material, const char *next, double fraction,
                            const char *folder, const char *const *settings, int setting_count, rh_status *status)
{
    rh_surfacing_params params;
    if (rh_cpu_lacks()) return rh_fail(status, RH_USER, "this processor lacks %s", rh_cpu_lacks());
    if (!(fraction >= 0 && fraction < 1))
        return rh_fail(status, RH_USER, "fraction: found %g, expected 0 or more and less than 1", fraction);
    RH_TRY(rh_section_load(&rh_surfacing_table, "surface", NULL, settings, setting_count, &params, status));
    rh_surface_task task = {.points = points,
                            .set = material,
                            .next = next,
                            .fraction = fraction,
                            .folder = folder,
                            .frame = rh_surface_frame_number(points, NULL)};
    rh_code code = rh_surface_frame(&params, &task, NULL, status);
    rh_params_free(&rh_surfacing_table, &params);
    return code;
}

rheo_code rheo_surface_frame(const char *points, const char *next, double fraction, const char *folder,
                             const char *const *settings, int setting_count, rheo_error *error)
{
    return rheo_surface_material(points, NULL, next, fraction, folder, settings, setting_count, error);
}

rheo_code rheo_surface_material(const char *points, const char *material, const char *next, double fraction,
                                const char *folder, const char *const *settings, int setting_count, rheo_error *error)
{
    rh_status status = {0};
    rh_context_scope before = rh_context_enter(NULL);
    rh_code code = make_surface(points, material, next, fraction, folder, settings, setting_count, &status);
    rh_context_leave(before);
    return rh_api_return(code, &status, error);
}

int64_t rheo_memory_bytes(void) { return rh_memory_of_process(); }
