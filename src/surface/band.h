// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A narrow band: the distance to a surface (m, negative inside) in the voxels near it and nowhere else, with the values
// of particle attributes there. Leaves of 8 x 8 x 8 voxels laid out as OpenVDB's leaves are, so that exchange is a
// copy:
//
//      voxel (x, y, z) of leaf L           its value at            its bit
//      8 at[L] + (x, y, z)                 64 x + 8 y + z          8 y + z of word x
//
// Voxel (i, j, k) lies at (i, j, k) * voxel in the world. A voxel that is not active has the value +background or
// -background; whatever is in no leaf is outside, unless it is enclosed by leaves whose border is inside. The struct
// owns its arrays.
#pragma once
#include <stdint.h>
#include "grid/bits.h"
#include "grid/tiles.h"
#include "points/points.h"

enum { RH_LEAF = 512, RH_BAND_CHANNELS = 16 };

typedef struct rh_band_channel {
    char name[RH_POINT_NAME];
    rh_point_type type;  // F32, I32, I64 or VEC3F
    void *data;          // [count][512]: what the nearest particle carries, zero in voxels that are not active
} rh_band_channel;

typedef struct rh_band {
    double voxel;             // m
    float background;         // m: half the width of the band
    int32_t count;            // leaves
    rh_tile *at;              // [count] in leaves
    int32_t *by_place;        // [count] leaves in the order of x, then y, then z; NULL when they already are
    float (*value)[RH_LEAF];  // [count]
    rh_bits *active;          // [count]
    rh_band_channel channels[RH_BAND_CHANNELS];
    int channel_count;
} rh_band;

void rh_band_free(rh_band *band);             // also of a band that is all zero
int64_t rh_band_active(const rh_band *band);  // voxels
int64_t rh_band_bytes(const rh_band *band);
uint64_t rh_band_hash(const rh_band *band);  // of everything in it, to compare bands bit by bit
const rh_band_channel *rh_band_channel_find(const rh_band *band, const char *name);  // NULL when missing
int32_t rh_band_find(const rh_band *band, rh_tile at);                               // -1 when not there
// The distance at voxel (i, j, k), where a missing leaf counts as outside. For tests and small uses.
float rh_band_at(const rh_band *band, int i, int j, int k);
