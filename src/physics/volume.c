// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Implicit density projection: T. Kugelstadt, A. Longva, N. Thuerey, J. Bender, "Implicit density projection for volume
// conserving liquids", IEEE TVCG 27(4), 2021 (online 2019). The number of particles around each cell, compared with
// that of a full cell, gives the divergence that a displacement field must have; the displacement is a gradient and
// comes from the same operator as pressure (zero at the free surface, no displacement through solids). It moves
// positions only, so it adds no momentum. But it can lift liquid, and liquid that is lifted by more than it had sunk
// has gained potential energy that nothing supplied. Four things made it lift liquid without reason, and each has its
// own remedy:
//   - films that collapsed, and liquid that was carried through a flow taken to stand still (thin_film.h,
//     grid/advect.h): a puddle was lifted by twice its height in six seconds;
//   - lines of particles that a stretching flow drew apart, which no displacement field can part (lines.h): it was
//     lifted by half its height in four seconds still, a tenth of that since;
//   - noise at the surface, where crowding counts and gaps do not: every second fluctuation lifted liquid. Waves lower
//     than a cell gained up to 10 % in their first period, and still water rose. So crowding near the surface counts
//     only beyond 5 %: no wave grows since. (With 3 % they grew by 1 %; with 15 % films lost four tenths of their
//     volume.)
//   - films, in which nothing but the surface is there to be crowded (below: swelling).
// What is asked for then loses the part that does work on waves (volume_work.h).
// (When the energy of every lift was taken out of the liquid's motion, waves stopped within a period: most lifts only
// make up for what sank. Smoothing the error first changed nothing. Comparing cells near the surface with the number
// that a flat surface at their depth leaves them, so that gaps count too, let waves fade or grow by a tenth in a
// period, and water at rest trembled more.)
//
// Differences from the source: walls are accounted for by the share of the weight function that lies in free space;
// near the free surface only crowding counts (a cell with too few particles there is just surface); and the share of
// the error that is corrected in a step depends on its cause. The number around a cell of particles that do not stand
// on a lattice changes as they are carried through the grid, by some per cent, though nothing is crowded: correcting
// that noise shakes the liquid. With four fifths of the error corrected in every step waves of half a cell grew by half
// a per cent a period with APIC, as much with a fifth, not at all with a fiftieth. Real crowding comes from
// deformation. So a small share is corrected in any case, more where the flow deforms, and more where the error is
// larger than noise (half of it in each step in heaps that may rest).
//
// The change of volume along the particles' paths in this very step is known beforehand and corrected with the rest
// (grid/shear.h): when it was left to show in the count, water sank first and was lifted afterwards.
#include "physics/volume.h"

#include <math.h>
#include "base/random.h"
#include "base/simd.h"
#include "grid/shear.h"
#include "grid/staggered.h"
#include "physics/volume_work.h"

// Per step: largest share of the error taken away, and limits of the error in cells of volume per cell. Crowds may push
// harder than gaps pull: with the same limit clumps of twenty times their number, born in corners, lived for seconds.
static const float RELAX = 0.8f, RELAX_HEAP = 0.5f, LIMIT = 0.5f, CROWD = 2;

// The share in liquid that does not deform, and what the deformation of a step and an error beyond noise add to it.
// (With twice as much for deformation, or three times the whole error for the last, waves of half a cell grow by 1 % a
// period again.)
static const float RELAX_CALM = 0.02f, RELAX_DEFORMED = 3, RELAX_CROWDED = 2;

// Cells that are rigid are not corrected within this share of their number: with the noise of a heap of particles as a
// reason to move, a resting heap never rests.
static const float PATIENCE = 0.25f;

// Share of its number by which a cell's count may be off though nothing is wrong; near the surface, where only crowding
// counts, less than this does not count at all. Heaps have their own patience.
static const float NOISE = 0.05f;

// Of eight cells: particles around them, share of that in free space, distance from the surface in cells, sqrt(2 D:D)
// dt of the flow, and which of them rest (in a heap).
typedef struct cell_row {
    rh_f8 count, share, phi, strain;
    rh_i8 rests;
} cell_row;

