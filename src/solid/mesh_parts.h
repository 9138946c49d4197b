// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Pieces of mesh handling shared inside src/solid: not for other folders.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "solid/mesh.h"

bool rh_triangle_has_area(const rh_vec3 corner[3]);
void rh_mesh_corners(const rh_mesh *mesh, int64_t triangle, rh_vec3 corner[3]);
// For each vertex the lowest index among the vertices at exactly its place. Caller: rh_free.
rh_code rh_mesh_first_at_place(const rh_mesh *mesh, uint32_t **first, rh_status *status);

// Which triangles to turn over so that neighbours agree: orientation is carried across edges with two triangles, and
// the larger area of each connected part decides, so that a cavity's inward shell stays as it is and a few flipped
// faces give way. `flip` has triangle_count entries, owned by the caller. `*closed`: every edge has exactly two
// triangles, and they agree after the turns.
rh_code rh_mesh_orient(const rh_mesh *mesh, bool *flip, bool *closed, rh_status *status);
