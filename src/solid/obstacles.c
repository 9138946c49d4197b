// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The union of all solids. Every question goes into a solid's own space through its pose and back; a container
// (inside_out) changes the sign. Most scenes have few solids, so plain loops; tiles shorten them with
// rh_obstacles_near, and a solid that is too far to be the nearest is told by the ball around it.
#include "solid/obstacles.h"

#include <math.h>
#include <stddef.h>
#include "base/memory.h"

const char *const rh_wall_names[] = {"slip", "no_slip", "separate", NULL};

static const double nothing = 1e30;

rh_code rh_obstacles_create(const rh_obstacles *solids, rh_obstacles *out, rh_status *status)
{
    *out = (rh_obstacles){0};
    out->items = rh_alloc_zero((size_t)(solids->count + 1) * sizeof *out->items, "solids", status);
    if (!out->items) return RH_MEMORY;
    out->count = solids->count;
    return RH_OK;
}

void rh_obstacles_free(rh_obstacles *obstacles)
{
    for (int i = 0; i < obstacles->count; i++) {
        rh_mesh_sequence_release(obstacles->items[i].snapshot);
        rh_free(obstacles->items[i].velocities);
    }
    rh_free(obstacles->items);
    *obstacles = (rh_obstacles){0};
}

static void place(rh_obstacle *o, double time, double dt)
{
    rh_pose middle;
    if (o->kind == RH_SOLID_DYNAMIC) {
        o->origin = rh_d3_add(o->pose.pivot, o->pose.translation);
        o->rests = false;
        return;
    }
    rh_motion_place(&o->motion, time, o->shape.flat, &o->pose, &o->linear, &o->angular);
    rh_motion_place(&o->motion, time + 0.5 * dt, o->shape.flat, &middle, &o->linear, &o->angular);
    o->origin = rh_d3_add(middle.pivot, middle.translation);
    o->rests = rh_motion_is_still(&o->motion) && (!o->sequence || rh_mesh_sequence_is_still(o->sequence));
}

static double reach_of(const rh_obstacle *o)
{
    static const double endless = 1e9;
    rh_dbox b = rh_shape_bounds(&o->shape);
    double sum = 0;
    if (o->inside_out || o->shape.kind == RH_SHAPE_MESH) return 0;
    for (int a = 0; a < (o->shape.flat ? 2 : 3); a++) {
        double low = (&b.min.x)[a] - (&o->pose.pivot.x)[a], high = (&b.max.x)[a] - (&o->pose.pivot.x)[a];
        sum += fmax(low * low, high * high);
    }
    return sum < endless * endless ? sqrt(sum) : 0;
}

rh_dvec3 rh_impulse_about(const rh_impulse *impulse, rh_dvec3 point)
{
    return rh_d3_sub(impulse->angular, rh_d3_cross(point, impulse->linear));
}

// The mesh of that time. Room for velocities is taken when it is first asked for.
static rh_code deform(rh_obstacle *o, double time, double dt, rh_status *status)
{
    rh_mesh_snapshot *now;
    if (!o->velocities) {
        size_t bytes = (size_t)rh_mesh_sequence_vertices(o->sequence) * sizeof *o->velocities;
        o->velocities = rh_alloc(bytes, "solids", status);
        if (!o->velocities) return RH_MEMORY;
    }
    RH_TRY(rh_mesh_sequence_hold(o->sequence, time, &now, status));
    rh_mesh_sequence_release(o->snapshot);
    o->snapshot = now;
    o->shape.mesh = o->snapshot->sdf;
    o->span = dt;
    o->ticks[0] = rh_mesh_sequence_tick(o->sequence, time);
    o->ticks[1] = rh_mesh_sequence_tick(o->sequence, time + dt);
    return rh_mesh_sequence_velocities(o->sequence, time, dt, o->velocities, status);
}

rh_code rh_obstacles_at(const rh_obstacles *solids, double time, double dt, rh_obstacles *out, rh_status *status)
{
    RH_ASSERT(solids->count >= 0 && dt >= 0 && (out == solids || out->count == solids->count));
    out->any_separating = out->any_moving = out->any_thin = false;
    for (int i = 0; i < solids->count; i++) {
        rh_obstacle *o = &out->items[i], own = *o;
        *o = solids->items[i];
        o->snapshot = own.snapshot;
        o->velocities = own.velocities;
        place(o, time, dt);
        if (o->sequence) RH_TRY(deform(o, time, dt, status));
        o->reach = reach_of(o);
        out->any_separating = out->any_separating || o->wall == RH_WALL_SEPARATE;
        out->any_moving = out->any_moving || !o->rests;
        out->any_thin = out->any_thin || o->thin;
    }
    return RH_OK;
}

static double fastest_vertex(const rh_obstacle *o)
{
    double most = 0;
    int64_t count = o->sequence ? rh_mesh_sequence_vertices(o->sequence) : 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, (double)rh_v3_dot(o->velocities[i], o->velocities[i]));
    return sqrt(most);
}

