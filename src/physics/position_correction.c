// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Constraints C = max(density / rest density - 1, 0) of each particle, each resolved by its own particle, all at once,
// a few times (M. Macklin, M. Mueller, "Position based fluids", ACM TOG 32(4), 2013; densities by the kernels of M.
// Mueller, D. Charypar, M. Gross, SCA 2003: poly6, gradients by the spiky one):
//
//      x_i += alpha sum_j (l_i + l_j) grad w_ij        l = - C / sum |grad C|^2,  alpha = distance to solids / cell,
//      from 1 to 5
//
// The factor alpha is T. Takahashi's and M. C. Lin's (Computer Graphics Forum 38(2), 2019): far from solids particles
// may go further at once, so fewer sweeps do. Distances between pairs instead: R. Ando, R. Tsuruno, "A particle-based
// method for preserving fluid sheets", SCA 2011. The rest density is that of a square lattice of the particles'
// spacing.
#include "physics/position_correction.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"

const char *const rh_position_correction_names[] = {"none", "scaled_density", "density", "distance", NULL};

static const float LEAST_SCALE = 1, MOST_SCALE = 5;
static const double ENOUGH = 0.1;          // of excess density
static const float LONGEST = 0.5f;         // of the spacing: way of a particle in a sweep
static const float CLOSE_ENOUGH = 0.999f;  // of the spacing: pairs that are not pushed for rounding's sake

typedef struct kernel {
    int dimension;
    float reach, density, slope;  // m; factors of (h^2 - r^2)^3 and (h - r)^2, over the rest density
} kernel;

static double poly6(double h, double r) { return r < h ? pow(h * h - r * r, 3) : 0; }

static kernel kernel_of(const rh_position_input *in)
{
    bool deep = in->tiles->dimension == 3;
    double h = (double)in->tiles->h, d = (double)in->spacing, sum = 0;
    int reach = (int)(h / d) + 1;
    for (int k = deep ? -reach : 0; k <= (deep ? reach : 0); k++)
        for (int j = -reach; j <= reach; j++)
            for (int i = -reach; i <= reach; i++) sum += poly6(h, d * sqrt(i * i + j * j + k * k));
    double norm = deep ? 315 / (64 * M_PI * pow(h, 9)) : 4 / (M_PI * pow(h, 8));
    double slope = deep ? 45 / (M_PI * pow(h, 6)) : 30 / (M_PI * pow(h, 5));
    return (kernel){in->tiles->dimension, (float)h, (float)(1 / sum), (float)(slope / (norm * sum))};
}

enum { RUNS = 32 };

// - C / sum |grad C|^2 of the particle at x; *excess is C, or below 0.
static float multiplier(const kernel *k, const rh_neighbours *n, rh_vec3 x, float *excess)
{
    rh_neighbours_run runs[RUNS];
    int64_t count = rh_neighbours_box(n, x, k->reach, runs);
    float h = k->reach, density = 0, squares = 0;
    rh_vec3 sum = {0, 0, 0};
    for (int64_t c = 0; c < count; c++)
        for (uint32_t p = runs[c].begin; p < runs[c].end; p++) {
            rh_vec3 from = rh_v3(x.x - n->x[p], x.y - n->y[p], k->dimension == 3 ? x.z - n->z[p] : 0);
            float square = from.x * from.x + from.y * from.y + from.z * from.z;
            if (square >= h * h) continue;
            float below = h * h - square, r = sqrtf(square);
            density += k->density * below * below * below;
            if (r < 1e-6f * h) continue;
            float slope = -k->slope * (h - r) * (h - r);
            sum = rh_v3_add(sum, rh_v3_scale(from, slope / r));
            squares += slope * slope;
        }
    *excess = density - 1;
    if (density <= 1) return 0;
    squares += sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + 1e-6f / (h * h);
    return -(density - 1) / squares;
}

// How far the particle at x goes by its own constraint and those of its neighbours.
static rh_vec3 by_density(const kernel *k, const rh_neighbours *n, const float *multipliers, int64_t i, rh_vec3 x)
{
    rh_neighbours_run runs[RUNS];
    int64_t count = rh_neighbours_box(n, x, k->reach, runs);
    float h = k->reach;
    rh_vec3 sum = {0, 0, 0};
    for (int64_t c = 0; c < count; c++)
        for (uint32_t p = runs[c].begin; p < runs[c].end; p++) {
            rh_vec3 from = rh_v3(x.x - n->x[p], x.y - n->y[p], k->dimension == 3 ? x.z - n->z[p] : 0);
            float r = rh_v3_length(from);
            if (r >= h || r < 1e-6f * h) continue;
            float slope = -k->slope * (h - r) * (h - r);
            sum = rh_v3_add(sum, rh_v3_scale(from, (multipliers[i] + multipliers[n->index[p]]) * slope / r));
        }
    return sum;
}

