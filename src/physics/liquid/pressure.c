// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// FLIP-5, FLIP-6. Free surface: ghost fluid, p = 0 at the place where the surface cuts the edge between a liquid and an
// air cell (F. Gibou, R. Fedkiw, L. Cheng, M. Kang, J. Comput. Phys. 176, 2002; D. Enright et al. 2003). Solids: each
// face counts with its open share, the rest of it moves with the wall (Ng, Min, Gibou 2009).
//
//   sum_faces open (q_c - q_n) / theta = - sum_faces n (open u + (1 - open) u_wall)
//
// theta = 1 between liquid cells, the fraction of the way to the surface towards air.
//
// Separating walls: 0 <= p  _|_  div u >= 0 in cells at such walls (Batty, Bertails, Bridson 2007 as a complementarity
// problem), solved by a primal-dual active set: cells with p < 0 let go (p = 0), cells that let go but would be
// squeezed are taken back, until nothing changes (M. Hintermueller, K. Ito, K. Kunisch, SIAM J. Optim. 13, 2003).
#include "physics/liquid/pressure.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"

enum { SIDE = RH_TILE + 2, SMALL = SIDE * SIDE * SIDE, MAX_ROUNDS = 12 };
// Cells: the surface never counts as closer than this to a liquid cell's centre, which bounds the operator. It is the distance that
// is bounded, not each fraction: with fractions bounded alone, a cell whose centre lay in the surface kept a pressure that
// its almost level neighbours divided by far smaller fractions, and resting water trembled.
static const float NEAREST = 0.01f;

enum { AIR = 0, LIQUID = 1 };

// Liquid for the solve: inside the surface and not let go.
static void mark_liquid(const rh_pressure *p, uint8_t *liquid)
{
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < p->tiles->count; t++)
        for (int64_t c = (int64_t)t * p->tiles->cells; c < (int64_t)(t + 1) * p->tiles->cells; c++)
            liquid[c] = p->surface->phi[c] < 0 && !(p->released && p->released[c]) ? LIQUID : AIR;
}

// Way from a liquid cell to the surface towards a neighbour without pressure, in cells. A neighbour inside the liquid
// has let go of a wall: its pressure is zero at its centre.
static inline float theta(float phi, float phi_other, float h)
{
    if (phi_other < 0) return 1;
    float inside = rh_max_of(-phi, NEAREST * h);
    return inside / (inside + phi_other);
}

static const int step_of[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static void assemble_tile(rh_pressure *p, const uint8_t *liquid, int32_t t)
{
    const rh_tiles *tiles = p->tiles;
    uint8_t kind[SMALL];
    float open[3][SMALL], phi[SMALL];
    rh_block_load_u8(tiles, liquid, t, 1, AIR, kind);
    rh_block_load(tiles, p->surface->phi, t, 1, 1, phi);
    for (int a = 0; a < tiles->dimension; a++) rh_block_load(tiles, p->cut->open.axis[a], t, 1, 0, open[a]);
    for (int k = 0; k < tiles->layers; k++)
        for (int j = 0; j < RH_TILE; j++)
            for (int i = 0; i < RH_TILE; i++) {
                int64_t c = (int64_t)t * tiles->cells + i + RH_TILE * (j + RH_TILE * k);
                int b = rh_block_index(tiles, 1, i, j, k);
                float diagonal = 0;
                for (int a = 0; a < tiles->dimension; a++) {
                    const int *s = step_of[a];
                    int low = rh_block_index(tiles, 1, i - s[0], j - s[1], k - s[2]);
                    int high = rh_block_index(tiles, 1, i + s[0], j + s[1], k + s[2]);
                    p->matrix.link.axis[a][c] = kind[b] && kind[low] ? open[a][b] : 0;
                    diagonal += kind[low] ? open[a][b] : open[a][b] / theta(phi[b], phi[low], tiles->h);
                    diagonal += kind[high] ? open[a][high] : open[a][high] / theta(phi[b], phi[high], tiles->h);
                }
                p->matrix.diagonal[c] = kind[b] ? diagonal : 0;
            }
}

// --- components without air ---------------------------------------------------------------------------------------
static int32_t root_of(int32_t *parent, int32_t c)
{
    while (parent[c] != c) c = parent[c] = parent[parent[c]];
    return c;
}

static void join(int32_t *parent, int32_t a, int32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b) parent[b] = a;
    else parent[a] = b;
}

