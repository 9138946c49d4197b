// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Meshes are read and sampled to distances at the size of the run's cells. What is filled keeps the mesh's own volume:
// distances between samples would round it off.
#include "world/geometry.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/memory.h"
#include "base/regular.h"
#include "io/mesh_file.h"
#include "solid/contact_solver.h"
#include "solid/measure.h"
#include "solid/thin.h"

// Tells what is wrong with a mesh when it can change the result.
static void report_mesh(const char *place, const char *file, int64_t triangles, const rh_mesh_report *report)
{
    // A closed mesh of so many triangles has one and a half times as many edges. A sheet, however fine, has about the
    // square root of that open; a hole is less.
    double edges = 1.5 * (double)triangles;
    bool sheet = report->open_edges > 0 && (double)report->open_edges > 0.5 * sqrt(edges);
    if (sheet)
        rh_log(RH_LOG_WARNING,
               "%s: %s is an open sheet (%lld of its edges are open), which has no inside; close it, or make it a wall "
               "with the key thickness, as in thickness: 0.002",
               place, file, (long long)report->open_edges);
    else if (report->open_edges)
        rh_log(RH_LOG_WARNING,
               "%s: %s has holes (%lld open edges); inside and outside are told by the winding number, which bridges "
               "small holes",
               place, file, (long long)report->open_edges);
    if (report->flipped_edges)
        rh_log(RH_LOG_WARNING,
               "%s: %s has faces that point different ways (%lld edges); the majority decides what is inside", place,
               file, (long long)report->flipped_edges);
    if (report->inside_out)
        rh_log(RH_LOG_WARNING, "%s: all faces of %s point inwards; taken as if they pointed outwards", place, file);
    if (report->degenerate)
        rh_log(RH_LOG_INFO, "%s: %lld triangles of %s have no area and are ignored", place,
               (long long)report->degenerate, file);
}

// Solids with walls thinner than cells keep their triangles; so do sheets, whatever they are for.
static rh_code sample_mesh(const rh_scene *scene, const rh_mesh_params *p, const rh_mesh *mesh, bool solid,
                           rh_shape *shape, rh_status *status)
{
    double spacing = 0.5 * scene->cell, most = 2 * scene->cell;
    shape->thickness = p->thickness > 0 ? p->thickness : most;
    if (solid && p->thickness == 0) RH_TRY(rh_mesh_thickness(mesh, most, &shape->thickness, status));
    if (p->thickness == 0 && shape->thickness >= most) shape->thickness = 0;
    bool thin = shape->thickness > 0 && rh_thin_is(shape->thickness, scene->cell, (int)scene->dimension);
    return thin || p->thickness > 0 ? rh_mesh_sdf_create_thin(mesh, spacing, p->thickness, &shape->mesh, status)
                                    : rh_mesh_sdf_create(mesh, spacing, &shape->mesh, status);
}

// Once more, for a link may lead elsewhere since the scene was read.
static rh_code read_mesh(const rh_scene *scene, const char *file, const rh_mesh_params *p, rh_mesh *mesh,
                         rh_status *status)
{
    if (scene->sandbox && !rh_path_is_inside(file, scene->sandbox))
        return rh_fail(status, RH_USER, "%s lies outside of the folder given by --sandbox", file);
    RH_TRY(rh_mesh_read(file, mesh, status));
    rh_mesh_place(mesh, p);
    return RH_OK;
}

// A mesh that cannot be read is a mistake in the scene, whatever the system calls it.
static rh_code blame_mesh(const char *place, rh_code code, rh_status *status)
{
    if (code == RH_IO) code = RH_USER;
    if (status) status->code = code;
    rh_status_prefix(status, "%s", place);
    return code;
}

