// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A coarse cell is a block of 2 x 2 x 2 cells. Coarse faces lie on fine ones.
//   prolongation   linear: along the face's own axis between coarse faces, across it with weights 3/4 and 1/4. Coarse
//                  faces in the air have no value: what a fine face gets is divided by the weights of the others. So
//                  translations come out exactly everywhere, and rotations inside: what viscosity leaves alone
//   restriction    its transpose
//   masses, k      With this prolongation P strains on the fine grid are interpolated ones of the coarse grid,
//                  D P = Q D_coarse, with weights that sum to 1/2: between neighbours along the axes of a shear, none
//                  along the axis of a normal strain, 3/4 and 1/4 across. So P^T D^T k D P <= D_coarse^T K D_coarse
//                  with K = the sums of k by these weights, halved, whatever the k are (the square of a mean is at most
//                  the mean of squares): a correction is never too large, at jumps of viscosity and at the surface.
//                  The operator keeps its form. (With means over the volumes of coarse stresses, a stress outside such
//                  a volume but within reach of P was not counted: 100 to 300 iterations where liquids of 1 and 10^6
//                  met obliquely, for 10 to 40 now.) Masses alike
//   walls          stresses between an unknown and a wall become masses of the coarse level, as they are k u^2
// Smoother: Chebyshev polynomials of D^-1 A, whose spectrum is in (0, 1] (viscous.h). The eigenvalues of the continuous
// operator mu (|k|^2 + k k^T) differ by two only: without incompressibility components may be smoothed one by one, and
// what M. Aanjaneya, C. Han, R. Goldade, C. Batty ("An efficient geometric multigrid solver for viscous liquids", Proc.
// ACM Comput. Graph. Interact. Tech. 2(2), 2019) do with boxes of faces at boundaries, the sharper D does here.
#include "solve/viscous_multigrid.h"

#include <math.h>
#include <string.h>
#include "base/simd.h"
#include "solve/halves.h"

enum { SIDE = RH_TILE + 2, BLOCK = SIDE * SIDE * SIDE, SHORT = 8 };
enum { MARGIN = 2 };  // coarse cells
enum { FINE_DEGREE = 3, COARSE_DEGREE = 8, COARSEST_ROUNDS = 4 };
static const double LOWEST = 0.12, COARSEST_LOWEST = 0.03;

#define EACH_TILE _Pragma("omp parallel for schedule(static, 2) if (tiles->count > SHORT)")

// First cell of a child's half-size image in its parent.
static int corner_of(const rh_tiles *tiles, int32_t child)
{
    rh_tile at = tiles->at[child];
    return 4 * (at.x & 1) + 32 * (at.y & 1) + (tiles->dimension == 3 ? 256 * (at.z & 1) : 0);
}

// A fine field into the halves of coarse tiles: rules[axis]. `wanted`: tiles for which that is done; NULL = all.
static void shrink_field(const rh_viscous_level *fine, const float *field, const rh_halving rules[3], float scale,
                         const uint8_t *wanted, float *coarse)
{
    const rh_tiles *tiles = &fine->a.tiles;
    EACH_TILE
    for (int32_t t = 0; t < tiles->count; t++) {
        float half[RH_HALF * RH_HALF * RH_HALF];
        float *out = coarse + (int64_t)fine->parent[t] * tiles->cells + corner_of(tiles, t);
        if (wanted && !wanted[t]) continue;
        rh_halves_shrink(tiles, field, t, rules, half);
        for (int row = 0; row < RH_HALF * (tiles->dimension == 3 ? RH_HALF : 1); row++)
            rh_f4_store(out + 8 * (row & 3) + 64 * (row >> 2), scale * rh_f4_load(half + 4 * row));
    }
}

static void rules_of(int component, rh_halving across, rh_halving rules[3])
{
    for (int axis = 0; axis < 3; axis++) rules[axis] = axis == component ? RH_HALVE_POINTS : across;
}

