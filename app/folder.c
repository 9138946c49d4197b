// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Looking into a run folder: which frames, how many bytes, and clearing it for a fresh start.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app.h"
#include "base/memory.h"
#include "base/regular.h"
#include "io/provenance.h"
#include "physics/physics.h"

rh_code app_path(char out[RH_PATH_MAX], const char *folder, const char *name, rh_status *status)
{
    int length = snprintf(out, RH_PATH_MAX, "%s/%s", folder, name);
    if (length < RH_PATH_MAX) return RH_OK;
    return rh_fail(status, RH_USER, "%.100s...: path of %d characters, expected less than %d", folder, length,
                   RH_PATH_MAX);
}

rh_code app_run_scene(char out[RH_PATH_MAX], const char *run, const char *instead, rh_status *status)
{
    const char *why;
    RH_TRY(app_path(out, run, "scene.yaml", status));
    if (rh_file_exists(run) && !app_is_folder(run))
        return rh_fail(status, RH_USER, "%s: found a file, expected the folder of a run%s", run, instead);
    if (!rh_file_exists(out))
        return rh_fail(status, RH_USER, "%s: found no scene.yaml in it, expected the folder of a run%s", run, instead);
    int file = rh_open_regular(out, &why);  // a pipe in a folder of somebody else's would have us wait for ever
    if (file < 0) return rh_fail(status, RH_IO, "%s: cannot open: %s", out, why);
    close(file);
    return RH_OK;
}

bool app_has_particles(const rh_scene *scene, int material)
{
    bool found = false;
    for (int i = 0; i < rh_scene_material_count(scene); i++)
        if (material < 0 || i == material)
            found = found || !rh_physics_methods[rh_scene_material(scene, i)->physics.kind]->without_particles;
    return found;
}

rh_code app_require_particles(const rh_scene *scene, int material, const char *run, rh_status *status)
{
    if (app_has_particles(scene, material)) return RH_OK;
    bool named = material >= 0 && rh_scene_material_count(scene) > 1;
    return rh_fail(status, RH_USER,
                   "%s%s%s: found no particles, only fields, in %s/fields; expected a method with particles", run,
                   named ? ", material " : "", named ? rh_scene_material(scene, material)->name : "", run);
}

bool app_is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

// "<stem>.<digits><ending>", or with any ending also "<stem>.<digits>.<three digits>.<ending>"; the number goes to
// *number.
static bool is_frame(const char *name, const char *stem, const char *ending, int64_t *number)
{
    size_t length = strlen(stem);
    if (strncmp(name, stem, length) || name[length] != '.') return false;
    const char *digits = name + length + 1;
    size_t count = strspn(digits, "0123456789");
    if (count < 4 || count > 18 || digits[count] != '.') return false;
    if (ending && strcmp(digits + count, ending)) return false;
    const char *tail = digits + count;
    if (!ending && strspn(tail + 1, "0123456789") == 3 && tail[4] == '.') tail += 4;
    // A file still being written is "points.0001.vdb.tmp-77".
    if (!ending && strchr(tail + 1, '.')) return false;
    *number = strtoll(digits, NULL, 10);
    return true;
}

static int64_t file_bytes(const char *folder, const char *name)
{
    char path[RH_PATH_MAX];
    struct stat facts;
    if (app_path(path, folder, name, NULL) != RH_OK || lstat(path, &facts) || !S_ISREG(facts.st_mode)) return 0;
    return facts.st_size;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static rh_code add_frame(app_frames *frames, int64_t number, rh_status *status)
{
    if ((frames->count & (frames->count - 1)) == 0) {  // full at every power of two
        size_t room = frames->count ? 2 * (size_t)frames->count : 1;
        int64_t *grown = rh_realloc(frames->numbers, room * sizeof *grown, "app.frames", status);
        if (!grown) return RH_MEMORY;
        frames->numbers = grown;
    }
    frames->numbers[frames->count++] = number;
    return RH_OK;
}

// With any ending, a frame written as .vdb and .ply is found twice.
static void sort_and_unify(app_frames *frames)
{
    if (frames->count < 2) return;
    qsort(frames->numbers, (size_t)frames->count, sizeof *frames->numbers, compare_numbers);
    int kept = 1;
    for (int i = 1; i < frames->count; i++)
        if (frames->numbers[i] != frames->numbers[kept - 1]) frames->numbers[kept++] = frames->numbers[i];
    frames->count = kept;
}

rh_code app_frames_list(const char *folder, const char *stem, const char *ending, app_frames *out, rh_status *status)
{
    memset(out, 0, sizeof *out);
    DIR *directory = opendir(folder);
    if (!directory && (errno == ENOENT || errno == ENOTDIR)) return RH_OK;
    if (!directory) return rh_fail(status, RH_IO, "%s: cannot list: %s", folder, strerror(errno));
    rh_code code = RH_OK;
    for (struct dirent *entry; code == RH_OK && (entry = readdir(directory));) {
        int64_t number;
        if (!is_frame(entry->d_name, stem, ending, &number)) continue;
        code = add_frame(out, number, status);
        out->files++;
        out->bytes += file_bytes(folder, entry->d_name);
    }
    closedir(directory);
    if (code != RH_OK) app_frames_free(out);
    else sort_and_unify(out);
    return code;
}

rh_code app_frame_path(char out[RH_PATH_MAX], const char *folder, const char *stem, int64_t frame, const char *ending,
                       rh_status *status)
{
    char name[96];
    for (int digits = 4; digits <= 10; digits++) {
        snprintf(name, sizeof name, "%s.%0*lld%s", stem, digits, (long long)frame, ending);
        RH_TRY(app_path(out, folder, name, status));
        if (rh_file_exists(out)) return RH_OK;
    }
    snprintf(name, sizeof name, "%s.%04lld%s", stem, (long long)frame, ending);
    return app_path(out, folder, name, status);
}

rh_code app_frames_choose(app_frames *frames, const app_range *range, rh_status *status)
{
    if (!range->given || frames->count == 0) return RH_OK;
    int64_t first = frames->numbers[0], last = frames->numbers[frames->count - 1];
    int kept = 0;
    for (int i = 0; i < frames->count; i++)
        if (app_range_holds(range, frames->numbers[i])) frames->numbers[kept++] = frames->numbers[i];
    frames->count = kept;
    if (kept > 0) return RH_OK;
    return rh_fail(status, RH_USER, "--frames: found %lld-%lld, expected frames of the run (%lld to %lld)",
                   (long long)range->first, (long long)range->last, (long long)first, (long long)last);
}

void app_frames_free(app_frames *frames)
{
    rh_free(frames->numbers);
    memset(frames, 0, sizeof *frames);
}

int app_count_files(const char *folder, const char *ending, int64_t *bytes)
{
    *bytes = 0;
    DIR *directory = opendir(folder);
    if (!directory) return 0;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!rh_path_has_ending(entry->d_name, ending)) continue;
        count++;
        *bytes += file_bytes(folder, entry->d_name);
    }
    closedir(directory);
    return count;
}

