// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What particles, or the vertices of a surface, say as one number each, and the range of it; for the colours of
// pictures.
#pragma once
#include "points/points.h"

// "none" instead of an attribute: no values.
bool rh_values_none(const char *attribute);
// What an attribute says of each point: itself, the length of a vector, or a part of it (rest.x, rest.y, rest.z);
// "speed" is the length of v. Parts are those of the scene, y up; `z_up` tells that the points' third axis points up.
// RH_USER names the nearest attribute. `values` has points->count places.
rh_code rh_values_take(const rh_points *points, const char *attribute, bool z_up, float *values, rh_status *status);
// The range that all but some strays fall into, rounded; widened to hold `low` and `high` when low < high.
rh_code rh_values_range(const rh_points *points, const char *attribute, bool z_up, double *low, double *high,
                        rh_status *status);
// Grows the box (y up) by the places of all points, or of all but a share of them at each side.
void rh_values_bounds(const rh_vec3 *position, int64_t count, double strays, bool z_up, rh_dbox *box);

// Colours of the attribute Cd as one number each, for quick pictures, which carry one number with a particle: 256 steps
// of each part. RH_USER when the points have no such attribute of three numbers.
rh_code rh_values_pack(const rh_points *points, float *values, rh_status *status);
rh_vec3 rh_values_unpack(float value);