// A cell touches air when its diagonal exceeds the sum of its links.
static void mark_sealed(rh_pressure *p)
{
    const rh_tiles *tiles = p->tiles;
    int32_t *parent = p->component;
    const rh_poisson *m = &p->matrix;
    for (int32_t n = 0; n < m->count; n++)
        for (int c = 0; c < tiles->cells; c++) {
            int32_t at = m->list[n] * tiles->cells + c;
            parent[at] = at;
        }
    for (int32_t n = 0; n < m->count; n++) {
        int32_t t = m->list[n];
        for (int c = 0; c < tiles->cells; c++) {
            int32_t at = t * tiles->cells + c;
            if (m->diagonal[at] <= 0) continue;
            for (int a = 0; a < tiles->dimension; a++) {
                if (m->link.axis[a][at] <= 0) continue;
                int i = c & 7, j = c >> 3 & 7, k = c >> 6, edge = a == 0 ? i : a == 1 ? j : k, step = a == 0 ? 1 : a == 1 ? 8 : 64;
                int32_t other = edge ? at - step : tiles->near[t][RH_HERE - (a == 0 ? 1 : a == 1 ? 3 : 9)] * tiles->cells + c + 7 * step;
                join(parent, at, other);
            }
        }
    }
    memset(p->sealed, 1, (size_t)rh_tiles_values(tiles));
    for (int32_t n = 0; n < m->count; n++)
        for (int c = 0; c < tiles->cells; c++) {
            int32_t at = m->list[n] * tiles->cells + c;
            if (m->diagonal[at] > 0) parent[at] = root_of(parent, at);
        }
    // Touching air shows as a Dirichlet part of the diagonal; the flag was left in q by find_air.
    p->any_sealed = false;
    for (int32_t n = 0; n < m->count; n++)
        for (int c = 0; c < tiles->cells; c++) {
            int32_t at = m->list[n] * tiles->cells + c;
            if (m->diagonal[at] > 0 && p->q[at] != 0) p->sealed[parent[at]] = 0;
        }
    for (int32_t n = 0; n < m->count && !p->any_sealed; n++)
        for (int c = 0; c < tiles->cells; c++) {
            int32_t at = m->list[n] * tiles->cells + c;
            if (m->diagonal[at] > 0 && p->sealed[parent[at]]) p->any_sealed = true;
        }
}

// q = 1 in unknowns with an open face towards air, 0 elsewhere: diagonal minus links, computed by A applied to ones.
static void find_air(rh_pressure *p, float *ones)
{
    const rh_poisson *m = &p->matrix;
    int cells = p->tiles->cells;
    for (int32_t n = 0; n < m->count; n++)
        for (int64_t c = (int64_t)m->list[n] * cells; c < (int64_t)(m->list[n] + 1) * cells; c++) ones[c] = m->diagonal[c] > 0;
    rh_poisson_apply(m, ones, p->q);
    for (int32_t n = 0; n < m->count; n++)
        for (int64_t c = (int64_t)m->list[n] * cells; c < (int64_t)(m->list[n] + 1) * cells; c++)
            p->q[c] = p->q[c] > 1e-5f * m->diagonal[c];
}

