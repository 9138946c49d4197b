// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Lines are appended to files that stay open and are flushed at frames; frames and checkpoints are written whole under
// another name and renamed (io/file.h). Nothing is removed or replaced that Rheo has not written (io/provenance.h).
#include "world/output.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"
#include "io/provenance.h"
#include "io/ply.h"
#include "io/surface_mesh_file.h"
#include "io/vdb.h"
#include "io/vdb_fields.h"
#include "world/probe_file.h"
#include "world/scene_record.h"
#include "world/surfacing.h"

static rh_code join(char out[RH_PATH_MAX], const char *folder, const char *name, rh_status *status)
{
    int n = snprintf(out, RH_PATH_MAX, "%s/%s", folder, name);
    return n > 0 && n < RH_PATH_MAX - 32
               ? RH_OK
               : rh_fail(status, RH_USER, "the path of the run folder is too long: %.200s ...", folder);
}

static int64_t line_step(const char *line)
{
    const char *at = strstr(line, "\"step\":");
    return at ? strtoll(at + 7, NULL, 10) : INT64_MAX;
}

// Rewrites the log without the steps after `last_step` and without a torn last line.
static rh_code trim_log(const char *path, int64_t last_step, rh_status *status)
{
    if (!rh_file_exists(path)) return RH_OK;
    if (last_step == 0)
        return unlink(path) == 0 ? RH_OK : rh_fail(status, RH_IO, "cannot remove %s: %s", path, strerror(errno));
    char *text;
    size_t bytes, kept = 0;
    RH_TRY(rh_file_read(path, (size_t)4 << 30, &text, &bytes, status));
    for (size_t at = 0; at < bytes;) {
        char *end = memchr(text + at, '\n', bytes - at);
        if (!end) break;
        *end = 0;
        size_t length = (size_t)(end - (text + at)) + 1;
        bool keep = line_step(text + at) <= last_step;
        *end = '\n';
        if (keep) memmove(text + kept, text + at, length);
        if (keep) kept += length;
        at += length;
    }
    rh_code code = rh_file_write(path, text, kept, status);
    rh_free(text);
    return code;
}

// The first file of a folder that has a name of ours and is not ours; what a run would write over. False when there is
// none.
static bool foreign_frame(const char *folder, const char *part, char path[RH_PATH_MAX])
{
    bool found = false;
    char inside[RH_PATH_MAX];
    DIR *dir = join(inside, folder, part, NULL) == RH_OK ? opendir(inside) : NULL;
    for (struct dirent *e; dir && !found && (e = readdir(dir));)
        found = rh_provenance_frame_name(e->d_name, part, NULL) && join(path, inside, e->d_name, NULL) == RH_OK &&
                rh_provenance_may_replace(path, NULL) != RH_OK;
    if (dir) closedir(dir);
    return found;
}

// A run that wrote into the folder it stands on would take its own frames for its base's; with --force it removed the
// base before it asked for its first frame.
static rh_code refuse_own_base(const char *folder, const rh_scene *scene, rh_status *status)
{
    struct stat own, base;
    const rh_from_params *from = scene->from.items;
    if (scene->from.count == 0 || stat(folder, &own) != 0) return RH_OK;
    for (int i = 0; i < scene->from.count; i++)
        if (stat(from[i].run, &base) == 0 && own.st_dev == base.st_dev && own.st_ino == base.st_ino)
            return rh_fail(status, RH_USER,
                           "%s: '%s' is the folder that this run would write to, expected another one (--out DIR)",
                           rh_scene_place(scene, from[i].run), from[i].name);
    return RH_OK;
}

rh_code rh_output_check(const char *folder, const rh_scene *scene, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(refuse_own_base(folder, scene, status));
    RH_TRY(rh_scene_record_check(folder, status));
    RH_TRY(join(path, folder, "log.jsonl", status));
    RH_TRY(rh_provenance_may_replace(path, status));
    for (int i = 0; scene->probes.count && i < rh_scene_material_count(scene); i++)
        RH_TRY(rh_probe_file_check(folder, i ? rh_scene_material(scene, i)->name : NULL, status));
    if (foreign_frame(folder, "points", path)) return rh_provenance_may_replace(path, status);
    RH_TRY(join(path, folder, "from.txt", status));
    if (scene->from.count) RH_TRY(rh_provenance_may_replace(path, status));
    if (foreign_frame(folder, "fields", path)) return rh_provenance_may_replace(path, status);
    if (rh_scene_surfaces_while_running(scene) && foreign_frame(folder, "surface", path))
        return rh_provenance_may_replace(path, status);
    return RH_OK;
}

