// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Path tracing (J. Kajiya, SIGGRAPH 1986) from the camera. What is special:
//  * At the first boundaries of a clear medium the path splits into its reflected and its refracted part, each
//    with Fresnel's share; later one of the two is chosen. Radiance changes with the square of the index across a
//    boundary.
//  * The sun is sampled directly and by the appearance, and both are weighed by the power heuristic (E. Veach,
//    L. Guibas, SIGGRAPH 1995).
//  * Towards the sun a clear boundary is passed straight, weakened by Fresnel and absorption. Under a level surface
//    that gives the true light on level ground; it has shadows that are tinted, but no caustics. Ways to the sun by
//    mirror and lens after a diffuse bounce are left out in exchange: they would be counted twice, and as noise.
//  * What an open sky gives a diffuse surface is known beforehand (a table over the slope of the surface); paths
//    bring only the difference to it, which is nothing where nothing stands in the way (a control variate). On level
//    ground under a clear medium the same is done for the sky as a level boundary bends it.
//  * A path is ended by lot at diffuse surfaces only, and only when it has become faint: white and clear things in
//    white light stay exactly white (tests/analytic/test_render.c).
#include "view/trace.h"

#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "view/optics.h"
#include "view/rays.h"
#include "view/sampler.h"

enum {
    TILE = 16,
    SPLITS = 2,
    STACK = SPLITS + 2,
    MOST_BOUNCES = 24,
    MOST_DIFFUSE = 4,
    MOST_CROSSINGS = 16,
    FIRST_SAMPLES = 2,
    SLOPES = 128
};

typedef struct part {  // what the rays know as one geometry
    rh_appearance appearance;
    rh_vec3 *normal, *color;  // owned; per vertex, per sphere; may be NULL
    uint32_t (*triangle)[3];  // owned, NULL for spheres
    rh_vec3 sky_inside;       // clear: mean radiance on level ground below a level boundary, without absorption; set by
                              // rh_trace_render
} part;

struct rh_trace {
    rh_rays *rays;
    part *parts;  // owned
    int count, capacity;
    float shutter;  // s
    bool committed;
};

rh_code rh_trace_create(float shutter, rh_trace **out, rh_status *status)
{
    *out = NULL;
    rh_trace *trace = rh_alloc_zero(sizeof *trace, "view.trace", status);
    if (!trace) return RH_MEMORY;
    trace->shutter = shutter;
    rh_code code = rh_rays_create(&trace->rays, status);
    if (code == RH_OK) *out = trace;
    else rh_free(trace);
    return code;
}

void rh_trace_free(rh_trace *trace)
{
    if (!trace) return;
    for (int i = 0; i < trace->count; i++) {
        rh_free(trace->parts[i].normal);
        rh_free(trace->parts[i].color);
        rh_free(trace->parts[i].triangle);
    }
    rh_free(trace->parts);
    rh_rays_free(trace->rays);
    rh_free(trace);
}

static rh_code copy_of(const void *from, size_t bytes, void **to, rh_status *status)
{
    if (!from) return RH_OK;
    *to = rh_alloc(bytes, "view.trace", status);
    if (!*to) return RH_MEMORY;
    memcpy(*to, from, bytes);
    return RH_OK;
}

static rh_code new_part(rh_trace *trace, part **out, rh_status *status)
{
    RH_ASSERT(!trace->committed);
    if (trace->count == trace->capacity) {
        int capacity = 2 * trace->capacity + 8;
        part *parts = rh_realloc(trace->parts, (size_t)capacity * sizeof *parts, "view.trace", status);
        if (!parts) return RH_MEMORY;
        trace->parts = parts;
        trace->capacity = capacity;
    }
    *out = &trace->parts[trace->count++];
    **out = (part){0};
    return RH_OK;
}

