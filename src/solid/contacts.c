// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Balls of one solid (solid/features.h) against the distance of the other, both ways. Pairs whose bounding balls do not
// meet within the step are left out. Of the points that come so near that they may touch within the step a few are
// kept: the deepest, and those that lie farthest apart in place and normal, which is what a pair needs to bear forces
// and moments.
//
// A container that is a box, or a cylinder, has several walls, and what lies in its corner touches two or three of
// them: each wall is tested by itself. Other concave shapes have one nearest wall at each ball; a solid that lies in
// their corners with a single ball (a sphere in the corner of a container that is a mesh) touches one wall at a time.
#include "solid/contacts.h"

#include <math.h>
#include <string.h>
#include "base/assert.h"
#include "base/parallel.h"

enum { CANDIDATES = 2 * RH_FEATURES_MOST + 8, KEPT = 4 };
static const double SLOP = 0.02;   // of the size: points so near are kept even when they part
static const double SAME = 1e-6;   // of the size: depths that count as equal
static const double CLOSE = 0.05;  // of the size: points so near each other are one

typedef struct pair {
    const rh_obstacles *solids;
    int a, b;
    bool fixed;
    double dt, size, reach;  // reach, m: no point farther away touches within the step
    rh_contact found[CANDIDATES];
    int count;
} pair;

// --- walls -----------------------------------------------------------------------------------------------------------
static int walls_of(const rh_obstacle *o)
{
    if (!o->inside_out) return 1;
    if (o->shape.kind == RH_SHAPE_BOX && o->shape.as.box.rounding == 0) return o->shape.flat ? 4 : 6;
    return o->shape.kind == RH_SHAPE_CYLINDER && !o->shape.flat ? 3 : 1;
}

static double box_wall(const rh_box_params *box, int wall, rh_dvec3 p, rh_dvec3 *normal)
{
    int axis = wall / 2, high = wall % 2;
    *normal = rh_d3(0, 0, 0);
    (&normal->x)[axis] = high ? -1 : 1;
    return high ? (&box->max.x)[axis] - (&p.x)[axis] : (&p.x)[axis] - (&box->min.x)[axis];
}

static double cylinder_wall(const rh_cylinder_params *c, int wall, rh_dvec3 p, rh_dvec3 *normal)
{
    rh_dvec3 axis = rh_d3_unit(rh_d3_sub(c->to, c->from));
    *normal = wall == 1 ? axis : rh_d3_scale(axis, -1);
    if (wall > 0) return rh_d3_dot(rh_d3_sub(p, wall == 1 ? c->from : c->to), *normal);
    rh_dvec3 away = rh_d3_sub(p, c->from);
    away = rh_d3_sub(away, rh_d3_scale(axis, rh_d3_dot(away, axis)));
    *normal = rh_d3_scale(rh_d3_unit(away), -1);
    return c->radius - rh_d3_length(away);
}

// Distance of a place of the world, and the normal where it is less than `near`.
static double wall_distance(const rh_obstacles *solids, int which, int wall, rh_dvec3 at, double near, rh_dvec3 *normal)
{
    const rh_obstacle *o = &solids->items[which];
    if (walls_of(o) == 1) {
        double d = rh_obstacle_distance(o, at);
        if (d < near) *normal = rh_obstacles_normal(solids, which, at);
        return d;
    }
    rh_dvec3 p = rh_pose_to_local(&o->pose, at), n;
    double d = o->shape.kind == RH_SHAPE_BOX ? box_wall(&o->shape.as.box, wall, p, &n)
                                             : cylinder_wall(&o->shape.as.cylinder, wall, p, &n);
    *normal = rh_pose_turn(&o->pose, n);
    return d;
}

