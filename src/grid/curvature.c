// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Curvature of the surface: div (grad f / |grad f|), f being the distance from the surface, cut off at two cells on
// both sides and smoothed along each axis by the kernel
//
//      2 t - t * t        t = c * c, c = (1, 2, 2, 1) / 6
//
// Its second moment is 0, so that a wave of wave number k is seen smaller only in fourth order of k; and no wave is
// seen upside down, as its transform is T (2 - T) with 0 <= T <= 1. (One that does, here a polynomial cut off at six
// cells, made ripples of four cells grow by themselves.) Circles, spheres and planes keep their curvature whatever the
// kernel is: their f stays round. Where f is cut off does not matter to first order in the height of bumps, as the
// kernel sees the same bump in all levels of f. Then the curvature itself is smoothed over the cells around the surface
// in the same way, with weights that fall to 0 away from it: 2 m - m of m, m being the mean with the weights t. That
// needs nothing beyond walls, and keeps a constant what it is.
//
// Derivatives are of fourth order: f is as wide as the kernel, whatever the radius of the surface, so errors of second
// order in the cell were a constant share of the curvature, up to 3 %, and depended on its direction: drops at rest
// were driven by it, twenty times faster than now.
//
// f has to go on inside solids, as if the surface met them at the angle that it is to have: its derivative along the
// wall's normal is the cosine of this angle there, so f(-x) = f(x) - 2 x cos at mirrored places, which also lets the
// surface go on as curved as it is. If it really meets them at another angle, that is a bend, and the tension of the
// bend moves it to the right one. (Continued straight into the wall, drops at 90 degrees were 8 % too low.)
#include "grid/curvature.h"

#include <math.h>
#include <string.h>
#include "base/simd.h"

enum { REACH = 6, AROUND = 2, HALO = REACH + AROUND, SIDE = RH_TILE + 2 * HALO };
enum { TAPS = 2 * REACH + 1, OUT = RH_TILE + 2 * AROUND };
enum { HALF_REACH = 3, HALF_TAPS = 2 * HALF_REACH + 1, HALF_SIDE = RH_TILE + 2 * HALF_REACH };
enum { HALF_LARGE = HALF_SIDE * HALF_SIDE * HALF_SIDE };
enum { LARGE = SIDE * SIDE * SIDE, LARGE_OUT = OUT * OUT * OUT };

static const float CUT_OFF = 2;  // cells
// Cells: curvature is known so far from the surface; a face that it cuts has no cell farther off.
static const float NEAR = 1.5f;

typedef struct builder {
    const rh_curvature_input *of;
    const rh_tiles *tiles;
    float half[HALF_TAPS], kernel[TAPS];
    float *distance;           // m: from the surface, on both sides
    float *smooth;             // cells: what is to be smoothed
    float *curvature, *slope;  // 1/m; |grad f|^2. Cells near the surface only
} builder;

static void convolve(const double *x, int count_x, const double *y, int count_y, double *out)
{
    for (int i = 0; i < count_x + count_y - 1; i++) out[i] = 0;
    for (int i = 0; i < count_x; i++)
        for (int j = 0; j < count_y; j++) out[i + j] += x[i] * y[j];
}

// t, and 2 t - t * t.
static void make_kernels(float half[HALF_TAPS], float kernel[TAPS])
{
    static const double root[] = {1 / 6.0, 2 / 6.0, 2 / 6.0, 1 / 6.0};
    double once[HALF_TAPS], twice[TAPS];
    convolve(root, 4, root, 4, once);
    convolve(once, HALF_TAPS, once, HALF_TAPS, twice);
    for (int i = 0; i < HALF_TAPS; i++) half[i] = (float)once[i];
    for (int i = 0; i < TAPS; i++) {
        int inner = i - (TAPS - HALF_TAPS) / 2;
        kernel[i] = (float)((inner >= 0 && inner < HALF_TAPS ? 2 * once[inner] : 0) - twice[i]);
    }
}

double rh_curvature_stiffness(void)
{
    float half[HALF_TAPS], kernel[TAPS];
    double most = 0;
    make_kernels(half, kernel);
    for (double k = 0.02; k < 3.14; k += 0.02) {
        double seen = 0;
        for (int i = 0; i < TAPS; i++) seen += (double)kernel[i] * cos(k * (i - REACH));
        most = fmax(most, k * k * k * seen * seen);
    }
    return most;
}

