// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The frames that `rheo render` draws: particles from the run's files, the surface from the file that `rheo surface`
// wrote or made of the particles, and other runs as layers.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "io/vdb_sets.h"
#include "physics/physics.h"
#include "render.h"
#include "world/exchange.h"
#include "world/surfacing.h"

void app_render_frame_free(app_render_frame *data)
{
    rh_points_free(&data->points);
    rh_points_free(&data->vertices);
    rh_ply_surface_free(&data->surface);
    if (data->next) app_render_frame_free(data->next);
    rh_free(data->next);
    *data = (app_render_frame){0};
}

bool app_render_paints(const app_render_job *j) { return !rh_values_none(j->scene.look.paint.attribute); }

// Positions and channels of a surface as a set of points, as its file would read: "vel" is v.
static rh_code take_channels(const rh_surface_mesh *surface, rh_points *out, rh_status *status)
{
    RH_TRY(rh_points_resize(out, surface->vertex_count, status));
    RH_TRY(rh_points_add(out, "P", RH_POINT_VEC3F, status));
    if (surface->vertex_count)
        memcpy(rh_points_data(out, "P", RH_POINT_VEC3F), surface->position,
               (size_t)surface->vertex_count * sizeof *surface->position);
    for (int c = 0; c < surface->channel_count; c++) {
        const rh_band_channel *channel = &surface->channels[c];
        const char *name = strcmp(channel->name, "vel") == 0 ? "v" : channel->name;
        RH_TRY(rh_points_add(out, name, channel->type, status));
        if (surface->vertex_count)
            memcpy(rh_points_data(out, name, channel->type), channel->data,
                   (size_t)surface->vertex_count * rh_point_type_size(channel->type));
    }
    return RH_OK;
}

// Between y up and z up, either way.
static rh_vec3 turned(rh_vec3 v, bool z_up) { return z_up ? rh_v3(v.x, -v.z, v.y) : rh_v3(v.x, v.z, -v.y); }

static void turn_points(rh_points *points, bool z_up)
{
    for (int a = 0; a < points->attribute_count; a++) {
        rh_vec3 *v = points->attributes[a].data;
        if (points->attributes[a].type != RH_POINT_VEC3F ||
            rh_point_is_colour(points->attributes[a].name, RH_POINT_VEC3F))
            continue;
        for (int64_t i = 0; i < points->count; i++) v[i] = turned(v[i], z_up);
    }
}

static void turn_surface(rh_ply_surface *surface, bool z_up)
{
    rh_vec3 *vectors[3] = {surface->mesh.vertices, surface->normal, surface->velocity};
    for (int n = 0; n < 3; n++)
        for (int64_t i = 0; vectors[n] && i < surface->mesh.vertex_count; i++)
            vectors[n][i] = turned(vectors[n][i], z_up);
}

// Quads are cut in two; arrays change hands.
static rh_code take_surface_mesh(rh_surface_mesh *surface, bool z_up, rh_ply_surface *out, rh_status *status)
{
    int64_t count = surface->triangle_count + 2 * surface->quad_count;
    uint32_t(*triangles)[3] = rh_alloc((size_t)count * sizeof *triangles + 1, "app.surface", status);
    if (!triangles) return RH_MEMORY;
    memcpy(triangles, surface->triangle, (size_t)surface->triangle_count * sizeof *triangles);
    for (int64_t q = 0; q < surface->quad_count; q++) {
        const uint32_t *v = surface->quad[q];
        uint32_t(*to)[3] = triangles + surface->triangle_count + 2 * q;
        memcpy(to[0], (uint32_t[3]){v[0], v[1], v[2]}, sizeof *to);
        memcpy(to[1], (uint32_t[3]){v[0], v[2], v[3]}, sizeof *to);
    }
    out->mesh = (rh_mesh){.vertices = surface->position,
                          .vertex_count = surface->vertex_count,
                          .triangles = triangles,
                          .triangle_count = count};
    out->normal = surface->normal;
    surface->position = surface->normal = NULL;
    for (int c = 0; c < surface->channel_count; c++)
        if (strcmp(surface->channels[c].name, "vel") == 0)
            out->velocity = surface->channels[c].data, surface->channels[c].data = NULL;
    if (z_up) turn_surface(out, true);  // as files of such runs are
    return RH_OK;
}

static rh_code make_surface(const app_render_job *j, const char *points, app_render_frame *data, rh_status *status)
{
    rh_surface_mesh surface;
    RH_TRY(rh_surface_frame_mesh(rh_scene_surface(&j->scene, data->material), points, data->set, j->programs, &surface,
                                 NULL, status));
    rh_code code = app_render_paints(j) ? take_channels(&surface, &data->vertices, status) : RH_OK;
    if (code == RH_OK && data->z_up) turn_points(&data->vertices, true);
    if (code == RH_OK) code = take_surface_mesh(&surface, data->z_up, &data->surface, status);
    rh_surface_mesh_free(&surface);
    data->has_surface = code == RH_OK;
    return code;
}

