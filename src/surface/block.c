// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A particle of a solid is a block of it: a cube of the lattice that it was seeded on, strained and turned as its
// attribute `deformation` (F - 1, rows) says. Blocks of a body that has not flowed fit each other, so the surface is
// that of the body, with its faces and edges where they were, whatever its turn; gaps of uneven strain are closed with
// the others (`close`). What has flowed keeps the elastic part of its strain alone: there blocks overlap and gape by a
// part of a spacing. Bodies with round or oblique faces are seeded in steps, and blocks show these: for them the mode
// ellipsoid is better.
#include <math.h>
#include "surface/parts.h"

static const float EDGE = 1.6119920f;               // of a cube with the volume of a ball, over the ball's radius
static const float LARGEST = 12, SMALLEST = 0.15f;  // |F|^2, det F: beyond it the block is a cube

static rh_vec3 cross_of(rh_vec3 a, rh_vec3 b)
{
    return rh_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// Rows of the inverse of f; false: no block has such a strain.
static bool invert(const float f[9], float out[9])
{
    rh_vec3 row[3], cross[3];
    float square = 0;
    for (int k = 0; k < 3; k++)
        row[k] = rh_v3(f[3 * k], f[3 * k + 1], f[3 * k + 2]), square += rh_v3_dot(row[k], row[k]);
    for (int k = 0; k < 3; k++) cross[k] = cross_of(row[(k + 1) % 3], row[(k + 2) % 3]);
    float det = rh_v3_dot(row[0], cross[0]);
    if (!(square < LARGEST) || !(det > SMALLEST)) return false;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) out[3 * c + k] = (&cross[k].x)[c] / det;
    return true;
}

static void make_block(const rh_surface_cloud *cloud, const float *deformation, uint32_t p, rh_block *out)
{
    float f[9], inverse[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, voxel = (float)(1 / cloud->voxel), square = 0;
    float half = 0.5f * EDGE * rh_cloud_radius(cloud, p) * voxel;
    half = rh_max_of(half, 0.45f);  // thinner ones fall through the grid
    for (int n = 0; n < 9; n++) f[n] = deformation[9 * (int64_t)p + n] + (n % 4 == 0);
    bool strained = invert(f, inverse);
    out->centre = rh_v3_scale(cloud->position[p], voxel);
    for (int k = 0; k < 3; k++) {
        const float *row = inverse + 3 * k;
        out->half[k] = half / sqrtf(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
        for (int c = 0; c < 3; c++) out->across[3 * k + c] = row[c] / half;
    }
    for (int n = 0; n < 9; n++) square += strained ? f[n] * f[n] : n % 4 == 0;
    out->most = half * sqrtf(3 * square);
}

rh_code rh_blocks_make(const rh_surface_cloud *cloud, rh_block **out, float *reach, rh_arena *arena, rh_status *status)
{
    const rh_attribute *of = rh_points_find(cloud->points, "deformation");
    int64_t count = cloud->points->count;
    float most = 0;
    if (!of || of->type != RH_POINT_MAT3F || of->uniform)
        return rh_fail(status, RH_USER,
                       "mode blocks is for solids on particles (elastoplastic): the points have no attribute "
                       "deformation of type mat3f");
    *out = rh_arena_take(arena, (size_t)(count + 1) * sizeof **out, status);
    if (!*out) return RH_MEMORY;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t p = 0; p < count; p++) {
        make_block(cloud, of->data, (uint32_t)p, *out + p);
        most = rh_max_of(most, (*out)[p].most);
    }
    *reach = most;
    return RH_OK;
}
