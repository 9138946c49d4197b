// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A step of viscosity between two projections (C. Batty, R. Bridson, "Accurate viscous free surfaces for buckling,
// coiling, and rotating liquids", SCA 2008): it needs velocities without divergence, or the stress of what pressure is
// about to take away would act first (a pool would hang on its walls), and leaves some. What the second projection
// changes then has no stress: an error that grows with the step.
//
// With several turns the pressure p is sought with which viscosity leaves no divergence. From p a turn finds the
// divergence r(p) that viscosity leaves, linear in p, and q with A q = r (the projection). Where p should change is
//
//      z = q + 2 mu dt / (rho h^2) r
//
// exact for viscosity of no weight and of great weight, away from boundaries (J. Cahouet, J.-P. Chabard, "Some fast 3D
// finite element solvers for the generalized Stokes problem", Int. J. Numer. Methods Fluids 8, 1988). How far, and what
// to take back of the direction before, follows from r . q being least, which is twice the kinetic energy of what the
// projection still takes away: conjugate residuals (S. C. Eisenstat, H. C. Elman, M. H. Schultz, SIAM J. Numer. Anal.
// 20, 1983, truncated to one direction). As all is linear in p, a turn's velocities are combined, not found again.
// (Just p += z, without lengths, swung about the solution: a sinking disc at 1.00, 0.96, 0.98 of Stokes' speed after 3,
// 5, 8 turns.)
#include "physics/viscous_turns.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "physics/viscosity.h"

static const float NEXT_FACES = 2;    // cells beyond the liquid where velocities must be known
static const double ENOUGH = 1e-3;    // of the velocity that the first projection after viscosity took away
static const double LONGEST_WAY = 2;  // in units of z

// What a pressure leads to, or the difference of two.
typedef struct outcome {
    float *p, *r, *q;           // the pressure, the divergence left, and what takes it away
    rh_faces velocity, change;  // m/s: after it was; what viscosity did
    rh_faces to_walls;          // of the step, or nothing
    double *solids;             // [12 solids]: their velocities and what they were given; NULL = none
} outcome;

typedef struct turns {
    size_t values;  // of the pressure
    int parts;      // of the solids
    float *first;   // the pressure before viscosity, as q
    double *sums;
    outcome start, now, way, try;  // start: velocity and solids alone, before viscosity. way: the last direction
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

static void add(int64_t count, double scale, const float *x, float *y)
{
    float by = (float)scale;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) y[i] += by * x[i];
}

// --- one solve -------------------------------------------------------------------------------------------------------
static rh_code solve(const rh_viscous_step *s, rh_status *status)
{
    rh_krylov_report solve;
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
    RH_TRY(rh_faces_extend(s->tiles, s->surface->phi, s->cut->distance, NEXT_FACES, NULL, s->velocity, s->known,
                           s->arena, status));
    copy_faces(s, s->velocity, s->change);
    RH_TRY(rh_viscosity_act(&v, s->velocity, s->arena, &solve, status));
    if (s->around->dynamics) rh_solid_coupling_follow(s->solids);
    for (int a = 0; a < s->tiles->dimension; a++) {
        float *change = s->change.axis[a];
        const float *now = s->velocity.axis[a];
#pragma omp parallel for schedule(static)
        for (int64_t c = 0; c < rh_tiles_values(s->tiles); c++) change[c] = now[c] - change[c];
    }
    s->report->solve_count = 1;
    s->report->solves[0].stage = "viscosity";
    s->report->solves[0].iterations += solve.iterations;
    s->report->solves[0].cg += solve.iterations;
    s->report->unconverged = !solve.converged;
    if (solve.converged) return RH_OK;
    return rh_fail(status, RH_NUMERIC,
                   "the viscosity solve did not converge: relative residual %.2e after %d iterations (asked for %.2e); "
                   "try a larger physics.%s.max_iterations",
                   solve.residual, solve.iterations, v.tolerance, s->name);
}

