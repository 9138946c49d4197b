// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The liquid beside a wall is cut into columns along the wall's normal, one for every cell that the wall's surface
// passes through. A column ends at the liquid's surface, or where another rough wall is nearer: friction of a channel's
// bed and sides each has its own part of the cross-section (bisectors: G. H. Keulegan, "Laws of turbulent flow in open
// channels", J. Res. Nat. Bur. Standards 21, 1938). So the liquid in a column per area of wall, its depth, is a local
// hydraulic radius. Depth and velocity are those of the particles, counted in cells and sampled along the normal: a
// film of a tenth of a cell is as deep as the particles in it say, wherever the grid lies.
//
// With the mean velocity U of a column along the wall, as seen from the wall, and its depth H:
//
//      tau / rho = C U |U|,   C = (0.41 / (ln(H / z0) - 1 + z0 / H))^2   mean of the law of the wall, z0 = roughness/30
//                             C = 9.81 n^2 / H^(1/3)                     Manning
//      dU/dt = -C U |U| / H   has the solution U / (1 + C |U| t / H): taken as it is, exact and stable for any step
//
// All particles of a column lose the same share of their velocity. In uniform flow stress falls in a straight line from
// the bed to the surface, so every layer receives the same force; turbulence carries it there, which the method does
// not resolve. (Given to the lowest cell alone, friction stops that cell and the rest slides on: it fell with the
// cell's size.) A share, not an amount, so that nothing that was slower than the mean is turned around.
#include "physics/drag.h"

#include <math.h>

static const double KARMAN = 0.41;
// Manning's n was measured on Earth: it stands for a coefficient, which another gravity does not change.
static const double EARTH = 9.81;

bool rh_drag_any(const rh_obstacles *obstacles)
{
    bool any = false;
    for (int i = 0; i < obstacles->count; i++)
        any = any || obstacles->items[i].roughness > 0 || obstacles->items[i].manning > 0;
    return any;
}

double rh_drag_coefficient(const rh_obstacle *wall, double depth)
{
    if (wall->manning > 0) return EARTH * wall->manning * wall->manning / cbrt(depth);
    // Grains that look out of the water are no longer a wall with a law: from there on C stays.
    double ratio = 30 * fmax(depth / wall->roughness, 1);
    double mean = (log(ratio) - 1 + 1 / ratio) / KARMAN;
    return 1 / (mean * mean);
}

// Particles of a cell and the sum of their velocities.
typedef struct heap {
    float count;
    rh_vec3 sum;
} heap;

typedef struct column {
    float top;   // m from the wall; 0 = no column
    float rate;  // 1/s: C |U| / H
} column;

typedef struct drag {
    const rh_tiles *tiles;
    const rh_obstacles *obstacles;
    int *list, listed;  // rough ones
    float per_cell;
    heap *heaps;      // per cell
    column *columns;  // per cell
} drag;

static double distance(const drag *d, rh_dvec3 x, int *which)
{
    return rh_obstacles_distance_of(d->obstacles, d->list, d->listed, x, which);
}

static rh_dvec3 normal_at(const drag *d, int which, rh_dvec3 x)
{
    rh_dvec3 n = rh_obstacles_normal(d->obstacles, which, x);
    if (d->tiles->dimension == 2) n.z = 0;
    return n;
}

static rh_dvec3 along(rh_dvec3 v, rh_dvec3 normal) { return rh_d3_sub(v, rh_d3_scale(normal, rh_d3_dot(v, normal))); }

// Index of the cell that has these numbers along the axes; -1 when it is not there.
static int64_t cell_index(const rh_tiles *tiles, const int at[3])
{
    int32_t t = rh_tiles_find(tiles, (rh_tile){at[0] >> 3, at[1] >> 3, at[2] >> 3});
    return t < 0 ? -1 : (int64_t)t * tiles->cells + (at[0] & 7) + 8 * (at[1] & 7) + 64 * (at[2] & 7);
}

static int64_t cell_of(const rh_tiles *tiles, rh_dvec3 x)
{
    double scale = 1 / (double)tiles->h;
    int at[3] = {(int)floor(x.x * scale), (int)floor(x.y * scale), tiles->dimension == 3 ? (int)floor(x.z * scale) : 0};
    return cell_index(tiles, at);
}

static void fill_heaps(const drag *d, const rh_vec3 *velocities)
{
    const rh_tiles *tiles = d->tiles;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < rh_tiles_values(tiles); c++) {
        heap sum = {(float)(tiles->first[c + 1] - tiles->first[c]), {0, 0, 0}};
        for (uint32_t p = tiles->first[c]; p < tiles->first[c + 1]; p++) sum.sum = rh_v3_add(sum.sum, velocities[p]);
        d->heaps[c] = sum;
    }
}

// Between cell centres.
static heap sample(const drag *d, rh_dvec3 x)
{
    const rh_tiles *tiles = d->tiles;
    heap out = {0, {0, 0, 0}};
    int low[3] = {0, 0, 0};
    float part[3] = {0, 0, 0};
    for (int a = 0; a < tiles->dimension; a++) {
        double place = (&x.x)[a] / (double)tiles->h - 0.5;
        low[a] = (int)floor(place);
        part[a] = (float)(place - low[a]);
    }
    for (int n = 0; n < 1 << tiles->dimension; n++) {
        int at[3] = {low[0] + (n & 1), low[1] + (n >> 1 & 1), low[2] + (n >> 2)};
        float weight = 1;
        for (int a = 0; a < tiles->dimension; a++) weight *= n >> a & 1 ? part[a] : 1 - part[a];
        int64_t c = cell_index(tiles, at);
        if (c < 0) continue;
        out.count += weight * d->heaps[c].count;
        out.sum = rh_v3_add(out.sum, rh_v3_scale(d->heaps[c].sum, weight));
    }
    return out;
}

