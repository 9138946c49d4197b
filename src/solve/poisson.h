// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The pressure operator on sparse tiles: a symmetric positive (semi-)definite seven-point operator.
//
//   (A x)_c = diagonal_c x_c - sum over the 2d neighbours n of link(c, n) x_n
//
// It has its own numbering: only tiles with unknowns are listed, and vectors hold (count + 1) * cells values, the last
// tile all zeros so that a neighbour which is not there needs no question. Cells that are no unknowns have diagonal 1
// and no links: what is 0 there stays 0.
//
//   coefficients    one block of (1 + dimension) * cells floats per tile: diagonal, then the links
//                   to the lower neighbours along x, y, z
//   block 0         shared by all plain tiles: diagonal 2d, links 1 (all cells and all cells around
//                   are unknowns, all faces open)
//   block 1         zeros, for tiles that are not there
#pragma once
#include "base/simd.h"
#include "grid/tiles.h"

enum { RH_PLAIN = 0, RH_ABSENT = 1, RH_CELLS = RH_TILE * RH_TILE * RH_TILE };
enum { RH_SHORT = 24 };  // tiles: a pass over fewer takes less time than waking a second thread

typedef struct rh_poisson {
    int dimension, layers, cells;
    int32_t count;   // listed tiles, in Morton order
    int32_t blocks;  // of coefficients, the first two included
    int64_t unknowns;
    rh_tile *at;         // [count]
    int32_t (*near)[6];  // [count]: -x +x -y +y -z +z, `count` when not listed
    int32_t *block;  // [count + 1]: the tile's coefficients; RH_PLAIN for plain tiles, RH_ABSENT for the tile of zeros
    uint8_t *unknown;  // [count * cells / 8]: one bit per cell, a byte is a row
    uint64_t *rows;    // [count]: bit j + 8 k of rows with unknowns
    float *coefficients;
} rh_poisson;

static inline size_t rh_poisson_values(const rh_poisson *a) { return ((size_t)a->count + 1) * (size_t)a->cells; }
static inline float *rh_poisson_block(const rh_poisson *a, int32_t n)
{
    return a->coefficients + (int64_t)a->block[n] * (1 + a->dimension) * a->cells;
}
float *rh_poisson_vector(const rh_poisson *a, rh_arena *arena, rh_status *status);  // all 0
void rh_poisson_clear(const rh_poisson *a, float *x);

// Takes all arrays but the coefficients for `count` tiles; they are not filled, nothing is plain.
rh_code rh_poisson_init(rh_poisson *a, int dimension, int32_t count, rh_arena *arena, rh_status *status);
// After block[] says which tiles are plain (RH_PLAIN; others anything else): numbers the blocks, takes the
// coefficients, fills the plain block.
rh_code rh_poisson_take_blocks(rh_poisson *a, rh_arena *arena, rh_status *status);
// After unknown[] was filled: rows and the number of unknowns.
rh_code rh_poisson_count(rh_poisson *a, rh_arena *arena, rh_status *status);

// Sums per listed tile go into `sums` (may be NULL where so said).
// y = A x, sums = x . y (may be NULL).
void rh_poisson_apply(const rh_poisson *a, const float *x, float *y, double *sums);
// A damped Jacobi step y = x + weight D^-1 (b - A x); sums = b . y (may be NULL). x and y differ.
void rh_poisson_smooth(const rh_poisson *a, float weight, const float *b, const float *x, float *y, double *sums);
// The same from 0: x = weight D^-1 b.
void rh_poisson_smooth_zero(const rh_poisson *a, float weight, const float *b, float *x);
// x += step d, r -= step q, sums = r . r, then q = weight D^-1 r: CG's update and the next cycle's first step in one
// pass.
void rh_poisson_cg_update(const rh_poisson *a, float step, float weight, const float *d, float *q, float *x, float *r,
                          double *sums);
void rh_poisson_cg_direction(const rh_poisson *a, float beta, const float *z, float *d);  // d = z + beta d
void rh_poisson_dot(const rh_poisson *a, const float *x, const float *y, double *sums);
// One tile: out = b - A x, and diagonal minus links (what ties each unknown to a given pressure; 0 where it is only
// rounding).
void rh_poisson_residual_tile(const rh_poisson *a, int32_t n, const float *b, const float *x, float out[RH_CELLS]);
void rh_poisson_excess_tile(const rh_poisson *a, int32_t n, float out[RH_CELLS]);
