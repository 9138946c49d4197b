// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Triangle meshes from PLY: ascii and binary of both byte orders, any elements and properties in any order. Used are x,
// y, z of element "vertex" and the list vertex_indices (or vertex_index) of element "face"; the rest is passed over.
// Order of work: header -> roles of the properties -> elements one by one as they come -> indices against the vertices.
// Counts of the header are compared with the size of the file before anything is read by them.
#include <string.h>
#include "base/memory.h"
#include "io/file.h"
#include "io/mesh_build.h"
#include "io/ply.h"
#include "io/ply_parts.h"

// Of a vertex: position, normal, velocity; three numbers each.
enum { VECTORS = 3, NUMBERS = 3 * VECTORS };
// Roles of properties.
typedef enum role { PASS_OVER, FIRST_NUMBER, LAST_NUMBER = FIRST_NUMBER + NUMBERS - 1, CORNERS } role;

typedef struct reader {
    rh_ply ply;
    rh_mesh_build build;
    bool surface;      // normals and velocities are wanted too
    rh_vec3 *more[2];  // those, per vertex (owned)
    int64_t more_capacity;
    int64_t highest;  // vertex index used so far, and where; checked at the end, when all vertices are known
    char highest_place[RH_PLY_PLACE];
} reader;

// --- roles -----------------------------------------------------------------------------------------------------------

static rh_code cast_coordinate(rh_ply *r, const rh_ply_element *vertex, const char *name, role part, rh_status *status)
{
    rh_ply_property *p = rh_ply_find_property(r, vertex, name);
    if (!p)
        return rh_fail(status, RH_USER, "%s:%lld:%lld: found element vertex without property '%s', expected x, y and z",
                       r->text.name, (long long)vertex->name.line, (long long)vertex->name.column, name);
    if (p->list)
        return rh_text_reader_expected(&r->text, p->name, "a single number for a coordinate, not a list", status);
    p->role = part;
    return RH_OK;
}

static bool has_vector(rh_ply *r, const rh_ply_element *vertex, const char *const names[3])
{
    return rh_ply_find_property(r, vertex, names[0]) && rh_ply_find_property(r, vertex, names[1]) &&
           rh_ply_find_property(r, vertex, names[2]);
}

static rh_code cast_roles(rh_ply *r, bool surface, rh_status *status)
{
    const rh_ply_element *vertex = rh_ply_find_element(r, "vertex"), *face = rh_ply_find_element(r, "face");
    if (!vertex || !face)
        return rh_fail(status, RH_USER, "%s:%lld: found no element '%s' in the header, expected 'vertex' and 'face'",
                       r->text.name, (long long)r->text.line, vertex ? "face" : "vertex");
    static const char *const names[VECTORS][3] = {{"x", "y", "z"}, {"nx", "ny", "nz"}, {"vx", "vy", "vz"}};
    for (int i = 0; i < (surface ? VECTORS : 1); i++)
        for (int k = 0; k < 3; k++)
            if (i == 0 || has_vector(r, vertex, names[i]))
                RH_TRY(cast_coordinate(r, vertex, names[i][k], FIRST_NUMBER + 3 * i + k, status));
    rh_ply_property *corners = rh_ply_find_property(r, face, "vertex_indices");
    if (!corners) corners = rh_ply_find_property(r, face, "vertex_index");
    if (!corners)
        return rh_fail(
            status, RH_USER,
            "%s:%lld:%lld: found element face without its corners, expected a list vertex_indices or vertex_index",
            r->text.name, (long long)face->name.line, (long long)face->name.column);
    if (!corners->list || corners->type >= RH_PLY_FLOAT32)
        return rh_text_reader_expected(&r->text, corners->name, "a list of whole numbers for the corners of a face",
                                       status);
    corners->role = CORNERS;
    return RH_OK;
}

// --- records ---------------------------------------------------------------------------------------------------------

static rh_code take_coordinate(rh_ply *r, const rh_ply_property *p, float *out, rh_status *status)
{
    char place[RH_PLY_PLACE];
    double value = 0;
    RH_TRY(rh_ply_take(r, p->type, "a finite coordinate", &value, place, status));
    *out = (float)value;
    if (isfinite(*out)) return RH_OK;
    return rh_fail(status, RH_USER, "%s%s: found the coordinate %g, expected a finite number", r->text.name, place,
                   value);
}

static rh_code take_corner(reader *m, const rh_ply_property *p, uint32_t *corner, rh_status *status)
{
    char place[RH_PLY_PLACE];
    double value = 0;
    RH_TRY(rh_ply_take(&m->ply, p->type, "the index of a vertex", &value, place, status));
    if (value < 0 || value >= UINT32_MAX)
        return rh_fail(status, RH_USER, "%s%s: found vertex index %g, expected 0 or more", m->ply.text.name, place,
                       value);
    *corner = (uint32_t)value;
    if (*corner >= m->highest) {
        m->highest = (int64_t)*corner + 1;
        memcpy(m->highest_place, place, sizeof place);
    }
    return RH_OK;
}

