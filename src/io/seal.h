// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The libraries behind .vdb and HDF5 files trust their input: a cut or flipped file trips assertions inside them,
// leaks, or worse, and none of that can be caught. So files of ours end in a seal, 16 bytes after what those libraries
// look at: eight letters and a checksum of everything before. It is checked before such a library opens the file.
//
// The checksum is one of sums of chunks, which all threads take at once ("rheosum2"). Earlier files have one chain of
// all bytes ("rheoseal"), which took a fifth of the time of writing large frames; it is still checked.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RH_SEAL_CHUNK = 1 << 20 };  // bytes

// Sums of all chunks of a file, the last of which may be shorter.
typedef struct rh_seal_sums {
    uint64_t *items;  // owned
    int64_t count, bytes;
} rh_seal_sums;
rh_code rh_seal_sums_take(const char *path, rh_seal_sums *out, rh_status *status);  // nothing to free on failure
rh_code rh_seal_sums_again(const char *path, rh_seal_sums *sums, int64_t chunk,
                           rh_status *status);  // after that chunk was changed
void rh_seal_sums_free(rh_seal_sums *sums);
// Appends the seal to a finished file that has these sums.
rh_code rh_seal_append(const char *path, const rh_seal_sums *sums, rh_status *status);

// Appends the seal to a finished file.
rh_code rh_seal_write(const char *path, rh_status *status);
// Does the file end in a seal, right or wrong?
bool rh_seal_present(const char *path);
// *sealed says whether the file has a seal; RH_USER when it has one that does not match its bytes, RH_IO when it cannot
// be read.
rh_code rh_seal_check(const char *path, bool *sealed, rh_status *status);

#ifdef __cplusplus
}
#endif
