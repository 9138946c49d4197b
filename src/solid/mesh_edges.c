// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Defects that the edges of a mesh show: holes, edges with too many triangles, neighbours of opposite orientation.
// Edges are found by sorting (lower vertex, higher vertex, triangle), so results do not depend on anything but the
// mesh.
#include "solid/mesh_parts.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

typedef struct edge {
    uint32_t low, high;
    uint32_t triangle;
    bool upward;  // the triangle runs from low to high
} edge;

typedef struct edge_table {
    edge *edges;
    int64_t count;
} edge_table;

static int by_vertices(const void *left, const void *right)
{
    const edge *a = left, *b = right;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    if (a->triangle != b->triangle) return a->triangle < b->triangle ? -1 : 1;
    return (int)a->upward - (int)b->upward;
}

static void add_edges(edge_table *table, const uint32_t corner[3], uint32_t triangle)
{
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) return;
    for (int k = 0; k < 3; k++) {
        uint32_t a = corner[k], b = corner[(k + 1) % 3];
        table->edges[table->count++] = (edge){a < b ? a : b, a < b ? b : a, triangle, a < b};
    }
}

// A triangle with two corners at one place has no part in the edges. One whose corners lie on a line has: its
// neighbours on both sides meet through it.
static rh_code find_edges(const rh_mesh *mesh, edge_table *table, rh_status *status)
{
    *table = (edge_table){0};
    uint32_t *place;
    RH_TRY(rh_mesh_first_at_place(mesh, &place, status));
    table->edges = rh_alloc((size_t)mesh->triangle_count * 3 * sizeof *table->edges, "mesh.edges", status);
    if (!table->edges) {
        rh_free(place);
        return RH_MEMORY;
    }
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *v = mesh->triangles[t];
        uint32_t corner[3] = {place[v[0]], place[v[1]], place[v[2]]};
        add_edges(table, corner, (uint32_t)t);
    }
    rh_free(place);
    qsort(table->edges, (size_t)table->count, sizeof *table->edges, by_vertices);
    return RH_OK;
}

// End of the run of edges that join the same two vertices.
static int64_t run_end(const edge_table *table, int64_t start)
{
    const edge *e = table->edges;
    int64_t end = start + 1;
    while (end < table->count && e[end].low == e[start].low && e[end].high == e[start].high) end++;
    return end;
}

static double signed_volume(const rh_mesh *mesh)
{
    rh_dbox box = rh_mesh_bounds(mesh);
    rh_dvec3 middle = rh_d3_scale(rh_d3_add(box.min, box.max), 0.5);  // keeps the terms small far from the origin
    double six = 0;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        rh_vec3 c[3];
        rh_mesh_corners(mesh, t, c);
        rh_dvec3 a = rh_d3_sub(rh_d3_from(c[0]), middle), b = rh_d3_sub(rh_d3_from(c[1]), middle);
        six += rh_d3_dot(a, rh_d3_cross(b, rh_d3_sub(rh_d3_from(c[2]), middle)));
    }
    return six / 6;
}

rh_code rh_mesh_inspect(const rh_mesh *mesh, rh_mesh_report *report, rh_status *status)
{
    *report = (rh_mesh_report){0};
    edge_table table;
    RH_TRY(find_edges(mesh, &table, status));
    for (int64_t i = 0, end; i < table.count; i = end) {
        end = run_end(&table, i);
        if (end - i == 1) report->open_edges++;
        if (end - i > 2) report->odd_edges++;
        if (end - i == 2 && table.edges[i].upward == table.edges[i + 1].upward) report->flipped_edges++;
    }
    rh_free(table.edges);
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        rh_vec3 corner[3];
        rh_mesh_corners(mesh, t, corner);
        if (!rh_triangle_has_area(corner)) report->degenerate++;
    }
    report->volume = mesh->triangle_count > 0 ? signed_volume(mesh) : 0;
    bool sound = !report->open_edges && !report->odd_edges && !report->flipped_edges;
    report->inside_out = sound && report->volume < 0;
    return RH_OK;
}

