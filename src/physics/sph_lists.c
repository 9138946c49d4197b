// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Two passes over the tiles. The first goes through the cells: what lies in the 27 (9) cells around one and within the
// support of the box of its particles, three quarters of it, is put side by side once for all of them; each then tests
// it in eights and keeps numbers and squared distances of neighbours one after the other, which is all that the density
// needs. So the kernel is evaluated for neighbours only, a fifth of the candidates. Lists go to the arena, as many
// eights a particle as liquid at rest fills; then the lengths are summed up, and the second pass copies them to where
// they belong. (That memory is what the solver's weights take afterwards.) A tile whose lists were too long is searched
// again. (Before, a bit for every candidate was kept and turned into numbers by the second pass, and the kernel
// evaluated for all: 2.5 times the time.)
#include "physics/sph_lists.h"

#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "physics/sph_runs.h"
#include "solid/thin.h"

static const char LABEL[] = "sph.lists";
enum { LANES = 8 };
static const double FAR_AWAY = 1e29;  // m

// Places of the bits that are set, lowest first; what follows them does not matter.
typedef struct places {
    uint8_t at[256][LANES];
} places;

static void make_places(places *p)
{
    memset(p, 0, sizeof *p);
    for (int bits = 0; bits < 256; bits++)
        for (int n = 0, count = 0; n < LANES; n++)
            if (bits >> n & 1) p->at[bits][count++] = (uint8_t)n;
}

enum { EIGHTS = 6, FLAT_EIGHTS = 3 };  // of a particle, in space and in the plane: memory for the first pass

typedef struct finder {
    const rh_sph_search *s;
    rh_sph_lists *lists;
    const places *places;
    uint32_t *kept;  // lists of the first pass: `room` eights a particle, those of a tile one after the other
    int room;
    bool *over;           // [tiles] that was not enough
    uint32_t *eights[2];  // [count] length of the lists, particles and walls
    float *thin;          // [count] m: distance from thin solids, 1e30 when they are far; NULL: there are none
    uint8_t *far;         // [tiles] cells that particles of a tile look far; NULL: one
} finder;

// --- thin walls ------------------------------------------------------------------------------------------------------
typedef struct veil {
    const finder *f;
    int64_t particle;
    rh_thin_list near;
    rh_thin_place own;
} veil;

static rh_dvec3 place_of(const rh_sph_search *s, int64_t i) { return rh_d3(s->x[i], s->y[i], s->z[i]); }

// The place from which lines of sight begin: a little farther out where a place touches a thin wall, as it would else
// see nothing.
static rh_thin_place thin_place(const veil *v, rh_dvec3 x)
{
    const rh_obstacles *solids = v->f->s->obstacles;
    double least = 0.02 * (double)v->f->s->kernel->support;
    int which = -1;
    double distance = rh_obstacles_distance_of(solids, v->near.items, v->near.count, x, &which);
    if (which < 0 || distance >= least) return (rh_thin_place){x, distance};
    rh_dvec3 out = rh_d3_add(x, rh_d3_scale(rh_obstacles_normal(solids, which, x), least - distance));
    return (rh_thin_place){out, rh_obstacles_distance_of(solids, v->near.items, v->near.count, out, NULL)};
}

static void make_veil(veil *v, const finder *f, int64_t i)
{
    v->f = f;
    v->particle = i;
    rh_thin_near(f->s->obstacles, place_of(f->s, i), (double)f->s->kernel->support, &v->near);
    v->own = thin_place(v, place_of(f->s, i));
}

// Two places whose distances from thin walls add up to more than their distance from each other have none between them.
static bool is_clear(const veil *v, int64_t n, float square)
{
    float both = v->f->thin[v->particle] + v->f->thin[n];
    return both > 0 && both * both > 1.001f * square;
}

// Is particle n, or the anchor of sample n, behind a thin wall? Both of a pair of particles evaluate the same line, to
// the bit: from the lower number to the higher. Of the thin walls near one of them only those near both can be between.
static bool is_hidden(const veil *v, int64_t n, bool wall)
{
    const rh_sph_search *s = v->f->s;
    double h = (double)s->tiles->h;
    rh_thin_place other = thin_place(v, wall ? rh_d3_from(s->walls->anchor[n]) : place_of(s, n));
    bool first = wall || v->particle < n;
    return rh_thin_between(s->obstacles, &v->near, h, first ? &v->own : &other, first ? &other : &v->own);
}

