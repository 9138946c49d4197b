// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One step of smoothed particles (T. Takahashi, algorithm 1; docs/theory/sph.md):
//      sort           by tile and cell, along a space-filling curve
//      samples        of the walls near particles                                           sph_walls.c
//      neighbours     lists, and densities on the way                                       sph_lists.c
//      accelerations  gravity and forces of the scene, artificial viscosity, tension        forces.c
//      viscosity      where there is any: stress changes the velocities                     viscosity.c
//      densities      at the end of the step, if nothing were done                          density.c
//      projection     the pressure that undoes what will be too dense             exact.c, isph.c, iisph.c, pull.c
//      motion         velocities, then places with them; what observers want to see         push.c, measure.c
//      contact        nobody in a solid, or beyond one                                      sph_contact.c
// Velocities are half a step behind places, as those of all methods (physics/step.h): with them the step of the source,
// forces first and places with the new velocities, is the leapfrog.
#include "physics/sph/sph.h"

#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "physics/inflow.h"
#include "physics/sph_contact.h"
#include "physics/sph/bodies.h"
#include "physics/sph/measure.h"
#include "physics/sph/pressure.h"
#include "physics/sph/viscosity.h"
#include "physics/sph/viscous_turns.h"
#include "physics/step.h"
#include "physics/time_step.h"

// Cells around particles: wall samples are seen within one, and their volumes depend on samples one more away, whose
// edges of the lattice begin up to a spacing before.
enum { MARGIN = 3 };
// Relative density: where particles are denser already (poured into each other), no more than this is undone in one
// step: all at once would throw them apart.
static const float MOST_DENSITY = 1.1f;

static const double GAP = 0.1;    // spacings that particles are kept from walls
static const double CLEAR = 0.6;  // supports: what sees no wall sample is farther from walls

typedef struct sph {
    const rh_sph_params *params;
    rh_sph_kernel kernel;
    rh_sph_viscous_law law;
    rh_sph_wall_cache *walls;
    rh_sph_lists lists;
    rh_arena arena;
} sph;

static void sph_destroy(void *self)
{
    sph *me = self;
    if (!me) return;
    rh_sph_wall_cache_free(me->walls);
    rh_sph_lists_free(&me->lists);
    rh_arena_free(&me->arena);
    rh_free(me);
}

static double spacing_of(const rh_sph_params *p, const rh_surroundings *around)
{
    return around->cell / (double)p->particles_per_axis;
}

static bool is_viscous(const rh_sph_params *p) { return p->viscosity > 0 || p->viscosity_varies; }

// m/s: the artificial viscosity (alpha c) that has as much effect as the liquid's own, a kinematic viscosity of alpha c
// h / (2 (dimension + 2)) (J. J. Monaghan, Rep. Prog. Phys. 68, 2005, equation 8.8). `support` is h, in m.
static double as_artificial(const rh_sph_params *p, int dimension, double support)
{
    return 2 * (dimension + 2) * p->viscosity / p->density / support;
}

// The isochoric kernel lets waves swing as they should. In thick liquids nothing swings, and wendland's keeps particles
// more even; in full vessels, where they lie less evenly, neither is better. In space water at rest
// still moves at 0.016 sqrt(g H) with it, and shows 1.08 of its pressure.
static const double THICK = 0.05;  // m/s, as the usual artificial viscosity
static rh_sph_kernel_kind kernel_of(const rh_sph_params *p, const rh_surroundings *around)
{
    if (p->kernel > 0) return (rh_sph_kernel_kind)(p->kernel - 1);
    bool thick = p->viscosity_varies || as_artificial(p, around->dimension, 2 * spacing_of(p, around)) > THICK;
    return thick || p->full || around->dimension == 3 ? RH_SPH_WENDLAND : RH_SPH_ISOCHORIC;
}

static rh_code sph_create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                          rh_status *status)
{
    const rh_sph_params *p = params;
    if (p->pull && around->obstacles->count > 0)
        return rh_fail(status, RH_USER,
                       "sph: found pull: true in a scene with solids; expected none, as water that pulls "
                       "bursts at walls");
    if (p->wall_term == RH_SPH_UNKNOWNS && around->dynamics)
        return rh_fail(status, RH_USER,
                       "sph: found walls: unknowns in a scene with dynamic solids; expected walls that rest or are "
                       "moved by the scene (regularised and mirrored go with all)");
    sph *me = rh_alloc_zero(sizeof *me, "sph", status);
    if (!me) return RH_MEMORY;
    *self = me;
    me->params = p;
    rh_arena_init(&me->arena, "sph.step");
    bool blends = p->solver == RH_SPH_ISPH;
    const rh_sph_kernel_options kernel = {
        .dimension = around->dimension,
        .spacing = spacing_of(p, around),
        .support = 2,
        .kind = kernel_of(p, around),
        .blend_from = blends ? p->blend_from : 1e9,
        .blend_to = blends ? p->blend_to : 1e9,
        .mirrored = p->solver == RH_SPH_EXACT,
    };
    rh_sph_kernel_init(&me->kernel, &kernel);
    rh_sph_viscous_law_init(&me->law, &me->kernel);
    if (p->viscosity_varies) RH_TRY(rh_points_add(points, "viscosity", RH_POINT_F32, status));
    RH_TRY(rh_sph_wall_cache_create(&me->walls, status));
    return rh_points_add(points, "pressure", RH_POINT_F32, status);
}

