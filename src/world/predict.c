// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The size of a run before it is made: counted from the shapes, the grid estimated from the count.
#include <math.h>
#include "base/memory.h"
#include "grid/tiles.h"
#include "world/parts.h"

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

// Poured until the last frame: what flows through the cross-section, beside the shape itself, which an emitter fills once.
static double expect_flow(const rh_scene *scene, const rh_stage_set *stage, double particle)
{
    double end = rh_world_frame_time(scene, scene->frames.last), sum = 0;
    const rh_emitter_params *e = scene->emitters.items;
    for (int i = 0; i < scene->emitters.count; i++)
        sum += emitter_rate(&e[i], &stage->emitters[i].shape) * fmax(fmin(e[i].stop, end) - e[i].start, 0) / particle;
    return sum;
}

static double expect_fill(const rh_shape *shape, double particle)
{
    rh_dbox b = rh_shape_bounds(shape);
    rh_dvec3 size = rh_d3_sub(b.max, b.min);
    return fmax(size.x, 0) * fmax(size.y, 0) * (shape->flat ? 1 : fmax(size.z, 0)) / particle;
}

static double particle_volume(const rh_seeder *seeder) { return pow(seeder->spacing, (double)seeder->dimension); }

double rh_world_most_particles(const rh_world *w)
{
    const rh_emitter_params *e = w->scene->emitters.items;
    double particle = particle_volume(&w->seeder), sum = expect_flow(w->scene, &w->stage, particle);
    for (int i = 0; i < w->scene->bodies.count; i++) sum += expect_fill(&w->stage.bodies[i], particle);
    for (int i = 0; i < w->scene->emitters.count; i++) {
        sum += expect_fill(&w->stage.emitters[i].shape, particle);
        if (e[i].motion.keys.count > 1) return INFINITY;  // it fills whatever it comes through
    }
    return sum;
}

static int64_t expect_bytes(const rh_scene *scene, const rh_seeder *seeder, double particles, rh_prediction *out)
{
    const rh_physics *physics = rh_physics_methods[scene->physics.kind];
    int64_t most = (int64_t)fmin(particles, 1e15);
    predict_tiles(seeder, scene, most, out);
    return physics->predict_bytes(scene->physics.value, (int)scene->dimension, most, out->tiles * 5 / 2);  // a splash spreads
}

// Of programs' attributes and of the copy that is kept when programs push, a particle.
static double bytes_of_programs(const rh_world *w)
{
    double extra = 0, all = 0;
    for (int i = 0; i < w->points.attribute_count; i++) {
        const rh_attribute *a = &w->points.attributes[i];
        double size = a->uniform ? 0 : (double)rh_point_type_size(a->type);
        all += size;
        if (i >= w->declared) extra += size;
    }
    return extra + (w->hooks && rh_hooks_any(w->hooks, RH_AT_FORCES) ? all : 0);
}

rh_code rh_world_check_memory(const rh_world *w, rh_status *status)
{
    rh_prediction p = {0};
    int64_t limit = rh_memory_limit();
    double bodies;
    // What writes a frame: OpenVDB has it all once more in grids of its own (57 bytes a particle were seen), beside blocks of fixed size.
    double most = rh_world_most_particles(w), extra = bytes_of_programs(w) + (w->scene->output.vdb ? 60 : 0), writers = 4 << 20;
    // Bounds are quicker than looking at shapes, and mostly they will do.
    if (limit == 0 || (double)expect_bytes(w->scene, &w->seeder, most, &p) + extra * most + writers <= (double)limit) return RH_OK;
    RH_TRY(rh_seed_estimate(&w->seeder, &bodies, status));
    most = bodies + expect_flow(w->scene, &w->stage, particle_volume(&w->seeder));
    double bytes = (double)expect_bytes(w->scene, &w->seeder, most, &p) + extra * most + writers;
    if (bytes <= (double)limit) return RH_OK;
    return rh_fail(status, RH_MEMORY, "%s: %.3g particles will need about %.0f MB of memory, and there are %.0f MB for them\n"
                   "  a larger cell needs less: twice the cell, an eighth of the particles; --memory SIZE sets what the run may use", w->scene->file, most,
                   bytes * 1e-6, (double)limit * 1e-6);
}

// Checks the scene's programs against the particles' attributes, and counts what they add.
static rh_code predict_programs(const rh_scene *scene, rh_prediction *out, rh_status *status)
{
    if (!scene->expressions.count) return RH_OK;
    rh_world w = {.scene = scene, .physics = rh_physics_methods[scene->physics.kind], .seeder = {.dimension = (int)scene->dimension, .spacing = scene->cell}};
    rh_points_init(&w.points);
    rh_code code = rh_world_declare(&w, status);
    int before = w.points.attribute_count;
    if (code == RH_OK) code = rh_hooks_create(scene, &w.points, NULL, &w.hooks, status);
    for (int i = before; i < w.points.attribute_count && code == RH_OK; i++) {
        int64_t bytes = (out->particles + out->emitted) * (int64_t)rh_point_type_size(w.points.attributes[i].type);
        out->bytes_memory += bytes;
        out->bytes_per_frame += bytes * (scene->output.vdb + scene->output.ply);
    }
    if (code == RH_OK && rh_hooks_any(w.hooks, RH_AT_FORCES))  // a copy of all, to try a step again
        for (int i = 0; i < w.points.attribute_count; i++)
            out->bytes_memory += w.points.attributes[i].uniform ? 0 : (out->particles + out->emitted) * (int64_t)rh_point_type_size(w.points.attributes[i].type);
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
    if (code == RH_OK) code = rh_seeder_init(&seeder, &stage, physics->per_cell_axis(scene->physics.value), rh_physics_jitter(physics, scene->physics.value), status);
    if (code == RH_OK) code = rh_seed_count(&seeder, &out->particles, status);
    if (code == RH_OK) {
        out->emitted = (int64_t)expect_flow(scene, &stage, particle_volume(&seeder));
        int64_t most = out->particles + out->emitted;
        int64_t rest = scene->rest ? (int64_t)sizeof(rh_vec3) : 0;
        out->bytes_memory = expect_bytes(scene, &seeder, (double)most, out) + most * rest;
        out->bytes_per_frame = most * (36 + rest) * (scene->output.vdb + scene->output.ply);
    }
    rh_seeder_free(&seeder);
    rh_stage_free(&stage);
    return code == RH_OK ? predict_programs(scene, out, status) : code;
}
