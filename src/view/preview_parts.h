// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the parts of the preview share: preview.c draws spheres, preview_solids.c the solids between them,
// preview_camera.c looks at the points and aims, preview_shade.c turns depth into light and adds the captions. All
// inside is y up, metres; screen samples are half pixels, rows from the top.
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "view/preview.h"

typedef struct rh_preview_cloud {
    const rh_vec3 *P, *v;  // v NULL when there is none
    const float *radius;   // NULL when there is none
    bool one_radius, one_v, z_up;
    int64_t count;
    float guess;          // m, typical radius
    float swell;          // radius drawn / radius
    float speed_max;      // m/s at the end of the colours
    const float *values;  // instead of speeds, or NULL
    double low, high;
    rh_dbox box;    // what to frame, y up
    double extent;  // m, longest side of it
    double ground;  // m, height of the ground
} rh_preview_cloud;

typedef struct rh_preview_camera {
    rh_dvec3 eye, right, up, forward;
    double focal, x, y;   // samples
    double near, middle;  // m, nearest drawn depth, depth of the centre of interest
    bool perspective;
} rh_preview_camera;

typedef struct rh_preview_disc {
    float x, y, depth, radius;  // samples, samples, m, samples (negative: not drawn)
    float thickness;            // m, radius in depth
    float tint;                 // place on the colour scale: 0 low, 1 high; bands go on beyond
} rh_preview_disc;

typedef struct rh_preview_picture {
    int width, height;        // pixels
    float *depth;             // per sample: m, INFINITY where nothing is
    uint32_t *owner;          // per sample: disc seen there
    float *smooth, *contact;  // per pixel: m, depth of the surface; 0 to 1, how much lies around in front
    float middle;             // m, depth about which means are taken
} rh_preview_picture;

#define RH_PREVIEW_NOBODY UINT32_MAX       // owner of a sample that nothing covers
#define RH_PREVIEW_SOLID (UINT32_MAX - 1)  // of one that a solid covers

rh_preview_cloud rh_preview_gather(const rh_points *points, const rh_preview_options *o);
rh_preview_camera rh_preview_aim(const rh_preview_cloud *cloud, const rh_preview_options *o);
// Over the discs, where solids are nearer. Only of pictures in space.
void rh_preview_draw_solids(rh_preview_picture *p, const rh_preview_camera *camera, const rh_preview_cloud *cloud,
                            const rh_obstacles *solids);
rh_code rh_preview_shade(const rh_preview_picture *p, const rh_preview_disc *discs, const rh_preview_camera *camera,
                         const rh_preview_cloud *cloud, const rh_preview_options *o, uint8_t *rgb, rh_arena *arena,
                         rh_status *status);
void rh_preview_caption(const rh_preview_options *o, const rh_preview_cloud *cloud, uint8_t *rgb);

static inline rh_vec3 rh_preview_upright(rh_vec3 p, bool z_up) { return z_up ? rh_v3(p.x, p.z, -p.y) : p; }
static inline bool rh_preview_finite(rh_vec3 p) { return isfinite(p.x) && isfinite(p.y) && isfinite(p.z); }

// Mean over a square of 2 reach + 1 pixels a side; beyond the border counts as 0.
void rh_preview_blur(int width, int height, float *image, float *spare, int reach);
