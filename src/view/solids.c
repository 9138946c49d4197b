// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sphere, cylinder, capsule and torus are bodies of revolution: a profile turned about an axis. A box with rounded
// edges is a sphere pulled apart along its three planes; without rounding its six faces have their own corners, so that
// edges stay sharp.
#include "view/solids.h"

#include <string.h>
#include "base/log.h"
#include "base/memory.h"
#include "io/mesh_file.h"
#include "world/geometry.h"

enum { AROUND = 96, HALF = 48, QUARTER = 24 };
#define PI 3.14159265358979

typedef struct profile_point {
    double radius, height, out, up;
} profile_point;  // and its normal

static rh_code make_room(rh_mesh *mesh, rh_vec3 **normal, int64_t vertices, int64_t triangles, rh_status *status)
{
    mesh->vertices = rh_alloc((size_t)vertices * sizeof *mesh->vertices, "view.solids", status);
    mesh->triangles = rh_alloc((size_t)triangles * sizeof *mesh->triangles, "view.solids", status);
    *normal = rh_alloc((size_t)vertices * sizeof **normal, "view.solids", status);
    return mesh->vertices && mesh->triangles && *normal ? RH_OK : RH_MEMORY;
}

static void add_vertex(rh_mesh *mesh, rh_vec3 *normal, rh_dvec3 p, rh_dvec3 n)
{
    normal[mesh->vertex_count] = rh_v3_from(n);
    mesh->vertices[mesh->vertex_count++] = rh_v3_from(p);
}

static void add_quad(rh_mesh *mesh, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t corners[2][3] = {{a, b, c}, {a, c, d}};
    memcpy(mesh->triangles + mesh->triangle_count, corners, sizeof corners);
    mesh->triangle_count += 2;
}

static void axes_around(rh_dvec3 axis, rh_dvec3 *u, rh_dvec3 *v)
{
    *u = rh_d3_unit(rh_d3_cross(axis, fabs(axis.y) < 0.9 ? rh_d3(0, 1, 0) : rh_d3(1, 0, 0)));
    *v = rh_d3_cross(axis, *u);
}

// The profile runs from the lower to the upper end of the axis, outside to its right.
static rh_code revolve(rh_dvec3 origin, rh_dvec3 axis, const profile_point *profile, int count, rh_mesh *mesh,
                       rh_vec3 **normal, rh_status *status)
{
    rh_dvec3 u, v;
    axes_around(axis, &u, &v);
    RH_TRY(make_room(mesh, normal, (int64_t)count * AROUND, (int64_t)2 * (count - 1) * AROUND, status));
    for (int i = 0; i < count; i++)
        for (int k = 0; k < AROUND; k++) {
            double angle = 2 * PI * k / AROUND;
            rh_dvec3 across = rh_d3_add(rh_d3_scale(u, cos(angle)), rh_d3_scale(v, sin(angle)));
            rh_dvec3 p = rh_d3_add(
                origin, rh_d3_add(rh_d3_scale(across, profile[i].radius), rh_d3_scale(axis, profile[i].height)));
            add_vertex(mesh, *normal, p,
                       rh_d3_add(rh_d3_scale(across, profile[i].out), rh_d3_scale(axis, profile[i].up)));
        }
    for (uint32_t i = 0; i + 1 < (uint32_t)count; i++)
        for (uint32_t k = 0; k < AROUND; k++) {
            uint32_t next = (k + 1) % AROUND;
            add_quad(mesh, i * AROUND + k, i * AROUND + next, (i + 1) * AROUND + next, (i + 1) * AROUND + k);
        }
    return RH_OK;
}

static profile_point on_arc(double radius, double height, double angle)  // angle from the equator upwards
{
    double c = cos(angle), s = sin(angle);
    if (fabs(c) < 1e-12) c = 0;  // a pole is one point, and an arc that comes round meets its beginning
    if (fabs(s) < 1e-12) s = 0;
    return (profile_point){radius * c, height + radius * s, c, s};
}

