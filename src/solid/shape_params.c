// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What a scene file may say of shapes and motion: the parameter tables and the rules between their fields.
#include "solid/shape.h"

#include <stddef.h>
#include <string.h>

static rh_code blame(const char **field, const char *name)
{
    *field = name;
    return RH_USER;
}

static bool finite3(rh_dvec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

static rh_code need_point(const char *name, rh_dvec3 value, const char **field, rh_status *status)
{
    if (finite3(value)) return RH_OK;
    rh_fail(status, RH_USER, "%s is [%g, %g, %g], expected finite numbers", name, value.x, value.y, value.z);
    return blame(field, name);
}

static rh_code need_positive(const char *name, double value, const char **field, rh_status *status)
{
    if (value > 0 && isfinite(value)) return RH_OK;
    rh_fail(status, RH_USER, "%s is %g, expected a finite number above 0", name, value);
    return blame(field, name);
}

static rh_code need_direction(const char *name, rh_dvec3 value, const char **field, rh_status *status)
{
    RH_TRY(need_point(name, value, field, status));
    double length = rh_d3_length(value);
    if (length > 0 && isfinite(length)) return RH_OK;
    rh_fail(status, RH_USER, "%s is [%g, %g, %g], expected a vector with a direction", name, value.x, value.y, value.z);
    return blame(field, name);
}

static rh_code need_apart(rh_dvec3 from, rh_dvec3 to, const char **field, rh_status *status)
{
    RH_TRY(need_point("from", from, field, status));
    RH_TRY(need_point("to", to, field, status));
    if (rh_d3_length(rh_d3_sub(to, from)) > 0) return RH_OK;
    rh_fail(status, RH_USER, "'from' and 'to' are both [%g, %g, %g], expected two different points", to.x, to.y, to.z);
    return blame(field, "to");
}

// --- sphere ----------------------------------------------------------------------------------------------------------

static rh_code check_sphere(const void *object, const char **field, rh_status *status)
{
    const rh_sphere_params *p = object;
    RH_TRY(need_point("center", p->center, field, status));
    return need_positive("radius", p->radius, field, status);
}

#define AT(field) offsetof(rh_sphere_params, field)
static const rh_param sphere_rows[] = {
    {"center", RH_PARAM_VEC3, AT(center), "m", "[0, 0, 0]", .help = "middle of the sphere"},
    {"radius", RH_PARAM_FLOAT, AT(radius), "m", NULL, .help = "from the middle to the surface, above 0"},
};
#undef AT
static const rh_param_table sphere_table = {"sphere",
                                            "A ball; a disc in a two-dimensional run.",
                                            sphere_rows,
                                            RH_PARAM_COUNT(sphere_rows),
                                            sizeof(rh_sphere_params),
                                            check_sphere};

// --- box -------------------------------------------------------------------------------------------------------------

static rh_code check_box(const void *object, const char **field, rh_status *status)
{
    const rh_box_params *p = object;
    RH_TRY(need_point("min", p->min, field, status));
    RH_TRY(need_point("max", p->max, field, status));
    double low[3] = {p->min.x, p->min.y, p->min.z}, high[3] = {p->max.x, p->max.y, p->max.z}, thinnest = INFINITY;
    for (int i = 0; i < 3; i++) {
        if (!(low[i] < high[i])) {
            rh_fail(status, RH_USER, "%c of max is %g, expected more than %c of min, which is %g%s", "xyz"[i], high[i],
                    "xyz"[i], low[i], i == 2 ? " (also in two dimensions, where any two will do, as -1 and 1)" : "");
            return blame(field, "max");
        }
        thinnest = fmin(thinnest, high[i] - low[i]);
    }
    if (p->rounding >= 0 && p->rounding <= 0.5 * thinnest) return RH_OK;
    rh_fail(status, RH_USER, "rounding is %g, expected 0 to %g, half of the thinnest side", p->rounding,
            0.5 * thinnest);
    return blame(field, "rounding");
}

#define AT(field) offsetof(rh_box_params, field)
static const rh_param box_rows[] = {
    {"min", RH_PARAM_VEC3, AT(min), "m", NULL, .help = "lowest corner"},
    {"max", RH_PARAM_VEC3, AT(max), "m", NULL,
     .help = "highest corner, above min along every axis (also z in two dimensions)"},
    {"rounding", RH_PARAM_FLOAT, AT(rounding), "m", "0",
     .help = "radius of edges and corners, at most half of the thinnest side"},
};
#undef AT
static const rh_param_table box_table = {
    "box",
    "A box along the axes, with sharp or rounded edges; a rectangle in a two-dimensional run.",
    box_rows,
    RH_PARAM_COUNT(box_rows),
    sizeof(rh_box_params),
    check_box};

// --- plane -----------------------------------------------------------------------------------------------------------

static rh_code check_plane(const void *object, const char **field, rh_status *status)
{
    const rh_plane_params *p = object;
    RH_TRY(need_point("point", p->point, field, status));
    return need_direction("normal", p->normal, field, status);
}

#define AT(field) offsetof(rh_plane_params, field)
static const rh_param plane_rows[] = {
    {"point", RH_PARAM_VEC3, AT(point), "m", "[0, 0, 0]", .help = "any point on the plane"},
    {"normal", RH_PARAM_VEC3, AT(normal), "", "[0, 1, 0]",
     .help = "points away from the filled half; any length but 0"},
};
#undef AT
static const rh_param_table plane_table = {"plane",
                                           "Everything on one side of a plane: the side opposite to the normal.",
                                           plane_rows,
                                           RH_PARAM_COUNT(plane_rows),
                                           sizeof(rh_plane_params),
                                           check_plane};

// --- cylinder and capsule --------------------------------------------------------------------------------------------

static rh_code check_cylinder(const void *object, const char **field, rh_status *status)
{
    const rh_cylinder_params *p = object;
    RH_TRY(need_apart(p->from, p->to, field, status));
    return need_positive("radius", p->radius, field, status);
}

#define AT(field) offsetof(rh_cylinder_params, field)
static const rh_param cylinder_rows[] = {
    {"from", RH_PARAM_VEC3, AT(from), "m", NULL, .help = "middle of one end"},
    {"to", RH_PARAM_VEC3, AT(to), "m", NULL, .help = "middle of the other end"},
    {"radius", RH_PARAM_FLOAT, AT(radius), "m", NULL, .help = "from the axis to the side, above 0"},
};
#undef AT
static const rh_param_table cylinder_table = {
    "cylinder",
    "A cylinder with flat ends. In a two-dimensional run: a disc when its axis is along z, otherwise a rectangle.",
    cylinder_rows,
    RH_PARAM_COUNT(cylinder_rows),
    sizeof(rh_cylinder_params),
    check_cylinder};

static rh_code check_capsule(const void *object, const char **field, rh_status *status)
{
    const rh_capsule_params *p = object;
    RH_TRY(need_apart(p->from, p->to, field, status));
    return need_positive("radius", p->radius, field, status);
}

#define AT(field) offsetof(rh_capsule_params, field)
static const rh_param capsule_rows[] = {
    {"from", RH_PARAM_VEC3, AT(from), "m", NULL, .help = "centre of the ball at one end"},
    {"to", RH_PARAM_VEC3, AT(to), "m", NULL, .help = "centre of the ball at the other end"},
    {"radius", RH_PARAM_FLOAT, AT(radius), "m", NULL, .help = "of the balls and of the rod between them, above 0"},
};
#undef AT
static const rh_param_table capsule_table = {"capsule",
                                             "A rod with round ends: all points within a radius of a line segment.",
                                             capsule_rows,
                                             RH_PARAM_COUNT(capsule_rows),
                                             sizeof(rh_capsule_params),
                                             check_capsule};

// --- torus -----------------------------------------------------------------------------------------------------------

static rh_code check_torus(const void *object, const char **field, rh_status *status)
{
    const rh_torus_params *p = object;
    RH_TRY(need_point("center", p->center, field, status));
    RH_TRY(need_direction("axis", p->axis, field, status));
    RH_TRY(need_positive("major", p->major, field, status));
    RH_TRY(need_positive("minor", p->minor, field, status));
    if (p->minor < p->major) return RH_OK;
    rh_fail(status, RH_USER, "minor is %g, expected less than major, which is %g", p->minor, p->major);
    return blame(field, "minor");
}

#define AT(field) offsetof(rh_torus_params, field)
static const rh_param torus_rows[] = {
    {"center", RH_PARAM_VEC3, AT(center), "m", "[0, 0, 0]", .help = "middle of the hole"},
    {"axis", RH_PARAM_VEC3, AT(axis), "", "[0, 1, 0]", .help = "direction through the hole; any length but 0"},
    {"major", RH_PARAM_FLOAT, AT(major), "m", NULL, .help = "from the centre to the middle of the tube, above 0"},
    {"minor", RH_PARAM_FLOAT, AT(minor), "m", NULL, .help = "radius of the tube, above 0 and below major"},
};
#undef AT
static const rh_param_table torus_table = {
    "torus", "A ring.", torus_rows, RH_PARAM_COUNT(torus_rows), sizeof(rh_torus_params), check_torus};

// --- mesh ------------------------------------------------------------------------------------------------------------

static rh_code check_mesh(const void *object, const char **field, rh_status *status)
{
    const rh_mesh_params *p = object;
    RH_TRY(need_point("translate", p->translate, field, status));
    RH_TRY(need_point("rotate", p->rotate, field, status));
    RH_TRY(need_point("stretch", p->stretch, field, status));
    if (!(p->stretch.x > 0 && p->stretch.y > 0 && p->stretch.z > 0)) {
        rh_fail(status, RH_USER, "stretch is [%g, %g, %g], expected numbers above 0", p->stretch.x, p->stretch.y,
                p->stretch.z);
        return blame(field, "stretch");
    }
    if (!(p->thickness >= 0 && isfinite(p->thickness))) {
        rh_fail(status, RH_USER, "thickness is %g, expected 0 or a number above it", p->thickness);
        return blame(field, "thickness");
    }
    return need_positive("scale", p->scale, field, status);
}

#define AT(field) offsetof(rh_mesh_params, field)
static const rh_param mesh_rows[] = {
    {"file", RH_PARAM_PATH, AT(file), "", NULL, .required = true, .help = "triangle mesh: .obj, .ply or .stl"},
    {"translate", RH_PARAM_VEC3, AT(translate), "m", "[0, 0, 0]", .help = "moves the mesh, after scale and rotation"},
    {"rotate", RH_PARAM_VEC3, AT(rotate), "degrees", "[0, 0, 0]",
     .help = "turns the mesh about x, then y, then z, after scale"},
    {"scale", RH_PARAM_FLOAT, AT(scale), "", "1", .help = "metres per unit of the file, above 0"},
    {"stretch", RH_PARAM_VEC3, AT(stretch), "", "[1, 1, 1]",
     .help = "along x, y and z of the file, above 0, beside scale and before rotation"},
    {"thickness", RH_PARAM_FLOAT, AT(thickness), "m", "0",
     .help = "above 0: the mesh is a sheet so thick, half to either side, and need not be closed; 0: what it encloses"},
};
#undef AT
static const rh_param_table mesh_table = {"mesh",
                                          "A closed triangle mesh from a file. Small holes and flipped faces are "
                                          "tolerated: inside is where the surface winds around. With a thickness: a "
                                          "sheet, closed or open.",
                                          mesh_rows,
                                          RH_PARAM_COUNT(mesh_rows),
                                          sizeof(rh_mesh_params),
                                          check_mesh};

// --- a sequence of meshes --------------------------------------------------------------------------------------------

static rh_code check_sequence(const void *object, const char **field, rh_status *status)
{
    const rh_mesh_sequence_params *p = object;
    if (p->files && !strchr(p->files, '#')) {
        rh_fail(status, RH_USER, "files is '%s', expected a name with # where the number goes, as dancer.####.obj",
                p->files);
        return blame(field, "files");
    }
    if (p->last != 0 && p->last < p->first) {
        rh_fail(status, RH_USER, "last is %lld, expected the number of a file from first (%lld) on", (long long)p->last,
                (long long)p->first);
        return blame(field, "last");
    }
    RH_TRY(need_positive("fps", p->fps, field, status));
    return check_mesh(&p->place, field, status);
}

static const char *const sequence_ends[] = {"hold", "loop", NULL};
#define AT(field) offsetof(rh_mesh_sequence_params, field)
static const rh_param sequence_rows[] = {
    {"files", RH_PARAM_PATH, AT(files), "", NULL, .required = true,
     .help = "triangle meshes, .obj or .ply, with # where the number goes: dancer.####.obj finds dancer.0001.obj and "
             "so on"},
    {"first", RH_PARAM_INT, AT(first), "", "1", 0, 1e9, .help = "number of the first file"},
    {"last", RH_PARAM_INT, AT(last), "", "0", 0, 1e9,
     .help = "number of the last file; 0: as many as there are, without a gap"},
    {"fps", RH_PARAM_FLOAT, AT(fps), "1/s", "24", .help = "files a second, above 0; vertices move straight in between"},
    {"start", RH_PARAM_FLOAT, AT(start), "s", "0", -1e6, 1e6, .help = "simulated time of the first file"},
    {"before", RH_PARAM_CHOICE, AT(before), "", "hold", .choices = sequence_ends,
     .help = "before the first file: it holds still, or the sequence loops"},
    {"after", RH_PARAM_CHOICE, AT(after), "", "hold", .choices = sequence_ends,
     .help = "after the last file: it holds still, or the sequence loops, from the last file on to the first"},
    {"translate", RH_PARAM_VEC3, AT(place.translate), "m", "[0, 0, 0]",
     .help = "moves the meshes, after scale and rotation"},
    {"rotate", RH_PARAM_VEC3, AT(place.rotate), "degrees", "[0, 0, 0]",
     .help = "turns the meshes about x, then y, then z, after scale"},
    {"scale", RH_PARAM_FLOAT, AT(place.scale), "", "1", .help = "metres per unit of the files, above 0"},
    {"stretch", RH_PARAM_VEC3, AT(place.stretch), "", "[1, 1, 1]",
     .help = "along x, y and z of the files, above 0, beside scale and before rotation"},
    {"thickness", RH_PARAM_FLOAT, AT(place.thickness), "m", "0",
     .help = "above 0: the meshes are sheets so thick, and need not be closed; 0: what they enclose"},
};
#undef AT
static const rh_param_table sequence_table = {"mesh_sequence",
                                              "Of solids: triangle meshes that follow each other in time, one file a "
                                              "frame, all with the same triangles: an animated character. Walls move "
                                              "as fast as the vertices do.",
                                              sequence_rows,
                                              RH_PARAM_COUNT(sequence_rows),
                                              sizeof(rh_mesh_sequence_params),
                                              check_sequence};

const rh_param_table *const rh_shape_tables[] = {&sphere_table,   &box_table,      &plane_table,
                                                 &cylinder_table, &capsule_table,  &torus_table,
                                                 &mesh_table,     &sequence_table, NULL};

// --- motion ----------------------------------------------------------------------------------------------------------

static rh_code check_key(const void *object, const char **field, rh_status *status)
{
    const rh_motion_key *p = object;
    if (!isfinite(p->time)) {
        rh_fail(status, RH_USER, "time is %g, expected a finite number", p->time);
        return blame(field, "time");
    }
    RH_TRY(need_point("translate", p->translate, field, status));
    return need_point("rotate", p->rotate, field, status);
}

#define AT(field) offsetof(rh_motion_key, field)
static const rh_param key_rows[] = {
    {"time", RH_PARAM_FLOAT, AT(time), "s", NULL, .help = "simulated time of the key, after the key before"},
    {"translate", RH_PARAM_VEC3, AT(translate), "m", "[0, 0, 0]",
     .help = "how far the shape is from where it was made"},
    {"rotate", RH_PARAM_VEC3, AT(rotate), "degrees", "[0, 0, 0]",
     .help = "turn about x, then y, then z through the pivot; may exceed 360"},
};
#undef AT
static const rh_param_table key_table = {
    "key",    "Where a moving shape is at one time.", key_rows, RH_PARAM_COUNT(key_rows), sizeof(rh_motion_key),
    check_key};

// Keys closer than this (s) would give speeds beyond the range of numbers.
static const double shortest_piece = 1e-9;

static rh_code check_motion(const void *object, const char **field, rh_status *status)
{
    const rh_motion *p = object;
    const rh_motion_key *keys = p->keys.items;
    RH_TRY(need_point("pivot", p->pivot, field, status));
    for (int i = 1; i < p->keys.count; i++) {
        if (keys[i].time - keys[i - 1].time > shortest_piece) continue;
        rh_fail(status, RH_USER, "key %d has time %g, expected more than the %g of key %d", i + 1, keys[i].time,
                keys[i - 1].time, i);
        return blame(field, "keys");
    }
    return RH_OK;
}

static const char *const interpolations[] = {"linear", "smooth", NULL};  // order of rh_interpolation

#define AT(field) offsetof(rh_motion, field)
static const rh_param motion_rows[] = {
    {"keys", RH_PARAM_LIST, AT(keys), "", NULL, .table = &key_table,
     .help = "positions over time, in order of time; at rest before the first and after the last"},
    {"interpolation", RH_PARAM_CHOICE, AT(interpolation), "", "linear", .choices = interpolations,
     .help = "between keys: linear (constant speed) or smooth (no jerk, at rest at both ends)"},
    {"pivot", RH_PARAM_VEC3, AT(pivot), "m", "[0, 0, 0]", .help = "point of the shape about which rotations turn"},
};
#undef AT
const rh_param_table rh_motion_table = {"motion",          "How a shape moves over time, by keys.",
                                        motion_rows,       RH_PARAM_COUNT(motion_rows),
                                        sizeof(rh_motion), check_motion};
