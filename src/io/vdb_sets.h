// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Several particle sets in one OpenVDB file, a points grid each (io/vdb.h has one). The order in which they were given
// is kept beside them, because OpenVDB lists grids by name: the first is what readers get that ask for none.
#pragma once
#include "io/vdb.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rh_frame_set {
    const char *name;  // of its grid: "points" where there is one alone, "water", "water.foam"
    const rh_points *points;
} rh_frame_set;

// As rh_vdb_write_points. One set alone gives the bytes of that when it is called "points".
rh_code rh_vdb_write_sets(const char *path, const rh_frame_set *sets, int count, const rh_frame_info *info,
                          rh_status *status);
// As rh_vdb_read_points, of the points grid called `name`; NULL: the first. RH_USER names those there are.
rh_code rh_vdb_read_set(const char *path, const char *name, rh_points *points, rh_frame_info *info, rh_status *status);

#ifdef __cplusplus
}
#endif