double rh_obstacles_max_speed(const rh_obstacles *obstacles)
{
    double most = 0;
    for (int i = 0; i < obstacles->count; i++) {
        const rh_obstacle *o = &obstacles->items[i];
        if (o->rests) continue;
        double reach = rh_shape_reach(&o->shape, o->pose.pivot);
        double speed = rh_d3_length(o->linear) + rh_d3_length(o->angular) * reach + fastest_vertex(o);
        if (speed > most) most = speed;
    }
    return most;
}

double rh_obstacle_distance(const rh_obstacle *o, rh_dvec3 point)
{
    double distance = rh_shape_distance(&o->shape, rh_pose_to_local(&o->pose, point));
    return o->inside_out ? -distance : distance;
}

// Certainly not nearer than `nearest`.
static bool is_beyond(const rh_obstacle *o, rh_dvec3 point, double nearest)
{
    static const double rounding = 1 + 1e-9;
    double far = nearest + o->reach;
    if (!(o->reach > 0) || far < 0) return false;
    rh_dvec3 away = rh_d3_sub(point, rh_d3_add(o->pose.pivot, o->pose.translation));
    if (o->shape.flat) away.z = 0;
    return rh_d3_dot(away, away) > rounding * far * far;
}

double rh_obstacles_distance(const rh_obstacles *obstacles, rh_dvec3 point, int *which)
{
    double nearest = nothing;
    int index = -1;
    for (int i = 0; i < obstacles->count; i++) {
        if (is_beyond(&obstacles->items[i], point, nearest)) continue;
        double distance = rh_obstacle_distance(&obstacles->items[i], point);
        if (distance >= nearest) continue;
        nearest = distance;
        index = i;
    }
    if (which) *which = index;
    return nearest;
}

double rh_obstacles_distance_of(const rh_obstacles *obstacles, const int *list, int count, rh_dvec3 point, int *which)
{
    double nearest = nothing;
    int index = -1;
    for (int i = 0; i < count; i++) {
        if (is_beyond(&obstacles->items[list[i]], point, nearest)) continue;
        double distance = rh_obstacle_distance(&obstacles->items[list[i]], point);
        if (distance >= nearest) continue;
        nearest = distance;
        index = list[i];
    }
    if (which) *which = index;
    return nearest;
}

rh_dvec3 rh_obstacles_normal(const rh_obstacles *obstacles, int which, rh_dvec3 point)
{
    RH_ASSERT(which >= 0 && which < obstacles->count);
    const rh_obstacle *o = &obstacles->items[which];
    rh_dvec3 normal = rh_pose_turn(&o->pose, rh_shape_normal(&o->shape, rh_pose_to_local(&o->pose, point)));
    return o->inside_out ? rh_d3_scale(normal, -1) : normal;
}

rh_dvec3 rh_obstacle_deforms(const rh_obstacle *o, rh_dvec3 local)
{
    if (!o->sequence) return rh_d3(0, 0, 0);
    rh_dvec3 v = rh_mesh_sequence_velocity(o->sequence, o->snapshot, o->velocities, local);
    if (o->shape.flat) v.z = 0;
    return v;
}

rh_dvec3 rh_obstacles_velocity(const rh_obstacles *obstacles, int which, rh_dvec3 point)
{
    RH_ASSERT(which >= 0 && which < obstacles->count);
    const rh_obstacle *o = &obstacles->items[which];
    rh_dvec3 rigid = rh_d3_add(o->linear, rh_d3_cross(o->angular, rh_d3_sub(point, o->origin)));
    if (!o->sequence) return rigid;
    return rh_d3_add(rigid, rh_pose_turn(&o->pose, rh_obstacle_deforms(o, rh_pose_to_local(&o->pose, point))));
}

// The list is full: gives up the farthest of the listed and the newcomer. Keeps the order of indices, so ties in
// rh_obstacles_distance_of fall as in rh_obstacles_distance.
static void keep_nearest(const rh_obstacles *obstacles, rh_dvec3 point, int *list, int count, int newcomer)
{
    int worst = -1;
    double farthest = rh_obstacle_distance(&obstacles->items[newcomer], point);
    for (int i = 0; i < count; i++) {
        double distance = rh_obstacle_distance(&obstacles->items[list[i]], point);
        if (distance <= farthest) continue;
        farthest = distance;
        worst = i;
    }
    if (worst < 0) return;
    for (int i = worst; i + 1 < count; i++) list[i] = list[i + 1];
    list[count - 1] = newcomer;
}

int rh_obstacles_near(const rh_obstacles *obstacles, rh_dvec3 point, double radius, int *out, int max)
{
    RH_ASSERT(max >= 0);
    int count = 0;
    for (int i = 0; i < obstacles->count; i++) {
        const rh_obstacle *o = &obstacles->items[i];
        // Distances never over-estimate by more than the slack, with either sign, so this also holds for containers.
        if (rh_obstacle_distance(o, point) > radius + rh_shape_slack(&o->shape)) continue;
        if (count < max) out[count++] = i;
        else if (max > 0) keep_nearest(obstacles, point, out, count, i);
    }
    return count;
}
