// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sampling by edges of a lattice: a flat wall along the lattice gets one sample a spacing, an oblique one the points
// where the edges of its steepest axis, and of those nearly as steep, pass it: 0.7 to 1.7 samples a square spacing.
// Their volumes make up for the difference. (Samples thrown at random, a least distance apart, are as even on average
// but not on flat walls, where the eye and a hydrostatic pressure see it.)
//
// The surface that is sampled lies LIFT outside of the union of the solids: there the smallest of the solids' distances
// is the true one, so parts of walls that are hidden where solids touch are not sampled.
#include "physics/sph_walls.h"

#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "base/random.h"
#include "physics/sph_runs.h"

static const char LABEL[] = "sph.walls";
static const double LIFT = 0.1;       // spacings
static const double STEEP = 0.7;      // of the steepest axis' share of the normal
static const double FINEST = 0.0625;  // of an edge: walls thinner than LIFT are seen from both sides
enum { NEAR_SOLIDS = 64 };

// --- anchors ---------------------------------------------------------------------------------------------------------
typedef struct sampler {
    const rh_obstacles *solids;
    const int *list;  // of those that are sampled
    int count;
    int dimension;
    double spacing, slack;
    rh_sph_anchors *out;
} sampler;

static rh_code append(rh_sph_anchors *a, rh_sph_anchor one, rh_status *status)
{
    if (a->count == a->room) {
        int64_t room = 2 * a->room + 256;
        rh_sph_anchor *grown = rh_realloc(a->items, (size_t)room * sizeof *grown, LABEL, status);
        if (!grown) return RH_MEMORY;
        a->items = grown, a->room = room;
    }
    a->items[a->count++] = one;
    return RH_OK;
}

static double height(const sampler *s, rh_dvec3 x, int *which)
{
    return rh_obstacles_distance_of(s->solids, s->list, s->count, x, which) - LIFT * s->spacing;
}

typedef struct edge {
    rh_dvec3 from;
    int axis;
} edge;

static rh_dvec3 on_edge(const sampler *s, const edge *e, double t)
{
    rh_dvec3 x = e->from;
    (&x.x)[e->axis] += t * s->spacing;
    return x;
}

static rh_code add_anchor(const sampler *s, const edge *e, double t, rh_status *status)
{
    int which = -1;
    rh_dvec3 x = on_edge(s, e, t);
    height(s, x, &which);
    if (which < 0) return RH_OK;
    rh_dvec3 n = rh_obstacles_normal(s->solids, which, x);
    if (s->dimension == 2) n.z = 0;
    n = rh_d3_unit(n);
    double most = fmax(fabs(n.x), fmax(fabs(n.y), fabs(n.z)));
    if (!(most > 0) || fabs((&n.x)[e->axis]) < STEEP * most) return RH_OK;
    return append(s->out, (rh_sph_anchor){rh_v3_from(x), rh_v3_from(n), which}, status);
}

// Between two places of an edge with the surface between them.
static double crossing(const sampler *s, const edge *e, double low, double f_low, double high)
{
    for (int n = 0; n < 12; n++) {
        double middle = 0.5 * (low + high), f = height(s, on_edge(s, e, middle), NULL);
        if ((f < 0) == (f_low < 0)) low = middle, f_low = f;
        else high = middle;
    }
    return 0.5 * (low + high);
}

static rh_code sample_edge(const sampler *s, const edge *e, double low, double f_low, double high, double f_high,
                           rh_status *status)
{
    double middle = 0.5 * (low + high), half = 0.5 * (high - low) * s->spacing;
    bool differ = (f_low < 0) != (f_high < 0);
    if (high - low <= FINEST) return differ ? add_anchor(s, e, crossing(s, e, low, f_low, high), status) : RH_OK;
    double f = height(s, on_edge(s, e, middle), NULL);
    if (fabs(f) > half + s->slack) return RH_OK;
    RH_TRY(sample_edge(s, e, low, f_low, middle, f, status));
    return sample_edge(s, e, middle, f, high, f_high, status);
}

