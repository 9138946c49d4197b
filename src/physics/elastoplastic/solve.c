// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The implicit step is Newmark's in the form of the leapfrog (N. M. Newmark, J. Eng. Mech. Div. ASCE 85, 1959): with
// stresses T and the tangent C of the isotropic law, all on the places x of the start of the step,
//      v = v_old + kick f(T + dt b C : sym L(v) - dt_old b' C : sym L(v_old)),     b = (1 + s)^2 / 4,   b' = b - s
// s = 0 is the trapezoidal rule, which keeps energy, s = 1 the backward Euler method. The system for v is symmetric and
// positive. It is linear in v, because turns do not enter: C sees sym L. What a turn does to the strain in a long step
// (a particle goes straight on, off the circle) the fit of the step sees, and the next step undoes. So stresses stay
// symmetric: momentum and angular momentum about x are kept whatever the tolerance, since all vectors of conjugate
// gradients without preconditioner are combinations of such forces. (A diagonal preconditioner takes fewer iterations
// and would break that.)
//
// Two things are not linear, and are found by solving again, from the last solution: plastic flow, by the share of the
// stress that it will leave (a secant), and walls, by who presses on them. A particle on a wall cannot move along the
// normal (or at all, where friction or tack holds it); it is let go when the wall would have to pull.
#include "physics/elastoplastic/solve.h"

#include <string.h>
#include "base/parallel.h"
#include "solve/krylov.h"

enum { ROUNDS = 4 };
static const double ROUNDING = 1e-6;  // of velocities: nearer than that no solve comes

typedef enum tie_kind { FREE, SLIDES, STICKS } tie_kind;
typedef struct wall_tie {
    tie_kind kind;
    bool released;  // let go in this step: not caught again
    bool tacky;
    rh_vec3 normal, target;  // unit; m/s
    rh_vec3 rub;             // m/s: friction of one that slides
    float friction;
} wall_tie;

static bool is_held(const rh_ep_solve *s, int64_t i) { return s->held && s->held[i]; }

// T += 2 eta dev sym L
static void add_viscosity(rh_ep_matter *m)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        float eta = m->moduli[i].viscosity, *t = m->stress + 6 * i;
        const float *g = m->gradient + 9 * i;
        if (eta == 0) continue;
        float mean = (g[0] + g[4] + g[8]) / 3;
        t[0] += 2 * eta * (g[0] - mean), t[1] += 2 * eta * (g[4] - mean), t[2] += 2 * eta * (g[8] - mean);
        t[3] += eta * (g[1] + g[3]), t[4] += eta * (g[2] + g[6]), t[5] += eta * (g[5] + g[7]);
    }
}

// hold = what holds offsets, as far as they are known (`known`: times so much), and goes with their rate: for `time`
// (s) at this rate, and friction.
static void find_hold(const rh_ep_solve *s, float known, float time, float friction)
{
    rh_ep_matter *m = s->matter;
    float a = m->kernel->spacing;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        float sound = rh_ep_sound(&m->moduli[i]), weight = m->lean[4 * i + 3];
        float by = m->loose[i] & RH_EP_ADRIFT ? 0 : 1 / weight;
        float spring = by * (float)m->params->coherence * sound * sound / (a * a);
        float rate = spring * time + by * friction * (float)m->params->damping * sound / a;
        for (int c = 0; c < 3; c++)
            m->hold[3 * i + c] = known * spring * s->state->offset[3 * i + c] + rate * m->apart[3 * i + c];
    }
}

// Friction of offsets goes by n as the last step left it: of the same velocities, over places a step older. Only
// viscosity needs gradients over present ones.
static void find_rates(const rh_ep_solve *s)
{
    rh_ep_matter *m = s->matter;
    bool viscous = m->rub > 0;  // or pieces whose turns friction asks for
    for (int64_t i = 0; i < m->count && !viscous; i++) viscous = m->moduli[i].viscosity > 0;
    if (!viscous) {
        memcpy(m->apart, s->state->drift, 3 * (size_t)m->count * sizeof(float));
        return;
    }
    rh_ep_gradients(m);
    add_viscosity(m);
}

