// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Coloured Gauss-Seidel with a list of what is due: rounds over the colours, in each the tiles of one colour side by
// side. A tile that changed wakes the neighbours across the sides it names.
#include "grid/waves.h"

enum { COLORS = 8 };

static void wake(const rh_tiles *tiles, int32_t t, uint32_t changed, uint32_t *due)
{
    static const int side[RH_WAVE_SIDES] = {RH_HERE - 1, RH_HERE + 1, RH_HERE - 3,
                                            RH_HERE + 3, RH_HERE - 9, RH_HERE + 9};
    for (int n = 0; n < RH_WAVE_SIDES; n++) {
        uint32_t fields = changed >> n & (1 | 1 << RH_WAVE_SIDES | 1 << 2 * RH_WAVE_SIDES);
        if (!fields || tiles->near[t][side[n]] < 0) continue;
        uint32_t *flags = &due[tiles->near[t][side[n]]], seen = fields << (n ^ 1);
#pragma omp atomic
        *flags |= seen;  // two tiles of one colour may share a neighbour
    }
}

rh_code rh_waves_run(const rh_tiles *tiles, const uint8_t *open, uint32_t *due, int max_rounds, rh_wave_work *work,
                     const void *data, rh_arena *arena, rh_status *status)
{
    RH_ASSERT(max_rounds > 0);
    rh_arena_mark mark = rh_arena_save(arena);
    int32_t *list = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *list, status);
    int32_t *now = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *now, status);
    if (!list || !now) return RH_MEMORY;
    int32_t begin[COLORS + 1] = {0}, place[COLORS], done = 1;
    for (int32_t t = 0; t < tiles->count; t++) begin[rh_tile_color(tiles->at[t]) + 1] += open[t] != 0;
    for (int c = 0; c < COLORS; c++) begin[c + 1] += begin[c], place[c] = begin[c];
    for (int32_t t = 0; t < tiles->count; t++)
        if (open[t]) list[place[rh_tile_color(tiles->at[t])]++] = t;
    for (int round = 0; round < max_rounds && done > 0; round++) {
        done = 0;
        for (int c = 0; c < COLORS; c++) {
            int32_t count = 0;
            for (int32_t n = begin[c]; n < begin[c + 1]; n++)
                if (due[list[n]]) now[count++] = list[n];
            done += count;
#pragma omp parallel for schedule(dynamic, 1) if (count > 2)
            for (int32_t n = 0; n < count; n++) {
                uint32_t sides = due[now[n]];
                due[now[n]] = 0;  // nobody else looks: no neighbour has this colour
                wake(tiles, now[n], work(data, now[n], sides), due);
            }
        }
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}
