// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The size of a run before it is made: counted from the shapes, the grid estimated from the count.
#include <math.h>
#include "base/memory.h"
#include "base/random.h"
#include "grid/tiles.h"
#include "world/parts.h"
#include "world/emitter.h"

// Of one that stays where it is, m^3/s.
static double emitter_rate(rh_dvec3 v, const rh_shape *shape)
{
    // Cross-section from the bounds: an upper estimate, exact for a box along its velocity.
    rh_dbox b = rh_shape_bounds(shape);
    rh_dvec3 size = rh_d3_sub(b.max, b.min);
    return fabs(v.x) * size.y * (shape->flat ? 1 : size.z) + fabs(v.y) * size.x * (shape->flat ? 1 : size.z) +
           fabs(v.z) * size.x * size.y;
}

// --- emitters that move ----------------------------------------------------------------------------------------------
// An emitter pours out every site of its lattice that comes to lie inside of it: what counts is the space its shape
// newly covers, seen from the lattice, which drifts with the velocity of what is poured. So of points spread over the
// shape those count that are inside now and, carried back with the lattice, were outside a moment before. (Neither
// bounds times the speed of their corners nor carrying points back along straight lines will do: a ball that spins
// covers nothing new.)
enum { MOMENTS = 64, POINTS_2D = 40, POINTS_3D = 12 };  // an axis

typedef struct sweep {
    const rh_placed_shape *placed;
    bool flat;
    rh_dvec3 drift;  // m/s, of the lattice
    rh_dbox box;     // of the shape, in its own space
    rh_dvec3 cell;   // between points
    int count[3];
} sweep;

static rh_dvec3 sweep_point(const sweep *w, const int at[3])
{
    rh_dvec3 x = w->box.min;
    uint64_t number = (uint64_t)at[0] + (uint64_t)at[1] * 64 + (uint64_t)at[2] * 4096;
    for (int a = 0; a < (w->flat ? 2 : 3); a++)
        (&x.x)[a] += ((double)at[a] + (double)rh_random(0, number, 0, (uint32_t)a)) * (&w->cell.x)[a];
    return x;
}

// So long that nothing moves further than from one point to the next (s), by the speeds at the corners in the shape's
// own space.
static double sweep_time(const sweep *w, double now)
{
    rh_pose pose;
    rh_dvec3 linear, angular;
    double time = INFINITY;
    rh_motion_place(w->placed->motion, now, w->flat, &pose, &linear, &angular);
    for (int corner = 0; corner < 8; corner++) {
        rh_dvec3 x = {corner & 1 ? w->box.max.x : w->box.min.x, corner & 2 ? w->box.max.y : w->box.min.y,
                      corner & 4 ? w->box.max.z : w->box.min.z};
        rh_dvec3 turning = rh_d3_cross(angular, rh_pose_turn(&pose, rh_d3_sub(x, pose.pivot)));
        rh_dvec3 u = rh_m3_mul_transposed(pose.rotation, rh_d3_sub(rh_d3_add(linear, turning), w->drift));
        for (int a = 0; a < (w->flat ? 2 : 3); a++)
            if ((&u.x)[a] != 0) time = fmin(time, (&w->cell.x)[a] / fabs((&u.x)[a]));
    }
    return time;
}

// Newly covered at a moment, m^3/s.
static double sweep_rate(const sweep *w, double now)
{
    const rh_shape *shape = &w->placed->shape;
    double time = sweep_time(w, now), entered = 0;
    if (!(time > 0 && isfinite(time))) return 0;
    rh_pose pose = rh_placed_pose(w->placed, now), before = rh_placed_pose(w->placed, now - time);
    rh_dvec3 back = rh_d3_scale(w->drift, -time);
    for (int k = 0; k < w->count[2]; k++)
        for (int j = 0; j < w->count[1]; j++)
            for (int i = 0; i < w->count[0]; i++) {
                rh_dvec3 x = sweep_point(w, (const int[3]){i, j, k});
                if (rh_shape_distance(shape, x) >= 0) continue;
                entered += rh_shape_distance(
                               shape, rh_pose_to_local(&before, rh_d3_add(rh_pose_to_world(&pose, x), back))) >= 0;
            }
    return entered * w->cell.x * w->cell.y * (w->flat ? 1 : w->cell.z) / time;
}

