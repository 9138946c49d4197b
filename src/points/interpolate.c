// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Interpolating positions instead of level sets is from Y. Zhu, "Animating Sand as a Fluid", 2005; the curve is the
// cubic Hermite spline. Ids are found by a hash table with linear probing, filled in the order of the points: one
// access a particle for any ids; ids that are dense, as those of most runs, need no hash and stay in order.
#include "points/interpolate.h"

#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"

enum { NONE = -1 };
#define EMPTY UINT32_MAX

typedef struct table {
    uint32_t *slots;  // index of a point, or EMPTY
    uint64_t mask;
    int64_t least;  // id
    bool dense;     // the slot of an id is id - least
} table;

// A frame's columns; NULL where there is none of a type that can be used.
typedef struct frame {
    int64_t count;
    rh_vec3 *p, *v;
    const rh_attribute *id;
} frame;

static rh_vec3 *vectors(const rh_points *points, const char *name)
{
    const rh_attribute *found = rh_points_find(points, name);
    return found && found->type == RH_POINT_VEC3F && !found->uniform ? found->data : NULL;
}

static frame look(const rh_points *points)
{
    const rh_attribute *id = rh_points_find(points, "id");
    if (id && (id->uniform || (id->type != RH_POINT_I64 && id->type != RH_POINT_I32))) id = NULL;
    return (frame){points->count, vectors(points, "P"), vectors(points, "v"), id};
}

static int64_t id_of(const frame *f, int64_t i)
{
    return f->id->type == RH_POINT_I64 ? ((const int64_t *)f->id->data)[i] : ((const int32_t *)f->id->data)[i];
}

// The slot of an id: where it is, or the free one where it belongs; NULL: no slot can hold it.
static uint32_t *slot_of(const table *t, const frame *f, int64_t id)
{
    uint64_t at = t->dense ? (uint64_t)id - (uint64_t)t->least : rh_mix64((uint64_t)id) & t->mask;
    if (t->dense) return at <= t->mask ? &t->slots[at] : NULL;
    while (t->slots[at] != EMPTY && id_of(f, t->slots[at]) != id) at = (at + 1) & t->mask;
    return &t->slots[at];
}

// False in *unique when an id occurs twice.
static rh_code table_fill(table *t, const frame *f, bool *unique, rh_status *status)
{
    uint64_t room = 16;
    int64_t least = f->count ? id_of(f, 0) : 0, most = least;
    while (room < 2 * (uint64_t)f->count) room *= 2;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t id = id_of(f, i);
        least = id < least ? id : least;
        most = id > most ? id : most;
    }
    *t = (table){NULL, room - 1, least, (uint64_t)most - (uint64_t)least < room};
    t->slots = rh_alloc(room * sizeof *t->slots, "points.between", status);
    if (!t->slots) return RH_MEMORY;
    memset(t->slots, 0xff, room * sizeof *t->slots);
    *unique = true;
    for (int64_t i = 0; i < f->count && *unique; i++) {
        uint32_t *slot = slot_of(t, f, id_of(f, i));
        *unique = *slot == EMPTY;
        *slot = (uint32_t)i;
    }
    return RH_OK;
}

// match[i]: the point of `next` with the id of point i of `first`, or NONE. came[j]: whether j of `next` was matched.
// *unique as above.
static rh_code find_pairs(const frame *first, const frame *next, int64_t *match, bool *came, bool *unique,
                          rh_status *status)
{
    table t = {0};
    rh_code code = table_fill(&t, next, unique, status);
    for (int64_t i = 0; code == RH_OK && *unique && i < first->count; i++) {
        const uint32_t *slot = slot_of(&t, next, id_of(first, i));
        match[i] = slot && *slot != EMPTY ? (int64_t)*slot : NONE;
        if (match[i] == NONE) continue;
        *unique = !came[match[i]];
        came[match[i]] = true;
    }
    rh_free(t.slots);
    return code;
}

// The cubic with positions a, b and velocities va, vb at its ends, `dt` seconds apart; `s` in 0..1.
static void hermite(rh_dvec3 a, rh_dvec3 va, rh_dvec3 b, rh_dvec3 vb, double s, double dt, rh_vec3 *p, rh_vec3 *v)
{
    double h01 = s * s * (3 - 2 * s), h10 = s * (1 - s) * (1 - s), h11 = s * s * (s - 1);
    double d01 = 6 * s * (1 - s), d10 = (1 - s) * (1 - 3 * s), d11 = s * (3 * s - 2);
    rh_dvec3 way = rh_d3_sub(b, a);
    *p = rh_v3_from(rh_d3_add(rh_d3_add(a, rh_d3_scale(way, h01)),
                              rh_d3_add(rh_d3_scale(va, dt * h10), rh_d3_scale(vb, dt * h11))));
    *v = rh_v3_from(rh_d3_add(rh_d3_scale(way, d01 / dt), rh_d3_add(rh_d3_scale(va, d10), rh_d3_scale(vb, d11))));
}

static void move_on(const frame *f, int64_t i, double seconds)
{
    if (f->v) f->p[i] = rh_v3_from(rh_d3_add(rh_d3_from(f->p[i]), rh_d3_scale(rh_d3_from(f->v[i]), seconds)));
}

