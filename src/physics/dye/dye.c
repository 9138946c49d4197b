// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A step, in order:
//  1. tiles: those with dye and all their neighbours; the field is carried over to them
//  2. advect: the flow at cell centres, given or that of a base run, and what it carries (physics/transport.h)
//  3. diffuse
//  4. emitters: 1 inside.
// Outside of the tiles there is no dye. Solids are not seen.
#include "physics/dye/dye.h"

#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/context.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "grid/fields.h"
#include "physics/base_run.h"
#include "physics/step.h"
#include "physics/transport.h"

typedef struct dye {
    const rh_dye_params *params;
    rh_fields *fields;  // the world's
    rh_arena arena;
} dye;

static float *values_of(const dye *me) { return rh_fields_find(me->fields, "dye")->axis[0]; }

static rh_dvec3 flow_at(const rh_dye_params *p, rh_dvec3 x)
{
    return rh_d3_add(p->velocity, rh_d3_cross(p->angular_velocity, rh_d3_sub(x, p->center)));
}

static rh_dvec3 center_of(const rh_tiles *tiles, int32_t t, int c)
{
    return rh_d3_from(rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6));
}

// Sets 1 in the cells inside of a shape.
static void stain(const dye *me, const rh_tiles *tiles, const rh_shape *shape, const rh_pose *pose)
{
    float *values = values_of(me);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int c = 0; c < tiles->cells; c++) {
            rh_dvec3 x = center_of(tiles, t, c);
            if (rh_shape_distance(shape, pose ? rh_pose_to_local(pose, x) : x) < 0)
                values[(int64_t)t * tiles->cells + c] = 1;
        }
}

// The tiles around a box are added to those of the fields.
static rh_code cover(dye *me, rh_dbox box, rh_tiles *tiles, rh_status *status)
{
    const rh_fields *fields = me->fields;
    double size = RH_TILE * fields->h, low[3] = {0}, count[3] = {1, 1, 1};
    for (int a = 0; a < fields->dimension; a++) {
        low[a] = floor((&box.min.x)[a] / size);
        count[a] = floor((&box.max.x)[a] / size) - low[a] + 1;
    }
    double all = count[0] * count[1] * count[2];
    if (!(all < 1e7)) return rh_fail(status, RH_USER, "dye needs bodies and emitters with an end: %.3g tiles", all);
    rh_tile *keys = rh_arena_take(&me->arena, (size_t)(fields->count + (int64_t)all + 1) * sizeof *keys, status);
    if (!keys) return RH_MEMORY;
    int64_t n = fields->count;
    if (n) memcpy(keys, fields->at, (size_t)n * sizeof *keys);
    for (int64_t i = 0; i < (int64_t)all; i++)
        keys[n++] = (rh_tile){(int32_t)(low[0] + (double)(i % (int64_t)count[0])),
                              (int32_t)(low[1] + (double)(i / (int64_t)count[0] % (int64_t)count[1])),
                              (int32_t)(low[2] + (double)(i / (int64_t)(count[0] * count[1])))};
    RH_TRY(rh_tiles_from_keys(tiles, fields->dimension, fields->h, keys, n, &me->arena, status));
    return rh_fields_carry(me->fields, tiles, status);
}

static rh_code dye_create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                          rh_status *status)
{
    (void)points;
    dye *me = rh_alloc_zero(sizeof *me, "dye", status);
    if (!me) return RH_MEMORY;
    *self = me;
    *me = (dye){.params = params, .fields = around->fields};
    rh_arena_init(&me->arena, "dye.scratch");
    RH_TRY(rh_fields_add(me->fields, "dye", RH_FIELD_FLOAT, 0, status));
    rh_tiles tiles;
    for (int i = 0; i < around->body_count; i++) {
        RH_TRY(cover(me, rh_shape_bounds(around->bodies[i]), &tiles, status));
        stain(me, &tiles, around->bodies[i], NULL);
        rh_arena_reset(&me->arena);
    }
    return RH_OK;
}

static void dye_destroy(void *self)
{
    dye *me = self;
    rh_arena_free(&me->arena);
    rh_free(me);
}

static double dye_max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    (void)points;
    const dye *me = self;
    const char *name = me->params->carried_by;
    const rh_base_run *base = name ? rh_base_find(around->bases, around->base_count, name) : NULL;
    if (name) return base && base->fastest > 0 ? me->params->cfl * around->cell / (double)base->fastest : INFINITY;
    double fastest = 0, size = RH_TILE * around->cell;
    for (int32_t t = 0; t < me->fields->count; t++)  // the speed is convex: greatest at corners
        for (int corner = 0; corner < 8; corner++) {
            rh_tile at = me->fields->at[t];
            rh_dvec3 x = rh_d3((at.x + (corner & 1)) * size, (at.y + (corner >> 1 & 1)) * size,
                               around->dimension == 3 ? (at.z + (corner >> 2)) * size : 0);
            fastest = fmax(fastest, rh_d3_length(flow_at(me->params, x)));
        }
    return fastest > 0 ? me->params->cfl * around->cell / fastest : INFINITY;
}

