// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Pictures of a run's frames as the scene's `look` wants them: the liquid's surface or its particles, the solids, the ground, the light.
// All frames of a job share one camera rule and one scale of colours, so that they play as a film.
#pragma once
#include "io/ply.h"
#include "points/points.h"
#include "scene/scene.h"

typedef struct rh_picture_options {
    int width, height;  // pixels
    int samples;        // most paths for a pixel; 0 = a good number
    rh_dbox box;        // m, y up: what the camera frames when the scene does not say where it stands
    double low, high;   // values at the ends of the colours of particles
    bool surface;       // surfaces will be drawn (the ground then lies inside the liquid, without a film of air between)
} rh_picture_options;

typedef struct rh_picture rh_picture;

// The scene is borrowed. Reads the meshes of its solids.
rh_code rh_picture_create(const rh_scene *scene, const rh_picture_options *options, rh_picture **out, rh_status *status);
void rh_picture_free(rh_picture *picture);

typedef struct rh_picture_frame {
    int64_t number;                 // from 1; every frame has its own noise, so that none sticks to a film
    double time;                    // s
    const rh_points *points;        // drawn as spheres; NULL = none
    const rh_ply_surface *surface;  // drawn as the liquid; NULL = none
    bool z_up;                      // their third axis points up (else the second)
    const char *title;              // NULL = none
} rh_picture_frame;

// Writes width * height * 3 values, sRGB, rows from the top.
rh_code rh_picture_draw(rh_picture *picture, const rh_picture_frame *frame, uint16_t *rgb, rh_status *status);

// What an attribute says of each point as one number: itself, or the length of a vector; "speed" is the length of v. RH_USER names the
// nearest attribute. `values` has points->count places.
rh_code rh_picture_values(const rh_points *points, const char *attribute, float *values, rh_status *status);
// The attribute that colours the particles; "speed" when the scene leaves it empty.
const char *rh_picture_attribute(const rh_scene *scene);
// The range that all but some strays fall into, rounded; widened to hold `low` and `high` when low < high.
rh_code rh_picture_range(const rh_points *points, const char *attribute, double *low, double *high, rh_status *status);
// Grows the box (y up) by the places of all points, or of all but a share of them at each side.
void rh_picture_bounds(const rh_vec3 *position, int64_t count, double strays, bool z_up, rh_dbox *box);
