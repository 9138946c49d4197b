// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Within a sweep only faces known before it are read and only others are written, so tiles need no order.
#include "grid/spread.h"

#include "grid/rows.h"

typedef struct sides {
    rh_bits side[6];
} sides;  // known faces one below and one above along x, y, z

static sides look_around(const rh_tiles *tiles, const rh_bits *known, int32_t t)
{
    sides s = {0};
    for (int a = 0; a < tiles->dimension; a++) {
        s.side[2 * a] = rh_bits_below(tiles, known, t, a);
        s.side[2 * a + 1] = rh_bits_above(tiles, known, t, a);
    }
    return s;
}

static void fill_row(const rh_rows *f, int dimension, const sides *s, int r, int todo, float *out)
{
    rh_f8 sum = rh_f8_all(0), count = rh_f8_all(0), one = rh_f8_all(1);
    for (int n = 0; n < 2 * dimension; n++) {
        int bits = rh_bits_row(&s->side[n], r & 7, r >> 3) & todo;
        if (!bits) continue;
        sum += rh_f8_masked(n & 1 ? rh_row_above(f, n / 2, r) : rh_row_below(f, n / 2, r), bits);
        count += rh_f8_masked(one, bits);
    }
    rh_f8 old = rh_f8_load(out);
    rh_f8_store(out, rh_f8_select(rh_i8_from_bits(todo), sum / rh_f8_max(count, one), old));
}

static void sweep_tile(const rh_tiles *tiles, float *field, const rh_bits *known, int32_t t, rh_bits *next)
{
    static const float none[RH_TILE * RH_TILE * RH_TILE];
    sides s = look_around(tiles, known, t);
    rh_rows f = rh_rows_of(tiles, field, t, none);
    for (int k = 0; k < tiles->layers; k++) {
        uint64_t reached = 0;
        for (int n = 0; n < 2 * tiles->dimension; n++) reached |= s.side[n].layer[k];
        uint64_t todo = reached & ~known[t].layer[k];
        next->layer[k] = known[t].layer[k] | todo;
        for (int j = 0; j < RH_TILE && todo; j++) {
            int bits = (int)(todo >> (8 * j) & 255), r = j + RH_TILE * k;
            if (bits) fill_row(&f, tiles->dimension, &s, r, bits, field + (int64_t)t * tiles->cells + 8 * r);
        }
    }
}

rh_code rh_faces_spread(const rh_tiles *tiles, rh_faces field, rh_bits *const known[3], int sweeps, rh_arena *arena,
                        rh_status *status)
{
    RH_ASSERT(rh_faces_fit(tiles, field) && sweeps >= 0);
    rh_arena_mark mark = rh_arena_save(arena);
    rh_bits *next = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *next, status);
    if (!next) return RH_MEMORY;
    for (int a = 0; a < tiles->dimension; a++)
        for (int n = 0; n < sweeps; n++) {
#pragma omp parallel for schedule(dynamic, 8)
            for (int32_t t = 0; t < tiles->count; t++) sweep_tile(tiles, field.axis[a], known[a], t, &next[t]);
#pragma omp parallel for schedule(static)
            for (int32_t t = 0; t < tiles->count; t++) known[a][t] = next[t];
        }
    rh_arena_restore(arena, mark);
    return RH_OK;
}
