// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Files that appear whole or not at all: write under a temporary name in the same folder, flush to disk, rename. A
// reader never sees half a file; a killed run leaves at most a "*.tmp-<pid>" that the next run sweeps away.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

enum { RH_PATH_MAX = 4096 };

// The temporary name for `path` (same folder). Fails when it would be too long.
rh_code rh_file_temporary(const char *path, char out[RH_PATH_MAX], rh_status *status);
// Flushes `temporary` to disk and renames it to `path`; on failure removes it and says why.
rh_code rh_file_commit(const char *temporary, const char *path, rh_status *status);
void rh_file_discard(const char *temporary);

// Whole small files.
rh_code rh_file_write(const char *path, const void *data, size_t bytes, rh_status *status);
// Reads a whole file into memory with a terminating zero (not counted in *bytes). Refuses what is no regular file (a
// pipe might never end), and files over `limit` bytes. Caller: rh_free.
rh_code rh_file_read(const char *path, size_t limit, char **data, size_t *bytes, rh_status *status);

rh_code rh_folder_make(const char *path, rh_status *status);  // with parents; fine when it exists
bool rh_file_exists(const char *path);
// Bytes that may still be written to the file system of a folder; negative when the system does not say.
int64_t rh_folder_free_bytes(const char *folder);
// Removes leftovers ("points.0001.vdb.tmp-77", of any name of ours) of killed runs directly inside `folder`.
void rh_folder_sweep(const char *folder);
