// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The tables of a scene file, from the leaves to the root. Shapes and motion bring their own (solid/shape.h), and so
// does each physics method.
#include <string.h>
#include "scene/expressions.h"
#include "scene/scene.h"
#include "scene/words.h"

#define NO_LIMIT 1e30

// --- forces ----------------------------------------------------------------------------------------------------------

#define AT(field) offsetof(rh_force_key, field)
static const rh_param force_key_rows[] = {
    {"time", RH_PARAM_FLOAT, AT(time), "s", .required = true, .help = "simulated time of this key"},
    {"acceleration", RH_PARAM_VEC3, AT(acceleration), "m/s^2", .required = true,
     .help = "added to the constant part at that time"},
};
#undef AT
static const rh_param_table force_key_table = {
    "force_key",
    "A uniform force at a time: linear between keys, constant before the first and after the last.",
    force_key_rows,
    RH_PARAM_COUNT(force_key_rows),
    sizeof(rh_force_key),
    NULL};

#define AT(field) offsetof(rh_uniform_force, field)
static const rh_param uniform_rows[] = {
    {"acceleration", RH_PARAM_VEC3, AT(acceleration), "m/s^2", "[0, 0, 0]",
     .help = "constant part, the same everywhere"},
    {"keys", RH_PARAM_LIST, AT(keys), "", .table = &force_key_table,
     .help = "a part that changes with time, added; times increase"},
};
#undef AT

static rh_code check_uniform(const void *object, const char **field, rh_status *status)
{
    const rh_uniform_force *force = object;
    const rh_force_key *keys = force->keys.items;
    for (int i = 1; i < force->keys.count; i++) {
        if (keys[i].time > keys[i - 1].time) continue;
        *field = "keys";
        return rh_fail(status, RH_USER, "times must increase: key %d is at %g s, after %g s", i, keys[i].time,
                       keys[i - 1].time);
    }
    return RH_OK;
}

static const rh_param_table uniform_table = {"uniform",
                                             "An acceleration that is the same everywhere, for a shaken tank.",
                                             uniform_rows,
                                             RH_PARAM_COUNT(uniform_rows),
                                             sizeof(rh_uniform_force),
                                             check_uniform};

#define AT(field) offsetof(rh_radial_force, field)
static const rh_param radial_rows[] = {
    {"center", RH_PARAM_VEC3, AT(center), "m", .required = true, .help = "point that pulls or pushes"},
    {"acceleration", RH_PARAM_FLOAT, AT(acceleration), "m/s^2", .required = true,
     .help = "positive pulls towards the centre, negative pushes away"},
    {"radius", RH_PARAM_FLOAT, AT(radius), "m", NULL, 1e-6, NO_LIMIT, .required = true,
     .help = "reach: no force beyond this distance from the centre"},
};
#undef AT
static const rh_param_table radial_table = {"radial",
                                            "A pull towards a point, or a push away from it.",
                                            radial_rows,
                                            RH_PARAM_COUNT(radial_rows),
                                            sizeof(rh_radial_force),
                                            NULL};

#define AT(field) offsetof(rh_swirl_force, field)
static const rh_param swirl_rows[] = {
    {"center", RH_PARAM_VEC3, AT(center), "m", .required = true, .help = "a point of the axis"},
    {"axis", RH_PARAM_VEC3, AT(axis), "", "[0, 1, 0]", .help = "direction of the axis; any length but zero"},
    {"acceleration", RH_PARAM_FLOAT, AT(acceleration), "m/s^2", .required = true,
     .help = "around the axis, by the right-hand rule"},
    {"radius", RH_PARAM_FLOAT, AT(radius), "m", NULL, 1e-6, NO_LIMIT, .required = true,
     .help = "reach: no force beyond this distance from the axis"},
};
#undef AT

static rh_code check_swirl(const void *object, const char **field, rh_status *status)
{
    const rh_swirl_force *force = object;
    if (rh_d3_length(force->axis) > 0) return RH_OK;
    *field = "axis";
    return rh_fail(status, RH_USER, "the axis must not be zero");
}

static const rh_param_table swirl_table = {"swirl",
                                           "A force around an axis, for a whirlpool.",
                                           swirl_rows,
                                           RH_PARAM_COUNT(swirl_rows),
                                           sizeof(rh_swirl_force),
                                           check_swirl};

