// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What particles are told apart by beside place and velocity: age (attribute `age`, s since they came into the run) and
// the length of their way since then (`travelled`, m), kept only where a sink or a mask asks; the masks of a scene
// (`masks`), attributes of frames; and who a sink with conditions (`when`) removes.
#pragma once
#include "points/neighbours.h"
#include "points/points.h"
#include "scene/scene.h"

typedef struct rh_marks {
    bool age, travelled;  // kept by us; a method that has its own age (whitewater) keeps it itself
    bool masks;
} rh_marks;

// Adds the attributes that sinks and masks of this material ask for. A mask whose name is taken is RH_USER.
rh_code rh_marks_declare(const rh_scene *scene, int material, rh_points *points, rh_marks *marks, rh_status *status);
void rh_marks_step(const rh_marks *marks, double dt, rh_points *points);
rh_code rh_marks_frame(const rh_marks *marks, const rh_scene *scene, int material, rh_points *points,
                       rh_status *status);

// Memory that sinks use again from step to step.
typedef struct rh_sink_scratch {
    rh_arena arena;
    rh_neighbours near;
} rh_sink_scratch;

// Takes those back out of `gone` (a byte each) that a condition is not true of.
rh_code rh_sink_ask(const rh_sink_when *when, int dimension, double cell, const rh_points *points,
                    rh_sink_scratch *scratch, uint8_t *gone, rh_status *status);
