// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Density and distance are asked of a material as a layer asks them of the run it stands on (physics/base_run.h): what
// lies around a place counts with its radius.
#include "world/exchange_rules.h"

#include <math.h>
#include <string.h>
#include "base/context.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "physics/base_run.h"
#include "world/parts.h"

static const double REACH = 1.5;  // cells

// A material as it is now, seen as layers see a base run.
static rh_code look_at(const rh_material *m, rh_base_run *run, rh_status *status)
{
    const rh_attribute *radius = rh_points_find(m->points, "radius");
    rh_arena arena;
    *run = (rh_base_run){.name = m->name,
                         .dimension = m->seeder.dimension,
                         .time = m->time,
                         .points = *m->points,  // borrowed
                         .radius = radius && radius->uniform ? *(const float *)radius->data
                                                             : (float)(0.62 * m->seeder.spacing),
                         .reach = (float)(REACH * m->scene->cell)};
    const rh_neighbours_input input = {.dimension = run->dimension,
                                       .positions = rh_points_data(m->points, "P", RH_POINT_VEC3F),
                                       .count = m->points->count,
                                       .cell = rh_neighbours_cell((double)run->reach),
                                       .leave_out = true};
    rh_arena_init(&arena, "world.exchange");
    rh_code code = rh_neighbours_build(&run->near, &input, &arena, status);
    rh_arena_free(&arena);
    return code;
}

// Particles within reach of one in the middle of its material.
static double full_count(const rh_material *m)
{
    double reach = REACH * m->scene->cell / m->seeder.spacing, pi = 3.14159265358979323846;
    return m->seeder.dimension == 3 ? 4 * pi / 3 * reach * reach * reach : pi * reach * reach;
}

typedef struct question {
    const rh_base_run *run;
    double most;     // neighbours, itself counted
    double nearest;  // m
} question;

static rh_code answer(const question *q, rh_vec3 place, rh_neighbour_list *found, bool *yes)
{
    rh_base_answer a;
    if (q->most > 0) {
        RH_TRY(rh_neighbours_within(&q->run->near, place, q->run->reach, found, NULL));
        *yes = (double)found->count < q->most;
        return RH_OK;
    }
    RH_TRY(rh_base_ask(q->run, place, found, &a, NULL));
    *yes = a.near && (double)a.distance < q->nearest;
    return RH_OK;
}

// Those that the answer is not true of stay.
static rh_code ask(const question *q, const rh_points *points, uint8_t *moves, rh_status *status)
{
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F);
    rh_context *context = rh_context_current();
    bool failed = false;
    rh_neighbour_list *found = rh_alloc_zero((size_t)rh_threads() * sizeof *found, "world.exchange", status);
    if (!found) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 1024) reduction(|| : failed)
    for (int64_t i = 0; i < points->count; i++) {
        bool yes = false;
        if (!moves[i]) continue;
        rh_context_scope before = rh_context_enter(context);  // answers may need memory
        failed = failed || answer(q, p[i], &found[rh_thread()], &yes) != RH_OK;
        rh_context_leave(before);
        moves[i] = yes;
    }
    for (int n = 0; n < rh_threads(); n++) rh_neighbour_list_free(&found[n]);
    rh_free(found);
    return failed ? rh_fail(status, RH_MEMORY, "no memory to find who changes its material") : RH_OK;
}

static bool any(const uint8_t *moves, int64_t count) { return count > 0 && memchr(moves, 1, (size_t)count) != NULL; }

static rh_code ask_of(const rh_material *m, question q, const rh_points *points, uint8_t *moves, rh_status *status)
{
    rh_base_run run;
    if (!any(moves, points->count)) return RH_OK;
    rh_code code = look_at(m, &run, status);
    q.run = &run;
    if (code == RH_OK) code = ask(&q, points, moves, status);
    rh_neighbours_free(&run.near);
    return code;
}

rh_code rh_exchange_pick(const rh_world *w, const rh_exchange_params *e, const uint8_t *group, uint8_t **moves,
                         rh_status *status)
{
    const rh_material *from = &w->materials[e->from_index], *to = &w->materials[e->to_index];
    const rh_exchange_when *when = e->when;
    int64_t count = from->points->count;
    const rh_vec3 *v = rh_points_data(from->points, "v", RH_POINT_VEC3F);
    *moves = rh_alloc((size_t)count + 1, "world.exchange", status);
    if (!*moves) return RH_MEMORY;
    for (int64_t i = 0; i < count; i++)
        (*moves)[i] = (!group || group[i]) && (double)rh_v3_length(v[i]) >= when->faster;
    question thin = {.most = when->thinner * full_count(from)}, near = {.nearest = when->into};
    rh_code code = RH_OK;
    if (when->thinner > 0) code = ask_of(from, thin, from->points, *moves, status);
    if (code == RH_OK && when->into < 1e9) code = ask_of(to, near, from->points, *moves, status);
    if (code == RH_OK) return RH_OK;
    rh_free(*moves);
    *moves = NULL;
    return code;
}