#define AT(field) offsetof(rh_explosion_force, field)
static const rh_param explosion_rows[] = {
    {"center", RH_PARAM_VEC3, AT(center), "m", .required = true, .help = "where it goes off"},
    {"strength", RH_PARAM_FLOAT, AT(strength), "m^3/s", .required = true,
     .help = "speed given at 1 m; it falls with the distance squared (in two dimensions, in m^2/s, with the distance); "
             "negative pulls inwards"},
    {"radius", RH_PARAM_FLOAT, AT(radius), "m", NULL, 1e-6, NO_LIMIT, .required = true,
     .help = "reach: nothing happens beyond this distance from the centre"},
    {"max_speed", RH_PARAM_FLOAT, AT(max_speed), "m/s", NULL, 1e-6, NO_LIMIT, .required = true,
     .help = "the most it gives, near the centre"},
    {"at", RH_PARAM_FLOAT, AT(at), "s", NULL, 0, NO_LIMIT, .required = true,
     .help = "simulated time at which it goes off"},
    {"duration", RH_PARAM_FLOAT, AT(duration), "s", "0.03333333333333333", 1e-6, NO_LIMIT,
     .help = "how long it pushes; the sum does not depend on it"},
};
#undef AT
static const rh_param_table explosion_table = {"explosion",
                                               "A short push away from a point, for explosions under water.",
                                               explosion_rows,
                                               RH_PARAM_COUNT(explosion_rows),
                                               sizeof(rh_explosion_force),
                                               NULL};

static const rh_param_table *const force_tables[] = {&uniform_table, &radial_table, &swirl_table, &explosion_table,
                                                     NULL};  // order of rh_force_kind

static rh_code check_times(double start, double stop, const char **field, rh_status *status)
{
    if (start < stop) return RH_OK;
    *field = "stop";
    return rh_fail(status, RH_USER, "must come after start: start is %g s, stop is %g s", start, stop);
}

// Rows that emitters, sinks and forces share.
#define NAME_ROW                                                                               \
    {                                                                                          \
        "name", RH_PARAM_TEXT, AT(name), "", .help = "for messages, and to find it with --set" \
    }
#define SHAPE_ROW(text)                                                                                       \
    {                                                                                                         \
        "shape", RH_PARAM_VARIANT, AT(shape), "", .variants = rh_shape_tables, .required = true, .help = text \
    }
#define MOTION_ROW                                                                                    \
    {                                                                                                 \
        "motion", RH_PARAM_TABLE, AT(motion), "", .table = &rh_motion_table,                          \
                                                  .help = "how the shape moves; at rest without keys" \
    }
#define START_ROW                                                                                              \
    {                                                                                                          \
        "start", RH_PARAM_FLOAT, AT(start), "s", "0", 0, NO_LIMIT, .help = "simulated time at which it begins" \
    }
#define STOP_ROW                                                                                             \
    {                                                                                                        \
        "stop", RH_PARAM_FLOAT, AT(stop), "s", "1e9", 0, NO_LIMIT, .help = "simulated time at which it ends" \
    }

#define MATERIAL_ROW(what)                                                                                       \
    {                                                                                                            \
        "material", RH_PARAM_TEXT, AT(material), "", .help = what ": a name in materials; without one the first" \
    }

#define VISCOSITY_ROW                                                                                               \
    {                                                                                                               \
        "viscosity", RH_PARAM_FLOAT, AT(viscosity), "Pa s", "0", 0, 1e9,                                            \
            .help = "of a liquid: of these particles, which carry it with them (viscosity_varies); 0: the liquid's" \
    }

#define KIND_ROW                                                                              \
    {                                                                                         \
        "kind", RH_PARAM_TEXT, AT(kind), "",                                                  \
            .help = "of elastoplastic matter: one of its kinds; without one the method's own" \
    }

#define AT(field) offsetof(rh_force_params, field)
static const rh_param force_rows[] = {
    NAME_ROW,
    {"force", RH_PARAM_VARIANT, AT(force), "", .variants = force_tables, .required = true,
     .help = "what kind of force"},
    START_ROW,
    STOP_ROW,
};
#undef AT

static rh_code check_force(const void *object, const char **field, rh_status *status)
{
    const rh_force_params *force = object;
    RH_TRY(check_times(force->start, force->stop, field, status));
    if (force->force.kind != RH_FORCE_EXPLOSION) return RH_OK;
    const rh_explosion_force *e = force->force.value;
    if (e->at >= force->start && e->at + e->duration <= force->stop) return RH_OK;
    *field = "force";
    return rh_fail(status, RH_USER,
                   "the explosion lasts from %g s to %g s, expected within start and stop, which are %g s and %g s",
                   e->at, e->at + e->duration, force->start, force->stop);
}

