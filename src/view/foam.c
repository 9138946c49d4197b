// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A drop that is wider than a pixel or two is a ball of water: it shows the world upside down. One that is smaller
// cannot be seen to be clear; what is seen is the sun in its skin and the light that many of them scatter, so it is
// white with a gloss, whose highlight is wide enough to be found by the samples of a pixel: the brightness of a glint
// then goes with the area of the drop. Foam is a white grain on the surface. A bubble is a ball of air in water: nearly
// all of it is a mirror, as the light cannot leave the water at a slant. Bubbles below a pixel make water milky.
#include "view/foam.h"

#include <math.h>
#include "base/memory.h"

enum look { CLEAR_DROP, MIST, FOAM, CLEAR_BUBBLE, MILK, LOOKS };
static const float WATER = 1.333f, WIDE = 4;  // index; pixels from which on a ball is seen as one

static rh_appearance appearance_of(enum look look)
{
    switch (look) {
    case CLEAR_DROP: return (rh_appearance){.kind = RH_APPEARANCE_CLEAR, .ior = WATER};
    case MIST:
        return (rh_appearance){
            .kind = RH_APPEARANCE_GLOSSY, .color = {0.86f, 0.89f, 0.91f}, .roughness = 0.3f, .ior = WATER};
    case CLEAR_BUBBLE: return (rh_appearance){.kind = RH_APPEARANCE_CLEAR, .ior = 1 / WATER};
    case MILK: return (rh_appearance){.kind = RH_APPEARANCE_MATTE, .color = {0.78f, 0.86f, 0.87f}};
    default: return (rh_appearance){.kind = RH_APPEARANCE_MATTE, .color = {0.93f, 0.95f, 0.96f}};
    }
}

// Attributes that may be missing or the same for all.
typedef struct attributes {
    const rh_attribute *place, *velocity, *radius, *kind;
} attributes;

static rh_vec3 vector_of(const rh_attribute *a, int64_t i, bool z_up)
{
    if (!a || a->type != RH_POINT_VEC3F) return rh_v3(0, 0, 0);
    rh_vec3 v = ((const rh_vec3 *)a->data)[a->uniform ? 0 : i];
    return z_up ? rh_v3(v.x, v.z, -v.y) : v;
}

static float radius_of(const rh_foam_view *view, const rh_attribute *a, int64_t i)
{
    float r = a && a->type == RH_POINT_F32 ? ((const float *)a->data)[a->uniform ? 0 : i] : view->usual;
    return view->scale * (r > 0 && r < 1e15f ? r : view->usual);
}

static enum look look_of(const rh_foam_view *view, const rh_attribute *kind, int64_t i, rh_vec3 at, float radius)
{
    int32_t class = kind && kind->type == RH_POINT_I32 ? ((const int32_t *)kind->data)[kind->uniform ? 0 : i] : 0;
    bool wide = 2 * radius > WIDE * view->pixel * rh_v3_length(rh_v3_sub(at, view->eye));
    if (class == 1) return FOAM;
    if (class == 2) return wide ? CLEAR_BUBBLE : MILK;
    return wide ? CLEAR_DROP : MIST;
}

typedef struct balls {
    rh_vec3 *center, *velocity;
    float *radius;
    int64_t count;
} balls;

static void gather(const rh_foam_view *view, const rh_points *points, const attributes *a, enum look look, balls *b)
{
    b->count = 0;
    for (int64_t i = 0; i < points->count; i++) {
        rh_vec3 at = vector_of(a->place, i, view->z_up);
        float r = radius_of(view, a->radius, i);
        if (!isfinite(at.x + at.y + at.z) || look_of(view, a->kind, i, at, r) != look) continue;
        if (b->center) {
            b->center[b->count] = at;
            b->velocity[b->count] = vector_of(a->velocity, i, view->z_up);
            b->radius[b->count] = r;
        }
        b->count++;
    }
}

static rh_code add_look(const rh_foam_view *view, const rh_points *points, const attributes *a, enum look look,
                        rh_trace *trace, rh_status *status)
{
    balls b = {0};
    gather(view, points, a, look, &b);
    if (b.count == 0) return RH_OK;
    size_t count = (size_t)b.count;
    b.center = rh_alloc(count * sizeof *b.center, "view.foam", status);
    b.velocity = rh_alloc(count * sizeof *b.velocity, "view.foam", status);
    b.radius = rh_alloc(count * sizeof *b.radius, "view.foam", status);
    rh_code code = b.center && b.velocity && b.radius ? RH_OK : RH_MEMORY;
    if (code == RH_OK) {
        gather(view, points, a, look, &b);
        const rh_trace_spheres spheres = {.center = b.center,
                                          .velocity = b.velocity,
                                          .radius = b.radius,
                                          .count = b.count,
                                          .appearance = appearance_of(look)};
        code = rh_trace_add_spheres(trace, &spheres, status);
    }
    rh_free(b.center);
    rh_free(b.velocity);
    rh_free(b.radius);
    return code;
}

rh_code rh_foam_add(const rh_foam_view *view, const rh_points *points, rh_trace *trace, rh_status *status)
{
    const attributes a = {rh_points_find(points, "P"), rh_points_find(points, "v"), rh_points_find(points, "radius"),
                          rh_points_find(points, "class")};
    if (!a.place || a.place->type != RH_POINT_VEC3F)
        return rh_fail(status, RH_USER, "the points have no positions (attribute P of type vec3f)");
    for (int look = 0; look < LOOKS; look++) RH_TRY(add_look(view, points, &a, (enum look)look, trace, status));
    return RH_OK;
}