static rh_code take_face(reader *m, const rh_ply_property *p, rh_status *status)
{
    char place[RH_PLY_PLACE];
    int64_t length = 0;
    RH_TRY(rh_ply_take_length(&m->ply, p, &length, place, status));
    if (length < 3)
        return rh_fail(status, RH_USER, "%s%s: found a face with %lld corners, expected at least 3", m->ply.text.name,
                       place, (long long)length);
    uint32_t first, previous, corner;
    RH_TRY(take_corner(m, p, &first, status));
    RH_TRY(take_corner(m, p, &previous, status));
    for (int64_t i = 2; i < length; i++, previous = corner) {
        RH_TRY(take_corner(m, p, &corner, status));
        RH_TRY(rh_mesh_build_triangle(&m->build, first, previous, corner, status));
    }
    return RH_OK;
}

static rh_code take_property(reader *m, const rh_ply_property *p, float at[NUMBERS], rh_status *status)
{
    if (p->role == CORNERS) return take_face(m, p, status);
    if (p->role != PASS_OVER) return take_coordinate(&m->ply, p, &at[p->role - FIRST_NUMBER], status);
    return rh_ply_skip(&m->ply, p, status);
}

static rh_code keep_vertex(reader *m, const float at[NUMBERS], rh_status *status)
{
    int64_t index = m->build.mesh.vertex_count;
    RH_TRY(rh_mesh_build_vertex(&m->build, rh_v3(at[0], at[1], at[2]), status));
    if (!m->surface) return RH_OK;
    bool full = index >= m->more_capacity;
    for (int i = 0; i < 2; i++) {
        if (full) {  // as much as the positions have
            void *grown = rh_realloc(m->more[i], (size_t)m->build.vertex_capacity * sizeof *m->more[i], "mesh.ply",
                                     status);
            if (!grown) return RH_MEMORY;
            m->more[i] = grown;
        }
        m->more[i][index] = rh_v3(at[3 * i + 3], at[3 * i + 4], at[3 * i + 5]);
    }
    m->more_capacity = m->build.vertex_capacity;
    return RH_OK;
}

static rh_code read_records(reader *m, const rh_ply_element *e, rh_status *status)
{
    if (e->properties == 0) return RH_OK;
    bool vertex = rh_word_is(e->name, "vertex");
    RH_TRY(rh_ply_check_count(&m->ply, e, status));
    for (int64_t i = 0; i < e->count; i++) {
        float at[NUMBERS] = {0};
        RH_TRY(rh_ply_begin_record(&m->ply, e, status));
        for (int k = e->first; k < e->first + e->properties; k++)
            RH_TRY(take_property(m, &m->ply.properties[k], at, status));
        RH_TRY(rh_ply_end_record(&m->ply, status));
        if (vertex) RH_TRY(keep_vertex(m, at, status));
    }
    return RH_OK;
}

static rh_code read_all(reader *m, rh_status *status)
{
    RH_TRY(rh_ply_read_header(&m->ply, status));
    RH_TRY(cast_roles(&m->ply, m->surface, status));
    for (int i = 0; i < m->ply.element_count; i++) RH_TRY(read_records(m, &m->ply.elements[i], status));
    if (m->highest <= m->build.mesh.vertex_count) return RH_OK;
    return rh_fail(status, RH_USER, "%s%s: found vertex index %lld, expected less than %lld, the number of vertices",
                   m->ply.text.name, m->highest_place, (long long)m->highest - 1,
                   (long long)m->build.mesh.vertex_count);
}

rh_code rh_ply_parse_mesh(const char *name, const char *data, size_t bytes, rh_mesh *mesh, rh_status *status)
{
    reader m = {.ply = rh_ply_open(name, data, bytes)};
    rh_code code = read_all(&m, status);
    rh_ply_close(&m.ply);
    return rh_mesh_build_finish(&m.build, code, name, mesh, status);
}

rh_code rh_ply_read_mesh(const char *path, rh_mesh *mesh, rh_status *status)
{
    return rh_mesh_read_with(rh_ply_parse_mesh, path, mesh, status);
}

void rh_ply_surface_free(rh_ply_surface *surface)
{
    rh_mesh_free(&surface->mesh);
    rh_free(surface->normal);
    rh_free(surface->velocity);
    *surface = (rh_ply_surface){0};
}

static bool named(rh_ply *r, const char *name)
{
    const rh_ply_element *vertex = rh_ply_find_element(r, "vertex");
    const rh_ply_property *p = vertex ? rh_ply_find_property(r, vertex, name) : NULL;
    return p && p->role != PASS_OVER;
}

rh_code rh_ply_parse_surface(const char *name, const char *data, size_t bytes, rh_ply_surface *surface,
                             rh_status *status)
{
    reader m = {.ply = rh_ply_open(name, data, bytes), .surface = true};
    rh_code code = read_all(&m, status);
    bool has_normal = named(&m.ply, "nx"), has_velocity = named(&m.ply, "vx");
    rh_ply_close(&m.ply);
    // No look for triangles with an area as at other meshes: a frame without liquid has none.
    *surface = (rh_ply_surface){m.build.mesh, m.more[0], m.more[1]};
    if (code != RH_OK) rh_ply_surface_free(surface);
    if (!has_normal) rh_free(surface->normal), surface->normal = NULL;
    if (!has_velocity) rh_free(surface->velocity), surface->velocity = NULL;
    return code;
}

rh_code rh_ply_read_surface(const char *path, rh_ply_surface *surface, rh_status *status)
{
    char *data;
    size_t bytes;
    *surface = (rh_ply_surface){0};
    RH_TRY(rh_file_read(path, (size_t)1 << 34, &data, &bytes, status));
    rh_code code = rh_ply_parse_surface(path, data, bytes, surface, status);
    rh_free(data);
    return code;
}