void rh_ep_explicit(rh_ep_solve *s)
{
    rh_ep_matter *m = s->matter;
    find_rates(s);
    find_hold(s, 1, 0, 1);
    m->touch_known = 1, m->touch_time = 0;
    rh_ep_push(m);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++)
        if (!is_held(s, i))
            for (int a = 0; a < m->dimension; a++) m->flow[4 * i + a] += s->kick * m->push[4 * i + a];
}

// --- stresses of velocities ------------------------------------------------------------------------------------------
static float newmark(const rh_ep_matter *m)  // b
{
    float s = (float)m->params->implicit_damping;
    return 0.25f * (1 + s) * (1 + s);
}

// What a rate L does to the stress in `time`: C : sym L, in parts: t += time (2 shear dev sym L) soft, and the
// pressure.
static void add_rate(const rh_ep_solve *s, int64_t i, const float g[9], float time, float soft, float t[6])
{
    const rh_ep_moduli *of = &s->matter->moduli[i];
    float by = time * s->state->stiffen[i], shear = soft * by * of->shear, sum = g[0] + g[4] + g[8], mean = sum / 3;
    float press = by * (of->lame + of->shear * (2.f / 3)) * sum;
    if (of->bulk > 0 && s->matter->density[i] > 1) press = time * of->bulk * sum;
    t[0] += 2 * shear * (g[0] - mean) + press, t[1] += 2 * shear * (g[4] - mean) + press;
    t[2] += 2 * shear * (g[8] - mean) + press;
    t[3] += shear * (g[1] + g[3]), t[4] += shear * (g[2] + g[6]), t[5] += shear * (g[5] + g[7]);
}

rh_code rh_ep_begin(rh_ep_solve *s, rh_arena *arena, rh_status *status)
{
    rh_ep_matter *m = s->matter;
    size_t padded = (size_t)m->count + 8;
    float back = newmark(m) - (float)m->params->implicit_damping;
    s->stress = rh_arena_take(arena, 6 * padded * sizeof(float), status);
    s->hold = rh_arena_take(arena, 3 * padded * sizeof(float), status);
    s->given = rh_arena_take_zero(arena, 4 * padded * sizeof(float), status);
    s->before = rh_arena_take_zero(arena, 4 * padded * sizeof(float), status);
    s->soft = rh_arena_take(arena, padded * sizeof(float), status);
    s->ties = rh_arena_take_zero(arena, padded * sizeof *s->ties, status);
    if (!s->stress || !s->hold || !s->given || !s->before || !s->soft || !s->ties) return RH_MEMORY;
    rh_ep_gradients(m);
    find_hold(s, 1, -back * s->previous_dt, 0);
    memcpy(s->hold, m->hold, 3 * (size_t)m->count * sizeof(float));
    memcpy(s->before, m->flow, 4 * (size_t)m->count * sizeof(float));
    s->contact->stress = s->stress;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        float *t = s->stress + 6 * i;
        memcpy(t, m->stress + 6 * i, 6 * sizeof(float));
        add_rate(s, i, m->gradient + 9 * i, -back * s->previous_dt, 1, t);
        s->soft[i] = 1;
    }
    return RH_OK;
}

static void soften(float t[6], float soft)  // all but pressure
{
    float mean = (t[0] + t[1] + t[2]) / 3;
    for (int c = 0; c < 6; c++) t[c] = soft * t[c] + (c < 3 ? (1 - soft) * mean : 0);
}

// The share of the stress at the end of the step that plastic flow leaves.
static float softness(const rh_ep_solve *s, int64_t i)
{
    const rh_ep_matter *m = s->matter;
    const rh_ep_moduli *of = &m->moduli[i];
    float t[6], yield = rh_max_of(of->yield + (s->state->hardened ? of->hardening * s->state->hardened[i] : 0), 0);
    memcpy(t, s->stress + 6 * i, sizeof t);
    add_rate(s, i, m->gradient + 9 * i, m->dt, 1, t);
    float mean = (t[0] + t[1] + t[2]) / 3, sum = 0;
    for (int c = 0; c < 3; c++) sum += (t[c] - mean) * (t[c] - mean) + 2 * t[3 + c] * t[3 + c];
    float norm = sqrtf(1.5f * sum), share = s->previous_dt > 0 ? of->flow : 1;
    if (!(norm > yield)) return 1;
    if (of->thickening > 0) share = 1 - powf(1 - share, of->thickening / norm);
    return 1 - share * (1 - yield / norm);
}

