// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The signed distance of a mesh, sampled. Every sample holds the distance to the nearest triangle (in float; exact near
// the surface); the sign says on which side of winding number 1/2 it lies. Work is done in blocks of 8^3 samples that
// write only their own.
//
// Blocks are sampled when somebody first asks for a distance in them: a run, and `rheo check` the more, looks at a
// part of a large mesh only, and a mesh that moves is looked at near the liquid only. What a block holds depends on the
// mesh alone, so it does not matter who asks first. Holes need all blocks at once (below), and where the triangles
// would take more memory than the samples, all are made at the start and the triangles let go.
//
// Orientation is repaired first (rh_mesh_orient). For a closed mesh the winding number then changes only across the
// surface, so along a row the sign carries over wherever the distances of two neighbours rule out a crossing, and a
// block far from the surface needs one winding number. With holes, the winding number changes smoothly across each
// hole; there the surface 1/2 closes it, and distances are taken to that lid as well (to points on it, one per grid
// edge that crosses it), so that the field stays a distance and does not jump.
//
// The magnitude of the winding number is used: a mesh turned inside out winds -1 times.
#include "solid/mesh.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include "base/memory.h"
#include "solid/bvh.h"
#include "solid/mesh_parts.h"

enum { BLOCK = 8, MARGIN = 3 };  // samples per block edge; samples around the mesh on every side
// Error of far samples, in spacings: samples up to 4 spacings from the surface are exact, those beyond may be too long
// by this.
static const double tolerance = 0.25, EXACT = 4;
static const int64_t max_samples = INT64_C(512) * 1024 * 1024;

struct rh_mesh_sdf {
    float *values;  // owned; x fastest
    int64_t room;   // of values
    int64_t size[3];
    rh_dvec3 origin;  // of sample (0, 0, 0)
    double spacing;
    int64_t blocks[3];
    atomic_uchar *state;  // owned, one a block: EMPTY, BUSY or SAMPLED, and WHOLE with all blocks that its cells touch
    int64_t state_room;
    rh_dbox bounds;  // of the triangles
    rh_bvh tree;     // its triangles, where they are kept: of a mesh that is thin, or moves, or has blocks to sample
    bool exact;      // of a thin mesh: near the surface distances are taken from the triangles
    bool closed;     // has no holes
    double half;     // m: half the thickness of a sheet; 0 for what has an inside
};

enum { EMPTY, BUSY, SAMPLED, WHOLE };

// --- set-up ----------------------------------------------------------------------------------------------------------

static rh_code plan_grid(rh_mesh_sdf *sdf, double spacing, rh_status *status)
{
    double extent[3] = {sdf->bounds.max.x - sdf->bounds.min.x, sdf->bounds.max.y - sdf->bounds.min.y,
                        sdf->bounds.max.z - sdf->bounds.min.z};
    double longest = fmax(extent[0], fmax(extent[1], extent[2]));
    double fits = fmax(spacing, longest / (double)max_samples), samples = 0;  // keeps the product finite
    for (int attempt = 0; attempt < 64; attempt++) {  // twice the spacing is an eighth of the samples: ends soon
        samples = 1;
        for (int k = 0; k < 3; k++) samples *= ceil(extent[k] / fits) + 1 + 2 * MARGIN;
        if (samples <= (double)max_samples) break;
        fits *= fmax(1.01, cbrt(samples / (double)max_samples));
    }
    if (fits > spacing)
        return rh_fail(
            status, RH_USER,
            "the mesh is %.4g x %.4g x %.4g m, too large to sample every %.4g m; expected a spacing of at least %.3g m",
            extent[0], extent[1], extent[2], spacing, 1.005 * fits);
    for (int k = 0; k < 3; k++) sdf->size[k] = (int64_t)ceil(extent[k] / spacing) + 1 + 2 * MARGIN;
    sdf->spacing = spacing;
    sdf->origin = rh_d3_sub(sdf->bounds.min, rh_d3(MARGIN * spacing, MARGIN * spacing, MARGIN * spacing));
    return RH_OK;
}

static rh_dbox bounds_of(const rh_bvh *bvh)
{
    const rh_bvh_node *root = &bvh->nodes[0];
    return (rh_dbox){{root->low[0], root->low[1], root->low[2]}, {root->high[0], root->high[1], root->high[2]}};
}

