// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What spray, foam and bubbles look like in a traced picture (docs/theory/pictures.md). The attribute `class`
// (physics/whitewater/whitewater.h) tells them apart; points without it are drops.
#pragma once
#include "points/points.h"
#include "view/trace.h"

typedef struct rh_foam_view {
    rh_vec3 eye;  // m
    float pixel;  // width of a pixel one metre away
    float scale;  // of radii
    float usual;  // m: radius of points that have none
    bool z_up;    // the points' third axis points up
} rh_foam_view;

rh_code rh_foam_add(const rh_foam_view *view, const rh_points *points, rh_trace *trace, rh_status *status);
