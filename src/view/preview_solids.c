// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Solids of a preview in space: a ray for each pixel that the box of a solid may cover, walked along by the solid's own
// distance (J. C. Hart, "Sphere tracing", The Visual Computer 12, 1996). Containers, floors and others without an end
// are not drawn: the liquid is what the picture is for. Nor is all of a vessel, a solid around most of the particles:
// every second sample, so that one looks through it.
#include "view/preview_parts.h"
#include "world/geometry.h"

enum { STEPS = 96 };

typedef struct target {
    const rh_obstacles *solids;
    int which;
    rh_dbox box;  // m
    bool vessel;
} target;

// Where a ray from `from` along `way` enters the box and leaves it; false: it misses.
static bool cross_box(rh_dbox box, rh_dvec3 from, rh_dvec3 way, double *enter, double *leave)
{
    for (int a = 0; a < 3; a++) {
        double v = (&way.x)[a], at = (&from.x)[a], low = (&box.min.x)[a] - at, high = (&box.max.x)[a] - at;
        if (v == 0 && (low > 0 || high < 0)) return false;
        if (v == 0) continue;
        *enter = fmax(*enter, fmin(low / v, high / v));
        *leave = fmin(*leave, fmax(low / v, high / v));
    }
    return *enter < *leave;
}

// Depth at which the ray through a place of the screen meets the solid; INFINITY: it does not.
static float meet(const target *t, const rh_preview_camera *c, double x, double y)
{
    rh_dvec3 way = rh_d3_add(rh_d3_scale(c->right, (x - c->x) / c->focal), rh_d3_scale(c->up, (c->y - y) / c->focal));
    way = rh_d3_add(way, c->forward);
    double depth = c->near, leave = INFINITY, length = rh_d3_length(way);
    if (!cross_box(t->box, c->eye, way, &depth, &leave)) return INFINITY;
    for (int n = 0; n < STEPS && depth < leave; n++) {
        double near = 0.5 * depth / c->focal;  // half a sample
        double far = rh_obstacles_distance_of(t->solids, &t->which, 1, rh_d3_add(c->eye, rh_d3_scale(way, depth)),
                                              NULL);
        if (far < near) return (float)depth;
        depth += far / length;
    }
    return INFINITY;
}

// Pixels that the box of a solid may cover.
static bool find_area(const target *t, const rh_preview_picture *p, const rh_preview_camera *c, int low[2], int high[2])
{
    double from[2] = {INFINITY, INFINITY}, to[2] = {-INFINITY, -INFINITY};
    bool near = false;
    for (int k = 0; k < 8; k++) {
        rh_dvec3 corner = rh_d3(k & 1 ? t->box.max.x : t->box.min.x, k & 2 ? t->box.max.y : t->box.min.y,
                                k & 4 ? t->box.max.z : t->box.min.z);
        rh_dvec3 at = rh_d3_sub(corner, c->eye);
        double depth = rh_d3_dot(at, c->forward), scale = c->focal / depth;
        double place[2] = {c->x + scale * rh_d3_dot(at, c->right), c->y - scale * rh_d3_dot(at, c->up)};
        near = near || depth < c->near;
        for (int i = 0; i < 2; i++) from[i] = fmin(from[i], place[i]), to[i] = fmax(to[i], place[i]);
    }
    const int size[2] = {p->width, p->height};
    for (int i = 0; i < 2; i++) {  // one that is partly behind the eye may be anywhere
        low[i] = near ? 0 : (int)fmax(0, floor(from[i] / 2));
        high[i] = near ? size[i] - 1 : (int)fmin(size[i] - 1, ceil(to[i] / 2));
    }
    return low[0] <= high[0] && low[1] <= high[1];
}

static void draw_row(const target *t, const rh_preview_picture *p, const rh_preview_camera *c, int y, int low, int high)
{
    for (int x = low; x <= high; x++) {
        float depth = meet(t, c, 2 * x + 1, 2 * y + 1);
        for (int k = 0; k < 4 && depth < INFINITY; k++) {
            size_t at = (size_t)(2 * y + (k >> 1)) * (size_t)(2 * p->width) + (size_t)(2 * x + (k & 1));
            bool seen = depth < p->depth[at] && !(t->vessel && ((k ^ k >> 1) & 1));
            if (seen) p->depth[at] = depth, p->owner[at] = RH_PREVIEW_SOLID;
        }
    }
}

static bool holds_most(rh_dbox box, const rh_preview_cloud *cloud)
{
    int64_t inside = 0;
    for (int64_t i = 0; i < cloud->count; i++) {
        rh_vec3 x = rh_preview_upright(cloud->P[i], cloud->z_up);
        inside += (double)x.x > box.min.x && (double)x.x < box.max.x && (double)x.y > box.min.y &&
                  (double)x.y < box.max.y && (double)x.z > box.min.z && (double)x.z < box.max.z;
    }
    return 4 * inside > 3 * cloud->count;
}

void rh_preview_draw_solids(rh_preview_picture *p, const rh_preview_camera *camera, const rh_preview_cloud *cloud,
                            const rh_obstacles *solids)
{
    for (int n = 0; n < solids->count; n++) {
        const rh_obstacle *o = &solids->items[n];
        if (o->inside_out || o->sequence) continue;
        target t = {.solids = solids, .which = n, .box = rh_placed_bounds(&o->shape, &o->pose)};
        rh_dvec3 size = rh_d3_sub(t.box.max, t.box.min);
        if (!(fmax(size.x, fmax(size.y, size.z)) < 4 * cloud->extent)) continue;
        t.vessel = holds_most(t.box, cloud);
        int low[2], high[2];
        if (!find_area(&t, p, camera, low, high)) continue;
#pragma omp parallel for schedule(dynamic, 4)
        for (int y = low[1]; y <= high[1]; y++) draw_row(&t, p, camera, y, low[0], high[0]);
    }
}
