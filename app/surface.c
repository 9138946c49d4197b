// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo surface: from files of particles to level sets and meshes, frame by frame. Each frame depends on its own files
// and the parameters alone (world/surfacing.h), so ranges of frames may go to different machines.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "app.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "format.h"
#include "scene/scene.h"
#include "scene/section.h"
#include "scene/words.h"
#include "world/surfacing.h"

enum { MOST_SUBFRAMES = 1000 };  // three digits in the names

typedef struct item {
    char *path, *folder;  // of the points and of the results (owned)
    int64_t frame;        // -1: the file will tell
    int digits;
} item;

// A material to make surfaces of.
typedef struct material_job {
    char set[64];  // its name in files; empty: the only one, or the first of a file
    rh_surfacing_params params;
} material_job;

typedef struct job {
    const app_arguments *arguments;
    rh_lang_cache *programs;
    material_job parts[RH_MAX_MATERIALS];
    int part_count;
    item *items;  // owned, in the order of work
    int count;
    int64_t subframes;
    atomic_int *stop;
    int at;        // the item being worked on
    int64_t done;  // surfaces
    double started;
} job;

// --- parameters ------------------------------------------------------------------------------------------------------

static rh_code check_mode(const char *mode, rh_status *status)
{
    const char *const *names = rh_params_find(&rh_surfacing_table, "mode")->choices;
    char hint[320];
    int count = 0;
    for (; names[count]; count++)
        if (!strcmp(names[count], mode)) return RH_OK;
    return rh_fail(status, RH_USER, "--mode: unknown mode '%.60s'; %s", mode,
                   rh_words_suggest(mode, names, count, hint, sizeof hint));
}

// --mode and --mesh are short for settings and come before those the user spelt out. A program is no YAML and goes its
// own way.
static rh_code read_parameters(const job *j, const char *name, const rh_surfacing_params *base,
                               rh_surfacing_params *params, rh_status *status)
{
    const app_arguments *a = j->arguments;
    char mode[96];
    const char **sets = rh_alloc((size_t)(a->sets.count + 2) * sizeof *sets, "app.words", status);
    if (!sets) return RH_MEMORY;
    int count = 0;
    rh_code code = a->mode ? check_mode(a->mode, status) : RH_OK;
    if (a->mode) {
        snprintf(mode, sizeof mode, "mode=%.60s", a->mode);
        sets[count++] = mode;
    }
    if (a->mesh) sets[count++] = "mesh=true";
    for (int i = 0; i < a->sets.count; i++) sets[count++] = a->sets.items[i];
    if (code == RH_OK) code = rh_section_load(&rh_surfacing_table, name, base, sets, count, params, status);
    rh_free(sets);
    if (code == RH_OK && a->expression) {
        rh_free(params->expression);
        params->expression = rh_strdup(a->expression, "params.text", status);
        if (!params->expression) code = RH_MEMORY;
    }
    return code;
}

// `set` and `base` may be NULL; `name` is what messages call the base.
static rh_code add_part(job *j, const char *set, const char *name, const rh_surfacing_params *base, rh_status *status)
{
    material_job *one = &j->parts[j->part_count++];
    snprintf(one->set, sizeof one->set, "%.60s", set ? set : "");
    return read_parameters(j, name, base, &one->params, status);
}

// --- what to do ------------------------------------------------------------------------------------------------------

static rh_code add_item(job *j, const char *path, const char *folder, rh_status *status)
{
    item *one = &j->items[j->count];
    *one = (item){.path = rh_strdup(path, "app.files", status), .folder = rh_strdup(folder, "app.files", status)};
    one->frame = rh_surface_frame_number(path, &one->digits);
    j->count++;
    return one->path && one->folder ? RH_OK : RH_MEMORY;
}

static rh_code make_room(job *j, int count, rh_status *status)
{
    j->items = rh_alloc_zero((size_t)(count + 1) * sizeof *j->items, "app.files", status);
    return j->items ? RH_OK : RH_MEMORY;
}

static rh_code list_run(job *j, const char *points, const char *ending, const app_frames *frames, rh_status *status)
{
    char path[RH_PATH_MAX], folder[RH_PATH_MAX];
    const app_arguments *a = j->arguments;
    RH_TRY(app_path(folder, a->operand, "surface", status));
    RH_TRY(make_room(j, frames->count, status));
    for (int i = 0; i < frames->count; i++) {
        RH_TRY(app_frame_path(path, points, "points", frames->numbers[i], ending, status));
        RH_TRY(add_item(j, path, a->out ? a->out : folder, status));
    }
    return RH_OK;
}

