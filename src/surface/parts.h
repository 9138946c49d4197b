// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Between the particles and the band: what the steps of surfacing hand to each other. Internal to surface/.
//
//   cloud    points that can be used, sorted into search cells, with the depth of each cell
//   shape    an ellipsoid (or sphere) for every point that can matter
//   leaves   which leaves of 8 x 8 x 8 voxels can hold something
//   stamp    the field in each of them, by minimum over shapes; blend: by weighted means
//   finish   a distance on both sides, gaps closed, leaves that hold nothing dropped, attributes
#pragma once
#include "base/arena.h"
#include "base/simd.h"
#include "surface/surfacing.h"

// --- cloud -----------------------------------------------------------------------------------------------------------
typedef struct rh_surface_cloud {
    const rh_surfacing_params *params;
    rh_points *points;        // in the order of the cells
    const rh_vec3 *position;  // m
    const float *radius;      // m, before radius_scale; NULL when all are `radius_all`
    float radius_all;
    const rh_attribute *group;                  // int32 or a group, not 0: gets an ellipsoid; NULL: all do
    double mean_radius, largest_radius, voxel;  // m
    double widest;                              // m: how far neighbours are looked for at most
    rh_tiles cells;                             // search cells
    int low[3], high[3];                        // those that there are: cells [low, high] along each axis
    uint8_t *depth;                             // per cell: how many cells to the nearest empty one, at most `deepest`
    int deepest;
    int sphere_depth;  // points in cells so deep get no neighbourhood
    int inside_depth;  // cells so deep are inside without a look at their points
    int skip_depth;    // points in cells so deep cannot matter to the band
} rh_surface_cloud;

static inline float rh_cloud_radius(const rh_surface_cloud *c, uint32_t p)
{
    return (c->radius ? c->radius[p] : c->radius_all) * (float)c->params->radius_scale;
}

static inline bool rh_cloud_in_group(const rh_surface_cloud *c, uint32_t p)
{
    if (!c->group) return true;
    return c->group->type == RH_POINT_GROUP ? ((const uint8_t *)c->group->data)[p] != 0
                                            : ((const int32_t *)c->group->data)[p] != 0;
}

// Removes what cannot be used, sorts, finds the depths. Everything else is in the arena.
rh_code rh_cloud_make(rh_surface_cloud *cloud, const rh_surfacing_params *params, rh_points *points, rh_arena *arena,
                      rh_surfacing_report *report, rh_status *status);

// --- shape -----------------------------------------------------------------------------------------------------------
// Lengths in voxels: there all coordinates of a leaf are small.
typedef struct rh_ellipsoid {
    rh_vec3 centre;
    float most, least;  // semi-axes; equal for a sphere; `most` negative: cannot matter
    // xx yy zz xy xz yz of the matrix A with |q / a|^2 = v . A v, v from the centre; not set for a sphere.
    float form[6];
} rh_ellipsoid;

// One for every point, in the arena. `reach`: the farthest that any of them goes from the point it belongs to, voxels.
rh_code rh_shapes_make(rh_surface_cloud *cloud, rh_ellipsoid **out, float *reach, rh_arena *arena,
                       rh_surfacing_report *report, rh_status *status);

// A block: what a particle of a solid is of it, a cube when it was seeded, since then strained and turned. In voxels.
typedef struct rh_block {
    rh_vec3 centre;
    float across[9];  // 1/voxel: rows; u = across v, and |u| <= 1 along each axis inside
    float half[3];    // from the middle to its faces
    float most;       // to its farthest corner
} rh_block;

// One for every point, from its attribute `deformation`, in the arena; `reach` as above.
rh_code rh_blocks_make(const rh_surface_cloud *cloud, rh_block **out, float *reach, rh_arena *arena, rh_status *status);

// --- leaves and their fields -----------------------------------------------------------------------------------------
// The axes of `tiles` are turned round: tile (x, y, z) is leaf (z, y, x), so that a row of a tile is a row of a leaf.
typedef struct rh_leaves {
    rh_tiles tiles;
    float **field;       // [count] voxels, negative inside; NULL: deep inside, or outside of everything
    uint32_t **nearest;  // [count] the point that decides a voxel, RH_NO_POINT when none; NULL where there is none
    uint8_t *inside;     // [count] wholly inside
    struct rh_pages *pages;
} rh_leaves;

