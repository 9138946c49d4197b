// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The sites of a body are those of its bounding box that its shape covers, in the order of the lattice; random numbers
// are functions of seed and id. Numbers of particles are made exact by region (seed_region.h) and by column
// (emitter_flow.h).
#include "world/seed.h"

#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "world/seed_region.h"
#include "world/lattice.h"
#include "world/emitter.h"
#include "world/marks.h"

enum { RH_ID_BITS = 40 };           // a material has ids for so many particles: 1e12
static const double JITTER = 0.25;  // of the spacing, peak to peak

rh_code rh_seeder_init(rh_seeder *seeder, const rh_geometry *geometry, int material, int particles_per_axis,
                       double jitter, rh_status *status)
{
    RH_ASSERT(particles_per_axis > 0 && jitter >= 0);
    const rh_scene *scene = geometry->scene;
    *seeder = (rh_seeder){.geometry = geometry,
                          .material = material,
                          .first_id = (int64_t)material << RH_ID_BITS,
                          .spacing = scene->cell / particles_per_axis,
                          .jitter = jitter,
                          .dimension = (int)scene->dimension,
                          .seed = (uint64_t)scene->seed};
    rh_arena_init(&seeder->sinks.arena, "world.drain");
    seeder->emitted_until = rh_alloc((size_t)(scene->emitters.count + 1) * sizeof(double), "world.seeder", status);
    if (!seeder->emitted_until) return RH_MEMORY;
    for (int i = 0; i < scene->emitters.count; i++) seeder->emitted_until[i] = -1;
    seeder->emitter_flows = rh_alloc_zero((size_t)(scene->emitters.count + 1) * sizeof *seeder->emitter_flows,
                                          "world.emitter_flow", status);
    seeder->filled = rh_alloc_zero((size_t)(scene->bodies.count + 1) * sizeof *seeder->filled, "world.seeder", status);
    if (!seeder->emitter_flows || !seeder->filled) return RH_MEMORY;
    for (int i = 0; i < scene->emitters.count; i++)
        if (rh_seeder_pours(seeder, i)) RH_TRY(rh_emitter_flow_create(seeder, i, &seeder->emitter_flows[i], status));
    return RH_OK;
}

void rh_seeder_free(rh_seeder *seeder)
{
    for (int i = 0; seeder->emitter_flows && i < seeder->geometry->scene->emitters.count; i++)
        rh_emitter_flow_free(&seeder->emitter_flows[i]);
    rh_free(seeder->emitter_flows);
    rh_free(seeder->emitted_until);
    rh_free(seeder->filled);
    rh_neighbours_free(&seeder->sinks.near);
    rh_arena_free(&seeder->sinks.arena);
    seeder->filled = NULL;
    seeder->emitter_flows = NULL;
    seeder->emitted_until = NULL;
}

bool rh_seeder_pours(const rh_seeder *s, int n)
{
    return ((const rh_emitter_params *)s->geometry->scene->emitters.items)[n].material_index == s->material;
}

bool rh_seeder_fills(const rh_seeder *s, int b)
{
    return ((const rh_body_params *)s->geometry->scene->bodies.items)[b].material_index == s->material;
}

static bool takes(const rh_seeder *s, const rh_sink_params *sink)
{
    return sink->material_index < 0 || sink->material_index == s->material;
}

// --- the lattice -----------------------------------------------------------------------------------------------------
rh_code rh_lattice_sites(const rh_seeder *s, rh_dbox box, rh_sites *out, rh_status *status)
{
    double sites = 1;
    for (int a = 0; a < 3; a++) {
        out->low[a] = 0;
        out->high[a] = 1;
        if (a >= s->dimension) continue;
        out->low[a] = (int64_t)floor((&box.min.x)[a] / s->spacing) - 1;
        out->high[a] = (int64_t)ceil((&box.max.x)[a] / s->spacing) + 1;
        sites *= fmax((double)(out->high[a] - out->low[a]), 0);
    }
    if (sites > 4e10)
        return rh_fail(status, RH_USER, "%.3g particle sites to look at: far too many for this cell size", sites);
    return RH_OK;
}