static rh_code find_run_frames(job *j, rh_status *status)
{
    char points[RH_PATH_MAX];
    app_frames frames = {0};
    const char *ending = ".vdb";
    RH_TRY(app_path(points, j->arguments->operand, "points", status));
    RH_TRY(app_frames_list(points, "points", ending, &frames, status));
    if (frames.count == 0) RH_TRY(app_frames_list(points, "points", ending = ".ply", &frames, status));
    rh_code code = RH_OK;
    if (frames.count == 0)
        code = rh_fail(status, RH_USER, "%s: found no frames, expected points.####.vdb or .ply", points);
    if (code == RH_OK) code = app_frames_choose(&frames, &j->arguments->frames, status);
    if (code == RH_OK) code = list_run(j, points, ending, &frames, status);
    app_frames_free(&frames);
    return code;
}

// All materials of a run with several, or the one that was named, each as its section `surface` says.
static rh_code choose_materials(job *j, const rh_scene *scene, const char *path, rh_status *status)
{
    char words[RH_PATH_MAX + 80];
    int chosen = -1, count = rh_scene_material_count(scene);
    const char *name = j->arguments->material;
    if (name && rh_scene_find_material(scene, name, &chosen, status) != RH_OK)
        return rh_status_prefix(status, "--material"), RH_USER;
    RH_TRY(app_require_particles(scene, chosen, j->arguments->operand, status));
    for (int i = 0; i < count; i++) {
        const rh_material_params *m = rh_scene_material(scene, i);
        if ((name && i != chosen) || !app_has_particles(scene, i)) continue;
        if (m->surface) snprintf(words, sizeof words, "%s: materials.%s.surface", path, m->name);
        else snprintf(words, sizeof words, "%s: surface", path);
        RH_TRY(add_part(j, count > 1 ? m->name : NULL, words, rh_scene_surface(scene, i), status));
    }
    return RH_OK;
}

static rh_code prepare_run(job *j, rh_status *status)
{
    char path[RH_PATH_MAX];
    rh_scene scene;
    RH_TRY(app_run_scene(path, j->arguments->operand, ", or files of points (.vdb, .ply)", status));
    RH_TRY(app_scene_load(j->arguments, path, false, &scene, status));
    rh_code code = choose_materials(j, &scene, path, status);
    rh_scene_free(&scene);
    return code == RH_OK ? find_run_frames(j, status) : code;
}

static const char *kind_of(const char *path)
{
    static const char *const kinds[] = {".vdb", ".ply"};
    size_t length = strlen(path);
    for (int i = 0; i < 2; i++)
        if (length > 4 && !strcmp(path + length - 4, kinds[i])) return kinds[i];
    return NULL;
}

static rh_code check_file(const app_texts *files, int i, rh_status *status)
{
    const char *path = files->items[i], *first = files->items[0];
    if (app_is_folder(path))
        return rh_fail(status, RH_USER, "%s: found a folder among files, expected one run alone, or files of points",
                       path);
    if (!rh_file_exists(path))
        return rh_fail(status, RH_USER, "%s: no such file or folder, expected a run, or points as .vdb or .ply", path);
    if (!kind_of(path))
        return rh_fail(status, RH_USER, "%s: found a file of unknown kind, expected points as .vdb or .ply", path);
    if (strcmp(kind_of(path), kind_of(first)))
        return rh_fail(status, RH_USER, "found %s and %s, expected files of one kind, all .vdb or all .ply", first,
                       path);
    if (files->count > 1 && rh_surface_frame_number(path, NULL) < 0)
        return rh_fail(
            status, RH_USER,
            "%s: found no frame number in the name, expected one where there are several files, such as drop.0001%s",
            path, kind_of(path));
    return RH_OK;
}