// --- how long a step may be ------------------------------------------------------------------------------------------
// Capillary waves two spacings long must not travel more than that (J. U. Brackbill et al., J. Comput. Phys. 100, 1992,
// equation 61).
static double tension_limit(const rh_sph_params *p, double spacing)
{
    if (p->surface_tension == 0) return 1e9;
    return 0.4 * sqrt(p->density * spacing * spacing * spacing / (2 * 3.14159265358979 * p->surface_tension));
}

// Artificial viscosity is for what the liquid's own does not damp.
static double artificial(const rh_sph_params *p, const rh_sph_kernel *k)
{
    return fmax(p->artificial_viscosity - as_artificial(p, k->dimension, (double)k->support), 0);
}
static double at_walls(const rh_sph_params *p) { return is_viscous(p) ? 0 : p->wall_viscosity; }

// Explicit viscosity: what a particle gives up in a step is no more than it has.
static double viscosity_limit(const sph *me, const rh_points *points)
{
    const rh_sph_params *p = me->params;
    double most = fmax(artificial(p, &me->kernel), at_walls(p)), limit = 1e9;
    if (most > 0) limit = 0.4 * (double)me->kernel.support / most;
    if (!is_viscous(p) || p->viscous_solver != RH_SPH_VISCOUS_EXPLICIT) return limit;
    double thickest = p->viscosity;
    const float *of = p->viscosity_varies ? rh_points_data(points, "viscosity", RH_POINT_F32) : NULL;
    for (int64_t i = 0; of && i < points->count; i++) thickest = fmax(thickest, (double)of[i]);
    return fmin(limit, p->density / (thickest * rh_sph_viscosity_stiffest(&me->law)));
}

// The longest step that the flow allows. Particles without pressure fly; they may go a spacing where others go 0.4:
// drops that an impact throws up at twice the speed of the flow must not make all of it take short steps. (A dam break
// of 15 616 particles: 496 steps in a second before, 27 a frame of these while they fly.) Where most are
// without pressure, at the start of a run or as a whole block falls, nobody may.
static const double FLIGHT = 2.5;

static double flow_limit(const sph *me, const rh_surroundings *around, const rh_points *points)
{
    const float *pressure = rh_points_data(points, "pressure", RH_POINT_F32);
    double travel = me->params->cfl * (double)me->kernel.support / around->cell;
    int64_t pressed = 0;
#pragma omp parallel for schedule(static) reduction(+ : pressed)
    for (int64_t i = 0; i < points->count; i++) pressed += pressure[i] > 0;
    if (2 * pressed < points->count) return rh_time_step_limit(travel, around, points);
    return rh_time_step_limit_in_flight(travel, FLIGHT, pressure, around, points);
}

// Particles under pressure that lie unevenly are pushed to even places, the faster the higher the pressure: with
// sqrt(q) as the speed of waves. Steps longer than a share of the time that such a wave takes from one particle to the
// next make water at rest boil; q is twice its mean, which in a tank is the pressure at the floor. Viscosity takes such
// motions down by 1 + (pi / d)^2 nu dt in a step, and the square of the step may be longer by as much: with honey there
// is no limit left. (Not so in full vessels, where the level of the pressure is free and what is shown of it follows
// its lowest error.)
static const double PRESSURE_CFL = 0.25;

// m^2/s: the least kinematic viscosity of any particle.
static double thinnest(const sph *me, const rh_points *points)
{
    const rh_sph_params *p = me->params;
    if (!is_viscous(p) || p->full || p->viscous_solver == RH_SPH_VISCOUS_EXPLICIT) return 0;
    const float *of = p->viscosity_varies ? rh_points_data(points, "viscosity", RH_POINT_F32) : NULL;
    double least = of ? 1e30 : p->viscosity;
    for (int64_t i = 0; of && i < points->count; i++) least = fmin(least, of[i] > 0 ? (double)of[i] : p->viscosity);
    return least / p->density;
}

static double pressure_limit(const sph *me, const rh_points *points)
{
    const float *pressure = rh_points_data(points, "pressure", RH_POINT_F32);
    double sum = 0;
    int64_t pressed = 0;
    for (int64_t i = 0; i < points->count; i++) sum += (double)pressure[i], pressed += pressure[i] > 0;
    if (!(sum > 0)) return 1e9;
    double q = 2 * sum / (double)pressed / me->params->density, spacing = (double)me->kernel.spacing;
    double wave = PRESSURE_CFL * spacing / sqrt(q), damping = 9.87 * thinnest(me, points) / (spacing * spacing);
    double half = 0.5 * wave * wave * damping;
    return half + sqrt(half * half + wave * wave);
}

static double sph_max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    const sph *me = self;
    const rh_sph_params *p = me->params;
    if (p->time_step > 0) return p->time_step;
    double step = fmin(flow_limit(me, around, points), pressure_limit(me, points));
    return fmin(step, fmin(tension_limit(p, (double)me->kernel.spacing), viscosity_limit(me, points)));
}

// Pa of a q of 1 m^2/s^2. Forces of sums of pressures are weaker on the lattice than they should be by as much as a
// gradient is, and pressures greater.
static float pressure_unit(const sph *me)
{
    return (float)me->params->density * (me->params->pull ? 1 : me->kernel.gradient);
}

