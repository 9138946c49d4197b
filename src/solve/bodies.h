// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rigid bodies in the levels of a multigrid, for the operator A + J C J^T with a term of low rank (term.h). A cycle for
// A alone takes every body for a wall that nothing moves; where bodies are light or many, pressure passes through them
// better than through the liquid, and conjugate gradients need several times the iterations. So every level has its own
// columns J, and its smoother inverts D + J C J^T instead of the diagonal D:
//
//      y0 = x + w D^-1 (b - A x)                                    as without bodies
//      y  = y0 - D^-1 J S^-1 (J^T y0 - (1 - w) J^T x),              S = C^-1 + J^T D^-1 J
//
// which is x + w (D + J C J^T)^-1 (b - (A + J C J^T) x) by the formula of Sherman, Morrison and Woodbury. For any C, a
// quotient (x A x + x T x) / (x D x + x T x) lies between that of A and D and 1, so the polynomials of the smoother
// hold with the same bounds. S couples bodies that share a cell or a joint, and is factored.
//
// Between levels columns go down as the right-hand side does. On the first level whose cells are as wide as a body, it
// becomes links: by Cauchy's inequality its term for one axis is at most that of links c s sum(s) through the faces
// that it shuts by s, c its answer along the axis, and equal where the pressure differs by as much across each. Coarser
// levels get them with all other links.
#pragma once
#include "solve/pockets.h"
#include "solve/term.h"

// An equation between the velocities of bodies: ja . v_a + jb . v_b = 0.
typedef struct rh_body_tie {
    int a, b;  // b = -1: none
    double ja[RH_TERM_PARTS], jb[RH_TERM_PARTS];
} rh_body_tie;

typedef struct rh_bodies {
    const rh_term *term;
    const double *inverse;  // [36 blocks]: C but for ties; rows that are 0: velocities that there are not
    const double *extent;   // [blocks]: how many cells of the finest level each is across
    const rh_body_tie *ties;
    int tie_count;
} rh_bodies;

// Of one level. Memory is the arena's that it was made with.
typedef struct rh_body_level {
    rh_term j;                        // its columns; answers as the term of the finest level
    rh_term_entry *over;              // entries of D^-1 J
    int32_t *of_tile;                 // [tiles of the operator]: place in j.tiles, or -1
    int32_t *row;                     // [blocks]: first row in S, or -1: the body is not on this level
    int part[RH_TERM_PARTS], parts;   // velocities that there are: 3 in two dimensions
    int size;                         // of S
    int32_t *first;                   // [size]: first column of each row within the envelope
    int64_t *start;                   // [size + 1]: where it is stored
    double *factor;                   // of S
    double (*panels)[RH_TERM_PARTS];  // in space: its columns below each body, and the inverses of diagonal blocks
    double *before, *work;            // [6 blocks]: J^T x; [size]: scratch
    double *mass;                     // [36 blocks]: C^-1; NULL: there are ties, which it has not
} rh_body_level;

// The columns of the finest level: those of the term with the mean over each pocket taken out, since pressure has none
// there (pockets.h). *out NULL: no bodies.
rh_code rh_bodies_finest(const rh_bodies *bodies, const rh_poisson *a, const rh_pockets *pockets, rh_arena *arena,
                         rh_body_level **out, rh_status *status);
// Of the next coarser level, whose operator is `a` and whose cells are `width` of the finest wide; `parent`: the tile
// there of each tile of the finer operator `from`. Small bodies become links of `a`.
rh_code rh_bodies_coarser(const rh_bodies *bodies, const rh_body_level *fine, const rh_poisson *from,
                          const int32_t *parent, rh_poisson *a, double width, rh_arena *arena, rh_body_level **out,
                          rh_status *status);
// After a step of the smoother with weight w from x, whose J^T x is in `before`, to y: y as above, and `before` becomes
// its. `sums`, if any, stays b . y per tile. The first step is from 0 (rh_bodies_begin).
void rh_bodies_begin(const rh_body_level *level, int cells, float *y);
void rh_bodies_correct(const rh_body_level *level, int cells, double weight, const float *b, float *y, double *sums);
void rh_bodies_gather(const rh_body_level *level, int cells, const float *x);  // x has changed: `before` anew
// Before the residual goes down: what the bodies answer to x, into scratch; then for each tile r -= J C J^T x.
void rh_bodies_answer(const rh_body_level *level);
void rh_bodies_subtract_tile(const rh_body_level *level, int32_t tile, float *r);
