// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Memory: the points are the largest thing here, and OpenVDB needs its own copy of the band for filters and mesh. So
// each is given back before the next one grows: points once the band stands, the band once OpenVDB has it, the grids
// once the mesh stands.
#include "world/surfacing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/regular.h"
#include "io/provenance.h"
#include "io/ply.h"
#include "io/surface_mesh_file.h"
#include "io/surface_grid.h"
#include "io/vdb_sets.h"
#include "lang/on_points.h"
#include "points/interpolate.h"
#include "scene/expressions.h"

typedef struct job {
    const rh_surfacing_params *params;
    const rh_surface_task *task;
    rh_surface_result *result;
    rh_frame_info info;
    rh_points points;
    rh_band band;
    rh_surface_grid *grid;
    rh_surface_mesh mesh;
} job;

// --- points in -------------------------------------------------------------------------------------------------------

// A file written with z up: inside the program y is up, and writers turn what they write when the frame's facts say z.
static void turn_back(rh_points *points)
{
    for (int k = 0; k < points->attribute_count; k++) {
        const rh_attribute *a = &points->attributes[k];
        if (a->type != RH_POINT_VEC3F) continue;
        rh_vec3 *v = a->data;
        for (int64_t i = 0; i < (a->uniform ? 1 : points->count); i++) v[i] = rh_v3(v[i].x, v[i].z, -v[i].y);
    }
}

rh_code rh_surface_read_points(const char *path, rh_points *points, rh_frame_info *info, rh_status *status)
{
    return rh_surface_read_set(path, NULL, points, info, status);
}

rh_code rh_surface_read_set(const char *path, const char *name, rh_points *points, rh_frame_info *info,
                            rh_status *status)
{
    rh_frame_info unwanted;
    if (!info) info = &unwanted;
    *info = (rh_frame_info){0};
    if (!rh_file_exists(path)) return rh_fail(status, RH_IO, "%s: no such file", path);
    if (rh_path_has_ending(path, ".vdb")) RH_TRY(rh_vdb_read_set(path, name, points, info, status));
    else if (rh_path_has_ending(path, ".ply")) RH_TRY(rh_ply_read_points(path, points, info, status));
    else return rh_fail(status, RH_USER, "%s: found a file of unknown kind, expected points as .vdb or .ply", path);
    if (info->z_up) turn_back(points);
    if (!(info->fps > 0) || !isfinite(info->fps)) info->fps = 24;
    if (!(info->cell > 0) || !isfinite(info->cell)) info->cell = 0;
    return RH_OK;
}

static rh_code move_in_time(job *j, rh_status *status)
{
    const rh_surface_task *task = j->task;
    if (task->fraction <= 0) return RH_OK;
    rh_points next;
    rh_interpolate_report moved;
    rh_points_init(&next);
    rh_code code = task->next ? rh_surface_read_set(task->next, task->set, &next, NULL, status) : RH_OK;
    if (code == RH_OK) {
        code = rh_points_interpolate(&j->points, task->next ? &next : NULL, task->fraction, 1 / j->info.fps, &moved,
                                     status);
        if (code == RH_USER) rh_status_prefix(status, "%s", task->points);
    }
    if (code == RH_OK && moved.same_ids)
        rh_log(RH_LOG_WARNING,
               "%s: some points share an id, so none is followed to the next frame: all go on with their velocity",
               task->points);
    j->info.time += task->fraction / j->info.fps;
    rh_points_free(&next);
    return code;
}

// --- the expression --------------------------------------------------------------------------------------------------

// RH_USER with what the compiler said, as a whole.
static rh_code blame(const char *code, const rh_lang_messages *messages, rh_status *status)
{
    char *text = rh_lang_messages_print(messages, "surface.expression", code, strlen(code), false, status);
    if (!text) return RH_MEMORY;
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n') length--;
    rh_code result = rh_fail(status, RH_USER, "%.*s", (int)length, text);
    rh_free(text);
    return result;
}

