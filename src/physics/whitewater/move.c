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

// --- eight particles -------------------------------------------------------------------------------------------------
// A law of motion over the step.
typedef struct law {
    rh_vec3 push, lift;  // m/s, m: what an acceleration adds to velocity and place
    float way, rest;     // s; 1
} law;

typedef struct laws {
    law spray, bubble;
    rh_vec3 wind;
    float dt, oldest, spray_below, bubble_above;
    int kept;  // bits of the classes
    rh_flight_wall wall;
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
    return (laws){.spray = law_of(p->spray_drag, m->around->gravity, m->dt),
                  .bubble = law_of(p->bubble_drag, rise, m->dt),
                  .wind = rh_v3_from(p->wind),
                  .dt = (float)m->dt,
                  .oldest = (float)p->max_age,
                  .spray_below = (float)p->spray_below,
                  .bubble_above = (float)p->bubble_above,
                  .kept = p->spray << RH_CLASS_SPRAY | p->foam << RH_CLASS_FOAM | p->bubbles << RH_CLASS_BUBBLE,
                  .wall = {p->min_radius, p->restitution}};
}

// The cells that eight places lie in.
typedef struct spots {
    rh_i8 tile[3];    // in tiles
    rh_i8 local;      // number of the cell in its tile
    rh_i8 there;      // a mask: not absurdly far away
    rh_f8 center[3];  // m, of the cells
} spots;

// What is asked there.
typedef struct seats {
    int64_t cell[LANES];  // over all tiles, -1: none
    rh_f8 center[3];      // m, of the cells
    rh_f8 flow[4];        // share and momentum of lanes n and n + 4
} seats;

// (Three axes in two dimensions too, with nothing along the third: loops of unknown length keep vectors out of
// registers.)
static inline spots spots_of(const rh_tiles *t, const rh_f8 x[3])
{
    spots s;
    s.local = (rh_i8){0};
    s.there = ~s.local;
    for (int a = 0; a < 3; a++) {
        bool used = a < t->dimension;
        rh_f8 p = x[a] * (used ? t->inverse_h : 0);
        s.there &= rh_f8_abs(p) < 1e8f * RH_TILE;
        rh_i8 cell = rh_f8_floor((rh_f8)((rh_i8)p & s.there));
        s.tile[a] = cell >> 3;
        s.local += (cell & 7) << 3 * a;
        s.center[a] = (__builtin_convertvector(cell, rh_f8) + 0.5f) * (used ? t->h : 0);
    }
    return s;
}

// The tile of a lane; `other`: one that is probably near, -1: none.
static int32_t tile_near(const rh_tiles *t, int32_t other, rh_tile at)
{
    if (other < 0) return rh_tiles_find(t, at);
    unsigned dx = (unsigned)(at.x - t->at[other].x + 1), dy = (unsigned)(at.y - t->at[other].y + 1),
             dz = (unsigned)(at.z - t->at[other].z + 1);
    return dx < 3 && dy < 3 && dz < 3 ? t->near[other][dx + 3 * dy + 9 * dz] : rh_tiles_find(t, at);
}

static __attribute__((noinline)) void find_tiles(const rh_tiles *t, const spots *s, int32_t *near, rh_i8 *out)
{
    for (int n = 0; n < LANES; n++) {
        const rh_tile at = {s->tile[0][n], s->tile[1][n], s->tile[2][n]};
        int32_t tile = s->there[n] && t->count ? tile_near(t, *near, at) : -1;
        (*out)[n] = tile;
        if (tile >= 0) *near = tile;
    }
}

