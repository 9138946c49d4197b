// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Keys are joined by cubic Hermite curves whose slope at a key is that of the line through its neighbours (Catmull-Rom
// for uneven times), flat at the ends.
#include "view/camera.h"

static rh_dvec3 corner(rh_dbox b, int k)
{
    return rh_d3(k & 1 ? b.max.x : b.min.x, k & 2 ? b.max.y : b.min.y, k & 4 ? b.max.z : b.min.z);
}

rh_view rh_view_frame(rh_dbox box, double fov, int width, int height)
{
    rh_dvec3 forward = rh_d3_unit(rh_d3(-0.50, -0.38, -0.80));
    rh_dvec3 right = rh_d3_unit(rh_d3_cross(forward, rh_d3(0, 1, 0))), up = rh_d3_cross(right, forward);
    double half = tan(fov * 3.14159265358979 / 360), side = width < height ? width : height;
    double across = 0.88 * half * width / side, down = 0.80 * half * height / side;
    double extent = rh_d3_length(rh_d3_sub(box.max, box.min)), away = extent;
    rh_dvec3 target = rh_d3_scale(rh_d3_add(box.min, box.max), 0.5);
    for (int round = 0; round < 6; round++) {  // as near as all corners allow; then centre what the corners cover,
                                               // which changes the first a little
        away = 0.2 * extent;
        for (int k = 0; k < 8; k++) {
            rh_dvec3 at = rh_d3_sub(corner(box, k), target);
            double need = fmax(fabs(rh_d3_dot(at, right)) / across, fabs(rh_d3_dot(at, up)) / down);
            away = fmax(away, need - rh_d3_dot(at, forward));
        }
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < 8; k++) {
            rh_dvec3 at = rh_d3_sub(corner(box, k), target);
            double depth = fmax(away + rh_d3_dot(at, forward), 1e-6 * extent),
                   s[2] = {rh_d3_dot(at, right) / depth, rh_d3_dot(at, up) / depth};
            for (int i = 0; i < 2; i++) low[i] = fmin(low[i], s[i]), high[i] = fmax(high[i], s[i]);
        }
        if (round == 5) break;
        target = rh_d3_add(target, rh_d3_scale(right, away * (low[0] + high[0]) / 2));
        target = rh_d3_add(target, rh_d3_scale(up, away * (low[1] + high[1]) / 2));
    }
    return (rh_view){rh_d3_sub(target, rh_d3_scale(forward, away)), target, fov};
}

bool rh_camera_given(const rh_camera_params *camera)
{
    return camera->keys.count > 0 || rh_d3_length(rh_d3_sub(camera->position, camera->target)) > 0;
}

// The numbers of a key as one row, so that all are interpolated alike.
enum { NUMBERS = 7 };
static void numbers_of(const rh_camera_key *key, double out[NUMBERS])
{
    const double row[NUMBERS] = {key->position.x, key->position.y, key->position.z, key->target.x,
                                 key->target.y,   key->target.z,   key->fov};
    for (int i = 0; i < NUMBERS; i++) out[i] = row[i];
}

static void slope_at(const rh_camera_key *keys, int count, int k, double out[NUMBERS])
{
    double before[NUMBERS], after[NUMBERS];
    bool end = k == 0 || k == count - 1;
    numbers_of(&keys[end ? k : k - 1], before);
    numbers_of(&keys[end ? k : k + 1], after);
    for (int i = 0; i < NUMBERS; i++) out[i] = end ? 0 : (after[i] - before[i]) / (keys[k + 1].time - keys[k - 1].time);
}

static rh_view between_keys(const rh_camera_key *keys, int count, int k, double time)
{
    double a[NUMBERS], b[NUMBERS], sa[NUMBERS], sb[NUMBERS], v[NUMBERS], span = keys[k + 1].time - keys[k].time,
                                                                         t = (time - keys[k].time) / span;
    numbers_of(&keys[k], a);
    numbers_of(&keys[k + 1], b);
    slope_at(keys, count, k, sa);
    slope_at(keys, count, k + 1, sb);
    double t2 = t * t, t3 = t2 * t;
    for (int i = 0; i < NUMBERS; i++)
        v[i] = (2 * t3 - 3 * t2 + 1) * a[i] + (t3 - 2 * t2 + t) * span * sa[i] + (3 * t2 - 2 * t3) * b[i] +
               (t3 - t2) * span * sb[i];
    return (rh_view){rh_d3(v[0], v[1], v[2]), rh_d3(v[3], v[4], v[5]), fmin(fmax(v[6], 0.1), 160)};
}

rh_view rh_camera_at(const rh_camera_params *camera, double time)
{
    const rh_camera_key *keys = camera->keys.items;
    int count = camera->keys.count, k = 0;
    if (count == 0) return (rh_view){camera->position, camera->target, camera->fov};
    while (k < count && keys[k].time <= time) k++;
    if (k > 0 && k < count) return between_keys(keys, count, k - 1, time);
    const rh_camera_key *key = &keys[k == 0 ? 0 : count - 1];
    return (rh_view){key->position, key->target, key->fov};
}
