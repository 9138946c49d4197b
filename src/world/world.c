// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Time: frame `first` is the state at time 0, frame f the state at (f - first) / fps. A frame is reached by equal steps, none longer
// than the physics allows; how many is decided anew before each step from the state alone, so a run that is stopped
// anywhere and resumed takes the same steps.
#include "world/world.h"

#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "grid/tiles.h"
#include "io/checkpoint.h"
#include "world/build.h"
#include "world/forces.h"
#include "world/hooks.h"
#include "world/output.h"
#include "world/seed.h"

enum { MAX_INFLOWS = 64 };
enum { MANY_STEPS = 256 };  // in one frame: the user is told, once

struct rh_world {
    const rh_scene *scene;
    const rh_physics *physics;
    void *method;  // the physics' own object
    rh_stage_set stage;
    rh_seeder seeder;
    rh_points points;
    rh_inflow inflows[MAX_INFLOWS];
    rh_surroundings around;
    rh_lang_cache *programs;  // NULL when the scene has none
    rh_hooks *hooks;
    bool begun;        // the first frame is done: what emitters pour at time 0 and programs say to it
    double time;
    double last_dt;    // s, of the last step; 0 before the first
    int64_t frame;     // in progress, or the last one done when `frame_done`
    bool frame_done;
    int substeps;
    int64_t step;
    rh_progress progress;
    rh_step_report report;
};

static double frame_time(const rh_scene *scene, int64_t frame) { return (double)(frame - scene->frames.first) / scene->frames.fps; }

static rh_code set_radius(rh_world *w, rh_status *status)
{
    // Radius of the ball (disc) with the volume a particle stands for.
    double s = w->seeder.spacing, pi = 3.14159265358979323846;
    float radius = (float)(w->seeder.dimension == 3 ? s * cbrt(3 / (4 * pi)) : s / sqrt(pi));
    return rh_points_add_uniform(&w->points, "radius", RH_POINT_F32, &radius, status);
}

static void set_surroundings(rh_world *w)
{
    const rh_scene *scene = w->scene;
    w->around = (rh_surroundings){.dimension = (int)scene->dimension, .cell = scene->cell, .seed = (uint64_t)scene->seed, .gravity = scene->gravity,
                                  .obstacles = &w->stage.obstacles, .inflows = w->inflows};
    if (scene->dimension == 2) w->around.gravity.z = 0;
    w->around.user = scene;
}

