// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A face between two cells beyond the liquid is left by what flows through the nearer of them: it is that cell's to
// change. A cell parts its net outflow D among its faces f towards greater distance, in proportion to the square of the
// slope s_f of the distance across them (a share of it counts where walls are): u_f -= D A_f s_f^2 / sum A^2 s^2. On a
// flat surface that is the one face opposite the liquid. A cell's change disturbs the next one; two rounds leave little
// of that. The first finds what each cell asks, the second changes faces, so no order matters.
#include "grid/outer_flow.h"

#include <string.h>
#include "base/simd.h"
#include "grid/bits.h"
#include "grid/rows.h"

enum { CELLS = RH_TILE * RH_TILE * RH_TILE, ROUNDS = 2 };
static const float FAR[CELLS] = {[0 ... CELLS - 1] = 1e9f};
static const float ZEROS[CELLS];

static const float REACH = 1;            // cells from the surface
static const float LEAST_SLOPES = 0.1f;  // sum of squares: less is a ridge between two surfaces, which nothing leaves

// Whether some cell of the tile lies beyond the surface within reach.
static bool is_near(const rh_outer_flow *f, int32_t t)
{
    const float *phi = f->phi + (int64_t)t * f->tiles->cells;
    int any = 0;
    for (int c = 0; c < f->tiles->cells; c += RH_TILE) {
        rh_f8 d = rh_f8_load(phi + c);
        any |= rh_i8_bits((d >= rh_f8_all(0)) & (d < rh_f8_all(REACH * f->tiles->h)));
    }
    return any != 0;
}

// How far the distance rises from one cell to another, per cell.
static inline rh_f8 slope(const rh_tiles *tiles, rh_f8 from, rh_f8 to)
{
    rh_f8 rise = (to - from) * tiles->inverse_h;
    return rh_f8_min(rh_f8_max(rise, rh_f8_all(-1)), rh_f8_all(1));
}

typedef struct surroundings {
    rh_rows phi, u[3], open[3], wall[3];
    const uint8_t *known[3], *known_above[3];  // of the tile and of the next one along the axis; NULL = no such tile
} surroundings;

// Bits of a row of faces that have a value.
static inline int have_row(const uint8_t *known, int r)
{
    uint64_t bytes;
    if (!known) return 0;
    memcpy(&bytes, known + 8 * r, sizeof bytes);
    return (int)(((bytes | bytes >> 1) & RH_FIRST_COLUMN) * 0x0102040810204080u >> 56);
}

// Bits of the cells of a row whose faces all have a value. (In spray without a liquid cell few faces do.)
static int cells_with_values(const surroundings *at, int dimension, int r)
{
    int have = 255;
    for (int a = 0; a < dimension; a++) {
        int here = have_row(at->known[a], r), last = r & 7;
        if (a == 0) have &= here >> 1 | (have_row(at->known_above[0], r) << 7 & 128);
        else if (a == 1) have &= last < 7 ? have_row(at->known[1], r + 1) : have_row(at->known_above[1], r - 7);
        else have &= r < 56 ? have_row(at->known[2], r + 8) : have_row(at->known_above[2], r - 56);
        have &= here;
    }
    return have;
}

static surroundings surroundings_of(const rh_outer_flow *f, int32_t t)
{
    surroundings at = {.phi = rh_rows_of(f->tiles, f->phi, t, FAR)};
    for (int a = 0; a < f->tiles->dimension; a++) {
        at.u[a] = rh_rows_of(f->tiles, f->velocity.axis[a], t, ZEROS);
        at.open[a] = rh_rows_apart(f->tiles, f->open[a], t, ZEROS);
        at.wall[a] = rh_rows_apart(f->tiles, f->wall[a], t, ZEROS);
        int32_t above = f->tiles->near[t][RH_HERE + rh_near_step[a]];
        at.known[a] = f->known[a] + (int64_t)t * f->tiles->cells;
        at.known_above[a] = above < 0 ? NULL : f->known[a] + (int64_t)above * f->tiles->cells;
    }
    return at;
}

