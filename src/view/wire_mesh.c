// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Surfaces and solids for the page. Normals of a surface are those of its triangles weighted by area: the mesher of
// level sets makes triangles of even size, so angles as weights would look the same.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "view/wire.h"
#include "world/geometry.h"

// --- surfaces --------------------------------------------------------------------------------------------------------

static rh_vec3 y_up(rh_vec3 p, bool z_up) { return z_up ? rh_v3(p.x, p.z, -p.y) : p; }

static rh_code smooth_normals(const rh_mesh *mesh, bool z_up, int8_t **out, rh_status *status)
{
    int64_t count = mesh->vertex_count;
    rh_dvec3 *sums = rh_alloc_zero((size_t)(count + 1) * sizeof *sums, "view.normals", status);
    int8_t *rows = rh_alloc(3 * (size_t)count + 1, "view.normals", status);
    *out = rows;
    if (!sums || !rows) {
        rh_free(sums);
        return RH_MEMORY;
    }
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *c = mesh->triangles[t];
        rh_dvec3 p[3];
        for (int k = 0; k < 3; k++) p[k] = rh_d3_from(y_up(mesh->vertices[c[k]], z_up));
        rh_dvec3 area = rh_d3_cross(rh_d3_sub(p[1], p[0]), rh_d3_sub(p[2], p[0]));
        for (int k = 0; k < 3; k++) sums[c[k]] = rh_d3_add(sums[c[k]], area);
    }
    for (int64_t i = 0; i < count; i++) {
        rh_dvec3 n = rh_d3_unit(sums[i]);
        for (int a = 0; a < 3; a++) rows[a * count + i] = (int8_t)lrint(127 * (&n.x)[a]);
    }
    rh_free(sums);
    return RH_OK;
}

static rh_code write_positions(const rh_mesh *mesh, bool z_up, rh_dbox box, rh_message *out, rh_status *status)
{
    uint16_t *row = rh_alloc((size_t)(mesh->vertex_count + 1) * sizeof *row, "view.row", status);
    rh_code code = row ? RH_OK : RH_MEMORY;
    for (int axis = 0; code == RH_OK && axis < 3; axis++) {
        double low = (&box.min.x)[axis], span = (&box.max.x)[axis] - low, scale = span > 0 ? 65535 / span : 0;
        for (int64_t i = 0; i < mesh->vertex_count; i++) {
            rh_vec3 p = y_up(mesh->vertices[i], z_up);
            row[i] = (uint16_t)(((double)(&p.x)[axis] - low) * scale + 0.5);
        }
        code = rh_message_planes(out, row, mesh->vertex_count, 2, status);
    }
    rh_free(row);
    return code;
}

static rh_dbox turned_bounds(const rh_mesh *mesh, bool z_up)
{
    if (mesh->vertex_count == 0) return (rh_dbox){{0, 0, 0}, {0, 0, 0}};
    rh_dbox b = rh_mesh_bounds(mesh);
    return z_up ? (rh_dbox){{b.min.x, b.min.z, -b.max.y}, {b.max.x, b.max.z, -b.min.y}} : b;
}

static rh_code write_surface(const rh_mesh *mesh, int64_t frame, bool z_up, const int8_t *normals, rh_message *out,
                             rh_status *status)
{
    rh_dbox box = turned_bounds(mesh, z_up);
    RH_TRY(rh_message_print(out, status, "{\"frame\":%" PRId64 ",\"vertices\":%" PRId64 ",\"triangles\":%" PRId64 ",",
                            frame, mesh->vertex_count, mesh->triangle_count));
    RH_TRY(rh_message_box(out, "box", box, status));
    RH_TRY(rh_message_append(out, "}", 1, status));
    RH_TRY(rh_message_describe(out, "RHM1", status));
    RH_TRY(write_positions(mesh, z_up, box, out, status));
    RH_TRY(rh_message_append(out, normals, 3 * (size_t)mesh->vertex_count, status));
    return rh_message_planes(out, mesh->triangles, 3 * mesh->triangle_count, 4, status);
}

