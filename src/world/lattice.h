// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The lattice that all new particles come from: one site per particle, a spacing apart, the same for all bodies of a
// scene. A part of seed.c, seed_region.c and emitter_flow.c.
#pragma once
#include <math.h>
#include "base/random.h"
#include "world/seed.h"

typedef struct rh_sites {
    int64_t low[3], high[3];
} rh_sites;  // low <= index < high

// All sites that a box (m) may touch. RH_USER when there are far too many.
rh_code rh_lattice_sites(const rh_seeder *s, rh_dbox box, rh_sites *out, rh_status *status);
// A site moved by its share of chance: `number` names it.
rh_dvec3 rh_lattice_jittered(const rh_seeder *s, rh_dvec3 x, uint64_t number);

static inline rh_dvec3 rh_lattice_position(const rh_seeder *s, int64_t i, int64_t j, int64_t k)
{
    return rh_d3(((double)i + 0.5) * s->spacing, ((double)j + 0.5) * s->spacing,
                 s->dimension == 3 ? ((double)k + 0.5) * s->spacing : 0);
}

static inline uint64_t rh_lattice_number(int64_t i, int64_t j, int64_t k)
{
    return rh_mix64((uint64_t)i) ^ rh_mix64((uint64_t)j + 0x51ull) * 3 ^ rh_mix64((uint64_t)k + 0xa7ull) * 5;
}

// Evenly spread over 0..1 in any small neighbourhood of sites: an additive sequence on the powers of 1/1.2207 (the
// root of x^4 = x + 1).
static inline double rh_lattice_rank(int64_t i, int64_t j, int64_t k)
{
    double u = 0.8191725133961645 * (double)i + 0.6710436067037893 * (double)j + 0.5497004779019703 * (double)k;
    return u - floor(u);
}

static inline bool rh_lattice_in_solid(const rh_seeder *s, rh_dvec3 x)
{
    return rh_obstacles_distance(&s->geometry->obstacles, x, NULL) <= 0;
}

// New particles; `rest` has what the attribute of that name becomes, when the scene wants it. Of a body (>= 0) the
// velocity is the body's.
rh_code rh_seed_append(rh_seeder *s, rh_points *points, const rh_dvec3 *x, const rh_dvec3 *rest, int64_t n, int body,
                       rh_dvec3 velocity, rh_status *status);
