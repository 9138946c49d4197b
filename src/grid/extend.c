// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Extension of face values: grad u . grad d = 0 with d the distance from liquid in free space, upwind (the steady state
// of D. Adalsteinsson, J. A. Sethian, J. Comput. Phys. 148, 1999): a value is the mean of its axis neighbours nearer to
// the liquid, weighted by how much nearer they are. The equations depend on each other in one direction only, so
// visiting rows from near to far solves them in one go where the liquid lies on one side of a tile; whatever lies
// otherwise takes another visit. Tiles wake each other (grid/waves.h).
#include "base/simd.h"
#include "grid/levelset.h"
#include "grid/waves.h"

// A row of distances stands between the rows of the tiles beside it: whole rows are written and read without crossing.
enum { WIDE = RH_TILE + 3, STRIDE = 3 * RH_TILE, ROWS = RH_TILE * RH_TILE };

static const float DEEPEST = 2;  // cells

typedef struct extension {
    const rh_tiles *tiles;
    const float *phi, *const *solid;
    float band;          // the largest of
    const float *bands;  // per tile; NULL when all are `band`
    rh_faces values;
    uint8_t *const *known;
    uint64_t (*rows)[3];  // per tile and component: rows that may have faces to do: all at first
} extension;

// A tile at its turn. Distances and weights are made when a row first asks for them: at most turns few rows do.
typedef struct visit {
    const extension *e;
    int32_t t;
    uint16_t loaded[WIDE];               // rows of `region` that are filled, a bit for each j
    float region[WIDE * WIDE * STRIDE];  // cells: distance from liquid in free space, from two cells below the tile on
    // the component at hand
    int axis;
    float *value[1 + RH_WAVE_SIDES];  // of the tile and of its neighbours, NULL where there is none
    uint8_t *known[1 + RH_WAVE_SIDES];
    uint64_t weighed;     // rows whose `todo`, `weight` and `needs` are filled
    uint8_t todo[ROWS];   // bits of cells that want a value
    uint8_t needs[ROWS];  // bits of sides with a weight
    uint8_t gives[ROWS]
                 [RH_WAVE_SIDES];  // for each side the cells whose neighbour there is farther away and wants a value
    float weight[ROWS][RH_WAVE_SIDES][RH_TILE];
} visit;

static inline float band_of(const extension *e, int32_t t) { return e->bands ? e->bands[t] : e->band; }

// --- distance --------------------------------------------------------------------------------------------------------

// Distance from liquid in free space, in cells.
static inline rh_f8 region_row(const extension *e, int32_t t, int row)
{
    if (t < 0) return rh_f8_all(e->band);
    rh_f8 d = rh_f8_load(e->phi + (int64_t)t * e->tiles->cells + row);
    if (e->solid) {
        // Depth counting twice, to go less far into solids than into air, saved a sixth and raised the dam break's
        // column by 0.4 % +- 0.2 %. But no particle ever looks deeper than DEEPEST.
        rh_f8 depth = -rh_f8_load(e->solid[t] + row);
        d = rh_f8_select(depth > DEEPEST * e->tiles->h, rh_f8_all(e->band * e->tiles->h), rh_f8_max(d, depth));
    }
    return d * e->tiles->inverse_h;
}

static void load_region(visit *v, int j, int k, float *out)
{
    bool flat = v->e->tiles->dimension == 2;
    const int32_t *near = v->e->tiles->near[v->t] + 3 * (1 + (j >> 3)) + 9 * (1 + (flat ? 0 : k >> 3));
    int row = RH_TILE * ((j & 7) + RH_TILE * (flat ? 0 : k & 7));
    for (int n = 0; n < 3; n++) rh_f8_store(out + RH_TILE * n, region_row(v->e, near[n], row));
    v->loaded[k + 2] |= (uint16_t)(1 << (j + 2));
}

// The distances of row (j, k) of the tile, -2 to 8 each.
static inline const float *region_at(visit *v, int j, int k)
{
    float *out = v->region + STRIDE * (j + 2 + WIDE * (k + 2));
    if (!(v->loaded[k + 2] >> (j + 2) & 1)) load_region(v, j, k, out);
    return out + RH_TILE;
}

// Distance at the lower faces of row (j, k), `shift` cells along x.
static inline rh_f8 key_at(visit *v, int j, int k, int shift)
{
    const float *lower = region_at(v, j - (v->axis == 1), k - (v->axis == 2)) - (v->axis == 0);
    return 0.5f * (rh_f8_load(region_at(v, j, k) + shift) + rh_f8_load(lower + shift));
}

