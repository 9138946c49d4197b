// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The picture in passes, each parallel over rows or tiles that own their pixels:
//   project   every particle becomes a disc: place, depth, radius
//   splat     tiles of the screen, at twice the resolution each way, keep the nearest sphere at every sample
//   smooth    the depth at picture resolution, without blurring over edges; its slope gives the shape of the liquid's
//             surface (the idea of screen-space fluids, van der Laan, Green, Sainz 2009)
//   contact   what lies deeper than its blurred surroundings is darkened (depth unsharp masking, Luft, Colditz,
//             Deussen 2006)
//   shade     four samples a pixel: sphere and surface normals mixed, light, rim, ground grid and shadow; sums
//             are linear light
//   caption   title and legend
#include "view/preview.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/parallel.h"
#include "view/preview_parts.h"

enum { TILE = 64 };

// --- project ---------------------------------------------------------------------------------------------------------

static float radius_at(const rh_preview_cloud *cloud, int64_t i)
{
    if (!cloud->radius) return cloud->guess;
    float radius = cloud->radius[cloud->one_radius ? 0 : i];
    return radius > 0 && isfinite(radius) ? radius : cloud->guess;
}

static rh_preview_disc project(const rh_preview_camera *camera, const rh_preview_cloud *cloud, int64_t i)
{
    rh_preview_disc d = {.radius = -1};
    rh_vec3 p = rh_preview_upright(cloud->P[i], cloud->z_up);
    if (!rh_preview_finite(p)) return d;
    rh_dvec3 offset = rh_d3_sub(rh_d3_from(p), camera->eye);
    double depth = rh_d3_dot(offset, camera->forward);
    if (camera->perspective && depth < camera->near) return d;
    double scale = camera->perspective ? camera->focal / depth : camera->focal;
    double size = (double)cloud->swell * radius_at(cloud, i) * scale;
    double x = camera->x + scale * rh_d3_dot(offset, camera->right),
           y = camera->y - scale * rh_d3_dot(offset, camera->up);
    if (!(fabs(x) < 1e6 && fabs(y) < 1e6 && size < 1e5)) return d;
    // Never smaller than a sample: it would be lost between them.
    d = (rh_preview_disc){
        (float)x, (float)y, (float)depth, (float)(size > 1 ? size : 1), (float)(fmax(size, 1) / scale), 0};
    if (cloud->values) {
        double span = cloud->high - cloud->low;
        d.tint = span > 0 ? (float)((cloud->values[i] - cloud->low) / span) : 0.4f;
    } else if (cloud->v) {
        rh_vec3 v = cloud->v[cloud->one_v ? 0 : i];
        float speed = rh_v3_length(v) / cloud->speed_max;
        d.tint = isfinite(speed) ? (speed < 1 ? speed : 1) : 1;
    } else {
        d.tint = 0.4f;
    }
    return d;
}

// --- splat -----------------------------------------------------------------------------------------------------------

typedef struct span {
    int x0, x1, y0, y1;
} span;

// Tiles a disc touches; empty when it is off the screen.
static span tiles_of(const rh_preview_disc *d, int across, int down)
{
    if (d->radius < 0) return (span){0, -1, 0, -1};
    float reach = d->radius + 1;
    span s = {(int)floorf((d->x - reach) / TILE), (int)floorf((d->x + reach) / TILE),
              (int)floorf((d->y - reach) / TILE), (int)floorf((d->y + reach) / TILE)};
    if (s.x0 < 0) s.x0 = 0;
    if (s.y0 < 0) s.y0 = 0;
    if (s.x1 >= across) s.x1 = across - 1;
    if (s.y1 >= down) s.y1 = down - 1;
    return s;
}

// Lists of discs by tile, in the order of the points: whoever splats a tile meets them in the same order.
static uint32_t *bin(const rh_preview_disc *discs, int64_t count, int across, int down, int64_t *starts,
                     rh_arena *arena, rh_status *status)
{
    int tiles = across * down;
    memset(starts, 0, ((size_t)tiles + 1) * sizeof *starts);
    for (int64_t i = 0; i < count; i++) {
        span s = tiles_of(&discs[i], across, down);
        for (int y = s.y0; y <= s.y1; y++)
            for (int x = s.x0; x <= s.x1; x++) starts[y * across + x + 1]++;
    }
    for (int t = 0; t < tiles; t++) starts[t + 1] += starts[t];
    uint32_t *list = rh_arena_take(arena, (size_t)starts[tiles] * sizeof *list, status);
    int64_t *next = rh_arena_take(arena, (size_t)tiles * sizeof *next, status);
    if (!list || !next) return NULL;
    memcpy(next, starts, (size_t)tiles * sizeof *next);
    for (int64_t i = 0; i < count; i++) {
        span s = tiles_of(&discs[i], across, down);
        for (int y = s.y0; y <= s.y1; y++)
            for (int x = s.x0; x <= s.x1; x++) list[next[y * across + x]++] = (uint32_t)i;
    }
    return list;
}

