// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Points and grids as OpenVDB files. The only door to libopenvdb (C++): vdb.cc wraps it behind this C header; no
// exception leaves it. Files appear whole or not at all (io/file.h).
#pragma once
#include <stdbool.h>
#include "base/status.h"
#include "io/frame.h"
#include "points/points.h"

#ifdef __cplusplus
extern "C" {
#endif

// Writes all attributes of `points` as a points grid named "points" (blosc, float positions without loss).
// Groups become OpenVDB's point groups of that name.
rh_code rh_vdb_write_points(const char *path, const rh_points *points, const rh_frame_info *info, rh_status *status);
// Reads the first points grid of a file of any origin. Known attribute types: float, double (to float), vec3f, vec3d
// (to float), int32, int64, mat3f, and point groups; others are skipped with a warning, as is a group that has the name
// of an attribute. Positions in world space become "P". `points` must be an empty set that was initialised with
// rh_points_init; `info` may be NULL.
rh_code rh_vdb_read_points(const char *path, rh_points *points, rh_frame_info *info, rh_status *status);

// What is in a .vdb file, one grid per line, for `rheo info` (caller frees with rh_free).
char *rh_vdb_describe(const char *path, rh_status *status);

#ifdef __cplusplus
}
#endif