// The faces of row r without a given value and near enough.
static int faces_to_do(visit *v, int r, rh_f8 *key)
{
    uint64_t bytes;
    memcpy(&bytes, v->known[0] + RH_TILE * r, sizeof bytes);
    bytes &= RH_FIRST_COLUMN;
    if (bytes == RH_FIRST_COLUMN) return 0;
    *key = key_at(v, r & 7, r >> 3, 0);
    return rh_i8_bits(*key < band_of(v->e, v->t)) & ~(int)(bytes * 0x0102040810204080u >> 56);
}

// The weights of the neighbours of row r.
static void weigh(visit *v, int r)
{
    int j = r & 7, k = r >> 3, needs = 0;
    rh_f8 key, none = {0};
    int todo = faces_to_do(v, r, &key);
    v->weighed |= (uint64_t)1 << r;
    v->todo[r] = (uint8_t)todo;
    v->needs[r] = 0;
    if (!todo) return;
    rh_i8 mask = rh_i8_from_bits(todo);
    rh_f8 there[RH_WAVE_SIDES] = {
        key_at(v, j, k, -1), key_at(v, j, k, 1), key_at(v, j - 1, k, 0), key_at(v, j + 1, k, 0), key, key};
    if (v->e->tiles->dimension == 3) there[4] = key_at(v, j, k - 1, 0), there[5] = key_at(v, j, k + 1, 0);
    for (int n = 0; n < RH_WAVE_SIDES; n++) {
        rh_f8 w = key - there[n];
        v->gives[r][n] = (uint8_t)rh_i8_bits((w < -1e-4f) & (there[n] < v->e->band));
        w = rh_f8_select(mask & (w > 1e-4f), w, none);
        rh_f8_store(v->weight[r][n], w);
        needs |= (rh_i8_bits(w > none) != 0) << n;
    }
    v->needs[r] = (uint8_t)needs;
}

// --- values ----------------------------------------------------------------------------------------------------------

// Row r of the component in the tile itself (0) or in a neighbour (1 + side), 0 where there is no value.
static inline rh_f8 load_values(const visit *v, int which, int r, rh_f8 *have)
{
    rh_f8 none = {0};
    *have = none;
    if (!v->value[which]) return none;
    uint64_t bytes;
    memcpy(&bytes, v->known[which] + RH_TILE * r, sizeof bytes);
    rh_i8 mask = rh_i8_from_bits((int)(((bytes | bytes >> 1) & RH_FIRST_COLUMN) * 0x0102040810204080u >> 56));
    *have = (rh_f8)((rh_i8)rh_f8_all(1) & mask);
    return (rh_f8)((rh_i8)rh_f8_load(v->value[which] + RH_TILE * r) & mask);
}

static inline float load_value(const visit *v, int which, int c, float *have)
{
    *have = v->value[which] && v->known[which][c];
    return *have > 0 ? v->value[which][c] : 0;
}

static void store_row(visit *v, int r, int changed, rh_f8 value)
{
    float *values = v->value[0] + RH_TILE * r;
    rh_f8_store(values, rh_f8_select(rh_i8_from_bits(changed), value, rh_f8_load(values)));
    uint64_t bytes, cells = ((uint64_t)changed * RH_FIRST_COLUMN & 0x8040201008040201u) + 0x7f7f7f7f7f7f7f7fu;
    cells = cells >> 7 & RH_FIRST_COLUMN;  // 1 in each byte that changed
    memcpy(&bytes, v->known[0] + RH_TILE * r, sizeof bytes);
    bytes = (bytes & ~(cells * 3)) | cells * 2;
    memcpy(v->known[0] + RH_TILE * r, &bytes, sizeof bytes);
}