static void turn_over(rh_bvh_triangle *t)
{
    rh_vec3 second = t->corner[1];
    t->corner[1] = t->corner[2];
    t->corner[2] = second;
    t->id = ~t->id;
}

rh_code rh_mesh_sides_find(const rh_mesh *mesh, rh_mesh_sides *out, rh_status *status)
{
    *out = (rh_mesh_sides){0};
    if (mesh->triangle_count > RH_BVH_MAX_TRIANGLES)
        return rh_fail(status, RH_USER, "found %lld triangles, expected at most %d", (long long)mesh->triangle_count,
                       RH_BVH_MAX_TRIANGLES);
    out->flip = rh_alloc((size_t)mesh->triangle_count * sizeof *out->flip, "mesh.orient", status);
    if (!out->flip) return RH_MEMORY;
    rh_code code = rh_mesh_orient(mesh, out->flip, &out->closed, status);
    if (code != RH_OK) rh_mesh_sides_free(out);
    return code;
}

void rh_mesh_sides_free(rh_mesh_sides *sides)
{
    rh_free(sides->flip);
    *sides = (rh_mesh_sides){0};
}

// The triangles that have an area, turned so that neighbours agree; returns how many they are.
static int64_t fill_triangles(const rh_mesh *mesh, const rh_mesh_sides *sides, rh_bvh_triangle *triangles)
{
    int64_t count = 0;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        rh_vec3 c[3];
        rh_mesh_corners(mesh, t, c);
        if (!rh_triangle_has_area(c)) continue;
        triangles[count] = (rh_bvh_triangle){{c[0], c[1], c[2]}, (int32_t)t};
        if (sides->flip[t]) turn_over(&triangles[count]);
        count++;
    }
    return count;
}

static rh_code make_tree(const rh_mesh *mesh, const rh_mesh_sides *sides, rh_bvh *bvh, rh_status *status)
{
    if (bvh->room >= mesh->triangle_count) {
        rh_bvh_rebuild(bvh, fill_triangles(mesh, sides, bvh->triangles));
        return RH_OK;
    }
    rh_bvh_free(bvh);
    rh_bvh_triangle *triangles = rh_alloc((size_t)mesh->triangle_count * sizeof *triangles, "bvh.triangles", status);
    if (!triangles) return RH_MEMORY;
    int64_t count = fill_triangles(mesh, sides, triangles);
    return rh_bvh_build(triangles, count, bvh, status);
}

static rh_code make_own_tree(const rh_mesh *mesh, rh_bvh *bvh, bool *closed, rh_status *status)
{
    rh_mesh_sides sides;
    RH_TRY(rh_mesh_sides_find(mesh, &sides, status));
    rh_code code = make_tree(mesh, &sides, bvh, status);
    *closed = sides.closed;
    rh_mesh_sides_free(&sides);
    return code;
}

// --- samples ---------------------------------------------------------------------------------------------------------

static rh_dvec3 sample_place(const rh_mesh_sdf *sdf, int64_t i, int64_t j, int64_t k)
{
    return rh_d3_add(sdf->origin, rh_d3((double)i * sdf->spacing, (double)j * sdf->spacing, (double)k * sdf->spacing));
}

static int64_t index_of(const rh_mesh_sdf *sdf, int64_t i, int64_t j, int64_t k)
{
    return (k * sdf->size[1] + j) * sdf->size[0] + i;
}

typedef struct block {
    int64_t low[3], high[3];  // samples low <= s < high
} block;

static block block_at(const rh_mesh_sdf *sdf, int64_t index)
{
    const int64_t *n = sdf->blocks, place[3] = {index % n[0], index / n[0] % n[1], index / n[0] / n[1]};
    block out;
    for (int k = 0; k < 3; k++) {
        out.low[k] = place[k] * BLOCK;
        out.high[k] = out.low[k] + BLOCK < sdf->size[k] ? out.low[k] + BLOCK : sdf->size[k];
    }
    return out;
}

static int64_t block_count(const rh_mesh_sdf *sdf) { return sdf->blocks[0] * sdf->blocks[1] * sdf->blocks[2]; }