// The attributes of the world and of the method; what comes later is the user's.
static rh_code declare_points(rh_world *w, rh_status *status)
{
    RH_TRY(rh_points_add(&w->points, "P", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(&w->points, "v", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(&w->points, "id", RH_POINT_I64, status));
    RH_TRY(set_radius(w, status));
    RH_TRY(w->physics->create(w->scene->physics.value, &w->around, &w->points, &w->method, status));
    return w->scene->rest ? rh_points_add(&w->points, "rest", RH_POINT_VEC3F, status) : RH_OK;
}

static rh_code make_hooks(rh_world *w, rh_status *status)
{
    enum { KEPT = 64 };
    if (!w->scene->expressions.count && !w->scene->surface.expression) return RH_OK;
    RH_TRY(rh_lang_cache_create(KEPT, &w->programs, status));
    return w->scene->expressions.count ? rh_hooks_create(w->scene, &w->points, w->programs, &w->hooks, status) : RH_OK;
}

static rh_code at_moment(rh_world *w, rh_expression_at at, double dt, int64_t first, rh_status *status)
{
    if (!w->hooks) return RH_OK;
    const rh_moment moment = {.at = at, .time = w->time, .dt = dt, .frame = w->frame, .step = w->step, .first = first};
    return rh_hooks_run(w->hooks, &moment, &w->points, &w->seeder.removed, status);
}

static rh_code emit(rh_world *w, rh_status *status)
{
    int64_t before = w->points.count;
    RH_TRY(rh_emit(&w->seeder, w->time, &w->points, status));
    return w->points.count > before ? at_moment(w, RH_AT_EMIT, w->last_dt, before, status) : RH_OK;
}

// Emitters that start at once belong to the first frame.
static rh_code begin(rh_world *w, rh_status *status)
{
    if (w->begun) return RH_OK;
    w->begun = true;
    RH_TRY(emit(w, status));
    return at_moment(w, RH_AT_FRAME, 0, 0, status);
}

static rh_code build(rh_world *w, rh_status *status)
{
    const rh_scene *scene = w->scene;
    rh_points_init(&w->points);
    RH_TRY(rh_stage_build(scene, &w->stage, status));
    RH_TRY(rh_seeder_init(&w->seeder, &w->stage, w->physics->per_cell_axis(scene->physics.value), w->physics->on_lattice, status));
    set_surroundings(w);
    RH_TRY(declare_points(w, status));
    RH_TRY(make_hooks(w, status));
    RH_TRY(rh_seed_bodies(&w->seeder, &w->points, status));
    w->frame = scene->frames.first;
    w->frame_done = true;
    return at_moment(w, RH_AT_START, 0, 0, status);
}

rh_code rh_world_create(const rh_scene *scene, rh_world **out, rh_status *status)
{
    *out = NULL;
    rh_world *w = rh_alloc_zero(sizeof *w, "world", status);
    if (!w) return RH_MEMORY;
    w->scene = scene;
    w->physics = rh_physics_methods[scene->physics.kind];
    rh_code code = build(w, status);
    if (code == RH_OK) *out = w;
    else rh_world_free(w);
    return code;
}

void rh_world_free(rh_world *world)
{
    if (!world) return;
    if (world->method) world->physics->destroy(world->method);
    rh_hooks_free(world->hooks);
    rh_lang_cache_free(world->programs);
    rh_points_free(&world->points);
    rh_seeder_free(&world->seeder);
    rh_stage_free(&world->stage);
    rh_free(world);
}

const rh_points *rh_world_points(const rh_world *world) { return &world->points; }
rh_points *rh_world_points_mutable(rh_world *world) { return &world->points; }
double rh_world_time(const rh_world *world) { return world->time; }
const rh_step_report *rh_world_report(const rh_world *w) { return &w->report; }
void rh_world_progress(const rh_world *world, rh_progress *out) { *out = world->progress; }

// --- one step -----------------------------------------------------------------------------------------------------
static void fill_progress(rh_world *w, double dt, double seconds)
{
    const rh_step_report *r = &w->report;
    double per_particle = pow(w->seeder.spacing, w->seeder.dimension), expected = per_particle * (double)w->points.count;
    w->progress = (rh_progress){
        .frame = w->frame, .time = w->time, .substeps = w->substeps, .step = w->step, .dt = dt, .particles = w->points.count,
        .cells = r->cells, .tiles = r->tiles, .iterations = r->iterations, .residual = r->residual, .volume = r->volume,
        .volume_error = expected > 0 && r->volume > 0 ? r->volume / expected - 1 : 0, .max_speed = r->max_speed,
        .compile_seconds = w->programs ? rh_lang_cache_seconds(w->programs) : 0, .emitted = w->seeder.emitted, .removed = w->seeder.removed, .memory_bytes = rh_memory_bytes(), .seconds = seconds};
}

// The step to take when `left` seconds remain: equal parts of it, none longer than the physics allows.
static double choose_step(rh_world *w, double left)
{
    double most = w->physics->max_step(w->method, &w->around, &w->points);
    if (w->points.count == 0) {
        // Nothing to move; emitters still run, and an emitter may carry liquid a long way in a long step.
        most = left;
        for (int i = 0; i < w->scene->emitters.count; i++) {
            double speed = rh_d3_length(((const rh_emitter_params *)w->scene->emitters.items)[i].velocity);
            if (speed > 0) most = fmin(most, w->scene->cell / speed);
        }
    }
    double parts = ceil(left / most - 1e-9);
    return parts > 1 ? left / parts : left;
}

// What programs took since they were asked last: a stage of its own, the last one. Returns it (s).
static double add_stage(rh_world *w)
{
    static const char name[] = "expressions";
    rh_step_report *r = &w->report;
    if (!w->hooks) return 0;
    double seconds = rh_hooks_take_seconds(w->hooks);
    bool there = r->stage_count > 0 && r->stage_names[r->stage_count - 1] == name;
    if (!there && r->stage_count == RH_MAX_STAGES) return seconds;
    if (!there) {
        r->stage_names[r->stage_count] = name;
        r->stage_seconds[r->stage_count++] = 0;
    }
    r->stage_seconds[r->stage_count - 1] += seconds;
    return seconds;
}

rh_code rh_world_step(rh_world *w, double dt_limit, double *dt, rh_status *status)
{
    double start = rh_seconds();
    if (w->hooks) rh_hooks_take_seconds(w->hooks);  // of moments before this step
    RH_TRY(begin(w, status));
    RH_TRY(emit(w, status));
    RH_TRY(rh_drain(&w->seeder, w->time, &w->points, status));
    w->around.time = w->time;
    w->around.step = w->step;
    w->around.previous_dt = w->last_dt;
    w->around.inflow_count = rh_inflows(&w->seeder, w->time, w->inflows, MAX_INFLOWS);
    w->around.strongest = rh_forces_strongest(w->scene, w->time, w->time + dt_limit);
    double step = choose_step(w, dt_limit);
    if (!(step > 1e-9 * dt_limit) || !isfinite(step))
        return rh_fail(status, RH_NUMERIC, "step %lld at time %g s: the velocities are so high that no time step is small enough", (long long)w->step + 1, w->time);
    bool forces = rh_forces_act(w->scene, w->time - w->last_dt, w->time + step);
    w->around.acceleration = forces ? rh_forces_acceleration : NULL;
    // The step was chosen before the programs push: they need its length. A push beyond what the step allows is seen by the next one.
    RH_TRY(at_moment(w, RH_AT_FORCES, step, 0, status));
    rh_code code = w->physics->step(w->method, &w->around, step, &w->points, &w->report, status);
    if (code != RH_OK) {
        rh_status_prefix(status, "step %lld at time %g s", (long long)w->step + 1, w->time);
        return code;
    }
    w->time += step;
    w->last_dt = step;
    w->step++;
    if (++w->substeps == MANY_STEPS)
        rh_log(RH_LOG_WARNING, "frame %lld has taken %d steps: something moves at %.3g m/s, %.3g cells a frame", (long long)w->frame, MANY_STEPS,
               w->report.max_speed, w->report.max_speed / w->scene->cell / w->scene->frames.fps);
    RH_TRY(at_moment(w, RH_AT_STEP, step, 0, status));
    add_stage(w);
    if (dt) *dt = step;
    fill_progress(w, step, rh_seconds() - start);
    return RH_OK;
}

// As rh_world_step towards the end of a frame; a sliver left by rounding counts as arrived.
static rh_code step_towards(rh_world *w, double end, rh_status *status)
{
    RH_TRY(rh_world_step(w, end - w->time, NULL, status));
    if (end - w->time < 1e-9 / w->scene->frames.fps) w->time = end;
    w->progress.time = w->time;
    return RH_OK;
}

rh_code rh_world_advance_to(rh_world *world, int64_t frame, rh_status *status)
{
    RH_TRY(begin(world, status));
    // Without programs at frames nothing happens in between, and steps need not end there.
    bool every = world->hooks && rh_hooks_any(world->hooks, RH_AT_FRAME);
    while (!world->frame_done || world->frame < frame) {
        if (world->frame_done) {
            world->frame = every ? world->frame + 1 : frame;
            world->frame_done = false;
            world->substeps = 0;
        }
        double end = frame_time(world->scene, world->frame);
        while (world->time < end) RH_TRY(step_towards(world, end, status));
        RH_TRY(at_moment(world, RH_AT_FRAME, world->last_dt, 0, status));
        world->frame_done = true;
    }
    return RH_OK;
}

// --- checkpoints --------------------------------------------------------------------------------------------------
static rh_code put_state(const rh_world *w, rh_checkpoint_writer *file, rh_status *status)
{
    RH_TRY(rh_checkpoint_put_points(file, &w->points, status));
    RH_TRY(rh_checkpoint_put_int(file, "frame", w->frame, status));
    RH_TRY(rh_checkpoint_put_int(file, "frame_done", w->frame_done, status));
    RH_TRY(rh_checkpoint_put_int(file, "begun", w->begun, status));
    RH_TRY(rh_checkpoint_put_int(file, "substeps", w->substeps, status));
    RH_TRY(rh_checkpoint_put_int(file, "step", w->step, status));
    RH_TRY(rh_checkpoint_put_float(file, "time", w->time, status));
    RH_TRY(rh_checkpoint_put_float(file, "last_dt", w->last_dt, status));
    RH_TRY(rh_checkpoint_put_int(file, "next_id", w->seeder.next_id, status));
    RH_TRY(rh_checkpoint_put_int(file, "emitted", w->seeder.emitted, status));
    RH_TRY(rh_checkpoint_put_int(file, "removed", w->seeder.removed, status));
    return rh_checkpoint_put_blob(file, "emitted_until", w->seeder.emitted_until, (size_t)w->scene->emitters.count * sizeof(double), status);
}

static rh_code save(const rh_world *w, const rh_output *output, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(rh_output_checkpoint_path(output, w->frame, w->step, w->frame_done, path, status));
    rh_checkpoint_writer *file;
    RH_TRY(rh_checkpoint_create(path, w->scene->hash, &file, status));
    if (put_state(w, file, status) != RH_OK) {
        rh_checkpoint_abandon(file);
        return status ? status->code : RH_IO;
    }
    RH_TRY(rh_checkpoint_commit(file, status));
    rh_output_prune(output, w->scene->checkpoint.keep);
    return RH_OK;
}

static rh_code get_state(rh_world *w, rh_checkpoint_reader *file, rh_status *status)
{
    int64_t done, substeps, begun;
    void *until;
    size_t bytes;
    RH_TRY(rh_checkpoint_get_int(file, "frame", &w->frame, status));
    RH_TRY(rh_checkpoint_get_int(file, "frame_done", &done, status));
    RH_TRY(rh_checkpoint_get_int(file, "substeps", &substeps, status));
    RH_TRY(rh_checkpoint_get_int(file, "step", &w->step, status));
    RH_TRY(rh_checkpoint_get_float(file, "time", &w->time, status));
    RH_TRY(rh_checkpoint_get_float(file, "last_dt", &w->last_dt, status));
    RH_TRY(rh_checkpoint_get_int(file, "next_id", &w->seeder.next_id, status));
    RH_TRY(rh_checkpoint_get_int(file, "emitted", &w->seeder.emitted, status));
    RH_TRY(rh_checkpoint_get_int(file, "removed", &w->seeder.removed, status));
    w->frame_done = done;
    // Checkpoints of earlier versions do not say.
    w->begun = rh_checkpoint_get_int(file, "begun", &begun, NULL) == RH_OK ? begun != 0 : w->step > 0;
    w->substeps = (int)substeps;
    size_t expected = (size_t)w->scene->emitters.count * sizeof(double);
    if (expected) {
        RH_TRY(rh_checkpoint_get_blob(file, "emitted_until", &until, &bytes, status));
        if (bytes == expected) memcpy(w->seeder.emitted_until, until, bytes);
        rh_free(until);
        if (bytes != expected) return rh_fail(status, RH_IO, "the checkpoint has %zu emitters, the scene %d", bytes / sizeof(double), w->scene->emitters.count);
    }
    rh_points_free(&w->points);
    rh_points_init(&w->points);
    return rh_checkpoint_get_points(file, &w->points, status);
}

static rh_code load(rh_world *w, const char *path, rh_status *status)
{
    uint64_t hash;
    rh_checkpoint_reader *file;
    rh_code code = rh_checkpoint_open(path, &file, &hash, status);
    if (code == RH_OK) {
        if (hash == w->scene->hash) code = get_state(w, file, status);
        rh_checkpoint_close(file);
        if (hash != w->scene->hash)
            return rh_fail(status, RH_USER, "%s was made from a different scene (hash %016llx, this one has %016llx); start anew without "
                           "--resume, or undo the change", path, (unsigned long long)hash, (unsigned long long)w->scene->hash);
    }
    return code == RH_OK || code == RH_MEMORY ? code : RH_IO;  // damaged, whatever the reader calls it: an older one may do
}

rh_code rh_world_resume(rh_world *world, const char *folder, rh_status *status)
{
    enum { MAX = 256 };
    char(*paths)[RH_PATH_MAX] = rh_alloc(sizeof *paths * MAX, "world.output", status);
    if (!paths) return RH_MEMORY;
    int count = rh_output_checkpoints(folder, paths, MAX);
    rh_code code = count ? RH_OK : rh_fail(status, RH_IO, "no checkpoint in %s to resume from", folder);
    for (int i = 0; i < count; i++) {
        rh_status one = {0};
        code = load(world, paths[i], &one);
        if (code == RH_OK) {
            rh_log(RH_LOG_INFO, "resuming from %s: frame %lld, step %lld", paths[i], (long long)world->frame, (long long)world->step);
            break;
        }
        if (code == RH_USER || i == count - 1) {
            rh_fail(status, code, "%s", one.message);
            break;
        }
        rh_log(RH_LOG_WARNING, "%s; trying the one before", one.message);
    }
    rh_free(paths);
    return code;
}

// --- the run ------------------------------------------------------------------------------------------------------
typedef struct run {
    rh_world *w;
    const rh_run_options *options;
    rh_output output;
    bool writes;
    int64_t first_written, last;  // frames
    int64_t last_saved;
    int64_t surface_failures;
} run;

// A surface that cannot be made must not cost the simulation: the frame's points are on disk, and `rheo surface` can do it later.
static void make_surface(run *r)
{
    rh_world *w = r->w;
    rh_status status = {0};
    if (!w->scene->surface.while_running) return;
    if (rh_output_surface(&r->output, w->frame, w->programs, &w->progress.surface_seconds, &status) == RH_OK) return;
    r->surface_failures++;
    rh_log(RH_LOG_WARNING, "frame %lld has no surface: %s", (long long)w->frame, status.message);
}

static rh_code write_frame(run *r, rh_status *status)
{
    rh_world *w = r->w;
    if (!r->writes || w->frame < r->first_written) return RH_OK;
    rh_frame_info info = {w->frame, w->time, w->scene->frames.fps, w->scene->cell, w->scene->hash, w->scene->output.up == RH_UP_Z};
    RH_TRY(rh_output_frame(&r->output, &w->points, &info, status));
    make_surface(r);
    return RH_OK;
}

static rh_code save_when_due(run *r, rh_status *status)
{
    rh_world *w = r->w;
    int64_t every = w->scene->checkpoint.frames;
    bool due = w->frame == r->last || (every > 0 && w->frame - r->last_saved >= every);
    if (!r->writes || !due) return RH_OK;
    r->last_saved = w->frame;
    return save(w, &r->output, status);
}

static void tell(const run *r, bool frame_done)
{
    rh_world *w = r->w;
    double begin = frame_time(w->scene, w->frame - 1), end = frame_time(w->scene, w->frame);
    w->progress.first_frame = w->scene->frames.first;
    w->progress.last_frame = r->last;
    w->progress.frame = w->frame;
    w->progress.surface_failures = r->surface_failures;
    w->progress.frame_fraction = frame_done ? 1 : (w->time - begin) / (end - begin);
    if (r->options->progress) r->options->progress(&w->progress, frame_done, r->options->user);
}

static bool stop_asked(const run *r) { return r->options->stop && atomic_load(r->options->stop); }

static rh_code stop_here(run *r, rh_status *status)
{
    if (r->writes) RH_TRY(save(r->w, &r->output, status));
    return rh_fail(status, RH_STOPPED, "stopped on request in frame %lld, step %lld", (long long)r->w->frame, (long long)r->w->step);
}

// Sums by block, in fixed order.
static rh_code measure_energy(rh_world *w, rh_status *status)
{
    int64_t count = w->points.count, blocks = rh_blocks(count);
    double *sums = rh_alloc((size_t)(2 * blocks + 1) * sizeof *sums, "world.energy", status), *heights = sums + blocks;
    if (!sums) return RH_MEMORY;
    const rh_vec3 *p = rh_points_data(&w->points, "P", RH_POINT_VEC3F), *v = rh_points_data(&w->points, "v", RH_POINT_VEC3F);
    rh_dvec3 g = w->around.gravity;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        sums[b] = heights[b] = 0;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, count); i++) {
            sums[b] += 0.5 * (double)rh_v3_dot(v[i], v[i]);
            heights[b] -= rh_d3_dot(g, rh_d3_from(p[i]));
        }
    }
    double mass = w->physics->density(w->scene->physics.value) * pow(w->seeder.spacing, w->seeder.dimension);
    w->progress.kinetic_energy = mass * rh_sum(sums, blocks);
    w->progress.potential_energy = mass * rh_sum(heights, blocks);
    rh_free(sums);
    return RH_OK;
}

