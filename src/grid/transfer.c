// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles to grid: every tile scatters its own particles into a small dense block that overhangs by one cell, then
// adds the block to itself and its neighbours. Tiles go in 2^d colours (parity of their coordinates): two tiles of one
// colour never touch the same value, and colours follow each other in fixed order, so sums come out the same for any
// number of threads, each particle is visited once, and no second copy of the grid is needed. (A gather would visit
// every particle about twice.)
//
// In the block, value and weight lie side by side: two neighbours along x are one vector of four, and a particle adds
// to four (in 2D two) such vectors per component. Eight particles at a time would need gathers and conflicts resolved;
// four lanes of one particle need neither.
//
// APIC: C. Jiang, C. Schroeder, A. Selle, J. Teran, A. Stomakhin, "The affine particle-in-cell method", ACM TOG 34(4),
// 2015; on a staggered grid row a of C is the gradient of the interpolated component a.
#include "grid/transfer.h"

#include <string.h>
#include "grid/staggered.h"

// Blocks with an overhang of one cell: cells -1 .. 8.
enum { SIDE = RH_TILE + 2, SMALL = SIDE * SIDE * SIDE };

typedef struct scatter_job {
    const rh_tiles *tiles;
    const rh_vec3 *positions, *velocities;
    const float (*affine)[9];
    rh_faces velocity, weight;
    float *const *cells;
} scatter_job;

typedef float pair_block[2 * SMALL];  // value, weight

// Adds one particle's value (with slope per cell along each axis) to the 2^d lattice points around it.
static inline __attribute__((always_inline)) void scatter(int dimension, int component, const rh_stencil *s,
                                                          float value, const float *slope, float *block)
{
    int kx = rh_staggered_half(component, 0), ky = rh_staggered_half(component, 1),
        kz = rh_staggered_half(component, 2);
    float fx = s->fraction[kx][0], fy = s->fraction[ky][1], fz = dimension == 3 ? s->fraction[kz][2] : 0;
    int start = (s->cell[kx][0] + 1) +
                SIDE * ((s->cell[ky][1] + 1) + (dimension == 3 ? SIDE * (s->cell[kz][2] + 1) : 0));
    rh_f4 along = {1 - fx, 1 - fx, fx, fx}, what = {value, 1, value, 1};
    if (slope) what += (rh_f4){-slope[0] * fx, 0, slope[0] * (1 - fx), 0};
    for (int dz = 0; dz < (dimension == 3 ? 2 : 1); dz++)
        for (int dy = 0; dy < 2; dy++) {
            float w = (dy ? fy : 1 - fy) * (dimension == 3 ? (dz ? fz : 1 - fz) : 1);
            rh_f4 here = what;
            if (slope) {
                float more = slope[1] * ((float)dy - fy) + (dimension == 3 ? slope[2] * ((float)dz - fz) : 0);
                here += (rh_f4){more, 0, more, 0};
            }
            float *place = block + 2 * (start + SIDE * (dy + SIDE * dz));
            rh_f4_store(place, rh_f4_load(place) + (along * w) * here);
        }
}

static inline __attribute__((always_inline)) void scatter_particles(const scatter_job *job, int dimension, bool affine,
                                                                    bool cells, int32_t t, pair_block *blocks)
{
    const rh_tiles *tiles = job->tiles;
    uint32_t end = rh_tile_first(tiles, t + 1);
    rh_tile at = tiles->at[t];
    for (uint32_t p = rh_tile_first(tiles, t); p < end; p++) {
        rh_stencil s = rh_stencil_at(rh_local_position(tiles, at, job->positions[p]));
        for (int a = 0; a < dimension; a++) {
            float slope[3] = {0, 0, 0};
            for (int d = 0; affine && d < dimension; d++) slope[d] = job->affine[p][3 * a + d] * tiles->h;
            scatter(dimension, a, &s, (&job->velocities[p].x)[a], affine ? slope : NULL, blocks[a]);
        }
        if (cells) scatter(dimension, 3, &s, 0, NULL, blocks[3]);
    }
}

// Adds a row of pairs to `count` values (may be NULL) and weights.
static inline void add_row(const float *pairs, int count, float *values, float *weights)
{
    for (int i = 0; i < count; i++) {
        if (values) values[i] += pairs[2 * i];
        weights[i] += pairs[2 * i + 1];
    }
}

