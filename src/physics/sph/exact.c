// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The pressure by conjugate gradients on the operator that the step itself applies: pressure to accelerations, these to
// densities (push.c), of which the second is the transpose of the first,
//      a_i = C_i s_i + sum_j w_ij s_j x_ij,    y_i = C_i . a_i - sum_j w_ij a_j . x_ij,
//      s = q / density^2,  w = V_0 g,  C_i = sum_j w_ij x_ij + sum_s V_s g_is x_is,
// so their product is symmetric and positive. A system that only resembles it (system.c) leaves a part of the error to
// the next step, and where particles lie unevenly under pressure, or at walls, it underestimates the effect of pressure
// by more than half: then every step undoes twice what it should, and the flow shakes itself apart unless steps are
// short (d / sqrt(q) over four). This one costs two loops over neighbours an iteration instead of one and has no such
// limit.
//
// On a lattice central differences vanish for pressures that alternate from row to row, so the operator has 4 (in space
// 8) families of modes with next to no energy: water that fell flat on a floor got 300 kPa in every second row, which
// threw particles up at 12 m/s that had come down at 2.5. So a tenth of the operator is a Laplacian of the same
// weights,
//      L q = sum_j 2 w_ij (q_i - q_j) gradient^2 / laplacian   (kernel.h),
// which is the same where pressure is smooth and does not vanish where it alternates.
//
// Coarse grids (levels.c) do not precondition it well: they represent the smooth family only. Without the Laplacian, a
// tank of 7296 particles on the lattice took 160 iterations with a cycle of the grids, 392 with a cycle of L, 185 with
// the diagonal. Where particles lie unevenly the diagonal is enough: 23 iterations for 456 particles, 25 for 7296, off
// the lattice by 0.1 d.
//
// Which particles have pressure 0 is found as in the source (T. Takahashi, equation 2.6): by one projected Jacobi sweep
// that begins with half of the last pressure.
#include <math.h>
#include "base/parallel.h"
#include "physics/sph/bodies.h"
#include "physics/sph/pressure.h"
#include "solve/krylov.h"

static const float STEADY = 0.1f;  // share of the Laplacian
// Where particles lie unevenly the Laplacian asks for another pressure than the step's operator does, and what it lacks
// becomes a change of density that pressure undoes again, at work for ever: water at rest grew warm (0.010 sqrt(g H)
// after 10 sqrt(H / g), 0.016 after 26) and sank. So a part of the Laplacian's share acts on what is new in the
// pressure only: what it did to the last one goes to the right-hand side. With all of that part nothing takes what
// shook at the start.
static const float KEPT = 0.4f, KEPT_FULL = 0.7f;
static const float LEVEL = 2;  // of the pressure in full vessels, of its root mean square (below)
static const float FORESIGHT = 0.5f, RELAXATION = 0.5f;
static const float THIN = 0.01f;  // particles that will be less dense by more than this have no part in the pressure

typedef struct exact {
    rh_sph_fluid *f;
    const rh_sph_solve_options *o;
    float *weights;    // [8 lists.fluid.first[count]] w_ij
    float *own;        // [4 count]: C, and the diagonal
    float share;       // of the step's operator
    float steady;      // of the Laplacian: twice its share, in units of w
    float *inverse;    // [count] 1 / diagonal; 0 where there is no unknown
    float *x, *y, *r;  // [count + 8]; r is at first what the Laplacian does beyond the operator to the last pressure
    uint8_t *unknown;
    int64_t unknowns;
    rh_sph_bodies bodies;
    int looks;     // at the residual
    double error;  // mean of |r| dt^2 over the unknowns, when it was last computed
} exact;

