// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Narrow bands of shapes given by their distance, for tests of what comes after the surfacing.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "surface/band.h"

typedef double band_shape(const void *parameters, double x, double y, double z);  // m, negative inside

typedef struct band_balls {
    int count;
    double ball[8][4];
} band_balls;  // center and radius, m

static inline double band_of_balls(const void *parameters, double x, double y, double z)
{
    const band_balls *b = parameters;
    double nearest = INFINITY;
    for (int i = 0; i < b->count; i++)
        nearest = fmin(nearest,
                       sqrt(pow(x - b->ball[i][0], 2) + pow(y - b->ball[i][1], 2) + pow(z - b->ball[i][2], 2)) -
                           b->ball[i][3]);
    return nearest;
}

typedef struct band_ring {
    double radius, thickness;
} band_ring;  // of a torus around the y axis, m

static inline double band_of_ring(const void *parameters, double x, double y, double z)
{
    const band_ring *r = parameters;
    return hypot(hypot(x, z) - r->radius, y) - r->thickness;
}

// What the channels of a test band hold at a place (m): linear, so that interpolation is exact.
static inline rh_vec3 band_velocity(double x, double y, double z)
{
    return rh_v3((float)(1 + x), (float)(2 * y - z), (float)(3 * z));
}
static inline float band_heat(double x, double y, double z) { return (float)(x + 2 * y + 3 * z); }
static inline int32_t band_half(double x) { return x < 0 ? -7 : 9; }

static inline void *band_block(size_t bytes)
{
    void *block = rh_alloc_zero(bytes, "test.band", NULL);
    if (!block) abort();
    return block;
}

static inline void band_fill_voxel(rh_band *band, int32_t l, int v, double phi, double x, double y, double z,
                                   bool channels)
{
    bool active = fabs(phi) < band->background;
    band->value[l][v] = active ? (float)phi : copysignf(band->background, (float)phi);
    if (!active) return;
    band->active[l].layer[v >> 6] |= 1ull << (v & 63);
    if (!channels) return;
    size_t at = (size_t)l * RH_LEAF + (size_t)v;
    ((rh_vec3 *)band->channels[0].data)[at] = band_velocity(x, y, z);
    ((float *)band->channels[1].data)[at] = band_heat(x, y, z);
    ((int32_t *)band->channels[2].data)[at] = band_half(x);
    ((int64_t *)band->channels[3].data)[at] = ((int64_t)1 << 40) + band_half(x);
}

// The band of a shape within a cube of `reach` m around the origin; `half` voxels to each side; channels vel, heat,
// side (int32) and tag (int64) when asked for. Leaves that the band does not touch are left out.
static inline rh_band band_make(band_shape *shape, const void *parameters, double reach, double voxel, int half,
                                bool channels)
{
    static const struct {
        const char *name;
        rh_point_type type;
    } kinds[] = {{"vel", RH_POINT_VEC3F}, {"heat", RH_POINT_F32}, {"side", RH_POINT_I32}, {"tag", RH_POINT_I64}};
    rh_band band = {.voxel = voxel, .background = (float)(half * voxel), .channel_count = channels ? 4 : 0};
    int n = (int)ceil(reach / (8 * voxel)) + 1, room = 8 * n * n * n;
    band.at = band_block((size_t)room * sizeof *band.at);
    for (int x = -n; x < n; x++)
        for (int y = -n; y < n; y++)
            for (int z = -n; z < n; z++) {
                double c = shape(parameters, (8 * x + 3.5) * voxel, (8 * y + 3.5) * voxel, (8 * z + 3.5) * voxel);
                if (fabs(c) < (half + 6.1) * voxel) band.at[band.count++] = (rh_tile){x, y, z};
            }
    band.value = band_block((size_t)band.count * sizeof *band.value);
    band.active = band_block((size_t)band.count * sizeof *band.active);
    for (int c = 0; c < band.channel_count; c++) {
        strcpy(band.channels[c].name, kinds[c].name);
        band.channels[c].type = kinds[c].type;
        band.channels[c].data = band_block((size_t)band.count * RH_LEAF * rh_point_type_size(kinds[c].type));
    }
    for (int32_t l = 0; l < band.count; l++)
        for (int v = 0; v < RH_LEAF; v++) {
            rh_tile t = band.at[l];
            double x = (8 * t.x + (v >> 6)) * voxel, y = (8 * t.y + (v >> 3 & 7)) * voxel,
                   z = (8 * t.z + (v & 7)) * voxel;
            band_fill_voxel(&band, l, v, shape(parameters, x, y, z), x, y, z, channels);
        }
    return band;
}
