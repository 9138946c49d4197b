// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The neighbours of every point as lists behind each other, for sums over pairs (smoothed particles, graphs on
// particles).
//
// Points are counted by their places in the sorted order of rh_neighbours; rh_neighbours.index leads back to the
// numbers they were given with. A set that is sorted by them has the same numbers, and its neighbours side by side in
// memory. Every list is ascending and holds the point itself. The relation is symmetric: so that a sum over pairs may
// be taken from either side.
#pragma once
#include "points/neighbours.h"

typedef struct rh_adjacency {
    int64_t count;    // of points
    int64_t pairs;    // first[count]
    uint64_t *first;  // [count + 1] where the list of each point begins
    uint32_t *near;   // [pairs] places
    int64_t room, pair_room;
} rh_adjacency;

// Within `radius` (m), the border included; negative: by particle, those no farther apart than the larger of the two
// radii. `*list` is all zeros before the first build; its memory is used again by the next. RH_USER when the radius is
// larger than the cells allow (rh_neighbours_cell), or there are no radii. Two passes: one counts, one writes.
rh_code rh_adjacency_build(rh_adjacency *list, const rh_neighbours *n, double radius, rh_status *status);
void rh_adjacency_free(rh_adjacency *list);