static bool winds_around(const rh_bvh *bvh, rh_dvec3 point) { return fabs(rh_bvh_winding(bvh, point)) >= 0.5; }

typedef enum side { OUTSIDE, INSIDE, MIXED } side;

// One answer for the whole block, if the surface and all holes are far enough away. w is harmonic off the surface and,
// once oriented, between 0 and 1 for simple meshes. By Harnack's inequality a positive harmonic function in a ball of
// radius D grows by at most (1 + s)/(1 - s)^2 = 6 within the share s = 1/2 of it, so a centre value below 1/2/6 = 0.083
// cannot reach 1/2; likewise 1 - w. The tree's winding numbers are right to about 0.03, hence 0.05 below.
static side side_of_block(const rh_mesh_sdf *sdf, const block *k)
{
    rh_dvec3 low = sample_place(sdf, k->low[0], k->low[1], k->low[2]);
    rh_dvec3 high = sample_place(sdf, k->high[0] - 1, k->high[1] - 1, k->high[2] - 1);
    rh_dvec3 middle = rh_d3_scale(rh_d3_add(low, high), 0.5);
    double radius = 0.5 * rh_d3_length(rh_d3_sub(high, low));
    int32_t hint = -1;
    double distance = sqrt(rh_bvh_distance2(&sdf->tree, middle, 0, &hint));
    if (distance <= (sdf->closed ? 1.001 : 2) * radius) return MIXED;
    double w = fabs(rh_bvh_winding(&sdf->tree, middle));
    if (!sdf->closed && w > 0.05 && fabs(w - 1) > 0.05) return MIXED;
    return w >= 0.5 ? INSIDE : OUTSIDE;
}

// Whether a sample of a block that the surface goes through is inside. Of a closed mesh, a neighbour in the block that
// was sampled before knows, unless the surface may lie between them; the winding number costs ten times as much.
static bool is_inside(const rh_mesh_sdf *sdf, const block *k, const int64_t at[3], rh_dvec3 p, double distance)
{
    for (int axis = 0; axis < 3 && sdf->closed; axis++) {
        if (at[axis] == k->low[axis]) continue;
        int64_t before[3] = {at[0], at[1], at[2]};
        before[axis]--;
        float value = sdf->values[index_of(sdf, before[0], before[1], before[2])];
        if (fabs((double)value) + distance > 1.001 * sdf->spacing) return value < 0;
    }
    return winds_around(&sdf->tree, p);
}

static void fill_row(const rh_mesh_sdf *sdf, const block *k, int64_t y, int64_t z, side known, int32_t *hint)
{
    for (int64_t x = k->low[0]; x < k->high[0]; x++) {
        rh_dvec3 p = sample_place(sdf, x, y, z);
        double distance = sqrt(rh_bvh_distance2(&sdf->tree, p, tolerance * sdf->spacing, hint)) - sdf->half;
        const int64_t at[3] = {x, y, z};
        bool inside = known == MIXED ? is_inside(sdf, k, at, p, distance) : known == INSIDE;
        sdf->values[index_of(sdf, x, y, z)] = (float)(inside ? -distance : distance);
    }
}

static void fill_block(const rh_mesh_sdf *sdf, int64_t index)
{
    block k = block_at(sdf, index);
    side known = sdf->half > 0 ? OUTSIDE : side_of_block(sdf, &k);
    int32_t hint = -1;
    for (int64_t z = k.low[2]; z < k.high[2]; z++)
        for (int64_t y = k.low[1]; y < k.high[1]; y++) fill_row(sdf, &k, y, z, known, &hint);
}

// --- on demand -------------------------------------------------------------------------------------------------------

// One thread samples a block; whoever else needs it waits, which is rare and short.
static void sample_block(const rh_mesh_sdf *sdf, int64_t index)
{
    unsigned char found = EMPTY;
    if (atomic_compare_exchange_strong(&sdf->state[index], &found, BUSY)) {
        fill_block(sdf, index);
        atomic_store_explicit(&sdf->state[index], SAMPLED, memory_order_release);
        return;
    }
    while (atomic_load_explicit(&sdf->state[index], memory_order_acquire) == BUSY) sched_yield();
}

