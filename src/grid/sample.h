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

typedef struct rh_vec3x8 {
    rh_f8 axis[3];
} rh_vec3x8;  // eight vectors

typedef struct rh_stencil8 {
    rh_i8 cell[2][3];
    rh_f8 fraction[2][3];
} rh_stencil8;  // as rh_stencil, for eight

RH_INLINE rh_stencil8 rh_stencil8_at(int dimension, const rh_face_block *block, rh_vec3x8 local)
{
    rh_stencil8 s;
    for (int a = 0; a < dimension; a++) {
        rh_f8 x = rh_f8_min(rh_f8_max(local.axis[a], rh_f8_all(block->low)), rh_f8_all(block->high));
        for (int kind = RH_WHOLE; kind <= RH_HALF; kind++) {
            rh_f8 g = kind == RH_HALF ? x - 0.5f : x;
            s.cell[kind][a] = rh_f8_floor(g);
            s.fraction[kind][a] = g - __builtin_convertvector(s.cell[kind][a], rh_f8);
        }
    }
    return s;
}

typedef struct rh_value_slope {
    rh_f8 value, slope;
} rh_value_slope;

RH_INLINE rh_value_slope rh_lerp_x(const float *f, rh_i8 at, rh_f8 way)
{
    rh_f8 first, second;
    rh_f8_gather_pairs(f, at, &first, &second);
    return (rh_value_slope){first + way * (second - first), second - first};
}

RH_INLINE rh_f8 rh_lerp(rh_f8 low, rh_f8 high, rh_f8 way) { return low + way * (high - low); }

// One component; `slope` (may be NULL) gets its gradient per cell.
RH_INLINE rh_f8 rh_sample(int dimension, const rh_face_block *block, int component, const rh_stencil8 *s, rh_f8 *slope)
{
    int kx = rh_staggered_half(component, 0), ky = rh_staggered_half(component, 1),
        kz = rh_staggered_half(component, 2), side = block->side;
    rh_f8 x = s->fraction[kx][0], y = s->fraction[ky][1];
    rh_i8 at = s->cell[kx][0] + side * (dimension == 3 ? s->cell[ky][1] + side * s->cell[kz][2] : s->cell[ky][1]);
    const float *f = block->axis[component];
    rh_value_slope a = rh_lerp_x(f, at, x), b = rh_lerp_x(f + side, at, x);
    rh_f8 near = rh_lerp(a.value, b.value, y);
    if (dimension == 2) {
        if (slope) slope[0] = rh_lerp(a.slope, b.slope, y), slope[1] = b.value - a.value, slope[2] = rh_f8_all(0);
        return near;
    }
    f += side * side;
    rh_value_slope c = rh_lerp_x(f, at, x), d = rh_lerp_x(f + side, at, x);
    rh_f8 far = rh_lerp(c.value, d.value, y), z = s->fraction[kz][2];
    if (slope) {
        slope[0] = rh_lerp(rh_lerp(a.slope, b.slope, y), rh_lerp(c.slope, d.slope, y), z);
        slope[1] = rh_lerp(b.value - a.value, d.value - c.value, z);
        slope[2] = far - near;
    }
    return rh_lerp(near, far, z);
}

// All components at eight places, in cells from the tile's corner.
RH_INLINE rh_vec3x8 rh_sample_faces(int dimension, const rh_face_block *block, rh_vec3x8 local)
{
    rh_stencil8 s = rh_stencil8_at(dimension, block, local);
    rh_vec3x8 out = {0};
    for (int a = 0; a < dimension; a++) out.axis[a] = rh_sample(dimension, block, a, &s, NULL);
    return out;
}

// Positions of eight particles, m, and in cells from the tile's corner (exact, as the difference of nearby floats is).
RH_INLINE rh_vec3x8 rh_local_positions8(int dimension, const rh_tiles *tiles, rh_tile at, rh_vec3x8 p)
{
    const int corner[3] = {at.x * RH_TILE, at.y * RH_TILE, at.z * RH_TILE};
    rh_vec3x8 local = {0};
    for (int a = 0; a < dimension; a++) local.axis[a] = p.axis[a] * tiles->inverse_h - (float)corner[a];
    return local;
}