// --- coarse operators ------------------------------------------------------------------------------------------------
// `stress` (may be the level's own) gets the stresses that are between unknowns only.
static void part_walls(const rh_viscous_level *fine, float *const stress[RH_STRESSES])
{
    static const int step[3] = {1, SIDE, SIDE * SIDE};
    const rh_viscous *a = &fine->a;
    const rh_tiles *tiles = &a->tiles;
    for (int q = 0; q < RH_STRESSES; q++)
        if (a->stress[q] && stress[q] != a->stress[q]) memcpy(stress[q], a->stress[q], (size_t)a->lane * sizeof(float));
    EACH_TILE
    for (int32_t t = 0; t < tiles->count; t++) {
        uint8_t kind[3][BLOCK];
        for (int d = 0; d < tiles->dimension; d++) rh_block_load_u8(tiles, a->kind[d], t, 1, RH_FACE_AIR, kind[d]);
        for (int q = 0; q < RH_STRESSES; q++)
            for (int c = 0; c < tiles->cells && stress[q]; c++) {
                int p = rh_block_index(tiles, 1, c & 7, c >> 3 & 7, c >> 6), u = q == 5, v = q == 3 ? 1 : 2;
                bool wall = q < 3 ? kind[q][p] == RH_FACE_WALL || kind[q][p + step[q]] == RH_FACE_WALL
                                  : kind[u][p] == RH_FACE_WALL || kind[u][p - step[v]] == RH_FACE_WALL ||
                                        kind[v][p] == RH_FACE_WALL || kind[v][p - step[u]] == RH_FACE_WALL;
                if (wall) stress[q][(int64_t)t * tiles->cells + c] = 0;
            }
    }
}

// What walls hold each unknown with: all its stresses but those between unknowns.
static void find_hold(const rh_viscous_level *fine, float *const stress[RH_STRESSES])
{
    static const int step[3] = {1, SIDE, SIDE * SIDE};
    const rh_viscous *a = &fine->a;
    const rh_tiles *tiles = &a->tiles;
    EACH_TILE
    for (int32_t t = 0; t < tiles->count; t++) {
        if (a->block[t] == RH_ALIKE) continue;
        float all[BLOCK], between[BLOCK];
        for (int q = 0; q < RH_STRESSES; q++) {
            if (!stress[q]) continue;
            rh_block_load(tiles, a->stress[q], t, 1, 0, all);
            rh_block_load(tiles, stress[q], t, 1, 0, between);
            for (int d = 0; d < tiles->dimension; d++) {
                bool part = q < 3 ? d == q : q == 3 ? d < 2 : q == 4 ? d != 1 : d > 0;
                if (!part) continue;
                int other = q == 3 ? 1 - d : q == 4 ? 2 - d : 3 - d, next = q < 3 ? -step[d] : step[other];
                for (int c = 0; c < tiles->cells; c++) {
                    int p = rh_block_index(tiles, 1, c & 7, c >> 3 & 7, c >> 6);
                    int64_t at = (int64_t)t * tiles->cells + c;
                    if (a->kind[d][at] == RH_FACE_UNKNOWN)
                        fine->hold[d][at] += all[p] - between[p] + all[p + next] - between[p + next];
                }
            }
        }
    }
}

// A coarse face is an unknown when a fine face that it gives a value to is one, else a wall when one is a wall.
static uint8_t kind_of(const rh_tiles *tiles, const uint8_t *kind, int d, const int at[3])
{
    uint8_t found = RH_FACE_AIR;
    int low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        bool flat = axis == 2 && tiles->dimension == 2;
        low[axis] = flat ? 0 : at[axis] - 1;
        high[axis] = flat ? 0 : at[axis] + (axis == d ? 1 : 2);
    }
    for (int k = low[2]; k <= high[2]; k++)
        for (int j = low[1]; j <= high[1]; j++)
            for (int i = low[0]; i <= high[0]; i++) {
                uint8_t one = kind[rh_block_index(tiles, 1, i, j, k)];
                if (one == RH_FACE_UNKNOWN) return one;
                if (one == RH_FACE_WALL) found = one;
            }
    return found;
}

