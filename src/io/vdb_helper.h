// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// .vdb files of other programs are read by a process of their own. libopenvdb trusts its input: of random damage to
// such files one in 150 wrote where it should not. The helper is the same program, started again as "rheo __vdb WHAT
// FILE", with limits on memory and time; it hands back plain numbers and texts, of which every length is checked here.
// Whatever a file does, it does it to the helper. Files of ours need none of this: their seal was checked.
//
// Which program that is: the one named by `rh_vdb_helper_use`; the command line names itself. A program that embeds the
// library names none; then it is the one of the environment (RHEO_PROGRAM=/usr/bin/rheo), and without that such files
// are read in the caller's own process, as libopenvdb reads them.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"
#include "io/file.h"
#include "points/points.h"
#include "io/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// Before anything is read. `program` is kept, not copied. (A weak constant that the program around defines anew does
// not do: the compiler puts its own value into the code.)
void rh_vdb_helper_use(const char *program);

// A file that may be opened in this process: `path` itself when it is ours and its checksum is right (or there is no
// helper), else a copy that the helper has made.
typedef struct rh_vdb_safe {
    char path[RH_PATH_MAX];
    int copy;  // descriptor, -1 = none
} rh_vdb_safe;
rh_code rh_vdb_safe_open(const char *path, rh_vdb_safe *out, rh_status *status);
void rh_vdb_safe_close(rh_vdb_safe *safe);

// The helper's side: what main does for "__vdb". Returns the exit code.
int rh_vdb_helper(int count, char **words);

// What the helper hands back, as bytes: for tests and fuzzing. `points` must be empty.
rh_code rh_vdb_result_points(const void *data, size_t bytes, rh_points *points, rh_frame_info *info, rh_status *status);
char *rh_vdb_result_text(const void *data, size_t bytes, rh_status *status);

#ifdef __cplusplus
}
#endif