// --- turns -----------------------------------------------------------------------------------------------------------
static rh_code take_outcome(const rh_viscous_step *s, const turns *t, bool complete, outcome *o, rh_status *status)
{
    RH_TRY(rh_faces_new(&o->velocity, s->tiles, true, s->arena, status));
    if (t->parts) {
        o->solids = rh_arena_take_zero(s->arena, 2 * (size_t)t->parts * sizeof(double), status);
        if (!o->solids) return RH_MEMORY;
    }
    if (!complete) return RH_OK;
    RH_TRY(rh_faces_new(&o->change, s->tiles, true, s->arena, status));
    if (s->to_walls.axis[0]) RH_TRY(rh_faces_new(&o->to_walls, s->tiles, true, s->arena, status));
    float **vectors[] = {&o->p, &o->r, &o->q};
    for (int n = 0; n < 3; n++) {
        *vectors[n] = rh_poisson_vector(&s->pressure->matrix, s->arena, status);
        if (!*vectors[n]) return RH_MEMORY;
    }
    return RH_OK;
}

static void keep_solids(const rh_viscous_step *s, const turns *t, double *to)
{
    if (!to) return;
    memcpy(to, s->around->dynamics->velocity, (size_t)t->parts * sizeof(double));
    memcpy(to + t->parts, s->around->dynamics->given, (size_t)t->parts * sizeof(double));
}

static void set_solids(const rh_viscous_step *s, const turns *t, const double *from)
{
    if (!from) return;
    memcpy(s->around->dynamics->velocity, from, (size_t)t->parts * sizeof(double));
    memcpy(s->around->dynamics->given, from + t->parts, (size_t)t->parts * sizeof(double));
    rh_solid_coupling_follow(s->solids);
}

static rh_code begin(const rh_viscous_step *s, turns *t, rh_status *status)
{
    *t = (turns){.values = rh_poisson_values(&s->pressure->matrix)};
    t->first = rh_arena_take(s->arena, t->values * sizeof(float), status);
    if (!t->first) return RH_MEMORY;
    memcpy(t->first, s->pressure->q, t->values * sizeof(float));
    if (s->params->viscosity_turns == 1) return RH_OK;
    if (s->around->dynamics) t->parts = s->around->dynamics->count * RH_DYNAMICS_PARTS;
    t->sums = rh_arena_take(s->arena, ((size_t)s->pressure->matrix.count + 1) * sizeof *t->sums, status);
    if (!t->sums) return RH_MEMORY;
    RH_TRY(take_outcome(s, t, false, &t->start, status));
    RH_TRY(take_outcome(s, t, true, &t->now, status));
    RH_TRY(take_outcome(s, t, true, &t->way, status));
    RH_TRY(take_outcome(s, t, true, &t->try, status));
    copy_faces(s, s->velocity, t->start.velocity);
    keep_solids(s, t, t->start.solids);
    return RH_OK;
}

// What was found with the pressure o->p.
static void keep(const rh_viscous_step *s, const turns *t, outcome *o)
{
    const rh_pressure *p = s->pressure;
    memcpy(o->q, p->q, t->values * sizeof(float));
    rh_poisson_apply(&p->matrix, o->q, o->r, NULL);
    if (p->solids) rh_term_apply(&p->solids->term, s->tiles->cells, o->q, o->r);
    copy_faces(s, s->velocity, o->velocity);
    copy_faces(s, s->change, o->change);
    if (o->to_walls.axis[0]) copy_faces(s, s->to_walls, o->to_walls);
    keep_solids(s, t, o->solids);
}

// y += scale x
static void add_outcome(const rh_viscous_step *s, const turns *t, double scale, const outcome *x, outcome *y)
{
    int64_t values = (int64_t)t->values;
    add(values, scale, x->p, y->p);
    add(values, scale, x->r, y->r);
    add(values, scale, x->q, y->q);
    for (int a = 0; a < s->tiles->dimension; a++) {
        add(rh_tiles_values(s->tiles), scale, x->velocity.axis[a], y->velocity.axis[a]);
        add(rh_tiles_values(s->tiles), scale, x->change.axis[a], y->change.axis[a]);
        if (x->to_walls.axis[0]) add(rh_tiles_values(s->tiles), scale, x->to_walls.axis[a], y->to_walls.axis[a]);
    }
    for (int k = 0; k < 2 * t->parts; k++) y->solids[k] += scale * x->solids[k];
}

