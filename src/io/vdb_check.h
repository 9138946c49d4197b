// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Looks at a .vdb file before libopenvdb does. That library trusts its input: a truncated file trips an assertion inside
// it and a flipped bit may do worse, and neither can be caught. So the skeleton of every file is checked here, and our
// own files end in a seal, a checksum of all bytes before it, which other readers do not look at.
#pragma once
#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Appends the seal to a finished file.
rh_code rh_vdb_seal(const char *path, rh_status *status);
// RH_IO when the file cannot be read, RH_USER when it is no .vdb file, cut short, or does not match its seal.
rh_code rh_vdb_check(const char *path, rh_status *status);

#ifdef __cplusplus
}
#endif
