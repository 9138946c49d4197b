// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Products go tile by tile: velocities of the tile and one cell around are copied into blocks, where a neighbour is a
// constant away, and rows of eight faces are computed at once. k is stored in such blocks, too; tiles deep inside
// liquid of one viscosity share theirs.
//
// D, the diagonal for smoothing, is the sum of the sizes of a row: with n unknowns in a stress k (e . u)^2, each of
// them gets n k. (e . u)^2 <= n sum (e u)^2 by Cauchy and Schwarz, so A <= D whatever the k are, at cut cells and where
// viscosity jumps by orders of magnitude; deep inside equality is reached. (The plain diagonal has a spectrum up to 3
// inside and 4 at boundaries: A. H. Baker, R. D. Falgout, T. V. Kolev, U. M. Yang, "Multigrid smoothers for
// ultraparallel computing", SIAM J. Sci. Comput. 33, 2011, have this one as l1-Jacobi.)
#include "solve/viscous.h"

#include <string.h>
#include "base/parallel.h"
#include "base/simd.h"

enum { SIDE = RH_TILE + 2, BLOCK = SIDE * SIDE * SIDE, CELLS = RH_TILE * RH_TILE * RH_TILE, SHORT = 8 };
static const int block_step[3] = {1, SIDE, SIDE *SIDE};

#define EACH_TILE _Pragma("omp parallel for schedule(static, 2) if (a->tiles.count > SHORT)")
#define INLINE static inline __attribute__((always_inline))

static inline bool has_stress(int dimension, int q) { return dimension == 3 || q < 2 || q == 3; }

rh_code rh_viscous_init(rh_viscous *a, int dimension, const rh_tile *keys, int64_t count, rh_arena *arena,
                        rh_status *status)
{
    *a = (rh_viscous){0};
    RH_TRY(rh_tiles_from_keys(&a->tiles, dimension, 1, keys, count, arena, status));
    a->lane = rh_tiles_values(&a->tiles);
    size_t values = (size_t)a->lane + 8;
    for (int q = 0; q < RH_STRESSES; q++) {
        if (!has_stress(dimension, q)) continue;
        a->stress[q] = rh_arena_take_zero(arena, values * sizeof(float), status);
        if (!a->stress[q]) return RH_MEMORY;
    }
    for (int d = 0; d < dimension; d++) {
        a->mass[d] = rh_arena_take_zero(arena, values * sizeof(float), status);
        a->inverse[d] = rh_arena_take_zero(arena, values * sizeof(float), status);
        a->kind[d] = rh_arena_take_zero(arena, values, status);
        if (!a->mass[d] || !a->inverse[d] || !a->kind[d]) return RH_MEMORY;
    }
    a->block = rh_arena_take(arena, ((size_t)a->tiles.count + 1) * sizeof *a->block, status);
    a->rows = rh_arena_take_zero(arena, ((size_t)a->tiles.count + 1) * sizeof *a->rows, status);
    return a->block && a->rows ? RH_OK : RH_MEMORY;
}

float *rh_viscous_vector(const rh_viscous *a, rh_arena *arena, rh_status *status)
{
    return rh_arena_take_zero(arena, ((size_t)rh_viscous_size(a) + 8) * sizeof(float), status);
}

// --- preparation -----------------------------------------------------------------------------------------------------
typedef uint8_t kinds[3][BLOCK];

static void load_kinds(const rh_viscous *a, int32_t t, kinds out)
{
    for (int d = 0; d < a->tiles.dimension; d++) rh_block_load_u8(&a->tiles, a->kind[d], t, 1, RH_FACE_AIR, out[d]);
}

// The faces of stress q at block index p: how many are of a kind.
static int count_faces(const kinds k, int q, int p, uint8_t kind)
{
    if (q < 3) return (k[q][p] == kind) + (k[q][p + block_step[q]] == kind);
    int a = q == 5, b = q == 3 ? 1 : 2;
    return (k[a][p] == kind) + (k[a][p - block_step[b]] == kind) + (k[b][p] == kind) +
           (k[b][p - block_step[a]] == kind);
}