static void find_kinds(const rh_viscous_level *fine, rh_viscous *coarse)
{
    const rh_tiles *tiles = &fine->a.tiles;
    EACH_TILE
    for (int32_t t = 0; t < tiles->count; t++)
        for (int d = 0; d < tiles->dimension; d++) {
            uint8_t kind[BLOCK];
            rh_block_load_u8(tiles, fine->a.kind[d], t, 1, RH_FACE_AIR, kind);
            uint8_t *out = coarse->kind[d] + (int64_t)fine->parent[t] * tiles->cells + corner_of(tiles, t);
            for (int k = 0; k < (tiles->dimension == 3 ? RH_TILE / 2 : 1); k++)
                for (int j = 0; j < RH_TILE / 2; j++)
                    for (int i = 0; i < RH_TILE / 2; i++)
                        out[i + 8 * j + 64 * k] = kind_of(tiles, kind, d, (int[3]){2 * i, 2 * j, 2 * k});
        }
}

static rh_code take_level(rh_viscous_level *level, rh_arena *arena, rh_status *status)
{
    const rh_viscous *a = &level->a;
    size_t bytes = ((size_t)a->lane + 8) * sizeof(float);
    for (int d = 0; d < a->tiles.dimension; d++) {
        level->share[d] = rh_arena_take_zero(arena, bytes, status);
        level->hold[d] = rh_arena_take_zero(arena, bytes, status);
        if (!level->share[d] || !level->hold[d]) return RH_MEMORY;
    }
    level->x = rh_viscous_vector(a, arena, status);
    level->y = rh_viscous_vector(a, arena, status);
    return level->x && level->y ? RH_OK : RH_MEMORY;
}

static rh_tile parent_of(rh_tile at) { return (rh_tile){at.x >> 1, at.y >> 1, at.z >> 1}; }

// Tiles of the coarser level: parents, and tiles within two coarse cells of unknowns, for the faces beyond the surface
// that the level after it needs. Returns their number, some named often; keys may be NULL.
static int64_t list_parents(const rh_viscous_level *fine, rh_tile *keys)
{
    const rh_tiles *tiles = &fine->a.tiles;
    int64_t count = 0;
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_tile at = tiles->at[t];
        int first[3] = {8 * at.x, 8 * at.y, 8 * at.z}, low[3] = {8, 8, 8}, high[3] = {-1, -1, -1};
        for (int c = 0; c < tiles->cells; c++) {
            int cell[3] = {c & 7, c >> 3 & 7, c >> 6};
            bool any = false;
            for (int d = 0; d < tiles->dimension; d++)
                any = any || fine->a.kind[d][(int64_t)t * tiles->cells + c] == RH_FACE_UNKNOWN;
            for (int d = 0; d < 3 && any; d++) {
                low[d] = cell[d] < low[d] ? cell[d] : low[d];
                high[d] = cell[d] > high[d] ? cell[d] : high[d];
            }
        }
        if (keys) keys[count] = parent_of(at);
        count++;
        for (int d = 0; d < 3; d++) {
            low[d] = (((first[d] + low[d]) >> 1) - MARGIN) >> 3;
            high[d] = high[d] < 0 ? low[d] - 1 : (((first[d] + high[d]) >> 1) + MARGIN) >> 3;
            if (d == 2 && tiles->dimension == 2) high[d] = high[d] < low[d] ? -1 : 0, low[d] = 0;
        }
        for (int z = low[2]; z <= high[2]; z++)
            for (int y = low[1]; y <= high[1]; y++)
                for (int x = low[0]; x <= high[0]; x++, count++)
                    if (keys) keys[count] = (rh_tile){x, y, z};
    }
    return count;
}