rh_code rh_trace_add_mesh(rh_trace *trace, const rh_trace_mesh *mesh, rh_status *status)
{
    if (mesh->triangle_count == 0) return RH_OK;
    part *p;
    void *normal = NULL, *color = NULL, *triangle = NULL;
    RH_TRY(new_part(trace, &p, status));
    p->appearance = mesh->appearance;
    RH_TRY(copy_of(mesh->normal, (size_t)mesh->vertex_count * sizeof *mesh->normal, &normal, status));
    p->normal = normal;
    RH_TRY(copy_of(mesh->color, (size_t)mesh->vertex_count * sizeof *mesh->color, &color, status));
    p->color = color;
    RH_TRY(copy_of(mesh->triangle, (size_t)mesh->triangle_count * sizeof *mesh->triangle, &triangle, status));
    p->triangle = triangle;
    return rh_rays_add_triangles(trace->rays, mesh->position, mesh->velocity, mesh->vertex_count, mesh->triangle,
                                 mesh->triangle_count, trace->shutter, status);
}

rh_code rh_trace_add_spheres(rh_trace *trace, const rh_trace_spheres *spheres, rh_status *status)
{
    if (spheres->count == 0) return RH_OK;
    part *p;
    void *color = NULL;
    RH_TRY(new_part(trace, &p, status));
    p->appearance = spheres->appearance;
    RH_TRY(copy_of(spheres->color, (size_t)spheres->count * sizeof *spheres->color, &color, status));
    p->color = color;
    return rh_rays_add_spheres(trace->rays, spheres->center, spheres->velocity, spheres->radius, spheres->count,
                               trace->shutter, status);
}

// --- what a ray meets ------------------------------------------------------------------------------------------------

typedef struct shooting {  // all that stays the same during a picture
    const rh_trace *trace;
    const rh_trace_options *o;
    int bounces;
    float pixel;                   // width of a pixel one metre away
    int medium;                    // part that the camera is inside of, or -1
    rh_vec3 below;                 // radiance that is expected from below the horizon: of open ground
    rh_vec3 open_sky[SLOPES + 1];  // mean radiance around as a diffuse surface weighs it, for normals from straight
                                   // down to straight up
} shooting;

typedef struct surface {
    float distance;
    rh_vec3 point, geometric, normal;  // both look against the ray, except that a clear boundary keeps `outside`
    rh_vec3 color;
    const rh_appearance *appearance;
    float presence;  // 1, or less where the ground fades into the sky
    bool outside;    // the ray comes from outside the closed mesh
    int part;        // -1: the ground
} surface;

static const rh_appearance ground_appearance = {.kind = RH_APPEARANCE_MATTE};

// A point on the surface moved off it to the side of the normal, so that the next ray does not meet it again: some
// units in the last place of each coordinate (C. Waechter, N. Binder, "A fast and robust method for avoiding
// self-intersection", Ray Tracing Gems, 2019).
static rh_vec3 off_surface(rh_vec3 p, rh_vec3 n)
{
    float *at = &p.x, *to = &n.x;
    for (int a = 0; a < 3; a++) {
        if (fabsf(at[a]) < 1 / 32.0f) {
            at[a] += to[a] / 65536;
            continue;
        }
        int32_t bits, step = (int32_t)(256 * to[a]);
        memcpy(&bits, &at[a], sizeof bits);
        bits += at[a] < 0 ? -step : step;
        memcpy(&at[a], &bits, sizeof bits);
    }
    return p;
}

// How solid the ground is: 1 near the scene, 0 far away.
static float ground_presence(const rh_ground *g, rh_vec3 p)
{
    float from = hypotf(p.x - g->center.x, p.z - g->center.z) / g->reach;
    float t = rh_clamp((from - 1) / 2, 0, 1);
    return 1 - t * t * (3 - 2 * t);
}

// How much of [x - reach, x + reach] lies within `half` of a whole number; reach below 1/2.
static float line_share(float x, float half, float reach)
{
    float off = fabsf(x - roundf(x)), low = rh_max_of(off - reach, -half), high = rh_min(off + reach, half);
    return rh_max_of(0, high - low) / (2 * reach);
}