// A sphere, or a capsule when `length` is not zero: the upper half begins that much higher.
static rh_code capsule(rh_dvec3 from, rh_dvec3 axis, double length, double radius, rh_mesh *mesh, rh_vec3 **normal,
                       rh_status *status)
{
    profile_point profile[2 * QUARTER + 2];
    for (int i = 0; i <= QUARTER; i++) {
        profile[i] = on_arc(radius, 0, -PI / 2 + PI / 2 * i / QUARTER);
        profile[QUARTER + 1 + i] = on_arc(radius, length, PI / 2 * i / QUARTER);
    }
    return revolve(from, axis, profile, 2 * QUARTER + 2, mesh, normal, status);
}

static rh_code cylinder(rh_dvec3 from, rh_dvec3 axis, double length, double radius, rh_mesh *mesh, rh_vec3 **normal,
                        rh_status *status)
{
    const profile_point profile[] = {{0, 0, 0, -1},          {radius, 0, 0, -1},     {radius, 0, 1, 0},
                                     {radius, length, 1, 0}, {radius, length, 0, 1}, {0, length, 0, 1}};
    return revolve(from, axis, profile, 6, mesh, normal, status);
}

static rh_code torus(const rh_torus_params *t, rh_mesh *mesh, rh_vec3 **normal, rh_status *status)
{
    profile_point profile[HALF + 1];
    for (int i = 0; i <= HALF; i++) {
        profile[i] = on_arc(t->minor, 0, -PI + 2 * PI * i / HALF);
        profile[i].radius += t->major;
    }
    return revolve(t->center, rh_d3_unit(t->axis), profile, HALF + 1, mesh, normal, status);
}

static rh_code sharp_box(const rh_box_params *b, rh_mesh *mesh, rh_vec3 **normal, rh_status *status)
{
    RH_TRY(make_room(mesh, normal, 24, 12, status));
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++) {
            uint32_t first = (uint32_t)mesh->vertex_count;
            for (int k = 0; k < 4; k++) {  // around the face, counter-clockwise from outside
                int p = k == 1 || k == 2, q = k >= 2, swap = side == 0;
                rh_dvec3 at = b->min, n = {0};
                (&at.x)[axis] = side ? (&b->max.x)[axis] : (&b->min.x)[axis];
                (&at.x)[(axis + 1) % 3] = (swap ? q : p) ? (&b->max.x)[(axis + 1) % 3] : (&b->min.x)[(axis + 1) % 3];
                (&at.x)[(axis + 2) % 3] = (swap ? p : q) ? (&b->max.x)[(axis + 2) % 3] : (&b->min.x)[(axis + 2) % 3];
                (&n.x)[axis] = side ? 1 : -1;
                add_vertex(mesh, *normal, at, n);
            }
            add_quad(mesh, first, first + 1, first + 2, first + 3);
        }
    return RH_OK;
}

// Rows of a sphere from the lower to the upper pole, four arcs a row; arcs and half spheres are moved apart, and the
// seams between them become the faces.
static rh_code rounded_box(const rh_box_params *b, rh_mesh *mesh, rh_vec3 **normal, rh_status *status)
{
    enum { ARC = 8, RING = 4 * (ARC + 1), ROWS = 2 * (ARC + 1) };
    double r = b->rounding;
    RH_TRY(make_room(mesh, normal, ROWS * RING, 2 * (ROWS - 1) * RING + 4, status));
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < RING; k++) {
            int upper = i > ARC, quarter = k / (ARC + 1);
            double up = PI / 2 * (upper ? i - ARC - 1 : i - ARC) / ARC,
                   around = PI / 2 * (quarter + (double)(k % (ARC + 1)) / ARC);
            rh_dvec3 n = rh_d3(cos(up) * cos(around), sin(up), -cos(up) * sin(around));
            rh_dvec3 core = rh_d3(quarter == 0 || quarter == 3 ? b->max.x - r : b->min.x + r,
                                  upper ? b->max.y - r : b->min.y + r, quarter < 2 ? b->min.z + r : b->max.z - r);
            add_vertex(mesh, *normal, rh_d3_add(core, rh_d3_scale(n, r)), n);
        }
    for (uint32_t i = 0; i + 1 < ROWS; i++)
        for (uint32_t k = 0; k < RING; k++) {
            uint32_t next = (k + 1) % RING;
            add_quad(mesh, i * RING + k, i * RING + next, (i + 1) * RING + next, (i + 1) * RING + k);
        }
    uint32_t top = (ROWS - 1) * RING, step = ARC + 1;
    add_quad(mesh, 0, 3 * step, 2 * step, step);
    add_quad(mesh, top, top + step, top + 2 * step, top + 3 * step);
    return RH_OK;
}