// `rheo surface --up` may have written it with another axis up than the run's: it is turned as the run's files are.
static rh_code read_surface(const app_render_job *j, const char *path, app_render_frame *data, rh_status *status)
{
    RH_TRY(rh_ply_read_surface(path, &data->surface, status));
    data->has_surface = true;
    if (app_render_paints(j)) RH_TRY(rh_ply_read_points(path, &data->vertices, NULL, status));
    if (!data->surface.up || (data->surface.up == 'z') == data->z_up) return RH_OK;
    turn_surface(&data->surface, data->z_up);
    turn_points(&data->vertices, data->z_up);
    return RH_OK;
}

// The one place where the mesh of a frame's surface comes from: the file that `rheo surface` wrote, else it is made of
// the points as the scene's section `surface` says. A look ahead (`probe`) does not wait for that, and takes the points
// even where there is a mesh: what it finds must not depend on how far another machine has come with the surfaces.
static rh_code obtain_surface(const app_render_job *j, bool probe, app_render_frame *data, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(app_frame_path(path, j->points, "points", data->number, ".vdb", status));
    data->will_have_surface = rh_file_exists(path);
    if (probe && data->will_have_surface) return RH_OK;
    char stem[80];
    snprintf(stem, sizeof stem, "surface%s%.60s", data->set ? "." : "", data->set ? data->set : "");
    RH_TRY(app_frame_path(path, j->surfaces, stem, data->number, ".ply", status));
    if (rh_file_exists(path)) return read_surface(j, path, data, status);
    if (!data->will_have_surface) return RH_OK;
    RH_TRY(app_frame_path(path, j->points, "points", data->number, ".vdb", status));
    rh_code code = make_surface(j, path, data, status);
    if (code != RH_USER || j->what != APP_RENDER_AS_THERE) return code;
    rh_log(RH_LOG_WARNING, "no surface, particles instead: %s", status->message);
    rh_status_clear(status);
    return RH_OK;
}

static rh_code obtain_points(const app_render_job *j, app_render_frame *data, rh_status *status)
{
    char path[RH_PATH_MAX];
    rh_frame_info facts = {0};
    RH_TRY(app_frame_path(path, j->points, "points", data->number, ".vdb", status));
    RH_TRY(rh_vdb_read_set(path, data->set, &data->points, &facts, status));
    data->has_points = true;
    data->time = facts.time;
    data->z_up = facts.z_up != 0;
    return RH_OK;
}

// Drops with radii of their own are drawn one by one, unless the scene has a way to surface them or `rheo surface` has
// been: a surface of ten million single drops would need cells as small as they are.
static bool are_drops(const app_render_job *j, const app_render_frame *data)
{
    char path[RH_PATH_MAX];
    const rh_physics *physics = rh_physics_methods[rh_scene_material(&j->scene, data->material)->physics.kind];
    if (j->what != APP_RENDER_AS_THERE || j->quick || !physics->own_radius) return false;
    if (rh_scene_surface(&j->scene, data->material)->mode != RH_SURFACING_ELLIPSOID) return false;
    char stem[80];
    snprintf(stem, sizeof stem, "surface%s%.60s", data->set ? "." : "", data->set ? data->set : "");
    return app_frame_path(path, j->surfaces, stem, data->number, ".ply", NULL) == RH_OK && !rh_file_exists(path);
}

static rh_code read_parts(const app_render_job *j, bool probe, app_render_frame *data, rh_status *status)
{
    data->drops = are_drops(j, data);
    if (!j->quick && j->what != APP_RENDER_POINTS && !data->drops) RH_TRY(obtain_surface(j, probe, data, status));
    if (j->what == APP_RENDER_SURFACE && !data->has_surface && !data->will_have_surface)
        return rh_fail(status, RH_USER,
                       "--what surface: found neither a mesh of frame %" PRId64 " in %s nor its points", data->number,
                       j->surfaces);
    bool wanted = j->what == APP_RENDER_POINTS || j->what == APP_RENDER_BOTH || !data->has_surface;
    return wanted ? obtain_points(j, data, status) : RH_OK;
}

static rh_code read_material_frame(const app_render_job *j, int material, int64_t number, bool probe,
                                   app_render_frame *data, rh_status *status)
{
    double since = (double)(number - j->scene.frames.first);
    *data = (app_render_frame){.number = number,
                               .material = material,
                               .z_up = j->scene.output.up == RH_UP_Z,
                               .time = since / j->scene.frames.fps};
    if (j->scene.materials.count) {
        const rh_material_params *params = rh_scene_material(&j->scene, material);
        data->set = rh_scene_material_count(&j->scene) > 1 ? params->name : NULL;
        data->look = &params->look;
    }
    rh_points_init(&data->points);
    rh_points_init(&data->vertices);
    return read_parts(j, probe, data, status);
}

// The particles of another run in the same frame; a layer may begin later or end earlier.
static rh_code read_layer(const char *run, int64_t number, app_render_frame *data, rh_status *status)
{
    char folder[RH_PATH_MAX], path[RH_PATH_MAX];
    rh_frame_info facts = {0};
    *data = (app_render_frame){.number = number, .layer = true};
    rh_points_init(&data->points);
    rh_points_init(&data->vertices);
    RH_TRY(app_path(folder, run, "points", status));
    RH_TRY(app_frame_path(path, folder, "points", number, ".vdb", status));
    if (!rh_file_exists(path)) return RH_OK;
    RH_TRY(rh_vdb_read_set(path, NULL, &data->points, &facts, status));
    data->has_points = true;
    data->time = facts.time;
    data->z_up = facts.z_up != 0;
    return RH_OK;
}

