// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Triangle meshes: bounds, placement, welding. What needs edges (holes, orientation) is in mesh_edges.c.
#include "solid/mesh.h"

#include <stdlib.h>
#include "base/memory.h"
#include "solid/mesh_parts.h"
#include "solid/shape.h"

void rh_mesh_free(rh_mesh *mesh)
{
    rh_free(mesh->vertices);
    rh_free(mesh->triangles);
    *mesh = (rh_mesh){0};
}

rh_dbox rh_mesh_bounds(const rh_mesh *mesh)
{
    rh_dbox box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        rh_vec3 v = mesh->vertices[i];
        box.min = rh_d3(fmin(box.min.x, v.x), fmin(box.min.y, v.y), fmin(box.min.z, v.z));
        box.max = rh_d3(fmax(box.max.x, v.x), fmax(box.max.y, v.y), fmax(box.max.z, v.z));
    }
    return box;
}

void rh_mesh_transform(rh_mesh *mesh, double scale, rh_dvec3 rotate, rh_dvec3 translate)
{
    rh_mat3 rotation = rh_rotation(rotate);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        rh_dvec3 v = rh_d3_scale(rh_d3_from(mesh->vertices[i]), scale);
        mesh->vertices[i] = rh_v3_from(rh_d3_add(rh_m3_mul(rotation, v), translate));
    }
}

static bool is_finite(rh_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

bool rh_triangle_has_area(const rh_vec3 corner[3])
{
    rh_dvec3 a = rh_d3_from(corner[0]), ab = rh_d3_sub(rh_d3_from(corner[1]), a),
             ac = rh_d3_sub(rh_d3_from(corner[2]), a);
    rh_dvec3 cross = rh_d3_cross(ab, ac);
    double longest2 = fmax(rh_d3_dot(ab, ab), rh_d3_dot(ac, ac));
    return rh_d3_length(cross) > 1e-12 * longest2;  // relative: a small mesh is not a flat one
}

void rh_mesh_corners(const rh_mesh *mesh, int64_t triangle, rh_vec3 corner[3])
{
    RH_ASSERT(triangle >= 0 && triangle < mesh->triangle_count);
    for (int k = 0; k < 3; k++) corner[k] = mesh->vertices[mesh->triangles[triangle][k]];
}

// Beyond, distances and volumes go out of the range of float.
static const float FAR_AWAY = 1e12f;  // m

static rh_code check_vertex(const rh_mesh *mesh, int64_t i, rh_status *status)
{
    rh_vec3 p = mesh->vertices[i];
    if (!is_finite(p))
        return rh_fail(status, RH_USER, "vertex %lld is not finite: [%g, %g, %g]", (long long)i, (double)p.x,
                       (double)p.y, (double)p.z);
    if (fabsf(p.x) <= FAR_AWAY && fabsf(p.y) <= FAR_AWAY && fabsf(p.z) <= FAR_AWAY) return RH_OK;
    return rh_fail(status, RH_USER, "vertex %lld is at [%g, %g, %g] m, expected within %g m", (long long)i, (double)p.x,
                   (double)p.y, (double)p.z, (double)FAR_AWAY);
}

rh_code rh_mesh_check(const rh_mesh *mesh, rh_status *status)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) RH_TRY(check_vertex(mesh, i, status));
    bool any = false;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        for (int k = 0; k < 3; k++)
            if (mesh->triangles[t][k] >= mesh->vertex_count)
                return rh_fail(status, RH_USER,
                               "triangle %lld uses vertex %u, expected less than the %lld vertices there are",
                               (long long)t, mesh->triangles[t][k], (long long)mesh->vertex_count);
        rh_vec3 corner[3];
        rh_mesh_corners(mesh, t, corner);
        any = any || rh_triangle_has_area(corner);
    }
    if (any) return RH_OK;
    return rh_fail(status, RH_USER, "found %lld triangles, none with an area; expected at least one",
                   (long long)mesh->triangle_count);
}

// --- vertices at the same place --------------------------------------------------------------------------------------

typedef struct place {
    rh_vec3 at;
    uint32_t index;
} place;

static int compare_float(float a, float b) { return (a > b) - (a < b); }

static int compare_places(const rh_vec3 *a, const rh_vec3 *b)
{
    int x = compare_float(a->x, b->x), y = compare_float(a->y, b->y);
    return x ? x : y ? y : compare_float(a->z, b->z);
}

static int by_place_then_index(const void *left, const void *right)
{
    const place *a = left, *b = right;
    int order = compare_places(&a->at, &b->at);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

rh_code rh_mesh_first_at_place(const rh_mesh *mesh, uint32_t **first, rh_status *status)
{
    int64_t count = mesh->vertex_count;
    place *places = rh_alloc((size_t)count * sizeof *places, "mesh.places", status);
    uint32_t *map = rh_alloc((size_t)count * sizeof *map, "mesh.places", status);
    if (!places || !map) {
        rh_free(places);
        rh_free(map);
        return RH_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) places[i] = (place){mesh->vertices[i], (uint32_t)i};
    qsort(places, (size_t)count, sizeof *places, by_place_then_index);
    uint32_t run = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || compare_places(&places[i - 1].at, &places[i].at) != 0) run = places[i].index;
        map[places[i].index] = run;
    }
    rh_free(places);
    *first = map;
    return RH_OK;
}

rh_code rh_mesh_weld(rh_mesh *mesh, rh_status *status)
{
    uint32_t *map;
    RH_TRY(rh_mesh_first_at_place(mesh, &map, status));
    // The first of its place never comes after the others, so one pass can number and compact.
    uint32_t kept = 0;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        if (map[i] == (uint32_t)i) {
            mesh->vertices[kept] = mesh->vertices[i];
            map[i] = kept++;
        } else {
            map[i] = map[map[i]];
        }
    }
    for (int64_t t = 0; t < mesh->triangle_count; t++)
        for (int k = 0; k < 3; k++) mesh->triangles[t][k] = map[mesh->triangles[t][k]];
    mesh->vertex_count = kept;
    rh_free(map);
    return RH_OK;
}