// The pattern as a pixel sees it that covers `spread` metres: drawn sharp it would need many samples where it is far
// away.
static rh_vec3 ground_color(const rh_ground *g, rh_vec3 p, float spread)
{
    float x = p.x / g->tile, z = p.z / g->tile, reach = rh_clamp(0.5f * spread / g->tile, 1e-4f, 0.5f), ink = 0;
    if (g->style == RH_GROUND_CHECKER) {
        float a = 2 * line_share(0.5f * x - 0.25f, 0.25f, 0.5f * reach) - 1,
              b = 2 * line_share(0.5f * z - 0.25f, 0.25f, 0.5f * reach) - 1;
        ink = 0.28f * (0.5f - 0.5f * a * b);
    } else if (g->style == RH_GROUND_GRID) {
        float a = line_share(x, 0.012f, reach), b = line_share(z, 0.012f, reach);
        ink = 0.42f * (a + b - a * b);
    }
    return rh_v3_scale(g->color, 1 - ink);
}

static bool meet_ground(const rh_ground *g, const rh_ray *ray, float nearest, float pixel, surface *s)
{
    if (g->style == RH_GROUND_NONE || ray->direction.y >= -1e-6f || ray->origin.y <= g->height) return false;
    float distance = (g->height - ray->origin.y) / ray->direction.y;
    if (!(distance < nearest && distance < 1e6f)) return false;
    rh_vec3 p = rh_v3_add(ray->origin, rh_v3_scale(ray->direction, distance));
    p.y = g->height;
    rh_vec3 up = rh_v3(0, 1, 0), color = ground_color(g, p, pixel * distance / -ray->direction.y);
    *s = (surface){distance, p, up, up, color, &ground_appearance, ground_presence(g, p), true, -1};
    return true;
}

static rh_vec3 smooth_normal(const part *p, const rh_ray_hit *hit)
{
    if (!p->normal || !p->triangle) return hit->normal;
    const uint32_t *c = p->triangle[hit->primitive];
    rh_vec3 n = rh_v3_scale(p->normal[c[0]], 1 - hit->u - hit->v);
    n = rh_v3_add(n, rh_v3_add(rh_v3_scale(p->normal[c[1]], hit->u), rh_v3_scale(p->normal[c[2]], hit->v)));
    n = rh_v3_unit(n);
    return rh_v3_dot(n, hit->normal) > 0 ? n : hit->normal;  // also when n is not a number
}

static rh_vec3 color_at(const part *p, const rh_ray_hit *hit)
{
    if (!p->color) return p->appearance.color;
    if (!p->triangle) return p->color[hit->primitive];
    const uint32_t *c = p->triangle[hit->primitive];
    rh_vec3 color = rh_v3_scale(p->color[c[0]], 1 - hit->u - hit->v);
    return rh_v3_add(color, rh_v3_add(rh_v3_scale(p->color[c[1]], hit->u), rh_v3_scale(p->color[c[2]], hit->v)));
}

static bool meet(const shooting *shot, const rh_ray *ray, surface *s)
{
    rh_ray_hit hit;
    bool found = rh_rays_nearest(shot->trace->rays, ray, &hit);
    if (meet_ground(&shot->o->ground, ray, found ? hit.distance : INFINITY, shot->pixel, s)) return true;
    if (!found) return false;
    const part *p = &shot->trace->parts[hit.geometry];
    bool outside = rh_v3_dot(ray->direction, hit.normal) < 0;
    float side = outside ? 1 : -1;
    *s = (surface){.distance = hit.distance,
                   .geometric = rh_v3_scale(hit.normal, side),
                   .normal = rh_v3_scale(smooth_normal(p, &hit), side),
                   .color = color_at(p, &hit),
                   .appearance = &p->appearance,
                   .presence = 1,
                   .outside = outside,
                   .part = (int)hit.geometry};
    s->point = rh_v3_add(ray->origin, rh_v3_scale(ray->direction, hit.distance));
    if (rh_v3_dot(s->normal, ray->direction) >= 0)
        s->normal = s->geometric;  // a smooth normal that looks away at the rim
    return true;
}

