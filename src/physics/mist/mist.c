// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A step, in order:
//  1. tiles: those with mist and all their neighbours, and those with particles that shed it
//  2. shed: each particle gives to its cell rate * dt of its mass, and drags the air: with L the mass of particles over
//     that of the air in a cell, du/dt = L drag (v - u), solved by backward Euler, so that any load is stable
//  3. push: air with mist is heavier than air: du/dt = g mist / air_density (Boussinesq: inertia is that of dry air)
//  4. project: the air keeps its volume (physics/transport.h); around the tiles it is open
//  5. advect velocity and mist (carry.h), which sinks through the air; diffuse both; mist dries up
// Particles are added cell by cell in the order of the base, so sums do not depend on threads. Cells whose centres are
// in solids have these's velocity, and nothing goes through their faces; what is shed in them stays there.
#include "physics/mist/mist.h"

#include <math.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "physics/base_run.h"
#include "physics/mist/carry.h"
#include "physics/step.h"
#include "physics/transport.h"

typedef struct mist {
    const rh_mist_params *params;
    rh_fields *fields;  // the world's
    rh_arena arena;
} mist;

static rh_code create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                      rh_status *status)
{
    (void)points;
    mist *me = rh_alloc_zero(sizeof *me, "mist", status);
    if (!me) return RH_MEMORY;
    *self = me;
    *me = (mist){.params = params, .fields = around->fields};
    rh_arena_init(&me->arena, "mist.scratch");
    RH_TRY(rh_fields_add(me->fields, "mist", RH_FIELD_FLOAT, 0, status));
    return rh_fields_add(me->fields, "air", RH_FIELD_VEC3, 0, status);
}

static void destroy(void *self)
{
    mist *me = self;
    rh_arena_free(&me->arena);
    rh_free(me);
}

static const rh_base_run *base_of(const mist *me, const rh_surroundings *around)
{
    return rh_base_find(around->bases, around->base_count, me->params->over);
}

static float *density_of(const mist *me) { return rh_fields_find(me->fields, "mist")->axis[0]; }

static rh_faces air_of(const mist *me)
{
    const rh_field *air = rh_fields_find(me->fields, "air");
    return (rh_faces){{air->axis[0], air->axis[1], air->axis[2]}};
}

static double fastest_air(const mist *me)
{
    const rh_faces air = air_of(me);
    const rh_vec3 wind = rh_v3_from(me->params->wind);
    double most = rh_d3_length(me->params->wind);  // where there is no air yet
    int64_t values = (int64_t)me->fields->count * me->fields->cells;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < values; i++) {
        rh_vec3 v = {air.axis[0][i], air.axis[1][i], air.axis[2][i]};
        most = fmax(most, (double)rh_v3_length(rh_v3_add(v, wind)));
    }
    return most + me->params->fall;
}

// Particles shed where they are at the middle of the step: they must not jump over cells either.
static double max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    (void)points;
    const mist *me = self;
    const rh_base_run *base = base_of(me, around);
    double fastest = fmax(fastest_air(me), base ? (double)base->fastest : 0);
    return fastest > 0 ? me->params->cfl * around->cell / fastest : INFINITY;
}

// --- particles that shed ---------------------------------------------------------------------------------------------
typedef struct source {
    const rh_vec3 *x, *v;
    const float *radius;  // NULL: all have `usual`
    const uint8_t *member;
    bool all_radii, all_members;  // one value for all
    float usual;                  // m
    int64_t count;
} source;

static source source_of(const mist *me, const rh_base_run *base)
{
    const rh_points *p = &base->points;
    const rh_attribute *radius = rh_points_find(p, "radius"),
                       *group = me->params->group ? rh_points_find(p, me->params->group) : NULL;
    const rh_attribute *v = rh_points_find(p, "v");
    source s = {.usual = base->radius, .count = rh_points_find(p, "P") ? p->count : 0};  // empty frames have none
    if (s.count) s.x = rh_points_data(p, "P", RH_POINT_VEC3F);
    if (s.count && v && v->type == RH_POINT_VEC3F && !v->uniform) s.v = v->data;
    if (radius && radius->type == RH_POINT_F32) s.radius = radius->data, s.all_radii = radius->uniform;
    if (group && group->type == RH_POINT_GROUP) s.member = group->data, s.all_members = group->uniform;
    if (me->params->group && !s.member) s.count = 0;  // nobody is in a group that is not there
    return s;
}

static float radius_of(const source *s, int64_t i) { return s->radius ? s->radius[s->all_radii ? 0 : i] : s->usual; }

static bool sheds(const mist *me, const source *s, int64_t i)
{
    return (!s->member || s->member[s->all_members ? 0 : i]) && (double)radius_of(s, i) <= me->params->finest;
}

static rh_tile tile_of(const mist *me, rh_vec3 x)
{
    double size = RH_TILE * me->fields->h;
    return (rh_tile){(int32_t)floor((double)x.x / size), (int32_t)floor((double)x.y / size),
                     me->fields->dimension == 3 ? (int32_t)floor((double)x.z / size) : 0};
}

