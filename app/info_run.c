// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo info RUN: the state of a run folder and the statistics of its log.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app.h"
#include "base/memory.h"
#include "format.h"
#include "info.h"
#include "log_reader.h"
#include "scene/scene.h"

typedef struct statistic {
    double min, max, sum, last;
    int64_t count;
} statistic;

static void add(statistic *s, double value)
{
    if (s->count == 0 || value < s->min) s->min = value;
    if (s->count == 0 || value > s->max) s->max = value;
    s->sum += value;
    s->last = value;
    s->count++;
}

static void row(const char *name, const char *value) { printf("  %-12s %s\n", name, value); }

static void print_statistic(const char *name, const statistic *s)
{
    printf("  %-12s %12.6g %12.6g %12.6g %12.6g\n", name, s->min, s->sum / (double)s->count, s->max, s->last);
}

static void print_statistics(const app_log *log)
{
    statistic substeps = {0}, iterations = {0}, dt = {0}, speed = {0}, error = {0};
    int64_t in_frame = 0;
    for (int64_t i = 0; i < log->count; i++) {
        const app_log_step *step = &log->steps[i];
        add(&iterations, step->iterations);
        add(&dt, step->dt);
        add(&speed, step->max_speed);
        add(&error, 100 * step->volume_error);
        in_frame++;
        // The frame being worked on is not counted until it is over.
        if (i + 1 < log->count && log->steps[i + 1].frame == step->frame) continue;
        if (i + 1 < log->count || substeps.count == 0) add(&substeps, (double)in_frame);
        in_frame = 0;
    }
    printf("\n  %-12s %12s %12s %12s %12s\n", "", "least", "mean", "most", "last");
    print_statistic("sub-steps", &substeps);
    print_statistic("iterations", &iterations);
    print_statistic("time step s", &dt);
    print_statistic("speed m/s", &speed);
    print_statistic("volume %", &error);
}

// Of ends of frames, which alone have it: a line with a peak of memory.
static void print_balance(const app_log *log)
{
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {{"kinetic J", offsetof(app_log_step, kinetic_energy)},
                {"potential J", offsetof(app_log_step, potential_energy)},
                {"put in J", offsetof(app_log_step, energy_put_in)},
                {"solids J", offsetof(app_log_step, work_solids)},
                {"inflows J", offsetof(app_log_step, work_inflows)},
                {"tension J", offsetof(app_log_step, work_tension)},
                {"forces J", offsetof(app_log_step, work_forces)},
                {"programs J", offsetof(app_log_step, work_programs)},
                {"gained J", offsetof(app_log_step, energy_gained)},
                {"momentum x", offsetof(app_log_step, momentum_x)},
                {"momentum y", offsetof(app_log_step, momentum_y)},
                {"momentum z", offsetof(app_log_step, momentum_z)},
                {"pushed x", offsetof(app_log_step, pushed_x)},
                {"pushed y", offsetof(app_log_step, pushed_y)},
                {"pushed z", offsetof(app_log_step, pushed_z)}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        statistic s = {0};
        for (int64_t i = 0; i < log->count; i++) {
            double value;
            memcpy(&value, (const char *)&log->steps[i] + rows[k].offset, sizeof value);
            if (log->steps[i].peak > 0) add(&s, value);
        }
        if (s.count == 0) return;
        if (k == 0) printf("\n  %-12s %12s %12s %12s %12s\n", "frame ends", "least", "mean", "most", "last");
        bool always = k < 3 || strncmp(rows[k].name, "gained", 6) == 0;
        if (always || s.min != 0 || s.max != 0) print_statistic(rows[k].name, &s);
    }
}

