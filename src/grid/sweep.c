// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Distances on tiles: fast sweeping (H. Zhao, "A fast sweeping method for eikonal equations", Math. Comp. 74, 2005). A
// row of a tile is updated at once, along x until it rests; rows are visited in the orders of y and z in turn until
// none changes; tiles wake each other (grid/waves.h).
#include "base/simd.h"
#include "grid/levelset.h"
#include "grid/waves.h"

typedef struct sweep {
    const rh_tiles *tiles;
    float *phi;
    const rh_bits *todo;
    const float *far;  // a tile of cells at band * h, in place of tiles that do not exist
    float wakes;  // m: a distance from here on changes no other one, because neighbours differ by h / sqrt(3) at least
} sweep;

// Solution of the upwind eikonal equation from the smallest neighbour along each axis.
static inline rh_f8 eikonal(rh_f8 a, rh_f8 b, rh_f8 c, float h)
{
    rh_f8 none = {0}, low = rh_f8_min(a, b), high = rh_f8_max(a, b);
    a = rh_f8_min(low, c);
    b = rh_f8_min(high, rh_f8_max(low, c));
    c = rh_f8_max(high, c);
    rh_f8 one = a + h, two = 0.5f * (a + b + rh_f8_sqrt(rh_f8_max(2 * h * h - (a - b) * (a - b), none)));
    rh_f8 sum = a + b + c, squares = a * a + b * b + c * c;
    rh_f8 three = (sum + rh_f8_sqrt(rh_f8_max(sum * sum - 3 * (squares - h * h), none))) * (1.0f / 3);
    return rh_f8_select(one <= b, one, rh_f8_select(two <= c, two, three));
}

static inline rh_f8 magnitude(const float *row) { return rh_f8_abs(rh_f8_load(row)); }

// The six tiles around tile t: lower and upper along each axis.
static void neighbours(const sweep *s, int32_t t, const float *near[6])
{
    static const int side[6] = {RH_HERE - 1, RH_HERE + 1, RH_HERE - 3, RH_HERE + 3, RH_HERE - 9, RH_HERE + 9};
    for (int n = 0; n < 6; n++) {
        int32_t other = s->tiles->near[t][side[n]];
        near[n] = other < 0 ? s->far : s->phi + (int64_t)other * s->tiles->cells;
    }
}

// Updates a row; returns the cells that changed, in *wakes those that others may feel.
static int relax_row(const sweep *s, float *own, const float *const near[6], int r, int todo, int *wakes)
{
    int j = r & 7, k = r >> 3, at = RH_TILE * r;
    float h = s->tiles->h, step = 2e-6f * h;
    float west = near[0][at + 7], east = near[1][at];
    west = west < 0 ? -west : west;
    east = east < 0 ? -east : east;
    rh_f8 y = rh_f8_min(magnitude(j > 0 ? own + at - 8 : near[2] + at + 56),
                        magnitude(j < 7 ? own + at + 8 : near[3] + at - 56));
    rh_f8 z = rh_f8_all(1e10f * h);
    if (s->tiles->dimension == 3)
        z = rh_f8_min(magnitude(k > 0 ? own + at - 64 : near[4] + at + 448),
                      magnitude(k < 7 ? own + at + 64 : near[5] + at - 448));
    rh_f8 signs = rh_f8_load(own + at), d = rh_f8_abs(signs);
    rh_i8 mask = rh_i8_from_bits(todo);
    int changed = 0;
    for (;;) {
        rh_f8 value = eikonal(rh_f8_min(rh_f8_west(d, west), rh_f8_east(d, east)), y, z, h);
        rh_i8 less = mask & (value < d - step);
        int bits = rh_i8_bits(less);
        if (!bits) break;
        changed |= bits;
        d = rh_f8_select(less, value, d);
    }
    if (!changed) return 0;
    rh_f8_store(own + at, (rh_f8)((rh_i8)d | ((rh_i8)signs & (int32_t)0x80000000)));
    *wakes = changed & rh_i8_bits(d < s->wakes);
    return changed;
}

static uint32_t sweep_tile(const void *data, int32_t t, uint32_t due)
{
    (void)due;  // rows are cheap to try
    const sweep *s = data;
    static const int orders[4] = {0, 63, 7, 56};  // flips of y and z
    float *own = s->phi + (int64_t)t * s->tiles->cells;
    const float *near[6];
    neighbours(s, t, near);
    int rows = s->tiles->cells / RH_TILE;
    uint32_t result = 0;
    for (int n = 0;; n++) {
        bool changed = false;
        for (int i = 0; i < rows; i++) {
            int r = i ^ (orders[n & 3] & (rows - 1)), wakes = 0, todo = rh_bits_row(&s->todo[t], r & 7, r >> 3);
            if (!todo || !relax_row(s, own, near, r, todo, &wakes)) continue;
            changed = true;
            result |= rh_wave_sides(r, wakes);
        }
        if (!changed) return result;
    }
}

rh_code rh_levelset_sweep(const rh_tiles *tiles, float *phi, const rh_bits *todo, float band, rh_arena *arena,
                          rh_status *status)
{
    RH_ASSERT(phi && band > 0);
    // A wave crosses a border for each axis at most once in eight cells, and each may have to wait for the next round.
    int rounds = 12 + (band > RH_TILE ? (int)(1.5f * (band - RH_TILE)) : 0);
    rh_arena_mark mark = rh_arena_save(arena);
    float *far = rh_arena_take(arena, (size_t)tiles->cells * sizeof *far, status);
    size_t count = (size_t)tiles->count + 1;
    uint8_t *open = rh_arena_take(arena, count, status), *gives = rh_arena_take(arena, count, status);
    uint32_t *due = rh_arena_take(arena, count * sizeof *due, status);
    if (!far || !open || !gives || !due) return RH_MEMORY;
    for (int c = 0; c < tiles->cells; c++) far[c] = band * tiles->h;
    sweep s = {tiles, phi, todo, far, (band - 0.57f) * tiles->h};
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_f8 least = rh_f8_all(band * tiles->h);
        for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c += RH_TILE)
            least = rh_f8_min(least, magnitude(phi + c));
        gives[t] = rh_i8_bits(least < s.wakes) != 0;
        open[t] = rh_bits_any(tiles, &todo[t]);
    }
    static const int side[7] = {RH_HERE, RH_HERE - 1, RH_HERE + 1, RH_HERE - 3, RH_HERE + 3, RH_HERE - 9, RH_HERE + 9};
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        due[t] = 0;
        for (int n = 0; n < 7; n++)
            if (tiles->near[t][side[n]] >= 0 && gives[tiles->near[t][side[n]]]) due[t] = RH_WAVE_FIRST;
    }
    RH_TRY(rh_waves_run(tiles, open, due, rounds, sweep_tile, &s, arena, status));
    rh_arena_restore(arena, mark);
    return RH_OK;
}