static rh_dvec3 lattice_point(const sampler *s, const int64_t at[3], double further)
{
    double d = s->spacing;
    return rh_d3(((double)at[0] + 0.5 + further) * d, ((double)at[1] + 0.5 + further) * d,
                 s->dimension == 3 ? ((double)at[2] + 0.5 + further) * d : 0);
}

static rh_code sample_site(const sampler *s, const int64_t at[3], rh_status *status)
{
    rh_dvec3 x = lattice_point(s, at, 0);
    double f = height(s, x, NULL);
    if (fabs(f) > s->spacing + s->slack) return RH_OK;
    for (int a = 0; a < s->dimension; a++) {
        edge e = {x, a};
        RH_TRY(sample_edge(s, &e, 0, f, 1, height(s, on_edge(s, &e, 1), NULL), status));
    }
    return RH_OK;
}

// The edges that begin at the sites `low` to low + size - 1; `size` is a power of two.
static rh_code sample_block(const sampler *s, const int64_t low[3], int64_t size, rh_status *status)
{
    if (size == 1) return sample_site(s, low, status);
    double radius = 0.5 * (double)size * s->spacing * sqrt((double)s->dimension);
    if (fabs(height(s, lattice_point(s, low, 0.5 * (double)size), NULL)) > radius + s->slack) return RH_OK;
    for (int n = 0; n < 1 << s->dimension; n++) {
        int64_t at[3] = {low[0], low[1], low[2]};
        for (int a = 0; a < s->dimension; a++) at[a] += (n >> a & 1) * size / 2;
        RH_TRY(sample_block(s, at, size / 2, status));
    }
    return RH_OK;
}

static double slack_of(const rh_obstacles *solids, const int *list, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, rh_shape_slack(&solids->items[list[i]].shape));
    return most;
}

// --- what lives between steps ----------------------------------------------------------------------------------------
typedef struct kept_tile {
    rh_tile at;
    int64_t first, count;  // of cache->resting; first < 0: the place of the table is empty
} kept_tile;

struct rh_sph_wall_cache {
    rh_sph_anchors resting;  // by tile, in the order in which tiles came
    kept_tile *table;        // hash table
    int64_t table_size, table_used;
    rh_sph_anchors *own;  // by solid, in its own space: rigid ones that move
    bool *sampled;        // the same
    int solids;
    rh_sph_anchors fresh;  // of this step alone
};

rh_code rh_sph_wall_cache_create(rh_sph_wall_cache **out, rh_status *status)
{
    *out = rh_alloc_zero(sizeof **out, LABEL, status);
    return *out ? RH_OK : RH_MEMORY;
}

void rh_sph_wall_cache_free(rh_sph_wall_cache *c)
{
    if (!c) return;
    for (int i = 0; i < c->solids; i++) rh_free(c->own[i].items);
    void *const all[] = {c->resting.items, c->table, c->own, c->sampled, c->fresh.items, c};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) rh_free(all[i]);
}

static kept_tile *find_tile(kept_tile *table, int64_t size, rh_tile at)
{
    uint64_t key = rh_mix64((uint64_t)(uint32_t)at.x | (uint64_t)(uint32_t)at.y << 32) ^ rh_mix64((uint32_t)at.z);
    for (uint64_t n = rh_mix64(key) & (uint64_t)(size - 1);; n = (n + 1) & (uint64_t)(size - 1))
        if (table[n].first < 0 || memcmp(&table[n].at, &at, sizeof at) == 0) return &table[n];
}

static rh_code grow_table(rh_sph_wall_cache *c, rh_status *status)
{
    if (2 * (c->table_used + 1) <= c->table_size) return RH_OK;
    int64_t size = c->table_size ? 2 * c->table_size : 1024;
    kept_tile *grown = rh_alloc((size_t)size * sizeof *grown, LABEL, status);
    if (!grown) return RH_MEMORY;
    for (int64_t i = 0; i < size; i++) grown[i] = (kept_tile){.first = -1};
    for (int64_t i = 0; i < c->table_size; i++)
        if (c->table[i].first >= 0) *find_tile(grown, size, c->table[i].at) = c->table[i];
    rh_free(c->table);
    c->table = grown, c->table_size = size;
    return RH_OK;
}