static void set_folder(rh_output *output, const rh_scene *scene, const char *folder, int64_t last_frame)
{
    *output = (rh_output){.scene = scene, .digits = 4};
    for (int64_t n = 10000; n <= last_frame && output->digits < 18; n *= 10) output->digits++;
    snprintf(output->folder, sizeof output->folder, "%s", folder);
}

rh_code rh_output_reopen(rh_output *output, const rh_scene *scene, const char *folder, int64_t last_frame,
                         rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(join(path, folder, "", status));
    set_folder(output, scene, folder, last_frame);
    return RH_OK;
}

rh_code rh_output_open(rh_output *output, const rh_scene *scene, const char *folder, int64_t last_frame,
                       int64_t last_step, bool resumed, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(join(path, folder, "", status));
    set_folder(output, scene, folder, last_frame);
    RH_TRY(rh_output_check(folder, scene, status));
    const char *const parts[] = {"points", "checkpoint", "surface"};
    int part_count = rh_scene_surfaces_while_running(scene) ? 3 : 2;
    RH_TRY(rh_folder_make(folder, status));
    rh_folder_sweep(folder);
    for (int i = 0; i < part_count; i++) {
        RH_TRY(join(path, folder, parts[i], status));
        RH_TRY(rh_folder_make(path, status));
        rh_folder_sweep(path);
    }
    RH_TRY(join(path, folder, "fields", status));
    if (rh_file_exists(path)) rh_folder_sweep(path);  // made with the first field, if there is one
    RH_TRY(rh_scene_record_write(folder, scene, resumed, status));
    RH_TRY(join(path, folder, "log.jsonl", status));
    RH_TRY(trim_log(path, last_step, status));
    output->log = fopen(path, "a");
    return output->log ? RH_OK : rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
}

// The first has no name: that is the file of a run with one material.
static const char *probes_name(const rh_output *output, int material)
{
    return material ? rh_scene_material(output->scene, material)->name : NULL;
}

rh_code rh_output_open_probes(rh_output *output, int material, const rh_probes *probes, double time, bool begun,
                              rh_status *status)
{
    return rh_probe_file_open(output->folder, probes_name(output, material), probes, time, begun,
                              &output->probes[material], status);
}

rh_code rh_output_probes(rh_output *output, int material, const rh_probes *probes, rh_status *status)
{
    return output->probes[material] ? rh_probe_file_write(output->probes[material], probes, status) : RH_OK;
}

rh_code rh_output_flush(rh_output *output, rh_status *status)
{
    for (int i = 0; i < RH_MAX_MATERIALS; i++)
        if (output->probes[i] && fflush(output->probes[i]) != 0)
            return rh_fail(status, RH_IO, "cannot write %s/probes.csv: %s", output->folder, strerror(errno));
    return RH_OK;
}

void rh_output_close(rh_output *output)
{
    if (output->log) fclose(output->log);
    for (int i = 0; i < RH_MAX_MATERIALS; i++) {
        if (output->probes[i]) fclose(output->probes[i]);
        output->probes[i] = NULL;
    }
    output->log = NULL;
}

// `set`: of a set of several in files of their own; NULL = of all, or of the only one.
static rh_code points_path(const rh_output *output, const char *set, int64_t frame, const char *ending,
                           char path[RH_PATH_MAX], rh_status *status)
{
    char name[160];
    snprintf(name, sizeof name, "points/points.%s%s%0*lld%s", set ? set : "", set ? "." : "", output->digits,
             (long long)frame, ending);
    return join(path, output->folder, name, status);
}

// The number of digits differs between runs.
static bool part_exists(const char *folder, const char *part, const char *set, int64_t frame, const char *ending)
{
    struct stat facts;
    for (int digits = 4; digits <= 18; digits++) {
        char path[RH_PATH_MAX];
        int n = snprintf(path, sizeof path, "%s/%s/%s%s%s.%0*lld%s", folder, part, part, set ? "." : "", set ? set : "",
                         digits, (long long)frame, ending);
        if (n > 0 && n < RH_PATH_MAX && stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0)
            return true;
    }
    return false;
}