// --- stages ----------------------------------------------------------------------------------------------------------
typedef struct step {
    sph *me;
    const rh_surroundings *around;
    rh_points *points;
    rh_step_report *report;
    double clock;
    float kick;
    rh_tiles tiles;
    rh_sph_walls walls;
    rh_sph_fluid fluid;
    float *x, *y, *z;
    bool *held;    // by inflows; NULL: none
    bool *sticky;  // solids without slip; NULL: none
    rh_sph_rubbed rubbed;
    float *turned;  // q of the turns of viscosity and pressure; NULL: none
    rh_vec3 *start;
} step;

// Iterations of two solves in a step, told apart.
static void tell(step *s, const char *of, int iterations)
{
    s->report->solves[s->report->solve_count++] = (rh_solve_report){
        .stage = of, .iterations = iterations, .cg = iterations};
    s->report->iterations += iterations;
}

static void stage(step *s, const char *name) { rh_step_stage(s->report, &s->clock, name); }

static rh_code take(step *s, rh_status *status)
{
    rh_sph_fluid *f = &s->fluid;
    rh_arena *arena = &s->me->arena;
    size_t padded = (size_t)s->points->count + 8, floats = padded * sizeof(float),
           blocks = (size_t)rh_blocks(s->points->count);
    *f = (rh_sph_fluid){.kernel = &s->me->kernel,
                        .walls = &s->walls,
                        .lists = &s->me->lists,
                        .tiles = &s->tiles,
                        .count = s->points->count,
                        .dt = f->dt,
                        .place = rh_arena_take(arena, 4 * floats, status),
                        .flow = rh_arena_take_zero(arena, 4 * floats, status),
                        .density = rh_arena_take(arena, floats, status),
                        .covered = rh_arena_take(arena, floats, status),
                        .excess = rh_arena_take(arena, floats, status),
                        .predicted = rh_arena_take(arena, floats, status),
                        .q = rh_arena_take_zero(arena, floats, status),
                        .push = rh_arena_take_zero(arena, 4 * floats, status),
                        .uneven = rh_arena_take_zero(arena, 4 * floats, status),
                        .sums = rh_arena_take(arena, 4 * (blocks + 1) * sizeof(double), status)};
    s->x = rh_arena_take(arena, floats, status);
    s->y = rh_arena_take(arena, floats, status);
    s->z = rh_arena_take(arena, floats, status);
    s->start = rh_arena_take(arena, padded * sizeof *s->start, status);
    return f->place && f->flow && f->density && f->covered && f->excess && f->predicted && f->q && f->push &&
                   f->uneven && f->sums && s->x && s->y && s->z && s->start
               ? RH_OK
               : RH_MEMORY;
}

// Copies of the particles in the layouts that the loops read.
static void fill(step *s)
{
    rh_sph_fluid *f = &s->fluid;
    const rh_vec3 *x = rh_points_data(s->points, "P", RH_POINT_VEC3F),
                  *v = rh_points_data(s->points, "v", RH_POINT_VEC3F);
    const float *pressure = rh_points_data(s->points, "pressure", RH_POINT_F32);
    float unit = 1 / pressure_unit(s->me), least = s->me->params->pull ? -INFINITY : 0;
    bool flat = s->around->dimension == 2;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) {
        s->start[i] = x[i];
        s->x[i] = x[i].x, s->y[i] = x[i].y, s->z[i] = flat ? 0 : x[i].z;
        memcpy(f->place + 4 * i, (const float[4]){s->x[i], s->y[i], s->z[i], 0}, 4 * sizeof(float));
        memcpy(f->flow + 4 * i, (const float[4]){v[i].x, v[i].y, flat ? 0 : v[i].z, 0}, 4 * sizeof(float));
        f->q[i] = rh_max_of(unit * pressure[i], least);
    }
    for (int64_t i = f->count; i < f->count + 8; i++) {
        s->x[i] = s->y[i] = s->z[i] = 1e15f;
        memcpy(f->place + 4 * i, (const float[4]){1e15f, 1e15f, 1e15f, 0}, 4 * sizeof(float));
    }
}

static rh_code find_neighbours(step *s, rh_status *status)
{
    const rh_sph_search search = {.kernel = &s->me->kernel,
                                  .tiles = &s->tiles,
                                  .obstacles = s->around->obstacles,
                                  .walls = &s->walls,
                                  .count = s->fluid.count,
                                  .x = s->x,
                                  .y = s->y,
                                  .z = s->z,
                                  .density = s->fluid.density,
                                  .covered = s->fluid.covered};
    return rh_sph_lists_build(&s->me->lists, &search, &s->me->arena, status);
}

// m^3/s^2 (in two dimensions m^2/s^2 times m): the attraction whose work of parting two halves of the liquid, per area,
// is twice the surface tension: for a force f(r) between particles of number density N
//      tension = pi / 8 N^2 int r^4 f dr  in space (J. G. Kirkwood, F. P. Buff, J. Chem. Phys. 17, 1949),
//      tension = 1 / 3 N^2 int r^3 f dr   in the plane,
// with f = attraction m r W(r).
static float attraction(const rh_sph_params *p, const rh_sph_kernel *k)
{
    double work = (double)k->cohesion * (k->dimension == 3 ? 1 : (double)k->spacing);
    return (float)(p->surface_tension / (p->density * work));
}

