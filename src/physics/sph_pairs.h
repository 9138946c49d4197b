// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The loop over pairs that all stages of particles without a grid are made of: eight neighbours at a time, from the
// lists. Every particle sums up the contributions of its neighbours; nobody writes to another.
#pragma once
#include "physics/sph_lists.h"

// Eight neighbours of a particle.
typedef struct rh_sph_pairs {
    rh_f8 x, y, z;   // m: of the particle less theirs
    rh_f8 square;    // m^2
    rh_f8 distance;  // m
    rh_f8 slope;     // g, grad W = -g (x, y, z)
    rh_f8 number;    // theirs: the fourth of the record
} rh_sph_pairs;

static inline rh_sph_pairs rh_sph_pairs_of(const rh_sph_kernel *k, const float *own, const float *records,
                                           const uint32_t near[8])
{
    rh_f8 record[4];
    rh_sph_gather(records, near, record);
    rh_sph_pairs p = {.x = own[0] - record[0], .y = own[1] - record[1], .z = own[2] - record[2], .number = record[3]};
    p.square = p.x * p.x + p.y * p.y + p.z * p.z;
    p.distance = rh_f8_sqrt(p.square);
    p.slope = rh_sph_slope(k, p.distance);
    return p;
}

// (u_i - u_j) . (x_i - x_j) of the velocities in `flow`.
static inline rh_f8 rh_sph_approach(const rh_sph_pairs *p, const float *own, const float *flow, const uint32_t near[8])
{
    rh_f8 record[4];
    rh_sph_gather(flow, near, record);
    return (own[0] - record[0]) * p->x + (own[1] - record[1]) * p->y + (own[2] - record[2]) * p->z;
}

// for the list of particle i: RH_SPH_EACH(fluid->lists->fluid, i, near) { ... near[0..7] ... }
#define RH_SPH_EACH(list, i, near)                                                       \
    for (const uint32_t *near = (list).near + 8 * (uint64_t)(list).first[i],             \
                        *near##_end = (list).near + 8 * (uint64_t)(list).first[(i) + 1]; \
         near < near##_end; near += 8)