// Newly covered from one time to another, m^3.
static double swept_volume(const rh_placed_shape *placed, rh_dvec3 drift, double from, double to)
{
    sweep w = {.placed = placed, .flat = placed->shape.flat, .drift = drift, .box = rh_shape_bounds(&placed->shape)};
    for (int a = 0; a < 3; a++) {
        w.count[a] = w.flat ? (a < 2 ? POINTS_2D : 1) : POINTS_3D;
        (&w.cell.x)[a] = ((&w.box.max.x)[a] - (&w.box.min.x)[a]) / w.count[a];
    }
    double sum = 0, part = (to - from) / MOMENTS;
    for (int n = 0; n < MOMENTS && part > 0; n++) sum += part * sweep_rate(&w, from + (n + 0.5) * part);
    return sum;
}

// What an emitter pours from one time to another, beside what fills it at the start, m^3.
static double poured_volume(const rh_emitter_params *p, const rh_placed_shape *placed, double from, double to)
{
    const rh_motion_key *keys = p->motion.keys.items;
    if (!(to > from)) return 0;
    // What follows its motion pours in its own space as one that rests.
    double sum = 0, part = (to - from) / MOMENTS;
    if (rh_emitter_varies(p)) {
        for (int n = 0; n < MOMENTS; n++) {
            double now = from + (n + 0.5) * part;
            sum += part * rh_emitter_rate(p, now) * emitter_rate(rh_emitter_own_velocity(p, now), &placed->shape);
        }
        return sum;
    }
    if (rh_motion_is_still(&p->motion)) return p->rate * emitter_rate(p->velocity, &placed->shape) * (to - from);
    // Before the first key and after the last one it rests, turned like there.
    double begin = fmin(fmax(keys[0].time, from), to), end = fmin(fmax(keys[p->motion.keys.count - 1].time, begin), to);
    return p->rate * (swept_volume(placed, p->velocity, from, begin) + swept_volume(placed, p->velocity, begin, end) +
                      swept_volume(placed, p->velocity, end, to));
}

// --- sizes -----------------------------------------------------------------------------------------------------------
static void predict_tiles(const rh_seeder *seeder, const rh_scene *scene, int64_t particles, rh_prediction *out)
{
    // A tile holds so many particles when full; surface tiles are half empty and a margin of about one tile surrounds
    // them.
    double per_tile = pow(RH_TILE * scene->cell / seeder->spacing, (double)scene->dimension),
           full = (double)particles / per_tile;
    double side = pow(full, 1.0 / (double)scene->dimension);
    out->tiles = (int64_t)ceil(pow(side + 2, (double)scene->dimension));
    out->cells = (int64_t)((double)particles * pow(seeder->spacing / scene->cell, (double)scene->dimension));
}

// What lies inside of a shape (m^3; m^2 in two dimensions), by points spread over its bounds.
static double shape_volume(const rh_shape *shape)
{
    enum { POINTS = 20000 };
    rh_dbox b = rh_shape_bounds(shape);
    int64_t inside = 0;
    for (int i = 0; i < POINTS; i++) {
        rh_dvec3 x = b.min;
        for (int a = 0; a < (shape->flat ? 2 : 3); a++)
            (&x.x)[a] += (double)rh_random(1, (uint64_t)i, 0, (uint32_t)a) * ((&b.max.x)[a] - (&b.min.x)[a]);
        inside += rh_shape_distance(shape, x) < 0;
    }
    return (double)inside / POINTS * (b.max.x - b.min.x) * (b.max.y - b.min.y) * (shape->flat ? 1 : b.max.z - b.min.z);
}

// Poured until the last frame, beside the shape itself, which an emitter fills once.
static double expect_flow(const rh_seeder *seeder, double particle)
{
    const rh_scene *scene = seeder->geometry->scene;
    double end = rh_world_frame_time(scene, scene->frames.last), sum = 0;
    const rh_emitter_params *e = scene->emitters.items;
    for (int i = 0; i < scene->emitters.count; i++)
        if (rh_seeder_pours(seeder, i))
            sum += poured_volume(&e[i], &seeder->geometry->emitters[i], e[i].start, fmin(e[i].stop, end)) / particle;
    return sum;
}

static double expect_fill(const rh_shape *shape, double particle)
{
    rh_dbox b = rh_shape_bounds(shape);
    rh_dvec3 size = rh_d3_sub(b.max, b.min);
    return fmax(size.x, 0) * fmax(size.y, 0) * (shape->flat ? 1 : fmax(size.z, 0)) / particle;
}

static double particle_volume(const rh_seeder *seeder) { return pow(seeder->spacing, (double)seeder->dimension); }