// Weights, C and the diagonal of particle i, push = a of s, with s in the records of places, and its density at the end
// of the step, where that is wanted.
static inline __attribute__((always_inline)) void prepare_one(exact *e, int64_t i, bool predicts)
{
    const rh_sph_fluid *f = e->f;
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i, *flow = f->flow + 4 * i;
    float *weights = e->weights + 8 * (uint64_t)f->lists->fluid.first[i], *out = e->own + 4 * i;
    rh_f8 zero = rh_f8_all(0), x = zero, y = zero, z = zero, squares = zero, ax = zero, ay = zero, az = zero;
    rh_f8 nearer = zero, to_walls = zero;
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->place, near);
        rh_f8 w = k->volume * p.slope, gx = w * p.x, gy = w * p.y, gz = w * p.z;
        rh_f8_store(weights, w);
        weights += 8;
        x += gx, y += gy, z += gz;
        ax += p.number * gx, ay += p.number * gy, az += p.number * gz;
        squares += e->share * w * w * p.square + e->steady * w;
        if (predicts) nearer += p.slope * rh_sph_approach(&p, flow, f->flow, near);
    }
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->walls->place, near);
        rh_f8 w = k->mirror * p.number * p.slope;
        x += w * p.x, y += w * p.y, z += w * p.z;
        if (predicts) to_walls += p.number * p.slope * rh_sph_approach(&p, flow, f->walls->flow, near);
    }
    if (predicts)
        rh_sph_predict_one(e->f, e->o->predict, i, f->density[i],
                           -(k->volume * rh_f8_sum(nearer) + k->mirror * rh_f8_sum(to_walls)));
    out[0] = rh_f8_sum(x), out[1] = rh_f8_sum(y), out[2] = rh_f8_sum(z);
    out[3] = e->share * (out[0] * out[0] + out[1] * out[1] + out[2] * out[2]) + rh_f8_sum(squares);
    float *push = f->push + 4 * i;
    push[0] = out[0] * own[3] + rh_f8_sum(ax), push[1] = out[1] * own[3] + rh_f8_sum(ay),
    push[2] = out[2] * own[3] + rh_f8_sum(az);
}

// push = a of s, with s in the records of places.
static void push_one(const exact *e, int64_t i)
{
    const rh_sph_fluid *f = e->f;
    const float *at = f->place + 4 * i, *own = e->own + 4 * i,
                *weights = e->weights + 8 * (uint64_t)f->lists->fluid.first[i];
    rh_f8 zero = rh_f8_all(0), x = zero, y = zero, z = zero, record[4];
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_gather(f->place, near, record);
        rh_f8 factor = rh_f8_load(weights) * record[3];
        weights += 8;
        x += factor * (at[0] - record[0]), y += factor * (at[1] - record[1]), z += factor * (at[2] - record[2]);
    }
    float *out = f->push + 4 * i;
    out[0] = own[0] * at[3] + rh_f8_sum(x), out[1] = own[1] * at[3] + rh_f8_sum(y),
    out[2] = own[2] * at[3] + rh_f8_sum(z);
}

// A s of one particle; `beyond`: what the Laplacian's share of it is more than the same share of the step's operator;
// NULL: not wanted.
static inline __attribute__((always_inline)) float answer_one(const exact *e, int64_t i, float *beyond)
{
    const rh_sph_fluid *f = e->f;
    const float *at = f->place + 4 * i, *own = e->own + 4 * i, *push = f->push + 4 * i,
                *weights = e->weights + 8 * (uint64_t)f->lists->fluid.first[i];
    rh_f8 sum = rh_f8_all(0), even = sum, record[4], a[4];
    float share = e->share, steady = e->steady, mine = steady * at[3];
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_gather(f->place, near, record);
        rh_sph_gather(f->push, near, a);
        rh_f8 w = rh_f8_load(weights), smooth = steady * record[3] - mine;
        sum += w * (share * (a[0] * (at[0] - record[0]) + a[1] * (at[1] - record[1]) + a[2] * (at[2] - record[2])) +
                    smooth);
        if (beyond) even += w * smooth;
        weights += 8;
    }
    float all = share * (own[0] * push[0] + own[1] * push[1] + own[2] * push[2]) - rh_f8_sum(sum);
    if (beyond) *beyond = -rh_f8_sum(even) - (1 - share) / share * (all + rh_f8_sum(even));
    return all;
}

static void show(const exact *e, const float *x)
{
    rh_sph_fluid *f = e->f;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count + 8; i++) f->place[4 * i + 3] = i < f->count ? x[i] : 0;
}

// push = accelerations by x.
static void push(const exact *e, const float *x)
{
    rh_sph_fluid *f = e->f;
    show(e, x);
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) push_one(e, i);
}

// y = A x on the unknowns.
static void answer(const exact *e, float *y)
{
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < e->f->count; i++) y[i] = e->unknown[i] ? answer_one(e, i, NULL) : 0;
}

static void apply(void *user, const float *x, float *y)
{
    const exact *e = user;
    push(e, x);
    answer(e, y);
    rh_sph_bodies_add(&e->bodies, (double)e->share, x, e->unknown, y);
}

static float source_of(const rh_sph_fluid *f, int64_t i) { return f->excess[i] / (f->dt * f->dt); }

