// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Shapes of a scene as triangles. Sphere, cylinder, capsule and torus are a profile turned about an axis; where a profile has an edge its
// point stands there twice, so that normals taken from the triangles keep the edge.
#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "io/mesh_file.h"
#include "view/wire.h"

#define PI 3.14159265358979323846
enum { TURNS = 64, ARC = 16, MOST_PROFILE = 4 * ARC + 8 };

typedef struct profile {
    double radius[MOST_PROFILE], height[MOST_PROFILE];  // distance from the axis, and along it
    int count;
} profile;

static rh_code take_room(rh_mesh *mesh, int64_t vertices, int64_t triangles, rh_status *status)
{
    mesh->vertices = rh_alloc((size_t)vertices * sizeof *mesh->vertices, "view.shape", status);
    mesh->triangles = rh_alloc((size_t)triangles * sizeof *mesh->triangles, "view.shape", status);
    if (mesh->vertices && mesh->triangles) return RH_OK;
    rh_mesh_free(mesh);
    return RH_MEMORY;
}

static void put_triangle(rh_mesh *mesh, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *t = mesh->triangles[mesh->triangle_count++];
    t[0] = a, t[1] = b, t[2] = c;
}

// Columns are closed: vertex (row, TURNS) is vertex (row, 0) again.
static void join_rows(rh_mesh *mesh, int rows)
{
    for (int r = 0; r + 1 < rows; r++)
        for (int t = 0; t < TURNS; t++) {
            uint32_t a = (uint32_t)(r * TURNS + t), b = (uint32_t)(r * TURNS + (t + 1) % TURNS), c = b + TURNS, d = a + TURNS;
            put_triangle(mesh, a, c, b);
            put_triangle(mesh, a, d, c);
        }
}

static void add(profile *p, double radius, double height)
{
    p->radius[p->count] = radius;
    p->height[p->count] = height;
    p->count++;
}

// An arc of the profile: angles in degrees from the direction of the axis' start.
static void add_arc(profile *p, double radius, double from, double to, double offset, double height, int steps)
{
    for (int i = 0; i <= steps; i++) {
        double angle = (from + (to - from) * i / steps) * PI / 180;
        add(p, offset + radius * sin(angle), height - radius * cos(angle));
    }
}

static rh_code turn(const profile *p, rh_dvec3 origin, rh_dvec3 axis, rh_mesh *mesh, rh_status *status)
{
    axis = rh_d3_unit(axis);
    rh_dvec3 helper = fabs(axis.y) < 0.9 ? rh_d3(0, 1, 0) : rh_d3(1, 0, 0);
    rh_dvec3 side = rh_d3_unit(rh_d3_cross(helper, axis)), other = rh_d3_cross(axis, side);
    RH_TRY(take_room(mesh, (int64_t)p->count * TURNS, 2 * (int64_t)(p->count - 1) * TURNS, status));
    for (int r = 0; r < p->count; r++)
        for (int t = 0; t < TURNS; t++) {
            // Backwards, so that the triangles of a profile that runs along the axis look outwards.
            double angle = -2 * PI * t / TURNS;
            rh_dvec3 out = rh_d3_add(rh_d3_scale(side, cos(angle)), rh_d3_scale(other, sin(angle)));
            rh_dvec3 at = rh_d3_add(origin, rh_d3_add(rh_d3_scale(axis, p->height[r]), rh_d3_scale(out, p->radius[r])));
            mesh->vertices[mesh->vertex_count++] = rh_v3_from(at);
        }
    join_rows(mesh, p->count);
    return RH_OK;
}

static rh_code make_rod(rh_dvec3 from, rh_dvec3 to, double radius, bool round, rh_mesh *mesh, rh_status *status)
{
    rh_dvec3 axis = rh_d3_sub(to, from);
    double length = rh_d3_length(axis);
    profile p = {.count = 0};
    if (round) {
        add_arc(&p, radius, 0, 90, 0, 0, ARC);
        add_arc(&p, radius, 90, 180, 0, length, ARC);
    } else {
        add(&p, 0, 0), add(&p, radius, 0), add(&p, radius, 0);
        add(&p, radius, length), add(&p, radius, length), add(&p, 0, length);
    }
    return turn(&p, from, length > 0 ? axis : rh_d3(0, 1, 0), mesh, status);
}

static rh_code make_sharp_box(rh_dvec3 min, rh_dvec3 max, rh_mesh *mesh, rh_status *status)
{
    RH_TRY(take_room(mesh, 24, 12, status));
    for (int face = 0; face < 6; face++) {
        int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
        bool high = face % 2;
        for (int corner = 0; corner < 4; corner++) {
            rh_dvec3 at;
            (&at.x)[axis] = high ? (&max.x)[axis] : (&min.x)[axis];
            (&at.x)[u] = corner == 1 || corner == 2 ? (&max.x)[u] : (&min.x)[u];
            (&at.x)[v] = corner >= 2 ? (&max.x)[v] : (&min.x)[v];
            mesh->vertices[mesh->vertex_count++] = rh_v3_from(at);
        }
        uint32_t first = (uint32_t)face * 4;
        put_triangle(mesh, first, first + (high ? 1 : 2), first + (high ? 2 : 1));
        put_triangle(mesh, first, first + (high ? 2 : 3), first + (high ? 3 : 2));
    }
    return RH_OK;
}