// Lists the unknowns of sealed components. Components are numbered in the order of their smallest cell.
static rh_code list_sealed(rh_pressure *p, rh_arena *arena, rh_status *status)
{
    const rh_poisson *m = &p->matrix;
    int cells = p->tiles->cells;
    p->sealed_count = p->group_count = 0;
    p->scratch = NULL;
    if (!p->any_sealed) return RH_OK;
    size_t values = (size_t)rh_tiles_values(p->tiles);
    int32_t *number = rh_arena_take(arena, values * sizeof *number, status);
    p->sealed_cells = rh_arena_take(arena, values * sizeof(int32_t), status);
    p->sealed_groups = rh_arena_take(arena, values * sizeof(int32_t), status);
    p->scratch = rh_arena_take_zero(arena, values * sizeof(float), status);
    if (!number || !p->sealed_cells || !p->sealed_groups || !p->scratch) return RH_MEMORY;
    for (int pass = 0; pass < 2; pass++)  // roots first
        for (int32_t n = 0; n < m->count; n++)
            for (int32_t c = m->list[n] * cells; c < (m->list[n] + 1) * cells; c++) {
                if (m->diagonal[c] <= 0 || !p->sealed[p->component[c]]) continue;
                if (pass == 0 && p->component[c] == c) number[c] = p->group_count++;
                if (pass == 0) continue;
                p->sealed_cells[p->sealed_count] = c;
                p->sealed_groups[p->sealed_count++] = number[p->component[c]];
            }
    p->group_sums = rh_arena_take(arena, (size_t)p->group_count * sizeof(double), status);
    p->group_sizes = rh_arena_take_zero(arena, (size_t)p->group_count * sizeof(int32_t), status);
    if (!p->group_sums || !p->group_sizes) return RH_MEMORY;
    for (int32_t i = 0; i < p->sealed_count; i++) p->group_sizes[p->sealed_groups[i]]++;
    return RH_OK;
}

// Removes from b its mean over each sealed component, in fixed order.
static void balance(const rh_pressure *p, float *b)
{
    for (int32_t g = 0; g < p->group_count; g++) p->group_sums[g] = 0;
    for (int32_t i = 0; i < p->sealed_count; i++) p->group_sums[p->sealed_groups[i]] += (double)b[p->sealed_cells[i]];
    for (int32_t i = 0; i < p->sealed_count; i++)
        b[p->sealed_cells[i]] -= (float)(p->group_sums[p->sealed_groups[i]] / p->group_sizes[p->sealed_groups[i]]);
}

// In a sealed component the operator has constants as its null space. What rounding puts there, no iteration can take away again,
// and it grows until the solve diverges (a turned box of 80 x 80 cells did, below a residual of 1e-5): keep both sides of the
// preconditioner free of it.
static void apply_balanced(const void *self, const float *r, float *z)
{
    const rh_pressure *p = self;
    const rh_poisson *m = &p->matrix;
    int cells = p->tiles->cells;
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < m->count; n++)
        memcpy(p->scratch + (int64_t)m->list[n] * cells, r + (int64_t)m->list[n] * cells, (size_t)cells * sizeof(float));
    balance(p, p->scratch);
    rh_preconditioner mic = rh_tile_mic_preconditioner(&p->mic);
    mic.apply(mic.self, p->scratch, z);
    balance(p, z);
}

// --- prepare and solve --------------------------------------------------------------------------------------------
static rh_code assemble(rh_pressure *p, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = p->tiles;
    rh_arena_mark mark = rh_arena_save(arena);
    uint8_t *liquid = rh_arena_take(arena, (size_t)rh_tiles_values(tiles), status);
    if (!liquid) return RH_MEMORY;
    mark_liquid(p, liquid);
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) assemble_tile(p, liquid, t);
    rh_arena_restore(arena, mark);
    RH_TRY(rh_poisson_finish(&p->matrix, arena, status));
    memset(p->q, 0, (size_t)rh_tiles_values(tiles) * sizeof(float));
    mark = rh_arena_save(arena);
    float *ones = rh_arena_take_zero(arena, (size_t)rh_tiles_values(tiles) * sizeof(float), status);
    if (!ones) return RH_MEMORY;
    find_air(p, ones);
    mark_sealed(p);
    rh_arena_restore(arena, mark);
    RH_TRY(list_sealed(p, arena, status));
    return rh_tile_mic_create(&p->mic, &p->matrix, arena, status);
}

