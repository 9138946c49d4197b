// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// All three laws have one form, with the velocity `other` of what a particle swims in, u = v - other, and constants of
// the step (physics/flight.h):
//
//      x' = x + other dt + u way + a way2,   v' = other + u rest + a way
//
// Spray: other = wind, a = gravity. Bubbles: other = the liquid, a = what lifts them. Foam: other = the liquid and what
// draws foam together, and nothing is left of u.
//
// (Finding cells for all, moving, and compacting were passes of their own, one particle at a time: three times as
// long. Most of it was waiting: for cells of tiles that particles had left since they were sorted, and for memory.)
#include "physics/whitewater/move.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "base/simd.h"
#include "physics/flight.h"

enum { LANES = 8, SIDE = RH_TILE + 2 };
static const float FAR = 1e8f * RH_TILE;  // cells

// --- eight particles -------------------------------------------------------------------------------------------------
// The grid, as eight places are looked up in it: nothing lies along the third axis in two dimensions. (Loops of unknown
// length and vectors in structs that are handed on by address keep vectors out of registers: it took a third longer.)
typedef struct lattice {
    const rh_foam_flow *flow;
    float inverse[3], size[3];  // 1/m, m: of cells
    int32_t cells, block;       // of a tile, and with the cells around it
    int32_t stride;             // of a layer of cells in a block
    bool deep;
} lattice;

static lattice lattice_of(const rh_foam_flow *flow)
{
    const rh_tiles *t = &flow->tiles;
    bool deep = t->dimension == 3;
    float inverse = t->inverse_h, h = t->h;
    return (lattice){flow,
                     {inverse, inverse, deep ? inverse : 0},
                     {h, h, deep ? h : 0},
                     t->cells,
                     rh_block_values(t, 1),
                     deep ? SIDE * SIDE : 0,
                     deep};
}

// A law of motion over the step.
typedef struct law {
    rh_vec3 push, lift;  // m/s, m: what an acceleration adds to velocity and place
    float way, rest;     // s; 1
} law;

typedef struct laws {
    lattice cells;
    law spray, bubble;
    rh_vec3 wind;
    float dt, oldest, spray_below, bubble_above;
    int kept;  // bits of the classes
    rh_flight_wall wall;
    float gap;  // m: of the wall, with what centres are rounded by
} laws;

static law law_of(double drag, rh_dvec3 a, double dt)
{
    rh_flight_decay d = rh_flight_decay_of(drag, dt);
    return (law){rh_v3_from(rh_d3_scale(a, d.way)), rh_v3_from(rh_d3_scale(a, d.way2)), (float)d.way, (float)d.rest};
}

static laws laws_of(const rh_foam_motion *m)
{
    const rh_whitewater_params *p = m->params;
    rh_dvec3 rise = rh_d3_scale(m->around->gravity, -p->buoyancy);
    return (laws){.cells = lattice_of(m->flow),
                  .spray = law_of(p->spray_drag, m->around->gravity, m->dt),
                  .bubble = law_of(p->bubble_drag, rise, m->dt),
                  .wind = rh_v3_from(p->wind),
                  .dt = (float)m->dt,
                  .oldest = (float)p->max_age,
                  .spray_below = (float)p->spray_below,
                  .bubble_above = (float)p->bubble_above,
                  .kept = p->spray << RH_CLASS_SPRAY | p->foam << RH_CLASS_FOAM | p->bubbles << RH_CLASS_BUBBLE,
                  .wall = {p->min_radius, p->restitution},
                  .gap = (float)p->min_radius + 1e-5f * m->flow->tiles.h};
}

// The cells that eight places lie in.
typedef struct spots {
    rh_i8 x, y, z;  // in cells
    rh_i8 there;    // a mask: not absurdly far away
} spots;

static inline rh_f8 and_mask(rh_f8 v, rh_i8 mask) { return (rh_f8)((rh_i8)v & mask); }