static inline int index_in_block(const rh_tiles *tiles, int c)
{
    return rh_block_index(tiles, 1, c & 7, c >> 3 & 7, c >> 6);
}

// A stress between a face and air says nothing: it would hold the liquid to velocity 0.
static void drop_in_air(rh_viscous *a, int32_t t)
{
    kinds k;
    load_kinds(a, t, k);
    for (int q = 0; q < RH_STRESSES; q++) {
        if (!a->stress[q]) continue;
        float *stress = a->stress[q] + (int64_t)t * a->tiles.cells;
        for (int c = 0; c < a->tiles.cells; c++)
            if (stress[c] != 0 && count_faces(k, q, index_in_block(&a->tiles, c), RH_FACE_AIR)) stress[c] = 0;
    }
}

static int block_values(const rh_viscous *a) { return rh_block_values(&a->tiles, 1); }
static const float *block_of(const rh_viscous *a, int32_t t)
{
    return a->blocks + (int64_t)a->block[t] * RH_STRESSES * block_values(a);
}

static void fill_block(const rh_viscous *a, int32_t t, float *out)
{
    for (int q = 0; q < RH_STRESSES; q++)
        if (a->stress[q]) rh_block_load(&a->tiles, a->stress[q], t, 1, 0, out + q * block_values(a));
}

// All faces of a tile and around it are unknowns, all masses 1, and each kind of stress is the same everywhere: normal
// ones `normal`, the others half of it.
static bool is_alike(const rh_viscous *a, int32_t t, float normal)
{
    kinds k;
    float block[BLOCK];
    int count = block_values(a);
    load_kinds(a, t, k);
    for (int d = 0; d < a->tiles.dimension; d++) {
        const float *mass = a->mass[d] + (int64_t)t * a->tiles.cells;
        for (int i = 0; i < count; i++)
            if (k[d][i] != RH_FACE_UNKNOWN) return false;
        for (int c = 0; c < a->tiles.cells; c++)
            if (mass[c] != mass[0]) return false;
    }
    for (int q = 0; q < RH_STRESSES; q++) {
        if (!a->stress[q]) continue;
        rh_block_load(&a->tiles, a->stress[q], t, 1, 0, block);
        for (int i = 0; i < count; i++)
            if (block[i] != (q < 3 ? normal : 0.5f * normal)) return false;
    }
    return true;
}

// The row of face p of component d: sum over its stresses of k times the unknowns in it.
static float size_of_row(const rh_viscous *a, const float *block, const kinds k, int d, int p)
{
    int dimension = a->tiles.dimension, count = block_values(a);
    const float *normal = block + d * count;
    int low = p - block_step[d];
    float sum = normal[p] * (float)count_faces(k, d, p, RH_FACE_UNKNOWN) +
                normal[low] * (float)count_faces(k, d, low, RH_FACE_UNKNOWN);
    for (int b = 0; b < dimension; b++) {
        if (b == d) continue;
        int q = rh_shear_of(d, b), high = p + block_step[b];
        const float *shear = block + q * count;
        sum += shear[p] * (float)count_faces(k, q, p, RH_FACE_UNKNOWN) +
               shear[high] * (float)count_faces(k, q, high, RH_FACE_UNKNOWN);
    }
    return sum;
}

static int64_t find_inverse(const rh_viscous *a, int32_t t)
{
    kinds k;
    int64_t unknowns = 0;
    load_kinds(a, t, k);
    a->rows[t] = 0;
    for (int d = 0; d < a->tiles.dimension; d++)
        for (int c = 0; c < a->tiles.cells; c++) {
            int64_t at = (int64_t)t * a->tiles.cells + c;
            bool unknown = a->kind[d][at] == RH_FACE_UNKNOWN;
            float size = unknown ? a->mass[d][at] + size_of_row(a, block_of(a, t), k, d, index_in_block(&a->tiles, c))
                                 : 0;
            a->inverse[d][at] = size > 0 ? 1 / size : 0;
            unknowns += unknown;
            a->rows[t] |= (uint64_t)unknown << (c >> 3);
        }
    return unknowns;
}

