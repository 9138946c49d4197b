// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Puts together what a picture shows and hands it to the path tracer (trace.h): surface or particles, solids, ground,
// light, camera. Then tone curve, title and legend.
#include "view/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "base/random.h"
#include "view/camera.h"
#include "view/caption.h"
#include "view/colors.h"
#include "view/foam.h"
#include "view/optics.h"
#include "view/solids.h"
#include "view/trace.h"
#include "view/values.h"

enum { GOOD_SAMPLES = 32 };
static const float good_noise = 0.0125f;

struct rh_picture {
    const rh_scene *scene;  // borrowed
    rh_picture_options o;
    rh_solids_view solids;
    double extent;  // m, of what is framed
    rh_view framed;
    rh_ground ground;
    rh_light light;
    rh_vec3 *linear;  // owned
};

static rh_vec3 upright(rh_vec3 p, bool z_up) { return z_up ? rh_v3(p.x, p.z, -p.y) : p; }
static bool is_finite(rh_vec3 p) { return fabsf(p.x) < 1e15f && fabsf(p.y) < 1e15f && fabsf(p.z) < 1e15f; }
static bool is_empty(rh_dbox b) { return !(b.min.x <= b.max.x && b.min.y <= b.max.y && b.min.z <= b.max.z); }

// --- what is the same for all frames ---------------------------------------------------------------------------------

static rh_light light_of(const rh_light_params *p)
{
    double up = p->elevation * 3.14159265358979 / 180, around = p->azimuth * 3.14159265358979 / 180;
    return (rh_light){
        .zenith = rh_v3_from(p->zenith),
        .horizon = rh_v3_from(p->horizon),
        .sun = rh_v3_from(rh_d3_scale(p->sun_color, p->sun)),
        .to_sun = rh_v3_unit(rh_v3((float)(cos(up) * sin(around)), (float)sin(up), (float)(cos(up) * cos(around)))),
        .sun_cosine = (float)cos(p->sun_radius * 3.14159265358979 / 180)};
}

// Solids belong into the picture unless they dwarf the liquid, as a landscape does.
static void include_solids(rh_dbox *box, rh_dbox solids, double extent)
{
    if (is_empty(solids) || rh_d3_length(rh_d3_sub(solids.max, solids.min)) > 3 * extent) return;
    for (int a = 0; a < 3; a++) {
        (&box->min.x)[a] = fmin((&box->min.x)[a], (&solids.min.x)[a]);
        (&box->max.x)[a] = fmax((&box->max.x)[a], (&solids.max.x)[a]);
    }
}

static void lay_ground(rh_picture *p, rh_dbox box)
{
    const rh_ground_params *g = &p->scene->look.ground;
    double height = box.min.y;
    if (isfinite(p->solids.floor)) height = p->solids.floor;
    else if (!is_empty(p->solids.container)) height = p->solids.container.min.y;
    // The surface of a liquid that lies on the floor touches it here and there. A film of air below would mirror; the
    // ground is lifted into the liquid.
    if (p->o.surface) height += 0.3 * p->scene->cell;
    rh_dvec3 middle = rh_d3_scale(rh_d3_add(box.min, box.max), 0.5);
    p->ground = (rh_ground){.style = (rh_ground_style)g->style,
                            .height = (float)(height + g->offset),
                            .center = rh_v3_from(middle),
                            .reach = (float)(2.0 * p->extent),
                            .color = rh_v3_from(g->color),
                            .tile = (float)(g->tile > 0 ? g->tile : rh_grid_step(p->extent))};
}

static void prepare(rh_picture *p)
{
    rh_dbox box = p->o.box;
    if (is_empty(box)) box = (rh_dbox){{0, 0, 0}, {1, 1, 1}};
    double extent = rh_d3_length(rh_d3_sub(box.max, box.min));
    include_solids(&box, p->solids.bounds, extent);
    if (!is_empty(p->solids.container))
        box.min.y = fmax(box.min.y, p->solids.container.min.y);  // solids may reach below the floor
    rh_dvec3 side = rh_d3_sub(box.max, box.min);
    p->extent = fmax(fmax(side.x, fmax(side.y, side.z)), 1e-6);
    lay_ground(p, box);
    p->light = light_of(&p->scene->look.light);
    p->framed = rh_view_frame(box, p->scene->look.camera.fov, p->o.width, p->o.height);
}