// --- the field that is smoothed --------------------------------------------------------------------------------------
static bool is_near(const builder *b, int64_t cell) { return fabsf(b->of->surface->phi[cell]) < NEAR * b->tiles->h; }

static bool has_near(const builder *b, int32_t t)
{
    bool any = false;
    for (int c = 0; t >= 0 && c < b->tiles->cells && !any; c++) any = is_near(b, (int64_t)t * b->tiles->cells + c);
    return any;
}

// Cells farther inside than one have no distance yet: near the surface they get theirs.
static rh_code measure_inside(builder *b, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = b->tiles;
    float band = b->of->surface->band, deep = -0.999f * band * tiles->h;
    rh_bits *todo = rh_arena_take_zero(arena, ((size_t)tiles->count + 1) * sizeof *todo, status);
    if (!todo) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) {
        int64_t from = (int64_t)t * tiles->cells;
        memcpy(b->distance + from, b->of->surface->phi + from, (size_t)tiles->cells * sizeof(float));
        bool near = false;
        for (int n = 0; n < RH_NEAR && !near; n++) near = has_near(b, tiles->near[t][n]);
        for (int c = 0; near && c < tiles->cells; c++)
            todo[t].layer[c >> 6] |= (uint64_t)(b->distance[from + c] < deep) << (c & 63);
    }
    return rh_levelset_sweep(tiles, b->distance, todo, band, arena, status);
}

static int index_in(const builder *b, int i, int j, int k) { return rh_block_index(b->tiles, HALO, i, j, k); }

// The normal of the wall near a cell, towards free space, from differences to cells that are farther out: distances in
// solids end at some depth.
static rh_vec3 wall_normal(const builder *b, const float *solid, int i, int j, int k)
{
    rh_vec3 g = {0, 0, 0};
    float here = solid[index_in(b, i, j, k)];
    for (int a = 0; a < b->tiles->dimension; a++) {
        int s[3] = {a == 0, a == 1, a == 2};
        float up = solid[index_in(b, i + s[0], j + s[1], k + s[2])] - here;
        float down = solid[index_in(b, i - s[0], j - s[1], k - s[2])] - here;
        (&g.x)[a] = up * down < 0 ? 0.5f * (up - down) : up > down ? fmaxf(up, 0) : -fmaxf(down, 0);
    }
    float length = rh_v3_length(g);
    return length > 0 ? rh_v3_scale(g, 1 / length) : g;
}

// A block's value at a place in cells from the tile's corner, linear between cell centres.
static float value_at(const builder *b, const float *block, rh_vec3 x)
{
    int base[3] = {0, 0, 0};
    float way[3] = {0, 0, 0}, sum = 0;
    for (int a = 0; a < b->tiles->dimension; a++) {
        float g = rh_clamp((&x.x)[a] - 0.5f, -HALO, RH_TILE + HALO - 1.01f);
        base[a] = rh_floor(g);
        way[a] = g - (float)base[a];
    }
    for (int n = 0; n < 1 << b->tiles->dimension; n++) {
        int up[3] = {n & 1, n >> 1 & 1, n >> 2};
        float w = (up[0] ? way[0] : 1 - way[0]) * (up[1] ? way[1] : 1 - way[1]) * (up[2] ? way[2] : 1 - way[2]);
        sum += w * block[index_in(b, base[0] + up[0], base[1] + up[1], base[2] + up[2])];
    }
    return sum;
}

static bool is_wall_near(const builder *b, int32_t t)
{
    const float *d = b->of->solid ? b->of->solid[t] : NULL;
    rh_f8 least = rh_f8_all(1e30f);
    for (int c = 0; d && c < b->tiles->cells; c += RH_TILE) least = rh_f8_min(least, rh_f8_load(d + c));
    return rh_i8_bits(least < rh_f8_all(0)) != 0;
}