static inline rh_f8 excess(const cell_row *at, float per_cell, bool heap)
{
    // A cell mostly in a wall tells little about too few particles, but it may hide many.
    rh_f8 zero = rh_f8_all(0), quarter = rh_f8_all(0.25f);
    rh_i8 walled = at->share < quarter;
    rh_f8 share = rh_f8_max(at->share, quarter);
    rh_f8 s = at->count / (per_cell * share) - 1;
    rh_f8 patient = rh_f8_max(s - PATIENCE, zero) + rh_f8_min(s + PATIENCE, zero);
    s = rh_f8_select(at->rests, patient, s);
    rh_i8 near_surface = at->phi > rh_f8_all(-1);
    if (!heap) s = rh_f8_select(near_surface & (s > zero), rh_f8_max(s - NOISE, zero), s);
    rh_i8 quiet = (walled | near_surface) & (s < zero);
    rh_f8 relax = RELAX_CALM + RELAX_DEFORMED * at->strain + RELAX_CROWDED * rh_f8_max(rh_f8_abs(s) - NOISE, zero);
    relax = heap ? rh_f8_all(RELAX_HEAP) : rh_f8_min(relax, rh_f8_all(RELAX));
    rh_f8 wanted = relax * share * rh_f8_min(rh_f8_max(s, rh_f8_all(-LIMIT)), rh_f8_all(CROWD));
    return rh_f8_select(quiet, zero, wanted);
}

// `rates`: sqrt(2 D:D), 1/s; not looked at in heaps.
static void excess_tile(const rh_pressure *pressure, const rh_volume_input *of, int32_t n, const float *rates, float *b)
{
    const rh_tiles *tiles = pressure->tiles;
    int32_t t = pressure->layout.listed[n];
    int64_t from = (int64_t)t * tiles->cells, to = (int64_t)n * tiles->cells;
    for (int c = 0; c < tiles->cells; c += 8) {
        rh_i8 unknown = rh_i8_from_bits(pressure->layout.unknown[(from + c) / 8]);
        cell_row at = {.count = rh_f8_load(of->count[t] + c),
                       .share = rh_f8_load(pressure->cut->share[t] + c),
                       .phi = rh_f8_load(pressure->surface->phi + from + c) * tiles->inverse_h,
                       .strain = of->rigid ? rh_f8_all(0) : rh_f8_load(rates + c) * of->dt,
                       .rests = rh_i8_from_bits(of->rigid ? of->rigid[(from + c) / 8] : 0)};
        rh_f8_store(b + to + c, (rh_f8)((rh_i8)excess(&at, of->per_cell, of->rigid != NULL) & unknown));
    }
}

// The paths of a step may compress a cell by no more than this: beyond, the flow is not resolved.
static const float MOST_PRESSED = 0.3f;

static void add_compression(const rh_pressure *pressure, int32_t n, const float *compression, float *b)
{
    int64_t from = (int64_t)pressure->layout.listed[n] * pressure->tiles->cells;
    for (int c = 0; c < pressure->tiles->cells; c += 8) {
        float *own = b + (int64_t)n * pressure->tiles->cells + c;
        rh_f8 pressed = rh_f8_load(compression + c);
        pressed = rh_f8_min(rh_f8_max(pressed, rh_f8_all(-MOST_PRESSED)), rh_f8_all(MOST_PRESSED));
        rh_f8_store(own, rh_f8_load(own) + rh_f8_masked(pressed, pressure->layout.unknown[(from + c) / 8]));
    }
}

// --- swelling --------------------------------------------------------------------------------------------------------
// In liquid thinner than two cells all cells are near the surface: gaps count nowhere, noise only lifts, and films
// swelled by up to a sixth of their volume, a puddle of 3.5 cells to 1.03 of its energy. There the sum of the
// divergence that the cells of a tile are given is bounded by the excess of volume in it and its surroundings: that of
// the particles over that inside the surface. (In deeper water interior gaps have this effect. Bounded everywhere,
// waves of a fifth of a cell grew by a quarter in four periods, where the volume inside the surface changes with its
// place in a cell.) THIN and THICK are thicknesses in cells: bounded wholly below the first, not at all above the
// second. (With 4 for 3 waves in water of 3.2 cells grew by a tenth a period.)
// SAG: the share of its volume that thin liquid may lack, so that what lifts it by chance does not outweigh what lets
// it sink: without it puddles of 3 to 4 cells gained energy for seconds, with APIC in short steps up to 1.026 of what
// they had; none does since. (With 5 % films lose another 3 % of their volume. Counting nothing between 0 and 2 %,
// instead of letting films sink to 2 %, left 1.019.) Not under surface tension, which presses for ever: a cap on a
// tilted floor sank by 12 %; nor in thick liquid, which loses energy anyway.
static const double THIN = 2, THICK = 3, SAG = 0.02;

static void add(float value, float along_x, float y, float z, float sums[8])
{
    const float terms[8] = {value,     along_x,     value * y,     along_x * y,
                            value * z, along_x * z, value * y * z, along_x * y * z};
    for (int k = 0; k < 8; k++) sums[k] += terms[k];
}

