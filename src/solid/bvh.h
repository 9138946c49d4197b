// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A tree of boxes over loose triangles, for the nearest one and for winding numbers. Read-only once built; all threads
// may use it at once. A triangle may be a single point (all corners equal) as far as distances go.
#pragma once
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"

typedef struct rh_bvh_triangle {
    rh_vec3 corner[3];
    int32_t id;  // whatever its maker wants to know it by
} rh_bvh_triangle;

typedef struct rh_bvh_node {
    float low[3], high[3];
    int32_t first;  // leaf: its first triangle; else its left child, the right one follows
    int32_t count;  // triangles of a leaf; 0 otherwise
    // The node also lies between two planes across its mean normal: bottom <= normal.x <= top. A patch of a curved
    // surface is thin that way, while its box bulges towards whoever looks at it from an angle. |normal| <= 1, 0 when
    // there is none.
    float normal[3], bottom, top;
} rh_bvh_node;

struct rh_bvh_expansion;  // what a node looks like from afar: bvh.c

typedef struct rh_bvh {
    rh_bvh_triangle *triangles;          // owned, in the order of the leaves
    rh_bvh_node *nodes;                  // owned; children come after their parent
    struct rh_bvh_expansion *expansion;  // owned, one per node
    int32_t triangle_count, node_count;
    int32_t room;  // triangles that there is memory for
} rh_bvh;

enum { RH_BVH_MAX_TRIANGLES = 1 << 30 };

// Takes over `triangles` (from rh_alloc) in every case, also on failure. count is 1 to RH_BVH_MAX_TRIANGLES.
rh_code rh_bvh_build(rh_bvh_triangle *triangles, int64_t count, rh_bvh *bvh, rh_status *status);
// Builds the tree again, after other triangles have been put into `triangles`: no more than bvh->room. Allocates
// nothing.
void rh_bvh_rebuild(rh_bvh *bvh, int64_t count);
void rh_bvh_free(rh_bvh *bvh);
int64_t rh_bvh_bytes(const rh_bvh *bvh);

// Square of the distance (m^2) to the nearest triangle. *hint names a triangle to try first (a good one saves most of
// the work) and receives the nearest. Distances above 16 times `tolerance` (m) may come out too long by up to
// `tolerance`: in the middle of a round body everything is equally near, and telling apart the last percent would cost
// most. 0 = exact.
double rh_bvh_distance2(const rh_bvh *bvh, rh_dvec3 point, double tolerance, int32_t *hint);
// Shares of the corners of a triangle in its point nearest to `point`; their sum is 1.
void rh_bvh_weights(const rh_bvh_triangle *triangle, rh_dvec3 point, double weight[3]);
// Generalised winding number: 1 inside a closed outward mesh, 0 outside, in between near holes.
double rh_bvh_winding(const rh_bvh *bvh, rh_dvec3 point);
