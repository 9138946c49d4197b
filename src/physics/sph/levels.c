// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The multilevel preconditioner of T. Takahashi, chapter 3 (docs/sources.md), on the multigrid of the grid methods. It
// has one level more than that: the particles, whose aggregates are the cells that hold them. The cycle is one damped
// Jacobi sweep on particles, a cycle of the grids for the remaining residual, and another sweep:
//   prolongation   every unknown of a cell takes its value, restriction is the transpose: sums, not the source's means,
//                  with which the cycle is not symmetric and conjugate gradients falter where cells hold unlike numbers
//   links          of two cells with unknowns as of the Laplacian, times how full the two are: with n particles a cell
//                  the energy of a smooth pressure is n grad^2 of it, not that of Galerkin's product
//                  (solve/multigrid.c)
//   scale          follows from that and from the ratio of the particles' operator to a Laplacian on the lattice. The
//                  source fits a factor to runs, per scene, and has to take an eighth of it to converge
//   walls, surface what ties unknowns to pressure 0, summed over the cell as on coarser levels: walls and particles of
//                  pressure 0 beside it. (The source knows these by classes of cells only, and walls not at all.)
// A sweep with a weight below 1 is stable, as the diagonal dominates: so the cycle is positive as well.
//
// Iterations of conjugate gradients to 1e-4, 6 000, 48 000 and 394 000 particles in space, 0.1 d off the lattice: 7, 8,
// 9 with a weight of 0.8; 8, 9, 10 with 2/3; 10, 11, 12 with 0.5. Without the second product (grids and sweep added up,
// which costs a third): 16 and 18 in the plane where this takes 11 and 12 (weight 0.5).
#include "physics/sph/levels.h"

#include <math.h>

// What a cell holds: unknowns, and what ties them to pressure 0.
typedef struct cell_sums {
    float count, held;
} cell_sums;

typedef struct builder {
    const rh_sph_levels *levels;
    const uint8_t *unknown;
    const float *held;
    float full;        // particles of a cell at rest
    cell_sums *cells;  // [values of the operator]
} builder;

static void mark_unknowns(const rh_layout *layout, const uint8_t *unknown)
{
    const rh_tiles *tiles = layout->tiles;
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t t = 0; t < tiles->count; t++) {
        const uint32_t *first = tiles->first + (int64_t)t * tiles->cells;
        for (int row = 0; row < tiles->cells / 8; row++) {
            int bits = 0;
            for (int c = 8 * row; c < 8 * row + 8; c++)
                for (uint32_t i = first[c]; i < first[c + 1]; i++) bits |= (unknown[i] != 0) << (c & 7);
            layout->unknown[(int64_t)t * (tiles->cells / 8) + row] = (uint8_t)bits;
        }
    }
}

static void sum_cells(const builder *b, int32_t n)
{
    const rh_layout *layout = &b->levels->layout;
    int cells = layout->tiles->cells;
    const uint32_t *first = layout->tiles->first + (int64_t)layout->listed[n] * cells;
    for (int c = 0; c < cells; c++) {
        cell_sums sum = {0, 0};
        for (uint32_t i = first[c]; i < first[c + 1]; i++) sum.count += b->unknown[i], sum.held += b->held[i];
        b->cells[(int64_t)n * cells + c] = sum;
    }
}

static const float JACOBI = 0.8f;
static const float SURFACE = 0.75f;  // as on the coarser levels (solve/multigrid.c)
static const float FREE = 0.01f;     // of a diagonal of 2 d: less counts as nothing

static float held_at(const builder *b, const cell_sums *sums) { return SURFACE * b->levels->scale * sums->held; }

static bool is_plain(const builder *b, int32_t n)
{
    const rh_layout *layout = &b->levels->layout;
    int cells = layout->tiles->cells;
    if (!rh_layout_is_full(layout, layout->listed[n])) return false;
    for (int c = 0; c < cells; c++)
        if (held_at(b, &b->cells[(int64_t)n * cells + c]) > FREE) return false;
    return true;
}

// The cell below or above along an axis; -1 where there is no tile.
static int64_t beside(const rh_poisson *a, int32_t n, int c, int axis, int up)
{
    static const int step[3] = {1, 8, 64};
    int at = axis == 0 ? c & 7 : axis == 1 ? c >> 3 & 7 : c >> 6, to = at + (up ? 1 : -1);
    if (to >= 0 && to < 8) return (int64_t)n * a->cells + c + (to - at) * step[axis];
    int32_t other = a->near[n][2 * axis + up];
    return other == a->count ? -1 : (int64_t)other * a->cells + c - 7 * (to - at) * step[axis];
}

// A link counts by how full the two cells are; a plain tile beside takes it for 1, so there it is 1.
static float link_of(const builder *b, int32_t n, int c, int axis, int up)
{
    const rh_poisson *a = &b->levels->a;
    int64_t own = (int64_t)n * a->cells + c, other = beside(a, n, c, axis, up);
    if (other < 0 || b->cells[own].count == 0 || b->cells[other].count == 0) return 0;
    if (a->block[other / a->cells] == RH_PLAIN) return 1;
    return rh_min(0.5f * (b->cells[own].count + b->cells[other].count) / b->full, 1);
}