// Whether the surface passes through the tile.
static bool measure_inside(const rh_tiles *tiles, const float *phi, const float *open, rh_tile_fill *fill)
{
    static const rh_f8 x = {0.0625f, 0.1875f, 0.3125f, 0.4375f, 0.5625f, 0.6875f, 0.8125f, 0.9375f};
    rh_f8 half = rh_f8_all(0.5f), none = {0}, one = rh_f8_all(1);
    int any = 0;
    *fill = (rh_tile_fill){.at_surface = false};
    for (int c = 0; c < tiles->cells; c += RH_TILE) {
        float y = ((float)(c >> 3 & 7) + 0.5f) / RH_TILE, z = ((float)(c >> 6) + 0.5f) / RH_TILE;
        rh_f8 share = rh_f8_min(rh_f8_max(half - rh_f8_load(phi + c) * tiles->inverse_h, none), one);
        rh_f8 inside = share * rh_f8_load(open + c);
        rh_f8 cut = rh_f8_select((share > none) & (share < one), rh_f8_load(open + c), none);
        any |= rh_i8_bits(cut > none);
        add(rh_f8_sum(cut), rh_f8_sum(cut * x), y, z, fill->surface);
        add(rh_f8_sum(inside), rh_f8_sum(inside * x), y, z, fill->inside);
    }
    return any;
}

static void add_particles(const rh_tiles *tiles, const rh_vec3 *positions, float per_cell, int32_t t,
                          rh_tile_fill *fill)
{
    float sums[8] = {0};
    for (uint32_t p = rh_tile_first(tiles, t); p < rh_tile_first(tiles, t + 1); p++) {
        rh_f4 at = rh_local_position(tiles, tiles->at[t], positions[p]) / RH_TILE;
        add(1, at[0], at[1], at[2], sums);
    }
    for (int k = 0; k < 8; k++) fill->excess[k] = sums[k] / per_cell - fill->inside[k];
}

static bool surface_is_near(const rh_tiles *tiles, const rh_tile_fill *fills, int32_t t)
{
    for (int n = 0; n < RH_NEAR; n++)
        if (tiles->near[t][n] >= 0 && fills[tiles->near[t][n]].at_surface) return true;
    return false;
}

void rh_volume_measure(const rh_tiles *tiles, const float *phi, const float *const *open, const rh_vec3 *positions,
                       float per_cell, rh_tile_fill *fills)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles) && per_cell > 0);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        fills[t].at_surface = measure_inside(tiles, phi + (int64_t)t * tiles->cells, open[t], &fills[t]);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        if (surface_is_near(tiles, fills, t)) add_particles(tiles, positions, per_cell, t, &fills[t]);
}

// A sum over a near tile with weights that fall from 1 at the border with this one to 0 at the other.
static double sum_over_near(const float sums[8], int near)
{
    const int offset[3] = {near % 3 - 1, near / 3 % 3 - 1, near / 9 - 1};
    double sum = 0;
    for (int k = 0; k < 8; k++) {
        double weight = 1;
        for (int a = 0; a < 3; a++) {
            bool linear = k >> a & 1;
            weight *= offset[a] < 0 ? linear : offset[a] > 0 ? 1 - 2 * linear : !linear;
        }
        sum += weight * (double)sums[k];
    }
    return sum;
}

// A tile and its surroundings, with weights that have no jump: with one, half a layer of particles on the wrong side of
// it would count.
typedef struct surroundings {
    double inside, surface, excess;
} surroundings;

static surroundings look_around(const rh_tiles *tiles, const rh_tile_fill *fills, int32_t t)
{
    surroundings sum = {0, 0, 0};
    for (int n = 0; n < RH_NEAR; n++) {
        int32_t other = tiles->near[t][n];
        if (other < 0) continue;
        sum.inside += sum_over_near(fills[other].inside, n);
        sum.surface += sum_over_near(fills[other].surface, n);
        sum.excess += sum_over_near(fills[other].excess, n);
    }
    return sum;
}

// Of a tile: SAG where the liquid is as fast as waves on a film of a cell, less with the square of its speed. At rest
// nothing lifts by chance, and with all of SAG films on beaches of 1:40 ran at 0.04 sqrt(g depth). Without gravity
// nothing is lifted.
static double sag_of(const rh_pressure *pressure, const rh_volume_input *of, int32_t t)
{
    const rh_tiles *tiles = pressure->tiles;
    double waves = (double)(rh_v3_length(of->gravity) * tiles->h), sum = 0;
    if (!of->sags || !(waves > 0)) return 0;
    int64_t count = 0;
    for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c++) {
        if (!rh_pressure_is_unknown(pressure, c)) continue;
        for (int a = 0; a < tiles->dimension; a++)
            sum += (double)of->velocity.axis[a][c] * (double)of->velocity.axis[a][c];
        count++;
    }
    double square = count > 0 ? sum / (double)count : 0;
    return SAG * (square < waves ? square / waves : 1);
}