rh_code rh_pressure_prepare(rh_pressure *p, const rh_tiles *tiles, const rh_surface *surface, const rh_cut_cells *cut,
                            rh_arena *arena, rh_status *status)
{
    *p = (rh_pressure){.tiles = tiles, .surface = surface, .cut = cut, .matrix = {.tiles = tiles}};
    size_t values = (size_t)rh_tiles_values(tiles);
    p->matrix.diagonal = rh_field_new(tiles, arena, status);
    p->q = rh_field_new(tiles, arena, status);
    p->component = rh_arena_take(arena, values * sizeof(int32_t), status);
    p->sealed = rh_arena_take(arena, values, status);
    if (!p->matrix.diagonal || !p->q || !p->component || !p->sealed) return RH_MEMORY;
    RH_TRY(rh_faces_new(&p->matrix.link, tiles, false, arena, status));
    if (cut->releases) {
        p->released = rh_arena_take_zero(arena, values, status);
        if (!p->released) return RH_MEMORY;
    }
    return assemble(p, arena, status);
}

rh_code rh_pressure_solve(rh_pressure *p, float *b, double tolerance, int max_iterations, rh_arena *arena,
                          rh_cg_report *report, rh_status *status)
{
    memset(p->q, 0, (size_t)rh_tiles_values(p->tiles) * sizeof(float));
    balance(p, b);
    rh_preconditioner mic = p->any_sealed ? (rh_preconditioner){apply_balanced, p} : rh_tile_mic_preconditioner(&p->mic);
    return rh_cg_solve(&p->matrix, mic, b, p->q, tolerance, max_iterations, arena, report, status);
}

// Net inflow into each unknown (and each released cell): minus the divergence of open and wall parts, in m/s.
static void inflow_tile(const rh_pressure *p, rh_faces velocity, int32_t t, float *b)
{
    const rh_tiles *tiles = p->tiles;
    float flux[SMALL];
    for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c++) b[c] = 0;
    for (int a = 0; a < tiles->dimension; a++) {
        float u[SMALL], open[SMALL], wall[SMALL];
        rh_block_load(tiles, velocity.axis[a], t, 1, 0, u);
        rh_block_load(tiles, p->cut->open.axis[a], t, 1, 0, open);
        rh_block_load(tiles, p->cut->wall.axis[a], t, 1, 0, wall);
        int n = rh_block_values(tiles, 1);
        for (int i = 0; i < n; i++) flux[i] = open[i] * u[i] + (1 - open[i]) * wall[i];
        for (int k = 0; k < tiles->layers; k++)
            for (int j = 0; j < RH_TILE; j++)
                for (int i = 0; i < RH_TILE; i++) {
                    const int *s = step_of[a];
                    b[(int64_t)t * tiles->cells + i + RH_TILE * (j + RH_TILE * k)] +=
                        flux[rh_block_index(tiles, 1, i, j, k)] - flux[rh_block_index(tiles, 1, i + s[0], j + s[1], k + s[2])];
                }
    }
}

static void right_hand_side(const rh_pressure *p, rh_faces velocity, float *b)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < p->tiles->count; t++) {
        inflow_tile(p, velocity, t, b);
        for (int64_t c = (int64_t)t * p->tiles->cells; c < (int64_t)(t + 1) * p->tiles->cells; c++)
            if (p->matrix.diagonal[c] <= 0) b[c] = 0;
    }
}

// One face: what to subtract, and whether there is anything to say about it.
typedef struct side { float q, phi; bool liquid; } side;

static inline bool gradient(side low, side high, float open, float h, float *out)
{
    if (open <= 0 || (!low.liquid && !high.liquid)) return false;
    if (low.liquid && high.liquid) *out = high.q - low.q;
    else *out = low.liquid ? -low.q / theta(low.phi, high.phi, h) : high.q / theta(high.phi, low.phi, h);
    return true;
}

