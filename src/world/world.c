// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Time: frame `first` is the state at time 0, frame f the state at (f - first) / fps. A frame is reached by equal
// steps, none longer than the physics allows; how many is decided anew before each step from the state alone, so a run
// that is stopped anywhere and resumed takes the same steps.
#include "world/parts.h"

#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "grid/tile_keys.h"
#include "world/forces.h"
#include "world/emitter.h"

enum { MANY_STEPS = 256 };  // in one frame: the user is told, once
enum { MOST_RETRIES = 4 };  // of a step, each half as long as the one before

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
    w->around = (rh_surroundings){.dimension = (int)scene->dimension,
                                  .cell = scene->cell,
                                  .seed = (uint64_t)scene->seed,
                                  .gravity = scene->gravity,
                                  .obstacles = &w->solids_start,
                                  .obstacles_after = &w->solids_end,
                                  .inflows = w->inflows};
    if (scene->dimension == 2) w->around.gravity.z = 0;
    w->around.user = scene;
}

// The attributes of the world and of the method; what comes later is the user's.
rh_code rh_world_declare(rh_world *w, rh_status *status)
{
    RH_TRY(rh_points_add(&w->points, "P", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(&w->points, "v", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(&w->points, "id", RH_POINT_I64, status));
    RH_TRY(set_radius(w, status));
    RH_TRY(w->physics->create(w->scene->physics.value, &w->around, &w->points, &w->method, status));
    return w->scene->rest_position ? rh_points_add(&w->points, "rest", RH_POINT_VEC3F, status) : RH_OK;
}

static rh_code make_hooks(rh_world *w, rh_status *status)
{
    enum { KEPT = 64 };
    if (!w->scene->expressions.count && !w->scene->surface.expression) return RH_OK;
    RH_TRY(rh_lang_cache_create(KEPT, &w->programs, status));
    return w->scene->expressions.count ? rh_hooks_create(w->scene, &w->points, w->programs, &w->hooks, status) : RH_OK;
}

static rh_code make_probes(rh_world *w, rh_status *status)
{
    const rh_scene *scene = w->scene;
    if (!scene->probes.count) return RH_OK;
    RH_TRY(rh_probes_create(scene, &w->geometry.obstacles, w->seeder.spacing, w->physics->density(scene->physics.value),
                            &w->probes, status));
    w->around.observer = rh_probes_observer(w->probes);
    return RH_OK;
}

rh_code rh_world_moment(rh_world *w, rh_expression_at at, double dt, int64_t first, rh_status *status)
{
    if (!w->hooks) return RH_OK;
    const rh_moment moment = {
        .at = at, .time = w->time, .dt = dt, .frame = w->frame, .step = w->step, .first = first, .stop = w->stop_now};
    return rh_hooks_run(w->hooks, &moment, &w->points, &w->seeder.removed, status);
}

static rh_code emit(rh_world *w, rh_status *status)
{
    int64_t before = w->points.count;
    RH_TRY(rh_emit(&w->seeder, w->time, &w->points, status));
    return w->points.count > before ? rh_world_moment(w, RH_AT_EMIT, w->last_dt, before, status) : RH_OK;
}

// Emitters that start at once belong to the first frame.
rh_code rh_world_begin(rh_world *w, rh_status *status)
{
    if (w->begun) return RH_OK;
    w->begun = true;
    RH_TRY(emit(w, status));
    return rh_world_moment(w, RH_AT_FRAME, 0, 0, status);
}

// What programs at the start made of the bodies is what there was at the start.
static rh_code start_balance(rh_world *w, rh_status *status)
{
    rh_totals all;
    if (!w->hooks) return RH_OK;
    RH_TRY(rh_balance_totals(&w->points, w->around.gravity, &all, status));
    w->seeder.balance = (rh_balance){.energy_in = all.kinetic + all.height, .momentum_in = all.momentum};
    return RH_OK;
}

static rh_code build(rh_world *w, rh_status *status)
{
    const rh_scene *scene = w->scene;
    rh_points_init(&w->points);
    RH_TRY(rh_geometry_build(scene, &w->geometry, status));
    RH_TRY(rh_seeder_init(&w->seeder, &w->geometry, w->physics->per_cell_axis(scene->physics.value),
                          rh_physics_jitter(w->physics, scene->physics.value), status));
    RH_TRY(rh_obstacles_create(&w->geometry.obstacles, &w->solids_start, status));
    RH_TRY(rh_obstacles_create(&w->geometry.obstacles, &w->solids_end, status));
    set_surroundings(w);
    RH_TRY(rh_world_declare(w, status));
    w->declared = w->points.attribute_count;
    RH_TRY(make_hooks(w, status));
    RH_TRY(make_probes(w, status));
    w->limits = rh_health_limits_of(scene, rh_world_most_particles(w));
    RH_TRY(rh_world_check_memory(w, status));
    RH_TRY(rh_seed_bodies(&w->seeder, &w->points, status));
    w->frame = scene->frames.first;
    w->frame_done = true;
    RH_TRY(rh_world_moment(w, RH_AT_START, 0, 0, status));
    return start_balance(w, status);
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
    rh_probes_free(world->probes);
    rh_lang_cache_free(world->programs);
    rh_points_free(&world->points);
    rh_memory_store_free(world->kept);
    rh_seeder_free(&world->seeder);
    rh_obstacles_free(&world->solids_start);
    rh_obstacles_free(&world->solids_end);
    rh_geometry_free(&world->geometry);
    rh_free(world);
}

const rh_points *rh_world_points(const rh_world *world) { return &world->points; }
rh_points *rh_world_points_mutable(rh_world *world) { return &world->points; }
double rh_world_time(const rh_world *world) { return world->time; }
const rh_probes *rh_world_probes(const rh_world *world) { return world->probes; }
const rh_step_report *rh_world_report(const rh_world *w) { return &w->report; }
void rh_world_progress(const rh_world *world, rh_progress *out) { *out = world->progress; }

// --- one step --------------------------------------------------------------------------------------------------------
void rh_world_fill_progress(rh_world *w, double dt, double seconds)
{
    const rh_step_report *r = &w->report;
    double per_particle = pow(w->seeder.spacing, w->seeder.dimension), expected = per_particle * (double)w->measured;
    w->progress = (rh_progress){.frame = w->frame,
                                .time = w->time,
                                .substeps = w->substeps,
                                .step = w->step,
                                .dt = dt,
                                .particles = w->points.count,
                                .cells = r->cells,
                                .tiles = r->tiles,
                                .iterations = r->iterations,
                                .residual = r->residual,
                                .volume = r->volume,
                                .volume_error = expected > 0 && r->volume > 0 ? r->volume / expected - 1 : 0,
                                .max_speed = r->max_speed,
                                .compile_seconds = w->programs ? rh_lang_cache_seconds(w->programs) : 0,
                                .emitted = w->seeder.emitted,
                                .removed = w->seeder.removed,
                                .memory_bytes = rh_memory_bytes(),
                                .seconds = seconds,
                                .retries = w->retries};
}

// The step to take when `left` seconds remain: equal parts of it, none longer than the physics allows.
static double choose_step(rh_world *w, double left)
{
    double most = w->physics->max_step(w->method, &w->around, &w->points);
    if (w->points.count == 0) {
        // Nothing to move; emitters still run, and an emitter may carry liquid a long way in a long step.
        most = left;
        for (int i = 0; i < w->scene->emitters.count; i++) {
            double speed = rh_emitter_fastest((const rh_emitter_params *)w->scene->emitters.items + i,
                                              &w->geometry.emitters[i]);
            if (speed > 0) most = fmin(most, w->scene->cell / speed);
        }
    }
    if (w->scene->max_step > 0) most = fmin(most, w->scene->max_step);
    double parts = ceil(left / most - 1e-9);
    return parts > 1 ? left / parts : left;
}

static void set_solids(rh_world *w, double time)
{
    rh_obstacles_at(&w->geometry.obstacles, time, 0, &w->geometry.obstacles);
}

// Solids at both ends of a step. (The methods reckon with lengths of steps in float.)
static void place_solids(rh_world *w, double step)
{
    double dt = (double)(float)step;
    rh_obstacles_at(&w->geometry.obstacles, w->time, dt, &w->solids_start);
    rh_obstacles_at(&w->geometry.obstacles, w->time + dt, 0, &w->solids_end);
}

// What programs took since they were asked last: a stage of its own, the last one. Returns it (s).
double rh_world_add_stage(rh_world *w)
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

static rh_code blame_step(const rh_world *w, const rh_status *why, rh_status *status)
{
    char place[RH_HEALTH_WORDS] = "";
    if (w->report.squeeze.found) {
        rh_health_squeezed(w->scene, &w->report.squeeze, status);
        rh_status_prefix(status, "step %lld at time %g s", (long long)w->step + 1, w->time);
        return RH_NUMERIC;
    }
    if (why->code == RH_NUMERIC) rh_health_worst(&w->points, RH_FAR_CELLS * w->scene->cell, place, sizeof place);
    return rh_fail(status, why->code, "step %lld at time %g s: %s%s%s", (long long)w->step + 1, w->time, why->message,
                   place[0] ? "\n  " : "", place);
}

// The physics' part of a step, with a shorter one when a solve does not converge. That depends on the state alone, so a
// resumed run does the same. A step that did not converge has left the particles as they were but for their order; only
// what programs did to them, or the step to the method's own state, must be undone, and only then is there a copy.
static rh_code move(rh_world *w, double *step, rh_status *status)
{
    bool pushed = w->hooks && rh_hooks_any(w->hooks, RH_AT_FORCES);
    bool copied = pushed || w->physics->save;
    if (copied && !w->kept && !(w->kept = rh_memory_store_create(status))) return RH_MEMORY;
    if (copied) RH_TRY(rh_world_snapshot(w, w->kept, status));
    for (w->retries = 0;; w->retries++) {
        rh_status one = {0};
        bool forces = rh_forces_act(w->scene, w->time - w->last_dt, w->time + *step);
        w->around.acceleration = forces ? rh_forces_acceleration : NULL;
        // The step was chosen before the programs push: they need its length. A push beyond what the step allows is
        // seen by the next one.
        RH_TRY(rh_world_moment(w, RH_AT_FORCES, *step, 0, status));
        if (w->probes) rh_probes_begin(w->probes);
        place_solids(w, *step);
        rh_code moved = w->physics->step(w->method, &w->around, *step, &w->points, &w->report, &one);
        w->points.spare_lent = false;
        if (moved == RH_OK) set_solids(w, w->time + (double)(float)*step);
        if (moved == RH_OK) return w->probes ? rh_probes_stepped(w->probes, &w->points, status) : RH_OK;
        if (!w->report.unconverged || w->retries == MOST_RETRIES) return blame_step(w, &one, status);
        if (copied) RH_TRY(rh_world_restore(w, w->kept, status));
        *step *= 0.5;
        rh_log(RH_LOG_WARNING, "step %lld at time %g s: %s; trying a step of half the length, %.3g s",
               (long long)w->step + 1, w->time, one.message, *step);
    }
}

rh_code rh_world_step(rh_world *w, double dt_limit, double *dt, rh_status *status)
{
    RH_ASSERT(dt_limit > 0 && rh_points_is_valid(&w->points));
    double start = rh_seconds();
    if (w->hooks) rh_hooks_take_seconds(w->hooks);  // of moments before this step
    if (w->probes) rh_probes_forget_rows(w->probes);
    set_solids(w, w->time);
    RH_TRY(rh_world_begin(w, status));
    RH_TRY(emit(w, status));
    RH_TRY(rh_drain(&w->seeder, w->time, &w->points, status));
    w->around.time = w->time;
    w->around.step = w->step;
    w->around.previous_dt = w->last_dt;
    w->around.inflow_count = rh_inflows(&w->seeder, w->time, w->inflows, RH_MAX_INFLOWS);
    w->around.strongest = rh_forces_strongest(w->scene, w->time, w->time + dt_limit);
    place_solids(w, 0);
    double step = choose_step(w, dt_limit);
    if (!(step > 1e-9 * dt_limit) || !isfinite(step))
        return blame_step(w, &(rh_status){RH_NUMERIC, "the velocities are so high that no time step is small enough"},
                          status);
    RH_TRY(move(w, &step, status));
    w->measured = w->seeder.next_id - w->seeder.removed;
    double kick = 0.5 * (w->last_dt + step);
    w->seeder.balance.gravity = rh_d3_add(w->seeder.balance.gravity,
                                          rh_d3_scale(w->around.gravity, kick * (double)w->points.count));
    w->seeder.lag = 0.5 * step;
    w->time += step;
    w->last_dt = step;
    w->step++;
    if (++w->substeps == MANY_STEPS)
        rh_log(RH_LOG_WARNING, "frame %lld has taken %d steps: something moves at %.3g m/s, %.3g cells a frame",
               (long long)w->frame, MANY_STEPS, w->report.max_speed,
               w->report.max_speed / w->scene->cell / w->scene->frames.fps);
    RH_TRY(rh_world_moment(w, RH_AT_STEP, step, 0, status));
    if (rh_health_check(&w->limits, &w->points, w->report.max_speed, status) != RH_OK) {
        rh_status_prefix(status, "step %lld at time %g s", (long long)w->step, w->time);
        return RH_NUMERIC;
    }
    if (w->probes) RH_TRY(rh_probes_measure(w->probes, &w->points, w->around.time, w->time, status));
    rh_world_add_stage(w);
    if (dt) *dt = step;
    rh_world_fill_progress(w, step, rh_seconds() - start);
    return RH_OK;
}

// As rh_world_step towards the end of a frame; a sliver left by rounding counts as arrived.
rh_code rh_world_step_towards(rh_world *w, double end, rh_status *status)
{
    RH_TRY(rh_world_step(w, end - w->time, NULL, status));
    if (end - w->time < 1e-9 / w->scene->frames.fps) w->time = end;
    w->progress.time = w->time;
    return RH_OK;
}

rh_code rh_world_advance_to(rh_world *world, int64_t frame, rh_status *status)
{
    RH_TRY(rh_world_begin(world, status));
    // Without programs at frames nothing happens in between, and steps need not end there.
    bool every = world->hooks && rh_hooks_any(world->hooks, RH_AT_FRAME);
    while (!world->frame_done || world->frame < frame) {
        if (world->frame_done) {
            world->frame = every ? world->frame + 1 : frame;
            world->frame_done = false;
            world->substeps = 0;
        }
        double end = rh_world_frame_time(world->scene, world->frame);
        while (world->time < end) RH_TRY(rh_world_step_towards(world, end, status));
        RH_TRY(rh_world_moment(world, RH_AT_FRAME, world->last_dt, 0, status));
        world->frame_done = true;
    }
    return RH_OK;
}