bool rh_output_has_frame(const char *folder, const rh_scene *scene, int64_t frame)
{
    int count = rh_scene_material_count(scene);
    char path[RH_PATH_MAX];
    bool fields = join(path, folder, "fields", NULL) == RH_OK && rh_file_exists(path);
    if (fields && !part_exists(folder, "fields", NULL, frame, ".vdb")) return false;
    if (scene->output.vdb && !part_exists(folder, "points", NULL, frame, ".vdb")) return false;
    for (int i = 0; scene->output.ply && i < count; i++)
        if (!part_exists(folder, "points", count > 1 ? rh_scene_material(scene, i)->name : NULL, frame, ".ply"))
            return false;
    return true;
}

bool rh_output_has_surface(const char *folder, const rh_scene *scene, int64_t frame)
{
    int count = rh_scene_material_count(scene);
    for (int i = 0; i < count; i++) {
        const rh_surfacing_params *p = rh_scene_surface(scene, i);
        if (!p->while_running) continue;
        const char *name = count > 1 ? rh_scene_material(scene, i)->name : NULL;
        if (p->vdb && !part_exists(folder, "surface", name, frame, ".vdb")) return false;
        if (p->mesh && !part_exists(folder, "surface", name, frame, rh_surface_mesh_endings[p->mesh_format]))
            return false;
    }
    return true;
}

rh_code rh_output_frame(const rh_output *output, const rh_frame_set *sets, int count, const rh_frame_info *info,
                        rh_status *status)
{
    char path[RH_PATH_MAX];
    if (output->scene->output.vdb) {
        RH_TRY(points_path(output, NULL, info->frame, ".vdb", path, status));
        RH_TRY(rh_vdb_write_sets(path, sets, count, info, status));
    }
    for (int i = 0; output->scene->output.ply && i < count; i++) {
        RH_TRY(points_path(output, count > 1 ? sets[i].name : NULL, info->frame, ".ply", path, status));
        RH_TRY(rh_ply_write_points(path, sets[i].points, info, status));
    }
    return RH_OK;
}

rh_code rh_output_fields(const rh_output *output, const rh_owned_fields *fields, int count, const rh_frame_info *info,
                         rh_status *status)
{
    char path[RH_PATH_MAX], name[64];
    if (!count) return RH_OK;
    RH_TRY(join(path, output->folder, "fields", status));
    RH_TRY(rh_folder_make(path, status));
    snprintf(name, sizeof name, "fields/fields.%0*lld.vdb", output->digits, (long long)info->frame);
    RH_TRY(join(path, output->folder, name, status));
    return rh_vdb_write_fields(path, fields, count, info, status);
}

rh_code rh_output_bases(const rh_output *output, const char *text, bool first, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(join(path, output->folder, "from.txt", status));
    if (first) return rh_file_write(path, text, strlen(text), status);
    FILE *file = fopen(path, "ae");
    bool good = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0) good = false;
    return good ? RH_OK : rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
}

// Of files in a folder of the run whose names have this frame's number between dots, as ".0012.".
static int64_t bytes_of_frame(const rh_output *output, const char *part, const char *number)
{
    char path[RH_PATH_MAX], name[RH_PATH_MAX];
    DIR *dir = join(path, output->folder, part, NULL) == RH_OK ? opendir(path) : NULL;
    int64_t sum = 0;
    if (!dir) return 0;
    for (struct dirent *e; (e = readdir(dir));) {
        struct stat facts;
        if (!strstr(e->d_name, number) || snprintf(name, sizeof name, "%s/%s", path, e->d_name) >= RH_PATH_MAX)
            continue;
        if (stat(name, &facts) == 0 && S_ISREG(facts.st_mode)) sum += (int64_t)facts.st_size;
    }
    closedir(dir);
    return sum;
}

int64_t rh_output_frame_bytes(const rh_output *output, int64_t frame)
{
    char number[32];
    snprintf(number, sizeof number, ".%0*lld.", output->digits, (long long)frame);
    return bytes_of_frame(output, "points", number) + bytes_of_frame(output, "fields", number) +
           bytes_of_frame(output, "surface", number);
}

rh_code rh_output_debug(const rh_output *output, const rh_points *points, const rh_frame_info *info,
                        char path[RH_PATH_MAX], rh_status *status)
{
    char name[64];
    RH_TRY(join(path, output->folder, "debug", status));
    RH_TRY(rh_folder_make(path, status));
    snprintf(name, sizeof name, "debug/points.%0*lld.ply", output->digits, (long long)info->frame);
    RH_TRY(join(path, output->folder, name, status));
    return rh_ply_write_points(path, points, info, status);
}