void rh_pressure_subtract_gradient(const rh_pressure *p, rh_faces field, uint8_t *const known[3])
{
    const rh_tiles *tiles = p->tiles;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) {
        float q[SMALL], diagonal[SMALL], phi[SMALL];
        rh_block_load(tiles, p->surface->phi, t, 1, 1, phi);
        rh_block_load(tiles, p->q, t, 1, 0, q);
        rh_block_load(tiles, p->matrix.diagonal, t, 1, 0, diagonal);
        for (int a = 0; a < tiles->dimension; a++)
            for (int c = 0; c < tiles->cells; c++) {
                int i = c & 7, j = c >> 3 & 7, k = c >> 6;
                const int *s = step_of[a];
                int high = rh_block_index(tiles, 1, i, j, k), low = rh_block_index(tiles, 1, i - s[0], j - s[1], k - s[2]);
                int64_t at = (int64_t)t * tiles->cells + c;
                float difference = 0;
                side below = {q[low], phi[low], diagonal[low] > 0}, here = {q[high], phi[high], diagonal[high] > 0};
                known[a][at] = gradient(below, here, p->cut->open.axis[a][at], tiles->h, &difference);
                if (known[a][at]) field.axis[a][at] -= difference;
            }
    }
}

// --- separating walls ---------------------------------------------------------------------------------------------

// One round of the active set; returns how many cells changed sides. `inflow` is the net inflow into every cell with
// the present pressure.
static int64_t update_released(rh_pressure *p, const float *inflow)
{
    const rh_tiles *tiles = p->tiles;
    int64_t changed = 0;
#pragma omp parallel for schedule(static) reduction(+ : changed)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c++) {
            if (!p->cut->releases[c] || p->surface->phi[c] >= 0) continue;
            bool let_go = p->released[c] ? inflow[c] <= 0 : p->matrix.diagonal[c] > 0 && p->q[c] < 0;
            changed += let_go != (bool)p->released[c];
            p->released[c] = let_go;
        }
    return changed;
}

static rh_code settle_walls(rh_pressure *p, rh_faces velocity, double tolerance, int max_iterations, float *b, rh_arena *arena,
                            rh_cg_report *report, rh_status *status)
{
    const rh_tiles *tiles = p->tiles;
    rh_arena_mark mark = rh_arena_save(arena);
    rh_faces trial;
    RH_TRY(rh_faces_new(&trial, tiles, false, arena, status));
    uint8_t *known[3] = {NULL, NULL, NULL};
    size_t values = (size_t)rh_tiles_values(tiles);
    for (int a = 0; a < tiles->dimension; a++) {
        known[a] = rh_arena_take(arena, values, status);
        if (!known[a]) return RH_MEMORY;
    }
    // The set is found with a loose solve; the caller's last solve is exact for the set found.
    double loose = fmax(tolerance, 1e-3);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        right_hand_side(p, velocity, b);
        RH_TRY(rh_pressure_solve(p, b, loose, max_iterations, arena, report, status));
        for (int a = 0; a < tiles->dimension; a++) memcpy(trial.axis[a], velocity.axis[a], values * sizeof(float));
        rh_pressure_subtract_gradient(p, trial, known);
#pragma omp parallel for schedule(dynamic, 8)
        for (int32_t t = 0; t < tiles->count; t++) inflow_tile(p, trial, t, b);
        if (update_released(p, b) == 0) break;
        RH_TRY(assemble(p, arena, status));
    }
    rh_arena_restore(arena, mark);
    return assemble(p, arena, status);
}

rh_code rh_pressure_project(rh_pressure *p, rh_faces velocity, uint8_t *const known[3], double tolerance, int max_iterations,
                            rh_arena *arena, rh_cg_report *report, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    float *b = rh_field_new(p->tiles, arena, status);
    if (!b) return RH_MEMORY;
    if (p->released) RH_TRY(settle_walls(p, velocity, tolerance, max_iterations, b, arena, report, status));
    right_hand_side(p, velocity, b);
    RH_TRY(rh_pressure_solve(p, b, tolerance, max_iterations, arena, report, status));
    rh_pressure_subtract_gradient(p, velocity, known);
    if (!p->released) rh_arena_restore(arena, mark);  // after settle_walls the operator lives above the mark
    return RH_OK;
}

// --- pressure for users -------------------------------------------------------------------------------------------
enum { WIDE = RH_TILE + 4, LARGE = WIDE * WIDE * WIDE };