static void splat_disc(const rh_preview_disc *d, uint32_t index, span area, int width, float *depth, uint32_t *owner)
{
    float inverse = 1 / (d->radius * d->radius);
    int y0 = (int)ceilf(d->y - d->radius - 0.5f), y1 = (int)floorf(d->y + d->radius - 0.5f);
    int x0 = (int)ceilf(d->x - d->radius - 0.5f), x1 = (int)floorf(d->x + d->radius - 0.5f);
    if (y0 < area.y0) y0 = area.y0;
    if (y1 > area.y1) y1 = area.y1;
    if (x0 < area.x0) x0 = area.x0;
    if (x1 > area.x1) x1 = area.x1;
    for (int y = y0; y <= y1; y++) {
        float dy = (float)y + 0.5f - d->y;
        for (int x = x0; x <= x1; x++) {
            float dx = (float)x + 0.5f - d->x, inside = 1 - (dx * dx + dy * dy) * inverse;
            if (inside < 0) continue;
            size_t at = (size_t)y * (size_t)width + (size_t)x;
            float z = d->depth - d->thickness * sqrtf(inside);
            if (z < depth[at]) depth[at] = z, owner[at] = index;
        }
    }
}

static rh_code splat(rh_preview_picture *p, const rh_preview_disc *discs, int64_t count, rh_arena *arena,
                     rh_status *status)
{
    int width = 2 * p->width, height = 2 * p->height;
    int across = (width + TILE - 1) / TILE, down = (height + TILE - 1) / TILE, tiles = across * down;
    int64_t *starts = rh_arena_take(arena, ((size_t)tiles + 1) * sizeof *starts, status);
    uint32_t *list = starts ? bin(discs, count, across, down, starts, arena, status) : NULL;
    if (!list) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int t = 0; t < tiles; t++) {
        span area = {t % across * TILE, t % across * TILE + TILE - 1, t / across * TILE, t / across * TILE + TILE - 1};
        if (area.x1 >= width) area.x1 = width - 1;
        if (area.y1 >= height) area.y1 = height - 1;
        for (int y = area.y0; y <= area.y1; y++)
            for (int x = area.x0; x <= area.x1; x++) {
                p->depth[(size_t)y * (size_t)width + (size_t)x] = INFINITY;
                p->owner[(size_t)y * (size_t)width + (size_t)x] = RH_PREVIEW_NOBODY;
            }
        for (int64_t k = starts[t]; k < starts[t + 1]; k++)
            splat_disc(&discs[list[k]], list[k], area, width, p->depth, p->owner);
    }
    return RH_OK;
}

// --- smooth and contact ----------------------------------------------------------------------------------------------

static void shrink_depth(const rh_preview_picture *p, float *out)
{
    int width = 2 * p->width;
#pragma omp parallel for schedule(static)
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const float *at = p->depth + (size_t)(2 * y) * (size_t)width + (size_t)(2 * x);
            float a = fminf(at[0], at[1]), b = fminf(at[width], at[width + 1]);
            out[(size_t)y * (size_t)p->width + (size_t)x] = fminf(a, b);
        }
}

// One direction of a filter that averages only neighbours of nearly the same depth.
static void smooth_pass(const rh_preview_picture *p, const float *from, float *to, int step_x, int step_y, int reach,
                        float jump)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            size_t at = (size_t)y * (size_t)p->width + (size_t)x;
            float z = from[at], sum = 0, weight = 0;
            if (!isfinite(z)) {
                to[at] = z;
                continue;
            }
            for (int k = -reach; k <= reach; k++) {
                int u = x + k * step_x, v = y + k * step_y;
                if (u < 0 || v < 0 || u >= p->width || v >= p->height) continue;
                float other = from[(size_t)v * (size_t)p->width + (size_t)u];
                float w = (float)(reach + 1 - (k < 0 ? -k : k));
                if (fabsf(other - z) < jump) sum += w * (other - z), weight += w;
            }
            to[at] = z + sum / weight;
        }
}

// Running sums, along rows and then columns.
static void blur_line(const float *from, float *to, int count, int stride, int reach)
{
    double sum = 0;
    for (int i = 0; i < count && i < reach; i++) sum += from[(size_t)i * (size_t)stride];
    for (int i = 0; i < count; i++) {
        if (i + reach < count) sum += from[(size_t)(i + reach) * (size_t)stride];
        if (i - reach - 1 >= 0) sum -= from[(size_t)(i - reach - 1) * (size_t)stride];
        to[(size_t)i * (size_t)stride] = (float)(sum / (2 * reach + 1));
    }
}

void rh_preview_blur(int width, int height, float *image, float *spare, int reach)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; y++)
        blur_line(image + (size_t)y * (size_t)width, spare + (size_t)y * (size_t)width, width, 1, reach);