static rh_vec3 by_distance(const kernel *k, const rh_neighbours *n, rh_vec3 x, float spacing)
{
    rh_neighbours_run runs[RUNS];
    int64_t count = rh_neighbours_box(n, x, k->reach, runs);
    rh_vec3 sum = {0, 0, 0};
    int pairs = 0;
    for (int64_t c = 0; c < count; c++)
        for (uint32_t p = runs[c].begin; p < runs[c].end; p++) {
            rh_vec3 from = rh_v3(x.x - n->x[p], x.y - n->y[p], k->dimension == 3 ? x.z - n->z[p] : 0);
            float r = rh_v3_length(from);
            if (r >= CLOSE_ENOUGH * spacing || r < 1e-6f * spacing) continue;
            sum = rh_v3_add(sum, rh_v3_scale(from, 0.5f * (spacing - r) / r));
            pairs++;
        }
    return pairs ? rh_v3_scale(sum, 1 / (float)pairs) : sum;
}

static float scale_at(const rh_position_input *in, rh_vec3 x)
{
    const rh_tiles *tiles = in->tiles;
    if (in->how != RH_POSITION_SCALED_DENSITY) return 1;
    int32_t t = rh_tiles_at(tiles, x);
    if (t < 0) return MOST_SCALE;
    int cell = (rh_floor(x.x * tiles->inverse_h) & 7) + 8 * (rh_floor(x.y * tiles->inverse_h) & 7);
    if (tiles->dimension == 3) cell += 64 * (rh_floor(x.z * tiles->inverse_h) & 7);
    return rh_clamp(in->cut->distance[t][cell] * tiles->inverse_h, LEAST_SCALE, MOST_SCALE);
}

// Finds multipliers; returns the largest excess.
static double constrain(const rh_position_input *in, const kernel *k, const rh_neighbours *n, const rh_vec3 *positions,
                        float *multipliers, double *largest)
{
    int64_t blocks = rh_blocks(in->count);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < blocks; b++) {
        largest[b] = -1;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, in->count); i++) {
            float excess;
            multipliers[i] = multiplier(k, n, positions[i], &excess);
            largest[b] = fmax(largest[b], (double)excess);
        }
    }
    double all = -1;
    for (int64_t b = 0; b < blocks; b++) all = fmax(all, largest[b]);
    return all;
}

static void sweep(const rh_position_input *in, const kernel *k, const rh_neighbours *n, const float *multipliers,
                  rh_vec3 *positions, rh_vec3 *way)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < in->count; i++) {
        rh_vec3 move = in->how == RH_POSITION_DISTANCE ? by_distance(k, n, positions[i], in->spacing)
                                                       : by_density(k, n, multipliers, i, positions[i]);
        move = rh_v3_scale(move, scale_at(in, positions[i]));
        float far = rh_v3_length(move), most = LONGEST * in->spacing;
        way[i] = far > most ? rh_v3_scale(move, most / far) : move;
    }
    for (int64_t i = 0; i < in->count; i++) positions[i] = rh_v3_add(positions[i], way[i]);
}

rh_code rh_position_correct(const rh_position_input *in, rh_neighbours *search, rh_vec3 *positions, rh_arena *arena,
                            rh_position_report *report, rh_status *status)
{
    *report = (rh_position_report){0};
    if (in->how == RH_POSITION_NONE || in->count == 0) return RH_OK;
    rh_arena_mark mark = rh_arena_save(arena);
    kernel k = kernel_of(in);
    rh_vec3 *way = rh_arena_take(arena, (size_t)in->count * sizeof *way, status);
    float *multipliers = rh_arena_take(arena, (size_t)in->count * sizeof *multipliers, status);
    double *largest = rh_arena_take(arena, ((size_t)rh_blocks(in->count) + 1) * sizeof *largest, status);
    rh_neighbours_input points = {.dimension = in->tiles->dimension,
                                  .positions = positions,
                                  .count = in->count,
                                  .cell = rh_neighbours_cell((double)k.reach)};
    rh_code code = way && multipliers && largest ? RH_OK : RH_MEMORY;
    while (code == RH_OK && report->sweeps < in->sweeps) {
        code = rh_neighbours_build(search, &points, arena, status);
        if (code != RH_OK) break;
        report->most = constrain(in, &k, search, positions, multipliers, largest);
        if (report->most <= ENOUGH) break;
        sweep(in, &k, search, multipliers, positions, way);
        report->sweeps++;
    }
    rh_arena_restore(arena, mark);
    return code;
}