typedef struct neighbourhood { float q[LARGE], phi[LARGE], diagonal[LARGE], slope[3][LARGE]; } neighbourhood;

// Change of q per cell along axis a: mean of the faces of the cell that know it.
static float slope_of(const neighbourhood *n, const float *open, int low, int here, int high, float h)
{
    side below = {n->q[low], n->phi[low], n->diagonal[low] > 0}, above = {n->q[high], n->phi[high], n->diagonal[high] > 0};
    side own = {n->q[here], n->phi[here], n->diagonal[here] > 0};
    float first = 0, second = 0;
    int known = gradient(below, own, open[here], h, &first) + gradient(own, above, open[high], h, &second);
    return known ? (first + second) / (float)known : 0;
}

static void load_neighbourhood(const rh_pressure *p, int32_t t, neighbourhood *n)
{
    const rh_tiles *tiles = p->tiles;
    rh_block_load(tiles, p->q, t, 2, 0, n->q);
    rh_block_load(tiles, p->surface->phi, t, 2, 1, n->phi);
    rh_block_load(tiles, p->matrix.diagonal, t, 2, 0, n->diagonal);
    int deep = tiles->dimension == 3;
    for (int a = 0; a < tiles->dimension; a++) {
        float open[LARGE];
        const int *s = step_of[a];
        rh_block_load(tiles, p->cut->open.axis[a], t, 2, 0, open);
        for (int k = -deep; k < tiles->layers + deep; k++)
            for (int j = -1; j <= RH_TILE; j++)
                for (int i = -1; i <= RH_TILE; i++) {
                    int here = rh_block_index(tiles, 2, i, j, k);
                    n->slope[a][here] = slope_of(n, open, rh_block_index(tiles, 2, i - s[0], j - s[1], k - s[2]), here,
                                                 rh_block_index(tiles, 2, i + s[0], j + s[1], k + s[2]), tiles->h);
                }
    }
}

// q at a place given in cells from the tile's corner.
static float sample(const rh_tiles *tiles, const neighbourhood *n, const float place[3])
{
    int base[3];
    float way[3], sum = 0, weights = 0;
    for (int a = 0; a < 3; a++) {
        base[a] = a < tiles->dimension ? rh_floor(place[a] - 0.5f) : 0;
        base[a] = base[a] < -1 ? -1 : base[a] > RH_TILE - 1 ? RH_TILE - 1 : base[a];
        way[a] = a < tiles->dimension ? place[a] - 0.5f - (float)base[a] : 0;
    }
    for (int corner = 0; corner < 1 << tiles->dimension; corner++) {
        int up[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
        int cell = rh_block_index(tiles, 2, base[0] + up[0], base[1] + up[1], base[2] + up[2]);
        if (n->diagonal[cell] <= 0) continue;
        float weight = 1, value = n->q[cell];
        for (int a = 0; a < tiles->dimension; a++) {
            weight *= up[a] ? way[a] : 1 - way[a];
            value += n->slope[a][cell] * (way[a] - (float)up[a]);
        }
        sum += weight * value;
        weights += weight;
    }
    return weights > 1e-6f ? sum / weights : 0;
}

void rh_pressure_sample(const rh_pressure *p, const rh_vec3 *positions, float scale, float *out)
{
    const rh_tiles *tiles = p->tiles;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) {
        uint32_t begin = rh_tile_first(tiles, t), end = tiles->first[(int64_t)(t + 1) * tiles->cells];
        if (begin == end) continue;
        neighbourhood n;
        load_neighbourhood(p, t, &n);
        rh_tile at = tiles->at[t];
        for (uint32_t i = begin; i < end; i++) {
            rh_vec3 x = positions[i];
            const float place[3] = {x.x * tiles->inverse_h - (float)(at.x * RH_TILE), x.y * tiles->inverse_h - (float)(at.y * RH_TILE),
                                    x.z * tiles->inverse_h - (float)(at.z * RH_TILE)};
            out[i] = scale * sample(tiles, &n, place);
        }
    }
}
