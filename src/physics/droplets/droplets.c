// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A step, in order (R. Jones, "Droplets, Splashes and Sprays", Bournemouth University, 2018, algorithm 2):
//  1. forces: gravity and drag change velocities from the middle of the last step to the middle of this one
//  2. detect: which drops meet, on straight ways (detect.h)
//  3. resolve: each pair at its closest approach (collision.h), moved back along its new velocity so that
//  4. advect, which moves all drops by the step, puts it where it belongs; solids
//  5. sort: drops that are gone are removed, the others are put into the order of the search
// A drop that has just collided flies on, but takes part in no collision until its neck has parted (attribute `ready`,
// a time in s).
#include "physics/droplets/droplets.h"

#include <math.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "physics/droplets/detect.h"
#include "physics/droplets/drop_drag.h"
#include "physics/flight.h"
#include "physics/observer.h"
#include "physics/step.h"

enum { BATCH = 256 };  // drops that are pushed together

typedef struct droplets {
    const rh_droplets_params *params;
    rh_arena arena;
    rh_neighbours near;
    rh_droplet_counts counts;
    int64_t own_next;  // ids, where there is no world around
    rh_drag_table table;
} droplets;

// The arrays of the particles.
typedef struct drops {
    rh_vec3 *x, *v;
    float *r, *ready;
    int64_t *id;
} drops;

static drops drops_of(const rh_points *points)
{
    return (drops){rh_points_data(points, "P", RH_POINT_VEC3F), rh_points_data(points, "v", RH_POINT_VEC3F),
                   rh_points_data(points, "radius", RH_POINT_F32), rh_points_data(points, "ready", RH_POINT_F32),
                   rh_points_data(points, "id", RH_POINT_I64)};
}

// --- making ----------------------------------------------------------------------------------------------------------
static rh_code create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                      rh_status *status)
{
    if (around->dimension != 3)
        return rh_fail(status, RH_USER, "droplets are balls: found dimension %d, expected 3", around->dimension);
    RH_TRY(rh_points_add(points, "ready", RH_POINT_F32, status));
    rh_points_find(points, "ready")->transient = true;
    droplets *me = rh_alloc_zero(sizeof *me, "droplets", status);
    if (!me) return RH_MEMORY;
    me->params = params;
    rh_drag_table_fill(&me->table);
    rh_arena_init(&me->arena, "droplets.scratch");
    return *self = me, RH_OK;
}

static void destroy(void *self)
{
    droplets *me = self;
    rh_neighbours_free(&me->near);
    rh_arena_free(&me->arena);
    rh_free(me);
}

static double max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    const droplets *me = self;
    double wind = me->params->drag == RH_DROPLET_DRAG_NONE ? 0 : rh_d3_length(me->params->wind);
    return rh_flight_max_step(around, fmax(rh_flight_fastest(points), wind));
}

// --- forces ----------------------------------------------------------------------------------------------------------
static void apply_forces(const droplets *me, const rh_surroundings *around, double dt, drops d, int64_t count)
{
    double before = 0.5 * around->previous_dt, time = before + 0.5 * dt;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < (count + BATCH - 1) / BATCH; b++) {
        int64_t first = b * BATCH, here = count - first < BATCH ? count - first : BATCH;
        rh_vec3 a[BATCH];
        for (int64_t i = 0; i < here && around->acceleration; i++)
            a[i] = rh_v3_from(around->acceleration(rh_d3_from(d.x[first + i]), around->time - before,
                                                   around->time + 0.5 * dt, around->user));
        rh_drop_push(me->params, &me->table, time, around->gravity, around->acceleration ? a : NULL, d.r + first,
                     d.v + first, here);
    }
}

// --- collisions ------------------------------------------------------------------------------------------------------
typedef struct event {
    uint32_t i, j;          // the larger first; of equal ones the one with the lower id
    rh_droplet at_i, at_j;  // before, at the moment of resolution
    rh_droplet_outcome out;
    int64_t first;  // of the drops it sheds
} event;

