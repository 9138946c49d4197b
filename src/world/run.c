// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The run: frame after frame, each written with its surface, log and checkpoints, until the last frame or a stop.
#include <math.h>
#include <stdio.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "world/parts.h"
#include "world/solid_file.h"

// Wall times (s), for the choice when to stop: the latest, or what is left of a longer one before it.
typedef struct wall_times {
    double step, frame, save;
} wall_times;

typedef struct run {
    rh_world *w;
    const rh_run_options *options;
    rh_output output;
    bool writes;
    bool mending;                 // only frames that are missing are written, and nothing else
    int64_t first_written, last;  // frames
    int64_t last_saved;
    double saved_at;  // s on the clock: the last checkpoint, or the start
    wall_times wall_times;
    int64_t surface_failures;
    bool space_told;
    size_t solids_length;  // of solids.csv; 0 before the first frame is written
} run;

// A surface that cannot be made must not cost the simulation: the frame's points are on disk, and `rheo surface` can do
// it later. But where the system refuses to write it the run stops as for any other file: on a full disk it would go on
// without, frame after frame.
static rh_code make_surface(run *r, rh_status *status)
{
    rh_world *w = r->w;
    rh_status one = {0};
    rh_code code = RH_OK;
    w->progress.surface_seconds = 0;
    for (int i = 0; i < w->material_count && code == RH_OK; i++)
        if (rh_scene_surface(w->scene, i)->while_running)
            code = rh_output_surface(&r->output, w->frame, i, w->programs, &w->progress.surface_seconds, &one);
    if (code == RH_OK) return RH_OK;
    if (code == RH_IO) return rh_fail(status, code, "%s", one.message);
    r->surface_failures++;
    rh_log(RH_LOG_WARNING, "frame %lld has no surface: %s", (long long)w->frame, one.message);
    return RH_OK;
}

static void note(double *worst, double seconds) { *worst = fmax(seconds, 0.8 * *worst); }

static int64_t bytes_of(const rh_points *points)
{
    int64_t sum = 0;
    for (int i = 0; i < points->attribute_count; i++)
        sum += points->count * (int64_t)rh_point_type_size(points->attributes[i].type);
    return sum;
}

// The user is told once, while something can still be done: when what is left on the disk will not do for the frames to
// come, judging by the files of the last one, or for another checkpoint beside those that are kept. (Judging by what
// the disk lost meanwhile took what other programs wrote for ours: 72 631 MB, with 0.8 MB a frame.) Frames grow and
// others write, so this is a guess; a write that fails is what stops the run.
static void watch_space(run *r)
{
    const rh_world *w = r->w;
    int64_t left = rh_folder_free_bytes(r->output.folder), frames = r->last - w->frame, state = 0;
    if (r->space_told || left < 0 || frames <= 0) return;
    int64_t frame = rh_output_frame_bytes(&r->output, w->frame);
    for (int i = 0; i < w->material_count; i++)
        for (int k = 0; k < w->materials[i].sets.count; k++) state += bytes_of(&w->materials[i].sets.items[k].points);
    double need = (double)frame * (double)frames + (double)state;
    if ((double)left >= need) return;
    r->space_told = true;
    rh_log(RH_LOG_WARNING, "the disk of %s has %.1f MB left; the %lld frames to come will need about %.1f MB",
           r->output.folder, (double)left * 1e-6, (long long)frames, need * 1e-6);
}

// The particle sets of all materials, with the names of their grids.
enum { MOST_SETS = RH_MAX_MATERIALS * RH_MAX_SETS, SET_NAME = RH_MATERIAL_NAME + RH_POINT_NAME + 2 };
typedef struct frame_sets {
    rh_frame_set items[MOST_SETS];
    char names[MOST_SETS][SET_NAME];
    int count;
} frame_sets;

static void list_sets(const rh_world *w, frame_sets *out)
{
    out->count = 0;
    for (int i = 0; i < w->material_count; i++)
        for (int k = 0; k < w->materials[i].sets.count; k++) {
            const rh_set *set = &w->materials[i].sets.items[k];
            char *name = out->names[out->count];
            snprintf(name, SET_NAME, "%s%s%s", w->materials[i].name, set->name[0] ? "." : "", set->name);
            out->items[out->count++] = (rh_frame_set){name, &set->points};
        }
    if (out->count == 1) out->items[0].name = "points";
}