static double dot(const rh_viscous_step *s, const turns *t, const float *x, const float *y)
{
    rh_poisson_dot(&s->pressure->matrix, x, y, t->sums);
    return rh_sum(t->sums, s->pressure->matrix.count);
}

// The pressure to try: that of now and z.
static void choose(const rh_viscous_step *s, turns *t)
{
    const rh_pressure *p = s->pressure;
    int cells = s->tiles->cells;
    for (int32_t n = 0; n < p->layout.count; n++) {
        double mu = rh_viscous_of_tile(s->params, s->tiles, s->points, p->layout.listed[n]);
        float weight = (float)(2 * mu * (double)s->kick / (s->params->density * s->around->cell * s->around->cell));
        for (int64_t c = (int64_t)n * cells; c < (int64_t)(n + 1) * cells; c++)
            t->try.p[c] = t->now.p[c] + t->now.q[c] + weight * t->now.r[c];
    }
}

// Viscosity and projection from the start with the pressure `try.p`.
static rh_code try_pressure(rh_viscous_step *s, turns *t, rh_status *status)
{
    rh_pressure *p = s->pressure;
    copy_faces(s, t->start.velocity, s->velocity);
    memcpy(p->q, t->try.p, t->values * sizeof(float));
    set_solids(s, t, t->start.solids);
    if (t->parts) rh_solid_coupling_give(s->solids, p->q, 1);
    rh_pressure_subtract_gradient(p, s->velocity, s->known);
    memset(p->q, 0, t->values * sizeof(float));
    RH_TRY(solve(s, status));
    RH_TRY(s->project(s->user, status));
    keep(s, t, &t->try);
    return RH_OK;
}

// From now along what was tried, as far as is best. False: nothing is left to do.
static bool go(const rh_viscous_step *s, turns *t, bool first)
{
    add_outcome(s, t, -1, &t->now, &t->try);
    if (!first) {
        double size = dot(s, t, t->way.r, t->way.q);
        if (size > 0) add_outcome(s, t, -dot(s, t, t->try.r, t->way.q) / size, &t->way, &t->try);
    }
    double size = dot(s, t, t->try.r, t->try.q), best = size > 0 ? -dot(s, t, t->now.r, t->try.q) / size : 0;
    if (!isfinite(best) || best <= 0) return false;
    add_outcome(s, t, fmin(best, LONGEST_WAY), &t->try, &t->now);
    outcome swap = t->way;
    t->way = t->try;
    t->try = swap;
    return true;
}

static rh_code take_turns(rh_viscous_step *s, turns *t, rh_status *status)
{
    keep(s, t, &t->now);
    double begun = dot(s, t, t->now.r, t->now.q);
    for (int n = 1; n < (int)s->params->viscosity_turns; n++) {
        double left = dot(s, t, t->now.r, t->now.q);
        if (!(left > ENOUGH * ENOUGH * begun)) break;
        choose(s, t);
        RH_TRY(try_pressure(s, t, status));
        if (!go(s, t, n == 1)) break;
    }
    copy_faces(s, t->now.velocity, s->velocity);
    copy_faces(s, t->now.change, s->change);
    if (s->to_walls.axis[0]) copy_faces(s, t->now.to_walls, s->to_walls);
    set_solids(s, t, t->now.solids);
    for (size_t c = 0; c < t->values; c++) s->pressure->q[c] = t->now.p[c] + t->now.q[c];
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
    RH_TRY(solve(s, status));
    RH_TRY(s->project(s->user, status));
    if (s->params->viscosity_turns > 1) RH_TRY(take_turns(s, &t, status));
    s->pressure->tension = tension;
    s->pressure->jump = jump;
    // Together these pressures did what the observers and the particles see.
    for (size_t c = 0; c < t.values; c++) s->pressure->q[c] += t.first[c];
    return RH_OK;
}
