// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How HDF5 reaches the disk when a checkpoint is written. HDF5 cannot close a file that it cannot flush: it frees half
// of it and crashes at exit. This driver keeps the first failure of the system for us and tells HDF5 that all is
// well, so a full disk is an error message and not a crash.
#pragma once
#include <hdf5.h>

// Makes `access` (a file access list) use the driver. *error becomes errno of the first failure; it must outlive the
// file. Returns the driver's id, to be given to H5FDunregister after the file is closed; negative on failure.
hid_t rh_checkpoint_driver(hid_t access, int *error);
