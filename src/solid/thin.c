// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A straight way is free where distances prove it: around a place there is free space as far as its distance says, the
// argument of sphere tracing (J. C. Hart, The Visual Computer 12, 1996), here applied from the middle of the part that
// is not proved yet.
#include "solid/thin.h"

#include <math.h>

enum { SLIDES = 4 };
static const double TOUCH = 1e-3;  // cells: a way that comes so near to a wall meets it

bool rh_thin_is(double thickness, double cell, int dimension) { return thickness < sqrt((double)dimension) * cell; }

double rh_thin_thickness(const rh_shape *s)
{
    rh_dvec3 size, span;
    switch (s->kind) {
    case RH_SHAPE_SPHERE: return 2 * s->as.sphere.radius;
    case RH_SHAPE_BOX:
        size = rh_d3_sub(s->as.box.max, s->as.box.min);
        return fmin(fmin(size.x, size.y), s->flat ? INFINITY : size.z);
    case RH_SHAPE_CYLINDER:
        span = rh_d3_sub(s->as.cylinder.to, s->as.cylinder.from);
        if (s->flat) span.z = 0;
        return s->flat && rh_d3_length(span) == 0 ? 2 * s->as.cylinder.radius
                                                  : fmin(2 * s->as.cylinder.radius, rh_d3_length(span));
    case RH_SHAPE_CAPSULE: return 2 * s->as.capsule.radius;
    case RH_SHAPE_TORUS: return 2 * s->as.torus.minor;
    case RH_SHAPE_MESH: return s->thickness > 0 ? s->thickness : 1e30;
    case RH_SHAPE_MESH_SEQUENCE:
    case RH_SHAPE_PLANE: break;
    }
    return 1e30;
}

void rh_thin_near(const rh_obstacles *obstacles, rh_dvec3 point, double radius, rh_thin_list *list)
{
    list->count = 0;
    for (int i = 0; i < obstacles->count && obstacles->any_thin && list->count < RH_THIN_NEAR; i++) {
        const rh_obstacle *o = &obstacles->items[i];
        if (!o->thin) continue;
        double reach = radius + rh_shape_slack(&o->shape);
        if (rh_obstacle_within(obstacles, i, point, reach)) list->items[list->count++] = i;
    }
}

static double distance(const rh_obstacles *obstacles, const rh_thin_list *list, rh_dvec3 x, int *which)
{
    return rh_obstacles_distance_of(obstacles, list->items, list->count, x, which);
}

// A straight way and what may be in it.
typedef struct line {
    const rh_obstacles *obstacles;
    const rh_thin_list *list;
    rh_dvec3 from, step;  // a unit vector
    double least;         // m: what is so near is met
} line;

// Is a wall met between low and high (m along the way)? The parts that the distances at both ends prove to be free are
// left out already. A distance in the middle proves as much before as behind; going on from one end took up to twice as
// many evaluations.
static bool is_met(const line *w, double low, double high)
{
    if (low >= high + w->least) return false;
    double middle = 0.5 * (low + high);
    double d = distance(w->obstacles, w->list, rh_d3_add(w->from, rh_d3_scale(w->step, middle)), NULL);
    return d <= w->least || is_met(w, low, middle - d) || is_met(w, middle + d, high);
}

bool rh_thin_between(const rh_obstacles *obstacles, const rh_thin_list *list, double h, const rh_thin_place *from,
                     const rh_thin_place *to)
{
    rh_dvec3 all = rh_d3_sub(to->at, from->at);
    double length = rh_d3_length(all), least = TOUCH * h;
    if (from->distance <= least || to->distance <= least) return true;
    if (length == 0) return false;
    line w = {obstacles, list, from->at, rh_d3_scale(all, 1 / length), least};
    return is_met(&w, from->distance, length - to->distance);
}

rh_thin_place rh_thin_center(const rh_obstacles *obstacles, const rh_thin_list *list, double h, rh_dvec3 center)
{
    rh_dvec3 x = rh_d3_add(center, rh_d3_scale(rh_d3(1, 0.7, 0.5), 2 * TOUCH * h));
    return (rh_thin_place){x, distance(obstacles, list, x, NULL)};
}

// --- how the grid sees a place ---------------------------------------------------------------------------------------
// The cells around a place: bit a of a corner's number is 1 for the upper one along axis a.
typedef struct corners {
    int dimension;
    rh_dvec3 low;  // centre of the lowest
    int hidden;    // bits of corners that lie on another side
    int upper[3];  // -1 while both are seen along an axis, else which
} corners;

static bool is_left(const corners *c, int n)
{
    for (int a = 0; a < c->dimension; a++)
        if (c->upper[a] >= 0 && c->upper[a] != (n >> a & 1)) return false;
    return true;
}

// Hidden corners on the upper and lower side along an axis, of those that are left.
static int count_hidden(const corners *c, int axis, int side)
{
    int count = 0;
    for (int n = 0; n < 1 << c->dimension; n++) count += is_left(c, n) && (n >> axis & 1) == side && c->hidden >> n & 1;
    return count;
}

static bool any_hidden(const corners *c) { return count_hidden(c, 0, 0) + count_hidden(c, 0, 1) > 0; }

