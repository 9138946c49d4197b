// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Central differences of staggered velocities, eight cells at a time.
#include "grid/shear.h"

#include "base/simd.h"
#include "grid/rows.h"

static const float ZEROS[RH_TILE * RH_TILE * RH_TILE];

static inline rh_f8 row_along(const rh_rows_around *f, int r, int axis, int by, int other, int by_other)
{
    int d[3] = {0, 0, 0};
    d[axis] += by, d[other] += by_other;
    return rh_row_at(f, r, d[0], d[1], d[2]);
}

// The derivative of velocity a along b at the centres of a row, times the cell.
static inline rh_f8 slope(const rh_rows_around *u, int r, int a, int b)
{
    if (a == b) return row_along(u, r, a, 1, b, 0) - rh_row_at(u, r, 0, 0, 0);
    return 0.25f * (row_along(u, r, a, 0, b, 1) - row_along(u, r, a, 0, b, -1) + row_along(u, r, a, 1, b, 1) -
                    row_along(u, r, a, 1, b, -1));
}

typedef struct gradient {
    rh_f8 of[3][3];  // velocity a along b, times the cell
} gradient;

static inline gradient gradient_of(const rh_rows_around u[3], int dimension, int r)
{
    gradient g = {.of = {{{0}}}};
    for (int a = 0; a < dimension; a++)
        for (int b = 0; b < dimension; b++) g.of[a][b] = slope(&u[a], r, a, b);
    return g;
}

// sqrt(2 D:D), times the cell.
static inline rh_f8 shear(const gradient *g, int dimension)
{
    rh_f8 sum = rh_f8_all(0);
    for (int a = 0; a < dimension; a++)
        for (int b = 0; b <= a; b++) {
            rh_f8 d = 0.5f * (g->of[a][b] + g->of[b][a]);
            sum += (a == b ? 2.0f : 4.0f) * d * d;
        }
    return rh_f8_sqrt(sum);
}

void rh_shear_rates(const rh_tiles *tiles, rh_faces velocity, int32_t t, float *out)
{
    rh_shear_and_compression(tiles, velocity, t, rh_v3(0, 0, 0), 0, out, NULL);
}

void rh_shear_and_compression(const rh_tiles *tiles, rh_faces velocity, int32_t t, rh_vec3 share, float dt,
                              float *rates, float *compression)
{
    RH_ASSERT(t >= 0 && t < tiles->count && rh_faces_fit(tiles, velocity));
    rh_rows_around u[3];
    for (int a = 0; a < tiles->dimension; a++) u[a] = rh_rows_around_of(tiles, velocity.axis[a], t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        gradient g = gradient_of(u, tiles->dimension, r);
        rh_f8_store(rates + 8 * r, shear(&g, tiles->dimension) * tiles->inverse_h);
        if (!compression) continue;
        rh_f8 sum = rh_f8_all(0);
        for (int a = 0; a < tiles->dimension; a++)
            for (int b = 0; b < tiles->dimension; b++) sum += (&share.x)[a] * g.of[a][b] * g.of[b][a];
        float scale = dt * tiles->inverse_h;
        rh_f8_store(compression + 8 * r, 0.5f * scale * scale * sum);
    }
}
