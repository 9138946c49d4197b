// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A step, in order:
//  1. flow: the base at the middle of the step, on a grid (flow.h), with what each cell makes
//  2. move: each particle is what the liquid around it says (spray, foam, bubble) and moves by that law: spray flies
//     with drag and wind, foam goes with the surface and draws together, bubbles are dragged along and rise; foam ages
//  3. emit (emit.h): what is due at the ticks of a clock of its own (`interval`), which steps have no part in
//  4. sort: those whose life is over go
//
// M. Ihmsen and others (2012) let steps emit, and drag bubbles by a share a step; here rates are per second, so that
// amounts and motion do not depend on how steps are cut.
#include "physics/whitewater/whitewater.h"

#include <math.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "physics/flight.h"
#include "physics/step.h"
#include "physics/whitewater/emit.h"

enum { SORT_EVERY = 4 };  // steps

typedef struct whitewater {
    const rh_whitewater_params *params;
    rh_arena arena;
    rh_foam_flow flow;
} whitewater;

static rh_code create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                      rh_status *status)
{
    (void)around;
    RH_TRY(rh_points_add(points, "class", RH_POINT_I32, status));
    RH_TRY(rh_points_add(points, "age", RH_POINT_F32, status));
    RH_TRY(rh_points_add(points, "life", RH_POINT_F32, status));
    for (int k = 0; k < RH_CLASSES; k++) RH_TRY(rh_points_add(points, rh_foam_groups[k], RH_POINT_GROUP, status));
    whitewater *me = rh_alloc_zero(sizeof *me, "whitewater", status);
    if (!me) return RH_MEMORY;
    me->params = params;
    rh_points_init(&me->flow.points);
    rh_arena_init(&me->arena, "whitewater.scratch");
    return *self = me, RH_OK;
}

static void destroy(void *self)
{
    whitewater *me = self;
    rh_points_free(&me->flow.points);
    rh_arena_free(&me->arena);
    rh_free(me);
}

static const rh_base_run *base_of(const whitewater *me, const rh_surroundings *around)
{
    return rh_base_find(around->bases, around->base_count, me->params->over);
}

// NULL: none make bubbles.
static const rh_base_run *drops_of(const whitewater *me, const rh_surroundings *around)
{
    return me->params->drops ? rh_base_find(around->bases, around->base_count, me->params->drops) : NULL;
}

static double max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    (void)points;
    const whitewater *me = self;
    const rh_base_run *base = base_of(me, around);
    if (!base || !(base->fastest > 0)) return 1e9;
    return me->params->cfl * (double)base->reach / 1.5 / (double)base->fastest;
}

// --- where they are --------------------------------------------------------------------------------------------------
// Where a particle is at the middle of the step, which is the time that the flow is of, by the velocity that it has.
// (Asked where they are at the start, long steps had a quarter less foam and ten times the spray of short ones.)
static rh_vec3 middle_of(const rh_foam_particles *p, int64_t i, float dt)
{
    return rh_v3_add(p->x[i], rh_v3_scale(p->v[i], 0.5f * dt));
}

// The cell of every particle at the middle of the step, -1: none. Particles lie in the order of tiles (see `keep`), so
// most are in the tile of the one before or beside it.
static int64_t *locate(whitewater *me, const rh_foam_particles *p, int64_t count, double dt, rh_status *status)
{
    int64_t *cells = rh_arena_take(&me->arena, (size_t)(count + 1) * sizeof *cells, status);
    if (!cells) return NULL;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < rh_blocks(count); b++) {
        int32_t tile = -1;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, count); i++) {
            cells[i] = rh_foam_find(&me->flow, tile, middle_of(p, i, (float)dt));
            if (cells[i] >= 0) tile = rh_foam_tile(&me->flow, cells[i]);
        }
    }
    return cells;
}

// --- solids ----------------------------------------------------------------------------------------------------------
// How far solids are from a cell at least, so that particles that go less far need no test for collisions. A distance
// changes by no more than the way: a block of cells is asked about at its middle, and its parts only where that is not
// `enough`.
typedef struct survey {
    const rh_obstacles *obstacles;
    const rh_tiles *tiles;
    float *room;    // of the tile's cells
    double enough;  // m
    int32_t tile;
} survey;