static rh_code make_room_for_solids(rh_sph_wall_cache *c, int solids, rh_status *status)
{
    if (c->solids == solids) return RH_OK;
    RH_ASSERT(c->solids == 0);
    c->own = rh_alloc_zero((size_t)solids * sizeof *c->own, LABEL, status);
    c->sampled = rh_alloc_zero((size_t)solids * sizeof *c->sampled, LABEL, status);
    if (!c->own || !c->sampled) return RH_MEMORY;
    c->solids = solids;
    return RH_OK;
}

// --- solids by how they move -----------------------------------------------------------------------------------------
static bool has_end(const rh_shape *shape)
{
    rh_dbox b = rh_shape_bounds(shape);
    return fabs(b.min.x) < 1e20 && fabs(b.min.y) < 1e20 && fabs(b.max.x) < 1e20 && fabs(b.max.y) < 1e20;
}
static bool is_carried(const rh_obstacle *o) { return !o->rests && !o->sequence && has_end(&o->shape); }
static bool is_fresh(const rh_obstacle *o) { return !o->rests && !is_carried(o); }

typedef struct builder {
    rh_sph_wall_cache *cache;
    const rh_sph_kernel *kernel;
    const rh_obstacles *solids;
    const rh_tiles *tiles;
    int sites;  // of the lattice along a tile
} builder;

// Those near a tile for which `wanted` holds; returns how many.
static int near_tile(const builder *b, int32_t t, bool (*wanted)(const rh_obstacle *), int list[NEAR_SOLIDS])
{
    double half = 0.5 * RH_TILE * (double)b->tiles->h, reach = 2 * half + 2 * (double)b->kernel->spacing;
    rh_tile at = b->tiles->at[t];
    rh_dvec3 middle = {(2 * at.x + 1) * half, (2 * at.y + 1) * half,
                       b->tiles->dimension == 3 ? (2 * at.z + 1) * half : 0};
    int all[NEAR_SOLIDS], count = rh_obstacles_near(b->solids, middle, reach, all, NEAR_SOLIDS), kept = 0;
    for (int i = 0; i < count; i++)
        if (wanted(&b->solids->items[all[i]])) list[kept++] = all[i];
    return kept;
}

static rh_code sample_tile(const builder *b, int32_t t, const int *list, int count, rh_sph_anchors *out,
                           rh_status *status)
{
    sampler s = {
        b->solids, list, count, b->tiles->dimension, (double)b->kernel->spacing, slack_of(b->solids, list, count), out};
    rh_tile at = b->tiles->at[t];
    const int64_t n = b->sites, low[3] = {at.x * n, at.y * n, b->tiles->dimension == 3 ? at.z * n : 0};
    int64_t block = n & -n;  // the largest power of two in it: 16 of 16, 8 of 24
    for (int64_t z = 0; z < (b->tiles->dimension == 3 ? n : 1); z += block)
        for (int64_t y = 0; y < n; y += block)
            for (int64_t x = 0; x < n; x += block) {
                const int64_t from[3] = {low[0] + x, low[1] + y, low[2] + z};
                RH_TRY(sample_block(&s, from, block, status));
            }
    return RH_OK;
}

static bool rests(const rh_obstacle *o) { return o->rests; }

static rh_code sample_resting(const builder *b, rh_status *status)
{
    rh_sph_wall_cache *c = b->cache;
    for (int32_t t = 0; t < b->tiles->count; t++) {
        RH_TRY(grow_table(c, status));
        kept_tile *kept = find_tile(c->table, c->table_size, b->tiles->at[t]);
        if (kept->first >= 0) continue;
        int list[NEAR_SOLIDS], count = near_tile(b, t, rests, list);
        int64_t first = c->resting.count;
        if (count > 0) RH_TRY(sample_tile(b, t, list, count, &c->resting, status));
        *kept = (kept_tile){b->tiles->at[t], first, c->resting.count - first};
        c->table_used++;
    }
    return RH_OK;
}