// Of one material, without what is poured later.
static rh_code expect_start(const rh_geometry *geometry, int material, bool by_boxes, double *sum, rh_status *status)
{
    const rh_scene *scene = geometry->scene;
    const rh_variant *variant = &rh_scene_material(scene, material)->physics;
    const rh_physics *physics = rh_physics_methods[variant->kind];
    rh_seeder seeder = {0};
    double bodies = 0;
    if (physics->without_particles) return RH_OK;
    rh_code code = rh_seeder_init(&seeder, geometry, material, physics->per_cell_axis(variant->value),
                                  rh_physics_jitter(physics, variant->value), status);
    if (code == RH_OK && !by_boxes) code = rh_seed_estimate(&seeder, &bodies, status);
    for (int i = 0; i < scene->bodies.count && code == RH_OK && by_boxes; i++)
        if (rh_seeder_fills(&seeder, i)) bodies += expect_fill(&geometry->bodies[i], particle_volume(&seeder));
    for (int i = 0; i < scene->emitters.count && code == RH_OK; i++)
        if (rh_seeder_pours(&seeder, i)) bodies += expect_fill(&geometry->emitters[i].shape, particle_volume(&seeder));
    rh_seeder_free(&seeder);
    *sum += bodies;
    return code;
}

rh_code rh_world_expect_start(const rh_geometry *geometry, double enough, double *particles, rh_status *status)
{
    int count = rh_scene_material_count(geometry->scene);
    for (int way = 0; way < 2; way++) {
        *particles = 0;
        for (int i = 0; i < count; i++) RH_TRY(expect_start(geometry, i, way == 0, particles, status));
        if (*particles <= enough) break;
    }
    return RH_OK;
}

double rh_material_most_particles(const rh_material *m)
{
    if (m->physics->without_particles) return 0;
    double particle = particle_volume(&m->seeder), sum = expect_flow(&m->seeder, particle);
    for (int i = 0; i < m->scene->bodies.count; i++)
        if (rh_seeder_fills(&m->seeder, i)) sum += expect_fill(&m->geometry.bodies[i], particle);
    for (int i = 0; i < m->scene->emitters.count; i++)
        if (rh_seeder_pours(&m->seeder, i)) sum += expect_fill(&m->geometry.emitters[i].shape, particle);
    return sum;
}

static int64_t expect_bytes(const rh_seeder *seeder, double particles, rh_prediction *out)
{
    const rh_scene *scene = seeder->geometry->scene;
    const rh_variant *physics = &rh_scene_material(scene, seeder->material)->physics;
    int64_t most = (int64_t)fmin(particles, 1e15);
    predict_tiles(seeder, scene, most, out);
    return rh_physics_methods[physics->kind]->predict_bytes(physics->value, (int)scene->dimension, most,
                                                            out->tiles * 5 / 2);  // a splash spreads
}

// Of programs' attributes and of the copy that is kept when programs push, a particle.
static double bytes_of_programs(const rh_material *m)
{
    double extra = 0, all = 0;
    for (int i = 0; i < m->points->attribute_count; i++) {
        const rh_attribute *a = &m->points->attributes[i];
        double size = a->uniform ? 0 : (double)rh_point_type_size(a->type);
        all += size;
        if (i >= m->declared) extra += size;
    }
    return extra + (m->hooks && rh_hooks_any(m->hooks, RH_AT_FORCES) ? all : 0);
}

// What writes a frame counts too: OpenVDB has it all once more in grids of its own (57 bytes a particle were seen),
// beside blocks of fixed size.
static double expect_all_bytes(const rh_material *m, double particles)
{
    rh_prediction p = {0};
    double extra = bytes_of_programs(m) + (m->scene->output.vdb ? 60 : 0);
    return (double)expect_bytes(&m->seeder, particles, &p) + extra * particles;
}

rh_code rh_world_check_memory(const rh_world *w, rh_status *status)
{
    int64_t limit = rh_memory_limit();
    if (limit == 0) return RH_OK;
    double writers = 4 << 20, most = 0, bytes = writers;
    // Bounds are quicker than looking at shapes, and mostly they will do.
    for (int i = 0; i < w->material_count; i++)
        bytes += expect_all_bytes(&w->materials[i], rh_material_most_particles(&w->materials[i]));
    if (bytes <= (double)limit) return RH_OK;
    bytes = writers;
    for (int i = 0; i < w->material_count; i++) {
        const rh_seeder *seeder = &w->materials[i].seeder;
        double particles;
        RH_TRY(rh_seed_estimate(seeder, &particles, status));
        particles += expect_flow(seeder, particle_volume(seeder));
        bytes += expect_all_bytes(&w->materials[i], particles);
        most += particles;
    }
    if (bytes <= (double)limit) return RH_OK;
    return rh_fail(status, RH_MEMORY,
                   "%s: %.3g particles will need about %.0f MB of memory, and there are %.0f MB for them\n"
                   "  a larger cell needs less: twice the cell, an eighth of the particles; --memory SIZE sets what "
                   "the run may use",
                   w->scene->file, most, bytes * 1e-6, (double)limit * 1e-6);
}