static rh_code load_mesh(const rh_scene *scene, const char *place, const rh_mesh_params *p, bool solid, rh_shape *shape,
                         rh_features *features, rh_status *status)
{
    rh_mesh mesh = {0};
    rh_mesh_report report;
    rh_code code = read_mesh(scene, p->file, p, &mesh, status);
    if (code == RH_OK) code = rh_mesh_inspect(&mesh, &report, status);
    if (code == RH_OK && p->thickness == 0) report_mesh(place, p->file, mesh.triangle_count, &report);
    if (code == RH_OK) code = sample_mesh(scene, p, &mesh, solid, shape, status);
    if (code == RH_OK) {
        if (p->thickness == 0 && !report.open_edges && !report.odd_edges && !report.flipped_edges)
            shape->volume = fabs(report.volume);
    }
    if (code == RH_OK && features) code = rh_features_create(shape, &mesh, features, status);
    rh_mesh_free(&mesh);
    return code == RH_OK ? RH_OK : blame_mesh(place, code, status);
}

// `features`: what of it touches others; NULL: nobody asks.
static rh_code make_shape(const rh_scene *scene, const rh_variant *variant, bool solid, rh_shape *shape,
                          rh_features *features, rh_status *status)
{
    *shape = (rh_shape){.kind = (rh_shape_kind)variant->kind, .flat = scene->dimension == 2};
    switch (shape->kind) {
    case RH_SHAPE_SPHERE: shape->as.sphere = *(const rh_sphere_params *)variant->value; break;
    case RH_SHAPE_BOX: shape->as.box = *(const rh_box_params *)variant->value; break;
    case RH_SHAPE_PLANE: shape->as.plane = *(const rh_plane_params *)variant->value; break;
    case RH_SHAPE_CYLINDER: shape->as.cylinder = *(const rh_cylinder_params *)variant->value; break;
    case RH_SHAPE_CAPSULE: shape->as.capsule = *(const rh_capsule_params *)variant->value; break;
    case RH_SHAPE_TORUS: shape->as.torus = *(const rh_torus_params *)variant->value; break;
    case RH_SHAPE_MESH:
        return load_mesh(scene, rh_scene_place(scene, ((const rh_mesh_params *)variant->value)->file), variant->value,
                         solid, shape, features, status);
    case RH_SHAPE_MESH_SEQUENCE:
        return rh_fail(status, RH_USER, "%s: a mesh_sequence is for solids alone; expected another shape",
                       rh_scene_place(scene, ((const rh_mesh_sequence_params *)variant->value)->files));
    }
    return features ? rh_features_create(shape, NULL, features, status) : RH_OK;
}

static double mesh_distance(const double at[3], const void *user)
{
    return rh_shape_distance(user, rh_d3(at[0], at[1], at[2]));
}

// Sampled distances round off a mesh's edges and bends, 0.1 % of the volume of a tube twelve cells thick. What is to be
// filled is therefore moved outwards until its volume is the mesh's own (secant; three looks are enough for so small a
// move), as measured on the particles' lattice: between samples the distance has kinks, and cubes of other sizes find
// 0.04 % more or less.
static void hold_volume(const rh_scene *scene, int material, rh_shape *shape)
{
    const rh_variant *physics = &rh_scene_material(scene, material)->physics;
    if (shape->kind != RH_SHAPE_MESH || shape->flat || shape->volume == 0) return;
    double h = scene->cell / rh_physics_methods[physics->kind]->per_cell_axis(physics->value), at = 0, next = 0.05 * h,
           found = 0, before;
    rh_dbox b = rh_shape_bounds(shape);
    const double low[3] = {floor(b.min.x / h - 1) * h, floor(b.min.y / h - 1) * h, floor(b.min.z / h - 1) * h},
                 high[3] = {b.max.x + h, b.max.y + h, b.max.z + h};
    for (int n = 0; n < 3; n++) {
        rh_measure m = {mesh_distance, shape, 3, rh_shape_slack(shape), true, 0};
        before = found;
        found = rh_measure_box(&m, low, high, h);
        if (n > 0) next = shape->offset + (shape->volume - found) * (shape->offset - at) / (found - before);
        at = shape->offset;
        shape->offset = next;
    }
    // More than half a sample is no matter of sampling: parts of the mesh lie inside others, or it is thinner than a
    // cell.
    if (!(fabs(shape->offset) < 0.5 * h)) shape->offset = 0;
}

