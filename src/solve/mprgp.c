// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// MPRGP (Z. Dostal, J. Schoberl, Comput. Optim. Appl. 30, 2005; Z. Dostal, "Optimal Quadratic Programming Algorithms",
// 2009), preconditioned in the face, i.e. on the free set alone, as D. Gerszewski's dissertation (Utah 2014) does for
// splashing liquids.
//
//   gradient           g = A x + b
//   free gradient      g where x > l
//   chopped gradient   min(g, 0) where x = l
//   reduced gradient   min((x - l) / step, free gradient)
//
// Where |chopped|^2 <= reduced . free the point is proportional, and the next step is one of conjugate gradients in the
// face (the unknowns that are free), or an expansion of the active set. Else it is a proportioning step: along the
// chopped gradient, which sets cells free.
//
// Expansion, when the step of length t would leave the feasible set: x' = max(l, x - t p), projected as a whole (in the
// spirit of J. Kruzik, D. Horak, M. Cermak, L. Pospisil, M. Pecha, "Active set expansion strategies in MPRGP
// algorithm", Adv. Eng. Softw. 149, 2020), when it ends lower than the feasible part of the step; else the classical
// way, that part and a projected gradient step of fixed length 1.9 / |A|.
//
// Why it ends: every step lowers the energy x.Ax/2 + b.x. A step along p or the chopped gradient goes to the least on
// its line, or the feasible part of the way there; a projected gradient step of length below 2 / |A| lowers it by the
// book; a projected CG step is taken only if it lowers it by more than the feasible part, which is the first half of
// the classical expansion. So the argument of Dostal and Schoberl holds with any of them in its place: no face can be
// minimised twice, and there are finitely many. Differences of energy are taken as s.(g + g')/2 of the step s: exact to
// rounding, where the difference of two energies is not.
#include "solve/mprgp.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "solve/free_operator.h"

const char *const rh_expansion_names[] = {"projected", "gradient", NULL};

#define EACH_TILE _Pragma("omp parallel for schedule(static, 2) if (a->count > RH_SHORT)")
#define EACH_ROW(n) for (uint64_t rows = a->rows[n]; rows; rows &= rows - 1)

static const double PROPORTION = 1, STEP = 1.9;  // Gamma squared, and the fixed step times |A|
enum { REFRESH = 50 };  // steps after which g is computed afresh: its recursion drifts by one rounding a step

enum { FREE2, CHOPPED2, REDUCED, LARGEST, BEGIN, CURVATURE, ROOM, SUMS };

typedef struct solver {
    const rh_poisson *a;
    const float *b, *lower;
    float *x, *g;
    float *r, *p, *q;    // free gradient, direction, A p
    float *z, *spare;    // preconditioned; the cycle's other vector
    double *sums[SUMS];  // per tile
    uint8_t *free;       // bits, as rh_poisson.unknown
    rh_pockets pockets;
    rh_free_operator on_free;
    rh_preconditioner preconditioner;
    rh_term free_term;  // entries of the term in free cells
    rh_bodies free_bodies;
    const rh_mprgp_options *options;
    bool unprepared;  // of a preconditioner taken up in the middle
    rh_mprgp_report *report;
    rh_arena *arena;
    const rh_multigrid
        *whole;  // hierarchy of the operator itself, of which this is level `level`; NULL: none yet, level 0
    int level;
    double free2, chopped2, reduced, largest, reference;
    double step;          // fixed, of expansions
    int products, since;  // products with A; steps since g was computed afresh
} solver;

static inline rh_f8 at(const float *v) { return rh_f8_load(v); }
static inline rh_f8 only(rh_i8 mask, rh_f8 v) { return (rh_f8)((rh_i8)v & mask); }
static inline rh_f8 bound_at(const solver *s, int64_t c) { return s->lower ? at(s->lower + c) : rh_f8_all(0); }
static inline rh_i8 bits_at(const uint8_t *bits, int64_t c) { return rh_i8_from_bits(bits[c >> 3]); }
static double total(const solver *s, int which) { return rh_sum(s->sums[which], s->a->count); }