static void find_room(const survey *s, int i, int j, int k, int side)
{
    const rh_tiles *t = s->tiles;
    bool deep = t->dimension == 3;
    float half = 0.5f * (float)(side - 1) * t->h;
    int which, layers = deep ? side : 1;
    rh_vec3 at = rh_v3_add(rh_cell_center(t, s->tile, i, j, k), rh_v3(half, half, deep ? half : 0));
    double far = rh_obstacles_distance(s->obstacles, rh_d3_from(at), &which);
    double room = which < 0 ? 1e30 : far - sqrt(t->dimension) * 0.5 * side * (double)t->h;
    if (side > 1 && room < s->enough) {
        for (int n = 0; n < 1 << t->dimension; n++)
            find_room(s, i + (n & 1) * side / 2, j + (n >> 1 & 1) * side / 2, k + (n >> 2) * side / 2, side / 2);
        return;
    }
    for (int n = 0; n < side * side * layers; n++)
        s->room[i + n % side + 8 * (j + n / side % side) + 64 * (k + n / (side * side))] = (float)room;
}

static rh_code find_rooms(whitewater *me, const rh_surroundings *around, rh_status *status)
{
    const rh_tiles *t = &me->flow.tiles;
    me->flow.room = rh_arena_take(&me->arena, (size_t)(rh_tiles_values(t) + 1) * sizeof *me->flow.room, status);
    if (!me->flow.room) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < t->count; n++) {
        const survey s = {around->obstacles_after, t, me->flow.room + (int64_t)n * t->cells, 0.5 * (double)t->h, n};
        find_room(&s, 0, 0, 0, RH_TILE);
    }
    return RH_OK;
}

// --- foam that draws together ----------------------------------------------------------------------------------------
// Towards where there is more foam, along the surface, the faster the more the numbers differ. Counts are whole
// numbers, so the order in which threads add does not matter.
static rh_code find_gather(whitewater *me, const rh_foam_particles *p, const int64_t *cells, int64_t count,
                           rh_status *status)
{
    const rh_tiles *t = &me->flow.tiles;
    size_t values = (size_t)rh_tiles_values(t) + 8;
    int32_t *foam = rh_arena_take_zero(&me->arena, values * sizeof *foam, status);
    float *many = rh_arena_take(&me->arena, values * sizeof *many, status);
    me->flow.gather = rh_arena_take(&me->arena, values * sizeof *me->flow.gather, status);
    if (!foam || !many || !me->flow.gather) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        if (p->kind[i] != RH_CLASS_FOAM || cells[i] < 0) continue;
#pragma omp atomic
        foam[cells[i]]++;
    }
    for (size_t i = 0; i < values; i++) many[i] = (float)foam[i];
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < t->count; n++) {
        float b[(RH_TILE + 2) * (RH_TILE + 2) * (RH_TILE + 2)];
        rh_block_load(t, many, n, 1, 0, b);
        for (int c = 0; c < t->cells; c++) {
            int at = rh_block_index(t, 1, c & 7, c >> 3 & 7, c >> 6), next[3] = {1, RH_TILE + 2, 100};
            rh_vec3 way = {0, 0, 0}, normal = me->flow.normal[(int64_t)n * t->cells + c];
            for (int a = 0; a < t->dimension; a++) (&way.x)[a] = b[at + next[a]] - b[at - next[a]];
            way = rh_v3_sub(way, rh_v3_scale(normal, rh_v3_dot(way, normal)));
            float scale = (float)me->params->gather / (rh_v3_length(way) + b[at] + 1);
            me->flow.gather[(int64_t)n * t->cells + c] = rh_v3_scale(way, scale);
        }
    }
    return RH_OK;
}

// --- motion ----------------------------------------------------------------------------------------------------------
static bool is_kept(const rh_whitewater_params *p, int32_t kind)
{
    return kind == RH_CLASS_SPRAY ? p->spray : kind == RH_CLASS_FOAM ? p->foam : p->bubbles;
}

// Constants of the laws of motion for the step.
typedef struct laws {
    rh_flight_decay spray, bubble;
    rh_vec3 gravity, rise, wind;
    float dt;
    rh_flight_wall wall;
} laws;

