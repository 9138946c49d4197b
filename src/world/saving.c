// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The state of a run in checkpoints, and back. What is in a checkpoint is all that decides what comes after it.
#include <string.h>
#include "base/log.h"
#include "base/memory.h"
#include "io/checkpoint.h"
#include "world/parts.h"

rh_code rh_world_put_state(const rh_world *w, const rh_store *to, rh_status *status)
{
    RH_TRY(rh_store_put_points(to, "points", &w->points, status));
    RH_TRY(rh_store_put_int(to, "frame", w->frame, status));
    RH_TRY(rh_store_put_int(to, "frame_done", w->frame_done, status));
    RH_TRY(rh_store_put_int(to, "begun", w->begun, status));
    RH_TRY(rh_store_put_int(to, "substeps", w->substeps, status));
    RH_TRY(rh_store_put_int(to, "step", w->step, status));
    RH_TRY(rh_store_put_float(to, "time", w->time, status));
    RH_TRY(rh_store_put_float(to, "last_dt", w->last_dt, status));
    RH_TRY(rh_store_put_int(to, "next_id", w->seeder.next_id, status));
    RH_TRY(rh_store_put_int(to, "emitted", w->seeder.emitted, status));
    RH_TRY(rh_store_put_int(to, "removed", w->seeder.removed, status));
    RH_TRY(rh_store_put_bytes(to, "balance", &w->seeder.balance, sizeof w->seeder.balance, status));
    RH_TRY(rh_store_put_bytes(to, "emitted_until", w->seeder.emitted_until,
                              (size_t)w->scene->emitters.count * sizeof(double), status));
    if (w->probes) {
        size_t bytes;
        const double *state = rh_probes_state(w->probes, &bytes);
        RH_TRY(rh_store_put_bytes(to, "probes", state, bytes, status));
    }
    rh_store own = rh_store_within(to, w->physics->name);
    return w->physics->save ? w->physics->save(w->method, &own, status) : RH_OK;
}

rh_code rh_world_save(const rh_world *w, const rh_output *output, rh_status *status)
{
    RH_ASSERT(rh_points_is_valid(&w->points));
    char path[RH_PATH_MAX];
    RH_TRY(rh_output_checkpoint_path(output, w->frame, w->step, w->frame_done, path, status));
    rh_checkpoint_writer *file;
    RH_TRY(rh_checkpoint_create(path, w->scene->hash, &file, status));
    rh_store store = rh_checkpoint_writer_store(file);
    if (rh_world_put_state(w, &store, status) != RH_OK) {
        rh_checkpoint_abandon(file);
        return status ? status->code : RH_IO;
    }
    RH_TRY(rh_checkpoint_commit(file, status));
    rh_output_prune(output, w->scene->checkpoint.keep);
    return RH_OK;
}

// Checkpoints of earlier versions have no balance: theirs begins with what is there.
static rh_code get_balance(rh_world *w, const rh_store *from, rh_status *status)
{
    w->seeder.lag = 0.5 * w->last_dt;
    rh_balance *balance = &w->seeder.balance;
    bool there = rh_store_get_exactly(from, "balance", balance, sizeof *balance, NULL) == RH_OK;
    if (there) return RH_OK;
    rh_totals all;
    RH_TRY(rh_balance_totals(&w->points, w->around.gravity, &all, status));
    w->seeder.balance = (rh_balance){.energy_in = rh_totals_energy(&all, w->around.gravity, w->seeder.lag),
                                     .momentum_in = all.momentum};
    return RH_OK;
}

// A scene may have other probes than when the checkpoint was made: those begin to measure now.
static void get_probes(rh_world *w, const rh_store *from)
{
    void *found = NULL;
    size_t bytes = 0;
    if (!w->probes) return;
    if (rh_store_get_bytes(from, "probes", &found, &bytes, NULL) != RH_OK) bytes = 0;
    rh_probes_set_state(w->probes, found, bytes, w->time);
    rh_free(found);
}

