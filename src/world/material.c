// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A step of one material in order: emit, drain, inflows, length of the step, programs' forces, the method, the balance,
// programs, health, probes. How long the step is, is decided from the material's own state alone.
#include "world/material.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "grid/tile_keys.h"
#include "world/emitter.h"
#include "world/forces.h"

enum { MANY_STEPS = 256 };  // in one frame: the user is told, once
enum { MOST_RETRIES = 4 };  // of a step, each half as long as the one before

// --- making ----------------------------------------------------------------------------------------------------------
static rh_code set_radius(rh_material *m, rh_status *status)
{
    // Radius of the ball (disc) with the volume a particle stands for.
    double s = m->seeder.spacing, pi = 3.14159265358979323846;
    double filling = m->seeder.dimension == 3 ? s * cbrt(3 / (4 * pi)) : s / sqrt(pi);
    float radius = (float)filling;
    if (m->physics->own_radius) {
        m->seeder.unit_radius = filling;
        m->seeder.new_radius = m->physics->own_radius(m->params, filling);
        return rh_points_add(m->points, "radius", RH_POINT_F32, status);
    }
    return rh_points_add_uniform(m->points, "radius", RH_POINT_F32, &radius, status);
}

static void set_surroundings(rh_material *m)
{
    const rh_scene *scene = m->scene;
    m->around = (rh_surroundings){.dimension = (int)scene->dimension,
                                  .cell = scene->cell,
                                  .seed = (uint64_t)scene->seed,
                                  .first_id = m->seeder.first_id,
                                  .next_id = &m->seeder.next_id,
                                  .gravity = scene->gravity,
                                  .obstacles = &m->solids_start,
                                  .obstacles_after = &m->solids_end,
                                  .sets = &m->sets,
                                  .fields = &m->fields,
                                  .bodies = m->bodies,
                                  .inflows = m->inflows};
    if (scene->dimension == 2) m->around.gravity.z = 0;
    m->around.user = scene;
    m->around.dynamics = m->dynamics;
    for (int i = 0; i < scene->bodies.count; i++)
        if (rh_seeder_fills(&m->seeder, i)) m->bodies[m->around.body_count++] = &m->geometry.bodies[i];
}

