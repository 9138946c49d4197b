// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo wedge: one scene with many sets of values, each a run of its own, and a picture of all side by side. Every run
// is `rheo run` with the values as --set; all scenes are read before the first run begins, so that a wrong name or
// value is told at once. Runs that are done stay; called again, it goes on where it was stopped.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "app.h"
#include "base/memory.h"
#include "io/png.h"
#include "io/vdb_sets.h"
#include "view/preview.h"

enum { MOST_AXES = 8, MOST_RUNS = 1000, NAME = 256, THUMB_WIDTH = 480, THUMB_HEIGHT = 270 };

// A path of the scene and the values that it takes.
typedef struct axis {
    char *text;         // owned: "path\0value\0value\0..."
    const char *label;  // the path's last part, or all of it where two have the same
    const char **values;
    int count;
} axis;

typedef struct wedge {
    const app_arguments *arguments;
    axis axes[MOST_AXES];
    int axis_count, runs;
    char folder[RH_PATH_MAX];
} wedge;

// --- what was asked for ----------------------------------------------------------------------------------------------
// Commas inside of brackets belong to the value.
static int split(char *text, const char **values)
{
    int depth = 0, count = 1;
    if (values) values[0] = text;
    for (char *c = text; *c; c++) {
        depth += (*c == '[' || *c == '{') - (*c == ']' || *c == '}');
        if (*c != ',' || depth > 0) continue;
        if (values) {
            *c = 0;
            values[count] = c + 1;
        }
        count++;
    }
    return count;
}

static rh_code read_axis(const char *word, axis *a, rh_status *status)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word || !equals[1])
        return rh_fail(status, RH_USER, "wedge: found \"%.80s\", expected path=value,value,...", word);
    a->text = rh_strdup(word, "app.wedge", status);
    if (!a->text) return RH_MEMORY;
    a->text[equals - word] = 0;
    char *values = a->text + (equals - word) + 1;
    a->count = split(values, NULL);
    a->values = rh_alloc((size_t)a->count * sizeof *a->values, "app.wedge", status);
    if (!a->values) return RH_MEMORY;
    split(values, a->values);
    for (int i = 0; i < a->count; i++)
        if (!a->values[i][0])
            return rh_fail(status, RH_USER, "wedge: \"%.80s\": found nothing between two commas, expected a value",
                           word);
    const char *dot = strrchr(a->text, '.');
    a->label = dot ? dot + 1 : a->text;
    return RH_OK;
}

static rh_code read_axes(wedge *w, rh_status *status)
{
    const app_texts *words = &w->arguments->operands;
    w->runs = 1;
    if (words->count < 2)
        return rh_fail(status, RH_USER, "wedge: found no values, expected SCENE path=value,value,...");
    if (words->count - 1 > MOST_AXES)
        return rh_fail(status, RH_USER, "wedge: found %d paths, expected at most %d", words->count - 1, MOST_AXES);
    for (int i = 1; i < words->count; i++) {
        axis *a = &w->axes[w->axis_count++];
        RH_TRY(read_axis(words->items[i], a, status));
        for (int k = 0; k < w->axis_count - 1; k++) {
            if (strcmp(w->axes[k].text, a->text) == 0)
                return rh_fail(status, RH_USER, "wedge: found '%.80s' twice, expected each path once", a->text);
            if (strcmp(w->axes[k].label, a->label) == 0) w->axes[k].label = w->axes[k].text, a->label = a->text;
        }
        if ((int64_t)w->runs * a->count > MOST_RUNS)
            return rh_fail(status, RH_USER, "wedge: found more than %d runs, expected fewer values", MOST_RUNS);
        w->runs *= a->count;
    }
    return RH_OK;
}

// The value of an axis in run n: the last axis changes fastest.
static const char *value_of(const wedge *w, int axis_number, int n)
{
    for (int i = w->axis_count - 1; i > axis_number; i--) n /= w->axes[i].count;
    return w->axes[axis_number].values[n % w->axes[axis_number].count];
}

// "surface_tension=0.72,radius=0.001"; what no file name should have becomes '_'.
static void name_run(const wedge *w, int n, char out[NAME])
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < w->axis_count && used < NAME; i++)
        used += (size_t)snprintf(out + used, NAME - used, "%s%s=%s", i ? "," : "", w->axes[i].label, value_of(w, i, n));
    for (char *c = out; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=,.-+_", *c)) *c = '_';
}