static rh_code run_program(job *j, const rh_lang_program *program, rh_lang_messages *messages, rh_status *status)
{
    rh_lang_points_runner *runner;
    rh_lang_points_done done;
    RH_TRY(rh_lang_points_add_written(program, &j->points, NULL, NULL, messages, status));
    RH_TRY(rh_lang_points_match(program, &j->points, messages, status));
    if (messages->errors) return RH_USER;
    enum { MOST = 8 };
    const double given[] = {j->info.time, (double)j->info.frame, j->info.fps,
                            j->info.cell};  // order of rh_surface_expression_given
    double room[MOST];
    rh_lang_external externals[MOST];
    rh_lang_points_job work = {.externals = externals, .seed = (uint64_t)j->info.frame};
    const rh_lang_listing *l = rh_lang_program_listing(program);
    for (int i = 0; i < l->external_count && work.external_count < MOST; i++)
        for (int k = 0; rh_surface_expression_given[k]; k++) {
            if (strcmp(l->externals[i].name, rh_surface_expression_given[k]) != 0 ||
                !rh_lang_is_number(l->externals[i].type))
                continue;
            rh_lang_store_number(l->externals[i].type, given[k], &room[work.external_count]);
            externals[work.external_count] = (rh_lang_external){
                l->externals[i].name, rh_lang_type_name(l->externals[i].type), &room[work.external_count]};
            work.external_count++;
        }
    RH_TRY(rh_lang_points_runner_create(program, &runner, status));
    rh_code code = rh_lang_points_run(runner, &work, &j->points, &done, status);
    rh_lang_points_runner_free(runner);
    rh_lang_points_show("surface.expression", &done);
    return code;
}

// Masks, colours and radii that the particles do not have yet. Here everything may be written: nothing goes on from
// these points.
static rh_code run_expression(job *j, rh_status *status)
{
    const char *code = j->params->expression;
    const rh_lang_options options = {.domain = RH_LANG_POINTS};
    const rh_lang_program *program = NULL;
    rh_lang_cache *own = NULL, *programs = j->task->programs;
    rh_lang_messages messages = {0};
    rh_status local = {0};
    if (!code) return RH_OK;
    if (!programs) {
        RH_TRY(rh_lang_cache_create(1, &own, status));
        programs = own;
    }
    rh_code result = rh_lang_cache_get(programs, code, strlen(code), &options, &program, &messages, &local);
    if (result == RH_OK) result = run_program(j, program, &messages, &local);
    if (program) rh_lang_cache_release(programs, program);
    rh_lang_cache_free(own);
    if (messages.errors) result = blame(code, &messages, status);
    else if (result != RH_OK)
        rh_fail(status, result, "%s: surface.expression:%s%s", j->task->points,
                local.message[0] >= '0' && local.message[0] <= '9' ? "" : " ", local.message);
    rh_lang_messages_free(&messages);
    return result;
}

static rh_code read(job *j, rh_status *status)
{
    RH_TRY(rh_surface_read_set(j->task->points, j->task->set, &j->points, &j->info, status));
    if (j->task->frame >= 0) j->info.frame = j->task->frame;
    else if (j->info.frame < 1) j->info.frame = 1;
    RH_TRY(move_in_time(j, status));
    RH_TRY(run_expression(j, status));
    j->result->frame = j->info.frame;
    j->result->particles = j->points.count;
    return RH_OK;
}

// --- files out -------------------------------------------------------------------------------------------------------

// From `*first` to the returned end; NULL when the name has no digits.
static const char *last_digits(const char *path, const char **first)
{
    static const char digits[] = "0123456789";
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *end = strrchr(name, '.');
    if (!end || end == name) end = name + strlen(name);
    while (end > name && !strchr(digits, end[-1])) end--;
    *first = end;
    while (*first > name && strchr(digits, (*first)[-1])) (*first)--;
    return end > *first ? end : NULL;
}

int64_t rh_surface_frame_number(const char *path, int *digits)
{
    const char *first, *end = last_digits(path, &first);
    if (digits) *digits = end ? (int)(end - first) : 0;
    if (!end || end - first > 18) return -1;
    return strtoll(first, NULL, 10);
}

bool rh_surface_next_file(const char *path, char out[RH_PATH_MAX])
{
    int digits;
    int64_t frame = rh_surface_frame_number(path, &digits);
    const char *first, *end = last_digits(path, &first);
    if (frame < 0) return false;
    int n = snprintf(out, RH_PATH_MAX, "%.*s%0*lld%s", (int)(first - path), path, digits, (long long)frame + 1, end);
    return n < RH_PATH_MAX && rh_file_exists(out);
}

rh_code rh_surface_path(const char *folder, const char *stem, int64_t frame, int digits, double fraction,
                        const char *ending, char out[RH_PATH_MAX], rh_status *status)
{
    char part[8] = "";
    if (fraction > 0) snprintf(part, sizeof part, ".%03d", (int)fmin(lround(1000 * fraction), 999));
    int n = snprintf(out, RH_PATH_MAX, "%s/%s.%0*lld%s%s", folder, stem, digits > 4 ? digits : 4, (long long)frame,
                     part, ending);
    // 32: room for the name a file has while it is written.
    return n > 0 && n < RH_PATH_MAX - 32
               ? RH_OK
               : rh_fail(status, RH_USER, "the path of the folder is too long: %.200s ...", folder);
}