rh_code rh_world_get_state(rh_world *w, const rh_store *from, rh_status *status)
{
    int64_t done, substeps, begun;
    RH_TRY(rh_store_get_int(from, "frame", &w->frame, status));
    RH_TRY(rh_store_get_int(from, "frame_done", &done, status));
    RH_TRY(rh_store_get_int(from, "substeps", &substeps, status));
    RH_TRY(rh_store_get_int(from, "step", &w->step, status));
    RH_TRY(rh_store_get_float(from, "time", &w->time, status));
    RH_TRY(rh_store_get_float(from, "last_dt", &w->last_dt, status));
    RH_TRY(rh_store_get_int(from, "next_id", &w->seeder.next_id, status));
    RH_TRY(rh_store_get_int(from, "emitted", &w->seeder.emitted, status));
    RH_TRY(rh_store_get_int(from, "removed", &w->seeder.removed, status));
    w->frame_done = done;
    // Checkpoints of earlier versions do not say.
    w->begun = rh_store_get_int(from, "begun", &begun, NULL) == RH_OK ? begun != 0 : w->step > 0;
    w->substeps = (int)substeps;
    get_probes(w, from);
    RH_TRY(rh_store_get_points(from, "points", &w->points, status));
    RH_TRY(get_balance(w, from, status));
    rh_store own = rh_store_within(from, w->physics->name);
    return w->physics->load ? w->physics->load(w->method, &own, status) : RH_OK;
}

// RH_USER when the scene has another number of emitters.
static rh_code get_emitters(rh_world *w, const rh_store *from, const char *path, rh_status *status)
{
    void *until;
    size_t bytes, expected = (size_t)w->scene->emitters.count * sizeof(double);
    if (rh_store_get_bytes(from, "emitted_until", &until, &bytes, status) != RH_OK) return RH_IO;
    if (bytes == expected) memcpy(w->seeder.emitted_until, until, bytes);
    rh_free(until);
    if (bytes == expected) return RH_OK;
    return rh_fail(
        status, RH_USER,
        "%s: has %zu emitters, the scene %d: their number must stay (one that has stopped may stand for none)", path,
        bytes / sizeof(double), w->scene->emitters.count);
}

// What the world has made ready (`wanted`: no points, only the attributes) and what the checkpoint has. Attributes of
// programs that are new begin with zeros.
static rh_code match_attributes(rh_world *w, const rh_points *wanted, const char *path, rh_status *status)
{
    for (int i = 0; i < wanted->attribute_count; i++) {
        const rh_attribute *a = &wanted->attributes[i], *b = rh_points_find(&w->points, a->name);
        if (!b && i >= w->declared) RH_TRY(rh_points_add(&w->points, a->name, a->type, status));
        else if (!b || b->type != a->type || b->uniform != a->uniform)
            return rh_fail(status, RH_USER, "%s: %s '%s' of type %s, which this scene's physics or programs need", path,
                           b ? "has another kind of" : "has no", a->name, rh_point_type_name(a->type));
        else if (a->uniform && memcmp(a->data, b->data, rh_point_type_size(a->type)) != 0)
            return rh_fail(
                status, RH_USER,
                "%s: its particles have another %s than this scene's: cell, dimension and particles_per_axis must stay",
                path, a->name);
    }
    return RH_OK;
}

// --- in memory -------------------------------------------------------------------------------------------------------
rh_code rh_world_snapshot(const rh_world *w, rh_memory_store *into, rh_status *status)
{
    rh_store store = rh_memory_store_open(into);
    RH_TRY(rh_store_put_int(&store, "scene_hash", (int64_t)w->scene->hash, status));
    return rh_world_put_state(w, &store, status);
}

rh_code rh_world_restore(rh_world *w, rh_memory_store *from, rh_status *status)
{
    rh_store store = rh_memory_store_open(from);
    int64_t hash;
    RH_TRY(rh_store_get_int(&store, "scene_hash", &hash, status));
    if ((uint64_t)hash != w->scene->hash)
        return rh_fail(status, RH_USER, "the snapshot was taken of another scene (hash %016llx, this one has %016llx)",
                       (unsigned long long)hash, (unsigned long long)w->scene->hash);
    RH_TRY(rh_store_get_exactly(&store, "emitted_until", w->seeder.emitted_until,
                                (size_t)w->scene->emitters.count * sizeof(double), status));
    return rh_world_get_state(w, &store, status);
}

// --- from files ------------------------------------------------------------------------------------------------------
static rh_code match_time(const rh_world *w, const char *path, rh_status *status)
{
    double end = rh_world_frame_time(w->scene, w->frame), sliver = 1e-6 / w->scene->frames.fps;
    double from = w->frame_done ? end : rh_world_frame_time(w->scene, w->frame - 1);
    if (w->time >= from - sliver && w->time <= end + sliver) return RH_OK;
    return rh_fail(
        status, RH_USER,
        "%s: is at %g s in frame %lld, which in this scene lasts until %g s: frames.first and frames.fps must stay",
        path, w->time, (long long)w->frame, end);
}

