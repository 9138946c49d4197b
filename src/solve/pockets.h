// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Pockets: connected parts of the liquid that touch no air (a full closed box). Their pressure has no level: the
// operator has constants as null space there, and a right-hand side with a mean cannot be balanced by anything.
#pragma once
#include "solve/poisson.h"
#include "solve/term.h"

// What of one connected part lies in one tile.
typedef struct rh_pocket_piece {
    uint64_t bits[RH_TILE];  // its cells: bit i + 8 j of layer k
    int32_t tile;            // of the operator
    int32_t group;           // which pocket
} rh_pocket_piece;

typedef struct rh_pockets {
    int32_t count;  // pieces; 0 when all of the liquid touches air
    int32_t groups;
    rh_pocket_piece *pieces;  // by tile
    double *sums, *means;     // per piece, per group
    int64_t *sizes;           // per group: cells
} rh_pockets;

rh_code rh_pockets_find(rh_pockets *pockets, const rh_poisson *a, rh_arena *arena, rh_status *status);
// What a constant pressure of 1 in a pocket does to a body, and what it would if nothing cancelled out.
typedef struct rh_pocket_push {
    int32_t group, body;
    double sum[RH_TERM_PARTS], size[RH_TERM_PARTS];
} rh_pocket_push;

// *out: all there are, *count of them.
rh_code rh_pockets_push(const rh_pockets *pockets, const rh_term *term, rh_pocket_push **out, int32_t *count,
                        rh_arena *arena, rh_status *status);
// out = those pockets whose level nothing feels beside the operator either: `term` moves no body by a constant pressure
// in them, as around a body that is all inside. A body that closes a pocket, a piston, gives it a level. What `out`
// does not list anew is that of `pockets`; it lives as long. `term` NULL: all of them.
rh_code rh_pockets_unfelt(const rh_pockets *pockets, const rh_term *term, rh_pockets *out, rh_arena *arena,
                          rh_status *status);
// Takes the mean of v over each pocket out of it.
void rh_pockets_balance(const rh_pockets *pockets, const rh_poisson *a, float *v);
// The same, only for pockets all of whose cells are in `free` (bits as in rh_poisson.unknown).
void rh_pockets_balance_free(const rh_pockets *pockets, const rh_poisson *a, const uint8_t *free, float *v);
// Lowers x by a constant in every pocket that is all above its bound and whose g = A x + v has a positive mean, until a
// cell meets its bound: the way down that no conjugate gradient can find, because A does not see constants. Returns
// whether any was lowered.
bool rh_pockets_lower(const rh_pockets *pockets, const rh_poisson *a, const float *lower, const float *g, float *x);
// For the complementarity problem x >= lower, A x + v >= 0 (lower NULL: 0): makes v balanced in pockets where nothing
// else can, those with a negative sum, and those where no cell has a bound.
void rh_pockets_relieve(const rh_pockets *pockets, const rh_poisson *a, const float *lower, float *v);
