// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Looks the points over (bounds, typical size, range of speed) and aims a camera that shows the whole box.
#include "view/colors.h"
#include "view/preview_parts.h"

static bool is_empty(rh_dbox box)
{
    if (box.min.x == 0 && box.min.y == 0 && box.min.z == 0 && box.max.x == 0 && box.max.y == 0 && box.max.z == 0)
        return true;
    return !(box.min.x <= box.max.x && box.min.y <= box.max.y && box.min.z <= box.max.z);
}

static void grow(rh_dbox *box, rh_dvec3 p)
{
    box->min = rh_d3(fmin(box->min.x, p.x), fmin(box->min.y, p.y), fmin(box->min.z, p.z));
    box->max = rh_d3(fmax(box->max.x, p.x), fmax(box->max.y, p.y), fmax(box->max.z, p.z));
}

static rh_dbox bounds(const rh_preview_cloud *cloud)
{
    rh_dbox box = {rh_d3(INFINITY, INFINITY, INFINITY), rh_d3(-INFINITY, -INFINITY, -INFINITY)};
    for (int64_t i = 0; i < cloud->count; i++) {
        rh_vec3 p = rh_preview_upright(cloud->P[i], cloud->z_up);
        if (rh_preview_finite(p)) grow(&box, rh_d3_from(p));
    }
    return box;
}

static rh_dbox upright_box(rh_dbox box, bool z_up)
{
    if (!z_up) return box;
    return (rh_dbox){rh_d3(box.min.x, box.min.z, -box.max.y), rh_d3(box.max.x, box.max.z, -box.min.y)};
}

enum { BINS = 1024 };

// Speed that 99.5 % of the points do not exceed, rounded up to a nice number: a few strays must not dim the rest.
static float typical_speed(const rh_preview_cloud *cloud)
{
    float most = 0;
    for (int64_t i = 0; i < (cloud->one_v ? 1 : cloud->count); i++) {
        float speed = rh_v3_length(cloud->v[i]);
        if (isfinite(speed) && speed > most) most = speed;
    }
    if (!(most > 1e-6f)) return 1;
    int64_t bins[BINS] = {0}, seen = 0;
    for (int64_t i = 0; i < cloud->count; i++) {
        float speed = rh_v3_length(cloud->v[cloud->one_v ? 0 : i]);
        bins[isfinite(speed) ? (int)(speed / most * (BINS - 1)) : 0]++;
    }
    int at = 0;
    while (at < BINS - 1 && (seen += bins[at]) < cloud->count - cloud->count / 200) at++;
    return (float)rh_round_number_above((double)most * (at + 1) / BINS);
}

static void find_size(const rh_points *points, int dimension, rh_preview_cloud *cloud)
{
    const rh_attribute *radius = rh_points_find(points, "radius");
    if (radius && radius->type == RH_POINT_F32) {
        cloud->radius = radius->data;
        cloud->one_radius = radius->uniform;
        if (cloud->count > 0) cloud->guess = cloud->radius[0];
    }
    if (cloud->guess > 0 && isfinite(cloud->guess)) return;
    // As if the points filled a quarter of the box evenly.
    rh_dvec3 side = rh_d3_sub(cloud->box.max, cloud->box.min);
    double share = dimension == 2 ? side.x * side.y : side.x * side.y * side.z;
    double count = cloud->count > 0 ? (double)cloud->count : 1;
    double spacing = dimension == 2 ? sqrt(share / 4 / count) : cbrt(share / 4 / count);
    cloud->guess = (float)fmax(0.6 * spacing, 1e-4 * cloud->extent);
}

rh_preview_cloud rh_preview_gather(const rh_points *points, const rh_preview_options *o)
{
    const rh_attribute *v = rh_points_find(points, "v");
    rh_preview_cloud cloud = {.count = points->count, .z_up = o->z_up && o->dimension == 3, .speed_max = 1};
    cloud.P = rh_points_data(points, "P", RH_POINT_VEC3F);
    if (o->paint) cloud.values = o->values, cloud.low = o->low, cloud.high = o->high;
    else if (v && v->type == RH_POINT_VEC3F && points->count > 0) {
        cloud.v = v->data;
        cloud.one_v = v->uniform;
        cloud.speed_max = o->color_max > 0 ? (float)o->color_max : typical_speed(&cloud);
    }
    cloud.box = is_empty(o->frame) ? bounds(&cloud) : upright_box(o->frame, cloud.z_up);
    if (is_empty(cloud.box)) cloud.box = (rh_dbox){rh_d3(-0.5, 0, -0.5), rh_d3(0.5, 1, 0.5)};
    rh_dvec3 side = rh_d3_sub(cloud.box.max, cloud.box.min);
    cloud.extent = fmax(fmax(side.x, side.y), fmax(side.z, 1e-3));
    cloud.ground = cloud.box.min.y;
    find_size(points, o->dimension, &cloud);
    // Spheres are drawn larger than they are, so that neighbours on a lattice overlap; a single layer has more to
    // close.
    cloud.swell = o->dimension == 2 ? 1.7f : 1.25f;
    return cloud;
}

