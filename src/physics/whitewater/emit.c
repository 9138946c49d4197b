// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How many particles one of the base makes at a tick is the whole part of rate times interval plus a random number. A
// drop has fallen into the liquid between a tick and the next where the share of liquid passes one half on its straight
// way; it leaves a few bubbles below (H. C. Pumphrey, P. A. Elmore, "The entrainment of bubbles by drop impacts",
// J. Fluid Mech. 220, 1990, tell when drops entrain air; how many is a matter of look here).
#include "physics/whitewater/emit.h"

#include <math.h>
#include "base/parallel.h"
#include "base/random.h"

enum { MOST_AT_ONCE = 64 };  // that one particle of the base makes at a tick
enum { ENTRY = 4096 };       // random numbers of entries come after those of the base

const char *const rh_foam_groups[RH_CLASSES] = {"spray", "foam", "bubble"};

rh_foam_particles rh_foam_particles_of(const rh_points *points)
{
    rh_foam_particles p = {rh_points_data(points, "P", RH_POINT_VEC3F),
                           rh_points_data(points, "v", RH_POINT_VEC3F),
                           rh_points_data(points, "radius", RH_POINT_F32),
                           rh_points_data(points, "age", RH_POINT_F32),
                           rh_points_data(points, "life", RH_POINT_F32),
                           rh_points_data(points, "class", RH_POINT_I32),
                           {NULL},
                           rh_points_data(points, "id", RH_POINT_I64)};
    for (int k = 0; k < RH_CLASSES; k++) p.groups[k] = rh_points_data(points, rh_foam_groups[k], RH_POINT_GROUP);
    return p;
}

// --- what is made ----------------------------------------------------------------------------------------------------
// Ticks of the clock in [time, time + dt).
typedef struct ticks {
    int64_t first, end;
} ticks;

static ticks ticks_in(const rh_foam_emission *e)
{
    double interval = e->params->interval, time = e->around->time;
    return (ticks){(int64_t)ceil(time / interval - 1e-6), (int64_t)ceil((time + e->dt) / interval - 1e-6)};
}

// The whole part of a number and a random one.
static inline int64_t drawn(uint64_t seed, float wanted, int64_t id, int64_t tick, uint32_t which)
{
    if (!(wanted > 0)) return 0;
    float n = floorf(wanted + rh_random(seed, (uint64_t)id, (uint32_t)tick, which));
    return (int64_t)rh_min(n, MOST_AT_ONCE);
}

// Size, life and id of a new particle, number `n` of those that are made in this call.
static void finish(const rh_foam_emission *e, float size, const rh_foam_particles *p, int64_t to, int64_t n)
{
    const rh_whitewater_params *params = e->params;
    p->r[to] = (float)params->min_radius * powf((float)(params->max_radius / params->min_radius), size);
    p->life[to] = (float)(params->min_life + (params->max_life - params->min_life) * (double)size);
    p->age[to] = 0;
    p->id[to] = e->around->first_id + (e->around->next_id ? *e->around->next_id : to - n) + n;
}

// What those from `before` on are, by their places at the middle of the step, which is the time that the flow is of:
// eight at a time, as it takes a third of what it took one by one.
static void tell_classes(const rh_foam_emission *e, const rh_vec3 *places, int64_t before, rh_points *points)
{
    const rh_foam_particles p = rh_foam_particles_of(points);
    rh_foam_classify(e->flow, e->params, places, points->count - before, p.kind + before);
#pragma omp parallel for schedule(static)
    for (int64_t i = before; i < points->count; i++)
        for (int k = 0; k < RH_CLASSES; k++) p.groups[k][i] = p.kind[i] == k;
}

typedef struct parent {
    rh_vec3 x, v;
    int64_t id;
} parent;