rh_dvec3 rh_lattice_jittered(const rh_seeder *s, rh_dvec3 x, uint64_t number)
{
    for (int a = 0; a < s->dimension && s->jitter > 0; a++)
        (&x.x)[a] += s->jitter * JITTER * s->spacing * ((double)rh_random(s->seed, number, 0, (uint32_t)a) - 0.5);
    return x;
}

// --- bodies ----------------------------------------------------------------------------------------------------------
// Does body `b` own this site? The first body that covers it does.
static bool owns(const rh_seeder *s, int b, rh_dvec3 x)
{
    if (rh_shape_distance(&s->geometry->bodies[b], x) >= 0) return false;
    for (int e = 0; e < b; e++)
        if (rh_shape_distance(&s->geometry->bodies[e], x) < 0) return false;
    return !rh_lattice_in_solid(s, x);
}

// Beyond this many cells a float no longer tells neighbouring cells apart, and no grid and no file has a place for
// them.
static const double MOST_CELLS = 1 << 23;

static rh_code check_reach(const rh_seeder *s, const rh_body_params *body, int b, const rh_dbox *bounds,
                           rh_status *status)
{
    double most = 0;
    for (int a = 0; a < s->dimension; a++)
        most = fmax(most, fmax(fabs((&bounds->min.x)[a]), fabs((&bounds->max.x)[a])));
    if (most <= MOST_CELLS * s->geometry->scene->cell) return RH_OK;
    return rh_fail(status, RH_USER,
                   "%s reaches %.4g m away from the origin: with cells of %g m at most %.4g m; move the scene, or take "
                   "larger cells",
                   rh_scene_item(s->geometry->scene, "body", b, body, body->name).text, most, s->geometry->scene->cell,
                   MOST_CELLS * s->geometry->scene->cell);
}

static rh_code body_bounds(const rh_seeder *s, int b, rh_dbox *bounds, rh_status *status)
{
    const rh_body_params *body = (const rh_body_params *)s->geometry->scene->bodies.items + b;
    *bounds = rh_shape_bounds(&s->geometry->bodies[b]);
    for (int a = 0; a < s->dimension; a++) {
        double *low = &(&bounds->min.x)[a], *high = &(&bounds->max.x)[a];
        if (*low > -1e9 && *high < 1e9) continue;
        double wall_low = (&s->geometry->container.min.x)[a], wall_high = (&s->geometry->container.max.x)[a];
        if (wall_low > wall_high || wall_low < -1e9 || wall_high > 1e9)
            return rh_fail(status, RH_USER, "%s %s",
                           rh_scene_item(s->geometry->scene, "body", b, body, body->name).text,
                           fmin(fabs(*low), fabs(*high)) > 1e9 && fmax(fabs(*low), fabs(*high)) < 1e20
                               ? "lies more than 1e9 m away from the origin"
                               : "has no end and there is no container (a solid with inside_out: true) around it");
        *low = fmax(*low, wall_low);
        *high = fmin(*high, wall_high);
    }
    return check_reach(s, body, b, bounds, status);
}

static rh_dvec3 body_velocity(const rh_seeder *s, int b, rh_dvec3 x)
{
    const rh_body_params *body = (const rh_body_params *)s->geometry->scene->bodies.items + b;
    rh_dbox bounds = rh_shape_bounds(&s->geometry->bodies[b]);
    rh_dvec3 center = rh_d3_scale(rh_d3_add(bounds.min, bounds.max), 0.5), w = body->angular_velocity, v;
    if (rh_d3_dot(w, w) == 0) v = body->velocity;
    else v = rh_d3_add(body->velocity, rh_d3_cross(w, rh_d3_sub(x, center)));
    if (s->dimension == 2) v.z = 0;
    return v;
}

static rh_dvec3 gravity_of(const rh_seeder *s)
{
    rh_dvec3 g = s->geometry->scene->gravity;
    return s->dimension == 2 ? rh_d3(g.x, g.y, 0) : g;
}