// Without a free surface pressure is determined up to a constant: all particles are unknowns, of either sign, and the
// mean of the right-hand side, which no pressure can balance, is removed. So a vortex in a full vessel is not torn
// open. The lowest is 0 only in what is shown. (When it was 0 in the forces they had what the last solve had ended
// with: particles that lie unevenly feel the level, the next solve takes that back, as it must, and with it the level,
// so that more of it was added in each step, by the ratio of the two steps' lengths, and pressures that grow make steps
// shorter: of 24 vortices six burst and three gained energy.)
static float level(const exact *e, float *v, bool by_mean)
{
    const rh_sph_fluid *f = e->f;
    double sum = 0;
    float least = INFINITY;
    for (int64_t i = 0; i < f->count; i++) sum += (double)v[i], least = rh_min(least, v[i]);
    float off = by_mean ? (float)(sum / (double)f->count) : least;
    for (int64_t i = 0; i < f->count; i++) v[i] -= off;
    return off;
}

// The level that a solve begins with, and so nearly ends with; v has the mean 0 so far. Uneven particles feel it as
// repulsion. Without it they gather in clumps where pressure is negative, and of the middle of a vortex a tenth is left
// after a second. By the mean square, which hardly changes from step to step: by the lowest, which jumps, it made a
// vortex lose more, or burst. (So did three times the deviation with 80 particles a side and KEPT_FULL of 0.9; with 0.5
// it gained energy.)
static void raise_level(const exact *e, float *v)
{
    const rh_sph_fluid *f = e->f;
    double squares = 0;
    for (int64_t i = 0; i < f->count; i++) squares += (double)v[i] * (double)v[i];
    float by = LEVEL * (float)sqrt(squares / (double)f->count);
    for (int64_t i = 0; i < f->count; i++) v[i] += by;
}

// Which particles are unknowns, from y = A (last pressure).
static void choose(exact *e)
{
    const rh_sph_fluid *f = e->f;
    int64_t unknowns = 0;
#pragma omp parallel for schedule(static) reduction(+ : unknowns)
    for (int64_t i = 0; i < f->count; i++) {
        float diagonal = e->own[4 * i + 3], before = FORESIGHT * e->x[i];
        float sweep = before * diagonal + RELAXATION * (source_of(f, i) - FORESIGHT * e->y[i]);
        bool is = diagonal > 0 && (sweep > 0 || f->predicted[i] > -THIN || e->o->full);
        e->unknown[i] = is;
        e->inverse[i] = is ? 1 / diagonal : 0;
        unknowns += is;
    }
    e->unknowns = unknowns;
}

// --- the first residual ----------------------------------------------------------------------------------------------
// Particles whose values have to be computed again.
typedef struct queue {
    uint32_t *who;
    int64_t count;
    uint8_t *in;  // [count + 8] of particles: a bit for each queue
    uint8_t bit;
} queue;

static void add_to(queue *q, uint32_t i)
{
    if (q->in[i] & q->bit) return;
    q->in[i] |= q->bit;
    q->who[q->count++] = i;
}
static void add_with_neighbours(const exact *e, queue *q, uint32_t i)
{
    const rh_sph_list *list = &e->f->lists->fluid;
    add_to(q, i);
    RH_SPH_EACH(*list, i, near)
    for (int n = 0; n < 8; n++)
        if (near[n] != list->nobody) add_to(q, near[n]);
}

// Who is no unknown any more has pressure 0: y = A x changes for the neighbours of its neighbours. They are few,
// mostly: all others keep what `choose` saw, to the bit.
static rh_code forget(exact *e, rh_arena *arena, rh_status *status)
{
    const rh_sph_fluid *f = e->f;
    size_t count = (size_t)f->count + 8;
    rh_arena_mark mark = rh_arena_save(arena);
    uint8_t *in = rh_arena_take_zero(arena, count, status);
    queue pushed = {rh_arena_take(arena, count * sizeof(uint32_t), status), 0, in, 1},
          answered = {rh_arena_take(arena, count * sizeof(uint32_t), status), 0, in, 2};
    if (!in || !pushed.who || !answered.who) return RH_MEMORY;
    for (int64_t i = 0; i < f->count; i++) {
        if (e->unknown[i] || e->x[i] == 0) continue;
        e->x[i] = f->place[4 * i + 3] = 0;
        add_with_neighbours(e, &pushed, (uint32_t)i);
    }
    for (int64_t n = 0; n < pushed.count; n++) add_with_neighbours(e, &answered, pushed.who[n]);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t n = 0; n < pushed.count; n++) push_one(e, pushed.who[n]);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t n = 0; n < answered.count; n++) e->y[answered.who[n]] = answer_one(e, answered.who[n], NULL);
    rh_arena_restore(arena, mark);
    return RH_OK;
}