rh_code rh_wire_surface(const rh_mesh *mesh, int64_t frame, bool z_up, rh_message *out, rh_status *status)
{
    *out = (rh_message){0};
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        rh_vec3 p = mesh->vertices[i];
        if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z))
            return rh_fail(status, RH_USER, "vertex %" PRId64 " of the surface is not finite", i);
    }
    int8_t *normals = NULL;
    rh_code code = smooth_normals(mesh, z_up, &normals, status);
    if (code == RH_OK) code = write_surface(mesh, frame, z_up, normals, out, status);
    rh_free(normals);
    if (code != RH_OK) rh_message_free(out);
    return code;
}

// --- solids ----------------------------------------------------------------------------------------------------------

typedef struct actor {
    const char *role, *name;
    const rh_variant *shape;
    const rh_motion *motion;
    int dynamic;  // number of a dynamic solid in the scene, or -1
    rh_mesh mesh;
    char problem[256];  // why there are no triangles
} actor;

typedef struct stage {
    const rh_scene *scene;
    const rh_solid_frame *frames;  // of dynamic solids
    int64_t frame_count;
    actor *actors;  // owned
    int count;
    rh_dbox bounds;
    rh_message data;
} stage;

static void add_actor(stage *s, const char *role, const char *name, const rh_variant *shape, const rh_motion *motion)
{
    s->actors[s->count++] = (actor){
        .role = role, .name = name ? name : "", .shape = shape, .motion = motion, .dynamic = -1};
}

static rh_code list_actors(stage *s, rh_status *status)
{
    const rh_scene *scene = s->scene;
    int most = scene->solids.count + scene->emitters.count + scene->sinks.count;
    s->actors = rh_alloc_zero((size_t)(most + 1) * sizeof *s->actors, "view.solids", status);
    if (!s->actors) return RH_MEMORY;
    const rh_solid_params *solids = scene->solids.items;
    for (int i = 0; i < scene->solids.count; i++) {
        add_actor(s, solids[i].inside_out ? "container" : "solid", solids[i].name, &solids[i].shape, &solids[i].motion);
        if (solids[i].dynamic) s->actors[s->count - 1].dynamic = i;
    }
    const rh_emitter_params *emitters = scene->emitters.items;
    for (int i = 0; i < scene->emitters.count; i++)
        add_actor(s, "emitter", emitters[i].name, &emitters[i].shape, &emitters[i].motion);
    const rh_sink_params *sinks = scene->sinks.items;
    for (int i = 0; i < scene->sinks.count; i++)
        if (sinks[i].shape.value) add_actor(s, "sink", sinks[i].name, &sinks[i].shape, &sinks[i].motion);
    return RH_OK;
}

static rh_dbox joined(rh_dbox a, rh_dbox b)
{
    return (rh_dbox){{fmin(a.min.x, b.min.x), fmin(a.min.y, b.min.y), fmin(a.min.z, b.min.z)},
                     {fmax(a.max.x, b.max.x), fmax(a.max.y, b.max.y), fmax(a.max.z, b.max.z)}};
}

static rh_code tessellate(stage *s, actor *a, rh_status *status)
{
    rh_status reason = {0};
    rh_dvec3 center = rh_d3_scale(rh_d3_add(s->bounds.min, s->bounds.max), 0.5);
    double reach = 2 * rh_d3_length(rh_d3_sub(s->bounds.max, s->bounds.min));
    rh_code code = rh_wire_shape(a->shape, center, reach, s->scene->dimension == 2 ? s->scene->cell : 0, &a->mesh,
                                 &reason);
    if (code == RH_MEMORY) return rh_fail(status, code, "%s", reason.message);
    if (code != RH_OK) snprintf(a->problem, sizeof a->problem, "%.255s", reason.message);
    return RH_OK;
}

// Planes have no end and are cut to the size of what has: two rounds.
static rh_code tessellate_all(stage *s, rh_status *status)
{
    s->bounds = (rh_dbox){{1e30, 1e30, 1e30}, {-1e30, -1e30, -1e30}};
    const rh_body_params *bodies = s->scene->bodies.items;
    for (int i = 0; i < s->scene->bodies.count; i++) {
        actor body = {.shape = &bodies[i].shape};
        if (body.shape->kind == RH_SHAPE_PLANE) continue;
        RH_TRY(tessellate(s, &body, status));
        if (body.mesh.vertex_count) s->bounds = joined(s->bounds, rh_mesh_bounds(&body.mesh));
        rh_mesh_free(&body.mesh);
    }
    for (int i = 0; i < s->count; i++) {
        actor *a = &s->actors[i];
        if (a->shape->kind == RH_SHAPE_PLANE) continue;
        RH_TRY(tessellate(s, a, status));
        if (a->mesh.vertex_count && strcmp(a->role, "sink")) s->bounds = joined(s->bounds, rh_mesh_bounds(&a->mesh));
    }
    if (s->bounds.min.x > s->bounds.max.x) s->bounds = (rh_dbox){{-1, 0, -1}, {1, 1, 1}};
    for (int i = 0; i < s->count; i++)
        if (s->actors[i].shape->kind == RH_SHAPE_PLANE) RH_TRY(tessellate(s, &s->actors[i], status));
    return RH_OK;
}

