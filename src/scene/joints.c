// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Tables of parameters for dynamic solids and joints, and the checks that need the whole scene: names of solids and
// groups, joints in two dimensions.
#include "scene/joints.h"

#include <string.h>
#include "physics/physics.h"
#include "scene/scene.h"
#include "scene/words.h"

// --- dynamic solids --------------------------------------------------------------------------------------------------
#define AT(field) offsetof(rh_lock_params, field)
static const rh_param lock_rows[] = {
    {"x", RH_PARAM_BOOL, AT(x), "", "false", .help = "does not move along x"},
    {"y", RH_PARAM_BOOL, AT(y), "", "false", .help = "does not move along y"},
    {"z", RH_PARAM_BOOL, AT(z), "", "false", .help = "does not move along z"},
    {"rx", RH_PARAM_BOOL, AT(rx), "", "false", .help = "does not turn about x"},
    {"ry", RH_PARAM_BOOL, AT(ry), "", "false", .help = "does not turn about y"},
    {"rz", RH_PARAM_BOOL, AT(rz), "", "false", .help = "does not turn about z"},
};
#undef AT
static const rh_param_table lock_table = {"lock",
                                          "Directions of the world in which a dynamic solid does not move.",
                                          lock_rows,
                                          RH_PARAM_COUNT(lock_rows),
                                          sizeof(rh_lock_params),
                                          NULL};

#define AT(field) offsetof(rh_dynamic_params, field)
static const rh_param dynamic_rows[] = {
    {"density", RH_PARAM_FLOAT, AT(density), "kg/m^3", "500", 0, 1e5, .help = "of the solid, the same all through it"},
    {"mass", RH_PARAM_FLOAT, AT(mass), "kg", "0", 0, 1e12, .help = "instead of the density; 0 is none"},
    {"inertia", RH_PARAM_VEC3, AT(inertia), "kg m^2", "[0, 0, 0]", 0, 1e15,
     .help = "about the axes of its own space through its centre of mass; 0: as its shape and mass give"},
    {"velocity", RH_PARAM_VEC3, AT(velocity), "m/s", "[0, 0, 0]", .help = "of its centre of mass, at the start"},
    {"angular_velocity", RH_PARAM_VEC3, AT(angular_velocity), "rad/s", "[0, 0, 0]", .help = "at the start"},
    {"restitution", RH_PARAM_FLOAT, AT(restitution), "", "0", 0, 1,
     .help = "share of its speed that it has after an impact; of two that meet the larger counts"},
    {"lock", RH_PARAM_TABLE, AT(lock), "", .table = &lock_table, .help = "directions in which it does not move"},
    {"from", RH_PARAM_FLOAT, AT(from), "s", "0", 0, 1e30,
     .help = "follows its motion until then, and keeps the velocity it has"},
    {"until", RH_PARAM_FLOAT, AT(until), "s", "1e9", 0, 1e30, .help = "follows its motion again from then on"},
    {"return_time", RH_PARAM_FLOAT, AT(return_time), "s", "0.5", 1e-6, 1e30,
     .help = "in which it goes back to where its motion has it, after until"},
};
#undef AT

static rh_code check_dynamic(const void *object, const char **field, rh_status *status)
{
    const rh_dynamic_params *d = object;
    if (d->from < d->until) return RH_OK;
    *field = "until";
    return rh_fail(status, RH_USER, "must come after from: from is %g s, until is %g s", d->from, d->until);
}

const rh_param_table rh_dynamic_table = {"dynamic",
                                         "A solid that moves by itself: gravity, materials and other solids push it.",
                                         dynamic_rows,
                                         RH_PARAM_COUNT(dynamic_rows),
                                         sizeof(rh_dynamic_params),
                                         check_dynamic};

// --- joints ----------------------------------------------------------------------------------------------------------
#define AT(field) offsetof(rh_limit_params, field)
static const rh_param limit_rows[] = {
    {"low", RH_PARAM_FLOAT, AT(low), "degrees or m", "-90", .help = "no less from where it is at the start"},
    {"high", RH_PARAM_FLOAT, AT(high), "degrees or m", "90", .help = "no more"},
};
#undef AT

static rh_code check_limit(const void *object, const char **field, rh_status *status)
{
    const rh_limit_params *l = object;
    *field = "high";
    if (l->low <= 0 && l->high >= 0) return RH_OK;
    return rh_fail(status, RH_USER,
                   "expected low at most 0 and high at least 0, which is where it is at the start; "
                   "found %g and %g",
                   l->low, l->high);
}

static const rh_param_table limit_table = {"joint_limits",
                                           "How far a hinge turns (degrees, by the right-hand rule about its axis) or "
                                           "a slider slides (m, along its axis) from where it is at the start.",
                                           limit_rows,
                                           RH_PARAM_COUNT(limit_rows),
                                           sizeof(rh_limit_params),
                                           check_limit};

