// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
#include "grid/waves.h"

enum { COLORS = 8 };

static int color_of(rh_tile at) { return (at.x & 1) | (at.y & 1) << 1 | (at.z & 1) << 2; }

static void wake(const rh_tiles *tiles, int32_t t, int changed, uint8_t *due)
{
    static const int side[6] = {RH_HERE - 1, RH_HERE + 1, RH_HERE - 3, RH_HERE + 3, RH_HERE - 9, RH_HERE + 9};
    for (int n = 0; n < 6; n++) {
        if (!(changed >> n & 1) || tiles->near[t][side[n]] < 0) continue;
        uint8_t *flag = &due[tiles->near[t][side[n]]];
#pragma omp atomic write
        *flag = 1;  // two tiles of one colour may share a neighbour: both say the same
    }
}

rh_code rh_waves_run(const rh_tiles *tiles, const uint8_t *open, uint8_t *due, int max_rounds, rh_wave_work *work, const void *data,
                     rh_arena *arena, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    int32_t *list = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *list, status);
    int32_t *now = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *now, status);
    if (!list || !now) return RH_MEMORY;
    int32_t begin[COLORS + 1] = {0}, place[COLORS], done = 1;
    for (int32_t t = 0; t < tiles->count; t++) begin[color_of(tiles->at[t]) + 1] += open[t] != 0;
    for (int c = 0; c < COLORS; c++) begin[c + 1] += begin[c], place[c] = begin[c];
    for (int32_t t = 0; t < tiles->count; t++)
        if (open[t]) list[place[color_of(tiles->at[t])]++] = t;
    for (int round = 0; round < max_rounds && done > 0; round++) {
        done = 0;
        for (int c = 0; c < COLORS; c++) {
            int32_t count = 0;
            for (int32_t n = begin[c]; n < begin[c + 1]; n++)
                if (due[list[n]]) due[list[n]] = 0, now[count++] = list[n];
            done += count;
#pragma omp parallel for schedule(dynamic, 1) if (count > 2)
            for (int32_t n = 0; n < count; n++) wake(tiles, now[n], work(data, now[n]), due);
        }
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}
