// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Where dynamic solids are in each frame of a run: RUN/solids.csv, a line of titles with units and then a line for each
// solid of each frame, and RUN/solids.json, the same for programs (tools/blender_solids.py), made when a run ends. A
// run that is resumed drops the lines from its first frame on and writes the same again.
//
// A place p of the solid's own space (as the scene gives its shape) is at R p + origin, with R the turn of the unit
// quaternion (qw, qx, qy, qz).
#pragma once
#include "scene/scene.h"
#include "solid/dynamics.h"

typedef struct rh_solid_frame {
    int64_t frame;
    double time;                               // s
    int solid;                                 // its number in the scene
    rh_dvec3 origin, center, linear, angular;  // m, m/s, rad/s; center is that of mass
    double turn[4];
} rh_solid_frame;

// Behind the lines of frames before this one; others are removed. `*length`: of the file, which nobody else writes; 0
// before the first.
rh_code rh_solid_file_write(const char *folder, const rh_scene *scene, const rh_dynamics *dynamics,
                            const rh_obstacles *solids, int64_t frame, double time, size_t *length, rh_status *status);
rh_code rh_solid_file_json(const char *folder, const rh_scene *scene, rh_status *status);
// The lines of a run; *items is the caller's (rh_free). A run without such a file has none.
rh_code rh_solid_file_read(const char *folder, rh_solid_frame **items, int64_t *count, rh_status *status);
// The same of the file's bytes, which are changed; a zero stands behind them. `path` is for messages.
rh_code rh_solid_file_parse(char *text, size_t bytes, const char *path, rh_solid_frame **items, int64_t *count,
                            rh_status *status);
// The pose of one of them.
rh_pose rh_solid_frame_pose(const rh_solid_frame *frame);
