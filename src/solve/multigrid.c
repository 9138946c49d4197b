// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Geometric aggregation: a coarse cell is a block of 2 x 2 x 2 cells and stands for the unknowns among them, so every
// level has the seven-point form and the tiles of the first, and respects air and solids by construction:
//   prolongation   constant on the block (P), restriction its transpose
//   links          those through the coarse face, summed, and halved: the coarse centres are twice as far
//                  apart. (Galerkin's P^T A P does not halve, and constants then correct only half of a
//                  smooth error: D. Braess, Computing 55, 1995.)
//   surface        what ties unknowns to the pressure of air (diagonal minus links), summed, times 3/4
// In three dimensions all is divided by two on the way, so that a face that is open all over has the link 1 on every
// level, and deep inside the liquid tiles are plain on coarse levels as well.
//
// Smoother: Chebyshev polynomials of D^-1 A over [0.4, 2], 2 being the bound of its spectrum (M. Adams, M. Brezina, J.
// Hu, R. Tuminaro, J. Comput. Phys. 188, 2003), of degree 2 on the finest level and 4 on the others, the same before
// and after. The error after a cycle is (I - pA)(I - P B P^T A)(I - pA) with |1 - p| < 1 on the spectrum: the cycle is
// symmetric and positive definite for any such B, in particular a cycle. The coarsest level (a handful of cells) is
// smoothed with degree 4 over [0.2, 2] four times; once with degree 12 over [0.05, 2] its last steps, the largest, blew
// up rounding until symmetry was lost to 1e-5. Every step is a pass over rows without any order among them.
//
// Tried before the choice, on dense grids of 32^3 to 256^3 cells (pool, splash with sheet, drops and bubbles, sheet of
// 1 to 3 cells; each with and without a ball, a turned box and a plate of 1.3 cells). Iterations to 1e-6 in the worst
// scene at 128^3, passes over the finest operator:
//   constant P, Chebyshev 2 (coarse 3)               12   5   taken; with degree 4 on coarse levels 11 to 12 at 256^3
//   linear P (c and its three nearest neighbours)    12   5   missing neighbours reflected; dearer transfers;
//                                                             helps only with one smoothing step
//   trilinear P                                       -       no better than linear at 64^3 (19 and 19, both
//                                                             with the harmonic surface below)
//   red-black Gauss-Seidel 1 + 1, linear P           15   5   and half of the lanes idle
//   damped Jacobi 1 + 1, linear P                    19   3   more time in all
//   red-black Gauss-Seidel twice, or once and once   11       in a splash the band is most of the liquid
//   more in a band of two cells at the boundary
//   (A. McAdams, E. Sifakis, J. Teran, "A parallel
//   multigrid Poisson solver for fluids simulation
//   on large grids", SCA 2010)
// Surface: 1 instead of 3/4 is as good at 128^3 but one more in a splash at 256^3. Half, as the links: 22 at 64^3 with
// Gauss-Seidel. The harmonic sum, true to the distance of a flat surface from coarse centres, 1 / (theta + 1/2): 19
// there, and twice that 18 at 128^3 with Chebyshev.
#include "solve/multigrid.h"

#include <math.h>
#include <string.h>

enum { COARSE_SMOOTHINGS = 4, COARSEST_ROUNDS = 4, FEW = 16 };
static const double LOWEST = 0.4, COARSEST_LOWEST = 0.2, HIGHEST = 2;
static const float SURFACE = 0.75f;
// Diagonal of coarse cells that nothing ties to anything (a closed box shrunk to one cell). They stay at 0 and end
// there: handed on, they would hold down all that shares a coarser cell with them.
static const float STIFF = 1e30f;

#define EACH_TILE _Pragma("omp parallel for schedule(static, 2) if (a->count > RH_SHORT)")

// --- coarse operators ------------------------------------------------------------------------------------------------
static bool same_parent(rh_tile s, rh_tile t)
{
    return s.x >> 1 == t.x >> 1 && s.y >> 1 == t.y >> 1 && s.z >> 1 == t.z >> 1;
}

