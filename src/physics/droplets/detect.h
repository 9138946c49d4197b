// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which drops meet within a step, each going straight with its velocity. Drops are sorted into cells by where they are
// at the middle of the step; two that touch at any time of it are then at most the sum of their radii and half the way
// they go past each other apart. Cells are so wide that this holds for nearly all pairs (rh_droplet_search.cell), as
// long as a cell does not hold too many. Drops wider than half a cell are few; they look through all cells within
// reach.
//
// Pairing (Jones 2018, algorithm 3): each drop picks the one it meets first, and two that pick each other are a pair;
// those whose choice was taken pick again, a few times over. So a drop is in one pair at most, pairs can be resolved in
// any order, and the result depends neither on threads nor on the order of drops.
#pragma once
#include "base/arena.h"
#include "points/neighbours.h"

typedef struct rh_droplet_pair {
    uint32_t first, second;  // drops, by their numbers
    float time;              // s, from the start of the step to the closest approach, at most the step
} rh_droplet_pair;

typedef struct rh_droplet_search {
    const rh_vec3 *x, *u;  // m, at the start of the step; m/s
    const float *radius;   // m
    const float *ready;    // s: time until which a drop takes part in no collision; NULL: all take part
    const int64_t *id;
    int64_t count;
    double time, dt;  // s
    int64_t iterations;
    double cell;  // m: width of the search cells; 0 = to be chosen. Afterwards: the width that was used
} rh_droplet_search;

typedef struct rh_droplet_pairs {
    rh_droplet_pair
        *items;  // of the arena; those of the first choice first, by their first drop in the order of the sort
    int64_t count;
    int64_t tested;      // comparisons of two drops
    int64_t meetings;    // of two drops each, before the pairing
    int64_t iterations;  // of the pairing
    int64_t wide;        // drops wider than half a cell
} rh_droplet_pairs;

// `near` keeps its memory from step to step; afterwards near->index is the order of the sort.
rh_code rh_droplet_detect(rh_droplet_search *search, rh_neighbours *near, rh_arena *arena, rh_droplet_pairs *pairs,
                          rh_status *status);
// s from the start of the step until two drops touch, below zero where they overlap and approach; dt or more: not in
// this step.
float rh_droplet_contact(const rh_droplet_search *search, int64_t p, int64_t q);
