// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Back along the path by the midpoint rule, and there a cubic through four cells along each axis. (Linear interpolation
// with MacCormack's correction and its limiter, Selle and others 2008, was tried first: the limiter takes a little of
// every peak in every step, a fifth of a Gaussian 2.5 cells wide over 30 cells of way.)
//
// Diffusion by backward Euler and conjugate gradients. Its error is of first order in the step, but not in how far a
// value spreads: a step adds exactly 2 D dt to the variance, as the equation does. Crank-Nicolson is more accurate for
// smooth values and overshoots at the edge of a body, where D dt / h^2 is large.
#include "physics/transport.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "solve/krylov.h"

enum { HALO = 7, BLOCK = 22 * 22 * 22 };  // cells around a tile that paths may start from

// --- tiles -----------------------------------------------------------------------------------------------------------
// A tile and its neighbours.
static int64_t add_keys(rh_tile at, int dimension, rh_tile *keys)
{
    int64_t n = 0;
    for (int k = 0; k < RH_NEAR; k++)
        if (dimension == 3 || k / 9 == 1)
            keys[n++] = (rh_tile){at.x + k % 3 - 1, at.y + k / 3 % 3 - 1, at.z + k / 9 - 1};
    return n;
}

rh_code rh_transport_tiles(rh_fields *fields, const char *name, double least, const rh_tile *more, int64_t more_count,
                           rh_arena *arena, rh_tiles *tiles, rh_status *status)
{
    const float *values = rh_fields_find(fields, name)->axis[0];
    int64_t n = 0;
    rh_tiles named;  // each of `more` once
    RH_TRY(rh_tiles_from_keys(&named, fields->dimension, fields->h, more, more_count, arena, status));
    rh_tile *keys = rh_arena_take(arena, (size_t)(27 * ((int64_t)fields->count + named.count) + 1) * sizeof *keys,
                                  status);
    if (!keys) return RH_MEMORY;
    for (int32_t t = 0; t < fields->count; t++) {
        float most = 0;
        for (int c = 0; c < fields->cells; c++) most = rh_max_of(most, fabsf(values[(int64_t)t * fields->cells + c]));
        if (most > (float)least) n += add_keys(fields->at[t], fields->dimension, keys + n);
    }
    for (int32_t t = 0; t < named.count; t++) n += add_keys(named.at[t], fields->dimension, keys + n);
    RH_TRY(rh_tiles_from_keys(tiles, fields->dimension, fields->h, keys, n, arena, status));
    return rh_fields_carry(fields, tiles, status);
}

// --- advection -------------------------------------------------------------------------------------------------------
// The cell before a place along each axis, and how far on it is; places are in cells from the tile's corner, values at
// cell centres.
typedef struct spot {
    int cell[3];
    float way[3];
} spot;

static spot spot_of(const rh_tiles *tiles, const double *place)
{
    spot s = {{0}, {0}};
    for (int a = 0; a < tiles->dimension; a++) {
        double g = fmin(fmax(place[a] - 0.5, 1 - HALO), RH_TILE + HALO - 2.001);
        s.cell[a] = (int)floor(g);
        s.way[a] = (float)(g - s.cell[a]);
    }
    return s;
}

static float sample_linear(const rh_tiles *tiles, const float *block, const spot *s)
{
    int side = rh_block_side(HALO);
    const float *first = block + rh_block_index(tiles, HALO, s->cell[0], s->cell[1], s->cell[2]), *w = s->way;
    float sum = 0;
    for (int n = 0; n < 1 << tiles->dimension; n++)
        sum += (n & 1 ? w[0] : 1 - w[0]) * (n & 2 ? w[1] : 1 - w[1]) * (n & 4 ? w[2] : 1 - w[2]) *
               first[(n & 1) + side * (n >> 1 & 1) + side * side * (n >> 2)];
    return sum;
}

// Lagrange's cubic through four cells along each axis.
static void cubic_weights(float x, float *w)
{
    w[0] = -x * (x - 1) * (x - 2) / 6;
    w[1] = (x + 1) * (x - 1) * (x - 2) / 2;
    w[2] = -(x + 1) * x * (x - 2) / 2;
    w[3] = (x + 1) * x * (x - 1) / 6;
}

static float sample_cubic(const rh_tiles *tiles, const float *block, const spot *s)
{
    int side = rh_block_side(HALO), deep = tiles->dimension == 3 ? 4 : 1;
    float wx[4], wy[4], wz[4] = {1}, sum = 0;
    cubic_weights(s->way[0], wx);
    cubic_weights(s->way[1], wy);
    if (deep > 1) cubic_weights(s->way[2], wz);
    const float *first = block +
                         rh_block_index(tiles, HALO, s->cell[0] - 1, s->cell[1] - 1, s->cell[2] - (deep > 1 ? 1 : 0));
    for (int k = 0; k < deep; k++)
        for (int j = 0; j < 4; j++) {
            const float *row = first + side * j + side * side * k;
            sum += wz[k] * wy[j] * (wx[0] * row[0] + wx[1] * row[1] + wx[2] * row[2] + wx[3] * row[3]);
        }
    return sum;
}

