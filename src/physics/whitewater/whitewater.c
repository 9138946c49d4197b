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
#include <string.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "physics/step.h"
#include "physics/whitewater/move.h"

enum { SORT_EVERY = 8, PARTS = 16 };  // steps; of the particles, when they are sorted

typedef struct whitewater {
    const rh_whitewater_params *params;
    rh_arena arena;
    rh_foam_flow flow;
    rh_foam_walls walls;
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
    rh_foam_walls_free(&me->walls);
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

// --- the end ---------------------------------------------------------------------------------------------------------
// The particles whose time is over, ascending: those that moved, then new ones of a class that nobody wants; and the
// speed (m/s) of the fastest that stays.
static rh_code list_gone(whitewater *me, const rh_foam_gone *gone, int64_t moved, const rh_points *points,
                         uint32_t **out, int64_t *over, double *fastest, rh_status *status)
{
    float speed2 = 0;
    const rh_foam_particles p = rh_foam_particles_of(points);
    int64_t count = 0, most = points->count - moved + 1;
    for (int64_t b = 0; b < gone->blocks; b++) most += gone->counts[b];
    uint32_t *list = *out = rh_arena_take(&me->arena, (size_t)most * sizeof *list, status);
    if (!list) return RH_MEMORY;
    for (int64_t b = 0; b < gone->blocks; b++) {
        memcpy(list + count, gone->items + b * RH_BLOCK, (size_t)gone->counts[b] * sizeof *list);
        count += gone->counts[b];
        speed2 = rh_max_of(speed2, gone->fastest[b]);
    }
    for (int64_t i = moved; i < points->count; i++) {
        if (rh_foam_is_over(me->params, p.life[i], p.age[i], p.kind[i])) list[count++] = (uint32_t)i;
        else speed2 = rh_max_of(rh_v3_dot(p.v[i], p.v[i]), speed2);
    }
    *fastest = sqrt((double)speed2);
    return *over = count, RH_OK;
}

// The last ones take the places of those that go: what is moved is no more than what goes. (Everybody moving up cost a
// sixth of a step.)
static rh_code fill_places(const uint32_t *gone, int64_t count, rh_points *points, rh_status *status)
{
    int64_t last = points->count - 1, end = count - 1;
    for (int64_t n = 0; n < count; n++) {
        for (; end >= n && gone[end] == last; end--) last--;
        if (gone[n] >= last) break;
        rh_points_inherit(points, last--, gone[n]);
    }
    return rh_points_resize(points, points->count - count, status);
}

// Puts particles into the order of the tiles that they are in, new ones last: what moves on between two sorts is found
// beside. Each part of them counts for itself, so that all know where theirs belong.
static rh_code order_by_tile(whitewater *me, const int32_t *tiles, int64_t moved, uint32_t *order, rh_status *status)
{
    int64_t bins = me->flow.tiles.count + 1, total = 0;
    int64_t *starts = rh_arena_take_zero(&me->arena, (size_t)(bins * PARTS) * sizeof *starts, status);
    if (!starts) return RH_MEMORY;
    for (int fill = 0; fill < 2; fill++) {
#pragma omp parallel for schedule(static)
        for (int part = 0; part < PARTS; part++)
            for (int64_t i = moved * part / PARTS; i < moved * (part + 1) / PARTS; i++) {
                int64_t *start = &starts[tiles[i] * PARTS + part];
                if (fill) order[*start] = (uint32_t)i;
                ++*start;
            }
        for (int64_t n = 0; n < bins * PARTS && !fill; n++) {
            int64_t here = starts[n];
            starts[n] = total, total += here;
        }
    }
    return RH_OK;
}

// In the order of tiles, without those that go.
static rh_code sort(whitewater *me, const int32_t *tiles, int64_t moved, const uint32_t *gone, int64_t count,
                    rh_points *points, rh_status *status)
{
    uint32_t *order = rh_arena_take(&me->arena, (size_t)(points->count + 1) * sizeof *order, status);
    uint8_t *goes = rh_arena_take(&me->arena, (size_t)points->count + 1, status);
    int64_t kept = 0;
    if (!order || !goes) return RH_MEMORY;
    memset(goes, 0, (size_t)points->count);
    RH_TRY(order_by_tile(me, tiles, moved, order, status));
    for (int64_t i = moved; i < points->count; i++) order[i] = (uint32_t)i;
    for (int64_t n = 0; n < count; n++) goes[gone[n]] = 1;
    for (int64_t n = 0; n < points->count; n++) {
        uint32_t i = order[n];
        order[kept] = i;
        kept += !goes[i];
    }
    return rh_points_permute(points, order, kept, status);
}

static rh_code step(void *self, const rh_surroundings *around, double dt, rh_points *points, rh_step_report *report,
                    rh_status *status)
{
    whitewater *me = self;
    const rh_base_run *base = base_of(me, around);
    double clock = rh_seconds();
    rh_arena_expect_growth(&me->arena);
    rh_arena_reset(&me->arena);
    *report = (rh_step_report){0};
    if (!base) return rh_fail(status, RH_USER, "whitewater: no run is called '%s'", me->params->over);
    RH_TRY(rh_foam_flow_build(&me->flow, me->params, base, &me->arena, status));
    rh_step_stage(report, &clock, "flow");
    const bool sorts = around->step % SORT_EVERY == 0;
    const int64_t moved = points->count;
    const rh_foam_motion motion = {me->params, around, &me->flow, &me->walls, dt, &me->arena};
    rh_foam_gone gone;
    int32_t *tiles = rh_arena_take(&me->arena, (size_t)(points->count + 1) * sizeof *tiles, status);
    if (!tiles) return RH_MEMORY;
    RH_TRY(rh_foam_move(&motion, points, sorts ? tiles : NULL, &gone, status));
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
    uint32_t *list;
    int64_t over;
    RH_TRY(list_gone(me, &gone, moved, points, &list, &over, &report->max_speed, status));
    if (points->count)
        RH_TRY(sorts ? sort(me, tiles, moved, list, over, points, status) : fill_places(list, over, points, status));
    rh_step_stage(report, &clock, "sort");
    report->tiles = me->flow.tiles.count;
    report->cells = rh_tiles_values(&me->flow.tiles);
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
    return count * each + tiles * (dimension == 3 ? 512 : 64) * 172;
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