static int64_t disk_use(const char *path, int depth)
{
    struct stat facts;
    if (lstat(path, &facts)) return 0;
    if (!S_ISDIR(facts.st_mode)) return S_ISREG(facts.st_mode) ? facts.st_size : 0;
    DIR *directory = depth > 0 ? opendir(path) : NULL;
    if (!directory) return 0;
    int64_t sum = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char inner[RH_PATH_MAX];
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (app_path(inner, path, entry->d_name, NULL) == RH_OK) sum += disk_use(inner, depth - 1);
    }
    closedir(directory);
    return sum;
}

int64_t app_disk_use(const char *path) { return disk_use(path, 8); }

static rh_code remove_file(const char *path, rh_status *status)
{
    if (unlink(path) == 0 || errno == ENOENT) return RH_OK;
    return rh_fail(status, RH_IO, "%s: cannot remove: %s", path, strerror(errno));
}

// Removes "<stem>.<digits>.<ending>" of ours (or, without a stem, checkpoints, which may be damaged) from run/folder.
static rh_code clear_folder(const char *run, const char *folder, const char *stem, rh_status *status)
{
    char inside[RH_PATH_MAX], path[RH_PATH_MAX];
    RH_TRY(app_path(inside, run, folder, status));
    DIR *directory = opendir(inside);
    if (!directory) return RH_OK;
    rh_code code = RH_OK;
    for (struct dirent *entry; code == RH_OK && (entry = readdir(directory));) {
        bool named = stem ? rh_provenance_frame_name(entry->d_name, stem, NULL)
                          : rh_provenance_checkpoint_name(entry->d_name, NULL, NULL, NULL);
        if (!named) continue;
        code = app_path(path, inside, entry->d_name, status);
        if (code == RH_OK && (!stem || rh_provenance_is_ours(path))) code = remove_file(path, status);
    }
    closedir(directory);
    return code;
}

// probes.csv, and those of other materials: probes.NAME.csv.
static rh_code clear_probes(const char *run, rh_status *status)
{
    char path[RH_PATH_MAX];
    DIR *directory = opendir(run);
    rh_code code = RH_OK;
    for (struct dirent *entry; directory && code == RH_OK && (entry = readdir(directory));) {
        if (strncmp(entry->d_name, "probes.", 7) != 0 || !rh_path_has_ending(entry->d_name, ".csv")) continue;
        code = app_path(path, run, entry->d_name, status);
        if (code == RH_OK && rh_provenance_is_ours(path)) code = remove_file(path, status);
    }
    if (directory) closedir(directory);
    return code;
}

// Checkpoints go first: were we stopped in between, frames without a checkpoint only cost time, a checkpoint without
// its frames would leave a gap.
rh_code app_clear_run(const char *run, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(clear_folder(run, "checkpoint", NULL, status));
    RH_TRY(clear_folder(run, "points", "points", status));
    RH_TRY(clear_folder(run, "fields", "fields", status));
    RH_TRY(clear_folder(run, "surface", "surface", status));
    RH_TRY(clear_folder(run, "surface", "ellipsoids", status));
    RH_TRY(clear_folder(run, "picture", "picture", status));
    RH_TRY(clear_folder(run, "debug", "points", status));
    RH_TRY(app_path(path, run, "picture/film.mp4", status));
    if (rh_provenance_is_ours(path)) RH_TRY(remove_file(path, status));
    RH_TRY(clear_probes(run, status));
    RH_TRY(app_path(path, run, "log.jsonl", status));
    return rh_provenance_is_ours(path) ? remove_file(path, status) : RH_OK;
}
