// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One bit per cell: a layer of a tile is one word, so that looking at the neighbours of 64 cells is a shift.
//
//      cell (i, j, k) is bit i + 8 j of layer[k]; a row of eight cells is a byte (in two dimensions layers 1..7 are
//      unused)
#pragma once
#include "grid/tiles.h"

typedef struct rh_bits {
    uint64_t layer[RH_TILE];
} rh_bits;

static const uint64_t RH_FIRST_COLUMN = 0x0101010101010101u,
                      RH_LAST_COLUMN = 0x8080808080808080u;  // cells with i = 0, with i = 7

static inline int rh_bits_row(const rh_bits *b, int j, int k) { return (int)(b->layer[k] >> (8 * j) & 0xff); }

static inline bool rh_bits_any(const rh_tiles *tiles, const rh_bits *b)
{
    uint64_t any = 0;
    for (int k = 0; k < tiles->layers; k++) any |= b->layer[k];
    return any != 0;
}

// The bits of every cell's neighbour one below (above) along an axis. Beyond the tiles that exist a cell is its own
// neighbour.
static inline rh_bits rh_bits_below(const rh_tiles *tiles, const rh_bits *all, int32_t t, int axis)
{
    static const int step[3] = {1, 3, 9};
    const rh_bits *own = &all[t];
    int32_t other = tiles->near[t][RH_HERE - step[axis]];
    rh_bits out = {{0}};
    for (int k = 0; k < tiles->layers; k++) {
        uint64_t here = own->layer[k], there = other < 0 ? 0 : all[other].layer[axis == 2 ? RH_TILE - 1 : k];
        if (axis == 0)
            out.layer[k] = (here << 1 & ~RH_FIRST_COLUMN) |
                           (other < 0 ? here & RH_FIRST_COLUMN : there >> 7 & RH_FIRST_COLUMN);
        else if (axis == 1) out.layer[k] = here << 8 | (other < 0 ? here & 0xff : there >> 56);
        else out.layer[k] = k > 0 ? own->layer[k - 1] : other < 0 ? here : there;
    }
    return out;
}

static inline rh_bits rh_bits_above(const rh_tiles *tiles, const rh_bits *all, int32_t t, int axis)
{
    static const int step[3] = {1, 3, 9};
    const rh_bits *own = &all[t];
    int32_t other = tiles->near[t][RH_HERE + step[axis]];
    rh_bits out = {{0}};
    for (int k = 0; k < tiles->layers; k++) {
        uint64_t here = own->layer[k], there = other < 0 ? 0 : all[other].layer[axis == 2 ? 0 : k];
        if (axis == 0)
            out.layer[k] = (here >> 1 & ~RH_LAST_COLUMN) |
                           (other < 0 ? here & RH_LAST_COLUMN : there << 7 & RH_LAST_COLUMN);
        else if (axis == 1) out.layer[k] = here >> 8 | (other < 0 ? here & 0xffull << 56 : there << 56);
        else out.layer[k] = k < RH_TILE - 1 ? own->layer[k + 1] : other < 0 ? here : there;
    }
    return out;
}

// Cells with a set bit within `reach` (1 or 2) cells along each axis, corners included. `flip` is applied to all bits
// first (~0 looks for bits that are not set); cells of tiles that do not exist count as `missing`, after flipping.
static inline rh_bits rh_bits_spread(const rh_tiles *tiles, const rh_bits *all, int32_t t, int reach, uint64_t flip,
                                     uint64_t missing)
{
    bool flat = tiles->dimension == 2;
    uint64_t wide[RH_TILE + 4];
    for (int k = flat ? 0 : -reach; k < (flat ? 1 : RH_TILE + reach); k++) {
        uint64_t rows[3];
        for (int n = 0; n < 3; n++) {
            const int32_t *near = tiles->near[t] + 9 * (1 + (k >> 3)) + 3 * n;
            uint64_t west = near[0] < 0 ? missing : all[near[0]].layer[k & 7] ^ flip,
                     here = near[1] < 0 ? missing : all[near[1]].layer[k & 7] ^ flip;
            uint64_t east = near[2] < 0 ? missing : all[near[2]].layer[k & 7] ^ flip;
            rows[n] = here;
            for (int step = 1; step <= reach; step++) {
                here = (here << 1 & ~RH_FIRST_COLUMN) | (west >> 7 & RH_FIRST_COLUMN);
                west = west << 1 & ~RH_FIRST_COLUMN;
                rows[n] |= here;
            }
            here = near[1] < 0 ? missing : all[near[1]].layer[k & 7] ^ flip;
            for (int step = 1; step <= reach; step++) {
                here = (here >> 1 & ~RH_LAST_COLUMN) | (east << 7 & RH_LAST_COLUMN);
                east = east >> 1 & ~RH_LAST_COLUMN;
                rows[n] |= here;
            }
        }
        uint64_t sum = rows[1] | rows[1] << 8 | rows[1] >> 8 | rows[0] >> 56 | rows[2] << 56;
        if (reach == 2) sum |= rows[1] << 16 | rows[1] >> 16 | rows[0] >> 48 | rows[2] << 48;
        wide[flat ? 0 : k + reach] = sum;
    }
    rh_bits out = {{0}};
    for (int k = 0; k < tiles->layers; k++) {
        out.layer[k] = wide[k];
        for (int n = 1; n <= 2 * reach && !flat; n++) out.layer[k] |= wide[k + n];
    }
    return out;
}