typedef struct blocks {
    float value[BLOCK], flow[3][BLOCK];
} blocks;  // a tile and its surroundings

// Where the material at x (cells from the tile's corner) was `dt` before: the midpoint rule.
static spot trace_back(const rh_tiles *tiles, const blocks *b, const double *x, double dt)
{
    double place[3] = {x[0], x[1], x[2]}, scale = -dt * (double)tiles->inverse_h;
    for (int half = 1; half >= 0; half--) {
        spot at = spot_of(tiles, place);
        for (int a = 0; a < tiles->dimension; a++)
            place[a] = x[a] + (half ? 0.5 : 1) * scale * (double)sample_linear(tiles, b->flow[a], &at);
    }
    return spot_of(tiles, place);
}

rh_code rh_transport_advect(const rh_tiles *tiles, rh_faces flow, double dt, const rh_transport_value *values,
                            int count, rh_arena *arena, rh_status *status)
{
    float *out[RH_TRANSPORT_VALUES];
    RH_ASSERT(count <= RH_TRANSPORT_VALUES);
    for (int v = 0; v < count; v++)
        if (!(out[v] = rh_field_new(tiles, arena, status))) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 2)
    for (int32_t t = 0; t < tiles->count; t++) {
        static _Thread_local blocks b;
        for (int a = 0; a < tiles->dimension; a++) rh_block_load(tiles, flow.axis[a], t, HALO, 0, b.flow[a]);
        for (int v = 0; v < count; v++) {
            rh_block_load(tiles, values[v].at, t, HALO, 0, b.value);
            for (int c = 0; c < tiles->cells; c++) {
                const double x[3] = {(c & 7) + 0.5, (c >> 3 & 7) + 0.5, (c >> 6) + 0.5};
                spot start = trace_back(tiles, &b, x, dt);
                out[v][(int64_t)t * tiles->cells + c] = rh_clamp(sample_cubic(tiles, b.value, &start), values[v].low,
                                                                 values[v].high);
            }
        }
    }
    for (int v = 0; v < count; v++) memcpy(values[v].at, out[v], (size_t)rh_tiles_values(tiles) * sizeof *out[v]);
    return RH_OK;
}

// --- diffusion -------------------------------------------------------------------------------------------------------
typedef struct heat_operator {
    const rh_tiles *tiles;
    const uint8_t *solid;
    float own;    // 1; 0: Poisson's equation
    float share;  // D dt / h^2
} heat_operator;

enum { NEAR = 10 * 10 * 10 };  // a tile with one cell around
static const int next_cell[3] = {1, 10, 100};

static void load_solid(const rh_tiles *tiles, const uint8_t *solid, int32_t t, uint8_t *block)
{
    if (solid) rh_block_load_u8(tiles, solid, t, 1, 0, block);
    else memset(block, 0, NEAR);
}

// The value behind a face; none behind a closed one, of which there is one less.
static inline float beyond(const float *block, const uint8_t *solid, int at, float *open)
{
    if (!solid[at]) return block[at];
    *open -= 1;
    return 0;
}

// y = (own - share Laplace) x, with no flux into solids, whose cells stand for themselves.
static void apply(void *user, const float *x, float *y)
{
    const heat_operator *o = user;
    const rh_tiles *tiles = o->tiles;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        float block[NEAR];
        uint8_t solid[NEAR];
        rh_block_load(tiles, x, t, 1, 0, block);
        load_solid(tiles, o->solid, t, solid);
        for (int c = 0; c < tiles->cells; c++) {
            int at = rh_block_index(tiles, 1, c & 7, c >> 3 & 7, c >> 6);
            float open = (float)(2 * tiles->dimension);
            float sum = beyond(block, solid, at - 1, &open) + beyond(block, solid, at + 1, &open) +
                        beyond(block, solid, at - 10, &open) + beyond(block, solid, at + 10, &open);
            if (tiles->dimension == 3)
                sum += beyond(block, solid, at - 100, &open) + beyond(block, solid, at + 100, &open);
            float here = block[at];
            y[(int64_t)t * tiles->cells + c] = solid[at] ? here : o->own * here + o->share * (open * here - sum);
        }
    }
}