static rh_code place_parents(rh_viscous_level *fine, rh_viscous_level *coarse, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = &fine->a.tiles;
    fine->parent = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof(int32_t), status);
    fine->feeds = rh_arena_take(arena, (size_t)tiles->count + 1, status);
    if (!fine->parent || !fine->feeds) return RH_MEMORY;
    int64_t count = list_parents(fine, NULL);
    rh_tile *keys = rh_arena_take(arena, ((size_t)count + 1) * sizeof *keys, status);
    if (!keys) return RH_MEMORY;
    list_parents(fine, keys);
    RH_TRY(rh_viscous_init(&coarse->a, tiles->dimension, keys, count, arena, status));
    for (int32_t t = 0; t < tiles->count; t++)
        fine->parent[t] = rh_tiles_find(&coarse->a.tiles, parent_of(tiles->at[t]));
    RH_TRY(take_level(coarse, arena, status));
    coarse->b = rh_viscous_vector(&coarse->a, arena, status);
    return coarse->b ? RH_OK : RH_MEMORY;
}

static rh_code take_stresses(const rh_viscous *a, float *stress[RH_STRESSES], rh_arena *arena, rh_status *status)
{
    for (int q = 0; q < RH_STRESSES; q++) {
        stress[q] = NULL;
        if (!a->stress[q]) continue;
        stress[q] = rh_arena_take(arena, ((size_t)a->lane + 8) * sizeof(float), status);
        if (!stress[q]) return RH_MEMORY;
    }
    return RH_OK;
}

static void fill_coarse(const rh_viscous_level *fine, float *const stress[RH_STRESSES], rh_viscous_level *coarse)
{
    const rh_tiles *tiles = &coarse->a.tiles;
    rh_halving rules[3];
    for (int d = 0; d < tiles->dimension; d++) {
        rules_of(d, RH_HALVE_SPREAD, rules);
        for (int64_t c = 0; c < fine->a.lane; c++) fine->x[c] = fine->a.mass[d][c] + fine->hold[d][c];
        shrink_field(fine, fine->x, rules, 1, NULL, coarse->a.mass[d]);
    }
    for (int q = 0; q < RH_STRESSES; q++) {
        if (!stress[q]) continue;
        for (int axis = 0; axis < 3; axis++) {
            bool edge = q == 3 ? axis < 2 : q == 4 ? axis != 1 : axis > 0;
            rules[axis] = q >= 3 && edge ? RH_HALVE_POINTS : q == axis ? RH_HALVE_MIDDLES : RH_HALVE_SPREAD;
        }
        shrink_field(fine, stress[q], rules, 0.25f, NULL, coarse->a.stress[q]);
    }
    find_kinds(fine, &coarse->a);
}

static void clear_masses(const rh_viscous *a)
{
    for (int d = 0; d < a->tiles.dimension; d++)
        for (int64_t c = 0; c < a->lane; c++)
            if (a->kind[d][c] != RH_FACE_UNKNOWN) a->mass[d][c] = 0;
}

static void prolong(const rh_viscous_level *fine, const rh_viscous_level *coarse, const float *from, bool add,
                    float *to);

// Shares of faces: 1 / (weights of coarse faces that have a value). Walls have one: 0.
static void find_shares(const rh_viscous_level *fine, const rh_viscous_level *coarse, float *scratch)
{
    const rh_viscous *a = &fine->a;
    for (int d = 0; d < a->tiles.dimension; d++) {
        for (int64_t c = 0; c < coarse->a.lane; c++)
            scratch[d * coarse->a.lane + c] = coarse->a.kind[d][c] == RH_FACE_AIR ? 0 : 1;
        for (int64_t c = 0; c < a->lane; c++) fine->share[d][c] = a->kind[d][c] == RH_FACE_UNKNOWN;
    }
    prolong(fine, coarse, scratch, false, fine->x);
    for (int d = 0; d < a->tiles.dimension; d++)
        for (int64_t c = 0; c < a->lane; c++) {
            float sum = fine->x[d * a->lane + c];
            fine->share[d][c] = sum > 0.05f ? 1 / sum : 0;
        }
}