#pragma omp parallel for schedule(static)
    for (int x = 0; x < width; x++) blur_line(spare + x, image + x, height, width, reach);
}

// How much a covered pixel lies behind the mean depth of the covered pixels around it, 0 to 1.
static void contact(rh_preview_picture *p, float *mean, float *weight, float *spare, int reach, float scale)
{
    size_t pixels = (size_t)p->width * (size_t)p->height;
    for (size_t i = 0; i < pixels; i++) {
        bool covered = isfinite(p->smooth[i]);
        mean[i] = covered ? p->smooth[i] - p->middle : 0;
        weight[i] = covered ? 1 : 0;
    }
    rh_preview_blur(p->width, p->height, mean, spare, reach);
    rh_preview_blur(p->width, p->height, weight, spare, reach);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < pixels; i++) {
        float behind = weight[i] > 0 ? p->smooth[i] - p->middle - mean[i] / weight[i] : 0;
        behind = isfinite(behind) ? behind / scale : 0;
        p->contact[i] = behind < 0 ? 0 : behind > 1 ? 1 : behind;
    }
}

static rh_code shape(rh_preview_picture *p, float typical, float extent, rh_arena *arena, rh_status *status)
{
    size_t bytes = (size_t)p->width * (size_t)p->height * sizeof(float);
    float *raw = rh_arena_take(arena, bytes, status), *half = rh_arena_take(arena, bytes, status);
    float *spare = rh_arena_take(arena, bytes, status);
    if (!raw || !half || !spare) return RH_MEMORY;
    int reach = p->height / 120;
    shrink_depth(p, raw);
    for (int round = 0; round < 2; round++) {
        smooth_pass(p, round == 0 ? raw : p->smooth, half, 1, 0, reach, 5 * typical);
        smooth_pass(p, half, p->smooth, 0, 1, reach, 5 * typical);
    }
    contact(p, raw, half, spare, p->height / 24, 0.09f * extent);
    return RH_OK;
}

// --- main ------------------------------------------------------------------------------------------------------------

static rh_code check_options(const rh_points *points, const rh_preview_options *o, rh_status *status)
{
    const rh_attribute *P = rh_points_find(points, "P");
    if (!P || P->type != RH_POINT_VEC3F || P->uniform)
        return rh_fail(status, RH_USER, "preview: the points have no positions (attribute P of type vec3f)");
    if (o->width < 16 || o->height < 16 || o->width > RH_PREVIEW_LARGEST || o->height > RH_PREVIEW_LARGEST)
        return rh_fail(status, RH_USER, "preview: a picture of %d x %d pixels; each side must be from 16 to %d",
                       o->width, o->height, RH_PREVIEW_LARGEST);
    if (o->dimension != 2 && o->dimension != 3)
        return rh_fail(status, RH_USER, "preview: dimension %d, expected 2 or 3", o->dimension);
    if (points->count >= RH_PREVIEW_SOLID) return rh_fail(status, RH_USER, "preview: more points than can be shown");
    return RH_OK;
}

static rh_code render(const rh_points *points, const rh_preview_options *o, uint8_t *rgb, rh_arena *arena,
                      rh_status *status)
{
    rh_preview_cloud cloud = rh_preview_gather(points, o);
    rh_preview_camera camera = rh_preview_aim(&cloud, o);
    size_t pixels = (size_t)o->width * (size_t)o->height;
    rh_preview_picture p = {.width = o->width, .height = o->height, .middle = (float)camera.middle};
    rh_preview_disc *discs = rh_arena_take(arena, (size_t)points->count * sizeof *discs, status);
    p.depth = rh_arena_take(arena, 4 * pixels * sizeof *p.depth, status);
    p.owner = rh_arena_take(arena, 4 * pixels * sizeof *p.owner, status);
    p.smooth = rh_arena_take(arena, pixels * sizeof *p.smooth, status);
    p.contact = rh_arena_take(arena, pixels * sizeof *p.contact, status);
    if (!discs || !p.depth || !p.owner || !p.smooth || !p.contact) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < points->count; i++) discs[i] = project(&camera, &cloud, i);
    RH_TRY(splat(&p, discs, points->count, arena, status));
    if (o->solids && camera.perspective) rh_preview_draw_solids(&p, &camera, &cloud, o->solids);
    RH_TRY(shape(&p, cloud.guess * cloud.swell, (float)cloud.extent, arena, status));
    RH_TRY(rh_preview_shade(&p, discs, &camera, &cloud, o, rgb, arena, status));
    rh_preview_caption(o, &cloud, rgb);
    return RH_OK;
}

rh_code rh_preview_render(const rh_points *points, const rh_preview_options *options, uint8_t *rgb, rh_status *status)
{
    RH_TRY(check_options(points, options, status));
    rh_arena arena;
    rh_arena_init(&arena, "view.preview");
    rh_code code = render(points, options, rgb, &arena, status);
    rh_arena_free(&arena);
    return code;
}
