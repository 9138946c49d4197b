// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Points that can be used, sorted into search cells, and how deep in the material each cell lies (the automatic
// form of the subset of Jones 2018, section 5.5: what is deep needs no shape).
//
// A cell is half a search radius wide. Its depth is the number of cells (corners count as neighbours) to the nearest
// empty one: at depth d the nearest empty cell is at least d - 1 cells away from anything in it.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/parallel.h"
#include "grid/bits.h"
#include "surface/parts.h"

// Default voxel, in particle radii: half the spacing when a particle's ball has its volume.
static const double VOXEL_RADII = 0.8;
static const double FARTHEST = 1 << 22;  // voxels from the origin: beyond it a float cannot tell half voxels apart

// --- radii -----------------------------------------------------------------------------------------------------------
static void list_attributes(const rh_points *points, char *out, size_t room)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < points->attribute_count && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? ", " : "", points->attributes[i].name);
}

// About how far apart the points are, for advice only: the mean distance to the nearest neighbour, of up to a thousand
// points spread over the set. Files keep neighbours together, so the nearest of the next 64 points will do.
static double guess_spacing(const rh_vec3 *p, int64_t count)
{
    double sum = 0;
    int64_t seen = 0, step = count / 1000 + 1;
    for (int64_t i = 0; i + 1 < count; i += step) {
        double least = INFINITY;
        for (int64_t k = i + 1; k < count && k <= i + 64; k++) {
            double d = rh_v3_length(rh_v3_sub(p[k], p[i]));
            if (d > 0 && d < least) least = d;
        }
        if (least < INFINITY) sum += least, seen++;
    }
    return seen ? 1.4 * sum / (double)seen : 1;  // of scattered points the nearest is nearer than their spacing
}

static rh_code find_radii(rh_surface_cloud *cloud, rh_status *status)
{
    const rh_attribute *found = rh_points_find(cloud->points, "radius");
    if (!found) found = rh_points_find(cloud->points, "pscale");
    cloud->radius = NULL;
    cloud->radius_all = (float)cloud->params->radius;
    if (cloud->params->radius > 0 || cloud->points->count == 0) return RH_OK;
    if (found && found->type == RH_POINT_F32) {
        if (found->uniform) cloud->radius_all = *(const float *)found->data;
        else cloud->radius = found->data;
        return RH_OK;
    }
    char names[512];
    list_attributes(cloud->points, names, sizeof names);
    double spacing = guess_spacing(cloud->position, cloud->points->count);
    return rh_fail(status, RH_USER,
                   "the points have no attribute radius or pscale of type float (found %s); give one, as in --set "
                   "radius=%.2g for points about %.2g m apart",
                   names, 0.62 * spacing, spacing);
}

static rh_code find_group(rh_surface_cloud *cloud, rh_status *status)
{
    const char *name = cloud->params->group;
    cloud->group = NULL;
    if (!name || !*name || cloud->points->count == 0) return RH_OK;
    const rh_attribute *found = rh_points_find(cloud->points, name);
    if (found && (found->type == RH_POINT_I32 || found->type == RH_POINT_GROUP) && !found->uniform)
        return cloud->group = found, RH_OK;
    char names[512];
    list_attributes(cloud->points, names, sizeof names);
    return rh_fail(status, RH_USER, "group: found no group or int32 attribute '%s' in the points, which have %s", name,
                   names);
}

// --- points that can be used -----------------------------------------------------------------------------------------
static bool is_good_radius(float r) { return r > 0 && r < 1e18f; }

// The mean and the largest of the good radii; sums by block, in fixed order.
static rh_code measure_radii(rh_surface_cloud *cloud, rh_arena *arena, rh_status *status)
{
    int64_t count = cloud->points->count, blocks = rh_blocks(count);
    rh_arena_mark mark = rh_arena_save(arena);
    double *sums = rh_arena_take(arena, (size_t)(3 * blocks + 1) * sizeof *sums, status);
    if (!sums) return RH_MEMORY;
    double *most = sums + blocks, *counts = most + blocks;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        sums[b] = most[b] = counts[b] = 0;
        for (int64_t p = b * RH_BLOCK; p < rh_block_end(b, count); p++) {
            float r = rh_cloud_radius(cloud, (uint32_t)p);
            if (!is_good_radius(r)) continue;
            sums[b] += r;
            counts[b]++;
            if (r > most[b]) most[b] = r;
        }
    }
    double all = rh_sum(counts, blocks);
    cloud->mean_radius = all > 0 ? rh_sum(sums, blocks) / all : 0;
    cloud->largest_radius = rh_max(most, blocks);
    rh_arena_restore(arena, mark);
    return RH_OK;
}