#define AT(field) offsetof(rh_motor_params, field)
static const rh_param motor_rows[] = {
    {"speed", RH_PARAM_FLOAT, AT(speed), "degrees/s or m/s", .help = "that it aims at; 0 makes it a brake"},
    {"strength", RH_PARAM_FLOAT, AT(strength), "N m or N", NULL, 0, 1e15, .help = "the most it gives"},
};
#undef AT
static const rh_param_table motor_table = {"motor",
                                           "Drives a hinge (degrees/s, N m) or a slider (m/s, N).",
                                           motor_rows,
                                           RH_PARAM_COUNT(motor_rows),
                                           sizeof(rh_motor_params),
                                           NULL};

#define POINT_ROW                                                                                     \
    {                                                                                                 \
        "point", RH_PARAM_VEC3, AT(point), "m", .required = true, .help = "where it is, at the start" \
    }
#define AXIS_ROW(text)                                                 \
    {                                                                  \
        "axis", RH_PARAM_VEC3, AT(axis), "", "[0, 0, 1]", .help = text \
    }
#define LIMITS_ROW                                                                                    \
    {                                                                                                 \
        "limits", RH_PARAM_OPTIONAL, AT(limits), "", .table = &limit_table,                           \
                                                     .help = "how far it goes; left out: without end" \
    }
#define MOTOR_ROW                                                                                  \
    {                                                                                              \
        "motor", RH_PARAM_OPTIONAL, AT(motor), "", .table = &motor_table, .help = "what drives it" \
    }

static rh_code check_axis(rh_dvec3 axis, const char **field, rh_status *status)
{
    *field = "axis";
    return rh_d3_length(axis) > 0 ? RH_OK : rh_fail(status, RH_USER, "the axis must not be zero");
}

#define AT(field) offsetof(rh_hinge_params, field)
static const rh_param hinge_rows[] = {POINT_ROW, AXIS_ROW("about which it turns, at the start"), LIMITS_ROW, MOTOR_ROW};
#undef AT
static rh_code check_hinge(const void *object, const char **field, rh_status *status)
{
    const rh_hinge_params *hinge = object;
    *field = "limits";
    if (hinge->limits && (hinge->limits->low < -180 || hinge->limits->high > 180))
        return rh_fail(status, RH_USER, "expected angles from -180 to 180 degrees, found %g and %g", hinge->limits->low,
                       hinge->limits->high);
    return check_axis(hinge->axis, field, status);
}
static const rh_param_table hinge_table = {
    "hinge", "Turns about an axis.", hinge_rows, RH_PARAM_COUNT(hinge_rows), sizeof(rh_hinge_params), check_hinge};

#define AT(field) offsetof(rh_slider_params, field)
static const rh_param slider_rows[] = {AXIS_ROW("along which it slides, at the start"), LIMITS_ROW, MOTOR_ROW};
#undef AT
static rh_code check_slider(const void *object, const char **field, rh_status *status)
{
    return check_axis(((const rh_slider_params *)object)->axis, field, status);
}
static const rh_param_table slider_table = {"slider",
                                            "Slides along an axis and does not turn.",
                                            slider_rows,
                                            RH_PARAM_COUNT(slider_rows),
                                            sizeof(rh_slider_params),
                                            check_slider};

#define AT(field) offsetof(rh_ball_params, field)
static const rh_param ball_rows[] = {POINT_ROW};
#undef AT
static const rh_param_table ball_table = {
    "ball", "Turns any way about a point.", ball_rows, RH_PARAM_COUNT(ball_rows), sizeof(rh_ball_params), NULL};

#define AT(field) offsetof(rh_fixed_params, field)
static const rh_param fixed_rows[] = {POINT_ROW};
#undef AT
static const rh_param_table fixed_table = {
    "fixed", "Neither moves nor turns.", fixed_rows, RH_PARAM_COUNT(fixed_rows), sizeof(rh_fixed_params), NULL};

static const rh_param_table *const kinds[] = {&hinge_table, &slider_table, &ball_table, &fixed_table,
                                              NULL};  // order of rh_joint_kind

#define AT(field) offsetof(rh_joint_params, field)
static const rh_param joint_rows[] = {
    {"name", RH_PARAM_TEXT, AT(name), "", .help = "for messages, and to find it with --set"},
    {"solid", RH_PARAM_TEXT, AT(solid), "", .required = true, .help = "name of a dynamic solid"},
    {"to", RH_PARAM_TEXT, AT(to), "", .help = "name of another solid, of any kind; left out: the world"},
    {"joint", RH_PARAM_VARIANT, AT(joint), "", .variants = kinds, .required = true, .help = "how they are joined"},
};
#undef AT
const rh_param_table rh_joint_table = {"joint",
                                       "Holds a dynamic solid to another solid or to the world. Solids that a joint "
                                       "connects do not touch each other.",
                                       joint_rows,
                                       RH_PARAM_COUNT(joint_rows),
                                       sizeof(rh_joint_params),
                                       NULL};

// --- what needs the whole scene --------------------------------------------------------------------------------------
enum { MOST_NAMES = 256 };

