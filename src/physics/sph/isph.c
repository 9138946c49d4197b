// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Conjugate gradients, with the diagonal for a preconditioner, from the last step's pressure. (The source preconditions
// with an incomplete Cholesky factor and says itself that this takes fewer iterations and more time; it does not split
// among threads.) The residual is the density that is too much at the end of the step, so the error that is wanted
// comes for nothing. Too little counts like too much: begun with a pressure that is too high, a solve that saw only
// what is too dense would stop at once and keep on pushing.
#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "physics/sph/pressure.h"

enum { PATIENCE = 100 };  // iterations after which parts without a level are looked for

typedef struct cg {
    const rh_sph_system *s;
    float *x, *r, *d, *y;
} cg;

// Mean of |residual| dt^2 over the unknowns, from what is in the sums.
static double error_of(const cg *c)
{
    const rh_sph_fluid *f = c->s->fluid;
    return rh_sph_sum(f) * (double)f->dt * (double)f->dt / (double)(c->s->unknowns > 0 ? c->s->unknowns : 1);
}

// r = source - A x, d = 0; sums of |r|.
static double begin(cg *c)
{
    const rh_sph_fluid *f = c->s->fluid;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++)
        if (!c->s->unknown[i]) c->x[i] = 0;
    rh_sph_system_apply(c->s, c->x, c->y);
    int64_t blocks = rh_blocks(f->count);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        double sum = 0;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, f->count); i++) {
            c->r[i] = c->s->source[i] - c->y[i];
            c->d[i] = 0;
            sum += fabs((double)c->r[i]);
        }
        f->sums[b] = sum;
    }
    return error_of(c);
}

// r . D^-1 r
static double turn_product(const cg *c)
{
    const rh_sph_fluid *f = c->s->fluid;
    int64_t blocks = rh_blocks(f->count);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        double sum = 0;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, f->count); i++)
            sum += (double)c->r[i] * (double)(c->r[i] / c->s->diagonal[i]);
        f->sums[b] = sum;
    }
    return rh_sph_sum(f);
}

static void turn(const cg *c, float beta)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < c->s->fluid->count; i++) c->d[i] = c->r[i] / c->s->diagonal[i] + beta * c->d[i];
}

static double advance(const cg *c, float step)
{
    const rh_sph_fluid *f = c->s->fluid;
    int64_t blocks = rh_blocks(f->count);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        double sum = 0;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, f->count); i++) {
            c->x[i] += step * c->d[i];
            c->r[i] -= step * c->y[i];
            sum += fabs((double)c->r[i]);
        }
        f->sums[b] = sum;
    }
    return error_of(c);
}

static rh_code iterate(cg *c, const rh_sph_solve_options *o, int most, rh_sph_solved *out, rh_status *status)
{
    out->error = begin(c);
    double product = turn_product(c), before = product;
    for (int n = 0; out->error >= o->tolerance && out->iterations < most; n++, out->iterations++) {
        turn(c, n ? (float)(product / before) : 0);
        double curved = rh_sph_system_apply(c->s, c->d, c->y);
        if (!(curved > 0)) break;
        out->error = advance(c, (float)(product / curved));
        before = product;
        product = turn_product(c);
        if (!isfinite(product)) return rh_fail(status, RH_NUMERIC, "sph: the pressure is not finite");
    }
    out->converged = out->error < o->tolerance;
    return RH_OK;
}

static rh_code take(cg *c, rh_arena *arena, rh_status *status)
{
    size_t bytes = ((size_t)c->s->fluid->count + 8) * sizeof(float);
    c->r = rh_arena_take_zero(arena, bytes, status);
    c->d = rh_arena_take_zero(arena, bytes, status);
    c->y = rh_arena_take_zero(arena, bytes, status);
    return c->r && c->d && c->y ? RH_OK : RH_MEMORY;
}

rh_code rh_sph_solve_isph(rh_sph_fluid *f, const rh_sph_solve_options *o, rh_arena *arena, rh_sph_solved *out,
                          rh_status *status)
{
    rh_sph_system s;
    *out = (rh_sph_solved){0};
    RH_TRY(rh_sph_system_make(&s, f, o, arena, status));
    cg c = {.s = &s, .x = f->q};
    RH_TRY(take(&c, arena, status));
    RH_TRY(iterate(&c, o, PATIENCE < o->max_iterations ? PATIENCE : o->max_iterations, out, status));
    int64_t anchored = 0;
    if (!out->converged) RH_TRY(rh_sph_system_anchor(&s, arena, &anchored, status));
    if (!out->converged) RH_TRY(iterate(&c, o, o->max_iterations, out, status));
    out->unknowns = s.unknowns, out->surface = f->count - s.unknowns;
    for (int64_t i = 0; i < f->count; i++) f->q[i] = rh_max_of(f->q[i], 0);  // no suction
    return RH_OK;
}
