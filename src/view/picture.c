// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
#include "view/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "view/camera.h"
#include "view/caption.h"
#include "view/colors.h"
#include "view/optics.h"
#include "view/solids.h"
#include "view/trace.h"

enum { BINS = 1024, GOOD_SAMPLES = 32 };
static const float good_noise = 0.0125f;

struct rh_picture {
    const rh_scene *scene;  // borrowed
    rh_picture_options o;
    rh_solids_view solids;
    double extent;          // m, of what is framed
    rh_view framed;
    rh_ground ground;
    rh_light light;
    rh_vec3 *linear;        // owned
};

static rh_vec3 upright(rh_vec3 p, bool z_up) { return z_up ? rh_v3(p.x, p.z, -p.y) : p; }
static bool is_finite(rh_vec3 p) { return fabsf(p.x) < 1e15f && fabsf(p.y) < 1e15f && fabsf(p.z) < 1e15f; }
static bool is_empty(rh_dbox b) { return !(b.min.x <= b.max.x && b.min.y <= b.max.y && b.min.z <= b.max.z); }

// --- values and bounds ------------------------------------------------------------------------------------------

static rh_code no_such_attribute(const rh_points *points, const char *attribute, rh_status *status)
{
    const char *names[RH_POINTS_MAX_ATTRIBUTES + 1] = {"speed"};
    char list[640] = "speed";
    int count = 1;
    for (int i = 0; i < points->attribute_count; i++) {
        if (points->attributes[i].type == RH_POINT_MAT3F) continue;
        names[count++] = points->attributes[i].name;
        size_t at = strlen(list);
        snprintf(list + at, sizeof list - at, ", %s", points->attributes[i].name);
    }
    const char *near = rh_nearest_name(attribute, names, count);
    return rh_fail(status, RH_USER, "found attribute \"%.64s\", expected one of %s%s%s%s", attribute, list, near ? "; did you mean " : "",
                   near ? near : "", near ? "?" : "");
}

const char *rh_picture_attribute(const rh_scene *scene)
{
    const char *name = scene->look.particles.attribute;
    return name && name[0] ? name : "speed";
}

rh_code rh_picture_values(const rh_points *points, const char *attribute, float *values, rh_status *status)
{
    bool speed = strcmp(attribute, "speed") == 0 && !rh_points_find(points, "speed");
    const rh_attribute *a = rh_points_find(points, speed ? "v" : attribute);
    if (!a || a->type == RH_POINT_MAT3F) return no_such_attribute(points, attribute, status);
    for (int64_t i = 0; i < points->count; i++) {
        int64_t k = a->uniform ? 0 : i;
        switch (a->type) {
        case RH_POINT_F32: values[i] = ((const float *)a->data)[k]; break;
        case RH_POINT_I32: values[i] = (float)((const int32_t *)a->data)[k]; break;
        case RH_POINT_I64: values[i] = (float)((const int64_t *)a->data)[k]; break;
        case RH_POINT_GROUP: values[i] = ((const uint8_t *)a->data)[k] != 0; break;
        default: values[i] = rh_v3_length(((const rh_vec3 *)a->data)[k]);
        }
    }
    return RH_OK;
}

// The values below which a share of them lies, by counting into bins; values that are not finite do not count.
static void trimmed(const float *values, int64_t count, int stride, double share, double *low, double *high)
{
    double least = INFINITY, most = -INFINITY;
    int64_t bins[BINS] = {0}, known = 0, seen = 0;
    for (int64_t i = 0; i < count; i++) {
        float v = values[i * stride];
        if (fabsf(v) < 1e15f) least = fmin(least, v), most = fmax(most, v), known++;
    }
    *low = least, *high = most;
    if (share <= 0 || known < 1000 || !(most > least)) return;
    for (int64_t i = 0; i < count; i++) {
        float v = values[i * stride];
        if (fabsf(v) < 1e15f) bins[(int)((v - least) / (most - least) * (BINS - 1))]++;
    }
    int at = 0, end = BINS - 1;
    while (at < BINS - 1 && (double)(seen += bins[at]) < share * (double)known) at++;
    for (seen = 0; end > at && (double)(seen += bins[end]) < share * (double)known;) end--;
    *low = least + (most - least) * at / BINS;
    *high = least + (most - least) * (end + 1) / BINS;
}