// Checks the scene's programs against the particles' attributes, and counts what they add.
static rh_code predict_programs(const rh_seeder *seeder, rh_prediction *out, rh_status *status)
{
    const rh_scene *scene = seeder->geometry->scene;
    int64_t particles = out->particles + out->emitted;
    if (!scene->expressions.count) return RH_OK;
    rh_material *m = rh_alloc_zero(sizeof *m, "world.predict", status);
    if (!m) return RH_MEMORY;
    rh_code code = rh_material_init(m, scene, seeder->material, seeder->geometry, NULL, NULL, status);
    for (int i = m->declared; code == RH_OK && i < m->points->attribute_count; i++) {
        int64_t bytes = particles * (int64_t)rh_point_type_size(m->points->attributes[i].type);
        out->bytes_memory += bytes;
        out->bytes_per_frame += bytes * (scene->output.vdb + scene->output.ply);
    }
    if (code == RH_OK && m->hooks && rh_hooks_any(m->hooks, RH_AT_FORCES))  // a copy of all, to try a step again
        for (int i = 0; i < m->points->attribute_count; i++) {
            const rh_attribute *a = &m->points->attributes[i];
            out->bytes_memory += a->uniform ? 0 : particles * (int64_t)rh_point_type_size(a->type);
        }
    rh_material_free(m);
    rh_free(m);
    return code;
}

// `made`: the same material's seeder, after it has filled the bodies; or NULL.
static rh_code predict_body(const rh_seeder *seeder, const rh_seeder *made, int n, rh_amount *out, rh_status *status)
{
    const rh_body_params *body = (const rh_body_params *)seeder->geometry->scene->bodies.items + n;
    rh_seeded filled;
    if (made) filled = made->filled[n];
    else RH_TRY(rh_seed_body_count(seeder, n, &filled, status));
    *out = (rh_amount){.name = body->name,
                       .index = n,
                       .material = seeder->material,
                       .asked = filled.volume,
                       .particles = filled.count,
                       .given = (double)filled.count * particle_volume(seeder)};
    return RH_OK;
}

static rh_code predict_emitter(const rh_seeder *seeder, int n, rh_amount *out, rh_status *status)
{
    const rh_scene *scene = seeder->geometry->scene;
    const rh_emitter_params *p = (const rh_emitter_params *)scene->emitters.items + n;
    double end = rh_world_frame_time(scene, scene->frames.last), particle = particle_volume(seeder);
    *out = (rh_amount){.name = p->name,
                       .emitter = true,
                       .index = n,
                       .material = seeder->material,
                       .rate = seeder->emitter_flows[n].area * seeder->emitter_flows[n].speed};
    RH_TRY(rh_seed_emitted_volume(seeder, n, end, &out->asked, status));
    out->estimated = out->asked < 0;
    if (out->estimated) {
        const rh_placed_shape *placed = &seeder->geometry->emitters[n];
        out->asked = poured_volume(p, placed, p->start, fmin(p->stop, end));
        if (p->start <= end) out->asked += rh_emitter_rate(p, p->start) * shape_volume(&placed->shape);
    }
    out->particles = (int64_t)floor(out->asked / particle + 0.5);
    out->given = (double)out->particles * particle;
    return RH_OK;
}

static rh_code predict_amounts(const rh_seeder *seeder, const rh_seeder *made, rh_prediction *out, rh_status *status)
{
    const rh_scene *scene = seeder->geometry->scene;
    for (int n = 0; n < scene->bodies.count; n++) {
        if (!rh_seeder_fills(seeder, n)) continue;
        RH_TRY(predict_body(seeder, made, n, &out->amounts[out->amount_count], status));
        out->particles += out->amounts[out->amount_count++].particles;
    }
    for (int n = 0; n < scene->emitters.count; n++) {
        if (!rh_seeder_pours(seeder, n)) continue;
        RH_TRY(predict_emitter(seeder, n, &out->amounts[out->amount_count], status));
        out->emitted += out->amounts[out->amount_count++].particles;
    }
    return RH_OK;
}

