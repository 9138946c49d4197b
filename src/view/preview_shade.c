// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Light and colour of the preview. All sums are taken in linear light.
#include "view/caption.h"

#include <string.h>
#include "view/colors.h"
#include "view/preview_parts.h"
#include "view/values.h"

enum { SHADES = 256, MAP = 256 };

typedef struct color {
    float r, g, b;
} color;

typedef struct stage {
    const rh_preview_picture *p;
    const rh_preview_disc *discs;
    const rh_preview_camera *camera;
    const rh_preview_cloud *cloud;
    color scale[SHADES];
    const rh_paint *paint;  // NULL = blue
    color plain;
    float gloss;                 // 1, or 0 for matte grains
    const float *shadow;         // MAP x MAP over `area`, 0 to 1; NULL in a flat view
    rh_dbox area;                // m, of the shadow map; only x and z count
    double line;                 // m between lines of the grid
    const rh_obstacles *solids;  // of a flat view; NULL = none
    rh_vec3 light, half;         // camera axes: right, up, towards the eye
} stage;

static color mix(color a, color b, float t)
{
    return (color){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}
static color times(color a, float s) { return (color){a.r * s, a.g * s, a.b * s}; }
static color plus(color a, color b) { return (color){a.r + b.r, a.g + b.g, a.b + b.b}; }
static float clamp01(float x) { return !(x > 0) ? 0 : x > 1 ? 1 : x; }

static color scale_color(const rh_paint *paint, double t)
{
    rh_vec3 c = paint ? rh_palette_color((rh_palette)paint->palette, paint->bands, t) : rh_color_of(t);
    return (color){c.x, c.y, c.z};
}

static color disc_color(const stage *s, const rh_preview_disc *d)
{
    if (s->paint && !s->cloud->values) return s->plain;
    if (s->paint && s->paint->attribute && strcmp(s->paint->attribute, "Cd") == 0) {
        rh_vec3 c = rh_values_unpack(d->tint);
        return (color){c.x, c.y, c.z};
    }
    if (s->paint && s->paint->bands > 0) return scale_color(s->paint, d->tint);  // a table would blur the steps
    float t = d->tint < 0 ? 0 : d->tint <= 1 ? d->tint : 1;
    return s->scale[(int)(t * (SHADES - 1) + 0.5f)];
}

static uint8_t to_srgb(float x) { return (uint8_t)(255 * rh_srgb(x) + 0.5f); }

// --- ground ----------------------------------------------------------------------------------------------------------

// How many points stand over each patch of ground, blurred: a soft shadow straight from above.
static rh_code cast_shadow(stage *s, rh_arena *arena, rh_status *status)
{
    size_t bytes = MAP * MAP * sizeof(float);
    float *map = rh_arena_take_zero(arena, bytes, status), *spare = rh_arena_take(arena, bytes, status);
    if (!map || !spare) return RH_MEMORY;
    double margin = 0.35 * s->cloud->extent;
    s->area = s->cloud->box;
    s->area.min = rh_d3_sub(s->area.min, rh_d3(margin, 0, margin));
    s->area.max = rh_d3_add(s->area.max, rh_d3(margin, 0, margin));
    double wide = (s->area.max.x - s->area.min.x) / MAP, deep = (s->area.max.z - s->area.min.z) / MAP;
    for (int64_t i = 0; i < s->cloud->count; i++) {
        rh_vec3 p = rh_preview_upright(s->cloud->P[i], s->cloud->z_up);
        double x = (p.x - s->area.min.x) / wide, z = (p.z - s->area.min.z) / deep;
        if (x >= 0 && z >= 0 && x < MAP && z < MAP) map[(int)z * MAP + (int)x] += 1;
    }
    // Full shade where the ground is covered by one layer of particles.
    float one_layer = (float)(wide * deep) / (4 * s->cloud->guess * s->cloud->guess);
    for (int i = 0; i < MAP * MAP; i++) map[i] = clamp01(map[i] / one_layer);
    rh_preview_blur(MAP, MAP, map, spare, 4);
    rh_preview_blur(MAP, MAP, map, spare, 9);
    s->shadow = map;
    return RH_OK;
}

static float shadow_at(const stage *s, double x, double z)
{
    double u = (x - s->area.min.x) / (s->area.max.x - s->area.min.x) * MAP - 0.5;
    double v = (z - s->area.min.z) / (s->area.max.z - s->area.min.z) * MAP - 0.5;
    if (!(u >= 0 && v >= 0 && u < MAP - 1 && v < MAP - 1)) return 0;
    int i = (int)u, j = (int)v;
    float a = (float)(u - i), b = (float)(v - j);
    const float *at = s->shadow + j * MAP + i;
    return (1 - b) * ((1 - a) * at[0] + a * at[1]) + b * ((1 - a) * at[MAP] + a * at[MAP + 1]);
}

// 1 on a line of the grid, falling to 0 over about a sample; `width` is the size of a sample in metres there.
static float on_line(double x, double line, double width)
{
    double off = fabs(x / line - round(x / line)) * line;
    double reach = fmax(width, 0.006 * line);
    return clamp01((float)(1.5 - off / reach)) * clamp01((float)(line / (8 * width)));
}

static color ground(const stage *s, float x, float y, color sky)
{
    const rh_preview_camera *c = s->camera;
    rh_dvec3 ray = rh_d3_add(rh_d3_scale(c->right, (x - c->x) / c->focal), rh_d3_scale(c->up, (c->y - y) / c->focal));
    ray = rh_d3_add(ray, c->forward);
    double t = (s->cloud->ground - c->eye.y) / ray.y;
    if (!(ray.y < -1e-4 && t > 0)) return sky;
    double gx = c->eye.x + t * ray.x, gz = c->eye.z + t * ray.z;
    double from = hypot(gx - (s->area.min.x + s->area.max.x) / 2, gz - (s->area.min.z + s->area.max.z) / 2);
    float fade = clamp01((float)(1.6 - from / s->cloud->extent));
    double width = t / c->focal;  // across; along the ground it is longer by the slant
    float grid = fmaxf(on_line(gx, s->line, width), on_line(gz, s->line, width / fabs(ray.y)));
    color lit = times(sky, 1 - 0.16f * grid * fade);
    return times(lit, 1 - 0.62f * shadow_at(s, gx, gz));
}

static color flat_grid(const stage *s, float x, float y, color sky)
{
    const rh_preview_camera *c = s->camera;
    double gx = c->eye.x + (x - c->x) / c->focal, gy = c->eye.y + (c->y - y) / c->focal;
    float grid = fmaxf(on_line(gx, s->line, 1 / c->focal), on_line(gy, s->line, 1 / c->focal));
    rh_dbox box = s->cloud->box;
    bool inside = gx >= box.min.x && gx <= box.max.x && gy >= box.min.y && gy <= box.max.y;
    return times(sky, 1 - (inside ? 0.15f : 0.05f) * grid);
}

// Solids of a flat view: grey, darker along their edge. The distance also says how much of a sample is covered.
static color flat_solid(const stage *s, float x, float y, color behind)
{
    static const color body = {0.30f, 0.31f, 0.33f}, rim = {0.10f, 0.105f, 0.115f};
    const rh_preview_camera *c = s->camera;
    rh_dvec3 at = {c->eye.x + (x - c->x) / c->focal, c->eye.y + (c->y - y) / c->focal, 0};
    float inside = (float)(-rh_obstacles_distance(s->solids, at, NULL) * c->focal);  // samples
    float edge = clamp01(1.5f - fabsf(inside - 1.5f) / 2);
    return mix(mix(behind, body, 0.85f * clamp01(inside + 0.5f)), rim, edge * clamp01(inside + 0.5f));
}

static color background(const stage *s, float x, float y)
{
    float t = y / (float)(2 * s->p->height);
    color sky = mix((color){0.95f, 0.96f, 0.97f}, (color){0.56f, 0.59f, 0.62f}, t * t);
    if (s->camera->perspective) return ground(s, x, y, sky);
    color grid = flat_grid(s, x, y, sky);
    return s->solids ? flat_solid(s, x, y, grid) : grid;
}

// --- light -----------------------------------------------------------------------------------------------------------

static rh_vec3 unit(rh_vec3 a)
{
    float length = rh_v3_length(a);
    return length > 0 ? rh_v3_scale(a, 1 / length) : rh_v3(0, 0, 1);
}

// Slope of the smoothed depth towards the neighbour on the side where it changes less; an edge has no slope.
static float slope(const rh_preview_picture *p, int x, int y, int dx, int dy)
{
    size_t at = (size_t)y * (size_t)p->width + (size_t)x;
    ptrdiff_t step = dx + (ptrdiff_t)dy * p->width;
    bool has_next = x + dx < p->width && y + dy < p->height, has_last = x - dx >= 0 && y - dy >= 0;
    float next = has_next ? p->smooth[(ptrdiff_t)at + step] - p->smooth[at] : INFINITY;
    float last = has_last ? p->smooth[at] - p->smooth[(ptrdiff_t)at - step] : INFINITY;
    float best = fabsf(next) < fabsf(last) ? next : last;
    return isfinite(best) ? best : 0;
}

// Normal of the smoothed surface in camera axes.
static rh_vec3 surface_normal(const stage *s, int x, int y)
{
    const rh_preview_picture *p = s->p;
    float z = p->smooth[(size_t)y * (size_t)p->width + (size_t)x];
    double pixel = 2 / s->camera->focal * (s->camera->perspective ? z : 1);  // m across at that depth
    return unit(rh_v3((float)(slope(p, x, y, 1, 0) / pixel), (float)(-slope(p, x, y, 0, 1) / pixel), 1));
}

static color lit(const stage *s, const rh_preview_disc *d, float x, float y, rh_vec3 surface, float contact)
{
    float u = (x - d->x) / d->radius, v = (d->y - y) / d->radius, w = 1 - u * u - v * v;
    rh_vec3 sphere = rh_v3(u, v, sqrtf(w > 0 ? w : 0));
    rh_vec3 n = unit(rh_v3_add(rh_v3_scale(sphere, 0.38f), rh_v3_scale(surface, 0.62f)));
    float wrap = 0.5f + 0.5f * rh_v3_dot(n, s->light);
    float diffuse = 0.22f + 0.95f * wrap * wrap, edge = 1 - clamp01(n.z), gloss = clamp01(rh_v3_dot(n, s->half));
    gloss *= gloss, gloss *= gloss, gloss *= gloss, gloss *= gloss, gloss *= gloss;  // to the 32nd
    color c = times(disc_color(s, d), diffuse * (1 - 0.65f * contact));
    c = plus(c, times((color){0.75f, 0.87f, 1.0f}, s->gloss * 0.20f * edge * edge * edge * (1 - contact)));
    return plus(c, times((color){1, 1, 1}, s->gloss * 0.22f * gloss * (1 - contact)));
}

static color lit_solid(const stage *s, rh_vec3 surface, float contact)
{
    static const color body = {0.34f, 0.33f, 0.32f};
    float wrap = 0.5f + 0.5f * rh_v3_dot(surface, s->light);
    return times(body, (0.25f + 0.95f * wrap * wrap) * (1 - 0.5f * contact));
}

static color sample(const stage *s, int px, int py, int sx, int sy, rh_vec3 surface, float contact)
{
    size_t at = (size_t)(2 * py + sy) * (size_t)(2 * s->p->width) + (size_t)(2 * px + sx);
    float x = (float)(2 * px + sx) + 0.5f, y = (float)(2 * py + sy) + 0.5f;
    uint32_t owner = s->p->owner[at];
    if (owner == RH_PREVIEW_NOBODY) return background(s, x, y);
    if (owner == RH_PREVIEW_SOLID) return lit_solid(s, surface, contact);
    return lit(s, &s->discs[owner], x, y, surface, contact);
}

static void shade_row(const stage *s, int y, uint8_t *rgb)
{
    for (int x = 0; x < s->p->width; x++, rgb += 3) {
        size_t at = (size_t)y * (size_t)s->p->width + (size_t)x;
        rh_vec3 surface = rh_v3(0, 0, 1);
        if (isfinite(s->p->smooth[at])) surface = surface_normal(s, x, y);
        color sum = {0};
        for (int k = 0; k < 4; k++) sum = plus(sum, sample(s, x, y, k & 1, k >> 1, surface, s->p->contact[at]));
        rgb[0] = to_srgb(sum.r / 4), rgb[1] = to_srgb(sum.g / 4), rgb[2] = to_srgb(sum.b / 4);
    }
}

rh_code rh_preview_shade(const rh_preview_picture *p, const rh_preview_disc *discs, const rh_preview_camera *camera,
                         const rh_preview_cloud *cloud, const rh_preview_options *o, uint8_t *rgb, rh_arena *arena,
                         rh_status *status)
{
    stage s = {.p = p,
               .discs = discs,
               .camera = camera,
               .cloud = cloud,
               .line = rh_grid_step(cloud->extent),
               .solids = camera->perspective ? NULL : o->solids,
               .paint = o->paint,
               .plain = {o->color.x, o->color.y, o->color.z},
               .gloss = o->matte ? 0 : 1};
    for (int i = 0; i < SHADES; i++) s.scale[i] = scale_color(s.paint, i / (double)(SHADES - 1));
    s.light = unit(rh_v3(-0.45f, 0.75f, 0.55f));
    s.half = unit(rh_v3_add(s.light, rh_v3(0, 0, 1)));
    if (camera->perspective) RH_TRY(cast_shadow(&s, arena, status));
#pragma omp parallel for schedule(dynamic, 8)
    for (int y = 0; y < p->height; y++) shade_row(&s, y, rgb + (size_t)3 * (size_t)p->width * (size_t)y);
    return RH_OK;
}

// --- captions --------------------------------------------------------------------------------------------------------

void rh_preview_caption(const rh_preview_options *o, const rh_preview_cloud *cloud, uint8_t *rgb)
{
    rh_canvas canvas = {o->width, o->height, rgb, NULL};
    if (o->title) rh_caption_title(&canvas, o->title);
    static const rh_paint speed = {.palette = RH_PALETTE_BLUE};
    char what[RH_CAPTION_WHAT];
    bool own = o->paint && o->paint->attribute && strcmp(o->paint->attribute, "Cd") == 0;  // colours without a scale
    if (own) return;
    if (o->paint && cloud->values && o->low < o->high) {
        rh_caption_what(o->paint->attribute, what);
        rh_caption_legend(&canvas, o->paint, what, o->low, o->high);
    } else if (cloud->v) {
        rh_caption_legend(&canvas, &speed, "speed m/s", 0, cloud->speed_max);
    }
}