rh_code rh_picture_create(const rh_scene *scene, const rh_picture_options *options, rh_picture **out, rh_status *status)
{
    *out = NULL;
    rh_picture *p = rh_alloc_zero(sizeof *p, "view.picture", status);
    if (!p) return RH_MEMORY;
    p->scene = scene;
    p->o = *options;
    p->linear = rh_alloc((size_t)options->width * (size_t)options->height * sizeof *p->linear, "view.picture", status);
    double extent = is_empty(options->box) ? 1 : rh_d3_length(rh_d3_sub(options->box.max, options->box.min));
    rh_code code = p->linear ? rh_solids_view_create(scene, extent, &p->solids, status) : RH_MEMORY;
    if (code == RH_OK && options->folder) {
        code = rh_solids_view_open(&p->solids, options->folder, status);
        if (code != RH_OK) rh_solids_view_free(&p->solids);
    }
    if (code != RH_OK) {
        rh_free(p->linear);
        rh_free(p);
        return code;
    }
    prepare(p);
    *out = p;
    return RH_OK;
}

void rh_picture_free(rh_picture *picture)
{
    if (!picture) return;
    rh_solids_view_free(&picture->solids);
    rh_free(picture->linear);
    rh_free(picture);
}

// --- a frame ---------------------------------------------------------------------------------------------------------

static rh_appearance appearance_of(const rh_picture *p, const rh_variant *chosen, rh_look_kind otherwise)
{
    rh_appearance_params m = {0};
    rh_look_kind kind = chosen->value ? (rh_look_kind)chosen->kind : otherwise;
    if (chosen->value) m = *(const rh_appearance_params *)chosen->value;
    else rh_params_defaults(rh_look_tables[kind], &m, NULL);  // numbers only: nothing to fail, nothing to free
    rh_appearance out = {.color = rh_v3_from(m.color), .roughness = (float)m.roughness, .ior = (float)m.ior};
    switch (kind) {
    case RH_LOOK_SAND:
    case RH_LOOK_PLASTER: out.kind = RH_APPEARANCE_MATTE; return out;
    case RH_LOOK_CHOCOLATE:
    case RH_LOOK_MILK:
    case RH_LOOK_PLASTIC: out.kind = RH_APPEARANCE_GLOSSY; return out;
    case RH_LOOK_WATER:
    case RH_LOOK_HONEY:
    case RH_LOOK_OIL:
    case RH_LOOK_GLASS: break;
    }
    // Honey lets light through for a fraction of the way that water does.
    double distance = m.distance > 0 ? m.distance
                                     : p->extent * (kind == RH_LOOK_WATER   ? 1.3
                                                    : kind == RH_LOOK_GLASS ? 1.0
                                                                            : 0.35);
    out.kind = RH_APPEARANCE_CLEAR;
    for (int c = 0; c < 3; c++) (&out.absorption.x)[c] = (float)(-log((&m.color.x)[c]) / distance);
    return out;
}

// Six times the volume, signed: negative when the faces look inwards.
static double signed_volume(const rh_mesh *mesh)
{
    double sum = 0;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *t = mesh->triangles[i];
        rh_dvec3 a = rh_d3_from(mesh->vertices[t[0]]), b = rh_d3_from(mesh->vertices[t[1]]),
                 c = rh_d3_from(mesh->vertices[t[2]]);
        sum += rh_d3_dot(a, rh_d3_cross(b, c));
    }
    return sum;
}

// Means of the faces around each vertex, weighted by their area.
static void smooth_normals(const rh_mesh *mesh, rh_vec3 *normal)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) normal[i] = rh_v3(0, 0, 0);
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *t = mesh->triangles[i];
        rh_vec3 a = mesh->vertices[t[0]];
        rh_vec3 face = rh_v3_cross(rh_v3_sub(mesh->vertices[t[1]], a), rh_v3_sub(mesh->vertices[t[2]], a));
        for (int k = 0; k < 3; k++) normal[t[k]] = rh_v3_add(normal[t[k]], face);
    }
    for (int64_t i = 0; i < mesh->vertex_count; i++) normal[i] = rh_v3_unit(normal[i]);
}

