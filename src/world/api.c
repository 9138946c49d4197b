// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The public interface: a thin layer over world.h that keeps internal types out of the public header.
#include "world/api.h"

#include <stdio.h>
#include <string.h>
#include "base/cpu.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "scene/section.h"
#include "world/probes.h"
#include "world/surfacing.h"
#include "world/world.h"

typedef struct api_set {
    char name[RH_MATERIAL_NAME + RH_POINT_NAME + 2];
    const rh_points *points;  // the world's; stays where it is
} api_set;

struct rheo_simulation {
    api_set *sets;  // owned
    int set_count;
    rh_api_functions functions;  // of the caller's, for the scene's expressions
    rh_scene scene;
    rh_world *world;
    int64_t frame;
};

static rheo_log_function *g_log;

static void forward(rh_log_level level, const char *message, void *user)
{
    if (level != RH_LOG_DEBUG && g_log) g_log(message, user);
}

rheo_code rh_api_give(rh_code code, const rh_status *status, rheo_error *error)
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
void rheo_set_threads(int count) { rh_threads_set(count); }

void rheo_set_log(rheo_log_function *function, void *user)
{
    g_log = function;
    rh_log_set_sink(function ? forward : NULL, user);
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
    if (code == RH_OK && (code = list_sets(s, status)) != RH_OK) rh_world_free(s->world);
    if (code != RH_OK) rh_scene_free(&s->scene);
    return code;
}

rheo_code rheo_open(const char *scene_path, const char *const *settings, int setting_count, rheo_simulation **out,
                    rheo_error *error)
{
    return rheo_open_with(scene_path, settings, setting_count, NULL, 0, out, error);
}

rheo_code rheo_open_with(const char *scene_path, const char *const *settings, int setting_count,
                         const rheo_function *functions, int function_count, rheo_simulation **out, rheo_error *error)
{
    rh_status status = {0};
    *out = NULL;
    if (rh_cpu_lacks())
        return rh_api_give(rh_fail(&status, RH_USER, "this processor lacks %s", rh_cpu_lacks()), &status, error);
    rheo_simulation *s = rh_alloc_zero(sizeof *s, "api", &status);
    if (!s) return rh_api_give(RH_MEMORY, &status, error);
    rh_code code = rh_api_functions_copy(&s->functions, functions, function_count, &status);
    if (code == RH_OK) code = open_scene(s, scene_path, settings, setting_count, &status);
    if (code != RH_OK) {
        rh_api_functions_free(&s->functions);
        rh_free(s);
        return rh_api_give(code, &status, error);
    }
    s->frame = s->scene.frames.first;
    *out = s;
    return rh_api_give(RH_OK, &status, error);
}

void rheo_close(rheo_simulation *simulation)
{
    if (!simulation) return;
    rh_world_free(simulation->world);
    rh_free(simulation->sets);
    rh_scene_free(&simulation->scene);
    rh_api_functions_free(&simulation->functions);
    rh_free(simulation);
}

rheo_code rheo_advance_step(rheo_simulation *simulation, double limit, double *taken, rheo_error *error)
{
    rh_status status = {0};
    return rh_api_give(rh_world_step(simulation->world, limit, taken, &status), &status, error);
}

rheo_code rheo_advance_frame(rheo_simulation *simulation, rheo_error *error)
{
    rh_status status = {0};
    rh_code code = rh_world_advance_to(simulation->world, simulation->frame + 1, &status);
    if (code == RH_OK) simulation->frame++;
    return rh_api_give(code, &status, error);
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
    rheo_snapshot *s = *into ? *into : new_snapshot(&status);
    if (!s) return rh_api_give(RH_MEMORY, &status, error);
    rh_code code = rh_world_snapshot(simulation->world, s->state, &status);
    s->frame = simulation->frame;
    if (code == RH_OK) *into = s;
    else if (s != *into) rheo_snapshot_free(s);
    return rh_api_give(code, &status, error);
}

rheo_code rheo_snapshot_restore(rheo_simulation *simulation, const rheo_snapshot *snapshot, rheo_error *error)
{
    rh_status status = {0};
    rh_code code = rh_world_restore(simulation->world, snapshot->state, &status);
    if (code == RH_OK) simulation->frame = snapshot->frame;
    return rh_api_give(code, &status, error);
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

int rheo_probe_count(const rheo_simulation *simulation)
{
    const rh_probes *probes = rh_world_probes(simulation->world);
    return probes ? rh_probes_columns(probes) : 0;
}

const char *rheo_probe_title(const rheo_simulation *simulation, int index)
{
    return rh_probes_title(rh_world_probes(simulation->world), index);
}

double rheo_probe_value(const rheo_simulation *simulation, int index)
{
    return rh_probes_latest(rh_world_probes(simulation->world))[index];
}

double rheo_probe_time(const rheo_simulation *simulation)
{
    const rh_probes *probes = rh_world_probes(simulation->world);
    return probes ? rh_probes_latest_time(probes) : 0;
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
    if (rh_cpu_lacks())
        return rh_api_give(rh_fail(&status, RH_USER, "this processor lacks %s", rh_cpu_lacks()), &status, error);
    if (!(fraction >= 0 && fraction < 1))
        return rh_api_give(
            rh_fail(&status, RH_USER, "fraction: found %g, expected 0 or more and less than 1", fraction), &status,
            error);
    rh_surfacing_params params;
    rh_code code = rh_section_load(&rh_surfacing_table, "surface", NULL, settings, setting_count, &params, &status);
    if (code != RH_OK) return rh_api_give(code, &status, error);
    rh_surface_task task = {.points = points,
                            .set = material,
                            .next = next,
                            .fraction = fraction,
                            .folder = folder,
                            .frame = rh_surface_frame_number(points, NULL)};
    code = rh_surface_frame(&params, &task, NULL, &status);
    rh_params_free(&rh_surfacing_table, &params);
    return rh_api_give(code, &status, error);
}

int64_t rheo_memory_bytes(void) { return rh_memory_bytes(); }
