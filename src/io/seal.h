// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The libraries behind .vdb and HDF5 files trust their input: a cut or flipped file trips assertions inside them, leaks,
// or worse, and none of that can be caught. So files of ours end in a seal, 16 bytes after what those libraries look at:
// "rheoseal" and a checksum of everything before. It is checked before such a library opens the file.
#pragma once
#include <stdbool.h>
#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Appends the seal to a finished file.
rh_code rh_seal_write(const char *path, rh_status *status);
// *sealed says whether the file has a seal; RH_USER when it has one that does not match its bytes, RH_IO when it cannot
// be read.
rh_code rh_seal_check(const char *path, bool *sealed, rh_status *status);

#ifdef __cplusplus
}
#endif