static inline spots spots_of(const lattice *g, const rh_f8 x[3])
{
    rh_f8 px = x[0] * g->inverse[0], py = x[1] * g->inverse[1], pz = x[2] * g->inverse[2];
    rh_i8 there = (rh_f8_abs(px) < FAR) & (rh_f8_abs(py) < FAR) & (rh_f8_abs(pz) < FAR);
    return (spots){rh_f8_floor(and_mask(px, there)), rh_f8_floor(and_mask(py, there)), rh_f8_floor(and_mask(pz, there)),
                   there};
}

// The squares of the ways of eight places from the centres of cells.
static inline rh_f8 off_center(const lattice *g, const spots *s, const rh_f8 x[3])
{
    rh_f8 dx = x[0] - (__builtin_convertvector(s->x, rh_f8) + 0.5f) * g->size[0],
          dy = x[1] - (__builtin_convertvector(s->y, rh_f8) + 0.5f) * g->size[1],
          dz = x[2] - (__builtin_convertvector(s->z, rh_f8) + 0.5f) * g->size[2];
    return dx * dx + dy * dy + dz * dz;
}

// The tile of a lane; `other`: one that is probably near, -1: none.
static int32_t tile_near(const rh_tiles *t, int32_t other, rh_tile at)
{
    if (other < 0) return rh_tiles_find(t, at);
    unsigned dx = (unsigned)(at.x - t->at[other].x + 1), dy = (unsigned)(at.y - t->at[other].y + 1),
             dz = (unsigned)(at.z - t->at[other].z + 1);
    return dx < 3 && dy < 3 && dz < 3 ? t->near[other][dx + 3 * dy + 9 * dz] : rh_tiles_find(t, at);
}

static __attribute__((noinline)) rh_i8 find_tiles(const rh_tiles *t, rh_i8 x, rh_i8 y, rh_i8 z, rh_i8 there,
                                                  int32_t *near)
{
    rh_i8 found = {0};
    for (int n = 0; n < LANES; n++) {
        const rh_tile at = {x[n], y[n], z[n]};
        int32_t tile = there[n] && t->count ? tile_near(t, *near, at) : -1;
        found[n] = tile;
        if (tile >= 0) *near = tile;
    }
    return found;
}

// The tiles of eight places, -1: none. `near`: a tile that one is probably near, for the next call.
static inline rh_i8 tiles_of(const lattice *g, const spots *s, int32_t *near)
{
    const rh_foam_map *m = &g->flow->map;
    rh_i8 x = s->x >> 3, y = s->y >> 3, z = s->z >> 3;
    if (!m->tiles) return find_tiles(&g->flow->tiles, x, y, z, s->there, near);
    x -= m->low.x, y -= m->low.y, z -= m->low.z;
    rh_i8 inside = s->there & (x >= 0) & (x < m->size[0]) & (y >= 0) & (y < m->size[1]) & (z >= 0) & (z < m->size[2]);
    rh_i8 at = (((z * m->size[1] + y) * m->size[0] + x) & inside) | ((int32_t)m->none & ~inside);
    uint32_t entry[LANES];
    memcpy(entry, &at, sizeof entry);
    return __builtin_convertvector(rh_f8_gather(m->tiles, entry), rh_i8);
}

// The numbers of their cells over all tiles, -1: none.
static inline rh_i8 cells_in(const lattice *g, const spots *s, rh_i8 tiles)
{
    rh_i8 local = (s->x & 7) + ((s->y & 7) << 3) + ((s->z & 7) << 6);
    return (tiles * g->cells + local) | (tiles < 0);
}

static inline int lanes_from(int64_t i, int64_t end) { return end - i < LANES ? (int)(end - i) : LANES; }

// Eight places or velocities, or the `lanes` that there are and zeros.
static inline void load_some(const rh_vec3 *from, int lanes, rh_f8 out[3])
{
    if (lanes == LANES) {
        rh_f8_load3(&from->x, &out[0], &out[1], &out[2]);
        return;
    }
    rh_vec3 few[LANES] = {{0, 0, 0}};
    memcpy(few, from, (size_t)lanes * sizeof *few);
    rh_f8_load3(&few->x, &out[0], &out[1], &out[2]);
}

