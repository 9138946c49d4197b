// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Of the base's frames the two around the middle of a step are in memory; the one that both steps need is kept when
// time goes on. Between them the base run interpolates (physics/base_run.h).
#include "world/base_frames.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "io/file.h"
#include "io/provenance.h"
#include "io/vdb_fields.h"
#include "io/vdb_sets.h"
#include "points/interpolate.h"
#include "scene/text.h"

typedef struct seen_frame {
    int64_t frame;
    uint64_t sum;  // the last eight bytes of its file: the checksum of all others (io/seal.h)
} seen_frame;

typedef struct loaded {
    int64_t frame;  // INT64_MIN: none
    rh_points points;
    rh_fields fields;
} loaded;

struct rh_base_frames {
    rh_base_run run;
    char *folder;     // of the base; owned
    char place[256];  // where the scene names it
    int64_t first, last;
    int digits;
    double start, fps;  // time of the first frame (s), frames a second
    uint64_t scene_hash;
    bool by_name;    // the base has several materials: the one called as the base is here is meant
    loaded pair[2];  // two frames, the earlier first
    bool has_fields;
    seen_frame *seen;  // owned
    int64_t seen_count, seen_room;
    rh_arena arena;
};

static rh_code path_of(const rh_base_frames *f, const char *part, int64_t frame, char path[RH_PATH_MAX],
                       rh_status *status)
{
    int n = snprintf(path, RH_PATH_MAX, "%s/%s/%s.%0*lld.vdb", f->folder, part, part, f->digits, (long long)frame);
    return n < RH_PATH_MAX ? RH_OK : rh_fail(status, RH_USER, "%s: the path is too long", f->place);
}

// First and last frame, and the digits of their numbers.
static rh_code find_frames(rh_base_frames *f, rh_status *status)
{
    char path[RH_PATH_MAX];
    int64_t number;
    f->first = INT64_MAX;
    f->last = INT64_MIN;
    if (snprintf(path, sizeof path, "%s/points", f->folder) >= RH_PATH_MAX)
        return rh_fail(status, RH_USER, "%s: the path is too long", f->place);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t length = strlen(e->d_name);
        if (!rh_provenance_frame_name(e->d_name, "points", &number) || strcmp(e->d_name + length - 4, ".vdb") != 0)
            continue;
        f->digits = (int)length - (int)strlen("points..vdb");
        if (number < f->first) f->first = number;
        if (number > f->last) f->last = number;
    }
    if (dir) closedir(dir);
    if (f->first <= f->last) return RH_OK;
    return rh_fail(
        status, RH_USER, "%s: '%s': %s: found %s, expected the folder of a run with frames (points/points.####.vdb)",
        f->place, f->run.name, f->folder, access(f->folder, F_OK) == 0 ? "no frames in it" : "no such folder");
}

// --- what was read ---------------------------------------------------------------------------------------------------
static bool checksum_of(const char *path, uint64_t *sum)
{
    FILE *file = fopen(path, "rbe");
    bool good = file && fseek(file, -8, SEEK_END) == 0 && fread(sum, sizeof *sum, 1, file) == 1;
    if (file) fclose(file);
    return good;
}

static rh_code changed_frame(const rh_base_frames *f, const char *path, rh_status *status)
{
    return rh_fail(status, RH_USER,
                   "%s: %s is not the frame of '%s' that this run stood on: the base was made again\n"
                   "  start this run again, or go on with what is there now: --changed",
                   f->place, path, f->run.name);
}

static rh_code remember(rh_base_frames *f, int64_t frame, const char *path, rh_status *status)
{
    uint64_t sum = 0;
    if (!checksum_of(path, &sum)) return rh_fail(status, RH_IO, "%s: cannot be read", path);
    for (int64_t i = 0; i < f->seen_count; i++)
        if (f->seen[i].frame == frame) return f->seen[i].sum == sum ? RH_OK : changed_frame(f, path, status);
    if (f->seen_count == f->seen_room) {
        int64_t room = 2 * f->seen_room + 64;
        seen_frame *grown = rh_realloc(f->seen, (size_t)room * sizeof *grown, "world.base", status);
        if (!grown) return RH_MEMORY;
        f->seen = grown;
        f->seen_room = room;
    }
    f->seen[f->seen_count++] = (seen_frame){frame, sum};
    return RH_OK;
}

rh_code rh_base_frames_put(const rh_base_frames *f, const rh_store *to, rh_status *status)
{
    return rh_store_put_bytes(to, f->run.name, f->seen, (size_t)f->seen_count * sizeof *f->seen, status);
}