static rh_code box(const rh_box_params *b, rh_mesh *mesh, rh_vec3 **normal, rh_status *status)
{
    rh_box_params limited = *b;
    rh_dvec3 side = rh_d3_sub(b->max, b->min);
    limited.rounding = fmin(b->rounding, 0.5 * fmin(side.x, fmin(side.y, side.z)));
    return limited.rounding > 0 ? rounded_box(&limited, mesh, normal, status) : sharp_box(b, mesh, normal, status);
}

rh_code rh_shape_triangles(int kind, const void *params, rh_mesh *mesh, rh_vec3 **normal, rh_status *status)
{
    *mesh = (rh_mesh){0};
    *normal = NULL;
    rh_code code = RH_OK;
    if (kind == RH_SHAPE_SPHERE) {
        const rh_sphere_params *s = params;
        code = capsule(s->center, rh_d3(0, 1, 0), 0, s->radius, mesh, normal, status);
    } else if (kind == RH_SHAPE_BOX) {
        code = box(params, mesh, normal, status);
    } else if (kind == RH_SHAPE_CYLINDER || kind == RH_SHAPE_CAPSULE) {
        const rh_cylinder_params *c = params;  // a capsule has the same fields
        rh_dvec3 along = rh_d3_sub(c->to, c->from);
        double length = rh_d3_length(along);
        rh_dvec3 axis = length > 0 ? rh_d3_unit(along) : rh_d3(0, 1, 0);
        code = (kind == RH_SHAPE_CYLINDER ? cylinder : capsule)(c->from, axis, length, c->radius, mesh, normal, status);
    } else if (kind == RH_SHAPE_TORUS) {
        code = torus(params, mesh, normal, status);
    }
    if (code == RH_OK) return RH_OK;
    rh_mesh_free(mesh);
    rh_free(*normal);
    *normal = NULL;
    return code;
}

// --- a scene's solids ------------------------------------------------------------------------------------------------

static void grow(rh_dbox *box, rh_dvec3 p)
{
    box->min = rh_d3(fmin(box->min.x, p.x), fmin(box->min.y, p.y), fmin(box->min.z, p.z));
    box->max = rh_d3(fmax(box->max.x, p.x), fmax(box->max.y, p.y), fmax(box->max.z, p.z));
}

// Flat faces: smooth normals of a coarse mesh would round off its edges.
static rh_code read_mesh(const rh_scene *scene, const rh_mesh_params *p, rh_mesh *mesh, rh_status *status)
{
    rh_status why = {0};
    rh_code code = rh_mesh_read(p->file, mesh, &why);
    if (code == RH_MEMORY) return rh_fail(status, code, "%s", why.message);
    if (code == RH_OK) rh_mesh_place(mesh, p);
    else rh_log(RH_LOG_WARNING, "%s: not drawn: %s", rh_scene_place(scene, p->file), why.message);
    return RH_OK;
}

