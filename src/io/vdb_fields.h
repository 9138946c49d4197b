// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Fields (grid/fields.h) as volumes in an OpenVDB file, fields.0001.vdb beside points.0001.vdb, one grid a field. A
// file of their own because Blender reads a .vdb file either as a volume or not at all, and Houdini's File node gives
// one primitive a grid: points among the volumes would be in the way of both, and whoever wants only one need not read
// the other.
//
// A voxel is a cell and lies at its centre; only values other than the background are stored. Fields at faces are
// staggered vectors, OpenVDB's convention: a component of voxel (i, j, k) sits half a voxel below its centre.
#pragma once
#include "base/status.h"
#include "grid/fields.h"
#include "io/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// Fields of one owner; where there are several, the grids are called "owner.field".
typedef struct rh_owned_fields {
    const char *owner;  // NULL: the grids have the fields' own names
    const rh_fields *fields;
} rh_owned_fields;

rh_code rh_vdb_write_fields(const char *path, const rh_owned_fields *all, int count, const rh_frame_info *info,
                            rh_status *status);
// A file of ours, to the bit but for tiles that hold nothing but background; with y up, whatever the file has.
// `owner`: those of it, or where none has an owner all; NULL: all of them, each by its own name, the first of several
// of one name. `fields` is not initialised before, and empty after a failure. RH_USER for a file without such fields.
// `info` may be NULL.
rh_code rh_vdb_read_fields(const char *path, const char *owner, rh_fields *fields, rh_frame_info *info,
                           rh_status *status);

#ifdef __cplusplus
}
#endif