// What the cells of a row ask of their faces: net outflow over the sum of A^2 s^2; 0 in the liquid and out of reach.
static rh_f8 ask_row(const rh_tiles *tiles, const surroundings *at, int r)
{
    rh_f8 zero = rh_f8_all(0), one = rh_f8_all(1), out = zero, sum = zero, here = rh_f8_load(at->phi.here + 8 * r);
    rh_i8 asks = (here >= zero) & (here < rh_f8_all(REACH * tiles->h));
    if (!rh_i8_bits(asks)) return zero;
    asks &= rh_i8_from_bits(cells_with_values(at, tiles->dimension, r));
    for (int a = 0; a < tiles->dimension; a++) {
        rh_f8 low = rh_f8_load(at->open[a].here + 8 * r), high = rh_row_above(&at->open[a], a, r);
        out += high * rh_row_above(&at->u[a], a, r) + (one - high) * rh_row_above(&at->wall[a], a, r);
        out -= low * rh_f8_load(at->u[a].here + 8 * r) + (one - low) * rh_f8_load(at->wall[a].here + 8 * r);
        rh_f8 up = high * rh_f8_max(slope(tiles, here, rh_row_above(&at->phi, a, r)), zero),
              down = low * rh_f8_max(slope(tiles, here, rh_row_below(&at->phi, a, r)), zero);
        sum += up * up + down * down;
    }
    asks &= sum > rh_f8_all(LEAST_SLOPES);
    return rh_f8_select(asks, out / rh_f8_select(asks, sum, one), zero);
}

static void ask_tile(const rh_outer_flow *f, int32_t t, float *ask)
{
    surroundings at = surroundings_of(f, t);
    for (int r = 0; r < f->tiles->cells / 8; r++) rh_f8_store(ask + 8 * r, ask_row(f->tiles, &at, r));
}

// Faces of a row with an extended value between two cells beyond the liquid.
static inline rh_i8 may_change(const rh_outer_flow *f, int axis, int64_t row, rh_f8 low, rh_f8 here)
{
    uint64_t bytes;
    memcpy(&bytes, f->known[axis] + row, sizeof bytes);
    bytes = bytes >> 1 & RH_FIRST_COLUMN;
    return rh_i8_from_bits((int)(bytes * 0x0102040810204080u >> 56)) & (low >= rh_f8_all(0)) & (here >= rh_f8_all(0));
}

static void change_tile(const rh_outer_flow *f, int32_t t, const float *const *ask)
{
    const rh_tiles *tiles = f->tiles;
    rh_f8 zero = rh_f8_all(0);
    rh_rows phi = rh_rows_of(tiles, f->phi, t, FAR), asked = rh_rows_apart(tiles, ask, t, ZEROS);
    for (int a = 0; a < tiles->dimension; a++) {
        if (asked.here == ZEROS && asked.low[a] == ZEROS) continue;
        for (int r = 0; r < tiles->cells / 8; r++) {
            rh_f8 ask_low = rh_row_below(&asked, a, r), ask_here = rh_f8_load(asked.here + 8 * r);
            if (!rh_i8_bits((ask_low != zero) | (ask_here != zero))) continue;
            int64_t row = (int64_t)t * tiles->cells + 8 * r;
            rh_f8 low = rh_row_below(&phi, a, r), here = rh_f8_load(phi.here + 8 * r), s = slope(tiles, low, here);
            rh_f8 owner = rh_f8_select(s > zero, ask_low, ask_here);
            rh_f8 change = s * rh_f8_abs(s) * owner * rh_f8_load(f->open[a][t] + 8 * r);
            float *u = f->velocity.axis[a] + row;
            rh_f8_store(u, rh_f8_load(u) - (rh_f8)((rh_i8)change & may_change(f, a, row, low, here)));
        }
    }
}

static bool any_asks(const rh_tiles *tiles, const float *const *ask, int32_t t)
{
    bool any = ask[t] != ZEROS;
    for (int a = 0; a < tiles->dimension; a++) {
        int32_t low = tiles->near[t][RH_HERE - rh_near_step[a]];
        any = any || (low >= 0 && ask[low] != ZEROS);
    }
    return any;
}

rh_code rh_outer_flow_balance(const rh_outer_flow *f, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = f->tiles;
    RH_ASSERT(rh_faces_fit(tiles, f->velocity) && f->phi);
    rh_arena_mark mark = rh_arena_save(arena);
    const float **ask = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *ask, status);
    if (!ask) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) ask[t] = is_near(f, t) ? NULL : ZEROS;
    for (int32_t t = 0; t < tiles->count; t++)
        if (!ask[t]) {
            ask[t] = rh_arena_take(arena, (size_t)tiles->cells * sizeof(float), status);
            if (!ask[t]) return RH_MEMORY;
        }
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel for schedule(dynamic, 8)
        for (int32_t t = 0; t < tiles->count; t++)
            if (ask[t] != ZEROS) ask_tile(f, t, (float *)ask[t]);
#pragma omp parallel for schedule(dynamic, 8)
        for (int32_t t = 0; t < tiles->count; t++)
            if (any_asks(tiles, ask, t)) change_tile(f, t, ask);
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}
