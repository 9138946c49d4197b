// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Walls as smoothed particles see them: one layer of samples on all solids, about a spacing apart, each with a volume
// that makes up for how dense the others around it are (N. Akinci et al., "Versatile rigid-fluid coupling for
// incompressible SPH", ACM TOG 31(4), 2012).
//
// A sample has an anchor, on the wall, and stands below it (rh_sph_kernel.depth), so that a lattice of particles that
// begins half a spacing from the wall has the density of rest: liquid fills a tank as the tank is drawn. In walls
// thinner than that the samples of one side stand beyond the other side: whether a particle sees a sample depends on
// whether the line to its anchor is free (sph_lists.h).
//
// Anchors come from a lattice: one wherever an edge of the lattice passes a wall and runs more across the wall than
// along it. That is a function of the place alone, so walls at rest are sampled tile by tile when liquid first comes
// near, in any order; rigid solids that move are sampled once, in their own space; solids that change their form, or
// are unbounded and move, in every step.
#pragma once
#include "grid/tiles.h"
#include "physics/physics.h"
#include "physics/sph_kernel.h"

// A sample in the space of its solid (of the world, for what rests).
typedef struct rh_sph_anchor {
    rh_vec3 at;      // m: the anchor
    rh_vec3 normal;  // unit, into free space
    int32_t solid;
} rh_sph_anchor;

typedef struct rh_sph_anchors {
    rh_sph_anchor *items;  // owned
    int64_t count, room;
} rh_sph_anchors;

typedef struct rh_sph_wall_cache rh_sph_wall_cache;  // lives between steps; holds nothing that could not be made again

// The samples of a step, sorted by tile and cell as the particles are; sample `count` stands far away and is nothing.
// Memory is the arena's.
typedef struct rh_sph_walls {
    int64_t count;
    float *place;      // [4 (count + 8)]: x, y, z (m), volume (m^3, m^2)
    float *flow;       // [4 (count + 8)]: velocity (m/s), 0
    float *x, *y, *z;  // [count + 8] the same places, for the search
    rh_vec3 *anchor;   // [count]
    int32_t *solid;    // [count]
    uint32_t *first;   // [tiles.count * tiles.cells + 1] of each cell
} rh_sph_walls;

// The velocity that the solid of sample s, which turns at `spin` (rad/s, three numbers), would have at x: friction that
// compares a particle with this, not with the anchor's, leaves liquid alone that turns with the solid.
static inline void rh_sph_wall_velocity(const rh_sph_walls *walls, uint32_t s, const float *spin, const float x[3],
                                        float out[3])
{
    const float *u = walls->flow + 4 * (uint64_t)s;
    rh_vec3 at = walls->anchor[s];
    float dx = x[0] - at.x, dy = x[1] - at.y, dz = x[2] - at.z;
    out[0] = u[0] + spin[1] * dz - spin[2] * dy;
    out[1] = u[1] + spin[2] * dx - spin[0] * dz;
    out[2] = u[2] + spin[0] * dy - spin[1] * dx;
}

rh_code rh_sph_wall_cache_create(rh_sph_wall_cache **out, rh_status *status);
void rh_sph_wall_cache_free(rh_sph_wall_cache *cache);  // NULL is fine

// Samples around the particles that the tiles (with a margin of three cells) were made for.
rh_code rh_sph_walls_build(rh_sph_walls *walls, rh_sph_wall_cache *cache, const rh_sph_kernel *kernel,
                           const rh_surroundings *around, const rh_tiles *tiles, rh_arena *arena, rh_status *status);