// --- passes ----------------------------------------------------------------------------------------------------------
// x = max(l, x - step p) and g += along q, then the free set and the gradients' norms. r becomes the free gradient.
static void split_tile(const solver *s, int32_t n, float step, float along, const float *q)
{
    const rh_poisson *a = s->a;
    double free2 = 0, chopped2 = 0, reduced = 0, largest = 0;
    rh_f8 slope = rh_f8_all((float)(1 / s->step)), zero = rh_f8_all(0);
    EACH_ROW(n)
    {
        int64_t c = (int64_t)n * a->cells + 8 * __builtin_ctzll(rows);
        rh_f8 l = bound_at(s, c), x = at(s->x + c), g = at(s->g + c);
        rh_i8 unknown = bits_at(a->unknown, c);
        if (step != 0) rh_f8_store(s->x + c, x = only(unknown, rh_f8_max(x - step * at(s->p + c), l)));
        if (along != 0) rh_f8_store(s->g + c, g = g + along * at(q + c));
        rh_i8 free = unknown & (x > l);
        rh_f8 r = only(free, g), chopped = only(unknown & ~free, rh_f8_min(g, zero));
        rh_f8 short_r = only(free, rh_f8_min((x - l) * slope, r)), worst = rh_f8_max(rh_f8_abs(r), rh_f8_abs(chopped));
        s->free[c >> 3] = (uint8_t)rh_i8_bits(free);
        rh_f8_store(s->r + c, r);
        free2 += (double)rh_f8_sum(r * r);
        chopped2 += (double)rh_f8_sum(chopped * chopped);
        reduced += (double)rh_f8_sum(short_r * r);
        for (int i = 0; i < 8; i++) largest = (double)worst[i] > largest ? (double)worst[i] : largest;
    }
    s->sums[FREE2][n] = free2;
    s->sums[CHOPPED2][n] = chopped2;
    s->sums[REDUCED][n] = reduced;
    s->sums[LARGEST][n] = largest;
}

static void split(solver *s, float step, float along, const float *q)
{
    const rh_poisson *a = s->a;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) split_tile(s, n, step, along, q);
    s->free2 = total(s, FREE2);
    s->chopped2 = total(s, CHOPPED2);
    s->reduced = total(s, REDUCED);
    s->largest = rh_max(s->sums[LARGEST], a->count);
}

static double apply(solver *s, const float *v, float *out)
{
    rh_poisson_apply(s->a, v, out, s->sums[CURVATURE]);
    s->products++;
    return total(s, CURVATURE) + rh_term_apply(s->options->term, s->a->cells, v, out);
}

// g = A x + b, computed afresh.
static void refresh(solver *s)
{
    apply(s, s->x, s->g);
    split(s, 0, 1, s->b);
    s->since = 0;
}

// p = z + beta p; its slope g.p, and how far it goes until a cell meets its bound.
static double turn(solver *s, float beta, double *reach)
{
    const rh_poisson *a = s->a;
    double *room = s->sums[ROOM];
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        rh_f8 least = rh_f8_all(FLT_MAX), zero = rh_f8_all(0);
        double slope = 0;
        EACH_ROW(n)
        {
            int64_t c = (int64_t)n * a->cells + 8 * __builtin_ctzll(rows);
            rh_f8 p = at(s->z + c);
            if (beta != 0) p += beta * only(bits_at(s->free, c), at(s->p + c));
            rh_f8_store(s->p + c, p);
            slope += (double)rh_f8_sum(p * at(s->r + c));
            rh_i8 closing = p > zero;
            least = rh_f8_select(
                closing, rh_f8_min(least, (at(s->x + c) - bound_at(s, c)) / rh_f8_select(closing, p, rh_f8_all(1))),
                least);
        }
        s->sums[BEGIN][n] = slope;
        float first = FLT_MAX;
        for (int i = 0; i < 8; i++) first = least[i] < first ? least[i] : first;
        room[n] = (double)first;
    }
    *reach = FLT_MAX;
    for (int32_t n = 0; n < a->count; n++) *reach = room[n] < *reach ? room[n] : *reach;
    return total(s, BEGIN);
}

// out = max(l, x - step p) - x; returns g . out.
static double projected_step(solver *s, float step, float *out)
{
    const rh_poisson *a = s->a;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        double slope = 0;
        EACH_ROW(n)
        {
            int64_t c = (int64_t)n * a->cells + 8 * __builtin_ctzll(rows);
            rh_f8 move = only(bits_at(s->free, c), rh_f8_max(bound_at(s, c) - at(s->x + c), -step * at(s->p + c)));
            rh_f8_store(out + c, move);
            slope += (double)rh_f8_sum(move * at(s->g + c));
        }
        s->sums[BEGIN][n] = slope;
    }
    return total(s, BEGIN);
}