// Tiles come in Morton order, so children of one parent follow each other. parent[] and first[] are filled; returns the
// number of parents.
static int32_t find_parents(const rh_poisson *a, int32_t *parent, int32_t *first)
{
    int32_t count = 0;
    for (int32_t n = 0; n < a->count; n++) {
        if (n == 0 || !same_parent(a->at[n - 1], a->at[n])) first[count++] = n;
        parent[n] = count - 1;
    }
    first[count] = a->count;
    return count;
}

// A coarse tile's place, neighbours (those of its children's neighbours) and whether it is plain (all children are
// there and plain).
static void place(const rh_poisson *fine, const rh_level *level, const int32_t *parent, int32_t n)
{
    const rh_poisson *a = &level->a;
    int32_t begin = level->first[n], end = level->first[n + 1];
    bool plain = end - begin == 1 << a->dimension;
    rh_tile at = fine->at[begin];
    a->at[n] = (rh_tile){at.x >> 1, at.y >> 1, at.z >> 1};
    for (int s = 0; s < 6; s++) a->near[n][s] = a->count;
    for (int32_t child = begin; child < end; child++) {
        const int side[3] = {fine->at[child].x & 1, fine->at[child].y & 1, fine->at[child].z & 1};
        for (int axis = 0; axis < a->dimension; axis++) {
            int32_t other = fine->near[child][2 * axis + side[axis]];
            if (other < fine->count) a->near[n][2 * axis + side[axis]] = parent[other];
        }
        plain = plain && fine->block[child] == RH_PLAIN;
    }
    a->block[n] = plain ? RH_PLAIN : 1;
}

// First cell of a child's half-size image in its parent.
static int corner_of(const rh_poisson *fine, int32_t child)
{
    rh_tile at = fine->at[child];
    return 4 * (at.x & 1) + 32 * (at.y & 1) + (fine->dimension == 3 ? 256 * (at.z & 1) : 0);
}

static inline rh_f4 pairs(rh_f8 v)
{
    return __builtin_shufflevector(v, v, 0, 2, 4, 6) + __builtin_shufflevector(v, v, 1, 3, 5, 7);
}

// Sums over blocks of 2 x 2 (x 2) cells of a tile, times `scale`, into a parent's tile at `corner`.
static void shrink(const rh_poisson *fine, const float values[RH_CELLS], float scale, float *coarse)
{
    int deep = fine->dimension == 3;
    for (int k = 0; k < fine->layers; k += 1 + deep)
        for (int j = 0; j < RH_TILE; j += 2) {
            const float *row = values + 8 * j + 64 * k;
            rh_f8 sum = rh_f8_load(row) + rh_f8_load(row + 8);
            if (deep) sum += rh_f8_load(row + 64) + rh_f8_load(row + 72);
            rh_f4_store(coarse + 8 * (j / 2) + 64 * (k / 2), scale * pairs(sum));
        }
}

// Links through the lower faces of blocks: those of the lower cells of each block along the axis.
static void shrink_links(const rh_poisson *fine, int axis, const float *link, float scale, float *coarse)
{
    int deep = fine->dimension == 3, dj = axis != 1, dk = deep && axis != 2;
    for (int k = 0; k < fine->layers; k += 1 + deep)
        for (int j = 0; j < RH_TILE; j += 2) {
            const float *row = link + 8 * j + 64 * k;
            rh_f8 sum = rh_f8_load(row);
            if (dj) sum += rh_f8_load(row + 8);
            if (dk) sum += rh_f8_load(row + 64);
            if (dj && dk) sum += rh_f8_load(row + 72);
            rh_f4 out = axis == 0 ? __builtin_shufflevector(sum, sum, 0, 2, 4, 6) : pairs(sum);
            rh_f4_store(coarse + 8 * (j / 2) + 64 * (k / 2), scale * out);
        }
}