static int seen_bits(const veil *v, const uint32_t *who, rh_f8 square, int bits, bool wall)
{
    for (int left = bits; left; left &= left - 1) {
        int n = __builtin_ctz((unsigned)left);
        bool clear = !wall && (who[n] == v->particle || is_clear(v, who[n], square[n]));
        if (!clear && is_hidden(v, who[n], wall)) bits &= ~(1 << n);
    }
    return bits;
}

// --- candidates ------------------------------------------------------------------------------------------------------
enum { CROWD = 1024 };  // of which so many are held at a time

// Candidates of the particles of a cell, and which are still to come.
typedef struct crowd {
    bool walls;
    int32_t tile;
    int cell;
    const float *from[3];   // places of all particles, or of all samples
    const float *reaches;   // of all particles; NULL: nobody reaches beyond the support
    rh_vec3 low, high;      // box of the cell's particles
    float least, farthest;  // m: that all of these reach; that one of them reaches
    rh_sph_run runs[RH_SPH_FAR_RUNS];
    int run_count, run;  // run: the first that has not been gone through
    int count;
    float x[CROWD + LANES], y[CROWD + LANES], z[CROWD + LANES], reach[CROWD + LANES];
    uint32_t who[CROWD + LANES];
} crowd;

// How far outside of an interval, 0 inside. Never more than to any number inside, as differences are rounded.
static inline rh_f8 outside(rh_f8 x, float low, float high)
{
    return rh_f8_max(rh_f8_max(low - x, x - high), rh_f8_all(0));
}

static void add_eight(const finder *f, crowd *c, int64_t q, int lanes)
{
    static const rh_i8 counting = {0, 1, 2, 3, 4, 5, 6, 7};
    rh_f8 x = rh_f8_load(c->from[0] + q), y = rh_f8_load(c->from[1] + q), z = rh_f8_load(c->from[2] + q);
    rh_f8 dx = outside(x, c->low.x, c->high.x), dy = outside(y, c->low.y, c->high.y),
          dz = outside(z, c->low.z, c->high.z);
    rh_f8 reach = c->reaches ? rh_f8_load(c->reaches + q) : rh_f8_all(0);
    rh_f8 most = rh_f8_max(rh_f8_all(c->farthest), reach);
    int bits = rh_i8_bits(dx * dx + dy * dy + dz * dz < most * most) & ((1 << lanes) - 1);
    const uint8_t *at = f->places->at[bits];
    if (c->reaches) rh_f8_store(c->reach + c->count, rh_f8_pick(reach, at));
    rh_f8_store(c->x + c->count, rh_f8_pick(x, at));
    rh_f8_store(c->y + c->count, rh_f8_pick(y, at));
    rh_f8_store(c->z + c->count, rh_f8_pick(z, at));
    rh_i8 who = rh_i8_pick(counting + (int32_t)q, at);
    memcpy(c->who + c->count, &who, sizeof who);
    c->count += __builtin_popcount((unsigned)bits);
}

// The next candidates; false: there are none left.
static bool collect(const finder *f, crowd *c)
{
    if (c->run == c->run_count) return false;
    for (c->count = 0; c->run < c->run_count; c->run++) {
        rh_sph_run *r = &c->runs[c->run];
        while (r->begin < r->end && c->count <= CROWD - LANES) {
            uint32_t left = r->end - r->begin, lanes = left < LANES ? left : LANES;
            add_eight(f, c, r->begin, (int)lanes);
            r->begin += lanes;
        }
        if (r->begin < r->end) break;
    }
    for (int n = c->count; n < c->count + LANES; n++)
        c->x[n] = c->y[n] = c->z[n] = 1e15f, c->reach[n] = 0, c->who[n] = UINT32_MAX;
    return true;
}

// From the first candidate on.
static void begin_crowd(const finder *f, crowd *c)
{
    const rh_sph_search *s = f->s;
    const uint32_t *first = c->walls ? s->walls->first : s->tiles->first;
    int far = c->reaches ? f->far[c->tile] : 1, x = c->cell & 7, y = c->cell >> 3 & 7, z = c->cell >> 6;
    c->run = c->count = 0;
    c->run_count = far > 1 ? rh_sph_far_runs(s->tiles, first, c->tile, x, y, z, far, c->runs)
                           : rh_sph_runs(s->tiles, first, c->tile, x, y, z, c->runs);
    collect(f, c);
}

