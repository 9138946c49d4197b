// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo check: is the scene right, what does it say in full, and how large will the run be?
#include <stdio.h>
#include <string.h>
#include "app.h"
#include "base/memory.h"
#include "format.h"
#include "scene/print.h"
#include "scene/scene.h"
#include "world/world.h"

// What was asked for and what particles of one size make of it.
static void print_amount(const rh_scene *scene, const rh_amount *a, const char *unit)
{
    app_text count;
    char what[64];
    snprintf(what, sizeof what, "%s %d%s%.30s", a->emitter ? "emitter" : "body", a->index, a->name ? " " : "",
             a->name ? a->name : "");
    fprintf(stderr, "  %-22s ", what);
    if (a->emitter && a->rate > 0) fprintf(stderr, "%.6g %s/s, ", a->rate, unit);
    if (a->estimated) fprintf(stderr, "about %.4g %s by the last frame: it moves", a->asked, unit);
    else
        fprintf(stderr, "%.6g %s%s, %s particles of %.6g %s", a->asked, unit,
                a->emitter ? " by the last frame" : " asked for", app_format_count(a->particles, &count), a->given,
                unit);
    if (scene->materials.count > 1) fprintf(stderr, " of %s", rh_scene_material(scene, a->material)->name);
    fputc('\n', stderr);
}

static void print_prediction(const rh_scene *scene, const rh_prediction *p)
{
    app_text text, each;
    int64_t all;
    if (__builtin_mul_overflow(p->bytes_per_frame, p->frames, &all)) all = INT64_MAX;
    fprintf(stderr, "  %-22s %s\n", "frames", app_format_count(p->frames, &text));
    fprintf(stderr, "  %-22s %s\n", "particles at the start", app_format_count(p->particles, &text));
    if (p->emitted) fprintf(stderr, "  %-22s %s\n", "particles emitted", app_format_count(p->emitted, &text));
    for (int i = 0; i < p->amount_count; i++)
        print_amount(scene, &p->amounts[i], scene->dimension == 2 ? "m^2" : "m^3");
    fprintf(stderr, "  %-22s %s\n", "grid cells", app_format_count(p->cells, &text));
    fprintf(stderr, "  %-22s %s\n", "grid tiles", app_format_count(p->tiles, &text));
    fprintf(stderr, "  %-22s %s\n", "memory", app_format_bytes(p->bytes_memory, &text));
    fprintf(stderr, "  %-22s %s a frame, %s in all\n", "disk", app_format_bytes(p->bytes_per_frame, &each),
            app_format_bytes(all, &text));
}

// Predicting and rehearsing both build the scene's solids, and both warn of their meshes: each line is said once.
typedef struct said {
    char lines[1 << 15];
    size_t length;
} said;

static void log_once(rh_log_level level, const char *message, void *user)
{
    said *s = user;
    char line[2048];
    int length = snprintf(line, sizeof line, "\n%.2000s\n", message);
    if (strstr(s->lines, line)) return;
    if (s->length + (size_t)length < sizeof s->lines) {
        memcpy(s->lines + s->length, line, (size_t)length + 1);
        s->length += (size_t)length;
    }
    app_log_plain(level, message, NULL);
}

static rh_code check_scene(const app_arguments *arguments, const char *path, const rh_scene *scene, rh_status *status)
{
    const char *name = arguments->material;
    int material = -1;
    rh_prediction prediction;
    if (name && rh_scene_find_material(scene, name, &material, status) != RH_OK)
        return rh_status_prefix(status, "--material");
    // Of all, whoever was asked for: one part of a scene cannot be right alone.
    RH_TRY(rh_world_rehearse(scene, material, &prediction, status));
    char *text = name ? rh_print_block(&rh_material_table, rh_scene_material(scene, material), status)
                      : rh_scene_print(scene, status);
    if (text) {
        if (!arguments->quiet && arguments->operands.count == 1) fputs(text, stdout);
        fprintf(stderr, "%s: fine\n", path);
        print_prediction(scene, &prediction);
    }
    rh_free(text);
    rh_prediction_free(&prediction);
    return text ? RH_OK : status->code;
}

static int check_file(const app_arguments *arguments, const char *path)
{
    rh_status status = {0};
    rh_scene scene;
    said before = {.length = 0};
    rh_log_set_sink(log_once, &before);
    rh_code code = app_scene_load(arguments, path, true, &scene, &status);
    if (code == RH_OK) {
        code = check_scene(arguments, path, &scene, &status);
        rh_scene_free(&scene);
    }
    rh_log_set_sink(app_log_plain, NULL);
    return code == RH_OK ? APP_DONE : app_report(&status);
}

// All scenes are checked, whatever is wrong with those before; a scene that is wrong counts more than a failure.
static int check(const app_arguments *arguments)
{
    int worst = APP_DONE;
    for (int i = 0; i < arguments->operands.count; i++) {
        int one = check_file(arguments, arguments->operands.items[i]);
        if (one > worst) worst = one;
    }
    int written = app_finish_output();
    return worst ? worst : written;
}

static const app_option options[] = {
    {"material", APP_TEXT, offsetof(app_arguments, material), "NAME",
     "print and predict this material of the scene alone; all of it is checked"},
    {"set", APP_TEXTS, offsetof(app_arguments, sets), "PATH=VALUE", "change a value of the scene (may be repeated)"},
    APP_SANDBOX,
    {"quiet", APP_FLAG, offsetof(app_arguments, quiet), NULL, "do not print the scene"},
};

const app_command app_check = {
    "check",
    "SCENE...",
    true,
    true,
    "validate scenes, print one in full, predict its size",
    "Reads and validates scenes, meshes included, and makes their first frames, so that what a run would\n"
    "refuse is refused here, and warns of frames that will be empty. Prints the volume that each body and emitter\n"
    "asks for and gets, predicted particles, cells, memory and disk space to standard error, and a single scene in\n"
    "full (all defaults, units and help beside each value) to standard output. Of several scenes all are checked,\n"
    "whatever is wrong with those before.",
    options,
    APP_OPTION_COUNT(options),
    check};
