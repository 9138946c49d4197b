// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The pressure operator on sparse tiles: a symmetric positive (semi-)definite seven-point operator, never assembled.
//
//   (A x)_c = diagonal_c x_c - sum over the 2d neighbours n of link(c, n) x_n
//
// link.axis[a][c] joins cell c with its lower neighbour along a and is zero unless both are unknowns. Cells that are no
// unknowns have diagonal 0 and are left at 0 by everything here. Vectors are cell fields of the same topology; only
// the tiles in `list` (those with unknowns) are touched, the rest must stay 0.
#pragma once
#include "grid/tiles.h"

typedef struct rh_poisson {
    const rh_tiles *tiles;
    float *diagonal;
    rh_faces link;
    int32_t *list;    // tiles with unknowns
    int32_t count;
    int64_t unknowns;
} rh_poisson;

// Fills list and counts after diagonal and link were set.
rh_code rh_poisson_finish(rh_poisson *a, rh_arena *arena, rh_status *status);

void rh_poisson_apply(const rh_poisson *a, const float *x, float *y);
// y = A x and per listed tile sums[n] = x . y
void rh_poisson_apply_dot(const rh_poisson *a, const float *x, float *y, double *sums);
