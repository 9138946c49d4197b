// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Surface meshes as files. PLY (binary little endian): x y z nx ny nz, then each channel by its own name ("vel" as vx
// vy vz, other vectors as name_x name_y name_z), faces as the list vertex_indices. OBJ: positions, normals and faces;
// it has no room for more. VTP (ParaView, VTK): all, vectors whole.
#pragma once
#include "base/status.h"
#include "io/frame.h"
#include "io/surface_grid.h"

extern const char *const rh_surface_mesh_endings[];  // ".ply", ".obj", ".vtp": in the order of mesh_format
rh_code rh_surface_mesh_write_ply(const char *path, const rh_surface_mesh *mesh, const rh_frame_info *info,
                                  rh_status *status);
rh_code rh_surface_mesh_write_obj(const char *path, const rh_surface_mesh *mesh, const rh_frame_info *info,
                                  rh_status *status);
rh_code rh_surface_mesh_write_vtp(const char *path, const rh_surface_mesh *mesh, const rh_frame_info *info,
                                  rh_status *status);