// --- the preconditioner ----------------------------------------------------------------------------------------------
// The bodies beside the operator, as far as they touch free cells.
static rh_code take_free_bodies(solver *s, rh_status *status)
{
    const rh_term *all = s->options->bodies->term;
    int32_t entries = 0, kept = 0;
    for (int32_t t = 0; t < all->tile_count; t++) entries += all->tiles[t].entry_end - all->tiles[t].entry_first;
    s->free_term = *all;
    s->free_term.tiles = rh_arena_take(s->arena, ((size_t)all->tile_count + 1) * sizeof *all->tiles, status);
    s->free_term.entries = rh_arena_take(s->arena, ((size_t)entries + 1) * sizeof *all->entries, status);
    if (!s->free_term.tiles || !s->free_term.entries) return RH_MEMORY;
    for (int32_t t = 0; t < all->tile_count; t++) {
        rh_term_tile *tile = &s->free_term.tiles[t];
        *tile = all->tiles[t];
        tile->entry_first = kept;
        for (int32_t e = all->tiles[t].entry_first; e < all->tiles[t].entry_end; e++) {
            int64_t c = (int64_t)tile->tile * s->a->cells + all->entries[e].cell;
            if (s->free[c >> 3] >> (c & 7) & 1) s->free_term.entries[kept++] = all->entries[e];
        }
        tile->entry_end = kept;
    }
    static const rh_pockets none = {0};
    s->free_bodies = *s->options->bodies;
    s->free_bodies.term = &s->free_term;
    s->preconditioner.bodies = kept ? &s->free_bodies : NULL;
    s->preconditioner.pockets = &none;
    return RH_OK;
}

// Made anew whenever the free set has changed. For multigrid that is a pass over the coefficients of tiles that are not
// plain, and the coarse levels'; a step has six passes over the finest level. An old one, its answer masked to the free
// set and r / diagonal where cells had come free since, is symmetric and positive definite too, but when 2 % of the
// cells might change before the next, a tank with bubbles of 16^3 to 48^3 cells took 33 to 60 steps instead of 18 to 23
// (both without the first guess below).
static rh_code prepare(solver *s, rh_arena_mark mark, rh_status *status)
{
    if (s->preconditioner.method->is_identity) return RH_OK;
    rh_free_operator_set(&s->on_free, s->free);
    if (s->on_free.changed == 0 && s->report->preparations > 0 && !s->unprepared) return RH_OK;
    s->unprepared = false;
    s->report->preparations++;
    rh_arena_restore(s->arena, mark);
    if (s->options->bodies) RH_TRY(take_free_bodies(s, status));
    return s->preconditioner.method->prepare(&s->preconditioner, s->arena, status);
}

// A cycle leaves rows without free cells as they were: z = 0 there. Returns z . q.
static double finish(solver *s)
{
    const rh_poisson *a = s->a;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        double sum = 0;
        EACH_ROW(n)
        {
            int64_t c = (int64_t)n * a->cells + 8 * __builtin_ctzll(rows);
            rh_f8 z = only(bits_at(s->free, c), at(s->z + c));
            rh_f8_store(s->z + c, z);
            sum += (double)rh_f8_sum(z * at(s->q + c));
        }
        s->sums[BEGIN][n] = sum;
    }
    return total(s, BEGIN);
}

// z = M r; returns z . q.
static double precondition(solver *s)
{
    rh_pockets_balance_free(&s->pockets, s->a, s->free, s->r);
    float *z = s->preconditioner.method->apply(&s->preconditioner, s->r, s->z, s->spare);
    if (z != s->z) {
        s->spare = s->z;
        s->z = z;
    }
    double along = finish(s);
    if (s->pockets.count == 0) return along;
    rh_pockets_balance_free(&s->pockets, s->a, s->free, s->z);
    rh_poisson_dot(s->a, s->z, s->q, s->sums[BEGIN]);
    return total(s, BEGIN);
}