static rh_code solve(const heat_operator *heat, float *right, float *values, double tolerance, rh_arena *arena,
                     rh_step_report *report, rh_status *status)
{
    const rh_krylov system = {.a = {rh_tiles_values(heat->tiles), apply, (void *)heat}};
    rh_krylov_report solved;
    RH_TRY(rh_krylov_cg(&system, right, values, tolerance, 1000, arena, &solved, status));
    report->iterations = solved.iterations;
    report->residual = solved.residual;
    return solved.converged ? RH_OK : rh_fail(status, RH_NUMERIC, "the diffusion of a field did not converge");
}

rh_code rh_transport_diffuse(const rh_tiles *tiles, double share, const uint8_t *solid, float *values, rh_arena *arena,
                             rh_step_report *report, rh_status *status)
{
    const heat_operator heat = {tiles, solid, 1, (float)share};
    if (heat.share == 0) return RH_OK;
    float *right = rh_field_new(tiles, arena, status);
    if (!right) return RH_MEMORY;
    memcpy(right, values, (size_t)rh_tiles_values(tiles) * sizeof *right);
    return solve(&heat, right, values, 1e-6, arena, report, status);
}

// --- flow without divergence -----------------------------------------------------------------------------------------
// A component of the flow, the pressure, and solids in a tile and one cell around.
typedef struct near_blocks {
    float u[NEAR], p[NEAR];
    uint8_t solid[NEAR];
} near_blocks;

// Across the face from a cell to the next one at `there`: the mean of both, or the solid's.
static float across(const near_blocks *b, int at, int there)
{
    return b->solid[there] ? b->u[there] : 0.5f * (b->u[at] + b->u[there]);
}

static void add_divergence(const rh_tiles *tiles, const near_blocks *b, int axis, float *right)
{
    for (int c = 0; c < tiles->cells; c++) {
        int at = rh_block_index(tiles, 1, c & 7, c >> 3 & 7, c >> 6), side = next_cell[axis];
        if (!b->solid[at]) right[c] += across(b, at, at - side) - across(b, at, at + side);
    }
}

// The mean of what both faces have afterwards; where both are open, only the pressure's part of it.
static void push_cells(const rh_tiles *tiles, const near_blocks *b, int axis, float *out)
{
    for (int c = 0; c < tiles->cells; c++) {
        int at = rh_block_index(tiles, 1, c & 7, c >> 3 & 7, c >> 6), low = at - next_cell[axis],
            high = at + next_cell[axis];
        float before = b->solid[low] ? 0 : b->p[at] - b->p[low], after = b->solid[high] ? 0 : b->p[high] - b->p[at];
        bool walled = b->solid[low] || b->solid[high];
        float old = walled ? 0.5f * (across(b, at, low) + across(b, at, high)) : b->u[at];
        out[c] = b->solid[at] ? b->u[at] : old - 0.5f * (before + after);
    }
}

// Central differences between cell centres, and the compact Laplacian: an approximate projection (A. S. Almgren,
// J. B. Bell, W. G. Szymczak, SIAM J. Sci. Comput. 17, 1996). What a checkerboard of velocities has stays. Beside walls
// faces count, and a cell has the mean of its own.
rh_code rh_transport_project(const rh_tiles *tiles, const uint8_t *solid, rh_faces flow, rh_arena *arena,
                             rh_step_report *report, rh_status *status)
{
    // Rooms that solids close need not keep their volume when these move: air may be pressed there, a little.
    const heat_operator poisson = {tiles, solid, solid ? 1e-5f : 0, 1};
    size_t bytes = (size_t)rh_tiles_values(tiles) * sizeof(float);
    float *right = rh_field_new(tiles, arena, status), *p = rh_field_new(tiles, arena, status);
    if (!right || !p) return RH_MEMORY;
    memset(p, 0, bytes);
    memset(right, 0, bytes);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        near_blocks b;
        load_solid(tiles, solid, t, b.solid);
        for (int a = 0; a < tiles->dimension; a++) {
            rh_block_load(tiles, flow.axis[a], t, 1, 0, b.u);
            add_divergence(tiles, &b, a, right + (int64_t)t * tiles->cells);
        }
    }
    RH_TRY(solve(&poisson, right, p, 1e-3, arena, report, status));
    for (int a = 0; a < tiles->dimension; a++) {
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < tiles->count; t++) {
            near_blocks b;
            load_solid(tiles, solid, t, b.solid);
            rh_block_load(tiles, flow.axis[a], t, 1, 0, b.u);
            rh_block_load(tiles, p, t, 1, 0, b.p);
            push_cells(tiles, &b, a, right + (int64_t)t * tiles->cells);
        }
        memcpy(flow.axis[a], right, bytes);
    }
    return RH_OK;
}

void rh_transport_forget(const rh_tiles *tiles, double least, float *values)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rh_tiles_values(tiles); i++) values[i] = values[i] < (float)least ? 0 : values[i];
}