static rh_code hold_inflows(step *s, rh_status *status)
{
    rh_sph_fluid *f = &s->fluid;
    if (s->around->inflow_count == 0) return RH_OK;
    s->held = rh_arena_take_zero(&s->me->arena, (size_t)f->count + 1, status);
    if (!s->held) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) {
        rh_dvec3 velocity;
        s->held[i] = rh_inflow_at(s->around, rh_d3_from(s->start[i]), &velocity);
        if (!s->held[i]) continue;
        for (int a = 0; a < s->around->dimension; a++) f->flow[4 * i + a] = (float)(&velocity.x)[a];
    }
    return RH_OK;
}

static rh_code find_sticky(step *s, rh_status *status)
{
    const rh_obstacles *solids = s->around->obstacles;
    bool any = false;
    for (int i = 0; i < solids->count; i++) any = any || solids->items[i].wall == RH_WALL_NO_SLIP;
    if (!any) return RH_OK;
    s->sticky = rh_arena_take(&s->me->arena, (size_t)solids->count, status);
    for (int i = 0; s->sticky && i < solids->count; i++) s->sticky[i] = solids->items[i].wall == RH_WALL_NO_SLIP;
    return s->sticky ? RH_OK : RH_MEMORY;
}

static rh_code add_forces(step *s, rh_status *status)
{
    const rh_surroundings *around = s->around;
    const rh_sph_params *p = s->me->params;
    rh_sph_fluid *f = &s->fluid;
    RH_TRY(find_sticky(s, status));
    const rh_sph_forces forces = {(float)artificial(p, f->kernel), (float)at_walls(p), attraction(p, f->kernel)};
    rh_sph_add_forces(f, &forces, s->kick, s->sticky);
    double from = around->time - 0.5 * around->previous_dt, to = around->time + 0.5 * (double)f->dt;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) {
        rh_dvec3 g = around->gravity;
        if (around->acceleration) g = around->acceleration(rh_d3_from(s->start[i]), from, to, around->user);
        for (int a = 0; a < around->dimension; a++) f->flow[4 * i + a] += s->kick * (float)(&g.x)[a];
    }
    return hold_inflows(s, status);
}

// --- viscosity -------------------------------------------------------------------------------------------------------
// Friction at the walls of each solid: none with slip; with a slip length b as of a wall that is b farther away than
// half a spacing, where the lowest particles are.
static rh_code find_grips(step *s, float **out, float **spin, rh_status *status)
{
    const rh_obstacles *solids = s->around->obstacles;
    *out = NULL;
    if (!s->sticky) return RH_OK;
    float half = 0.5f * s->me->kernel.spacing;
    *out = rh_arena_take(&s->me->arena, (size_t)solids->count * sizeof **out, status);
    for (int i = 0; *out && i < solids->count; i++)
        (*out)[i] = s->sticky[i] ? half / (half + (float)solids->items[i].slip_length) : 0;
    *spin = rh_arena_take(&s->me->arena, 3 * (size_t)solids->count * sizeof **spin, status);
    for (int i = 0; *spin && i < 3 * solids->count; i++) (*spin)[i] = (float)(&solids->items[i / 3].angular.x)[i % 3];
    return *out && *spin ? RH_OK : RH_MEMORY;
}

// Kinematic viscosities of the particles that carry theirs.
static rh_code find_viscosities(step *s, float **out, rh_status *status)
{
    const rh_sph_params *p = s->me->params;
    *out = NULL;
    if (!p->viscosity_varies) return RH_OK;
    const float *of = rh_points_data(s->points, "viscosity", RH_POINT_F32);
    *out = rh_arena_take(&s->me->arena, ((size_t)s->fluid.count + 1) * sizeof **out, status);
    for (int64_t i = 0; *out && i < s->fluid.count; i++)
        (*out)[i] = (of[i] > 0 ? of[i] : (float)p->viscosity) / (float)p->density;
    return *out ? RH_OK : RH_MEMORY;
}

// Bulk viscosities, where liquid without pressure grows.
static rh_code find_bulk(step *s, const float *of_particles, float **out, rh_status *status)
{
    const rh_sph_params *p = s->me->params;
    const rh_sph_fluid *f = &s->fluid;
    size_t bytes = ((size_t)f->count + 8) * sizeof(float);
    *out = NULL;
    if (p->bulk_viscosity == 0 || p->full || p->pull || p->viscous_form != RH_SPH_PAIRS ||
        p->viscous_solver == RH_SPH_VISCOUS_EXPLICIT)
        return RH_OK;
    float *bulk = rh_arena_take(&s->me->arena, bytes, status), *growth = rh_arena_take(&s->me->arena, bytes, status);
    if (!bulk || !growth) return RH_MEMORY;
    if (!rh_sph_find_bulk(f, (float)p->tolerance, growth, bulk)) return RH_OK;
    for (int64_t i = 0; i < f->count; i++)
        bulk[i] *= (float)p->bulk_viscosity * (of_particles ? of_particles[i] : (float)(p->viscosity / p->density));
    *out = bulk;
    return RH_OK;
}

// Mean of the pressures around particle i, by the kernel.
static float smooth_q(const rh_sph_fluid *f, int64_t i)
{
    const rh_sph_kernel *k = f->kernel;
    rh_f8 sum = rh_f8_all(0), weight = sum;
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, f->place + 4 * i, f->place, near);
        rh_f8 w = rh_sph_value(k, p.square);
        sum += w * p.number, weight += w;
    }
    float own = rh_sph_value_of(k, 0);
    return (own * f->q[i] + rh_f8_sum(sum)) / (own + rh_f8_sum(weight));
}