// The folder `surface` beside the file.
static rh_code folder_beside(const char *path, char out[RH_PATH_MAX], rh_status *status)
{
    char folder[RH_PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (slash && slash - path < RH_PATH_MAX) snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return app_path(out, slash == path ? "" : folder, "surface", status);
}

static int by_folder_and_frame(const void *a, const void *b)
{
    const item *x = a, *y = b;
    int order = strcmp(x->folder, y->folder);
    return order ? order : (x->frame > y->frame) - (x->frame < y->frame);
}

static rh_code refuse_clashes(const job *j, rh_status *status)
{
    for (int i = 1; i < j->count; i++) {
        const item *a = &j->items[i - 1], *b = &j->items[i];
        if (!by_folder_and_frame(a, b))
            return rh_fail(status, RH_USER,
                           "found %s and %s, both frame %lld and bound for %s; --out DIR gives each its own folder",
                           a->path, b->path, (long long)a->frame, a->folder);
    }
    return RH_OK;
}

typedef struct identity {
    dev_t device;
    ino_t number;
} identity;

static int by_identity(const void *a, const void *b)
{
    const identity *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool identify(const char *path, identity *out)
{
    struct stat facts;
    if (stat(path, &facts) != 0) return false;
    *out = (identity){facts.st_dev, facts.st_ino};
    return true;
}

// Is a result of this item one of the files that were named as points, its own or that of another? Any ending and any
// fraction would do.
static rh_code refuse_result(const job *j, const item *one, const identity *inputs, int count, rh_status *status)
{
    static const char *const endings[] = {".vdb", ".ply", ".obj", ".vtp"};
    char path[RH_PATH_MAX];
    identity result;
    for (int64_t part = 0; part < j->subframes && one->frame >= 0; part++)
        for (int e = 0; e < 4; e++) {
            double fraction = (double)part / (double)j->subframes;
            RH_TRY(
                rh_surface_path(one->folder, "surface", one->frame, one->digits, fraction, endings[e], path, status));
            if (!identify(path, &result) || !bsearch(&result, inputs, (size_t)count, sizeof *inputs, by_identity))
                continue;
            return rh_fail(status, RH_USER,
                           "%s: is one of the files to make surfaces of, and would be replaced by one\n  --out DIR "
                           "takes another folder",
                           path);
        }
    return RH_OK;
}

// Known before the first surface is made.
static rh_code refuse_inputs(const job *j, rh_status *status)
{
    identity *inputs = rh_alloc((size_t)j->count * sizeof *inputs, "app.files", status);
    if (!inputs) return RH_MEMORY;
    int count = 0;
    for (int i = 0; i < j->count; i++) count += identify(j->items[i].path, &inputs[count]);
    qsort(inputs, (size_t)count, sizeof *inputs, by_identity);
    rh_code code = RH_OK;
    for (int i = 0; i < j->count && code == RH_OK; i++) code = refuse_result(j, &j->items[i], inputs, count, status);
    rh_free(inputs);
    return code;
}

static rh_code prepare_files(job *j, rh_status *status)
{
    const app_arguments *a = j->arguments;
    char folder[RH_PATH_MAX];
    for (int i = 0; i < a->operands.count; i++) RH_TRY(check_file(&a->operands, i, status));
    RH_TRY(add_part(j, a->material, "surface", NULL, status));
    RH_TRY(make_room(j, a->operands.count, status));
    for (int i = 0; i < a->operands.count; i++) {
        const char *path = a->operands.items[i];
        int64_t frame = rh_surface_frame_number(path, NULL);
        if (!app_range_holds(&a->frames, frame)) continue;
        RH_TRY(folder_beside(path, folder, status));
        RH_TRY(add_item(j, path, a->out ? a->out : folder, status));
    }
    if (j->count == 0)
        return rh_fail(status, RH_USER, "--frames: found none of the files in %lld-%lld", (long long)a->frames.first,
                       (long long)a->frames.last);
    qsort(j->items, (size_t)j->count, sizeof *j->items, by_folder_and_frame);
    RH_TRY(refuse_clashes(j, status));
    return refuse_inputs(j, status);
}

static rh_code prepare(job *j, rh_status *status)
{
    const app_arguments *a = j->arguments;
    j->subframes = a->subframes ? a->subframes : 1;
    if (j->subframes > MOST_SUBFRAMES)
        return rh_fail(status, RH_USER, "--subframes: found %lld, expected 1 to %d", (long long)j->subframes,
                       MOST_SUBFRAMES);
    if (a->up && strcmp(a->up, "y") && strcmp(a->up, "z"))
        return rh_fail(status, RH_USER, "--up: found \"%.40s\", expected y or z", a->up);
    if (a->out && rh_file_exists(a->out) && !app_is_folder(a->out))
        return rh_fail(status, RH_USER, "--out: %s is a file, expected a folder or nothing", a->out);
    if (a->operands.count == 1 && app_is_folder(a->operand)) return prepare_run(j, status);
    return prepare_files(j, status);
}

// --- doing it --------------------------------------------------------------------------------------------------------

static void print_line(const job *j, const material_job *p, const rh_surface_result *r, double fraction)
{
    app_text particles, droplets, voxels, polygons, wall;
    char between[8] = "";
    if (j->arguments->quiet) return;
    if (fraction > 0) snprintf(between, sizeof between, ".%03d", (int)(1000 * fraction + 0.5));
    fprintf(stderr, "frame %lld%s%s%s  particles %s  droplets %s  voxels %s", (long long)r->frame, between,
            p->set[0] ? "  " : "", p->set, app_format_count(r->particles, &particles),
            app_format_count(r->report.droplets, &droplets), app_format_count(r->voxels, &voxels));
    if (p->params.mesh) fprintf(stderr, "  polygons %s", app_format_count(r->polygons, &polygons));
    fprintf(stderr, "  %s\n", app_format_duration(r->seconds, &wall));
}

// All that was measured, one line of JSON on standard output.
static void print_json(const job *j, const material_job *p, const rh_surface_result *r, double fraction)
{
    const rh_surfacing_report *m = &r->report;
    if (!j->arguments->json) return;
    printf("{\"frame\":%lld,", (long long)r->frame);
    if (p->set[0]) printf("\"material\":\"%s\",", p->set);
    printf("\"fraction\":%g,\"particles\":%lld,\"used\":%lld,\"bad_positions\":%lld,\"bad_radii\":%lld,"
           "\"radius\":%.9g,\"voxel\":%.9g,",
           fraction, (long long)r->particles, (long long)m->points, (long long)m->bad_positions,
           (long long)m->bad_radii, m->radius, m->voxel);
    printf("\"deep\":%lld,\"droplets\":%lld,\"ellipsoids\":%lld,\"k_s\":{\"least\":%.6g,\"mean\":%.6g,\"most\":%.6g,"
           "\"global\":%.6g},\"neighbours\":[",
           (long long)m->deep, (long long)m->droplets, (long long)m->ellipsoids, m->k_min, m->k_mean, m->k_max,
           m->k_global);
    for (int i = 0; i < RH_SURFACING_HISTOGRAM; i++) printf("%s%lld", i ? "," : "", (long long)m->neighbours[i]);
    printf("],\"leaves\":%lld,\"voxels\":%lld,\"volume\":%.9g,\"bytes\":%lld,\"vertices\":%lld,\"polygons\":%lld,"
           "\"stages\":{",
           (long long)m->leaves, (long long)r->voxels, r->volume, (long long)m->bytes, (long long)r->vertices,
           (long long)r->polygons);
    for (int i = 0; i < m->stage_count; i++)
        printf("%s\"%s\":%.6f", i ? "," : "", m->stage_names[i], m->stage_seconds[i]);
    printf("},\"seconds\":%.6f}\n", r->seconds);
    fflush(stdout);
}

// One frame of one material, whole and at the times in between when there is a next one.
static rh_code do_part(job *j, const item *one, const material_job *p, rh_status *status)
{
    char next[RH_PATH_MAX];
    int64_t parts = j->subframes > 1 && rh_surface_next_file(one->path, next) ? j->subframes : 1;
    for (int64_t i = 0; i < parts; i++) {
        if (atomic_load(j->stop)) return rh_fail(status, RH_STOPPED, "stopped on request");
        rh_surface_result result;
        rh_surface_task task = {.points = one->path,
                                .set = p->set[0] ? p->set : NULL,
                                .next = parts > 1 ? next : NULL,
                                .fraction = (double)i / (double)parts,
                                .folder = one->folder,
                                .frame = one->frame,
                                .digits = one->digits,
                                .programs = j->programs,
                                .up = j->arguments->up ? j->arguments->up[0] : 0};
        RH_TRY(rh_surface_frame(&p->params, &task, &result, status));
        print_line(j, p, &result, task.fraction);
        print_json(j, p, &result, task.fraction);
        j->done++;
    }
    return RH_OK;
}

static rh_code do_item(job *j, const item *one, rh_status *status)
{
    for (int i = 0; i < j->part_count; i++) RH_TRY(do_part(j, one, &j->parts[i], status));
    return RH_OK;
}

static void print_summary(const job *j, bool stopped)
{
    app_text wall, each;
    double seconds = rh_seconds() - j->started;
    if (j->arguments->quiet) return;
    fprintf(stderr, "%s: %lld surface%s in %s (%s each)\n", stopped ? "stopped" : "done", (long long)j->done,
            j->done == 1 ? "" : "s", app_format_duration(seconds, &wall),
            app_format_duration(j->done ? seconds / (double)j->done : -1, &each));
    for (int i = 0; i < j->count; i++)
        if (i == 0 || strcmp(j->items[i].folder, j->items[i - 1].folder))
            fprintf(stderr, "  surfaces    %s\n", j->items[i].folder);
    if (stopped && j->items[j->at].frame >= 0)
        fprintf(stderr, "  go on       the same command with --frames %lld-%lld\n", (long long)j->items[j->at].frame,
                (long long)j->items[j->count - 1].frame);
}

static rh_code work(job *j, rh_status *status)
{
    RH_TRY(prepare(j, status));
    bool programs = false;
    for (int i = 0; i < j->part_count; i++) programs |= j->parts[i].params.expression != NULL;
    if (programs) RH_TRY(rh_lang_cache_create(j->part_count, &j->programs, status));
    rh_threads_set((int)j->arguments->threads);
    j->stop = app_stop_on_signals("this frame");
    j->started = rh_seconds();
    rh_code code = RH_OK;
    for (j->at = 0; j->at < j->count; j->at++) {
        code = do_item(j, &j->items[j->at], status);
        if (code != RH_OK) break;
    }
    if (code == RH_OK || code == RH_STOPPED) print_summary(j, code == RH_STOPPED);
    return code;
}

static int surface(const app_arguments *arguments)
{
    rh_status status = {0};
    job j = {.arguments = arguments};
    work(&j, &status);
    rh_lang_cache_free(j.programs);
    for (int i = 0; i < j.part_count; i++) rh_params_free(&rh_surfacing_table, &j.parts[i].params);
    for (int i = 0; i < j.count; i++) {
        rh_free(j.items[i].path);
        rh_free(j.items[i].folder);
    }
    rh_free(j.items);
    int written = app_finish_output();
    return status.code == RH_OK ? written : app_report(&status);
}

#define AT(field) offsetof(app_arguments, field)
static const app_option options[] = {
    {"mode", APP_TEXT, AT(mode), "MODE", "ellipsoid (default), sphere, averaged, solenthaler or density"},
    {"mesh", APP_FLAG, AT(mesh), NULL, "write a mesh too (PLY; --set mesh_format=obj or vtp for others)"},
    {"expression", APP_TEXT, AT(expression), "CODE",
     "a program that runs on the particles first; docs/expressions.md has the language"},
    {"frames", APP_RANGE, AT(frames), "LIST", "frames to do, such as 5, 1-48 or 1,10,20-30; without it all"},
    {"material", APP_TEXT, AT(material), "NAME",
     "of this material of the run, or points grid of a file; without it all of a run, the first of a file"},
    {"subframes", APP_COUNT, AT(subframes), "N",
     "N surfaces a frame, at 0, 1/N, 2/N ... of the way to the next, for motion blur"},
    {"up", APP_TEXT, AT(up), "AXIS", "y or z: what points up in the results; without it as in the points"},
    {"out", APP_TEXT, AT(out), "DIR", "folder of the results; without it RUN/surface, or surface beside each file"},
    {"set", APP_TEXTS, AT(sets), "NAME=VALUE",
     "change a parameter, such as voxel=0.01 (may be repeated); \"rheo doc surface\" lists them"},
    {"threads", APP_COUNT, AT(threads), "N", "threads to use; without it all cores. The result does not depend on it"},
    APP_SANDBOX,
    {"json", APP_FLAG, AT(json), NULL, "print what was measured of each frame as a line of JSON on standard output"},
    {"quiet", APP_FLAG, AT(quiet), NULL, "no progress, only warnings and errors"},
};

const app_command app_surface = {
    "surface",
    "RUN|FILE...",
    true,
    true,
    "particles to level sets and meshes",
    "Makes the surface of the particles of a run, or of points files of any origin (.vdb, .ply), as\n"
    "surface.####.vdb: a level set \"surface\", the velocity \"vel\" and the attributes asked for. For a\n"
    "run the parameters start from the section `surface` of its scene, or of the material. Frames are independent:\n"
    "ranges done on different machines give the same bytes. Control-C stops after the running frame.",
    options,
    APP_OPTION_COUNT(options),
    surface};
