// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The first thing a ray meets among triangles and spheres that may move while the shutter is open. The only door to
// Embree.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"

typedef struct rh_rays rh_rays;

typedef struct rh_ray {
    rh_vec3 origin, direction;  // direction: unit
    float far;                  // m
    float time;                 // 0 shutter opens, 1 shutter closes
} rh_ray;

typedef struct rh_ray_hit {
    float distance;                // m
    rh_vec3 normal;                // of the geometry, unit; triangles: by the order of corners
    float u, v;                    // place in the triangle: weights of the second and third corner
    uint32_t geometry, primitive;  // which
} rh_ray_hit;

bool rh_rays_built_in(void);  // false: this program was built without Embree, and rh_rays_create fails saying so

rh_code rh_rays_create(rh_rays **out, rh_status *status);
void rh_rays_free(rh_rays *rays);

// All arrays are copied. `velocity` (m/s) may be NULL; each thing moves from half of `shutter` seconds before to half
// of it after its position. The geometry gets the next number from 0.
rh_code rh_rays_add_triangles(rh_rays *rays, const rh_vec3 *position, const rh_vec3 *velocity, int64_t vertex_count,
                              const uint32_t (*triangle)[3], int64_t triangle_count, float shutter, rh_status *status);
rh_code rh_rays_add_spheres(rh_rays *rays, const rh_vec3 *center, const rh_vec3 *velocity, const float *radius,
                            int64_t count, float shutter, rh_status *status);
// Call once after the last geometry and before the first ray.
rh_code rh_rays_commit(rh_rays *rays, rh_status *status);

// Any thread.
bool rh_rays_nearest(const rh_rays *rays, const rh_ray *ray, rh_ray_hit *hit);