// All steps of the frame in progress.
static rh_code finish_frame(run *r, rh_status *status)
{
    rh_world *w = r->w;
    double end = frame_time(w->scene, w->frame);
    int64_t before = w->step;
    while (w->time < end) {
        RH_TRY(step_towards(w, end, status));
        if (w->time >= end) break;
        if (r->writes) RH_TRY(rh_output_log(&r->output, &w->progress, &w->report, false, status));
        tell(r, false);
        if (stop_asked(r)) return stop_here(r, status);
    }
    RH_TRY(at_moment(w, RH_AT_FRAME, w->last_dt, 0, status));
    w->progress.seconds += add_stage(w);
    w->progress.particles = w->points.count;
    w->progress.removed = w->seeder.removed;
    w->frame_done = true;
    RH_TRY(measure_energy(w, status));
    RH_TRY(write_frame(r, status));
    // After the files, for it tells how long the surface took.
    if (r->writes && w->step > before) RH_TRY(rh_output_log(&r->output, &w->progress, &w->report, true, status));
    RH_TRY(save_when_due(r, status));
    tell(r, true);
    return RH_OK;
}

static rh_code run_frames(run *r, rh_status *status)
{
    rh_world *w = r->w;
    if (w->step == 0 && w->frame_done) {
        RH_TRY(begin(w, status));
        fill_progress(w, 0, 0);
        RH_TRY(write_frame(r, status));
        tell(r, true);
    }
    while (!(w->frame_done && w->frame >= r->last)) {
        if (stop_asked(r)) return stop_here(r, status);
        if (w->frame_done) {
            w->frame++;
            w->frame_done = false;
            w->substeps = 0;
        }
        RH_TRY(finish_frame(r, status));
    }
    return RH_OK;
}

