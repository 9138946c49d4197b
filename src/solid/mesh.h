// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Triangle meshes and their signed distance fields.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"

typedef struct rh_mesh {
    rh_vec3 *vertices;         // owned
    uint32_t (*triangles)[3];  // owned; counter-clockwise seen from outside
    int64_t vertex_count, triangle_count;
} rh_mesh;

void rh_mesh_free(rh_mesh *mesh);
rh_dbox rh_mesh_bounds(const rh_mesh *mesh);
// Applies scale, then rotation (degrees about x, y, z), then translation.
void rh_mesh_transform(rh_mesh *mesh, double scale, rh_dvec3 rotate, rh_dvec3 translate);

// Merges vertices at exactly the same place (file formats that repeat them per triangle), keeping the order of first
// use.
rh_code rh_mesh_weld(rh_mesh *mesh, rh_status *status);
// RH_USER (without a place) when there is nothing to work with: an index out of range, a vertex that is not finite or
// absurdly far away, or no triangle with an area.
rh_code rh_mesh_check(const rh_mesh *mesh, rh_status *status);

// Defects of a mesh, so that a user can be told when they matter.
typedef struct rh_mesh_report {
    int64_t degenerate;     // triangles without area
    int64_t open_edges;     // edges with one triangle: holes
    int64_t odd_edges;      // edges with more than two triangles
    int64_t flipped_edges;  // edges whose two triangles run the same way: inconsistent orientation
    bool inside_out;        // closed and consistent, but the volume is negative
    double volume;          // signed, by the divergence theorem (meaningful when closed)
} rh_mesh_report;
// Vertices at the same place count as one, so a mesh cut along texture seams is closed all the same.
rh_code rh_mesh_inspect(const rh_mesh *mesh, rh_mesh_report *report, rh_status *status);

// Signed distance sampled on a regular grid around the mesh: trilinear between samples; samples within 4 spacings of
// the surface hold the exact distance to the triangles, those beyond are at most a quarter of a spacing too long. The
// sign comes from the generalised winding number, so holes and flipped faces do not turn space inside out (A. Jacobson,
// L. Kavan, O. Sorkine-Hornung, "Robust inside-outside segmentation using generalized winding numbers", ACM TOG 32(4),
// 2013). A hole is closed by a lid where the winding number is 1/2, and distances are taken to the lid as well.
//
// Samples are taken when they are first asked for, by any thread; whoever asks first, the values are the same.
typedef struct rh_mesh_sdf rh_mesh_sdf;

// `spacing` is the sample distance in metres (half the simulation cell is a good choice). Outside the sampled box the
// distance is bounded from below through the box. Fails with RH_USER when the sampled grid would exceed
// 512 million samples, naming the spacing that fits.
rh_code rh_mesh_sdf_create(const rh_mesh *mesh, double spacing, rh_mesh_sdf **out, rh_status *status);
// Of a mesh with walls thinner than cells: keeps the triangles and takes distances near the surface from them, which
// makes these exact. With a thickness above 0 (m) the mesh is a sheet, open or not: solid is what lies within half of
// it from the triangles.
rh_code rh_mesh_sdf_create_thin(const rh_mesh *mesh, double spacing, double thickness, rh_mesh_sdf **out,
                                rh_status *status);
// What all meshes of a sequence have in common, found from one of them: which triangles are turned over so that
// neighbours agree, and whether they close.
typedef struct rh_mesh_sides {
    bool *flip;  // owned, one a triangle
    bool closed;
} rh_mesh_sides;
rh_code rh_mesh_sides_find(const rh_mesh *mesh, rh_mesh_sides *out, rh_status *status);
void rh_mesh_sides_free(rh_mesh_sides *sides);
// Of a mesh whose surface moves: keeps the triangles, also when it is not thin, for rh_mesh_sdf_nearest. `*sdf` is
// NULL, or was made by this function of the same triangles with other vertices: then it is made anew in its memory,
// which grows where needed. On failure it is freed and NULL.
rh_code rh_mesh_sdf_move(const rh_mesh *mesh, const rh_mesh_sides *sides, double spacing, double thickness, bool thin,
                         rh_mesh_sdf **sdf, rh_status *status);
// The triangle nearest to a point, and the shares of its corners in the point on it that is nearest; of a mesh that
// keeps its triangles.
int64_t rh_mesh_sdf_nearest(const rh_mesh_sdf *sdf, rh_dvec3 point, double weight[3]);
// Thickness (m) of the thinnest walls of a closed mesh, to a sixteenth of `most`, or `most` when they are thicker:
// measured straight in from the triangles, and exceeded by all but a twentieth of their area.
rh_code rh_mesh_thickness(const rh_mesh *mesh, double most, double *thickness, rh_status *status);
void rh_mesh_sdf_free(rh_mesh_sdf *sdf);
double rh_mesh_sdf_distance(const rh_mesh_sdf *sdf, rh_dvec3 point);
rh_dvec3 rh_mesh_sdf_normal(const rh_mesh_sdf *sdf, rh_dvec3 point);
rh_dbox rh_mesh_sdf_bounds(const rh_mesh_sdf *sdf);  // of the mesh
double rh_mesh_sdf_slack(const rh_mesh_sdf *sdf);    // m; |distance| never exceeds the true one by more than this
// m; by so much the distance to a ball around the bounds may be larger than that to the mesh as it is sampled.
double rh_mesh_sdf_beyond(const rh_mesh_sdf *sdf);
int64_t rh_mesh_sdf_bytes(const rh_mesh_sdf *sdf);
