// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Pictures of a run's frames as the scene's `look` wants them: the liquid's surface or its particles, the solids, the
// ground, the light. All frames of a job share one camera rule and one scale of colours, so that they play as a film.
#pragma once
#include "io/ply.h"
#include "points/points.h"
#include "scene/scene.h"

typedef struct rh_value_range {
    double low, high;
} rh_value_range;

typedef struct rh_picture_options {
    int width, height;  // pixels
    int samples;        // most paths for a pixel; 0 = a good number
    rh_dbox box;        // m, y up: what the camera frames when the scene does not say where it stands
    // Values at the ends of the colours of particles and of the surface; low < high, else all have one.
    rh_value_range particles, paint;
    const char *folder;  // of the run, for where its dynamic solids are; NULL = none
    bool surface;  // surfaces will be drawn (the ground then lies inside the liquid, without a film of air between)
} rh_picture_options;

typedef struct rh_picture rh_picture;

// The scene is borrowed. Reads the meshes of its solids.
rh_code rh_picture_create(const rh_scene *scene, const rh_picture_options *options, rh_picture **out,
                          rh_status *status);
void rh_picture_free(rh_picture *picture);

typedef struct rh_picture_frame {
    int64_t number;                 // from 1; every frame has its own noise, so that none sticks to a film
    double time;                    // s
    const rh_points *points;        // drawn as spheres; NULL = none
    const rh_ply_surface *surface;  // drawn as the liquid; NULL = none
    const rh_points *vertices;  // what the vertices of the surface carry, in their order; NULL when nothing paints it
    bool z_up;                  // their third axis points up (else the second)
    const char *title;          // NULL = none
    bool foam;                  // the points are spray, foam and bubbles (view/foam.h), whatever colours others
    const rh_variant *liquid;   // what it looks like (as rh_look.liquid); NULL or without a value: as the scene says
    const struct rh_picture_frame *next;  // of another material in the same picture: its points, surface, vertices and
                                          // look count; NULL = none
} rh_picture_frame;

// Writes width * height * 3 values, sRGB, rows from the top.
rh_code rh_picture_draw(rh_picture *picture, const rh_picture_frame *frame, uint16_t *rgb, rh_status *status);