// The cells of a block have corners in the blocks after it as well.
static void sample_around(const rh_mesh_sdf *sdf, int64_t index)
{
    const int64_t *n = sdf->blocks, place[3] = {index % n[0], index / n[0] % n[1], index / n[0] / n[1]};
    for (int c = 0; c < 8; c++) {
        int64_t at[3];
        bool there = true;
        for (int k = 0; k < 3; k++) {
            at[k] = place[k] + (c >> k & 1);
            there = there && at[k] < n[k];
        }
        if (there) sample_block(sdf, (at[2] * n[1] + at[1]) * n[0] + at[0]);
    }
    atomic_store_explicit(&sdf->state[index], WHOLE, memory_order_release);
}

// Before the samples at the corners of a cell are read.
static void need_cell(const rh_mesh_sdf *sdf, int64_t i, int64_t j, int64_t k)
{
    int64_t index = (k / BLOCK * sdf->blocks[1] + j / BLOCK) * sdf->blocks[0] + i / BLOCK;
    if (atomic_load_explicit(&sdf->state[index], memory_order_acquire) != WHOLE) sample_around(sdf, index);
}

static void sample_all(rh_mesh_sdf *sdf)
{
    int64_t blocks = block_count(sdf);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = 0; i < blocks; i++) fill_block(sdf, i);
    for (int64_t i = 0; i < blocks; i++) atomic_init(&sdf->state[i], WHOLE);
}

// --- lids over holes -------------------------------------------------------------------------------------------------

typedef struct crossing {
    int64_t i, j, k;
    int axis;
} crossing;

// Do the samples change sign towards the next one along `axis` without a triangle that could be between them?
static bool crosses_lid(const rh_mesh_sdf *sdf, crossing c)
{
    int64_t next[3] = {c.i, c.j, c.k};
    if (++next[c.axis] >= sdf->size[c.axis]) return false;
    float a = sdf->values[index_of(sdf, c.i, c.j, c.k)], b = sdf->values[index_of(sdf, next[0], next[1], next[2])];
    return (a < 0) != (b < 0) && fabs((double)a) + fabs((double)b) > 1.001 * sdf->spacing;
}

static rh_vec3 lid_point(const rh_mesh_sdf *sdf, crossing c)
{
    int64_t next[3] = {c.i, c.j, c.k};
    next[c.axis]++;
    rh_dvec3 p = sample_place(sdf, c.i, c.j, c.k), q = sample_place(sdf, next[0], next[1], next[2]);
    double wp = fabs(rh_bvh_winding(&sdf->tree, p)), wq = fabs(rh_bvh_winding(&sdf->tree, q));
    double t = fabs(wq - wp) > 0 ? (0.5 - wp) / (wq - wp) : 0.5;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return rh_v3_from(rh_d3_add(p, rh_d3_scale(rh_d3_sub(q, p), t)));
}

// Counts the points on lids and stores them when `points` is given.
static int64_t visit_lids(const rh_mesh_sdf *sdf, rh_bvh_triangle *points)
{
    int64_t count = 0;
    for (int64_t k = 0; k < sdf->size[2]; k++)
        for (int64_t j = 0; j < sdf->size[1]; j++)
            for (int64_t i = 0; i < sdf->size[0]; i++)
                for (int axis = 0; axis < 3; axis++) {
                    crossing c = {i, j, k, axis};
                    if (!crosses_lid(sdf, c)) continue;
                    if (points) {
                        rh_vec3 at = lid_point(sdf, c);
                        points[count] = (rh_bvh_triangle){{at, at, at}, 0};
                    }
                    count++;
                }
    return count;
}

static void shorten_to_lids(const rh_mesh_sdf *sdf, const rh_bvh *lids, int64_t index)
{
    block k = block_at(sdf, index);
    int32_t hint = -1;
    for (int64_t z = k.low[2]; z < k.high[2]; z++)
        for (int64_t y = k.low[1]; y < k.high[1]; y++)
            for (int64_t x = k.low[0]; x < k.high[0]; x++) {
                double to_lid = sqrt(rh_bvh_distance2(lids, sample_place(sdf, x, y, z), 0, &hint));
                float *value = &sdf->values[index_of(sdf, x, y, z)];
                if (to_lid < fabs((double)*value)) *value = (float)copysign(to_lid, *value);
            }
}