static rh_dvec3 corner(rh_dbox box, int k)
{
    return rh_d3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z);
}

static rh_preview_camera aim_flat(const rh_preview_cloud *cloud, double width, double height)
{
    rh_dvec3 side = rh_d3_sub(cloud->box.max, cloud->box.min);
    rh_preview_camera c = {.right = {1, 0, 0}, .up = {0, 1, 0}, .forward = {0, 0, -1}, .x = width / 2, .y = height / 2};
    c.focal = fmin(0.86 * width / fmax(side.x, 1e-6), 0.76 * height / fmax(side.y, 1e-6));
    c.eye = rh_d3_scale(rh_d3_add(cloud->box.min, cloud->box.max), 0.5);
    c.eye.z = cloud->box.max.z + cloud->extent;
    c.middle = cloud->extent;
    return c;
}

// As near as the box allows: each corner must fall inside the picture, and the spread of corners is centred in it.
static rh_preview_camera aim_deep(const rh_preview_cloud *cloud, double width, double height)
{
    rh_preview_camera c = {.perspective = true, .forward = rh_d3_unit(rh_d3(-0.50, -0.40, -0.77))};
    c.right = rh_d3_unit(rh_d3_cross(c.forward, rh_d3(0, 1, 0)));
    c.up = rh_d3_cross(c.right, c.forward);
    c.focal = height / 2 / tan(15 * 3.14159265358979 / 180);
    c.x = width / 2, c.y = height / 2;
    double across = 0.88 * width / 2 / c.focal, down = 0.80 * height / 2 / c.focal;
    rh_dvec3 target = rh_d3_scale(rh_d3_add(cloud->box.min, cloud->box.max), 0.5);
    for (int round = 0; round < 4; round++) {
        c.middle = 0;
        for (int k = 0; k < 8; k++) {
            rh_dvec3 at = rh_d3_sub(corner(cloud->box, k), target);
            double need = fmax(fabs(rh_d3_dot(at, c.right)) / across, fabs(rh_d3_dot(at, c.up)) / down);
            c.middle = fmax(c.middle, need - rh_d3_dot(at, c.forward));
        }
        c.middle = fmax(c.middle, cloud->extent);
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < 8; k++) {
            rh_dvec3 at = rh_d3_sub(corner(cloud->box, k), target);
            double depth = c.middle + rh_d3_dot(at, c.forward);
            double s[2] = {rh_d3_dot(at, c.right) / depth, rh_d3_dot(at, c.up) / depth};
            for (int i = 0; i < 2; i++) low[i] = fmin(low[i], s[i]), high[i] = fmax(high[i], s[i]);
        }
        target = rh_d3_add(target, rh_d3_scale(c.right, c.middle * (low[0] + high[0]) / 2));
        target = rh_d3_add(target, rh_d3_scale(c.up, c.middle * (low[1] + high[1]) / 2));
    }
    c.eye = rh_d3_sub(target, rh_d3_scale(c.forward, c.middle));
    c.near = 0.02 * c.middle;
    return c;
}

// As the traced picture would be taken: the angle spans the shorter side.
static rh_preview_camera aim_given(const rh_preview_cloud *cloud, const rh_view *view, bool flat, double width,
                                   double height)
{
    rh_preview_camera c = {.perspective = !flat, .x = width / 2, .y = height / 2};
    rh_dvec3 way = rh_d3_sub(view->target, view->eye);
    c.middle = fmax(rh_d3_length(way), 1e-6);
    c.focal = fmin(width, height) / 2 / tan(view->fov * 3.14159265358979 / 360);
    if (flat) {
        c.right = rh_d3(1, 0, 0), c.up = rh_d3(0, 1, 0), c.forward = rh_d3(0, 0, -1);
        c.eye = rh_d3(view->target.x, view->target.y, cloud->box.max.z + cloud->extent);
        c.focal /= c.middle;
        c.middle = cloud->extent;
        return c;
    }
    c.forward = rh_d3_scale(way, 1 / c.middle);
    bool steep = fabs(c.forward.y) > 0.999;
    c.right = rh_d3_unit(rh_d3_cross(c.forward, steep ? rh_d3(0, 0, -1) : rh_d3(0, 1, 0)));
    c.up = rh_d3_cross(c.right, c.forward);
    c.eye = view->eye;
    c.near = 0.02 * c.middle;
    return c;
}

rh_preview_camera rh_preview_aim(const rh_preview_cloud *cloud, const rh_preview_options *o)
{
    double width = 2.0 * o->width, height = 2.0 * o->height;
    if (o->camera) return aim_given(cloud, o->camera, o->dimension == 2, width, height);
    return o->dimension == 2 ? aim_flat(cloud, width, height) : aim_deep(cloud, width, height);
}