rh_code rh_world_run(rh_world *world, const rh_run_options *options, rh_status *status)
{
    const rh_scene *scene = world->scene;
    run r = {.w = world, .options = options, .writes = options->folder != NULL, .first_written = options->first ? options->first : scene->frames.first,
             .last = options->last ? options->last : scene->frames.last, .last_saved = world->frame};
    if (r.writes) RH_TRY(rh_output_open(&r.output, scene, options->folder, r.last, world->step, status));
    rh_code code = run_frames(&r, status);
    if (r.writes) rh_output_close(&r.output);
    if (code == RH_NUMERIC && r.writes) {
        char(*path)[RH_PATH_MAX] = rh_alloc(sizeof *path * 256, "world.output", NULL);
        if (path && rh_output_checkpoints(options->folder, path, 256) > 0) rh_log(RH_LOG_WARNING, "the last good checkpoint is %s", path[0]);
        rh_free(path);
    }
    return code;
}

// --- prediction ---------------------------------------------------------------------------------------------------
static double emitter_rate(const rh_emitter_params *p, const rh_shape *shape)
{
    // Cross-section from the bounds: an upper estimate, exact for a box along its velocity.
    rh_dbox b = rh_shape_bounds(shape);
    rh_dvec3 size = rh_d3_sub(b.max, b.min), v = p->velocity;
    return fabs(v.x) * size.y * (shape->flat ? 1 : size.z) + fabs(v.y) * size.x * (shape->flat ? 1 : size.z) + fabs(v.z) * size.x * size.y;
}