// Links, and in place of the diagonal what ties to the surface; unknowns are blocks with one.
static void collect(const rh_poisson *fine, const rh_level *level, int32_t n)
{
    const rh_poisson *a = &level->a;
    bool deep = a->dimension == 3;
    uint8_t *unknown = a->unknown + (int64_t)n * (a->cells / 8);
    float *block = rh_poisson_block(a, n);
    memset(unknown, 0, (size_t)a->cells / 8);
    if (a->block[n] != RH_PLAIN) memset(block, 0, (size_t)(1 + a->dimension) * (size_t)a->cells * sizeof(float));
    for (int32_t child = level->first[n]; child < level->first[n + 1]; child++) {
        int corner = corner_of(fine, child);
        const uint8_t *bits = fine->unknown + (int64_t)child * (fine->cells / 8);
        for (int r = 0; r < fine->cells / 8; r++) {
            int b = (bits[r] | bits[r] >> 1) & 0x55, row = corner / 8 + (r & 7) / 2 + 8 * (r / 16);
            b = (b | b >> 1) & 0x33;
            unknown[row] |= (uint8_t)(((b | b >> 2) & 15) << (corner & 7));
        }
        if (a->block[n] == RH_PLAIN) continue;
        float excess[RH_CELLS];
        rh_poisson_excess_tile(fine, child, excess);
        shrink(fine, excess, deep ? 0.5f * SURFACE : SURFACE, block + corner);
        for (int axis = 0; axis < a->dimension; axis++)
            shrink_links(fine, axis, rh_poisson_block(fine, child) + (axis + 1) * fine->cells, deep ? 0.25f : 0.5f,
                         block + (axis + 1) * a->cells + corner);
    }
}

// Adds the links to the diagonal; returns whether there are any.
static bool close_tile(const rh_poisson *a, int32_t n)
{
    float *diagonal = rh_poisson_block(a, n);
    const float *own[3], *high[3];
    bool linked = false;
    for (int axis = 0; axis < a->dimension; axis++) {
        own[axis] = diagonal + (axis + 1) * a->cells;
        high[axis] = rh_poisson_block(a, a->near[n][2 * axis + 1]) + (axis + 1) * a->cells;
    }
    for (int c = 0; c < a->cells; c++) {
        uint8_t *unknown = &a->unknown[(int64_t)n * (a->cells / 8) + c / 8];
        if (!(*unknown >> (c & 7) & 1)) {
            diagonal[c] = 1;
            continue;
        }
        float sum = 0;
        for (int axis = 0; axis < a->dimension; axis++) {
            static const int step[3] = {1, 8, 64};
            int edge = axis == 0 ? c & 7 : axis == 1 ? c >> 3 & 7 : c >> 6;
            float upper = edge < 7 ? own[axis][c + step[axis]] : high[axis][c - 7 * step[axis]];
            sum += own[axis][c] + upper;
        }
        linked = linked || sum > 0;
        diagonal[c] += sum;
        if (diagonal[c] >= 1e-6f) continue;
        diagonal[c] = STIFF;
        *unknown &= (uint8_t) ~(1 << (c & 7));
    }
    return linked;
}

// Returns in *more whether a still coarser level would serve.
static rh_code coarsen(rh_level *fine, rh_level *coarse, bool *more, rh_arena *arena, rh_status *status)
{
    size_t tiles = (size_t)fine->a.count + 1;
    *coarse = (rh_level){0};
    fine->parent = rh_arena_take(arena, tiles * sizeof(int32_t), status);
    coarse->first = rh_arena_take(arena, tiles * sizeof(int32_t), status);
    if (!fine->parent || !coarse->first) return RH_MEMORY;
    RH_TRY(rh_poisson_init(&coarse->a, fine->a.dimension, find_parents(&fine->a, fine->parent, coarse->first), arena,
                           status));
    const rh_poisson *a = &coarse->a;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) place(&fine->a, coarse, fine->parent, n);
    RH_TRY(rh_poisson_take_blocks(&coarse->a, arena, status));
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) collect(&fine->a, coarse, n);
    int linked = 0;