// --- sequences of meshes ---------------------------------------------------------------------------------------------
static rh_code read_of_sequence(const char *file, const rh_mesh_sequence_params *p, const void *user, rh_mesh *mesh,
                                rh_status *status)
{
    const rh_scene *scene = user;
    rh_code code = rh_path_has_ending(file, ".stl")
                       ? rh_fail(status, RH_USER, "found %s, expected .obj or .ply, which number their vertices", file)
                       : read_mesh(scene, file, &p->place, mesh, status);
    return code == RH_OK ? RH_OK : blame_mesh(rh_scene_place(scene, p->files), code, status);
}

static bool is_there(const rh_mesh_sequence_params *p, int64_t number, char *file, size_t room)
{
    return rh_mesh_sequence_file(p->files, number, file, room) && access(file, R_OK) == 0;
}

// How many files there are, all of them there: a run must not end in the middle for one that is missing.
static rh_code count_files(const rh_scene *scene, const rh_mesh_sequence_params *p, int64_t *count, rh_status *status)
{
    enum { GAP = 100 };
    char file[PATH_MAX], later[PATH_MAX];
    int64_t number = p->first;
    *count = 0;
    if (scene->sandbox && rh_mesh_sequence_file(p->files, number, file, sizeof file) &&
        !rh_path_is_inside(file, scene->sandbox))
        return rh_fail(status, RH_USER, "%s: %s lies outside of the folder given by --sandbox",
                       rh_scene_place(scene, p->files), file);
    while ((p->last == 0 || number <= p->last) && is_there(p, number, file, sizeof file)) number++;
    bool missing = number == p->first || (p->last != 0 && number <= p->last);
    for (int64_t n = number + 1; p->last == 0 && !missing && n < number + GAP; n++)
        missing = is_there(p, n, later, sizeof later);
    if (missing)
        return rh_fail(status, RH_USER, "%s: the sequence has no file %s", rh_scene_place(scene, p->files), file);
    *count = number - p->first;
    return RH_OK;
}

rh_code rh_geometry_open_sequence(const rh_scene *scene, const rh_mesh_sequence_params *params, bool thin,
                                  rh_mesh_sequence **out, rh_status *status)
{
    rh_mesh_sequence_options options = {
        .params = params, .spacing = 0.5 * scene->cell, .thin = thin, .read = read_of_sequence, .user = scene};
    *out = NULL;
    RH_TRY(count_files(scene, params, &options.count, status));
    return rh_mesh_sequence_create(&options, out, status);
}

// The form of walls is judged by the first mesh.
static rh_code load_sequence(const rh_scene *scene, const rh_mesh_sequence_params *p, bool solid, rh_obstacle *o,
                             rh_status *status)
{
    char file[PATH_MAX];
    rh_mesh_params first = p->place;
    int64_t count;
    RH_TRY(count_files(scene, p, &count, status));
    rh_mesh_sequence_file(p->files, p->first, file, sizeof file);
    first.file = file;
    o->shape = (rh_shape){.kind = RH_SHAPE_MESH, .flat = scene->dimension == 2};
    RH_TRY(load_mesh(scene, rh_scene_place(scene, p->files), &first, solid, &o->shape, NULL, status));
    rh_mesh_sdf_free(o->shape.mesh);
    o->shape.mesh = NULL;
    o->shape.volume = 0;  // changes
    bool thin = o->shape.thickness > 0 && rh_thin_is(o->shape.thickness, scene->cell, (int)scene->dimension);
    return rh_geometry_open_sequence(scene, p, thin, &o->sequence, status);
}

static const double LEAST_DENSITY = 1;  // kg/m^3

static bool endless(rh_dbox b) { return !(b.min.x > -1e9 && b.min.y > -1e9 && b.max.x < 1e9 && b.max.y < 1e9); }

static bool any_dynamic(const rh_scene *scene)
{
    const rh_solid_params *solids = scene->solids.items;
    for (int i = 0; i < scene->solids.count; i++)
        if (solids[i].dynamic) return true;
    return false;
}