static rh_code close_holes(rh_mesh_sdf *sdf, rh_status *status)
{
    int64_t count = visit_lids(sdf, NULL), blocks = block_count(sdf);
    rh_bvh lids;
    if (count == 0) return RH_OK;
    rh_bvh_triangle *points = rh_alloc((size_t)count * sizeof *points, "mesh.lids", status);
    if (!points) return RH_MEMORY;
    visit_lids(sdf, points);
    RH_TRY(rh_bvh_build(points, count, &lids, status));
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = 0; i < blocks; i++) shorten_to_lids(sdf, &lids, i);
    rh_bvh_free(&lids);
    return RH_OK;
}

// --- creation --------------------------------------------------------------------------------------------------------

// Some more than needed: the bounds of a mesh that moves change a little with every step.
static int64_t with_margin(int64_t before, int64_t count) { return before > 0 ? count + count / 4 : count; }

static rh_code make_room(rh_mesh_sdf *sdf, rh_status *status)
{
    int64_t count = sdf->size[0] * sdf->size[1] * sdf->size[2], blocks = block_count(sdf), room;
    if (count > sdf->room) {
        rh_free(sdf->values);
        room = with_margin(sdf->room, count);
        sdf->room = 0;
        sdf->values = rh_alloc((size_t)room * sizeof *sdf->values, "mesh.sdf", status);
        if (!sdf->values) return RH_MEMORY;
        sdf->room = room;
    }
    if (blocks > sdf->state_room) {
        rh_free(sdf->state);
        room = with_margin(sdf->state_room, blocks);
        sdf->state_room = 0;
        sdf->state = rh_alloc((size_t)room * sizeof *sdf->state, "mesh.sdf", status);
        if (!sdf->state) return RH_MEMORY;
        sdf->state_room = room;
    }
    for (int64_t i = 0; i < blocks; i++) atomic_init(&sdf->state[i], EMPTY);
    return RH_OK;
}

// Of a mesh whose triangles are there. Holes cannot wait until somebody asks.
static rh_code lay_samples(rh_mesh_sdf *sdf, double spacing, rh_status *status)
{
    rh_dvec3 half = rh_d3(sdf->half, sdf->half, sdf->half);
    sdf->bounds = bounds_of(&sdf->tree);
    sdf->bounds = (rh_dbox){rh_d3_sub(sdf->bounds.min, half), rh_d3_add(sdf->bounds.max, half)};
    RH_TRY(plan_grid(sdf, spacing, status));
    for (int k = 0; k < 3; k++) sdf->blocks[k] = (sdf->size[k] + BLOCK - 1) / BLOCK;
    RH_TRY(make_room(sdf, status));
    bool holes = !sdf->closed && sdf->half == 0;
    if (holes) sample_all(sdf);
    return holes ? close_holes(sdf, status) : RH_OK;
}

static rh_code check_spacing(double spacing, rh_status *status)
{
    if (spacing > 0 && isfinite(spacing)) return RH_OK;
    return rh_fail(status, RH_USER, "sample spacing is %g m, expected a finite number above 0", spacing);
}

static bool has_empty_blocks(const rh_mesh_sdf *sdf) { return atomic_load(&sdf->state[0]) == EMPTY; }

static rh_code create(const rh_mesh *mesh, double spacing, double thickness, bool thin, rh_mesh_sdf **out,
                      rh_status *status)
{
    *out = NULL;
    RH_TRY(check_spacing(spacing, status));
    RH_TRY(rh_mesh_check(mesh, status));
    rh_mesh_sdf *sdf = rh_alloc_zero(sizeof *sdf, "mesh.sdf", status);
    if (!sdf) return RH_MEMORY;
    sdf->half = 0.5 * thickness;
    sdf->exact = thin;
    rh_code code = make_own_tree(mesh, &sdf->tree, &sdf->closed, status);
    if (code == RH_OK) code = lay_samples(sdf, spacing, status);
    if (code != RH_OK) {
        rh_mesh_sdf_free(sdf);
        return code;
    }
    int64_t samples = sdf->size[0] * sdf->size[1] * sdf->size[2] * (int64_t)sizeof *sdf->values;
    if (!thin && has_empty_blocks(sdf) && rh_bvh_bytes(&sdf->tree) > samples) sample_all(sdf);
    if (!thin && !has_empty_blocks(sdf)) rh_bvh_free(&sdf->tree);
    *out = sdf;
    return RH_OK;
}

