// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Two passes over the tiles. The first tests all candidates, eight at a time, keeps one bit for each and sums up the
// density on the way, which needs no more than the squared distance. Between them the lengths are summed up; the second
// turns bits into numbers. So no distance is computed twice, and lists have the length they need.
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

// Candidates of one kind around the cell at hand.
typedef struct candidates {
    rh_sph_run runs[RH_SPH_FAR_RUNS];
    int count;   // of runs
    int eights;  // of all of them
} candidates;

static candidates candidates_of(const rh_tiles *tiles, const uint32_t *first, int32_t t, int c, int far)
{
    candidates out;
    out.eights = 0;
    if (far == 1) out.count = rh_sph_runs(tiles, first, t, c & 7, c >> 3 & 7, c >> 6, out.runs);
    else out.count = rh_sph_far_runs(tiles, first, t, c & 7, c >> 3 & 7, c >> 6, far, out.runs);
    for (int r = 0; r < out.count; r++) out.eights += (int)((out.runs[r].end - out.runs[r].begin + LANES - 1) / LANES);
    return out;
}

typedef struct finder {
    const rh_sph_search *s;
    rh_sph_lists *lists;
    const places *places;
    uint8_t *bits;        // of all candidates of all particles
    int64_t *tile_first;  // [tiles + 1] where those of a tile begin
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

static int seen_bits(const veil *v, int64_t q, rh_f8 square, int bits, bool wall)
{
    for (int left = bits; left; left &= left - 1) {
        int n = __builtin_ctz((unsigned)left);
        bool clear = !wall && (q + n == v->particle || is_clear(v, q + n, square[n]));
        if (!clear && is_hidden(v, q + n, wall)) bits &= ~(1 << n);
    }
    return bits;
}

// --- the first pass --------------------------------------------------------------------------------------------------
// Bits of the candidates of particle i that count, to `out`; returns how many there are.
static inline int test_fluid(const finder *f, const candidates *c, const veil *v, int64_t i, rh_f8 *density,
                             uint8_t *out)
{
    const rh_sph_search *s = f->s;
    const rh_sph_kernel *k = s->kernel;
    rh_f8 sum = rh_f8_all(0), support = rh_f8_all(s->reach ? fmaxf(k->support, s->reach[i]) : k->support), most;
    float x = s->x[i], y = s->y[i], z = s->z[i];
    int total = 0;
    most = support * support;
    for (int r = 0; r < c->count; r++)
        for (int64_t q = c->runs[r].begin, end = c->runs[r].end; q < end; q += LANES) {
            rh_f8 dx = rh_f8_load(s->x + q) - x, dy = rh_f8_load(s->y + q) - y, dz = rh_f8_load(s->z + q) - z;
            rh_f8 square = dx * dx + dy * dy + dz * dz;
            if (s->reach) {
                rh_f8 both = rh_f8_max(support, rh_f8_load(s->reach + q));
                most = both * both;
            }
            int bits = rh_i8_bits(square < most);
            if (end - q < LANES) bits &= (1 << (end - q)) - 1;
            if (v && bits) bits = seen_bits(v, q, square, bits, false);
            sum += rh_f8_masked(rh_sph_value(k, square), bits);
            if ((uint64_t)(i - q) < LANES) bits &= ~(1 << (i - q));
            *out++ = (uint8_t)bits;
            total += __builtin_popcount((unsigned)bits);
        }
    *density = sum;
    return total;
}

static inline int test_walls(const finder *f, const candidates *c, const veil *v, int64_t i, rh_f8 *density,
                             rh_f8 *volume, uint8_t *out)
{
    const rh_sph_search *s = f->s;
    const rh_sph_walls *w = s->walls;
    const rh_sph_kernel *k = s->kernel;
    rh_f8 sum = rh_f8_all(0), all = rh_f8_all(0), most = rh_f8_all(k->support * k->support);
    int total = 0;
    for (int r = 0; r < c->count; r++)
        for (int64_t q = c->runs[r].begin, end = c->runs[r].end; q < end; q += LANES) {
            const uint32_t n = (uint32_t)q, near[LANES] = {n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7};
            rh_f8 dx = rh_f8_load(w->x + q) - s->x[i], dy = rh_f8_load(w->y + q) - s->y[i],
                  dz = rh_f8_load(w->z + q) - s->z[i], record[4];
            rh_f8 square = dx * dx + dy * dy + dz * dz;
            int bits = rh_i8_bits(square < most);
            if (end - q < LANES) bits &= (1 << (end - q)) - 1;
            if (v && bits) bits = seen_bits(v, q, square, bits, true);
            *out++ = (uint8_t)bits;
            if (!bits) continue;
            rh_sph_gather(w->place, near, record);
            sum += rh_f8_masked(record[3] * rh_sph_value(k, square), bits);
            all += rh_f8_masked(record[3], bits);
            total += __builtin_popcount((unsigned)bits);
        }
    *density = sum, *volume = all;
    return total;
}

static void test_particle(const finder *f, const candidates c[2], int64_t i, uint8_t *out)
{
    const rh_sph_search *s = f->s;
    rh_f8 fluid, wall, volume;
    veil v;
    bool veiled = f->thin && f->thin[i] < (float)FAR_AWAY;
    const veil *behind = veiled ? &v : NULL;
    if (veiled) make_veil(&v, f, i);
    int fluids = test_fluid(f, &c[0], behind, i, &fluid, out);
    int walls = test_walls(f, &c[1], behind, i, &wall, &volume, out + c[0].eights);
    s->density[i] = s->kernel->volume * rh_f8_sum(fluid) + rh_f8_sum(wall);
    s->covered[i] = rh_f8_sum(volume) / s->kernel->flat_volume * (9 / s->kernel->flat_count);
    f->eights[0][i] = (uint32_t)(fluids + LANES - 1) / LANES;
    f->eights[1][i] = (uint32_t)(walls + LANES - 1) / LANES;
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

// Calls for every cell of a tile that holds particles. `bytes`: those of the cell's candidates.
typedef void cell_visit(const finder *f, const candidates c[2], int64_t begin, int64_t end, uint8_t *bytes);

static int64_t visit_tile(const finder *f, int32_t t, cell_visit *visit)
{
    const rh_tiles *tiles = f->s->tiles;
    const uint32_t *first = tiles->first + (int64_t)t * tiles->cells;
    int64_t total = 0;
    if (first[0] == first[tiles->cells]) return 0;
    for (int c = 0; c < tiles->cells; c++) {
        if (first[c] == first[c + 1]) continue;
        const candidates all[2] = {candidates_of(tiles, tiles->first, t, c, f->far ? f->far[t] : 1),
                                   candidates_of(tiles, f->s->walls->first, t, c, 1)};
        if (visit) visit(f, all, first[c], first[c + 1], f->bits + f->tile_first[t] + total);
        total += (int64_t)(first[c + 1] - first[c]) * (all[0].eights + all[1].eights);
    }
    return total;
}

static void test_cell(const finder *f, const candidates c[2], int64_t begin, int64_t end, uint8_t *bytes)
{
    for (int64_t i = begin; i < end; i++, bytes += c[0].eights + c[1].eights) test_particle(f, c, i, bytes);
}

// --- the second pass -------------------------------------------------------------------------------------------------
static void write_list(const finder *f, const candidates *c, const rh_sph_list *list, int64_t i, const uint8_t *bytes)
{
    enum { ROOM = 512 };
    uint32_t buffer[ROOM], held = 0, *out = list->near + (uint64_t)LANES * list->first[i];
    for (int r = 0; r < c->count; r++)
        for (uint32_t q = c->runs[r].begin; q < c->runs[r].end; q += LANES) {
            int bits = *bytes++;
            if (!bits) continue;
            const uint8_t *at = f->places->at[bits];
            for (int n = 0; n < LANES; n++) buffer[held + (uint32_t)n] = q + at[n];
            held += (uint32_t)__builtin_popcount((unsigned)bits);
            if (held < ROOM - LANES) continue;
            uint32_t whole = held / LANES * LANES;
            memcpy(out, buffer, whole * sizeof *out);
            memmove(buffer, buffer + whole, (held - whole) * sizeof *out);
            out += whole, held -= whole;
        }
    while (held % LANES) buffer[held++] = list->nobody;
    memcpy(out, buffer, held * sizeof *out);
}

static void write_cell(const finder *f, const candidates c[2], int64_t begin, int64_t end, uint8_t *bytes)
{
    for (int64_t i = begin; i < end; i++) {
        write_list(f, &c[0], &f->lists->fluid, i, bytes);
        write_list(f, &c[1], &f->lists->walls, i, bytes + c[0].eights);
        bytes += c[0].eights + c[1].eights;
    }
}

static void pass(const finder *f, cell_visit *visit)
{
#pragma omp parallel for schedule(dynamic, 2)
    for (int32_t n = 0; n < f->s->tiles->occupied_count; n++) visit_tile(f, f->s->tiles->occupied[n], visit);
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
    const rh_tiles *tiles = f->s->tiles;
    f->tile_first = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *f->tile_first, status);
    if (!f->tile_first) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) f->tile_first[t] = visit_tile(f, t, NULL);
    int64_t sum = 0;
    for (int32_t t = 0; t < tiles->count; t++) {
        int64_t here = f->tile_first[t];
        f->tile_first[t] = sum, sum += here;
    }
    f->bits = rh_arena_take(arena, (size_t)sum + 1, status);
    for (int k = 0; k < 2; k++)
        f->eights[k] = rh_arena_take(arena, ((size_t)f->s->count + 1) * sizeof *f->eights[k], status);
    return f->bits && f->eights[0] && f->eights[1] ? RH_OK : RH_MEMORY;
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
    pass(&f, test_cell);
    RH_TRY(sum_lengths(&lists->fluid, f.eights[0], search->count, status));
    RH_TRY(sum_lengths(&lists->walls, f.eights[1], search->count, status));
    pass(&f, write_cell);
    return RH_OK;
}

rh_code rh_sph_lists_build(rh_sph_lists *lists, const rh_sph_search *search, rh_arena *arena, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    rh_code code = build(lists, search, arena, status);
    rh_arena_restore(arena, mark);
    return code;
}
