// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// OpenVDB's grid of points, without compiling once more what libopenvdb holds of it (io/vdb_extern.hh).
#pragma once
#include "io/vdb_extern.hh"

#pragma GCC visibility push(default)
#include <openvdb/points/PointDataGrid.h>
RH_VDB_EXTERN(openvdb::points::PointDataGrid)
#pragma GCC visibility pop