// With v at the start of the step: dv/dt = a - k (v - other).
static void drift(const rh_flight_decay *d, rh_vec3 a, rh_vec3 other, rh_vec3 *x, rh_vec3 *v, float dt)
{
    rh_vec3 u = rh_v3_sub(*v, other);
    *x = rh_v3_add(rh_v3_add(*x, rh_v3_scale(other, dt)),
                   rh_v3_add(rh_v3_scale(u, (float)d->way), rh_v3_scale(a, (float)d->way2)));
    *v = rh_v3_add(other, rh_v3_add(rh_v3_scale(u, (float)d->rest), rh_v3_scale(a, (float)d->way)));
}

// Can no wall be within `gap` of where a particle has gone from a place in a cell?
static bool is_clear(const whitewater *me, int64_t cell, rh_vec3 from, rh_vec3 to, float gap)
{
    if (cell < 0) return false;
    rh_vec3 way = rh_v3_sub(to, from);
    float room = me->flow.room[cell] - gap;
    if (room > 0 && rh_v3_dot(way, way) < room * room) return true;
    int64_t now = rh_foam_find(&me->flow, rh_foam_tile(&me->flow, cell), to);
    return now >= 0 && me->flow.room[now] > gap;
}

static void move_one(const whitewater *me, const rh_surroundings *around, const laws *l, const rh_foam_particles *p,
                     int64_t i, int64_t cell)
{
    rh_vec3 middle = middle_of(p, i, l->dt);
    rh_foam_cell flow = rh_foam_sample(&me->flow, cell, middle);
    rh_foam_class kind = rh_foam_class_of(me->params, flow.share);
    p->kind[i] = (int32_t)kind;
    p->age[i] += l->dt;
    if (kind == RH_CLASS_SPRAY) drift(&l->spray, l->gravity, l->wind, &p->x[i], &p->v[i], l->dt);
    else if (kind == RH_CLASS_BUBBLE) drift(&l->bubble, l->rise, flow.v, &p->x[i], &p->v[i], l->dt);
    else {
        p->v[i] = me->flow.gather ? rh_v3_add(flow.v, me->flow.gather[cell]) : flow.v;
        p->x[i] = rh_v3_add(p->x[i], rh_v3_scale(p->v[i], l->dt));
        p->life[i] -= l->dt;
    }
    if (around->obstacles_after->count && !is_clear(me, cell, middle, p->x[i], (float)l->wall.gap))
        rh_flight_collide(&l->wall, around, &p->x[i], &p->v[i]);
}

static void move_all(const whitewater *me, const rh_surroundings *around, double dt, const int64_t *cells,
                     rh_points *points)
{
    const rh_whitewater_params *params = me->params;
    const rh_foam_particles p = rh_foam_particles_of(points);
    const laws l = {.spray = rh_flight_decay_of(params->spray_drag, dt),
                    .bubble = rh_flight_decay_of(params->bubble_drag, dt),
                    .gravity = rh_v3_from(around->gravity),
                    .rise = rh_v3_scale(rh_v3_from(around->gravity), -(float)params->buoyancy),
                    .wind = rh_v3_from(params->wind),
                    .dt = (float)dt,
                    .wall = {params->min_radius, params->restitution}};
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < rh_blocks(points->count); b++)
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, points->count); i++) {
            move_one(me, around, &l, &p, i, cells[i]);
            rh_foam_set_groups(&p, i);
        }
}

// --- the end ---------------------------------------------------------------------------------------------------------
// Puts particles into the order of the tiles that they were in at the start of the step, new ones last: what moves on
// between two sorts is found beside.
static rh_code order_by_tile(whitewater *me, const int64_t *cells, int64_t moved, int64_t count, uint32_t *order,
                             rh_status *status)
{
    const rh_tiles *t = &me->flow.tiles;
    int64_t *starts = rh_arena_take_zero(&me->arena, (size_t)(t->count + 3) * sizeof *starts, status);
    if (!starts) return RH_MEMORY;
    for (int64_t i = 0; i < moved; i++) starts[(cells[i] < 0 ? t->count : rh_foam_tile(&me->flow, cells[i])) + 1]++;
    for (int32_t n = 0; n <= t->count; n++) starts[n + 1] += starts[n];
    for (int64_t i = 0; i < moved; i++)
        order[starts[cells[i] < 0 ? t->count : rh_foam_tile(&me->flow, cells[i])]++] = (uint32_t)i;
    for (int64_t i = moved; i < count; i++) order[i] = (uint32_t)i;
    return RH_OK;
}

