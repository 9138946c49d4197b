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
#include "physics/sph/bodies.h"
#include "physics/sph/levels.h"
#include "physics/sph/pressure.h"

// Iterations after which parts without a level are looked for. By the diagonal a million particles take more than a
// hundred, and begun again after these they took half as many more.
enum { PATIENCE = 100, PATIENCE_BY_DIAGONAL = 1000 };

typedef struct solve {
    rh_sph_system s;
    rh_sph_bodies bodies;
    int looks;  // at the residual
    rh_sph_fluid *f;
    const rh_sph_solve_options *o;
    float *r, *inverse;
    double error;
} solve;

static void apply_liquid(void *user, const float *x, float *y)
{
    const solve *me = user;
    rh_sph_system_apply(&me->s, x, y);
}

// With solids that give way. (The levels are those of the liquid alone: of solids there are a few eigenvalues more,
// none larger than the ratio of the mass of the liquid around to that of a solid.)
static void apply(void *user, const float *x, float *y)
{
    const solve *me = user;
    apply_liquid(user, x, y);
    rh_sph_bodies_add(&me->bodies, 1, x, me->s.unknown, y);
}

static void by_diagonal(void *user, const float *r, float *z)
{
    const solve *me = user;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < me->s.size; i++) z[i] = me->inverse[i] * r[i];
    rh_sph_bodies_precondition(&me->bodies, me->inverse, z);
}

static bool enough(void *user, const float *r)
{
    solve *me = user;
    me->error = fmax(rh_sph_mean_error_of(me->s.sums, me->s.size, me->f->dt, r, me->s.unknowns),
                     rh_sph_bodies_error(&me->bodies, r, me->f->dt, me->s.unknown, me->looks++));
    return me->error < me->o->tolerance;
}

// What ties an unknown to pressure 0: its wall and its neighbours that are no unknowns, the diagonal less all links.
static rh_code make_levels(solve *me, rh_sph_levels *levels, rh_arena *arena, rh_status *status)
{
    const rh_sph_system *s = &me->s;
    int64_t count = s->fluid->count;
    float *ones = me->r, *held = rh_arena_take(arena, ((size_t)count + 8) * sizeof *held, status);
    if (!held) return RH_MEMORY;
    for (int64_t i = 0; i < count; i++) ones[i] = s->unknown[i];
    rh_sph_system_apply(s, ones, held);
    for (int64_t i = 0; i < count; i++) held[i] = held[i] > 1e-5f * s->diagonal[i] ? held[i] : 0;  // rounding
    const rh_operator system = {count, apply_liquid, me};
    return rh_sph_levels_make(levels, s->fluid, system, s->fluid->kernel->laplacian, s->unknown, me->inverse, held,
                              arena, status);
}

static rh_code iterate(solve *me, int most, rh_arena *arena, rh_sph_solved *out, rh_status *status)
{
    const rh_sph_system *s = &me->s;
    rh_sph_levels levels;
    rh_krylov system = {.a = {s->size, apply, me}, .m = {s->size, by_diagonal, me}, .enough = enough, .user = me};
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->size; i++) {
        me->inverse[i] = s->unknown[i] ? 1 / s->diagonal[i] : 0;
        if (!s->unknown[i]) s->q[i] = 0;
    }
    rh_sph_bodies_prepare(&me->bodies, 1, me->inverse);
    if (me->o->levels) {
        RH_TRY(make_levels(me, &levels, arena, status));
        system.m = (rh_operator){s->size, rh_sph_levels_apply, &levels};
    }
    memcpy(me->r, s->source, (size_t)s->size * sizeof *me->r);
    rh_krylov_report report;
    RH_TRY(rh_krylov_cg(&system, me->r, s->q, 0, most, arena, &report, status));
    out->iterations += report.iterations, out->error = me->error, out->converged = report.converged;
    return RH_OK;
}

// Walls that give way need less of the stronger source by which those at rest make up for what they add to the
// diagonal (3.3): with all of it a plank of a twentieth of the density was thrown about and burst the water.
static void soften_source(solve *me)
{
    rh_sph_system *s = &me->s;
    for (int64_t n = 0; me->bodies.dynamics && n < me->bodies.count; n++) {
        uint32_t i = me->bodies.holds[n].particle;
        float links = s->diagonal[i] - s->wall[i], raw = s->source[i] - s->wall[i] * me->f->q[i];
        if (!s->unknown[i] || !(raw > 0) || !(links > 0)) continue;
        float gives = (float)rh_sph_bodies_own(&me->bodies, n);
        float fewer = rh_sph_amplified(links + gives, s->wall[i]) / rh_sph_amplified(links, s->wall[i]);
        s->source[i] += (fewer - 1) * raw;
    }
}

// The system is one of q, not of q / density^2: rows are divided by the density, which keeps it symmetric.
static rh_code find_bodies(solve *me, rh_arena *arena, rh_status *status)
{
    RH_TRY(rh_sph_bodies_find(&me->bodies, me->f, me->o->dynamics, me->o->mass, arena, status));
    for (int64_t i = 0; i < me->f->count; i++) me->inverse[i] = 1 / me->f->density[i];
    rh_sph_bodies_scale(&me->bodies, me->inverse);
    if (me->o->wall_term == RH_SPH_MIRRORED) soften_source(me);
    return RH_OK;
}

rh_code rh_sph_solve_isph(rh_sph_fluid *f, const rh_sph_solve_options *o, rh_arena *arena, rh_sph_solved *out,
                          rh_status *status)
{
    solve me = {.f = f, .o = o};
    *out = (rh_sph_solved){0};
    RH_TRY(rh_sph_system_make(&me.s, f, o, arena, status));
    size_t bytes = ((size_t)me.s.size + 8) * sizeof(float);
    me.r = rh_arena_take_zero(arena, bytes, status);
    me.inverse = rh_arena_take_zero(arena, bytes, status);
    if (!me.r || !me.inverse) return RH_MEMORY;
    RH_TRY(find_bodies(&me, arena, status));
    int patience = o->levels ? PATIENCE : PATIENCE_BY_DIAGONAL;
    RH_TRY(iterate(&me, patience < o->max_iterations ? patience : o->max_iterations, arena, out, status));
    int64_t anchored = 0;
    if (!out->converged) RH_TRY(rh_sph_system_anchor(&me.s, arena, &anchored, status));
    if (anchored > 0) memset(me.s.q, 0, (size_t)me.s.size * sizeof *me.s.q);  // its level ran away
    if (!out->converged) RH_TRY(iterate(&me, o->max_iterations, arena, out, status));
    out->unknowns = me.s.unknowns, out->surface = me.s.size - me.s.unknowns;
    for (int64_t i = 0; i < me.s.size; i++) me.s.q[i] = rh_max_of(me.s.q[i], 0);  // no suction
    if (me.s.q != f->q) {
        memcpy(f->q, me.s.q, (size_t)f->count * sizeof *f->q);
        f->wall_q = me.s.q + f->count;
    }
    rh_sph_push(f);
    for (int64_t i = 0; i < f->count; i++) me.r[i] = f->q[i] / f->density[i];
    return rh_sph_bodies_give(&me.bodies, me.r, (double)f->dt, arena, status);
}