rh_code rh_seed_append(rh_seeder *s, rh_points *points, const rh_dvec3 *x, const rh_dvec3 *rest, int64_t n, int body,
                       rh_dvec3 velocity, rh_status *status)
{
    RH_ASSERT(n >= 0 && body >= -1);
    int64_t first = points->count;
    RH_TRY(rh_points_resize(points, first + n, status));
    rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    rh_vec3 *from = s->geometry->scene->rest_position ? rh_points_data(points, "rest", RH_POINT_VEC3F) : NULL;
    int64_t *id = rh_points_data(points, "id", RH_POINT_I64);
    float *radius = s->unit_radius > 0 ? rh_points_data(points, "radius", RH_POINT_F32) : NULL;
    const rh_weights weights = rh_weights_of(points, s->unit_radius);
    for (int64_t i = 0; i < n; i++) {
        if (radius) radius[first + i] = (float)s->new_radius;
        double weight = rh_weight(&weights, first + i);
        p[first + i] = rh_v3_from(x[i]);
        v[first + i] = rh_v3_from(body >= 0 ? body_velocity(s, body, x[i]) : velocity);
        if (from) from[first + i] = rh_v3_from(rest[i]);
        id[first + i] = s->first_id + s->next_id++;
        s->balance.energy_in += weight * rh_balance_energy(gravity_of(s), s->lag, p[first + i], v[first + i]);
        s->balance.momentum_in = rh_d3_add(s->balance.momentum_in, rh_d3_scale(rh_d3_from(v[first + i]), weight));
    }
    return RH_OK;
}

// Who gets the places of a filled region.
typedef struct receiver {
    rh_seeder *s;
    rh_points *points;
    int body;  // negative: an emitter's
} receiver;

static rh_code receive(const rh_dvec3 *places, int64_t count, void *user, rh_status *status)
{
    receiver *r = user;
    if (r->body < 0) r->s->emitted += count;
    return rh_seed_append(r->s, r->points, places, places, count, r->body, rh_d3(0, 0, 0), status);
}

static rh_code fill_body(const rh_seeder *s, int b, receiver *to, rh_seeded *out, rh_status *status)
{
    rh_dbox bounds;
    rh_region region = {.shape = &s->geometry->bodies[b], .earlier = b, .fitted = true};
    RH_TRY(body_bounds(s, b, &bounds, status));
    return rh_seed_region(s, &region, &bounds, to ? receive : NULL, to, out, status);
}

// Particles from `first` on get the viscosity of the body or emitter that they come from.
static void set_viscosity(rh_points *points, int64_t first, double viscosity)
{
    if (!(viscosity > 0) || first >= points->count) return;
    float *of = rh_points_data(points, "viscosity", RH_POINT_F32);
    for (int64_t i = first; i < points->count; i++) of[i] = (float)viscosity;
}

// Particles from `first` on get a number, if they have the attribute for it: of the kind of matter that they are, or of
// the body or emitter that they come from.
static void set_number(rh_points *points, const char *name, int64_t first, int number)
{
    const rh_attribute *of = rh_points_find(points, name);
    if (!of || of->type != RH_POINT_I32) return;
    for (int64_t i = first; i < points->count; i++) ((int32_t *)of->data)[i] = number;
}

static rh_code seed_body(rh_seeder *s, int b, rh_points *points, rh_status *status)
{
    const rh_body_params *body = (const rh_body_params *)s->geometry->scene->bodies.items + b;
    receiver to = {s, points, b};
    int64_t before = points->count;
    RH_TRY(fill_body(s, b, &to, &s->filled[b], status));
    set_viscosity(points, before, body->viscosity);
    set_number(points, "kind", before, body->kind_index);
    set_number(points, "piece", before, b);
    if (s->filled[b].count > 0) return RH_OK;
    return rh_fail(status, RH_USER,
                   "%s: no particle fits into it: it is smaller than a cell, outside of its container, or covered by a "
                   "solid or by an earlier body",
                   rh_scene_item(s->geometry->scene, "body", b, body, body->name).text);
}

rh_code rh_seed_bodies(rh_seeder *seeder, rh_points *points, rh_status *status)
{
    for (int b = 0; b < seeder->geometry->scene->bodies.count; b++)
        if (rh_seeder_fills(seeder, b)) RH_TRY(seed_body(seeder, b, points, status));
    return rh_points_fit(points, status);
}

rh_code rh_seed_body_count(const rh_seeder *seeder, int body, rh_seeded *out, rh_status *status)
{
    return fill_body(seeder, body, NULL, out, status);
}