static void box_of(const rh_sph_search *s, int64_t begin, int64_t end, rh_vec3 *low, rh_vec3 *high)
{
    *low = *high = rh_v3(s->x[begin], s->y[begin], s->z[begin]);
    for (int64_t i = begin + 1; i < end; i++) {
        *low = rh_v3(rh_min(low->x, s->x[i]), rh_min(low->y, s->y[i]), rh_min(low->z, s->z[i]));
        *high = rh_v3(rh_max_of(high->x, s->x[i]), rh_max_of(high->y, s->y[i]), rh_max_of(high->z, s->z[i]));
    }
}

// Of the particles from `begin` to `end`, which are those of a cell.
static void open_crowd(const finder *f, crowd *c, int cell, int64_t begin, int64_t end)
{
    const rh_sph_search *s = f->s;
    const rh_sph_walls *w = s->walls;
    c->cell = cell;
    box_of(s, begin, end, &c->low, &c->high);
    c->reaches = c->walls ? NULL : s->reach;
    c->farthest = c->least = c->walls || s->within == 0 ? s->kernel->support : s->within;
    for (int64_t i = begin; i < end && c->reaches; i++) c->farthest = rh_max_of(c->farthest, c->reaches[i]);
    c->from[0] = c->walls ? w->x : s->x, c->from[1] = c->walls ? w->y : s->y, c->from[2] = c->walls ? w->z : s->z;
    begin_crowd(f, c);
}

// --- neighbours ------------------------------------------------------------------------------------------------------
// Neighbours found, as far as they have not gone to their list.
typedef struct found {
    int count;
    uint32_t who[CROWD + 2 * LANES];
    float square[CROWD + 2 * LANES];
} found;

// Where lists go, one after the other; what does not fit is counted only.
typedef struct target {
    uint32_t *at, *end;
    bool over;
} target;

// The count is a local: in memory, among arrays that are written as bytes, it would be read and written for each eight.
static inline __attribute__((always_inline)) void test_by(const finder *f, const crowd *c, const veil *v, int64_t i,
                                                          bool reaches, found *out)
{
    const rh_sph_search *s = f->s;
    const places *table = f->places;
    float own_reach = reaches ? rh_max_of(c->least, c->reaches[i]) : c->least;
    rh_f8 most = rh_f8_all(own_reach * own_reach);
    float x = s->x[i], y = s->y[i], z = s->z[i];
    int32_t own = c->walls ? -2 : (int32_t)i;
    int count = out->count;
    for (int q = 0, candidates = c->count; q < candidates; q += LANES) {
        rh_f8 dx = rh_f8_load(c->x + q) - x, dy = rh_f8_load(c->y + q) - y, dz = rh_f8_load(c->z + q) - z;
        rh_f8 square = dx * dx + dy * dy + dz * dz;
        rh_i8 who;
        memcpy(&who, c->who + q, sizeof who);
        if (reaches) {
            rh_f8 both = rh_f8_max(rh_f8_all(own_reach), rh_f8_load(c->reach + q));
            most = both * both;
        }
        int bits = rh_i8_bits((square < most) & (who != own));
        if (v && bits) bits = seen_bits(v, c->who + q, square, bits, c->walls);
        const uint8_t *at = table->at[bits];
        who = rh_i8_pick(who, at);
        memcpy(out->who + count, &who, sizeof who);
        rh_f8_store(out->square + count, rh_f8_pick(square, at));
        count += __builtin_popcount((unsigned)bits);
    }
    uint32_t nobody = c->walls ? f->lists->walls.nobody : f->lists->fluid.nobody;
    for (int m = count; m < count + LANES; m++) out->square[m] = 1e30f, out->who[m] = nobody;
    out->count = count;
}

static inline void test(const finder *f, const crowd *c, const veil *v, int64_t i, found *out)
{
    if (c->reaches) test_by(f, c, v, i, true, out);
    else if (v) test_by(f, c, v, i, false, out);
    else test_by(f, c, NULL, i, false, out);
}