// What comes through from outside along a straight way: 0 behind anything solid. `medium`: the part inside of which the
// way begins, or -1.
static rh_vec3 through(const shooting *shot, rh_ray ray, int medium)
{
    rh_vec3 left = rh_v3(1, 1, 1);
    for (int crossing = 0; crossing < MOST_CROSSINGS; crossing++) {
        surface s;
        if (!meet(shot, &ray, &s)) return left;
        if (s.appearance->kind != RH_APPEARANCE_CLEAR) break;
        if (medium >= 0)
            left = rh_v3_multiply(left, rh_transmittance(shot->trace->parts[medium].appearance.absorption, s.distance));
        // The share by the angle outside, whichever way the boundary is crossed: that is how the light of the sun meets
        // it.
        left = rh_v3_scale(left,
                           1 - rh_fresnel(rh_clamp(-rh_v3_dot(ray.direction, s.normal), 0, 1), 1 / s.appearance->ior));
        medium = s.outside ? s.part : -1;
        ray.origin = off_surface(s.point, rh_v3_scale(s.geometric, -1));
    }
    return rh_v3(0, 0, 0);
}

// --- paths -----------------------------------------------------------------------------------------------------------

typedef struct path {
    rh_ray ray;
    rh_vec3 weight;
    rh_vec3 counted;  // sky that was counted beforehand in this direction
    float pdf;        // of the last direction; negative after a mirror, a lens or the camera
    int medium;       // part it is inside of, or -1
    int outer;        // part around that one: of a bubble in water; -1: air
    int events, diffuse, splits;
} path;

// The share of a light that was found in the first of two ways, by the squares of their densities. By the densities
// themselves, the few diffuse directions that happen to hit the sun showed as bright dots.
static float balance(float found, float other) { return found * found / (found * found + other * other); }

static rh_vec3 far_light(const shooting *shot, const path *p)
{
    float pdf, share = 1;
    rh_vec3 sun = rh_light_sun(&shot->o->light, p->ray.direction, &pdf),
            sky = rh_light_sky(&shot->o->light, p->ray.direction);
    if (p->pdf >= 0) share = balance(p->pdf, pdf);
    else if (p->diffuse > 0) share = 0;
    return rh_v3_add(sky, rh_v3_scale(sun, share));
}

// What comes from far away, of which `share` reaches us, less what was counted before.
static rh_vec3 arriving(const shooting *shot, const path *p, float share)
{
    if (share <= 0) return rh_v3_scale(p->counted, -1);
    return rh_v3_sub(rh_v3_scale(far_light(shot, p), share), p->counted);
}

static rh_vec3 sun_light(const shooting *shot, const path *p, const surface *s, rh_sampler *sampler)
{
    float u[2], pdf, other;
    rh_vec3 to, light;
    rh_sampler_pair(sampler, u);
    if (!rh_light_sample_sun(&shot->o->light, u, &to, &light, &pdf) || rh_v3_dot(to, s->geometric) <= 0)
        return rh_v3(0, 0, 0);
    rh_vec3 reflected = rh_appearance_evaluate(s->appearance, s->color, s->normal, rh_v3_scale(p->ray.direction, -1),
                                               to, &other);
    if (rh_v3_max(reflected) <= 0) return reflected;
    rh_ray ray = {off_surface(s->point, s->geometric), to, INFINITY, p->ray.time};
    light = rh_v3_multiply(light, through(shot, ray, p->medium));
    return rh_v3_scale(rh_v3_multiply(light, reflected), balance(pdf, other));
}

static rh_vec3 around(const shooting *shot, rh_vec3 direction)
{
    return direction.y <= 0 ? shot->below : rh_light_sky(&shot->o->light, direction);
}

static rh_vec3 open_sky(const shooting *shot, rh_vec3 normal)
{
    float at = (normal.y + 1) * (0.5f * SLOPES);
    int k = at < SLOPES - 1 ? (int)at : SLOPES - 1;
    return rh_v3_lerp(shot->open_sky[k], shot->open_sky[k + 1], at - (float)k);
}

// The sky in a direction below a level boundary: bent, with its radiance raised by the square of the index; nothing
// beyond the critical angle.
static rh_vec3 bent_sky(const rh_light *light, float ior, rh_vec3 direction)
{
    rh_vec3 out;
    if (direction.y <= 0 || !rh_refract(direction, rh_v3(0, -1, 0), ior, &out)) return rh_v3(0, 0, 0);
    return rh_v3_scale(rh_light_sky(light, out), ior * ior * (1 - rh_fresnel(direction.y, ior)));
}