// From rows of one particle (lanes n and n + 4) to rows of one value.
static inline void transpose(const rh_f8 rows[4], rh_f8 values[4])
{
    rh_f8 a = rows[0], b = rows[1], c = rows[2], d = rows[3];
    rh_f8 ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13),
          cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13),
          ab2 = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15),
          cd2 = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
    values[0] = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
    values[1] = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
    values[2] = __builtin_shufflevector(ab2, cd2, 0, 1, 8, 9, 4, 5, 12, 13);
    values[3] = __builtin_shufflevector(ab2, cd2, 2, 3, 10, 11, 6, 7, 14, 15);
}

// Where between the centres of cells a place is along an axis: how far from the lower one, and that one's step from the
// cell that the place is in (0 or -1).
static inline rh_f8 between(rh_f8 x, float inverse, rh_i8 cell, rh_i8 there, rh_i8 *step)
{
    rh_f8 p = and_mask(x * inverse, there) - 0.5f;
    rh_i8 low = rh_f8_floor(p);
    *step = low - cell;
    return p - __builtin_convertvector(low, rh_f8);
}

// What is around eight places: the share of liquid and its velocity.
static inline __attribute__((always_inline)) void sample_eight(const lattice *g, const spots *s, rh_i8 tiles,
                                                               const rh_f8 x[3], rh_f8 *share, rh_f8 v[3])
{
    float wx[LANES], wy[LANES], wz[LANES];
    uint32_t at[LANES];
    rh_i8 i, j, k;
    rh_f8_store(wx, between(x[0], g->inverse[0], s->x, s->there, &i));
    rh_f8_store(wy, between(x[1], g->inverse[1], s->y, s->there, &j));
    rh_f8_store(wz, between(x[2], g->inverse[2], s->z, s->there, &k));
    i += (s->x & 7) + 1, j += (s->y & 7) + 1, k += (s->z & 7) + 1;
    rh_i8 none = tiles < 0;
    rh_u8 first = (rh_u8)((tiles & ~none) | (g->flow->tiles.count & none)) * (uint32_t)g->block +
                  (rh_u8)(i + j * SIDE + k * g->stride);
    memcpy(at, &first, sizeof at);
    const rh_foam_cell *cells = g->flow->moved;
    rh_f8 rows[4], values[4];
    if (g->deep) {
#pragma GCC unroll 4
        for (int n = 0; n < 4; n++) {
            rh_f4 one = rh_foam_mix(cells + at[n], wx[n], wy[n], wz[n], true),
                  other = rh_foam_mix(cells + at[n + 4], wx[n + 4], wy[n + 4], wz[n + 4], true);
            rows[n] = __builtin_shufflevector(one, other, 0, 1, 2, 3, 4, 5, 6, 7);
        }
    } else {
#pragma GCC unroll 4
        for (int n = 0; n < 4; n++) {
            rh_f4 one = rh_foam_mix(cells + at[n], wx[n], wy[n], 0, false),
                  other = rh_foam_mix(cells + at[n + 4], wx[n + 4], wy[n + 4], 0, false);
            rows[n] = __builtin_shufflevector(one, other, 0, 1, 2, 3, 4, 5, 6, 7);
        }
    }
    transpose(rows, values);
    *share = values[0];
    rh_f8 scale = and_mask(1.0f / *share, *share > 0.0f);
    for (int a = 0; a < 3; a++) v[a] = values[1 + a] * scale;
}