// Whole eights go to the list; the last one, filled up with nobody, when it is closed. Returns how many.
static uint32_t put(target *to, found *n, bool close)
{
    int eights = (close ? n->count + LANES - 1 : n->count) / LANES, whole = eights * LANES;
    to->over = to->over || to->end - to->at < whole;
    if (!to->over) {
        memcpy(to->at, n->who, (size_t)whole * sizeof *to->at);
        to->at += whole;
    }
    if (!close) {
        n->count -= whole;
        memmove(n->who, n->who + whole, (size_t)n->count * sizeof *n->who);
    }
    return (uint32_t)eights;
}

typedef struct sums {
    rh_f8 density, volume;  // of W (times the volume, of samples); of volumes of samples
} sums;

static inline void add_up(const finder *f, const found *n, int from, bool walls, sums *to)
{
    const rh_sph_kernel *k = f->s->kernel;
    for (int m = from; m < n->count; m += LANES) {
        rh_f8 value = rh_sph_value(k, rh_f8_load(n->square + m)), record[4];
        if (walls) {
            rh_sph_gather(f->s->walls->place, n->who + m, record);
            value *= record[3], to->volume += record[3];
        }
        to->density += value;
    }
}

// The list of particle i among the candidates of its cell, which are gone through again and again where there are too
// many. Returns its length in eights.
static inline uint32_t find_list(const finder *f, crowd *c, const veil *v, int64_t i, target *to, sums *of)
{
    bool whole = c->run == c->run_count, more;
    uint32_t eights = 0;
    found n;
    n.count = 0;  // and nothing else: it is large
    *of = (sums){rh_f8_all(0), rh_f8_all(0)};
    do {
        int from = n.count;
        test(f, c, v, i, &n);
        add_up(f, &n, from, c->walls, of);
        more = !whole && collect(f, c);
        eights += put(to, &n, !more);
    } while (more);
    if (!whole) begin_crowd(f, c);
    return eights;
}

static void find_particle(const finder *f, crowd c[2], int64_t i, target *fluid, target *walls)
{
    const rh_sph_search *s = f->s;
    const rh_sph_kernel *k = s->kernel;
    veil v;
    bool veiled = f->thin && f->thin[i] < (float)FAR_AWAY;
    const veil *behind = veiled ? &v : NULL;
    sums of[2];
    if (veiled) make_veil(&v, f, i);
    f->eights[0][i] = find_list(f, &c[0], behind, i, fluid, &of[0]);
    f->eights[1][i] = find_list(f, &c[1], behind, i, walls, &of[1]);
    s->density[i] = k->volume * (rh_sph_value_of(k, 0) + rh_f8_sum(of[0].density)) + rh_f8_sum(of[1].density);
    s->covered[i] = rh_f8_sum(of[1].volume) / k->flat_volume * (9 / k->flat_count);
}

static bool tile_is_thin(const finder *f, int32_t t)
{
    const rh_tiles *tiles = f->s->tiles;
    double half = 0.5 * RH_TILE * (double)tiles->h;
    rh_tile at = tiles->at[t];
    rh_dvec3 middle = {(2 * at.x + 1) * half, (2 * at.y + 1) * half, tiles->dimension == 3 ? (2 * at.z + 1) * half : 0};
    rh_thin_list list;
    rh_thin_near(f->s->obstacles, middle, 2 * half + (double)f->s->kernel->support, &list);
    return list.count > 0;
}

// --- passes ----------------------------------------------------------------------------------------------------------
// Where the list of particle i belongs.
static target place_in(const rh_sph_list *list, int64_t i)
{
    return (target){list->near + (uint64_t)LANES * list->first[i], list->near + (uint64_t)LANES * list->first[i + 1],
                    false};
}

// Whether there are samples in a tile or beside it.
static bool has_samples(const finder *f, int32_t t)
{
    const rh_tiles *tiles = f->s->tiles;
    for (int n = 0; n < RH_NEAR; n++) {
        int32_t beside = tiles->near[t][n];
        const uint32_t *first = f->s->walls->first + (int64_t)beside * tiles->cells;
        if (beside >= 0 && first[0] < first[tiles->cells]) return true;
    }
    return false;
}

