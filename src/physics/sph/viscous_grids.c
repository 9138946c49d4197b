// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Coarse velocities are linear along each axis in every cube (trilinear elements), so translations, rotations and
// stretching are among them exactly: what viscosity hardly resists, and what is slow to converge, is seen as it is.
// (Aggregates that move rigidly, the usual coarse space, put all strain between them and are too stiff by as much as
// they are wide.)
//
//   finest grid   cubes four spacings wide. Their matrices are those of the continuum, with cells (two spacings) as
//                 points of quadrature: the particles' sum of w r^2 (viscous_law.h) times the energy of the trilinear
//                 field where they are. Galerkin's product from pairs would take sixty products with the operator, this
//                 takes about one, and keeps rigid motions free of stress as well
//   coarser       Galerkin's product, cube by cube: the matrix of a cube is the sum of those of its eight parts
//   coarsest      at most MOST_DENSE corners: Cholesky's factor
//   sweeps        Chebyshev's polynomial in the operator over its absolute row sums, whose spectrum is within 0..1
//                 however particles lie (a cube with one particle has a matrix of rank one)
//
// The cycle is symmetric: the same polynomial before and after, restriction is the transpose of prolongation.
#include "physics/sph/viscous_grids.h"

#include <math.h>
#include <string.h>
#include "solve/dense.h"

enum { SWEEPS = 3, MOST_DENSE = 64 };
static const float LOWEST = 0.08f;  // part of the spectrum that sweeps leave to the next grid
static const float ROUNDING = 1e-5f;

// --- corners by place ------------------------------------------------------------------------------------------------
typedef struct table {
    int32_t (*key)[3];
    int32_t *value;  // -1: free
    uint32_t mask;
} table;

static rh_code table_take(table *t, int64_t most, rh_arena *arena, rh_status *status)
{
    uint32_t size = 16;
    while (size < 2 * most) size *= 2;
    t->mask = size - 1;
    t->key = rh_arena_take(arena, size * sizeof *t->key, status);
    t->value = rh_arena_take(arena, size * sizeof *t->value, status);
    if (!t->key || !t->value) return RH_MEMORY;
    memset(t->value, 0xff, size * sizeof *t->value);
    return RH_OK;
}

// The number of a place; a new one gets the number `next`, which grows.
static int32_t number_of(table *t, const int32_t at[3], int32_t *next)
{
    uint32_t slot = ((uint32_t)at[0] * 73856093u ^ (uint32_t)at[1] * 19349663u ^ (uint32_t)at[2] * 83492791u);
    for (slot ^= slot >> 15;; slot++) {
        uint32_t s = slot & t->mask;
        if (t->value[s] < 0) {
            memcpy(t->key[s], at, sizeof t->key[s]);
            return t->value[s] = (*next)++;
        }
        if (memcmp(t->key[s], at, sizeof t->key[s]) == 0) return t->value[s];
    }
}

static rh_code number_corners(const rh_sph_grids *g, rh_sph_grid *l, rh_arena *arena, rh_status *status)
{
    int64_t most = (int64_t)l->cubes * g->sides;
    l->corner = rh_arena_take(arena, ((size_t)l->cubes + 1) * sizeof *l->corner, status);
    l->around = rh_arena_take(arena, ((size_t)most + 1) * sizeof *l->around, status);
    l->from = rh_arena_take(arena, ((size_t)most + 1) * sizeof *l->from, status);
    if (!l->corner || !l->around || !l->from) return RH_MEMORY;
    rh_arena_mark mark = rh_arena_save(arena);
    table t;
    RH_TRY(table_take(&t, most, arena, status));
    memset(l->around, 0xff, (size_t)most * sizeof *l->around);
    for (int32_t c = 0; c < l->cubes; c++)
        for (int n = 0; n < g->sides; n++) {
            const int32_t at[3] = {l->at[c][0] + (n & 1), l->at[c][1] + (n >> 1 & 1), l->at[c][2] + (n >> 2)};
            int32_t before = l->corners, corner = number_of(&t, at, &l->corners);
            if (corner == before) l->from[corner][0] = c, l->from[corner][1] = n;
            l->corner[c][n] = corner;
            l->around[corner][n] = c;
        }
    rh_arena_restore(arena, mark);
    return RH_OK;
}

