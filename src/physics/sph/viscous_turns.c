// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// In a full vessel pressure and viscosity must hold at once. One after the other, the last pressure ahead of viscosity,
// they agree only over hundreds of steps (what one step leaves of a pressure's error of wave number k is 1 - 1 / (1 + 3
// nu k^2 dt)), and what pressure does last has no stress: its level, which is free, shakes particles that lie unevenly,
// at forty times the speed of a ball that sinks in 1000 Pa s. So velocities are eliminated, as those of the grid liquid
// are (physics/viscous_turns.c). With G the accelerations by s = q / density^2 (push.c), whose transpose is the change
// of densities, and A what viscosity solves (viscosity.h), dynamic solids in both,
//
//      u = A^-1 (u* + dt G s),    density at the end of the step as asked for:    dt^2 G^T A^-1 G s = excess(A^-1 u*)
//
// which is symmetric and positive: conjugate gradients, a solve of viscosity each. No preconditioner: A of a field G s
// is about 1 + 3 nu k^2 dt, so where nu dt is more than the square of a tenth of the vessel the system is close to a
// multiple of 1, whatever the size of particles. A constant s does next to nothing: means are left out.
#include "physics/sph/viscous_turns.h"

#include <math.h>
#include <string.h>
#include "physics/sph/bodies.h"

enum { PARTS = RH_DYNAMICS_PARTS };

typedef struct turns {
    rh_sph_fluid *f;
    const rh_sph_turns *o;
    rh_arena *arena;
    rh_status *status;
    rh_krylov_report *report;
    rh_code code;  // of the first solve that failed
    rh_sph_bodies bodies;
    float *flow, *wall, *spin;  // at the start
    double *moved;              // [18 dynamic solids] velocities, impulses given, zeros
    float *s;
    double error;
} turns;

static size_t floats_of_walls(const turns *t) { return 4 * (size_t)t->f->walls->count; }

static rh_code take(turns *t, rh_status *status)
{
    const rh_sph_fluid *f = t->f;
    const rh_dynamics *d = t->o->dynamics;
    size_t count = (size_t)f->count + 8, moving = d ? (size_t)(PARTS * d->count) : 0;
    t->flow = rh_arena_take(t->arena, 4 * count * sizeof(float), status);
    t->wall = rh_arena_take(t->arena, (floats_of_walls(t) + 1) * sizeof(float), status);
    t->spin = rh_arena_take(t->arena, (3 * (size_t)t->o->solids + 1) * sizeof(float), status);
    t->moved = rh_arena_take_zero(t->arena, (3 * moving + 1) * sizeof(double), status);
    t->s = rh_arena_take_zero(t->arena, count * sizeof(float), status);
    return t->flow && t->wall && t->spin && t->moved && t->s ? RH_OK : RH_MEMORY;
}

static void keep(turns *t)
{
    const rh_dynamics *d = t->o->dynamics;
    size_t moving = d ? (size_t)(PARTS * d->count) : 0;
    memcpy(t->flow, t->f->flow, 4 * (size_t)t->f->count * sizeof(float));
    memcpy(t->wall, t->f->walls->flow, floats_of_walls(t) * sizeof(float));
    if (t->o->solids > 0) memcpy(t->spin, t->o->viscosity->spin, 3 * (size_t)t->o->solids * sizeof(float));
    if (!d) return;
    memcpy(t->moved, d->velocity, moving * sizeof(double));
    memcpy(t->moved + moving, d->given, moving * sizeof(double));
}

static void put_back(turns *t)
{
    rh_dynamics *d = t->o->dynamics;
    size_t moving = d ? (size_t)(PARTS * d->count) : 0;
    memcpy(t->f->flow, t->flow, 4 * (size_t)t->f->count * sizeof(float));
    memcpy(t->f->walls->flow, t->wall, floats_of_walls(t) * sizeof(float));
    if (t->o->solids > 0) memcpy(t->o->viscosity->spin, t->spin, 3 * (size_t)t->o->solids * sizeof(float));
    if (!d) return;
    memcpy(d->velocity, t->moved, moving * sizeof(double));
    memcpy(d->given, t->moved + moving, moving * sizeof(double));
    rh_dynamics_give(d, t->moved + 2 * moving, false);  // nothing: it tells the solids
}

