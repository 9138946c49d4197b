// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// From a scene's descriptions to things that can be asked: shapes with their meshes loaded, obstacles, emitters, sinks.
#pragma once
#include "scene/scene.h"

// A shape in the world with its motion, for emitters and sinks.
typedef struct rh_placed_shape {
    rh_shape shape;
    const rh_motion *motion;  // borrowed from the scene
} rh_placed_shape;

typedef struct rh_geometry {
    const rh_scene *scene;      // borrowed
    rh_obstacles obstacles;     // at the time of the run, between steps
    rh_features *features;      // [scene->solids.count]: what of them touches others; NULL without dynamic solids
    rh_shape *bodies;           // [scene->bodies.count]
    rh_placed_shape *emitters;  // [scene->emitters.count]
    rh_placed_shape *sinks;     // [scene->sinks.count]
    bool shared;                // bodies, emitters, sinks and meshes are another's
    rh_dbox container;          // bounds of all inside-out solids; empty when there is none
} rh_geometry;

// Loads meshes (sampled at half a cell) and places everything at time 0. Failures name the scene's line.
rh_code rh_geometry_build(const rh_scene *scene, rh_geometry *geometry, rh_status *status);
// The same for one material: all is shared with `from`, which must outlive it, but for the obstacles, which are placed
// apart from it. `separates`: walls that let a material slide let it go, too (rh_physics.walls_separate).
rh_code rh_geometry_share(const rh_geometry *from, bool separates, rh_geometry *out, rh_status *status);
void rh_geometry_free(rh_geometry *geometry);

// A sequence of meshes, with all its files there; `thin`: it has walls thinner than cells.
rh_code rh_geometry_open_sequence(const rh_scene *scene, const rh_mesh_sequence_params *params, bool thin,
                                  rh_mesh_sequence **out, rh_status *status);

// Where a moving shape is at a time; in two dimensions motion out of the plane is left out.
rh_pose rh_placed_pose(const rh_placed_shape *placed, double time);
// Box around the shape at a time, in the world.
rh_dbox rh_placed_bounds(const rh_shape *shape, const rh_pose *pose);