static unsigned locks_of(const rh_lock_params *lock)
{
    return (unsigned)lock->x | (unsigned)lock->y << 1 | (unsigned)lock->z << 2 | (unsigned)lock->rx << 3 |
           (unsigned)lock->ry << 4 | (unsigned)lock->rz << 5;
}

static void set_inertia(rh_dvec3 given, rh_mass *mass)
{
    for (int a = 0; a < 3; a++) {
        double i = (&given.x)[a];
        if (!(i > 0)) continue;
        for (int k = 0; k < 3; k++) (&mass->inertia.row[a].x)[k] = (&mass->inertia.row[k].x)[a] = k == a ? i : 0;
    }
}

// Its pose at the start is that of its motion, and its velocity as well when it follows that for a while.
static rh_code make_dynamic(const rh_scene *scene, int index, const rh_solid_params *params, rh_obstacle *o,
                            rh_status *status)
{
    const rh_dynamic_params *d = params->dynamic;
    double density = d->density > 0 ? d->density : 1;
    rh_scene_words item = rh_scene_item(scene, "solid", index, params, params->name);
    if (!rh_contact_solver_is_there())
        return rh_fail(status, RH_USER,
                       "%s is dynamic, for which this program, built without ODE, has no solver; expected "
                       "one that was built with it (cmake -DRHEO_ODE=ON, package libode-dev)",
                       item.text);
    if (o->shape.kind == RH_SHAPE_MESH && o->shape.volume == 0)
        return rh_fail(status, RH_USER,
                       "%s cannot be dynamic: its mesh is open, or its faces point different ways, so "
                       "that nobody can tell what it weighs",
                       item.text);
    if (rh_mass_of_shape(&o->shape, density, &o->mass, status) != RH_OK)
        return rh_status_prefix(status, "%s", item.text);
    if (d->mass > 0) o->mass = rh_mass_weighing(&o->mass, d->mass);
    // Lighter than this it moves the same, and its equations have no solution without a material around it.
    o->mass = rh_mass_weighing(&o->mass, fmax(o->mass.mass, LEAST_DENSITY * o->mass.volume));
    set_inertia(d->inertia, &o->mass);
    rh_motion_place(&o->motion, 0, o->shape.flat, &o->pose, &o->linear, &o->angular);
    o->kind = RH_SOLID_DYNAMIC;
    o->rules = (rh_dynamic_rules){d->restitution, locks_of(&d->lock), d->from, d->until, d->return_time};
    if (d->from > 0) return RH_OK;
    o->linear = d->velocity;
    o->angular = d->angular_velocity;
    if (o->shape.flat) o->linear.z = o->angular.x = o->angular.y = 0;
    return RH_OK;
}

// Groups by number: that of the first solid that names it, from 1.
static int group_of(const rh_solid_params *solids, int index)
{
    for (int i = 0; i <= index && solids[index].group && solids[index].group[0]; i++)
        if (solids[i].group && strcmp(solids[i].group, solids[index].group) == 0) return i + 1;
    return 0;
}

static bool is_sheet(const rh_variant *shape)
{
    const rh_mesh_sequence_params *sequence = shape->value;
    if (shape->kind == RH_SHAPE_MESH_SEQUENCE) return sequence->place.thickness > 0;
    return shape->kind == RH_SHAPE_MESH && ((const rh_mesh_params *)shape->value)->thickness > 0;
}

