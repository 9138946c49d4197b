// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Keeps particles from clumping, so that the liquid's volume does not drift.
#pragma once
#include "physics/pressure.h"

// Displacement (m, at faces) that takes excess particles out of crowded cells and into starved ones. `count` is the
// weight of particles around each cell's centre (rh_particles_to_grid; tiles apart), `per_cell` that of a full cell.
// known[] as after rh_pressure_project. Cells in `rigid` (bits as in rh_layout.unknown; may be NULL) ask for a
// displacement only when far from full.
rh_code rh_volume_correction(rh_pressure *pressure, const float *const *count, const uint8_t *rigid, float per_cell,
                             double tolerance, int max_iterations, rh_faces shift, uint8_t *const known[3],
                             rh_arena *arena, rh_cg_report *report, rh_status *status);

// Particles of cells with more than twice their number take a random step of up to a quarter of a cell (drawn from
// seed, id less first_id, and step): a displacement field moves particles on one point alike and can never part them.
// Particles are still in the order of the tiles.
void rh_volume_scatter(const rh_tiles *tiles, const uint8_t *rigid, float per_cell, uint64_t seed, int64_t step,
                       const int64_t *ids, int64_t first_id, rh_vec3 *positions);