// Notes in the path what sky is expected in the direction that it takes, and gives the mean over all directions. Any
// guess keeps the picture right; a good one makes it smooth.
static rh_vec3 expect_sky(const shooting *shot, path *p, const surface *s, rh_vec3 direction)
{
    const rh_light *light = &shot->o->light;
    if (p->medium < 0) {
        p->counted = around(shot, direction);
        return open_sky(shot, s->normal);
    }
    if (s->normal.y < 0.9999f) return rh_v3(0, 0, 0);
    const part *medium = &shot->trace->parts[p->medium];
    rh_vec3 left = rh_transmittance(medium->appearance.absorption,
                                    -1.2f * p->ray.direction.y * s->distance);  // as deep as the path came down
    p->counted = rh_v3_multiply(left, bent_sky(light, medium->appearance.ior, direction));
    return rh_v3_multiply(left, medium->sky_inside);
}

// Weights below which a path goes on by lot only: before and after a diffuse surface. Boundaries never end a path, so
// clear things lose nothing.
static const float weak = 0.06f, fading = 0.25f;

static bool go_on_diffuse(const shooting *shot, path *p, surface *s, rh_sampler *sampler, rh_vec3 *light)
{
    // A gloss that lights a diffuse surface by its highlight of the sun is found by few samples, as bright dots: there
    // it is taken as rougher than it is (the idea of A. Kaplanyan, C. Dachsbacher, "Path space regularization", 2013).
    rh_appearance rougher = *s->appearance;
    rougher.roughness = rh_max_of(rougher.roughness, 0.7f);
    if (p->diffuse > 0 && rougher.kind == RH_APPEARANCE_GLOSSY) s->appearance = &rougher;
    float u[2], choice[2], enter[2];
    rh_scatter scatter;
    rh_sampler_pair(sampler, u);
    rh_sampler_pair(sampler, choice);
    rh_sampler_pair(sampler, enter);
    float worth = rh_v3_max(p->weight) / weak;  // a faint mirror image is not worth the work of every sample
    if (enter[0] >= worth) return false;
    if (worth < 1) p->weight = rh_v3_scale(p->weight, 1 / worth);
    *light = rh_v3_add(*light, rh_v3_multiply(p->weight, sun_light(shot, p, s, sampler)));
    if (++p->diffuse > MOST_DIFFUSE) return false;
    if (!rh_appearance_sample(s->appearance, s->color, s->normal, rh_v3_scale(p->ray.direction, -1), choice[0], u,
                              &scatter))
        return false;
    if (s->appearance->kind == RH_APPEARANCE_MATTE && rh_v3_max(scatter.weight) > 0) {
        float even = rh_appearance_diffuse_factor(s->appearance);
        rh_vec3 expected = rh_v3_scale(expect_sky(shot, p, s, scatter.direction), even);
        *light = rh_v3_add(*light, rh_v3_multiply(rh_v3_multiply(p->weight, s->color), expected));
        p->counted = rh_v3_scale(p->counted, even * rh_v3_max(s->color) / rh_v3_max(scatter.weight));
    }
    p->weight = rh_v3_multiply(p->weight, scatter.weight);
    p->pdf = scatter.pdf;
    p->ray.origin = off_surface(s->point, s->geometric);
    p->ray.direction = scatter.direction;
    if (rh_v3_dot(scatter.direction, s->geometric) <= 0) {  // into the surface: dark
        *light = rh_v3_sub(*light, rh_v3_multiply(p->weight, p->counted));
        return false;
    }
    float left = rh_v3_max(p->weight) / fading;
    if (choice[1] >= left) return false;
    if (left < 1) p->weight = rh_v3_scale(p->weight, 1 / left);
    return true;
}

// The path on the other side of the boundary; false when all is reflected. Where the smooth normal sends it to the
// wrong side, the true one decides.
static bool refracted(const path *p, const surface *s, float ratio, path *out)
{
    *out = *p;
    if (!rh_refract(p->ray.direction, s->normal, ratio, &out->ray.direction)) return false;
    if (rh_v3_dot(out->ray.direction, s->geometric) >= 0 &&
        !rh_refract(p->ray.direction, s->geometric, ratio, &out->ray.direction))
        return false;
    out->ray.origin = off_surface(s->point, rh_v3_scale(s->geometric, -1));
    out->weight = rh_v3_scale(p->weight, ratio * ratio);
    out->outer = s->outside ? p->medium : -1;
    out->medium = s->outside ? s->part : p->medium == s->part ? p->outer : -1;
    return true;
}