// Samples are half a cell apart. Those below the wall's surface, down to a cell, catch what sampling smeared across it,
// unless there is another side of a thin plate. Above it a column ends where less than EMPTY of a cell is full (in the
// first cell it may be: a film), or where its own wall is no longer the nearest.
static const double EMPTY = 0.02;
static const int BELOW = 2;

static heap follow(const drag *d, rh_dvec3 foot, rh_dvec3 normal, float *top)
{
    double h = (double)d->tiles->h;
    heap all = {0, {0, 0, 0}};
    *top = 0;
    for (int k = -BELOW;; k++) {
        double s = 0.5 * h * (k + 0.5);
        rh_dvec3 x = rh_d3_add(foot, rh_d3_scale(normal, s));
        double off = distance(d, x, NULL) - s;
        if (k < 0 && off > 0.5 * h) continue;
        if (k >= 0 && off < -0.5 * h) break;
        heap here = sample(d, x);
        if (k >= 2 && (double)here.count < EMPTY * (double)d->per_cell) break;
        all.count += here.count;
        all.sum = rh_v3_add(all.sum, here.sum);
        if (k >= 0) *top = (float)(s + 0.25 * h);
    }
    return all;
}

static column measure(const drag *d, rh_dvec3 center)
{
    int which;
    double h = (double)d->tiles->h, off = distance(d, center, &which);
    column none = {0, 0}, out;
    if (which < 0 || fabs(off) > 0.5 * sqrt((double)d->tiles->dimension) * h) return none;
    rh_dvec3 normal = normal_at(d, which, center), foot = rh_d3_sub(center, rh_d3_scale(normal, off));
    heap all = follow(d, foot, normal, &out.top);
    if (all.count <= 0) return none;
    double depth = 0.5 * h * (double)(all.count / d->per_cell);
    rh_dvec3 mean = rh_d3_sub(rh_d3_scale(rh_d3_from(all.sum), 1 / (double)all.count),
                              rh_obstacles_velocity(d->obstacles, which, foot));
    double speed = rh_d3_length(along(mean, normal));
    out.rate = (float)(rh_drag_coefficient(&d->obstacles->items[which], depth) * speed / depth);
    return out;
}

static void measure_tile(const drag *d, const rh_cut_cells *cut, int32_t t)
{
    const rh_tiles *tiles = d->tiles;
    float reach = 0.51f * sqrtf((float)tiles->dimension) * tiles->h;
    for (int c = 0; c < tiles->cells; c++) {
        bool near = cut->kind[t] != RH_TILE_FREE && cut->distance[t][c] <= reach;
        column none = {0, 0};
        d->columns[(int64_t)t * tiles->cells + c] =
            near ? measure(d, rh_d3_from(rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6))) : none;
    }
}

static void slow(const drag *d, float time, rh_dvec3 x, rh_vec3 *velocity)
{
    int which;
    double off = distance(d, x, &which);
    if (which < 0) return;
    rh_dvec3 normal = normal_at(d, which, x), foot = rh_d3_sub(x, rh_d3_scale(normal, off));
    int64_t c = cell_of(d->tiles, foot);
    if (c < 0 || off > (double)d->columns[c].top) return;
    rh_dvec3 v = rh_d3_from(*velocity);
    rh_dvec3 slip = along(rh_d3_sub(v, rh_obstacles_velocity(d->obstacles, which, foot)), normal);
    double by = (double)(time * d->columns[c].rate);
    *velocity = rh_v3_from(rh_d3_sub(v, rh_d3_scale(slip, by / (1 + by))));
}

static rh_code begin(drag *d, rh_arena *arena, rh_status *status)
{
    size_t values = (size_t)rh_tiles_values(d->tiles) + 1;
    d->list = rh_arena_take(arena, ((size_t)d->obstacles->count + 1) * sizeof *d->list, status);
    d->heaps = rh_arena_take(arena, values * sizeof *d->heaps, status);
    d->columns = rh_arena_take(arena, values * sizeof *d->columns, status);
    if (!d->list || !d->heaps || !d->columns) return RH_MEMORY;
    for (int i = 0; i < d->obstacles->count; i++)
        if (d->obstacles->items[i].roughness > 0 || d->obstacles->items[i].manning > 0) d->list[d->listed++] = i;
    return RH_OK;
}

rh_code rh_drag_apply(const rh_tiles *tiles, const rh_cut_cells *cut, const rh_obstacles *obstacles, float per_cell,
                      float time, const rh_vec3 *positions, rh_vec3 *velocities, rh_arena *arena, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    drag d = {.tiles = tiles, .obstacles = obstacles, .per_cell = per_cell};
    RH_TRY(begin(&d, arena, status));
    fill_heaps(&d, velocities);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) measure_tile(&d, cut, t);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        int32_t t = tiles->occupied[n];
        for (uint32_t p = rh_tile_first(tiles, t); p < rh_tile_first(tiles, t + 1); p++)
            slow(&d, time, rh_d3_from(positions[p]), &velocities[p]);
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}
