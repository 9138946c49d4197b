// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A multigrid V-cycle for the operator of poisson.h: symmetric and positive definite, so that it can precondition CG.
// The source says how. All memory comes from the arena it was made with.
#pragma once
#include "solve/bodies.h"

enum {
    RH_MAX_LEVELS = 16,
    RH_SMOOTHINGS = 2
};  // smoothing steps on the finest level, before and after the coarser ones

typedef struct rh_level {
    rh_poisson a;
    int32_t *first;         // [a.count + 1]: first tile of the finer level inside each tile; NULL on the finest
    int32_t *parent;        // [a.count]: tile of the coarser level; NULL on the coarsest
    float *b, *x, *y;       // right-hand side, solution and scratch; NULL on the finest
    rh_body_level *bodies;  // NULL = none
} rh_level;

typedef struct rh_multigrid {
    int count;
    rh_level levels[RH_MAX_LEVELS];  // finest first
} rh_multigrid;

// The operator's arrays must live as long as the hierarchy.
rh_code rh_multigrid_create(rh_multigrid *m, const rh_poisson *a, rh_arena *arena, rh_status *status);
// The same for A and the term of rigid bodies.
rh_code rh_multigrid_create_with(rh_multigrid *m, const rh_poisson *a, const rh_bodies *bodies,
                                 const rh_pockets *pockets, rh_arena *arena, rh_status *status);
// The weight of the first smoothing step, which the caller does: x = weight D^-1 b (rh_poisson_smooth_zero).
float rh_multigrid_first_weight(void);
// One cycle for A x = b, from the first smoothing step in x. The result is in x or in `scratch`: the one returned; both
// are overwritten. sums (may be NULL) becomes b . result per tile.
float *rh_multigrid_cycle(const rh_multigrid *m, const float *b, float *x, float *scratch, double *sums);

// Between level l of the hierarchy and l + 1, for problems posed on every level. A right-hand side goes down as the
// cycle's do, a bound as the largest of the unknowns in each coarse cell (-INFINITY where there are none), and a
// solution up, each unknown taking its coarse cell's value.
void rh_multigrid_restrict(const rh_multigrid *m, int l, const float *b, float *coarse);
void rh_multigrid_restrict_bound(const rh_multigrid *m, int l, const float *lower, float *coarse);
void rh_multigrid_prolong(const rh_multigrid *m, int l, const float *coarse, float *x);  // added to x
