// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Grid to particles: a tile's faces and one cell of its neighbours are copied into a dense block once, then all its particles read from
// there. The new velocity and its change lie side by side in the block, so two neighbours along x are one vector of four, as in transfer.c.
#include <string.h>
#include "grid/lattice.h"
#include "grid/transfer.h"

enum { SIDE = RH_TILE + 2, SMALL = SIDE * SIDE * SIDE };

typedef float pair_block[2 * SMALL];  // velocity, change

typedef struct sampled { float value, change, slope[3]; } sampled;  // slope: of the value, per cell

// Interpolates component `component` at a spot.
static inline __attribute__((always_inline)) sampled sample(int dimension, int component, const rh_spot *s, const float *block, bool slopes)
{
    int kx = rh_lattice(component, 0), ky = rh_lattice(component, 1), kz = rh_lattice(component, 2);
    float fx = s->way[kx][0], fy = s->way[ky][1], fz = dimension == 3 ? s->way[kz][2] : 0;
    int start = (s->cell[kx][0] + 1) + SIDE * ((s->cell[ky][1] + 1) + (dimension == 3 ? SIDE * (s->cell[kz][2] + 1) : 0));
    const float *f = block + 2 * start;
    rh_f4 low = rh_f4_load(f), across = rh_f4_load(f + 2 * SIDE) - low, row = low + fy * across, up = {0};
    if (dimension == 3) {
        rh_f4 high = rh_f4_load(f + 2 * SIDE * SIDE), above = rh_f4_load(f + 2 * (SIDE + SIDE * SIDE)) - high;
        up = (high + fy * above) - row;
        row += fz * up;
        across += fz * (above - across);
    }
    rh_f4 east = __builtin_shufflevector(row, row, 2, 3, 2, 3), here = row + fx * (east - row);
    sampled out = {here[0], here[1], {0, 0, 0}};
    if (slopes) {
        out.slope[0] = row[2] - row[0];
        out.slope[1] = across[0] + fx * (across[2] - across[0]);
        out.slope[2] = up[0] + fx * (up[2] - up[0]);
    }
    return out;
}

static inline __attribute__((always_inline)) void update_particles(int dimension, rh_update kind, const rh_tiles *tiles, float flip, int32_t t,
                                                                   const pair_block *blocks, const rh_vec3 *positions, rh_vec3 *velocities, float (*affine)[9])
{
    uint32_t end = rh_tile_first(tiles, t + 1);
    rh_tile at = tiles->at[t];
    for (uint32_t p = rh_tile_first(tiles, t); p < end; p++) {
        rh_spot s = rh_spot_of(rh_local_position(tiles, at, positions[p]));
        float *v = &velocities[p].x;
        for (int a = 0; a < dimension; a++) {
            sampled here = sample(dimension, a, &s, blocks[a], kind == RH_UPDATE_APIC);
            float full = v[a] + here.change;
            v[a] = kind == RH_UPDATE_FLIP ? full + (1 - flip) * (here.value - full) : here.value;
            for (int d = 0; d < 3 && kind == RH_UPDATE_APIC; d++) affine[p][3 * a + d] = here.slope[d] * tiles->inverse_h;
        }
    }
}

static inline void interleave(const float *block, int count, float *pairs)
{
    for (int i = 0; i < count; i++) pairs[2 * i] = block[i];
}

static void load_pairs(const rh_tiles *tiles, rh_faces velocity, rh_faces change, bool flip, int32_t t, pair_block *blocks)
{
    float one[SMALL];
    int count = rh_block_values(tiles, 1);
    for (int a = 0; a < tiles->dimension; a++) {
        rh_block_load(tiles, velocity.axis[a], t, 1, 0, one);
        interleave(one, count, blocks[a]);
        if (!flip) continue;
        rh_block_load(tiles, change.axis[a], t, 1, 0, one);
        interleave(one, count, blocks[a] + 1);
    }
}

static void update_tile(const rh_tiles *tiles, const rh_velocity_update *u, int32_t t, const rh_vec3 *positions, rh_vec3 *velocities, float (*affine)[9])
{
    static _Thread_local pair_block blocks[3];  // changes stay what they are when only velocities are read
    load_pairs(tiles, u->velocity, u->change, u->update == RH_UPDATE_FLIP, t, blocks);
#define UPDATE(dimension, kind) update_particles(dimension, kind, tiles, u->flip, t, (const pair_block *)blocks, positions, velocities, affine)
    if (tiles->dimension == 2) UPDATE(2, u->update);
    else if (u->update == RH_UPDATE_FLIP) UPDATE(3, RH_UPDATE_FLIP);
    else if (u->update == RH_UPDATE_APIC) UPDATE(3, RH_UPDATE_APIC);
    else UPDATE(3, RH_UPDATE_PIC);
#undef UPDATE
}

void rh_grid_to_velocities(const rh_tiles *tiles, const rh_velocity_update *update, const rh_vec3 *positions, rh_vec3 *velocities,
                           float (*affine)[9])
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t n = 0; n < tiles->occupied_count; n++) update_tile(tiles, update, tiles->occupied[n], positions, velocities, affine);
}