static rh_code build_solids(const rh_scene *scene, rh_geometry *geometry, rh_status *status)
{
    const rh_solid_params *solids = scene->solids.items;
    rh_obstacles *all = &geometry->obstacles;
    all->items = rh_alloc_zero((size_t)(scene->solids.count + 1) * sizeof *all->items, "world.obstacles", status);
    if (!all->items) return RH_MEMORY;
    geometry->container = (rh_dbox){{1e30, 1e30, 1e30}, {-1e30, -1e30, -1e30}};
    if (any_dynamic(scene)) {
        size_t bytes = (size_t)scene->solids.count * sizeof *geometry->features;
        geometry->features = rh_alloc_zero(bytes, "world.features", status);
        if (!geometry->features) return RH_MEMORY;
    }
    for (int i = 0; i < scene->solids.count; i++) {
        rh_features *features = geometry->features ? &geometry->features[i] : NULL;
        rh_obstacle *o = &all->items[i];
        all->count = i + 1;
        o->inside_out = solids[i].inside_out;
        o->wall = (rh_wall)solids[i].wall;
        o->friction = solids[i].friction;
        o->slip_length = solids[i].slip_length;
        o->roughness = solids[i].roughness;
        o->manning = solids[i].manning;
        o->motion = solids[i].motion;
        if (solids[i].shape.kind == RH_SHAPE_MESH_SEQUENCE)
            RH_TRY(load_sequence(scene, solids[i].shape.value, !o->inside_out, o, status));
        else RH_TRY(make_shape(scene, &solids[i].shape, !o->inside_out, &o->shape, features, status));
        o->features = features;
        o->group = group_of(solids, i);
        o->kind = o->sequence ? RH_SOLID_SEQUENCE : rh_motion_is_still(&o->motion) ? RH_SOLID_FIXED : RH_SOLID_KEYED;
        if (solids[i].dynamic) RH_TRY(make_dynamic(scene, i, &solids[i], o, status));
        if (o->inside_out && is_sheet(&solids[i].shape))
            return rh_fail(status, RH_USER,
                           "%s is a sheet, which has no inside, and inside_out; expected a mesh without thickness",
                           rh_scene_item(scene, "solid", i, &solids[i], solids[i].name).text);
        o->thickness = o->inside_out ? 1e30 : rh_thin_thickness(&o->shape);
        o->thin = rh_thin_is(o->thickness, scene->cell, (int)scene->dimension);
        if (!o->inside_out) continue;
        rh_pose pose = rh_placed_pose(&(rh_placed_shape){o->shape, &o->motion}, 0);
        rh_dbox b = rh_placed_bounds(&o->shape, &pose);
        for (int a = 0; a < 3; a++) {
            (&geometry->container.min.x)[a] = fmin((&geometry->container.min.x)[a], (&b.min.x)[a]);
            (&geometry->container.max.x)[a] = fmax((&geometry->container.max.x)[a], (&b.max.x)[a]);
        }
    }
    return rh_obstacles_at(all, 0, 0, all, status);
}

rh_code rh_geometry_build(const rh_scene *scene, rh_geometry *geometry, rh_status *status)
{
    *geometry = (rh_geometry){.scene = scene};
    geometry->bodies = rh_alloc_zero((size_t)(scene->bodies.count + 1) * sizeof *geometry->bodies, "world.geometry",
                                     status);
    geometry->emitters = rh_alloc_zero((size_t)(scene->emitters.count + 1) * sizeof *geometry->emitters,
                                       "world.geometry", status);
    geometry->sinks = rh_alloc_zero((size_t)(scene->sinks.count + 1) * sizeof *geometry->sinks, "world.geometry",
                                    status);
    if (!geometry->bodies || !geometry->emitters || !geometry->sinks) return RH_MEMORY;
    RH_TRY(build_solids(scene, geometry, status));
    const rh_body_params *bodies = scene->bodies.items;
    for (int i = 0; i < scene->bodies.count; i++) {
        RH_TRY(make_shape(scene, &bodies[i].shape, false, &geometry->bodies[i], NULL, status));
        hold_volume(scene, bodies[i].material_index, &geometry->bodies[i]);
    }
    const rh_emitter_params *emitters = scene->emitters.items;
    for (int i = 0; i < scene->emitters.count; i++) {
        geometry->emitters[i].motion = &emitters[i].motion;
        RH_TRY(make_shape(scene, &emitters[i].shape, false, &geometry->emitters[i].shape, NULL, status));
        hold_volume(scene, emitters[i].material_index, &geometry->emitters[i].shape);
        if (endless(rh_shape_bounds(&geometry->emitters[i].shape)))
            return rh_fail(status, RH_USER, "%s has a shape without end; use a box, a cylinder or another closed shape",
                           rh_scene_item(scene, "emitter", i, &emitters[i], emitters[i].name).text);
    }
    const rh_sink_params *sinks = scene->sinks.items;
    for (int i = 0; i < scene->sinks.count; i++) {
        geometry->sinks[i].motion = &sinks[i].motion;
        if (sinks[i].shape.value)
            RH_TRY(make_shape(scene, &sinks[i].shape, false, &geometry->sinks[i].shape, NULL, status));
    }
    return RH_OK;
}

