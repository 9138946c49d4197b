// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Grid to particles. With sampling S being linear, the FLIP/PIC blend needs one field only:
//   flip (v + S(u - before)) + (1 - flip) S(u) = flip v + S(u - flip before)
// A tile's part of that field and one cell of its neighbours are copied into a dense block once, then all its particles
// read from there.
#include <math.h>
#include <string.h>
#include "grid/sample.h"
#include "grid/transfer.h"

enum { SIDE = RH_TILE + 2, SMALL = SIDE * SIDE * SIDE };

typedef struct job {
    const rh_tiles *tiles;
    const rh_velocity_update *update;
    const rh_vec3 *positions;
    rh_vec3 *velocities;
    float (*affine)[9];
    float flip;  // of the tile
} job;

// Eight particles; returns their largest squared speed (not a number counts as infinite).
RH_INLINE rh_f8 update_eight(const job *j, int dimension, bool slopes, const rh_face_block *block, rh_tile at,
                             const float *positions, float *velocities, float *affine)
{
    rh_vec3x8 p, v;
    rh_f8_load3(positions, &p.axis[0], &p.axis[1], &p.axis[2]);
    rh_f8_load3(velocities, &v.axis[0], &v.axis[1], &v.axis[2]);
    rh_stencil8 s = rh_stencil8_at(dimension, block, rh_local_positions8(dimension, j->tiles, at, p));
    bool flip = j->update->update == RH_UPDATE_FLIP;
    rh_f8 squares = rh_f8_all(0);
    for (int a = 0; a < dimension; a++) {
        rh_f8 slope[3], here = rh_sample(dimension, block, a, &s, slopes ? slope : NULL);
        v.axis[a] = flip ? j->flip * v.axis[a] + here : here;
        squares += v.axis[a] * v.axis[a];
        for (int d = 0; d < 3 && slopes; d++)
            for (int i = 0; i < 8; i++) affine[9 * i + 3 * a + d] = slope[d][i] * j->tiles->inverse_h;
    }
    rh_f8_store3(velocities, v.axis[0], v.axis[1], v.axis[2]);
    return rh_f8_select(squares == squares, squares, rh_f8_all(INFINITY));
}

// The last few are padded with copies of the first of them.
RH_INLINE float update_particles(const job *j, int dimension, bool slopes, const rh_face_block *block, int32_t t)
{
    uint32_t p = rh_tile_first(j->tiles, t), end = rh_tile_first(j->tiles, t + 1);
    rh_tile at = j->tiles->at[t];
    rh_f8 most = rh_f8_all(0);
    for (; p + 8 <= end; p += 8)
        most = rh_f8_max(most, update_eight(j, dimension, slopes, block, at, &j->positions[p].x, &j->velocities[p].x,
                                            slopes ? j->affine[p] : NULL));
    if (p < end) {
        rh_vec3 x[8], v[8];
        float c[8][9] = {{0}};  // in two dimensions the third row is not written
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t from = p + i < end ? p + i : p;
            x[i] = j->positions[from], v[i] = j->velocities[from];
        }
        most = rh_f8_max(most, update_eight(j, dimension, slopes, block, at, &x[0].x, &v[0].x, slopes ? c[0] : NULL));
        memcpy(j->velocities + p, v, (end - p) * sizeof *v);
        if (slopes) memcpy(j->affine + p, c, (end - p) * sizeof *c);
    }
    float one = 0;
    for (int i = 0; i < 8; i++) one = most[i] > one ? most[i] : one;
    return one;
}

static float update_tile(const job *all, int32_t t)
{
    job own = *all, *j = &own;
    float memory[3 * SMALL], before[SMALL];
    const rh_tiles *tiles = j->tiles;
    const rh_velocity_update *u = j->update;
    rh_face_block block;
    int count = rh_block_values(tiles, 1);
    own.flip = u->flips ? u->flips[t] : u->flip;
    rh_face_block_load(tiles, u->velocity, t, 1, rh_v3(0, 0, 0), memory, &block);
    for (int a = 0; a < tiles->dimension && u->update == RH_UPDATE_FLIP; a++) {
        rh_block_load(tiles, u->before.axis[a], t, 1, 0, before);
        for (int i = 0; i < count; i++) memory[a * count + i] -= own.flip * before[i];
    }
    bool slopes = u->update == RH_UPDATE_APIC || (u->update == RH_UPDATE_FLIP && j->affine);
    if (tiles->dimension == 2) return update_particles(j, 2, slopes, &block, t);
    return slopes ? update_particles(j, 3, true, &block, t) : update_particles(j, 3, false, &block, t);
}

double rh_grid_to_velocities(const rh_tiles *tiles, const rh_velocity_update *update, const rh_vec3 *positions,
                             rh_vec3 *velocities, float (*affine)[9])
{
    RH_ASSERT(rh_tiles_are_sorted(tiles) && rh_faces_fit(tiles, update->velocity));
    job j = {tiles, update, positions, velocities, affine, update->flip};
    float most = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(max : most)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        float one = update_tile(&j, tiles->occupied[n]);
        if (one > most) most = one;
    }
    return sqrt((double)most);
}
