// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Velocity and rate between keys are straight lines. What an emitter's own motion adds is the rigid velocity at the
// middle of its shape.
#include "world/emitter.h"

#include <math.h>

enum { MOMENTS = 512 };  // at which the motion's speed is looked at

static bool follows(const rh_emitter_params *p) { return p->follow && !rh_motion_is_still(&p->motion); }

bool rh_emitter_varies(const rh_emitter_params *p) { return p->keys.count > 0 || follows(p); }

// Where `time` is between keys: the key before it and how far it is to the next.
static const rh_emitter_key *find_key(const rh_emitter_params *p, double time, double *share)
{
    const rh_emitter_key *keys = p->keys.items;
    int k = 0;
    *share = 0;
    while (k + 1 < p->keys.count && keys[k + 1].time <= time) k++;
    if (time > keys[k].time && k + 1 < p->keys.count)
        *share = (time - keys[k].time) / (keys[k + 1].time - keys[k].time);
    return &keys[k];
}

rh_dvec3 rh_emitter_own_velocity(const rh_emitter_params *p, double time)
{
    double share;
    if (p->keys.count == 0) return p->velocity;
    const rh_emitter_key *key = find_key(p, time, &share);
    if (share == 0) return key->velocity;
    return rh_d3_add(rh_d3_scale(key[0].velocity, 1 - share), rh_d3_scale(key[1].velocity, share));
}

double rh_emitter_rate(const rh_emitter_params *p, double time)
{
    double share;
    if (p->keys.count == 0) return p->rate;
    const rh_emitter_key *key = find_key(p, time, &share);
    return share == 0 ? key->rate : key[0].rate * (1 - share) + key[1].rate * share;
}

static rh_dvec3 middle_of(const rh_placed_shape *placed)
{
    rh_dbox b = rh_shape_bounds(&placed->shape);
    rh_dvec3 middle = rh_d3_scale(rh_d3_add(b.min, b.max), 0.5);
    if (placed->shape.flat) middle.z = 0;
    return middle;
}

rh_dvec3 rh_emitter_velocity(const rh_emitter_params *p, const rh_placed_shape *placed, double time)
{
    rh_dvec3 own = rh_emitter_own_velocity(p, time);
    if (!follows(p)) return own;
    rh_pose pose;
    rh_dvec3 linear, angular;
    rh_motion_place(&p->motion, time, placed->shape.flat, &pose, &linear, &angular);
    rh_dvec3 arm = rh_m3_mul(pose.rotation, rh_d3_sub(middle_of(placed), pose.pivot));
    return rh_d3_add(rh_m3_mul(pose.rotation, own), rh_d3_add(linear, rh_d3_cross(angular, arm)));
}

double rh_emitter_fastest(const rh_emitter_params *p, const rh_placed_shape *placed)
{
    const rh_emitter_key *keys = p->keys.items;
    double fastest = p->keys.count ? 0 : rh_d3_length(p->velocity);
    for (int k = 0; k < p->keys.count; k++) fastest = fmax(fastest, rh_d3_length(keys[k].velocity));
    if (fastest == 0 || !follows(p)) return fastest;
    // Between two looks the motion may be a little faster: half as much again is on the safe side, and only costs time.
    const rh_motion_key *moves = p->motion.keys.items;
    double from = moves[0].time, to = moves[p->motion.keys.count - 1].time, most = 0;
    for (int i = 0; i <= MOMENTS; i++)
        most = fmax(most, rh_d3_length(rh_emitter_velocity(p, placed, from + (to - from) * i / MOMENTS)));
    return fmax(fastest, 1.5 * most);
}

void rh_emitter_set_velocities(const rh_emitter_params *p, const rh_placed_shape *placed, double time,
                               rh_points *points, int64_t first)
{
    if (!follows(p) || first >= points->count) return;
    rh_pose pose;
    rh_dvec3 linear, angular;
    rh_motion_place(&p->motion, time, placed->shape.flat, &pose, &linear, &angular);
    rh_dvec3 own = rh_m3_mul(pose.rotation, rh_emitter_own_velocity(p, time)),
             origin = rh_d3_add(pose.pivot, pose.translation);
    rh_vec3 *x = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    for (int64_t i = first; i < points->count; i++)
        v[i] = rh_v3_from(rh_d3_add(own, rh_d3_add(linear, rh_d3_cross(angular, rh_d3_sub(rh_d3_from(x[i]), origin)))));
}