// A copy of the surface that stands upright and looks outwards, with normals: other programs write meshes that have
// neither.
static rh_code tidy_surface(const rh_ply_surface *s, bool z_up, rh_ply_surface *out, rh_status *status)
{
    size_t count = (size_t)s->mesh.vertex_count, triangles = (size_t)s->mesh.triangle_count;
    rh_mesh *mesh = &out->mesh;
    *mesh = (rh_mesh){.vertex_count = s->mesh.vertex_count, .triangle_count = s->mesh.triangle_count};
    mesh->vertices = rh_alloc(count * sizeof *mesh->vertices, "view.surface", status);
    mesh->triangles = rh_alloc(triangles * sizeof *mesh->triangles, "view.surface", status);
    out->normal = rh_alloc(count * sizeof *out->normal, "view.surface", status);
    out->velocity = s->velocity ? rh_alloc(count * sizeof *out->velocity, "view.surface", status) : NULL;
    if (!mesh->vertices || !mesh->triangles || !out->normal || (s->velocity && !out->velocity)) return RH_MEMORY;
    bool inwards = signed_volume(&s->mesh) < 0;
    for (size_t i = 0; i < triangles; i++) {
        const uint32_t *t = s->mesh.triangles[i];
        const uint32_t turned[3] = {t[0], t[inwards ? 2 : 1], t[inwards ? 1 : 2]};
        memcpy(mesh->triangles[i], turned, sizeof turned);
    }
    for (size_t i = 0; i < count; i++) {
        mesh->vertices[i] = upright(s->mesh.vertices[i], z_up);
        if (s->velocity) out->velocity[i] = upright(s->velocity[i], z_up);
        if (s->normal) out->normal[i] = rh_v3_scale(upright(s->normal[i], z_up), inwards ? -1 : 1);
    }
    if (!s->normal) smooth_normals(mesh, out->normal);
    return RH_OK;
}

static rh_vec3 color_of(const rh_paint *paint, rh_value_range range, float value)
{
    double span = range.high - range.low;
    return rh_palette_color((rh_palette)paint->palette, paint->bands,
                            span > 0 ? ((double)value - range.low) / span : 0.4);
}

// The attribute Cd is a colour itself.
static const rh_attribute *find_colours(const rh_points *points, const char *attribute)
{
    const rh_attribute *a = !rh_values_none(attribute) && strcmp(attribute, "Cd") == 0 ? rh_points_find(points, "Cd")
                                                                                       : NULL;
    return a && a->type == RH_POINT_VEC3F ? a : NULL;
}

static rh_vec3 own_colour(const rh_attribute *colours, int64_t i)
{
    rh_vec3 c = ((const rh_vec3 *)colours->data)[colours->uniform ? 0 : i];
    return rh_v3(c.x > 0 ? rh_min(c.x, 1) : 0, c.y > 0 ? rh_min(c.y, 1) : 0, c.z > 0 ? rh_min(c.z, 1) : 0);
}

// What the vertices say as colours; *out stays NULL when nothing paints them.
static rh_code paint_surface(const rh_picture *p, const rh_picture_frame *f, rh_vec3 **out, rh_status *status)
{
    const rh_paint *paint = &p->scene->look.paint;
    if (rh_values_none(paint->attribute) || !f->vertices) return RH_OK;
    RH_ASSERT(f->vertices->count == f->surface->mesh.vertex_count);
    size_t count = (size_t)f->vertices->count;
    float *values = rh_alloc(count * sizeof *values + 1, "view.values", status);
    *out = values ? rh_alloc(count * sizeof **out + 1, "view.surface", status) : NULL;
    rh_code code = *out ? rh_values_take(f->vertices, paint->attribute, f->z_up, values, status) : RH_MEMORY;
    const rh_attribute *colours = find_colours(f->vertices, paint->attribute);
    for (size_t i = 0; code == RH_OK && i < count; i++)
        (*out)[i] = colours ? own_colour(colours, (int64_t)i) : color_of(paint, p->o.paint, values[i]);
    rh_free(values);
    return code;
}

static const rh_variant *look_of(const rh_picture *p, const rh_picture_frame *f)
{
    return f->liquid && f->liquid->value ? f->liquid : &p->scene->look.liquid;
}

static rh_code add_surface(const rh_picture *p, const rh_picture_frame *f, rh_trace *trace, rh_status *status)
{
    rh_ply_surface s = {0};
    rh_vec3 *color = NULL;
    rh_code code = tidy_surface(f->surface, f->z_up, &s, status);
    if (code == RH_OK) code = paint_surface(p, f, &color, status);
    rh_trace_mesh mesh = {.position = s.mesh.vertices,
                          .normal = s.normal,
                          .velocity = s.velocity,
                          .color = color,
                          .vertex_count = s.mesh.vertex_count,
                          .triangle = (const uint32_t(*)[3])s.mesh.triangles,
                          .triangle_count = s.mesh.triangle_count,
                          .appearance = appearance_of(p, look_of(p, f), RH_LOOK_WATER)};
    if (color && mesh.appearance.kind == RH_APPEARANCE_CLEAR)
        mesh.appearance = appearance_of(p, &(rh_variant){0}, RH_LOOK_PLASTER);
    if (code == RH_OK) code = rh_trace_add_mesh(trace, &mesh, status);
    rh_ply_surface_free(&s);
    rh_free(color);
    return code;
}

