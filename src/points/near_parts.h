// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// For loops over all points of a search (points/neighbours.h) and what is near each, eight at a time: the lists of
// points/adjacency.h, and sums over neighbourhoods that are too short-lived for a list (surface/shape.c).
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

// Whether some points are so far out along x that they share the outermost cell, however far they are from each other.
bool rh_neighbours_clips(const rh_neighbours *n);

// The cell that a given point, by its place, is in.
int64_t rh_neighbours_cell_at(const rh_neighbours *n, int64_t place);

// The points around one cell after the other, in the order of the sort: `rh_near_window_to` from cell to cell of a row
// moves the ends of its runs, so that they are searched for once a row.
enum { RH_NEAR_REACH = 4, RH_NEAR_ROWS = (2 * RH_NEAR_REACH + 1) * (2 * RH_NEAR_REACH + 1) };
typedef struct rh_near_window {
    const rh_neighbours *n;
    int reach;     // cells along each axis, at most RH_NEAR_REACH
    bool forward;  // only the row of `cell` itself, which comes first, and those behind it: for loops over pairs
    int64_t cell;  // -1: none yet
    int count;     // of rows that hold points
    struct {
        int64_t row, begin, end;  // its number; cells of it that are near: [begin, end)
        int8_t y, z;              // cells from the row of `cell`
    } rows[RH_NEAR_ROWS];
    rh_neighbours_run runs[RH_NEAR_ROWS];  // of points, one a row, in the order of the sort
} rh_near_window;

void rh_near_window_to(rh_near_window *s, int64_t cell);
// The points around the cells from `cell` to `last` of a row, both included.
void rh_near_window_span(rh_near_window *s, int64_t cell, int64_t last);
