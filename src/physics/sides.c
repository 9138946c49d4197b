// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A particle beside a wall thinner than a cell would act on cells beyond it. So while a step is on the grid the
// particle stands where all its weight is on its own side; afterwards it gets its real position and its displacement
// back, and its path is led along walls instead of through them.
#include "physics/sides.h"

#include <math.h>
#include "solid/features.h"
#include "solid/thin.h"

static const char REAL[] = "P_real";
enum { ROUNDS = 4 };

// --- how the grid sees particles -------------------------------------------------------------------------------------
rh_code rh_sides_leave(const rh_surroundings *around, rh_points *points, rh_status *status)
{
    if (!around->obstacles->any_thin) return RH_OK;
    if (!rh_points_find(points, REAL)) {
        RH_TRY(rh_points_add(points, REAL, RH_POINT_VEC3F, status));
        rh_points_find(points, REAL)->transient = true;
    }
    rh_vec3 *positions = rh_points_data(points, "P", RH_POINT_VEC3F),
            *real = rh_points_data(points, REAL, RH_POINT_VEC3F);
    double reach = rh_thin_reach(around->dimension, around->cell);
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t p = 0; p < points->count; p++) {
        real[p] = positions[p];
        rh_thin_list near;
        rh_dvec3 x = rh_d3_from(positions[p]), seen;
        rh_thin_near(around->obstacles, x, reach, &near);
        if (near.count > 0 && rh_thin_view(around->obstacles, &near, around->dimension, around->cell, x, &seen))
            positions[p] = rh_v3_from(seen);
    }
    return RH_OK;
}

void rh_sides_return(const rh_surroundings *around, const rh_points *points, rh_vec3 *start, rh_vec3 *positions)
{
    if (!around->obstacles->any_thin) return;
    const rh_vec3 *real = rh_points_data((rh_points *)(uintptr_t)points, REAL, RH_POINT_VEC3F);
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < points->count; p++) {
        rh_vec3 seen = start[p];
        start[p] = real[p];
        if (seen.x == real[p].x && seen.y == real[p].y && seen.z == real[p].z) continue;
        positions[p] = rh_v3_add(real[p], rh_v3_sub(positions[p], seen));
    }
}

// --- what is fast ----------------------------------------------------------------------------------------------------
static const double FAST = 0.25;  // of its thickness in a step

// A solid that moves over particles in one step leaves them deep inside it, or behind it: pushed to the nearest surface
// they would come out on the other side. So their path relative to the solid is traced, as with thin walls.
static bool is_fast(const rh_surroundings *around, int i)
{
    const rh_obstacle *a = &around->obstacles->items[i], *b = &around->obstacles_after->items[i];
    if (b->rests || b->sequence) return false;
    double size = fmin(b->thickness, b->features ? 2 * b->features->depth : 1e30), reach = 0;
    rh_dvec3 moved = rh_d3_sub(rh_pose_to_world(&b->pose, b->pose.pivot), rh_pose_to_world(&a->pose, a->pose.pivot));
    for (int k = 0; k < 3; k++) {
        rh_dvec3 turned = rh_d3_sub(b->pose.rotation.row[k], a->pose.rotation.row[k]);
        reach += rh_d3_dot(turned, turned);
    }
    double turn = reach > 0 ? sqrt(0.5 * reach) * rh_shape_reach(&b->shape, b->pose.pivot) : 0;
    return rh_d3_length(moved) + turn > FAST * size;
}

bool rh_sides_walk(const rh_surroundings *around)
{
    bool any = around->obstacles->any_thin;
    for (int i = 0; i < around->obstacles->count && !any && around->obstacles->any_moving; i++)
        any = is_fast(around, i);
    return any;
}

// --- no way through --------------------------------------------------------------------------------------------------
// One particle and one solid, in the solid's own space: a wall that moves meets what rests.
static bool hold_at(const rh_obstacle *before, const rh_obstacle *o, double gap, rh_dvec3 start, rh_dvec3 *x,
                    rh_dvec3 *normal)
{
    rh_dvec3 from = rh_pose_to_local(&before->pose, start);
    if (o->sequence) from = rh_d3_add(from, rh_d3_scale(rh_obstacle_deforms(before, from), before->span));
    rh_thin_way way = {.from = from, .to = rh_pose_to_local(&o->pose, *x), .gap = gap};
    if (!rh_thin_walk(&o->shape, &way)) return false;
    double z = x->z;
    *x = rh_pose_to_world(&o->pose, way.to);
    if (o->shape.flat) x->z = z;
    *normal = rh_pose_turn(&o->pose, way.normal);
    return true;
}

// Solids whose ways are walked, some at a time.
enum { SOME = 128 };
typedef struct walked {
    int items[SOME];
    int count;
} walked;

static void hold(const rh_surroundings *around, const walked *list, const rh_collision *c, rh_dvec3 start,
                 rh_vec3 *position, rh_vec3 *velocity)
{
    const rh_obstacles *obstacles = around->obstacles_after;
    const rh_obstacle *before = around->obstacles->items;
    rh_dvec3 x = rh_d3_from(*position), normal = {0, 0, 0};
    bool any = false;
    int last = -1;
    for (int n = 0; n < ROUNDS; n++) {
        last = -1;
        for (int k = 0; k < list->count; k++) {
            int i = list->items[k];
            if (!hold_at(&before[i], &obstacles->items[i], c->gap, start, &x, &normal)) continue;
            rh_walls_stop(obstacles, i, x, normal, c->friction, velocity);
            last = i;
            any = true;
        }
        if (last < 0) break;
    }
    // Between walls that leave it no free path a particle stays where it was, and moves along with the wall that
    // stopped it last.
    if (last >= 0) {
        const rh_obstacle *o = &obstacles->items[last];
        rh_dvec3 stays = rh_pose_to_world(&o->pose, rh_pose_to_local(&before[last].pose, start));
        x = rh_d3(stays.x, stays.y, o->shape.flat ? x.z : stays.z);
    }
    if (any) *position = rh_v3_from(x);
}

void rh_sides_hold(const rh_surroundings *around, const rh_collision *collision, int64_t count, const rh_vec3 *start,
                   rh_vec3 *positions, rh_vec3 *velocities)
{
    for (int next = 0; next < around->obstacles->count;) {
        walked list = {.count = 0};
        for (; next < around->obstacles->count && list.count < SOME; next++)
            if (around->obstacles->items[next].thin || (around->obstacles->any_moving && is_fast(around, next)))
                list.items[list.count++] = next;
        if (list.count == 0) return;
#pragma omp parallel for schedule(dynamic, 1024)
        for (int64_t p = 0; p < count; p++)
            hold(around, &list, collision, rh_d3_from(start[p]), &positions[p], &velocities[p]);
    }
}
