// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The union of all solids. Every question goes into a solid's own space through its pose and back; a container
// (inside_out) changes the sign. A solid that is too far to be the nearest is told by the ball
// around it; where there are many the balls are in a tree. The answers are those of a plain loop over all, to the bit.
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
    rh_free(obstacles->balls);
    rh_ball_tree_free(&obstacles->tree);
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

enum { MANY = 8 };  // solids: a tree finds the nearest faster than a loop

static rh_ball ball_around(const rh_shape *shape, bool inside_out)
{
    static const double endless = 1e9;
    rh_dbox b = rh_shape_bounds(shape);
    rh_dvec3 half = rh_d3_scale(rh_d3_sub(b.max, b.min), 0.5);
    double radius = rh_d3_length(half);
    if (inside_out || !(half.x >= 0) || !(radius < endless)) return (rh_ball){{0, 0, 0}, 0};
    if (shape->kind == RH_SHAPE_MESH) radius += rh_mesh_sdf_beyond(shape->mesh) + fabs(shape->offset);
    return (rh_ball){rh_d3_scale(rh_d3_add(b.min, b.max), 0.5), radius};
}

static rh_code take_balls(rh_obstacles *all, rh_status *status)
{
    if (all->balls || all->count < MANY) return RH_OK;
    all->balls = rh_alloc_zero((size_t)(all->count + 1) * sizeof *all->balls, "solids", status);
    if (!all->balls) return RH_MEMORY;
    return rh_ball_tree_create(all->count, &all->tree, status);
}

void rh_obstacles_moved(rh_obstacles *all)
{
    for (int i = 0; i < all->count; i++) {
        rh_obstacle *o = &all->items[i];
        o->ball = (rh_ball){rh_pose_to_world(&o->pose, o->own.center), o->own.radius};
        if (o->shape.flat) o->ball.center.z = 0;
        if (all->balls) all->balls[i] = o->ball;
    }
    if (all->tree.nodes) rh_ball_tree_build(&all->tree, all->balls);
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
    RH_TRY(take_balls(out, status));
    out->any_separating = out->any_moving = out->any_thin = out->any_dynamic = false;
    for (int i = 0; i < solids->count; i++) {
        rh_obstacle *o = &out->items[i], own = *o;
        *o = solids->items[i];
        o->snapshot = own.snapshot;
        o->velocities = own.velocities;
        place(o, time, dt);
        if (o->sequence) RH_TRY(deform(o, time, dt, status));
        o->own = ball_around(&o->shape, o->inside_out);
        out->any_separating = out->any_separating || o->wall == RH_WALL_SEPARATE;
        out->any_moving = out->any_moving || !o->rests;
        out->any_thin = out->any_thin || o->thin;
        out->any_dynamic = out->any_dynamic || o->kind == RH_SOLID_DYNAMIC;
    }
    rh_obstacles_moved(out);
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

// The nearest solid so far; of several that are equally near the first.
typedef struct nearest {
    rh_dvec3 point, flat;  // flat: without z in two dimensions
    double distance;
    int which;
} nearest;

static nearest start_at(const rh_obstacles *all, rh_dvec3 point)
{
    nearest n = {point, point, nothing, -1};
    if (all->count > 0 && all->items[0].shape.flat) n.flat.z = 0;
    return n;
}

// Certainly farther than the nearest.
static bool is_beyond(const rh_ball *ball, const nearest *n)
{
    static const double rounding = 1 + 1e-9;
    double far = n->distance + ball->radius;
    if (!(ball->radius > 0) || far < 0) return false;
    rh_dvec3 away = rh_d3_sub(n->flat, ball->center);
    return rh_d3_dot(away, away) > rounding * far * far;
}

static void try_solid(const rh_obstacles *all, int i, nearest *n)
{
    if (is_beyond(all->balls ? &all->balls[i] : &all->items[i].ball, n)) return;
    double distance = rh_obstacle_distance(&all->items[i], n->point);
    if (distance > n->distance || (distance == n->distance && i >= n->which)) return;
    n->distance = distance;
    n->which = i;
}

// Whether all of a node's solids are farther than the nearest, for certain.
static bool is_node_beyond(double bound, const nearest *n) { return bound > n->distance + 1e-9 * (1 + fabs(bound)); }

// The nearer half first.
static void walk_tree(const rh_obstacles *all, nearest *n)
{
    const rh_ball_tree *tree = &all->tree;
    struct {
        int32_t node;
        double bound;
    } waiting[RH_BALL_TREE_DEPTH + 1];
    int count = 0;
    for (int32_t i = 0; i < tree->endless; i++) try_solid(all, tree->order[i], n);
    if (tree->node_count == 0) return;
    waiting[count].node = 0;
    waiting[count++].bound = rh_ball_node_distance(&tree->nodes[0], n->flat);
    while (count > 0) {
        int32_t at = waiting[--count].node;
        const rh_ball_node *node = &tree->nodes[at];
        if (is_node_beyond(waiting[count].bound, n)) continue;
        if (!node->upper) {
            for (int32_t i = node->first; i < node->first + node->count; i++) try_solid(all, tree->order[i], n);
            continue;
        }
        double lower = rh_ball_node_distance(&tree->nodes[at + 1], n->flat),
               upper = rh_ball_node_distance(&tree->nodes[node->upper], n->flat);
        bool swap = upper < lower;
        waiting[count].node = swap ? at + 1 : node->upper;
        waiting[count++].bound = swap ? lower : upper;
        waiting[count].node = swap ? node->upper : at + 1;
        waiting[count++].bound = swap ? upper : lower;
    }
}

double rh_obstacles_distance(const rh_obstacles *obstacles, rh_dvec3 point, int *which)
{
    nearest n = start_at(obstacles, point);
    if (obstacles->tree.nodes) walk_tree(obstacles, &n);
    else
        for (int i = 0; i < obstacles->count; i++) try_solid(obstacles, i, &n);
    if (which) *which = n.which;
    return n.distance;
}

double rh_obstacles_distance_of(const rh_obstacles *obstacles, const int *list, int count, rh_dvec3 point, int *which)
{
    nearest n = start_at(obstacles, point);
    for (int i = 0; i < count; i++) try_solid(obstacles, list[i], &n);
    if (which) *which = n.which;
    return n.distance;
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

// Certainly farther than `far`, by the ball around it.
static bool is_away(const rh_obstacles *all, int i, rh_dvec3 point, double far)
{
    nearest n = start_at(all, point);
    n.distance = far;
    return is_beyond(all->balls ? &all->balls[i] : &all->items[i].ball, &n);
}

bool rh_obstacle_within(const rh_obstacles *obstacles, int which, rh_dvec3 point, double radius)
{
    return !is_away(obstacles, which, point, radius) && rh_obstacle_distance(&obstacles->items[which], point) <= radius;
}

int rh_obstacles_near(const rh_obstacles *obstacles, rh_dvec3 point, double radius, int *out, int max)
{
    RH_ASSERT(max >= 0);
    int count = 0;
    for (int i = 0; i < obstacles->count; i++) {
        // Distances never over-estimate by more than the slack, with either sign, so this also holds for containers.
        double slack = rh_shape_slack(&obstacles->items[i].shape);
        if (!rh_obstacle_within(obstacles, i, point, radius + slack)) continue;
        if (count < max) out[count++] = i;
        else if (max > 0) keep_nearest(obstacles, point, out, count, i);
    }
    return count;
}
