// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Standard preconditioned CG in three passes and a cycle. Every sum is taken per tile and then in fixed order
// (base/parallel.h).
//
// In a pocket the operator has constants as its null space. What rounding puts there, no iteration can take away again,
// and it grows until the solve diverges (a turned box of 80 x 80 cells did, below a residual of 1e-5): residual and
// step are kept free of it.
#include "solve/cg.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "solve/krylov.h"

typedef struct solver {
    const rh_multigrid *m;
    const rh_poisson *a;
    const rh_pockets *pockets;
    double *sums;          // per tile
    float *d, *q, *spare;  // q: A d, then the start of the next cycle
} solver;

// z = M r in q or spare, from the start in q, and r . z.
static double precondition(solver *s, float *r, double *rho)
{
    bool pockets = s->pockets->count > 0;
    if (pockets) {
        rh_pockets_balance(s->pockets, s->a, r);
        rh_poisson_smooth_zero(s->a, rh_multigrid_first_weight(), r, s->q);
    }
    float *z = rh_multigrid_cycle(s->m, r, s->q, s->spare, s->sums);
    if (z != s->spare) {
        s->q = s->spare;
        s->spare = z;
    }
    if (pockets) {
        rh_pockets_balance(s->pockets, s->a, z);
        rh_poisson_dot(s->a, r, z, s->sums);
    }
    double next = rh_sum(s->sums, s->a->count);
    double beta = *rho > 0 ? next / *rho : 0;
    *rho = next;
    return beta;
}

rh_code rh_cg_solve(const rh_multigrid *m, const rh_cg_beside *beside, const rh_pockets *pockets, float *b, float *x,
                    double tolerance, int max_iterations, rh_arena *arena, rh_cg_report *report, rh_status *status)
{
    RH_ASSERT(b != x && tolerance > 0 && max_iterations >= 0);
    const rh_poisson *a = &m->levels[0].a;
    const rh_cg_beside with = beside ? *beside : (rh_cg_beside){0};
    *report = (rh_cg_report){.converged = true};
    rh_arena_mark mark = rh_arena_save(arena);
    solver s = {m,
                a,
                pockets,
                rh_arena_take(arena, ((size_t)a->count + 1) * sizeof(double), status),
                rh_poisson_vector(a, arena, status),
                rh_poisson_vector(a, arena, status),
                rh_poisson_vector(a, arena, status)};
    if (!s.sums || !s.d || !s.q || !s.spare) return RH_MEMORY;
    rh_poisson_clear(a, x);
    rh_pockets_balance(pockets, a, b);
    rh_poisson_dot(a, b, b, s.sums);
    double norm = sqrt(rh_sum(s.sums, a->count)), residual = norm, rho = 0;
    if (!isfinite(norm)) return rh_fail(status, RH_NUMERIC, "the right-hand side of the pressure solve is not finite");
    rh_poisson_smooth_zero(a, rh_multigrid_first_weight(), b, s.q);
    while (norm > 0 && residual > tolerance * norm && report->iterations < max_iterations) {
        double beta = precondition(&s, b, &rho);
        rh_poisson_cg_direction(a, (float)beta, s.spare, s.d);
        rh_poisson_apply(a, s.d, s.q, s.sums);
        double curvature = rh_sum(s.sums, a->count) + rh_term_apply(with.term, a->cells, s.d, s.q);
        if (with.more.add) curvature += with.more.add(with.more.user, s.d, s.q);
        if (!(curvature > 0)) break;  // singular and exhausted
        rh_poisson_cg_update(a, (float)(rho / curvature), rh_multigrid_first_weight(), s.d, s.q, x, b, s.sums);
        residual = sqrt(rh_sum(s.sums, a->count));
        report->iterations++;
        if (!isfinite(residual))
            return rh_fail(status, RH_NUMERIC, "the pressure solve produced values that are not finite");
    }
    report->residual = norm > 0 ? residual / norm : 0;
    report->converged = report->residual <= tolerance;
    rh_arena_restore(arena, mark);
    return RH_OK;
}

// --- other preconditioners -------------------------------------------------------------------------------------------
typedef struct general {
    const rh_preconditioner *m;
    rh_cg_beside with;
    const rh_pockets *pockets;
    float *spare;
} general;

static void apply(void *user, const float *x, float *y)
{
    const general *g = user;
    rh_poisson_apply(g->m->a, x, y, NULL);
    rh_term_apply(g->with.term, g->m->a->cells, x, y);
    if (g->with.more.add) g->with.more.add(g->with.more.user, x, y);
}

static void apply_preconditioner(void *user, const float *r, float *z)
{
    const general *g = user;
    const float *found = g->m->method->apply(g->m, r, z, g->spare);
    if (found != z) memcpy(z, found, rh_poisson_values(g->m->a) * sizeof *z);
}

static void balance(void *user, float *v)
{
    const general *g = user;
    rh_pockets_balance(g->pockets, g->m->a, v);
}

rh_code rh_cg_solve_by(const rh_preconditioner *m, const rh_cg_beside *beside, const rh_pockets *pockets, float *b,
                       float *x, double tolerance, int max_iterations, rh_arena *arena, rh_cg_report *report,
                       rh_status *status)
{
    if (m->method->which == RH_PRECONDITION_MULTIGRID)
        return rh_cg_solve(&m->multigrid, beside, pockets, b, x, tolerance, max_iterations, arena, report, status);
    rh_arena_mark mark = rh_arena_save(arena);
    general g = {m, beside ? *beside : (rh_cg_beside){0}, pockets, rh_poisson_vector(m->a, arena, status)};
    if (!g.spare) return RH_MEMORY;
    int64_t size = (int64_t)rh_poisson_values(m->a);
    const rh_krylov system = {
        .a = {size, apply, &g}, .m = {size, apply_preconditioner, &g}, .project = balance, .user = &g};
    rh_krylov_report found;
    rh_poisson_clear(m->a, x);
    RH_TRY(rh_krylov_cg(&system, b, x, tolerance, max_iterations, arena, &found, status));
    *report = (rh_cg_report){found.iterations, found.residual, found.converged};
    rh_arena_restore(arena, mark);
    return RH_OK;
}