static rh_code take_values(const rh_sph_grids *g, rh_sph_grid *l, rh_arena *arena, rh_status *status)
{
    size_t rows = ((size_t)l->corners * (size_t)g->dimension + 8) * sizeof(float), r = (size_t)g->rows;
    l->stiffness = rh_arena_take_zero(arena, (size_t)l->cubes * r * r * sizeof(float), status);
    l->parts = rh_arena_take(arena, ((size_t)l->cubes * r + 8) * sizeof(float), status);
    float **const vectors[] = {&l->inverse, &l->x, &l->b, &l->r, &l->d, &l->y};
    for (int n = 0; n < 6; n++) {
        *vectors[n] = rh_arena_take_zero(arena, rows, status);
        if (!*vectors[n]) return RH_MEMORY;
    }
    return l->stiffness && l->parts ? RH_OK : RH_MEMORY;
}

// --- the finest grid -------------------------------------------------------------------------------------------------
// Cells of a cube along an axis: at least three spacings wide.
static int cells_of(const rh_sph_fluid *f) { return f->tiles->h > 2.5f * f->kernel->spacing ? 1 : 2; }

static int cube_of(const rh_tiles *tiles, int32_t t, int cells, const int b[3], rh_sph_cube *out)
{
    int deep = tiles->dimension == 3;
    const rh_tile at = tiles->at[t];
    int per = RH_TILE / cells;
    *out = (rh_sph_cube){.at = {at.x * per + b[0], at.y * per + b[1], deep ? at.z * per + b[2] : 0}};
    for (int k = 0; k < (deep ? cells : 1); k++)
        for (int j = 0; j < cells; j++) {
            const uint32_t *first = tiles->first + (int64_t)t * tiles->cells + cells * b[0] + 8 * (cells * b[1] + j) +
                                    (deep ? 64 * (cells * b[2] + k) : 0);
            if (first[0] == first[cells]) continue;
            out->run[out->runs][0] = first[0], out->run[out->runs++][1] = first[cells];
        }
    return out->runs > 0;
}

static int32_t list_cubes(const rh_sph_fluid *f, int cells, rh_sph_cube *out)
{
    const rh_tiles *tiles = f->tiles;
    int per = RH_TILE / cells, deep = tiles->dimension == 3 ? per : 1;
    int32_t count = 0;
    for (int32_t t = 0; t < tiles->count; t++) {
        if (rh_tile_first(tiles, t) == tiles->first[(int64_t)(t + 1) * tiles->cells]) continue;
        for (int k = 0; k < deep; k++)
            for (int j = 0; j < per; j++)
                for (int i = 0; i < per; i++) {
                    rh_sph_cube cube;
                    if (!cube_of(tiles, t, cells, (const int[3]){i, j, k}, &cube)) continue;
                    if (out) out[count] = cube;
                    count++;
                }
    }
    return count;
}

// Values and slopes (1/m) of the corners' functions at a place of a cube.
static inline void shape_at(const rh_sph_grids *g, const rh_sph_cube *cube, const float x[3], float value[8],
                            float slope[8][3])
{
    float low[3], up[3], per = 1 / g->size;
    for (int a = 0; a < 3; a++) {
        up[a] = a < g->dimension ? rh_min(rh_max_of(x[a] * per - (float)cube->at[a], 0), 1) : 0;
        low[a] = 1 - up[a];
    }
    for (int n = 0; n < g->sides; n++) {
        float p[3] = {n & 1 ? up[0] : low[0], n & 2 ? up[1] : low[1], n & 4 ? up[2] : low[2]};
        value[n] = p[0] * p[1] * p[2];
        slope[n][0] = (n & 1 ? per : -per) * p[1] * p[2];
        slope[n][1] = (n & 2 ? per : -per) * p[0] * p[2];
        slope[n][2] = g->dimension == 3 ? (n & 4 ? per : -per) * p[0] * p[1] : 0;
    }
}

