// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo render: pictures and films of a run. What the command line says about the look is written into the scene that
// was read, so that the library sees one thing only.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "io/provenance.h"
#include "io/png.h"
#include "render.h"
#include "view/rays.h"

static const char *const what_names[] = {"", "surface", "points", "both"};

enum { MOST_LAYERS = 8 };

// --- what all frames share -------------------------------------------------------------------------------------------

// Share of particles, or vertices, that the camera need not see on each side: drops that fly far off.
static const double STRAY = 0.002;

static void grow_box(app_render_job *j, const app_render_frame *data)
{
    if (data->next) grow_box(j, data->next);
    const rh_attribute *position = data->has_points ? rh_points_find(&data->points, "P") : NULL;
    if (position && position->type == RH_POINT_VEC3F)
        rh_values_bounds(position->data, position->uniform ? 1 : data->points.count, STRAY, data->z_up, &j->box);
    if (data->has_surface)
        rh_values_bounds(data->surface.mesh.vertices, data->surface.mesh.vertex_count, STRAY, data->z_up, &j->box);
}

// Points of other programs may have no velocity: they get one colour, unless somebody asked for an attribute by name.
static bool has_values(const app_render_job *j, const rh_points *points)
{
    const char *attribute = j->scene.look.particles.paint.attribute;
    if (rh_values_none(attribute)) return false;
    return strcmp(attribute, "speed") != 0 || j->arguments->attribute || rh_points_find(points, "v");
}

// What colours the surface spans: by the vertices of its file, or by the points it will be made of.
static rh_code widen_paint(app_render_job *j, const app_render_frame *data, rh_status *status)
{
    const char *attribute = j->scene.look.paint.attribute;
    const rh_points *points = data->has_surface ? &data->vertices : &data->points;
    if (!app_render_paints(j) || j->quick || j->what == APP_RENDER_POINTS || points->count == 0) return RH_OK;
    return rh_values_range(points, attribute, data->z_up, &j->paint.low, &j->paint.high, status);
}

static rh_code widen(app_render_job *j, const app_render_frame *data, rh_status *status)
{
    grow_box(j, data);
    RH_TRY(widen_paint(j, data, status));
    if (!data->has_points || data->points.count == 0 || !has_values(j, &data->points)) return RH_OK;
    if (j->what == APP_RENDER_SURFACE) return RH_OK;  // the points are there for the box
    return rh_values_range(&data->points, j->scene.look.particles.paint.attribute, data->z_up, &j->particles.low,
                           &j->particles.high, status);
}