// The normal stress that most tiles may share: that of the first tile whose values are alike.
static float common_stress(const rh_viscous *a)
{
    for (int32_t t = 0; t < a->tiles.count; t++) {
        float normal = a->stress[0][(int64_t)t * a->tiles.cells];
        if (normal > 0 && is_alike(a, t, normal)) return normal;
    }
    return -1;
}

rh_code rh_viscous_finish(rh_viscous *a, rh_arena *arena, rh_status *status)
{
    EACH_TILE
    for (int32_t t = 0; t < a->tiles.count; t++) drop_in_air(a, t);
    float common = common_stress(a);
    EACH_TILE
    for (int32_t t = 0; t < a->tiles.count; t++) a->block[t] = is_alike(a, t, common) ? RH_ALIKE : 1;
    int32_t blocks = 1, alike = -1;
    for (int32_t t = 0; t < a->tiles.count; t++) {
        if (a->block[t] == RH_ALIKE) alike = t;
        else a->block[t] = blocks++;
    }
    size_t size = (size_t)RH_STRESSES * (size_t)block_values(a);
    a->blocks = rh_arena_take_zero(arena, ((size_t)blocks * size + 8) * sizeof(float), status);
    if (!a->blocks) return RH_MEMORY;
    if (alike >= 0) fill_block(a, alike, a->blocks);
    EACH_TILE
    for (int32_t t = 0; t < a->tiles.count; t++)
        if (a->block[t] != RH_ALIKE) fill_block(a, t, a->blocks + (size_t)a->block[t] * size);
    int64_t unknowns = 0;
#pragma omp parallel for schedule(static, 2) reduction(+ : unknowns)
    for (int32_t t = 0; t < a->tiles.count; t++) unknowns += find_inverse(a, t);
    a->unknowns = unknowns;
    return RH_OK;
}

// --- products --------------------------------------------------------------------------------------------------------
// Stress q = (a, b) at eight edges from p on.
INLINE rh_f8 shear_at(const float *k, const float *ua, const float *ub, int step_a, int step_b, int p)
{
    return rh_f8_load(k + p) *
           ((rh_f8_load(ua + p) - rh_f8_load(ua + p - step_b)) + (rh_f8_load(ub + p) - rh_f8_load(ub + p - step_a)));
}

// D^T k D u of component d at eight faces from p on.
INLINE rh_f8 row_of(int dimension, int count, const float *k, const float u[3][BLOCK], int d, int p)
{
    const float *own = u[d], *normal = k + d * count;
    int step = block_step[d];
    rh_f8 here = rh_f8_load(own + p);
    rh_f8 sum = rh_f8_load(normal + p - step) * (here - rh_f8_load(own + p - step)) -
                rh_f8_load(normal + p) * (rh_f8_load(own + p + step) - here);
    for (int b = 0; b < dimension; b++) {
        if (b == d) continue;
        const float *shear = k + rh_shear_of(d, b) * count;
        sum += shear_at(shear, own, u[b], step, block_step[b], p) -
               shear_at(shear, own, u[b], step, block_step[b], p + block_step[b]);
    }
    return sum;
}

// rh_block_load with one cell around and 0 where there is no tile, row by row: a third of all time is spent here.
INLINE void load_block(const rh_viscous *a, int dimension, const float *field, int32_t t, float *block)
{
    static const float none[CELLS];
    const float *near[RH_NEAR];
    for (int n = 0; n < RH_NEAR; n++)
        near[n] = a->tiles.near[t][n] < 0 ? none : field + (int64_t)a->tiles.near[t][n] * a->tiles.cells;
    for (int k = dimension == 3 ? -1 : 0; k < (dimension == 3 ? RH_TILE + 1 : 1); k++)
        for (int j = -1; j <= RH_TILE; j++, block += SIDE) {
            int tile = RH_HERE + 3 * (j >> 3) + 9 * (k >> 3), row = 8 * (j & 7) + 64 * (k & 7);
            block[0] = near[tile - 1][row + 7];
            rh_f8_store(block + 1, rh_f8_load(near[tile] + row));
            block[SIDE - 1] = near[tile + 1][row];
        }
}