static inline void add_gather(const rh_foam_flow *flow, rh_i8 cells, rh_i8 foam, rh_f8 v[3])
{
    rh_f8 rows[4], values[4];
    int32_t at[LANES];
    memcpy(at, &cells, sizeof at);
#pragma GCC unroll 4
    for (int n = 0; n < 4; n++) {
        rh_f4 one = rh_f4_load(&flow->gather[at[n]].share), other = rh_f4_load(&flow->gather[at[n + 4]].share);
        rows[n] = __builtin_shufflevector(one, other, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    transpose(rows, values);
    for (int a = 0; a < 3; a++) v[a] += and_mask(values[1 + a], foam);
}

// One byte of 0 or 1 for each of eight bits.
static inline uint64_t bytes_of(int bits)
{
    uint64_t each = (uint64_t)bits * 0x0101010101010101u & 0x8040201008040201u;
    return ((each + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u;
}

// Those of eight places in cells, `off` (m²) from their centres, that are farther than `gap` from all solids by what is
// known of the cell. Cell -1 is never clear.
static inline rh_i8 are_clear(const rh_foam_flow *flow, rh_i8 cells, float gap, rh_f8 off)
{
    uint32_t entry[LANES];
    rh_i8 at = cells + 1;
    memcpy(entry, &at, sizeof entry);
    rh_f8 left = rh_f8_gather(flow->room - 1, entry) - gap;
    return (left > 0.0f) & (off < left * left);
}

// Moves the eight particles from i on. Returns the bits of those that are over; `near`: of those that a wall may be
// near to.
static inline int move_eight(const laws *l, const rh_foam_particles *p, int64_t i, int32_t *tile, int *near)
{
    const lattice *g = &l->cells;
    const rh_foam_flow *flow = g->flow;
    rh_f8 x[3], v[3], mid[3], other[3], share;
    rh_f8_load3(&p->x[i].x, &x[0], &x[1], &x[2]);
    rh_f8_load3(&p->v[i].x, &v[0], &v[1], &v[2]);
    for (int a = 0; a < 3; a++) mid[a] = x[a] + v[a] * (0.5f * l->dt);
    const spots s = spots_of(g, mid);
    const rh_i8 tiles = tiles_of(g, &s, tile), cells = cells_in(g, &s, tiles);
    sample_eight(g, &s, tiles, mid, &share, other);
    rh_i8 spray = share < l->spray_below, bubble = (share > l->bubble_above) & ~spray, foam = ~(spray | bubble);
    int foams = rh_i8_bits(foam), sprays = rh_i8_bits(spray), bubbles = rh_i8_bits(bubble);
    if (flow->gather && foams) add_gather(flow, cells, foam, other);
    rh_f8 way = rh_f8_select(bubble, rh_f8_all(l->bubble.way), and_mask(rh_f8_all(l->spray.way), spray)),
          rest = rh_f8_select(bubble, rh_f8_all(l->bubble.rest), and_mask(rh_f8_all(l->spray.rest), spray));
    const rh_f8 zero = rh_f8_all(0);
    for (int a = 0; a < 3; a++) {
        float wind = (&l->wind.x)[a], fall = (&l->spray.push.x)[a], rise = (&l->bubble.push.x)[a];
        float fallen = (&l->spray.lift.x)[a], risen = (&l->bubble.lift.x)[a];
        rh_f8 o = rh_f8_select(spray, rh_f8_all(wind), other[a]), u = v[a] - o;
        rh_f8 push = rh_f8_select(spray, rh_f8_all(fall), rh_f8_select(bubble, rh_f8_all(rise), zero));
        rh_f8 lift = rh_f8_select(spray, rh_f8_all(fallen), rh_f8_select(bubble, rh_f8_all(risen), zero));
        x[a] = (x[a] + o * l->dt) + (u * way + lift);
        v[a] = o + (u * rest + push);
    }
    rh_f8_store3(&p->x[i].x, x[0], x[1], x[2]);
    rh_f8_store3(&p->v[i].x, v[0], v[1], v[2]);
    if (flow->room) *near = rh_i8_bits(~are_clear(flow, cells, l->gap, off_center(g, &s, x)));
    rh_f8 age = rh_f8_load(p->age + i) + l->dt, life = rh_f8_load(p->life + i) - and_mask(rh_f8_all(l->dt), foam);
    rh_f8_store(p->age + i, age);
    rh_f8_store(p->life + i, life);
    rh_i8 kind = (foam & RH_CLASS_FOAM) | (bubble & RH_CLASS_BUBBLE);
    memcpy(p->kind + i, &kind, sizeof kind);
    const int bits[RH_CLASSES] = {sprays, foams, bubbles};
    int over = rh_i8_bits(~(life > 0.0f) | (age > l->oldest));
    for (int k = 0; k < RH_CLASSES; k++) {
        uint64_t members = bytes_of(bits[k]);
        memcpy(p->groups[k] + i, &members, sizeof members);
        if (!(l->kept >> k & 1)) over |= bits[k];
    }
    return over;
}

void rh_foam_classify(const rh_foam_flow *flow, const rh_whitewater_params *params, const rh_vec3 *places,
                      int64_t count, int32_t *kinds)
{
    const lattice g = lattice_of(flow);
    const float spray_below = (float)params->spray_below, bubble_above = (float)params->bubble_above;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < rh_blocks(count); b++) {
        int32_t near = -1;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, count); i += LANES) {
            int lanes = lanes_from(i, rh_block_end(b, count));
            rh_f8 x[3], v[3], share;
            load_some(places + i, lanes, x);
            const spots s = spots_of(&g, x);
            sample_eight(&g, &s, tiles_of(&g, &s, &near), x, &share, v);
            rh_i8 spray = share < spray_below, bubble = (share > bubble_above) & ~spray, foam = ~(spray | bubble);
            rh_i8 kind = (foam & RH_CLASS_FOAM) | (bubble & RH_CLASS_BUBBLE);
            memcpy(kinds + i, &kind, (size_t)lanes * sizeof *kinds);
        }
    }
}

static inline bool is_in_open(const rh_foam_open *open, float gap, rh_vec3 x)
{
    float left = open->radius - gap;
    rh_vec3 way = rh_v3_sub(x, open->center);
    return left > 0 && rh_v3_dot(way, way) < left * left;
}

// Those of the eight, now at x, that a wall may be near to, pushed out of it: where they are now may be clear.
static __attribute__((noinline)) void collide_some(const rh_foam_motion *m, const laws *l, rh_vec3 *x, rh_vec3 *v,
                                                   int near)
{
    const lattice *g = &l->cells;
    rh_f8 y[3];
    rh_f8_load3(&x->x, &y[0], &y[1], &y[2]);
    const spots now = spots_of(g, y);
    int32_t hint = -1, cell[LANES];
    const rh_i8 cells = cells_in(g, &now, tiles_of(g, &now, &hint));
    memcpy(cell, &cells, sizeof cell);
    for (near &= ~rh_i8_bits(are_clear(m->flow, cells, l->gap, off_center(g, &now, y))); near; near &= near - 1) {
        int n = __builtin_ctz((unsigned)near);
        if (cell[n] < 0 || !is_in_open(&m->flow->open[cell[n]], l->gap, x[n]))
            rh_flight_collide(&l->wall, m->around, &x[n], &v[n]);
    }
}

// --- foam that draws together ----------------------------------------------------------------------------------------
// Each thread into `values` numbers of its own: they are whole, so it does not matter who counts what. (One array for
// all and atomic additions took longer.)
static void count_foam(const rh_foam_motion *m, const rh_foam_particles *p, int64_t count, int32_t *foam, size_t values)
{
    const lattice g = lattice_of(m->flow);
    const float half = 0.5f * (float)m->dt;
    const size_t nobody = values - 1;  // beyond all cells
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < rh_blocks(count); b++) {
        int32_t near = -1, *mine = foam + (size_t)rh_thread() * values;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, count); i += LANES) {
            int lanes = lanes_from(i, rh_block_end(b, count));
            rh_i8 kind = {-1, -1, -1, -1, -1, -1, -1, -1};
            if (lanes == LANES) memcpy(&kind, p->kind + i, sizeof kind);
            else memcpy(&kind, p->kind + i, (size_t)lanes * sizeof *p->kind);
            rh_i8 member = kind == RH_CLASS_FOAM;
            if (!rh_i8_bits(member)) continue;
            rh_f8 x[3], v[3];
            load_some(p->x + i, lanes, x);
            load_some(p->v + i, lanes, v);
            for (int a = 0; a < 3; a++) x[a] += v[a] * half;
            const spots s = spots_of(&g, x);
            const rh_i8 cells = cells_in(&g, &s, tiles_of(&g, &s, &near));
            member &= cells >= 0;
            const rh_i8 counted = (cells & member) | ((int32_t)nobody & ~member);  // a branch for each took longer
            int32_t at[LANES];
            memcpy(at, &counted, sizeof at);
#pragma GCC unroll 8
            for (int n = 0; n < LANES; n++) mine[at[n]]++;
        }
    }
}

