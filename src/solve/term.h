// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A term of low rank beside the operator of poisson.h:
//
//      A + scale J C J^T
//
// The columns of J come six to a block (a rigid body has six velocities) and are sparse: cells that the body touches.
// C, symmetric and positive semi-definite, is whatever the blocks answer with. Nothing is formed: J is a list of
// entries, tile by tile, and a product is a gather, an answer and a spread, in an order that threads do not change.
#pragma once
#include "base/six.h"
#include "solve/poisson.h"

enum { RH_TERM_PARTS = 6 };

typedef struct rh_term_entry {
    uint16_t cell;   // in its tile
    uint16_t local;  // block, by its number among those of the tile
    float row[RH_TERM_PARTS];
} rh_term_entry;

// What lies in one tile of the operator.
typedef struct rh_term_tile {
    int32_t tile;
    int32_t entry_first, entry_end;
    int32_t block_first, block_count;  // in rh_term.block
} rh_term_tile;

typedef struct rh_term {
    int32_t blocks;
    rh_term_tile *tiles;
    int32_t tile_count;
    rh_term_entry *entries;
    int32_t *block;                 // numbers of blocks, tile after tile
    double (*sums)[RH_TERM_PARTS];  // scratch, as many as `block`
    double *gathered, *answer;      // scratch, [6 blocks]
    double *traces;                 // scratch, [blocks]
    double scale;
    void (*respond)(const void *user, const double *in, double *out);  // out = C in, [6 blocks] each
    const void *user;
} rh_term;

// row . parts
static inline double rh_term_along(const float row[RH_TERM_PARTS], const double parts[RH_TERM_PARTS])
{
    return rh_six_dot(rh_six_widen(row), rh_six_load(parts));
}

void rh_term_add_up(const rh_term *term, double *out);  // out = sums of tiles (`sums`), by block
// The sums of one tile, for rh_term_add_up.
void rh_term_gather_tile(const rh_term *term, const rh_term_tile *t, int cells, const float *x);
void rh_term_gather(const rh_term *term, int cells, const float *x, double *out);    // out = J^T x
void rh_term_spread(const rh_term *term, int cells, const double *parts, float *y);  // y += J parts
// y += scale J C J^T x; returns x times what was added. NULL: nothing.
double rh_term_apply(const rh_term *term, int cells, const float *x, float *y);
double rh_term_norm(const rh_term *term);  // a bound of its largest eigenvalue; NULL: 0