rh_code rh_mesh_sdf_move(const rh_mesh *mesh, const rh_mesh_sides *sides, double spacing, double thickness, bool thin,
                         rh_mesh_sdf **sdf, rh_status *status)
{
    rh_code code = check_spacing(spacing, status);
    if (code == RH_OK) code = rh_mesh_check(mesh, status);
    if (code == RH_OK && !*sdf && !(*sdf = rh_alloc_zero(sizeof **sdf, "mesh.sdf", status))) code = RH_MEMORY;
    if (code == RH_OK) {
        (*sdf)->half = 0.5 * thickness;
        (*sdf)->exact = thin || thickness > 0;
        (*sdf)->closed = sides->closed;
        code = make_tree(mesh, sides, &(*sdf)->tree, status);
        if (code == RH_OK) code = lay_samples(*sdf, spacing, status);
    }
    if (code == RH_OK) return RH_OK;
    rh_mesh_sdf_free(*sdf);
    *sdf = NULL;
    return code;
}

rh_code rh_mesh_sdf_create(const rh_mesh *mesh, double spacing, rh_mesh_sdf **out, rh_status *status)
{
    return create(mesh, spacing, 0, false, out, status);
}

rh_code rh_mesh_sdf_create_thin(const rh_mesh *mesh, double spacing, double thickness, rh_mesh_sdf **out,
                                rh_status *status)
{
    return create(mesh, spacing, thickness, true, out, status);
}

void rh_mesh_sdf_free(rh_mesh_sdf *sdf)
{
    if (!sdf) return;
    rh_bvh_free(&sdf->tree);
    rh_free(sdf->state);
    rh_free(sdf->values);
    rh_free(sdf);
}

// --- thickness -------------------------------------------------------------------------------------------------------
enum { SLICES = 16, MOST_LOOKS = 4096 };

// How far a line straight in from a triangle's middle stays in the solid, in slices. Both directions are tried: all
// triangles may point inwards.
static int slices_of(const rh_bvh *bvh, rh_dvec3 middle, rh_dvec3 normal, double slice)
{
    for (int way = -1; way <= 1; way += 2) {
        int n = 0;
        while (n < SLICES && winds_around(bvh, rh_d3_add(middle, rh_d3_scale(normal, way * (n + 0.5) * slice)))) n++;
        if (n > 0) return n;
    }
    return 0;
}

rh_code rh_mesh_thickness(const rh_mesh *mesh, double most, double *thickness, rh_status *status)
{
    rh_bvh bvh = {0};
    bool closed;
    *thickness = most;
    RH_TRY(rh_mesh_check(mesh, status));
    RH_TRY(make_own_tree(mesh, &bvh, &closed, status));
    double area[SLICES + 1] = {0}, all = 0, below = 0;
    int32_t stride = bvh.triangle_count / MOST_LOOKS + 1, looks = (bvh.triangle_count + stride - 1) / stride;
    struct {
        int slices;
        double area;
    } seen[MOST_LOOKS];
    RH_ASSERT(looks <= MOST_LOOKS);
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t n = 0; n < looks; n++) {
        const rh_vec3 *c = bvh.triangles[n * stride].corner;
        rh_dvec3 a = rh_d3_from(c[0]), b = rh_d3_from(c[1]), d = rh_d3_from(c[2]);
        rh_dvec3 cross = rh_d3_cross(rh_d3_sub(b, a), rh_d3_sub(d, a));
        rh_dvec3 middle = rh_d3_scale(rh_d3_add(a, rh_d3_add(b, d)), 1.0 / 3);
        seen[n].slices = slices_of(&bvh, middle, rh_d3_unit(cross), most / SLICES);
        seen[n].area = rh_d3_length(cross);
    }
    for (int32_t n = 0; n < looks; n++) {
        area[seen[n].slices] += seen[n].area;
        all += seen[n].area;
    }
    // Edges run out to nothing on every body: a little of the area does not count.
    for (int n = 0; n < SLICES; n++) {
        below += area[n];
        if (below <= 0.05 * all) continue;
        *thickness = (n > 0 ? n : 0.5) * most / SLICES;
        break;
    }
    rh_bvh_free(&bvh);
    return RH_OK;
}