rh_code rh_picture_range(const rh_points *points, const char *attribute, double *low, double *high, rh_status *status)
{
    double from, to;
    float *values = rh_alloc((size_t)points->count * sizeof *values, "view.values", status);
    if (!values) return RH_MEMORY;
    rh_code code = rh_picture_values(points, attribute, values, status);
    if (code == RH_OK) trimmed(values, points->count, 1, 0.005, &from, &to);
    rh_free(values);
    const rh_attribute *named = rh_points_find(points, attribute);
    if (named && named->type == RH_POINT_GROUP) from = 0, to = 1;  // a small group would be trimmed away
    if (code != RH_OK || !(from <= to)) return code;
    if (from >= 0 && from < 0.5 * to) from = 0;  // a scale that begins at zero is easier to read
    if (from == 0 && to > 0) to = rh_round_up(to);
    *high = *low < *high ? fmax(*high, to) : to;
    *low = *low < *high ? fmin(*low, from) : from;
    return RH_OK;
}

void rh_picture_bounds(const rh_vec3 *position, int64_t count, double strays, bool z_up, rh_dbox *box)
{
    if (count == 0) return;
    rh_dbox found;
    for (int a = 0; a < 3; a++) trimmed(&position->x + a, count, 3, strays, &(&found.min.x)[a], &(&found.max.x)[a]);
    if (is_empty(found)) return;
    if (z_up) found = (rh_dbox){rh_d3(found.min.x, found.min.z, -found.max.y), rh_d3(found.max.x, found.max.z, -found.min.y)};
    for (int a = 0; a < 3; a++) {
        (&box->min.x)[a] = fmin((&box->min.x)[a], (&found.min.x)[a]);
        (&box->max.x)[a] = fmax((&box->max.x)[a], (&found.max.x)[a]);
    }
}

// --- what is the same for all frames ----------------------------------------------------------------------------