// Somewhere in a disc as wide as the particle of the base, along the way that it went since the last tick.
static void make_one(const rh_foam_emission *e, const parent *from, int64_t tick, int64_t k, const rh_foam_particles *p,
                     int64_t to, int64_t n, rh_vec3 *place)
{
    const rh_base_run *base = e->base;
    const rh_vec3 x = from->x, v = from->v;
    const int64_t id = from->id;
    float u[4];
    for (int m = 0; m < 4; m++)
        u[m] = rh_random(e->around->seed, (uint64_t)id, (uint32_t)tick, (uint32_t)(1 + 8 * k + m));
    rh_dvec3 along = rh_d3_unit(rh_d3_from(v)), other = fabs(along.x) < 0.5 ? rh_d3(1, 0, 0) : rh_d3(0, 1, 0);
    if (base->dimension == 2) other = rh_d3(0, 0, 1);
    rh_dvec3 e1 = rh_d3_unit(rh_d3_cross(along, other)), e2 = rh_d3_cross(along, e1);
    double r = (double)base->radius * sqrt((double)u[0]), turn = 6.283185307179586 * (double)u[1];
    rh_dvec3 beside = rh_d3_scale(e1, r * cos(turn));
    if (base->dimension == 3) beside = rh_d3_add(beside, rh_d3_scale(e2, r * sin(turn)));
    // From the base's time to the end of the step, less a bit.
    double late = 0.5 * e->dt - e->params->interval * (double)u[2];
    p->x[to] = rh_v3_from(rh_d3_add(rh_d3_from(x), rh_d3_add(beside, rh_d3_scale(rh_d3_from(v), late))));
    p->v[to] = rh_v3_add(v, rh_v3_from(rh_d3_scale(beside, rh_d3_length(rh_d3_from(v)) / (double)(4 * base->radius))));
    *place = rh_v3_sub(p->x[to], rh_v3_scale(v, 0.5f * (float)e->dt));
    finish(e, u[3] * u[3], p, to, n);  // most are small
}

// Turns the numbers that blocks make into where each begins, and makes room for all, at most max_particles, and for
// their places at the middle of the step.
static rh_code make_room(const rh_foam_emission *e, int64_t *starts, int64_t blocks, rh_points *points,
                         rh_vec3 **places, rh_status *status)
{
    int64_t total = 0, room = e->params->max_particles - points->count;
    for (int64_t b = 0; b < blocks; b++) {
        int64_t here = starts[b];
        starts[b] = total, total += here;
    }
    if (total > room) total = room > 0 ? room : 0;
    *places = rh_arena_take(e->arena, (size_t)(total + 1) * sizeof **places, status);
    return *places ? rh_points_resize(points, points->count + total, status) : RH_MEMORY;
}

// Block by block of the base's particles: counted first, so that each block knows where its own begin.
rh_code rh_foam_emit(const rh_foam_emission *e, rh_points *points, rh_status *status)
{
    const rh_tiles *t = &e->flow->tiles;
    const ticks now = ticks_in(e);
    const uint64_t seed = e->around->seed;
    const int64_t *id = rh_points_data(&e->flow->points, "id", RH_POINT_I64);
    const rh_vec3 *x = rh_points_data(&e->flow->points, "P", RH_POINT_VEC3F),
                  *v = rh_points_data(&e->flow->points, "v", RH_POINT_VEC3F);
    rh_vec3 *places = NULL;
    int64_t before = points->count, *starts;
    starts = rh_arena_take_zero(e->arena, (size_t)(t->count + 1) * sizeof *starts, status);
    uint8_t *makes = rh_arena_take_zero(e->arena, (size_t)e->flow->points.count + 1, status);  // any: few do
    if (!starts || !makes) return RH_MEMORY;
    for (int fill = 0; fill < 2; fill++) {
        const rh_foam_particles p = rh_foam_particles_of(points);
#pragma omp parallel for schedule(dynamic, 4)
        for (int32_t n = 0; n < t->count; n++) {
            int64_t to = fill ? starts[n] : 0;
            for (int c = 0; c < t->cells; c++) {
                int64_t cell = (int64_t)n * t->cells + c;
                float wanted = e->flow->rate[cell] * (float)e->params->interval;
                if (!(wanted > 0)) continue;
                for (uint32_t i = t->first[cell]; i < t->first[cell + 1]; i++)
                    for (int64_t tick = now.first; tick < now.end && (makes[i] || !fill); tick++) {
                        int64_t made = drawn(seed, wanted, id[i], tick, 0);
                        makes[i] |= made > 0;
                        const parent from = {x[i], v[i], id[i]};
                        for (int64_t k = 0; k < made && fill && before + to < points->count; k++, to++)
                            make_one(e, &from, tick, k, &p, before + to, to, &places[to]);
                        if (!fill) to += made;
                    }
            }
            if (!fill) starts[n] = to;
        }
        if (!fill) RH_TRY(make_room(e, starts, t->count, points, &places, status));
    }
    tell_classes(e, places, before, points);
    if (e->around->next_id) *e->around->next_id += points->count - before;
    return RH_OK;
}

// --- drops that fall in ----------------------------------------------------------------------------------------------
static const float SURFACE = 0.5f;  // share of liquid

typedef struct drops {
    const rh_vec3 *x, *v;
    const int64_t *id;
    int64_t count;
} drops;

