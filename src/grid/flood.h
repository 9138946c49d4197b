// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Connected cells of one tile, by bits: a layer of 64 cells is one word (bit i + 8 j of layer k). What several tiles
// have in common is joined by their borders: solve/pockets.c, physics/sand/groups.c.
#pragma once
#include "grid/tiles.h"

static const uint64_t RH_FLOOD_WEST = 0x0101010101010101ull, RH_FLOOD_SOUTH = 0xffull;

// Which cells are joined with their lower neighbour along each axis.
typedef struct rh_flood_links {
    uint64_t axis[3][RH_TILE];
} rh_flood_links;

// All cells joined with layer k's bits inside that layer, one step further.
static inline uint64_t rh_flood_spread(const rh_flood_links *l, int k, uint64_t g)
{
    uint64_t x = l->axis[0][k] & ~RH_FLOOD_WEST, y = l->axis[1][k] & ~RH_FLOOD_SOUTH;
    g |= (g << 1) & x;
    g |= (g & x) >> 1;
    g |= (g << 8) & y;
    return g | (g & y) >> 8;
}

// Everything joined with the bits, inside the tile of so many layers.
static inline void rh_flood(const rh_flood_links *l, int count, uint64_t bits[RH_TILE])
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int s = 0; s < 2 * count; s++) {  // up through the layers, then down
            int k = s < count ? s : 2 * count - 1 - s;
            uint64_t g = bits[k];
            if (k > 0) g |= bits[k - 1] & l->axis[2][k];
            if (k + 1 < count) g |= bits[k + 1] & l->axis[2][k + 1];
            if (g) g = rh_flood_spread(l, k, g);
            changed = changed || g != bits[k];
            bits[k] = g;
        }
    }
}

// Bits of column `side` (0 or 7) of a layer, packed.
static inline uint64_t rh_flood_column(uint64_t layer, int side)
{
    return ((layer >> side & RH_FLOOD_WEST) * 0x0102040810204080ull) >> 56;
}

// Bits at the tile's lower or upper border: bit j + 8 k (x), i + 8 k (y), i + 8 j (z).
static inline uint64_t rh_flood_border(const uint64_t bits[RH_TILE], int axis, int layer_count, bool upper)
{
    if (axis == 2) return bits[upper ? layer_count - 1 : 0];
    uint64_t out = 0;
    for (int k = 0; k < layer_count; k++)
        out |= (axis == 0 ? rh_flood_column(bits[k], upper ? 7 : 0) : bits[k] >> (upper ? 56 : 0) & 255) << (8 * k);
    return out;
}