static void print_stages(const app_log *log)
{
    double total = 0, known = 0, surfaces = 0, compiling = 0, sums[APP_MOST_STAGES] = {0};
    app_text text;
    for (int64_t i = 0; i < log->count; i++) {
        total += log->steps[i].seconds;
        surfaces += log->steps[i].surface_seconds;
        compiling = fmax(compiling, log->steps[i].compile_seconds);
        for (int k = 0; k < log->stage_count; k++) sums[k] += log->steps[i].stages[k];
    }
    double share = total > 0 ? 100 / total : 0;
    printf("\n  %-20s %12s %8s %12s\n", "wall time by stage", "in all", "share", "a step");
    for (int k = 0; k < log->stage_count; k++) {
        known += sums[k];
        printf("  %-20s %12s %7.1f%% %9.2f ms\n", log->stage_names[k], app_format_duration(sums[k], &text),
               share * sums[k], 1e3 * sums[k] / (double)log->count);
    }
    double rest = fmax(total - known, 0);
    printf("  %-20s %12s %7.1f%% %9.2f ms\n", "(other)", app_format_duration(rest, &text), share * rest,
           1e3 * rest / (double)log->count);
    printf("  %-20s %12s %7.1f%% %9.2f ms\n", "all steps", app_format_duration(total, &text), share * total,
           1e3 * total / (double)log->count);
    if (surfaces > 0) printf("  %-20s %12s\n", "surfaces, besides", app_format_duration(surfaces, &text));
    if (compiling > 0) printf("  %-20s %9.3f s\n", "compiling programs", compiling);
}

