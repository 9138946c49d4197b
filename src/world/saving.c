// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The state of a run in checkpoints, and back. What is in a checkpoint is all that decides what comes after it.
#include <string.h>
#include "base/log.h"
#include "base/memory.h"
#include "io/checkpoint.h"
#include "world/parts.h"

// Names of sets: "points" is the main one.
static const char *set_name(const rh_set *set) { return set->name[0] ? set->name : "points"; }

rh_code rh_material_put_state(const rh_material *m, const rh_store *to, rh_status *status)
{
    for (int i = 0; i < m->sets.count; i++)
        RH_TRY(rh_store_put_points(to, set_name(&m->sets.items[i]), &m->sets.items[i].points, status));
    RH_TRY(rh_store_put_int(to, "substeps", m->substeps, status));
    RH_TRY(rh_store_put_int(to, "step", m->step, status));
    RH_TRY(rh_store_put_float(to, "time", m->time, status));
    RH_TRY(rh_store_put_float(to, "last_dt", m->last_dt, status));
    RH_TRY(rh_store_put_int(to, "next_id", m->seeder.next_id, status));
    RH_TRY(rh_store_put_int(to, "emitted", m->seeder.emitted, status));
    RH_TRY(rh_store_put_int(to, "removed", m->seeder.removed, status));
    if (rh_scene_material_count(m->scene) > 1) {  // one alone gives and receives nothing
        RH_TRY(rh_store_put_int(to, "received", m->seeder.received, status));
        RH_TRY(rh_store_put_int(to, "given", m->seeder.given, status));
    }
    RH_TRY(rh_store_put_bytes(to, "balance", &m->seeder.balance, sizeof m->seeder.balance, status));
    RH_TRY(rh_store_put_bytes(to, "emitted_until", m->seeder.emitted_until,
                              (size_t)m->scene->emitters.count * sizeof(double), status));
    if (m->probes) {
        size_t bytes;
        const double *state = rh_probes_state(m->probes, &bytes);
        RH_TRY(rh_store_put_bytes(to, "probes", state, bytes, status));
    }
    if (m->fields.field_count) RH_TRY(rh_fields_put(&m->fields, to, status));
    rh_store own = rh_store_within(to, m->physics->name);
    return m->physics->save ? m->physics->save(m->method, &own, status) : RH_OK;
}

// The state of a run with one material has no part of its own: so it was before there were several.
static rh_store part_of(const rh_world *w, int material, const rh_store *store)
{
    return w->material_count > 1 ? rh_store_within(store, w->materials[material].name) : *store;
}

rh_code rh_world_put_state(const rh_world *w, const rh_store *to, rh_status *status)
{
    rh_store bases = rh_store_within(to, "from");
    for (int i = 0; i < w->base_count; i++) RH_TRY(rh_base_frames_put(w->bases[i], &bases, status));
    RH_TRY(rh_store_put_int(to, "frame", w->frame, status));
    RH_TRY(rh_store_put_int(to, "frame_done", w->frame_done, status));
    RH_TRY(rh_store_put_int(to, "begun", w->begun, status));
    if (w->material_count > 1) RH_TRY(rh_store_put_int(to, "step", w->step, status));
    if (w->material_count > 1) RH_TRY(rh_store_put_float(to, "time", w->time, status));
    if (w->material_count > 1) RH_TRY(rh_store_put_float(to, "meeting", w->meeting, status));
    size_t rests = (size_t)w->scene->exchanges.count * sizeof *w->rests;
    if (rests) RH_TRY(rh_store_put_bytes(to, "rests", w->rests, rests, status));
    rh_store solids = rh_store_within(to, "solids");
    RH_TRY(rh_dynamics_put(&w->dynamics, &solids, status));
    for (int i = 0; i < w->material_count; i++) {
        rh_store part = part_of(w, i, to);
        RH_TRY(rh_material_put_state(&w->materials[i], &part, status));
    }
    return RH_OK;
}

