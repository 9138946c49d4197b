// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// For loops over the points of a search (points/neighbours.h), eight at a time. Internal to points/.
#pragma once
#include "base/simd.h"
#include "points/neighbours.h"

// Squared distances (m^2) of eight points from p on, and the way to them.
static inline rh_f8 rh_near_eight(const rh_neighbours *n, int64_t p, rh_vec3 place, rh_f8 way[3])
{
    way[0] = rh_f8_load(n->x + p) - place.x;
    way[1] = rh_f8_load(n->y + p) - place.y;
    way[2] = rh_f8_load(n->z + p) - place.z;
    return way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
}
// Bits of the eight from p on that belong to a run which ends at `end`.
static inline int rh_near_bits(rh_i8 near, int64_t p, int64_t end)
{
    int bits = rh_i8_bits(near);
    return end - p < 8 ? bits & ((1 << (end - p)) - 1) : bits;
}

// The row of cells with a key, -1 when it holds nothing.
int64_t rh_neighbours_row(const rh_neighbours *n, uint64_t key);
// The first of a row's cells whose place along x, counted from low[0], is at least x; the row's end when there is none.
int64_t rh_neighbours_cell_from(const rh_neighbours *n, int64_t row, int64_t x);
