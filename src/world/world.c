// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Time: frame `first` is the state at time 0, frame f the state at (f - first) / fps. A frame is reached by equal
// steps, none longer than the physics allows; how many is decided anew before each step from the state alone, so a run
// that is stopped anywhere and resumed takes the same steps.
//
// Several materials: the one that is furthest behind takes a step of its own, and so on until all have come to the time
// where they meet: the end of the frame, or of equal parts of it that are as long as the strictest of those materials
// allows that step together (scene/materials.c). There particles change from one material to another.
#include "world/parts.h"

#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/memory.h"
#include "physics/walls.h"
#include "scene/words.h"
#include "world/exchange.h"
#include "world/joints.h"

static rh_code make_programs(rh_world *w, rh_status *status)
{
    enum { KEPT = 64 };
    if (!w->scene->expressions.count && !rh_scene_surface_programs(w->scene)) return RH_OK;
    return rh_lang_cache_create(KEPT, &w->programs, status);
}

rh_material_moment rh_world_now(const rh_world *w)
{
    return (rh_material_moment){.frame = w->frame,
                                .bases = w->bases,
                                .base_runs = w->base_runs,
                                .base_count = w->base_count,
                                .stop = w->stop_now};
}

rh_code rh_world_moment(rh_world *w, rh_expression_at at, rh_status *status)
{
    const rh_material_moment now = rh_world_now(w);
    for (int i = 0; i < w->material_count; i++)
        RH_TRY(rh_material_hooks(&w->materials[i], &now, at, w->materials[i].last_dt, 0, status));
    return RH_OK;
}

rh_code rh_world_complete_frame(rh_world *w, rh_status *status)
{
    const rh_material_moment now = rh_world_now(w);
    for (int i = 0; i < w->material_count; i++) RH_TRY(rh_material_emit(&w->materials[i], &now, status));
    return rh_world_moment(w, RH_AT_FRAME, status);
}

rh_code rh_world_begin(rh_world *w, rh_status *status)
{
    if (w->begun) return RH_OK;
    w->begun = true;
    return rh_world_complete_frame(w, status);
}

// A sink of all materials needs its group in one of them.
static rh_code check_sinks(const rh_world *w, rh_status *status)
{
    const rh_sink_params *sinks = w->scene->sinks.items;
    for (int i = 0; i < w->scene->sinks.count; i++) {
        if (!sinks[i].when || !sinks[i].when->group) continue;
        rh_scene_words who = rh_scene_item(w->scene, "sink", i, &sinks[i], sinks[i].name);
        rh_status one = {0};
        bool there = false;
        for (int m = 0; m < w->material_count && !there; m++)
            if (sinks[i].material_index < 0 || sinks[i].material_index == m)
                there = rh_material_find_group(&w->materials[m], who.text, sinks[i].when->group, &one) == RH_OK;
        if (!there) return rh_fail(status, RH_USER, "%s", one.message);
    }
    return RH_OK;
}

// A material that others become may have all particles there are.
static void set_limits(rh_world *w)
{
    const rh_exchange_params *e = w->scene->exchanges.items;
    double all = 0;
    for (int i = 0; i < w->material_count; i++) all += rh_material_most_particles(&w->materials[i]);
    for (int i = 0; i < w->scene->exchanges.count; i++)
        w->materials[e[i].to_index].limits = rh_health_limits_of(w->scene, all);
}

// The runs that this one stands on, as far as it goes itself.
static rh_code open_bases(rh_world *w, rh_status *status)
{
    const rh_scene *scene = w->scene;
    const rh_from_params *from = scene->from.items;
    size_t room = (size_t)scene->from.count + 1;
    w->bases = rh_alloc_zero(room * sizeof *w->bases, "world.base", status);
    w->base_runs = rh_alloc_zero(room * sizeof *w->base_runs, "world.base", status);
    if (!w->bases || !w->base_runs) return RH_MEMORY;
    for (int i = 0; i < scene->from.count; i++) {
        RH_TRY(rh_base_frames_open(&from[i], rh_scene_place(scene, from[i].run), (int)scene->dimension,
                                   rh_world_frame_time(scene, scene->frames.last), &w->bases[i], status));
        w->base_runs[w->base_count++] = rh_base_frames_run(w->bases[i]);
    }
    return RH_OK;
}