// RH_IO: damaged, whatever the reader calls it; an older one may do. RH_USER: not of this scene.
static rh_code load(rh_world *w, const rh_points *wanted, const char *path, bool changed, rh_status *status)
{
    uint64_t hash = 0;
    rh_checkpoint_reader *file;
    rh_code code = rh_checkpoint_open(path, &file, &hash, status);
    bool same = code == RH_OK && hash == w->scene->hash;
    if (code == RH_OK) {
        rh_store store = rh_checkpoint_reader_store(file);
        if (same || changed) code = rh_world_get_state(w, &store, status);
        rh_code emitters = code == RH_OK && (same || changed) ? get_emitters(w, &store, path, status) : RH_OK;
        rh_checkpoint_close(file);
        if (emitters == RH_USER) return RH_USER;
        if (emitters != RH_OK) code = emitters;
        if (!same && !changed)
            return rh_fail(status, RH_USER,
                           "%s was made from a different scene (hash %016llx, this one has %016llx)\n  undo the "
                           "change, start anew without "
                           "--resume, or go on with the changed scene: --resume --changed",
                           path, (unsigned long long)hash, (unsigned long long)w->scene->hash);
    }
    if (code != RH_OK) return code == RH_MEMORY ? code : RH_IO;
    RH_TRY(match_attributes(w, wanted, path, status));
    RH_TRY(match_time(w, path, status));
    if (!same)
        rh_log(RH_LOG_WARNING, "%s was made from a different scene: what comes after it is of the changed one", path);
    return RH_OK;
}

// The newest one that is whole.
static rh_code load_newest(rh_world *world, const rh_points *wanted, char (*paths)[RH_PATH_MAX], int count,
                           bool changed, rh_status *status)
{
    for (int i = 0; i < count; i++) {
        rh_status one = {0};
        rh_code code = load(world, wanted, paths[i], changed, &one);
        if (code == RH_OK) {
            rh_log(RH_LOG_INFO, "resuming from %s: frame %lld, step %lld", paths[i], (long long)world->frame,
                   (long long)world->step);
            return RH_OK;
        }
        if (code != RH_IO) return rh_fail(status, code, "%s", one.message);
        if (i == count - 1)
            return rh_fail(status, RH_IO,
                           "%s\n  no checkpoint can be read: remove the folder `checkpoint` to begin at the first "
                           "frame again (the same frames "
                           "come out), or --force starts over",
                           one.message);
        rh_log(RH_LOG_WARNING, "%s; trying the one before", one.message);
    }
    return RH_IO;
}

static rh_code load_one_of(rh_world *world, char (*paths)[RH_PATH_MAX], int count, bool changed, rh_status *status)
{
    rh_points wanted;
    rh_points_init(&wanted);
    rh_code code = rh_points_resize(&world->points, 0, status);
    if (code == RH_OK) code = rh_points_copy(&world->points, &wanted, status);
    if (code == RH_OK) code = load_newest(world, &wanted, paths, count, changed, status);
    rh_points_free(&wanted);
    return code;
}

enum { MOST_CHECKPOINTS = 256 };

rh_code rh_world_resume(rh_world *world, const char *folder, bool changed, rh_status *status)
{
    char(*paths)[RH_PATH_MAX] = rh_alloc(sizeof *paths * MOST_CHECKPOINTS, "world.output", status);
    if (!paths) return RH_MEMORY;
    int count = rh_output_checkpoints(folder, paths, MOST_CHECKPOINTS);
    rh_code code = count ? load_one_of(world, paths, count, changed, status)
                         : rh_fail(status, RH_IO, "no checkpoint in %s to resume from", folder);
    rh_free(paths);
    return code;
}

rh_code rh_world_resume_before(rh_world *world, const char *folder, int64_t frame, rh_status *status)
{
    char(*paths)[RH_PATH_MAX] = rh_alloc(sizeof *paths * MOST_CHECKPOINTS, "world.output", status);
    if (!paths) return RH_MEMORY;
    int count = rh_output_checkpoints(folder, paths, MOST_CHECKPOINTS), from = 0;
    while (from < count && !rh_output_is_before(paths[from], frame)) from++;  // newest first
    rh_code code = from < count ? load_one_of(world, paths + from, count - from, false, status) : RH_OK;
    rh_free(paths);
    return code;
}
