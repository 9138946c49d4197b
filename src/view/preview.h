// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A quick picture of particles without any renderer: spheres with depth, light, contact shading and a shadow on a
// ground grid, coloured by speed or by given values, with a legend. Same picture for any number of threads.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"
#include "points/points.h"
#include "scene/look.h"
#include "solid/obstacles.h"
#include "view/trace.h"

enum { RH_PREVIEW_LARGEST = 8192 };  // pixels a side

typedef struct rh_preview_options {
    int width, height;      // pixels; 16 to RH_PREVIEW_LARGEST
    int dimension;          // 3: perspective from the front right, slightly from above; 2: flat, seen along z
    const char *title;      // top left, NULL = none; ASCII, one line
    bool z_up;              // the points' third axis points up (else the second)
    double color_max;       // m/s at the bright end of the colours; 0 = from the points
    const rh_paint *paint;  // palette, bands and what the values are; NULL = speed in blue
    const float *values;    // one for each point, coloured from low to high; NULL with a paint = all have `color`
    double low, high;
    rh_vec3 color;               // linear
    bool matte;                  // no gloss
    const rh_obstacles *solids;  // drawn where they are; borrowed, NULL = none
    const rh_view *camera;       // y up; NULL = frames by itself. A flat picture keeps its direction
    rh_dbox frame;  // m, what to show, in the points' axes; empty (min > max, or all zero) = the points' bounds
} rh_preview_options;

// Writes width * height * 3 bytes, sRGB, rows from the top. Points need "P"; "v" gives colour, "radius" gives size.
// Points that are not finite are left out.
rh_code rh_preview_render(const rh_points *points, const rh_preview_options *options, uint8_t *rgb, rh_status *status);
