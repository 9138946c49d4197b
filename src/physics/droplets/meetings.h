// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which drops meet within a step: the list that detect.c makes its choices on.
#pragma once
#include "base/arena.h"
#include "points/neighbours.h"

// Two drops that meet, in the order of the sort.
typedef struct rh_meeting {
    uint32_t p, q;
    float when;  // s from the start of the step until they touch
} rh_meeting;

// Drops in the order of the sort. The arrays of `near` and of `u` can be read for eight drops more.
typedef struct rh_meeting_drops {
    const rh_neighbours *near;  // where they are at the middle of the step; radius: not a number: takes no part
    const float *u[3];          // m/s
    float half;                 // of the step, s
} rh_meeting_drops;

typedef struct rh_meetings {
    rh_meeting *items;  // of the arena; by p, then by q, but for those of wide drops, which come last
    int64_t count;
    int64_t tested;  // comparisons of two drops
    int64_t wide;    // drops wider than half a cell
} rh_meetings;

// All that meet and are at most a cell apart along each axis at the middle of the step, each once. Drops wider than
// half a cell look as far as they reach, and those may be in the list twice.
rh_code rh_meetings_find(const rh_meeting_drops *drops, rh_arena *arena, rh_meetings *out, rh_status *status);

// Time from which two drops touch, by |x|^2 - r^2 = c, x.u = b, |u|^2 = a; x at time 0.
float rh_meeting_contact(float a, float b, float c);
