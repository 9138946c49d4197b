// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A step of viscosity between two projections (C. Batty, R. Bridson, "Accurate viscous free surfaces for buckling,
// coiling, and rotating liquids", SCA 2008): it needs velocities without divergence, or the stress of what pressure is
// about to take away would act first (a pool would hang on its walls), and leaves some. What the second projection
// changes then has no stress: an error that grows with the step.
//
// With several turns the second pressure p and viscosity hold at once, a step of Stokes flow (E. Larionov, C. Batty, R.
// Bridson, "Variational Stokes: a unified pressure-viscosity solver for accurate viscous liquids", ACM TOG 36(4),
// 2017):
//
//      (M + K) u + B^T p = M u*        M: masses of faces (what their particles weigh), K: viscosity, B: divergence
//      B u               = 0
//
// with dynamic solids among the u. Eliminating u leaves S p = B (M + K)^-1 M u*, S = B (M + K)^-1 B^T, symmetric and
// positive: conjugate gradients, a viscosity solve each (a turn), preconditioned as physics/viscous_inertia.h says.
// What is left in the end a last projection takes away.
//
// The pressure p pushes the masses that viscosity has, not those of the projection (the liquid part of the way to the
// surface, which may be a hundredth of what the particles there weigh). When it was subtracted as in a projection the
// system was not symmetric, light faces of the surface got velocities that viscosity then took back, and the particles,
// whose changes by pressure alone are weighed (physics/momentum_error.h), kept a part of them: a falling sheet of 100
// Pa s flung particles at 14 m/s. Now p belongs to what viscosity does.
#include "physics/viscous_turns.h"

#include <math.h>

#include <string.h>
#include "base/parallel.h"
#include "physics/viscous_inertia.h"

static const float NEXT_FACES = 2;    // cells beyond the liquid where velocities must be known
static const double ROUNDING = 3e-7;  // of an inflow: several faces, each a sum of several terms
static const double ROUGHEST = 1e-2;  // relative residual of a viscosity solve

typedef struct turns {
    rh_viscosity_system *viscosity;
    size_t values;  // of the pressure
    int parts;      // of the solids
    rh_viscous_inertia inertia;
    float *first;   // the pressure before viscosity, as q
    float *second;  // that with viscosity; NULL = none
    // Pressure, inflow that is left, and before; the same preconditioned, direction; all as q.
    float *p, *r, *was, *z, *d, *spare;
    rh_faces push, answer;  // of the direction
    double *impulse, *gain,
        *speed;  // [6 solids]: the push on them, all that they get by it, and how fast it makes them
    double *sums;
} turns;

double rh_viscous_of_tile(const rh_incompressible_options *options, const rh_tiles *tiles, const rh_points *points,
                          int32_t t)
{
    uint32_t first = rh_tile_first(tiles, t), end = rh_tile_first(tiles, t + 1);
    if (!options->viscosity_varies || end == first) return options->viscosity;
    const float *of = rh_points_data(points, "viscosity", RH_POINT_F32);
    double sum = 0;
    for (uint32_t p = first; p < end; p++) sum += (double)of[p];
    return sum / (end - first);
}

// Particles without a viscosity of their own have the liquid's. Programs may write what they like: no more than pitch
// tenfold, which is the parameter's limit.
static void give_viscosity(const rh_viscous_step *s)
{
    if (!s->params->viscosity_varies) return;
    float *of = rh_points_data(s->points, "viscosity", RH_POINT_F32), given = (float)s->params->viscosity;
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < s->points->count; p++) of[p] = of[p] > 0 ? fminf(of[p], 1e9f) : given;
}

static void copy_faces(const rh_viscous_step *s, rh_faces from, rh_faces to)
{
    for (int a = 0; a < s->tiles->dimension; a++)
        memcpy(to.axis[a], from.axis[a], (size_t)rh_tiles_values(s->tiles) * sizeof(float));
}

static void add(int64_t count, float scale, const float *x, float *y)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) y[i] += scale * x[i];
}

