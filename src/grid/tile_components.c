// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Union-find over pairs of touching tiles (base/union_find.h), in the order of tiles; a component is named by its
// lowest tile.
#include "grid/tile_components.h"
#include "base/union_find.h"

void rh_tile_components(const rh_tiles *tiles, int32_t *number)
{
    for (int32_t t = 0; t < tiles->count; t++) number[t] = t;
    for (int32_t t = 0; t < tiles->count; t++)
        for (int n = 0; n < RH_HERE; n++)  // each pair once
            if (tiles->near[t][n] >= 0) rh_union_join(number, t, tiles->near[t][n]);
    for (int32_t t = 0; t < tiles->count; t++) number[t] = rh_union_root(number, t);
}