// The tiles of eight places, -1: none. `near`: a tile that one is probably near, for the next call.
static inline rh_i8 tiles_of(const rh_foam_flow *flow, const spots *s, int32_t *near)
{
    const rh_foam_map *m = &flow->map;
    rh_i8 at = {0}, inside = s->there;
    if (!m->tiles) {
        const spots copy = *s;  // the address of `s` itself would keep it out of registers
        find_tiles(&flow->tiles, &copy, near, &at);
        return at;
    }
    for (int a = 2; a >= 0; a--) {
        rh_i8 k = s->tile[a] - (&m->low.x)[a];
        inside &= (k >= 0) & (k < m->size[a]);
        at = (at * m->size[a] + k) & inside;
    }
    uint32_t entry[LANES];
    at |= (int32_t)m->none & ~inside;
    memcpy(entry, &at, sizeof entry);
    return __builtin_convertvector(rh_f8_gather(m->tiles, entry), rh_i8);
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

static inline void sample_eight(const rh_foam_flow *flow, const rh_f8 x[3], int32_t *near, seats *out)
{
    const rh_tiles *t = &flow->tiles;
    const spots s = spots_of(t, x);
    rh_i8 at = {0};
    float w[3][LANES];
    const int32_t strides[3] = {1, SIDE, t->dimension == 3 ? SIDE * SIDE : 0};
    for (int a = 0; a < 3; a++) {
        rh_f8 p = (rh_f8)((rh_i8)(x[a] * t->inverse_h) & s.there) - 0.5f;
        rh_i8 low = rh_f8_floor(p);
        rh_f8_store(w[a], p - __builtin_convertvector(low, rh_f8));
        at += (low - (s.tile[a] << 3) + 1) * strides[a];
    }
    const rh_i8 tiles = tiles_of(flow, &s, near);
    const int32_t values = rh_block_values(t, 1);
    int32_t tile[LANES], in_block[LANES], in_tile[LANES];
    rh_f4 mixed[LANES];
    memcpy(tile, &tiles, sizeof tile);
    memcpy(in_block, &at, sizeof in_block);
    memcpy(in_tile, &s.local, sizeof in_tile);
    for (int n = 0; n < LANES; n++) {
        mixed[n] = rh_f4_all(0);
        out->cell[n] = -1;
        if (tile[n] < 0) continue;
        const rh_foam_cell *cells = flow->moved + (int64_t)tile[n] * values + in_block[n];
        mixed[n] = t->dimension == 3 ? rh_foam_mix(cells, w[0][n], w[1][n], w[2][n], true)
                                     : rh_foam_mix(cells, w[0][n], w[1][n], 0, false);
        out->cell[n] = (int64_t)tile[n] * t->cells + in_tile[n];
    }
    for (int n = 0; n < 4; n++) out->flow[n] = __builtin_shufflevector(mixed[n], mixed[n + 4], 0, 1, 2, 3, 4, 5, 6, 7);
    for (int a = 0; a < 3; a++) out->center[a] = s.center[a];
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

static inline void flow_of(const seats *s, rh_f8 *share, rh_f8 v[3])
{
    rh_f8 values[4];
    transpose(s->flow, values);
    *share = values[0];
    rh_f8 scale = (rh_f8)((*share > 0.0f) & (rh_i8)(1.0f / *share));
    for (int a = 0; a < 3; a++) v[a] = values[1 + a] * scale;
}

static inline void add_gather(const rh_foam_flow *flow, const seats *s, int foam, rh_f8 v[3])
{
    if (!flow->gather || !foam) return;
    rh_f8 rows[4], values[4];
    for (int n = 0; n < 4; n++) {
        rh_f4 one = rh_f4_load(&flow->gather[s->cell[n]].share),
              other = rh_f4_load(&flow->gather[s->cell[n + 4]].share);
        rows[n] = __builtin_shufflevector(one, other, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    transpose(rows, values);
    for (int a = 0; a < 3; a++) v[a] += rh_f8_masked(values[1 + a], foam);
}

// One byte of 0 or 1 for each of eight bits.
static inline uint64_t bytes_of(int bits)
{
    uint64_t each = (uint64_t)bits * 0x0101010101010101u & 0x8040201008040201u;
    return ((each + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u;
}

// Moves the eight particles from i on. Returns the bits of those that are over. `s` is where they were at the middle of
// the step.
static inline int move_eight(const rh_foam_flow *flow, const laws *l, const rh_foam_particles *p, int64_t i,
                             int32_t *tile, seats *s)
{
    rh_f8 x[3], v[3], mid[3], other[3], share;
    rh_f8_load3(&p->x[i].x, &x[0], &x[1], &x[2]);
    rh_f8_load3(&p->v[i].x, &v[0], &v[1], &v[2]);
    for (int a = 0; a < 3; a++) mid[a] = x[a] + v[a] * (0.5f * l->dt);
    sample_eight(flow, mid, tile, s);
    flow_of(s, &share, other);
    rh_i8 spray = share < l->spray_below, bubble = (share > l->bubble_above) & ~spray, foam = ~(spray | bubble);
    int foams = rh_i8_bits(foam), sprays = rh_i8_bits(spray), bubbles = rh_i8_bits(bubble);
    add_gather(flow, s, foams, other);
    const rh_f8 zero = rh_f8_all(0), sprayed_way = rh_f8_masked(rh_f8_all(l->spray.way), sprays),
                sprayed_rest = rh_f8_masked(rh_f8_all(l->spray.rest), sprays);
    rh_f8 way = rh_f8_select(bubble, rh_f8_all(l->bubble.way), sprayed_way),
          rest = rh_f8_select(bubble, rh_f8_all(l->bubble.rest), sprayed_rest);
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
    rh_f8 age = rh_f8_load(p->age + i) + l->dt, life = rh_f8_load(p->life + i) - rh_f8_masked(rh_f8_all(l->dt), foams);
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

// Whether a place in a cell, `off` (m²) from its centre, is farther than `gap` from all solids, as far as is known.
static inline bool is_clear(const rh_foam_flow *flow, int64_t cell, float gap, float off, rh_vec3 x)
{
    const rh_foam_open *open = &flow->open[cell];
    float left = flow->room[cell] - gap, beside = open->radius - gap;
    rh_vec3 way = rh_v3_sub(x, open->center);
    return (left > 0 && off < left * left) || (beside > 0 && rh_v3_dot(way, way) < beside * beside);
}

// Those of the eight, now at x, that a wall may be near to, pushed out of it.
static void collide_eight(const rh_foam_motion *m, const laws *l, const seats *s, rh_vec3 *x, rh_vec3 *v, int count)
{
    const rh_foam_flow *flow = m->flow;
    rh_f8 y[3], far = {0};
    float gap = (float)l->wall.gap + 1e-5f * flow->tiles.h;  // centres are rounded
    const float *room = flow->room;
    const int64_t *at = s->cell;
    rh_f8_load3(&x->x, &y[0], &y[1], &y[2]);
    for (int a = 0; a < 3; a++) far += (y[a] - s->center[a]) * (y[a] - s->center[a]);
    rh_f8 clear = {room[at[0]], room[at[1]], room[at[2]], room[at[3]],
                   room[at[4]], room[at[5]], room[at[6]], room[at[7]]};
    clear -= gap;
    int near = rh_i8_bits(~((clear > 0.0f) & (far < clear * clear))) & ((1 << count) - 1);
    if (!near) return;
    const spots now = spots_of(&flow->tiles, y);  // where they are now may be clear
    int32_t hint = -1;
    const rh_i8 tiles = tiles_of(flow, &now, &hint);
    rh_f8 off = {0};
    for (int a = 0; a < 3; a++) off += (y[a] - now.center[a]) * (y[a] - now.center[a]);
    for (; near; near &= near - 1) {
        int n = __builtin_ctz((unsigned)near);
        int32_t tile = tiles[n];
        if (tile < 0 || !is_clear(flow, (int64_t)tile * flow->tiles.cells + now.local[n], gap, off[n], x[n]))
            rh_flight_collide(&l->wall, m->around, &x[n], &v[n]);
    }
}

// --- foam that draws together ----------------------------------------------------------------------------------------
// Each thread into `values` numbers of its own: they are whole, so it does not matter who counts what. (One array for
// all and atomic additions took longer.)
static void count_foam(const rh_foam_motion *m, const rh_foam_particles *p, int64_t count, int32_t *foam, size_t values)
{
    const rh_tiles *t = &m->flow->tiles;
    const float half = 0.5f * (float)m->dt;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < rh_blocks(count); b++) {
        int32_t near = -1, *mine = foam + (size_t)rh_thread() * values;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, count); i += LANES) {
            int lanes = lanes_from(i, rh_block_end(b, count));
            rh_i8 kind = {-1, -1, -1, -1, -1, -1, -1, -1};
            if (lanes == LANES) memcpy(&kind, p->kind + i, sizeof kind);
            else memcpy(&kind, p->kind + i, (size_t)lanes * sizeof *p->kind);
            int members = rh_i8_bits(kind == RH_CLASS_FOAM);
            if (!members) continue;
            rh_f8 x[3], v[3];
            load_some(p->x + i, lanes, x);
            load_some(p->v + i, lanes, v);
            for (int a = 0; a < 3; a++) x[a] += v[a] * half;
            const spots s = spots_of(t, x);
            const rh_i8 tiles = tiles_of(m->flow, &s, &near);
            int32_t tile[LANES], local[LANES];
            memcpy(tile, &tiles, sizeof tile);
            memcpy(local, &s.local, sizeof local);
            for (members &= rh_i8_bits(tiles >= 0); members; members &= members - 1) {
                int n = __builtin_ctz((unsigned)members);
                mine[(int64_t)tile[n] * t->cells + local[n]]++;
            }
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

static void note_tiles(const rh_foam_flow *flow, const rh_vec3 *x, int64_t begin, int64_t end, int32_t *tiles)
{
    int32_t last = -1;
    for (int64_t i = begin; i < end; i += LANES) {
        int lanes = lanes_from(i, end);
        rh_f8 y[3];
        load_some(x + i, lanes, y);
        const spots s = spots_of(&flow->tiles, y);
        const rh_i8 found = tiles_of(flow, &s, &last), there = found >= 0;
        const rh_i8 noted = (found & there) | (flow->tiles.count & ~there);
        memcpy(tiles + i, &noted, (size_t)lanes * sizeof *tiles);
    }
}

// The eight particles from i on (`count` of them, the others are of no account), each moved and kept out of walls.
// Returns the bits of those that are over; `fastest`: of the others, squared, so far.
static inline int step_eight(const rh_foam_motion *m, const laws *l, const rh_foam_particles *p, int64_t i, int count,
                             int32_t *tile, rh_f8 *fastest)
{
    seats s;
    rh_f8 v[3];
    int all = (1 << count) - 1, over = move_eight(m->flow, l, p, i, tile, &s) & all;
    if (m->flow->room) collide_eight(m, l, &s, p->x + i, p->v + i, count);
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
        if (tiles) note_tiles(m->flow, p.x, begin, end, tiles);
    }
    return RH_OK;
}
