// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The operator of poisson.h on some of its unknowns (the free ones of a complementarity problem): links to the others
// are dropped and diagonals stay, so that the others are neighbours of given value. It lists the same tiles in the same
// order, so vectors are shared with the whole operator.
//
// Cheap to remake: memory for the worst case is taken once, each tile that is not plain has its own place for ever, and
// only tiles whose cells or neighbours changed are written again.
#pragma once
#include "solve/poisson.h"

typedef struct rh_free_operator {
    rh_poisson a;  // .unknown: the free cells
    const rh_poisson *all;
    uint8_t *touched;  // [count]: cells of the tile changed in the last rh_free_operator_set
    double *sums;      // [count]
    int64_t changed;   // cells that the last rh_free_operator_set added or took away
} rh_free_operator;

// The whole operator must live as long; no cell is free at first.
rh_code rh_free_operator_init(rh_free_operator *on_free, const rh_poisson *all, rh_arena *arena, rh_status *status);
// `free`: one bit per cell as in rh_poisson.unknown, unknowns of the whole operator only.
void rh_free_operator_set(rh_free_operator *on_free, const uint8_t *free);
