// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// To cells: the mean of their particles. To particles: linear between the centres of cells.
#include "physics/carry.h"

#include "grid/staggered.h"

void rh_carry_to_cells(const rh_layout *layout, const float *values, float scale, float *q)
{
    RH_ASSERT(rh_tiles_are_sorted(layout->tiles));
    const rh_tiles *tiles = layout->tiles;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < layout->count; n++) {
        int64_t cell = (int64_t)layout->listed[n] * tiles->cells;
        for (int c = 0; c < tiles->cells; c++, cell++) {
            uint32_t begin = tiles->first[cell], end = tiles->first[cell + 1];
            float sum = 0;
            for (uint32_t p = begin; p < end; p++) sum += values[p];
            bool wanted = end > begin && (layout->unknown[cell >> 3] >> (cell & 7) & 1);
            q[(int64_t)n * tiles->cells + c] = wanted ? scale * sum / (float)(end - begin) : 0;
        }
    }
}

enum { SIDE = RH_TILE + 2, SMALL = SIDE * SIDE * SIDE };

// q of the tile with one cell around it.
static void load(const rh_layout *layout, const float *q, int32_t t, float *block)
{
    const rh_tiles *tiles = layout->tiles;
    int deep = tiles->dimension == 3;
    for (int k = -deep; k < tiles->layers + deep; k++)
        for (int j = -1; j <= RH_TILE; j++)
            for (int i = -1; i <= RH_TILE; i++, block++) {
                int32_t other = tiles->near[t][RH_HERE + (i >> 3) + 3 * (j >> 3) + 9 * (k >> 3)];
                int32_t slot = other < 0 ? -1 : layout->slot[other];
                *block = slot < 0 ? 0 : q[(int64_t)slot * tiles->cells + (i & 7) + 8 * (j & 7) + 64 * (k & 7)];
            }
}

static float sample(int dimension, const float *block, const rh_stencil *s)
{
    float sum = 0;
    const float *way = s->fraction[RH_HALF];
    const int32_t *cell = s->cell[RH_HALF];
    const float *at = block + (cell[0] + 1) + SIDE * ((cell[1] + 1) + (dimension == 3 ? SIDE * (cell[2] + 1) : 0));
    for (int dz = 0; dz < dimension - 1; dz++)
        for (int dy = 0; dy < 2; dy++) {
            const float *row = at + SIDE * (dy + SIDE * dz);
            float w = (dy ? way[1] : 1 - way[1]) * (dimension == 3 ? (dz ? way[2] : 1 - way[2]) : 1);
            sum += w * (row[0] + way[0] * (row[1] - row[0]));
        }
    return sum;
}

void rh_carry_to_particles(const rh_layout *layout, const float *q, const rh_vec3 *positions, float scale,
                           float *values)
{
    RH_ASSERT(rh_tiles_are_sorted(layout->tiles));
    const rh_tiles *tiles = layout->tiles;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        int32_t t = tiles->occupied[n];
        float block[SMALL];
        load(layout, q, t, block);
        uint32_t end = rh_tile_first(tiles, t + 1);
        for (uint32_t p = rh_tile_first(tiles, t); p < end; p++) {
            rh_stencil s = rh_stencil_at(rh_local_position(tiles, tiles->at[t], positions[p]));
            values[p] = scale * sample(tiles->dimension, block, &s);
        }
    }
}

float rh_carry_at(const rh_layout *layout, const float *q, rh_vec3 place)
{
    const rh_tiles *tiles = layout->tiles;
    int32_t t = rh_tiles_at(tiles, place);
    if (t < 0) return 0;
    float block[SMALL];
    load(layout, q, t, block);
    rh_stencil s = rh_stencil_at(rh_local_position(tiles, tiles->at[t], place));
    return sample(tiles->dimension, block, &s);
}
