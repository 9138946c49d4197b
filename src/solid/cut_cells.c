// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Distances are sampled at the corners of cells, only in tiles that a solid comes near; shares follow by linear
// interpolation along edges, so a plane gives exact shares.
#include "solid/cut_cells.h"

#include <math.h>
#include <string.h>

enum { NODES = RH_TILE + 1, MAX_NEAR = 64 };
static const float REACH = 4;      // cells: the distance field is clamped beyond
static const float SLIVER = 1e-3f; // smaller shares are closed: they carry nothing and condition badly

// A corner on the wall itself counts as open when another corner is in free space: in the corner of a tank three of a
// face's corners lie on walls, and all of the face is free. A face with no corner in free space is closed.
float rh_open_edge(float a, float b)
{
    if (a <= 0 && b <= 0) return 0;
    if (a >= 0 && b >= 0) return 1;
    return a >= 0 ? a / (a - b) : b / (b - a);
}

float rh_open_square(const float corner[4])
{
    // Walk the ring and collect the polygon where the value is positive; shoelace formula.
    static const float ring[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    float x[8], y[8], area = 0;
    int n = 0;
    if (corner[0] <= 0 && corner[1] <= 0 && corner[2] <= 0 && corner[3] <= 0) return 0;
    for (int c = 0; c < 4; c++) {
        int d = (c + 1) & 3;
        if (corner[c] >= 0) x[n] = ring[c][0], y[n++] = ring[c][1];
        if ((corner[c] >= 0) != (corner[d] >= 0)) {
            float s = corner[c] / (corner[c] - corner[d]);
            x[n] = ring[c][0] + s * (ring[d][0] - ring[c][0]);
            y[n++] = ring[c][1] + s * (ring[d][1] - ring[c][1]);
        }
    }
    for (int i = 0; i < n; i++) area += x[i] * y[(i + 1) % n] - x[(i + 1) % n] * y[i];
    return rh_clamp(0.5f * area, 0, 1);
}

static float tidy(float share) { return share < SLIVER ? 0 : share > 1 - SLIVER ? 1 : share; }

static void make_free(const rh_cut_cells *cut, const rh_tiles *tiles, int32_t t)
{
    int64_t base = (int64_t)t * tiles->cells;
    cut->kind[t] = RH_TILE_FREE;
    for (int64_t c = base; c < base + tiles->cells; c++) {
        for (int a = 0; a < tiles->dimension; a++) cut->open.axis[a][c] = 1, cut->wall.axis[a][c] = 0;
        cut->distance[c] = cut->corner[c] = REACH * tiles->h;
        cut->volume[c] = 1;
    }
    if (cut->releases) memset(cut->releases + base, 0, (size_t)tiles->cells);
}

typedef struct near_list { int items[MAX_NEAR], count; } near_list;

// A crowd of more solids than the list holds is asked one by one.
static double distance_near(const rh_obstacles *obstacles, const near_list *near, rh_dvec3 x, int *which)
{
    if (near->count == MAX_NEAR) return rh_obstacles_distance(obstacles, x, which);
    return rh_obstacles_distance_of(obstacles, near->items, near->count, x, which);
}

static float node(const float *nodes, int i, int j, int k) { return nodes[i + NODES * (j + NODES * k)]; }

// Open share of a square whose corner distances are all shifted a little.
static float square_share(const float corner[4], float shift)
{
    return rh_open_square((float[4]){corner[0] + shift, corner[1] + shift, corner[2] + shift, corner[3] + shift});
}

// Shares of the lower faces and of the cell from its corner distances. The cell's share is the mean of its faces', where a
// face on a wall belongs to the side of the cell's centre: exact for walls along the grid. It only weighs
// volumes and has no part in the pressure solve.
static void cell_shares(const rh_cut_cells *cut, const rh_tiles *tiles, const float *nodes, int i, int j, int k, int64_t c)
{
#define AT(x, y, z) node(nodes, i + (x), j + (y), k + (z))
    float shift = 1e-4f * (cut->distance[c] > 0 ? tiles->h : -tiles->h);
    if (tiles->dimension == 2) {
        cut->open.axis[0][c] = tidy(rh_open_edge(AT(0, 0, 0), AT(0, 1, 0)));
        cut->open.axis[1][c] = tidy(rh_open_edge(AT(0, 0, 0), AT(1, 0, 0)));
        cut->volume[c] = tidy(square_share((float[4]){AT(0, 0, 0), AT(1, 0, 0), AT(1, 1, 0), AT(0, 1, 0)}, shift));
        return;
    }
    float sum = 0;
    for (int s = 0; s < 2; s++) {
        const float x[4] = {AT(s, 0, 0), AT(s, 1, 0), AT(s, 1, 1), AT(s, 0, 1)};
        const float y[4] = {AT(0, s, 0), AT(1, s, 0), AT(1, s, 1), AT(0, s, 1)};
        const float z[4] = {AT(0, 0, s), AT(1, 0, s), AT(1, 1, s), AT(0, 1, s)};
        sum += square_share(x, shift) + square_share(y, shift) + square_share(z, shift);
        if (s) break;
        cut->open.axis[0][c] = tidy(rh_open_square(x));
        cut->open.axis[1][c] = tidy(rh_open_square(y));
        cut->open.axis[2][c] = tidy(rh_open_square(z));
    }
    cut->volume[c] = tidy(sum / 6);
#undef AT
}

static void wall_velocity(const rh_cut_cells *cut, const rh_tiles *tiles, const rh_obstacles *obstacles, const near_list *near,
                          int32_t t, int i, int j, int k, int64_t c)
{
    for (int a = 0; a < tiles->dimension; a++) {
        cut->wall.axis[a][c] = 0;
        if (cut->open.axis[a][c] >= 1) continue;
        rh_vec3 x = rh_cell_center(tiles, t, i, j, k);
        (&x.x)[a] -= 0.5f * tiles->h;
        int which;
        distance_near(obstacles, near, rh_d3_from(x), &which);
        rh_dvec3 v = rh_obstacles_velocity(obstacles, which, rh_d3_from(x));
        cut->wall.axis[a][c] = (float)(&v.x)[a];
    }
}

static void cut_tile(const rh_cut_cells *cut, const rh_tiles *tiles, const rh_obstacles *obstacles, const near_list *near, int32_t t)
{
    float nodes[NODES * NODES * NODES];
    double h = tiles->h;
    bool moving = obstacles->any_moving;
    cut->kind[t] = RH_TILE_CUT;
    for (int k = 0; k < (tiles->dimension == 3 ? NODES : 1); k++)
        for (int j = 0; j < NODES; j++)
            for (int i = 0; i < NODES; i++) {
                rh_tile at = tiles->at[t];
                rh_dvec3 x = {(at.x * RH_TILE + i) * h, (at.y * RH_TILE + j) * h, tiles->dimension == 3 ? (at.z * RH_TILE + k) * h : 0};
                double d = distance_near(obstacles, near, x, NULL);
                // Rounding must not close a face that lies on a wall along the grid.
                nodes[i + NODES * (j + NODES * k)] = fabs(d) < 1e-5 * h ? 0 : (float)d;
            }
    for (int k = 0; k < tiles->layers; k++)
        for (int j = 0; j < RH_TILE; j++)
            for (int i = 0; i < RH_TILE; i++) {
                int64_t c = (int64_t)t * tiles->cells + i + RH_TILE * (j + RH_TILE * k);
                int which;
                float d = (float)distance_near(obstacles, near, rh_d3_from(rh_cell_center(tiles, t, i, j, k)), &which);
                cut->distance[c] = rh_clamp(d, -REACH * tiles->h, REACH * tiles->h);
                cut->corner[c] = rh_clamp(node(nodes, i, j, k), -REACH * tiles->h, REACH * tiles->h);
                cell_shares(cut, tiles, nodes, i, j, k, c);
                for (int a = 0; a < tiles->dimension; a++) cut->wall.axis[a][c] = 0;
                if (moving) wall_velocity(cut, tiles, obstacles, near, t, i, j, k, c);
                if (!cut->releases) continue;
                cut->releases[c] = which >= 0 && obstacles->items[which].wall == RH_WALL_SEPARATE && fabsf(d) < 1.5f * tiles->h;
            }
}

rh_code rh_cut_cells_build(rh_cut_cells *cut, const rh_tiles *tiles, const rh_obstacles *obstacles, rh_arena *arena, rh_status *status)
{
    *cut = (rh_cut_cells){0};
    RH_TRY(rh_faces_new(&cut->open, tiles, false, arena, status));
    RH_TRY(rh_faces_new(&cut->wall, tiles, false, arena, status));
    cut->distance = rh_field_new(tiles, arena, status);
    cut->corner = rh_field_new(tiles, arena, status);
    cut->volume = rh_field_new(tiles, arena, status);
    cut->kind = rh_arena_take(arena, (size_t)tiles->count + 1, status);
    if (!cut->distance || !cut->corner || !cut->volume || !cut->kind) return RH_MEMORY;
    if (obstacles->any_separating) {
        cut->releases = rh_arena_take(arena, (size_t)rh_tiles_values(tiles) + 1, status);
        if (!cut->releases) return RH_MEMORY;
    }
    // From the tile's centre every point whose distance matters is within half its diagonal plus the clamp.
    double radius = tiles->h * (0.5 * RH_TILE * sqrt((double)tiles->dimension) + (double)REACH);
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_tile at = tiles->at[t];
        double w = RH_TILE * (double)tiles->h;
        rh_dvec3 center = {(at.x + 0.5) * w, (at.y + 0.5) * w, tiles->dimension == 3 ? (at.z + 0.5) * w : 0};
        near_list near;
        near.count = rh_obstacles_near(obstacles, center, radius, near.items, MAX_NEAR);
        if (near.count == 0) make_free(cut, tiles, t);
        else cut_tile(cut, tiles, obstacles, &near, t);
    }
    return RH_OK;
}
