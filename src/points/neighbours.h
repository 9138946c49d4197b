// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which points are near: the one search for neighbours, of expressions, of surfaces and of methods that live on
// particles.
//
//   rh_neighbours_build     once for a set of positions, again whenever they moved; then, from any thread,
//   rh_neighbours_within    all points around a place,
//   rh_neighbours_nearest   the nearest few of them;
//   rh_adjacency_build      (points/adjacency.h) the neighbours of every point, as lists;
//   rh_near_window_to       (points/near_parts.h) the points around one cell after the other, for sums without lists.
//
// Points are put into cubic cells of a grid without borders and sorted by cell: z first, then y, then x, points of a
// cell by their number. So the cells of a row along x that a question is about are one run of points, 9 runs (3 in two
// dimensions) where the radius is a cell. Rows that hold points stand in a hash table: memory goes with the number of
// points, never with the space between them. The order of an answer is that of the sort. It depends on the points and
// on the cell's size alone, never on threads.
//
// The memory belongs to the structure and is used again by the next build: a steady set allocates nothing.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/vec.h"

typedef struct rh_neighbours {
    int dimension;
    double cell;              // m
    int64_t count;            // points that are in, at most as many as were given
    float *x, *y, *z;         // [count + 8] m, sorted; eight more may be read, they count for nothing
    float *radius;            // [count + 8] m, sorted; only with has_radii
    uint32_t *index;          // [count] the number each point was given with
    int64_t cells, rows;      // that hold points
    uint64_t *cell_keys;      // [cells] ascending
    uint32_t *cell_first;     // [cells + 1] first point of each
    uint64_t *row_keys;       // [rows] ascending: what the keys of a row's cells begin with
    uint32_t *row_first;      // [rows + 1] first cell of each; with rows_only: first point
    uint32_t *table;          // hash table of rows
    uint32_t table_mask;      // its size less one
    int64_t low[3], high[3];  // cells that hold points lie between them
    int bits[2];              // of a key that are x, and y
    bool has_radii;
    bool rows_only;  // there are no cells and no table: no questions, only loops of one's own over rows
    float largest;   // m, of the radii
    struct {
        int64_t points, cells, rows, table;
    } room;  // that there is memory for
} rh_neighbours;

typedef struct rh_neighbours_input {
    int dimension;             // 2: z is not looked at
    const rh_vec3 *positions;  // m
    const float *radii;        // m, one each, for neighbourhoods by particle; NULL: none
    int64_t count;
    double cell;     // m: best rh_neighbours_cell of the radius that will be asked for; 0: from the radii, or so that a
                     // cell of a filled box holds four points
    bool leave_out;  // positions and radii that are no finite numbers (or negative) have no neighbours and are
                     // nobody's; else RH_NUMERIC, naming the first
    bool rows_only;  // for loops of one's own over rows: nothing is made that only questions need
} rh_neighbours_input;

// A cell that makes a radius span three cells whatever rounding does: floats accept pairs a little too far apart.
static inline double rh_neighbours_cell(double radius) { return radius * (1 + 1e-5); }

// `*n` is all zeros before the first build. Scratch of the sort comes from the arena and goes back there. On failure
// the structure is empty, but keeps its memory.
rh_code rh_neighbours_build(rh_neighbours *n, const rh_neighbours_input *input, rh_arena *arena, rh_status *status);
void rh_neighbours_free(rh_neighbours *n);

// For loops of one's own over the sorted points: runs [begin, end) of them.
typedef struct rh_neighbours_run {
    uint32_t begin, end;
} rh_neighbours_run;
// The runs of all cells that come within `radius` of a place; returns how many. `runs` may be NULL, to count them.
int64_t rh_neighbours_box(const rh_neighbours *n, rh_vec3 place, float radius, rh_neighbours_run *runs);

// One answer; grows, and is used again and again.
typedef struct rh_neighbour_list {
    uint32_t *index;  // numbers the points were given with
    rh_vec3 *offset;  // their position minus the place asked about (m)
    float *distance;  // m
    int64_t count, capacity;
} rh_neighbour_list;

// All points within `radius` of `place`, the border included. Nothing is near a place, or within a radius, that is no
// number.
rh_code rh_neighbours_within(const rh_neighbours *n, rh_vec3 place, float radius, rh_neighbour_list *found,
                             rh_status *status);
// Of these the `most` nearest, nearest first; at equal distance the smaller number.
rh_code rh_neighbours_nearest(const rh_neighbours *n, rh_vec3 place, float radius, int64_t most,
                              rh_neighbour_list *found, rh_status *status);
void rh_neighbour_list_free(rh_neighbour_list *found);