#pragma omp parallel for schedule(static, 2) if (a->count > RH_SHORT) reduction(| : linked)
    for (int32_t n = 0; n < a->count; n++) linked |= a->block[n] == RH_PLAIN || close_tile(a, n);
    RH_TRY(rh_poisson_count(&coarse->a, arena, status));
    *more = linked && a->unknowns > FEW;
    coarse->b = rh_poisson_vector(a, arena, status);
    coarse->x = rh_poisson_vector(a, arena, status);
    coarse->y = rh_poisson_vector(a, arena, status);
    return coarse->b && coarse->x && coarse->y ? RH_OK : RH_MEMORY;
}

rh_code rh_multigrid_create_with(rh_multigrid *m, const rh_poisson *a, const rh_bodies *bodies,
                                 const rh_pockets *pockets, rh_arena *arena, rh_status *status)
{
    m->count = 1;
    m->levels[0] = (rh_level){.a = *a};
    if (bodies) RH_TRY(rh_bodies_finest(bodies, a, pockets, arena, &m->levels[0].bodies, status));
    bool more = a->unknowns > FEW;
    while (more && m->count < RH_MAX_LEVELS) {
        rh_level *fine = &m->levels[m->count - 1], *coarse = &m->levels[m->count];
        RH_TRY(coarsen(fine, coarse, &more, arena, status));
        if (fine->bodies)
            RH_TRY(rh_bodies_coarser(bodies, fine->bodies, &fine->a, fine->parent, &coarse->a, (double)(1 << m->count),
                                     arena, &coarse->bodies, status));
        m->count++;
    }
    return RH_OK;
}

rh_code rh_multigrid_create(rh_multigrid *m, const rh_poisson *a, rh_arena *arena, rh_status *status)
{
    return rh_multigrid_create_with(m, a, NULL, NULL, arena, status);
}

// --- the cycle -------------------------------------------------------------------------------------------------------
static float weight_of(int step, int steps, double lowest)
{
    double middle = 0.5 * (HIGHEST + lowest), reach = 0.5 * (HIGHEST - lowest);
    return (float)(1 / (middle + reach * cos(3.14159265358979323846 * (step + 0.5) / steps)));
}

float rh_multigrid_first_weight(void) { return weight_of(0, RH_SMOOTHINGS, LOWEST); }

static void restrict_residual(const rh_level *level, const float *b, const float *x, const rh_level *coarse)
{
    const rh_poisson *a = &level->a;
    if (level->bodies) rh_bodies_answer(level->bodies);
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        float residual[RH_CELLS];
        rh_poisson_residual_tile(a, n, b, x, residual);
        if (level->bodies) rh_bodies_subtract_tile(level->bodies, n, residual);
        shrink(a, residual, a->dimension == 3 ? 0.5f : 1,
               coarse->b + (int64_t)level->parent[n] * a->cells + corner_of(a, n));
    }
}

static void prolong(const rh_level *level, const float *coarse, float *x)
{
    const rh_poisson *a = &level->a;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        const float *from = coarse + (int64_t)level->parent[n] * a->cells + corner_of(a, n);
        const uint8_t *unknown = a->unknown + (int64_t)n * (a->cells / 8);
        float *to = x + (int64_t)n * a->cells;
        for (uint64_t rows = a->rows[n]; rows; rows &= rows - 1) {
            int r = __builtin_ctzll(rows);
            rh_f4 c = rh_f4_load(from + 8 * ((r & 7) / 2) + 64 * (r / 16));
            rh_f8 wide = __builtin_shufflevector(c, c, 0, 0, 1, 1, 2, 2, 3, 3);
            rh_f8_store(to + 8 * r, rh_f8_load(to + 8 * r) + (rh_f8)((rh_i8)wide & rh_i8_from_bits(unknown[r])));
        }
    }
}

void rh_multigrid_prolong(const rh_multigrid *m, int l, const float *coarse, float *x)
{
    RH_ASSERT(l >= 0 && l + 1 < m->count && coarse != x);
    prolong(&m->levels[l], coarse, x);
}