rh_code rh_base_frames_get(rh_base_frames *f, const rh_store *from, bool changed, rh_status *status)
{
    void *found;
    size_t bytes;
    char path[RH_PATH_MAX];
    if (rh_store_get_bytes(from, f->run.name, &found, &bytes, NULL) != RH_OK) return RH_OK;  // begun without a base
    int64_t count = (int64_t)(bytes / sizeof(seen_frame));
    rh_code code = RH_OK;
    f->seen_count = 0;
    for (int64_t i = 0; i < count && code == RH_OK; i++) {
        const seen_frame *one = (const seen_frame *)found + i;
        uint64_t sum = 0;
        code = path_of(f, "points", one->frame, path, status);
        if (code != RH_OK) break;
        bool there = checksum_of(path, &sum);
        if (!there || sum == one->sum) {  // one that is gone may still be what it was: read when it is needed
            code = there ? remember(f, one->frame, path, status) : RH_OK;
            continue;
        }
        if (!changed) code = changed_frame(f, path, status);
        else
            rh_log(RH_LOG_WARNING, "%s is not the frame that this run stood on; what comes now stands on the new one",
                   path);
    }
    rh_free(found);
    return code;
}

static int by_frame(const void *a, const void *b)
{
    int64_t x = ((const seen_frame *)a)->frame, y = ((const seen_frame *)b)->frame;
    return (x > y) - (x < y);
}

char *rh_base_frames_describe(const rh_base_frames *f, rh_status *status)
{
    rh_text text = {0};
    seen_frame *sorted = rh_alloc((size_t)(f->seen_count + 1) * sizeof *sorted, "world.base", status);
    if (!sorted) return NULL;
    if (f->seen_count) memcpy(sorted, f->seen, (size_t)f->seen_count * sizeof *sorted);
    qsort(sorted, (size_t)f->seen_count, sizeof *sorted, by_frame);
    rh_text_add(&text, "from %s: %s, scene %016llx, made by rheo, frames %lld to %lld, of these read:\n", f->run.name,
                f->folder, (unsigned long long)f->scene_hash, (long long)f->first, (long long)f->last);
    for (int64_t i = 0; i < f->seen_count; i++)
        rh_text_add(&text, "  frame %lld, checksum %016llx\n", (long long)sorted[i].frame,
                    (unsigned long long)sorted[i].sum);
    rh_free(sorted);
    return rh_text_take(&text, status);
}

// --- reading ---------------------------------------------------------------------------------------------------------
static void unload(loaded *l)
{
    rh_points_free(&l->points);
    rh_fields_free(&l->fields);
    l->frame = INT64_MIN;
}

static rh_code load(rh_base_frames *f, int64_t frame, loaded *l, rh_frame_info *info, rh_status *status)
{
    char path[RH_PATH_MAX];
    unload(l);
    rh_points_init(&l->points);
    RH_TRY(path_of(f, "points", frame, path, status));
    if (!rh_file_exists(path))
        return rh_fail(status, RH_USER,
                       "%s: frame %lld of '%s' is missing: %s\n  rheo run --resume in that folder makes it again",
                       f->place, (long long)frame, f->run.name, path);
    RH_TRY(remember(f, frame, path, status));
    RH_TRY(rh_vdb_read_set(path, f->by_name ? f->run.name : NULL, &l->points, info, status));
    if (!rh_points_data(&l->points, "P", RH_POINT_VEC3F) && l->points.count)
        return rh_fail(status, RH_USER, "%s: its points have no positions", path);
    if (info->z_up) return rh_fail(status, RH_USER, "%s: a base must be written with y up (output: up: y)", path);
    RH_TRY(path_of(f, "fields", frame, path, status));
    if (rh_file_exists(path))
        RH_TRY(rh_vdb_read_fields(path, f->by_name ? f->run.name : NULL, &l->fields, NULL, status));
    l->frame = frame;
    return RH_OK;
}

static rh_code try_set(const char *path, const char *set, rh_status *status)
{
    rh_points points;
    rh_points_init(&points);
    rh_code code = rh_vdb_read_set(path, set, &points, NULL, status);
    rh_points_free(&points);
    return code;
}

// Of a base with several materials, the one that is called as the base is here. A base with one has it as "points".
static rh_code choose_material(rh_base_frames *f, rh_status *status)
{
    char path[RH_PATH_MAX];
    rh_status why = {0};
    RH_TRY(path_of(f, "points", f->first, path, status));
    f->by_name = try_set(path, f->run.name, &why) == RH_OK;
    if (f->by_name || try_set(path, "points", NULL) == RH_OK) return RH_OK;
    RH_TRY(try_set(path, NULL, status));  // a file that cannot be read says why
    return rh_fail(status, RH_USER,
                   "%s: the base has several materials, and none is called '%s'\n  %s\n  a base is called by the "
                   "material that is meant: from: {NAME: %s}",
                   f->place, f->run.name, why.message, f->folder);
}

