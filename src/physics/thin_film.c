// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A puddle 8 cells deep that spread over a frictionless floor without this had lost nine tenths of its volume after
// four seconds: every column that was once thinner than half a cell had collapsed, whatever flowed into it later.
#include "physics/thin_film.h"

#include <math.h>

// Cells: how far below the surface the centre of a film's cell counts as lying, or the wall where the centre is inside
// it. With a tenth of it results are the same.
static const float DEPTH = 0.01f;
// Films lie on walls that bear at least this part of their weight: with any part of it, the uppermost cells of still
// water at the side of a tank were films from time to time, and it trembled.
static const float STEEPEST = 0.25f;

// The upper face of a cell: its tile (-1 when that is not there) and its index in it.
static int32_t face_above(const rh_tiles *tiles, int axis, int32_t t, int *c)
{
    static const int near[3] = {1, 3, 9}, step[3] = {1, 8, 64};
    bool last = (*c / step[axis] & 7) == RH_TILE - 1;
    *c += last ? -(RH_TILE - 1) * step[axis] : step[axis];
    return last ? tiles->near[t][RH_HERE + near[axis]] : t;
}

// Whether the liquid in a cell presses onto the wall there: it flows into it faster than `least`. The differences of
// opposite faces' open parts point away from the wall.
static bool presses(const rh_tiles *tiles, const rh_cut_cells *cut, rh_faces velocity, float least, int32_t t, int c)
{
    float away = 0, square = 0;
    for (int a = 0; a < tiles->dimension; a++) {
        int up = c;
        int32_t upper = face_above(tiles, a, t, &up);
        if (upper < 0) continue;
        const float *u = velocity.axis[a];
        float flow = u[(int64_t)t * tiles->cells + c] + u[(int64_t)upper * tiles->cells + up],
              wall = cut->wall[a][t][c] + cut->wall[a][upper][up];
        float side = cut->open[a][upper][up] - cut->open[a][t][c];
        away += 0.5f * side * (flow - wall);
        square += side * side;
    }
    return away < -least * sqrtf(square);
}

static void support_tile(const rh_tiles *tiles, const rh_cut_cells *cut, rh_faces velocity, float least, int32_t t,
                         float *phi)
{
    for (int c = 0; c < tiles->cells; c++) {
        int64_t at = (int64_t)t * tiles->cells + c;
        bool film = tiles->first[at + 1] > tiles->first[at] && phi[at] >= 0 && cut->distance[t][c] < tiles->h;
        if (film && presses(tiles, cut, velocity, least, t, c))
            phi[at] = fminf(cut->distance[t][c], 0) - DEPTH * tiles->h;
    }
}

void rh_thin_films_support(const rh_tiles *tiles, const rh_cut_cells *cut, rh_faces velocity, float force_change,
                           float *phi)
{
    RH_ASSERT(rh_faces_fit(tiles, velocity) && phi);
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++)
        if (cut->kind[t] != RH_TILE_FREE && rh_tile_first(tiles, t) < rh_tile_first(tiles, t + 1))
            support_tile(tiles, cut, velocity, STEEPEST * force_change, t, phi);
}