static rh_droplet drop_at(drops d, uint32_t i, double time)
{
    rh_dvec3 u = rh_d3_from(d.v[i]);
    return (rh_droplet){rh_d3_add(rh_d3_from(d.x[i]), rh_d3_scale(u, time)), u, (double)d.r[i]};
}

static void decide(const droplets *me, drops d, const rh_droplet_pair *pair, event *e)
{
    uint32_t a = pair->first, b = pair->second;
    bool swap = d.r[b] > d.r[a] || (d.r[b] == d.r[a] && d.id[b] < d.id[a]);
    e->i = swap ? b : a;
    e->j = swap ? a : b;
    e->at_i = drop_at(d, e->i, (double)pair->time);
    e->at_j = drop_at(d, e->j, (double)pair->time);
    rh_droplet_collide(&me->params->law, &e->at_i, &e->at_j, &e->out);
}

static void place(drops d, int64_t to, const rh_droplet *drop, double time, float ready)
{
    d.x[to] = rh_v3_from(rh_d3_sub(drop->x, rh_d3_scale(drop->u, time)));
    d.v[to] = rh_v3_from(drop->u);
    d.r[to] = (float)drop->r;
    d.ready[to] = ready;
}

static void carry_out(const droplets *me, const rh_surroundings *around, double time, float ready, int64_t first_new,
                      int64_t next_id, rh_points *points, event *e)
{
    drops d = drops_of(points);
    rh_droplet shed[RH_DROPLET_FRAGMENTS];
    if (e->out.kind == RH_DROPLETS_PASS) return;
    uint64_t key = rh_mix64((uint64_t)(d.id[e->i] - around->first_id)) ^ (uint64_t)(d.id[e->j] - around->first_id);
    if (e->out.shed)
        rh_droplet_shed(&me->params->law, &e->at_i, &e->at_j, &e->out, around->seed ^ rh_mix64((uint64_t)around->step),
                        key, shed);
    for (int k = 0; k < e->out.shed; k++) {
        int64_t to = first_new + e->first + k;
        rh_points_inherit(points, e->i, to);  // what it has beside place, velocity and size
        place(d, to, &shed[k], time, ready);
        d.id[to] = around->first_id + next_id + e->first + k;
    }
    place(d, e->i, &e->out.i, time, ready);
    if (e->out.kind == RH_DROPLETS_MERGE) d.r[e->j] = 0;
    else place(d, e->j, &e->out.j, time, ready);
}

// --- what observers see ----------------------------------------------------------------------------------------------
// Every drop goes from where it was at the start of the step to where it is at its end. Of those that collided each
// part comes from the drop that it was part of, so that no liquid changes sides of a rectangle unseen. `target` is the
// number of the drop that a piece is in at the end.
typedef struct pieces {
    rh_moved_piece *items;
    uint32_t *target;
    int64_t count;
} pieces;

static float volume_of(double radius) { return (float)(4 * 3.14159265358979323846 / 3 * radius * radius * radius); }

static rh_code start_pieces(droplets *me, const rh_surroundings *around, const rh_droplet_pairs *pairs,
                            const rh_points *points, pieces *p, rh_status *status)
{
    int64_t most = points->count + (2 * me->params->law.max_fragments + 2) * pairs->count + 1;
    drops d = drops_of(points);
    *p = (pieces){0};
    if (!around->observer) return RH_OK;
    p->items = rh_arena_take(&me->arena, (size_t)most * sizeof *p->items, status);
    p->target = rh_arena_take(&me->arena, (size_t)most * sizeof *p->target, status);
    if (!p->items || !p->target) return RH_MEMORY;
    for (; p->count < points->count; p->count++) {
        p->items[p->count] = (rh_moved_piece){.from = d.x[p->count], .volume = volume_of((double)d.r[p->count])};
        p->target[p->count] = (uint32_t)p->count;
    }
    return RH_OK;
}

