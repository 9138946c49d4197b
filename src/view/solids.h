// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The solids of a scene as triangles: meshes as they are, other shapes cut fine enough to look round. Containers are
// not drawn.
#pragma once
#include "scene/scene.h"
#include "solid/mesh_sequence.h"
#include "view/trace.h"
#include "world/solid_file.h"

typedef struct rh_solid_view {   // in the solid's own space
    int solid;                   // its number in the scene
    bool dynamic;                // is where the run's solids.csv has it
    const rh_motion *motion;     // borrowed from the scene
    rh_mesh mesh;                // owned, like the normals
    rh_vec3 *normal;             // per vertex; NULL = flat faces
    rh_mesh_sequence *sequence;  // owned; the mesh is its first one. NULL = the same at all times
} rh_solid_view;

typedef struct rh_solids_view {
    rh_solid_view *items;  // owned
    int count;
    rh_dbox bounds;          // m, of the solids drawn, at time 0; empty when there is none
    rh_dbox container;       // of the containers; empty when there is none
    double floor;            // m, the highest level plane (solid below); -INFINITY when there is none
    rh_solid_frame *frames;  // owned: where dynamic solids are in a run; NULL = not known
    int64_t frame_count;
} rh_solids_view;

// A mesh that cannot be read is left out with a warning. `extent` (m) says how far planes without end are drawn.
rh_code rh_solids_view_create(const rh_scene *scene, double extent, rh_solids_view *out, rh_status *status);
// Dynamic solids of a run are drawn where they are in its frames.
rh_code rh_solids_view_open(rh_solids_view *solids, const char *folder, rh_status *status);
void rh_solids_view_free(rh_solids_view *solids);
// Places them as at `time`, with their velocities.
rh_code rh_solids_view_add(const rh_solids_view *solids, double time, rh_appearance appearance, rh_trace *trace,
                           rh_status *status);

// One shape (not a mesh, not a plane) as triangles with normals; caller frees both.
rh_code rh_shape_triangles(int kind, const void *params, rh_mesh *mesh, rh_vec3 **normal, rh_status *status);
