// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The two halves of `rheo render`: render.c knows what to draw and draws it, render_frame.c reads it from the run's
// files.
#pragma once
#include "app.h"
#include "io/film.h"
#include "io/ply.h"
#include "lang/cache.h"
#include "view/camera.h"
#include "view/colors.h"
#include "view/flat_solids.h"
#include "view/picture.h"
#include "view/preview.h"
#include "view/values.h"

typedef enum app_render_what {
    APP_RENDER_AS_THERE,
    APP_RENDER_SURFACE,
    APP_RENDER_POINTS,
    APP_RENDER_BOTH
} app_render_what;
typedef struct app_render_job {
    const app_arguments *arguments;
    char points[RH_PATH_MAX], surfaces[RH_PATH_MAX], pictures[RH_PATH_MAX];
    app_frames all;     // of the run
    app_frames frames;  // those asked for
    app_render_what what;
    rh_scene scene;
    rh_lang_cache *programs;  // of the scene's sections `surface`; NULL when they have none
    int width, height;
    rh_dbox box;                      // y up
    rh_value_range particles, paint;  // of the colours
    float *values;                    // of a quick picture's particles
    bool quick;                       // no paths are traced
    int only;                         // the material to draw; -1 = all
    rh_preview_options preview;
    rh_flat_solids flat;  // solids of quick pictures
    rh_picture *picture;
    rh_film *film;
    uint16_t *deep;
    uint8_t *bytes;
} app_render_job;

// What is known of a frame; freed with app_render_frame_free.
typedef struct app_render_frame {
    const char *set;         // of several materials: which; NULL = the only one
    const rh_variant *look;  // of the material; NULL = the scene's
    int material;
    struct app_render_frame *next;  // of the next material (owned); NULL = none
    int64_t number;
    rh_points points;
    rh_ply_surface surface;
    rh_points vertices;  // what those of the surface carry, when something paints it
    bool has_points, has_surface, z_up;
    bool layer;              // of another run
    bool drops;              // each particle is a drop of its own: drawn as such, without a surface
    bool will_have_surface;  // can be made of the points
    double time;
} app_render_frame;

// A surface is coloured by what it carries.
bool app_render_paints(const app_render_job *j);

// All materials of the run, or the one that was asked for; then the layers. A look ahead (`probe`) makes no surface and
// reads no layers. On failure `data` is empty.
rh_code app_render_frame_read(const app_render_job *j, int64_t number, bool probe, app_render_frame *data,
                              rh_status *status);
void app_render_frame_free(app_render_frame *data);