static rh_viscosity law(const rh_viscous_step *s)
{
    rh_viscosity v = {.tiles = s->tiles,
                      .phi = s->surface->phi,
                      .cut = s->cut,
                      .obstacles = s->around->obstacles,
                      .viscosity = s->params->viscosity,
                      .weight = s->weight,
                      .per_cell = s->per_cell,
                      .density = s->params->density,
                      .time = (double)s->kick,
                      .tolerance = s->params->viscosity_tolerance,
                      .max_iterations = (int)s->params->max_iterations,
                      .to_walls = s->to_walls,
                      .preconditioner = (rh_precondition)s->params->preconditioner,
                      .fractions = (rh_fraction_kind)s->params->viscosity_fractions};
    if (s->params->viscosity_varies) v.of_particles = rh_points_data(s->points, "viscosity", RH_POINT_F32);
    if (s->around->dynamics) {
        v.dynamics = s->around->dynamics;
        v.owner = (const int16_t *const *)s->solids->owner;
        v.coupling = (rh_viscous_coupling)s->params->viscosity_coupling;
    }
    return v;
}

static rh_code count_solve(const rh_viscous_step *s, const rh_krylov_report *solve, rh_status *status)
{
    s->report->solve_count = s->report->solve_count > 1 ? s->report->solve_count : 1;
    s->report->solves[0].stage = "viscosity";
    s->report->solves[0].iterations += solve->iterations;
    s->report->solves[0].cg += solve->iterations;
    s->report->unconverged = !solve->converged;
    if (solve->converged) return RH_OK;
    return rh_fail(status, RH_NUMERIC,
                   "the viscosity solve did not converge: relative residual %.2e after %d iterations (asked for %.2e); "
                   "try a larger physics.%s.max_iterations",
                   solve->residual, solve->iterations, s->params->viscosity_tolerance, s->name);
}

// --- turns -----------------------------------------------------------------------------------------------------------
static rh_code take_memory(const rh_viscous_step *s, turns *t, rh_status *status)
{
    const rh_poisson *matrix = &s->pressure->matrix;
    float **vectors[] = {&t->p, &t->r, &t->was, &t->z, &t->d, &t->spare};
    for (int n = 0; n < 6; n++) {
        *vectors[n] = rh_poisson_vector(matrix, s->arena, status);
        if (!*vectors[n]) return RH_MEMORY;
    }
    RH_TRY(rh_faces_new(&t->push, s->tiles, false, s->arena, status));
    RH_TRY(rh_faces_new(&t->answer, s->tiles, false, s->arena, status));
    int64_t blocks = rh_blocks(rh_tiles_values(s->tiles)) + matrix->count + 1;
    t->sums = rh_arena_take(s->arena, (size_t)blocks * sizeof *t->sums, status);
    if (s->around->dynamics) t->parts = s->around->dynamics->count * RH_DYNAMICS_PARTS;
    t->impulse = rh_arena_take_zero(s->arena, ((size_t)t->parts + 1) * sizeof *t->impulse, status);
    t->gain = rh_arena_take_zero(s->arena, ((size_t)t->parts + 1) * sizeof *t->gain, status);
    t->speed = rh_arena_take_zero(s->arena, ((size_t)t->parts + 1) * sizeof *t->speed, status);
    return t->sums && t->impulse && t->gain && t->speed ? RH_OK : RH_MEMORY;
}

static double product(const rh_viscous_step *s, const turns *t, const float *x, const float *y)
{
    const rh_poisson *matrix = &s->pressure->matrix;
    rh_poisson_dot(matrix, x, y, t->sums);
    return rh_sum(t->sums, matrix->count);
}

// The next direction, from the inflow r that is left; returns the part that is left, r . z. The share of the direction
// before takes what r was then, which is only orthogonal to the new z where answers are exact (G. H. Golub, Q. Ye,
// "Inexact preconditioned conjugate gradient method with inner-outer iteration", SIAM J. Sci. Comput. 21, 1999): with
// liquids of 1e-3 and 1e3 Pa s side by side turns grew again after the eighteenth, without bound.
static double turn_to(const rh_viscous_step *s, turns *t, double before)
{
    const rh_pressure *p = s->pressure;
    float *was = t->was;
    t->was = t->r, t->r = was;
    rh_pressure_inflow(p, s->velocity, t->r);
    rh_pockets_balance(&p->unfelt, &p->matrix, t->r);
    rh_viscous_inertia_precondition(&t->inertia, t->r, t->z, t->spare);
    double left = product(s, t, t->r, t->z);
    double along = before > 0 ? (left - product(s, t, t->was, t->z)) / before : 0;
    rh_poisson_cg_direction(&p->matrix, (float)along, t->z, t->d);
    return left;
}

