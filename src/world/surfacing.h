// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One frame from a points file to surface files. `rheo surface`, a run with surface.while_running and the library all
// come through here, so they write the same bytes. Nothing but the files named in the task decides the result.
//
//   points.0007.vdb -> FOLDER/surface.0007.vdb, .ply or .obj, ellipsoids.0007.vdb (as the parameters ask)
//
// A time between frames adds three digits: surface.0007.250.vdb is a quarter of the way to frame 8.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "io/file.h"
#include "io/frame.h"
#include "io/surface_grid.h"
#include "lang/cache.h"
#include "surface/surfacing.h"

typedef struct rh_surface_task {
    const char *points;  // the frame's points, .vdb or .ply
    const char *set;     // of several: the one called so, and names become surface.SET.0007.vdb; NULL: the first
    const char *next;    // those of the next frame, for times in between; NULL: particles go on with their velocity
    double fraction;     // 0 <= fraction < 1 of the way to the next frame
    const char *folder;  // of the results; made when missing
    int64_t frame;       // number in the names; negative: the one the file carries, 1 when it has none
    int digits;          // of the number in the names, at least; 0 = 4
    int up;              // 0 = as the points have it, 'y' or 'z' = that axis
    rh_lang_cache
        *programs;  // where the compiled params->expression is kept from frame to frame; NULL: compiled for this one
} rh_surface_task;

typedef struct rh_surface_result {
    rh_surfacing_report report;
    int64_t frame;
    int64_t particles;           // in the file (and those that appear on the way to the next)
    int64_t voxels;              // active, after the filters
    double volume;               // m^3 inside, after the filters
    int64_t vertices, polygons;  // 0 without a mesh
    double seconds;              // wall time, files included
} rh_surface_result;

// Points of any origin by the ending of the name (.vdb, .ply). `points` must be empty; `info` may be NULL. Vectors have
// y up, also when the file has z up (info->z_up stays 1, for writers). What a file does not say has a default: 24
// frames a second; frame and cell 0 mean unknown.
rh_code rh_surface_read_points(const char *path, rh_points *points, rh_frame_info *info, rh_status *status);
// The same of the set called `name` in a .vdb; NULL: the first.
rh_code rh_surface_read_set(const char *path, const char *name, rh_points *points, rh_frame_info *info,
                            rh_status *status);

// RH_USER for what a user can mend: a damaged file, attributes that are not there, nothing to write; the message names
// the file. Files appear whole or not at all. Points that cannot be used are counted in a warning. `result` may be
// NULL.
rh_code rh_surface_frame(const rh_surfacing_params *params, const rh_surface_task *task, rh_surface_result *result,
                         rh_status *status);

// The mesh of a frame without writing anything, y up, for pictures. `mesh` is the caller's (rh_surface_mesh_free);
// `info` may be NULL. `set`: as in rh_surface_task.
rh_code rh_surface_frame_mesh(const rh_surfacing_params *params, const char *points, const char *set,
                              rh_lang_cache *programs, rh_surface_mesh *mesh, rh_frame_info *info, rh_status *status);

// The last group of digits of a file's name, its ending not counted: 7 for points.0007.vdb. -1 when there is none.
// `digits` (may be NULL) gets their number.
int64_t rh_surface_frame_number(const char *path, int *digits);
// The file of the frame after this one: the same name with the next number. False when it is not there.
bool rh_surface_next_file(const char *path, char out[RH_PATH_MAX]);
// FOLDER/STEM.0007[.250]ENDING
rh_code rh_surface_path(const char *folder, const char *stem, int64_t frame, int digits, double fraction,
                        const char *ending, char out[RH_PATH_MAX], rh_status *status);