static rh_code write_pose(stage *s, const rh_pose *pose, rh_status *status)
{
    float rows[12];
    rh_dvec3 shift = rh_d3_sub(rh_d3_add(pose->pivot, pose->translation), rh_m3_mul(pose->rotation, pose->pivot));
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) rows[4 * r + c] = (float)(&pose->rotation.row[r].x)[c];
        rows[4 * r + 3] = (float)(&shift.x)[r];
    }
    return rh_message_append(&s->data, rows, sizeof rows, status);
}

// Frame by frame, as the run has them; one that is missing is as the one before it.
static rh_code write_known_poses(stage *s, const actor *a, int64_t *count, rh_status *status)
{
    rh_pose pose = {.rotation = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    *count = 0;
    for (int64_t i = 0; i < s->frame_count; i++) {
        const rh_solid_frame *f = &s->frames[i];
        if (f->solid != a->dynamic) continue;
        for (; *count < f->frame - s->scene->frames.first && *count < RH_WIRE_POSES; ++*count)
            RH_TRY(write_pose(s, &pose, status));
        pose = rh_solid_frame_pose(f);
        if (*count == f->frame - s->scene->frames.first && *count < RH_WIRE_POSES) {
            RH_TRY(write_pose(s, &pose, status));
            ++*count;
        }
    }
    return RH_OK;
}

static rh_code write_poses(stage *s, const actor *a, int64_t *count, rh_status *status)
{
    const rh_scene *scene = s->scene;
    bool still = rh_motion_is_still(a->motion);
    if (a->dynamic >= 0) {
        RH_TRY(write_known_poses(s, a, count, status));
        if (*count > 0) return RH_OK;
    }
    int64_t frames = scene->frames.last - scene->frames.first + 1;
    *count = still || frames < 1 ? 1 : frames < RH_WIRE_POSES ? frames : RH_WIRE_POSES;
    for (int64_t f = 0; f < *count; f++) {
        rh_pose pose;
        rh_dvec3 linear, angular;
        rh_motion_place(a->motion, (double)f / scene->frames.fps, scene->dimension == 2, &pose, &linear, &angular);
        RH_TRY(write_pose(s, &pose, status));
    }
    return RH_OK;
}

static rh_code write_actor(stage *s, const actor *a, bool first, rh_message *out, rh_status *status)
{
    int64_t poses;
    RH_TRY(
        rh_message_append(&s->data, a->mesh.vertices, (size_t)a->mesh.vertex_count * sizeof *a->mesh.vertices, status));
    RH_TRY(rh_message_append(&s->data, a->mesh.triangles, (size_t)a->mesh.triangle_count * sizeof *a->mesh.triangles,
                             status));
    RH_TRY(write_poses(s, a, &poses, status));
    RH_TRY(rh_message_print(out, status,
                            "%s{\"role\":\"%s\",\"endless\":%s,\"deforms\":%s,\"vertices\":%" PRId64
                            ",\"triangles\":%" PRId64 ",\"poses\":%" PRId64 ",\"name\":",
                            first ? "" : ",", a->role, a->shape->kind == RH_SHAPE_PLANE ? "true" : "false",
                            a->shape->kind == RH_SHAPE_MESH_SEQUENCE && a->mesh.vertex_count ? "true" : "false",
                            a->mesh.vertex_count, a->mesh.triangle_count, poses));
    RH_TRY(rh_message_text(out, a->name, status));
    if (a->problem[0]) {
        RH_TRY(rh_message_append(out, ",\"problem\":", 11, status));
        RH_TRY(rh_message_text(out, a->problem, status));
    }
    return rh_message_append(out, "}", 1, status);
}

static rh_code write_solids(stage *s, rh_message *out, rh_status *status)
{
    RH_TRY(rh_message_print(out, status, "{\"first\":%" PRId64 ",", s->scene->frames.first));
    RH_TRY(rh_message_box(out, "bounds", s->bounds, status));
    RH_TRY(rh_message_print(out, status, ",\"solids\":["));
    for (int i = 0; i < s->count; i++) RH_TRY(write_actor(s, &s->actors[i], i == 0, out, status));
    RH_TRY(rh_message_append(out, "]}", 2, status));
    RH_TRY(rh_message_describe(out, "RHS1", status));
    return rh_message_append(out, s->data.bytes, s->data.count, status);
}

rh_code rh_wire_solids(const rh_scene *scene, const rh_solid_frame *frames, int64_t frame_count, rh_message *out,
                       rh_status *status)
{
    *out = (rh_message){0};
    stage s = {.scene = scene, .frames = frames, .frame_count = frame_count};
    rh_code code = list_actors(&s, status);
    if (code == RH_OK) code = tessellate_all(&s, status);
    if (code == RH_OK) code = write_solids(&s, out, status);
    for (int i = 0; i < s.count; i++) rh_mesh_free(&s.actors[i].mesh);
    rh_free(s.actors);
    rh_message_free(&s.data);
    if (code != RH_OK) rh_message_free(out);
    return code;
}

// --- solids that change their form -----------------------------------------------------------------------------------

static rh_code write_sequence(const rh_scene *scene, const rh_mesh_sequence_params *params, double time,
                              rh_message *data, int64_t *vertices, rh_status *status)
{
    rh_mesh_sequence *sequence = NULL;
    RH_TRY(rh_geometry_open_sequence(scene, params, false, &sequence, status));
    rh_mesh mesh = {.vertex_count = rh_mesh_sequence_vertices(sequence)};
    mesh.vertices = rh_alloc((size_t)mesh.vertex_count * sizeof *mesh.vertices + 1, "view.mesh", status);
    rh_code code = mesh.vertices ? rh_mesh_sequence_place(sequence, time, mesh.vertices, status) : RH_MEMORY;
    rh_mesh_sequence_free(sequence);
    if (code == RH_OK && scene->dimension == 2) rh_wire_flatten(&mesh, scene->cell);
    if (code == RH_OK)
        code = rh_message_append(data, mesh.vertices, (size_t)mesh.vertex_count * sizeof *mesh.vertices, status);
    *vertices = mesh.vertex_count;
    rh_mesh_free(&mesh);
    return code;
}

static rh_code write_vertices(const rh_scene *scene, int64_t frame, rh_message *data, rh_message *out,
                              rh_status *status)
{
    const rh_solid_params *solids = scene->solids.items;
    double time = (double)(frame - scene->frames.first) / scene->frames.fps;
    const char *comma = "";
    RH_TRY(rh_message_print(out, status, "{\"frame\":%" PRId64 ",\"solids\":[", frame));
    for (int i = 0; i < scene->solids.count; i++) {
        int64_t vertices;
        rh_status why = {0};
        if (solids[i].shape.kind != RH_SHAPE_MESH_SEQUENCE) continue;
        rh_code code = write_sequence(scene, solids[i].shape.value, time, data, &vertices, &why);
        if (code == RH_MEMORY) return rh_fail(status, code, "%s", why.message);
        if (code != RH_OK) continue;  // it stays as it is; the solids' own message says what is wrong
        RH_TRY(rh_message_print(out, status, "%s{\"index\":%d,\"vertices\":%" PRId64 "}", comma, i, vertices));
        comma = ",";
    }
    RH_TRY(rh_message_append(out, "]}", 2, status));
    RH_TRY(rh_message_describe(out, "RHV1", status));
    return rh_message_append(out, data->bytes, data->count, status);
}

rh_code rh_wire_vertices(const rh_scene *scene, int64_t frame, rh_message *out, rh_status *status)
{
    rh_message data = {0};
    *out = (rh_message){0};
    rh_code code = write_vertices(scene, frame, &data, out, status);
    rh_message_free(&data);
    if (code != RH_OK) rh_message_free(out);
    return code;
}