static const rh_param_table force_table = {"force",
                                           "A body force beside gravity, given as an acceleration.",
                                           force_rows,
                                           RH_PARAM_COUNT(force_rows),
                                           sizeof(rh_force_params),
                                           check_force};

// --- things with a shape ---------------------------------------------------------------------------------------------

#define AT(field) offsetof(rh_body_params, field)
static const rh_param body_rows[] = {
    NAME_ROW,
    MATERIAL_ROW("what it is made of"),
    SHAPE_ROW("filled with material at the start"),
    {"velocity", RH_PARAM_VEC3, AT(velocity), "m/s", "[0, 0, 0]", .help = "at the start"},
    {"angular_velocity", RH_PARAM_VEC3, AT(angular_velocity), "rad/s", "[0, 0, 0]",
     .help = "at the start, about the centre of the shape's bounds"},
    VISCOSITY_ROW,
    KIND_ROW,
};
#undef AT
static const rh_param_table body_table = {"body",
                                          "Material that is there at the start: a shape filled with particles.",
                                          body_rows,
                                          RH_PARAM_COUNT(body_rows),
                                          sizeof(rh_body_params),
                                          NULL};

#define AT(field) offsetof(rh_solid_params, field)
static const rh_param solid_rows[] = {
    NAME_ROW,
    SHAPE_ROW("the solid's own space, before motion"),
    {"inside_out", RH_PARAM_BOOL, AT(inside_out), "", "false",
     .help = "a container: solid is everything outside the shape"},
    {"wall", RH_PARAM_CHOICE, AT(wall), "", "slip", .choices = rh_wall_names,
     .help = "slip (slides along), no_slip (sticks), separate (slides along and may leave)"},
    {"slip_length", RH_PARAM_FLOAT, AT(slip_length), "m", "0", 0, 10,
     .help = "of a wall that is no_slip, for liquids with viscosity (Navier): the velocity along the wall would be the "
             "wall's so far beyond its surface"},
    {"friction", RH_PARAM_FLOAT, AT(friction), "", "0.5", 0, 10,
     .help = "Coulomb's coefficient of the wall; for sand, and for solids that touch (of two the geometric mean)"},
    {"roughness", RH_PARAM_FLOAT, AT(roughness), "m", "0", 0, 10,
     .help = "height of the grains of sand (Nikuradse) that would hold back a flow along the wall as much; 0 is "
             "smooth; liquid and splash only"},
    {"manning", RH_PARAM_FLOAT, AT(manning), "s/m^(1/3)", "0", 0, 1,
     .help = "instead of roughness: Manning's n (glass 0.01, concrete 0.013, gravel 0.025, brush 0.1)"},
    MOTION_ROW,
    {"group", RH_PARAM_TEXT, AT(group), "",
     .help = "solids of one group do not touch each other, if they are dynamic: any word"},
    {"dynamic", RH_PARAM_OPTIONAL, AT(dynamic), "", .table = &rh_dynamic_table,
     .help = "moves by itself: gravity, materials and other solids push it"},
};
#undef AT

static rh_code check_solid(const void *object, const char **field, rh_status *status)
{
    const rh_solid_params *solid = object;
    bool manning = solid->manning > 0;
    if (solid->slip_length > 0 && solid->wall != RH_WALL_NO_SLIP) {
        *field = "slip_length";
        return rh_fail(status, RH_USER, "the wall is %s and lets liquid slide anyway: expected wall: no_slip",
                       rh_wall_names[solid->wall]);
    }
    if (!manning && !(solid->roughness > 0)) return RH_OK;
    *field = manning ? "manning" : "roughness";
    if (manning && solid->roughness > 0)
        return rh_fail(status, RH_USER, "the solid has roughness, too (%g m): expected one of the two",
                       solid->roughness);
    if (solid->wall == RH_WALL_NO_SLIP)
        return rh_fail(status, RH_USER, "liquid sticks to a wall that is no_slip: expected wall: slip or separate");
    return RH_OK;
}

static const rh_param_table solid_table = {"solid",
                                           "An obstacle or a container, at rest or moving.",
                                           solid_rows,
                                           RH_PARAM_COUNT(solid_rows),
                                           sizeof(rh_solid_params),
                                           check_solid};

