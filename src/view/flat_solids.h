// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The solids of a two-dimensional run as a flat picture shows them: asked for the distance of a place (m), as the run
// asks; containers and planes included. Dynamic ones are where the run's solids.csv has them.
#pragma once
#include "world/geometry.h"
#include "world/solid_file.h"

typedef struct rh_flat_solids {
    rh_geometry geometry;    // owned
    rh_solid_frame *frames;  // owned; NULL = not known
    int64_t frame_count;
} rh_flat_solids;

// `scene` is borrowed. Solids that cannot be had (a mesh is gone) are left out, all of them, with a warning.
rh_code rh_flat_solids_create(const rh_scene *scene, const char *folder, rh_flat_solids *out, rh_status *status);
void rh_flat_solids_free(rh_flat_solids *solids);
// The solids at a frame and its time; NULL = there are none.
const rh_obstacles *rh_flat_solids_at(rh_flat_solids *solids, int64_t frame, double time);
// Grows a box (m) by the solids that have an end and are no containers.
void rh_flat_solids_grow(rh_flat_solids *solids, int64_t frame, double time, rh_dbox *box);