// How velocities answer the pressure d, and the work of d on them, d . S d. What is a small part of all may be less
// accurate by as much (V. Simoncini, D. B. Szyld, "Theory of inexact Krylov subspace methods and applications to
// scientific computing", SIAM J. Sci. Comput. 25, 2003).
static rh_code find_answer(const rh_viscous_step *s, turns *t, double part, double *work, rh_status *status)
{
    rh_krylov_report solve;
    int64_t values = rh_tiles_values(s->tiles);
    rh_pressure_push(s->pressure, t->d, t->push);
    if (t->parts) rh_solid_coupling_impulse(s->solids, t->d, 1, t->impulse);
    memcpy(t->gain, t->impulse, (size_t)t->parts * sizeof *t->gain);
    for (int a = 0; a < s->tiles->dimension; a++) memset(t->answer.axis[a], 0, (size_t)values * sizeof(float));
    double tolerance = fmin(s->params->viscosity_tolerance / part, ROUGHEST);
    RH_TRY(rh_viscosity_answer(t->viscosity, t->push, t->gain, tolerance, t->answer, s->arena, &solve, status));
    RH_TRY(count_solve(s, &solve, status));
    *work = 0;
    for (int a = 0; a < s->tiles->dimension; a++)
        *work += rh_krylov_dot(values, t->push.axis[a], t->answer.axis[a], t->sums);
    if (t->parts) rh_dynamics_respond(s->around->dynamics, t->gain, t->speed);
    for (int k = 0; k < t->parts; k++) *work += t->impulse[k] * t->speed[k] / s->solids->mass;
    return RH_OK;
}

static void go(const rh_viscous_step *s, turns *t, double way)
{
    add((int64_t)t->values, (float)way, t->d, t->p);
    for (int a = 0; a < s->tiles->dimension; a++)
        add(rh_tiles_values(s->tiles), (float)way, t->answer.axis[a], s->velocity.axis[a]);
    for (int k = 0; k < t->parts; k++) t->gain[k] *= way;
    if (!t->parts) return;
    rh_dynamics_give(s->around->dynamics, t->gain, true);
    rh_solid_coupling_follow(s->solids);
}

// Walls get of the pressure p what faces beside them do not. (Of a projection's they get what particles do not take,
// world/wall_impulses.h: its masses are not what these weigh.)
static void press_walls(const rh_viscous_step *s, const turns *t)
{
    const rh_pressure *p = s->pressure;
    if (!s->to_walls.axis[0]) return;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t n = 0; n < s->tiles->count; n++) {
        if (s->cut->kind[n] == RH_TILE_FREE) continue;
        rh_rows q = rh_layout_rows(&p->layout, t->p, n);
        for (int a = 0; a < s->tiles->dimension; a++) {
            float pushed[RH_CELLS], *to = s->to_walls.axis[a] + (int64_t)n * s->tiles->cells;
            rh_pressure_pushed(p, n, a, pushed);
            for (int r = 0; r < s->tiles->cells / 8; r++) {
                rh_f8 taken = rh_f8_load(s->cut->open[a][n] + 8 * r) * rh_f8_load(pushed + 8 * r);
                rh_f8 given = (rh_f8_all(1) - taken) * (rh_row_below(&q, a, r) - rh_f8_load(q.here + 8 * r));
                rh_f8_store(to + 8 * r, rh_f8_load(to + 8 * r) + given);
            }
        }
    }
}

// What rounding of the velocities leaves of the inflow into cells, in the norm of precondition(): no turn finds less.
// (Turns that went on after it, of water in steps whose viscosity is almost nothing, had directions of nothing but
// rounding, and threw particles about.)
static double find_least(const rh_viscous_step *s, const turns *t)
{
    int cells = s->tiles->cells;
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < t->inertia.matrix.count; n++) {
        int64_t from = (int64_t)s->pressure->layout.listed[n] * cells;
        t->sums[n] = 0;
        for (int a = 0; a < s->tiles->dimension; a++)
            for (int c = 0; c < cells; c++) {
                double u = ROUNDING * (double)s->velocity.axis[a][from + c];
                t->sums[n] += (1 + (double)t->inertia.resistance[(int64_t)n * cells + c]) * u * u;
            }
    }
    return rh_sum(t->sums, t->inertia.matrix.count);
}