// When a solve is done.
typedef struct ending {
    const rh_ep_solve *solve;
    const float *v;  // what it began with
    double scene;    // sum of squares of what forces of the scene give in the step
    double *sums;    // a place for each block
} ending;

// --- the system ------------------------------------------------------------------------------------------------------
static void filter(const rh_ep_solve *s, float *v)
{
    const rh_ep_matter *m = s->matter;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        const wall_tie *t = &s->ties[i];
        float *of = v + 4 * i;
        if (is_held(s, i) || t->kind == STICKS) of[0] = of[1] = of[2] = 0;
        else if (t->kind == SLIDES) {
            float n = of[0] * t->normal.x + of[1] * t->normal.y + of[2] * t->normal.z;
            of[0] -= n * t->normal.x, of[1] -= n * t->normal.y, of[2] -= n * t->normal.z;
        }
    }
}

// out = v - kick times what the new velocities v do.
static void apply_whole(const rh_ep_solve *s, const float *v, float *out)
{
    rh_ep_matter *m = s->matter;
    float time = newmark(m) * m->dt;
    memcpy(m->flow, v, 4 * (size_t)m->count * sizeof(float));
    rh_ep_gradients(m);
    memset(m->stress, 0, 6 * (size_t)m->count * sizeof(float));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) add_rate(s, i, m->gradient + 9 * i, time, s->soft[i], m->stress + 6 * i);
    add_viscosity(m);
    find_hold(s, 0, time, 1);
    m->touch_known = 0, m->touch_time = time;
    rh_ep_push(m);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        for (int a = 0; a < 3; a++) out[4 * i + a] = v[4 * i + a] - s->kick * m->push[4 * i + a];
        out[4 * i + 3] = 0;
    }
}

static void apply(void *user, const float *v, float *out)
{
    const rh_ep_solve *s = ((const ending *)user)->solve;
    apply_whole(s, v, out);
    filter(s, out);
}

// out = velocities with all forces that new velocities have no part in.
static void find_given(rh_ep_solve *s, const float *free_flight)
{
    rh_ep_matter *m = s->matter;
    memcpy(m->stress, s->stress, 6 * (size_t)m->count * sizeof(float));
    memcpy(m->hold, s->hold, 3 * (size_t)m->count * sizeof(float));
    for (int64_t i = 0; i < m->count; i++)
        if (s->soft[i] < 1) soften(m->stress + 6 * i, s->soft[i]);
    memset(m->flow, 0, 4 * (size_t)m->count * sizeof(float));
    if (m->piece) memset(m->gradient, 0, 9 * (size_t)m->count * sizeof(float));
    m->touch_known = 1, m->touch_time = 0;
    rh_ep_push(m);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++)
        for (int a = 0; a < 3; a++)
            s->given[4 * i + a] = free_flight[4 * i + a] + (a < m->dimension ? s->kick * m->push[4 * i + a] : 0) +
                                  (&s->ties[i].rub.x)[a];
}

// --- walls -----------------------------------------------------------------------------------------------------------
// Velocities of particles on walls as these want them.
static void set_tied(const rh_ep_solve *s, float *v)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->matter->count; i++) {
        const wall_tie *t = &s->ties[i];
        float *of = v + 4 * i;
        if (t->kind == STICKS) of[0] = t->target.x, of[1] = t->target.y, of[2] = t->target.z;
        if (t->kind != SLIDES) continue;
        float n = (of[0] - t->target.x) * t->normal.x + (of[1] - t->target.y) * t->normal.y +
                  (of[2] - t->target.z) * t->normal.z;
        of[0] -= n * t->normal.x, of[1] -= n * t->normal.y, of[2] -= n * t->normal.z;
    }
}