// Towards where there is more foam, along the surface, the faster the more the numbers differ.
static rh_code find_gather(const rh_foam_motion *m, const rh_foam_particles *p, int64_t count, rh_status *status)
{
    const rh_tiles *t = &m->flow->tiles;
    size_t values = (size_t)rh_tiles_values(t) + 8;
    const int threads = rh_threads();
    int32_t *foam = rh_arena_take_zero(m->arena, (size_t)threads * values * sizeof *foam, status);
    float *many = rh_arena_take(m->arena, values * sizeof *many, status);
    m->flow->gather = rh_arena_take(m->arena, (values + 1) * sizeof *m->flow->gather, status);
    if (!foam || !many || !m->flow->gather) return RH_MEMORY;
    *m->flow->gather++ = (rh_foam_cell){0};  // of cell -1
    count_foam(m, p, count, foam, values);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < values; i++) {
        int32_t sum = 0;
        for (int n = 0; n < threads; n++) sum += foam[(size_t)n * values + i];
        many[i] = (float)sum;
    }
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < t->count; n++) {
        float b[SIDE * SIDE * SIDE];
        rh_block_load(t, many, n, 1, 0, b);
        for (int c = 0; c < t->cells; c++) {
            int at = rh_block_index(t, 1, c & 7, c >> 3 & 7, c >> 6), next[3] = {1, SIDE, SIDE * SIDE};
            rh_vec3 way = {0, 0, 0}, normal = m->flow->normal[(int64_t)n * t->cells + c];
            for (int a = 0; a < t->dimension; a++) (&way.x)[a] = b[at + next[a]] - b[at - next[a]];
            way = rh_v3_sub(way, rh_v3_scale(normal, rh_v3_dot(way, normal)));
            float scale = (float)m->params->gather / (rh_v3_length(way) + b[at] + 1);
            m->flow->gather[(int64_t)n * t->cells + c] = (rh_foam_cell){.v = rh_v3_scale(way, scale)};
        }
    }
    return RH_OK;
}