// Updates row r, along x until it rests; returns the cells that changed.
static int extend_row(visit *v, int r)
{
    static const int inner[RH_WAVE_SIDES] = {0, 0, -1, 1, -8, 8}, outer[RH_WAVE_SIDES] = {0, 0, 7, -7, 56, -56};
    int edge[RH_WAVE_SIDES] = {0, 0, (r & 7) == 0, (r & 7) == 7, r >> 3 == 0, r >> 3 == 7}, changed = 0;
    rh_f8 sum = {0}, weight = {0}, none = {0}, have;
    for (int n = 2; n < 2 * v->e->tiles->dimension; n++) {
        rh_f8 w = rh_f8_load(v->weight[r][n]),
              value = load_values(v, edge[n] ? n + 1 : 0, r + (edge[n] ? outer[n] : inner[n]), &have);
        sum += w * value;
        weight += w * have;
    }
    rh_f8 value = load_values(v, 0, r, &have), west = rh_f8_load(v->weight[r][0]), east = rh_f8_load(v->weight[r][1]);
    float have_west, have_east, value_west = load_value(v, 1, RH_TILE * r + 7, &have_west),
                                value_east = load_value(v, 2, RH_TILE * r, &have_east);
    rh_i8 todo = rh_i8_from_bits(v->todo[r]);
    for (;;) {
        rh_f8 all = sum + west * rh_f8_west(value, value_west) + east * rh_f8_east(value, value_east);
        rh_f8 total = weight + west * rh_f8_west(have, have_west) + east * rh_f8_east(have, have_east);
        rh_i8 found = todo & (total > none);
        rh_f8 mean = all / rh_f8_select(found, total, rh_f8_all(1));
        // What differs by less than this changes nothing that matters; it also ends the run.
        rh_i8 differs = found & ((have == none) | (rh_f8_abs(mean - value) > 2e-5f * rh_f8_abs(mean)));
        int bits = rh_i8_bits(differs);
        if (!bits) break;
        changed |= bits;
        value = rh_f8_select(differs, mean, value);
        have = rh_f8_select(differs, rh_f8_all(1), have);
        if (!(bits & ((v->gives[r][0] & ~1) | (v->gives[r][1] & ~0x80)))) break;  // nobody in the row depends on these
    }
    if (changed) store_row(v, r, changed, value);
    return changed;
}

// The rows of the tile that a change in row r matters to.
static uint64_t rows_after(const visit *v, int r, int changed)
{
    uint64_t rows = 0;
    const uint8_t *gives = v->gives[r];
    int j = r & 7, k = r >> 3, last = v->e->tiles->layers - 1;
    if (j > 0 && changed & gives[2]) rows |= (uint64_t)1 << (r - 1);
    if (j < 7 && changed & gives[3]) rows |= (uint64_t)2 << r;
    if (k > 0 && changed & gives[4]) rows |= (uint64_t)1 << (r - 8);
    if (k < last && changed & gives[5]) rows |= (uint64_t)1 << (r + 8);
    return rows;
}

// The sides beyond which it matters.
static uint32_t sides_after(const visit *v, int r, int changed)
{
    const uint8_t *gives = v->gives[r];
    int j = r & 7, k = r >> 3;
    bool west = changed & gives[0] & 1, east = changed & gives[1] & 0x80, south = j == 0 && changed & gives[2],
         north = j == 7 && changed & gives[3];
    bool down = k == 0 && changed & gives[4], up = k == 7 && changed & gives[5];
    return (uint32_t)(west | east << 1 | south << 2 | north << 3 | down << 4 | up << 5);
}

// Rows that see a change beyond the given sides.
static uint64_t rows_at(int sides, int count)
{
    uint64_t rows = sides & 3 ? ~(uint64_t)0 : 0;
    if (sides & 4) rows |= RH_FIRST_COLUMN;
    if (sides & 8) rows |= RH_LAST_COLUMN;
    if (sides & 16) rows |= 0xff;
    if (sides & 32) rows |= (uint64_t)0xff << 56;
    return count == ROWS ? rows : rows & 0xff;
}

static void begin_component(visit *v, int axis)
{
    static const int side[1 + RH_WAVE_SIDES] = {RH_HERE,     RH_HERE - 1, RH_HERE + 1, RH_HERE - 3,
                                                RH_HERE + 3, RH_HERE - 9, RH_HERE + 9};
    v->axis = axis;
    v->weighed = 0;
    for (int n = 0; n <= RH_WAVE_SIDES; n++) {
        int32_t other = v->e->tiles->near[v->t][side[n]];
        v->value[n] = other < 0 ? NULL : v->e->values.axis[axis] + (int64_t)other * v->e->tiles->cells;
        v->known[n] = other < 0 ? NULL : v->e->known[axis] + (int64_t)other * v->e->tiles->cells;
    }
}