enum { RH_NO_POINT = 0xffffffff };
static inline rh_tile rh_leaf_turned(rh_tile at) { return (rh_tile){at.z, at.y, at.x}; }

// The leaves within `reach` voxels of points that are not skipped; at most so far from its point can one change a
// voxel.
rh_code rh_leaves_make(rh_leaves *leaves, const rh_surface_cloud *cloud, float reach, rh_arena *arena,
                       rh_status *status);
void rh_leaves_free(rh_leaves *leaves);
// Tiles with the given centres (m, axes turned round; one may come more than once). What was taken from the arena since
// `mark` is given back.
rh_code rh_leaf_tiles(rh_tiles *tiles, double voxel, const rh_vec3 *centres, int64_t count, rh_arena_mark mark,
                      rh_arena *arena, rh_status *status);

// Points next to each other in memory: what is around a leaf is a few such ranges.
typedef struct rh_point_range {
    uint32_t begin, end;
} rh_point_range;

// One leaf of one thread: what a field is made in.
typedef struct rh_leaf_work {
    const rh_surface_cloud *cloud;
    rh_tile at;  // of the leaf, in leaves
    rh_point_range *runs;
    int run_count, run_room;
    rh_vec3 corner;  // voxels: of its first voxel
    rh_bits known;   // voxels that are inside whatever the points near them say
    bool any_known;
    float field[RH_LEAF];  // voxels
    uint32_t nearest[RH_LEAF];
} rh_leaf_work;

// Fills work->field (voxels; `band` where nothing is near) and work->nearest from work->runs.
typedef void rh_leaf_fill(rh_leaf_work *work, const void *data);
typedef struct rh_leaves_job {
    rh_leaf_fill *fill;
    const void *data;
    float reach;  // voxels: how far points are looked for
    float front;  // values below count as inside
    float band;   // values from here on as far away
    bool keep_nearest;
} rh_leaves_job;
// Every leaf with `fill`; keeps what is needed.
rh_code rh_leaves_fill(rh_leaves *leaves, const rh_surface_cloud *cloud, const rh_leaves_job *job, rh_status *status);

// --- fields: rh_leaf_fill --------------------------------------------------------------------------------------------
typedef struct rh_stamp {
    const rh_surface_cloud *cloud;
    const rh_ellipsoid *shapes;  // NULL: spheres of one radius around the points
    const rh_block *blocks;      // of rh_stamp_blocks
    float radius;                // of those, voxels
    float band;                  // voxels
    int kernel;
} rh_stamp;
void rh_stamp_spheres(rh_leaf_work *work, const void *stamp);
void rh_stamp_ellipsoids(rh_leaf_work *work, const void *stamp);
void rh_stamp_blocks(rh_leaf_work *work, const void *stamp);
// Distance from an ellipsoid by the chosen kernel, one point; for tests. v and the result in the unit of the axes.
float rh_ellipsoid_distance(const rh_ellipsoid *e, int kernel, rh_vec3 v);

typedef struct rh_blend {
    const rh_surface_cloud *cloud;
    float support;  // of the kernel, voxels, for the mean radius
    float band;
} rh_blend;
void rh_blend_averaged(rh_leaf_work *work, const void *blend);
void rh_blend_solenthaler(rh_leaf_work *work, const void *blend);
void rh_blend_density(rh_leaf_work *work, const void *blend);

// --- finish ----------------------------------------------------------------------------------------------------------
typedef struct rh_finish {
    const rh_surface_cloud *cloud;
    float close;       // voxels
    float band;        // voxels: half of the result's
    float far;         // voxels: what a field says where nothing is near; at least `band`, and more than `close`
    bool is_distance;  // the field is a distance outside
} rh_finish;

typedef struct rh_channel_list {
    char attribute[RH_BAND_CHANNELS][RH_POINT_NAME],
        name[RH_BAND_CHANNELS][RH_POINT_NAME];  // of the points, of the band
    int count;
} rh_channel_list;

rh_code rh_band_finish(const rh_finish *finish, rh_leaves *leaves, const rh_channel_list *channels, rh_band *band,
                       rh_arena *arena, rh_status *status);