rh_code rh_seed_count(const rh_seeder *seeder, int64_t *count, rh_status *status)
{
    *count = 0;
    for (int b = 0; b < seeder->geometry->scene->bodies.count; b++) {
        rh_seeded filled;
        if (!rh_seeder_fills(seeder, b)) continue;
        RH_TRY(fill_body(seeder, b, NULL, &filled, status));
        *count += filled.count;
    }
    return RH_OK;
}

static double estimate_body(const rh_seeder *s, int b, const rh_sites *box)
{
    static const double most = 2e6;
    double sites = 1, found = 0;
    for (int a = 0; a < s->dimension; a++) sites *= fmax((double)(box->high[a] - box->low[a]), 0);
    int64_t stride = (int64_t)ceil(pow(fmax(sites / most, 1), 1.0 / s->dimension)), half = stride / 2;
    bool deep = s->dimension == 3;
    for (int64_t k = deep ? box->low[2] + half : 0; k < (deep ? box->high[2] : 1); k += stride)
        for (int64_t j = box->low[1] + half; j < box->high[1]; j += stride)
            for (int64_t i = box->low[0] + half; i < box->high[0]; i += stride)
                found += owns(s, b, rh_lattice_position(s, i, j, k));
    return found * pow((double)stride, s->dimension);
}

rh_code rh_seed_estimate(const rh_seeder *seeder, double *count, rh_status *status)
{
    *count = 0;
    for (int b = 0; b < seeder->geometry->scene->bodies.count; b++) {
        rh_sites box;
        rh_dbox bounds;
        if (!rh_seeder_fills(seeder, b)) continue;
        RH_TRY(body_bounds(seeder, b, &bounds, status));
        RH_TRY(rh_lattice_sites(seeder, bounds, &box, status));
        *count += estimate_body(seeder, b, &box);
    }
    return RH_OK;
}

// --- emitters --------------------------------------------------------------------------------------------------------
static bool active(double start, double stop, double time) { return time >= start && time < stop; }

// Sites are looked at when the lattice has moved by a quarter of a spacing, at instants that do not depend on the
// steps: a site is emitted at the first instant at which it lies inside. (Looking only at the ends of steps loses what
// passes through a thin shape, or the rim of a round one, within a step.)
enum { INSTANTS = 64 };  // of one pass

typedef struct emission {
    const rh_shape *shape;
    rh_pose pose[INSTANTS + 1];
    double rate[INSTANTS + 1];     // share of the sites that become particles
    rh_dvec3 drift[INSTANTS + 1];  // how far the moving lattice has come; [0] is the last instant of the pass before
    int count;
    bool first;  // there was no instant before
    rh_dvec3 drift_now;
} emission;

static bool covers(const emission *e, int n, rh_dvec3 site)
{
    return rh_shape_distance(e->shape, rh_pose_to_local(&e->pose[n], rh_d3_add(site, e->drift[n]))) < 0;
}

// Sites that a rate below 1 leaves out are chosen by their number, so it does not matter in which step they come.
static bool enters(const rh_seeder *s, const emission *e, rh_dvec3 site, uint64_t number)
{
    if (!e->first && covers(e, 0, site)) return false;
    for (int n = 1; n <= e->count; n++)
        if (covers(e, n, site)) return e->rate[n] >= 1 || (double)rh_random(s->seed, number, 0, 7) < e->rate[n];
    return false;
}

static void add_instant(emission *e, int n, const rh_placed_shape *placed, const rh_emitter_params *p, double time)
{
    e->pose[n] = rh_placed_pose(placed, time);
    e->rate[n] = rh_emitter_rate(p, time);
    e->drift[n] = rh_d3_scale(p->velocity, time - p->start);
}

static rh_dbox emission_bounds(const emission *e)
{
    rh_dbox all = {{1e30, 1e30, 1e30}, {-1e30, -1e30, -1e30}};
    for (int n = 1; n <= e->count; n++) {
        rh_dbox b = rh_placed_bounds(e->shape, &e->pose[n]);
        for (int a = 0; a < 3; a++) {
            (&all.min.x)[a] = fmin((&all.min.x)[a], (&b.min.x)[a] - (&e->drift[n].x)[a]);
            (&all.max.x)[a] = fmax((&all.max.x)[a], (&b.max.x)[a] - (&e->drift[n].x)[a]);
        }
    }
    return all;
}