// Velocities, as they are, with what s and viscosity do to them; then the densities.
static void turn(turns *t, const float *s, const rh_sph_prediction *predict, float *friction)
{
    rh_sph_fluid *f = t->f;
    const bool *held = t->o->viscosity->held;
    rh_krylov_report one = {0};
    for (int64_t i = 0; i < f->count; i++) f->q[i] = s[i] * f->density[i] * f->density[i];
    rh_sph_push(f);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++)
        for (int a = 0; a < 3 && !(held && held[i]); a++) f->flow[4 * i + a] += f->dt * f->push[4 * i + a];
    rh_sph_bodies_find_push(&t->bodies, s);
    rh_sph_bodies_push(&t->bodies, f->walls, (double)f->dt, t->o->viscosity->spin);
    if (t->code == RH_OK) t->code = rh_sph_viscosity_act(f, t->o->viscosity, friction, t->arena, &one, t->status);
    t->report->iterations += one.iterations;
    t->report->converged = t->report->converged && one.converged;
    t->report->residual = fmax(t->report->residual, one.residual);
    rh_sph_predict(f, predict);
}

static void without_mean(void *user, float *v)
{
    const turns *t = user;
    double sum = 0;
    for (int64_t i = 0; i < t->f->count; i++) sum += (double)v[i];
    float mean = (float)(sum / (double)t->f->count);
    for (int64_t i = 0; i < t->f->count; i++) v[i] -= mean;
}

// The change of densities, over - dt^2, by x alone: everything else at rest.
static void apply(void *user, const float *x, float *y)
{
    turns *t = user;
    rh_sph_fluid *f = t->f;
    rh_sph_prediction change = *t->o->predict;
    change.undone = 0;
    memset(f->flow, 0, 4 * (size_t)f->count * sizeof(float));
    memset(f->walls->flow, 0, floats_of_walls(t) * sizeof(float));
    if (t->o->solids > 0) memset(t->o->viscosity->spin, 0, 3 * (size_t)t->o->solids * sizeof(float));
    turn(t, x, &change, NULL);
    put_back(t);
    for (int64_t i = 0; i < f->count; i++) y[i] = -f->excess[i] / (f->dt * f->dt);
    without_mean(t, y);
}

static bool enough(void *user, const float *r)
{
    turns *t = user;
    t->error = rh_sph_mean_error(t->f, r, t->f->count);
    return t->error < t->o->tolerance || t->code != RH_OK;
}

static rh_code run(turns *t, rh_status *status)
{
    rh_sph_fluid *f = t->f;
    RH_TRY(rh_sph_bodies_find(&t->bodies, f, t->o->dynamics, t->o->viscosity->mass, t->arena, status));
    RH_TRY(take(t, status));
    float *r = rh_arena_take(t->arena, ((size_t)f->count + 8) * sizeof *r, status),
          *x = rh_arena_take_zero(t->arena, ((size_t)f->count + 8) * sizeof *x, status);
    if (!r || !x) return RH_MEMORY;
    for (int64_t i = 0; i < f->count; i++) t->s[i] = f->q[i] / (f->density[i] * f->density[i]);
    without_mean(t, t->s);
    keep(t);
    turn(t, t->s, t->o->predict, NULL);
    put_back(t);
    for (int64_t i = 0; i < f->count; i++) r[i] = f->excess[i] / (f->dt * f->dt);
    without_mean(t, r);
    const rh_krylov k = {
        .a = {f->count, apply, t}, .project = without_mean, .enough = enough, .begun = true, .user = t};
    rh_krylov_report found;
    RH_TRY(rh_krylov_cg(&k, r, x, 0, t->o->most, t->arena, &found, status));
    for (int64_t i = 0; i < f->count; i++) t->s[i] += x[i];
    turn(t, t->s, t->o->predict, t->o->friction);
    return t->code;
}

rh_code rh_sph_turns_act(rh_sph_fluid *f, const rh_sph_turns *o, rh_arena *arena, rh_krylov_report *report,
                         rh_status *status)
{
    turns t = {.f = f, .o = o, .arena = arena, .status = status, .report = report, .code = RH_OK};
    *report = (rh_krylov_report){.converged = true};
    rh_arena_mark mark = rh_arena_save(arena);
    rh_code code = run(&t, status);
    rh_arena_restore(arena, mark);
    return code;
}