#define AT(field) offsetof(rh_emitter_key, field)
static const rh_param pour_key_rows[] = {
    {"time", RH_PARAM_FLOAT, AT(time), "s", NULL, .help = "simulated time of the key, after the key before"},
    {"velocity", RH_PARAM_VEC3, AT(velocity), "m/s", "[0, 0, 0]", .help = "of the material then"},
    {"rate", RH_PARAM_FLOAT, AT(rate), "", "1", 0, 1, .help = "share of the full flow then: 0 closed, 1 open"},
};
#undef AT
static const rh_param_table pour_key_table = {"pour_key",
                                              "What an emitter pours at one time.",
                                              pour_key_rows,
                                              RH_PARAM_COUNT(pour_key_rows),
                                              sizeof(rh_emitter_key),
                                              NULL};

#define AT(field) offsetof(rh_emitter_params, field)
static const rh_param emitter_rows[] = {
    NAME_ROW,
    MATERIAL_ROW("what it pours"),
    SHAPE_ROW("kept full of new material"),
    {"velocity", RH_PARAM_VEC3, AT(velocity), "m/s", "[0, 0, 0]", .help = "of the material that it pours"},
    {"rate", RH_PARAM_FLOAT, AT(rate), "", "1", 0, 1,
     .help = "share of the full flow: 0 closed, 1 open; between, particles are left out at random"},
    VISCOSITY_ROW,
    KIND_ROW,
    {"follow", RH_PARAM_BOOL, AT(follow), "", "false",
     .help = "the velocity turns with the motion of the emitter, and the motion is added to it: a hose that is swung"},
    {"keys", RH_PARAM_LIST, AT(keys), "", .table = &pour_key_table,
     .help = "velocity and rate over time, instead of the two above; straight lines between keys"},
    START_ROW,
    STOP_ROW,
    MOTION_ROW,
};
#undef AT

static rh_code check_emitter(const void *object, const char **field, rh_status *status)
{
    const rh_emitter_params *emitter = object;
    const rh_emitter_key *keys = emitter->keys.items;
    for (int i = 1; i < emitter->keys.count; i++) {
        if (keys[i].time > keys[i - 1].time) continue;
        *field = "keys";
        return rh_fail(status, RH_USER, "key %d has time %g, expected more than the %g of key %d", i + 1, keys[i].time,
                       keys[i - 1].time, i);
    }
    return check_times(emitter->start, emitter->stop, field, status);
}

static const rh_param_table emitter_table = {"emitter",
                                             "A region that pours material at a velocity.",
                                             emitter_rows,
                                             RH_PARAM_COUNT(emitter_rows),
                                             sizeof(rh_emitter_params),
                                             check_emitter};

// --- the run ---------------------------------------------------------------------------------------------------------

#define AT(field) offsetof(rh_frames_params, field)
static const rh_param frames_rows[] = {
    {"first", RH_PARAM_INT, AT(first), "", "1", 1, 9999999, .help = "number of the first frame"},
    {"last", RH_PARAM_INT, AT(last), "", "24", 1, 9999999, .help = "number of the last frame"},
    {"fps", RH_PARAM_FLOAT, AT(fps), "1/s", "24", 1e-3, 1e6, .help = "frames per second of simulated time"},
};
#undef AT

static rh_code check_frames(const void *object, const char **field, rh_status *status)
{
    const rh_frames_params *frames = object;
    if (frames->first <= frames->last) return RH_OK;
    *field = "last";
    return rh_fail(status, RH_USER, "must not come before first: first is %lld, last is %lld", (long long)frames->first,
                   (long long)frames->last);
}

static const rh_param_table frames_table = {
    "frames",    "Which frames to simulate.", frames_rows, RH_PARAM_COUNT(frames_rows), sizeof(rh_frames_params),
    check_frames};

static const char *const up_names[] = {"y", "z", NULL};  // order of rh_up_axis

#define AT(field) offsetof(rh_output_params, field)
static const rh_param output_rows[] = {
    {"vdb", RH_PARAM_BOOL, AT(vdb), "", "true", .help = "points of every frame as OpenVDB"},
    {"ply", RH_PARAM_BOOL, AT(ply), "", "false", .help = "points of every frame as PLY"},
    {"up", RH_PARAM_CHOICE, AT(up), "", "y", .choices = up_names, .help = "axis that points up in exported files"},
    {"probe_rate", RH_PARAM_FLOAT, AT(probe_rate), "1/s", "0", 0, 1e9,
     .help = "rows a second of probes.csv, at even times; 0: a row after every step"},
};
#undef AT
static const rh_param_table output_table = {"output",
                                            "What a run writes. Does not change the result.",
                                            output_rows,
                                            RH_PARAM_COUNT(output_rows),
                                            sizeof(rh_output_params),
                                            NULL};