// What is poured is a rod of lattice that comes down its velocity; `rest` is the place in that rod, which does not
// depend on the steps.
static rh_code emit_pass(rh_seeder *s, const emission *e, rh_dvec3 velocity, rh_points *points, rh_status *status)
{
    rh_sites box;
    RH_TRY(rh_lattice_sites(s, emission_bounds(e), &box, status));
    rh_dvec3 batch[1024], rest[1024];
    int64_t count = 0;
    for (int64_t k = box.low[2]; k < box.high[2]; k++)
        for (int64_t j = box.low[1]; j < box.high[1]; j++)
            for (int64_t i = box.low[0]; i < box.high[0]; i++) {
                rh_dvec3 site = rh_lattice_position(s, i, j, k), x = rh_d3_add(site, e->drift_now);
                uint64_t number = rh_lattice_number(i, j, k);
                if (!enters(s, e, site, number) || rh_lattice_in_solid(s, x)) continue;
                rest[count] = rh_lattice_jittered(s, site, number);
                batch[count++] = rh_lattice_jittered(s, x, number);
                s->emitted++;
                if (count < 1024) continue;
                RH_TRY(rh_seed_append(s, points, batch, rest, count, -1, velocity, status));
                count = 0;
            }
    return rh_seed_append(s, points, batch, rest, count, -1, velocity, status);
}

static rh_code fill_emitter(const rh_seeder *s, int n, double time, receiver *to, rh_seeded *out, rh_status *status)
{
    const rh_placed_shape *placed = &s->geometry->emitters[n];
    rh_pose pose = rh_placed_pose(placed, time);
    rh_dbox bounds = rh_placed_bounds(&placed->shape, &pose);
    rh_region region = {.shape = &placed->shape, .pose = &pose};
    return rh_seed_region(s, &region, &bounds, to ? receive : NULL, to, out, status);
}

// An emitter that neither moves nor has a velocity fills its shape once.
static rh_code emit_once(rh_seeder *s, int n, double last, double time, rh_points *points, rh_status *status)
{
    receiver to = {s, points, -1};
    rh_seeded filled;
    return last < 0 ? fill_emitter(s, n, time, &to, &filled, status) : RH_OK;
}

// One without speed only places liquid: what its shape newly covers.
static rh_code emit_still(rh_seeder *s, int n, double last, double time, rh_points *points, rh_status *status)
{
    const rh_emitter_params *p = (const rh_emitter_params *)s->geometry->scene->emitters.items + n;
    const rh_placed_shape *placed = &s->geometry->emitters[n];
    emission e = {.shape = &placed->shape, .count = 1, .first = last < 0};
    add_instant(&e, 0, placed, p, last < 0 ? time : last);
    add_instant(&e, 1, placed, p, time);
    return emit_pass(s, &e, p->velocity, points, status);
}

static rh_code emit_flow(rh_seeder *s, int n, double last, double until, double time, rh_points *points,
                         rh_status *status)
{
    const rh_emitter_params *p = (const rh_emitter_params *)s->geometry->scene->emitters.items + n;
    const rh_placed_shape *placed = &s->geometry->emitters[n];
    double interval = 0.25 * s->spacing / rh_d3_length(p->velocity);
    // Instants are p->start + k interval, from 0; those up to `last` are done.
    int64_t done = last < 0 ? -1 : (int64_t)floor((last - p->start) / interval + 1e-6);
    int64_t end = (int64_t)floor((until - p->start) / interval + 1e-6);
    while (done < end) {
        emission e = {.shape = &placed->shape, .first = done < 0};
        e.drift_now = rh_d3_scale(p->velocity, time - p->start);
        e.count = (int)(end - done < INSTANTS ? end - done : INSTANTS);
        for (int i = e.first ? 1 : 0; i <= e.count; i++)
            add_instant(&e, i, placed, p, p->start + (double)(done + i) * interval);
        RH_TRY(emit_pass(s, &e, p->velocity, points, status));
        done += e.count;
    }
    return RH_OK;
}

// The lattice of an emitter whose velocity changes: how far it has come is summed up over the instants, whatever the
// steps.
typedef struct traveller {
    const rh_emitter_params *p;
    const rh_placed_shape *placed;
    double interval;
    int64_t at;      // instant
    rh_dvec3 drift;  // there
} traveller;

