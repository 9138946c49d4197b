// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo render: quick pictures of the particles of a run, all frames with the same camera and the same colours, so that
// they play as a film.
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "app.h"
#include "base/memory.h"
#include "io/png.h"
#include "io/vdb.h"
#include "scene/scene.h"
#include "view/preview.h"

typedef struct job {
    const char *run;
    char points[RH_PATH_MAX], pictures[RH_PATH_MAX];
    app_frames frames;  // those asked for
    char title[256];
    rh_preview_options look;
    uint8_t *rgb;
} job;

static rh_code read_frame(const job *j, int64_t frame, rh_points *points, rh_frame_info *facts, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(app_frame_path(path, j->points, "points", frame, ".vdb", status));
    return rh_vdb_read_points(path, points, facts, status);
}

static void grow(rh_dbox *box, rh_vec3 p)
{
    box->min = rh_d3(fmin(box->min.x, p.x), fmin(box->min.y, p.y), fmin(box->min.z, p.z));
    box->max = rh_d3(fmax(box->max.x, p.x), fmax(box->max.y, p.y), fmax(box->max.z, p.z));
}

static void grow_by_points(rh_dbox *box, const rh_points *points)
{
    const rh_attribute *position = rh_points_find(points, "P");
    if (!position || position->type != RH_POINT_VEC3F) return;
    const rh_vec3 *p = position->data;
    for (int64_t i = 0; i < points->count; i++) grow(box, p[position->uniform ? 0 : i]);
}

// A speed that few particles exceed (mean and two deviations): the fastest droplet alone would turn the rest dark.
static double typical_top_speed(const rh_points *points)
{
    const rh_attribute *velocity = rh_points_find(points, "v");
    if (!velocity || velocity->type != RH_POINT_VEC3F || velocity->uniform || points->count == 0) return 0;
    const rh_vec3 *v = velocity->data;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < points->count; i++) {
        double speed = rh_v3_length(v[i]);
        sum += speed;
        squares += speed * speed;
    }
    double mean = sum / (double)points->count;
    return mean + 2 * sqrt(fmax(squares / (double)points->count - mean * mean, 0));
}

// The camera sees the union of the first and the last frame asked for; colours span the speeds of first, middle, last.
static rh_code frame_the_run(job *j, rh_status *status)
{
    const int probes[3] = {0, j->frames.count / 2, j->frames.count - 1};
    j->look.frame = (rh_dbox){{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    for (int i = 0; i < 3; i++) {
        rh_points points;
        rh_frame_info facts = {0};
        rh_points_init(&points);
        rh_code code = read_frame(j, j->frames.numbers[probes[i]], &points, &facts, status);
        if (code == RH_OK) {
            if (i != 1) grow_by_points(&j->look.frame, &points);
            j->look.color_max = fmax(j->look.color_max, typical_top_speed(&points));
            j->look.z_up = facts.z_up != 0;
        }
        rh_points_free(&points);
        RH_TRY(code);
    }
    if (j->look.frame.min.x > j->look.frame.max.x) j->look.frame = (rh_dbox){{0, 0, 0}, {1, 1, 1}};  // no particle at all
    return RH_OK;
}

static rh_code render_frame(job *j, int64_t frame, rh_status *status)
{
    char path[RH_PATH_MAX], label[320];
    rh_points points;
    rh_frame_info facts = {0};
    rh_points_init(&points);
    rh_code code = read_frame(j, frame, &points, &facts, status);
    snprintf(label, sizeof label, "%s  frame %" PRId64 "  %.3f s", j->title, frame, facts.time);
    j->look.title = label;
    if (code == RH_OK) code = rh_preview_render(&points, &j->look, j->rgb, status);
    if (code == RH_OK) code = app_frame_path(path, j->pictures, "picture", frame, ".png", status);
    if (code == RH_OK) code = rh_png_write(path, j->look.width, j->look.height, j->rgb, status);
    if (code == RH_OK) printf("%s\n", path);
    j->look.title = NULL;
    rh_points_free(&points);
    return code;
}

static rh_code choose_frames(job *j, const app_range *range, rh_status *status)
{
    RH_TRY(app_frames_list(j->points, "points", ".vdb", &j->frames, status));
    if (j->frames.count == 0) return rh_fail(status, RH_USER, "%s: found no frames (points.####.vdb)", j->points);
    return app_frames_choose(&j->frames, range, status);
}

static rh_code read_scene(job *j, rh_status *status)
{
    char path[RH_PATH_MAX];
    rh_scene scene;
    RH_TRY(app_path(path, j->run, "scene.yaml", status));
    if (!rh_file_exists(path))
        return rh_fail(status, RH_USER, "%s: found no scene.yaml in it, expected the folder of a run", j->run);
    RH_TRY(rh_scene_load(path, NULL, 0, &scene, status));
    snprintf(j->title, sizeof j->title, "%s", scene.title ? scene.title : "");
    j->look.dimension = (int)scene.dimension;
    rh_scene_free(&scene);
    return RH_OK;
}

static rh_code prepare(job *j, const app_arguments *arguments, rh_status *status)
{
    j->run = arguments->operand;
    j->look.width = arguments->size.width ? arguments->size.width : 1280;
    j->look.height = arguments->size.height ? arguments->size.height : 720;
    RH_TRY(read_scene(j, status));
    RH_TRY(app_path(j->points, j->run, "points", status));
    if (!arguments->out) RH_TRY(app_path(j->pictures, j->run, "picture", status));
    else if (snprintf(j->pictures, sizeof j->pictures, "%s", arguments->out) >= RH_PATH_MAX)
        return rh_fail(status, RH_USER, "--out: path too long");
    RH_TRY(choose_frames(j, &arguments->frames, status));
    RH_TRY(frame_the_run(j, status));
    j->rgb = rh_alloc(3 * (size_t)j->look.width * (size_t)j->look.height, "app.picture", status);
    if (!j->rgb) return RH_MEMORY;
    return rh_folder_make(j->pictures, status);
}

static int render(const app_arguments *arguments)
{
    rh_status status = {0};
    job j = {0};
    rh_code code = prepare(&j, arguments, &status);
    for (int i = 0; code == RH_OK && i < j.frames.count; i++) code = render_frame(&j, j.frames.numbers[i], &status);
    app_frames_free(&j.frames);
    rh_free(j.rgb);
    int written = app_finish_output();
    return code == RH_OK ? written : app_report(&status);
}

#define AT(field) offsetof(app_arguments, field)
static const app_option options[] = {
    {"frames", APP_RANGE, AT(frames), "A-B", "frames to draw; without it all"},
    {"size", APP_SIZE, AT(size), "WxH", "pixels; without it 1280x720"},
    {"out", APP_TEXT, AT(out), "DIR", "folder of the pictures; without it RUN/picture"},
};

const app_command app_render = {
    "render", "RUN", true, false, "quick pictures of a run's particles",
    "Draws the particles of a run as RUN/picture/picture.####.png and prints the name of each\n"
    "picture. Colour is speed. All frames asked for share one camera and one colour scale.",
    options, APP_OPTION_COUNT(options), render};
