// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Conjugate gradients on the operator of viscous_operator.c. The preconditioner is a cycle whose finest level are the
// particles: Chebyshev's polynomial in the operator over its diagonal blocks, the grids (viscous_grids.c) for what is
// left, and the polynomial again. Particles that an inflow holds keep their velocities: their rows are 0, and what they
// do to others is in the first residual.
#include "physics/sph/viscosity.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "base/random.h"
#include "physics/sph/viscous_bodies.h"
#include "physics/sph/viscous_grids.h"

enum { SWEEPS = 2, TRIALS = 8 };
static const float LOWEST = 0.15f;  // of the spectrum, relative to its end: what sweeps leave to the grids
static const double MARGIN = 1.25;  // of an estimated end of the spectrum

typedef struct cycle {
    const rh_sph_viscous *a;
    rh_sph_grids grids;
    float *left, *d, *y;  // vectors
} cycle;

// --- the cycle -------------------------------------------------------------------------------------------------------
// out = inverse of the diagonal's block, times r.
static inline void by_block(const float *inverse, const float *r, float out[3])
{
    out[0] = inverse[0] * r[0] + inverse[1] * r[1] + inverse[2] * r[2];
    out[1] = inverse[1] * r[0] + inverse[3] * r[1] + inverse[4] * r[2];
    out[2] = inverse[2] * r[0] + inverse[4] * r[1] + inverse[5] * r[2];
}

static void by_diagonal(void *user, const float *r, float *z)
{
    const rh_sph_viscous *a = user;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < a->fluid->count; i++) {
        by_block(a->inverse + 6 * i, r + 4 * i, z + 4 * i);
        z[4 * i + 3] = 0;
    }
    memset(z + 4 * a->fluid->count, 0, 4 * sizeof *z);
}

// left = r - A z, or r where z is 0 (`fresh`).
static void find_left(const cycle *c, const float *r, const float *z, bool fresh)
{
    int64_t size = rh_sph_viscous_size(c->a);
    if (!fresh) rh_sph_viscous_apply(c->a, z, c->y);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < size; i++) c->left[i] = fresh ? r[i] : r[i] - c->y[i];
}

// z += p(A) left (Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd ed. 2003, algorithm 12.1).
static void sweep(const cycle *c, float *z, bool fresh)
{
    const rh_sph_viscous *a = c->a;
    int64_t size = rh_sph_viscous_size(a), count = a->fluid->count;
    float low = LOWEST * a->most, middle = 0.5f * (a->most + low), half = 0.5f * (a->most - low), sigma = middle / half,
          rho = 1 / sigma, keep = 0, more = 1 / middle;
    for (int s = 0; s < SWEEPS; s++) {
        if (s > 0) {
            float next = 1 / (2 * sigma - rho);
            keep = next * rho, more = 2 * next / half, rho = next;
            rh_sph_viscous_apply(a, c->d, c->y);
#pragma omp parallel for schedule(static)
            for (int64_t i = 0; i < size; i++) c->left[i] -= c->y[i];
        }
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < count; i++) {
            float by[3];
            by_block(a->inverse + 6 * i, c->left + 4 * i, by);
            for (int n = 0; n < 3; n++) {
                float d = s > 0 ? keep * c->d[4 * i + n] + more * by[n] : more * by[n];
                c->d[4 * i + n] = d;
                z[4 * i + n] = fresh && s == 0 ? d : z[4 * i + n] + d;
            }
        }
    }
}

static void by_cycle(void *user, const float *r, float *z)
{
    const cycle *c = user;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < c->a->fluid->count; i++) z[4 * i + 3] = 0;
    memset(z + 4 * c->a->fluid->count, 0, 4 * sizeof *z);
    find_left(c, r, z, true);
    sweep(c, z, true);
    find_left(c, r, z, false);
    rh_sph_grids_add(&c->grids, c->left, z);
    find_left(c, r, z, false);
    sweep(c, z, false);
}

// The end of the spectrum of the operator over its diagonal blocks, by repeated products; pairs know theirs.
static void find_most(const cycle *c, rh_sph_viscous *a, float *z, double *sums)
{
    int64_t size = rh_sph_viscous_size(a), count = a->fluid->count;
    double before = 1, after = 1;
    for (int64_t i = 0; i < 4 * count; i++)
        z[i] = i % 4 < a->fluid->kernel->dimension ? rh_random(11, (uint64_t)i, 0, 0) - 0.5f : 0;
    for (int n = 0; n < TRIALS; n++) {
        before = sqrt(rh_krylov_dot(size, z, z, sums));
        rh_sph_viscous_apply(a, z, c->y);
        by_diagonal(a, c->y, z);
        after = sqrt(rh_krylov_dot(size, z, z, sums));
        for (int64_t i = 0; i < size; i++) z[i] *= (float)(1 / after);
    }
    a->most = (float)(MARGIN * after / before);
}