static void add_point(const rh_sph_grids *g, const rh_sph_cube *cube, const float x[3], float held, float viscous,
                      float bulk, bool laplacian, float *stiffness)
{
    float value[8], slope[8][3], half = 0.5f * viscous;
    int d = g->dimension;
    shape_at(g, cube, x, value, slope);
    for (int n = 0; n < g->sides; n++)
        for (int m = 0; m < g->sides; m++) {
            const float *p = slope[n], *q = slope[m];
            float even = held * value[n] * value[m] + half * (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
            for (int a = 0; a < d; a++) {
                float *row = stiffness + (d * n + a) * g->rows + d * m;
                row[a] += even;
                for (int b = 0; b < d && !laplacian; b++) row[b] += half * p[b] * q[a] + (half + bulk) * p[a] * q[b];
            }
        }
}

// The particles of a run that lie in one cell count together, where they are on average; where a cube is one cell, each
// for itself.
static void add_run(const rh_sph_grids *g, const rh_sph_stiffness *of, const rh_sph_cube *cube, const uint32_t run[2],
                    float *stiffness)
{
    const float *place = g->fluid->place, middle = ((float)cube->at[0] + 0.5f) * g->size;
    bool single = cells_of(g->fluid) == 1;
    for (uint32_t i = run[0]; i < run[1];) {
        float x[3] = {0, 0, 0}, held = 0, viscous = 0, bulk = 0, count = 0;
        bool upper = place[4 * (uint64_t)i] >= middle;
        do {
            if (!of->fixed || !of->fixed[i]) {
                for (int a = 0; a < 3; a++) x[a] += place[4 * (uint64_t)i + a];
                held += of->held[i], viscous += of->viscous[i], count++;
                if (of->bulk) bulk += of->time * of->bulk[i];
            }
            i++;
        } while (i < run[1] && !single && (place[4 * (uint64_t)i] >= middle) == upper);
        if (count == 0) continue;
        for (int a = 0; a < 3; a++) x[a] /= count;
        add_point(g, cube, x, held, viscous, bulk, of->laplacian, stiffness);
    }
}

static rh_code make_finest(rh_sph_grids *g, const rh_sph_stiffness *of, rh_arena *arena, rh_status *status)
{
    int cells = cells_of(g->fluid);
    rh_sph_grid *l = &g->level[0];
    l->cubes = list_cubes(g->fluid, cells, NULL);
    g->cubes = rh_arena_take(arena, ((size_t)l->cubes + 1) * sizeof *g->cubes, status);
    l->at = rh_arena_take(arena, ((size_t)l->cubes + 1) * sizeof *l->at, status);
    if (!g->cubes || !l->at) return RH_MEMORY;
    list_cubes(g->fluid, cells, g->cubes);
    for (int32_t c = 0; c < l->cubes; c++) memcpy(l->at[c], g->cubes[c].at, sizeof l->at[c]);
    RH_TRY(number_corners(g, l, arena, status));
    RH_TRY(take_values(g, l, arena, status));
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t c = 0; c < l->cubes; c++)
        for (int n = 0; n < g->cubes[c].runs; n++)
            add_run(g, of, &g->cubes[c], g->cubes[c].run[n], l->stiffness + (int64_t)c * g->rows * g->rows);
    return RH_OK;
}

// --- coarser grids ---------------------------------------------------------------------------------------------------
// Share of a parent's corner in corner n of its part `part`.
static inline float share_of(int part, int n, int corner, int dimension)
{
    float share = 1;
    for (int a = 0; a < dimension; a++) {
        float up = 0.5f * (float)((part >> a & 1) + (n >> a & 1));
        share *= corner >> a & 1 ? up : 1 - up;
    }
    return share;
}

