// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Extension of face values: grad u . grad d = 0 with d the distance from liquid in free space, upwind (the steady state of D. Adalsteinsson,
// J. A. Sethian, J. Comput. Phys. 148, 1999): a value is the mean of its axis neighbours nearer to the liquid, weighted by how much
// nearer they are. The equations depend on each other in one direction only, so visiting rows from near to far solves them in one go where
// the liquid lies on one side of a tile; whatever lies otherwise takes another visit. Tiles wake each other (grid/waves.h).
#include "base/simd.h"
#include "grid/levelset.h"
#include "grid/waves.h"

// A row of distances has two cells of its lower and one of its upper neighbour beside it, from place 2 on.
enum { WIDE = RH_TILE + 3, STRIDE = 16, ROW = 4 };
enum { SIDE = RH_TILE + 2, ROWS = RH_TILE * RH_TILE };

typedef struct extension {
    const rh_tiles *tiles;
    const float *phi, *solid;
    float band;
    rh_faces values;
    uint8_t *const *known;
} extension;

// One component around a tile. A face without a value has `have` and `value` zero.
typedef struct component {
    float value[SIDE * SIDE][RH_TILE], have[SIDE * SIDE][RH_TILE];
    float side_value[2][ROWS], side_have[2][ROWS];  // beyond the ends of rows: west, east
    float weight[ROWS][6][RH_TILE];                 // of neighbours: lower, upper of each axis; filled for rows to do
    uint8_t todo[ROWS], changed[ROWS];              // bits of cells
    uint64_t rows;                                  // with cells to do
    int order;                                      // flips of y and z that go away from the liquid
    float tolerance;                                // changes less than this are none
} component;

static inline int row_at(int r) { return (r & 7) + 1 + SIDE * ((r >> 3) + 1); }

// --- distance -----------------------------------------------------------------------------------------------------

// Distance from liquid in free space, in cells. Deep in solids phi ends, depth goes on.
static inline rh_f8 region_row(const extension *e, int32_t t, int row)
{
    rh_f8 d = rh_f8_load(e->phi + (int64_t)t * e->tiles->cells + row);
    if (e->solid) {
        rh_f8 depth = -rh_f8_load(rh_solid_tile(e->tiles, e->solid, t) + row);
        d = rh_f8_select(depth > RH_SURFACE_DEPTH * e->tiles->h, depth, rh_f8_max(d, depth));
    }
    return d * e->tiles->inverse_h;
}

static void load_region(const extension *e, int32_t t, float *out)
{
    bool flat = e->tiles->dimension == 2;
    rh_f8 far = rh_f8_all(e->band);
    for (int k = flat ? 0 : -2; k < (flat ? 1 : WIDE - 2); k++)
        for (int j = -2; j < WIDE - 2; j++, out += STRIDE) {
            const int32_t *near = e->tiles->near[t] + 3 * (1 + (j >> 3)) + 9 * (1 + (k >> 3));
            int row = RH_TILE * ((j & 7) + RH_TILE * (k & 7));
            rh_f8 west = near[0] < 0 ? far : region_row(e, near[0], row), here = near[1] < 0 ? far : region_row(e, near[1], row);
            rh_f8 east = near[2] < 0 ? far : region_row(e, near[2], row);
            rh_f8_store(out, __builtin_shufflevector(west, here, 4, 5, 6, 7, 8, 9, 10, 11));
            rh_f8_store(out + 8, __builtin_shufflevector(here, east, 4, 5, 6, 7, 8, 9, 10, 11));
        }
}

static inline rh_f8 key_at(const float *region, int lower) { return 0.5f * (rh_f8_load(region) + rh_f8_load(region - lower)); }

static inline rh_f8 weight_of(rh_f8 here, rh_f8 there)
{
    rh_f8 w = here - there, none = {0};
    return rh_f8_select(w > 1e-4f, w, none);
}

// Which faces to do, and the weights of their neighbours.
static void weigh(const extension *e, const float *region, int axis, const uint8_t *known, component *c)
{
    bool flat = e->tiles->dimension == 2;
    int step[3] = {1, STRIDE, STRIDE * WIDE}, lower = step[axis];
    rh_f8 none = {0}, slope_y = none, slope_z = none;
    c->rows = 0;
    for (int r = 0; r < e->tiles->cells / RH_TILE; r++) {
        const float *at = region + ROW + STRIDE * ((r & 7) + 2 + (flat ? 0 : WIDE * ((r >> 3) + 2)));
        uint64_t bytes;
        memcpy(&bytes, known + RH_TILE * r, sizeof bytes);
        if ((bytes & RH_FIRST_COLUMN) == RH_FIRST_COLUMN) continue;
        rh_f8 key = key_at(at, lower);
        int todo = rh_i8_bits(key < e->band) & ~(int)((bytes & RH_FIRST_COLUMN) * 0x0102040810204080u >> 56);
        if (!todo) continue;
        c->rows |= (uint64_t)1 << r;
        c->todo[r] = (uint8_t)todo;
        c->changed[r] = 0;
        rh_f8 w[6] = {none, none, none, none, none, none};
        for (int a = 0; a < e->tiles->dimension; a++) {
            w[2 * a] = weight_of(key, key_at(at - step[a], lower));
            w[2 * a + 1] = weight_of(key, key_at(at + step[a], lower));
        }
        for (int n = 0; n < 6; n++) rh_f8_store(c->weight[r][n], w[n]);
        slope_y += w[2] - w[3];
        slope_z += w[4] - w[5];
    }
    c->order = (rh_f8_sum(slope_y) < 0 ? 7 : 0) | (rh_f8_sum(slope_z) < 0 ? 56 : 0);
}