// Of a method without particles: the tiles of bodies and emitters, and those around them.
static void predict_fields(const rh_seeder *seeder, const rh_variant *variant, rh_prediction *out)
{
    const rh_scene *scene = seeder->geometry->scene;
    double volume = 0, tile = pow(RH_TILE * scene->cell, (double)scene->dimension);
    for (int n = 0; n < scene->bodies.count; n++)
        if (rh_seeder_fills(seeder, n)) volume += expect_fill(&seeder->geometry->bodies[n], 1);
    for (int n = 0; n < scene->emitters.count; n++)
        if (rh_seeder_pours(seeder, n)) volume += expect_fill(&seeder->geometry->emitters[n].shape, 1);
    double side = pow(volume / tile, 1.0 / (double)scene->dimension);
    out->tiles = (int64_t)fmin(ceil(pow(side + 2, (double)scene->dimension)), 1e12);
    out->cells = out->tiles * (scene->dimension == 3 ? 512 : 64);
    out->bytes_memory = rh_physics_methods[variant->kind]->predict_bytes(variant->value, (int)scene->dimension, 0,
                                                                         out->tiles);
    out->bytes_per_frame = out->cells * (int64_t)sizeof(float);
}

void rh_prediction_free(rh_prediction *prediction)
{
    rh_free(prediction->amounts);
    prediction->amounts = NULL;
    prediction->amount_count = 0;
}

// One material's part, added.
static rh_code predict_material(const rh_geometry *geometry, const rh_seeder *made, int index, rh_prediction *all,
                                rh_status *status)
{
    const rh_scene *scene = geometry->scene;
    const rh_variant *variant = &rh_scene_material(scene, index)->physics;
    const rh_physics *physics = rh_physics_methods[variant->kind];
    rh_prediction one = {.amounts = all->amounts + all->amount_count};
    rh_seeder seeder = {0};
    rh_code code = rh_seeder_init(&seeder, geometry, index, physics->per_cell_axis(variant->value),
                                  rh_physics_jitter(physics, variant->value), status);
    if (code == RH_OK && physics->without_particles) predict_fields(&seeder, variant, &one);
    else if (code == RH_OK) code = predict_amounts(&seeder, made, &one, status);
    if (code == RH_OK && !physics->without_particles) {
        int64_t most = one.particles + one.emitted;
        int64_t rest = scene->rest_position ? (int64_t)sizeof(rh_vec3) : 0;
        one.bytes_memory = expect_bytes(&seeder, (double)most, &one) + most * rest;
        one.bytes_per_frame = most * (36 + rest) * (scene->output.vdb + scene->output.ply);
        code = predict_programs(&seeder, &one, status);
    }
    rh_seeder_free(&seeder);
    all->amount_count += one.amount_count;
    all->particles += one.particles;
    all->emitted += one.emitted;
    all->tiles += one.tiles;
    all->cells += one.cells;
    all->bytes_memory += one.bytes_memory;
    all->bytes_per_frame += one.bytes_per_frame;
    return code;
}

rh_code rh_world_predict_from(const rh_geometry *geometry, const rh_world *made, int first, int end, rh_prediction *out,
                              rh_status *status)
{
    const rh_scene *scene = geometry->scene;
    *out = (rh_prediction){.frames = scene->frames.last - scene->frames.first + 1};
    out->amounts = rh_alloc_zero((size_t)(scene->bodies.count + scene->emitters.count + 1) * sizeof *out->amounts,
                                 "world.predict", status);
    rh_code code = out->amounts ? RH_OK : RH_MEMORY;
    for (int i = first; i < end && code == RH_OK; i++)
        code = predict_material(geometry, made ? &made->materials[i].seeder : NULL, i, out, status);
    if (code != RH_OK) rh_prediction_free(out);
    return code;
}

static rh_code predict(const rh_scene *scene, int first, int end, rh_prediction *out, rh_status *status)
{
    rh_geometry geometry;
    *out = (rh_prediction){0};
    rh_code code = rh_geometry_build(scene, &geometry, status);
    if (code == RH_OK) code = rh_world_predict_from(&geometry, NULL, first, end, out, status);
    rh_geometry_free(&geometry);
    return code;
}

rh_code rh_world_predict(const rh_scene *scene, rh_prediction *out, rh_status *status)
{
    return predict(scene, 0, rh_scene_material_count(scene), out, status);
}

rh_code rh_world_predict_material(const rh_scene *scene, int material, rh_prediction *out, rh_status *status)
{
    return predict(scene, material, material + 1, out, status);
}
