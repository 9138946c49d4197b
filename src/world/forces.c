// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Every force is averaged over the part of the interval in which it acts and weighted with that part, windows and keys
// exactly, so that the steps of a run together give what the force gives, however time is cut. (Sampled at the start of
// each step, a window shorter than a step was missed or counted for all of it.)
#include "world/forces.h"

#include <math.h>

typedef struct interval {
    double from, to;
} interval;  // s

static double length(interval i) { return i.to > i.from ? i.to - i.from : 0; }

static interval overlap(interval a, double from, double to) { return (interval){fmax(a.from, from), fmin(a.to, to)}; }

// Fades smoothly from 1 at the centre to 0 at the radius; 0 radius: no fading.
static double falloff(double distance, double radius)
{
    if (radius <= 0) return 1;
    double s = distance / radius;
    return s >= 1 ? 0 : (1 - s * s) * (1 - s * s);
}

// --- kinds: the mean acceleration while a force acts -----------------------------------------------------------------

typedef struct place {
    rh_dvec3 point;
    int dimension;
} place;

static rh_dvec3 away_from(rh_dvec3 center, place at)
{
    rh_dvec3 d = rh_d3_sub(at.point, center);
    if (at.dimension == 2) d.z = 0;
    return d;
}

static rh_dvec3 between_keys(const rh_force_key *before, const rh_force_key *after, double time)
{
    double s = (time - before->time) / (after->time - before->time);
    return rh_d3_add(rh_d3_scale(before->acceleration, 1 - s), rh_d3_scale(after->acceleration, s));
}

static rh_dvec3 keyed_at(const rh_force_key *keys, int count, double time)
{
    if (time <= keys[0].time) return keys[0].acceleration;
    for (int n = 1; n < count; n++)
        if (time < keys[n].time) return between_keys(&keys[n - 1], &keys[n], time);
    return keys[count - 1].acceleration;
}

// Linear between keys: the value in the middle of each piece, weighted with its length, is the exact mean.
static rh_dvec3 keyed(const rh_force_key *keys, int count, interval when)
{
    double early = length(overlap(when, -INFINITY, keys[0].time)),
           late = length(overlap(when, keys[count - 1].time, INFINITY)), all = length(when);
    rh_dvec3 mean = rh_d3_add(rh_d3_scale(keys[0].acceleration, early / all),
                              rh_d3_scale(keys[count - 1].acceleration, late / all));
    for (int n = 1; n < count; n++) {
        interval piece = overlap(when, keys[n - 1].time, keys[n].time);
        if (length(piece) == 0) continue;
        rh_dvec3 middle = between_keys(&keys[n - 1], &keys[n], 0.5 * (piece.from + piece.to));
        mean = rh_d3_add(mean, rh_d3_scale(middle, length(piece) / all));
    }
    return mean;
}

static rh_dvec3 uniform(const rh_uniform_force *f, interval when)
{
    return f->keys.count ? rh_d3_add(f->acceleration, keyed(f->keys.items, f->keys.count, when)) : f->acceleration;
}

// Of all values that the force has, the largest is at an end of the time asked for or at a key within it.
static double strongest_uniform(const rh_uniform_force *f, interval when)
{
    const rh_force_key *keys = f->keys.items;
    int count = f->keys.count;
    if (count == 0) return rh_d3_length(f->acceleration);
    double most = fmax(rh_d3_length(rh_d3_add(f->acceleration, keyed_at(keys, count, when.from))),
                       rh_d3_length(rh_d3_add(f->acceleration, keyed_at(keys, count, when.to))));
    for (int n = 0; n < count; n++)
        if (keys[n].time > when.from && keys[n].time < when.to)
            most = fmax(most, rh_d3_length(rh_d3_add(f->acceleration, keys[n].acceleration)));
    return most;
}

static rh_dvec3 radial(const rh_radial_force *f, place at)
{
    rh_dvec3 d = away_from(f->center, at);
    return rh_d3_scale(rh_d3_unit(d), -f->acceleration * falloff(rh_d3_length(d), f->radius));
}