static rh_code result_path(const job *j, const char *stem, const char *ending, char out[RH_PATH_MAX], rh_status *status)
{
    char name[160];
    snprintf(name, sizeof name, "%s%s%.100s", stem, j->task->set ? "." : "", j->task->set ? j->task->set : "");
    return rh_surface_path(j->task->folder, name, j->info.frame, j->task->digits, j->task->fraction, ending, out,
                           status);
}

// With z up the writer turns every vector and no matrix. The axes in `rotation` are its columns, so its rows are turned
// here; `stretch` has no direction, and is turned back first to come out as it is.
static void turn_ellipsoids(const rh_points *points)
{
    const rh_attribute *rotation = rh_points_find(points, "rotation"), *stretch = rh_points_find(points, "stretch");
    float(*m)[9] = rotation ? rotation->data : NULL;
    rh_vec3 *s = stretch ? stretch->data : NULL;
    for (int64_t i = 0; i < points->count; i++) {
        for (int k = 0; m && k < 3; k++) {
            float y = m[i][3 + k];
            m[i][3 + k] = -m[i][6 + k];
            m[i][6 + k] = y;
        }
        if (s) s[i] = rh_v3(s[i].x, s[i].z, -s[i].y);
    }
}

static rh_code write_diagnostics(job *j, rh_status *status)
{
    char path[RH_PATH_MAX];
    if (!j->params->diagnostics) return RH_OK;
    rh_frame_info info = j->info;
    if (info.cell <= 0) info.cell = j->band.voxel > 0 ? j->band.voxel : 1;
    if (info.z_up) turn_ellipsoids(&j->points);
    RH_TRY(result_path(j, "ellipsoids", ".vdb", path, status));
    return rh_vdb_write_points(path, &j->points, &info, status);
}

static rh_code write_mesh(job *j, rh_status *status)
{
    static rh_code (*const write[])(const char *, const rh_surface_mesh *, const rh_frame_info *, rh_status *) = {
        rh_surface_mesh_write_ply, rh_surface_mesh_write_obj, rh_surface_mesh_write_vtp};
    char path[RH_PATH_MAX];
    RH_TRY(result_path(j, "surface", rh_surface_mesh_endings[j->params->mesh_format], path, status));
    RH_TRY(write[j->params->mesh_format](path, &j->mesh, &j->info, status));
    j->result->vertices = j->mesh.vertex_count;
    j->result->polygons = j->mesh.triangle_count + j->mesh.quad_count;
    return RH_OK;
}

// Before the work: nothing that is not ours is replaced, and least of all what this surface is made of.
static rh_code check_target(const job *j, const char *stem, const char *ending, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(result_path(j, stem, ending, path, status));
    if (rh_provenance_same_file(path, j->task->points) ||
        (j->task->next && rh_provenance_same_file(path, j->task->next)))
        return rh_fail(status, RH_USER,
                       "%s: is the file that the surface is made of, and would be replaced by it\n  --out DIR takes "
                       "another folder",
                       path);
    return rh_provenance_may_replace(path, status);
}

static rh_code check_targets(const job *j, rh_status *status)
{
    if (j->params->vdb) RH_TRY(check_target(j, "surface", ".vdb", status));
    if (j->params->mesh) RH_TRY(check_target(j, "surface", rh_surface_mesh_endings[j->params->mesh_format], status));
    return j->params->diagnostics ? check_target(j, "ellipsoids", ".vdb", status) : RH_OK;
}

// --- in order --------------------------------------------------------------------------------------------------------

// Known before anything is written. An empty band has no channels and needs no filters.
static rh_code check_masks(const job *j, rh_status *status)
{
    const rh_filter_params *filters = j->params->filters.items;
    for (int i = 0; i < j->params->filters.count && j->band.count > 0; i++) {
        const char *mask = filters[i].mask;
        if (!mask || !mask[0]) continue;
        const rh_band_channel *channel = rh_band_channel_find(&j->band, mask);
        if (!channel)
            return rh_fail(status, RH_USER,
                           "filters[%d].mask: found '%.60s', expected one of the attributes carried to the surface; "
                           "attributes=%.60s carries it",
                           i, mask, mask);
        if (channel->type != RH_POINT_F32)
            return rh_fail(status, RH_USER, "filters[%d].mask: '%s' is %s, expected float", i, mask,
                           rh_point_type_name(channel->type));
    }
    return RH_OK;
}