static void add_push(step *s, float time)
{
    rh_sph_fluid *f = &s->fluid;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++)
        for (int a = 0; a < 3 && !(s->held && s->held[i]); a++) f->flow[4 * i + a] += time * f->push[4 * i + a];
}

// The pressure of the last step acts before viscosity and is taken back after it: the solve of the pressure then finds
// what has changed. (Without that viscosity alone carries the weight of the liquid for a step, and resists with all its
// force what pressure would have prevented: the two never agree, and a thick liquid sags by what is left.) It is
// smoothed: in thick liquid nothing else takes errors from one particle to the next out of it, and in a full vessel
// they grew until it burst; there the level, which is free, stays out of it. (Differences instead of sums in its
// gradient, which would leave even pressures alone, are not the transpose of what the solve sees: a folding sheet
// burst.)
static rh_code push_ahead(step *s, rh_status *status)
{
    rh_sph_fluid *f = &s->fluid;
    rh_arena_mark mark = rh_arena_save(&s->me->arena);
    float *smooth = rh_arena_take(&s->me->arena, ((size_t)f->count + 8) * sizeof *smooth, status), *own = f->q;
    if (!smooth) return RH_MEMORY;
    for (int64_t i = 0; i < f->count + 8; i++) f->place[4 * i + 3] = i < f->count ? f->q[i] : 0;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) smooth[i] = smooth_q(f, i);
    if (s->me->params->full) {
        double sum = 0;
        for (int64_t i = 0; i < f->count; i++) sum += (double)smooth[i];
        for (int64_t i = 0; i < f->count; i++) smooth[i] -= (float)(sum / (double)f->count);
    }
    f->q = smooth;
    rh_sph_push(f);
    f->q = own;
    rh_arena_restore(&s->me->arena, mark);
    add_push(s, f->dt);
    return RH_OK;
}

static rh_code keep_rubbed(step *s, float *grip, float *spin, rh_status *status)
{
    size_t count = (size_t)s->fluid.count + 1;
    s->rubbed = (rh_sph_rubbed){.law = &s->me->law,
                                .grip = grip,
                                .spin = spin,
                                .friction = rh_arena_take_zero(&s->me->arena, count * sizeof(float), status),
                                .flow = rh_arena_take(&s->me->arena, 4 * count * sizeof(float), status)};
    return s->rubbed.friction && s->rubbed.flow ? RH_OK : RH_MEMORY;
}

static float undone_share(const step *s);

static rh_code act_in_turn(step *s, const rh_sph_viscosity *how, rh_krylov_report *report, rh_status *status)
{
    rh_sph_fluid *f = &s->fluid;
    bool pull = s->me->params->pull;
    if (!pull) RH_TRY(push_ahead(s, status));
    RH_TRY(rh_sph_viscosity_act(f, how, s->rubbed.friction, &s->me->arena, report, status));
    if (how->grip) memcpy(s->rubbed.flow, f->flow, 4 * (size_t)f->count * sizeof(float));
    if (!pull) add_push(s, -f->dt);
    return RH_OK;
}

// Whether particles are in a full vessel and so thick that neighbours share their velocities within a step. (Where they
// are thinner one after the other is as good: the turns would be many, and leave what they find as it is.)
static bool is_at_once(const step *s, const rh_sph_viscosity *how)
{
    const rh_sph_params *p = s->me->params;
    if (!p->full || p->viscosity_turns == 0 || how->solver == RH_SPH_VISCOUS_EXPLICIT) return false;
    float thickest = how->kinematic, d = s->fluid.kernel->spacing;
    for (int64_t i = 0; how->of_particles && i < s->fluid.count; i++)
        thickest = rh_max_of(thickest, how->of_particles[i]);
    return thickest * s->fluid.dt > d * d;
}

// Viscosity and pressure together. What their errors leave, the pressure that comes after takes away.
static rh_code act_at_once(step *s, const rh_sph_viscosity *how, rh_krylov_report *report, rh_status *status)
{
    static const double PART = 0.1;  // of the tolerance of densities
    const rh_sph_params *p = s->me->params;
    rh_sph_fluid *f = &s->fluid;
    size_t bytes = ((size_t)f->count + 8) * sizeof(float);
    const rh_sph_prediction predict = {1e9, 1e9, MOST_DENSITY, undone_share(s)};
    const rh_sph_turns turns = {.viscosity = how,
                                .predict = &predict,
                                .dynamics = how->dynamics,
                                .tolerance = PART * p->tolerance,
                                .most = (int)p->viscosity_turns,
                                .solids = how->spin ? s->around->obstacles->count : 0,
                                .friction = s->rubbed.friction};
    RH_TRY(rh_sph_turns_act(f, &turns, &s->me->arena, report, status));
    if (how->grip) memcpy(s->rubbed.flow, f->flow, 4 * (size_t)f->count * sizeof(float));
    s->turned = rh_arena_take(&s->me->arena, bytes, status);
    if (!s->turned) return RH_MEMORY;
    memcpy(s->turned, f->q, bytes);
    memset(f->q, 0, bytes);
    return RH_OK;
}

// The pressure of the turns comes back to that of the projection; the lowest is 0.
static void add_turned(step *s)
{
    rh_sph_fluid *f = &s->fluid;
    float least = INFINITY;
    for (int64_t i = 0; i < f->count; i++) f->q[i] += f->level + s->turned[i], least = rh_min(least, f->q[i]);
    for (int64_t i = 0; i < f->count; i++) f->q[i] -= least;
    f->level = least;
}