static void fill_tile(const builder *b, int32_t n)
{
    const rh_poisson *a = &b->levels->a;
    if (a->block[n] == RH_PLAIN) return;
    float *diagonal = rh_poisson_block(a, n);
    for (int c = 0; c < a->cells; c++) {
        const cell_sums *sums = &b->cells[(int64_t)n * a->cells + c];
        float sum = held_at(b, sums);
        for (int axis = 0; axis < a->dimension; axis++) {
            float low = link_of(b, n, c, axis, 0);
            diagonal[(axis + 1) * a->cells + c] = low;
            sum += low + link_of(b, n, c, axis, 1);
        }
        diagonal[c] = sums->count == 0 ? 1 : rh_max_of(sum, 1e-4f);
    }
}

static rh_code make_grid(rh_sph_levels *l, const builder *b, rh_arena *arena, rh_status *status)
{
    rh_poisson *a = &l->a;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < a->count; n++) {
        rh_layout_place(&l->layout, n, a);
        sum_cells(b, n);
    }
    for (int32_t n = 0; n < a->count; n++) a->block[n] = is_plain(b, n) ? RH_PLAIN : 1;
    RH_TRY(rh_poisson_take_blocks(a, arena, status));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < a->count; n++) fill_tile(b, n);
    RH_TRY(rh_poisson_count(a, arena, status));
    return rh_multigrid_create(&l->grid, a, arena, status);
}

rh_code rh_sph_levels_make(rh_sph_levels *l, const rh_sph_fluid *f, rh_operator system, float factor,
                           const uint8_t *unknown, const float *inverse, const float *held, rh_arena *arena,
                           rh_status *status)
{
    float cell = f->tiles->h, full = powf(cell / f->kernel->spacing, (float)f->kernel->dimension);
    *l = (rh_sph_levels){
        .unknown = unknown, .inverse = inverse, .system = system, .scale = cell * cell / (full * factor)};
    RH_TRY(rh_layout_init(&l->layout, f->tiles, arena, status));
    mark_unknowns(&l->layout, unknown);
    RH_TRY(rh_layout_number(&l->layout, arena, status));
    RH_TRY(rh_poisson_init(&l->a, f->kernel->dimension, l->layout.count, arena, status));
    builder b = {l, unknown, held, full, rh_arena_take(arena, rh_poisson_values(&l->a) * sizeof(cell_sums), status)};
    if (!b.cells) return RH_MEMORY;
    RH_TRY(make_grid(l, &b, arena, status));
    size_t floats = ((size_t)system.size + 8) * sizeof(float);
    l->b = rh_poisson_vector(&l->a, arena, status);
    l->x = rh_poisson_vector(&l->a, arena, status);
    l->y = rh_poisson_vector(&l->a, arena, status);
    l->left = rh_arena_take_zero(arena, floats, status);
    return l->b && l->x && l->y && l->left ? RH_OK : RH_MEMORY;
}

// --- the cycle -------------------------------------------------------------------------------------------------------
static void to_cells(const rh_sph_levels *l, const float *r)
{
    const rh_tiles *tiles = l->layout.tiles;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < l->a.count; n++) {
        const uint32_t *first = tiles->first + (int64_t)l->layout.listed[n] * tiles->cells;
        for (int c = 0; c < tiles->cells; c++) {
            float sum = 0;
            for (uint32_t i = first[c]; i < first[c + 1]; i++) sum += r[i];
            l->b[(int64_t)n * tiles->cells + c] = l->scale * sum;
        }
    }
}

static void from_cells(const rh_sph_levels *l, const float *x, float *z)
{
    const rh_tiles *tiles = l->layout.tiles;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < l->a.count; n++) {
        const uint32_t *first = tiles->first + (int64_t)l->layout.listed[n] * tiles->cells;
        for (int c = 0; c < tiles->cells; c++)
            for (uint32_t i = first[c]; i < first[c + 1]; i++)
                if (l->unknown[i]) z[i] += x[(int64_t)n * tiles->cells + c];
    }
}

static void add_coarse(const rh_sph_levels *l, const float *r, float *z)
{
    if (l->a.unknowns == 0) return;
    to_cells(l, r);
    rh_poisson_smooth_zero(&l->a, rh_multigrid_first_weight(), l->b, l->x);
    from_cells(l, rh_multigrid_cycle(&l->grid, l->b, l->x, l->y, NULL), z);
}

// z += weight D^-1 (r - A z)
static void smooth(const rh_sph_levels *l, const float *r, float *z)
{
    l->system.apply(l->system.user, z, l->left);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < l->system.size; i++) z[i] += JACOBI * l->inverse[i] * (r[i] - l->left[i]);
}

void rh_sph_levels_apply(void *user, const float *r, float *z)
{
    const rh_sph_levels *l = user;
    int64_t size = l->system.size;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < size; i++) z[i] = JACOBI * l->inverse[i] * r[i];
    l->system.apply(l->system.user, z, l->left);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < size; i++) l->left[i] = r[i] - l->left[i];
    add_coarse(l, l->left, z);
    smooth(l, r, z);
}