// --- orientation -----------------------------------------------------------------------------------------------------
// Union-find over triangles; `turned` says whether a triangle runs opposite to its parent.

typedef struct forest {
    uint32_t *parent;
    bool *turned;
} forest;

// Root of t; *turned = whether t runs opposite to the root. Halves the path on the way (a root is never turned, so
// the step next to it changes nothing).
static uint32_t root_of(forest *f, uint32_t t, bool *turned)
{
    bool odd = false;
    while (f->parent[t] != t) {
        uint32_t up = f->parent[t];
        f->turned[t] = f->turned[t] != f->turned[up];
        f->parent[t] = f->parent[up];
        odd = odd != f->turned[t];
        t = f->parent[t];
    }
    *turned = odd;
    return t;
}

// The lower index becomes the root, so the outcome does not depend on the order of joins.
static void join(forest *f, uint32_t a, uint32_t b, bool opposite)
{
    bool turned_a, turned_b;
    uint32_t root_a = root_of(f, a, &turned_a), root_b = root_of(f, b, &turned_b);
    if (root_a == root_b) return;  // already decided; a conflict means a one-sided surface and stays
    uint32_t low = root_a < root_b ? root_a : root_b, high = root_a < root_b ? root_b : root_a;
    f->parent[high] = low;
    f->turned[high] = (turned_a != turned_b) != opposite;
}

static double double_area(const rh_mesh *mesh, int64_t t)
{
    rh_vec3 c[3];
    rh_mesh_corners(mesh, t, c);
    rh_dvec3 a = rh_d3_from(c[0]);
    return rh_d3_length(rh_d3_cross(rh_d3_sub(rh_d3_from(c[1]), a), rh_d3_sub(rh_d3_from(c[2]), a)));
}

static void decide_by_area(const rh_mesh *mesh, forest *f, double *balance, bool *flip)
{
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        bool turned;
        uint32_t root = root_of(f, (uint32_t)t, &turned);
        flip[t] = turned;
        balance[root] += turned ? -double_area(mesh, t) : double_area(mesh, t);
    }
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        bool turned;
        if (balance[root_of(f, (uint32_t)t, &turned)] < 0) flip[t] = !flip[t];
    }
}

static bool is_closed(const edge_table *table, const bool *flip)
{
    for (int64_t i = 0, end; i < table->count; i = end) {
        end = run_end(table, i);
        if (end - i != 2) return false;
        const edge *a = &table->edges[i], *b = &table->edges[i + 1];
        if ((a->upward != flip[a->triangle]) == (b->upward != flip[b->triangle])) return false;
    }
    return true;
}

rh_code rh_mesh_orient(const rh_mesh *mesh, bool *flip, bool *closed, rh_status *status)
{
    edge_table table;
    RH_TRY(find_edges(mesh, &table, status));
    size_t count = (size_t)mesh->triangle_count;
    forest f = {rh_alloc(count * sizeof *f.parent, "mesh.orient", status),
                rh_alloc_zero(count * sizeof *f.turned, "mesh.orient", status)};
    double *balance = rh_alloc_zero(count * sizeof *balance, "mesh.orient", status);
    bool enough = f.parent && f.turned && balance;
    if (enough) {
        for (size_t t = 0; t < count; t++) f.parent[t] = (uint32_t)t;
        for (int64_t i = 0, end; i < table.count; i = end) {
            end = run_end(&table, i);
            const edge *e = &table.edges[i];
            if (end - i == 2) join(&f, e[0].triangle, e[1].triangle, e[0].upward == e[1].upward);
        }
        decide_by_area(mesh, &f, balance, flip);
        *closed = is_closed(&table, flip);
    }
    rh_free(table.edges);
    rh_free(f.parent);
    rh_free(f.turned);
    rh_free(balance);
    return enough ? RH_OK : RH_MEMORY;
}
