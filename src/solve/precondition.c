// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The rows of the table: none, MIC(0) (mic.h) and multigrid (multigrid.h), behind functions of one form.
#include "solve/precondition.h"
#include <string.h>

const char *const rh_precondition_names[] = {"multigrid", "mic", "none", NULL};

static rh_code take_nothing(rh_preconditioner *m, rh_arena *arena, rh_status *status)
{
    (void)m, (void)arena, (void)status;
    return RH_OK;
}

// --- multigrid -------------------------------------------------------------------------------------------------------
static rh_code prepare_multigrid(rh_preconditioner *m, rh_arena *arena, rh_status *status)
{
    return rh_multigrid_create_with(&m->multigrid, m->a, m->bodies, m->pockets, arena, status);
}

static float *apply_multigrid(const rh_preconditioner *m, const float *r, float *z, float *spare)
{
    rh_poisson_smooth_zero(m->a, rh_multigrid_first_weight(), r, z);
    return rh_multigrid_cycle(&m->multigrid, r, z, spare, NULL);
}

// Of the coarse levels: their coefficients and three vectors each.
static size_t bytes_of_multigrid(const rh_preconditioner *m)
{
    size_t bytes = 0;
    for (int l = 1; l < m->multigrid.count; l++) {
        const rh_poisson *a = &m->multigrid.levels[l].a;
        bytes += ((size_t)a->blocks * (size_t)(1 + a->dimension) * (size_t)a->cells + 3 * rh_poisson_values(a)) *
                 sizeof(float);
    }
    return bytes;
}

// --- MIC(0) ----------------------------------------------------------------------------------------------------------
static rh_code init_mic(rh_preconditioner *m, rh_arena *arena, rh_status *status)
{
    return rh_mic_init(&m->mic, m->a, arena, status);
}

static rh_code prepare_mic(rh_preconditioner *m, rh_arena *arena, rh_status *status)
{
    (void)arena, (void)status;
    return rh_mic_factor(&m->mic), RH_OK;
}

static float *apply_mic(const rh_preconditioner *m, const float *r, float *z, float *spare)
{
    (void)spare;
    return rh_mic_apply(&m->mic, r, z), z;
}

static size_t bytes_of_mic(const rh_preconditioner *m)
{
    return 2 * rh_poisson_values(m->a) * sizeof(float) +
           ((size_t)m->a->count + (size_t)m->mic.waves + 3) * sizeof(int32_t);
}

// --- none ------------------------------------------------------------------------------------------------------------
static float *copy(const rh_preconditioner *m, const float *r, float *z, float *spare)
{
    (void)spare;
    return memcpy(z, r, rh_poisson_values(m->a) * sizeof *z);
}

static size_t no_bytes(const rh_preconditioner *m) { return (void)m, 0; }

// --- the table -------------------------------------------------------------------------------------------------------
const rh_precondition_method rh_precondition_methods[] = {
    // Gets nowhere in a few problems (a city of 650 000 cells, hardly overfull: a relative residual of 0.02 for ever),
    // where MIC(0) does.
    [RH_PRECONDITION_MULTIGRID] = {RH_PRECONDITION_MULTIGRID, false, true, RH_PRECONDITION_MIC, take_nothing,
                                   prepare_multigrid, apply_multigrid, bytes_of_multigrid},
    [RH_PRECONDITION_MIC] = {RH_PRECONDITION_MIC, false, false, RH_PRECONDITION_MIC, init_mic, prepare_mic, apply_mic,
                             bytes_of_mic},
    [RH_PRECONDITION_NONE] = {RH_PRECONDITION_NONE, true, false, RH_PRECONDITION_NONE, take_nothing, take_nothing, copy,
                              no_bytes},
};

rh_code rh_preconditioner_init(rh_preconditioner *m, rh_precondition which, const rh_poisson *a, rh_arena *arena,
                               rh_status *status)
{
    m->method = &rh_precondition_methods[which];
    m->a = a;
    m->bodies = NULL;
    m->pockets = NULL;
    return m->method->init(m, arena, status);
}

rh_preconditioner rh_preconditioner_alone(const rh_preconditioner *m)
{
    rh_preconditioner out = *m;
    out.bodies = NULL;
    for (int l = 0; l < out.multigrid.count; l++) out.multigrid.levels[l].bodies = NULL;
    return out;
}