// The first mesh of a sequence, for its triangles and bounds; nothing when it cannot be read.
static rh_code open_sequence(const rh_scene *scene, const rh_mesh_sequence_params *p, rh_solid_view *item,
                             rh_status *status)
{
    char file[4096];
    rh_status why = {0};
    rh_code code = rh_geometry_open_sequence(scene, p, false, &item->sequence, &why);
    if (code == RH_OK && rh_mesh_sequence_file(p->files, p->first, file, sizeof file)) {
        rh_mesh_params first = p->place;
        first.file = file;
        return read_mesh(scene, &first, &item->mesh, status);
    }
    if (code == RH_MEMORY) return rh_fail(status, code, "%s", why.message);
    rh_log(RH_LOG_WARNING, "%s: not drawn", why.message);
    return RH_OK;
}

static rh_code plane(const rh_plane_params *p, double extent, rh_mesh *mesh, rh_vec3 **normal, rh_status *status)
{
    rh_dvec3 n = rh_d3_unit(p->normal), u, v;
    axes_around(n, &u, &v);
    RH_TRY(make_room(mesh, normal, 4, 2, status));
    for (int k = 0; k < 4; k++) {
        double s = k == 1 || k == 2 ? extent : -extent, t = k >= 2 ? extent : -extent;
        add_vertex(mesh, *normal, rh_d3_add(p->point, rh_d3_add(rh_d3_scale(u, s), rh_d3_scale(v, t))), n);
    }
    add_quad(mesh, 0, 1, 2, 3);
    return RH_OK;
}

static rh_code take_solid(const rh_scene *scene, int index, double extent, rh_solids_view *out, rh_status *status)
{
    const rh_solid_params *solid = (const rh_solid_params *)scene->solids.items + index;
    rh_solid_view item = {.motion = &solid->motion, .solid = index, .dynamic = solid->dynamic != NULL};
    bool resting = rh_motion_is_still(&solid->motion);
    rh_code code = RH_OK;
    if (solid->shape.kind == RH_SHAPE_PLANE) {
        const rh_plane_params *p = solid->shape.value;
        if (resting && rh_d3_unit(p->normal).y > 0.9999) {  // the ground does it better
            out->floor = fmax(out->floor, rh_motion_pose(&solid->motion, 0).translation.y + p->point.y);
            return RH_OK;
        }
        if (!solid->inside_out) code = plane(p, 2 * extent, &item.mesh, &item.normal, status);
    } else if (solid->shape.kind == RH_SHAPE_MESH_SEQUENCE) {
        code = open_sequence(scene, solid->shape.value, &item, status);
    } else if (solid->shape.kind == RH_SHAPE_MESH) {
        code = read_mesh(scene, solid->shape.value, &item.mesh, status);
    } else {
        code = rh_shape_triangles(solid->shape.kind, solid->shape.value, &item.mesh, &item.normal, status);
    }
    rh_pose pose = rh_motion_pose(&solid->motion, 0);
    for (int64_t i = 0; code == RH_OK && solid->shape.kind != RH_SHAPE_PLANE && i < item.mesh.vertex_count; i++)
        grow(solid->inside_out ? &out->container : &out->bounds,
             rh_pose_to_world(&pose, rh_d3_from(item.mesh.vertices[i])));
    if (code == RH_OK && !solid->inside_out) {
        out->items[out->count++] = item;
        return RH_OK;
    }
    rh_mesh_free(&item.mesh);
    rh_mesh_sequence_free(item.sequence);
    rh_free(item.normal);
    return code;
}

rh_code rh_solids_view_create(const rh_scene *scene, double extent, rh_solids_view *out, rh_status *status)
{
    const rh_dbox none = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    *out = (rh_solids_view){.bounds = none, .container = none, .floor = -INFINITY};
    out->items = rh_alloc_zero((size_t)(scene->solids.count + 1) * sizeof *out->items, "view.solids", status);
    if (!out->items) return RH_MEMORY;
    rh_code code = RH_OK;
    for (int i = 0; code == RH_OK && i < scene->solids.count; i++) code = take_solid(scene, i, extent, out, status);
    if (code != RH_OK) rh_solids_view_free(out);
    return code;
}