// --- values -------------------------------------------------------------------------------------------------------

static inline void load_values(const float *values, const uint8_t *known, rh_f8 *value, rh_f8 *have)
{
    uint64_t bytes;
    memcpy(&bytes, known, sizeof bytes);
    rh_i8 mask = rh_i8_from_bits((int)(((bytes | bytes >> 1) & RH_FIRST_COLUMN) * 0x0102040810204080u >> 56));
    *value = (rh_f8)((rh_i8)rh_f8_load(values) & mask);
    *have = (rh_f8)((rh_i8)rh_f8_all(1) & mask);
}

// Rows [from, from + step, ...) of tile t, `count` of them, to rows of the block.
static rh_f8 load_rows(const extension *e, int axis, int32_t t, int from, int step, int count, int to, int to_step, component *c)
{
    rh_f8 most = {0};
    for (int n = 0; n < count; n++, to += to_step) {
        int64_t at = (int64_t)t * e->tiles->cells + RH_TILE * (from + n * step);
        rh_f8 value = {0}, have = {0};
        if (t >= 0) load_values(e->values.axis[axis] + at, e->known[axis] + at, &value, &have);
        rh_f8_store(c->value[to], value);
        rh_f8_store(c->have[to], have);
        most = rh_f8_max(most, rh_f8_abs(value));
    }
    return most;
}

static void load_sides(const extension *e, int axis, int32_t t, component *c)
{
    for (int side = 0; side < 2; side++) {
        int32_t other = e->tiles->near[t][side ? RH_HERE + 1 : RH_HERE - 1];
        for (int r = 0; r < e->tiles->cells / RH_TILE; r++) {
            int64_t at = (int64_t)other * e->tiles->cells + RH_TILE * r + (side ? 0 : RH_TILE - 1);
            bool have = other >= 0 && e->known[axis][at];
            c->side_have[side][r] = have;
            c->side_value[side][r] = have ? e->values.axis[axis][at] : 0;
        }
    }
}

static void load_component(const extension *e, int axis, int32_t t, component *c)
{
    const int32_t *near = e->tiles->near[t];
    rh_f8 most = {0};
    for (int k = 0; k < e->tiles->layers; k++) {
        int row = RH_TILE * k, to = SIDE * (k + 1);
        most = rh_f8_max(most, load_rows(e, axis, t, row, 1, RH_TILE, to + 1, 1, c));
        most = rh_f8_max(most, load_rows(e, axis, near[RH_HERE - 3], row + 7, 1, 1, to, 1, c));
        most = rh_f8_max(most, load_rows(e, axis, near[RH_HERE + 3], row, 1, 1, to + SIDE - 1, 1, c));
    }
    bool flat = e->tiles->dimension == 2;
    most = rh_f8_max(most, load_rows(e, axis, flat ? -1 : near[RH_HERE - 9], ROWS - RH_TILE, 1, RH_TILE, 1, 1, c));
    most = rh_f8_max(most, load_rows(e, axis, flat ? -1 : near[RH_HERE + 9], 0, 1, RH_TILE, 1 + SIDE * (flat ? 2 : SIDE - 1), 1, c));
    load_sides(e, axis, t, c);
    float largest = 0;
    for (int i = 0; i < RH_TILE; i++) largest = rh_max_of(largest, most[i]);
    c->tolerance = 2e-5f * largest;
}