static int part_of(const int32_t at[3]) { return (at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2; }

static rh_code list_parents(const rh_sph_grids *g, rh_sph_grid *fine, rh_sph_grid *coarse, rh_arena *arena,
                            rh_status *status)
{
    fine->parent = rh_arena_take(arena, ((size_t)fine->cubes + 1) * sizeof *fine->parent, status);
    coarse->at = rh_arena_take(arena, ((size_t)fine->cubes + 1) * sizeof *coarse->at, status);
    if (!fine->parent || !coarse->at) return RH_MEMORY;
    rh_arena_mark mark = rh_arena_save(arena);
    table t;
    RH_TRY(table_take(&t, fine->cubes, arena, status));
    for (int32_t c = 0; c < fine->cubes; c++) {
        const int32_t *from = fine->at[c], at[3] = {from[0] >> 1, from[1] >> 1, g->dimension == 3 ? from[2] >> 1 : 0};
        fine->parent[c] = number_of(&t, at, &coarse->cubes);
        memcpy(coarse->at[fine->parent[c]], at, sizeof at);
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}

// to += T^T from T, T the shares of the parent's corners in those of the part.
static void add_part(const rh_sph_grids *g, const float *from, int part, float *to)
{
    int d = g->dimension, rows = g->rows;
    float share[8][8], half[RH_SPH_GRID_ROWS * RH_SPH_GRID_ROWS] = {0};
    for (int n = 0; n < g->sides; n++)
        for (int c = 0; c < g->sides; c++) share[n][c] = share_of(part, n, c, d);
    for (int n = 0; n < g->sides; n++)  // half = T^T from
        for (int c = 0; c < g->sides; c++)
            if (share[n][c] > 0)
                for (int k = 0; k < d * rows; k++) half[d * c * rows + k] += share[n][c] * from[d * n * rows + k];
    for (int row = 0; row < rows; row++)
        for (int n = 0; n < g->sides; n++)
            for (int c = 0; c < g->sides; c++)
                if (share[n][c] > 0)
                    for (int a = 0; a < d; a++)
                        to[row * rows + d * c + a] += share[n][c] * half[row * rows + d * n + a];
}

static rh_code make_coarser(rh_sph_grids *g, rh_arena *arena, rh_status *status)
{
    rh_sph_grid *fine = &g->level[g->levels - 1], *coarse = fine + 1;
    int square = g->rows * g->rows;
    RH_TRY(list_parents(g, fine, coarse, arena, status));
    RH_TRY(number_corners(g, coarse, arena, status));
    RH_TRY(take_values(g, coarse, arena, status));
    int32_t(*parts)[8] = rh_arena_take(arena, ((size_t)coarse->cubes + 1) * sizeof *parts, status);
    if (!parts) return RH_MEMORY;
    memset(parts, 0xff, (size_t)coarse->cubes * sizeof *parts);
    for (int32_t c = 0; c < fine->cubes; c++) parts[fine->parent[c]][part_of(fine->at[c])] = c;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t c = 0; c < coarse->cubes; c++)
        for (int n = 0; n < g->sides; n++)
            if (parts[c][n] >= 0)
                add_part(g, fine->stiffness + (int64_t)parts[c][n] * square, n,
                         coarse->stiffness + (int64_t)c * square);
    g->levels++;
    return RH_OK;
}

// 1 / sum of the absolute values of a row. Only bounds from above are asked for, so cubes are added up.
static void find_inverse(const rh_sph_grids *g, const rh_sph_grid *l)
{
    int d = g->dimension;
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t c = 0; c < l->corners; c++)
        for (int a = 0; a < d; a++) {
            float sum = 0;
            for (int n = 0; n < g->sides; n++) {
                int32_t cube = l->around[c][n];
                if (cube < 0) continue;
                const float *row = l->stiffness + ((int64_t)cube * g->rows + d * n + a) * g->rows;
                for (int k = 0; k < g->rows; k++) sum += fabsf(row[k]);
            }
            l->inverse[d * c + a] = sum > 0 ? 1 / sum : 0;
        }
}

// A little is added to the diagonal: corners that no particle determines have none of their own.
static rh_code factorise(rh_sph_grids *g, rh_arena *arena, rh_status *status)
{
    const rh_sph_grid *l = &g->level[g->levels - 1];
    int d = g->dimension, size = d * l->corners;
    g->factor = rh_arena_take_zero(arena, ((size_t)size * (size_t)size + 1) * sizeof(double), status);
    g->dense = rh_arena_take(arena, ((size_t)size + 1) * sizeof(double), status);
    if (!g->factor || !g->dense) return RH_MEMORY;
    for (int32_t c = 0; c < l->cubes; c++)
        for (int row = 0; row < g->rows; row++)
            for (int k = 0; k < g->rows; k++) {
                int to = d * l->corner[c][row / d] + row % d, at = d * l->corner[c][k / d] + k % d;
                g->factor[(int64_t)to * size + at] += (double)l->stiffness[((int64_t)c * g->rows + row) * g->rows + k];
            }
    for (int n = 0; n < size; n++) g->factor[(int64_t)n * size + n] *= 1 + (double)ROUNDING;
    rh_cholesky(g->factor, size);
    return RH_OK;
}

rh_code rh_sph_grids_make(rh_sph_grids *g, const rh_sph_fluid *f, const rh_sph_stiffness *of, rh_arena *arena,
                          rh_status *status)
{
    int dimension = f->kernel->dimension, sides = dimension == 3 ? 8 : 4;
    *g = (rh_sph_grids){.fluid = f,
                        .dimension = dimension,
                        .sides = sides,
                        .rows = sides * dimension,
                        .size = (float)cells_of(f) * f->tiles->h,
                        .fixed = of->fixed,
                        .levels = 1};
    RH_TRY(make_finest(g, of, arena, status));
    while (g->levels < RH_SPH_GRIDS_MOST && g->level[g->levels - 1].corners > MOST_DENSE)
        RH_TRY(make_coarser(g, arena, status));
    for (int n = 0; n < g->levels; n++) find_inverse(g, &g->level[n]);
    return factorise(g, arena, status);
}