static rh_code keep(whitewater *me, const rh_surroundings *around, const int64_t *cells, int64_t moved,
                    rh_points *points, rh_status *status)
{
    uint32_t *order = rh_arena_take(&me->arena, (size_t)(points->count + 1) * sizeof *order, status);
    if (!order) return RH_MEMORY;
    const rh_foam_particles p = rh_foam_particles_of(points);
    int64_t kept = 0;
    float oldest = (float)me->params->max_age;
    bool keeps[RH_CLASSES], sorts = around->step % SORT_EVERY == 0;
    if (sorts) RH_TRY(order_by_tile(me, cells, moved, points->count, order, status));
    for (int k = 0; k < RH_CLASSES; k++) keeps[k] = is_kept(me->params, k);
    for (int64_t n = 0; n < points->count; n++) {  // without branches, as who goes cannot be foretold
        uint32_t i = sorts ? order[n] : (uint32_t)n;
        order[kept] = i;
        kept += (p.life[i] > 0) & (p.age[i] <= oldest) & keeps[p.kind[i]];
    }
    return (sorts && kept) || kept < points->count ? rh_points_permute(points, order, kept, status) : RH_OK;
}

static rh_code step(void *self, const rh_surroundings *around, double dt, rh_points *points, rh_step_report *report,
                    rh_status *status)
{
    whitewater *me = self;
    const rh_base_run *base = base_of(me, around);
    double clock = rh_seconds();
    rh_arena_reset(&me->arena);
    *report = (rh_step_report){0};
    if (!base) return rh_fail(status, RH_USER, "whitewater: no run is called '%s'", me->params->over);
    RH_TRY(rh_foam_flow_build(&me->flow, me->params, base, &me->arena, status));
    rh_step_stage(report, &clock, "flow");
    const rh_foam_particles p = rh_foam_particles_of(points);
    int64_t moved = points->count, *cells = locate(me, &p, moved, dt, status);
    if (!cells) return RH_MEMORY;
    if (around->obstacles_after->count) RH_TRY(find_rooms(me, around, status));
    if (me->params->gather > 0) RH_TRY(find_gather(me, &p, cells, moved, status));
    rh_step_stage(report, &clock, "gather");
    move_all(me, around, dt, cells, points);
    rh_step_stage(report, &clock, "move");
    const rh_foam_emission made = {.params = me->params,
                                   .around = around,
                                   .base = base,
                                   .drops = drops_of(me, around),
                                   .flow = &me->flow,
                                   .dt = dt,
                                   .arena = &me->arena};
    RH_TRY(rh_foam_emit(&made, points, status));
    RH_TRY(rh_foam_enter(&made, points, status));
    rh_step_stage(report, &clock, "emit");
    RH_TRY(keep(me, around, cells, moved, points, status));
    rh_step_stage(report, &clock, "sort");
    report->tiles = me->flow.tiles.count;
    report->cells = rh_tiles_values(&me->flow.tiles);
    report->max_speed = rh_flight_fastest(points);
    return RH_OK;
}

static double own_radius(const void *params, double filling)
{
    (void)filling;
    return ((const rh_whitewater_params *)params)->max_radius;
}
static const char *base_name(const void *params) { return ((const rh_whitewater_params *)params)->over; }
static const char *drops_name(const void *params) { return ((const rh_whitewater_params *)params)->drops; }
static int per_axis(const void *params) { return (void)params, 2; }
static double density(const void *params) { return (void)params, 1000; }
static double most_made(const void *params) { return (double)((const rh_whitewater_params *)params)->max_particles; }

static int64_t predict_bytes(const void *params, int dimension, int64_t count, int64_t tiles)
{
    (void)params;
    int64_t each = (int64_t)(3 * sizeof(rh_vec3) + sizeof(int64_t) + 4 * sizeof(float) + RH_CLASSES + 12);
    return count * each + tiles * (dimension == 3 ? 512 : 64) * 136;
}

const rh_physics rh_whitewater = {.name = "whitewater",
                                  .params = &rh_whitewater_table,
                                  .create = create,
                                  .destroy = destroy,
                                  .max_step = max_step,
                                  .step = step,
                                  .per_cell_axis = per_axis,
                                  .density = density,
                                  .own_radius = own_radius,
                                  .most_made = most_made,
                                  .predict_bytes = predict_bytes,
                                  .base = base_name,
                                  .other_base = drops_name,
                                  .base_points_only = true};