// Updates a row, along x until it rests; returns the cells that changed.
static int extend_row(component *c, int r)
{
    int at = row_at(r), changed = 0;
    static const int step[4] = {-1, 1, -SIDE, SIDE};
    rh_f8 sum = {0}, weight = {0}, none = {0};
    for (int n = 0; n < 4; n++) {
        rh_f8 w = rh_f8_load(c->weight[r][n + 2]);
        sum += w * rh_f8_load(c->value[at + step[n]]);
        weight += w * rh_f8_load(c->have[at + step[n]]);
    }
    rh_f8 value = rh_f8_load(c->value[at]), have = rh_f8_load(c->have[at]);
    rh_f8 west = rh_f8_load(c->weight[r][0]), east = rh_f8_load(c->weight[r][1]);
    rh_i8 todo = rh_i8_from_bits(c->todo[r]);
    for (;;) {
        rh_f8 all = sum + west * rh_f8_west(value, c->side_value[0][r]) + east * rh_f8_east(value, c->side_value[1][r]);
        rh_f8 total = weight + west * rh_f8_west(have, c->side_have[0][r]) + east * rh_f8_east(have, c->side_have[1][r]);
        rh_i8 found = todo & (total > none);
        rh_f8 mean = all / rh_f8_select(found, total, rh_f8_all(1));
        rh_i8 differs = found & ((have == none) | (rh_f8_abs(mean - value) > c->tolerance));
        int bits = rh_i8_bits(differs);
        if (!bits) break;
        changed |= bits;
        value = rh_f8_select(differs, mean, value);
        have = rh_f8_select(differs, rh_f8_all(1), have);
    }
    if (!changed) return 0;
    rh_f8_store(c->value[at], value);
    rh_f8_store(c->have[at], have);
    c->changed[r] |= (uint8_t)changed;
    return changed;
}

static void store_row(const component *c, int r, float *values, uint8_t *known)
{
    rh_f8 value = rh_f8_select(rh_i8_from_bits(c->changed[r]), rh_f8_load(c->value[row_at(r)]), rh_f8_load(values));
    rh_f8_store(values, value);
    uint64_t bytes, cells = (c->changed[r] * RH_FIRST_COLUMN & 0x8040201008040201u) + 0x7f7f7f7f7f7f7f7fu;
    cells = cells >> 7 & RH_FIRST_COLUMN;  // 1 in each byte that changed
    memcpy(&bytes, known, sizeof bytes);
    bytes = (bytes & ~(cells * 3)) | cells * 2;
    memcpy(known, &bytes, sizeof bytes);
}

static int extend_component(const extension *e, const float *region, int axis, int32_t t, component *c)
{
    static const int flips[4] = {0, 63, 7, 56};
    int64_t first = (int64_t)t * e->tiles->cells;
    weigh(e, region, axis, e->known[axis] + first, c);
    if (!c->rows) return 0;
    load_component(e, axis, t, c);
    int rows = e->tiles->cells / RH_TILE, result = 0;
    bool changed = true;
    for (int n = 0; changed; n++) {
        changed = false;
        for (int i = 0; i < rows; i++) {
            int r = i ^ ((flips[n & 3] ^ c->order) & (rows - 1));
            if (c->rows >> r & 1) changed |= extend_row(c, r) != 0;
        }
    }
    for (int r = 0; r < rows; r++) {
        if (!(c->rows >> r & 1) || !c->changed[r]) continue;
        store_row(c, r, e->values.axis[axis] + first + RH_TILE * r, e->known[axis] + first + RH_TILE * r);
        result |= rh_wave_sides(r, c->changed[r]);
    }
    return result;
}

static int extend_tile(const void *data, int32_t t)
{
    const extension *e = data;
    float region[WIDE * WIDE * STRIDE];
    component c;
    load_region(e, t, region);
    int result = 0;
    for (int a = 0; a < e->tiles->dimension; a++) result |= extend_component(e, region, a, t, &c);
    return result;
}

// --- which tiles --------------------------------------------------------------------------------------------------
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
    return rh_i8_bits(least < e->band * e->tiles->h) ? result | HAS_UNKNOWN : result;
}

rh_code rh_faces_extend(const rh_tiles *tiles, const float *phi, const float *solid, float band, rh_faces values, uint8_t *const known[3],
                        rh_arena *arena, rh_status *status)
{
    // Values that come late through a fourth and fifth tile are few and far from the liquid.
    enum { ROUNDS = 4 };
    static const int side[7] = {RH_HERE, RH_HERE - 1, RH_HERE + 1, RH_HERE - 3, RH_HERE + 3, RH_HERE - 9, RH_HERE + 9};
    rh_arena_mark mark = rh_arena_save(arena);
    size_t count = (size_t)tiles->count + 1;
    uint8_t *content = rh_arena_take(arena, count, status), *open = rh_arena_take(arena, count, status), *due = rh_arena_take(arena, count, status);
    if (!content || !open || !due) return RH_MEMORY;
    extension e = {tiles, phi, solid, band, values, known};
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) content[t] = (uint8_t)look_at_tile(&e, t);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        open[t] = content[t] & HAS_UNKNOWN;
        due[t] = 0;
        for (int n = 0; n < 7 && open[t]; n++) due[t] |= tiles->near[t][side[n]] >= 0 && content[tiles->near[t][side[n]]] & HAS_KNOWN;
    }
    RH_TRY(rh_waves_run(tiles, open, due, ROUNDS, extend_tile, &e, arena, status));
    rh_arena_restore(arena, mark);
    return RH_OK;
}