// A ball whose eight parts are drawn apart to the corners: the strips that open between them are the faces and the edges. The axes of the
// ball's grid fall between two columns and two rows, so every vertex belongs to one corner.
static rh_code make_round_box(const rh_box_params *b, rh_mesh *mesh, rh_status *status)
{
    rh_dvec3 center = rh_d3_scale(rh_d3_add(b->min, b->max), 0.5), half = rh_d3_scale(rh_d3_sub(b->max, b->min), 0.5);
    enum { ROWS = 2 * ARC };
    RH_TRY(take_room(mesh, (ROWS + 2) * TURNS, 2 * (ROWS + 1) * TURNS, status));
    for (int r = -1; r <= ROWS; r++)
        for (int t = 0; t < TURNS; t++) {
            double polar = r < 0 ? 0 : r == ROWS ? PI : PI * (r + 0.5) / ROWS, angle = 2 * PI * (t + 0.5) / TURNS;
            rh_dvec3 d = rh_d3(sin(polar) * cos(angle), -cos(polar), sin(polar) * sin(angle)), at;
            // The poles lie over the inner box's faces, not at its corners.
            rh_dvec3 sign = rh_d3(copysign(1, cos(angle)), d.y < 0 ? -1 : 1, copysign(1, sin(angle)));
            if (r < 0 || r == ROWS) sign.x = sign.z = 0;
            for (int a = 0; a < 3; a++)
                (&at.x)[a] = (&center.x)[a] + (&sign.x)[a] * ((&half.x)[a] - b->rounding) + (&d.x)[a] * b->rounding;
            mesh->vertices[mesh->vertex_count++] = rh_v3_from(at);
        }
    join_rows(mesh, ROWS + 2);
    return RH_OK;
}

static rh_code make_plane(const rh_plane_params *p, rh_dvec3 center, double reach, bool flat, rh_mesh *mesh, rh_status *status)
{
    rh_dvec3 normal = rh_d3_unit(flat ? rh_d3(p->normal.x, p->normal.y, 0) : p->normal);
    rh_dvec3 middle = rh_d3_sub(center, rh_d3_scale(normal, rh_d3_dot(rh_d3_sub(center, p->point), normal)));
    rh_dvec3 helper = fabs(normal.z) < 0.9 ? rh_d3(0, 0, 1) : rh_d3(1, 0, 0);
    rh_dvec3 side = rh_d3_unit(rh_d3_cross(helper, normal)), other = rh_d3_cross(normal, side);
    RH_TRY(take_room(mesh, 4, 2, status));
    for (int corner = 0; corner < 4; corner++) {
        double u = corner == 1 || corner == 2 ? reach : -reach, v = corner >= 2 ? reach : -reach;
        mesh->vertices[mesh->vertex_count++] = rh_v3_from(rh_d3_add(middle, rh_d3_add(rh_d3_scale(side, u), rh_d3_scale(other, v))));
    }
    put_triangle(mesh, 0, 1, 2);
    put_triangle(mesh, 0, 2, 3);
    return RH_OK;
}

static rh_code make_mesh(const rh_mesh_params *p, rh_mesh *mesh, rh_status *status)
{
    RH_TRY(rh_mesh_read(p->file, mesh, status));
    rh_mesh_transform(mesh, p->scale, p->rotate, p->translate);
    return RH_OK;
}

static rh_code make(const rh_variant *shape, rh_dvec3 center, double reach, bool flat, rh_mesh *out, rh_status *status)
{
    profile p = {.count = 0};
    switch ((rh_shape_kind)shape->kind) {
    case RH_SHAPE_SPHERE: {
        const rh_sphere_params *s = shape->value;
        add_arc(&p, s->radius, 0, 180, 0, 0, 2 * ARC);
        return turn(&p, s->center, rh_d3(0, 1, 0), out, status);
    }
    case RH_SHAPE_BOX: {
        const rh_box_params *b = shape->value;
        if (b->rounding > 0 && !flat) return make_round_box(b, out, status);
        rh_dvec3 depth = rh_d3(0, 0, flat ? 1 : 0);  // a flat box may have none of its own
        return make_sharp_box(rh_d3_sub(b->min, depth), rh_d3_add(b->max, depth), out, status);
    }
    case RH_SHAPE_PLANE: return make_plane(shape->value, center, reach, flat, out, status);
    case RH_SHAPE_CYLINDER: {
        const rh_cylinder_params *c = shape->value;
        return make_rod(c->from, c->to, c->radius, false, out, status);
    }
    case RH_SHAPE_CAPSULE: {
        const rh_capsule_params *c = shape->value;
        return make_rod(c->from, c->to, c->radius, true, out, status);
    }
    case RH_SHAPE_TORUS: {
        const rh_torus_params *t = shape->value;
        add_arc(&p, t->minor, 0, 360, t->major, 0, 4 * ARC);
        return turn(&p, t->center, t->axis, out, status);
    }
    case RH_SHAPE_MESH: return make_mesh(shape->value, out, status);
    }
    return rh_fail(status, RH_USER, "a shape of an unknown kind");
}

// In two dimensions depth says nothing: what is in front goes to one side of the slab, what is behind to the other.
static void press(rh_mesh *mesh, double thickness)
{
    rh_dbox b = rh_mesh_bounds(mesh);
    double middle = 0.5 * (b.min.z + b.max.z), slack = 1e-6 * (b.max.z - b.min.z);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        double z = mesh->vertices[i].z - middle;
        mesh->vertices[i].z = (float)(z > slack ? 0.5 * thickness : z < -slack ? -0.5 * thickness : 0);
    }
}

rh_code rh_wire_shape(const rh_variant *shape, rh_dvec3 center, double reach, double thickness, rh_mesh *out, rh_status *status)
{
    memset(out, 0, sizeof *out);
    RH_TRY(make(shape, center, reach, thickness > 0, out, status));
    if (thickness > 0) press(out, thickness);
    return RH_OK;
}