// Samples all of a solid, in its own space.
static rh_code sample_own(const builder *b, int solid, rh_status *status)
{
    rh_sph_wall_cache *c = b->cache;
    if (c->sampled[solid]) return RH_OK;
    rh_obstacle own = b->solids->items[solid];
    own.pose = (rh_pose){.rotation = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    const rh_obstacles one = {.items = &own, .count = 1};
    const int list[1] = {0};
    double d = (double)b->kernel->spacing;
    sampler s = {&one, list, 1, b->tiles->dimension, d, rh_shape_slack(&own.shape), &c->own[solid]};
    rh_dbox box = rh_shape_bounds(&own.shape);
    int64_t low[3] = {0, 0, 0}, size = 1;
    for (int a = 0; a < s.dimension; a++) {
        low[a] = (int64_t)floor((&box.min.x)[a] / d) - 2;
        while ((double)size * d < (&box.max.x)[a] - (&box.min.x)[a] + 4 * d) size *= 2;
    }
    c->own[solid].count = 0;
    RH_TRY(sample_block(&s, low, size, status));
    for (int64_t i = 0; i < c->own[solid].count; i++) c->own[solid].items[i].solid = solid;
    c->sampled[solid] = true;
    return RH_OK;
}

static rh_code sample_fresh(const builder *b, rh_status *status)
{
    b->cache->fresh.count = 0;
    bool any = false;
    for (int i = 0; i < b->solids->count; i++) any = any || is_fresh(&b->solids->items[i]);
    for (int32_t t = 0; t < b->tiles->count && any; t++) {
        int list[NEAR_SOLIDS], count = near_tile(b, t, is_fresh, list);
        if (count > 0) RH_TRY(sample_tile(b, t, list, count, &b->cache->fresh, status));
    }
    return RH_OK;
}

// --- the samples of a step -------------------------------------------------------------------------------------------
// The number of the cell that a place lies in; -1 when its tile is not there.
static int64_t cell_at(const rh_tiles *tiles, rh_vec3 x)
{
    int32_t t = rh_tiles_at(tiles, x);
    if (t < 0) return -1;
    int i = rh_floor(x.x * tiles->inverse_h) & 7, j = rh_floor(x.y * tiles->inverse_h) & 7,
        k = tiles->dimension == 3 ? rh_floor(x.z * tiles->inverse_h) & 7 : 0;
    return (int64_t)t * tiles->cells + i + 8 * j + 64 * k;
}

static rh_vec3 sample_of(const rh_sph_kernel *k, const rh_sph_anchor *a)
{
    float deep = (float)LIFT * k->spacing + k->depth;
    return rh_v3_sub(a->at, rh_v3_scale(a->normal, deep));
}

typedef struct collector {
    rh_sph_anchor *items;  // in the world
    int64_t *cell;
    int64_t count;
} collector;

static void collect(const builder *b, const rh_sph_anchor *a, collector *out)
{
    int64_t cell = cell_at(b->tiles, sample_of(b->kernel, a));
    if (cell < 0) return;
    out->items[out->count] = *a;
    out->cell[out->count++] = cell;
}

static bool moves(const rh_obstacle *o) { return !o->rests; }

static void collect_resting(const builder *b, collector *out)
{
    for (int32_t t = 0; t < b->tiles->count; t++) {
        const kept_tile *kept = find_tile(b->cache->table, b->cache->table_size, b->tiles->at[t]);
        if (kept->count == 0) continue;
        int list[NEAR_SOLIDS], count = b->solids->any_moving ? near_tile(b, t, moves, list) : 0;
        for (int64_t i = kept->first; i < kept->first + kept->count; i++) {
            const rh_sph_anchor *a = &b->cache->resting.items[i];
            bool hidden = count > 0 && rh_obstacles_distance_of(b->solids, list, count, rh_d3_from(a->at), NULL) <= 0;
            if (!hidden) collect(b, a, out);
        }
    }
}

static void collect_moving(const builder *b, const rh_sph_anchors *from, bool own_space, collector *out)
{
    for (int64_t i = 0; i < from->count; i++) {
        rh_sph_anchor a = from->items[i];
        const rh_pose *pose = &b->solids->items[a.solid].pose;
        if (own_space) {
            a.at = rh_v3_from(rh_pose_to_world(pose, rh_d3_from(a.at)));
            a.normal = rh_v3_from(rh_pose_turn(pose, rh_d3_from(a.normal)));
            if (b->tiles->dimension == 2) a.at.z = 0;
        }
        if (cell_at(b->tiles, sample_of(b->kernel, &a)) < 0) continue;
        if (rh_obstacles_distance(b->solids, rh_d3_from(a.at), NULL) > 0) collect(b, &a, out);
    }
}

static int64_t most_samples(const builder *b)
{
    const rh_sph_wall_cache *c = b->cache;
    int64_t most = c->fresh.count;
    for (int32_t t = 0; t < b->tiles->count; t++) most += find_tile(c->table, c->table_size, b->tiles->at[t])->count;
    for (int i = 0; i < c->solids; i++) most += c->own[i].count;
    return most;
}

static rh_code take(rh_sph_walls *w, const builder *b, int64_t count, rh_arena *arena, rh_status *status)
{
    size_t padded = (size_t)count + 8, cells = (size_t)rh_tiles_values(b->tiles) + 1;
    *w = (rh_sph_walls){.count = count,
                        .place = rh_arena_take(arena, 4 * padded * sizeof(float), status),
                        .flow = rh_arena_take_zero(arena, 4 * padded * sizeof(float), status),
                        .x = rh_arena_take(arena, padded * sizeof(float), status),
                        .y = rh_arena_take(arena, padded * sizeof(float), status),
                        .z = rh_arena_take(arena, padded * sizeof(float), status),
                        .anchor = rh_arena_take(arena, padded * sizeof(rh_vec3), status),
                        .solid = rh_arena_take(arena, padded * sizeof(int32_t), status),
                        .first = rh_arena_take_zero(arena, cells * sizeof(uint32_t), status)};
    return w->place && w->flow && w->x && w->y && w->z && w->anchor && w->solid && w->first ? RH_OK : RH_MEMORY;
}

static void put(rh_sph_walls *w, const builder *b, int64_t at, const rh_sph_anchor *a)
{
    rh_vec3 x = sample_of(b->kernel, a);
    w->x[at] = x.x, w->y[at] = x.y, w->z[at] = x.z;
    w->anchor[at] = a->at;
    w->solid[at] = a->solid;
    if (b->solids->items[a->solid].rests) return;
    rh_vec3 v = rh_v3_from(rh_obstacles_velocity(b->solids, a->solid, rh_d3_from(a->at)));
    w->flow[4 * at] = v.x, w->flow[4 * at + 1] = v.y, w->flow[4 * at + 2] = b->tiles->dimension == 3 ? v.z : 0;
}

// A stable counting sort by cell.
static rh_code sort_samples(rh_sph_walls *w, const builder *b, const collector *from, rh_arena *arena,
                            rh_status *status)
{
    RH_TRY(take(w, b, from->count, arena, status));
    int64_t cells = rh_tiles_values(b->tiles);
    uint32_t sum = 0;
    for (int64_t i = 0; i < from->count; i++) w->first[from->cell[i]]++;
    for (int64_t c = 0; c <= cells; c++) {
        uint32_t here = w->first[c];
        w->first[c] = sum, sum += here;
    }
    for (int64_t i = 0; i < from->count; i++) put(w, b, w->first[from->cell[i]]++, &from->items[i]);
    memmove(w->first + 1, w->first, (size_t)cells * sizeof *w->first);
    w->first[0] = 0;
    for (int64_t i = from->count; i < from->count + 8; i++) w->x[i] = w->y[i] = w->z[i] = 1e15f;
    return RH_OK;
}

// --- volumes ---------------------------------------------------------------------------------------------------------
// All that rests is one body: where two solids meet in one plane there is no seam.
static int32_t body_of(const builder *b, const rh_sph_walls *w, int64_t i)
{
    return b->solids->items[w->solid[i]].rests ? -1 : w->solid[i];
}

// Of eight samples from n on, those that belong to the body.
static int same_body(const builder *b, const rh_sph_walls *w, int64_t n, int64_t end, int32_t body)
{
    int lanes = end - n < 8 ? (int)(end - n) : 8, bits = 0;
    if (!b->solids->any_moving) return (1 << lanes) - 1;
    for (int l = 0; l < lanes; l++) bits |= (body_of(b, w, n + l) == body) << l;
    return bits;
}

static void set_volume(const builder *b, const rh_sph_walls *w, const rh_sph_run *runs, int run_count, int64_t i)
{
    rh_f8 sum = rh_f8_all(0);
    int32_t body = body_of(b, w, i);
    for (int r = 0; r < run_count; r++)
        for (int64_t n = runs[r].begin; n < runs[r].end; n += 8) {
            rh_f8 x = rh_f8_load(w->x + n) - w->x[i], y = rh_f8_load(w->y + n) - w->y[i],
                  z = rh_f8_load(w->z + n) - w->z[i];
            rh_f8 value = rh_sph_value(b->kernel, x * x + y * y + z * z);
            sum += rh_f8_masked(value, same_body(b, w, n, runs[r].end, body));
        }
    float *out = w->place + 4 * i;
    out[0] = w->x[i], out[1] = w->y[i], out[2] = w->z[i];
    out[3] = 1 / rh_f8_sum(sum);
}

static void set_volumes(const builder *b, const rh_sph_walls *w)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < b->tiles->count; t++)
        for (int c = 0; c < b->tiles->cells; c++) {
            const uint32_t *first = w->first + (int64_t)t * b->tiles->cells + c;
            rh_sph_run runs[RH_SPH_MOST_RUNS];
            if (first[0] == first[1]) continue;
            int count = rh_sph_runs(b->tiles, w->first, t, c & 7, c >> 3 & 7, c >> 6, runs);
            for (int64_t i = first[0]; i < first[1]; i++) set_volume(b, w, runs, count, i);
        }
    for (int64_t i = w->count; i < w->count + 8; i++) {
        float *out = w->place + 4 * i;
        out[0] = out[1] = out[2] = 1e15f;
        out[3] = 0;
    }
}