// Absurd is what lies farther away than coordinates can tell particles apart. Voxels may be smaller than particles,
// though: see check_voxel.
static double farthest_of(const rh_surface_cloud *cloud)
{
    return FARTHEST * fmax(cloud->voxel, VOXEL_RADII * cloud->mean_radius);
}

static rh_code check_voxel(const rh_surface_cloud *cloud, rh_status *status)
{
    double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t p = 0; p < cloud->points->count; p++) {
        rh_vec3 x = cloud->position[p];
        most = fmax(most, fmax(fabsf(x.x), fmax(fabsf(x.y), fabsf(x.z))));
    }
    if (most < FARTHEST * cloud->voxel) return RH_OK;
    return rh_fail(
        status, RH_USER,
        "voxel: found %g m, too small for points %g m from the origin and %g m in radius; expected at least %.2g m",
        cloud->voxel, most, cloud->mean_radius, 1.01 * most / FARTHEST);
}

enum { GOOD, BAD_POSITION, BAD_RADIUS };

static int verdict(const rh_surface_cloud *cloud, double farthest, uint32_t p)
{
    rh_vec3 x = cloud->position[p];
    if (!(fabsf(x.x) < farthest && fabsf(x.y) < farthest && fabsf(x.z) < farthest)) return BAD_POSITION;
    return is_good_radius(rh_cloud_radius(cloud, p)) ? GOOD : BAD_RADIUS;
}

static void refresh(rh_surface_cloud *cloud)
{
    rh_points *points = cloud->points;
    cloud->position = rh_points_data(points, "P", RH_POINT_VEC3F);
    rh_status none = {0};
    find_radii(cloud, &none);  // they were found before
    find_group(cloud, &none);
}

static rh_code drop_bad(rh_surface_cloud *cloud, rh_arena *arena, rh_surfacing_report *report, rh_status *status)
{
    int64_t count = cloud->points->count, bad[3] = {0};
    double farthest = farthest_of(cloud);
#pragma omp parallel for schedule(static) reduction(+ : bad[:3])
    for (int64_t p = 0; p < count; p++) bad[verdict(cloud, farthest, (uint32_t)p)]++;
    report->bad_positions = bad[BAD_POSITION];
    report->bad_radii = bad[BAD_RADIUS];
    if (bad[GOOD] == count) return RH_OK;
    rh_arena_mark mark = rh_arena_save(arena);
    uint32_t *order = rh_arena_take(arena, (size_t)(bad[GOOD] + 1) * sizeof *order, status);
    if (!order) return RH_MEMORY;
    int64_t kept = 0;
    for (int64_t p = 0; p < count; p++)
        if (verdict(cloud, farthest, (uint32_t)p) == GOOD) order[kept++] = (uint32_t)p;
    rh_code code = rh_points_permute(cloud->points, order, kept, status);
    rh_arena_restore(arena, mark);
    refresh(cloud);
    return code;
}

// --- depth -----------------------------------------------------------------------------------------------------------
// Layer by layer: cells next to one that is less deep.
static rh_code find_depths(rh_surface_cloud *cloud, rh_arena *arena, rh_status *status)
{
    const rh_tiles *cells = &cloud->cells;
    cloud->depth = rh_arena_take_zero(arena, (size_t)rh_tiles_values(cells) + 1, status);
    rh_arena_mark mark = rh_arena_save(arena);
    rh_bits *now = rh_arena_take(arena, ((size_t)cells->count + 1) * sizeof *now, status);
    rh_bits *next = rh_arena_take(arena, ((size_t)cells->count + 1) * sizeof *next, status);
    if (!cloud->depth || !now || !next) return RH_MEMORY;
    for (int layer = 0; layer <= cloud->deepest; layer++) {  // `now`: cells at least so deep
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < cells->count; t++) {
            const uint32_t *first = cells->first + (int64_t)t * cells->cells;
            uint8_t *depth = cloud->depth + (int64_t)t * cells->cells;
            rh_bits deep = {{0}}, shallow = layer > 1 ? rh_bits_spread(cells, now, t, 1, ~0ull, ~0ull) : deep;
            for (int k = 0; k < RH_TILE; k++) {
                if (layer == 1)
                    for (int c = 0; c < 64; c++)
                        deep.layer[k] |= (uint64_t)(first[64 * k + c] < first[64 * k + c + 1]) << c;
                else if (layer > 1) deep.layer[k] = ~shallow.layer[k];
                for (uint64_t bits = deep.layer[k]; bits; bits &= bits - 1)
                    depth[64 * k + __builtin_ctzll(bits)] = (uint8_t)layer;
            }
            next[t] = deep;
        }
        rh_bits *other = now;
        now = next;
        next = other;
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}

