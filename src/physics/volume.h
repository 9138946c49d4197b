// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Keeps particles from clumping, so that the liquid's volume does not drift.
#pragma once
#include "physics/pressure.h"

// How full a tile is, in cells of volume: what is inside the surface, what the surface passes through, and the excess
// of what the particles stand for over what is inside (known where the surface is in the tile or next to it). Sums over
// the cells, and sums times x, y, x y, z, x z, y z and x y z, which go from 0 to 1 across the tile.
typedef struct rh_tile_fill {
    float inside[8], surface[8], excess[8];
    bool at_surface;
} rh_tile_fill;
void rh_volume_measure(const rh_tiles *tiles, const float *phi, const float *const *open, const rh_vec3 *positions,
                       float per_cell, rh_tile_fill *fills);

typedef struct rh_volume_input {
    const float *const *count;  // weight of particles around each cell's centre (rh_particles_to_grid; tiles apart)
    float per_cell;             // that of a full cell
    const rh_tile_fill *fills;  // of all tiles; NULL = swelling is not bounded (volume.c)
    bool sags;                  // films that flow may lack a little (volume.c)
    const uint8_t *rigid;  // cells that are corrected only when far from full (bits as in rh_layout.unknown); may be
                           // NULL
    rh_faces velocity;     // m/s: the flow that carries the particles in this step
    const rh_vec3 *frame_share;  // per tile: of the particles' paths (rh_paths); NULL = paths keep volume
    rh_vec3 gravity;             // m/s^2
    float dt;                    // s
    double tolerance;
    int max_iterations;
} rh_volume_input;

// Displacement (m, at faces) that moves particles out of cells with too many and into cells with too few. known[] as
// after rh_pressure_project.
rh_code rh_volume_correction(rh_pressure *pressure, const rh_volume_input *of, rh_faces shift, uint8_t *const known[3],
                             rh_arena *arena, rh_cg_report *report, rh_status *status);

// Particles of cells with more than twice their number take a random step of up to a quarter of a cell (drawn from
// seed, id less first_id, and step): a displacement field moves particles at one point alike and can never part them.
// Particles are still in the order of the tiles.
void rh_volume_scatter(const rh_tiles *tiles, const uint8_t *rigid, float per_cell, uint64_t seed, int64_t step,
                       const int64_t *ids, int64_t first_id, rh_vec3 *positions);
