// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Work that spreads from tile to tile: a tile is worked on when something next to it has changed, until nothing does.
// Tiles
// come in 2^d colours: a tile sees the newest values of other colours and no two neighbours run at once, so the result
// does not depend on threads.
#pragma once
#include "grid/tiles.h"

// What is due in a tile, or has changed in it: six bits for its sides (2 * axis for the lower one, 2 * axis + 1 for the
// upper one), three such groups for up to three fields.
enum { RH_WAVE_SIDES = 6, RH_WAVE_FIRST = 1 << 18 };  // FIRST: the tile's first turn, everything is due

// Does tile t, `due` sides of which have changed outside; returns at which sides it has changed itself.
typedef uint32_t rh_wave_work(const void *data, int32_t t, uint32_t due);

// `due` (per tile) says which tiles to begin with; only tiles with `open` != 0 are ever done.
rh_code rh_waves_run(const rh_tiles *tiles, const uint8_t *open, uint32_t *due, int max_rounds, rh_wave_work *work,
                     const void *data, rh_arena *arena, rh_status *status);

// Which sides see a change in the given cells (bits) of row r = j + 8 k.
static inline uint32_t rh_wave_sides(int r, int cells)
{
    if (!cells) return 0;
    int j = r & 7, k = r >> 3;
    return (uint32_t)((cells & 1) | (cells >> 7 & 1) << 1 | (j == 0) << 2 | (j == 7) << 3 | (k == 0) << 4 |
                      (k == 7) << 5);
}