void rh_solids_view_free(rh_solids_view *solids)
{
    for (int i = 0; i < solids->count; i++) {
        rh_mesh_free(&solids->items[i].mesh);
        rh_mesh_sequence_free(solids->items[i].sequence);
        rh_free(solids->items[i].normal);
    }
    rh_free(solids->items);
    rh_free(solids->frames);
    *solids = (rh_solids_view){0};
}

rh_code rh_solids_view_open(rh_solids_view *solids, const char *folder, rh_status *status)
{
    bool any = false;
    for (int i = 0; i < solids->count; i++) any = any || solids->items[i].dynamic;
    return any ? rh_solid_file_read(folder, &solids->frames, &solids->frame_count, status) : RH_OK;
}

// Of the frame nearest in time; NULL: none is known.
static const rh_solid_frame *frame_of(const rh_solids_view *solids, int solid, double time)
{
    const rh_solid_frame *best = NULL;
    for (int64_t i = 0; i < solids->frame_count; i++) {
        const rh_solid_frame *f = &solids->frames[i];
        if (f->solid == solid && (!best || fabs(f->time - time) < fabs(best->time - time))) best = f;
    }
    return best;
}

// Moves a copy of the vertices to where they are at `time`; the second and third part of `room` get normals and
// velocities.
static rh_code add_placed(const rh_solids_view *all, const rh_solid_view *solid, double time, rh_appearance appearance,
                          rh_trace *trace, rh_vec3 *room, rh_status *status)
{
    rh_pose pose;
    rh_dvec3 linear, angular;
    rh_motion_place(solid->motion, time, false, &pose, &linear, &angular);
    const rh_solid_frame *frame = solid->dynamic ? frame_of(all, solid->solid, time) : NULL;
    if (frame) {
        pose = rh_solid_frame_pose(frame);
        linear = frame->linear;
        angular = frame->angular;
    }
    int64_t count = solid->mesh.vertex_count;
    rh_vec3 *position = room, *normal = room + count, *velocity = room + 2 * count;
    rh_dvec3 center = frame ? frame->center : rh_d3_add(pose.pivot, pose.translation);
    bool moves = frame || solid->sequence || !rh_motion_is_still(solid->motion);
    if (solid->sequence) {
        RH_TRY(rh_mesh_sequence_place(solid->sequence, time, solid->mesh.vertices, status));
        RH_TRY(rh_mesh_sequence_velocities(solid->sequence, time, 0, normal, status));  // there are no normals
    }
    for (int64_t i = 0; i < count; i++) {
        rh_dvec3 p = rh_pose_to_world(&pose, rh_d3_from(solid->mesh.vertices[i]));
        position[i] = rh_v3_from(p);
        velocity[i] = rh_v3_from(rh_d3_add(linear, rh_d3_cross(angular, rh_d3_sub(p, center))));
        if (solid->sequence)
            velocity[i] = rh_v3_add(velocity[i], rh_v3_from(rh_pose_turn(&pose, rh_d3_from(normal[i]))));
        if (solid->normal) normal[i] = rh_v3_from(rh_pose_turn(&pose, rh_d3_from(solid->normal[i])));
    }
    rh_trace_mesh mesh = {.position = position,
                          .normal = solid->normal ? normal : NULL,
                          .vertex_count = count,
                          .appearance = appearance,
                          .velocity = moves ? velocity : NULL,
                          .triangle = (const uint32_t(*)[3])solid->mesh.triangles,
                          .triangle_count = solid->mesh.triangle_count};
    return rh_trace_add_mesh(trace, &mesh, status);
}

rh_code rh_solids_view_add(const rh_solids_view *solids, double time, rh_appearance appearance, rh_trace *trace,
                           rh_status *status)
{
    rh_code code = RH_OK;
    for (int i = 0; code == RH_OK && i < solids->count; i++) {
        rh_vec3 *room = rh_alloc(3 * (size_t)solids->items[i].mesh.vertex_count * sizeof *room, "view.solids", status);
        if (!room) return RH_MEMORY;
        code = add_placed(solids, &solids->items[i], time, appearance, trace, room, status);
        rh_free(room);
    }
    return code;
}