// --- steps -----------------------------------------------------------------------------------------------------------
// p = the chopped gradient, which lives on active cells only.
static void take_chopped(const solver *s)
{
    const rh_poisson *a = s->a;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) EACH_ROW(n)
        {
            int64_t c = (int64_t)n * a->cells + 8 * __builtin_ctzll(rows);
            rh_i8 active = bits_at(a->unknown, c) & ~bits_at(s->free, c);
            rh_f8_store(s->p + c, only(active, rh_f8_min(at(s->g + c), rh_f8_all(0))));
        }
}

static void proportion(solver *s)
{
    take_chopped(s);
    double curvature = apply(s, s->p, s->q);
    // All of a pocket: nothing but its sum could stop it, and rh_pockets_relieve saw to that up to rounding.
    float step = (float)(curvature > 0 ? s->chopped2 / curvature : s->step);
    split(s, step, -step, s->q);
    s->report->proportionings++;
}

static void expand_by_gradient(solver *s, double reach)
{
    split(s, (float)reach, -(float)reach, s->q);
    memcpy(s->p, s->r, rh_poisson_values(s->a) * sizeof(float));
    split(s, (float)s->step, 0, NULL);
    refresh(s);
}

// Takes the projected step if it ends lower than the feasible part of it.
static bool expand_by_projection(solver *s, double step, double reach, double slope, double curvature)
{
    double begin = projected_step(s, (float)step, s->z), bend = apply(s, s->z, s->spare);
    double feasible = reach * (0.5 * reach * curvature - slope);
    if (!(begin + 0.5 * bend < feasible)) return false;
    split(s, (float)step, 1, s->spare);
    return true;
}

// A conjugate gradient step in the face, or an expansion. *curvature: p.Ap of the last step, 0 to begin anew.
static rh_code proceed(solver *s, double *curvature, rh_arena_mark mark, rh_status *status)
{
    double reach, old = *curvature;
    if (rh_pockets_lower(&s->pockets, s->a, s->lower, s->g, s->x)) {
        refresh(s);
        s->report->expansions++;
        *curvature = 0;
        return RH_OK;
    }
    RH_TRY(prepare(s, mark, status));
    double along = precondition(s), slope = turn(s, old > 0 ? (float)(-along / old) : 0, &reach);
    *curvature = apply(s, s->p, s->q);
    if (!(slope > 0) ||
        !(*curvature > 0)) {  // exhausted, down to rounding; a direction of no use is left for the gradient
        *curvature = 0;
        expand_by_gradient(s, 0);
        s->report->expansions++;
        return RH_OK;
    }
    double step = slope / *curvature;
    if (step <= reach) {
        split(s, (float)step, -(float)step, s->q);
        s->report->cg++;
        return RH_OK;
    }
    if (s->options->expansion != RH_EXPANSION_PROJECTED || !expand_by_projection(s, step, reach, slope, *curvature))
        expand_by_gradient(s, reach);
    s->report->expansions++;
    *curvature = 0;
    return RH_OK;
}

// --- the whole -------------------------------------------------------------------------------------------------------
static rh_code take_memory(solver *s, rh_status *status)
{
    const rh_poisson *a = s->a;
    float **vectors[] = {&s->r, &s->p, &s->q, &s->z, &s->spare};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = rh_poisson_vector(a, s->arena, status))) return RH_MEMORY;
    for (int i = 0; i < SUMS; i++)
        if (!(s->sums[i] = rh_arena_take(s->arena, ((size_t)a->count + 1) * sizeof(double), status))) return RH_MEMORY;
    s->free = rh_arena_take_zero(s->arena, ((size_t)a->count + 1) * (size_t)a->cells / 8, status);
    if (!s->free) return RH_MEMORY;
    // The identity needs no face; it is given the operator for its size.
    bool none = rh_precondition_methods[s->options->preconditioner].is_identity;
    if (!none) RH_TRY(rh_free_operator_init(&s->on_free, a, s->arena, status));
    return rh_preconditioner_init(&s->preconditioner, s->options->preconditioner, none ? a : &s->on_free.a, s->arena,
                                  status);
}

static double largest_diagonal(const solver *s)
{
    const rh_poisson *a = s->a;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        const float *diagonal = rh_poisson_block(a, n);
        double most = 0;
        EACH_ROW(n)
        for (int i = 0; i < 8; i++) {
            int c = 8 * __builtin_ctzll(rows) + i;
            if (a->unknown[((int64_t)n * a->cells + c) >> 3] >> i & 1) most = fmax(most, (double)diagonal[c]);
        }
        s->sums[BEGIN][n] = most;
    }
    return rh_max(s->sums[BEGIN], a->count);
}