rh_code rh_output_surface(const rh_output *output, int64_t frame, int material, rh_lang_cache *programs,
                          double *seconds, rh_status *status)
{
    bool several = rh_scene_material_count(output->scene) > 1;
    char points[RH_PATH_MAX], folder[RH_PATH_MAX];
    rh_surface_result result = {0};
    RH_TRY(points_path(output, NULL, frame, ".vdb", points, status));
    RH_TRY(join(folder, output->folder, "surface", status));
    rh_surface_task task = {.points = points,
                            .set = several ? rh_scene_material(output->scene, material)->name : NULL,
                            .folder = folder,
                            .frame = frame,
                            .digits = output->digits,
                            .programs = programs};
    rh_code code = rh_surface_frame(rh_scene_surface(output->scene, material), &task, &result, status);
    *seconds += result.seconds;
    return code;
}

static void write_peaks(FILE *f)
{
    rh_memory_label labels[256];
    int count = rh_memory_labels(labels, 256);
    fprintf(f, ",\"peak\":%lld,\"resident\":%lld,\"peaks\":{", (long long)rh_memory_peak(),
            (long long)rh_memory_resident_peak());
    for (int i = 0; i < count; i++)
        fprintf(f, "%s\"%s\":%lld", i ? "," : "", labels[i].label, (long long)labels[i].peak);
    fprintf(f, "}");
}

static void write_balance(FILE *f, const rh_progress *p)
{
    fprintf(f, ",\"kinetic_energy\":%.9g,\"potential_energy\":%.9g,\"energy_put_in\":%.9g,\"energy_gained\":%.9g",
            p->kinetic_energy, p->potential_energy, p->energy_put_in, p->energy_gained);
    fprintf(
        f,
        ",\"work_solids\":%.9g,\"work_inflows\":%.9g,\"work_tension\":%.9g,\"work_forces\":%.9g,\"work_programs\":%.9g",
        p->work_solids, p->work_inflows, p->work_tension, p->work_forces, p->work_programs);
    for (int a = 0; a < 3; a++)
        fprintf(f, ",\"momentum_%c\":%.9g,\"pushed_%c\":%.9g", 'x' + a, (&p->momentum.x)[a], 'x' + a,
                (&p->pushed.x)[a]);
}