// --- one pair --------------------------------------------------------------------------------------------------------
// A corner's normal is that of the place inside of it (solid/features.h). Where the two differ, so does the face that
// the gap is to be taken from, which is flat there.
static void look_from_inside(const pair *p, int of, int other, int wall, const rh_feature *corner, rh_dvec3 at,
                             rh_dvec3 *normal, double *gap)
{
    rh_dvec3 inside = rh_pose_to_world(&p->solids->items[of].pose, corner->inner), n = *normal;
    double distance = wall_distance(p->solids, other, wall, inside, 1e30, &n);
    if (rh_d3_dot(n, *normal) > 0.999) return;
    if (*gap <= 0) *gap = fmin(*gap, distance + rh_d3_dot(n, rh_d3_sub(at, inside)));
    *normal = n;
}

// A point of what turns goes along an arc: its acceleration towards the axis, over the step. Without this the corners
// that come down in front of what rolls would brake it.
static double lift_of(const pair *p, int of, rh_dvec3 at, rh_dvec3 normal)
{
    const rh_obstacle *o = &p->solids->items[of];
    rh_dvec3 arm = rh_d3_sub(at, o->origin), inwards = rh_d3_cross(o->angular, rh_d3_cross(o->angular, arm));
    return fmax(0, 0.5 * p->dt * p->dt * rh_d3_dot(normal, inwards));
}

// A ball of `of` against `wall` of the other. `turned`: the ball is b's. `exact`: it is always the lowest, however the
// solid turns.
static void meet_ball(pair *p, bool turned, const rh_feature *ball, int wall, bool exact)
{
    int of = turned ? p->b : p->a, other = turned ? p->a : p->b;
    rh_dvec3 at = rh_pose_to_world(&p->solids->items[of].pose, ball->at), n = {0, 1, 0};
    double gap = wall_distance(p->solids, other, wall, at, p->reach + ball->radius, &n) - ball->radius;
    if (!(gap < p->reach) || p->count == CANDIDATES) return;
    if (ball->radius == 0) look_from_inside(p, of, other, wall, ball, at, &n, &gap);
    const rh_obstacle *own = &p->solids->items[of];
    if (ball->rim && !rh_features_lies_flat(&own->shape, rh_m3_mul_transposed(own->pose.rotation, n))) return;
    double lift = exact ? 0 : lift_of(p, of, at, n);
    at = rh_d3_sub(at, rh_d3_scale(n, ball->radius));
    if (turned) n = rh_d3_scale(n, -1);
    rh_dvec3 wall_speed = rh_obstacles_velocity(p->solids, p->b, at);
    rh_dvec3 approach = rh_d3_sub(rh_obstacles_velocity(p->solids, p->a, at), wall_speed);
    if (gap > SLOP * p->size - fmin(0, rh_d3_dot(approach, n)) * p->dt) return;
    p->found[p->count++] = (rh_contact){.a = p->a,
                                        .b = p->b,
                                        .fixed = p->fixed,
                                        .at = at,
                                        .normal = n,
                                        .gap = gap,
                                        .lift = lift,
                                        .approach = approach,
                                        .wall = wall_speed};
}

// The exact lowest points of round shapes: they depend on the normal, which depends on where they are, so it is found
// twice.
static void meet_supports(pair *p, bool turned, int wall)
{
    const rh_obstacle *o = &p->solids->items[turned ? p->b : p->a];
    int other = turned ? p->a : p->b;
    rh_dvec3 at = rh_pose_to_world(&o->pose, o->features->center), normal = {0, 1, 0};
    rh_feature balls[RH_SUPPORTS_MOST];
    int count = 0;
    for (int look = 0; look < 2; look++) {
        wall_distance(p->solids, other, wall, at, 1e30, &normal);
        rh_dvec3 down = rh_m3_mul_transposed(o->pose.rotation, rh_d3_scale(normal, -1));
        count = rh_features_supports(&o->shape, down, balls);
        if (count == 0) return;
        at = rh_pose_to_world(&o->pose, balls[0].at);
    }
    for (int i = 0; i < count; i++) meet_ball(p, turned, &balls[i], wall, true);
}

static void meet(pair *p, bool turned, int wall)
{
    const rh_features *f = p->solids->items[turned ? p->b : p->a].features;
    for (int i = 0; f && i < f->count; i++) meet_ball(p, turned, &f->items[i], wall, false);
    if (f && f->count) meet_supports(p, turned, wall);
}