static rh_dvec3 travel_to(traveller *t, int64_t instant)
{
    for (; t->at < instant; t->at++)
        t->drift = rh_d3_add(
            t->drift,
            rh_d3_scale(rh_emitter_velocity(t->p, t->placed, t->p->start + ((double)t->at + 0.5) * t->interval),
                        t->interval));
    return t->drift;
}

// As emit_flow, for those.
static rh_code emit_varying(rh_seeder *s, int n, double last, double until, double time, rh_points *points,
                            rh_status *status)
{
    const rh_emitter_params *p = (const rh_emitter_params *)s->geometry->scene->emitters.items + n;
    const rh_placed_shape *placed = &s->geometry->emitters[n];
    traveller t = {p, placed, .interval = 0.25 * s->spacing / rh_emitter_fastest(p, placed)};
    int64_t done = last < 0 ? -1 : (int64_t)floor((last - p->start) / t.interval + 1e-6);
    int64_t end = (int64_t)floor((until - p->start) / t.interval + 1e-6);
    rh_dvec3 velocity = rh_emitter_velocity(p, placed, time);
    traveller now = t;
    int64_t whole = (int64_t)floor((time - p->start) / t.interval);
    rh_dvec3 there = rh_d3_add(travel_to(&now, whole),
                               rh_d3_scale(velocity, time - p->start - (double)whole * t.interval));
    while (done < end) {
        emission e = {.shape = &placed->shape, .first = done < 0, .drift_now = there};
        e.count = (int)(end - done < INSTANTS ? end - done : INSTANTS);
        for (int i = e.first ? 1 : 0; i <= e.count; i++) {
            add_instant(&e, i, placed, p, p->start + (double)(done + i) * t.interval);
            e.drift[i] = travel_to(&t, done + i);
        }
        RH_TRY(emit_pass(s, &e, velocity, points, status));
        done += e.count;
    }
    return RH_OK;
}

rh_code rh_emit(rh_seeder *seeder, double time, rh_points *points, rh_status *status)
{
    RH_ASSERT(seeder->removed <= seeder->next_id + seeder->received);
    const rh_emitter_params *emitters = seeder->geometry->scene->emitters.items;
    for (int n = 0; n < seeder->geometry->scene->emitters.count; n++) {
        const rh_emitter_params *p = &emitters[n];
        double last = seeder->emitted_until[n], until = fmin(time, p->stop);  // the last step may end after the stop
        if (!rh_seeder_pours(seeder, n) || time < p->start || last >= until) continue;
        bool still = rh_emitter_fastest(p, &seeder->geometry->emitters[n]) == 0;
        int64_t before = points->count;
        if (still && !active(p->start, p->stop, time)) continue;
        bool moves = !rh_motion_is_still(&p->motion);
        if (still && (moves || p->rate < 1)) RH_TRY(emit_still(seeder, n, last, time, points, status));
        else if (still) RH_TRY(emit_once(seeder, n, last, time, points, status));
        else if (rh_emitter_varies(p)) RH_TRY(emit_varying(seeder, n, last, until, time, points, status));
        else if (moves) RH_TRY(emit_flow(seeder, n, last, until, time, points, status));
        else RH_TRY(rh_emitter_flow_emit(seeder, n, last, until, time, points, status));
        if (!still) rh_emitter_set_velocities(p, &seeder->geometry->emitters[n], time, points, before);
        set_viscosity(points, before, p->viscosity);
        set_number(points, "kind", before, p->kind_index);
        set_number(points, "piece", before, seeder->geometry->scene->bodies.count + n);
        seeder->emitted_until[n] = until;
    }
    return RH_OK;
}

rh_code rh_seed_emitted_volume(const rh_seeder *seeder, int n, double time, double *volume, rh_status *status)
{
    const rh_emitter_params *p = (const rh_emitter_params *)seeder->geometry->scene->emitters.items + n;
    rh_seeded filled;
    *volume = -1;
    if (!rh_motion_is_still(&p->motion) || rh_emitter_varies(p)) return RH_OK;
    *volume = rh_emitter_flow_volume(&seeder->emitter_flows[n], p->start, fmin(time, p->stop));
    if (rh_d3_length(p->velocity) > 0 || time < p->start) return RH_OK;
    RH_TRY(fill_emitter(seeder, n, p->start, NULL, &filled, status));
    *volume = p->rate * filled.volume;
    return RH_OK;
}