static path reflected(const path *p, const surface *s)
{
    path out = *p;
    out.ray.direction = rh_reflect(p->ray.direction, s->normal);
    if (rh_v3_dot(out.ray.direction, s->geometric) <= 0) out.ray.direction = rh_reflect(p->ray.direction, s->geometric);
    out.ray.direction = rh_v3_unit(out.ray.direction);
    out.ray.origin = off_surface(s->point, s->geometric);
    return out;
}

// Passes a clear boundary. `beside` gets the other half of a path that splits (splits of it counted), and true comes
// back.
static bool cross_boundary(path *p, const surface *s, rh_sampler *sampler, path *beside)
{
    float ratio = s->outside ? 1 / s->appearance->ior : s->appearance->ior;
    float share = rh_fresnel(rh_clamp(-rh_v3_dot(p->ray.direction, s->normal), 0, 1), ratio);
    path mirror = reflected(p, s), lens;
    bool passes = share < 1 && refracted(p, s, ratio, &lens);
    mirror.pdf = lens.pdf = -1;
    if (!passes) {
        *p = mirror;
        return false;
    }
    if (p->diffuse == 0 && p->splits < SPLITS) {
        mirror.splits = lens.splits = p->splits + 1;
        mirror.weight = rh_v3_scale(mirror.weight, share);
        lens.weight = rh_v3_scale(lens.weight, 1 - share);
        *beside = mirror;
        *p = lens;
        return true;
    }
    float u[2];
    rh_sampler_pair(sampler, u);
    *p = u[0] < share ? mirror : lens;
    return false;
}

static rh_vec3 radiance(const shooting *shot, rh_ray ray, rh_sampler *sampler)
{
    rh_vec3 light = {0, 0, 0};
    path stack[STACK] = {{.ray = ray, .weight = {1, 1, 1}, .pdf = -1, .medium = shot->medium, .outer = -1}};
    for (int waiting = 1; waiting > 0;) {
        path p = stack[--waiting];
        for (bool alive = true; alive && p.events < shot->bounces; p.events++) {
            surface s;
            bool met = meet(shot, &p.ray, &s);
            light = rh_v3_add(light, rh_v3_multiply(p.weight, arriving(shot, &p, met ? 1 - s.presence : 1)));
            if (!met) break;
            p.weight = rh_v3_scale(p.weight, s.presence);
            p.counted = rh_v3(0, 0, 0);
            if (p.medium >= 0)
                p.weight = rh_v3_multiply(
                    p.weight, rh_transmittance(shot->trace->parts[p.medium].appearance.absorption, s.distance));
            if (s.appearance->kind != RH_APPEARANCE_CLEAR) alive = go_on_diffuse(shot, &p, &s, sampler, &light);
            else if (cross_boundary(&p, &s, sampler, &stack[waiting])) stack[waiting++].events++;
            if (!(rh_v3_max(p.weight) > 1e-5f)) break;
        }
    }
    return light;
}

// The clear part around a point: the first such boundary that a ray meets tells by its side. Solids in the way are
// passed.
static int medium_at(const shooting *shot, rh_vec3 point)
{
    rh_ray ray = {point, rh_v3_unit(rh_v3(0.11f, 1, 0.07f)), INFINITY, 0.5f};
    for (int crossing = 0; crossing < MOST_CROSSINGS; crossing++) {
        surface s;
        if (!meet(shot, &ray, &s)) return -1;
        if (s.appearance->kind == RH_APPEARANCE_CLEAR) return s.outside ? -1 : s.part;
        ray.origin = off_surface(s.point, rh_v3_scale(s.geometric, -1));
    }
    return -1;
}

// --- picture ---------------------------------------------------------------------------------------------------------

typedef struct lens_frame {
    rh_dvec3 eye, right, up, forward;
} lens_frame;

