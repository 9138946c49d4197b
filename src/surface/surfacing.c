// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The steps in order (parts.h). Scratch memory comes from an arena of the call; nothing is kept between frames.
#include "surface/surfacing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "surface/parts.h"

typedef struct stages {
    rh_surfacing_report *report;
    double since;
} stages;

static void stage_done(stages *s, const char *name)
{
    double now = rh_seconds();
    rh_surfacing_report *r = s->report;
    RH_ASSERT(r->stage_count < RH_SURFACING_STAGES);
    r->stage_names[r->stage_count] = name;
    r->stage_seconds[r->stage_count++] = now - s->since;
    s->since = now;
}

// --- channels --------------------------------------------------------------------------------------------------------
static rh_code missing_attribute(const rh_points *points, const char *word, rh_status *status)
{
    const char *names[RH_POINTS_MAX_ATTRIBUTES];
    char list[512];
    size_t used = 0;
    for (int i = 0; i < points->attribute_count; i++) {
        names[i] = points->attributes[i].name;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = rh_nearest_name(word, names, points->attribute_count);
    return rh_fail(status, RH_USER, "attributes: the points have no '%s'%s%s%s (they have %s)", word,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", list);
}

static rh_code want_channel(const rh_points *points, const char *word, rh_channel_list *list, rh_status *status)
{
    const rh_attribute *found = rh_points_find(points, word);
    if (!found && points->count == 0) return RH_OK;  // files of empty frames say nothing of attributes
    if (!found) return missing_attribute(points, word, status);
    if (found->type == RH_POINT_MAT3F)
        return rh_fail(status, RH_USER, "attributes: '%s' is of type %s, which a grid cannot hold", word,
                       rh_point_type_name(found->type));
    const char *name = strcmp(word, "v") == 0 ? "vel" : word;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->name[i], name) == 0) return RH_OK;
    if (list->count == RH_BAND_CHANNELS) return rh_fail(status, RH_USER, "attributes: more than %d", RH_BAND_CHANNELS);
    snprintf(list->attribute[list->count], RH_POINT_NAME, "%s", word);
    snprintf(list->name[list->count++], RH_POINT_NAME, "%s", name);
    return RH_OK;
}

static bool is_diagnostic(const rh_surfacing_params *params, const char *word)
{
    static const char *const names[] = {"k_s", "neighbours", "stretch", "centre", "ellipsoid"};
    for (int i = 0; i < 5 && params->diagnostics; i++)
        if (strcmp(word, names[i]) == 0) return true;
    return false;
}

static rh_code want_channels(const rh_surfacing_params *params, const rh_points *points, bool shaped,
                             rh_channel_list *list, rh_status *status)
{
    list->count = 0;
    const rh_attribute *velocity = rh_points_find(points, "v");
    if (velocity && velocity->type == RH_POINT_VEC3F) RH_TRY(want_channel(points, "v", list, status));
    for (const char *at = params->attributes ? params->attributes : ""; *at;) {
        char word[RH_POINT_NAME];
        size_t length = strcspn(at, " ,\t");
        if (length >= sizeof word)
            return rh_fail(status, RH_USER, "attributes: a name of %zu letters, expected less than %d", length,
                           RH_POINT_NAME);
        memcpy(word, at, length);
        word[length] = 0;
        at += length + (at[length] != 0);
        if (length > 0 && (shaped || !is_diagnostic(params, word))) RH_TRY(want_channel(points, word, list, status));
    }
    // As velocity is wanted for motion blur, this is for textures: whoever has it made it for that.
    const rh_attribute *rest = rh_points_find(points, "rest");
    return rest && rest->type == RH_POINT_VEC3F && list->count < RH_BAND_CHANNELS
               ? want_channel(points, "rest", list, status)
               : RH_OK;
}