// Gives up one side along the axis where that removes most hidden corners; of two that are alike the one with the
// nearer plane of centres. (Neighbours on both sides of the line between are then seen up to a cell apart. Moved
// straight away from a single hidden corner instead, which has no such line, particles were seen below the floor that
// the wall stands on, and water at rest boiled there at 0.6 m/s.)
static void give_up_side(corners *c, double h, rh_dvec3 x)
{
    int best = -1, most = -1, side = 0;
    double nearest = 0;
    for (int a = 0; a < c->dimension; a++) {
        if (c->upper[a] >= 0) continue;
        int low = count_hidden(c, a, 0), high = count_hidden(c, a, 1), gain = low > high ? low - high : high - low;
        double share = ((&x.x)[a] - (&c->low.x)[a]) / h;
        int keep = low > high || (low == high && share >= 0.5);
        double way = keep ? 1 - share : share;
        if (gain < most || (gain == most && way >= nearest)) continue;
        best = a, most = gain, side = keep, nearest = way;
    }
    c->upper[best] = side;
}

double rh_thin_reach(int dimension, double h) { return sqrt((double)dimension) * h; }

int64_t rh_thin_below(double x, double h) { return (int64_t)floor(x / h - 0.5); }

bool rh_thin_view_of(const rh_obstacles *obstacles, const rh_thin_list *list, int dimension, double h,
                     const rh_thin_place *x, const rh_thin_place around[8], rh_dvec3 *seen)
{
    *seen = x->at;
    if (x->distance <= TOUCH * h || x->distance > rh_thin_reach(dimension, h)) return false;
    corners c = {.dimension = dimension, .low = x->at, .upper = {-1, -1, -1}};
    for (int a = 0; a < dimension; a++) (&c.low.x)[a] = ((double)rh_thin_below((&x->at.x)[a], h) + 0.5) * h;
    for (int n = 0; n < 1 << dimension; n++)
        if (rh_thin_between(obstacles, list, h, x, &around[n])) c.hidden |= 1 << n;
    // Where no corner is hidden, or all are, it stays where it is.
    if (c.hidden == 0 || c.hidden == (1 << (1 << dimension)) - 1) return false;
    for (int n = 0; n < dimension && any_hidden(&c); n++) give_up_side(&c, h, x->at);
    for (int a = 0; a < dimension; a++)
        if (c.upper[a] >= 0) (&seen->x)[a] = (&c.low.x)[a] + c.upper[a] * h;
    return true;
}

bool rh_thin_view(const rh_obstacles *obstacles, const rh_thin_list *list, int dimension, double h, rh_dvec3 x,
                  rh_dvec3 *seen)
{
    *seen = x;
    rh_thin_place place = {x, distance(obstacles, list, x, NULL)}, around[8];
    if (place.distance > rh_thin_reach(dimension, h)) return false;
    for (int n = 0; n < 1 << dimension; n++) {
        rh_dvec3 center = x;
        for (int a = 0; a < dimension; a++)
            (&center.x)[a] = ((double)rh_thin_below((&x.x)[a], h) + 0.5 + (n >> a & 1)) * h;
        around[n] = rh_thin_center(obstacles, list, h, center);
    }
    return rh_thin_view_of(obstacles, list, dimension, h, &place, around, seen);
}

// --- the way of a particle -------------------------------------------------------------------------------------------
// How far (m) along a way the wall is first nearer than half the gap; -1 when it is nowhere. The other half of the gap
// is for particles that slide along the wall.
static double meet(const rh_shape *shape, rh_dvec3 from, rh_dvec3 step, double length, double gap, double *found)
{
    for (double s = 0; s <= length;) {
        double d = rh_shape_distance(shape, rh_d3_add(from, rh_d3_scale(step, s)));
        *found = d;
        if (d < 0.5 * gap) return s;
        s += d - 0.4 * gap;
    }
    return -1;
}

bool rh_thin_walk(const rh_shape *shape, rh_thin_way *w)
{
    rh_dvec3 from = w->from, to = w->to;
    double length = rh_d3_length(rh_d3_sub(to, from)), d = rh_shape_distance(shape, from);
    if (d <= 0 || d > length + w->gap) return false;
    double end = rh_shape_distance(shape, to);
    if (end > 0 && d + end > length + w->gap) return false;
    bool met = false;
    for (int n = 0; n <= SLIDES; n++) {
        // One that is too near begins a little farther out, on its own side.
        if (d < w->gap) from = rh_d3_add(from, rh_d3_scale(rh_shape_normal(shape, from), w->gap - d));
        rh_dvec3 way = rh_d3_sub(to, from);
        length = rh_d3_length(way);
        rh_dvec3 step = rh_d3_unit(way);
        double s = length > 0 ? meet(shape, from, step, length, w->gap, &d) : -1;
        if (s < 0) break;
        from = rh_d3_add(from, rh_d3_scale(step, s));
        rh_dvec3 normal = rh_shape_normal(shape, from), left = rh_d3_sub(to, from);
        if (d <= 0) return false;  // distances were not what they should be: the usual collision decides
        if (!met) w->normal = normal;
        met = true;
        double into = rh_d3_dot(left, normal);
        if (into < 0) left = rh_d3_sub(left, rh_d3_scale(normal, into));
        to = n == SLIDES ? from : rh_d3_add(rh_d3_add(from, left), rh_d3_scale(normal, w->gap - d));
    }
    w->to = to;
    return met;
}