static lens_frame aim(const rh_view *view, int width, int height)
{
    lens_frame f = {.eye = view->eye, .forward = rh_d3_unit(rh_d3_sub(view->target, view->eye))};
    rh_dvec3 upwards = fabs(f.forward.y) > 0.9999 ? rh_d3(0, 0, f.forward.y > 0 ? 1 : -1) : rh_d3(0, 1, 0);
    double half = tan(view->fov * 3.14159265358979 / 360) / (width < height ? width : height);  // of a pixel, times two
    f.right = rh_d3_unit(rh_d3_cross(f.forward, upwards));
    f.up = rh_d3_scale(rh_d3_cross(f.right, f.forward), 2 * half);
    f.right = rh_d3_scale(f.right, 2 * half);
    return f;
}

static float tent(float u)  // the pixel's filter: a tent two pixels wide, by its inverse distribution
{
    return u < 0.5f ? sqrtf(2 * u) - 1 : 1 - sqrtf(2 - 2 * u);
}

static rh_dvec3 between(rh_dvec3 a, rh_dvec3 b, double t) { return rh_d3_add(a, rh_d3_scale(rh_d3_sub(b, a), t)); }

static rh_ray camera_ray(const shooting *shot, const lens_frame frames[2], int x, int y, rh_sampler *sampler)
{
    const rh_trace_options *o = shot->o;
    float u[2], t[2];
    rh_sampler_pair(sampler, u);
    rh_sampler_pair(sampler, t);
    double px = x + 0.5 + tent(u[0]) - 0.5 * o->width, py = 0.5 * o->height - (y + 0.5 + tent(u[1]));
    rh_dvec3 direction[2];
    for (int k = 0; k < 2; k++)
        direction[k] = rh_d3_add(frames[k].forward,
                                 rh_d3_add(rh_d3_scale(frames[k].right, px), rh_d3_scale(frames[k].up, py)));
    return (rh_ray){rh_v3_from(between(frames[0].eye, frames[1].eye, t[0])),
                    rh_v3_from(rh_d3_unit(between(direction[0], direction[1], t[0]))), INFINITY, t[0]};
}

typedef struct tally {
    rh_vec3 sum[TILE * TILE], half[TILE * TILE];  // of all samples, and of the first half of them
} tally;

static float seen(rh_vec3 c)  // brightness after a rough tone curve
{
    float l = 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
    return copysignf(sqrtf(fabsf(l) / (1 + fabsf(l))), l);
}

static void add_samples(const shooting *shot, const lens_frame frames[2], int x, int y, int from, int to, tally *t,
                        int at)
{
    const rh_trace_options *o = shot->o;
    for (int k = from; k < to; k++) {
        rh_sampler sampler = {
            .seed = o->seed, .pixel = (uint64_t)y * (uint64_t)o->width + (uint64_t)x, .sample = (uint32_t)k};
        rh_vec3 c = radiance(shot, camera_ray(shot, frames, x, y, &sampler), &sampler);
        float most = rh_v3_max(c);
        if (!isfinite(c.x + c.y + c.z)) c = rh_v3(0, 0, 0);
        else if (o->brightest > 0 && most > o->brightest) c = rh_v3_scale(c, o->brightest / most);
        t->sum[at] = rh_v3_add(t->sum[at], c);
    }
}

// Expected error of the tile's pixels, root of the mean square, from the difference between the two halves of the
// samples. The spread of single samples would not do: it also has the detail inside a pixel, which well-spread samples
// average out much faster.
static double tile_error(const tally *t, int pixels, int samples)
{
    double sum = 0;
    for (int i = 0; i < pixels; i++) {
        float other = seen(rh_v3_scale(rh_v3_sub(t->sum[i], t->half[i]), 2 / (float)samples));
        double difference = seen(rh_v3_scale(t->half[i], 2 / (float)samples)) - other;
        sum += 0.25 * difference * difference;
    }
    return sqrt(sum / pixels);
}