typedef struct cloud {
    rh_vec3 *center, *velocity, *color;
    float *radius;
} cloud;

// As if the points filled a quarter of the box evenly.
static float guess_radius(const rh_picture *p, int64_t count)
{
    rh_dvec3 side = rh_d3_sub(p->o.box.max, p->o.box.min);
    return (float)(0.5 * cbrt(0.25 * fmax(side.x * side.y * side.z, 1e-18) / (double)count));
}

// Grains are lighter and darker, each the same in all frames.
static float shade_of(const rh_variant *liquid, const rh_attribute *id, int64_t i)
{
    if (!liquid->value || liquid->kind != RH_LOOK_SAND) return 1;
    int64_t who = id && id->type == RH_POINT_I64 && !id->uniform ? ((const int64_t *)id->data)[i] : i;
    float grain = (float)((const rh_appearance_params *)liquid->value)->grain;
    return 1 + grain * (2 * rh_random(0, (uint64_t)who, 0, 0) - 1);
}

// `values` NULL: all have the appearance's colour.
static int64_t gather(const rh_picture *p, const rh_picture_frame *f, const rh_appearance *appearance,
                      const float *values, cloud *c)
{
    const rh_points *points = f->points;
    const rh_attribute *id = rh_points_find(points, "id");
    const rh_attribute *position = rh_points_find(points, "P"), *velocity = rh_points_find(points, "v"),
                       *radius = rh_points_find(points, "radius");
    float guess = guess_radius(p, points->count), size = (float)p->scene->look.particles.size;
    const rh_attribute *colours = find_colours(points, p->scene->look.particles.paint.attribute);
    bool moving = velocity && velocity->type == RH_POINT_VEC3F;
    int64_t kept = 0;
    for (int64_t i = 0; i < points->count; i++) {
        rh_vec3 at = ((const rh_vec3 *)position->data)[position->uniform ? 0 : i];
        if (!is_finite(at)) continue;
        float r = radius && radius->type == RH_POINT_F32 ? ((const float *)radius->data)[radius->uniform ? 0 : i]
                                                         : guess;
        c->center[kept] = upright(at, f->z_up);
        c->velocity[kept] = rh_v3(0, 0, 0);
        if (moving) c->velocity[kept] = upright(((const rh_vec3 *)velocity->data)[velocity->uniform ? 0 : i], f->z_up);
        c->radius[kept] = size * (r > 0 && r < 1e15f ? r : guess);
        rh_vec3 color = colours  ? own_colour(colours, i)
                        : values ? color_of(&p->scene->look.particles.paint, p->o.particles, values[i])
                                 : appearance->color;
        color = rh_v3_scale(color, shade_of(look_of(p, f), id, i));
        c->color[kept++] = rh_v3(rh_min(color.x, 1), rh_min(color.y, 1), rh_min(color.z, 1));
    }
    return kept;
}

static rh_code add_particles(const rh_picture *p, const rh_picture_frame *f, rh_trace *trace, rh_status *status)
{
    const rh_attribute *position = rh_points_find(f->points, "P");
    size_t count = (size_t)f->points->count;
    if (!position || position->type != RH_POINT_VEC3F)
        return rh_fail(status, RH_USER, "the points have no positions (attribute P of type vec3f)");
    const char *attribute = p->scene->look.particles.paint.attribute;
    // Matte appearances have their grain; particles of all others are chalk.
    const rh_variant *look = look_of(p, f);
    rh_appearance appearance = appearance_of(p, look, RH_LOOK_WATER);
    if (appearance.kind == RH_APPEARANCE_CLEAR) appearance = appearance_of(p, &(rh_variant){0}, RH_LOOK_PLASTER);
    rh_appearance chalk = {.kind = RH_APPEARANCE_MATTE,
                           .roughness = look->value && appearance.kind == RH_APPEARANCE_MATTE ? appearance.roughness
                                                                                              : 0};
    float *values = rh_alloc_zero(count * sizeof *values, "view.values", status);
    cloud c = {rh_alloc(count * sizeof *c.center, "view.cloud", status),
               rh_alloc(count * sizeof *c.velocity, "view.cloud", status),
               rh_alloc(count * sizeof *c.color, "view.cloud", status),
               rh_alloc(count * sizeof *c.radius, "view.cloud", status)};
    rh_code code = values && c.center && c.velocity && c.color && c.radius ? RH_OK : RH_MEMORY;
    bool colored = !rh_values_none(attribute);
    if (code == RH_OK && colored && p->o.particles.high > p->o.particles.low)
        code = rh_values_take(f->points, attribute, f->z_up, values, status);
    if (code == RH_OK) {
        rh_trace_spheres spheres = {.center = c.center,
                                    .velocity = c.velocity,
                                    .radius = c.radius,
                                    .color = c.color,
                                    .count = gather(p, f, &appearance, colored ? values : NULL, &c),
                                    .appearance = chalk};
        code = rh_trace_add_spheres(trace, &spheres, status);
    }
    rh_free(values);
    rh_free(c.center);
    rh_free(c.velocity);
    rh_free(c.color);
    rh_free(c.radius);
    return code;
}