static rh_code make_cycle(cycle *c, rh_sph_viscous *a, rh_arena *arena, rh_status *status)
{
    const rh_sph_fluid *f = a->fluid;
    size_t bytes = ((size_t)rh_sph_viscous_size(a) + 32) * sizeof(float);
    float *stiff = a->viscous;
    *c = (cycle){.a = a,
                 .left = rh_arena_take_zero(arena, bytes, status),
                 .d = rh_arena_take_zero(arena, bytes, status),
                 .y = rh_arena_take_zero(arena, bytes, status)};
    if (!c->left || !c->d || !c->y) return RH_MEMORY;
    if (a->how->form == RH_SPH_STRESS || a->pull) {
        int64_t blocks = rh_blocks(rh_sph_viscous_size(a));
        double *sums = rh_arena_take(arena, (size_t)blocks * sizeof *sums, status);
        if (!sums) return RH_MEMORY;
        find_most(c, a, c->d, sums);
    }
    if (a->how->form == RH_SPH_STRESS) {
        stiff = c->left;
        for (int64_t i = 0; i < f->count; i++)
            stiff[i] = 2 * a->how->time * f->place[4 * i + 3] * rh_min(f->density[i], 1);
    }
    const rh_sph_stiffness of = {.held = a->held,
                                 .viscous = stiff,
                                 .bulk = a->how->bulk,
                                 .time = a->how->time,
                                 .laplacian = a->how->form == RH_SPH_LAPLACIAN,
                                 .fixed = a->fixed};
    return rh_sph_grids_make(&c->grids, f, &of, arena, status);
}

// --- the step --------------------------------------------------------------------------------------------------------
// What walls give to particle i: the sum of friction times the velocity of the wall.
static void add_walls(const rh_sph_viscous *a, int64_t i, float *b)
{
    const rh_sph_fluid *f = a->fluid;
    const rh_sph_viscosity *v = a->how;
    if (a->friction[i] == 0) return;
    float scale = v->law.wall * v->time * f->place[4 * i + 3],
          close = rh_sph_viscous_near_walls(f, &v->law, v->grip, i);
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(f->kernel, f->place + 4 * i, f->walls->place, near);
        rh_f8 w = scale * p.number * rh_sph_viscous_weight(&v->law, p.distance);
        for (int n = 0; n < 8; n++) {
            if (near[n] == f->lists->walls.nobody) continue;
            int32_t solid = f->walls->solid[near[n]];
            float u[3], part = w[n] * rh_sph_viscous_grip(v->grip[solid], close);
            rh_sph_wall_velocity(f->walls, near[n], v->spin + 3 * solid, f->place + 4 * i, u);
            for (int k = 0; k < 3; k++) b[k] += part * u[k];
        }
    }
}

typedef struct whole {
    rh_sph_viscous a;
    cycle c;
    rh_sph_viscous_bodies bodies;
    float *b, *x;
    double *sums;
    double most;      // square of the error that is small enough
    double energy;    // r . M r of the last preconditioning: about the square of the error in the norm of A
    double residual;  // r . r then, and now
    double left;
} whole;

static void set_sides(whole *s)
{
    const rh_sph_fluid *f = s->a.fluid;
    memcpy(s->x, f->flow, 4 * (size_t)f->count * sizeof *s->x);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) {
        bool fixed = s->a.fixed && s->a.fixed[i];
        s->x[4 * i + 3] = 0;
        for (int n = 0; n < 4; n++) s->b[4 * i + n] = fixed ? 0 : s->x[4 * i + n];
        if (!fixed) add_walls(&s->a, i, s->b + 4 * i);
    }
    rh_sph_viscous_bodies_begin(&s->bodies, s->b);
}

static void apply_all(void *user, const float *x, float *y)
{
    const whole *s = user;
    rh_sph_viscous_apply(&s->a, x, y);
    rh_sph_viscous_bodies_apply(&s->bodies, x, y);
}

static void precondition_all(void *user, const float *r, float *z)
{
    whole *s = user;
    bool levels = s->a.how->solver == RH_SPH_VISCOUS_LEVELS;
    const rh_operator m = {rh_sph_viscous_size(&s->a), levels ? by_cycle : by_diagonal,
                           levels ? (void *)&s->c : (void *)&s->a};
    rh_sph_viscous_bodies_precondition(&s->bodies, &m, r, z);
    s->energy = rh_krylov_dot(rh_sph_viscous_bodies_size(&s->bodies), r, z, s->sums);
    s->residual = s->left;
}