static void count_turn(const rh_viscous_step *s)
{
    s->report->solve_count = 2;
    s->report->solves[1].stage = "turns";
    s->report->solves[1].iterations++;
    s->report->solves[1].cg++;
}

// From velocities that viscosity has changed alone to those that fulfil both.
static rh_code take_turns(const rh_viscous_step *s, turns *t, rh_status *status)
{
    const rh_pressure *p = s->pressure;
    double before = 0, begun = 0, work, least, enough = s->params->turns_tolerance;
    RH_TRY(take_memory(s, t, status));
    RH_TRY(rh_viscous_inertia_prepare(&t->inertia, p, t->viscosity, s->arena, status));
    least = find_least(s, t);
    for (int n = 1; n < (int)s->params->viscosity_turns; n++) {
        double left = turn_to(s, t, before);
        if (n == 1) begun = left;
        if (!(left > fmax(enough * enough * begun, least))) break;
        count_turn(s);

        RH_TRY(find_answer(s, t, sqrt(left / begun), &work, status));
        if (!(work > 0)) break;  // nothing is left but rounding
        go(s, t, product(s, t, t->r, t->d) / work);
        before = left;
    }
    RH_TRY(rh_viscosity_show_walls(t->viscosity, s->velocity, s->arena, status));
    press_walls(s, t);
    return RH_OK;
}

static rh_code begin(rh_viscous_step *s, turns *t, rh_status *status)
{
    *t = (turns){.values = rh_poisson_values(&s->pressure->matrix)};
    t->first = rh_arena_take(s->arena, t->values * sizeof(float), status);
    if (!t->first) return RH_MEMORY;
    memcpy(t->first, s->pressure->q, t->values * sizeof(float));
    if (s->params->viscosity_turns == 1) return RH_OK;
    t->second = rh_arena_take(s->arena, t->values * sizeof(float), status);
    s->pressed = rh_arena_take(s->arena, t->values * sizeof(float), status);
    return t->second && s->pressed ? RH_OK : RH_MEMORY;
}

static rh_code thicken(rh_viscous_step *s, turns *t, rh_status *status)
{
    rh_krylov_report solve;
    rh_viscosity v = law(s);
    RH_TRY(rh_viscosity_prepare(&v, &t->viscosity, s->arena, status));
    RH_TRY(rh_faces_extend(s->tiles, s->surface->phi, s->cut->distance, NEXT_FACES, NULL, s->velocity, s->known,
                           s->arena, status));
    copy_faces(s, s->velocity, s->change);
    RH_TRY(rh_viscosity_relax(t->viscosity, s->velocity, s->arena, &solve, status));
    RH_TRY(count_solve(s, &solve, status));
    if (s->around->dynamics) rh_solid_coupling_follow(s->solids);
    if (s->params->viscosity_turns > 1) RH_TRY(take_turns(s, t, status));
    for (int a = 0; a < s->tiles->dimension; a++) {
        float *change = s->change.axis[a];
        const float *now = s->velocity.axis[a];
#pragma omp parallel for schedule(static)
        for (int64_t c = 0; c < rh_tiles_values(s->tiles); c++) change[c] = now[c] - change[c];
    }
    if (t->p) memcpy(t->second, t->p, t->values * sizeof(float));
    return RH_OK;
}

rh_code rh_viscous_act(rh_viscous_step *s, rh_status *status)
{
    turns t;
    give_viscosity(s);
    RH_TRY(begin(s, &t, status));
    rh_faces jump = s->pressure->jump;  // tension has acted
    rh_surface_tension *tension = s->pressure->tension;
    s->pressure->tension = NULL;
    s->pressure->jump = (rh_faces){0};
    rh_arena_mark mark = rh_arena_save(s->arena);
    RH_TRY(thicken(s, &t, status));
    rh_arena_restore(s->arena, mark);
    RH_TRY(s->project(s->user, status));
    s->pressure->tension = tension;
    s->pressure->jump = jump;
    // Together these pressures did what the observers and the particles see.
    add((int64_t)t.values, 1, t.first, s->pressure->q);
    if (!t.second) return RH_OK;
    memcpy(s->pressed, s->pressure->q, t.values * sizeof(float));
    add((int64_t)t.values, 1, t.second, s->pressure->q);
    return RH_OK;
}