#define AT(field) offsetof(rh_checkpoint_params, field)
static const rh_param checkpoint_rows[] = {
    {"frames", RH_PARAM_INT, AT(frames), "", "10", 0, 9999999,
     .help = "a checkpoint every so many frames; 0: only at the end and on a stop"},
    {"minutes", RH_PARAM_FLOAT, AT(minutes), "min", "10", 0, 1e6,
     .help = "and whenever so many minutes have passed since the last one, also inside a frame; 0: never"},
    {"keep", RH_PARAM_INT, AT(keep), "", "2", 1, 1000, .help = "how many of the newest to keep"},
};
#undef AT
static const rh_param_table checkpoint_table = {
    "checkpoint",
    "Saved states from which a run goes on after a stop. Does not change the result.",
    checkpoint_rows,
    RH_PARAM_COUNT(checkpoint_rows),
    sizeof(rh_checkpoint_params),
    NULL};

#define AT(field) offsetof(rh_limits_params, field)
static const rh_param limits_rows[] = {
    {"speed", RH_PARAM_FLOAT, AT(speed), "m/s", "0", 0, NO_LIMIT,
     .help = "no particle is faster; 0: 4096 cells a frame"},
    {"particles", RH_PARAM_INT, AT(particles), "", "0", 0, 9e15,
     .help = "no more at a time; 0: four times what bodies and emitters are expected to give, and 100 000"},
};
#undef AT
static const rh_param_table limits_table = {
    "limits",
    "What counts as numbers that have run away: the run stops beyond it. Does not change the result otherwise.",
    limits_rows,
    RH_PARAM_COUNT(limits_rows),
    sizeof(rh_limits_params),
    NULL};

#define AT(field) offsetof(rh_from_params, field)
static const rh_param from_rows[] = {
    {"name", RH_PARAM_TEXT, AT(name), "", .required = true, .help = "letters, digits and '_': what methods call it"},
    {"run", RH_PARAM_PATH, AT(run), "", .required = true, .help = "the folder of the run; it is only read"},
};
#undef AT

static rh_code check_from(const void *object, const char **field, rh_status *status)
{
    const char *name = ((const rh_from_params *)object)->name;
    size_t good = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    if (good > 0 && !name[good] && good <= 32) return RH_OK;
    *field = "name";
    return rh_fail(status, RH_USER, "found '%.60s', expected 1 to 32 letters, digits and '_'", name);
}

const rh_param_table rh_from_table = {
    "from", "A run that this one stands on.", from_rows, RH_PARAM_COUNT(from_rows), sizeof(rh_from_params), check_from};