static void extend_into_walls(const builder *b, int32_t t, float *out)
{
    const rh_tiles *tiles = b->tiles;
    float distance[LARGE], solid[LARGE];
    float far = b->of->surface->band * tiles->h, contact = (float)b->of->contact;
    rh_block_load(tiles, b->distance, t, HALO, far, distance);
    rh_block_load_apart(tiles, b->of->solid, t, HALO, 4 * tiles->h, solid);
    for (int c = 0; c < tiles->cells; c++) {
        int i = c & 7, j = c >> 3 & 7, k = c >> 6;
        float mirrored = -2 * b->of->solid[t][c] * tiles->inverse_h;
        if (!(mirrored > 0)) continue;
        rh_vec3 x = {(float)i + 0.5f, (float)j + 0.5f, tiles->dimension == 3 ? (float)k + 0.5f : 0};
        x = rh_v3_add(x, rh_v3_scale(wall_normal(b, solid, i, j, k), mirrored));
        float found = value_at(b, distance, x) * tiles->inverse_h - mirrored * contact;
        out[c] = rh_clamp(found, -CUT_OFF, CUT_OFF);
    }
}

static void fill_tile(const builder *b, int32_t t)
{
    const rh_tiles *tiles = b->tiles;
    const float *distance = b->distance + (int64_t)t * tiles->cells;
    float *out = b->smooth + (int64_t)t * tiles->cells;
    for (int c = 0; c < tiles->cells; c++) out[c] = rh_clamp(distance[c] * tiles->inverse_h, -CUT_OFF, CUT_OFF);
    if (is_wall_near(b, t)) extend_into_walls(b, t, out);
}

// --- smoothing -------------------------------------------------------------------------------------------------------
// Along one axis: `rows` times `side` values, each of them `step` neighbours that are treated alike, become `rows`
// times side - taps + 1.
static void filter_along(const float *kernel, int taps, int rows, int side, int step, const float *in, float *out)
{
    int side_out = side - taps + 1;
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < side_out; o++) {
            float *to = out + (r * side_out + o) * step;
            const float *from = in + (r * side + o) * step;
            for (int s = 0; s < step; s++) to[s] = 0;
            for (int n = 0; n < taps; n++)
                for (int s = 0; s < step; s++) to[s] += kernel[n] * from[n * step + s];
        }
}

// A block of side^d, smoothed along all axes.
static void filter_block(const builder *b, const float *kernel, int taps, int side, const float *in, float *out)
{
    float first[SIDE * SIDE * OUT], second[SIDE * OUT * OUT];
    int short_side = side - taps + 1;
    bool flat = b->tiles->dimension == 2;
    filter_along(kernel, taps, flat ? side : side * side, side, 1, in, first);
    filter_along(kernel, taps, flat ? 1 : side, side, short_side, first, flat ? out : second);
    if (!flat) filter_along(kernel, taps, 1, side, short_side * short_side, second, out);
}

// --- curvature -------------------------------------------------------------------------------------------------------
static float slope_along(const float *f, int step)
{
    return (8 * (f[step] - f[-step]) - (f[2 * step] - f[-2 * step])) / 12;
}

static float slope_of_slope(const float *f, int step, int other)
{
    if (step == other) return (16 * (f[step] + f[-step]) - 30 * f[0] - (f[2 * step] + f[-2 * step])) / 12;
    return (8 * (slope_along(f + step, other) - slope_along(f - step, other)) -
            (slope_along(f + 2 * step, other) - slope_along(f - 2 * step, other))) /
           12;
}

// (|g|^2 trace H - g H g) / |g|^3 in one cell, g and H the first and second derivatives.
static void curvature_in_cell(const builder *b, const float *f, float weight, float *curvature, float *slope)
{
    static const int step[3] = {1, OUT, OUT * OUT};
    int d = b->tiles->dimension;
    float g[3] = {0, 0, 0}, square = 0, trace = 0, along = 0;
    for (int a = 0; a < d; a++) {
        g[a] = slope_along(f, step[a]);
        square += g[a] * g[a];
    }
    for (int a = 0; a < d; a++)
        for (int c = 0; c <= a; c++) {
            float second = slope_of_slope(f, step[a], step[c]);
            trace += a == c ? second : 0;
            along += (a == c ? 1 : 2) * g[a] * second * g[c];
        }
    float most = (float)(d - 1), found = square > 1e-6f ? (square * trace - along) / (square * sqrtf(square)) : 0;
    *curvature = rh_clamp(found, -most, most) * b->tiles->inverse_h;
    *slope = square * weight;
}