// --- all of them -----------------------------------------------------------------------------------------------------
// Room for the last few of a block, which are fewer than eight.
typedef struct tail {
    rh_vec3 x[LANES], v[LANES];
    float age[LANES], life[LANES];
    int32_t kind[LANES];
    uint8_t groups[RH_CLASSES][LANES];
} tail;

static rh_foam_particles of_tail(tail *t)
{
    return (rh_foam_particles){t->x, t->v, NULL, t->age, t->life, t->kind, {t->groups[0], t->groups[1], t->groups[2]},
                               NULL};
}

static void copy_some(const rh_foam_particles *from, int64_t i, const rh_foam_particles *to, int64_t j, int count)
{
    size_t n = (size_t)count;
    memcpy(to->x + j, from->x + i, n * sizeof *to->x);
    memcpy(to->v + j, from->v + i, n * sizeof *to->v);
    memcpy(to->age + j, from->age + i, n * sizeof *to->age);
    memcpy(to->life + j, from->life + i, n * sizeof *to->life);
    memcpy(to->kind + j, from->kind + i, n * sizeof *to->kind);
    for (int k = 0; k < RH_CLASSES; k++) memcpy(to->groups[k] + j, from->groups[k] + i, n);
}

static void note_tiles(const lattice *g, const rh_vec3 *x, int64_t begin, int64_t end, int32_t *tiles)
{
    int32_t last = -1;
    for (int64_t i = begin; i < end; i += LANES) {
        int lanes = lanes_from(i, end);
        rh_f8 y[3];
        load_some(x + i, lanes, y);
        const spots s = spots_of(g, y);
        const rh_i8 found = tiles_of(g, &s, &last), there = found >= 0;
        const rh_i8 noted = (found & there) | (g->flow->tiles.count & ~there);
        memcpy(tiles + i, &noted, (size_t)lanes * sizeof *tiles);
    }
}