// Adds a block to the tile it belongs to and to the neighbours it overhangs: to values and weights, or weights to
// `cells`.
static void flush(const rh_tiles *tiles, int32_t t, const float *block, float *values, float *weights,
                  float *const *cells)
{
    bool flat = tiles->dimension == 2;
    for (int n = flat ? 9 : 0; n < (flat ? 18 : RH_NEAR); n++) {
        int32_t other = tiles->near[t][n];
        if (other < 0 || (cells && !cells[other])) continue;  // nothing reaches a tile outside the margin
        float *sums = cells ? cells[other] : weights + (int64_t)other * tiles->cells;
        float *sums_of_values = values ? values + (int64_t)other * tiles->cells : NULL;
        int d[3] = {n % 3 - 1, n / 3 % 3 - 1, flat ? 0 : n / 9 - 1};
        int from[3], to[3], count[3];
        for (int a = 0; a < 3; a++) {
            count[a] = d[a] ? 1 : RH_TILE;
            from[a] = d[a] < 0 ? 0 : d[a] > 0 ? SIDE - 1 : 1;
            to[a] = d[a] < 0 ? RH_TILE - 1 : 0;
        }
        if (flat) from[2] = 0, count[2] = 1;
        for (int k = 0; k < count[2]; k++)
            for (int j = 0; j < count[1]; j++) {
                const float *source = block + 2 * (from[0] + SIDE * ((from[1] + j) + SIDE * (from[2] + k)));
                int target = to[0] + RH_TILE * ((to[1] + j) + RH_TILE * (to[2] + k));
                if (count[0] == RH_TILE)
                    add_row(source, RH_TILE, values ? sums_of_values + target : NULL, sums + target);
                else add_row(source, 1, values ? sums_of_values + target : NULL, sums + target);
            }
    }
}

// Constant dimension and kind let the compiler unroll the corner loops.
static void scatter_tile(const scatter_job *job, int32_t t)
{
    static _Thread_local pair_block blocks[4];
    const rh_tiles *tiles = job->tiles;
    size_t bytes = (tiles->dimension == 3 ? SMALL : SIDE * SIDE) * 2 * sizeof(float);
    for (int a = 0; a < 4; a++) memset(blocks[a], 0, bytes);
    bool affine = job->affine, cells = job->cells;
    if (tiles->dimension == 2) scatter_particles(job, 2, affine, cells, t, blocks);
    else if (affine) scatter_particles(job, 3, true, cells, t, blocks);
    else if (cells) scatter_particles(job, 3, false, true, t, blocks);
    else scatter_particles(job, 3, false, false, t, blocks);
    for (int a = 0; a < tiles->dimension; a++)
        flush(tiles, t, blocks[a], job->velocity.axis[a], job->weight.axis[a], NULL);
    if (cells) flush(tiles, t, blocks[3], NULL, NULL, job->cells);
}

static void clear_tile(const scatter_job *job, int32_t t)
{
    size_t bytes = (size_t)job->tiles->cells * sizeof(float);
    int64_t base = (int64_t)t * job->tiles->cells;
    for (int a = 0; a < job->tiles->dimension; a++) {
        memset(job->velocity.axis[a] + base, 0, bytes);
        memset(job->weight.axis[a] + base, 0, bytes);
    }
    if (job->cells && job->cells[t]) memset(job->cells[t], 0, bytes);
}

void rh_particles_to_grid(const rh_tiles *tiles, const rh_vec3 *positions, const rh_vec3 *velocities,
                          const float (*affine)[9], rh_faces velocity, rh_faces weight, float *const *cells)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles) && rh_faces_fit(tiles, velocity) && rh_faces_fit(tiles, weight));
    scatter_job job = {tiles, positions, velocities, affine, velocity, weight, cells};
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) clear_tile(&job, t);
    for (int color = 0; color < 8; color++) {
#pragma omp parallel for schedule(dynamic, 1)
        for (int32_t n = tiles->color_first[color]; n < tiles->color_first[color + 1]; n++)
            scatter_tile(&job, tiles->occupied[n]);
    }
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++) {
            float *v = velocity.axis[a] + (int64_t)t * tiles->cells;
            const float *w = weight.axis[a] + (int64_t)t * tiles->cells;
            for (int c = 0; c < tiles->cells; c++) v[c] = w[c] > 1e-9f ? v[c] / w[c] : 0;
        }
}