// Power iteration from a start that holds all frequencies; p and q are scratch.
static double estimate_norm(solver *s, double bound)
{
    const rh_poisson *a = s->a;
    double last = 0;
    for (int64_t c = 0; c < (int64_t)a->count * a->cells; c++)
        s->p[c] = a->unknown[c >> 3] >> (c & 7) & 1
                      ? (float)((c * 2654435761u >> 7 & 1023) / 1023.0 + ((c ^ c >> 3 ^ c >> 6) & 1 ? 1 : -1))
                      : 0;
    for (int i = 0; i < 200; i++) {
        rh_poisson_dot(a, s->p, s->p, s->sums[BEGIN]);
        double length = total(s, BEGIN), found = apply(s, s->p, s->q) / length;
        if (!(length > 0)) return bound;
        bool done = fabs(found - last) <= 1e-3 * found;
        last = found;
        if (done) break;
        rh_poisson_clear(a, s->p);
        rh_poisson_cg_direction(a, 0, s->q, s->p);
        float scale = (float)(1 / found);
        EACH_TILE
        for (int32_t n = 0; n < a->count; n++)
            for (int64_t c = (int64_t)n * a->cells; c < (int64_t)(n + 1) * a->cells; c++) s->p[c] *= scale;
    }
    return fmin(bound, 1.05 * last);
}

// x = max(l, first guess), 0 where nothing is unknown. `guess` NULL: l, or 0 where there is no bound.
static void lift(const solver *s, bool guess)
{
    const rh_poisson *a = s->a;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++)
        for (int r = 0; r < a->cells / 8; r++) {
            int64_t c = (int64_t)n * a->cells + 8 * r;
            rh_f8 l = bound_at(s, c),
                  x = guess ? rh_f8_max(at(s->x + c), l) : rh_f8_select(l > -FLT_MAX, l, rh_f8_all(0));
            rh_f8_store((guess ? s->x : s->p) + c, only(bits_at(a->unknown, c), x));
        }
    memset(s->x + (int64_t)a->count * a->cells, 0, (size_t)a->cells * sizeof(float));
}

// The size of the problem: the norm of the gradients at the bound (at 0 where there is none), |min(b, 0)| for l = 0.
// That point is left in p.
static double reference(solver *s)
{
    float *x = s->x;
    lift(s, false);
    s->x = s->p;
    refresh(s);
    s->x = x;
    return sqrt(s->free2 + s->chopped2);
}

static double length2(const solver *s, const float *v)
{
    rh_poisson_dot(s->a, v, v, s->sums[BEGIN]);
    return total(s, BEGIN);
}

// Rounding of x alone makes gradients of this size: no float comes nearer.
static double rounding(const solver *s) { return (double)FLT_EPSILON * s->report->norm * sqrt(length2(s, s->x)); }

static bool is_done(const solver *s, double slack)
{
    double left = sqrt(s->free2 + s->chopped2);
    return left <= s->options->tolerance * s->reference + slack ||
           (s->options->largest > 0 && s->largest <= s->options->largest);
}

// Most solves are done long before this many steps. One that is not gets another preconditioner, where the table knows
// a better one (solve/precondition.c).
enum { STEPS_WITH_ONE = 200 };

static rh_code take_up_another(solver *s, rh_arena_mark *mark, rh_status *status)
{
    rh_arena_restore(s->arena, *mark);
    RH_TRY(
        rh_preconditioner_init(&s->preconditioner, s->preconditioner.method->instead, &s->on_free.a, s->arena, status));
    *mark = rh_arena_save(s->arena);
    s->unprepared = true;
    return RH_OK;
}

// Computed afresh, g is off the recursion by the rounding of x, which no further step can mend: once the recursion is
// there, and for a first guess (the last answer of a world at rest), that much is let pass.
static rh_code iterate(solver *s, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(s->arena);
    double curvature = 0;
    while (s->products < s->options->max_iterations) {
        const rh_precondition_method *method = s->preconditioner.method;
        if (method->instead != method->which && s->level == 0 && s->products > STEPS_WITH_ONE) {
            RH_TRY(take_up_another(s, &mark, status));
            curvature = 0;
        }
        bool reached = is_done(s, 0) || s->report->iterations == 0;
        if (s->since > 0 && (reached || s->since >= REFRESH))
            refresh(s);  // x stays, and with it the face: the direction goes on
        if (reached && is_done(s, rounding(s))) return s->report->converged = true, RH_OK;
        if (s->chopped2 <= PROPORTION * s->reduced) {
            RH_TRY(proceed(s, &curvature, mark, status));
        } else {
            proportion(s);
            curvature = 0;
        }
        s->since++;
        s->report->iterations++;
        if (!isfinite(s->free2 + s->chopped2))
            return rh_fail(status, RH_NUMERIC, "the complementarity solve produced values that are not finite");
    }
    if (s->since > 0) refresh(s);
    s->report->converged = is_done(s, rounding(s));
    return RH_OK;
}