static void move_pair(const frame *f, int64_t i, const frame *next, int64_t j, double fraction, double dt)
{
    if (f->v && next->v)
        hermite(rh_d3_from(f->p[i]), rh_d3_from(f->v[i]), rh_d3_from(next->p[j]), rh_d3_from(next->v[j]), fraction, dt,
                &f->p[i], &f->v[i]);
    else
        f->p[i] = rh_v3_from(
            rh_d3_add(rh_d3_scale(rh_d3_from(f->p[i]), 1 - fraction), rh_d3_scale(rh_d3_from(next->p[j]), fraction)));
}

static void move_all(const frame *f, const frame *next, const int64_t *match, double fraction, double dt)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) {
        if (match && match[i] != NONE) move_pair(f, i, next, match[i], fraction, dt);
        else move_on(f, i, fraction * dt);
    }
}

// --- points that are only in the next frame --------------------------------------------------------------------------

// Attributes that hold one value for all stay so only when the newcomers have the same.
static rh_code make_room(rh_points *points, const rh_points *next, int64_t more, rh_status *status)
{
    for (int k = 0; k < points->attribute_count; k++) {
        const rh_attribute *to = &points->attributes[k], *from = rh_points_find(next, to->name);
        if (!to->uniform || !from || from->type != to->type) continue;
        if (from->uniform && memcmp(from->data, to->data, rh_point_type_size(to->type)) == 0) continue;
        RH_TRY(rh_points_add(points, to->name, to->type, status));
    }
    return rh_points_resize(points, points->count + more, status);
}

static void copy_point(const rh_points *points, int64_t i, const rh_points *next, int64_t j)
{
    for (int k = 0; k < points->attribute_count; k++) {
        const rh_attribute *to = &points->attributes[k], *from = rh_points_find(next, to->name);
        size_t size = rh_point_type_size(to->type);
        if (to->uniform || !from || from->type != to->type) continue;
        memcpy((char *)to->data + (size_t)i * size, (const char *)from->data + (from->uniform ? 0 : (size_t)j * size),
               size);
    }
}

static rh_code append_new(rh_points *points, const rh_points *next, const bool *came, double fraction, double dt,
                          int64_t *appeared, rh_status *status)
{
    *appeared = 0;
    if (fraction < 0.5) return RH_OK;
    for (int64_t j = 0; j < next->count; j++) *appeared += !came[j];
    int64_t i = points->count;
    RH_TRY(make_room(points, next, *appeared, status));
    frame f = look(points);
    for (int64_t j = 0; j < next->count; j++) {
        if (came[j]) continue;
        copy_point(points, i, next, j);
        move_on(&f, i, -(1 - fraction) * dt);
        i++;
    }
    return RH_OK;
}

// An empty frame says nothing of its attributes: those of the next frame are taken.
static rh_code adopt_attributes(rh_points *points, const rh_points *next, rh_status *status)
{
    for (int k = 0; k < next->attribute_count; k++) {
        const rh_attribute *a = &next->attributes[k];
        if (a->uniform) RH_TRY(rh_points_add_uniform(points, a->name, a->type, a->data, status));
        else RH_TRY(rh_points_add(points, a->name, a->type, status));
    }
    return RH_OK;
}

static rh_code cannot_move(const char *otherwise, rh_status *status)
{
    return rh_fail(status, RH_USER,
                   "a time between frames needs the velocities of the points: expected an attribute v (vec3f), or %s",
                   otherwise);
}

static rh_code between_pairs(rh_points *points, const rh_points *next, double fraction, double dt,
                             rh_interpolate_report *report, rh_status *status)
{
    frame first = look(points), second = look(next);
    int64_t *match = rh_alloc((size_t)first.count * sizeof *match, "points.between", status);
    bool *came = rh_alloc_zero((size_t)second.count * sizeof *came, "points.between", status), unique = false;
    rh_code code = match && came ? find_pairs(&first, &second, match, came, &unique, status) : RH_MEMORY;
    if (code == RH_OK && !unique && !first.v) code = cannot_move("ids that differ", status);
    if (code == RH_OK) {
        report->same_ids = !unique;
        for (int64_t i = 0; unique && i < first.count; i++) report->both += match[i] != NONE;
        report->first_only = first.count - report->both;
        move_all(&first, &second, unique ? match : NULL, fraction, dt);
        if (unique) code = append_new(points, next, came, fraction, dt, &report->appeared, status);
    }
    rh_free(match);
    rh_free(came);
    return code;
}

rh_code rh_points_interpolate(rh_points *points, const rh_points *next, double fraction, double dt,
                              rh_interpolate_report *report, rh_status *status)
{
    RH_ASSERT(fraction >= 0 && fraction <= 1 && points != next);
    rh_interpolate_report unwanted;
    if (!report) report = &unwanted;
    *report = (rh_interpolate_report){0};
    if (fraction <= 0) return RH_OK;
    if (next && points->count == 0) RH_TRY(adopt_attributes(points, next, status));
    frame first = look(points), second = next ? look(next) : (frame){0};
    bool pairs = first.p && second.p && first.id && second.id;
    if (!pairs && !first.v && points->count > 0)
        return cannot_move("id (int32 or int64) in this frame and the next", status);
    if (pairs) return between_pairs(points, next, fraction, dt, report, status);
    report->first_only = points->count;
    move_all(&first, &second, NULL, fraction, dt);
    return RH_OK;
}
