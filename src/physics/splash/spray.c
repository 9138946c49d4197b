// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Few neighbours make spray and some make foam in M. Ihmsen, N. Akinci, G. Akinci, M. Teschner, "Unified spray, foam
// and air bubbles for particle-based fluids", Vis. Comput. 28, 2012; here the filling around a particle counts them.
// Parting: the divergence of the grid's velocity in the particle's cell.
#include "physics/splash/spray.h"

#include <string.h>
#include "grid/staggered.h"
#include "grid/rows.h"

enum { SIDE = RH_TILE + 2, SMALL = SIDE * SIDE * SIDE };

// Bits of cells in which the velocity diverges, a byte per row.
static void find_parting(const rh_tiles *tiles, rh_faces velocity, int32_t t, uint8_t *bits)
{
    static const float none[RH_TILE * RH_TILE * RH_TILE];
    rh_rows u[3];
    for (int a = 0; a < tiles->dimension; a++) u[a] = rh_rows_of(tiles, velocity.axis[a], t, none);
    for (int r = 0; r < tiles->cells / 8; r++) {
        rh_f8 out = rh_f8_all(0);
        for (int a = 0; a < tiles->dimension; a++) out += rh_row_above(&u[a], a, r) - rh_f8_load(u[a].here + 8 * r);
        bits[r] = (uint8_t)rh_i8_bits(out > rh_f8_all(0));
    }
}

static float fill_at(int dimension, const float *block, const rh_stencil *s)
{
    const float *way = s->fraction[RH_HALF];
    const int32_t *cell = s->cell[RH_HALF];
    float sum = 0;
    for (int n = 0; n < 1 << dimension; n++) {
        int d[3] = {n & 1, n >> 1 & 1, n >> 2}, at = 0;
        float w = 1;
        for (int a = dimension - 1; a >= 0; a--) {
            at = SIDE * at + cell[a] + 1 + d[a];
            w *= d[a] ? way[a] : 1 - way[a];
        }
        sum += w * block[at];
    }
    return sum;
}

void rh_spray_find(const rh_tiles *tiles, const rh_spray *spray, const rh_vec3 *positions, const rh_vec3 *velocities,
                   uint8_t *is_spray, uint8_t *is_foam)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles));
    float slow = spray->speed * spray->speed;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        int32_t t = tiles->occupied[n];
        float block[SMALL];
        uint8_t parting[RH_TILE * RH_TILE];
        rh_block_load(tiles, spray->fill, t, 1, 0, block);
        find_parting(tiles, spray->velocity, t, parting);
        for (int c = 0; c < tiles->cells; c++) {
            int64_t cell = (int64_t)t * tiles->cells + c;
            bool parts = parting[c >> 3] >> (c & 7) & 1;
            for (uint32_t p = tiles->first[cell]; p < tiles->first[cell + 1]; p++) {
                is_spray[p] = is_foam[p] = 0;
                if (!parts || rh_v3_dot(velocities[p], velocities[p]) < slow) continue;
                rh_stencil s = rh_stencil_at(rh_local_position(tiles, tiles->at[t], positions[p]));
                float fill = fill_at(tiles->dimension, block, &s);
                is_spray[p] = fill < RH_SPRAY_FILL;
                is_foam[p] = fill >= RH_SPRAY_FILL && fill < RH_FOAM_FILL;
            }
        }
    }
}