rh_code rh_base_frames_open(const rh_from_params *from, const char *place, int dimension, double until,
                            rh_base_frames **out, rh_status *status)
{
    rh_frame_info info;
    *out = NULL;
    rh_base_frames *f = rh_alloc_zero(sizeof *f, "world.base", status);
    if (!f) return RH_MEMORY;
    f->run.name = from->name;
    f->run.dimension = dimension;
    f->folder = rh_strdup(from->run, "world.base", status);
    f->pair[0].frame = f->pair[1].frame = INT64_MIN;
    rh_arena_init(&f->arena, "world.base.scratch");
    rh_points_init(&f->run.points);
    snprintf(f->place, sizeof f->place, "%s", place);
    rh_code code = f->folder ? find_frames(f, status) : RH_MEMORY;
    if (code == RH_OK) code = choose_material(f, status);
    if (code == RH_OK) code = load(f, f->first, &f->pair[0], &info, status);
    if (code == RH_OK) {
        const rh_attribute *radius = rh_points_find(&f->pair[0].points, "radius");
        bool known = radius && radius->type == RH_POINT_F32 && radius->uniform;
        f->run.radius = known ? *(const float *)radius->data : (float)(0.3 * info.cell);
        f->run.reach = (float)(1.5 * info.cell);
        f->start = info.time;
        f->fps = info.fps;
        f->scene_hash = info.scene_hash;
        double end = f->start + (double)(f->last - f->first) / f->fps;
        if (end < until - 1e-6 / f->fps)
            code = rh_fail(
                status, RH_USER,
                "%s: '%s' ends at %g s (frame %lld), this run goes on to %g s: run the base further, or fewer "
                "frames here",
                place, from->name, end, (long long)f->last, until);
    }
    if (code == RH_OK) *out = f;
    else rh_base_frames_free(f);
    return code;
}

void rh_base_frames_free(rh_base_frames *f)
{
    if (!f) return;
    for (int i = 0; i < 2; i++) unload(&f->pair[i]);
    rh_points_free(&f->run.points);
    rh_neighbours_free(&f->run.near);
    rh_arena_free(&f->arena);
    rh_free(f->folder);
    rh_free(f->seen);
    rh_free(f);
}

const rh_base_run *rh_base_frames_run(const rh_base_frames *f) { return &f->run; }

// The frames around a time, the second only where it is needed.
static rh_code load_pair(rh_base_frames *f, int64_t frame, bool both, rh_status *status)
{
    rh_frame_info info;
    if (f->pair[0].frame != frame) {
        if (f->pair[1].frame == frame) {  // one on: the later is now the earlier
            loaded other = f->pair[0];
            f->pair[0] = f->pair[1];
            f->pair[1] = other;
        } else RH_TRY(load(f, frame, &f->pair[0], &info, status));
    }
    if (both && f->pair[1].frame != frame + 1) RH_TRY(load(f, frame + 1, &f->pair[1], &info, status));
    return RH_OK;
}

static void find_fastest(rh_base_run *run)
{
    const rh_attribute *a = rh_points_find(&run->points, "v");  // frames without particles have none
    const rh_vec3 *v = a && a->type == RH_POINT_VEC3F ? a->data : NULL;
    run->fastest = 0;
    for (int64_t i = 0; v && i < (a->uniform ? run->points.count > 0 : run->points.count); i++)
        run->fastest = rh_max_of(run->fastest, rh_v3_length(v[i]));
}

rh_code rh_base_frames_move_points(rh_base_frames *f, double time, rh_status *status)
{
    rh_base_run *run = &f->run;
    double along = fmin(fmax((time - f->start) * f->fps, 0), (double)(f->last - f->first));
    double whole = floor(along + 1e-9), share = fmax(along - whole, 0);
    RH_TRY(load_pair(f, f->first + (int64_t)whole, share > 0, status));
    RH_TRY(rh_points_copy(&f->pair[0].points, &run->points, status));
    if (share > 0 && run->points.count + f->pair[1].points.count > 0)
        RH_TRY(rh_points_interpolate(&run->points, &f->pair[1].points, share, 1 / f->fps, NULL, status));
    run->earlier = f->pair[0].fields;
    run->later = share > 0 ? f->pair[1].fields : f->pair[0].fields;
    run->share = (float)share;
    run->time = time;
    find_fastest(run);
    run->near.count = run->near.cells = run->near.rows = 0;  // of another time
    return RH_OK;
}

rh_code rh_base_frames_move(rh_base_frames *f, double time, rh_status *status)
{
    rh_base_run *run = &f->run;
    RH_TRY(rh_base_frames_move_points(f, time, status));
    rh_arena_reset(&f->arena);
    const rh_neighbours_input input = {.dimension = run->dimension,
                                       .positions = rh_points_data(&run->points, "P", RH_POINT_VEC3F),
                                       .count = run->points.count,
                                       .cell = rh_neighbours_cell((double)run->reach),
                                       .leave_out = true};
    return rh_neighbours_build(&run->near, &input, &f->arena, status);
}