// m/s along the normal, over the wall's: a blow that is shorter than the step gives back a share of the approach. What
// gravity gives in a few steps is no blow: matter at rest stays so.
static double given_back(const rh_ep_solve *s, int64_t i, const rh_ep_touch *touch)
{
    const float *v = s->flight + 4 * i;
    double in = rh_d3_dot(rh_d3_sub(touch->wall, rh_d3(v[0], v[1], v[2])), touch->normal);
    double rest = 4 * rh_d3_length(s->contact->around->gravity) * (double)s->kick;
    return in > rest ? s->matter->params->restitution * in : 0;
}

static bool catch_one(const rh_ep_solve *s, int64_t i, const float *v)
{
    wall_tie *t = &s->ties[i];
    if (t->kind != FREE || t->released || is_held(s, i)) return false;
    rh_ep_touch touch = rh_ep_touch_of(s->contact, i, rh_v3(v[0], v[1], v[2]));
    if (touch.which < 0) return false;
    const rh_obstacle *solid = &s->contact->around->obstacles_after->items[touch.which];
    bool sticky = solid->wall == RH_WALL_NO_SLIP;
    t->kind = sticky || solid->friction > 0 ? STICKS : SLIDES;
    t->tacky = touch.sticks;
    t->friction = sticky ? 1e30f : (float)solid->friction;
    t->normal = rh_v3_from(touch.normal);
    double along = rh_d3_dot(touch.wall, touch.normal), back = along + given_back(s, i, &touch);
    double wanted = touch.sticks ? along : back > along ? fmax(touch.least, back) : touch.least;
    t->target = rh_v3_from(rh_d3_add(touch.wall, rh_d3_scale(touch.normal, wanted - along)));
    if (s->matter->dimension == 2) t->target.z = 0;
    return true;
}

// The wall gives `r` (m/s): it pushes and holds by friction, or lets go.
static bool judge_one(const rh_ep_solve *s, int64_t i, rh_vec3 r)
{
    wall_tie *t = &s->ties[i];
    float press = rh_v3_dot(r, t->normal), slack = 1e-6f;
    if (!t->tacky && press < -slack) {
        *t = (wall_tie){.released = true};
        return true;
    }
    if (t->kind != STICKS || t->friction > 1e29f) return false;
    rh_vec3 along = rh_v3_sub(r, rh_v3_scale(t->normal, press));
    float held = rh_v3_length(along), most = t->friction * rh_max_of(press, 0);
    if (held <= most + slack) return false;
    t->kind = SLIDES;
    t->rub = rh_v3_scale(along, most / held);
    return true;
}

// Who touches a wall now, or has been let go; returns whether anything changed.
static bool judge(const rh_ep_solve *s, const float *v, const float *residual)
{
    const rh_ep_matter *m = s->matter;
    int64_t changed = 0;
    if (s->contact->around->obstacles->count == 0) return false;
#pragma omp parallel for schedule(dynamic, 512) reduction(+ : changed)
    for (int64_t i = 0; i < m->count; i++) {
        const float *r = residual ? residual + 4 * i : NULL;
        if (s->ties[i].kind != FREE && r) changed += judge_one(s, i, rh_v3(r[0], r[1], r[2]));
        else if (m->covered[i] > 0 ||
                 rh_v3_length(rh_v3(v[4 * i], v[4 * i + 1], v[4 * i + 2])) * m->dt > m->kernel->spacing)
            changed += catch_one(s, i, v + 4 * i);
    }
    return changed > 0;
}

// --- rounds ----------------------------------------------------------------------------------------------------------
typedef struct vectors {
    float *v, *b, *change, *free_flight;
} vectors;

static double sum_squares(const ending *e, const float *x, const float *less)
{
    int64_t size = 4 * e->solve->matter->count, blocks = rh_blocks(size);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        double sum = 0;
        for (int64_t n = b * RH_BLOCK; n < rh_block_end(b, size); n++) {
            double of = (double)e->v[n] + (x ? (double)x[n] : 0) - (less ? (double)less[n] : 0);
            sum += of * of;
        }
        e->sums[b] = sum;
    }
    return rh_sum(e->sums, blocks);
}

// The error of velocities, in the norm of the system, which is not less than their own, is within the tolerance of what
// the step does to them: of what forces of the scene do, or of what stresses do.
static bool is_near(void *user, const float *x, double error)
{
    const ending *e = user;
    double tolerance = e->solve->matter->params->tolerance, most = tolerance * tolerance, square = error * error;
    if (square <= most * e->scene) return true;
    return square <= most * sum_squares(e, x, e->solve->flight) ||
           square <= ROUNDING * ROUNDING * sum_squares(e, x, NULL);
}

