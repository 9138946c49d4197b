// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A particle's place among the points of the staggered lattices, all components at once. Along its own axis a component
// sits at whole cells, along the others at halves (cell centres: halves along all), so two places per axis serve all
// four lattices. Internal to grid/.
#pragma once
#include "base/simd.h"
#include "grid/tiles.h"

enum { RH_WHOLE = 0, RH_HALF = 1 };

typedef struct rh_stencil {
    int32_t cell[2][4];    // [RH_WHOLE or RH_HALF][axis]: lattice cell, from the tile's corner
    float fraction[2][4];  // position in it, 0..1
} rh_stencil;

// Position in cells from the tile's corner; exact, as the difference of nearby floats is. z is 0 in 2D.
static inline rh_f4 rh_local_position(const rh_tiles *tiles, rh_tile at, rh_vec3 p)
{
    float z = tiles->dimension == 3 ? p.z * tiles->inverse_h - (float)(at.z * RH_TILE) : 0;
    return (rh_f4){p.x * tiles->inverse_h - (float)(at.x * RH_TILE), p.y * tiles->inverse_h - (float)(at.y * RH_TILE),
                   z, 0};
}

static inline rh_stencil rh_stencil_at(rh_f4 local)
{
    rh_f4 half = local - 0.5f;
    rh_i4 whole_cell = rh_f4_floor(local), half_cell = rh_f4_floor(half);
    rh_f4 whole_way = local - __builtin_convertvector(whole_cell, rh_f4),
          half_way = half - __builtin_convertvector(half_cell, rh_f4);
    rh_stencil s;
    memcpy(s.cell[RH_WHOLE], &whole_cell, sizeof whole_cell);
    memcpy(s.cell[RH_HALF], &half_cell, sizeof half_cell);
    memcpy(s.fraction[RH_WHOLE], &whole_way, sizeof whole_way);
    memcpy(s.fraction[RH_HALF], &half_way, sizeof half_way);
    return s;
}

// Which of the two a component (3 = cell centres) uses along an axis.
static inline int rh_staggered_half(int component, int axis) { return component == axis ? RH_WHOLE : RH_HALF; }
