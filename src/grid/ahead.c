// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// As in transfer.c: a tile scatters its particles into a block that overhangs, then adds that to itself and its
// neighbours, tiles of one colour at a time. Here the block overhangs by four cells: two tiles of one colour reach the
// tile between them from either side and do not meet.
#include "grid/ahead.h"

#include <string.h>
#include "grid/sample.h"

enum {
    OVER = 4,
    SIDE = RH_TILE + 2 * OVER,
    LARGE = SIDE * SIDE * SIDE,
    NEAR_SIDE = RH_TILE + 2,
    NEAR_SMALL = NEAR_SIDE * NEAR_SIDE * NEAR_SIDE
};
static const float FARTHEST = 3;  // cells

typedef struct job {
    const rh_tiles *tiles;
    const rh_ahead *ahead;
    const rh_vec3 *positions;
    float *cells;
} job;

// Adds the weights of one particle at a place in cells from the block's centres.
RH_INLINE void add(int dimension, const float place[3], float *block)
{
    int x = (int)place[0], y = (int)place[1], z = dimension == 3 ? (int)place[2] : 0;
    float fx = place[0] - (float)x, fy = place[1] - (float)y, fz = dimension == 3 ? place[2] - (float)z : 0;
    float *at = block + x + SIDE * (y + SIDE * z);
    for (int dz = 0; dz < dimension - 1; dz++)
        for (int dy = 0; dy < 2; dy++) {
            float w = (dy ? fy : 1 - fy) * (dimension == 3 ? (dz ? fz : 1 - fz) : 1);
            at[SIDE * (dy + SIDE * dz)] += w * (1 - fx);
            at[SIDE * (dy + SIDE * dz) + 1] += w * fx;
        }
}

// Eight particles from `positions`, of which `count` are wanted.
RH_INLINE void add_eight(const job *j, int dimension, const rh_face_block *velocity, rh_tile tile,
                         const float *positions, uint32_t count, float *block)
{
    rh_vec3x8 p;
    rh_f8_load3(positions, &p.axis[0], &p.axis[1], &p.axis[2]);
    rh_vec3x8 local = rh_local_positions8(dimension, j->tiles, tile, p),
              u = rh_sample_faces(dimension, velocity, local);
    float scale = j->ahead->dt * j->tiles->inverse_h;
    float places[3][RH_TILE];
    for (int a = 0; a < dimension; a++) {
        rh_f8 step = rh_f8_max(rh_f8_min(scale * u.axis[a], rh_f8_all(FARTHEST)), rh_f8_all(-FARTHEST));
        rh_f8_store(places[a], local.axis[a] + step + (OVER - 0.5f));
    }
    for (uint32_t i = 0; i < count; i++)
        add(dimension, (const float[3]){places[0][i], places[1][i], dimension == 3 ? places[2][i] : 0}, block);
}

RH_INLINE void add_particles(const job *j, int dimension, const rh_face_block *velocity, int32_t t, float *block)
{
    uint32_t p = rh_tile_first(j->tiles, t), end = rh_tile_first(j->tiles, t + 1);
    rh_tile at = j->tiles->at[t];
    for (; p + 8 <= end; p += 8) add_eight(j, dimension, velocity, at, &j->positions[p].x, 8, block);
    if (p == end) return;
    rh_vec3 rest[8];
    for (uint32_t i = 0; i < 8; i++) rest[i] = j->positions[p + i < end ? p + i : p];
    add_eight(j, dimension, velocity, at, &rest[0].x, end - p, block);
}

// The part of an axis of the block that lies in the tile at `d` (-1, 0, 1).
static void part(int d, int *from, int *to, int *count)
{
    *count = d ? OVER : RH_TILE;
    *from = d < 0 ? 0 : d == 0 ? OVER : OVER + RH_TILE;
    *to = d < 0 ? RH_TILE - OVER : 0;
}

static void flush(const rh_tiles *tiles, int32_t t, const float *block, float *cells)
{
    bool flat = tiles->dimension == 2;
    for (int n = flat ? 9 : 0; n < (flat ? 18 : RH_NEAR); n++) {
        int32_t other = tiles->near[t][n];
        if (other < 0) continue;  // what leaves the tiles has left the liquid
        int from[3], to[3], count[3];
        for (int a = 0; a < 3; a++)
            part(a == 0 ? n % 3 - 1 : a == 1 ? n / 3 % 3 - 1 : n / 9 - 1, &from[a], &to[a], &count[a]);
        if (flat) from[2] = 0, to[2] = 0, count[2] = 1;
        for (int k = 0; k < count[2]; k++)
            for (int j = 0; j < count[1]; j++) {
                const float *source = block + from[0] + SIDE * (from[1] + j + SIDE * (from[2] + k));
                float *target = cells + (int64_t)other * tiles->cells + to[0] +
                                RH_TILE * (to[1] + j + RH_TILE * (to[2] + k));
                for (int i = 0; i < count[0]; i++) target[i] += source[i];
            }
    }
}

static void scatter_tile(const job *j, int32_t t)
{
    static _Thread_local float block[LARGE], memory[3 * NEAR_SMALL];
    const rh_tiles *tiles = j->tiles;
    memset(block, 0, (tiles->dimension == 3 ? LARGE : SIDE * SIDE) * sizeof(float));
    rh_face_block velocity;
    rh_face_block_load(tiles, j->ahead->velocity, t, 1, rh_v3(0, 0, 0), memory, &velocity);
    if (tiles->dimension == 2) add_particles(j, 2, &velocity, t, block);
    else add_particles(j, 3, &velocity, t, block);
    flush(tiles, t, block, j->cells);
}

void rh_particles_ahead(const rh_tiles *tiles, const rh_ahead *ahead, const rh_vec3 *positions, float *cells)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles));
    job j = {tiles, ahead, positions, cells};
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        memset(cells + (int64_t)t * tiles->cells, 0, (size_t)tiles->cells * sizeof(float));
    for (int color = 0; color < 8; color++) {
#pragma omp parallel for schedule(dynamic, 1)
        for (int32_t n = tiles->color_first[color]; n < tiles->color_first[color + 1]; n++)
            scatter_tile(&j, tiles->occupied[n]);
    }
}