// The arguments of run n; `sets` and the texts in it are the caller's to free.
static rh_code arguments_of(const wedge *w, int n, char (*texts)[NAME], const char **sets, const char *folder,
                            app_arguments *out, rh_status *status)
{
    int count = 0;
    *out = *w->arguments;
    for (int i = 0; i < w->arguments->sets.count; i++) sets[count++] = w->arguments->sets.items[i];
    for (int i = 0; i < w->axis_count; i++) {
        if (snprintf(texts[i], NAME, "%s=%s", w->axes[i].text, value_of(w, i, n)) >= NAME)
            return rh_fail(status, RH_USER, "wedge: '%.80s': a value is too long", w->axes[i].text);
        sets[count++] = texts[i];
    }
    out->operand = w->arguments->operands.items[0];
    out->out = folder;
    out->sets = (app_texts){sets, count};
    return RH_OK;
}

// --- the runs --------------------------------------------------------------------------------------------------------
static rh_code last_frame(const char *folder, char path[RH_PATH_MAX], bool *there, rh_status *status)
{
    char points[RH_PATH_MAX];
    app_frames frames;
    RH_TRY(app_path(points, folder, "points", status));
    RH_TRY(app_frames_list(points, "points", ".vdb", &frames, status));
    *there = frames.count > 0;
    rh_code code = *there ? app_frame_path(path, points, "points", frames.numbers[frames.count - 1], ".vdb", status)
                          : RH_OK;
    app_frames_free(&frames);
    return code;
}

// Only reads the scene when `check`; else runs it. *exit gets the exit code of the run.
static rh_code one_run(const wedge *w, int n, bool check, int *exit, rh_status *status)
{
    char name[NAME], folder[RH_PATH_MAX], frame[RH_PATH_MAX], texts[MOST_AXES][NAME];
    const char **sets = rh_alloc((size_t)(w->arguments->sets.count + MOST_AXES) * sizeof *sets, "app.wedge", status);
    app_arguments own;
    bool there = false;
    if (!sets) return RH_MEMORY;
    name_run(w, n, name);
    rh_code code = app_path(folder, w->folder, name, status);
    if (code == RH_OK) code = arguments_of(w, n, texts, sets, folder, &own, status);
    if (code == RH_OK && check) {
        rh_scene scene;
        code = app_scene_load(&own, own.operand, true, &scene, status);
        if (code == RH_OK) rh_scene_free(&scene);
    } else if (code == RH_OK) {
        code = last_frame(folder, frame, &there, status);
        own.resume = there && !own.force;
        if (code == RH_OK && !own.quiet) fprintf(stderr, "run %d of %d: %s\n", n + 1, w->runs, name);
        if (code == RH_OK) *exit = app_run.run(&own);
    }
    rh_free(sets);
    return code;
}

// --- the picture of all ----------------------------------------------------------------------------------------------
static rh_code draw_thumb(const wedge *w, int n, uint8_t *rgb, rh_status *status)
{
    char name[NAME], folder[RH_PATH_MAX], path[RH_PATH_MAX];
    bool there;
    rh_points points;
    rh_frame_info info = {0};
    name_run(w, n, name);
    memset(rgb, 230, (size_t)THUMB_WIDTH * THUMB_HEIGHT * 3);
    RH_TRY(app_path(folder, w->folder, name, status));
    RH_TRY(last_frame(folder, path, &there, status));
    if (!there) return RH_OK;
    rh_points_init(&points);
    rh_code code = rh_vdb_read_set(path, NULL, &points, &info, status);
    const rh_preview_options look = {
        .width = THUMB_WIDTH, .height = THUMB_HEIGHT, .dimension = 3, .title = name, .z_up = info.z_up};
    if (code == RH_OK && points.count) code = rh_preview_render(&points, &look, rgb, status);
    rh_points_free(&points);
    return code;
}

