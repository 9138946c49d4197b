// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Tables of parameters, one for each kind of place, and the check that needs the whole scene: probes of solids name one
// that there is.
#include "scene/probes.h"

#include <string.h>
#include "scene/scene.h"
#include "scene/words.h"

#define FAR "1e30"

#define AT(field) offsetof(rh_point_probe, field)
static const rh_param point_rows[] = {
    {"position", RH_PARAM_VEC3, AT(position), "m", .required = true, .help = "where"},
};
#undef AT
static const rh_param_table point_table = {"point",
                                           "Pressure and velocity at a point. Both are 0 while it is dry.",
                                           point_rows,
                                           RH_PARAM_COUNT(point_rows),
                                           sizeof(rh_point_probe),
                                           NULL};

#define AT(field) offsetof(rh_line_probe, field)
static const rh_param line_rows[] = {
    {"from", RH_PARAM_VEC3, AT(from), "m", .required = true, .help = "lower end: heights count from here"},
    {"to", RH_PARAM_VEC3, AT(to), "m", .required = true, .help = "upper end"},
};
#undef AT

static rh_code check_line(const void *object, const char **field, rh_status *status)
{
    const rh_line_probe *line = object;
    if (rh_d3_length(rh_d3_sub(line->to, line->from)) > 0) return RH_OK;
    *field = "to";
    return rh_fail(status, RH_USER, "must not be where `from` is");
}

static const rh_param_table line_table = {
    "line",
    "A gauge: how far along the line, from its lower end, the lowest material reaches, and how much of the line is in "
    "material.",
    line_rows,
    RH_PARAM_COUNT(line_rows),
    sizeof(rh_line_probe),
    check_line};

#define AT(field) offsetof(rh_rectangle_probe, field)
static const rh_param rectangle_rows[] = {
    {"corner", RH_PARAM_VEC3, AT(corner), "m", .required = true, .help = "one corner"},
    {"side_a", RH_PARAM_VEC3, AT(side_a), "m", .required = true, .help = "from the corner to the next one"},
    {"side_b", RH_PARAM_VEC3, AT(side_b), "m", "[0, 0, 1]",
     .help = "from the corner to the one on the other side; not read in two dimensions, where side_a is all there is"},
};
#undef AT

static rh_code check_rectangle(const void *object, const char **field, rh_status *status)
{
    const rh_rectangle_probe *r = object;
    double a = rh_d3_length(r->side_a), b = rh_d3_length(r->side_b);
    *field = a > 0 ? "side_b" : "side_a";
    if (!(a > 0) || !(b > 0)) return rh_fail(status, RH_USER, "must not be zero");
    if (fabs(rh_d3_dot(r->side_a, r->side_b)) > 1e-6 * a * b)
        return rh_fail(status, RH_USER, "must be at right angles to side_a");
    return RH_OK;
}

static const rh_param_table rectangle_table = {
    "rectangle",
    "Flow through a rectangle: volume a second, positive along side_a x side_b.",
    rectangle_rows,
    RH_PARAM_COUNT(rectangle_rows),
    sizeof(rh_rectangle_probe),
    check_rectangle};

static rh_code check_corners(rh_dvec3 min, rh_dvec3 max, const char **field, rh_status *status)
{
    for (int a = 0; a < 3; a++) {
        double low = (&min.x)[a], high = (&max.x)[a];
        if (low < high) continue;
        *field = "max";
        return rh_fail(status, RH_USER, "must be above min: found %g along %c, where min is %g", high, 'x' + a, low);
    }
    return RH_OK;
}

#define AT(field) offsetof(rh_box_probe, field)
static const rh_param box_rows[] = {
    {"min", RH_PARAM_VEC3, AT(min), "m", .required = true, .help = "lowest corner"},
    {"max", RH_PARAM_VEC3, AT(max), "m", .required = true, .help = "highest corner"},
};
#undef AT

static rh_code check_box(const void *object, const char **field, rh_status *status)
{
    const rh_box_probe *box = object;
    return check_corners(box->min, box->max, field, status);
}

static const rh_param_table box_table = {"box",
                                         "Volume, mass, centre, kinetic and potential energy of the material in a box.",
                                         box_rows,
                                         RH_PARAM_COUNT(box_rows),
                                         sizeof(rh_box_probe),
                                         check_box};

#define AT(field) offsetof(rh_solid_probe, field)
static const rh_param solid_rows[] = {
    {"name", RH_PARAM_TEXT, AT(name), "", .help = "of the solid; left out: all solids together"},
    {"min", RH_PARAM_VEC3, AT(min), "m", "[-" FAR ", -" FAR ", -" FAR "]",
     .help = "lowest corner of a box: only the part of the solid in it counts, one wall of a tank"},
    {"max", RH_PARAM_VEC3, AT(max), "m", "[" FAR ", " FAR ", " FAR "]", .help = "highest corner of that box"},
};
#undef AT