static void predict_tiles(const rh_seeder *seeder, const rh_scene *scene, int64_t particles, rh_prediction *out)
{
    // A tile holds so many particles when full; surface tiles are half empty and a margin of about one tile surrounds them.
    double per_tile = pow(RH_TILE * scene->cell / seeder->spacing, (double)scene->dimension), full = (double)particles / per_tile;
    double side = pow(full, 1.0 / (double)scene->dimension);
    out->tiles = (int64_t)ceil(pow(side + 2, (double)scene->dimension));
    out->cells = (int64_t)((double)particles * pow(seeder->spacing / scene->cell, (double)scene->dimension));
}

// Checks the scene's programs against the particles' attributes, and counts what they add.
static rh_code predict_programs(const rh_scene *scene, rh_prediction *out, rh_status *status)
{
    if (!scene->expressions.count) return RH_OK;
    rh_world w = {.scene = scene, .physics = rh_physics_methods[scene->physics.kind], .seeder = {.dimension = (int)scene->dimension, .spacing = scene->cell}};
    rh_points_init(&w.points);
    rh_code code = declare_points(&w, status);
    int before = w.points.attribute_count;
    if (code == RH_OK) code = rh_hooks_create(scene, &w.points, NULL, &w.hooks, status);
    for (int i = before; i < w.points.attribute_count && code == RH_OK; i++) {
        int64_t bytes = (out->particles + out->emitted) * (int64_t)rh_point_type_size(w.points.attributes[i].type);
        out->bytes_memory += bytes;
        out->bytes_per_frame += bytes * (scene->output.vdb + scene->output.ply);
    }
    rh_hooks_free(w.hooks);
    if (w.method) w.physics->destroy(w.method);
    rh_points_free(&w.points);
    return code;
}