// The attributes of the world and of the method; what comes later is the user's.
static rh_code declare(rh_material *m, rh_status *status)
{
    set_surroundings(m);
    RH_TRY(rh_points_add(m->points, "P", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(m->points, "v", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(m->points, "id", RH_POINT_I64, status));
    RH_TRY(set_radius(m, status));
    rh_code code = m->physics->create(m->params, &m->around, m->points, &m->method, status);
    if (code == RH_USER) rh_status_prefix(status, "%s", m->scene->file);
    RH_TRY(code);
    if (m->scene->rest_position) RH_TRY(rh_points_add(m->points, "rest", RH_POINT_VEC3F, status));
    return rh_marks_declare(m->scene, m->index, m->points, &m->marks, status);
}

static bool has_programs(const rh_material *m)
{
    const rh_expression_params *e = m->scene->expressions.items;
    for (int i = 0; i < m->scene->expressions.count; i++)
        if (e[i].material_index == m->index) return true;
    return false;
}

static rh_code make_probes(rh_material *m, rh_status *status)
{
    const rh_scene *scene = m->scene;
    const rh_probe_params *probes = scene->probes.items;
    bool any = false;
    for (int i = 0; i < scene->probes.count; i++) any |= probes[i].material_index == m->index;
    if (!any) return RH_OK;
    return rh_probes_create(scene, m->index, &m->geometry.obstacles, m->seeder.spacing, m->physics->density(m->params),
                            &m->probes, status);
}

// --- who looks at a step ---------------------------------------------------------------------------------------------
static rh_code see(void *user, const rh_step_view *view, rh_status *status)
{
    rh_material *m = user;
    const rh_observer *probes = m->probes ? rh_probes_observer(m->probes) : NULL;
    if (probes) RH_TRY(probes->see(probes->user, view, status));
    return m->has_work ? rh_wall_impulses_see(&m->walls, view, status) : RH_OK;
}

rh_code rh_material_find_group(const rh_material *m, const char *who, const char *group, rh_status *status)
{
    const rh_attribute *found = rh_points_find(m->points, group);
    if (found && found->type == RH_POINT_GROUP && !found->uniform) return RH_OK;
    char groups[200] = "";
    for (int i = 0; i < m->points->attribute_count; i++) {
        const rh_attribute *a = &m->points->attributes[i];
        size_t used = strlen(groups);
        if (a->type == RH_POINT_GROUP) snprintf(groups + used, sizeof groups - used, "%s%s", used ? ", " : "", a->name);
    }
    return rh_fail(status, RH_USER, "%s: nobody makes the group '%.60s' in '%s', which has %s%s; a program may: %s",
                   who, group, m->name, groups[0] ? "the groups " : "no groups", groups,
                   "expressions: [{at: step, code: 'if (...) addtogroup(\"...\");'}]");
}

double rh_material_particle_mass(const rh_material *m)
{
    return m->physics->density(m->params) * pow(m->seeder.spacing, m->seeder.dimension);
}

// What dynamic solids receive, and the work of all that moves.
static rh_code make_walls(rh_material *m, rh_status *status)
{
    int count = m->dynamics ? m->dynamics->count : 0;
    double mass = rh_material_particle_mass(m);
    rh_wall_region *regions = rh_alloc((size_t)(count + 1) * sizeof *regions, "world.solids", status);
    if (!regions) return RH_MEMORY;
    double far = RH_WALL_EVERYWHERE;
    for (int n = 0; n < count; n++)
        regions[n] = (rh_wall_region){m->dynamics->items[n].obstacle, {-far, -far, -far}, {far, far, far}};
    rh_code code = rh_wall_impulses_init(&m->walls, regions, count, m->seeder.dimension, mass, status);
    rh_free(regions);
    return code;
}

// Nobody need look where nothing is asked for and nothing moves.
static rh_code make_observer(rh_material *m, rh_status *status)
{
    const rh_obstacles *solids = &m->geometry.obstacles;
    RH_TRY(make_probes(m, status));
    for (int i = 0; i < solids->count; i++) m->has_work = m->has_work || !solids->items[i].rests;
    for (int i = 0; i < m->scene->emitters.count; i++) m->has_work = m->has_work || rh_seeder_pours(&m->seeder, i);
    if (m->physics->has_tension) m->has_work = m->has_work || m->physics->has_tension(m->params);
    if (m->has_work) RH_TRY(make_walls(m, status));
    m->observer = (rh_observer){see, m};
    if (m->probes || m->has_work) m->around.observer = &m->observer;
    return RH_OK;
}

static rh_totals totals_of(const rh_material *m)
{
    return rh_balance_totals(m->points, m->seeder.unit_radius, m->around.gravity);
}

static double energy_of(const rh_material *m)
{
    rh_totals all = totals_of(m);
    return rh_totals_energy(&all, m->around.gravity, m->seeder.lag);
}

rh_code rh_material_hooks(rh_material *m, const rh_material_moment *now, rh_expression_at at, double dt, int64_t first,
                          rh_status *status)
{
    if (at == RH_AT_FRAME) RH_TRY(rh_marks_frame(&m->marks, m->scene, m->index, m->points, status));
    if (!m->hooks) return RH_OK;
    const rh_moment moment = {.at = at,
                              .time = m->time,
                              .dt = dt,
                              .frame = now->frame,
                              .step = m->step,
                              .first = first,
                              .first_id = m->seeder.first_id,
                              .stop = now->stop};
    bool works = rh_hooks_any(m->hooks, at) && at != RH_AT_START && at != RH_AT_EMIT;
    double before = works ? energy_of(m) : 0;
    RH_TRY(rh_hooks_run(m->hooks, &moment, m->points, &m->seeder.removed, status));
    if (works) m->seeder.balance.work_programs += energy_of(m) - before;
    return RH_OK;
}

rh_code rh_material_emit(rh_material *m, const rh_material_moment *now, rh_status *status)
{
    int64_t before = m->points->count;
    if (m->physics->without_particles) return RH_OK;
    RH_TRY(rh_emit(&m->seeder, m->time, m->points, status));
    return m->points->count > before ? rh_material_hooks(m, now, RH_AT_EMIT, m->last_dt, before, status) : RH_OK;
}

// What programs at the start made of the bodies is what there was at the start.
static void start_balance(rh_material *m)
{
    if (!m->hooks) return;
    rh_totals all = totals_of(m);
    m->seeder.balance = (rh_balance){.energy_in = all.kinetic + all.height, .momentum_in = all.momentum};
}

rh_code rh_material_init(rh_material *m, const rh_scene *scene, int index, const rh_geometry *geometry,
                         rh_dynamics *dynamics, rh_lang_cache *programs, rh_status *status)
{
    const rh_material_params *params = rh_scene_material(scene, index);
    *m = (rh_material){.scene = scene,
                       .index = index,
                       .name = params->name,
                       .physics = rh_physics_methods[params->physics.kind],
                       .params = params->physics.value,
                       .dynamics = dynamics && dynamics->count > 0 ? dynamics : NULL};
    rh_sets_init(&m->sets);
    m->points = &m->sets.items[0].points;
    RH_TRY(rh_geometry_share(geometry, m->physics->walls_separate, &m->geometry, status));
    RH_TRY(rh_obstacles_create(&m->geometry.obstacles, &m->solids_start, status));
    RH_TRY(rh_obstacles_create(&m->geometry.obstacles, &m->solids_end, status));
    RH_TRY(rh_seeder_init(&m->seeder, &m->geometry, index, m->physics->per_cell_axis(m->params),
                          rh_physics_jitter(m->physics, m->params), status));
    rh_fields_init(&m->fields, (int)scene->dimension, scene->cell);
    m->bodies = rh_alloc_zero((size_t)(scene->bodies.count + 1) * sizeof *m->bodies, "world.bodies", status);
    if (!m->bodies) return RH_MEMORY;
    RH_TRY(declare(m, status));
    m->declared = m->points->attribute_count;
    if (has_programs(m)) RH_TRY(rh_hooks_create(scene, index, m->points, programs, &m->hooks, status));
    RH_TRY(make_observer(m, status));
    double made = m->physics->most_made ? m->physics->most_made(m->params) : 0;
    m->limits = rh_health_limits_of(scene, rh_material_most_particles(m) + made);
    if (!m->dynamics) return RH_OK;
    m->touched = rh_alloc((size_t)m->dynamics->count * RH_DYNAMICS_PARTS * sizeof *m->touched, "world.solids", status);
    return m->touched ? RH_OK : RH_MEMORY;
}

rh_code rh_material_seed(rh_material *m, const rh_material_moment *now, rh_status *status)
{
    if (!m->physics->without_particles) RH_TRY(rh_seed_bodies(&m->seeder, m->points, status));
    RH_TRY(rh_material_hooks(m, now, RH_AT_START, 0, 0, status));
    start_balance(m);
    return RH_OK;
}

void rh_material_free(rh_material *m)
{
    if (m->method && m->physics->destroy) m->physics->destroy(m->method);
    rh_hooks_free(m->hooks);
    rh_probes_free(m->probes);
    rh_wall_impulses_free(&m->walls);
    rh_sets_free(&m->sets);
    rh_fields_free(&m->fields);
    rh_free(m->bodies);
    rh_memory_store_free(m->kept);
    rh_free(m->touched);
    if (m->seeder.geometry) rh_seeder_free(&m->seeder);
    rh_obstacles_free(&m->solids_start);
    rh_obstacles_free(&m->solids_end);
    rh_geometry_free(&m->geometry);
}

// --- one step --------------------------------------------------------------------------------------------------------
void rh_material_fill_progress(rh_material *m, double dt, double seconds)
{
    const rh_step_report *r = &m->report;
    double per_particle = pow(m->seeder.spacing, m->seeder.dimension), expected = per_particle * (double)m->measured;
    m->progress = (rh_progress){.time = m->time,
                                .substeps = m->substeps,
                                .step = m->step,
                                .dt = dt,
                                .particles = m->points->count,
                                .cells = r->cells,
                                .tiles = r->tiles,
                                .iterations = r->iterations,
                                .residual = r->residual,
                                .volume = r->volume,
                                .volume_error = expected > 0 && r->volume > 0 ? r->volume / expected - 1 : 0,
                                .max_speed = r->max_speed,
                                .emitted = m->seeder.emitted,
                                .removed = m->seeder.removed,
                                .memory_bytes = rh_memory_bytes(),
                                .received = m->seeder.received,
                                .given = m->seeder.given,
                                .material = m->name,
                                .seconds = seconds,
                                .retries = m->retries};
}

static rh_code set_solids(rh_material *m, double time, rh_status *status)
{
    return rh_obstacles_at(&m->geometry.obstacles, time, 0, &m->geometry.obstacles, status);
}

// Impulses of contacts, where the method does not answer them.
static rh_code touch_solids(rh_material *m, rh_status *status)
{
    rh_dynamics *d = m->dynamics;
    if (!d->touched && rh_dynamics_touch(d, NULL, m->touched)) {
        rh_dynamics_strike(d, m->touched);
        rh_dynamics_arrive(d);
    }
    return d->trouble.code == RH_OK ? RH_OK : rh_fail(status, d->trouble.code, "%s", d->trouble.message);
}

// A method whose solve knows nothing of the solids finds them moving as they will: what it gave them in its last step
// and contacts come first.
static rh_code push_solids(rh_material *m, rh_status *status)
{
    rh_dynamics_pay(m->dynamics, m->touched);
    return touch_solids(m, status);
}

// Solids at both ends of a step. (The methods reckon with lengths of steps in float.)
static rh_code place_solids(rh_material *m, double step, rh_status *status)
{
    double dt = (double)(float)step;
    RH_TRY(rh_obstacles_at(&m->geometry.obstacles, m->time, dt, &m->solids_start, status));
    RH_TRY(rh_obstacles_at(&m->geometry.obstacles, m->time + dt, 0, &m->solids_end, status));
    if (!m->dynamics) return RH_OK;
    m->dynamics->current = m->index;
    rh_dynamics_begin(m->dynamics, &m->solids_start, m->around.gravity, m->time, m->last_dt, dt);
    rh_dynamics_place(m->dynamics, dt, &m->solids_start, &m->solids_end);
    return dt > 0 && !m->physics->moves_solids && !m->dynamics->shared ? push_solids(m, status) : RH_OK;
}

// `asked`: the method will ask about places.
static rh_code move_bases(const rh_material_moment *now, double time, bool asked, rh_status *status)
{
    for (int i = 0; i < now->base_count; i++)
        RH_TRY(asked ? rh_base_frames_move(now->bases[i], time, status)
                     : rh_base_frames_move_points(now->bases[i], time, status));
    return RH_OK;
}

static rh_code look_around(rh_material *m, const rh_material_moment *now, double limit, rh_status *status)
{
    m->around.time = m->time;
    m->around.step = m->step;
    m->around.previous_dt = m->last_dt;
    m->around.inflow_count = rh_inflows(&m->seeder, m->time, m->inflows, RH_MAX_INFLOWS);
    m->around.strongest = rh_forces_strongest(m->scene, m->time, m->time + limit);
    m->around.bases = now->base_runs;
    m->around.base_count = now->base_count;
    RH_TRY(move_bases(now, m->time, false, status));
    return place_solids(m, 0, status);
}

rh_code rh_material_longest_step(rh_material *m, const rh_material_moment *now, double limit, double *out,
                                 rh_status *status)
{
    RH_TRY(look_around(m, now, limit, status));
    double most = m->physics->max_step(m->method, &m->around, m->points);
    if (m->points->count == 0 && !m->physics->without_particles) {
        // Nothing to move; emitters still run, and an emitter may carry liquid a long way in a long step.
        most = limit;
        for (int i = 0; i < m->scene->emitters.count; i++) {
            if (!rh_seeder_pours(&m->seeder, i)) continue;
            double speed = rh_emitter_fastest((const rh_emitter_params *)m->scene->emitters.items + i,
                                              &m->geometry.emitters[i]);
            if (speed > 0) most = fmin(most, m->scene->cell / speed);
        }
    }
    if (m->dynamics)
        most = fmin(most, rh_dynamics_longest_step(m->dynamics, &m->geometry.obstacles, m->around.gravity));
    *out = m->scene->max_step > 0 ? fmin(most, m->scene->max_step) : most;
    return RH_OK;
}

// The step to take when `left` seconds remain: equal parts of it, none longer than the physics allows.
static rh_code choose_step(rh_material *m, const rh_material_moment *now, double left, double *step, rh_status *status)
{
    double most;
    RH_TRY(rh_material_longest_step(m, now, left, &most, status));
    double parts = ceil(left / most - 1e-9);
    *step = parts > 1 ? left / parts : left;
    return RH_OK;
}

double rh_material_add_stage(rh_material *m)
{
    static const char name[] = "expressions";
    rh_step_report *r = &m->report;
    if (!m->hooks) return 0;
    double seconds = rh_hooks_take_seconds(m->hooks);
    bool there = r->stage_count > 0 && r->stage_names[r->stage_count - 1] == name;
    if (!there && r->stage_count == RH_MAX_STAGES) return seconds;
    if (!there) {
        r->stage_names[r->stage_count] = name;
        r->stage_seconds[r->stage_count++] = 0;
    }
    r->stage_seconds[r->stage_count - 1] += seconds;
    return seconds;
}

static rh_code blame_step(const rh_material *m, const rh_status *why, rh_status *status)
{
    char place[RH_HEALTH_WORDS] = "";
    if (m->report.squeeze.found) {
        rh_health_squeezed(m->scene, &m->report.squeeze, status);
        rh_status_prefix(status, "step %lld at time %g s", (long long)m->step + 1, m->time);
        return RH_NUMERIC;
    }
    if (why->code == RH_NUMERIC) rh_health_worst(m->points, RH_FAR_CELLS * m->scene->cell, place, sizeof place);
    return rh_fail(status, why->code, "step %lld at time %g s: %s%s%s", (long long)m->step + 1, m->time, why->message,
                   place[0] ? "\n  " : "", place);
}

static rh_code note_walls(rh_material *m, rh_status *status)
{
    if (m->probes) RH_TRY(rh_probes_stepped(m->probes, m->points, status));
    if (!m->has_work) return RH_OK;
    RH_TRY(rh_wall_impulses_stepped(&m->walls, &m->geometry.obstacles, m->points, status));
    m->seeder.balance.work_solids += m->walls.work_solids / m->walls.particle_mass;
    m->seeder.balance.work_inflows += m->walls.work_inflows / m->walls.particle_mass;
    m->seeder.balance.work_tension += m->walls.work_tension / m->walls.particle_mass;
    return RH_OK;
}

// Without particles a method leaves what is owed and contacts to us. Of several materials the world commits what they
// have done together.
static rh_code leave_solids(rh_material *m, rh_status *status)
{
    rh_dynamics *d = m->dynamics;
    if (!d) return RH_OK;
    if (!d->shared) {
        rh_dynamics_pay(d, m->touched);
        RH_TRY(touch_solids(m, status));
    }
    if (d->trouble.code != RH_OK) return rh_fail(status, d->trouble.code, "%s", d->trouble.message);
    rh_dynamics_leave(d, &m->geometry.obstacles, m->report.max_speed);
    if (d->shared) return RH_OK;
    rh_dynamics_commit(d);
    rh_dynamics_pose(d, &m->geometry.obstacles);
    return RH_OK;
}

typedef struct interval {
    const rh_material *m;
    double from, to;  // s
} interval;

static rh_dvec3 beside_gravity(rh_dvec3 point, const void *user)
{
    const interval *during = user;
    rh_dvec3 all = rh_forces_acceleration(point, during->from, during->to, during->m->scene);
    return rh_d3_sub(all, during->m->around.gravity);
}

// What `forces` of a step do in a second to the particles as they are now.
static double power_of_forces(const rh_material *m, double step)
{
    interval during = {m, m->time - m->last_dt, m->time + step};
    return rh_forces_act(m->scene, during.from, during.to)
               ? rh_balance_power(m->points, m->seeder.unit_radius, beside_gravity, &during)
               : 0;
}

// The physics' part of a step, with a shorter one when a solve does not converge. That depends on the state alone, so a
// resumed run does the same. A step that did not converge has left the particles as they were but for their order; only
// what programs did to them, or the step to the method's own state, must be undone, and only then is there a copy.
static rh_code move(rh_material *m, const rh_material_moment *now, double *step, rh_status *status)
{
    bool pushed = m->hooks && rh_hooks_any(m->hooks, RH_AT_FORCES);
    bool copied = pushed || m->physics->save || m->fields.field_count;
    if (copied && !m->kept && !(m->kept = rh_memory_store_create(status))) return RH_MEMORY;
    rh_store kept = copied ? rh_memory_store_open(m->kept) : (rh_store){0};
    if (copied) RH_TRY(rh_material_put_state(m, &kept, status));
    for (m->retries = 0;; m->retries++) {
        rh_status one = {0};
        bool forces = rh_forces_act(m->scene, m->time - m->last_dt, m->time + *step);
        m->around.acceleration = forces ? rh_forces_acceleration : NULL;
        // The step was chosen before the programs push: they need its length. A push beyond what the step allows is
        // seen by the next one.
        RH_TRY(rh_material_hooks(m, now, RH_AT_FORCES, *step, 0, status));
        RH_TRY(move_bases(now, m->time + 0.5 * *step, !m->physics->base_points_only, status));
        if (m->probes) rh_probes_begin(m->probes);
        if (m->has_work) rh_wall_impulses_begin(&m->walls);
        RH_TRY(place_solids(m, *step, status));
        rh_code moved = m->physics->step(m->method, &m->around, *step, m->points, &m->report, &one);
        m->points->spare_lent = false;
        if (moved == RH_OK) RH_TRY(set_solids(m, m->time + (double)(float)*step, status));
        if (moved == RH_OK) RH_TRY(note_walls(m, status));
        if (moved == RH_OK) return leave_solids(m, status);
        if (!m->report.unconverged || m->retries == MOST_RETRIES) return blame_step(m, &one, status);
        if (copied) RH_TRY(rh_material_get_state(m, &kept, status));
        *step *= 0.5;
        rh_log(RH_LOG_WARNING, "step %lld at time %g s: %s; trying a step of half the length, %.3g s",
               (long long)m->step + 1, m->time, one.message, *step);
    }
}

rh_code rh_material_step(rh_material *m, const rh_material_moment *now, double limit, double *dt, rh_status *status)
{
    RH_ASSERT(limit > 0 && rh_points_is_valid(m->points));
    double start = rh_seconds();
    if (m->hooks) rh_hooks_take_seconds(m->hooks);  // of moments before this step
    if (m->probes) rh_probes_forget_rows(m->probes);
    RH_TRY(set_solids(m, m->time, status));
    RH_TRY(rh_material_emit(m, now, status));
    RH_TRY(rh_drain(&m->seeder, m->time, m->points, status));
    double step;
    RH_TRY(choose_step(m, now, limit, &step, status));
    if (!(step > 1e-9 * limit) || !isfinite(step))
        return blame_step(m, &(rh_status){RH_NUMERIC, "the velocities are so high that no time step is small enough"},
                          status);
    double power = power_of_forces(m, step);
    RH_TRY(move(m, now, &step, status));
    m->measured = m->seeder.next_id + m->seeder.received - m->seeder.removed - m->seeder.given;
    double kick = 0.5 * (m->last_dt + step);
    power += power_of_forces(m, step);
    m->seeder.balance.work_forces += 0.5 * kick * power;
    double weight = rh_balance_weight(m->points, m->seeder.unit_radius);
    m->seeder.balance.gravity = rh_d3_add(m->seeder.balance.gravity, rh_d3_scale(m->around.gravity, kick * weight));
    m->seeder.lag = 0.5 * step;
    m->time += step;
    m->last_dt = step;
    m->step++;
    rh_marks_step(&m->marks, step, m->points);
    if (++m->substeps == MANY_STEPS)
        rh_log(RH_LOG_WARNING, "frame %lld has taken %d steps: something moves at %.3g m/s, %.3g cells a frame",
               (long long)now->frame, MANY_STEPS, m->report.max_speed,
               m->report.max_speed / m->scene->cell / m->scene->frames.fps);
    RH_TRY(rh_material_hooks(m, now, RH_AT_STEP, step, 0, status));
    rh_code healthy = rh_health_check(&m->limits, m->points, m->report.max_speed, status);
    for (int i = 1; i < m->sets.count && healthy == RH_OK; i++)
        healthy = rh_health_check_set(&m->limits, &m->sets.items[i], status);
    if (healthy != RH_OK) {
        rh_status_prefix(status, "step %lld at time %g s", (long long)m->step, m->time);
        return RH_NUMERIC;
    }
    if (m->probes) RH_TRY(rh_probes_measure(m->probes, m->points, m->around.time, m->time, status));
    rh_material_add_stage(m);
    *dt = step;
    rh_material_fill_progress(m, step, rh_seconds() - start);
    return RH_OK;
}

void rh_material_balance(rh_material *m)
{
    rh_totals all = totals_of(m);
    const rh_balance *b = &m->seeder.balance;
    double mass = rh_material_particle_mass(m);
    rh_dvec3 known = rh_d3_add(rh_d3_sub(b->momentum_in, b->momentum_out), b->gravity);
    m->progress.kinetic_energy = mass * all.kinetic;
    m->progress.potential_energy = mass * all.height;
    m->progress.energy_put_in = mass * (b->energy_in - b->energy_out);
    m->progress.work_solids = mass * b->work_solids;
    m->progress.work_inflows = mass * b->work_inflows;
    m->progress.work_tension = mass * b->work_tension;
    m->progress.work_forces = mass * b->work_forces;
    m->progress.work_programs = mass * b->work_programs;
    m->progress.energy_gained = mass * (rh_totals_energy(&all, m->around.gravity, 0.5 * m->last_dt) - b->work_solids -
                                        b->work_inflows - b->work_tension - b->work_forces - b->work_programs) -
                                m->progress.energy_put_in;
    m->progress.momentum = rh_d3_scale(all.momentum, mass);
    m->progress.pushed = rh_d3_scale(rh_d3_sub(all.momentum, known), mass);
}