static bool flows(const rh_ep_solve *s)
{
    const rh_ep_matter *m = s->matter;
    int64_t changed = 0;
#pragma omp parallel for schedule(static) reduction(+ : changed)
    for (int64_t i = 0; i < m->count; i++) {
        float soft = softness(s, i);
        changed += fabsf(soft - s->soft[i]) > 0.05f * s->soft[i];
        s->soft[i] = soft;
    }
    return changed * 100 > m->count;
}

static rh_code solve_once(rh_ep_solve *s, const vectors *w, ending *end, rh_arena *arena, rh_step_report *report,
                          rh_status *status)
{
    rh_ep_matter *m = s->matter;
    size_t bytes = 4 * (size_t)m->count * sizeof(float);
    rh_krylov_report solved;
    find_given(s, w->free_flight);
    set_tied(s, w->v);
    apply_whole(s, w->v, w->b);
    for (int64_t n = 0; n < 4 * m->count; n++) w->b[n] = s->given[n] - w->b[n];
    filter(s, w->b);
    memset(w->change, 0, bytes);
    const rh_krylov system = {.a = {4 * m->count, apply, end}, .least = 1, .near = is_near, .user = end};
    RH_TRY(rh_krylov_cg(&system, w->b, w->change, 0, (int)m->params->max_iterations, arena, &solved, status));
    report->iterations += solved.iterations;
    report->residual = solved.residual;
    for (int64_t n = 0; n < 4 * m->count; n++) w->v[n] += w->change[n];
    if (solved.converged) return RH_OK;
    report->unconverged = true;
    return rh_fail(status, RH_NUMERIC, "the implicit solve did not converge in %d iterations (residual %.3g)",
                   solved.iterations, solved.residual);
}

// before = v less what walls do: `residual`, as far as the particle is tied, and friction of one that slides.
static void take_walls_out(rh_ep_solve *s, const float *v, const float *residual)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->matter->count; i++) {
        const wall_tie *t = &s->ties[i];
        const float *r = residual + 4 * i, n = r[0] * t->normal.x + r[1] * t->normal.y + r[2] * t->normal.z;
        for (int a = 0; a < 3; a++) {
            float wall = t->kind == STICKS ? r[a] : t->kind == SLIDES ? n * (&t->normal.x)[a] + (&t->rub.x)[a] : 0;
            s->before[4 * i + a] = v[4 * i + a] - wall;
        }
    }
}

rh_code rh_ep_implicit(rh_ep_solve *s, rh_arena *arena, rh_step_report *report, rh_status *status)
{
    rh_ep_matter *m = s->matter;
    size_t bytes = 4 * ((size_t)m->count + 8) * sizeof(float), own = 4 * (size_t)m->count * sizeof(float);
    const vectors w = {rh_arena_take_zero(arena, bytes, status), rh_arena_take_zero(arena, bytes, status),
                       rh_arena_take_zero(arena, bytes, status), rh_arena_take_zero(arena, bytes, status)};
    if (!w.v || !w.b || !w.change || !w.free_flight) return RH_MEMORY;
    ending end = {s, w.v, 0, rh_arena_take(arena, (size_t)(rh_blocks(4 * m->count) + 1) * sizeof(double), status)};
    if (!end.sums) return RH_MEMORY;
    s->flight = w.free_flight;
    memcpy(w.free_flight, m->flow, own);
    memcpy(w.v, m->flow, own);
    end.scene = sum_squares(&end, NULL, s->before);
    judge(s, w.v, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        RH_TRY(solve_once(s, &w, &end, arena, report, status));
        apply_whole(s, w.v, w.b);  // leaves the gradients of v
        for (int64_t n = 0; n < 4 * m->count; n++) w.b[n] -= s->given[n];
        take_walls_out(s, w.v, w.b);
        bool changed = judge(s, w.v, w.b);
        changed = flows(s) || changed;
        if (!changed) break;
    }
    memcpy(m->flow, w.v, own);
    return RH_OK;
}