void rh_multigrid_restrict(const rh_multigrid *m, int l, const float *b, float *coarse)
{
    RH_ASSERT(l >= 0 && l + 1 < m->count && coarse != b);
    const rh_level *level = &m->levels[l];
    const rh_poisson *a = &level->a;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++)
        shrink(a, b + (int64_t)n * a->cells, a->dimension == 3 ? 0.5f : 1,
               coarse + (int64_t)level->parent[n] * a->cells + corner_of(a, n));
}

void rh_multigrid_restrict_bound(const rh_multigrid *m, int l, const float *lower, float *coarse)
{
    RH_ASSERT(l >= 0 && l + 1 < m->count && coarse != lower);
    const rh_level *level = &m->levels[l];
    const rh_poisson *a = &level->a;
    int deep = a->dimension == 3;
    for (int64_t c = 0; c < (int64_t)m->levels[l + 1].a.count * a->cells; c++) coarse[c] = -INFINITY;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++)
        for (int c = 0; c < a->cells; c++) {
            int64_t v = (int64_t)n * a->cells + c;
            int to = (c & 7) / 2 + 8 * ((c >> 3 & 7) / 2) + (deep ? 64 * ((c >> 6) / 2) : 0);
            float *most = coarse + (int64_t)level->parent[n] * a->cells + corner_of(a, n) + to;
            if ((a->unknown[v >> 3] >> (v & 7) & 1) && lower[v] > *most) *most = lower[v];
        }
}

// Steps `from` to `degree` - 1 of the polynomial; returns the vector that holds the result, x or y.
static float *smooth(const rh_level *level, int from, int degree, double lowest, const float *b, float *x, float *y,
                     double *sums)
{
    for (int s = from; s < degree; s++) {
        float weight = weight_of(s, degree, lowest);
        double *last = s == degree - 1 ? sums : NULL;
        rh_poisson_smooth(&level->a, weight, b, x, y, last);
        if (level->bodies) rh_bodies_correct(level->bodies, level->a.cells, (double)weight, b, y, last);
        float *swap = x;
        x = y;
        y = swap;
    }
    return x;
}

// The coarsest level, or the only one: polynomial after polynomial, from the first step in x.
static float *settle(const rh_level *level, int degree, double lowest, const float *b, float *x, float *y, double *sums)
{
    float *z = smooth(level, 1, degree, lowest, b, x, y, NULL);
    for (int n = 1; n < COARSEST_ROUNDS; n++)
        z = smooth(level, 0, degree, lowest, b, z, z == x ? y : x, n == COARSEST_ROUNDS - 1 ? sums : NULL);
    return z;
}

static float *cycle(const rh_multigrid *m, int l, const float *b, float *x, float *y, double *sums)
{
    const rh_level *level = &m->levels[l], *next = level + 1;
    const rh_poisson *a = &level->a;
    bool coarsest = l == m->count - 1;
    int degree = l == 0 ? RH_SMOOTHINGS : COARSE_SMOOTHINGS;
    double lowest = coarsest && l > 0 ? COARSEST_LOWEST : LOWEST;
    if (l > 0) rh_poisson_smooth_zero(a, weight_of(0, degree, lowest), b, x);
    if (level->bodies) rh_bodies_begin(level->bodies, a->cells, x);
    if (coarsest) return settle(level, degree, lowest, b, x, y, sums);
    float *z = smooth(level, 1, degree, lowest, b, x, y, NULL);
    restrict_residual(level, b, z, next);
    prolong(level, cycle(m, l + 1, next->b, next->x, next->y, NULL), z);
    if (level->bodies) rh_bodies_gather(level->bodies, a->cells, z);
    return smooth(level, 0, degree, lowest, b, z, z == x ? y : x, sums);
}

float *rh_multigrid_cycle(const rh_multigrid *m, const float *b, float *x, float *scratch, double *sums)
{
    RH_ASSERT(b != x && x != scratch && b != scratch);
    return cycle(m, 0, b, x, scratch, sums);
}