static rh_code draw_all(const wedge *w, rh_status *status)
{
    int across = w->axis_count > 1 ? w->axes[w->axis_count - 1].count : (int)ceil(sqrt((double)w->runs));
    if (across > 16) across = 16;
    int down = (w->runs + across - 1) / across, width = across * THUMB_WIDTH, height = down * THUMB_HEIGHT;
    char path[RH_PATH_MAX];
    uint8_t *all = rh_alloc_zero((size_t)width * (size_t)height * 3, "app.wedge", status),
            *one = all ? rh_alloc((size_t)THUMB_WIDTH * THUMB_HEIGHT * 3, "app.wedge", status) : NULL;
    rh_code code = one ? app_path(path, w->folder, "contact_sheet.png", status) : RH_MEMORY;
    for (int n = 0; n < w->runs && code == RH_OK; n++) {
        code = draw_thumb(w, n, one, status);
        for (int y = 0; y < THUMB_HEIGHT; y++)
            memcpy(all + 3 * ((size_t)(n / across * THUMB_HEIGHT + y) * (size_t)width +
                              (size_t)(n % across) * THUMB_WIDTH),
                   one + (size_t)3 * THUMB_WIDTH * (size_t)y, (size_t)3 * THUMB_WIDTH);
    }
    if (code == RH_OK) code = rh_png_write(path, width, height, all, status);
    if (code == RH_OK) puts(path);
    rh_free(one);
    rh_free(all);
    return code;
}

// --- the command -----------------------------------------------------------------------------------------------------
// wedge/<name of the scene> unless --out says otherwise.
static rh_code choose_folder(wedge *w, rh_status *status)
{
    const char *name = strrchr(w->arguments->operands.items[0], '/');
    if (w->arguments->out) {
        RH_TRY(app_path(w->folder, w->arguments->out, "", status));
        for (size_t n = strlen(w->folder); n > 1 && w->folder[n - 1] == '/'; n--) w->folder[n - 1] = 0;
        return RH_OK;
    }
    name = name ? name + 1 : w->arguments->operands.items[0];
    RH_TRY(app_path(w->folder, "wedge", name, status));
    char *ending = strrchr(w->folder, '.');
    if (ending && ending > w->folder + strlen("wedge/")) *ending = 0;
    return RH_OK;
}

static rh_code run_all(wedge *w, int *exit, rh_status *status)
{
    RH_TRY(read_axes(w, status));
    RH_TRY(choose_folder(w, status));
    for (int n = 0; n < w->runs; n++) RH_TRY(one_run(w, n, true, exit, status));
    int failed = 0;
    for (int n = 0; n < w->runs; n++) {
        int one = APP_DONE;
        RH_TRY(one_run(w, n, false, &one, status));
        if (one == APP_STOPPED || one == APP_WRONG) return *exit = one, RH_OK;
        failed += one != APP_DONE;
    }
    *exit = failed ? APP_FAILED : APP_DONE;
    return draw_all(w, status);
}

static int run(const app_arguments *arguments)
{
    wedge *w = calloc(1, sizeof *w);
    rh_status status = {0};
    int exit = APP_DONE;
    if (!w) return APP_FAILED;
    w->arguments = arguments;
    rh_code code = run_all(w, &exit, &status);
    for (int i = 0; i < w->axis_count; i++) {
        rh_free(w->axes[i].text);
        rh_free(w->axes[i].values);
    }
    free(w);
    if (code != RH_OK) return app_report(&status);
    int finished = app_finish_output();
    return exit != APP_DONE ? exit : finished;
}

#define AT(field) offsetof(app_arguments, field)
static const app_option options[] = {
    {"out", APP_TEXT, AT(out), "DIR", "folder of all runs; without it wedge/<name of the scene>"},
    {"set", APP_TEXTS, AT(sets), "PATH=VALUE", "changes a value of the scene in all runs; may be given more than once"},
    {"threads", APP_COUNT, AT(threads), "N", "threads to use; without it all cores"},
    {"force", APP_FLAG, AT(force), NULL, "starts all runs over; without it those that are there go on"},
    {"quiet", APP_FLAG, AT(quiet), NULL, "no progress"},
    APP_SANDBOX,
};
const app_command app_wedge = {
    .name = "wedge",
    .operand = "SCENE PATH=A,B ...",
    .operand_required = true,
    .operand_many = true,
    .summary = "run a scene with many sets of values, and draw all side by side",
    .details = "Every combination of the values becomes a run of its own in DIR, named by them, and\n"
               "DIR/contact_sheet.png shows the last frames of all. Commas inside of brackets belong to a value.\n"
               "All scenes are read first: a wrong name or value is told before anything is run. Stopped and called\n"
               "again, it goes on; runs that are done stay as they are.\n\n"
               "  rheo wedge scenes/droplets/geyser.yaml physics.droplets.surface_tension=0.0072,0.072,0.72\n",
    .options = options,
    .option_count = APP_OPTION_COUNT(options),
    .run = run,
};