// --- the cycle -------------------------------------------------------------------------------------------------------
// Sums at the corners of what cubes left in their parts.
static void gather_parts(const rh_sph_grids *g, const rh_sph_grid *l, float *y)
{
    int d = g->dimension;
#pragma omp parallel for schedule(static) if (l->corners > 2000)
    for (int32_t c = 0; c < l->corners; c++) {
        float sum[3] = {0, 0, 0};
        for (int n = 0; n < g->sides; n++) {
            int32_t cube = l->around[c][n];
            if (cube < 0) continue;
            for (int a = 0; a < d; a++) sum[a] += l->parts[(int64_t)cube * g->rows + d * n + a];
        }
        for (int a = 0; a < d; a++) y[d * c + a] = sum[a];
    }
}

// y = A x
static void apply(const rh_sph_grids *g, const rh_sph_grid *l, const float *x, float *y)
{
    int d = g->dimension, rows = g->rows;
#pragma omp parallel for schedule(static) if (l->cubes > 500)
    for (int32_t c = 0; c < l->cubes; c++) {
        const float *row = l->stiffness + (int64_t)c * rows * rows;
        rh_f8 sum[3] = {rh_f8_all(0), rh_f8_all(0), rh_f8_all(0)};
        for (int n = 0; n < g->sides; n++)
            for (int a = 0; a < d; a++, row += rows) {
                float value = x[d * l->corner[c][n] + a];
                for (int k = 0; k < rows / 8; k++) sum[k] += value * rh_f8_load(row + 8 * k);
            }
        for (int k = 0; k < rows / 8; k++) rh_f8_store(l->parts + (int64_t)c * rows + 8 * k, sum[k]);
    }
    gather_parts(g, l, y);
}

// x += p(A) (b - A x), p Chebyshev's polynomial for the upper part of the spectrum of A over the row sums, 0..1 (Y.
// Saad, "Iterative Methods for Sparse Linear Systems", 2nd ed. 2003, algorithm 12.1). `fresh`: x is 0.
static void sweep(const rh_sph_grids *g, const rh_sph_grid *l, bool fresh)
{
    int64_t size = (int64_t)g->dimension * l->corners;
    float middle = 0.5f * (1 + LOWEST), half = 0.5f * (1 - LOWEST), sigma = middle / half, rho = 1 / sigma;
    if (!fresh) apply(g, l, l->x, l->y);
    for (int64_t i = 0; i < size; i++) {
        l->r[i] = fresh ? l->b[i] : l->b[i] - l->y[i];
        l->d[i] = l->inverse[i] * l->r[i] / middle;
        l->x[i] = fresh ? l->d[i] : l->x[i] + l->d[i];
    }
    for (int s = 1; s < SWEEPS; s++) {
        float next = 1 / (2 * sigma - rho), keep = next * rho, more = 2 * next / half;
        apply(g, l, l->d, l->y);
        for (int64_t i = 0; i < size; i++) {
            l->r[i] -= l->y[i];
            l->d[i] = keep * l->d[i] + more * l->inverse[i] * l->r[i];
            l->x[i] += l->d[i];
        }
        rho = next;
    }
}

// The next grid's b from what is left here, or x from its x. Grids have few corners beside particles: one thread.
static void restrict_left(const rh_sph_grids *g, const rh_sph_grid *l)
{
    const rh_sph_grid *next = l + 1;
    int d = g->dimension;
    memset(next->b, 0, (size_t)d * (size_t)next->corners * sizeof *next->b);
    apply(g, l, l->x, l->y);
    for (int32_t c = 0; c < l->corners; c++) {
        int32_t cube = l->from[c][0], part = part_of(l->at[cube]);
        for (int n = 0; n < g->sides; n++) {
            float share = share_of(part, l->from[c][1], n, d);
            float *to = next->b + (int64_t)d * next->corner[l->parent[cube]][n];
            for (int a = 0; a < d && share > 0; a++) to[a] += share * (l->b[d * c + a] - l->y[d * c + a]);
        }
    }
}

