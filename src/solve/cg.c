// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Standard preconditioned CG. Every sum is taken per tile and then in fixed order (base/parallel.h).
#include "solve/cg.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"

typedef struct solver {
    const rh_poisson *a;
    double *sums;  // per listed tile
    int cells;
} solver;

static void clear(const solver *s, float *v)
{
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < s->a->count; n++) memset(v + (int64_t)s->a->list[n] * s->cells, 0, (size_t)s->cells * sizeof(float));
}

static double dot(const solver *s, const float *x, const float *y)
{
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < s->a->count; n++) {
        const float *p = x + (int64_t)s->a->list[n] * s->cells, *q = y + (int64_t)s->a->list[n] * s->cells;
        double sum = 0;
        for (int c = 0; c < s->cells; c++) sum += (double)p[c] * (double)q[c];
        s->sums[n] = sum;
    }
    return rh_sum(s->sums, s->a->count);
}

// x += alpha d, r -= alpha q, returns r . r
static double advance(const solver *s, double alpha, const float *d, const float *q, float *x, float *r)
{
    float step = (float)alpha;
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < s->a->count; n++) {
        int64_t base = (int64_t)s->a->list[n] * s->cells;
        double sum = 0;
        for (int64_t c = base; c < base + s->cells; c++) {
            x[c] += step * d[c];
            r[c] -= step * q[c];
            sum += (double)r[c] * (double)r[c];
        }
        s->sums[n] = sum;
    }
    return rh_sum(s->sums, s->a->count);
}

// d = z + beta d
static void turn(const solver *s, double beta, const float *z, float *d)
{
    float b = (float)beta;
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < s->a->count; n++) {
        int64_t base = (int64_t)s->a->list[n] * s->cells;
        for (int64_t c = base; c < base + s->cells; c++) d[c] = z[c] + b * d[c];
    }
}

rh_code rh_cg_solve(const rh_poisson *a, rh_preconditioner m, float *b, float *x, double tolerance, int max_iterations,
                    rh_arena *arena, rh_cg_report *report, rh_status *status)
{
    *report = (rh_cg_report){.converged = true};
    rh_arena_mark mark = rh_arena_save(arena);
    size_t bytes = (size_t)rh_tiles_values(a->tiles) * sizeof(float);
    solver s = {a, rh_arena_take(arena, ((size_t)a->count + 1) * sizeof(double), status), a->tiles->cells};
    float *z = rh_arena_take_zero(arena, bytes, status), *d = rh_arena_take_zero(arena, bytes, status);
    float *q = rh_arena_take_zero(arena, bytes, status);
    if (!s.sums || !z || !d || !q) return RH_MEMORY;
    clear(&s, x);
    double norm = sqrt(dot(&s, b, b)), rho = 0;
    if (!isfinite(norm)) return rh_fail(status, RH_NUMERIC, "the right-hand side of the pressure solve is not finite");
    double residual = norm;
    while (norm > 0 && residual > tolerance * norm && report->iterations < max_iterations) {
        m.apply(m.self, b, z);
        double next = dot(&s, b, z);
        turn(&s, report->iterations ? next / rho : 0, z, d);
        rho = next;
        rh_poisson_apply_dot(a, d, q, s.sums);
        double curvature = rh_sum(s.sums, a->count);
        if (!(curvature > 0)) break;  // singular and exhausted
        residual = sqrt(advance(&s, rho / curvature, d, q, x, b));
        report->iterations++;
        if (!isfinite(residual)) return rh_fail(status, RH_NUMERIC, "the pressure solve produced values that are not finite");
    }
    report->residual = norm > 0 ? residual / norm : 0;
    report->converged = report->residual <= tolerance;
    rh_arena_restore(arena, mark);
    return RH_OK;
}
