// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The potentials are those of Ihmsen and others (2012, section 3.1), between a cell and its neighbours instead of
// between particles: equation 2 for air that is trapped where liquid runs together, 6 and 7 for crests, and the curl of
// the velocity. They are means, not sums, so that thresholds do not depend on the number of neighbours: m/s, and 1 less
// a cosine. Over cells they cost a hundredth of what they cost over the pairs of particles.
#include "physics/whitewater/flow.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "base/simd.h"
#include "grid/transfer.h"

enum { MARGIN = 2, SIDE = RH_TILE + 2, BLOCK = SIDE * SIDE * SIDE };
static const float PI = 3.14159265f;

// --- onto the grid ---------------------------------------------------------------------------------------------------
static rh_code copy_base(rh_foam_flow *flow, const rh_base_run *base, rh_status *status)
{
    rh_points *to = &flow->points;
    RH_TRY(rh_points_add(to, "P", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(to, "v", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(to, "id", RH_POINT_I64, status));
    RH_TRY(rh_points_resize(to, base->points.count, status));
    if (!to->count) return RH_OK;
    const rh_attribute *v = rh_points_find(&base->points, "v"), *id = rh_points_find(&base->points, "id");
    memcpy(rh_points_data(to, "P", RH_POINT_VEC3F), rh_points_data(&base->points, "P", RH_POINT_VEC3F),
           (size_t)to->count * sizeof(rh_vec3));
    if (v && v->type == RH_POINT_VEC3F)
        memcpy(rh_points_data(to, "v", RH_POINT_VEC3F), v->data, (size_t)to->count * sizeof(rh_vec3));
    int64_t *ids = rh_points_data(to, "id", RH_POINT_I64);
    for (int64_t i = 0; i < to->count; i++)
        ids[i] = id && id->type == RH_POINT_I64 ? ((const int64_t *)id->data)[i] : i;
    return RH_OK;
}

typedef struct spread {
    rh_faces velocity, weight;
    float **count;
} spread;

static rh_code spread_base(rh_foam_flow *flow, rh_arena *arena, spread *s, rh_status *status)
{
    const rh_tiles *t = &flow->tiles;
    RH_TRY(rh_faces_new(&s->velocity, t, true, arena, status));
    RH_TRY(rh_faces_new(&s->weight, t, true, arena, status));
    float *counts = rh_arena_take_zero(arena, (size_t)(rh_tiles_values(t) + 8) * sizeof *counts, status);
    s->count = rh_arena_take(arena, (size_t)(t->count + 1) * sizeof *s->count, status);
    if (!counts || !s->count) return RH_MEMORY;
    for (int32_t n = 0; n < t->count; n++) s->count[n] = counts + (int64_t)n * t->cells;
    rh_particles_to_grid(t, rh_points_data(&flow->points, "P", RH_POINT_VEC3F),
                         rh_points_data(&flow->points, "v", RH_POINT_VEC3F), NULL, s->velocity, s->weight, s->count);
    return RH_OK;
}

static rh_foam_cell *block_of(const rh_foam_flow *flow, rh_foam_cell *all, int32_t n)
{
    return all + (int64_t)n * rh_block_values(&flow->tiles, 1);
}

// The mean of both faces of a cell, by what there is of liquid at each.
static void fill_cells(rh_foam_flow *flow, const spread *s, float full)
{
    const rh_tiles *t = &flow->tiles;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < t->count; n++) {
        float v[BLOCK], w[BLOCK];
        rh_foam_cell *cells = block_of(flow, flow->cells, n);
        for (int c = 0; c < t->cells; c++)
            cells[rh_block_index(t, 1, c & 7, c >> 3 & 7, c >> 6)] = (rh_foam_cell){.share = s->count[n][c] / full};
        for (int a = 0; a < t->dimension; a++) {
            rh_block_load(t, s->velocity.axis[a], n, 1, 0, v);
            rh_block_load(t, s->weight.axis[a], n, 1, 0, w);
            int next = a == 0 ? 1 : a == 1 ? SIDE : SIDE * SIDE;
            for (int c = 0; c < t->cells; c++) {
                int at = rh_block_index(t, 1, c & 7, c >> 3 & 7, c >> 6);
                float sum = w[at] + w[at + next];
                (&cells[at].v.x)[a] = sum > 0 ? (w[at] * v[at] + w[at + next] * v[at + next]) / sum : 0;
            }
        }
    }
}

// Cells around a tile are copied from their own tiles, so that whoever looks around within a block of 10 cells a side
// asks for no neighbours.
static void fill_borders(rh_foam_flow *flow)
{
    const rh_tiles *t = &flow->tiles;
    int deep = t->dimension == 3, values = rh_block_values(t, 1);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < t->count; n++) {
        rh_foam_cell *cells = block_of(flow, flow->cells, n), *moved = block_of(flow, flow->moved, n);
        for (int k = -deep; k < (deep ? 9 : 1); k++)
            for (int j = -1; j < 9; j++) {
                bool inner = j >= 0 && j < 8 && (!deep || (k >= 0 && k < 8));
                for (int i = -1; i < 9; i += inner && i == -1 ? 9 : 1) {
                    int32_t from = t->near[n][(i >> 3) + 1 + 3 * ((j >> 3) + 1) + 9 * (deep ? (k >> 3) + 1 : 1)];
                    int there = rh_block_index(t, 1, i & 7, j & 7, k & 7);
                    cells[rh_block_index(t, 1, i, j, k)] = from < 0 ? (rh_foam_cell){0}
                                                                    : block_of(flow, flow->cells, from)[there];
                }
            }
        for (int c = 0; c < values; c++)
            moved[c] = (rh_foam_cell){cells[c].share, rh_v3_scale(cells[c].v, cells[c].share)};
    }
}