static rh_code add_viscosity(step *s, rh_status *status)
{
    const rh_sph_params *p = s->me->params;
    rh_sph_fluid *f = &s->fluid;
    float *grip, *spin = NULL, *of_particles, *bulk;
    if (!is_viscous(p)) return RH_OK;
    RH_TRY(find_grips(s, &grip, &spin, status));
    RH_TRY(find_viscosities(s, &of_particles, status));
    RH_TRY(find_bulk(s, of_particles, &bulk, status));
    if (grip) RH_TRY(keep_rubbed(s, grip, spin, status));
    const rh_sph_viscosity how = {.law = s->me->law,
                                  .form = (rh_sph_viscous_form)p->viscous_form,
                                  .solver = (rh_sph_viscous_solver)p->viscous_solver,
                                  .time = s->kick,
                                  .kinematic = (float)(p->viscosity / p->density),
                                  .of_particles = of_particles,
                                  .bulk = bulk,
                                  .grip = grip,
                                  .spin = spin,
                                  .held = s->held,
                                  .dynamics = p->viscosity_coupling == 0 ? s->around->dynamics : NULL,
                                  .mass = p->density * pow((double)f->kernel->spacing, s->around->dimension),
                                  .tolerance = p->viscosity_tolerance,
                                  .max_iterations = (int)p->max_iterations};
    rh_krylov_report solved;
    RH_TRY((is_at_once(s, &how) ? act_at_once : act_in_turn)(s, &how, &solved, status));
    tell(s, "viscosity", solved.iterations);
    if (solved.converged) return RH_OK;
    s->report->unconverged = true;
    return rh_fail(status, RH_NUMERIC, "the viscosity solve did not converge in %d iterations (relative residual %.3g)",
                   solved.iterations, solved.residual);
}

// kg (kg/m) of a particle.
static double particle_mass(const step *s)
{
    return s->me->params->density * pow((double)s->me->kernel.spacing, s->around->dimension);
}

static rh_code find_pressure(step *s, const rh_sph_prediction *how, rh_status *status)
{
    static rh_sph_solve_function *const solvers[] = {rh_sph_solve_exact, rh_sph_solve_isph, rh_sph_solve_isph,
                                                     rh_sph_solve_iisph};
    const rh_sph_params *p = s->me->params;
    bool multilevel = p->solver == RH_SPH_MULTILEVEL;
    const rh_sph_solve_options options = {.surface = multilevel ? RH_SPH_SPARSE : p->surface,
                                          .wall_term = multilevel ? RH_SPH_MIRRORED : p->wall_term,
                                          .levels = multilevel || p->levels,
                                          .full = p->full,
                                          .clamp_source = p->clamp_source,
                                          .predict = p->solver == RH_SPH_EXACT ? how : NULL,
                                          .at_walls = how,
                                          .dynamics = s->around->dynamics,
                                          .mass = particle_mass(s),
                                          .tolerance = p->tolerance,
                                          .max_iterations = (int)p->max_iterations};
    rh_sph_solved solved;
    RH_TRY((p->pull ? rh_sph_solve_pull : solvers[p->solver])(&s->fluid, &options, &s->me->arena, &solved, status));
    if (s->turned) add_turned(s);
    s->report->residual = solved.error;
    if (is_viscous(p)) tell(s, "projection", solved.iterations);
    else s->report->iterations = solved.iterations;
    s->report->cells = solved.unknowns;
    if (solved.converged) return RH_OK;
    s->report->unconverged = true;
    return rh_fail(status, RH_NUMERIC, "the pressure solve did not converge in %d iterations (mean density error %.3g)",
                   solved.iterations, solved.error);
}

// New velocities and pressures; places are as they were.
static void set_velocities(step *s)
{
    rh_sph_fluid *f = &s->fluid;
    rh_vec3 *v = rh_points_data(s->points, "v", RH_POINT_VEC3F);
    float *pressure = rh_points_data(s->points, "pressure", RH_POINT_F32);
    float unit = pressure_unit(s->me);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) {
        float dt = s->held && s->held[i] ? 0 : f->dt;
        const float *u = f->flow + 4 * i, *a = f->push + 4 * i;
        v[i] = rh_v3(u[0] + dt * a[0], u[1] + dt * a[1], u[2] + dt * a[2]);
        pressure[i] = unit * f->q[i];
    }
}

static rh_code show(step *s, rh_status *status)
{
    const rh_sph_params *p = s->me->params;
    const rh_sph_measure measure = {.fluid = &s->fluid,
                                    .tiles = &s->tiles,
                                    .velocities = rh_points_data(s->points, "v", RH_POINT_VEC3F),
                                    .held = s->held,
                                    .rubbed = s->rubbed.friction ? &s->rubbed : NULL,
                                    .density = p->density,
                                    .mass = particle_mass(s),
                                    .kick = s->kick};
    return rh_sph_show(&measure, s->around, s->points, &s->me->arena, status);
}

static rh_code look(step *s, rh_sight what, rh_status *status)
{
    const rh_step_view view = {.what = what,
                               .around = s->around,
                               .dt = s->fluid.dt,
                               .kick = s->kick,
                               .density = s->me->params->density,
                               .tiles = &s->tiles,
                               .points = s->points,
                               .obstacles = s->around->obstacles_after,
                               .arena = &s->me->arena};
    return rh_observe(&view, status);
}