static void render_tile(const shooting *shot, const lens_frame frames[2], int x0, int y0, rh_vec3 *picture)
{
    const rh_trace_options *o = shot->o;
    int wide = o->width - x0 < TILE ? o->width - x0 : TILE, tall = o->height - y0 < TILE ? o->height - y0 : TILE;
    tally t = {0};
    int done = 0;
    while (done < o->samples) {
        int next = done == 0 ? FIRST_SAMPLES : 2 * done;
        if (next > o->samples || o->noise <= 0) next = o->samples;
        memcpy(t.half, t.sum, sizeof t.half);
        for (int i = 0; i < wide * tall; i++)
            add_samples(shot, frames, x0 + i % wide, y0 + i / wide, done, next, &t, i);
        done = next;
        if (done > FIRST_SAMPLES && tile_error(&t, wide * tall, done) < o->noise) break;
    }
    for (int i = 0; i < wide * tall; i++)
        picture[(size_t)(y0 + i / wide) * (size_t)o->width + (size_t)(x0 + i % wide)] = rh_v3_scale(t.sum[i],
                                                                                                    1 / (float)done);
}

enum { RINGS = 64, STEPS = 64 };  // of the midpoint rule

// Cosine-weighted mean over the hemisphere about a normal of that height.
static rh_vec3 mean_around(const shooting *shot, float height)
{
    float flat = sqrtf(rh_max_of(0, 1 - height * height));
    double sum[3] = {0};
    for (int i = 0; i < RINGS; i++)
        for (int j = 0; j < STEPS; j++) {
            float r2 = ((float)i + 0.5f) / RINGS, angle = RH_PI_F * ((float)j + 0.5f) / STEPS;
            rh_vec3 light = around(shot, rh_v3(0, height * sqrtf(1 - r2) + flat * sqrtf(r2) * cosf(angle), 0));
            for (int c = 0; c < 3; c++) sum[c] += (&light.x)[c];
        }
    return rh_v3((float)(sum[0] / (RINGS * STEPS)), (float)(sum[1] / (RINGS * STEPS)),
                 (float)(sum[2] / (RINGS * STEPS)));
}

static rh_vec3 mean_inside(const rh_light *light, float ior)
{
    rh_dvec3 sum = {0};
    for (int i = 0; i < RINGS * STEPS; i++) {
        float r2 = ((float)i + 0.5f) / (RINGS * STEPS);
        sum = rh_d3_add(sum, rh_d3_from(bent_sky(light, ior, rh_v3(sqrtf(r2), sqrtf(1 - r2), 0))));
    }
    return rh_v3_from(rh_d3_scale(sum, 1.0 / (RINGS * STEPS)));
}

static void expect_light(shooting *shot, part *parts, int count)
{
    const rh_light *light = &shot->o->light;
    const rh_ground *ground = &shot->o->ground;
    shot->below = light->horizon;
    rh_vec3 lit = rh_v3_add(mean_around(shot, 1), rh_v3_scale(light->sun, rh_max_of(light->to_sun.y, 0)));
    if (ground->style != RH_GROUND_NONE) shot->below = rh_v3_multiply(ground->color, lit);
    for (int k = 0; k <= SLOPES; k++) shot->open_sky[k] = mean_around(shot, 2 * (float)k / SLOPES - 1);
    for (int k = 0; k < count; k++)
        if (parts[k].appearance.kind == RH_APPEARANCE_CLEAR)
            parts[k].sky_inside = mean_inside(light, parts[k].appearance.ior);
}

rh_code rh_trace_render(rh_trace *trace, const rh_trace_options *options, rh_vec3 *picture, rh_status *status)
{
    RH_ASSERT(options->width > 0 && options->height > 0 && options->samples > 0);
    if (!trace->committed) RH_TRY(rh_rays_commit(trace->rays, status));
    trace->committed = true;
    shooting shot = {.trace = trace, .o = options, .bounces = options->bounces > 0 ? options->bounces : MOST_BOUNCES};
    lens_frame frames[2] = {aim(&options->open, options->width, options->height),
                            aim(&options->close, options->width, options->height)};
    shot.pixel = (float)rh_d3_length(frames[0].right);
    shot.medium = medium_at(&shot, rh_v3_from(options->open.eye));
    expect_light(&shot, trace->parts, trace->count);
    int across = (options->width + TILE - 1) / TILE, down = (options->height + TILE - 1) / TILE;
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < across * down; i++) render_tile(&shot, frames, i % across * TILE, i / across * TILE, picture);
    return RH_OK;
}