// --- questions -------------------------------------------------------------------------------------------------------

// Cell index and share for one coordinate in units of samples, which lies within 0 .. size - 1.
static int64_t cell_of(double u, int64_t size, double *share)
{
    int64_t i = (int64_t)u;
    if (i > size - 2) i = size - 2;
    if (i < 0) i = 0;
    *share = u - (double)i;
    return i;
}

static double interpolate(const rh_mesh_sdf *sdf, const double u[3])
{
    double s[3];
    int64_t i = cell_of(u[0], sdf->size[0], &s[0]), j = cell_of(u[1], sdf->size[1], &s[1]);
    int64_t k = cell_of(u[2], sdf->size[2], &s[2]);
    need_cell(sdf, i, j, k);
    const float *v = sdf->values + index_of(sdf, i, j, k);
    int64_t row = sdf->size[0], layer = sdf->size[0] * sdf->size[1];
    double face[2];
    for (int z = 0; z < 2; z++, v += layer) {
        double near = v[0] + s[0] * ((double)v[1] - v[0]);
        double far = v[row] + s[0] * ((double)v[row + 1] - v[row]);
        face[z] = near + s[1] * (far - near);
    }
    return face[0] + s[2] * (face[1] - face[0]);
}

static double to_triangles(const rh_mesh_sdf *sdf, rh_dvec3 point)
{
    int32_t hint = -1;
    return sqrt(rh_bvh_distance2(&sdf->tree, point, 0, &hint));
}

// Whether a point is inside. No triangle is nearer to it than `distance`, none nearer to a sample than the sample says:
// where these two balls meet, the way between point and sample crosses no triangle, and the point is where the sample
// is. One of the eight samples around it tells so for all but a tenth of the points near a wall. Else the winding
// number decides, which costs ten times as much. (With one sample and the point's own ball alone, three quarters of
// the time of a thin mesh that moves went into winding numbers.) Where a mesh has holes the sides change at their lids,
// too, and only the nearest sample within the point's own ball is asked.
static bool is_within(const rh_mesh_sdf *sdf, rh_dvec3 point, double distance)
{
    rh_dvec3 offset = rh_d3_scale(rh_d3_sub(point, sdf->origin), 1 / sdf->spacing);
    double u[3] = {offset.x, offset.y, offset.z}, s[3];
    int64_t cell[3];
    int nearest = 0;
    for (int k = 0; k < 3; k++) {
        cell[k] = cell_of(u[k], sdf->size[k], &s[k]);
        nearest |= (s[k] >= 0.5) << k;
    }
    need_cell(sdf, cell[0], cell[1], cell[2]);
    for (int n = sdf->closed ? 0 : nearest; n <= (sdf->closed ? 7 : nearest); n++) {
        double away2 = 0;
        for (int k = 0; k < 3; k++) away2 += (s[k] - (n >> k & 1)) * (s[k] - (n >> k & 1));
        float value = sdf->values[index_of(sdf, cell[0] + (n & 1), cell[1] + (n >> 1 & 1), cell[2] + (n >> 2))];
        double free = distance + (sdf->closed ? fmin(fabs((double)value), EXACT * sdf->spacing) : 0);
        if (sqrt(away2) * sdf->spacing < 0.999 * free) return value < 0;
    }
    return winds_around(&sdf->tree, point);
}

// Samples do not resolve walls thinner than their spacing, and may be too long by their slack: near the surface the
// distance is that to the triangles, and farther off the slack is subtracted.
static double exact_distance(const rh_mesh_sdf *sdf, rh_dvec3 point, double sampled)
{
    double slack = rh_mesh_sdf_slack(sdf);
    if (fabs(sampled) > 2 * slack) return sampled - copysign(slack, sampled);
    double distance = to_triangles(sdf, point);
    if (sdf->half > 0) return distance - sdf->half;
    return is_within(sdf, point, distance) ? -distance : distance;
}