rh_code rh_world_predict(const rh_scene *scene, rh_prediction *out, rh_status *status)
{
    *out = (rh_prediction){.frames = scene->frames.last - scene->frames.first + 1};
    const rh_physics *physics = rh_physics_methods[scene->physics.kind];
    rh_stage_set stage;
    rh_seeder seeder = {0};
    rh_code code = rh_stage_build(scene, &stage, status);
    if (code == RH_OK) code = rh_seeder_init(&seeder, &stage, physics->per_cell_axis(scene->physics.value), physics->on_lattice, status);
    if (code == RH_OK) code = rh_seed_count(&seeder, &out->particles, status);
    if (code == RH_OK) {
        double end = frame_time(scene, scene->frames.last), volume = pow(seeder.spacing, (double)scene->dimension), emitted = 0;
        const rh_emitter_params *e = scene->emitters.items;
        for (int i = 0; i < scene->emitters.count; i++)
            emitted += emitter_rate(&e[i], &stage.emitters[i].shape) * fmax(fmin(e[i].stop, end) - e[i].start, 0) / volume;
        out->emitted = (int64_t)emitted;
        predict_tiles(&seeder, scene, out->particles + out->emitted, out);
    }
    if (code == RH_OK) {
        int64_t most = out->particles + out->emitted;
        out->bytes_memory = physics->predict_bytes(scene->physics.value, (int)scene->dimension, most, out->tiles * 5 / 2);  // a splash spreads
        int64_t rest = scene->rest ? (int64_t)sizeof(rh_vec3) : 0;
        out->bytes_memory += most * rest;
        out->bytes_per_frame = most * (36 + rest) * (scene->output.vdb + scene->output.ply);
    }
    rh_seeder_free(&seeder);
    rh_stage_free(&stage);
    return code == RH_OK ? predict_programs(scene, out, status) : code;
}
