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
#include "base/random.h"
#include "grid/transfer.h"

// Per step: share of the error taken away, and limits of the error in cells of volume per cell. Crowds may push harder than gaps pull: with
// the same limit clumps of twenty times their number, born in corners, lived for seconds.
static const float RELAX = 0.5f, LIMIT = 0.5f, CROWD = 2;

enum { SIDE = RH_TILE + 4, LARGE = SIDE * SIDE * SIDE };

// Share of a cell's linear weight function that lies in free space. Cells are cut in halves along each axis; the weight of the
// function over the four halves it reaches along an axis is 1/8, 3/8, 3/8, 1/8. The distance in the middle of such a part lies half way
// between those at the cell's centre and at its corner, which gives the part's free volume. Exact for walls along the grid that end at
// halves of cells, their edges and corners; off by 1/32 at most for others. (Whole cells were not enough: a floor a quarter of a cell above a face looked
// crowded, and resting water rose by 0.16 cells.)
static float free_share(const rh_tiles *tiles, const float *center, const float *corner, int c)
{
    static const float weight[4] = {0.125f, 0.375f, 0.375f, 0.125f};
    bool deep = tiles->dimension == 3;
    int cell[3] = {c & 7, c >> 3 & 7, c >> 6};
    float sum = 0;
    for (int n = 0; n < (deep ? 64 : 16); n++) {
        int part[3] = {n & 3, n >> 2 & 3, n >> 4}, at[3], edge[3];
        for (int a = 0; a < 3; a++) {
            at[a] = cell[a] + (part[a] + 1) / 2 - 1;    // the cell the part belongs to
            edge[a] = cell[a] + part[a] / 2;            // and its corner nearest to the part
        }
        if (!deep) at[2] = edge[2] = 0;
        float d = 0.5f * (center[rh_block_index(tiles, 2, at[0], at[1], at[2])] + corner[rh_block_index(tiles, 2, edge[0], edge[1], edge[2])]);
        float w = weight[part[0]] * weight[part[1]] * (deep ? weight[part[2]] : 1);
        sum += w * rh_clamp(0.5f + 2 * d * tiles->inverse_h, 0, 1);
    }
    return sum;
}

static void free_shares(const rh_tiles *tiles, const rh_cut_cells *cut, int32_t t, float *shares)
{
    float center[LARGE], corner[LARGE], far = 8 * tiles->h;
    if (cut->kind[t] == RH_TILE_CUT) {
        rh_block_load(tiles, cut->distance, t, 2, far, center);
        rh_block_load(tiles, cut->corner, t, 2, far, corner);
    }
    for (int c = 0; c < tiles->cells; c++) {
        float d = cut->distance[(int64_t)t * tiles->cells + c] * tiles->inverse_h;
        shares[c] = d > 2 ? 1 : d < -2 ? 0 : free_share(tiles, center, corner, c);
    }
}

static float excess(float count, float per_cell, float share, float phi)
{
    // A cell mostly in a wall tells little about too few particles, but it may hide many.
    bool walled = share < 0.25f;
    if (walled) share = 0.25f;
    float s = count / (per_cell * share) - 1;
    if ((walled || phi > -1) && s < 0) return 0;
    return RELAX * share * rh_clamp(s, -LIMIT, CROWD);
}

rh_code rh_volume_correction(rh_pressure *pressure, const rh_vec3 *positions, float per_cell, double tolerance, int max_iterations,
                             rh_faces shift, uint8_t *const known[3], rh_arena *arena, rh_cg_report *report, rh_status *status)
{
    const rh_tiles *tiles = pressure->tiles;
    const rh_poisson *m = &pressure->matrix;
    rh_arena_mark mark = rh_arena_save(arena);
    float *b = rh_poisson_vector(m, arena, status);
    rh_arena_mark counting = rh_arena_save(arena);
    float *count = rh_field_new(tiles, arena, status);
    if (!b || !count) return RH_MEMORY;
    rh_particles_to_cells(tiles, positions, count);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < m->count; n++) {
        int64_t base = (int64_t)pressure->listed[n] * tiles->cells;
        float shares[RH_TILE * RH_TILE * RH_TILE];
        free_shares(tiles, pressure->cut, pressure->listed[n], shares);
        for (int c = 0; c < tiles->cells; c++) {
            bool unknown = rh_pressure_is_unknown(pressure, base + c);
            b[(int64_t)n * tiles->cells + c] = unknown ? excess(count[base + c], per_cell, shares[c], pressure->surface->phi[base + c] * tiles->inverse_h) : 0;
        }
    }
    rh_arena_restore(arena, counting);
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

void rh_volume_scatter(const rh_tiles *tiles, float per_cell, uint64_t seed, int64_t step, const int64_t *ids, rh_vec3 *positions)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c++) {
            if ((float)(tiles->first[c + 1] - tiles->first[c]) <= 2 * per_cell) continue;
            for (uint32_t p = tiles->first[c]; p < tiles->first[c + 1]; p++)
                for (int a = 0; a < tiles->dimension; a++)
                    (&positions[p].x)[a] += 0.5f * tiles->h * (rh_random(seed, (uint64_t)ids[p], (uint32_t)step, (uint32_t)a) - 0.5f);
        }
}