static bool wanted(const run *r, int64_t frame)
{
    const rh_run_options *o = r->options;
    bool inside = o->range_count == 0;
    for (int i = 0; i < o->range_count; i++) inside |= frame >= o->ranges[i][0] && frame <= o->ranges[i][1];
    return inside && frame >= r->first_written;
}

// RUN/from.txt: which frames of other runs this one stood on so far.
static rh_code tell_bases(const run *r, rh_status *status)
{
    const rh_world *w = r->w;
    rh_code code = RH_OK;
    for (int i = 0; i < w->base_count && code == RH_OK; i++) {
        char *text = rh_base_frames_describe(w->bases[i], status);
        if (!text) return RH_MEMORY;
        code = rh_output_bases(&r->output, text, i == 0, status);
        rh_free(text);
    }
    return code;
}

static rh_code write_frame(run *r, rh_status *status)
{
    rh_world *w = r->w;
    if (!r->writes || !wanted(r, w->frame) || (r->mending && rh_output_has_frame(r->output.folder, w->scene, w->frame)))
        return RH_OK;
    double start = rh_seconds();
    rh_frame_info info = {w->frame,       w->time,        w->scene->frames.fps,
                          w->scene->cell, w->scene->hash, w->scene->output.up == RH_UP_Z};
    frame_sets sets;
    list_sets(w, &sets);
    RH_TRY(rh_output_frame(&r->output, sets.items, sets.count, &info, status));
    rh_owned_fields fields[RH_MAX_MATERIALS];
    int field_sets = rh_world_owned_fields(w, fields);
    RH_TRY(rh_output_fields(&r->output, fields, field_sets, &info, status));
    if (w->dynamics.count && !r->mending)
        RH_TRY(rh_solid_file_write(r->output.folder, w->scene, &w->dynamics, &w->materials[0].geometry.obstacles,
                                   w->frame, w->time, &r->solids_length, status));
    RH_TRY(tell_bases(r, status));
    RH_TRY(make_surface(r, status));
    note(&r->wall_times.frame, rh_seconds() - start);
    watch_space(r);
    return RH_OK;
}

static rh_code save(run *r, rh_status *status)
{
    double start = rh_seconds();
    RH_TRY(rh_output_flush(&r->output, status));  // a checkpoint counts on the rows before it
    RH_TRY(rh_world_save(r->w, &r->output, status));
    r->last_saved = r->w->frame;
    r->saved_at = rh_seconds();
    note(&r->wall_times.save, r->saved_at - start);
    return RH_OK;
}

static bool minutes_are_over(const run *r)
{
    double minutes = r->w->scene->checkpoint.minutes;
    return minutes > 0 && rh_seconds() - r->saved_at >= 60 * minutes;
}

static rh_code save_when_due(run *r, rh_status *status)
{
    rh_world *w = r->w;
    int64_t every = w->scene->checkpoint.frames;
    bool due = minutes_are_over(r);
    if (w->frame_done) due = due || w->frame == r->last || (every > 0 && w->frame - r->last_saved >= every);
    return r->writes && !r->mending && due ? save(r, status) : RH_OK;
}

static void tell(const run *r, bool frame_done)
{
    rh_world *w = r->w;
    double begin = rh_world_frame_time(w->scene, w->frame - 1), end = rh_world_frame_time(w->scene, w->frame);
    w->progress.first_frame = w->scene->frames.first;
    w->progress.last_frame = r->last;
    w->progress.frame = w->frame;
    w->progress.surface_failures = r->surface_failures;
    w->progress.frame_fraction = frame_done ? 1 : (w->time - begin) / (end - begin);
    if (r->options->progress) r->options->progress(&w->progress, frame_done, r->options->user);
}

static bool stop_asked(const run *r) { return r->options->stop && atomic_load(r->options->stop); }

// Would one more step, with the frame it may end and the checkpoint after it, still be in time? Steps get slower as a
// flow spreads, disks when others write: twice what was seen. A checkpoint that was not seen yet is taken to be as slow
// as two frames.
static bool time_is_short(const run *r)
{
    const wall_times *p = &r->wall_times;
    double need = 2 * (p->step + p->frame + (p->save > 0 ? p->save : 2 * p->frame));
    return r->options->deadline > 0 && rh_seconds() + need > r->options->deadline;
}