// Goes over the rows that are due, up and down in turns, until none is left.
static uint32_t extend_component(visit *v, int axis, uint64_t due, uint64_t *rows)
{
    uint32_t result = 0;
    begin_component(v, axis);
    for (bool up = true; due; up = !up)
        for (uint64_t ahead = ~(uint64_t)0; due & ahead;) {
            int r = up ? __builtin_ctzll(due & ahead) : 63 - __builtin_clzll(due & ahead);
            uint64_t bit = (uint64_t)1 << r;
            ahead = up ? -bit - bit : bit - 1;
            due &= ~bit;
            if (!(v->weighed & bit)) weigh(v, r);
            if (!v->needs[r]) *rows &= ~bit;
            int changed = v->needs[r] ? extend_row(v, r) : 0;
            if (!changed) continue;
            due |= rows_after(v, r, changed) & *rows;
            result |= sides_after(v, r, changed);
        }
    return result;
}

static uint32_t extend_tile(const void *data, int32_t t, uint32_t due)
{
    visit v;
    v.e = data;
    v.t = t;
    memset(v.loaded, 0, sizeof v.loaded);
    uint32_t result = 0;
    for (int a = 0; a < v.e->tiles->dimension; a++) {
        bool first = due & RH_WAVE_FIRST;
        uint64_t *rows = &v.e->rows[t][a];
        uint64_t wanted = first ? *rows
                                : *rows & rows_at((int)(due >> (RH_WAVE_SIDES * a) & 63), v.e->tiles->cells / RH_TILE);
        if (wanted) result |= extend_component(&v, a, wanted, rows) << (RH_WAVE_SIDES * a);
    }
    return result;
}

// --- which tiles -----------------------------------------------------------------------------------------------------
enum { HAS_KNOWN = 1, HAS_UNKNOWN = 2 };

static int look_at_tile(const extension *e, int32_t t)
{
    int64_t first = (int64_t)t * e->tiles->cells;
    uint64_t any = 0, all = RH_FIRST_COLUMN;
    for (int a = 0; a < e->tiles->dimension; a++)
        for (int c = 0; c < e->tiles->cells; c += RH_TILE) {
            uint64_t bytes;
            memcpy(&bytes, e->known[a] + first + c, sizeof bytes);
            any |= bytes;
            all &= bytes;
        }
    int result = any ? HAS_KNOWN : 0;
    if (all == RH_FIRST_COLUMN) return result;
    rh_f8 least = rh_f8_load(e->phi + first);
    for (int c = RH_TILE; c < e->tiles->cells; c += RH_TILE) least = rh_f8_min(least, rh_f8_load(e->phi + first + c));
    return rh_i8_bits(least < band_of(e, t) * e->tiles->h) ? result | HAS_UNKNOWN : result;
}

rh_code rh_faces_extend(const rh_tiles *tiles, const float *phi, const float *const *solid, float band,
                        const float *bands, rh_faces values, uint8_t *const known[3], rh_arena *arena,
                        rh_status *status)
{
    RH_ASSERT(rh_faces_fit(tiles, values) && phi && band > 0);
    // Values that come late through a fourth and fifth tile are few and far from the liquid.
    enum { ROUNDS = 4 };
    static const int side[7] = {RH_HERE, RH_HERE - 1, RH_HERE + 1, RH_HERE - 3, RH_HERE + 3, RH_HERE - 9, RH_HERE + 9};
    rh_arena_mark mark = rh_arena_save(arena);
    size_t count = (size_t)tiles->count + 1;
    uint8_t *content = rh_arena_take(arena, count, status), *open = rh_arena_take(arena, count, status);
    uint32_t *due = rh_arena_take(arena, count * sizeof *due, status);
    uint64_t(*rows)[3] = rh_arena_take(arena, count * sizeof *rows, status);
    if (!content || !open || !due || !rows) return RH_MEMORY;
    extension e = {tiles, phi, solid, band, bands, values, known, rows};
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) content[t] = (uint8_t)look_at_tile(&e, t);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        rows[t][0] = rows[t][1] = rows[t][2] = rows_at(63, tiles->cells / RH_TILE);
        open[t] = content[t] & HAS_UNKNOWN;
        due[t] = 0;
        for (int n = 0; n < 7 && open[t]; n++)
            if (tiles->near[t][side[n]] >= 0 && content[tiles->near[t][side[n]]] & HAS_KNOWN) due[t] = RH_WAVE_FIRST;
    }
    RH_TRY(rh_waves_run(tiles, open, due, ROUNDS, extend_tile, &e, arena, status));
    rh_arena_restore(arena, mark);
    return RH_OK;
}