static double difference(const rh_contact *one, const rh_contact *other, double size)
{
    rh_dvec3 place = rh_d3_sub(one->at, other->at), normal = rh_d3_scale(rh_d3_sub(one->normal, other->normal), size);
    return rh_d3_dot(place, place) + rh_d3_dot(normal, normal);
}

// Moves those to be kept to the front; returns how many.
static int choose(pair *p, int most)
{
    double apart[CANDIDATES];
    int kept = 0;
    for (int i = 0; i < p->count; i++) apart[i] = 1e30;
    while (kept < most && kept < p->count) {
        int best = kept;
        for (int i = kept + 1; i < p->count; i++) {
            bool deeper = p->found[i].gap < p->found[best].gap - SAME * p->size;
            if (kept == 0 ? deeper : apart[i] > apart[best] * (1 + SAME)) best = i;
        }
        if (kept > 0 && !(apart[best] > CLOSE * CLOSE * p->size * p->size)) break;
        rh_contact chosen = p->found[best];
        p->found[best] = p->found[kept];
        apart[best] = apart[kept];
        p->found[kept++] = chosen;
        for (int i = kept; i < p->count; i++) apart[i] = fmin(apart[i], difference(&p->found[i], &chosen, p->size));
    }
    return kept;
}

static int keep(const pair *p, int count, rh_contact *out)
{
    const rh_obstacle *a = &p->solids->items[p->a], *b = &p->solids->items[p->b];
    for (int i = 0; i < count; i++) {
        out[i] = p->found[i];
        out[i].size = p->size;
        out[i].friction = sqrt(a->friction * b->friction);
        out[i].restitution = fmax(a->rules.restitution, b->rules.restitution);
    }
    return count;
}

// --- all pairs -------------------------------------------------------------------------------------------------------
static double speed_of(const rh_obstacle *o)
{
    double arm = o->features->radius +
                 rh_d3_length(rh_d3_sub(rh_pose_to_world(&o->pose, o->features->center), o->origin));
    return rh_d3_length(o->linear) + (arm < 1e9 ? rh_d3_length(o->angular) * arm : 0);
}

// What all pairs of a solid ask for.
typedef struct bound {
    rh_dvec3 center;      // m: of its features
    double speed;         // m/s: of its own walls, at most
    double linear, spin;  // m/s, 1/s
} bound;

static bound bound_of(const rh_obstacle *o)
{
    return (bound){.center = o->features ? rh_pose_to_world(&o->pose, o->features->center) : o->origin,
                   .speed = o->features ? speed_of(o) : 0,
                   .linear = rh_d3_length(o->linear),
                   .spin = rh_d3_length(o->angular)};
}

static bool bounded(const rh_obstacle *o) { return o->features && o->features->radius < 1e9 && !o->inside_out; }

static bool apart(const rh_obstacle *a, const rh_obstacle *b, rh_dvec3 between, double reach)
{
    if (!bounded(a) || !bounded(b) || b->sequence) return false;
    double far = a->features->radius + b->features->radius + reach;
    return rh_d3_dot(between, between) > far * far;
}

// Two solids that may touch, and where their contacts go: `first` on, at most KEPT for each wall.
typedef struct near_pair {
    int a, b;
    double size, reach;
    int first, count;
} near_pair;

typedef struct search {
    const rh_obstacles *solids;
    const bool *free;
    double dt;
    rh_contact_filter *may;
    const void *user;
    bound *bounds;  // per solid
} search;

static near_pair measure(const search *s, int a, int b)
{
    const rh_obstacle *one = &s->solids->items[a], *other = &s->solids->items[b];
    const bound *of = &s->bounds[b];
    near_pair p = {.a = a, .b = b};
    double speed = of->linear;  // of b's walls next to a, at most
    if (of->spin > 0)
        speed += of->spin * (one->features->radius + rh_d3_length(rh_d3_sub(s->bounds[a].center, other->origin)));
    p.size = bounded(other) ? fmin(one->features->depth, other->features->depth) : one->features->depth;
    p.reach = (s->bounds[a].speed + speed) * s->dt + SLOP * p.size;
    if (other->sequence) p.reach += one->features->radius;  // its vertices move, too
    return p;
}

