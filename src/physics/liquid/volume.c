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

// Share of the linear weight function of a cell centre on the free side of a plane at distance d (in cells).
static float free_share(float d)
{
    if (d >= 1) return 1;
    if (d <= -1) return 0;
    return d > 0 ? 1 - 0.5f * (1 - d) * (1 - d) : 0.5f * (1 + d) * (1 + d);
}

static float excess(float count, float per_cell, float wall, float phi)
{
    float share = free_share(wall);
    if (share < 0.25f) return 0;
    float s = count / (per_cell * share) - 1;
    if (phi > -1 && s < 0) return 0;
    return RELAX * share * fminf(fmaxf(s, -LIMIT), LIMIT);
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
    for (int32_t t = 0; t < tiles->count; t++)
        for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c++)
            b[c] = pressure->matrix.diagonal[c] <= 0 ? 0
                 : excess(b[c], per_cell, pressure->cut->distance[c] * tiles->inverse_h, pressure->surface->phi[c] * tiles->inverse_h);
    RH_TRY(rh_pressure_solve(pressure, b, tolerance, max_iterations, arena, report, status));
    rh_arena_restore(arena, mark);

    rh_pressure_subtract_gradient(pressure, shift, known);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++)
            for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c++)
                shift.axis[a][c] = fminf(fmaxf(shift.axis[a][c], -0.5f), 0.5f) * tiles->h;
    return RH_OK;
}
