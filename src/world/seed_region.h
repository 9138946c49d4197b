// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Fills a region with particles so that their number is its volume, to the nearest particle, whatever its shape and
// wherever it lies on the lattice.
//
// A site whose centre lies in the region has a particle. Where the region fits the lattice that is all. Elsewhere a
// face between two layers of sites would get up to half a layer too much or too little (0.8 % of a column measured to
// the millimetre were seen), so the share of each cut site's cube is measured (solid/measure.h), and block by block
// of sites as many particles are added or left out as the shares say, the fraction of a particle that remains being
// carried to the next block.
#pragma once
#include "world/seed.h"

typedef struct rh_region {
    const rh_shape *shape;
    const rh_pose *pose;  // where it stands; NULL = as it is
    int earlier;          // so many bodies of the scene have taken their sites before
    bool fitted;  // particles near the shape's surface lie half a spacing deep, when the method's jitter says so
} rh_region;

// Gets the places of new particles, in the order of the lattice, some at a time.
typedef rh_code rh_seed_region_function(const rh_dvec3 *places, int64_t count, void *user, rh_status *status);

// `bounds` (m) hold all of the region. `visit` NULL: counts only.
rh_code rh_seed_region(const rh_seeder *seeder, const rh_region *region, const rh_dbox *bounds,
                       rh_seed_region_function *visit, void *user, rh_seeded *out, rh_status *status);