static bool enough(void *user, const float *r)
{
    exact *e = user;
    e->error = fmax(rh_sph_mean_error(e->f, r, e->unknowns),
                    rh_sph_bodies_error(&e->bodies, r, e->f->dt, e->unknown, e->looks++));
    return e->error < e->o->tolerance;
}

static void by_diagonal(void *user, const float *r, float *z)
{
    const exact *e = user;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < e->f->count; i++) z[i] = e->inverse[i] * r[i];
    rh_sph_bodies_precondition(&e->bodies, e->inverse, z);
}

static rh_code iterate(exact *e, rh_arena *arena, rh_sph_solved *out, rh_status *status)
{
    const rh_sph_fluid *f = e->f;
    const float kept = e->o->full ? KEPT_FULL : KEPT;
    rh_krylov system = {
        .a = {f->count, apply, e}, .m = {f->count, by_diagonal, e}, .begun = true, .enough = enough, .user = e};
    RH_TRY(forget(e, arena, status));
    rh_sph_bodies_add(&e->bodies, (double)e->share, e->x, e->unknown, e->y);
    rh_sph_bodies_prepare(&e->bodies, (double)e->share, e->inverse);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) e->r[i] = e->unknown[i] ? source_of(f, i) + kept * e->r[i] : 0;
    if (e->o->full) level(e, e->r, true);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) e->r[i] -= e->unknown[i] ? e->y[i] : 0;
    rh_krylov_report report;
    RH_TRY(rh_krylov_cg(&system, e->r, e->x, 0, e->o->max_iterations, arena, &report, status));
    out->iterations = report.iterations, out->converged = report.converged, out->error = e->error;
    return RH_OK;
}

static rh_code take(exact *e, rh_arena *arena, rh_status *status)
{
    const rh_sph_fluid *f = e->f;
    size_t floats = ((size_t)f->count + 8) * sizeof(float), weights = 8 * (size_t)f->lists->fluid.first[f->count];
    e->weights = rh_arena_take(arena, (weights + 8) * sizeof(float), status);
    e->own = f->uneven;
    e->x = rh_arena_take_zero(arena, floats, status);
    e->y = rh_arena_take_zero(arena, floats, status);
    e->r = rh_arena_take_zero(arena, floats, status);
    e->inverse = rh_arena_take(arena, floats, status);
    e->unknown = rh_arena_take(arena, (size_t)f->count + 8, status);
    return e->weights && e->own && e->x && e->y && e->r && e->inverse && e->unknown ? RH_OK : RH_MEMORY;
}

rh_code rh_sph_solve_exact(rh_sph_fluid *f, const rh_sph_solve_options *o, rh_arena *arena, rh_sph_solved *out,
                           rh_status *status)
{
    float g = f->kernel->gradient;
    exact e = {.f = f, .o = o, .share = 1 - STEADY, .steady = STEADY * 2 * g * g / f->kernel->laplacian};
    *out = (rh_sph_solved){0};
    RH_TRY(take(&e, arena, status));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) e.x[i] = f->q[i] / (f->density[i] * f->density[i]);
    if (o->full) level(&e, e.x, true), raise_level(&e, e.x);
    show(&e, e.x);
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++)
        if (o->predict) prepare_one(&e, i, true);
        else prepare_one(&e, i, false);
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) e.y[i] = answer_one(&e, i, e.r + i);
    RH_TRY(rh_sph_bodies_find(&e.bodies, f, o->dynamics, o->mass, arena, status));
    choose(&e);
    out->unknowns = e.unknowns, out->surface = f->count - e.unknowns;
    RH_TRY(iterate(&e, arena, out, status));
    float least = o->full ? -INFINITY : 0;  // no suction
    bool pushed = out->iterations == 0;     // a first guess that is good enough has been pushed with already
#pragma omp parallel for schedule(static) reduction(&& : pushed)
    for (int64_t i = 0; i < f->count; i++) {
        pushed = pushed && e.x[i] >= least;
        e.x[i] = rh_max_of(e.x[i], least);
        f->q[i] = e.x[i] * f->density[i] * f->density[i];
    }
    if (!pushed) push(&e, e.x);
    if (o->full) f->level = level(&e, f->q, false);
    return rh_sph_bodies_give(&e.bodies, e.x, (double)f->dt, arena, status);
}