// Lists of a tile to `kept`; NULL: to where they belong.
static void find_tile(const finder *f, int32_t t, target *kept)
{
    const rh_tiles *tiles = f->s->tiles;
    const uint32_t *first = tiles->first + (int64_t)t * tiles->cells;
    crowd c[2];
    int kinds = has_samples(f, t) ? 2 : 1;
    c[0].walls = false, c[1].walls = true, c[0].tile = c[1].tile = t;
    c[1].run = c[1].run_count = c[1].count = 0, c[1].reaches = NULL, c[1].least = 0;  // not opened without samples
    for (int n = 0; n < tiles->cells; n++) {
        if (first[n] == first[n + 1]) continue;
        for (int kind = 0; kind < kinds; kind++) open_crowd(f, &c[kind], n, first[n], first[n + 1]);
        for (int64_t i = first[n]; i < first[n + 1]; i++) {
            target to[2];
            if (!kept) to[0] = place_in(&f->lists->fluid, i), to[1] = place_in(&f->lists->walls, i);
            find_particle(f, c, i, kept ? kept : &to[0], kept ? kept : &to[1]);
        }
    }
}

static uint32_t *kept_of(const finder *f, int64_t i) { return f->kept + (int64_t)LANES * f->room * i; }

static void copy_tile(const finder *f, int64_t begin, int64_t end)
{
    const rh_sph_lists *lists = f->lists;
    const uint32_t *from = kept_of(f, begin);
    for (int64_t i = begin; i < end; i++) {
        size_t fluid = (size_t)LANES * f->eights[0][i], walls = (size_t)LANES * f->eights[1][i];
        memcpy(lists->fluid.near + (uint64_t)LANES * lists->fluid.first[i], from, fluid * sizeof *from);
        memcpy(lists->walls.near + (uint64_t)LANES * lists->walls.first[i], from + fluid, walls * sizeof *from);
        from += fluid + walls;
    }
}

static void find_all(const finder *f)
{
    const rh_tiles *tiles = f->s->tiles;
#pragma omp parallel for schedule(dynamic, 2)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        int32_t t = tiles->occupied[n];
        target kept = {kept_of(f, rh_tile_first(tiles, t)), kept_of(f, rh_tile_first(tiles, t + 1)), false};
        find_tile(f, t, &kept);
        f->over[t] = kept.over;
    }
}

static void place_all(const finder *f)
{
    const rh_tiles *tiles = f->s->tiles;
#pragma omp parallel for schedule(dynamic, 2)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        int32_t t = tiles->occupied[n];
        if (f->over[t]) find_tile(f, t, NULL);
        else copy_tile(f, rh_tile_first(tiles, t), rh_tile_first(tiles, t + 1));
    }
}

// Distances from thin solids, once for all pairs.
static rh_code find_thin(finder *f, rh_arena *arena, rh_status *status)
{
    const rh_sph_search *s = f->s;
    const rh_tiles *tiles = s->tiles;
    if (!s->obstacles->any_thin) return RH_OK;
    f->thin = rh_arena_take(arena, ((size_t)s->count + 1) * sizeof *f->thin, status);
    if (!f->thin) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        int32_t t = tiles->occupied[n];
        bool thin = tile_is_thin(f, t);
        for (int64_t i = rh_tile_first(tiles, t); i < tiles->first[(int64_t)(t + 1) * tiles->cells]; i++) {
            rh_thin_list near = {.count = 0};
            if (thin) rh_thin_near(s->obstacles, place_of(s, i), (double)s->kernel->support, &near);
            f->thin[i] = near.count == 0 ? 1e30f
                                         : (float)rh_obstacles_distance_of(s->obstacles, near.items, near.count,
                                                                           place_of(s, i), NULL);
        }
    }
    return RH_OK;
}

// How far each tile must look: as far as its own particles and those of the tiles around it reach.
static rh_code find_far(finder *f, rh_arena *arena, rh_status *status)
{
    const rh_sph_search *s = f->s;
    const rh_tiles *tiles = s->tiles;
    if (!s->reach) return RH_OK;
    uint8_t *own = rh_arena_take(arena, (size_t)tiles->count + 1, status);
    f->far = rh_arena_take(arena, (size_t)tiles->count + 1, status);
    if (!own || !f->far) return RH_MEMORY;
    for (int32_t t = 0; t < tiles->count; t++) {
        float most = 0;
        for (int64_t i = rh_tile_first(tiles, t); i < tiles->first[(int64_t)(t + 1) * tiles->cells]; i++)
            most = fmaxf(most, s->reach[i]);
        own[t] = (uint8_t)fminf(fmaxf(ceilf(most / tiles->h - 1e-3f), 1), RH_SPH_FARTHEST);
    }
    for (int32_t t = 0; t < tiles->count; t++) {
        f->far[t] = own[t];
        for (int n = 0; n < RH_NEAR; n++)
            if (tiles->near[t][n] >= 0 && own[tiles->near[t][n]] > f->far[t]) f->far[t] = own[tiles->near[t][n]];
    }
    return RH_OK;
}