rh_code rh_world_save(const rh_world *w, const rh_output *output, rh_status *status)
{
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
static void get_balance(rh_material *m, const rh_store *from)
{
    m->seeder.lag = 0.5 * m->last_dt;
    rh_balance *balance = &m->seeder.balance;
    bool there = rh_store_get_exactly(from, "balance", balance, sizeof *balance, NULL) == RH_OK;
    if (there) return;
    rh_totals all = rh_balance_totals(m->points, m->seeder.unit_radius, m->around.gravity);
    m->seeder.balance = (rh_balance){.energy_in = rh_totals_energy(&all, m->around.gravity, m->seeder.lag),
                                     .momentum_in = all.momentum};
}

// A scene may have other probes than when the checkpoint was made: those begin to measure now.
static void get_probes(rh_material *m, const rh_store *from)
{
    void *found = NULL;
    size_t bytes = 0;
    if (!m->probes) return;
    if (rh_store_get_bytes(from, "probes", &found, &bytes, NULL) != RH_OK) bytes = 0;
    rh_probes_set_state(m->probes, found, bytes, m->time);
    rh_free(found);
}

rh_code rh_material_get_state(rh_material *m, const rh_store *from, rh_status *status)
{
    int64_t substeps;
    RH_TRY(rh_store_get_int(from, "substeps", &substeps, status));
    RH_TRY(rh_store_get_int(from, "step", &m->step, status));
    RH_TRY(rh_store_get_float(from, "time", &m->time, status));
    RH_TRY(rh_store_get_float(from, "last_dt", &m->last_dt, status));
    RH_TRY(rh_store_get_int(from, "next_id", &m->seeder.next_id, status));
    RH_TRY(rh_store_get_int(from, "emitted", &m->seeder.emitted, status));
    RH_TRY(rh_store_get_int(from, "removed", &m->seeder.removed, status));
    m->substeps = (int)substeps;
    if (rh_scene_material_count(m->scene) > 1) {
        RH_TRY(rh_store_get_int(from, "received", &m->seeder.received, status));
        RH_TRY(rh_store_get_int(from, "given", &m->seeder.given, status));
    }
    get_probes(m, from);
    for (int i = 0; i < m->sets.count; i++)
        RH_TRY(rh_store_get_points(from, set_name(&m->sets.items[i]), &m->sets.items[i].points, status));
    get_balance(m, from);
    if (m->fields.field_count) RH_TRY(rh_fields_get(&m->fields, from, status));
    rh_store own = rh_store_within(from, m->physics->name);
    return m->physics->load ? m->physics->load(m->method, &own, status) : RH_OK;
}

rh_code rh_world_get_state(rh_world *w, const rh_store *from, rh_status *status)
{
    int64_t done, begun;
    RH_TRY(rh_store_get_int(from, "frame", &w->frame, status));
    RH_TRY(rh_store_get_int(from, "frame_done", &done, status));
    RH_TRY(rh_store_get_int(from, "step", &w->step, status));
    RH_TRY(rh_store_get_float(from, "time", &w->time, status));
    if (w->material_count > 1) RH_TRY(rh_store_get_float(from, "meeting", &w->meeting, status));
    w->frame_done = done;
    // Checkpoints of earlier versions do not say.
    w->begun = rh_store_get_int(from, "begun", &begun, NULL) == RH_OK ? begun != 0 : w->step > 0;
    size_t rests = (size_t)w->scene->exchanges.count * sizeof *w->rests;
    if (rests && rh_store_get_exactly(from, "rests", w->rests, rests, NULL) != RH_OK)  // those of earlier versions
        memset(w->rests, 0, rests);
    rh_store solids = rh_store_within(from, "solids");
    RH_TRY(rh_dynamics_get(&w->dynamics, &solids, status));
    for (int i = 0; i < w->material_count; i++) {
        rh_store part = part_of(w, i, from);
        RH_TRY(rh_material_get_state(&w->materials[i], &part, status));
        rh_dynamics_pose(&w->dynamics, &w->materials[i].geometry.obstacles);
    }
    return RH_OK;
}

// RH_USER when the scene has another number of emitters.
static rh_code get_emitters_of(rh_material *m, const rh_store *from, const char *path, rh_status *status)
{
    void *until;
    size_t bytes, expected = (size_t)m->scene->emitters.count * sizeof(double);
    if (rh_store_get_bytes(from, "emitted_until", &until, &bytes, status) != RH_OK) return RH_IO;
    if (bytes == expected) memcpy(m->seeder.emitted_until, until, bytes);
    rh_free(until);
    if (bytes == expected) return RH_OK;
    return rh_fail(
        status, RH_USER,
        "%s: has %zu emitters, the scene %d: their number must stay (one that has stopped may stand for none)", path,
        bytes / sizeof(double), m->scene->emitters.count);
}

static rh_code get_emitters(rh_world *w, const rh_store *from, const char *path, rh_status *status)
{
    for (int i = 0; i < w->material_count; i++) {
        rh_store part = part_of(w, i, from);
        RH_TRY(get_emitters_of(&w->materials[i], &part, path, status));
    }
    return RH_OK;
}

// What the world has made ready (`wanted`: no points, only the attributes) and what the checkpoint has. Attributes of
// programs that are new begin with zeros.
static rh_code match_set(rh_points *points, const rh_points *wanted, int declared, const char *path, rh_status *status)
{
    for (int i = 0; i < wanted->attribute_count; i++) {
        const rh_attribute *a = &wanted->attributes[i], *b = rh_points_find(points, a->name);
        if (!b && i >= declared) RH_TRY(rh_points_add(points, a->name, a->type, status));
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

// The sets of all materials, one after the other.
static rh_code match_attributes(rh_world *w, const rh_points *wanted, const char *path, rh_status *status)
{
    for (int i = 0; i < w->material_count; i++) {
        rh_material *m = &w->materials[i];
        for (int k = 0; k < m->sets.count; k++, wanted++)
            RH_TRY(match_set(&m->sets.items[k].points, wanted, k == 0 ? m->declared : wanted->attribute_count, path,
                             status));
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
    RH_TRY(get_emitters(w, &store, "the snapshot", status));
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

// RH_USER when the runs that this one stands on have changed.
static rh_code get_bases(rh_world *w, const rh_store *from, bool changed, rh_status *status)
{
    rh_store part = rh_store_within(from, "from");
    for (int i = 0; i < w->base_count; i++) RH_TRY(rh_base_frames_get(w->bases[i], &part, changed, status));
    return RH_OK;
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
        rh_code bases = same || changed ? get_bases(w, &store, changed, status) : RH_OK;
        if (bases == RH_OK && (same || changed)) code = rh_world_get_state(w, &store, status);
        rh_code emitters = code == RH_OK && bases == RH_OK && (same || changed) ? get_emitters(w, &store, path, status)
                                                                                : RH_OK;
        rh_checkpoint_close(file);
        if (bases != RH_OK) return bases;  // an older checkpoint would not help
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
    int sets = 0, made = 0;
    for (int i = 0; i < world->material_count; i++) sets += world->materials[i].sets.count;
    rh_points *wanted = rh_alloc_zero((size_t)sets * sizeof *wanted, "world", status);
    if (!wanted) return RH_MEMORY;
    rh_code code = RH_OK;
    for (int i = 0; i < world->material_count; i++)
        for (int k = 0; k < world->materials[i].sets.count && code == RH_OK; k++) {
            rh_points *points = &world->materials[i].sets.items[k].points;
            code = rh_points_resize(points, 0, status);
            if (code == RH_OK) code = rh_points_copy(points, &wanted[made++], status);
        }
    if (code == RH_OK) code = load_newest(world, wanted, paths, count, changed, status);
    for (int i = 0; i < sets; i++) rh_points_free(&wanted[i]);
    rh_free(wanted);
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