// --- potentials ------------------------------------------------------------------------------------------------------
// A tile and the cells around it, a number after the other: a row of a tile is eight of each.
typedef struct block {
    float share[BLOCK], v[3][BLOCK], normal[3][BLOCK];
} block;

static void load_cells(const rh_foam_flow *flow, int32_t n, block *b)
{
    const rh_foam_cell *cell = block_of(flow, flow->cells, n);
    for (int c = 0; c < rh_block_values(&flow->tiles, 1); c++) {
        b->share[c] = cell[c].share;
        b->v[0][c] = cell[c].v.x, b->v[1][c] = cell[c].v.y, b->v[2][c] = cell[c].v.z;
    }
}

static void load_normals(const rh_foam_flow *flow, int32_t n, block *b)
{
    const rh_tiles *t = &flow->tiles;
    int deep = t->dimension == 3;
    for (int k = -deep; k < (deep ? 9 : 1); k++)
        for (int j = -1; j < 9; j++)
            for (int i = -1; i < 9; i++) {
                int32_t from = t->near[n][(i >> 3) + 1 + 3 * ((j >> 3) + 1) + 9 * (deep ? (k >> 3) + 1 : 1)];
                int cell = (i & 7) + 8 * (j & 7) + (deep ? 64 * (k & 7) : 0), at = rh_block_index(t, 1, i, j, k);
                rh_vec3 normal = from < 0 ? rh_v3(0, 0, 0) : flow->normal[(int64_t)from * t->cells + cell];
                for (int a = 0; a < 3; a++) b->normal[a][at] = (&normal.x)[a];
            }
}

// Normals point out of the liquid, against the gradient of the share, where that is steep enough to be the surface.
static void fill_normals(rh_foam_flow *flow)
{
    const rh_tiles *t = &flow->tiles;
    static const int next[3] = {1, SIDE, SIDE * SIDE};
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < t->count; n++)
        for (int c = 0; c < t->cells; c++) {
            const rh_foam_cell *at = block_of(flow, flow->cells, n) + rh_block_index(t, 1, c & 7, c >> 3 & 7, c >> 6);
            rh_vec3 slope = {0, 0, 0};
            for (int a = 0; a < t->dimension; a++) (&slope.x)[a] = at[-next[a]].share - at[next[a]].share;
            float steep = rh_v3_length(slope);
            flow->normal[(int64_t)n * t->cells + c] = steep > 0.25f ? rh_v3_scale(slope, 1 / steep) : rh_v3(0, 0, 0);
        }
}

// Vectors of eight cells of a row.
typedef struct vectors {
    rh_f8 x, y, z;
} vectors;

