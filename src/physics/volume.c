// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Implicit density projection: T. Kugelstadt, A. Longva, N. Thuerey, J. Bender, "Implicit density projection for
// volume conserving liquids", IEEE TVCG 27(4), 2021 (online 2019). The number of particles around each cell, compared
// with what a full cell holds, is the divergence that a displacement field must have; the displacement is a gradient
// and comes from the same operator as pressure (zero at the free surface, no displacement through solids). It moves
// positions only, so it adds no momentum. It does lift, and where much is to be mended nothing gave the energy for it:
// a puddle that was lifted by twice its height in six seconds ran away. Films that do not collapse (thin_film.h) and
// paths in a flow that travels with the liquid (grid/advect.h) leave it a twentieth of that. (Letting the liquid's
// motion pay for every lift stopped waves within a period: most lifts only mend what sank. Smoothing the error first
// changed nothing.)
//
// Differences: walls are accounted for by the share of the weight function that lies in free space; near the free
// surface only crowding counts (a starved cell there is just surface); four fifths of the error are taken away in
// each step (half of it in heaps that may rest).
//
// Known limit: waves lower than a cell grow or fade by up to 1 % in a period, as the surface that particles stand for
// and the one that their number stands for differ by some hundredths of a cell, depending on where in a cell it lies.
// (Comparing cells near the surface with what a flat surface at their depth leaves them, so that gaps count too, halved
// what films win, but such waves then faded or grew by a tenth in a period, and water at rest trembled more.)
#include "physics/volume.h"

#include <math.h>
#include "base/random.h"
#include "base/simd.h"

// Per step: share of the error taken away, and limits of the error in cells of volume per cell. Crowds may push harder
// than gaps pull: with the same limit clumps of twenty times their number, born in corners, lived for seconds.
static const float RELAX = 0.8f, RELAX_HEAP = 0.5f, LIMIT = 0.5f, CROWD = 2;

// Cells that are held ask for nothing within this share of their number: with the noise of a heap of particles as a
// reason to move, a resting heap never rests.
static const float PATIENCE = 0.25f;

// Eight cells; phi in cells.
static inline rh_f8 excess(rh_f8 count, float per_cell, rh_f8 share, rh_f8 phi, rh_i8 rigid, float relax)
{
    // A cell mostly in a wall tells little about too few particles, but it may hide many.
    rh_f8 zero = rh_f8_all(0), quarter = rh_f8_all(0.25f);
    rh_i8 walled = share < quarter;
    share = rh_f8_max(share, quarter);
    rh_f8 s = count / (per_cell * share) - 1;
    rh_f8 patient = rh_f8_max(s - PATIENCE, zero) + rh_f8_min(s + PATIENCE, zero);
    s = rh_f8_select(rigid, patient, s);
    rh_i8 quiet = (walled | (phi > rh_f8_all(-1))) & (s < zero);
    rh_f8 wanted = relax * share * rh_f8_min(rh_f8_max(s, rh_f8_all(-LIMIT)), rh_f8_all(CROWD));
    return rh_f8_select(quiet, zero, wanted);
}

static void excess_tile(const rh_pressure *pressure, int32_t n, const float *const *count, const uint8_t *rigid,
                        float per_cell, float *b)
{
    const rh_tiles *tiles = pressure->tiles;
    int32_t t = pressure->layout.listed[n];
    int64_t from = (int64_t)t * tiles->cells, to = (int64_t)n * tiles->cells;
    const float *shares = pressure->cut->share[t];
    for (int c = 0; c < tiles->cells; c += 8) {
        rh_i8 unknown = rh_i8_from_bits(pressure->layout.unknown[(from + c) / 8]),
              rests = rh_i8_from_bits(rigid ? rigid[(from + c) / 8] : 0);
        rh_f8 phi = rh_f8_load(pressure->surface->phi + from + c) * tiles->inverse_h;
        rh_f8 found = excess(rh_f8_load(count[t] + c), per_cell, rh_f8_load(shares + c), phi, rests,
                             rigid ? RELAX_HEAP : RELAX);
        rh_f8_store(b + to + c, (rh_f8)((rh_i8)found & unknown));
    }
}

rh_code rh_volume_correction(rh_pressure *pressure, const float *const *count, const uint8_t *rigid, float per_cell,
                             double tolerance, int max_iterations, rh_faces shift, uint8_t *const known[3],
                             rh_arena *arena, rh_cg_report *report, rh_status *status)
{
    RH_ASSERT(rh_faces_fit(pressure->tiles, shift) && per_cell > 0);
    const rh_tiles *tiles = pressure->tiles;
    const rh_poisson *m = &pressure->matrix;
    rh_arena_mark mark = rh_arena_save(arena);
    float *b = rh_poisson_vector(m, arena, status);
    if (!b) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < m->count; n++) excess_tile(pressure, n, count, rigid, per_cell, b);
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

void rh_volume_scatter(const rh_tiles *tiles, const uint8_t *rigid, float per_cell, uint64_t seed, int64_t step,
                       const int64_t *ids, int64_t first_id, rh_vec3 *positions)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles) && per_cell > 0);
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c++) {
            if ((float)(tiles->first[c + 1] - tiles->first[c]) <= 2 * per_cell ||
                (rigid && rigid[c >> 3] >> (c & 7) & 1))
                continue;
            for (uint32_t p = tiles->first[c]; p < tiles->first[c + 1]; p++)
                for (int a = 0; a < tiles->dimension; a++)
                    (&positions[p].x)[a] +=
                        0.5f * tiles->h *
                        (rh_random(seed, (uint64_t)(ids[p] - first_id), (uint32_t)step, (uint32_t)a) - 0.5f);
        }
}