static rh_code check_base_name(const rh_world *w, const rh_material *m, const char *wanted, rh_status *status)
{
    enum { MOST = 32 };
    const char *names[MOST] = {NULL};
    int count = w->base_count < MOST ? w->base_count : MOST;
    if (!wanted || rh_base_find(w->base_runs, w->base_count, wanted)) return RH_OK;
    for (int i = 0; i < count; i++) names[i] = w->base_runs[i]->name;
    const char *near = rh_nearest_name(wanted, names, count);
    return rh_fail(status, RH_USER, "%s: %s asks for the run '%s', which is not in 'from'%s%s%s", w->scene->file,
                   m->physics->name, wanted, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static rh_code check_base(const rh_world *w, const rh_material *m, rh_status *status)
{
    const rh_physics *p = m->physics;
    RH_TRY(check_base_name(w, m, p->base ? p->base(m->params) : NULL, status));
    return check_base_name(w, m, p->other_base ? p->other_base(m->params) : NULL, status);
}

// What pushes solids a step late throws light ones about. (Material of the ball around each counted as part of it, so
// that an error falls from step to step by what is known of added masses, planks of a quarter of the density were
// thrown out of the water that float without it: a solid that few particles touch has hardly any added mass.)
static rh_code check_late(const rh_world *w, const rh_material *m, rh_status *status)
{
    static const double LATE = 0.25;
    double least = m->physics->pushes_late ? LATE : 0, density = 0;
    if (m->physics->lightest) least = m->physics->lightest(m->params);
    if (least > 0) density = m->physics->density(m->params);
    for (int n = 0; n < w->dynamics.count && least > 0; n++) {
        const rh_dynamic_solid *s = &w->dynamics.items[n];
        const rh_solid_params *solid = (const rh_solid_params *)w->scene->solids.items + s->obstacle;
        double own = s->mass.mass / s->mass.volume;
        if (own < least * density * (1 - 1e-6))
            return rh_fail(status, RH_USER,
                           "%s has a density of %g kg/m^3, and %s, as it is set, moves no solids steadily that are "
                           "lighter than %g of its own; expected %g kg/m^3 or more, or the method liquid or splash",
                           rh_scene_item(w->scene, "solid", s->obstacle, solid, solid->name).text, own,
                           m->physics->name, least, least * density);
    }
    return RH_OK;
}

static rh_code build(rh_world *w, rh_status *status)
{
    const rh_scene *scene = w->scene;
    int count = rh_scene_material_count(scene);
    if (!w->geometry.scene) RH_TRY(rh_geometry_build(scene, &w->geometry, status));
    RH_TRY(rh_dynamics_create(&w->geometry.obstacles, (int)scene->dimension, &w->dynamics, status));
    RH_TRY(rh_world_join(scene, &w->geometry.obstacles, &w->dynamics, status));
    RH_TRY(rh_dynamics_share(&w->dynamics, count, status));
    RH_TRY(make_programs(w, status));
    RH_TRY(open_bases(w, status));
    w->materials = rh_alloc_zero((size_t)count * sizeof *w->materials, "world", status);
    if (!w->materials) return RH_MEMORY;
    for (int i = 0; i < count; i++) {
        w->material_count = i + 1;
        RH_TRY(rh_material_init(&w->materials[i], scene, i, &w->geometry, &w->dynamics, w->programs, status));
        RH_TRY(check_base(w, &w->materials[i], status));
        RH_TRY(check_late(w, &w->materials[i], status));
    }
    RH_TRY(rh_exchange_check(w, status));
    RH_TRY(check_sinks(w, status));
    w->rests = rh_alloc_zero((size_t)(scene->exchanges.count + 1) * sizeof *w->rests, "world", status);
    if (!w->rests) return RH_MEMORY;
    set_limits(w);
    RH_TRY(rh_world_check_memory(w, status));
    w->frame = scene->frames.first;
    w->frame_done = true;
    const rh_material_moment now = rh_world_now(w);
    for (int i = 0; i < count; i++) RH_TRY(rh_material_seed(&w->materials[i], &now, status));
    return RH_OK;
}

rh_code rh_world_create(const rh_scene *scene, rh_world **out, rh_status *status)
{
    return rh_world_create_from(scene, NULL, out, status);
}

rh_code rh_world_create_from(const rh_scene *scene, rh_geometry *geometry, rh_world **out, rh_status *status)
{
    *out = NULL;
    rh_world *w = rh_alloc_zero(sizeof *w, "world", status);
    if (!w) return RH_MEMORY;
    w->scene = scene;
    if (geometry) {
        w->geometry = *geometry;
        *geometry = (rh_geometry){0};
    }
    rh_code code = build(w, status);
    if (code == RH_OK) *out = w;
    else rh_world_free(w);
    return code;
}

void rh_world_free(rh_world *world)
{
    if (!world) return;
    for (int i = 0; i < world->material_count; i++) rh_material_free(&world->materials[i]);
    rh_free(world->materials);
    rh_free(world->rests);
    rh_lang_cache_free(world->programs);
    for (int i = 0; i < world->base_count; i++) rh_base_frames_free(world->bases[i]);
    rh_free(world->bases);
    rh_free(world->base_runs);
    rh_dynamics_free(&world->dynamics);
    rh_geometry_free(&world->geometry);
    rh_free(world);
}

const rh_dynamics *rh_world_dynamics(const rh_world *world) { return &world->dynamics; }
const rh_obstacles *rh_world_solids(const rh_world *world) { return &world->materials[0].geometry.obstacles; }
const char *rh_world_solid_name(const rh_world *world, int solid)
{
    return ((const rh_solid_params *)world->scene->solids.items)[solid].name;
}

const rh_points *rh_world_points(const rh_world *world) { return world->materials[0].points; }
rh_points *rh_world_points_mutable(rh_world *world) { return world->materials[0].points; }
double rh_world_time(const rh_world *world) { return world->time; }
const rh_fields *rh_world_fields(const rh_world *world)
{
    for (int i = 0; i < world->material_count; i++)
        if (world->materials[i].fields.field_count) return &world->materials[i].fields;
    return &world->materials[0].fields;
}

int rh_world_owned_fields(const rh_world *world, rh_owned_fields *out)
{
    int count = 0;
    for (int i = 0; i < world->material_count; i++)
        if (world->materials[i].fields.field_count)
            out[count++] = (rh_owned_fields){world->materials[i].name, &world->materials[i].fields};
    if (count == 1) out[0].owner = NULL;
    return count;
}

const rh_probes *rh_world_probes(const rh_world *world, int material)
{
    RH_ASSERT(material >= 0 && material < world->material_count);
    return world->materials[material].probes;
}

const rh_step_report *rh_world_report(const rh_world *w) { return &w->materials[w->stepped].report; }
void rh_world_progress(const rh_world *world, rh_progress *out) { *out = world->progress; }
int rh_world_material_count(const rh_world *world) { return world->material_count; }
const char *rh_world_material_name(const rh_world *world, int material) { return world->materials[material].name; }
const rh_sets *rh_world_material_sets(const rh_world *world, int material) { return &world->materials[material].sets; }

void rh_world_material_progress(const rh_world *world, int material, rh_progress *out)
{
    *out = world->materials[material].progress;
}

// --- one step --------------------------------------------------------------------------------------------------------
// What all materials have together.
static void add_up(rh_world *w)
{
    rh_progress *all = &w->progress;
    double expected = 0;
    all->particles = all->cells = all->tiles = all->emitted = all->removed = 0;
    all->volume = all->max_speed = 0;
    all->substeps = 0;
    for (int i = 0; i < w->material_count; i++) {
        const rh_material *m = &w->materials[i];
        all->particles += m->points->count;
        all->cells += m->report.cells;
        all->tiles += m->report.tiles;
        all->emitted += m->seeder.emitted;
        all->removed += m->seeder.removed;
        all->volume += m->report.volume;
        all->max_speed = fmax(all->max_speed, m->report.max_speed);
        all->substeps += m->substeps;
        if (m->report.volume > 0) expected += pow(m->seeder.spacing, m->seeder.dimension) * (double)m->measured;
    }
    all->volume_error = expected > 0 ? all->volume / expected - 1 : 0;
}

void rh_world_fill_progress(rh_world *w)
{
    w->progress = w->materials[w->stepped].progress;
    w->progress.frame = w->frame;
    w->progress.time = w->time;
    w->progress.step = w->step;
    w->progress.compile_seconds = w->programs ? rh_lang_cache_seconds(w->programs) : 0;
    if (w->material_count > 1) add_up(w);
    else w->progress.material = NULL;
}

// Of two that are equally far the first of the scene goes first; with dynamic solids that one of which less moves with
// them, so that the one with most to say about their velocity has the last word: a raft on water with sand on it
// heaved more and more when the sand came last.
static bool goes_before(const rh_world *w, int a, int b)
{
    if (w->materials[a].time != w->materials[b].time) return w->materials[a].time < w->materials[b].time;
    double one = rh_dynamics_added(&w->dynamics, a), other = rh_dynamics_added(&w->dynamics, b);
    return one != other ? one < other : a < b;
}

// One step of the material that is furthest behind.
static rh_code step_one(rh_world *w, double until, double *dt, rh_status *status)
{
    const rh_material_moment now = rh_world_now(w);
    w->stepped = 0;
    for (int i = 1; i < w->material_count; i++)
        if (goes_before(w, i, w->stepped)) w->stepped = i;
    rh_material *m = &w->materials[w->stepped];
    RH_TRY(rh_material_step(m, &now, until - m->time, dt, status));
    w->step++;
    return RH_OK;
}

// Where all meet next, on the way to `end`.
static rh_code choose_meeting(rh_world *w, double end, double *meeting, rh_status *status)
{
    double left = end - w->time, most = left;
    bool any = false;
    const rh_material_moment now = rh_world_now(w);
    for (int i = 0; i < w->material_count; i++) {
        if (!rh_scene_material(w->scene, i)->steps_together) continue;
        any = true;
        double step;
        RH_TRY(rh_material_longest_step(&w->materials[i], &now, left, &step, status));
        most = fmin(most, step);
    }
    double parts = any && most > 0 ? ceil(left / most - 1e-9) : 1;
    *meeting = parts > 1 ? w->time + left / parts : end;
    rh_dynamics_open(&w->dynamics, w->time, *meeting - w->time);
    return RH_OK;
}

// Where solids go in the end is known when the last material has pushed them: particles of others are kept outside.
static void commit_solids(rh_world *w)
{
    rh_dynamics_commit(&w->dynamics);
    for (int i = 0; i < w->material_count; i++) {
        rh_material *m = &w->materials[i];
        rh_dynamics_pose(&w->dynamics, &m->geometry.obstacles);
        rh_walls_push_out(&m->geometry.obstacles, (int)w->scene->dimension, 0.1 * m->seeder.spacing, m->points->count,
                          rh_points_data(m->points, "P", RH_POINT_VEC3F));
    }
}

static void note_time(rh_world *w)
{
    w->time = w->materials[0].time;
    for (int i = 1; i < w->material_count; i++) w->time = fmin(w->time, w->materials[i].time);
}

rh_code rh_world_step(rh_world *w, double dt_limit, double *dt, rh_status *status)
{
    double before = w->time, step;
    RH_ASSERT(dt_limit > 0);
    if (w->material_count > 1) {
        double end = before + dt_limit;
        do RH_TRY(rh_world_step_towards(w, end, status));
        while (w->time < w->meeting);
        if (dt) *dt = w->time - before;
        return RH_OK;
    }
    RH_TRY(rh_world_begin(w, status));
    RH_TRY(step_one(w, w->time + dt_limit, &step, status));
    note_time(w);
    if (dt) *dt = step;
    rh_world_fill_progress(w);
    return RH_OK;
}

rh_code rh_world_step_towards(rh_world *w, double end, rh_status *status)
{
    double step;
    RH_TRY(rh_world_begin(w, status));
    if (w->material_count == 1) w->meeting = end;
    else if (w->time >= w->meeting) RH_TRY(choose_meeting(w, end, &w->meeting, status));
    RH_TRY(step_one(w, w->meeting, &step, status));
    rh_material *m = &w->materials[w->stepped];
    if (w->meeting - m->time < 1e-9 / w->scene->frames.fps) m->time = w->meeting;
    note_time(w);
    if (w->time >= w->meeting && w->dynamics.shared && w->dynamics.count) commit_solids(w);
    if (w->time >= w->meeting) RH_TRY(rh_exchange_run(w, status));
    rh_world_fill_progress(w);
    return RH_OK;
}

static void add_balance(rh_progress *all, const rh_progress *one)
{
    all->kinetic_energy += one->kinetic_energy;
    all->potential_energy += one->potential_energy;
    all->energy_put_in += one->energy_put_in;
    all->work_solids += one->work_solids;
    all->work_inflows += one->work_inflows;
    all->work_tension += one->work_tension;
    all->work_forces += one->work_forces;
    all->work_programs += one->work_programs;
    all->energy_gained += one->energy_gained;
    all->momentum = rh_d3_add(all->momentum, one->momentum);
    all->pushed = rh_d3_add(all->pushed, one->pushed);
}

void rh_world_finish_frame(rh_world *w)
{
    rh_progress *all = &w->progress;
    all->particles = all->emitted = all->removed = 0;
    for (int i = 0; i < w->material_count; i++) {
        rh_material *m = &w->materials[i];
        double seconds = rh_material_add_stage(m);
        m->progress.seconds += seconds;
        all->seconds += seconds;
        m->progress.particles = m->points->count;
        m->progress.emitted = m->seeder.emitted;
        m->progress.removed = m->seeder.removed;
        m->progress.received = m->seeder.received;
        m->progress.given = m->seeder.given;
        all->particles += m->points->count;
        all->emitted += m->seeder.emitted;
        all->removed += m->seeder.removed;
        rh_material_balance(m);
        if (i == 0) {
            all->kinetic_energy = all->potential_energy = all->energy_put_in = all->energy_gained = 0;
            all->work_solids = all->work_inflows = all->work_tension = all->work_forces = all->work_programs = 0;
            all->momentum = all->pushed = rh_d3(0, 0, 0);
        }
        add_balance(all, &m->progress);
    }
}

void rh_world_start_frame(rh_world *w, int64_t frame)
{
    w->frame = frame;
    w->frame_done = false;
    for (int i = 0; i < w->material_count; i++) w->materials[i].substeps = 0;
}

static bool any_at_frames(const rh_world *w)
{
    for (int i = 0; i < w->material_count; i++)
        if (w->materials[i].hooks && rh_hooks_any(w->materials[i].hooks, RH_AT_FRAME)) return true;
    return false;
}

rh_code rh_world_advance_to(rh_world *world, int64_t frame, rh_status *status)
{
    RH_TRY(rh_world_begin(world, status));
    // Without programs at frames nothing happens in between, and steps need not end there.
    bool every = any_at_frames(world);
    while (!world->frame_done || world->frame < frame) {
        if (world->frame_done) rh_world_start_frame(world, every ? world->frame + 1 : frame);
        double end = rh_world_frame_time(world->scene, world->frame);
        while (world->time < end) RH_TRY(rh_world_step_towards(world, end, status));
        RH_TRY(rh_world_complete_frame(world, status));
        world->frame_done = true;
    }
    return RH_OK;
}