static inline vectors row_of(const float values[3][BLOCK], int at)
{
    return (vectors){rh_f8_load(&values[0][at]), rh_f8_load(&values[1][at]), rh_f8_load(&values[2][at])};
}
static inline rh_f8 dot(const vectors *a, const vectors *b) { return a->x * b->x + a->y * b->y + a->z * b->z; }
static inline rh_f8 along(const vectors *a, rh_vec3 way) { return a->x * way.x + a->y * way.y + a->z * way.z; }
static inline rh_f8 and_mask(rh_f8 v, rh_i8 mask) { return (rh_f8)((rh_i8)v & mask); }

static inline rh_f8 ramp(const rh_potential *p, rh_f8 value)
{
    rh_f8 at = (value - (float)p->low) / (float)(p->high - p->low);
    return rh_f8_min(rh_f8_max(at, rh_f8_all(0)), rh_f8_all(1));
}

// Sums over the neighbours of cells, weighted by 1 - distance / 2 and by the liquid that is there.
typedef struct around {
    rh_f8 weight, towards, surface, curved;
    vectors curl;  // 1/s, of the differences along the axes
} around;

// The way to a neighbour, in cells.
typedef struct way {
    rh_vec3 to;
    float far, near;  // its length, and one over it
    int step;         // in a block
} way;

static int ways_around(int dimension, way ways[26])
{
    int deep = dimension == 3, count = 0;
    for (int k = -deep; k <= deep; k++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                float far = sqrtf((float)(i * i + j * j + k * k));
                if (far == 0) continue;
                ways[count++] = (way){{(float)i, (float)j, (float)k}, far, 1 / far, i + SIDE * (j + SIDE * k)};
            }
    return count;
}

static inline void add_flow(const block *b, int at, const way *w, const vectors *here, float inverse_h, around *sum)
{
    rh_f8 weight = (1 - 0.5f * w->far) * rh_f8_min(rh_f8_load(&b->share[at + w->step]), rh_f8_all(1));
    vectors v = row_of(b->v, at + w->step);
    v = (vectors){here->x - v.x, here->y - v.y, here->z - v.z};
    sum->weight += weight;
    sum->towards += weight *
                    (rh_f8_sqrt(dot(&v, &v)) + along(&v, w->to) * w->near);  // |v| (1 - cos), x to here is -way
    if (w->far == 1) {
        rh_i8 there = weight > 0.0f;
        float scale = -0.5f * inverse_h;
        vectors d = {v.x * scale, v.y * scale, v.z * scale};
        rh_vec3 to = w->to;
        sum->curl.x += and_mask(to.y * d.z - to.z * d.y, there);
        sum->curl.y += and_mask(to.z * d.x - to.x * d.z, there);
        sum->curl.z += and_mask(to.x * d.y - to.y * d.x, there);
    }
}

static inline void add_surface(const block *b, int at, const way *w, const vectors *n, around *sum)
{
    const vectors m = row_of(b->normal, at + w->step);
    rh_i8 there = dot(&m, &m) > 0.0f, behind = along(n, w->to) < 0.0f;  // only where it bulges out
    float weight = 1 - 0.5f * w->far;
    sum->surface += and_mask(rh_f8_all(weight), there);
    sum->curved += and_mask(weight * (1 - dot(n, &m)), there & behind);
}

static inline rh_f8 energy_of(const rh_whitewater_params *p, const block *b, int at)
{
    const rh_potential moves = {p->speed_low * p->speed_low, p->speed_high * p->speed_high, 1};
    const vectors v = row_of(b->v, at);
    rh_f8 speed = rh_f8_sqrt(dot(&v, &v));
    return and_mask(ramp(&moves, speed * speed), rh_f8_load(&b->share[at]) > (float)p->thinnest);
}

