// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Reads a triangle mesh, format by file name ending: .obj, .ply, .stl (ascii and binary). Polygons are cut into fans.
// Errors name file and line (or byte) and what was expected.
#pragma once
#include "base/status.h"
#include "solid/mesh.h"

rh_code rh_mesh_read(const char *path, rh_mesh *mesh, rh_status *status);
rh_code rh_obj_read_mesh(const char *path, rh_mesh *mesh, rh_status *status);
rh_code rh_stl_read_mesh(const char *path, rh_mesh *mesh, rh_status *status);