static void add_parts(pieces *p, const event *e, int64_t target, double radius)
{
    float volume = volume_of(radius), share = (float)e->out.share_j;
    const rh_vec3 from[2] = {p->items[e->i].from, p->items[e->j].from};
    for (int k = 0; k < 2; k++) {
        p->items[p->count] = (rh_moved_piece){.from = from[k], .volume = k ? share * volume : (1 - share) * volume};
        p->target[p->count++] = (uint32_t)target;
    }
}

static void split_pieces(pieces *p, const event *events, int64_t count, int64_t first_new)
{
    for (int64_t n = 0; n < count && p->items; n++) {
        const event *e = &events[n];
        if (e->out.kind == RH_DROPLETS_PASS) continue;
        if (e->out.kind == RH_DROPLETS_MERGE) p->target[e->j] = e->i;
        else {
            // Where all parts are alike each has its share of both.
            p->items[e->i].volume = e->out.all ? 0 : volume_of(e->out.i.r);
            p->items[e->j].volume = e->out.all ? 0 : volume_of(e->out.j.r);
        }
        for (int k = 0; k < e->out.shed; k++) add_parts(p, e, first_new + e->first + k, e->out.shed_radius);
        if (!e->out.all) continue;
        add_parts(p, e, e->i, e->out.shed_radius);
        add_parts(p, e, e->j, e->out.shed_radius);
    }
}

static rh_code show_pieces(droplets *me, const rh_surroundings *around, double dt, const rh_points *points,
                           const pieces *p, rh_status *status)
{
    const rh_vec3 *x = rh_points_data(points, "P", RH_POINT_VEC3F);
    if (!p->items) return RH_OK;
    for (int64_t i = 0; i < p->count; i++) p->items[i].to = x[p->target[i]];
    const rh_step_view view = {.what = RH_SIGHT_PIECES,
                               .around = around,
                               .dt = (float)dt,
                               .density = me->params->law.density,
                               .points = points,
                               .arena = &me->arena,
                               .pieces = p->items,
                               .piece_count = p->count};
    return rh_observe(&view, status);
}

// --- collisions, all of a step ---------------------------------------------------------------------------------------
static rh_code resolve(droplets *me, const rh_surroundings *around, double dt, const rh_droplet_pairs *pairs,
                       rh_points *points, pieces *seen, rh_status *status)
{
    int64_t shed = 0, first_new = points->count, *next = around->next_id ? around->next_id : &me->own_next;
    float ready = (float)(around->time + dt + me->params->rest_time);
    event *events = rh_arena_take(&me->arena, (size_t)(pairs->count + 1) * sizeof *events, status);
    if (!events) return RH_MEMORY;
    drops d = drops_of(points);
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t n = 0; n < pairs->count; n++) decide(me, d, &pairs->items[n], &events[n]);
    for (int64_t n = 0; n < pairs->count; n++) {
        events[n].first = shed;
        shed += events[n].out.shed;
        me->counts.kinds[events[n].out.kind]++;
    }
    me->counts.shed += shed;
    split_pieces(seen, events, pairs->count, first_new);
    RH_TRY(rh_points_resize(points, first_new + shed, status));
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t n = 0; n < pairs->count; n++)
        carry_out(me, around, (double)pairs->items[n].time, ready, first_new, *next, points, &events[n]);
    *next += shed;
    return RH_OK;
}

static rh_code detect(droplets *me, const rh_surroundings *around, double dt, rh_points *points,
                      rh_droplet_pairs *pairs, rh_status *status)
{
    drops d = drops_of(points);
    rh_droplet_search search = {
        d.x, d.v, d.r, d.ready, d.id, points->count, around->time, dt, me->params->iterations, me->params->reach};
    return rh_droplet_detect(&search, &me->near, &me->arena, pairs, status);
}

// --- moving on -------------------------------------------------------------------------------------------------------
static void advect(const droplets *me, const rh_surroundings *around, double dt, rh_points *points)
{
    drops d = drops_of(points);
    const rh_flight_wall wall = {0, me->params->restitution};
    float step = (float)dt;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < points->count; i++) {
        d.x[i] = rh_v3_add(d.x[i], rh_v3_scale(d.v[i], step));
        rh_flight_wall own = wall;
        own.gap = (double)d.r[i];
        if (around->obstacles_after->count) rh_flight_collide(&own, around, &d.x[i], &d.v[i]);
    }
}