// The pairs that are near; `out` NULL: counts only.
static int list_pairs(const search *s, near_pair *out)
{
    const rh_obstacles *solids = s->solids;
    int count = 0, slots = 0;
    for (int a = 0; a < solids->count; a++) {
        if (!s->free[a]) continue;
        RH_ASSERT(solids->items[a].features);
        for (int b = 0; b < solids->count; b++) {
            int one = solids->items[a].group, other = solids->items[b].group;
            if (b == a || (s->free[b] && b < a) || (one && one == other) || (s->may && !s->may(s->user, a, b)))
                continue;
            near_pair p = measure(s, a, b);
            rh_dvec3 between = rh_d3_sub(s->bounds[a].center, s->bounds[b].center);
            if (apart(&solids->items[a], &solids->items[b], between, p.reach)) continue;
            p.first = slots;
            slots += KEPT * walls_of(&solids->items[b]);
            if (out) out[count] = p;
            count++;
        }
    }
    return count;
}

// Whether a solid may have a point within reach of a wall of the other, by the ball around it.
static bool is_in_reach(const pair *p, bool turned, int wall)
{
    int other = turned ? p->a : p->b;
    const rh_obstacle *of = &p->solids->items[turned ? p->b : p->a], *o = &p->solids->items[other];
    rh_dvec3 n, center = rh_pose_to_world(&of->pose, of->features->center);
    if (!bounded(of) || o->sequence) return true;
    double far = (p->reach + of->features->radius) * (1 + SAME) + rh_shape_slack(&o->shape);
    return wall_distance(p->solids, other, wall, center, -1e30, &n) < far;
}

static void meet_pair(const search *s, near_pair *of, pair *p, rh_contact *out)
{
    const rh_obstacle *b = &s->solids->items[of->b];
    int walls = walls_of(b);
    p->solids = s->solids;
    p->a = of->a, p->b = of->b;
    p->fixed = !s->free[of->b];
    p->dt = s->dt, p->size = of->size, p->reach = of->reach;
    for (int wall = 0; wall < walls; wall++) {
        p->count = 0;
        if (is_in_reach(p, false, wall)) meet(p, false, wall);
        if (walls == 1 && bounded(b) && is_in_reach(p, true, 0)) meet(p, true, 0);
        of->count += keep(p, choose(p, KEPT), out + of->first + of->count);
    }
}

// Pairs are met in parallel, each into slots of its own; then the slots that are filled move together.
rh_code rh_contacts_find(const rh_obstacles *solids, const bool *free, double dt, rh_contact_filter *may,
                         const void *user, rh_arena *arena, rh_contact_list *out, rh_status *status)
{
    search s = {solids, free, dt, may, user, NULL};
    *out = (rh_contact_list){0};
    s.bounds = rh_arena_take(arena, ((size_t)solids->count + 1) * sizeof *s.bounds, status);
    if (!s.bounds) return RH_MEMORY;
    for (int n = 0; n < solids->count; n++) s.bounds[n] = bound_of(&solids->items[n]);
    int count = list_pairs(&s, NULL);
    if (count == 0) return RH_OK;
    near_pair *pairs = rh_arena_take(arena, (size_t)count * sizeof *pairs, status);
    pair *scratch = rh_arena_take(arena, (size_t)rh_threads() * sizeof *scratch, status);
    if (!pairs || !scratch) return RH_MEMORY;
    list_pairs(&s, pairs);
    out->capacity = pairs[count - 1].first + KEPT * walls_of(&solids->items[pairs[count - 1].b]);
    out->items = rh_arena_take(arena, (size_t)out->capacity * sizeof *out->items, status);
    if (!out->items) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int n = 0; n < count; n++) meet_pair(&s, &pairs[n], &scratch[rh_thread()], out->items);
    for (int n = 0; n < count; n++) {
        memmove(out->items + out->count, out->items + pairs[n].first, (size_t)pairs[n].count * sizeof *out->items);
        out->count += pairs[n].count;
    }
    return RH_OK;
}