// Outside the samples: with c the nearest point of their box, every point m of the mesh is seen from c at a right angle
// or more away from p, so |p - m|^2 >= |p - c|^2 + |c - m|^2. A lower bound, and continuous at the box.
double rh_mesh_sdf_distance(const rh_mesh_sdf *sdf, rh_dvec3 point)
{
    rh_dvec3 offset = rh_d3_sub(point, sdf->origin);
    double u[3] = {offset.x / sdf->spacing, offset.y / sdf->spacing, offset.z / sdf->spacing};
    double beyond2 = 0;
    for (int k = 0; k < 3; k++) {
        double last = (double)(sdf->size[k] - 1), clamped = u[k] > 0 ? fmin(u[k], last) : 0;
        beyond2 += (u[k] - clamped) * (u[k] - clamped);
        u[k] = clamped;
    }
    double distance = interpolate(sdf, u);
    if (beyond2 == 0) return sdf->exact ? exact_distance(sdf, point, distance) : distance;
    return sqrt(distance * distance + beyond2 * sdf->spacing * sdf->spacing);
}

// 1 outside of a thin mesh (or beside a sheet), -1 inside; 0 where the surface is nearer than `least`, or so far that
// samples answer.
static double beside(const rh_mesh_sdf *sdf, rh_dvec3 point, double least)
{
    double distance = rh_mesh_sdf_distance(sdf, point), real = fabs(distance + sdf->half);
    if (real <= least || fabs(distance) > rh_mesh_sdf_slack(sdf)) return 0;
    return sdf->half > 0 || distance > 0 ? 1 : -1;
}

// Differences over a whole spacing: smoother across cells than the slope of one trilinear patch.
rh_dvec3 rh_mesh_sdf_normal(const rh_mesh_sdf *sdf, rh_dvec3 point)
{
    double h = (sdf->exact ? 0.01 : 0.5) * sdf->spacing, slope[3], sign = 0;
    // Where distances are those to the triangles and all six places are on one side, the side need be found but once.
    if (sdf->exact) sign = beside(sdf, point, h);
    for (int k = 0; k < 3; k++) {
        rh_dvec3 step = rh_d3(k == 0 ? h : 0, k == 1 ? h : 0, k == 2 ? h : 0);
        rh_dvec3 up = rh_d3_add(point, step), down = rh_d3_sub(point, step);
        if (sign != 0) slope[k] = sign * (to_triangles(sdf, up) - to_triangles(sdf, down));
        else slope[k] = rh_mesh_sdf_distance(sdf, up) - rh_mesh_sdf_distance(sdf, down);
    }
    rh_dvec3 gradient = rh_d3(slope[0], slope[1], slope[2]);
    double length = rh_d3_length(gradient);
    return length > 0 && isfinite(length) ? rh_d3_scale(gradient, 1 / length) : rh_d3(0, 1, 0);
}

int64_t rh_mesh_sdf_nearest(const rh_mesh_sdf *sdf, rh_dvec3 point, double weight[3])
{
    RH_ASSERT(sdf->tree.nodes);
    int32_t found = -1;
    rh_bvh_distance2(&sdf->tree, point, 0, &found);
    const rh_bvh_triangle *t = &sdf->tree.triangles[found];
    rh_bvh_weights(t, point, weight);
    if (t->id >= 0) return t->id;
    double second = weight[1];  // it was turned over
    weight[1] = weight[2];
    weight[2] = second;
    return ~t->id;
}

rh_dbox rh_mesh_sdf_bounds(const rh_mesh_sdf *sdf) { return sdf->bounds; }

// Beyond the samples the distance is at least that to their box, which has one more of them where spacings do not fit.
double rh_mesh_sdf_beyond(const rh_mesh_sdf *sdf)
{
    return sqrt(3) * (MARGIN + 1) * sdf->spacing + rh_mesh_sdf_slack(sdf);
}

// A distance changes by at most the way walked, so the trilinear mix of eight corners errs by no more than their mean
// distance: most in the middle of a cell, half of its diagonal. Far samples add their tolerance.
double rh_mesh_sdf_slack(const rh_mesh_sdf *sdf) { return (0.87 + tolerance) * sdf->spacing; }

int64_t rh_mesh_sdf_bytes(const rh_mesh_sdf *sdf)
{
    return (int64_t)sizeof *sdf + sdf->room * (int64_t)sizeof *sdf->values + sdf->state_room + rh_bvh_bytes(&sdf->tree);
}