// The eight particles from i on (`count` of them, the others are of no account), each moved and kept out of walls.
// Returns the bits of those that are over; `fastest`: of the others, squared, so far.
static inline int step_eight(const rh_foam_motion *m, const laws *l, const rh_foam_particles *p, int64_t i, int count,
                             int32_t *tile, rh_f8 *fastest)
{
    rh_f8 v[3];
    int all = (1 << count) - 1, near = 0, over = move_eight(l, p, i, tile, &near) & all;
    if (near & all) collide_some(m, l, p->x + i, p->v + i, near & all);
    rh_f8_load3(&p->v[i].x, &v[0], &v[1], &v[2]);
    *fastest = rh_f8_max(rh_f8_masked((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2], all & ~over), *fastest);
    return over;
}

static int32_t move_block(const rh_foam_motion *m, const laws *l, const rh_foam_particles *p, int64_t begin,
                          int64_t end, uint32_t *gone, float *fastest)
{
    int32_t tile = -1, over = 0;
    rh_f8 speed2 = {0};
    for (int64_t i = begin; i < end; i += LANES) {
        int count = lanes_from(i, end), bits;
        if (count == LANES) bits = step_eight(m, l, p, i, LANES, &tile, &speed2);
        else {
            tail few;
            memset(&few, 0, sizeof few);
            const rh_foam_particles last = of_tail(&few);
            copy_some(p, i, &last, 0, count);
            bits = step_eight(m, l, &last, 0, count, &tile, &speed2);
            copy_some(&last, 0, p, i, count);
        }
        for (; bits; bits &= bits - 1) gone[over++] = (uint32_t)(i + __builtin_ctz((unsigned)bits));
    }
    *fastest = 0;
    for (int n = 0; n < LANES; n++) *fastest = rh_max_of(*fastest, speed2[n]);
    return over;
}

rh_code rh_foam_move(const rh_foam_motion *m, rh_points *points, int32_t *tiles, rh_foam_gone *gone, rh_status *status)
{
    const rh_foam_particles p = rh_foam_particles_of(points);
    const laws l = laws_of(m);
    int64_t count = points->count;
    gone->blocks = rh_blocks(count);
    gone->items = rh_arena_take(m->arena, (size_t)(count + 1) * sizeof *gone->items, status);
    gone->counts = rh_arena_take(m->arena, (size_t)(gone->blocks + 1) * sizeof *gone->counts, status);
    gone->fastest = rh_arena_take(m->arena, (size_t)(gone->blocks + 1) * sizeof *gone->fastest, status);
    if (!gone->items || !gone->counts || !gone->fastest) return RH_MEMORY;
    if (m->around->obstacles_after->count)
        RH_TRY(rh_foam_walls_find(m->walls, m->around->obstacles_after, m->flow, m->arena, status));
    if (m->params->gather > 0) RH_TRY(find_gather(m, &p, count, status));
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < gone->blocks; b++) {
        int64_t begin = b * RH_BLOCK, end = rh_block_end(b, count);
        gone->counts[b] = move_block(m, &l, &p, begin, end, gone->items + begin, &gone->fastest[b]);
        if (tiles) note_tiles(&l.cells, p.x, begin, end, tiles);
    }
    return RH_OK;
}