// Flat, as the rest of the line: "water.particles".
static void write_material(FILE *f, const rh_progress *p)
{
    const struct {
        const char *name;
        double value;
    } values[] = {{"steps", (double)p->step},
                  {"particles", (double)p->particles},
                  {"volume", p->volume},
                  {"volume_error", p->volume_error},
                  {"max_speed", p->max_speed},
                  {"emitted", (double)p->emitted},
                  {"removed", (double)p->removed},
                  {"received", (double)p->received},
                  {"given", (double)p->given},
                  {"kinetic_energy", p->kinetic_energy},
                  {"potential_energy", p->potential_energy},
                  {"energy_put_in", p->energy_put_in},
                  {"work_solids", p->work_solids},
                  {"work_inflows", p->work_inflows},
                  {"work_tension", p->work_tension},
                  {"work_forces", p->work_forces},
                  {"work_programs", p->work_programs},
                  {"energy_gained", p->energy_gained}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        fprintf(f, ",\"%s.%s\":%.9g", p->material, values[i].name, values[i].value);
}

rh_code rh_output_log(rh_output *output, const rh_progress *p, const rh_step_report *report,
                      const rh_progress *materials, int count, bool frame_done, rh_status *status)
{
    FILE *f = output->log;
    fprintf(f,
            "{\"step\":%lld,\"frame\":%lld,\"time\":%.9g,\"dt\":%.9g,\"particles\":%lld,\"cells\":%lld,\"tiles\":%lld,"
            "\"iterations\":%d,\"residual\":%.3e,\"volume\":%.9g,\"volume_error\":%.3e,\"max_speed\":%.6g,\"emitted\":%"
            "lld,\"removed\":%lld,"
            "\"memory\":%lld,\"seconds\":%.6f,\"stages\":{",
            (long long)p->step, (long long)p->frame, p->time, p->dt, (long long)p->particles, (long long)p->cells,
            (long long)p->tiles, p->iterations, p->residual, p->volume, p->volume_error, p->max_speed,
            (long long)p->emitted, (long long)p->removed, (long long)p->memory_bytes, p->seconds);
    for (int i = 0; i < report->stage_count; i++)
        fprintf(f, "%s\"%s\":%.6f", i ? "," : "", report->stage_names[i], report->stage_seconds[i]);
    fprintf(f, "}");
    if (report->wall_samples) fprintf(f, ",\"wall_samples\":%lld", (long long)report->wall_samples);
    if (p->retries) fprintf(f, ",\"retries\":%d", p->retries);
    if (p->material) fprintf(f, ",\"material\":\"%s\"", p->material);
    if (frame_done) write_balance(f, p);
    for (int i = 0; frame_done && p->material && i < count; i++) write_material(f, &materials[i]);
    if (frame_done) write_peaks(f);
    if (frame_done && p->compile_seconds > 0) fprintf(f, ",\"compile_seconds\":%.6f", p->compile_seconds);
    if (frame_done && rh_scene_surfaces_while_running(output->scene))
        fprintf(f, ",\"surface_seconds\":%.6f", p->surface_seconds);
    fprintf(f, "}\n");
    return fflush(f) == 0 ? RH_OK
                          : rh_fail(status, RH_IO, "cannot write %s/log.jsonl: %s", output->folder, strerror(errno));
}

rh_code rh_output_checkpoint_path(const rh_output *output, int64_t frame, int64_t step, bool whole_frame,
                                  char path[RH_PATH_MAX], rh_status *status)
{
    char name[96];
    // The step in the name orders checkpoints; a stop inside a frame is told apart by the letter.
    snprintf(name, sizeof name, "checkpoint/checkpoint.%0*lld%s%09lld.h5", output->digits, (long long)frame,
             whole_frame ? "." : "-", (long long)step);
    return join(path, output->folder, name, status);
}

static int newest_first(const void *a, const void *b)
{
    // Names end in the step number with fixed width; compare those digits, then the whole name.
    const char *x = a, *y = b;
    size_t n = strlen(x), m = strlen(y);
    int order = n >= 12 && m >= 12 ? strcmp(y + m - 12, x + n - 12) : 0;
    return order ? order : strcmp(y, x);
}

// Path of the next checkpoint of an open folder; false at the end.
static bool next_checkpoint(DIR *dir, const char *folder, char path[RH_PATH_MAX])
{
    for (struct dirent *e; (e = readdir(dir));) {
        if (!rh_provenance_checkpoint_name(e->d_name, NULL, NULL, NULL))
            continue;  // a copy somebody keeps beside them is not ours to prune
        if (snprintf(path, RH_PATH_MAX, "%s/checkpoint/%s", folder, e->d_name) < RH_PATH_MAX) return true;
    }
    return false;
}

static DIR *open_checkpoints(const char *folder)
{
    char path[RH_PATH_MAX];
    return join(path, folder, "checkpoint", NULL) == RH_OK ? opendir(path) : NULL;
}

int rh_output_checkpoints(const char *folder, char (*paths)[RH_PATH_MAX], int max)
{
    RH_ASSERT(max >= 0);
    DIR *dir = open_checkpoints(folder);
    if (!dir) return 0;
    int count = 0;
    while (count < max && next_checkpoint(dir, folder, paths[count])) count++;
    closedir(dir);
    qsort(paths, (size_t)count, sizeof *paths, newest_first);
    return count;
}

bool rh_output_newest(const char *folder, char path[RH_PATH_MAX])
{
    char other[RH_PATH_MAX];
    DIR *dir = open_checkpoints(folder);
    if (!dir) return false;
    bool found = next_checkpoint(dir, folder, path);
    while (found && next_checkpoint(dir, folder, other))
        if (newest_first(other, path) < 0) strcpy(path, other);
    closedir(dir);
    return found;
}

static const char *name_of(const char *path) { return strrchr(path, '/') ? strrchr(path, '/') + 1 : path; }

bool rh_output_newest_frame(const char *folder, int64_t *frame)
{
    char path[RH_PATH_MAX];
    bool whole = true;
    if (!rh_output_newest(folder, path) || !rh_provenance_checkpoint_name(name_of(path), frame, &whole, NULL))
        return false;
    if (!whole) --*frame;
    return true;
}

bool rh_output_is_before(const char *path, int64_t frame)
{
    int64_t at = 0;
    bool whole = true;
    return rh_provenance_checkpoint_name(name_of(path), &at, &whole, NULL) && (whole ? at < frame : at <= frame);
}

void rh_output_prune(const rh_output *output, int64_t keep)
{
    enum { MAX = 256 };
    char(*paths)[RH_PATH_MAX] = rh_alloc(sizeof *paths * MAX, "world.output", NULL);
    if (!paths) return;
    int count = rh_output_checkpoints(output->folder, paths, MAX);
    for (int i = (int)(keep < 1 ? 1 : keep); i < count; i++) unlink(paths[i]);
    rh_free(paths);
}