#define AT(field) offsetof(rh_scene, field)
static const rh_param scene_rows[] = {
    {"rheo", RH_PARAM_INT, AT(version), "", NULL, 1, 1, .required = true, .help = "version of the scene format"},
    {"title", RH_PARAM_TEXT, AT(title), "", "", .help = "for people"},
    {"dimension", RH_PARAM_INT, AT(dimension), "", "3", 2, 3, .help = "2: everything lives in the plane z = 0"},
    {"cell", RH_PARAM_FLOAT, AT(cell), "m", NULL, 1e-6, 1e4, .required = true,
     .help = "grid spacing: half of it, twice the detail, 8 to 16 times the work"},
    {"seed", RH_PARAM_INT, AT(seed), "", "1", .help = "of the random numbers; another seed, another splash"},
    {"gravity", RH_PARAM_VEC3, AT(gravity), "m/s^2", "[0, -9.81, 0]", .help = "y is up"},
    {"max_step", RH_PARAM_FLOAT, AT(max_step), "s", "0", 0, NO_LIMIT,
     .help = "no time step is longer; 0: as long as the method allows"},
    {"rest_position", RH_PARAM_BOOL, AT(rest_position), "", "false", .formerly = "rest",
     .help = "every particle carries the attribute rest (m): where it began, for textures and layers; see "
             "docs/scene_files.md"},
    {"frames", RH_PARAM_TABLE, AT(frames), "", .table = &frames_table, .help = "which frames to simulate"},
    {"physics", RH_PARAM_VARIANT, AT(physics), "", .variants = rh_physics_tables,
     .help = "what the material is, of a scene with one; materials has several"},
    {"materials", RH_PARAM_LIST, AT(materials), "", .table = &rh_material_table,
     .help = "instead of physics: what there is, each with its own physics; bodies, emitters and others name theirs"},
    {"exchanges", RH_PARAM_LIST, AT(exchanges), "", .table = &rh_exchange_table,
     .help = "particles that change from one material to another"},
    {"bodies", RH_PARAM_LIST, AT(bodies), "", .table = &body_table, .help = "material that is there at the start"},
    {"solids", RH_PARAM_LIST, AT(solids), "", .table = &solid_table, .help = "obstacles and containers"},
    {"joints", RH_PARAM_LIST, AT(joints), "", .table = &rh_joint_table,
     .help = "what holds dynamic solids to each other or to the world"},
    {"emitters", RH_PARAM_LIST, AT(emitters), "", .table = &emitter_table, .help = "regions that pour material"},
    {"sinks", RH_PARAM_LIST, AT(sinks), "", .table = &rh_sink_table,
     .help = "regions that remove material, and conditions under which it goes"},
    {"masks", RH_PARAM_LIST, AT(masks), "", .table = &rh_mask_table,
     .help = "values from 0 to 1 that particles have in frames, by speed, height, age, way or neighbours"},
    {"forces", RH_PARAM_LIST, AT(forces), "", .table = &force_table, .help = "body forces beside gravity"},
    {"expressions", RH_PARAM_LIST, AT(expressions), "", .table = &rh_expression_table,
     .help = "programs that run on the particles"},
    {"probes", RH_PARAM_LIST, AT(probes), "", .table = &rh_probe_table,
     .help = "what is measured, and written to probes.csv; does not change the result"},
    {"from", RH_PARAM_LIST, AT(from), "", .table = &rh_from_table,
     .help = "runs that this one stands on: their frames are its surroundings; see docs/layers.md"},
    {"output", RH_PARAM_TABLE, AT(output), "", .table = &output_table, .help = "what is written"},
    {"surface", RH_PARAM_TABLE, AT(surface), "", .table = &rh_surfacing_table,
     .help = "how the surface is made from the particles"},
    {"checkpoint", RH_PARAM_TABLE, AT(checkpoint), "", .table = &checkpoint_table,
     .help = "when to save a state to resume from"},
    {"limits", RH_PARAM_TABLE, AT(limits), "", .table = &limits_table, .help = "when a run has gone wrong"},
    {"look", RH_PARAM_TABLE, AT(look), "", .table = &rh_look_table, .help = "how it is drawn"},
};
#undef AT

static rh_code missing_physics(rh_status *status)
{
    char expected[320];
    const rh_param *row = rh_params_find(&rh_scene_table, "physics");
    return rh_fail(status, RH_USER, "'physics' is missing: expected %s (%s)",
                   rh_words_expected(row, expected, sizeof expected), row->help);
}

static bool any_dynamic(const rh_scene *scene)
{
    const rh_solid_params *solids = scene->solids.items;
    for (int i = 0; i < scene->solids.count; i++)
        if (solids[i].dynamic) return true;
    return false;
}

static rh_code check_scene(const void *object, const char **field, rh_status *status)
{
    const rh_scene *scene = object;
    if (!scene->physics.value && !scene->materials.count) return missing_physics(status);
    if (scene->physics.value && scene->materials.count) {
        *field = "materials";
        return rh_fail(status, RH_USER, "the scene has 'physics' too: expected one of the two");
    }
    // Both lists may be missing: then the whole scene is to blame, no field.
    // A layer may live on its base alone.
    if (!scene->bodies.count && !scene->emitters.count && !scene->from.count && !any_dynamic(scene))
        return rh_fail(status, RH_USER, "nothing to simulate: give at least one item in 'bodies' or 'emitters'");
    if (!rh_scene_surfaces_while_running(scene) || scene->output.vdb) return RH_OK;
    *field = scene->surface.while_running ? "surface" : "materials";
    return rh_fail(status, RH_USER,
                   "while_running makes surfaces from the frames on disk and needs output.vdb: true, found false");
}

const rh_param_table rh_scene_table = {
    "scene",          "The root of a scene file: what there is, where, and for how long.",
    scene_rows,       RH_PARAM_COUNT(scene_rows),
    sizeof(rh_scene), check_scene};