static rh_code check_solid(const void *object, const char **field, rh_status *status)
{
    const rh_solid_probe *solid = object;
    return check_corners(solid->min, solid->max, field, status);
}

static const rh_param_table solid_table = {"solid",
                                           "Force of the material on a solid, and its moment about the middle of the "
                                           "solid's bounds, which moves with it (about "
                                           "the origin for all solids together, and for a plane).",
                                           solid_rows,
                                           RH_PARAM_COUNT(solid_rows),
                                           sizeof(rh_solid_probe),
                                           check_solid};

#define AT(field) offsetof(rh_pose_probe, field)
static const rh_param pose_rows[] = {
    {"name", RH_PARAM_TEXT, AT(name), "", .required = true, .help = "of the solid"},
};
#undef AT

static const rh_param_table pose_table = {"pose",
                                          "Where a solid is and how it moves: of a dynamic one the place of its centre "
                                          "of mass, of others that of the pivot of their motion; how far it has "
                                          "turned since the start, as axis times angle; velocity and angular velocity.",
                                          pose_rows,
                                          RH_PARAM_COUNT(pose_rows),
                                          sizeof(rh_pose_probe),
                                          NULL};

static const rh_param_table *const places[] = {&point_table, &line_table, &rectangle_table, &box_table, &solid_table,
                                               &pose_table,  NULL};  // as in rh_probe_kind

#define AT(field) offsetof(rh_probe_params, field)
static const rh_param probe_rows[] = {
    {"name", RH_PARAM_TEXT, AT(name), "", .required = true,
     .help = "of its columns in probes.csv: letters, digits, '_' and '-'"},
    {"material", RH_PARAM_TEXT, AT(material), "",
     .help = "whose pressures, velocities, amounts and forces: a name in materials; without one the first"},
    {"where", RH_PARAM_VARIANT, AT(where), "", .variants = places, .required = true,
     .help = "what is measured follows from where"},
};
#undef AT

static rh_code check_probe(const void *object, const char **field, rh_status *status)
{
    const char *name = ((const rh_probe_params *)object)->name;
    size_t length = strlen(name ? name : ""),
           good = strspn(name ? name : "", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (good > 0 && good == length && length <= 40) return RH_OK;
    *field = "name";
    return rh_fail(status, RH_USER, "expected 1 to 40 letters, digits, '_' or '-', which head columns of probes.csv");
}

const rh_param_table rh_probe_table = {"probe",
                                       "Something that is measured after every step; see docs/probes.md.",
                                       probe_rows,
                                       RH_PARAM_COUNT(probe_rows),
                                       sizeof(rh_probe_params),
                                       check_probe};

// --- what needs the whole scene --------------------------------------------------------------------------------------
enum { MOST_NAMES = 256 };

const char *rh_probe_solid_name(const rh_probe_params *probe)
{
    if (probe->where.kind == RH_PROBE_POSE) return ((const rh_pose_probe *)probe->where.value)->name;
    return probe->where.kind == RH_PROBE_SOLID ? ((const rh_solid_probe *)probe->where.value)->name : NULL;
}

static rh_code check_name(const rh_scene *scene, int index, const rh_probe_params *probe, rh_status *status)
{
    const char *wanted = rh_probe_solid_name(probe), *names[MOST_NAMES];
    const rh_solid_params *solids = scene->solids.items;
    char hint[320];
    int count = 0;
    for (int i = 0; i < scene->solids.count; i++) {
        if (!solids[i].name || !solids[i].name[0]) continue;
        if (wanted && strcmp(solids[i].name, wanted) == 0) return RH_OK;
        if (count < MOST_NAMES) names[count++] = solids[i].name;
    }
    rh_scene_words item = rh_scene_item(scene, "probe", index, probe, probe->name);
    if (scene->solids.count == 0) return rh_fail(status, RH_USER, "%s: the scene has no solids", item.text);
    if (!wanted) return RH_OK;
    if (count == 0)
        return rh_fail(status, RH_USER, "%s: unknown solid '%.60s'; no solid of the scene has a name", item.text,
                       wanted);
    return rh_fail(status, RH_USER, "%s: unknown solid '%.60s'; %s", item.text, wanted,
                   rh_words_suggest(wanted, names, count, hint, sizeof hint));
}

rh_code rh_probes_check(const rh_scene *scene, rh_status *status)
{
    const rh_probe_params *probes = scene->probes.items;
    for (int i = 0; i < scene->probes.count; i++)
        if (probes[i].where.kind == RH_PROBE_SOLID || probes[i].where.kind == RH_PROBE_POSE)
            RH_TRY(check_name(scene, i, &probes[i], status));
    return RH_OK;
}