// --- modes -----------------------------------------------------------------------------------------------------------
static rh_code by_shapes(rh_surface_cloud *cloud, rh_leaves *leaves, rh_finish *finish, bool nearest, rh_arena *arena,
                         stages *s, rh_status *status)
{
    float inverse = (float)(1 / cloud->voxel), reach = 0;
    bool ellipsoids = cloud->params->mode == RH_SURFACING_ELLIPSOID,
         blocks = cloud->params->mode == RH_SURFACING_BLOCKS;
    finish->close = ellipsoids || blocks ? (float)(cloud->params->close * cloud->mean_radius) * inverse : 0;
    finish->far = rh_max_of(finish->band,
                            finish->close + 1.75f);  // the front needs values on both sides, also diagonally
    finish->is_distance = true;
    rh_stamp stamp = {.cloud = cloud,
                      .band = finish->far,
                      .kernel = cloud->params->kernel,
                      .radius = rh_max_of((float)cloud->mean_radius * inverse, 0.9f)};
    bool plain = !ellipsoids && !blocks && !cloud->radius && !cloud->params->diagnostics;
    if (plain) reach = stamp.radius;
    else if (blocks) {
        rh_block *made;
        RH_TRY(rh_blocks_make(cloud, &made, &reach, arena, status));
        stamp.blocks = made;
        stage_done(s, "shapes");
    } else {
        rh_ellipsoid *shapes;
        RH_TRY(rh_shapes_make(cloud, &shapes, &reach, arena, s->report, status));
        stamp.shapes = shapes;
        stage_done(s, "shapes");
    }
    RH_TRY(rh_leaves_make(leaves, cloud, reach + finish->far, arena, status));
    stage_done(s, "leaves");
    rh_leaves_job job = {plain    ? rh_stamp_spheres
                         : blocks ? rh_stamp_blocks
                                  : rh_stamp_ellipsoids,
                         &stamp,
                         reach + finish->far,
                         finish->close,
                         finish->far,
                         nearest};
    RH_TRY(rh_leaves_fill(leaves, cloud, &job, status));
    stage_done(s, "stamp");
    return RH_OK;
}

static rh_code by_blending(rh_surface_cloud *cloud, rh_leaves *leaves, rh_finish *finish, bool nearest, rh_arena *arena,
                           stages *s, rh_status *status)
{
    float inverse = (float)(1 / cloud->voxel),
          support = (float)cloud->params->kernel_radius * (float)cloud->mean_radius * inverse;
    float widest = (float)(cloud->params->kernel_radius * cloud->largest_radius) * inverse,
          reach = widest + finish->band + 1;
    finish->far = finish->band;
    rh_blend blend = {cloud, support, finish->band};
    rh_leaf_fill *fill = cloud->params->mode == RH_SURFACING_AVERAGED  ? rh_blend_averaged
                         : cloud->params->mode == RH_SURFACING_DENSITY ? rh_blend_density
                                                                       : rh_blend_solenthaler;
    RH_TRY(rh_leaves_make(leaves, cloud, reach, arena, status));
    stage_done(s, "leaves");
    rh_leaves_job job = {fill, &blend, widest, 0, finish->far, nearest};
    RH_TRY(rh_leaves_fill(leaves, cloud, &job, status));
    stage_done(s, "stamp");
    return RH_OK;
}

static rh_code build(const rh_surfacing_params *params, rh_points *points, rh_band *band, rh_leaves *leaves,
                     rh_arena *arena, stages *s, rh_status *status)
{
    rh_surface_cloud cloud;
    rh_channel_list channels;
    RH_TRY(want_channels(params, points, false, &channels,
                         status));  // before the work, so that a wrong name costs no time
    RH_TRY(rh_cloud_make(&cloud, params, points, arena, s->report, status));
    stage_done(s, "sort");
    rh_finish finish = {.cloud = &cloud, .band = (float)params->half_band};
    bool shapes = params->mode == RH_SURFACING_ELLIPSOID || params->mode == RH_SURFACING_SPHERE ||
                  params->mode == RH_SURFACING_BLOCKS;
    bool nearest = channels.count > 0 || params->diagnostics;
    RH_TRY(shapes ? by_shapes(&cloud, leaves, &finish, nearest, arena, s, status)
                  : by_blending(&cloud, leaves, &finish, nearest, arena, s, status));
    RH_TRY(want_channels(params, points, true, &channels, status));
    RH_TRY(rh_band_finish(&finish, leaves, &channels, band, arena, status));
    stage_done(s, "finish");
    s->report->leaves = band->count;
    s->report->active = rh_band_active(band);
    s->report->bytes = rh_band_bytes(band);
    return RH_OK;
}

rh_code rh_surfacing_build(const rh_surfacing_params *params, rh_points *points, rh_band *band,
                           rh_surfacing_report *report, rh_status *status)
{
    rh_surfacing_report own;
    stages s = {report ? report : &own, rh_seconds()};
    *s.report = (rh_surfacing_report){0};
    *band = (rh_band){0};
    rh_leaves leaves = {.pages = NULL};
    rh_arena arena;
    rh_arena_init(&arena, "surface.scratch");
    rh_code code = build(params, points, band, &leaves, &arena, &s, status);
    rh_leaves_free(&leaves);
    rh_arena_free(&arena);
    return code;
}