// In thin liquid the sum of the divergence of a tile's cells is at most their excess of volume.
static void bound_swelling_of_tile(const rh_pressure *pressure, const rh_volume_input *of, int32_t n, float *b)
{
    const rh_tiles *tiles = pressure->tiles;
    int32_t t = pressure->layout.listed[n];
    int64_t from = (int64_t)t * tiles->cells;
    rh_f8 near_surface = rh_f8_all(-tiles->h), zero = rh_f8_all(0), one = rh_f8_all(1), asked = zero, surface = zero;
    float *own = b + (int64_t)n * tiles->cells;
    for (int c = 0; c < tiles->cells; c += 8) {
        rh_i8 at_surface = rh_i8_from_bits(pressure->layout.unknown[(from + c) / 8]) &
                           (rh_f8_load(pressure->surface->phi + from + c) > near_surface);
        asked += rh_f8_load(own + c);
        surface += rh_f8_select(at_surface, one, zero);
    }
    double cells = (double)rh_f8_sum(surface), sum = (double)rh_f8_sum(asked);
    if (cells == 0 || !of->fills[t].at_surface) return;
    surroundings around = look_around(tiles, of->fills, t);
    if (!(around.inside > 0 && around.surface > 0)) return;
    double part = fmin(1, (THICK - around.inside / around.surface) / (THICK - THIN));
    if (part <= 0) return;
    double most = (around.excess / around.inside - sag_of(pressure, of, t)) * (double)of->fills[t].inside[0];
    if (sum <= most) return;
    rh_f8 less = rh_f8_all((float)(part * (sum - most) / cells));
    for (int c = 0; c < tiles->cells; c += 8) {
        rh_i8 at_surface = rh_i8_from_bits(pressure->layout.unknown[(from + c) / 8]) &
                           (rh_f8_load(pressure->surface->phi + from + c) > near_surface);
        rh_f8 wanted = rh_f8_load(own + c);
        rh_f8_store(own + c, rh_f8_select(at_surface, wanted - less, wanted));
    }
}

// The divergence that the displacement is to have in the cells of a tile.
static void ask_tile(const rh_pressure *pressure, const rh_volume_input *of, int32_t n, float *b)
{
    _Alignas(32) float rates[RH_CELLS], compression[RH_CELLS];
    int32_t t = pressure->layout.listed[n];
    if (of->frame_share)
        rh_shear_and_compression(pressure->tiles, of->velocity, t, of->frame_share[t], of->dt, rates, compression);
    else if (!of->rigid) rh_shear_rates(pressure->tiles, of->velocity, t, rates);
    excess_tile(pressure, of, n, rates, b);
    if (of->fills) bound_swelling_of_tile(pressure, of, n, b);
    if (of->frame_share) add_compression(pressure, n, compression, b);
}

// Films are left out: what pressure there is in them is that of their own thickness, and with it taken out a puddle of
// 3.6 cells that spread lost a tenth of its volume instead of a hundredth. So is liquid under surface tension, whose
// pressure at rest is not that of a flat surface: caps on a floor ended 4 % too low.
static rh_code spare_waves(const rh_pressure *pressure, const rh_volume_input *of, float *b, rh_arena *arena,
                           rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    bool *deep = rh_arena_take(arena, ((size_t)pressure->matrix.count + 1) * sizeof *deep, status);
    if (!deep) return RH_MEMORY;
#pragma omp parallel for schedule(static, 4)
    for (int32_t n = 0; n < pressure->matrix.count; n++) {
        surroundings around = look_around(pressure->tiles, of->fills, pressure->layout.listed[n]);
        deep[n] = around.inside > THIN * around.surface;
    }
    RH_TRY(rh_volume_spare_waves(pressure, of->gravity, deep, b, arena, status));
    rh_arena_restore(arena, mark);
    return RH_OK;
}

rh_code rh_volume_correction(rh_pressure *pressure, const rh_volume_input *of, rh_faces shift, uint8_t *const known[3],
                             rh_arena *arena, rh_cg_report *report, rh_status *status)
{
    RH_ASSERT(rh_faces_fit(pressure->tiles, shift) && of->per_cell > 0);
    const rh_tiles *tiles = pressure->tiles;
    const rh_poisson *m = &pressure->matrix;
    rh_arena_mark mark = rh_arena_save(arena);
    float *b = rh_poisson_vector(m, arena, status);
    if (!b) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < m->count; n++) ask_tile(pressure, of, n, b);
    if (of->fills && !pressure->tension) RH_TRY(spare_waves(pressure, of, b, arena, status));
    RH_TRY(rh_pressure_solve(pressure, b, of->tolerance, of->max_iterations, arena, report, status));
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