rh_code rh_sph_walls_build(rh_sph_walls *walls, rh_sph_wall_cache *cache, const rh_sph_kernel *kernel,
                           const rh_surroundings *around, const rh_tiles *tiles, rh_arena *arena, rh_status *status)
{
    builder b = {cache, kernel, around->obstacles, tiles,
                 (int)lround(RH_TILE * (double)tiles->h / (double)kernel->spacing)};
    RH_TRY(make_room_for_solids(cache, b.solids->count, status));
    RH_TRY(sample_resting(&b, status));
    RH_TRY(sample_fresh(&b, status));
    for (int i = 0; i < b.solids->count; i++)
        if (is_carried(&b.solids->items[i])) RH_TRY(sample_own(&b, i, status));
    size_t most = (size_t)most_samples(&b) + 1;
    collector all = {.items = rh_arena_take(arena, most * sizeof *all.items, status),
                     .cell = rh_arena_take(arena, most * sizeof *all.cell, status)};
    if (!all.items || !all.cell) return RH_MEMORY;
    collect_resting(&b, &all);
    for (int i = 0; i < b.solids->count; i++)
        if (is_carried(&b.solids->items[i])) collect_moving(&b, &cache->own[i], true, &all);
    collect_moving(&b, &cache->fresh, false, &all);
    RH_TRY(sort_samples(walls, &b, &all, arena, status));
    set_volumes(&b, walls);
    return RH_OK;
}
