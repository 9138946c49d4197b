// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A path tracer for pictures of liquids: meshes, spheres and a ground under a sky. Metres, y up, linear colours.
//
//   create -> add ... -> render (as often as wanted, any camera) -> free
//
// The picture is a function of what was added and of the options; the number of threads does not matter.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"
#include "view/light.h"
#include "view/appearance.h"

typedef struct rh_trace rh_trace;

// Everything borrowed for the time of the call.
typedef struct rh_trace_mesh {
    const rh_vec3 *position, *normal, *velocity;  // m, unit, m/s; normal and velocity may be NULL (flat faces, at rest)
    const rh_vec3 *color;  // diffuse colour of each vertex; NULL = the appearance's, which may then be clear
    int64_t vertex_count;
    const uint32_t (*triangle)[3];  // counter-clockwise from outside; closed when the appearance is clear
    int64_t triangle_count;
    rh_appearance appearance;
} rh_trace_mesh;

typedef struct rh_trace_spheres {
    const rh_vec3 *center, *velocity;  // velocity may be NULL
    const float *radius;               // m
    const rh_vec3 *color;              // diffuse colour of each; NULL = the appearance's
    int64_t count;
    rh_appearance appearance;
} rh_trace_spheres;

typedef enum rh_ground_style { RH_GROUND_NONE, RH_GROUND_PLAIN, RH_GROUND_GRID, RH_GROUND_CHECKER } rh_ground_style;

typedef struct rh_ground {
    rh_ground_style style;
    float height;    // m
    rh_vec3 center;  // where it is solid; it fades into the horizon
    float reach;     // m from there to where the fading begins; gone at three times that
    float tile;      // m between lines, or side of a square
    rh_vec3 color;
} rh_ground;

typedef struct rh_view {   // a camera at one moment
    rh_dvec3 eye, target;  // m
    double fov;            // degrees, across the shorter side of the picture
} rh_view;

typedef struct rh_trace_options {
    int width, height;    // pixels
    rh_view open, close;  // where the camera is when the shutter opens and closes
    rh_light light;
    rh_ground ground;
    int samples;      // most paths for a pixel
    float noise;      // stop early where the expected error of a pixel is below this (of white); 0 = never
    int bounces;      // most events of a path; 0 = a good number
    float brightest;  // a sample counts no more than this: highlights that only few samples find; 0 = no limit
    uint64_t seed;
} rh_trace_options;

// RH_USER when the program was built without Embree. `shutter` (s): how long the motion of what is added lasts.
rh_code rh_trace_create(float shutter, rh_trace **out, rh_status *status);
void rh_trace_free(rh_trace *trace);
rh_code rh_trace_add_mesh(rh_trace *trace, const rh_trace_mesh *mesh, rh_status *status);
rh_code rh_trace_add_spheres(rh_trace *trace, const rh_trace_spheres *spheres, rh_status *status);
// Writes width * height linear colours, rows from the top. Nothing may be added afterwards.
rh_code rh_trace_render(rh_trace *trace, const rh_trace_options *options, rh_vec3 *picture, rh_status *status);