// Faces without stress are in the air.
static void leave_out(const rh_viscous *a)
{
    static const int step[3] = {1, SIDE, SIDE * SIDE};
    const rh_tiles *tiles = &a->tiles;
    EACH_TILE
    for (int32_t t = 0; t < tiles->count; t++) {
        float k[RH_STRESSES][BLOCK];
        for (int q = 0; q < RH_STRESSES; q++)
            if (a->stress[q]) rh_block_load(tiles, a->stress[q], t, 1, 0, k[q]);
        for (int d = 0; d < tiles->dimension; d++)
            for (int c = 0; c < tiles->cells; c++) {
                uint8_t *kind = &a->kind[d][(int64_t)t * tiles->cells + c];
                int p = rh_block_index(tiles, 1, c & 7, c >> 3 & 7, c >> 6);
                bool any = k[d][p] > 0 || k[d][p - step[d]] > 0;
                for (int b = 0; b < tiles->dimension; b++)
                    if (b != d) any = any || k[rh_shear_of(d, b)][p] > 0 || k[rh_shear_of(d, b)][p + step[b]] > 0;
                if (*kind == RH_FACE_UNKNOWN && !any) *kind = RH_FACE_AIR;
            }
    }
}

// Fine tiles in whose place there are coarse unknowns.
static void find_feeding(const rh_viscous_level *fine, const rh_viscous_level *coarse)
{
    const rh_tiles *tiles = &fine->a.tiles;
    for (int32_t t = 0; t < tiles->count; t++) {
        int64_t first = (int64_t)fine->parent[t] * tiles->cells + corner_of(tiles, t);
        fine->feeds[t] = 0;
        for (int d = 0; d < tiles->dimension; d++)
            for (int k = 0; k < (tiles->dimension == 3 ? 4 : 1); k++)
                for (int j = 0; j < 4; j++)
                    for (int i = 0; i < 4; i++)
                        fine->feeds[t] |= coarse->a.kind[d][first + i + 8 * j + 64 * k] == RH_FACE_UNKNOWN;
    }
}

static rh_code coarsen(rh_viscous_level *fine, rh_viscous_level *coarse, rh_arena *arena, rh_status *status)
{
    *coarse = (rh_viscous_level){0};
    RH_TRY(place_parents(fine, coarse, arena, status));
    rh_arena_mark mark = rh_arena_save(arena);
    float *stress[RH_STRESSES];
    RH_TRY(take_stresses(&fine->a, stress, arena, status));
    part_walls(fine, stress);
    find_hold(fine, stress);
    fill_coarse(fine, stress, coarse);
    rh_arena_restore(arena, mark);
    leave_out(&coarse->a);
    find_feeding(fine, coarse);
    find_shares(fine, coarse, coarse->x);
    clear_masses(&coarse->a);
    return rh_viscous_finish(&coarse->a, arena, status);
}

rh_code rh_viscous_multigrid_create(rh_viscous_multigrid *m, const rh_viscous *a, rh_arena *arena, rh_status *status)
{
    m->count = 1;
    m->levels[0] = (rh_viscous_level){.a = *a};
    RH_TRY(take_level(&m->levels[0], arena, status));
    // Tiles at the origin never merge: what is left there stays about as large.
    int64_t few = a->tiles.dimension == 3 ? 150 : 24, last = INT64_MAX;
    while (m->count < RH_VISCOUS_LEVELS && m->levels[m->count - 1].a.unknowns > few &&
           m->levels[m->count - 1].a.unknowns < last / 4 * 3) {
        last = m->levels[m->count - 1].a.unknowns;
        RH_TRY(coarsen(&m->levels[m->count - 1], &m->levels[m->count], arena, status));
        m->count++;
    }
    return RH_OK;
}