static drops drops_of(const rh_base_run *run)
{
    const rh_attribute *x = run ? rh_points_find(&run->points, "P") : NULL,
                       *v = x ? rh_points_find(&run->points, "v") : NULL,
                       *id = v ? rh_points_find(&run->points, "id") : NULL;
    bool whole = id && v->type == RH_POINT_VEC3F && id->type == RH_POINT_I64 && !v->uniform && !id->uniform;
    return whole ? (drops){x->data, v->data, id->data, run->points.count} : (drops){0};  // empty frames have no v
}

// Where a drop is `after` (s) the time of its run: it falls freely. (Along straight ways the ends of one step and the
// start of the next did not meet, and drops entered twice or not at all.)
static rh_vec3 way_of(const rh_foam_emission *e, const drops *d, int64_t i, double after)
{
    rh_vec3 fall = rh_v3_from(rh_d3_scale(e->around->gravity, 0.5 * after * after));
    return rh_v3_add(d->x[i], rh_v3_add(rh_v3_scale(d->v[i], (float)after), fall));
}

// How many bubbles a drop leaves that is at x at a tick and at `next` at the next one.
static int64_t left_by(const rh_foam_emission *e, rh_vec3 x, rh_vec3 next, int64_t id, int64_t tick)
{
    int64_t cell = rh_foam_find(e->flow, -1, next);
    if (cell < 0 || rh_foam_sample(e->flow, cell, next).share < SURFACE) return 0;
    cell = rh_foam_find(e->flow, rh_foam_tile(e->flow, cell), x);
    if (rh_foam_sample(e->flow, cell, x).share >= SURFACE) return 0;
    return drawn(e->around->seed, (float)e->params->entry, id, tick, ENTRY);
}

// Somewhere on the way of the next interval, below the surface, with a third of the drop's velocity.
static void leave_one(const rh_foam_emission *e, rh_vec3 x, rh_vec3 v, int64_t id, int64_t tick, int64_t k,
                      const rh_foam_particles *p, int64_t to, int64_t n, rh_vec3 *place)
{
    float u[5];
    for (int m = 0; m < 5; m++)
        u[m] = rh_random(e->around->seed, (uint64_t)id, (uint32_t)tick, (uint32_t)(ENTRY + 1 + 8 * k + m));
    float wide = 2 * (float)e->params->max_radius, deep = (float)e->params->interval * (1 + u[2]);
    rh_vec3 beside = rh_v3(wide * (2 * u[0] - 1), 0, e->base->dimension == 3 ? wide * (2 * u[1] - 1) : 0);
    p->x[to] = rh_v3_add(rh_v3_add(x, rh_v3_scale(v, deep)), beside);
    p->v[to] = rh_v3_scale(v, 1.0f / 3);
    *place = p->x[to];
    finish(e, u[3] * u[3], p, to, n);
}

rh_code rh_foam_enter(const rh_foam_emission *e, rh_points *points, rh_status *status)
{
    const ticks now = ticks_in(e);
    const drops d = drops_of(e->drops);
    rh_vec3 *places = NULL;
    int64_t before = points->count, blocks = rh_blocks(d.count);
    if (!d.count || !(e->params->entry > 0)) return RH_OK;
    int64_t *starts = rh_arena_take_zero(e->arena, (size_t)(blocks + 1) * sizeof *starts, status);
    if (!starts) return RH_MEMORY;
    for (int fill = 0; fill < 2; fill++) {
        const rh_foam_particles p = rh_foam_particles_of(points);
#pragma omp parallel for schedule(dynamic, 4)
        for (int64_t b = 0; b < blocks; b++) {
            int64_t to = fill ? starts[b] : 0;
            for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, d.count); i++) {
                if (!((double)rh_v3_length(d.v[i]) >= e->params->entry_speed)) continue;
                for (int64_t tick = now.first; tick < now.end; tick++) {
                    double after = (double)tick * e->params->interval - (e->around->time + 0.5 * e->dt);
                    rh_vec3 x = way_of(e, &d, i, after), next = way_of(e, &d, i, after + e->params->interval);
                    int64_t made = left_by(e, x, next, d.id[i], tick);
                    for (int64_t k = 0; k < made && fill && before + to < points->count; k++, to++)
                        leave_one(e, x, d.v[i], d.id[i], tick, k, &p, before + to, to, &places[to]);
                    if (!fill) to += made;
                }
            }
            if (!fill) starts[b] = to;
        }
        if (!fill) RH_TRY(make_room(e, starts, blocks, points, &places, status));
    }
    tell_classes(e, places, before, points);
    if (e->around->next_id) *e->around->next_id += points->count - before;
    return RH_OK;
}
