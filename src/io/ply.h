// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// PLY: points out and in (binary little endian), and triangle meshes in (ascii and binary).
#pragma once
#include "base/status.h"
#include "io/frame.h"
#include "points/points.h"
#include "solid/mesh.h"

// Vertex properties: x y z, then each attribute by its own name (vec3 as name_x name_y name_z; v as vx vy vz). Frame
// facts go into header comments. A group is a uchar property of 0 and 1 and a comment "rheo_group NAME POINTS".
rh_code rh_ply_write_points(const char *path, const rh_points *points, const rh_frame_info *info, rh_status *status);
// Points of any origin, ascii or binary of either byte order. Vertex properties x y z become P; vx vy vz, v_x v_y v_z
// and velocity_x ... become v; nx ny nz N; other triples name_x name_y name_z vectors and name_00 ... name_22 matrices.
// What is left over keeps its name: whole numbers as int32 (uint as int64), others as float, but in files of ours
// double as int64 and a uchar that a comment rheo_group names as a group, for that is how they are written. Lists and
// other elements (faces) are passed over, and what cannot be kept (long names, too many) is named in a warning. Values
// that are no numbers come through. `points` must be empty; `info` (may be NULL) gets what our header comments say,
// else 24 frames a second and zeros; coordinates are those of the file.
rh_code rh_ply_read_points(const char *path, rh_points *points, rh_frame_info *info, rh_status *status);
rh_code rh_ply_read_mesh(const char *path, rh_mesh *mesh, rh_status *status);

// A liquid's surface as a mesh with what a picture needs besides: normals (unit) and velocities (m/s) of the vertices,
// NULL when the file has none. Quads and larger faces are cut into triangles. A surface without any triangle is fine.
typedef struct rh_ply_surface {
    rh_mesh mesh;
    rh_vec3 *normal, *velocity;  // owned
    char up;                     // 'y' or 'z' when the file says which axis points up, else 0; nothing is turned
} rh_ply_surface;

rh_code rh_ply_read_surface(const char *path, rh_ply_surface *surface, rh_status *status);
// From memory; the byte after the last must be readable and zero.
rh_code rh_ply_parse_surface(const char *name, const char *data, size_t bytes, rh_ply_surface *surface,
                             rh_status *status);
void rh_ply_surface_free(rh_ply_surface *surface);