static int by_peak(const void *a, const void *b)
{
    const app_log_label *x = a, *y = b;
    if (x->peak != y->peak) return x->peak < y->peak ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void print_memory_row(const char *name, double bytes, double particles)
{
    printf("  %-24s %12.2f MB", name, 1e-6 * bytes);
    if (particles > 0) printf(" %10.2f B", bytes / particles);
    printf("\n");
}

// Labels peak at different moments, so their sum is more than was ever in use at once. What is small is summed up.
static void print_memory(app_log *log)
{
    statistic particles = {0}, peak = {0}, resident = {0};
    double sum = 0, rest = 0;
    for (int64_t i = 0; i < log->count; i++) {
        add(&particles, log->steps[i].particles);
        add(&peak, log->steps[i].peak);
        add(&resident, log->steps[i].resident);
    }
    if (log->label_count == 0 || peak.max <= 0) return;
    qsort(log->labels, (size_t)log->label_count, sizeof *log->labels, by_peak);
    printf("\n  %-24s %15s %12s\n", "memory by label", "peak", "a particle");
    for (int i = 0; i < log->label_count; i++) {
        sum += log->labels[i].peak;
        if (log->labels[i].peak < 1e-3 * peak.max) rest += log->labels[i].peak;
        else print_memory_row(log->labels[i].name, log->labels[i].peak, particles.max);
    }
    if (rest > 0) print_memory_row("(smaller ones)", rest, particles.max);
    print_memory_row("sum of the peaks", sum, particles.max);
    print_memory_row("peak, all at one time", peak.max, particles.max);
    print_memory_row("process, with libraries", resident.max, particles.max);
}

static void print_last_step(const app_log *log)
{
    const app_log_step *last = &log->steps[log->count - 1];
    app_text text;
    char line[128];
    row("particles", app_format_count((int64_t)last->particles, &text));
    snprintf(line, sizeof line, "%s in %.0f tiles", app_format_count((int64_t)last->cells, &text), last->tiles);
    row("cells", line);
    snprintf(line, sizeof line, "%g s in %lld steps", last->time, (long long)log->count);
    row("simulated", line);
    row("memory", app_format_bytes((int64_t)last->memory, &text));
}

static rh_code print_log(const char *run, rh_status *status)
{
    char path[RH_PATH_MAX];
    app_log log;
    RH_TRY(app_path(path, run, "log.jsonl", status));
    if (!rh_file_exists(path)) {
        row("log", "none yet");
        return RH_OK;
    }
    RH_TRY(app_log_read(path, &log, status));
    if (log.count) {
        print_last_step(&log);
        print_statistics(&log);
        print_balance(&log);
        print_stages(&log);
        print_memory(&log);
    } else {
        row("log", "no step yet");
    }
    if (log.bad_lines)
        rh_log(RH_LOG_WARNING, "%s: passed over %lld lines that are not log entries", path, (long long)log.bad_lines);
    app_log_free(&log);
    return RH_OK;
}

// The number behind the last "NAME.what": of the log; negative when there is none.
static double last_of(const char *log, const char *name, const char *what)
{
    char key[96];
    double value = -1;
    snprintf(key, sizeof key, "\"%.40s.%s\":", name, what);
    for (const char *at = log; (at = strstr(at, key)); at += strlen(key)) value = strtod(at + strlen(key), NULL);
    return value;
}

// `only`: of one; -1 = of all.
static void print_materials(const char *run, const rh_scene *scene, int only)
{
    char path[RH_PATH_MAX], line[200], *log = NULL;
    size_t bytes;
    bool read = app_path(path, run, "log.jsonl", NULL) == RH_OK && rh_file_exists(path) &&
                rh_file_read(path, (size_t)4 << 30, &log, &bytes, NULL) == RH_OK;
    for (int i = 0; i < rh_scene_material_count(scene); i++) {
        const rh_material_params *m = rh_scene_material(scene, i);
        if (only >= 0 && i != only) continue;
        app_text count;
        double particles = read ? last_of(log, m->name, "particles") : -1;
        int used = snprintf(line, sizeof line, "%s, %s", m->name, rh_physics_tables[m->physics.kind]->name);
        if (particles >= 0)
            snprintf(line + used, sizeof line - (size_t)used, ": %s particles, %.0f steps, volume error %.3g",
                     app_format_count((int64_t)particles, &count), last_of(log, m->name, "steps"),
                     last_of(log, m->name, "volume_error"));
        row(only >= 0 ? "material" : i ? "" : "materials", line);
    }
    rh_free(log);
}

static void print_scene(const char *run, const rh_scene *scene)
{
    char line[128];
    row("title", scene->title ? scene->title : "(none)");
    snprintf(line, sizeof line, "%lldD, cell %g m, %g frames a second", (long long)scene->dimension, scene->cell,
             scene->frames.fps);
    row("scene", line);
    if (scene->materials.count) print_materials(run, scene, -1);
}

// `material`: of a run with several, and its files have the name; else NULL.
static rh_code print_surfaces_of(const char *run, const char *material, rh_status *status)
{
    char path[RH_PATH_MAX], line[160], stem[80];
    app_frames frames;
    app_text bytes;
    snprintf(stem, sizeof stem, "surface%s%.60s", material ? "." : "", material ? material : "");
    RH_TRY(app_path(path, run, "surface", status));
    RH_TRY(app_frames_list(path, stem, NULL, &frames, status));
    if (frames.count) {
        snprintf(line, sizeof line, "%s%s%lld to %lld", material ? material : "", material ? ": " : "",
                 (long long)frames.numbers[0], (long long)frames.numbers[frames.count - 1]);
        row("surfaces", line);
        snprintf(line, sizeof line, "%d frame%s in %d file%s, %s", frames.count, frames.count == 1 ? "" : "s",
                 frames.files, frames.files == 1 ? "" : "s", app_format_bytes(frames.bytes, &bytes));
        row("", line);
    }
    app_frames_free(&frames);
    return RH_OK;
}

static rh_code print_fields(const char *run, rh_status *status)
{
    char path[RH_PATH_MAX], line[128];
    app_frames frames;
    app_text bytes;
    RH_TRY(app_path(path, run, "fields", status));
    if (!rh_file_exists(path)) return RH_OK;
    RH_TRY(app_frames_list(path, "fields", NULL, &frames, status));
    if (frames.count) {
        snprintf(line, sizeof line, "%lld to %lld, %s", (long long)frames.numbers[0],
                 (long long)frames.numbers[frames.count - 1], app_format_bytes(frames.bytes, &bytes));
        row("fields", line);
    }
    app_frames_free(&frames);
    return RH_OK;
}

// What RUN/from.txt says: which frames of other runs this one stood on. Only the runs themselves and how many.
static rh_code print_bases(const char *run, rh_status *status)
{
    char path[RH_PATH_MAX], *text, line[512];
    size_t bytes;
    RH_TRY(app_path(path, run, "from.txt", status));
    if (!rh_file_exists(path)) return RH_OK;
    RH_TRY(rh_file_read(path, (size_t)64 << 20, &text, &bytes, status));
    for (char *at = text, *end; at < text + bytes; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + bytes - at));
        if (!end) break;
        *end = 0;
        if (strncmp(at, "from ", 5) != 0) continue;
        int frames = 0;
        for (char *next = end + 1; next < text + bytes && *next == ' ';) {
            frames++;
            next = memchr(next, '\n', (size_t)(text + bytes - next));
            if (!next++) break;
        }
        snprintf(line, sizeof line, "%.400s %d", at + 5, frames);
        row("from", line);
    }
    rh_free(text);
    return RH_OK;
}

