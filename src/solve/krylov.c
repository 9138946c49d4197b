// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Preconditioned conjugate gradients as in Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd ed. 2003,
// algorithm 9.1. A pass over the vectors is a loop over blocks of fixed size, each of which leaves a sum of its own.
//
// The bound of the error is that of Gauss and Radau: G. Meurant, P. Tichy, "On computing quadrature-based bounds for
// the A-norm of the error in conjugate gradients", Numer. Algorithms 62, 2013, section 3. It costs a few numbers an
// iteration. It begins as the residual over the least eigenvalue and falls as the iteration finds the eigenvalues.
#include "solve/krylov.h"
#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "base/simd.h"

enum { LANES = 8, SHORT = 4 };  // blocks: a pass over fewer takes less time than waking a second thread

#define EACH_BLOCK _Pragma("omp parallel for schedule(static) if (blocks > SHORT)")

typedef struct vectors {
    int64_t size;
    float *r, *z, *d, *q;  // residual, preconditioned, direction, A d
    double *sums;          // per block
} vectors;

static double dot_block(const float *x, const float *y, int64_t begin, int64_t end)
{
    double sum = 0;
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES) sum += (double)rh_f8_sum(rh_f8_load(x + i) * rh_f8_load(y + i));
    for (; i < end; i++) sum += (double)(x[i] * y[i]);
    return sum;
}

double rh_krylov_dot(int64_t size, const float *x, const float *y, double *sums)
{
    int64_t blocks = rh_blocks(size);
    EACH_BLOCK
    for (int64_t b = 0; b < blocks; b++) sums[b] = dot_block(x, y, b * RH_BLOCK, rh_block_end(b, size));
    return rh_sum(sums, blocks);
}

// x += step d, r -= step q; r . r.
static double advance(const vectors *v, float step, float *x)
{
    int64_t blocks = rh_blocks(v->size);
    EACH_BLOCK
    for (int64_t b = 0; b < blocks; b++) {
        int64_t begin = b * RH_BLOCK, end = rh_block_end(b, v->size);
        for (int64_t i = begin; i < end; i++) {
            x[i] += step * v->d[i];
            v->r[i] -= step * v->q[i];
        }
        v->sums[b] = dot_block(v->r, v->r, begin, end);
    }
    return rh_sum(v->sums, blocks);
}

// d = z + beta d
static void turn(const vectors *v, float beta)
{
    int64_t blocks = rh_blocks(v->size);
    EACH_BLOCK
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, v->size); i++)
            v->d[i] = beta != 0 ? v->z[i] + beta * v->d[i] : v->z[i];
}

// r = b - A x, in the place of b.
static void begin(const rh_krylov *system, const vectors *v, const float *x)
{
    int64_t blocks = rh_blocks(v->size);
    system->a.apply(system->a.user, x, v->q);
    EACH_BLOCK
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, v->size); i++) v->r[i] -= v->q[i];
}

static void project(const rh_krylov *system, float *v)
{
    if (system->project) system->project(system->user, v);
}

// z = M r; r . z.
static double precondition(const rh_krylov *system, vectors *v)
{
    project(system, v->r);
    if (system->m.apply) system->m.apply(system->m.user, v->r, v->z);
    else memcpy(v->z, v->r, (size_t)v->size * sizeof *v->z);
    if (system->m.apply) project(system, v->z);
    return rh_krylov_dot(v->size, v->r, v->z, v->sums);
}

static bool is_enough(const rh_krylov *system, const vectors *v, double residual, double most)
{
    return system->enough ? system->enough(system->user, v->r) : residual <= most;
}

// The bound of Gauss and Radau: the square of the error is at most this share of r . z.
static double next_share(double share, double least, double step, double beta)
{
    double more = fmax(share - step, 0);
    return more / (least * more + beta);
}

static rh_code take_memory(vectors *v, int64_t size, float *b, rh_arena *arena, rh_status *status)
{
    size_t bytes = (size_t)(size + 1) * sizeof(float);
    *v = (vectors){.size = size,
                   .r = b,
                   .z = rh_arena_take_zero(arena, bytes, status),
                   .d = rh_arena_take_zero(arena, bytes, status),
                   .q = rh_arena_take_zero(arena, bytes, status),
                   .sums = rh_arena_take(arena, (size_t)(rh_blocks(size) + 1) * sizeof(double), status)};
    return v->z && v->d && v->q && v->sums ? RH_OK : RH_MEMORY;
}

static rh_code iterate(const rh_krylov *system, vectors *v, float *x, double tolerance, int max_iterations,
                       rh_krylov_report *report, rh_status *status)
{
    project(system, v->r);
    double norm = sqrt(rh_krylov_dot(v->size, v->r, v->r, v->sums)), rho = 0;
    if (!system->begun) {
        begin(system, v, x);
        project(system, v->r);
    }
    double residual = system->begun ? norm : sqrt(rh_krylov_dot(v->size, v->r, v->r, v->sums));
    if (!isfinite(norm) || !isfinite(residual))
        return rh_fail(status, RH_NUMERIC, "the right-hand side or the first guess of a solve is not finite");
    if (norm == 0 && !system->begun) memset(x, 0, (size_t)v->size * sizeof *x);
    bool enough = norm == 0 || is_enough(system, v, residual, tolerance * norm);
    double share = system->least > 0 ? 1 / system->least : 0, step = 0;
    while (!enough && report->iterations < max_iterations) {
        double last = rho;
        rho = precondition(system, v);
        if (system->near && system->least > 0) {
            if (last > 0) share = next_share(share, system->least, step, rho / last);
            report->error = sqrt(share * rho);
            enough = system->near(system->user, x, report->error);
            if (enough) break;
        }
        turn(v, last > 0 ? (float)(rho / last) : 0);
        system->a.apply(system->a.user, v->d, v->q);
        double curvature = rh_krylov_dot(v->size, v->d, v->q, v->sums);
        if (!(curvature > 0)) break;  // singular and exhausted
        step = rho / curvature;
        residual = sqrt(advance(v, (float)step, x));
        report->iterations++;
        if (!isfinite(residual)) return rh_fail(status, RH_NUMERIC, "a solve produced values that are not finite");
        enough = is_enough(system, v, residual, tolerance * norm);
    }
    report->residual = norm > 0 ? residual / norm : 0;
    report->converged = enough;
    return RH_OK;
}

rh_code rh_krylov_cg(const rh_krylov *system, float *b, float *x, double tolerance, int max_iterations, rh_arena *arena,
                     rh_krylov_report *report, rh_status *status)
{
    vectors v;
    *report = (rh_krylov_report){0};
    rh_arena_mark mark = rh_arena_save(arena);
    rh_code code = take_memory(&v, system->a.size, b, arena, status);
    if (code == RH_OK) code = iterate(system, &v, x, tolerance, max_iterations, report, status);
    rh_arena_restore(arena, mark);
    return code;
}