// A solve is done when the error of the velocities, in the norm of A, which is not less than their own, is within the
// tolerance. r . M r, which a step of conjugate gradients has anyway, is about its square; since then it has fallen
// about as r . r has. (The residual itself is a bound as well, but of rough errors a stiff operator shows thousands of
// times what they are. By the diagonal alone it has to serve: then r . M r is far less than the error.)
static bool is_enough(void *user, const float *r)
{
    whole *s = user;
    s->left = rh_krylov_dot(rh_sph_viscous_bodies_size(&s->bodies), r, r, s->sums);
    return s->residual > 0 && s->energy * (s->left / s->residual) <= s->most;
}

// b -= A x; its norm over that of the velocities, those that are held included.
static double find_residual(const whole *s, float *y)
{
    int64_t size = rh_sph_viscous_bodies_size(&s->bodies), count = s->a.fluid->count;
    double left = 0, all = 0;
    apply_all((void *)(uintptr_t)s, s->x, y);
    for (int64_t i = 0; i < size; i++) {
        s->b[i] -= y[i];
        left += (double)s->b[i] * (double)s->b[i];
        if (i < 4 * count) all += (double)s->x[i] * (double)s->x[i];
    }
    return left > 0 ? sqrt(left / fmax(all, 1e-30)) : 0;
}

// For the change of velocities: where all that moves is held the right-hand side itself is 0.
static rh_code solve(whole *s, float *y, rh_arena *arena, rh_krylov_report *report, rh_status *status)
{
    const rh_sph_viscosity *v = s->a.how;
    bool levels = v->solver == RH_SPH_VISCOUS_LEVELS;
    if (levels) RH_TRY(make_cycle(&s->c, &s->a, arena, status));
    const rh_operator m = {rh_sph_viscous_size(&s->a), levels ? by_cycle : by_diagonal,
                           levels ? (void *)&s->c : (void *)&s->a};
    RH_TRY(rh_sph_viscous_bodies_prepare(&s->bodies, &m, arena, status));
    int64_t size = rh_sph_viscous_bodies_size(&s->bodies);
    const rh_krylov k = {
        .a = {size, apply_all, s}, .m = {size, precondition_all, s}, .enough = levels ? is_enough : NULL, .user = s};
    double left = find_residual(s, y), speeds;
    s->sums = rh_arena_take(arena, (size_t)(rh_blocks(size) + 1) * sizeof *s->sums, status);
    if (!s->sums) return RH_MEMORY;
    report->converged = left <= v->tolerance;
    if (report->converged) return RH_OK;
    memset(y, 0, (size_t)size * sizeof *y);
    speeds = rh_krylov_dot(4 * s->a.fluid->count, s->x, s->x, s->sums);
    s->most = v->tolerance * v->tolerance * fmax(speeds, 1e-30);
    RH_TRY(rh_krylov_cg(&k, s->b, y, v->tolerance / left, v->max_iterations, arena, report, status));
    report->residual *= left;
    for (int64_t i = 0; i < size; i++) s->x[i] += y[i];
    return RH_OK;
}

static rh_code run(whole *s, rh_sph_fluid *f, const rh_sph_viscosity *v, float *friction, rh_arena *arena,
                   rh_krylov_report *report, rh_status *status)
{
    RH_TRY(rh_sph_viscous_make(&s->a, f, v, arena, status));
    RH_TRY(rh_sph_viscous_bodies_find(&s->bodies, &s->a, arena, status));
    size_t bytes = ((size_t)rh_sph_viscous_bodies_size(&s->bodies) + 32) * sizeof(float);
    s->b = rh_arena_take_zero(arena, bytes, status);
    s->x = rh_arena_take_zero(arena, bytes, status);
    float *y = rh_arena_take_zero(arena, bytes, status);
    if (!s->b || !s->x || !y) return RH_MEMORY;
    set_sides(s);
    if (v->solver == RH_SPH_VISCOUS_EXPLICIT) {
        apply_all(s, s->x, y);
        for (int64_t i = 0; i < 4 * f->count; i++) s->x[i] += s->b[i] - y[i];
        report->converged = true;
    } else RH_TRY(solve(s, y, arena, report, status));
    if (!report->converged) return RH_OK;
    for (int64_t i = 0; i < f->count; i++) {
        memcpy(f->flow + 4 * i, s->x + 4 * i, 3 * sizeof *s->x);
        if (friction) friction[i] = v->law.wall * v->time * f->place[4 * i + 3];
    }
    rh_sph_viscous_bodies_give(&s->bodies, s->x);
    return RH_OK;
}

rh_code rh_sph_viscosity_act(rh_sph_fluid *f, const rh_sph_viscosity *v, float *friction, rh_arena *arena,
                             rh_krylov_report *report, rh_status *status)
{
    whole s = {.b = NULL};
    *report = (rh_krylov_report){0};
    rh_arena_mark mark = rh_arena_save(arena);
    rh_code code = run(&s, f, v, friction, arena, report, status);
    rh_arena_restore(arena, mark);
    return code;
}