// --- memory ----------------------------------------------------------------------------------------------------------
static rh_code make_room(rh_sph_list *list, int64_t wanted, rh_status *status)
{
    if (wanted <= list->room && list->near) return RH_OK;  // also lists of nobody have a place in memory
    int64_t room = wanted + wanted / 8 + 1;
    rh_free(list->near);
    list->room = 0;
    list->near = rh_alloc((size_t)room * LANES * sizeof *list->near, LABEL, status);
    if (!list->near) return RH_MEMORY;
    list->room = room;
    return RH_OK;
}

static rh_code make_firsts(rh_sph_lists *lists, int64_t count, rh_status *status)
{
    if (count + 1 <= lists->first_room) return RH_OK;
    size_t room = (size_t)(count + 1 + count / 8);
    rh_free(lists->fluid.first);
    rh_free(lists->walls.first);
    lists->first_room = 0;
    lists->walls.first = NULL;
    lists->fluid.first = rh_alloc(room * sizeof(uint32_t), LABEL, status);
    lists->walls.first = lists->fluid.first ? rh_alloc(room * sizeof(uint32_t), LABEL, status) : NULL;
    if (!lists->walls.first) return RH_MEMORY;
    lists->first_room = (int64_t)room;
    return RH_OK;
}

void rh_sph_lists_free(rh_sph_lists *lists)
{
    void *const all[] = {lists->fluid.first, lists->fluid.near, lists->walls.first, lists->walls.near};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) rh_free(all[i]);
    *lists = (rh_sph_lists){0};
}

static rh_code sum_lengths(rh_sph_list *list, const uint32_t *eights, int64_t count, rh_status *status)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        list->first[i] = (uint32_t)sum;
        sum += eights[i];
    }
    list->first[count] = (uint32_t)sum;
    if (sum > UINT32_MAX / LANES)
        return rh_fail(status, RH_NUMERIC, "sph: the particles have %.3g neighbours in all, more than can be numbered",
                       (double)sum * LANES);
    return make_room(list, (int64_t)sum, status);
}

static rh_code take(finder *f, rh_arena *arena, rh_status *status)
{
    size_t count = (size_t)f->s->count;
    f->room = f->s->tiles->dimension == 3 ? EIGHTS : FLAT_EIGHTS;
    if (f->s->within > 0) f->room = (f->room + 1) / 2;
    f->kept = rh_arena_take(arena, (count * (size_t)f->room * LANES + 1) * sizeof *f->kept, status);
    f->over = rh_arena_take(arena, (size_t)f->s->tiles->count + 1, status);
    for (int k = 0; k < 2; k++) f->eights[k] = rh_arena_take(arena, (count + 1) * sizeof *f->eights[k], status);
    return f->kept && f->over && f->eights[0] && f->eights[1] ? RH_OK : RH_MEMORY;
}

static rh_code build(rh_sph_lists *lists, const rh_sph_search *search, rh_arena *arena, rh_status *status)
{
    places table;
    make_places(&table);
    finder f = {.s = search, .lists = lists, .places = &table};
    lists->fluid.nobody = (uint32_t)search->count;
    lists->walls.nobody = (uint32_t)search->walls->count;
    RH_TRY(make_firsts(lists, search->count, status));
    RH_TRY(find_far(&f, arena, status));
    RH_TRY(take(&f, arena, status));
    RH_TRY(find_thin(&f, arena, status));
    find_all(&f);
    RH_TRY(sum_lengths(&lists->fluid, f.eights[0], search->count, status));
    RH_TRY(sum_lengths(&lists->walls, f.eights[1], search->count, status));
    place_all(&f);
    return RH_OK;
}

rh_code rh_sph_lists_build(rh_sph_lists *lists, const rh_sph_search *search, rh_arena *arena, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    rh_code code = build(lists, search, arena, status);
    rh_arena_restore(arena, mark);
    return code;
}