// Puts the drops into the order of the search, without those that are gone; new ones last.
static rh_code keep(droplets *me, rh_points *points, rh_status *status)
{
    int64_t blocks = rh_blocks(points->count), kept = 0;
    uint32_t *order = rh_arena_take(&me->arena, (size_t)(points->count + 1) * sizeof *order, status);
    int64_t *starts = rh_arena_take(&me->arena, (size_t)(blocks + 1) * sizeof *starts, status);
    if (!order || !starts) return RH_MEMORY;
    const float *r = rh_points_data(points, "radius", RH_POINT_F32);
    const rh_neighbours *near = &me->near;
    for (int fill = 0; fill < 2; fill++) {
#pragma omp parallel for schedule(static)
        for (int64_t b = 0; b < blocks; b++) {
            int64_t to = fill ? starts[b] : 0;
            for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, points->count); i++) {
                uint32_t from = i < near->count ? near->index[i] : (uint32_t)i;
                if (fill && r[from] > 0) order[to] = from;
                to += r[from] > 0;
            }
            if (!fill) starts[b] = to;
        }
        for (int64_t b = 0; b < blocks && !fill; b++) {
            int64_t here = starts[b];
            starts[b] = kept, kept += here;
        }
    }
    if (kept == points->count && near->count == 0) return RH_OK;
    return rh_points_permute(points, order, kept, status);
}

static rh_code step(void *self, const rh_surroundings *around, double dt, rh_points *points, rh_step_report *report,
                    rh_status *status)
{
    droplets *me = self;
    rh_droplet_pairs pairs = {0};
    pieces seen;
    double clock = rh_seconds();
    rh_arena_expect_growth(&me->arena);
    rh_arena_reset(&me->arena);
    *report = (rh_step_report){0};
    apply_forces(me, around, dt, drops_of(points), points->count);
    rh_step_stage(report, &clock, "forces");
    me->near.count = 0;
    bool meet = me->params->collisions && points->count;
    if (meet) {
        RH_TRY(detect(me, around, dt, points, &pairs, status));
        me->counts.tested += pairs.tested;
        rh_step_stage(report, &clock, "detect");
    }
    RH_TRY(start_pieces(me, around, &pairs, points, &seen, status));
    if (meet) {
        RH_TRY(resolve(me, around, dt, &pairs, points, &seen, status));
        rh_step_stage(report, &clock, "resolve");
    }
    advect(me, around, dt, points);
    rh_step_stage(report, &clock, "advect");
    RH_TRY(show_pieces(me, around, dt, points, &seen, status));
    RH_TRY(keep(me, points, status));
    rh_step_stage(report, &clock, "sort");
    report->max_speed = rh_flight_fastest(points);
    return RH_OK;
}

const rh_droplet_counts *rh_droplets_counts(const void *self) { return &((const droplets *)self)->counts; }

static double own_radius(const void *params, double filling)
{
    const rh_droplets_params *p = params;
    return p->radius > 0 ? p->radius : filling;
}
static int per_axis(const void *params) { return (int)((const rh_droplets_params *)params)->particles_per_axis; }
static double density(const void *params) { return ((const rh_droplets_params *)params)->law.density; }

static int64_t predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    (void)params, (void)dimension, (void)tiles;
    // P, v, id, radius, ready, the spare block; the search with its scratch
    return particles * (int64_t)(3 * sizeof(rh_vec3) + sizeof(int64_t) + 2 * sizeof(float) + 110);
}

const rh_physics rh_droplets = {.name = "droplets",
                                .params = &rh_droplets_table,
                                .create = create,
                                .destroy = destroy,
                                .max_step = max_step,
                                .step = step,
                                .per_cell_axis = per_axis,
                                .density = density,
                                .own_radius = own_radius,
                                .predict_bytes = predict_bytes};