// --- the first guess -------------------------------------------------------------------------------------------------
// Proportioning sets cells free one layer at a time: where a pressurised region has to grow by many cells, steps grow
// with resolution. So the problem is solved on coarse levels first, roughly, each starting from the coarser one (nested
// iteration), where layers are thick. What comes up is a staircase and is smoothed by projected Jacobi steps (of weight
// 2/3: a lower energy each); it is taken if its energy is below that of the guess that was given. A guess within NEAR
// of the solution is left alone.
//
// Steps to 1e-6 from x = 0 in tanks of 16^3, 32^3, 48^3 and 64^3 cells, three quarters full (tests/unit/test_mprgp.c):
//                               without            with             MIC(0), without
//   fall stopped, bubbles      18 22 23 23         8  9  9  9        37  58  78 118
//   overfull at random         13 14 14 14         6  6  7  7        29  42  65  72
//   half of it compressed      26 46 54 64         6  9  9 11        47  93 121 193
// At 32^3 and 64^3: no smoothing 22 12, 7 7, 12 11 (the staircase lost to x = 0 once); one 10 9, 7 7, 9 11; four 9 10,
// 6 7, 9 9. A tolerance of 0.1 or 1e-3 on coarse levels: one more or the same. Gamma squared 0.1 or 10 instead of 1:
// one more or less; before there was a first guess 100 took a third more. A primal-dual active set from all cells free
// was not tried: from inside it grows by layers, too.
static const double NEAR = 0.1, COARSE_TOLERANCE = 1e-2;
enum { SMOOTHINGS = 2, COARSE_PRODUCTS = 60 };

static rh_code solve(solver *s, float *b, rh_status *status);

// z = max(l, z - weight D^-1 (A z + b)).
static void smooth_guess(solver *s, float weight)
{
    const rh_poisson *a = s->a;
    if (weight > 0) apply(s, s->z, s->q);
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        const float *diagonal = rh_poisson_block(a, n);
        EACH_ROW(n)
        {
            int row = 8 * __builtin_ctzll(rows);
            int64_t c = (int64_t)n * a->cells + row;
            rh_f8 z = at(s->z + c);
            if (weight > 0) z -= weight * (at(s->q + c) + at(s->b + c)) / at(diagonal + row);
            rh_f8_store(s->z + c, only(bits_at(a->unknown, c), rh_f8_max(z, bound_at(s, c))));
        }
    }
}

// Energy of z less that of x.
static double energy_of_guess(solver *s)
{
    const rh_poisson *a = s->a;
    apply(s, s->z, s->q);
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        double sum = 0;
        EACH_ROW(n)
        {
            int64_t c = (int64_t)n * a->cells + 8 * __builtin_ctzll(rows);
            sum += (double)rh_f8_sum((at(s->z + c) - at(s->x + c)) * (at(s->g + c) + at(s->q + c) + at(s->b + c)));
        }
        s->sums[BEGIN][n] = 0.5 * sum;
    }
    return total(s, BEGIN);
}

static rh_code solve_coarser(solver *s, rh_status *status)
{
    const rh_level *coarse = &s->whole->levels[s->level + 1];
    rh_mprgp_options options = {
        .tolerance = COARSE_TOLERANCE, .max_iterations = COARSE_PRODUCTS, .expansion = s->options->expansion};
    rh_mprgp_report report = {0};
    float *lower = NULL;
    if (s->lower && !(lower = rh_poisson_vector(&coarse->a, s->arena, status))) return RH_MEMORY;
    if (lower) rh_multigrid_restrict_bound(s->whole, s->level, s->lower, lower);
    rh_multigrid_restrict(s->whole, s->level, s->b, coarse->b);
    solver t = {.a = &coarse->a,
                .b = coarse->b,
                .lower = lower,
                .x = coarse->x,
                .g = coarse->y,
                .options = &options,
                .report = &report,
                .arena = s->arena,
                .whole = s->whole,
                .level = s->level + 1};
    rh_code code = solve(&t, coarse->b, status);
    if (code != RH_OK) return code;
    rh_poisson_clear(s->a, s->z);
    rh_multigrid_prolong(s->whole, s->level, coarse->x, s->z);
    return RH_OK;
}