static rh_code build(job *j, rh_status *status)
{
    if (rh_surfacing_build(j->params, &j->points, &j->band, &j->result->report, status) != RH_OK)
        return rh_status_prefix(status, "%s", j->task->points);
    RH_TRY(check_masks(j, status));
    if (j->task->folder) RH_TRY(rh_folder_make(j->task->folder, status));
    if (j->task->folder) RH_TRY(write_diagnostics(j, status));
    rh_points_free(&j->points);
    const rh_surfacing_report *r = &j->result->report;
    if (r->bad_positions)
        rh_log(RH_LOG_WARNING, "%s: left out %lld points whose position is not finite or too far away", j->task->points,
               (long long)r->bad_positions);
    if (r->bad_radii)
        rh_log(RH_LOG_WARNING, "%s: left out %lld points whose radius is not positive", j->task->points,
               (long long)r->bad_radii);
    return RH_OK;
}

static rh_code make_grid(job *j, rh_status *status)
{
    const rh_list *filters = &j->params->filters;
    bool anything = j->band.count > 0;
    RH_TRY(rh_surface_grid_create(&j->band, &j->grid, status));
    rh_band_free(&j->band);
    if (anything && filters->count) RH_TRY(rh_surface_grid_filter(j->grid, filters->items, filters->count, status));
    j->result->voxels = rh_surface_grid_active(j->grid);
    j->result->volume = rh_surface_grid_volume(j->grid);
    return RH_OK;
}

static rh_code make_mesh(job *j, rh_status *status)
{
    RH_TRY(rh_surface_grid_mesh(j->grid, j->params->adaptivity, &j->mesh, status));
    rh_surface_grid_free(j->grid);
    j->grid = NULL;
    return RH_OK;
}

static rh_code finish(job *j, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(make_grid(j, status));
    if (j->params->vdb) {
        RH_TRY(result_path(j, "surface", ".vdb", path, status));
        RH_TRY(rh_surface_grid_write(path, j->grid, &j->info, status));
    }
    if (!j->params->mesh) return RH_OK;
    RH_TRY(make_mesh(j, status));
    return write_mesh(j, status);
}

static void job_free(job *j)
{
    rh_surface_mesh_free(&j->mesh);
    rh_surface_grid_free(j->grid);
    rh_band_free(&j->band);
    rh_points_free(&j->points);
}

rh_code rh_surface_frame_mesh(const rh_surfacing_params *params, const char *points, const char *set,
                              rh_lang_cache *programs, rh_surface_mesh *mesh, rh_frame_info *info, rh_status *status)
{
    const rh_surface_task task = {.points = points, .set = set, .frame = -1, .programs = programs};
    rh_surface_result result = {.frame = 0};
    job j = {.params = params, .task = &task, .result = &result};
    rh_points_init(&j.points);
    *mesh = (rh_surface_mesh){0};
    rh_code code = read(&j, status);
    if (code == RH_OK) code = build(&j, status);
    if (code == RH_OK) code = make_grid(&j, status);
    if (code == RH_OK) code = make_mesh(&j, status);
    if (code == RH_OK) {
        *mesh = j.mesh;
        j.mesh = (rh_surface_mesh){0};
        if (info) *info = j.info;
    }
    job_free(&j);
    return code;
}

rh_code rh_surface_frame(const rh_surfacing_params *params, const rh_surface_task *task, rh_surface_result *result,
                         rh_status *status)
{
    rh_surface_result unwanted;
    rh_status local = {0};
    double start = rh_seconds();
    if (!result) result = &unwanted;
    *result = (rh_surface_result){0};
    if (!params->vdb && !params->mesh && !params->diagnostics)
        return rh_fail(status, RH_USER, "surface: vdb, mesh and diagnostics are all false: nothing to write");
    job j = {.params = params, .task = task, .result = result};
    rh_points_init(&j.points);
    rh_code code = read(&j, &local);
    if (code == RH_OK && task->up) j.info.z_up = task->up == 'z';
    if (code == RH_OK) code = check_targets(&j, &local);
    if (code == RH_OK) code = build(&j, &local);
    if (code == RH_OK && (params->vdb || params->mesh)) code = finish(&j, &local);
    job_free(&j);
    result->seconds = rh_seconds() - start;
    return code == RH_OK ? RH_OK : rh_fail(status, code, "%s", local.message);
}