// The rates of a row of cells whose energy (0..1) is known.
static rh_f8 rates_of(const rh_whitewater_params *p, float inverse_h, const block *b, const way *ways, int count,
                      int at, rh_f8 energy)
{
    const vectors here = row_of(b->v, at), normal = row_of(b->normal, at);
    around sum = {0};
    rh_f8 length = rh_f8_sqrt(dot(&here, &here)), scale = 1 / length, one = rh_f8_all(1);
    const vectors unit = {here.x * scale, here.y * scale, here.z * scale};
    rh_i8 leads = dot(&normal, &unit) >= 0.6f;  // never where there is no normal, nor where nothing moves
    for (int n = 0; n < count; n++) add_flow(b, at, &ways[n], &here, inverse_h, &sum);
    for (int n = 0; n < count && rh_i8_bits(leads); n++) add_surface(b, at, &ways[n], &normal, &sum);
    rh_i8 wet = sum.weight > 0.0f, crests = leads & (sum.surface > 0.0f);
    rh_f8 air = and_mask(ramp(&p->trapped_air, sum.towards / rh_f8_select(wet, sum.weight, one)), wet),
          crest = and_mask(ramp(&p->wave_crest, sum.curved / rh_f8_select(crests, sum.surface, one)), crests),
          whirl = ramp(&p->vorticity, rh_f8_sqrt(dot(&sum.curl, &sum.curl)));
    return (float)p->amount * energy *
           ((float)p->trapped_air.rate * air + (float)p->wave_crest.rate * crest + (float)p->vorticity.rate * whirl);
}

// Which of eight cells have particles.
static rh_i8 occupied(const uint32_t *first)
{
    rh_i8 here, next;
    memcpy(&here, first, sizeof here);
    memcpy(&next, first + 1, sizeof next);
    return here != next;
}

static void fill_rates(rh_foam_flow *flow, const rh_whitewater_params *p)
{
    const rh_tiles *t = &flow->tiles;
    way ways[26];
    const int count = ways_around(t->dimension, ways);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < t->count; n++) {
        static _Thread_local block b;
        bool whole = false;
        load_cells(flow, n, &b);
        for (int c = 0; c < t->cells; c += RH_TILE) {
            int64_t cell = (int64_t)n * t->cells + c;
            int at = rh_block_index(t, 1, 0, c >> 3 & 7, c >> 6);
            rh_f8 energy = energy_of(p, &b, at), rates = rh_f8_all(0);
            rh_i8 makes = occupied(t->first + cell) & (energy > 0.0f);
            if (rh_i8_bits(makes)) {
                if (!whole) load_normals(flow, n, &b);
                whole = true;
                rates = and_mask(rates_of(p, t->inverse_h, &b, ways, count, at, energy), makes);
            }
            rh_f8_store(flow->rate + cell, rates);
        }
    }
}

// A table of the box around all tiles, unless most of it would be empty.
static rh_code build_map(rh_foam_flow *flow, rh_arena *arena, rh_status *status)
{
    enum { EMPTY = 64, SMALL = 4096 };  // entries a tile, and what is allowed anyway
    const rh_tiles *t = &flow->tiles;
    rh_foam_map *m = &flow->map;
    *m = (rh_foam_map){0};
    if (!t->count || t->count >= 1 << 24) return RH_OK;
    rh_tile low = t->at[0], high = t->at[0];
    for (int32_t n = 1; n < t->count; n++)
        for (int a = 0; a < 3; a++) {
            int32_t at = (&t->at[n].x)[a];
            if (at < (&low.x)[a]) (&low.x)[a] = at;
            if (at > (&high.x)[a]) (&high.x)[a] = at;
        }
    double entries = 1;
    m->low = low;
    for (int a = 0; a < 3; a++) {
        double side = (double)(&high.x)[a] - (double)(&low.x)[a] + 1;
        entries *= side;
        if (entries > EMPTY * (double)t->count + SMALL || entries > 1e9) return RH_OK;
        m->size[a] = (int32_t)side;
    }
    m->none = (uint32_t)entries;
    m->tiles = rh_arena_take(arena, ((size_t)m->none + 1) * sizeof *m->tiles, status);
    if (!m->tiles) return RH_MEMORY;
    for (uint32_t n = 0; n <= m->none; n++) m->tiles[n] = -1;
    for (int32_t n = 0; n < t->count; n++) {
        rh_tile at = t->at[n];
        m->tiles[(at.x - low.x) + m->size[0] * ((at.y - low.y) + m->size[1] * (at.z - low.z))] = (float)n;
    }
    return RH_OK;
}