// Particles are shifted a little to where there are fewer (S. J. Lind, R. Xu, P. K. Stansby, B. D. Rogers,
// "Incompressible smoothed particle hydrodynamics for free-surface flows", J. Comput. Phys. 231, 2012, equation 22),
// velocities stay: a stretching flow draws particles into rows, in which derivatives along and across have different
// errors, and pressure shakes particles that lie unevenly. Not at the surface, where there are always fewer on one
// side. The share of the full shift in a step is twice the root mean square displacement over that which cfl allows,
// but at least, in water at rest, a tenth of the step over the longest step of the flow.
static float shift_share(const step *s)
{
    const rh_sph_fluid *f = &s->fluid;
    const rh_vec3 *v = rh_points_data(s->points, "v", RH_POINT_VEC3F);
    int64_t blocks = rh_blocks(f->count);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        double sum = 0;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, f->count); i++) sum += (double)rh_v3_dot(v[i], v[i]);
        f->sums[b] = sum;
    }
    double usual = sqrt(rh_sph_sum(f) / (double)f->count), dt = (double)f->dt;
    double way = 2 * usual * dt / (s->me->params->cfl * (double)f->kernel->support);
    return (float)fmin(1, fmax(way, 0.1 * dt / flow_limit(s->me, s->around, s->points)));
}

// The shift of one particle, and how much it takes part, 0..1, into its record of `uneven`.
static void find_shift(const step *s, int64_t i, float scale)
{
    const rh_sph_fluid *f = &s->fluid;
    const float whole = 0.97f, none = 0.9f;  // densities
    float *to = f->uneven + 4 * i, most = 0.1f * f->kernel->spacing;
    float inside = s->me->params->pull ? to[3] : rh_min(rh_max_of((f->density[i] - none) / (whole - none), 0), 1);
    float part = s->held && s->held[i] ? 0 : inside;
    rh_vec3 by = rh_v3_scale(rh_v3(to[0], to[1], to[2]), scale);
    float length = rh_v3_length(by);
    by = rh_v3_scale(by, part * (length > most ? most / length : 1));
    to[0] = by.x, to[1] = by.y, to[2] = by.z, to[3] = part;
}

// Finds the shifts of all, and the mean of those that take part, which is subtracted: so the centre of mass stays, and
// with it the potential energy.
static rh_vec3 find_shifts(const step *s, float scale)
{
    const rh_sph_fluid *f = &s->fluid;
    int64_t blocks = rh_blocks(f->count);
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        double sums[4] = {0, 0, 0, 0};
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, f->count); i++) {
            find_shift(s, i, scale);
            for (int a = 0; a < 4; a++) sums[a] += (double)f->uneven[4 * i + a];
        }
        for (int a = 0; a < 4; a++) f->sums[a * blocks + b] = sums[a];
    }
    double mean[4];
    for (int a = 0; a < 4; a++) mean[a] = rh_sum(f->sums + a * blocks, blocks);
    double all = mean[3] > 0 ? mean[3] : 1;
    return rh_v3((float)(mean[0] / all), (float)(mean[1] / all), (float)(mean[2] / all));
}

// Where nothing else keeps particles even they are shifted twice as far.
static const float PULL_SHIFT = 2;

static void shift(const step *s, rh_vec3 *x)
{
    const rh_sph_fluid *f = &s->fluid;
    const rh_sph_params *p = s->me->params;
    float d = f->kernel->spacing, scale = (float)p->shifting * d * d * shift_share(s) * (p->pull ? PULL_SHIFT : 1);
    rh_vec3 mean = find_shifts(s, scale);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) {
        const float *by = f->uneven + 4 * i;
        x[i] = rh_v3_add(x[i], rh_v3_sub(rh_v3(by[0], by[1], by[2]), rh_v3_scale(mean, by[3])));
    }
}

// Moves the particles. Nothing fails after this but for lack of memory of an observer.
static rh_code move(step *s, rh_status *status)
{
    rh_vec3 *x = rh_points_data(s->points, "P", RH_POINT_VEC3F), *v = rh_points_data(s->points, "v", RH_POINT_VEC3F);
    float dt = s->fluid.dt;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->fluid.count; i++) x[i] = rh_v3_add(x[i], rh_v3_scale(v[i], dt));
    if (s->me->params->shifting > 0) shift(s, x);
    RH_TRY(look(s, RH_SIGHT_MOVED, status));
    stage(s, "motion");
    const rh_sph_contact_options contact = {.count = s->fluid.count,
                                            .covered = s->fluid.covered,
                                            .gap = GAP * (double)s->me->kernel.spacing,
                                            .clear = CLEAR * (double)s->me->kernel.support,
                                            .dt = (double)dt};
    rh_sph_contact(s->around, &contact, s->start, x, v);
    return RH_OK;
}

// Fastest particle, and the volume: less than that of all particles where they are denser than at rest.
static void measure_all(step *s)
{
    const rh_vec3 *v = rh_points_data(s->points, "v", RH_POINT_VEC3F);
    const rh_sph_fluid *f = &s->fluid;
    int64_t blocks = rh_blocks(f->count);
    float most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t b = 0; b < blocks; b++) {
        double sum = 0;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, f->count); i++) {
            most = rh_max_of(most, rh_v3_dot(v[i], v[i]));
            sum += 1 / (double)rh_max_of(f->density[i], 1);
        }
        f->sums[b] = sum;
    }
    s->report->max_speed = sqrt((double)most);
    s->report->volume = rh_sph_sum(f) * pow((double)f->kernel->spacing, f->kernel->dimension);
}