// The tiles of those that shed; one after the other in the same tile names it once.
static rh_code source_tiles(mist *me, const source *s, rh_tile **keys, int64_t *count, rh_status *status)
{
    int64_t n = 0;
    *keys = rh_arena_take(&me->arena, (size_t)(s->count + 1) * sizeof **keys, status);
    if (!*keys) return RH_MEMORY;
    for (int64_t i = 0; i < s->count; i++) {
        if (!sheds(me, s, i)) continue;
        rh_tile at = tile_of(me, s->x[i]);
        const rh_tile *last = n ? *keys + n - 1 : NULL;
        if (!last || last->x != at.x || last->y != at.y || last->z != at.z) (*keys)[n++] = at;
    }
    *count = n;
    return RH_OK;
}

// What particles bring to a cell.
typedef struct load {
    float mass;        // kg
    rh_vec3 momentum;  // kg m/s, relative to the wind
} load;

static rh_code shed(mist *me, const source *s, const rh_tiles *tiles, double dt, rh_status *status)
{
    const rh_mist_params *p = me->params;
    double h = me->fields->h, cell = tiles->dimension == 3 ? h * h * h : h * h, pi = 3.14159265358979323846;
    load *loads = rh_arena_take_zero(&me->arena, (size_t)(rh_tiles_values(tiles) + 1) * sizeof *loads, status);
    if (!loads) return RH_MEMORY;
    for (int64_t i = 0; i < s->count; i++) {
        if (!sheds(me, s, i)) continue;
        int32_t t = rh_tiles_find(tiles, tile_of(me, s->x[i]));
        RH_ASSERT(t >= 0);
        double r = (double)radius_of(s, i), volume = tiles->dimension == 3 ? 4 * pi / 3 * r * r * r : pi * r * r;
        int at[3] = {0};
        for (int a = 0; a < tiles->dimension; a++) at[a] = (int)floor((double)(&s->x[i].x)[a] / h) & 7;
        load *to = &loads[(int64_t)t * tiles->cells + at[0] + 8 * at[1] + 64 * at[2]];
        float mass = (float)(p->density * volume);
        rh_vec3 v = rh_v3_sub(s->v ? s->v[i] : rh_v3(0, 0, 0), rh_v3_from(p->wind));
        to->mass += mass;
        to->momentum = rh_v3_add(to->momentum, rh_v3_scale(v, mass));
    }
    float *density = density_of(me), more = (float)(p->rate * dt / cell),
          pull = (float)(p->drag * dt / (cell * p->air_density));
    const rh_faces air = air_of(me);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rh_tiles_values(tiles); i++) {
        if (!(loads[i].mass > 0)) continue;
        density[i] += more * loads[i].mass;
        for (int a = 0; a < tiles->dimension; a++)
            air.axis[a][i] = (air.axis[a][i] + pull * (&loads[i].momentum.x)[a]) / (1 + pull * loads[i].mass);
    }
    return RH_OK;
}

// --- solids ----------------------------------------------------------------------------------------------------------
static rh_code find_solids(mist *me, const rh_surroundings *around, const rh_tiles *tiles, uint8_t **out,
                           rh_status *status)
{
    const rh_obstacles *solids = around->obstacles_after;
    *out = NULL;
    if (!solids || !solids->count) return RH_OK;
    uint8_t *solid = *out = rh_arena_take_zero(&me->arena, (size_t)rh_tiles_values(tiles) + 8, status);
    if (!solid) return RH_MEMORY;
    const rh_faces air = air_of(me);
    const double corner = sqrt(tiles->dimension) * RH_TILE / 2 * me->fields->h;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_vec3 first = rh_cell_center(tiles, t, 0, 0, 0), last = rh_cell_center(tiles, t, 7, 7, 7);
        int which;
        double far = rh_obstacles_distance(solids, rh_d3_from(rh_v3_scale(rh_v3_add(first, last), 0.5f)), &which);
        for (int c = 0; c < tiles->cells && (which < 0 || far < corner); c++) {
            rh_dvec3 at = rh_d3_from(rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6));
            if (!(rh_obstacles_distance(solids, at, &which) < 0) || which < 0) continue;
            int64_t i = (int64_t)t * tiles->cells + c;
            rh_dvec3 v = rh_d3_sub(rh_obstacles_velocity(solids, which, at), me->params->wind);
            solid[i] = 1;
            for (int a = 0; a < tiles->dimension; a++) air.axis[a][i] = (float)(&v.x)[a];
        }
    }
    return RH_OK;
}

// --- the air ---------------------------------------------------------------------------------------------------------
static void push(const mist *me, const rh_surroundings *around, const rh_tiles *tiles, double dt)
{
    const float *density = density_of(me);
    const rh_faces air = air_of(me);
    rh_vec3 pull = rh_v3_from(rh_d3_scale(around->gravity, dt / me->params->air_density));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rh_tiles_values(tiles); i++)
        for (int a = 0; a < tiles->dimension; a++) air.axis[a][i] += (&pull.x)[a] * density[i];
}