// The camera sees what first, middle and last frame of the run cover; colours span their values. Of the run, not of the
// frames that are drawn now: those of one run may be drawn on many machines and must fit together.
static rh_code look_ahead(app_render_job *j, rh_picture_options *o, rh_status *status)
{
    const rh_paint *particles = &j->scene.look.particles.paint, *paint = &j->scene.look.paint;
    const int probes[3] = {0, j->all.count / 2, j->all.count - 1};
    j->box = (rh_dbox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    rh_code code = RH_OK;
    for (int i = 0; code == RH_OK && i < 3; i++) {
        if (i > 0 && probes[i] == probes[i - 1]) continue;
        app_render_frame data;
        RH_TRY(app_render_frame_read(j, j->all.numbers[probes[i]], true, &data, status));
        o->surface |= data.has_surface || data.will_have_surface;
        for (const app_render_frame *one = &data; one && code == RH_OK; one = one->next) code = widen(j, one, status);
        if (data.has_points) j->preview.z_up = data.z_up;
        if (j->scene.dimension == 2) rh_flat_solids_grow(&j->flat, data.number, data.time, &j->box);
        app_render_frame_free(&data);
    }
    if (particles->low < particles->high) j->particles = (rh_value_range){particles->low, particles->high};
    if (paint->low < paint->high) j->paint = (rh_value_range){paint->low, paint->high};
    return code;
}

static rh_dbox exported_box(rh_dbox box, bool z_up)  // back to the axes of the files
{
    if (!(box.min.x <= box.max.x)) return (rh_dbox){{0, 0, 0}, {1, 1, 1}};
    return z_up ? (rh_dbox){rh_d3(box.min.x, -box.max.z, box.min.y), rh_d3(box.max.x, -box.min.z, box.max.y)} : box;
}

// Colours of quick pictures: speed in blue unless the scene or the caller wants something else.
static void prepare_quick(app_render_job *j)
{
    const rh_look *look = &j->scene.look;
    const rh_paint *paint = &look->particles.paint;
    rh_look_kind kind = look->liquid.value ? (rh_look_kind)look->liquid.kind : RH_LOOK_WATER;
    rh_preview_options *o = &j->preview;
    o->matte = kind == RH_LOOK_SAND || kind == RH_LOOK_PLASTER;
    o->color = rh_v3_from(look->liquid.value ? ((const rh_appearance_params *)look->liquid.value)->color
                                             : rh_d3(0.5, 0.47, 0.43));
    o->color_max = j->particles.high;
    o->low = j->particles.low, o->high = j->particles.high;
    bool plain_speed = !rh_values_none(paint->attribute) && strcmp(paint->attribute, "speed") == 0 &&
                       paint->bands == 0 && paint->palette == RH_PALETTE_BLUE;
    static const rh_paint own = {.attribute = (char *)(uintptr_t) "Cd"};
    o->paint = j->arguments->layers.count > 0 ? &own : plain_speed ? NULL : paint;
}

static rh_code prepare_picture(app_render_job *j, rh_status *status)
{
    rh_picture_options o = {
        .width = j->width, .height = j->height, .samples = (int)j->arguments->samples, .folder = j->arguments->operand};
    if (j->quick) RH_TRY(rh_flat_solids_create(&j->scene, j->arguments->operand, &j->flat, status));
    RH_TRY(look_ahead(j, &o, status));
    size_t values = 3 * (size_t)j->width * (size_t)j->height;
    j->bytes = rh_alloc(values, "app.picture", status);
    j->deep = rh_alloc(values * sizeof *j->deep, "app.picture", status);
    if (!j->bytes || !j->deep) return RH_MEMORY;
    j->preview.width = j->width, j->preview.height = j->height, j->preview.dimension = (int)j->scene.dimension;
    prepare_quick(j);
    j->preview.frame = exported_box(j->box, j->preview.z_up);
    o.box = j->box, o.particles = j->particles, o.paint = j->paint;
    return j->quick ? RH_OK : rh_picture_create(&j->scene, &o, &j->picture, status);
}

// --- arguments -------------------------------------------------------------------------------------------------------

// Six or seven numbers separated by commas: position, target, angle of view.
static rh_code read_camera(const char *text, rh_camera_params *camera, rh_status *status)
{
    double v[7] = {0, 0, 0, 0, 0, 0, camera->fov};
    int count = 0;
    const char *at = text;
    while (count < 7) {
        size_t length = strcspn(at, ",");
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), at);
        char *end;
        v[count] = strtod(word, &end);
        if (!length || *end || !isfinite(v[count])) break;
        count++, at += length;
        if (*at == ',') at++;
        else break;
    }
    rh_dvec3 position = rh_d3(v[0], v[1], v[2]), target = rh_d3(v[3], v[4], v[5]);
    if (*at || count < 6 || !(v[6] >= 0.1 && v[6] <= 160) || !(rh_d3_length(rh_d3_sub(position, target)) > 0))
        return rh_fail(
            status, RH_USER,
            "--camera: found \"%.120s\", expected x,y,z,tx,ty,tz or x,y,z,tx,ty,tz,fov: position and target in "
            "metres, not the same, and an angle of 0.1 to 160 degrees",
            text);
    rh_free(camera->keys.items);
    *camera = (rh_camera_params){position, target, v[6], camera->shutter, {0}};
    return RH_OK;
}

