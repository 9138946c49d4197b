// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Implicit density projection: T. Kugelstadt, A. Longva, N. Thuerey, J. Bender, "Implicit density projection for
// volume conserving liquids", IEEE TVCG 27(4), 2021 (online 2019). The number of particles around each cell, compared with
// what a full cell holds, is the divergence that a displacement field must have; the displacement is a gradient and
// comes from the same operator as pressure (zero at the free surface, no displacement through solids). It moves
// positions only, never velocities, so it adds no momentum.
//
// Differences: walls are accounted for by the share of the weight function that lies in free space; near the free
// surface only crowding counts (a starved cell there is just surface); half of the error is taken away in each step,
// which is enough and keeps the surface of resting liquid calm.
#include "physics/liquid/volume.h"

#include <math.h>
#include "grid/transfer.h"

static const float RELAX = 0.5f, LIMIT = 0.5f;  // per step; and in cells of volume per cell

enum { SIDE = RH_TILE + 2, SMALL = SIDE * SIDE * SIDE };

// Share of a cell's linear weight function that lies in free space. The weight over its own cell is 3/4 per axis, over
// each neighbour 1/8, so the share is a filter of the free volumes; exact for walls, edges and corners along the grid.
static void free_shares(const rh_tiles *tiles, const float *volume, int32_t t, float *shares)
{
    static const float weight[3] = {0.125f, 0.75f, 0.125f};
    float block[SMALL];
    rh_block_load(tiles, volume, t, 1, 1, block);
    bool deep = tiles->dimension == 3;
    for (int c = 0; c < tiles->cells; c++) {
        float sum = 0;
        for (int n = deep ? 0 : 9; n < (deep ? 27 : 18); n++) {
            float w = weight[n % 3] * weight[n / 3 % 3] * (deep ? weight[n / 9] : 1);
            sum += w * block[rh_block_index(tiles, 1, (c & 7) + n % 3 - 1, (c >> 3 & 7) + n / 3 % 3 - 1, deep ? (c >> 6) + n / 9 - 1 : 0)];
        }
        shares[c] = sum;
    }
}

static float excess(float count, float per_cell, float share, float phi)
{
    if (share < 0.25f) return 0;
    float s = count / (per_cell * share) - 1;
    if (phi > -1 && s < 0) return 0;
    return RELAX * share * rh_clamp(s, -LIMIT, LIMIT);
}

rh_code rh_volume_correction(rh_pressure *pressure, const rh_vec3 *positions, float per_cell, double tolerance, int max_iterations,
                             rh_faces shift, uint8_t *const known[3], rh_arena *arena, rh_cg_report *report, rh_status *status)
{
    const rh_tiles *tiles = pressure->tiles;
    rh_arena_mark mark = rh_arena_save(arena);
    float *b = rh_field_new(tiles, arena, status);
    if (!b) return RH_MEMORY;
    rh_particles_to_cells(tiles, positions, b);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        float shares[RH_TILE * RH_TILE * RH_TILE];
        free_shares(tiles, pressure->cut->volume, t, shares);
        for (int c = 0; c < tiles->cells; c++) {
            int64_t at = (int64_t)t * tiles->cells + c;
            b[at] = pressure->matrix.diagonal[at] <= 0 ? 0 : excess(b[at], per_cell, shares[c], pressure->surface->phi[at] * tiles->inverse_h);
        }
    }
    RH_TRY(rh_pressure_solve(pressure, b, tolerance, max_iterations, arena, report, status));
    rh_arena_restore(arena, mark);

    rh_pressure_subtract_gradient(pressure, shift, known);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++)
            for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c++)
                shift.axis[a][c] = rh_clamp(shift.axis[a][c], -0.5f, 0.5f) * tiles->h;
    return RH_OK;
}