static rh_code find_solid(const rh_scene *scene, int index, const rh_joint_params *joint, const char *wanted, int *out,
                          rh_status *status)
{
    const rh_solid_params *solids = scene->solids.items;
    const char *names[MOST_NAMES];
    char hint[320];
    int count = 0;
    for (int i = 0; i < scene->solids.count; i++) {
        if (!solids[i].name || !solids[i].name[0]) continue;
        if (strcmp(solids[i].name, wanted) == 0) return *out = i, RH_OK;
        if (count < MOST_NAMES) names[count++] = solids[i].name;
    }
    rh_scene_words item = rh_scene_item(scene, "joint", index, joint, joint->name);
    if (count == 0)
        return rh_fail(status, RH_USER, "%s: unknown solid '%.60s'; no solid of the scene has a name", item.text,
                       wanted);
    return rh_fail(status, RH_USER, "%s: unknown solid '%.60s'; %s", item.text, wanted,
                   rh_words_suggest(wanted, names, count, hint, sizeof hint));
}

static rh_code check_flat(const rh_scene *scene, int index, const rh_joint_params *joint, rh_status *status)
{
    rh_dvec3 axis = {0, 0, 1};
    bool hinge = joint->joint.kind == 0, slider = joint->joint.kind == 1;
    if (hinge) axis = ((const rh_hinge_params *)joint->joint.value)->axis;
    if (slider) axis = ((const rh_slider_params *)joint->joint.value)->axis;
    if (scene->dimension == 3 || !(hinge ? axis.x != 0 || axis.y != 0 : slider && axis.z != 0)) return RH_OK;
    return rh_fail(status, RH_USER,
                   "%s: in two dimensions a hinge's axis is along z, and a slider's in the plane; "
                   "found [%g, %g, %g]",
                   rh_scene_item(scene, "joint", index, joint, joint->name).text, axis.x, axis.y, axis.z);
}

static rh_code check_dynamic_solid(const rh_scene *scene, int index, const rh_solid_params *solid, rh_status *status)
{
    const char *reason = NULL;
    bool mesh = solid->shape.kind == RH_SHAPE_MESH;
    if (solid->inside_out) reason = "a container (inside_out) has no mass: all space around it is solid";
    if (solid->shape.kind == RH_SHAPE_PLANE) reason = "a plane has no end, and so no mass";
    if (solid->shape.kind == RH_SHAPE_MESH_SEQUENCE) reason = "a mesh_sequence says itself where it is";
    if (mesh && scene->dimension == 2) reason = "a mesh has no part in a plane's contacts";
    if (mesh && ((const rh_mesh_params *)solid->shape.value)->thickness > 0)
        reason = "a sheet (thickness) has no inside to weigh; close the mesh";
    if (!reason) return RH_OK;
    return rh_fail(status, RH_USER, "%s cannot be dynamic: %s",
                   rh_scene_item(scene, "solid", index, solid, solid->name).text, reason);
}

// What smoothed particles give to solids comes a step late, which only they themselves can be made to reckon with.
static rh_code check_sharing(const rh_scene *scene, rh_status *status)
{
    const rh_solid_params *solids = scene->solids.items;
    for (int i = 0; i < scene->solids.count && scene->materials.count > 1; i++)
        for (int k = 0; k < scene->materials.count && solids[i].dynamic; k++)
            if (rh_physics_methods[rh_scene_material(scene, k)->physics.kind]->pushes_late)
                return rh_fail(status, RH_USER,
                               "%s is dynamic in a scene of several materials, of which '%s' is sph; expected "
                               "`liquid`, `splash` or `sand`, or sph alone",
                               rh_scene_item(scene, "solid", i, &solids[i], solids[i].name).text,
                               rh_scene_material(scene, k)->name);
    return RH_OK;
}

rh_code rh_scene_resolve_joints(rh_scene *scene, rh_status *status)
{
    const rh_solid_params *solids = scene->solids.items;
    rh_joint_params *joints = scene->joints.items;
    for (int i = 0; i < scene->solids.count; i++)
        if (solids[i].dynamic) RH_TRY(check_dynamic_solid(scene, i, &solids[i], status));
    RH_TRY(check_sharing(scene, status));
    for (int i = 0; i < scene->joints.count; i++) {
        rh_joint_params *j = &joints[i];
        j->to_index = -1;
        RH_TRY(find_solid(scene, i, j, j->solid, &j->solid_index, status));
        if (j->to) RH_TRY(find_solid(scene, i, j, j->to, &j->to_index, status));
        rh_scene_words item = rh_scene_item(scene, "joint", i, j, j->name);
        if (!solids[j->solid_index].dynamic)
            return rh_fail(status, RH_USER, "%s: solid '%s' does not move by itself; expected one with `dynamic`",
                           item.text, j->solid);
        if (j->to_index == j->solid_index)
            return rh_fail(status, RH_USER, "%s: solid and to are both '%s', expected two solids", item.text, j->to);
        RH_TRY(check_flat(scene, i, j, status));
    }
    return RH_OK;
}