static rh_code guess(solver *s, rh_status *status)
{
    rh_multigrid own;
    rh_arena_mark mark = rh_arena_save(s->arena);
    refresh(s);
    if (!s->preconditioner.method->has_levels || is_done(s, NEAR * s->reference)) return RH_OK;
    if (!s->whole) {
        RH_TRY(rh_multigrid_create(&own, s->a, s->arena, status));
        s->whole = &own;
    }
    if (s->level + 1 < s->whole->count) {
        RH_TRY(solve_coarser(s, status));
        smooth_guess(s, 0);
        for (int i = 0; i < SMOOTHINGS; i++) smooth_guess(s, 0.67f);
        if (energy_of_guess(s) < 0) {
            memcpy(s->x, s->z, rh_poisson_values(s->a) * sizeof(float));
            refresh(s);
        }
    }
    rh_arena_restore(s->arena, mark);
    return RH_OK;
}

static double find_worst(const solver *s)
{
    const rh_poisson *a = s->a;
    EACH_TILE
    for (int32_t n = 0; n < a->count; n++) {
        double most = 0;
        EACH_ROW(n)
        {
            int64_t c = (int64_t)n * a->cells + 8 * __builtin_ctzll(rows);
            rh_f8 gap = only(bits_at(a->unknown, c), rh_f8_abs(rh_f8_min(at(s->x + c) - bound_at(s, c), at(s->g + c))));
            for (int i = 0; i < 8; i++) most = fmax(most, (double)gap[i]);
        }
        s->sums[BEGIN][n] = most;
    }
    return rh_max(s->sums[BEGIN], a->count);
}

static rh_code solve(solver *s, float *b, rh_status *status)
{
    rh_mprgp_report *report = s->report;
    RH_TRY(take_memory(s, status));
    rh_pockets all;
    RH_TRY(rh_pockets_find(&all, s->a, s->arena, status));
    RH_TRY(rh_pockets_unfelt(&all, s->options->term, &s->pockets, s->arena, status));
    rh_pockets_relieve(&s->pockets, s->a, s->lower, b);
    double bound = 2 * largest_diagonal(s) + rh_term_norm(s->options->term);
    report->norm = s->options->estimate_norm ? estimate_norm(s, bound) : bound;
    s->step = STEP / (report->norm > 0 ? report->norm : 1);
    rh_poisson_clear(s->a, s->g);
    s->reference = reference(s);
    s->products = 0;  // the cap is on the work of solving
    if (!isfinite(s->reference + length2(s, s->b)))
        return rh_fail(status, RH_NUMERIC, "the right-hand side of the complementarity solve is not finite");
    if (s->reference > 0) {
        lift(s, true);
        if (!isfinite(length2(s, s->x)))
            return rh_fail(status, RH_NUMERIC, "the first guess of the complementarity solve is not finite");
        RH_TRY(guess(s, status));
        RH_TRY(iterate(s, status));
        report->residual = sqrt(s->free2 + s->chopped2) / s->reference;
    } else {
        memcpy(s->x, s->p, rh_poisson_values(s->a) * sizeof(float));
    }
    report->worst = find_worst(s);
    return RH_OK;
}

rh_code rh_mprgp_solve(const rh_poisson *a, float *b, const float *lower, float *x, float *w,
                       const rh_mprgp_options *options, rh_arena *arena, rh_mprgp_report *report, rh_status *status)
{
    RH_ASSERT(b != x && x != w && b != w && options->max_iterations >= 0);
    *report = (rh_mprgp_report){.converged = true};
    rh_arena_mark mark = rh_arena_save(arena);
    solver s = {.a = a, .b = b, .lower = lower, .x = x, .g = w, .options = options, .report = report, .arena = arena};
    rh_code code = solve(&s, b, status);
    rh_arena_restore(arena, mark);
    return code;
}