static rh_light light_of(const rh_light_params *p)
{
    double up = p->elevation * 3.14159265358979 / 180, around = p->azimuth * 3.14159265358979 / 180;
    return (rh_light){.zenith = rh_v3_from(p->zenith), .horizon = rh_v3_from(p->horizon), .sun = rh_v3_from(rh_d3_scale(p->sun_color, p->sun)),
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
    // The surface of a liquid that lies on the floor touches it here and there. A film of air below would mirror; the ground is lifted
    // into the liquid.
    if (p->o.surface) height += 0.3 * p->scene->cell;
    rh_dvec3 middle = rh_d3_scale(rh_d3_add(box.min, box.max), 0.5);
    p->ground = (rh_ground){.style = (rh_ground_style)g->style, .height = (float)(height + g->offset), .center = rh_v3_from(middle),
                            .reach = (float)(2.0 * p->extent), .color = rh_v3_from(g->color),
                            .tile = (float)(g->tile > 0 ? g->tile : rh_grid_step(p->extent))};
}

static void prepare(rh_picture *p)
{
    rh_dbox box = p->o.box;
    if (is_empty(box)) box = (rh_dbox){{0, 0, 0}, {1, 1, 1}};
    double extent = rh_d3_length(rh_d3_sub(box.max, box.min));
    include_solids(&box, p->solids.bounds, extent);
    if (!is_empty(p->solids.container)) box.min.y = fmax(box.min.y, p->solids.container.min.y);  // solids may reach below the floor
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

// --- a frame ----------------------------------------------------------------------------------------------------

static rh_material material_of(const rh_picture *p, const rh_variant *chosen, rh_look_kind otherwise)
{
    rh_look_material m = {0};
    rh_look_kind kind = chosen->value ? (rh_look_kind)chosen->kind : otherwise;
    if (chosen->value) m = *(const rh_look_material *)chosen->value;
    else rh_params_defaults(rh_look_tables[kind], &m, NULL);  // numbers only: nothing to fail, nothing to free
    rh_material out = {.color = rh_v3_from(m.color), .roughness = (float)m.roughness, .ior = (float)m.ior};
    switch (kind) {
    case RH_LOOK_SAND: case RH_LOOK_PLASTER: out.kind = RH_MATERIAL_MATTE; return out;
    case RH_LOOK_CHOCOLATE: case RH_LOOK_MILK: case RH_LOOK_PLASTIC: out.kind = RH_MATERIAL_GLOSSY; return out;
    case RH_LOOK_WATER: case RH_LOOK_HONEY: case RH_LOOK_OIL: case RH_LOOK_GLASS: break;
    }
    // Honey lets light through for a fraction of the way that water does.
    double distance = m.distance > 0 ? m.distance : p->extent * (kind == RH_LOOK_WATER ? 1.3 : kind == RH_LOOK_GLASS ? 1.0 : 0.35);
    out.kind = RH_MATERIAL_CLEAR;
    for (int c = 0; c < 3; c++) (&out.absorption.x)[c] = (float)(-log((&m.color.x)[c]) / distance);
    return out;
}

// Six times the volume, signed: negative when the faces look inwards.
static double signed_volume(const rh_mesh *mesh)
{
    double sum = 0;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *t = mesh->triangles[i];
        rh_dvec3 a = rh_d3_from(mesh->vertices[t[0]]), b = rh_d3_from(mesh->vertices[t[1]]), c = rh_d3_from(mesh->vertices[t[2]]);
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

// A copy of the surface that stands upright and looks outwards, with normals: other programs write meshes that have neither.
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

static rh_code add_surface(const rh_picture *p, const rh_picture_frame *f, rh_trace *trace, rh_status *status)
{
    rh_ply_surface s = {0};
    rh_code code = tidy_surface(f->surface, f->z_up, &s, status);
    rh_trace_mesh mesh = {.position = s.mesh.vertices, .normal = s.normal, .velocity = s.velocity, .vertex_count = s.mesh.vertex_count,
                          .triangle = (const uint32_t(*)[3])s.mesh.triangles, .triangle_count = s.mesh.triangle_count,
                          .material = material_of(p, &p->scene->look.liquid, RH_LOOK_WATER)};
    if (code == RH_OK) code = rh_trace_add_mesh(trace, &mesh, status);
    rh_ply_surface_free(&s);
    return code;
}

typedef struct cloud { rh_vec3 *center, *velocity, *color; float *radius; } cloud;

// As if the points filled a quarter of the box evenly.
static float guess_radius(const rh_picture *p, int64_t count)
{
    rh_dvec3 side = rh_d3_sub(p->o.box.max, p->o.box.min);
    return (float)(0.5 * cbrt(0.25 * fmax(side.x * side.y * side.z, 1e-18) / (double)count));
}

static int64_t gather(const rh_picture *p, const rh_picture_frame *f, const float *values, cloud *c)
{
    const rh_points *points = f->points;
    const rh_attribute *position = rh_points_find(points, "P"), *velocity = rh_points_find(points, "v"), *radius = rh_points_find(points, "radius");
    float guess = guess_radius(p, points->count), size = (float)p->scene->look.particles.size;
    bool moving = velocity && velocity->type == RH_POINT_VEC3F;
    float low = (float)p->o.low, span = (float)(p->o.high - p->o.low);
    int64_t kept = 0;
    for (int64_t i = 0; i < points->count; i++) {
        rh_vec3 at = ((const rh_vec3 *)position->data)[position->uniform ? 0 : i];
        if (!is_finite(at)) continue;
        float r = radius && radius->type == RH_POINT_F32 ? ((const float *)radius->data)[radius->uniform ? 0 : i] : guess;
        float t = span > 0 ? (values[i] - low) / span : 0.4f;
        c->center[kept] = upright(at, f->z_up);
        c->velocity[kept] = rh_v3(0, 0, 0);
        if (moving) c->velocity[kept] = upright(((const rh_vec3 *)velocity->data)[velocity->uniform ? 0 : i], f->z_up);
        c->radius[kept] = size * (r > 0 && r < 1e15f ? r : guess);
        c->color[kept++] = rh_color_of(t > 0 ? (t < 1 ? t : 1) : 0);
    }
    return kept;
}

static rh_code add_particles(const rh_picture *p, const rh_picture_frame *f, rh_trace *trace, rh_status *status)
{
    const rh_attribute *position = rh_points_find(f->points, "P");
    size_t count = (size_t)f->points->count;
    if (!position || position->type != RH_POINT_VEC3F) return rh_fail(status, RH_USER, "the points have no positions (attribute P of type vec3f)");
    float *values = rh_alloc_zero(count * sizeof *values, "view.values", status);
    cloud c = {rh_alloc(count * sizeof *c.center, "view.cloud", status), rh_alloc(count * sizeof *c.velocity, "view.cloud", status),
               rh_alloc(count * sizeof *c.color, "view.cloud", status), rh_alloc(count * sizeof *c.radius, "view.cloud", status)};
    rh_code code = values && c.center && c.velocity && c.color && c.radius ? RH_OK : RH_MEMORY;
    if (code == RH_OK && p->o.high > p->o.low) code = rh_picture_values(f->points, rh_picture_attribute(p->scene), values, status);
    if (code == RH_OK) {
        rh_trace_spheres spheres = {.center = c.center, .velocity = c.velocity, .radius = c.radius, .color = c.color,
                                    .count = gather(p, f, values, &c), .material = {.kind = RH_MATERIAL_MATTE}};
        code = rh_trace_add_spheres(trace, &spheres, status);
    }
    rh_free(values);
    rh_free(c.center);
    rh_free(c.velocity);
    rh_free(c.color);
    rh_free(c.radius);
    return code;
}

static rh_code build(const rh_picture *p, const rh_picture_frame *f, rh_trace *trace, rh_status *status)
{
    RH_TRY(rh_solids_view_add(&p->solids, f->time, material_of(p, &p->scene->look.solid, RH_LOOK_PLASTER), trace, status));
    if (f->surface) RH_TRY(add_surface(p, f, trace, status));
    if (f->points && f->points->count > 0) RH_TRY(add_particles(p, f, trace, status));
    return RH_OK;
}

static void legend(const rh_picture *p, const rh_canvas *canvas)
{
    const char *name = rh_picture_attribute(p->scene);
    const char *unit = !strcmp(name, "speed") || !strcmp(name, "v") ? " m/s" : !strcmp(name, "radius") || !strcmp(name, "P") ? " m" : "";
    char what[64];
    snprintf(what, sizeof what, "%.40s%s", name, unit);
    if (p->o.high > p->o.low) rh_caption_legend(canvas, what, p->o.low, p->o.high);
}

rh_code rh_picture_draw(rh_picture *p, const rh_picture_frame *f, uint16_t *rgb, rh_status *status)
{
    const rh_camera_params *camera = &p->scene->look.camera;
    double shutter = camera->shutter / p->scene->frames.fps;
    bool given = rh_camera_given(camera);
    rh_trace_options o = {.width = p->o.width, .height = p->o.height, .light = p->light, .ground = p->ground,
                          .seed = (uint64_t)p->scene->seed * 1000003u + (uint64_t)f->number,
                          .samples = p->o.samples ? p->o.samples : GOOD_SAMPLES, .noise = p->o.samples ? 0 : good_noise, .brightest = 12,
                          .open = given ? rh_camera_at(camera, f->time - shutter / 2) : p->framed,
                          .close = given ? rh_camera_at(camera, f->time + shutter / 2) : p->framed};
    rh_trace *trace;
    RH_TRY(rh_trace_create((float)shutter, &trace, status));
    rh_code code = build(p, f, trace, status);
    if (code == RH_OK) code = rh_trace_render(trace, &o, p->linear, status);
    rh_trace_free(trace);
    if (code != RH_OK) return code;
    rh_develop(p->linear, (size_t)o.width * (size_t)o.height, p->scene->look.light.exposure, rgb);
    rh_canvas canvas = {o.width, o.height, NULL, rgb};
    if (f->title) rh_caption_title(&canvas, f->title);
    if (f->points) legend(p, &canvas);
    return RH_OK;
}
