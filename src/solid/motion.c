// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Keyframed rigid motion. The six numbers of a key (translation, Euler angles) are interpolated one by one; velocities
// are the analytic derivatives of the same interpolants, so a wall moves exactly as fast as it says.
//
// Smooth: cubic Hermite pieces whose slope at an inner key is that of the parabola through it and its two neighbours.
// That is the Catmull-Rom curve for uneven times (P. J. Barry, R. N. Goldman, "A recursive evaluation algorithm for a
// class of Catmull-Rom splines", SIGGRAPH 1988). The slope at both ends is zero.
#include "solid/shape.h"

typedef struct sample {
    rh_dvec3 translate, rotate;
} sample;  // values, or their rates per second

static const double degree = 3.14159265358979323846 / 180;

static rh_dvec3 blend(rh_dvec3 a, double s, rh_dvec3 b, double t)
{
    return rh_d3_add(rh_d3_scale(a, s), rh_d3_scale(b, t));
}

static sample blend_samples(sample a, double s, sample b, double t)
{
    return (sample){blend(a.translate, s, b.translate, t), blend(a.rotate, s, b.rotate, t)};
}

static sample at_key(const rh_motion_key *key) { return (sample){key->translate, key->rotate}; }

static sample chord(const rh_motion_key *a, const rh_motion_key *b)
{
    double rate = 1 / (b->time - a->time);
    return blend_samples(at_key(b), rate, at_key(a), -rate);
}

static sample slope_at(const rh_motion_key *keys, int count, int i)
{
    if (i == 0 || i == count - 1) return (sample){0};
    double before = keys[i].time - keys[i - 1].time, after = keys[i + 1].time - keys[i].time;
    return blend_samples(chord(&keys[i - 1], &keys[i]), after / (before + after), chord(&keys[i], &keys[i + 1]),
                         before / (before + after));
}

static void smooth_piece(const rh_motion_key *keys, int count, int i, double time, sample *value, sample *rate)
{
    double h = keys[i + 1].time - keys[i].time, s = (time - keys[i].time) / h;
    sample a = at_key(&keys[i]), b = at_key(&keys[i + 1]);
    sample m = slope_at(keys, count, i), n = slope_at(keys, count, i + 1);
    double s2 = s * s, s3 = s2 * s;
    *value = blend_samples(blend_samples(a, 2 * s3 - 3 * s2 + 1, b, 3 * s2 - 2 * s3), 1,
                           blend_samples(m, h * (s3 - 2 * s2 + s), n, h * (s3 - s2)), 1);
    *rate = blend_samples(blend_samples(a, (6 * s2 - 6 * s) / h, b, (6 * s - 6 * s2) / h), 1,
                          blend_samples(m, 3 * s2 - 4 * s + 1, n, 3 * s2 - 2 * s), 1);
}

// Values and their rates; at a corner of a linear motion the rate is that of the piece that begins there.
static void interpolate(const rh_motion *motion, double time, sample *value, sample *rate)
{
    const rh_motion_key *keys = motion->keys.items;
    int count = motion->keys.count;
    *value = *rate = (sample){0};
    if (count == 0) return;
    if (!(time >= keys[0].time)) {
        *value = at_key(&keys[0]);
    } else if (time >= keys[count - 1].time) {
        *value = at_key(&keys[count - 1]);
    } else {
        int i = 0;
        while (time >= keys[i + 1].time) i++;
        if (motion->interpolation == RH_SMOOTH) {
            smooth_piece(keys, count, i, time, value, rate);
        } else {
            double s = (time - keys[i].time) / (keys[i + 1].time - keys[i].time);
            *value = blend_samples(at_key(&keys[i]), 1 - s, at_key(&keys[i + 1]), s);
            *rate = chord(&keys[i], &keys[i + 1]);
        }
    }
}

// Rz Ry Rx written out.
rh_mat3 rh_rotation(rh_dvec3 degrees)
{
    double cx = cos(degrees.x * degree), sx = sin(degrees.x * degree);
    double cy = cos(degrees.y * degree), sy = sin(degrees.y * degree);
    double cz = cos(degrees.z * degree), sz = sin(degrees.z * degree);
    return (rh_mat3){{{cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx},
                      {sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx},
                      {-sy, cy * sx, cy * cx}}};
}

// The first turn's axis is carried along by the two later turns, the second's by the last: w = z' ez + Rz (y' ey + Ry
// x' ex).
static rh_dvec3 angular_velocity(rh_dvec3 degrees, rh_dvec3 rates)
{
    double cy = cos(degrees.y * degree), sy = sin(degrees.y * degree);
    double cz = cos(degrees.z * degree), sz = sin(degrees.z * degree);
    return rh_d3_scale(
        rh_d3(rates.x * cz * cy - rates.y * sz, rates.x * sz * cy + rates.y * cz, rates.z - rates.x * sy), degree);
}

static void flatten(sample *s) { s->translate.z = s->rotate.x = s->rotate.y = 0; }

void rh_motion_place(const rh_motion *motion, double time, bool flat, rh_pose *pose, rh_dvec3 *linear,
                     rh_dvec3 *angular)
{
    sample value, rate;
    interpolate(motion, time, &value, &rate);
    if (flat) {
        flatten(&value);
        flatten(&rate);
    }
    *pose = (rh_pose){rh_rotation(value.rotate), value.translate, motion->pivot};
    if (flat) pose->pivot.z = 0;
    *linear = rate.translate;
    *angular = angular_velocity(value.rotate, rate.rotate);
}

rh_pose rh_motion_pose(const rh_motion *motion, double time)
{
    rh_pose pose;
    rh_dvec3 linear, angular;
    rh_motion_place(motion, time, false, &pose, &linear, &angular);
    return pose;
}

rh_dvec3 rh_motion_velocity(const rh_motion *motion, double time, rh_dvec3 point)
{
    rh_pose pose;
    rh_dvec3 linear, angular;
    rh_motion_place(motion, time, false, &pose, &linear, &angular);
    rh_dvec3 arm = rh_d3_sub(point, rh_d3_add(pose.pivot, pose.translation));
    return rh_d3_add(linear, rh_d3_cross(angular, arm));
}

static bool same(rh_dvec3 a, rh_dvec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

bool rh_motion_is_still(const rh_motion *motion)
{
    const rh_motion_key *keys = motion->keys.items;
    for (int i = 1; i < motion->keys.count; i++)
        if (!same(keys[i].translate, keys[0].translate) || !same(keys[i].rotate, keys[0].rotate)) return false;
    return true;
}

rh_dvec3 rh_pose_to_local(const rh_pose *pose, rh_dvec3 world)
{
    rh_dvec3 arm = rh_d3_sub(world, rh_d3_add(pose->pivot, pose->translation));
    return rh_d3_add(rh_m3_mul_transposed(pose->rotation, arm), pose->pivot);
}

rh_dvec3 rh_pose_to_world(const rh_pose *pose, rh_dvec3 local)
{
    rh_dvec3 turned = rh_m3_mul(pose->rotation, rh_d3_sub(local, pose->pivot));
    return rh_d3_add(turned, rh_d3_add(pose->pivot, pose->translation));
}

rh_dvec3 rh_pose_turn(const rh_pose *pose, rh_dvec3 local_direction)
{
    return rh_m3_mul(pose->rotation, local_direction);
}
