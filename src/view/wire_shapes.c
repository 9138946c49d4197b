// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Shapes of a scene as triangles for the page: those of the pictures (solids.h) without their normals, planes as far as
// the scene reaches, and in two dimensions everything pressed into a slab.
#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "io/mesh_file.h"
#include "solid/mesh_sequence.h"
#include "view/solids.h"
#include "view/wire.h"

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

static rh_code make_plane(const rh_plane_params *p, rh_dvec3 center, double reach, bool flat, rh_mesh *mesh,
                          rh_status *status)
{
    rh_dvec3 normal = rh_d3_unit(flat ? rh_d3(p->normal.x, p->normal.y, 0) : p->normal);
    rh_dvec3 middle = rh_d3_sub(center, rh_d3_scale(normal, rh_d3_dot(rh_d3_sub(center, p->point), normal)));
    rh_dvec3 helper = fabs(normal.z) < 0.9 ? rh_d3(0, 0, 1) : rh_d3(1, 0, 0);
    rh_dvec3 side = rh_d3_unit(rh_d3_cross(helper, normal)), other = rh_d3_cross(normal, side);
    RH_TRY(take_room(mesh, 4, 2, status));
    for (int corner = 0; corner < 4; corner++) {
        double u = corner == 1 || corner == 2 ? reach : -reach, v = corner >= 2 ? reach : -reach;
        mesh->vertices[mesh->vertex_count++] = rh_v3_from(
            rh_d3_add(middle, rh_d3_add(rh_d3_scale(side, u), rh_d3_scale(other, v))));
    }
    put_triangle(mesh, 0, 1, 2);
    put_triangle(mesh, 0, 2, 3);
    return RH_OK;
}

static rh_code make_mesh(const rh_mesh_params *p, rh_mesh *mesh, rh_status *status)
{
    RH_TRY(rh_mesh_read(p->file, mesh, status));
    rh_mesh_place(mesh, p);
    return RH_OK;
}

// The page shows a sequence of meshes as it is at its start.
static rh_code make_first(const rh_mesh_sequence_params *p, rh_mesh *mesh, rh_status *status)
{
    char file[4096];
    rh_mesh_params first = p->place;
    if (!rh_mesh_sequence_file(p->files, p->first, file, sizeof file))
        return rh_fail(status, RH_USER, "%s: expected a name with #", p->files);
    first.file = file;
    return make_mesh(&first, mesh, status);
}

static rh_code make_body(int kind, const void *params, rh_mesh *mesh, rh_status *status)
{
    rh_vec3 *normal;
    RH_TRY(rh_shape_triangles(kind, params, mesh, &normal, status));
    rh_free(normal);
    return RH_OK;
}

static rh_code make(const rh_variant *shape, rh_dvec3 center, double reach, bool flat, rh_mesh *out, rh_status *status)
{
    if (shape->kind == RH_SHAPE_PLANE) return make_plane(shape->value, center, reach, flat, out, status);
    if (shape->kind == RH_SHAPE_MESH_SEQUENCE) return make_first(shape->value, out, status);
    if (shape->kind == RH_SHAPE_MESH) return make_mesh(shape->value, out, status);
    if (shape->kind != RH_SHAPE_BOX || !flat) return make_body(shape->kind, shape->value, out, status);
    rh_box_params thick = *(const rh_box_params *)shape->value;  // a flat box may have no depth of its own
    thick.min.z -= 1;
    thick.max.z += 1;
    thick.rounding = 0;
    return make_body(RH_SHAPE_BOX, &thick, out, status);
}

// In two dimensions depth says nothing: what is in front goes to one side of the slab, what is behind to the other.
void rh_wire_flatten(rh_mesh *mesh, double thickness)
{
    rh_dbox b = rh_mesh_bounds(mesh);
    double middle = 0.5 * (b.min.z + b.max.z), slack = 1e-6 * (b.max.z - b.min.z);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        double z = mesh->vertices[i].z - middle;
        mesh->vertices[i].z = (float)(z > slack ? 0.5 * thickness : z < -slack ? -0.5 * thickness : 0);
    }
}

rh_code rh_wire_shape(const rh_variant *shape, rh_dvec3 center, double reach, double thickness, rh_mesh *out,
                      rh_status *status)
{
    memset(out, 0, sizeof *out);
    RH_TRY(make(shape, center, reach, thickness > 0, out, status));
    if (thickness > 0) rh_wire_flatten(out, thickness);
    return RH_OK;
}