rh_code rh_geometry_share(const rh_geometry *from, bool separates, rh_geometry *out, rh_status *status)
{
    *out = *from;
    out->shared = true;
    rh_obstacles *all = &out->obstacles;
    rh_code code = rh_obstacles_create(&from->obstacles, all, status);
    if (code == RH_OK) code = rh_obstacles_at(&from->obstacles, 0, 0, all, status);
    if (code != RH_OK) {
        rh_obstacles_free(all);
        *out = (rh_geometry){0};
        return code;
    }
    for (int i = 0; separates && i < all->count; i++) {
        if (all->items[i].wall == RH_WALL_SLIP) all->items[i].wall = RH_WALL_SEPARATE;
        all->any_separating |= all->items[i].wall == RH_WALL_SEPARATE;
    }
    return RH_OK;
}

// Whoever shares the geometry has let go of its snapshots before.
static void free_solids(rh_obstacles *all)
{
    for (int i = 0; i < all->count; i++) {
        rh_obstacle *o = &all->items[i];
        if (!o->sequence) rh_mesh_sdf_free(o->shape.mesh);
        rh_mesh_sequence_release(o->snapshot);
        o->snapshot = NULL;
        rh_mesh_sequence_free(o->sequence);
    }
    rh_obstacles_free(all);
}

void rh_geometry_free(rh_geometry *geometry)
{
    if (!geometry->scene) return;
    if (geometry->shared) {
        rh_obstacles_free(&geometry->obstacles);
        *geometry = (rh_geometry){0};
        return;
    }
    for (int i = 0; geometry->bodies && i < geometry->scene->bodies.count; i++)
        rh_mesh_sdf_free(geometry->bodies[i].mesh);
    for (int i = 0; geometry->emitters && i < geometry->scene->emitters.count; i++)
        rh_mesh_sdf_free(geometry->emitters[i].shape.mesh);
    for (int i = 0; geometry->sinks && i < geometry->scene->sinks.count; i++)
        rh_mesh_sdf_free(geometry->sinks[i].shape.mesh);
    free_solids(&geometry->obstacles);
    for (int i = 0; geometry->features && i < geometry->scene->solids.count; i++)
        rh_features_free(&geometry->features[i]);
    rh_free(geometry->features);
    rh_free(geometry->bodies);
    rh_free(geometry->emitters);
    rh_free(geometry->sinks);
    *geometry = (rh_geometry){0};
}

rh_pose rh_placed_pose(const rh_placed_shape *placed, double time)
{
    rh_pose pose;
    rh_dvec3 linear, angular;
    rh_motion_place(placed->motion, time, placed->shape.flat, &pose, &linear, &angular);
    return pose;
}

rh_dbox rh_placed_bounds(const rh_shape *shape, const rh_pose *pose)
{
    rh_dbox local = rh_shape_bounds(shape);
    if (endless(local)) return (rh_dbox){{-1e30, -1e30, -1e30}, {1e30, 1e30, 1e30}};  // turning infinity gives NaN
    rh_dbox box = {{1e30, 1e30, 1e30}, {-1e30, -1e30, -1e30}};
    for (int corner = 0; corner < 8; corner++) {
        rh_dvec3 p = {corner & 1 ? local.max.x : local.min.x, corner & 2 ? local.max.y : local.min.y,
                      corner & 4 ? local.max.z : local.min.z};
        p = rh_pose_to_world(pose, p);
        for (int a = 0; a < 3; a++) {
            (&box.min.x)[a] = fmin((&box.min.x)[a], (&p.x)[a]);
            (&box.max.x)[a] = fmax((&box.max.x)[a], (&p.x)[a]);
        }
    }
    return box;
}
