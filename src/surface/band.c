// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A leaf is found by bisection in the order of places.
#include "surface/band.h"

#include <string.h>
#include "base/hash.h"
#include "base/memory.h"

void rh_band_free(rh_band *band)
{
    rh_free(band->at);
    rh_free(band->by_place);
    rh_free(band->value);
    rh_free(band->active);
    for (int c = 0; c < band->channel_count; c++) rh_free(band->channels[c].data);
    *band = (rh_band){0};
}

int64_t rh_band_active(const rh_band *band)
{
    int64_t sum = 0;
    for (int32_t l = 0; l < band->count; l++)
        for (int k = 0; k < RH_TILE; k++) sum += __builtin_popcountll(band->active[l].layer[k]);
    return sum;
}

int64_t rh_band_bytes(const rh_band *band)
{
    size_t voxel = sizeof(float);
    for (int c = 0; c < band->channel_count; c++) voxel += rh_point_type_size(band->channels[c].type);
    return (int64_t)band->count * (int64_t)(RH_LEAF * voxel + sizeof(rh_tile) + sizeof(rh_bits));
}

uint64_t rh_band_hash(const rh_band *band)
{
    size_t count = (size_t)band->count;
    uint64_t h = rh_hash(&band->voxel, sizeof band->voxel, (uint64_t)band->count);
    h = rh_hash(band->at, count * sizeof *band->at, h);
    h = rh_hash(band->value, count * sizeof *band->value, h);
    h = rh_hash(band->active, count * sizeof *band->active, h);
    for (int c = 0; c < band->channel_count; c++)
        h = rh_hash(band->channels[c].data, count * RH_LEAF * rh_point_type_size(band->channels[c].type), h);
    return h;
}

const rh_band_channel *rh_band_channel_find(const rh_band *band, const char *name)
{
    RH_ASSERT(band->channel_count >= 0 && band->channel_count <= RH_BAND_CHANNELS);
    for (int c = 0; c < band->channel_count; c++)
        if (strcmp(band->channels[c].name, name) == 0) return &band->channels[c];
    return NULL;
}

static int compare(rh_tile a, rh_tile b)
{
    if (a.x != b.x) return a.x < b.x ? -1 : 1;
    if (a.y != b.y) return a.y < b.y ? -1 : 1;
    return a.z < b.z ? -1 : a.z > b.z;
}

int32_t rh_band_find(const rh_band *band, rh_tile at)
{
    int32_t low = 0, high = band->count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (compare(band->at[band->by_place ? band->by_place[middle] : middle], at) < 0) low = middle + 1;
        else high = middle;
    }
    if (low == band->count) return -1;
    int32_t found = band->by_place ? band->by_place[low] : low;
    return compare(band->at[found], at) == 0 ? found : -1;
}

float rh_band_at(const rh_band *band, int i, int j, int k)
{
    int32_t leaf = rh_band_find(band, (rh_tile){i >> 3, j >> 3, k >> 3});
    return leaf < 0 ? band->background : band->value[leaf][64 * (i & 7) + 8 * (j & 7) + (k & 7)];
}