static rh_code stop_here(run *r, const char *why, rh_status *status)
{
    if (r->writes && !r->mending) RH_TRY(save(r, status));
    return rh_fail(status, RH_STOPPED, "stopped %s in frame %lld, step %lld", why, (long long)r->w->frame,
                   (long long)r->w->step);
}

// Between two steps: RH_STOPPED when the run ends here.
static rh_code stop_when_asked(run *r, rh_status *status)
{
    if (stop_asked(r)) return stop_here(r, "on request", status);
    return time_is_short(r) ? stop_here(r, "because the time is up", status) : RH_OK;
}

static rh_code write_log(run *r, bool frame_done, rh_status *status)
{
    const rh_world *w = r->w;
    rh_progress materials[RH_MAX_MATERIALS];
    for (int i = 0; i < w->material_count; i++) materials[i] = w->materials[i].progress;
    return rh_output_log(&r->output, &w->progress, rh_world_report(w), materials, w->material_count, frame_done,
                         status);
}

static rh_code write_probes(run *r, rh_status *status)
{
    const rh_material *m = &r->w->materials[r->w->stepped];
    return m->probes ? rh_output_probes(&r->output, m->index, m->probes, status) : RH_OK;
}

// All steps of the frame in progress.
static rh_code finish_frame(run *r, rh_status *status)
{
    rh_world *w = r->w;
    double end = rh_world_frame_time(w->scene, w->frame);
    int64_t before = w->step;
    while (w->time < end) {
        double start = rh_seconds();
        RH_TRY(rh_world_step_towards(w, end, status));
        note(&r->wall_times.step, rh_seconds() - start);
        if (r->writes && !r->mending) RH_TRY(write_probes(r, status));
        if (w->time >= end) break;
        if (r->writes && !r->mending) RH_TRY(write_log(r, false, status));
        tell(r, false);
        RH_TRY(stop_when_asked(r, status));
        RH_TRY(save_when_due(r, status));
    }
    RH_TRY(rh_world_complete_frame(w, status));
    w->frame_done = true;
    rh_world_finish_frame(w);
    RH_TRY(write_frame(r, status));
    if (!r->mending) RH_TRY(rh_output_flush(&r->output, status));
    // After the files, for it tells how long the surface took.
    if (r->writes && !r->mending && w->step > before) RH_TRY(write_log(r, true, status));
    RH_TRY(save_when_due(r, status));
    tell(r, true);
    return RH_OK;
}

static rh_code run_frames(run *r, rh_status *status)
{
    rh_world *w = r->w;
    if (w->step == 0 && w->frame_done) {
        RH_TRY(rh_world_begin(w, status));
        for (int i = 0; i < w->material_count; i++) rh_material_fill_progress(&w->materials[i], 0, 0);
        rh_world_fill_progress(w);
        RH_TRY(write_frame(r, status));
        tell(r, true);
    }
    while (!(w->frame_done && w->frame >= r->last)) {
        RH_TRY(stop_when_asked(r, status));
        if (w->frame_done) rh_world_start_frame(w, w->frame + 1);
        RH_TRY(finish_frame(r, status));
    }
    return RH_OK;
}

// The particles as they were when numbers went wrong, for people to look at: RUN/debug/points.0012.ply, which can hold
// what is not finite.
static void write_debug_frame(const run *r)
{
    const rh_world *w = r->w;
    char path[RH_PATH_MAX];
    rh_status status = {0};
    rh_frame_info info = {w->frame,       w->time,        w->scene->frames.fps,
                          w->scene->cell, w->scene->hash, w->scene->output.up == RH_UP_Z};
    if (rh_output_debug(&r->output, w->materials[w->stepped].points, &info, path, &status) == RH_OK)
        rh_log(RH_LOG_INFO, "the particles at that moment are in %s", path);
    else rh_log(RH_LOG_WARNING, "the particles at that moment could not be written: %s", status.message);
}

