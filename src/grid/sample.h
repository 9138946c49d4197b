// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Eight particles at a time read face values, linearly between lattice points (staggered.h), from a dense copy of a
// tile's surroundings. Internal to grid/.
#pragma once
#include <math.h>
#include "base/simd.h"
#include "grid/staggered.h"

#define RH_INLINE static inline __attribute__((always_inline))

typedef struct rh_face_block {
    const float *axis[3];  // at the tile's first cell
    int side;
    float low, high;  // cells from the tile's corner: where all components can be read
} rh_face_block;

// Copies the tile and `halo` cells around it into memory of 3 * rh_block_values; beyond the tiles the field is
// `beyond`.
static inline void rh_face_block_load(const rh_tiles *tiles, rh_faces field, int32_t t, int halo, rh_vec3 beyond,
                                      float *memory, rh_face_block *block)
{
    int count = rh_block_values(tiles, halo), corner = rh_block_index(tiles, halo, 0, 0, 0);
    *block = (rh_face_block){
        .side = rh_block_side(halo), .low = 0.5f - (float)halo, .high = nextafterf((float)(RH_TILE - 1 + halo), 0)};
    for (int a = 0; a < tiles->dimension; a++) {
        rh_block_load(tiles, field.axis[a], t, halo, (&beyond.x)[a], memory + (int64_t)a * count);
        block->axis[a] = memory + (int64_t)a * count + corner;
    }
}

typedef struct rh_eight {
    rh_f8 axis[3];
} rh_eight;  // eight vectors

typedef struct rh_spots {
    rh_i8 cell[2][3];
    rh_f8 way[2][3];
} rh_spots;  // as rh_spot, for eight

RH_INLINE rh_spots rh_spots_of(int dimension, const rh_face_block *block, rh_eight local)
{
    rh_spots s;
    for (int a = 0; a < dimension; a++) {
        rh_f8 x = rh_f8_min(rh_f8_max(local.axis[a], rh_f8_all(block->low)), rh_f8_all(block->high));
        for (int kind = RH_WHOLE; kind <= RH_HALF; kind++) {
            rh_f8 g = kind == RH_HALF ? x - 0.5f : x;
            s.cell[kind][a] = rh_f8_floor(g);
            s.way[kind][a] = g - __builtin_convertvector(s.cell[kind][a], rh_f8);
        }
    }
    return s;
}

typedef struct rh_edge {
    rh_f8 value, slope;
} rh_edge;

RH_INLINE rh_edge rh_along_x(const float *f, rh_i8 at, rh_f8 way)
{
    rh_f8 first, second;
    rh_f8_gather_pairs(f, at, &first, &second);
    return (rh_edge){first + way * (second - first), second - first};
}

RH_INLINE rh_f8 rh_between(rh_f8 low, rh_f8 high, rh_f8 way) { return low + way * (high - low); }

// One component; `slope` (may be NULL) gets its gradient per cell.
RH_INLINE rh_f8 rh_sample(int dimension, const rh_face_block *block, int component, const rh_spots *s, rh_f8 *slope)
{
    int kx = rh_staggered_half(component, 0), ky = rh_staggered_half(component, 1),
        kz = rh_staggered_half(component, 2), side = block->side;
    rh_f8 x = s->way[kx][0], y = s->way[ky][1];
    rh_i8 at = s->cell[kx][0] + side * (dimension == 3 ? s->cell[ky][1] + side * s->cell[kz][2] : s->cell[ky][1]);
    const float *f = block->axis[component];
    rh_edge a = rh_along_x(f, at, x), b = rh_along_x(f + side, at, x);
    rh_f8 near = rh_between(a.value, b.value, y);
    if (dimension == 2) {
        if (slope) slope[0] = rh_between(a.slope, b.slope, y), slope[1] = b.value - a.value, slope[2] = rh_f8_all(0);
        return near;
    }
    f += side * side;
    rh_edge c = rh_along_x(f, at, x), d = rh_along_x(f + side, at, x);
    rh_f8 far = rh_between(c.value, d.value, y), z = s->way[kz][2];
    if (slope) {
        slope[0] = rh_between(rh_between(a.slope, b.slope, y), rh_between(c.slope, d.slope, y), z);
        slope[1] = rh_between(b.value - a.value, d.value - c.value, z);
        slope[2] = far - near;
    }
    return rh_between(near, far, z);
}

// All components at eight places, in cells from the tile's corner.
RH_INLINE rh_eight rh_sample_faces(int dimension, const rh_face_block *block, rh_eight local)
{
    rh_spots s = rh_spots_of(dimension, block, local);
    rh_eight out = {0};
    for (int a = 0; a < dimension; a++) out.axis[a] = rh_sample(dimension, block, a, &s, NULL);
    return out;
}

// Positions of eight particles, m, and in cells from the tile's corner (exact, as the difference of nearby floats is).
RH_INLINE rh_eight rh_local_eight(int dimension, const rh_tiles *tiles, rh_tile at, rh_eight p)
{
    const int corner[3] = {at.x * RH_TILE, at.y * RH_TILE, at.z * RH_TILE};
    rh_eight local = {0};
    for (int a = 0; a < dimension; a++) local.axis[a] = p.axis[a] * tiles->inverse_h - (float)corner[a];
    return local;
}