static rh_code read_layers(const app_render_job *j, int64_t number, app_render_frame *last, rh_status *status)
{
    const app_texts *runs = &j->arguments->layers;
    for (int i = 0; i < runs->count; i++) {
        last = last->next = rh_alloc_zero(sizeof *last, "app.frames", status);
        if (!last) return RH_MEMORY;
        RH_TRY(read_layer(runs->items[i], number, last, status));
    }
    return RH_OK;
}

// Quick pictures with layers have one cloud in which every point has its own colour (Cd): the run's by speed, spray
// white, foam a little grey, bubbles pale blue (the classes of physics/whitewater/whitewater.h).
static rh_vec3 tint_of(const app_render_job *j, const app_render_frame *one, int64_t i, rh_vec3 velocity)
{
    static const rh_vec3 colors[] = {{0.95f, 0.96f, 0.97f}, {0.80f, 0.84f, 0.86f}, {0.45f, 0.72f, 0.85f}};
    const rh_attribute *kind = rh_points_find(&one->points, "class");
    int32_t class = kind && kind->type == RH_POINT_I32 && !kind->uniform ? ((const int32_t *)kind->data)[i] : 0;
    if (one->layer) return colors[class < 0 || class > 2 ? 0 : class];
    return rh_color_of((double)rh_v3_length(velocity) / fmax(j->particles.high, 1e-9));
}

static void add_tinted(const app_render_job *j, const app_render_frame *one, rh_points *cloud, int64_t first)
{
    const rh_points *from = &one->points;
    const rh_attribute *v = rh_points_find(from, "v"), *r = rh_points_find(from, "radius");
    const rh_vec3 *p = rh_points_data(from, "P", RH_POINT_VEC3F);
    rh_vec3 *place = rh_points_data(cloud, "P", RH_POINT_VEC3F), *color = rh_points_data(cloud, "Cd", RH_POINT_VEC3F);
    float *radius = rh_points_data(cloud, "radius", RH_POINT_F32);
    bool moves = v && v->type == RH_POINT_VEC3F, sized = r && r->type == RH_POINT_F32;
    for (int64_t i = 0; i < from->count; i++) {
        rh_vec3 velocity = moves ? ((const rh_vec3 *)v->data)[v->uniform ? 0 : i] : rh_v3(0, 0, 0);
        place[first + i] = p[i];
        radius[first + i] = sized ? ((const float *)r->data)[r->uniform ? 0 : i] : (float)(0.25 * j->scene.cell);
        color[first + i] = tint_of(j, one, i, velocity);
    }
}

static rh_code join_tinted(const app_render_job *j, app_render_frame *data, rh_status *status)
{
    rh_points cloud;
    int64_t count = 0;
    rh_points_init(&cloud);
    rh_code code = rh_points_add(&cloud, "P", RH_POINT_VEC3F, status);
    if (code == RH_OK) code = rh_points_add(&cloud, "Cd", RH_POINT_VEC3F, status);
    if (code == RH_OK) code = rh_points_add(&cloud, "radius", RH_POINT_F32, status);
    for (const app_render_frame *one = data; one && code == RH_OK; one = one->next) {
        int64_t first = count;
        const rh_attribute *p = rh_points_find(&one->points, "P");
        if (!one->has_points || !p || p->type != RH_POINT_VEC3F || p->uniform) continue;
        count += one->points.count;
        code = rh_points_resize(&cloud, count, status);
        if (code == RH_OK) add_tinted(j, one, &cloud, first);
    }
    rh_points_free(&data->points);
    data->points = cloud;
    return code;
}

rh_code app_render_frame_read(const app_render_job *j, int64_t number, bool probe, app_render_frame *data,
                              rh_status *status)
{
    int first = j->only >= 0 ? j->only : 0, end = j->only >= 0 ? first + 1 : rh_scene_material_count(&j->scene);
    app_render_frame *at = data;
    rh_code code = RH_OK;
    for (int i = first; i < end && code == RH_OK; i++) {
        if (i > first) at = at->next = rh_alloc_zero(sizeof *at, "app.frames", status);
        code = at ? read_material_frame(j, i, number, probe, at, status) : RH_MEMORY;
    }
    if (code == RH_OK && !probe) code = read_layers(j, number, at, status);
    bool tinted = j->quick && j->arguments->layers.count > 0 && !probe;
    if (tinted && code == RH_OK) code = join_tinted(j, data, status);
    // Quick pictures have one cloud: what the materials have in common.
    for (app_render_frame *more = data->next; more && j->quick && !tinted && code == RH_OK; more = more->next)
        code = rh_exchange_join(&more->points, &data->points, status);
    if (code != RH_OK) app_render_frame_free(data);
    return code;
}