static void name_last_checkpoint(const char *folder)
{
    char path[RH_PATH_MAX];
    if (rh_output_newest(folder, path))
        rh_log(RH_LOG_WARNING, "the last good checkpoint is %s; --resume goes on from there", path);
    else rh_log(RH_LOG_WARNING, "there is no checkpoint yet in %s; --resume starts at the first frame", folder);
}

static run prepare(rh_world *world, const rh_run_options *options)
{
    const rh_scene *scene = world->scene;
    return (run){.w = world,
                 .options = options,
                 .writes = options->folder != NULL,
                 .first_written = options->first ? options->first : scene->frames.first,
                 .last = options->last ? options->last : scene->frames.last,
                 .last_saved = world->frame,
                 .saved_at = rh_seconds()};
}

rh_code rh_world_run(rh_world *world, const rh_run_options *options, rh_status *status)
{
    run r = prepare(world, options);
    world->stop_now = options->stop_now;
    if (r.writes)
        RH_TRY(rh_output_open(&r.output, world->scene, options->folder, r.last, world->step, options->resumed, status));
    rh_code code = RH_OK;
    for (int i = 0; r.writes && code == RH_OK && i < world->material_count; i++) {
        const rh_material *m = &world->materials[i];
        if (m->probes) code = rh_output_open_probes(&r.output, i, m->probes, m->time, m->step > 0, status);
    }
    if (code == RH_OK) code = run_frames(&r, status);
    world->stop_now = NULL;
    if (code == RH_NUMERIC && r.writes) write_debug_frame(&r);
    if ((code == RH_OK || code == RH_STOPPED) && r.writes && world->dynamics.count) {
        rh_code told = rh_solid_file_json(options->folder, world->scene, code == RH_OK ? status : NULL);
        if (code == RH_OK) code = told;
    }
    if (r.writes) rh_output_close(&r.output);
    if (code != RH_OK && code != RH_STOPPED && r.writes) name_last_checkpoint(options->folder);
    return code;
}

// --- frames that went missing ----------------------------------------------------------------------------------------
// Such a frame is simulated again, with the same bits. A repair that is stopped keeps what it has written but saves no
// checkpoint, because one of an earlier step than the newest would be the first to be pruned: the next one begins again
// before the first frame that is still missing.

typedef struct gap {
    int64_t first, last, count;  // frames
} gap;

static gap find_gap(const run *r, int64_t until)
{
    gap g = {0};
    for (int64_t frame = r->first_written; frame <= until && frame <= r->last; frame++) {
        if (!wanted(r, frame) || rh_output_has_frame(r->output.folder, r->w->scene, frame)) continue;
        if (g.count++ == 0) g.first = frame;
        g.last = frame;
    }
    return g;
}

static rh_code mend_frames(run *r, int64_t until, rh_status *status)
{
    gap g = find_gap(r, until);
    if (g.count == 0) return RH_OK;
    rh_log(RH_LOG_INFO, "%lld frame%s missing (the first is %lld): making %s again", (long long)g.count,
           g.count == 1 ? " is" : "s are", (long long)g.first, g.count == 1 ? "it" : "them");
    RH_TRY(rh_world_resume_before(r->w, r->output.folder, g.first, status));
    int64_t last = r->last;
    r->last = g.last;
    rh_code code = run_frames(r, status);
    r->last = last;
    return code;
}

static rh_code mend_surfaces(run *r, int64_t until, rh_status *status)
{
    rh_world *w = r->w;
    if (!rh_scene_surfaces_while_running(w->scene)) return RH_OK;
    for (int64_t frame = r->first_written; frame <= until && frame <= r->last; frame++) {
        if (!wanted(r, frame) || rh_output_has_surface(r->output.folder, w->scene, frame)) continue;
        w->frame = frame;
        RH_TRY(make_surface(r, status));
    }
    return RH_OK;
}

rh_code rh_world_mend(rh_world *world, const rh_run_options *options, rh_status *status)
{
    int64_t until;
    run r = prepare(world, options);
    if (!rh_output_newest_frame(options->folder, &until)) return RH_OK;
    r.mending = true;
    RH_TRY(rh_output_reopen(&r.output, world->scene, options->folder, r.last, status));
    RH_TRY(mend_frames(&r, until, status));
    return mend_surfaces(&r, until, status);
}
