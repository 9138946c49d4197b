// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Looks at a .vdb file before libopenvdb does (io/seal.h says why): the skeleton of any file, and the seal of our own.
#pragma once
#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// RH_IO when the file cannot be read, RH_USER when it is no .vdb file, cut short, or does not match its seal.
rh_code rh_vdb_check(const char *path, rh_status *status);

// Seals a finished file. OpenVDB gives every file a random identity in its header: it is replaced by one made of the
// other bytes of the file, so that the same frame gives the same bytes on any machine.
rh_code rh_vdb_seal(const char *path, rh_status *status);

#ifdef __cplusplus
}
#endif