// The velocity that the correction of a density error gives is the greater the shorter the step: fast particles would
// make steps short, and short steps make particles fast. So the time of the correction is that of the flow, not of the
// step.
static float undone_share(const step *s)
{
    const rh_sph_params *p = s->me->params;
    if (p->density_correction >= 1) return 1;
    double longest = flow_limit(s->me, s->around, s->points);
    return (float)fmin(p->density_correction * (double)s->fluid.dt / longest, 1);
}

static rh_code run(step *s, rh_status *status)
{
    rh_arena *arena = &s->me->arena;
    const rh_sph_params *p = s->me->params;
    rh_arena_reset(arena);
    RH_TRY(rh_step_sort(s->around, MARGIN, s->points, &s->tiles, arena, s->report, status));
    RH_TRY(look(s, RH_SIGHT_SORTED, status));
    RH_TRY(take(s, status));
    fill(s);
    stage(s, "sort");
    RH_TRY(rh_sph_walls_build(&s->walls, s->me->walls, &s->me->kernel, s->around, &s->tiles, arena, status));
    s->report->wall_samples = s->walls.count;
    stage(s, "samples");
    RH_TRY(find_neighbours(s, status));
    stage(s, "neighbours");
    RH_TRY(add_forces(s, status));
    stage(s, "accelerations");
    RH_TRY(add_viscosity(s, status));
    if (is_viscous(p)) stage(s, "viscosity");
    bool blends = p->solver == RH_SPH_ISPH;
    const rh_sph_prediction how = {blends ? p->blend_from : 1e9, blends ? p->blend_to : 1e9, MOST_DENSITY,
                                   undone_share(s)};
    bool at_once = p->solver == RH_SPH_EXACT;
    if (!at_once) rh_sph_predict(&s->fluid, &how);
    if (!at_once) stage(s, "densities");
    RH_TRY(find_pressure(s, &how, status));
    stage(s, "projection");
    set_velocities(s);
    RH_TRY(show(s, status));
    RH_TRY(move(s, status));
    measure_all(s);
    stage(s, "contact");
    return RH_OK;
}

static rh_code sph_step(void *self, const rh_surroundings *around, double dt, rh_points *points, rh_step_report *report,
                        rh_status *status)
{
    step s = {.me = self,
              .around = around,
              .points = points,
              .report = report,
              .clock = rh_seconds(),
              .kick = rh_step_kick(around, dt),
              .fluid = {.dt = (float)dt}};
    *report = (rh_step_report){0};
    if (points->count == 0) return RH_OK;
    return run(&s, status);
}

// --- the table -------------------------------------------------------------------------------------------------------
static int sph_per_axis(const void *params) { return (int)((const rh_sph_params *)params)->particles_per_axis; }
static double sph_density(const void *params) { return ((const rh_sph_params *)params)->density; }
// Sweeps of iisph do not know that solids give way: what they give them comes a step late. The system of the others
// only resembles what the step does at walls: with multilevel a plank of a twentieth of the density burst the water,
// one of a tenth floats.
static double sph_lightest(const void *params)
{
    static const double least[] = {
        [RH_SPH_EXACT] = 0, [RH_SPH_MULTILEVEL] = 0.1, [RH_SPH_ISPH] = 0.25, [RH_SPH_IISPH] = 0.25};
    return least[((const rh_sph_params *)params)->solver];
}
// Particles a little off the lattice. On it, pressures that alternate from row to row push nobody (exact.c), and a
// stretching flow keeps its rows, which nothing then makes even.
static double sph_jitter(const void *params)
{
    (void)params;
    return 0.1;
}

// Per particle: attributes and the spare block (48), the arrays of a step (100), lists (170 in space); then, one after
// the other, lists of the search before they are in order (200) or links of the system (170) and its vectors (40); what
// blocks of memory leave unused (40).
static int64_t sph_predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    const rh_sph_params *p = params;
    int64_t lists = dimension == 3 ? 170 : 80, cells = dimension == 3 ? 512 : 64;
    int64_t system = p->solver == RH_SPH_IISPH ? 4 : lists + (p->pull ? 68 : 40);
    if (p->wall_term == RH_SPH_UNKNOWNS) system += 2 * lists + 60;  // one list of all, samples half as many
    int64_t search = dimension == 3 ? 200 : 104;
    if (system < search) system = search;
    // Of viscosity: arms or weights of pairs, nine vectors of four floats, blocks of the diagonal, grids, growth; the
    // matrix.
    int64_t viscous = is_viscous(p) ? lists * (p->viscous_form == RH_SPH_PAIRS ? 3 : 1) + 9 * 16 + 72 + 60 + 28 : 0;
    if (is_viscous(p) && p->viscous_solver == RH_SPH_VISCOUS_ASSEMBLED) viscous += 40 * (dimension == 3 ? 160 : 40);
    return particles * (48 + 100 + lists + system + viscous + 40) + tiles * (cells * 8 + 200);
}

const rh_physics rh_sph = {.name = "sph",
                           .params = &rh_sph_table,
                           .create = sph_create,
                           .destroy = sph_destroy,
                           .max_step = sph_max_step,
                           .step = sph_step,
                           .per_cell_axis = sph_per_axis,
                           .density = sph_density,
                           .jitter = sph_jitter,
                           .lightest = sph_lightest,
                           .predict_bytes = sph_predict_bytes,
                           .pushes_late = true,
                           .walls_separate = true};