static void choose_depths(rh_surface_cloud *cloud, double cell, double search, double close)
{
    const rh_surfacing_params *params = cloud->params;
    double band = (double)params->half_band * cloud->voxel + close, ball = cloud->largest_radius;
    cloud->sphere_depth = 1 + (int)ceil(search / cell - 1e-9);
    // The surface may run up to a cell inside of the nearest occupied one.
    cloud->inside_depth = 2 + (int)ceil(band / cell);
    int spread = 1 + (int)ceil(ball / cell);
    cloud->skip_depth = cloud->inside_depth + spread;
    cloud->deepest = cloud->skip_depth > cloud->sphere_depth ? cloud->skip_depth : cloud->sphere_depth;
    if (params->skip_deep && cloud->deepest < 200) return;
    cloud->sphere_depth = cloud->inside_depth = cloud->skip_depth = 255;
    cloud->deepest = 1;
}

static void find_extent(rh_surface_cloud *cloud)
{
    for (int a = 0; a < 3; a++) cloud->low[a] = INT32_MAX, cloud->high[a] = INT32_MIN;
    for (int32_t t = 0; t < cloud->cells.count; t++)
        for (int a = 0; a < 3; a++) {
            int first = RH_TILE * (&cloud->cells.at[t].x)[a];
            if (first < cloud->low[a]) cloud->low[a] = first;
            if (first + RH_TILE - 1 > cloud->high[a]) cloud->high[a] = first + RH_TILE - 1;
        }
}

static void choose_voxel(rh_surface_cloud *cloud)
{
    cloud->voxel = cloud->params->voxel > 0 ? cloud->params->voxel : VOXEL_RADII * cloud->mean_radius;
    if (!(cloud->voxel > 0)) cloud->voxel = 1;  // no radius to take it from: no point that can be used
}

rh_code rh_cloud_make(rh_surface_cloud *cloud, const rh_surfacing_params *params, rh_points *points, rh_arena *arena,
                      rh_surfacing_report *report, rh_status *status)
{
    *cloud = (rh_surface_cloud){.params = params, .points = points};
    const rh_attribute *position = rh_points_find(points, "P");
    if (!position || position->type != RH_POINT_VEC3F || position->uniform)
        return rh_fail(status, RH_USER, "the points have no positions (attribute P of type vec3f)");
    cloud->position = position->data;
    RH_TRY(find_radii(cloud, status));
    RH_TRY(find_group(cloud, status));
    RH_TRY(measure_radii(cloud, arena, status));
    choose_voxel(cloud);
    RH_TRY(drop_bad(cloud, arena, report, status));
    RH_TRY(measure_radii(cloud, arena, status));  // without those that were dropped
    choose_voxel(cloud);
    RH_TRY(check_voxel(cloud, status));
    bool ellipsoids = params->mode == RH_SURFACING_ELLIPSOID;
    bool closes = ellipsoids || params->mode == RH_SURFACING_BLOCKS;
    double search = ellipsoids ? params->search_radius * cloud->mean_radius : 0,
           widest = ellipsoids ? params->search_radius * cloud->largest_radius : 0;
    // Half a search radius. The halo of a tile is four cells: where particles differ cells grow with the widest search,
    // but only to twice the size, or one giant would put all others into a few cells. Farther than the halo nobody
    // looks.
    double cell = ellipsoids ? fmax(search / 2, fmin(widest / 4, search)) : 2.5 * cloud->mean_radius;
    if (!(cell > 0)) cell = cloud->voxel;
    cloud->widest = fmin(widest, 3.999 * cell);
    choose_depths(cloud, cell, cloud->widest, closes ? params->close * cloud->mean_radius : 0);
    RH_TRY(rh_tiles_build(&cloud->cells, 3, cell, cloud->position, points->count, 1, arena, status));
    RH_TRY(rh_tiles_sort(&cloud->cells, points, arena, status));
    refresh(cloud);
    find_extent(cloud);
    report->points = points->count;
    report->radius = cloud->mean_radius;
    report->voxel = cloud->voxel;
    return find_depths(cloud, arena, status);
}