rh_code rh_foam_flow_build(rh_foam_flow *flow, const rh_whitewater_params *params, const rh_base_run *base,
                           rh_arena *arena, rh_status *status)
{
    double h = (double)base->reach / 1.5;
    float r = base->radius,
          full = base->dimension == 3 ? (float)(h * h * h) / (4 * PI / 3 * r * r * r) : (float)(h * h) / (PI * r * r);
    spread s;
    flow->gather = NULL;
    flow->room = NULL;
    flow->open = NULL;
    RH_TRY(copy_base(flow, base, status));
    RH_TRY(rh_tiles_build(&flow->tiles, base->dimension, h, rh_points_data(&flow->points, "P", RH_POINT_VEC3F),
                          flow->points.count, MARGIN, arena, status));
    RH_TRY(rh_tiles_sort(&flow->tiles, &flow->points, arena, status));
    RH_TRY(build_map(flow, arena, status));
    size_t values = (size_t)rh_tiles_values(&flow->tiles) + 8;
    size_t block_values = (size_t)rh_block_values(&flow->tiles, 1), all = (size_t)flow->tiles.count * block_values;
    size_t padded = all + block_values + 8;
    flow->cells = rh_arena_take(arena, padded * sizeof *flow->cells, status);
    flow->moved = rh_arena_take(arena, padded * sizeof *flow->moved, status);
    flow->rate = rh_arena_take(arena, values * sizeof *flow->rate, status);
    flow->normal = rh_arena_take(arena, values * sizeof *flow->normal, status);
    if (!flow->cells || !flow->moved || !flow->rate || !flow->normal) return RH_MEMORY;
    memset(flow->moved + all, 0, (padded - all) * sizeof *flow->moved);
    RH_TRY(spread_base(flow, arena, &s, status));
    fill_cells(flow, &s, full);
    fill_borders(flow);
    fill_normals(flow);
    fill_rates(flow, params);
    return RH_OK;
}

// --- questions -------------------------------------------------------------------------------------------------------
int64_t rh_foam_find(const rh_foam_flow *flow, int32_t other, rh_vec3 x)
{
    const rh_tiles *t = &flow->tiles;
    int i = rh_floor(x.x * t->inverse_h), j = rh_floor(x.y * t->inverse_h),
        k = t->dimension == 3 ? rh_floor(x.z * t->inverse_h) : 0;
    int32_t n = other;
    if (n >= 0) {
        unsigned dx = (unsigned)((i >> 3) - t->at[n].x + 1), dy = (unsigned)((j >> 3) - t->at[n].y + 1),
                 dz = (unsigned)((k >> 3) - t->at[n].z + 1);
        n = dx < 3 && dy < 3 && dz < 3 ? t->near[n][dx + 3 * dy + 9 * dz] : t->count ? rh_tiles_at(t, x) : -1;
    } else n = t->count ? rh_tiles_at(t, x) : -1;
    return n < 0 ? -1 : (int64_t)n * t->cells + (i & 7) + 8 * (j & 7) + 64 * (k & 7);
}

rh_foam_cell rh_foam_sample(const rh_foam_flow *flow, int64_t cell, rh_vec3 x)
{
    const rh_tiles *t = &flow->tiles;
    bool deep = t->dimension == 3;
    if (cell < 0) return (rh_foam_cell){0};
    int32_t n = rh_foam_tile(flow, cell);
    rh_tile at = t->at[n];
    rh_f4 p = (rh_f4){x.x, x.y, x.z, 0} * t->inverse_h - 0.5f;
    rh_i4 whole = rh_f4_floor(p);
    rh_f4 w = p - __builtin_convertvector(whole, rh_f4);
    rh_i4 low = whole - (rh_i4){at.x, at.y, at.z, 0} * RH_TILE;
    const rh_foam_cell *first = flow->moved + (int64_t)n * rh_block_values(t, 1) +
                                rh_block_index(t, 1, low[0], low[1], low[2]);
    rh_f4 sum = rh_foam_mix(first, w[0], w[1], w[2], deep);
    float scale = sum[0] > 0 ? 1 / sum[0] : 0;
    return (rh_foam_cell){sum[0], rh_v3(sum[1] * scale, sum[2] * scale, sum[3] * scale)};
}