int rh_inflows(const rh_seeder *seeder, double time, rh_inflow *out, int max)
{
    RH_ASSERT(max >= 0);
    const rh_emitter_params *emitters = seeder->geometry->scene->emitters.items;
    int count = 0;
    for (int n = 0; n < seeder->geometry->scene->emitters.count && count < max; n++) {
        // Without speed nothing flows: such an emitter only places liquid and lets it go.
        const rh_placed_shape *placed = &seeder->geometry->emitters[n];
        rh_dvec3 velocity = rh_emitter_velocity(&emitters[n], placed, time);
        bool flows = rh_d3_length(rh_emitter_own_velocity(&emitters[n], time)) > 0 &&
                     rh_emitter_rate(&emitters[n], time) > 0;
        if (!rh_seeder_pours(seeder, n) || !active(emitters[n].start, emitters[n].stop, time) || !flows) continue;
        rh_pose pose = rh_placed_pose(placed, time);
        out[count++] = (rh_inflow){&placed->shape, pose, velocity, rh_placed_bounds(&placed->shape, &pose)};
    }
    return count;
}

// --- sinks -----------------------------------------------------------------------------------------------------------
static void note_gone(rh_seeder *s, rh_vec3 x, rh_vec3 v, double weight)
{
    s->balance.energy_out += weight * rh_balance_energy(gravity_of(s), s->lag, x, v);
    s->balance.momentum_out = rh_d3_add(s->balance.momentum_out, rh_d3_scale(rh_d3_from(v), weight));
}

// Bytes of those that a sink takes are set.
static rh_code pick(rh_seeder *seeder, int n, double time, const rh_points *points, uint8_t *gone, rh_status *status)
{
    const rh_scene *scene = seeder->geometry->scene;
    const rh_sink_params *sink = (const rh_sink_params *)scene->sinks.items + n;
    const rh_placed_shape *placed = &seeder->geometry->sinks[n];
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F);
    rh_pose pose = rh_placed_pose(placed, time);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < points->count; i++)
        gone[i] = !sink->shape.value || (rh_shape_distance(&placed->shape, rh_pose_to_local(&pose, rh_d3_from(p[i]))) <
                                         0) != sink->inside_out;
    if (!sink->when) return RH_OK;
    return rh_sink_ask(sink->when, seeder->dimension, scene->cell, points, &seeder->sinks, gone, status);
}

static rh_code take_away(rh_seeder *seeder, const uint8_t *gone, rh_points *points, rh_status *status)
{
    int64_t kept = 0;
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    const rh_weights weights = rh_weights_of(points, seeder->unit_radius);
    uint32_t *order = rh_arena_take(&seeder->sinks.arena, (size_t)points->count * sizeof *order, status);
    if (!order) return RH_MEMORY;
    for (int64_t i = 0; i < points->count; i++) {
        if (!gone[i]) order[kept++] = (uint32_t)i;
        else note_gone(seeder, p[i], v[i], rh_weight(&weights, i));
    }
    seeder->removed += points->count - kept;
    return kept < points->count ? rh_points_permute(points, order, kept, status) : RH_OK;
}

rh_code rh_drain(rh_seeder *seeder, double time, rh_points *points, rh_status *status)
{
    RH_ASSERT(seeder->removed >= 0 && seeder->removed <= seeder->next_id + seeder->received);
    const rh_sink_params *sinks = seeder->geometry->scene->sinks.items;
    for (int n = 0; n < seeder->geometry->scene->sinks.count && points->count; n++) {
        if (!takes(seeder, &sinks[n]) || !active(sinks[n].start, sinks[n].stop, time)) continue;
        rh_arena_reset(&seeder->sinks.arena);
        uint8_t *gone = rh_arena_take(&seeder->sinks.arena, (size_t)points->count, status);
        if (!gone) return RH_MEMORY;
        RH_TRY(pick(seeder, n, time, points, gone, status));
        RH_TRY(take_away(seeder, gone, points, status));
    }
    return RH_OK;
}
