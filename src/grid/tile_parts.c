// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Union-find with path halving; the lower number wins, so the result does not depend on the order.
#include "grid/tile_parts.h"

static int32_t root_of(int32_t *parent, int32_t t)
{
    while (parent[t] != t) t = parent[t] = parent[parent[t]];
    return t;
}

void rh_tile_parts(const rh_tiles *tiles, int32_t *number)
{
    for (int32_t t = 0; t < tiles->count; t++) number[t] = t;
    for (int32_t t = 0; t < tiles->count; t++)
        for (int n = 0; n < RH_HERE; n++) {  // each pair once
            if (tiles->near[t][n] < 0) continue;
            int32_t one = root_of(number, t), other = root_of(number, tiles->near[t][n]);
            if (one < other) number[other] = one;
            else number[one] = other;
        }
    for (int32_t t = 0; t < tiles->count; t++) number[t] = root_of(number, t);
}