// The air with the wind; `sinking`: as mist sees it, which stays in solids.
static void fill_flow(const mist *me, const rh_surroundings *around, const rh_tiles *tiles, const uint8_t *solid,
                      bool sinking, rh_faces flow)
{
    const rh_faces air = air_of(me);
    double g = rh_d3_length(around->gravity);
    rh_vec3 wind = rh_v3_from(me->params->wind), sink = {0, 0, 0};
    if (sinking && g > 0) sink = rh_v3_from(rh_d3_scale(around->gravity, me->params->fall / g));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rh_tiles_values(tiles); i++)
        for (int a = 0; a < tiles->dimension; a++)
            flow.axis[a][i] = air.axis[a][i] + (&wind.x)[a] + (solid && solid[i] ? 0 : (&sink.x)[a]);
}

static rh_code carry(mist *me, const rh_surroundings *around, const rh_tiles *tiles, const uint8_t *solid, double dt,
                     rh_step_report *report, rh_status *status)
{
    const rh_faces air = air_of(me);
    rh_faces flow;
    RH_TRY(rh_faces_new(&flow, tiles, false, &me->arena, status));
    const rh_transport_value velocity[3] = {
        {air.axis[0], -INFINITY, INFINITY}, {air.axis[1], -INFINITY, INFINITY}, {air.axis[2], -INFINITY, INFINITY}};
    fill_flow(me, around, tiles, solid, true, flow);
    const rh_carried density = {tiles, flow, solid, around->step & 1, dt};
    RH_TRY(rh_carry(&density, density_of(me), &me->arena, status));
    fill_flow(me, around, tiles, solid, false, flow);
    RH_TRY(rh_transport_advect(tiles, flow, dt, velocity, tiles->dimension, &me->arena, status));
    double share = me->params->diffusivity * dt / (me->fields->h * me->fields->h);
    RH_TRY(rh_transport_diffuse(tiles, share, solid, density_of(me), &me->arena, report, status));
    for (int a = 0; a < tiles->dimension; a++)
        RH_TRY(rh_transport_diffuse(tiles, share, solid, air.axis[a], &me->arena, report, status));
    return RH_OK;
}

static void dry(const mist *me, const rh_tiles *tiles, double dt)
{
    float *density = density_of(me), left = me->params->life > 0 ? (float)exp(-dt / me->params->life) : 1;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rh_tiles_values(tiles); i++) density[i] *= left;
    rh_transport_forget(tiles, 1e-3 * me->params->least, density);
}

static rh_code step(void *self, const rh_surroundings *around, double dt, rh_points *points, rh_step_report *report,
                    rh_status *status)
{
    (void)points;
    mist *me = self;
    const rh_base_run *base = base_of(me, around);
    rh_tiles tiles;
    rh_tile *keys;
    uint8_t *solid;
    int64_t count;
    double clock = rh_seconds();
    rh_arena_reset(&me->arena);
    *report = (rh_step_report){0};
    if (!base) return rh_fail(status, RH_USER, "mist: no run is called '%s'", me->params->over);
    const source from = source_of(me, base);
    RH_TRY(source_tiles(me, &from, &keys, &count, status));
    RH_TRY(rh_transport_tiles(me->fields, "mist", me->params->least, keys, count, &me->arena, &tiles, status));
    rh_step_stage(report, &clock, "tiles");
    RH_TRY(shed(me, &from, &tiles, dt, status));
    push(me, around, &tiles, dt);
    RH_TRY(find_solids(me, around, &tiles, &solid, status));
    rh_step_stage(report, &clock, "forces");
    RH_TRY(rh_transport_project(&tiles, solid, air_of(me), &me->arena, report, status));
    rh_step_stage(report, &clock, "pressure");
    RH_TRY(carry(me, around, &tiles, solid, dt, report, status));
    dry(me, &tiles, dt);
    rh_step_stage(report, &clock, "advect");
    report->tiles = tiles.count;
    report->cells = rh_tiles_values(&tiles);
    report->max_speed = fastest_air(me);
    return RH_OK;
}

static const char *base_name(const void *params) { return ((const rh_mist_params *)params)->over; }
static int per_axis(const void *params) { return (void)params, 1; }
static double density(const void *params) { return ((const rh_mist_params *)params)->density; }

static int64_t predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    (void)params, (void)particles;
    return tiles * (dimension == 3 ? 512 : 64) * (int64_t)(sizeof(float) * 30);
}

const rh_physics rh_mist = {.name = "mist",
                            .params = &rh_mist_table,
                            .create = create,
                            .destroy = destroy,
                            .max_step = max_step,
                            .step = step,
                            .per_cell_axis = per_axis,
                            .density = density,
                            .predict_bytes = predict_bytes,
                            .base = base_name,
                            .base_points_only = true,
                            .without_particles = true};
