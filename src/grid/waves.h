// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Work that spreads from tile to tile: a tile is done when something next to it has changed, until nothing does. Tiles come in 2^d
// colours: a tile sees the newest values of other colours and no two neighbours run at once, so the result does not depend on threads.
#pragma once
#include "grid/tiles.h"

// Does tile t; returns for which of its six neighbours something has changed: bit 2 * axis for the lower, 2 * axis + 1 for the upper one.
typedef int rh_wave_work(const void *data, int32_t t);

// `due` (per tile) says which tiles to begin with; only tiles with `open` != 0 are ever done.
rh_code rh_waves_run(const rh_tiles *tiles, const uint8_t *open, uint8_t *due, int max_rounds, rh_wave_work *work, const void *data,
                     rh_arena *arena, rh_status *status);

// Which neighbours see a change in the given cells (bits) of row r = j + 8 k.
static inline int rh_wave_sides(int r, int cells)
{
    if (!cells) return 0;
    int j = r & 7, k = r >> 3;
    return (cells & 1) | (cells >> 7 & 1) << 1 | (j == 0) << 2 | (j == 7) << 3 | (k == 0) << 4 | (k == 7) << 5;
}
