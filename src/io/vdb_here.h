// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Reading .vdb files in this process, whatever is in them: for files of ours, whose seal was checked, and for the
// helper process that reads all others (io/vdb_helper.h). libopenvdb trusts its input; a damaged file can do anything
// to the process that reads it.
#pragma once
#include "base/status.h"
#include "io/frame.h"
#include "points/points.h"

#ifdef __cplusplus
extern "C" {
#endif

rh_code rh_vdb_read_points_here(const char *path, const char *name, rh_points *points, rh_frame_info *info,
                                rh_status *status);
char *rh_vdb_describe_here(const char *path, rh_status *status);
// Reads all grids and writes them again to `to`, a name that is overwritten. RH_USER when a grid is of a type this
// library does not know.
rh_code rh_vdb_copy_here(const char *path, const char *to, rh_status *status);

#ifdef __cplusplus
}
#endif