// RH_USER with the nearest of the names, which end with NULL.
static rh_code read_choice(const char *option, const char *text, const char *const *names, int *out, rh_status *status)
{
    char list[256] = "";
    int count = 0;
    for (; names[count]; count++) {
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", count ? ", " : "", names[count]);
        if (strcmp(names[count], text) != 0) continue;
        *out = count;
        return RH_OK;
    }
    const char *near = rh_nearest_name(text, names, count);
    return rh_fail(status, RH_USER, "--%s: found \"%.80s\", expected one of %s%s%s%s", option, text, list,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static rh_code read_look(const char *option, const char *text, rh_variant *liquid, rh_status *status)
{
    const char *names[32];
    int count = 0, kind = 0;
    for (; rh_look_tables[count]; count++) names[count] = rh_look_tables[count]->name;
    names[count] = NULL;
    RH_TRY(read_choice(option, text, names, &kind, status));
    if (liquid->value && liquid->kind == kind) return RH_OK;  // the scene says more about it than its name
    void *value = rh_alloc_zero(rh_look_tables[kind]->size, "app.look", status);
    if (!value) return RH_MEMORY;
    if (liquid->value) rh_params_free(rh_look_tables[liquid->kind], liquid->value);
    rh_free(liquid->value);
    *liquid = (rh_variant){kind, value};
    return rh_params_defaults(rh_look_tables[kind], value, status);
}

static rh_code read_what(const char *text, app_render_what *out, rh_status *status)
{
    for (int i = APP_RENDER_SURFACE; i <= APP_RENDER_BOTH; i++)
        if (strcmp(text, what_names[i]) == 0) {
            *out = (app_render_what)i;
            return RH_OK;
        }
    return rh_fail(status, RH_USER, "--what: found \"%.80s\", expected surface, points or both", text);
}

static rh_code read_range(const char *text, rh_paint *paint, rh_status *status)
{
    double low, high;
    char *end;
    low = strtod(text, &end);
    bool good = end != text && *end == ',';
    const char *second = end + (good ? 1 : 0);
    high = strtod(second, &end);
    good = good && end != second && !*end && isfinite(low) && isfinite(high) && low < high;
    if (!good)
        return rh_fail(status, RH_USER,
                       "--range: found \"%.80s\", expected two numbers LOW,HIGH, the second one larger", text);
    paint->low = low, paint->high = high;
    return RH_OK;
}

static rh_code set_paint(const app_arguments *a, bool attribute, rh_paint *paint, rh_status *status)
{
    if (attribute) {
        char *name = rh_strdup(a->attribute, "app.attribute", status);
        if (!name) return RH_MEMORY;
        rh_free(paint->attribute);
        paint->attribute = name;
        paint->low = paint->high = 0;  // those were meant for another
    }
    if (a->range) RH_TRY(read_range(a->range, paint, status));
    if (a->bands > 100000)
        return rh_fail(status, RH_USER, "--bands: found %" PRId64 ", expected at most 100000", a->bands);
    if (a->bands) paint->bands = a->bands;
    return a->palette ? read_choice("palette", a->palette, rh_palette_names, &paint->palette, status) : RH_OK;
}

// A surface made on the spot carries what paints it.
static rh_code carry(const char *attribute, rh_surfacing_params *surface, rh_status *status)
{
    const char *had = surface->attributes ? surface->attributes : "";
    if (rh_values_none(attribute) || strcmp(attribute, "speed") == 0) return RH_OK;
    size_t length = strlen(attribute), room = strlen(had) + length + 2;
    if (length > 2 && attribute[length - 2] == '.' && strchr("xyz", attribute[length - 1])) length -= 2;
    if (length == 1 && (attribute[0] == 'P' || attribute[0] == 'v')) return RH_OK;  // always there
    char *list = rh_alloc(room, "app.attribute", status);
    if (!list) return RH_MEMORY;
    snprintf(list, room, "%s%s%.*s", had, had[0] ? " " : "", (int)length, attribute);
    rh_free(surface->attributes);
    surface->attributes = list;
    return RH_OK;
}

static rh_code carry_paint(rh_scene *scene, rh_status *status)
{
    const char *attribute = scene->look.paint.attribute;
    const rh_material_params *materials = scene->materials.items;
    RH_TRY(carry(attribute, &scene->surface, status));
    for (int i = 0; i < scene->materials.count; i++)
        if (materials[i].surface) RH_TRY(carry(attribute, materials[i].surface, status));
    return RH_OK;
}

static rh_code apply_paint(app_render_job *j, rh_status *status)
{
    const app_arguments *a = j->arguments;
    rh_look *look = &j->scene.look;
    bool surface = a->attribute && (j->what == APP_RENDER_SURFACE || j->what == APP_RENDER_BOTH);
    RH_TRY(set_paint(a, a->attribute && j->what != APP_RENDER_SURFACE, &look->particles.paint, status));
    RH_TRY(set_paint(a, surface, &look->paint, status));
    if ((a->bands || a->palette || a->range) && rh_values_none(look->paint.attribute) &&
        (j->what == APP_RENDER_SURFACE || j->what == APP_RENDER_AS_THERE))
        return rh_fail(
            status, RH_USER,
            "--%s: found nothing on the surface to colour by, expected --attribute NAME (for example rest.y)",
            a->bands     ? "bands"
            : a->palette ? "palette"
                         : "range");
    return carry_paint(&j->scene, status);
}

// A material of the run; or, as the option was used before there was --look, what the surface looks like.
static rh_code choose_material(app_render_job *j, rh_status *status)
{
    const char *name = j->arguments->material;
    rh_status local = {0};
    j->only = -1;
    if (!name) return RH_OK;
    if (!j->scene.materials.count) return read_look("material", name, &j->scene.look.liquid, status);
    if (rh_scene_find_material(&j->scene, name, &j->only, &local) == RH_OK) return RH_OK;
    j->only = -1;
    if (read_look("material", name, &j->scene.look.liquid, NULL) == RH_OK) return RH_OK;
    return rh_fail(status, RH_USER, "--material: %s", local.message);
}

static rh_code apply_arguments(app_render_job *j, rh_status *status)
{
    const app_arguments *a = j->arguments;
    rh_look *look = &j->scene.look;
    if (a->what) RH_TRY(read_what(a->what, &j->what, status));
    else if (a->attribute) j->what = APP_RENDER_POINTS;
    if (a->camera) RH_TRY(read_camera(a->camera, &look->camera, status));
    RH_TRY(choose_material(j, status));
    RH_TRY(app_require_particles(&j->scene, j->only, a->operand, status));
    if (a->look) RH_TRY(read_look("look", a->look, &look->liquid, status));
    if (a->depth && a->depth != 8 && a->depth != 16)
        return rh_fail(status, RH_USER, "--depth: found %" PRId64 ", expected 8 or 16", a->depth);
    if (a->samples > 1 << 20)
        return rh_fail(status, RH_USER, "--samples: found %" PRId64 ", expected at most %d", a->samples, 1 << 20);
    return RH_OK;
}

static rh_code choose_drawing(app_render_job *j, rh_status *status)
{
    j->width = j->arguments->size.width ? j->arguments->size.width : 1280;
    j->height = j->arguments->size.height ? j->arguments->size.height : 720;
    j->quick = j->arguments->quick || j->scene.dimension == 2 || !rh_rays_built_in();
    if (!j->quick) return RH_OK;
    const char *why = "this program was built without Embree (package libembree-dev)";
    if (j->scene.dimension == 2) why = "a two-dimensional run";
    if (j->arguments->quick) why = "--quick";
    if (j->what == APP_RENDER_SURFACE || j->what == APP_RENDER_BOTH)
        return rh_fail(status, RH_USER, "--what %s: found %s, which draws particles only", what_names[j->what], why);
    if (!j->arguments->quick && j->scene.dimension == 3)
        rh_log(RH_LOG_WARNING, "%s: quick pictures of the particles instead of traced ones", why);
    j->what = APP_RENDER_POINTS;
    return RH_OK;
}

// What the run has not come to yet cannot be looked at; camera, ground and colours of later pictures may be others.
static void tell_unfinished(const app_render_job *j)
{
    int64_t newest = j->all.numbers[j->all.count - 1], last = j->scene.frames.last;
    if (newest >= last) return;
    rh_log(RH_LOG_WARNING,
           "the newest frame is %lld, the scene's last %lld: camera, ground and colours follow the frames so far; "
           "pictures made when there are more may "
           "not fit to these",
           (long long)newest, (long long)last);
}

// Keeps the frames inside the range.
static rh_code choose_frames(app_render_job *j, const app_range *range, rh_status *status)
{
    RH_TRY(app_frames_list(j->points, "points", ".vdb", &j->frames, status));
    if (j->frames.count == 0) {
        app_frames_free(&j->frames);
        if (!j->quick && j->what != APP_RENDER_POINTS)
            RH_TRY(app_frames_list(j->surfaces, "surface", ".ply", &j->frames, status));
    }
    if (j->frames.count == 0) return rh_fail(status, RH_USER, "%s: found no frames (points.####.vdb)", j->points);
    size_t bytes = (size_t)j->frames.count * sizeof *j->all.numbers;
    j->all = (app_frames){.numbers = rh_alloc(bytes, "app.frames", status), .count = j->frames.count};
    if (!j->all.numbers) return RH_MEMORY;
    memcpy(j->all.numbers, j->frames.numbers, bytes);
    tell_unfinished(j);
    return app_frames_choose(&j->frames, range, status);
}

static rh_code read_scene(app_render_job *j, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(app_run_scene(path, j->arguments->operand, "", status));
    return app_scene_load(j->arguments, path, false, &j->scene, status);
}

static rh_code check_layers(const app_texts *runs, rh_status *status)
{
    char folder[RH_PATH_MAX];
    if (runs->count > MOST_LAYERS)
        return rh_fail(status, RH_USER, "--layer: found %d, expected at most %d", runs->count, MOST_LAYERS);
    for (int i = 0; i < runs->count; i++) {
        RH_TRY(app_path(folder, runs->items[i], "points", status));
        if (!app_is_folder(folder))
            return rh_fail(status, RH_USER, "--layer: found no frames in %s, expected the folder of a run",
                           runs->items[i]);
    }
    return RH_OK;
}

static rh_code prepare(app_render_job *j, rh_status *status)
{
    const app_arguments *a = j->arguments;
    RH_TRY(check_layers(&a->layers, status));
    RH_TRY(read_scene(j, status));
    RH_TRY(apply_arguments(j, status));
    RH_TRY(choose_drawing(j, status));
    RH_TRY(apply_paint(j, status));
    RH_TRY(app_path(j->points, a->operand, "points", status));
    RH_TRY(app_path(j->surfaces, a->operand, "surface", status));
    if (!a->out) RH_TRY(app_path(j->pictures, a->operand, "picture", status));
    else if (snprintf(j->pictures, sizeof j->pictures, "%s", a->out) >= RH_PATH_MAX)
        return rh_fail(status, RH_USER, "--out: path too long");
    RH_TRY(choose_frames(j, &a->frames, status));
    RH_TRY(prepare_picture(j, status));
    return rh_folder_make(j->pictures, status);
}

static rh_code open_film(app_render_job *j, rh_status *status)
{
    char path[RH_PATH_MAX];
    if (!j->arguments->film) return RH_OK;
    RH_TRY(app_path(path, j->pictures, "film.mp4", status));
    RH_TRY(rh_provenance_may_replace(path, status));
    return rh_film_open(path, j->width, j->height, j->scene.frames.fps, &j->film, status);
}

// --- drawing ---------------------------------------------------------------------------------------------------------

static rh_code quick_values(app_render_job *j, const app_render_frame *data, rh_status *status)
{
    const rh_paint *paint = j->preview.paint;
    rh_free(j->values);
    j->preview.values = j->values = NULL;
    bool own = j->arguments->layers.count > 0;  // every point has its colour
    if (!paint || (!own && !has_values(j, &data->points))) return RH_OK;
    j->values = rh_alloc((size_t)data->points.count * sizeof *j->values + 1, "app.values", status);
    j->preview.values = j->values;
    if (j->values && strcmp(paint->attribute, "Cd") == 0) {
        j->preview.low = 0, j->preview.high = 1;  // they are taken as they are
        return rh_values_pack(&data->points, j->values, status);
    }
    return j->values ? rh_values_take(&data->points, paint->attribute, data->z_up, j->values, status) : RH_MEMORY;
}

static rh_code draw(app_render_job *j, const app_render_frame *data, const char *title, rh_status *status)
{
    size_t pixels = (size_t)j->width * (size_t)j->height;
    if (j->quick) {
        rh_view view;
        j->preview.title = title;
        j->preview.solids = rh_flat_solids_at(&j->flat, data->number, data->time);
        j->preview.camera = NULL;
        if (rh_camera_given(&j->scene.look.camera)) {
            view = rh_camera_at(&j->scene.look.camera, data->time);
            j->preview.camera = &view;
        }
        RH_TRY(quick_values(j, data, status));
        rh_code code = rh_preview_render(&data->points, &j->preview, j->bytes, status);
        j->preview.title = NULL;
        j->preview.camera = NULL;
        for (size_t i = 0; i < 3 * pixels; i++) j->deep[i] = (uint16_t)(257 * j->bytes[i]);
        return code;
    }
    rh_picture_frame frames[RH_MAX_MATERIALS + MOST_LAYERS];
    int count = 0;
    for (const app_render_frame *one = data; one; one = one->next, count++) {
        frames[count] = (rh_picture_frame){.number = one->number,
                                           .time = one->time,
                                           .points = one->has_points ? &one->points : NULL,
                                           .surface = one->has_surface ? &one->surface : NULL,
                                           .vertices = one->has_surface && app_render_paints(j) ? &one->vertices : NULL,
                                           .z_up = one->z_up,
                                           .foam = one->layer || one->drops,
                                           .liquid = one->look,
                                           .title = one->has_points && !one->layer && !one->drops ? title : NULL};
        if (count > 0) frames[count - 1].next = &frames[count];
    }
    RH_TRY(rh_picture_draw(j->picture, frames, j->deep, status));
    rh_to_8_bits(j->deep, pixels, j->bytes);
    return RH_OK;
}

static rh_code render_frame(app_render_job *j, int64_t number, rh_status *status)
{
    char path[RH_PATH_MAX], title[320];
    app_render_frame data;
    RH_TRY(app_frame_path(path, j->pictures, "picture", number, ".png", status));
    RH_TRY(rh_provenance_may_replace(path, status));
    RH_TRY(app_render_frame_read(j, number, false, &data, status));
    snprintf(title, sizeof title, "%.200s  frame %" PRId64 "  %.3f s", j->scene.title ? j->scene.title : "", number,
             data.time);
    rh_code code = draw(j, &data, title, status);
    app_render_frame_free(&data);
    if (code == RH_OK && j->arguments->depth == 16)
        code = rh_png_write_deep(path, j->width, j->height, j->deep, status);
    else if (code == RH_OK) code = rh_png_write(path, j->width, j->height, j->bytes, status);
    if (code == RH_OK && j->film) code = rh_film_add(j->film, j->bytes, status);
    if (code == RH_OK) printf("%s\n", path);
    fflush(stdout);
    return code;
}

// A film that lacks its end is not written: one that was there before stays, and the pictures so far are whole.
static rh_code stop_here(const app_render_job *j, int done, rh_status *status)
{
    fprintf(stderr, "stopped: %d of %d pictures in %s%s\n", done, j->frames.count, j->pictures,
            j->film ? ", and no film, which needs all of them" : "");
    return rh_fail(status, RH_STOPPED, "stopped on request");
}

static rh_code finish_film(app_render_job *j, rh_status *status)
{
    rh_film *film = j->film;
    if (!film) return RH_OK;
    j->film = NULL;
    RH_TRY(rh_film_finish(film, status));
    printf("%s/film.mp4\n", j->pictures);
    return RH_OK;
}

static rh_code work(app_render_job *j, rh_status *status)
{
    RH_TRY(prepare(j, status));
    if (rh_scene_surface_programs(&j->scene))
        RH_TRY(rh_lang_cache_create(rh_scene_material_count(&j->scene), &j->programs, status));
    atomic_int *stop = app_stop_on_signals("this picture");
    RH_TRY(open_film(j, status));
    for (int i = 0; i < j->frames.count; i++) {
        if (atomic_load(stop)) return stop_here(j, i, status);
        RH_TRY(render_frame(j, j->frames.numbers[i], status));
    }
    return finish_film(j, status);
}

static int render(const app_arguments *arguments)
{
    rh_status status = {0};
    app_render_job j = {.arguments = arguments};
    rh_threads_set((int)arguments->threads);
    rh_code code = work(&j, &status);
    rh_film_discard(j.film);
    rh_picture_free(j.picture);
    rh_flat_solids_free(&j.flat);
    app_frames_free(&j.frames);
    app_frames_free(&j.all);
    rh_lang_cache_free(j.programs);
    rh_scene_free(&j.scene);
    rh_free(j.values);
    rh_free(j.deep);
    rh_free(j.bytes);
    int written = app_finish_output();
    return code == RH_OK ? written : app_report(&status);
}

#define AT(field) offsetof(app_arguments, field)
static const app_option options[] = {
    {"frames", APP_RANGE, AT(frames), "LIST", "frames to draw, such as 5, 1-48 or 1,10,20-30; without it all"},
    {"size", APP_SIZE, AT(size), "WxH", "pixels; without it 1280x720"},
    {"what", APP_TEXT, AT(what), "WHAT",
     "surface, points or both; without it the surface, or drop by drop where particles are drops"},
    {"camera", APP_TEXT, AT(camera), "NUMBERS", "x,y,z,tx,ty,tz[,fov]: position, target (m), angle of view (degrees)"},
    {"material", APP_TEXT, AT(material), "NAME", "draws this material of a run with several alone"},
    {"layer", APP_TEXTS, AT(layers), "RUN",
     "draws the particles of this run, too, white: spray, foam, bubbles of whitewater (may be repeated)"},
    {"look", APP_TEXT, AT(look), "NAME", "what the surface looks like: water, honey, sand, ..."},
    {"attribute", APP_TEXT, AT(attribute), "NAME",
     "that colours particles, or with --what surface the surface: id, rest.y, speed, ..., Cd (a colour itself), none"},
    {"range", APP_TEXT, AT(range), "LOW,HIGH", "values at the ends of the colours; without it from the particles"},
    {"bands", APP_COUNT, AT(bands), "N", "even steps of colour from LOW to HIGH, as layers; without it smooth"},
    {"palette", APP_TEXT, AT(palette), "NAME", "the colours: blue, sand, or strata (for bands)"},
    {"samples", APP_COUNT, AT(samples), "N", "paths for every pixel; without it as many as it needs, up to 32"},
    {"depth", APP_COUNT, AT(depth), "BITS", "8 or 16 bits a channel; without it 8"},
    {"film", APP_FLAG, AT(film), NULL, "also a film of the pictures, film.mp4 (needs the program ffmpeg)"},
    {"quick", APP_FLAG, AT(quick), NULL, "particles without tracing paths: seconds for a whole run"},
    {"threads", APP_COUNT, AT(threads), "N", "threads to use; without it all cores"},
    {"out", APP_TEXT, AT(out), "DIR", "folder of the pictures; without it RUN/picture"},
    APP_SANDBOX,
};

const app_command app_render = {
    "render",
    "RUN",
    true,
    false,
    "pictures and films of a run",
    "Draws the frames of a run as RUN/picture/picture.####.png and prints the name of each picture.\n"
    "A frame shows its surface: the mesh that `rheo surface --mesh` wrote, or one made on the spot as\n"
    "the scene's section `surface` says. With --what points it shows its particles, coloured by an\n"
    "attribute; a surface can be coloured by what it carries, too (rest.y in bands shows layers).\n"
    "All frames share one scale of colours and, unless the scene's section `look` says\n"
    "otherwise, one camera that frames the run by itself. Light, ground and materials come from the\n"
    "same section (rheo doc look). Control-C stops after the running picture.",
    options,
    APP_OPTION_COUNT(options),
    render};