typedef enum job { APPLY, PULL, RESIDUAL, SMOOTH } job;

INLINE void run_tile(const rh_viscous *a, int dimension, job what, float weight, const float *b, float *const share[3],
                     const float *x, float *y, int32_t t)
{
    float u[3][BLOCK];
    const float *k = block_of(a, t);
    int count = dimension == 3 ? BLOCK : SIDE * SIDE;
    uint64_t rows = what != PULL ? a->rows[t] : dimension == 3 ? ~(uint64_t)0 : 255;
    if (!rows) return;
    for (int d = 0; d < dimension; d++) load_block(a, dimension, x + d * a->lane, t, u[d]);
    for (int d = 0; d < dimension; d++)
        for (uint64_t left = rows; left; left &= left - 1) {
            int r = __builtin_ctzll(left);
            int p = 1 + SIDE * ((r & 7) + 1 + (dimension == 3 ? SIDE * ((r >> 3) + 1) : 0));
            int64_t at = (int64_t)t * a->tiles.cells + 8 * r, v = d * a->lane + at;
            rh_f8 here = rh_f8_load(u[d] + p), inverse = rh_f8_load(a->inverse[d] + at);
            rh_f8 out = rh_f8_load(a->mass[d] + at) * here +
                        row_of(dimension, count, k, (const float(*)[BLOCK])u, d, p);
            if (what == RESIDUAL) out = (rh_f8_load(b + v) - out) * rh_f8_load(share[d] + at);
            if (what == SMOOTH) out = here + weight * inverse * (rh_f8_load(b + v) - out);
            if (what == APPLY) out = rh_f8_select(inverse > 0, out, rh_f8_all(0));
            rh_f8_store(y + v, out);
        }
}

INLINE void run(const rh_viscous *a, job what, float weight, const float *b, float *const share[3], const float *x,
                float *y)
{
    RH_ASSERT(x != y);
    EACH_TILE
    for (int32_t t = 0; t < a->tiles.count; t++)
        if (a->tiles.dimension == 3) run_tile(a, 3, what, weight, b, share, x, y, t);
        else run_tile(a, 2, what, weight, b, share, x, y, t);
}

void rh_viscous_apply(const rh_viscous *a, const float *x, float *y) { run(a, APPLY, 0, NULL, NULL, x, y); }
void rh_viscous_pull(const rh_viscous *a, const float *x, float *y) { run(a, PULL, 0, NULL, NULL, x, y); }
void rh_viscous_residual(const rh_viscous *a, const float *b, const float *x, float *const share[3], float *r)
{
    run(a, RESIDUAL, 0, b, share, x, r);
}
void rh_viscous_smooth(const rh_viscous *a, float weight, const float *b, const float *x, float *y)
{
    run(a, SMOOTH, weight, b, NULL, x, y);
}

void rh_viscous_smooth_zero(const rh_viscous *a, float weight, const float *b, float *x)
{
    for (int d = 0; d < a->tiles.dimension; d++) {
        const float *inverse = a->inverse[d], *from = b + d * a->lane;
        float *to = x + d * a->lane;
#pragma omp parallel for schedule(static) if (a->tiles.count > SHORT)
        for (int64_t c = 0; c < a->lane; c++) to[c] = weight * inverse[c] * from[c];
    }
}

double rh_viscous_dissipation(const rh_viscous *a, const float *x, rh_arena *arena, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    int64_t size = rh_viscous_size(a);
    float *y = rh_viscous_vector(a, arena, status);
    double *sums = rh_arena_take(arena, ((size_t)rh_blocks(size) + 1) * sizeof *sums, status);
    if (!y || !sums) return 0;
    rh_viscous_pull(a, x, y);
    for (int d = 0; d < a->tiles.dimension; d++)
        for (int64_t c = 0; c < a->lane; c++) y[d * a->lane + c] -= a->mass[d][c] * x[d * a->lane + c];
    double sum = rh_krylov_dot(size, x, y, sums);
    rh_arena_restore(arena, mark);
    return sum;
}