static void curve_tile(const builder *b, int32_t t)
{
    const rh_tiles *tiles = b->tiles;
    int64_t from = (int64_t)t * tiles->cells;
    if (!has_near(b, t)) return;
    float in[LARGE], out[LARGE_OUT];
    rh_block_load(tiles, b->smooth, t, HALO, CUT_OFF, in);
    filter_block(b, b->kernel, TAPS, SIDE, in, out);
    for (int c = 0; c < tiles->cells; c++) {
        float off = b->of->surface->phi[from + c] * tiles->inverse_h / NEAR, weight = 1 - off * off;
        if (weight > 0)
            curvature_in_cell(b, out + rh_block_index(tiles, AROUND, c & 7, c >> 3 & 7, c >> 6), weight,
                              &b->curvature[from + c], &b->slope[from + c]);
    }
}

// Means of the curvature over the surface: out = t * (w from) / t * w.
static void mean_tile(const builder *b, int32_t t, const float *from, float *out)
{
    const rh_tiles *tiles = b->tiles;
    int64_t at = (int64_t)t * tiles->cells;
    float any = 0;
    for (int c = 0; c < tiles->cells; c++) any += b->slope[at + c], out[at + c] = 0;
    if (any == 0) return;
    float weight[HALF_LARGE], value[HALF_LARGE], weights[RH_TILE * RH_TILE * RH_TILE],
        sums[RH_TILE * RH_TILE * RH_TILE];
    rh_block_load(tiles, b->slope, t, HALF_REACH, 0, weight);
    rh_block_load(tiles, from, t, HALF_REACH, 0, value);
    for (int n = 0; n < rh_block_values(tiles, HALF_REACH); n++) value[n] *= weight[n];
    filter_block(b, b->half, HALF_TAPS, HALF_SIDE, weight, weights);
    filter_block(b, b->half, HALF_TAPS, HALF_SIDE, value, sums);
    for (int c = 0; c < tiles->cells; c++)
        if (b->slope[at + c] > 0) out[at + c] = sums[c] / weights[c];
}

// Between the two cells of a face, by how far the surface is from each and how well each knows its curvature: in the
// middle of a film f is a ridge, which has no normal.
static void curve_faces(const builder *b, int32_t t, int a, float *out)
{
    static const int step_near[3] = {1, 3, 9}, step_cell[3] = {1, 8, 64};
    const rh_tiles *tiles = b->tiles;
    const float *phi = b->of->surface->phi;
    for (int c = 0; c < tiles->cells; c++) {
        int edge = c >> (3 * a) & 7;
        int32_t other = edge ? t : tiles->near[t][RH_HERE - step_near[a]];
        int64_t here = (int64_t)t * tiles->cells + c,
                low = (int64_t)other * tiles->cells + (edge ? c - step_cell[a] : c + 7 * step_cell[a]);
        out[c] = 0;
        if (other < 0 || (phi[here] < 0) == (phi[low] < 0)) continue;
        float from_low = fabsf(phi[low]) * b->slope[here], from_here = fabsf(phi[here]) * b->slope[low];
        float both = from_low + from_here;
        out[c] = both > 0 ? (from_low * b->curvature[here] + from_here * b->curvature[low]) / both : 0;
    }
}

rh_code rh_curvature_build(const rh_curvature_input *of, rh_faces *curvature, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = of->tiles;
    size_t bytes = (size_t)rh_tiles_values(tiles) * sizeof(float);
    RH_ASSERT(of->surface->band > NEAR && fabs(of->contact) <= 1);
    RH_TRY(rh_faces_new(curvature, tiles, false, arena, status));
    rh_arena_mark mark = rh_arena_save(arena);
    builder b = {.of = of,
                 .tiles = tiles,
                 .distance = rh_field_new(tiles, arena, status),
                 .smooth = rh_field_new(tiles, arena, status),
                 .curvature = rh_arena_take_zero(arena, bytes, status),
                 .slope = rh_arena_take_zero(arena, bytes, status)};
    if (!b.distance || !b.smooth || !b.curvature || !b.slope) return RH_MEMORY;
    make_kernels(b.half, b.kernel);
    RH_TRY(measure_inside(&b, arena, status));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) fill_tile(&b, t);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) curve_tile(&b, t);
    float *once = b.distance, *twice = b.smooth;  // no longer needed
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) mean_tile(&b, t, b.curvature, once);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) mean_tile(&b, t, once, twice);
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < rh_tiles_values(tiles); c++) b.curvature[c] = 2 * once[c] - twice[c];
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++)
            curve_faces(&b, t, a, curvature->axis[a] + (int64_t)t * tiles->cells);
    rh_arena_restore(arena, mark);
    return RH_OK;
}
