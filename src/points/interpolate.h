// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles between two frames, for motion blur: positions, not surfaces, are interpolated.
//
//   in both frames, by id        a cubic curve through both positions with both velocities
//   in the first only            goes on with its velocity, P + v t
//   in the second only           comes back along its velocity, P - v (dt - t), from half way on:
//                                before that it may not have existed
//   no ids, or no next frame     goes on with its velocity
//   no velocities                a straight line between the two positions
//
// The velocity of a particle is the derivative of its curve. Other attributes keep the values of the frame the particle
// comes from, the first where it is in both.
#pragma once
#include "base/status.h"
#include "points/points.h"

typedef struct rh_interpolate_report {
    int64_t both, first_only, appeared;
    bool same_ids;  // ids that occur twice in a frame say nothing: none was used
} rh_interpolate_report;

// `points` (those of the frame) move to `fraction` (0..1) of the way to the next frame, `dt` seconds later. `next` may
// be NULL; `report` too. RH_USER when there is nothing to move by: no v (vec3f), and no id or no next frame.
rh_code rh_points_interpolate(rh_points *points, const rh_points *next, double fraction, double dt,
                              rh_interpolate_report *report, rh_status *status);
