// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// MIC(0), the modified incomplete Cholesky factorisation without fill-in, of the operator of poisson.h. Cells that are
// no unknowns stay 0.
#pragma once
#include "solve/poisson.h"

typedef struct rh_mic {
    const rh_poisson *a;
    int32_t *order, *wave;  // tiles by wave; first of each wave, waves + 1 of them
    int32_t waves;
    float *inverse;  // of the squared pivot
    float *upward;   // scratch: sum of the links to upper neighbours
} rh_mic;

// Memory and order of tiles; factors nothing.
rh_code rh_mic_init(rh_mic *m, const rh_poisson *a, rh_arena *arena, rh_status *status);
void rh_mic_factor(rh_mic *m);  // whenever the operator has changed (its listed tiles must not)
void rh_mic_apply(const rh_mic *m, const float *r, float *z);  // z = M^-1 r; r is 0 where nothing is unknown