static rh_view view_at(const rh_picture *p, double time)
{
    const rh_camera_params *camera = &p->scene->look.camera;
    return rh_camera_given(camera) ? rh_camera_at(camera, time) : p->framed;
}

static rh_code add_foam(const rh_picture *p, const rh_picture_frame *f, rh_trace *trace, rh_status *status)
{
    rh_view camera = view_at(p, f->time);
    int side = p->o.width < p->o.height ? p->o.width : p->o.height;
    const rh_foam_view view = {.eye = rh_v3_from(camera.eye),
                               .pixel = (float)(2 * tan(camera.fov * 3.14159265358979 / 360) / side),
                               .scale = (float)p->scene->look.particles.size,
                               .usual = guess_radius(p, f->points->count),
                               .z_up = f->z_up};
    return rh_foam_add(&view, f->points, trace, status);
}

static rh_code build(const rh_picture *p, const rh_picture_frame *f, rh_trace *trace, rh_status *status)
{
    RH_TRY(rh_solids_view_add(&p->solids, f->time, appearance_of(p, &p->scene->look.solid, RH_LOOK_PLASTER), trace,
                              status));
    for (; f; f = f->next) {
        if (f->surface) RH_TRY(add_surface(p, f, trace, status));
        if (f->points && f->points->count > 0)
            RH_TRY(f->foam ? add_foam(p, f, trace, status) : add_particles(p, f, trace, status));
    }
    return RH_OK;
}

static void legend(const rh_picture *p, const rh_canvas *canvas)
{
    const rh_paint *paint = &p->scene->look.particles.paint;
    char what[RH_CAPTION_WHAT];
    rh_value_range range = p->o.particles;
    if (rh_values_none(paint->attribute) || !(range.high > range.low)) return;
    rh_caption_what(paint->attribute, what);
    rh_caption_legend(canvas, paint, what, range.low, range.high);
}

rh_code rh_picture_draw(rh_picture *p, const rh_picture_frame *f, uint16_t *rgb, rh_status *status)
{
    const rh_camera_params *camera = &p->scene->look.camera;
    double shutter = camera->shutter / p->scene->frames.fps;
    rh_trace_options o = {.width = p->o.width,
                          .height = p->o.height,
                          .light = p->light,
                          .ground = p->ground,
                          .seed = (uint64_t)p->scene->seed * 1000003u + (uint64_t)f->number,
                          .samples = p->o.samples ? p->o.samples : GOOD_SAMPLES,
                          .noise = p->o.samples ? 0 : good_noise,
                          .brightest = 12,
                          .open = view_at(p, f->time - shutter / 2),
                          .close = view_at(p, f->time + shutter / 2)};
    rh_trace *trace;
    RH_TRY(rh_trace_create((float)shutter, &trace, status));
    rh_code code = build(p, f, trace, status);
    if (code == RH_OK) code = rh_trace_render(trace, &o, p->linear, status);
    rh_trace_free(trace);
    if (code != RH_OK) return code;
    rh_encode_srgb16(p->linear, (size_t)o.width * (size_t)o.height, p->scene->look.light.exposure, rgb);
    rh_canvas canvas = {o.width, o.height, NULL, rgb};
    if (f->title) rh_caption_title(&canvas, f->title);
    if (f->points && !f->foam) legend(p, &canvas);
    return RH_OK;
}