// --- a step ----------------------------------------------------------------------------------------------------------
// The flow at cell centres (m/s).
static rh_code fill_flow(dye *me, const rh_surroundings *around, const rh_tiles *tiles, rh_faces *flow,
                         rh_status *status)
{
    const char *name = me->params->carried_by;
    const rh_base_run *base = name ? rh_base_find(around->bases, around->base_count, name) : NULL;
    rh_context *context = rh_context_current();
    bool failed = false;
    rh_neighbour_list *found = rh_arena_take_zero(&me->arena, (size_t)rh_threads() * sizeof *found, status);
    if (!found || rh_faces_new(flow, tiles, false, &me->arena, status) != RH_OK) return RH_MEMORY;
    if (!flow->axis[2] && !(flow->axis[2] = rh_field_new(tiles, &me->arena, status))) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 2) reduction(|| : failed)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int c = 0; c < tiles->cells; c++) {
            rh_dvec3 x = center_of(tiles, t, c);
            rh_base_answer answer = {0};
            rh_vec3 v;
            if (!name) v = rh_v3_from(flow_at(me->params, x));
            else {
                rh_context_scope before = rh_context_enter(context);  // answers may need memory
                failed = failed || !base ||
                         rh_base_ask(base, rh_v3_from(x), &found[rh_thread()], &answer, NULL) != RH_OK;
                rh_context_leave(before);
                v = answer.velocity;
            }
            for (int a = 0; a < 3; a++) flow->axis[a][(int64_t)t * tiles->cells + c] = (&v.x)[a];
        }
    for (int n = 0; n < rh_threads(); n++) rh_neighbour_list_free(&found[n]);
    return failed ? rh_fail(status, RH_MEMORY, "no memory to ask for the flow of '%s'", name) : RH_OK;
}

static rh_code dye_step(void *self, const rh_surroundings *around, double dt, rh_points *points, rh_step_report *report,
                        rh_status *status)
{
    (void)points;
    dye *me = self;
    rh_tiles tiles;
    double clock = rh_seconds();
    rh_arena_reset(&me->arena);
    *report = (rh_step_report){0};
    RH_TRY(rh_transport_tiles(me->fields, "dye", me->params->least, NULL, 0, &me->arena, &tiles, status));
    for (int i = 0; i < around->inflow_count; i++) RH_TRY(cover(me, around->inflows[i].bounds, &tiles, status));
    rh_step_stage(report, &clock, "tiles");
    rh_faces flow;
    RH_TRY(fill_flow(me, around, &tiles, &flow, status));
    const rh_transport_value value = {values_of(me), 0, 1};
    RH_TRY(rh_transport_advect(&tiles, flow, dt, &value, 1, &me->arena, status));
    rh_step_stage(report, &clock, "advect");
    double share = me->params->diffusivity * dt / (me->fields->h * me->fields->h);
    RH_TRY(rh_transport_diffuse(&tiles, share, NULL, values_of(me), &me->arena, report, status));
    for (int i = 0; i < around->inflow_count; i++)
        stain(me, &tiles, around->inflows[i].shape, &around->inflows[i].pose);
    rh_transport_forget(&tiles, 1e-3 * me->params->least, values_of(me));
    rh_step_stage(report, &clock, "diffuse");
    report->tiles = tiles.count;
    report->cells = rh_tiles_values(&tiles);
    report->max_speed = me->params->cfl * around->cell / fmax(dye_max_step(me, around, points), 1e-30);
    return RH_OK;
}

static const char *dye_base(const void *params) { return ((const rh_dye_params *)params)->carried_by; }
static int dye_per_cell_axis(const void *params) { return (void)params, 1; }
static double dye_density(const void *params) { return (void)params, 1000; }

static int64_t dye_predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    (void)params;
    (void)particles;
    return tiles * (dimension == 3 ? 512 : 64) * (int64_t)(sizeof(float) * 11);
}

const rh_physics rh_dye = {.name = "dye",
                           .params = &rh_dye_table,
                           .create = dye_create,
                           .destroy = dye_destroy,
                           .max_step = dye_max_step,
                           .step = dye_step,
                           .per_cell_axis = dye_per_cell_axis,
                           .density = dye_density,
                           .predict_bytes = dye_predict_bytes,
                           .base = dye_base,
                           .without_particles = true};
