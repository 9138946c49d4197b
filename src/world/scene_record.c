// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The last line of the file is a hash of those before it: by it a file that was edited is told from one that nobody
// has touched, which is simply written again.
#include "world/scene_record.h"

#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "io/provenance.h"

enum { LARGEST = 64 << 20, MOST_COPIES = 1000 };
#define SUM "# rheo_checksum "

static rh_code record_path(const char *folder, char out[RH_PATH_MAX], rh_status *status)
{
    int n = snprintf(out, RH_PATH_MAX, "%s/scene.yaml", folder);
    return n > 0 && n < RH_PATH_MAX - 32
               ? RH_OK
               : rh_fail(status, RH_USER, "the path of the run folder is too long: %.200s ...", folder);
}

rh_code rh_scene_record_check(const char *folder, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(record_path(folder, path, status));
    if (!rh_file_exists(path) || rh_provenance_is_ours(path)) return RH_OK;
    return rh_fail(status, RH_USER,
                   "%s: found a scene that is not of a run; a run in this folder would write its own over it\n"
                   "  --out DIR takes another folder",
                   path);
}

static void sum_line(const char *text, size_t bytes, char out[64])
{
    snprintf(out, 64, SUM "%016llx\n", (unsigned long long)rh_hash(text, bytes, 0));
}

// Whoever wrote it was us, and nobody since.
static bool untouched(const char *text, size_t bytes)
{
    char line[64];
    size_t length = strlen(SUM) + 17;
    if (bytes < length) return false;
    sum_line(text, bytes - length, line);
    return memcmp(text + bytes - length, line, length) == 0;
}

static rh_code write_text(const char *path, const rh_scene *scene, rh_status *status)
{
    char line[64];
    char *text = rh_scene_print(scene, status);
    if (!text) return status ? status->code : RH_MEMORY;
    size_t bytes = strlen(text);
    sum_line(text, bytes, line);
    char *all = rh_realloc(text, bytes + sizeof line, "world.scene", status);
    if (!all) return rh_free(text), RH_MEMORY;
    strcpy(all + bytes, line);
    rh_code code = rh_file_write(path, all, strlen(all), status);
    rh_free(all);
    return code;
}

// A copy of what somebody edited, under a name that is free.
static rh_code set_aside(const char *folder, const char *path, const char *text, size_t bytes, rh_status *status)
{
    char copy[RH_PATH_MAX];
    for (int i = 1; i <= MOST_COPIES; i++) {
        int n = i == 1 ? snprintf(copy, sizeof copy, "%s/scene.edited.yaml", folder)
                       : snprintf(copy, sizeof copy, "%s/scene.edited.%d.yaml", folder, i);
        if (n < 0 || n >= RH_PATH_MAX - 32) break;
        if (rh_file_exists(copy)) continue;
        RH_TRY(rh_file_write(copy, text, bytes, status));
        rh_log(RH_LOG_INFO, "%s was edited since it was written: that is now in %s", path, copy);
        return RH_OK;
    }
    return rh_fail(
        status, RH_IO,
        "%s: was edited and would be written anew, but there is no free name to keep it under (scene.edited.*.yaml)",
        path);
}

static rh_code says_the_same(const rh_scene *a, const rh_scene *b, bool *same, rh_status *status)
{
    char *x = rh_scene_print(a, status), *y = x ? rh_scene_print(b, status) : NULL;
    *same = y && strcmp(x, y) == 0;
    rh_free(x);
    rh_free(y);
    return y ? RH_OK : RH_MEMORY;
}

static rh_code write_over_edited(const char *folder, const char *path, const char *text, size_t bytes,
                                 const rh_scene *scene, bool resumed, rh_status *status)
{
    rh_scene edited;
    bool same = false;
    bool readable = rh_scene_load_options(path, NULL, 0, &(rh_scene_options){.sandbox = scene->sandbox}, &edited,
                                          NULL) == RH_OK;
    rh_scene written = *scene;  // shallow, for printing
    if (readable && resumed) written.look = edited.look;
    rh_code code = readable ? says_the_same(&edited, &written, &same, status) : RH_OK;
    if (code == RH_OK && !same) code = set_aside(folder, path, text, bytes, status);
    if (code == RH_OK && !same) code = write_text(path, &written, status);
    if (readable) rh_scene_free(&edited);
    return code;
}

rh_code rh_scene_record_write(const char *folder, const rh_scene *scene, bool resumed, rh_status *status)
{
    char path[RH_PATH_MAX], *text;
    size_t bytes;
    RH_TRY(rh_scene_record_check(folder, status));
    RH_TRY(record_path(folder, path, status));
    if (!rh_file_exists(path)) return write_text(path, scene, status);
    RH_TRY(rh_file_read(path, LARGEST, &text, &bytes, status));
    rh_code code = untouched(text, bytes) ? write_text(path, scene, status)
                                          : write_over_edited(folder, path, text, bytes, scene, resumed, status);
    rh_free(text);
    return code;
}