static void prolong(const rh_sph_grids *g, const rh_sph_grid *l)
{
    const rh_sph_grid *next = l + 1;
    int d = g->dimension;
    for (int32_t c = 0; c < l->corners; c++) {
        int32_t cube = l->from[c][0], part = part_of(l->at[cube]);
        for (int n = 0; n < g->sides; n++) {
            float share = share_of(part, l->from[c][1], n, d);
            const float *from = next->x + (int64_t)d * next->corner[l->parent[cube]][n];
            for (int a = 0; a < d && share > 0; a++) l->x[d * c + a] += share * from[a];
        }
    }
}

static void solve_coarsest(const rh_sph_grids *g)
{
    const rh_sph_grid *l = &g->level[g->levels - 1];
    int size = g->dimension * l->corners;
    for (int i = 0; i < size; i++) g->dense[i] = (double)l->b[i];
    rh_cholesky_solve(g->factor, size, g->dense);
    for (int i = 0; i < size; i++) l->x[i] = (float)g->dense[i];
}

// Values of all corners' functions at a place of a cube; in the plane the last four are 0.
static inline rh_f8 values_at(const rh_sph_grids *g, const rh_sph_cube *cube, const float *place)
{
    float up[3], per = 1 / g->size;
    for (int a = 0; a < 3; a++)
        up[a] = a < g->dimension ? rh_min(rh_max_of(place[a] * per - (float)cube->at[a], 0), 1) : 0;
    float x = 1 - up[0], y = 1 - up[1], z = 1 - up[2];
    return (rh_f8){x, up[0], x, up[0], x, up[0], x, up[0]} * (rh_f8){y, y, up[1], up[1], y, y, up[1], up[1]} *
           (rh_f8){z, z, z, z, up[2], up[2], up[2], up[2]};
}

static void from_particles(const rh_sph_grids *g, const float *r)
{
    const rh_sph_grid *l = &g->level[0];
    int d = g->dimension;
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t c = 0; c < l->cubes; c++) {
        const rh_sph_cube *cube = &g->cubes[c];
        rh_f8 sum[3] = {rh_f8_all(0), rh_f8_all(0), rh_f8_all(0)};
        for (int n = 0; n < cube->runs; n++)
            for (uint64_t i = cube->run[n][0]; i < cube->run[n][1]; i++) {
                if (g->fixed && g->fixed[i]) continue;
                rh_f8 value = values_at(g, cube, g->fluid->place + 4 * i);
                for (int a = 0; a < 3; a++) sum[a] += value * r[4 * i + a];
            }
        float *out = l->parts + (int64_t)c * g->rows;
        for (int k = 0; k < g->sides; k++)
            for (int a = 0; a < d; a++) out[d * k + a] = sum[a][k];
    }
    gather_parts(g, l, l->b);
}

static void to_particles(const rh_sph_grids *g, float *z)
{
    const rh_sph_grid *l = &g->level[0];
    int d = g->dimension;
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t c = 0; c < l->cubes; c++) {
        const rh_sph_cube *cube = &g->cubes[c];
        float at[3][8] = {{0}};
        for (int k = 0; k < g->sides; k++)
            for (int a = 0; a < d; a++) at[a][k] = l->x[d * l->corner[c][k] + a];
        rh_f8 x = rh_f8_load(at[0]), y = rh_f8_load(at[1]), deep = rh_f8_load(at[2]);
        for (int n = 0; n < cube->runs; n++)
            for (uint64_t i = cube->run[n][0]; i < cube->run[n][1]; i++) {
                if (g->fixed && g->fixed[i]) continue;
                rh_f8 value = values_at(g, cube, g->fluid->place + 4 * i);
                rh_f4_store(z + 4 * i, rh_f4_load(z + 4 * i) + rh_f8_sums(value * x, value * y, value * deep));
            }
    }
}

void rh_sph_grids_add(const rh_sph_grids *g, const float *r, float *z)
{
    int last = g->levels - 1;
    from_particles(g, r);
    for (int n = 0; n < last; n++) {
        sweep(g, &g->level[n], true);
        restrict_left(g, &g->level[n]);
    }
    solve_coarsest(g);
    for (int n = last - 1; n >= 0; n--) {
        prolong(g, &g->level[n]);
        sweep(g, &g->level[n], false);
    }
    to_particles(g, z);
}