// --- the cycle -------------------------------------------------------------------------------------------------------
// Fine faces get, times their share, what coarse ones around them have.
static void prolong(const rh_viscous_level *fine, const rh_viscous_level *coarse, const float *from, bool add,
                    float *to)
{
    const rh_tiles *tiles = &fine->a.tiles;
    EACH_TILE
    for (int32_t t = 0; t < tiles->count; t++)
        for (int d = 0; d < tiles->dimension && fine->a.rows[t]; d++) {
            float grown[RH_TILE * RH_TILE * RH_TILE];
            rh_halves_grow(&coarse->a.tiles, from + d * coarse->a.lane, fine->parent[t], tiles->at[t], d, grown);
            const float *share = fine->share[d] + (int64_t)t * tiles->cells;
            float *out = to + d * fine->a.lane + (int64_t)t * tiles->cells;
            for (int c = 0; c < tiles->cells; c += 8) {
                rh_f8 change = rh_f8_load(share + c) * rh_f8_load(grown + c);
                rh_f8_store(out + c, add ? rh_f8_load(out + c) + change : change);
            }
        }
}

// The transpose, of residuals times shares.
static void restrict_residual(const rh_viscous_level *fine, const rh_viscous_level *coarse, const float *r)
{
    for (int d = 0; d < fine->a.tiles.dimension; d++) {
        rh_halving rules[3];
        rules_of(d, RH_HALVE_SPREAD, rules);
        shrink_field(fine, r + d * fine->a.lane, rules, 1, fine->feeds, coarse->b + d * coarse->a.lane);
    }
}

static float weight_of(int step, int steps, double lowest)
{
    double middle = 0.5 * (1 + lowest), reach = 0.5 * (1 - lowest);
    return (float)(1 / (middle + reach * cos(3.14159265358979323846 * (step + 0.5) / steps)));
}

// Steps `from` to `degree` - 1 of the polynomial; returns the vector that holds the result, x or y.
static float *smooth(const rh_viscous *a, int from, int degree, double lowest, const float *b, float *x, float *y)
{
    for (int s = from; s < degree; s++) {
        rh_viscous_smooth(a, weight_of(s, degree, lowest), b, x, y);
        float *swap = x;
        x = y;
        y = swap;
    }
    return x;
}

static float *cycle(const rh_viscous_multigrid *m, int l, const float *b)
{
    const rh_viscous_level *level = &m->levels[l], *next = level + 1;
    const rh_viscous *a = &level->a;
    bool coarsest = l == m->count - 1;
    int degree = l == 0 ? FINE_DEGREE : COARSE_DEGREE;
    double lowest = coarsest && l > 0 ? COARSEST_LOWEST : LOWEST;
    rh_viscous_smooth_zero(a, weight_of(0, degree, lowest), b, level->x);
    float *z = smooth(a, 1, degree, lowest, b, level->x, level->y);
    if (coarsest) {
        for (int n = 1; n < COARSEST_ROUNDS; n++)
            z = smooth(a, 0, degree, lowest, b, z, z == level->x ? level->y : level->x);
        return z;
    }
    float *other = z == level->x ? level->y : level->x;
    rh_viscous_residual(a, b, z, level->share, other);
    restrict_residual(level, next, other);
    prolong(level, next, cycle(m, l + 1, next->b), true, z);
    return smooth(a, 0, degree, lowest, b, z, other);
}

void rh_viscous_multigrid_cycle(const rh_viscous_multigrid *m, const float *r, float *z)
{
    const float *found = cycle(m, 0, r);
    memcpy(z, found, (size_t)rh_viscous_size(&m->levels[0].a) * sizeof *z);
}