static rh_code print_surfaces(const char *run, const rh_scene *scene, rh_status *status)
{
    RH_TRY(print_surfaces_of(run, NULL, status));
    for (int i = 0; scene && scene->materials.count > 1 && i < scene->materials.count; i++)
        RH_TRY(print_surfaces_of(run, rh_scene_material(scene, i)->name, status));
    return RH_OK;
}

// `scene`: NULL when it cannot be read.
static rh_code print_files(const char *run, const rh_scene *scene, rh_status *status)
{
    int64_t last = scene ? scene->frames.last : 0;
    char path[RH_PATH_MAX], line[128];
    app_frames frames;
    app_text text;
    RH_TRY(app_path(path, run, "points", status));
    RH_TRY(app_frames_list(path, "points", NULL, &frames, status));
    if (frames.count == 0) row("frames", "none yet");
    else {
        snprintf(line, sizeof line, "%lld to %lld", (long long)frames.numbers[0],
                 (long long)frames.numbers[frames.count - 1]);
        row("frames", line);
        if (last) {
            snprintf(line, sizeof line, "%d files, the scene ends at frame %lld", frames.count, (long long)last);
            row("", line);
        }
    }
    app_frames_free(&frames);
    RH_TRY(print_fields(run, status));
    RH_TRY(print_surfaces(run, scene, status));
    RH_TRY(print_bases(run, status));
    int64_t bytes;
    RH_TRY(app_path(path, run, "checkpoint", status));
    int count = app_count_files(path, ".h5", &bytes);
    snprintf(line, sizeof line, "%d, %s", count, app_format_bytes(bytes, &text));
    row("checkpoints", count ? line : "none");
    row("disk", app_format_bytes(app_disk_use(run), &text));
    return RH_OK;
}

static rh_code print_probes(const char *run, const rh_scene *scene, int only, rh_status *status)
{
    // Those of the first material have no name in their file's.
    for (int i = 0; i < (scene ? rh_scene_material_count(scene) : 1); i++)
        if (only < 0 || i == only) RH_TRY(app_info_probes(run, i ? rh_scene_material(scene, i)->name : NULL, status));
    return RH_OK;
}

// What concerns one material of a run.
static rh_code print_one(const char *run, const rh_scene *scene, const char *name, rh_status *status)
{
    int index;
    if (!scene) return rh_fail(status, RH_USER, "--material: the run's scene is not readable");
    if (rh_scene_find_material(scene, name, &index, status) != RH_OK) return rh_status_prefix(status, "--material");
    printf("%s\n", run);
    print_materials(run, scene, index);
    RH_TRY(print_surfaces_of(run, scene->materials.count > 1 ? name : NULL, status));
    return print_probes(run, scene, index, status);
}

static rh_code print_all(const char *run, const rh_scene *scene, rh_status *status)
{
    printf("%s\n", run);
    if (scene) print_scene(run, scene);
    RH_TRY(print_files(run, scene, status));
    RH_TRY(print_log(run, status));
    RH_TRY(app_info_solids(run, scene, status));
    return print_probes(run, scene, -1, status);
}

// A scene that this version cannot read any more must not hide the rest of the folder.
rh_code app_info_run(const char *run, const char *material, rh_status *status)
{
    char path[RH_PATH_MAX];
    rh_status why = {0};
    rh_scene scene;
    RH_TRY(app_run_scene(path, run, "", status));
    bool known = rh_scene_load(path, NULL, 0, &scene, &why) == RH_OK;
    if (!known) rh_log(RH_LOG_WARNING, "the run's scene is not readable: %s", why.message);
    rh_code code = material ? print_one(run, known ? &scene : NULL, material, status)
                            : print_all(run, known ? &scene : NULL, status);
    if (known) rh_scene_free(&scene);
    return code;
}