static rh_dvec3 swirl(const rh_swirl_force *f, place at)
{
    rh_dvec3 axis = rh_d3_unit(f->axis), d = away_from(f->center, at);
    d = rh_d3_sub(d, rh_d3_scale(axis, rh_d3_dot(d, axis)));
    return rh_d3_scale(rh_d3_unit(rh_d3_cross(axis, d)), f->acceleration * falloff(rh_d3_length(d), f->radius));
}

// The field of a point source: the same flow through every sphere (in two dimensions circle) around the centre, which
// incompressible liquid can follow.
static rh_dvec3 explosion(const rh_explosion_force *f, place at)
{
    rh_dvec3 d = away_from(f->center, at);
    double distance = rh_d3_length(d);
    if (distance == 0 || distance >= f->radius) return rh_d3(0, 0, 0);
    double speed = f->strength / (at.dimension == 3 ? distance * distance : distance);
    return rh_d3_scale(rh_d3_unit(d), fmin(fmax(speed, -f->max_speed), f->max_speed) / f->duration);
}

// --- all together ----------------------------------------------------------------------------------------------------

// When a force acts during an interval.
static interval active(const rh_force_params *f, interval during)
{
    during = overlap(during, f->start, f->stop);
    if (f->force.kind != RH_FORCE_EXPLOSION) return during;
    const rh_explosion_force *e = f->force.value;
    return overlap(during, e->at, e->at + e->duration);
}

static rh_dvec3 pull(const rh_force_params *f, place at, interval when)
{
    switch ((rh_force_kind)f->force.kind) {
    case RH_FORCE_UNIFORM: return uniform(f->force.value, when);
    case RH_FORCE_RADIAL: return radial(f->force.value, at);
    case RH_FORCE_SWIRL: return swirl(f->force.value, at);
    case RH_FORCE_EXPLOSION: return explosion(f->force.value, at);
    }
    return rh_d3(0, 0, 0);
}

static double strongest(const rh_force_params *f, interval when)
{
    const void *value = f->force.value;
    switch ((rh_force_kind)f->force.kind) {
    case RH_FORCE_UNIFORM: return strongest_uniform(value, when);
    case RH_FORCE_RADIAL: return fabs(((const rh_radial_force *)value)->acceleration);
    case RH_FORCE_SWIRL: return fabs(((const rh_swirl_force *)value)->acceleration);
    case RH_FORCE_EXPLOSION:
        return ((const rh_explosion_force *)value)->max_speed / ((const rh_explosion_force *)value)->duration;
    }
    return 0;
}

double rh_forces_strongest(const rh_scene *scene, double from, double to)
{
    const rh_force_params *forces = scene->forces.items;
    double sum = rh_d3_length(scene->gravity);
    for (int i = 0; i < scene->forces.count; i++) {
        interval when = active(&forces[i], (interval){from, to});
        if (length(when) > 0) sum += strongest(&forces[i], when);
    }
    return sum;
}

bool rh_forces_act(const rh_scene *scene, double from, double to)
{
    const rh_force_params *forces = scene->forces.items;
    for (int i = 0; i < scene->forces.count; i++)
        if (length(active(&forces[i], (interval){from, to})) > 0) return true;
    return false;
}

rh_dvec3 rh_forces_acceleration(rh_dvec3 point, double from, double to, const void *user)
{
    const rh_scene *scene = user;
    const rh_force_params *forces = scene->forces.items;
    rh_dvec3 sum = scene->gravity;
    for (int i = 0; i < scene->forces.count; i++) {
        interval when = active(&forces[i], (interval){from, to});
        if (length(when) == 0) continue;
        place at = {point, (int)scene->dimension};
        sum = rh_d3_add(sum, rh_d3_scale(pull(&forces[i], at, when), length(when) / (to - from)));
    }
    return sum;
}
