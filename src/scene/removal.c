// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The tables of sinks and masks: what is taken out of a run, and what particles are told apart by in frames.
#include <string.h>
#include "scene/scene.h"
#include "solid/shape.h"

static const double NO_LIMIT = 1e9;

// clang-format off
#define AT(field) offsetof(rh_sink_when, field)
static const rh_param when_rows[] = {
    {"group", RH_PARAM_TEXT, AT(group), "", .example = "\"spray\"", .help = "particles of this group"},
    {"older", RH_PARAM_FLOAT, AT(older), "s", "0", 0, 1e9, .example = "3", .help = "than this; 0: of any age"},
    {"travelled", RH_PARAM_FLOAT, AT(travelled), "m", "0", 0, 1e9,
     .help = "farther than this since they came into the run, along their way; 0: any way"},
    {"slower", RH_PARAM_FLOAT, AT(slower), "m/s", "0", 0, 1e9, .help = "than this; 0: of any speed"},
    {"faster", RH_PARAM_FLOAT, AT(faster), "m/s", "0", 0, 1e9, .help = "than this; 0: of any speed"},
    {"fewer", RH_PARAM_INT, AT(fewer), "", "0", 0, 1e6,
     .help = "neighbours than this: those that are alone; 0: any number"},
    {"more", RH_PARAM_INT, AT(more), "", "0", 0, 1e6, .help = "neighbours than this: clumps; 0: any number"},
    {"within", RH_PARAM_FLOAT, AT(within), "m", "0", 0, 1e4,
     .help = "how near a neighbour is; 0: a cell"},
};
#undef AT
// clang-format on

static rh_code check_when(const void *object, const char **field, rh_status *status)
{
    const rh_sink_when *w = object;
    *field = "older";
    if (!w->group && !(w->older > 0) && !(w->travelled > 0) && !(w->slower > 0) && !(w->faster > 0) && w->fewer == 0 &&
        w->more == 0)
        return rh_fail(status, RH_USER,
                       "found no condition, expected group, older, travelled, slower, faster, fewer or more: all "
                       "particles would go");
    *field = "fewer";
    if (w->fewer > 0 && w->more > 0 && w->fewer <= w->more + 1)
        return rh_fail(status, RH_USER,
                       "found fewer %lld and more %lld, expected a number between them: no particle has both",
                       (long long)w->fewer, (long long)w->more);
    *field = "slower";
    if (w->slower > 0 && w->faster >= w->slower)
        return rh_fail(status, RH_USER,
                       "found slower %g m/s and faster %g m/s, expected faster to be less: no particle is both",
                       w->slower, w->faster);
    return RH_OK;
}

static const rh_param_table when_table = {"when",
                                          "Which particles go: those that all of it is true of.",
                                          when_rows,
                                          RH_PARAM_COUNT(when_rows),
                                          sizeof(rh_sink_when),
                                          check_when};

// clang-format off
#define AT(field) offsetof(rh_sink_params, field)
static const rh_param sink_rows[] = {
    {"name", RH_PARAM_TEXT, AT(name), "", .help = "for messages, and to find it with --set"},
    {"material", RH_PARAM_TEXT, AT(material), "", .help = "what it removes: a name in materials; without one all"},
    {"shape", RH_PARAM_VARIANT, AT(shape), "", .variants = rh_shape_tables,
     .example = "{sphere: {radius: 0.5}}",
     .help = "material that enters it is removed; without one, with when: everywhere"},
    {"inside_out", RH_PARAM_BOOL, AT(inside_out), "", "false", .help = "removes what leaves the shape instead"},
    {"when", RH_PARAM_OPTIONAL, AT(when), "", .table = &when_table,
     .help = "only particles that this is true of: by age, way, speed, group, or how many are around them"},
    {"start", RH_PARAM_FLOAT, AT(start), "s", "0", 0, NO_LIMIT, .help = "simulated time at which it begins"},
    {"stop", RH_PARAM_FLOAT, AT(stop), "s", "1e9", 0, NO_LIMIT, .help = "simulated time at which it ends"},
    {"motion", RH_PARAM_TABLE, AT(motion), "", .table = &rh_motion_table,
     .help = "how the shape moves; at rest without keys"},
};
#undef AT
// clang-format on

static rh_code check_sink(const void *object, const char **field, rh_status *status)
{
    const rh_sink_params *sink = object;
    *field = "shape";
    if (!sink->shape.value && !sink->when)
        return rh_fail(status, RH_USER, "found neither shape nor when, expected what it removes");
    if (!sink->shape.value && sink->inside_out)
        return rh_fail(status, RH_USER, "found inside_out without a shape, expected what it is the inside of");
    *field = "stop";
    if (sink->stop > sink->start) return RH_OK;
    return rh_fail(status, RH_USER, "must come after start: start is %g s, stop is %g s", sink->start, sink->stop);
}

const rh_param_table rh_sink_table = {"sink",
                                      "What removes material: a region, a condition, or both.",
                                      sink_rows,
                                      RH_PARAM_COUNT(sink_rows),
                                      sizeof(rh_sink_params),
                                      check_sink};

// clang-format off
#define AT(field) offsetof(rh_mask_params, field)
#define RAMP(name, unit, low, what) \
    {name "_from", RH_PARAM_FLOAT, AT(low.from), unit, "0", -1e9, 1e9, .help = what " where it is 0"}, \
    {name "_to", RH_PARAM_FLOAT, AT(low.to), unit, "0", -1e9, 1e9, \
     .help = "and where it is 1; equal to _from: not asked"}
static const rh_param mask_rows[] = {
    {"name", RH_PARAM_TEXT, AT(name), "", .required = true, .example = "\"wet\"", .help = "of the attribute"},
    {"material", RH_PARAM_TEXT, AT(material), "", .help = "whose: a name in materials; without one the first"},
    {"speed_from", RH_PARAM_FLOAT, AT(speed.from), "m/s", "0", -1e9, 1e9, .help = "speed where it is 0"},
    {"speed_to", RH_PARAM_FLOAT, AT(speed.to), "m/s", "0", -1e9, 1e9, .example = "4",
     .help = "and where it is 1; equal to _from: not asked"},
    RAMP("height", "m", height, "y of the place"),
    RAMP("age", "s", age, "time since it came into the run"),
    RAMP("travelled", "m", travelled, "length of its way since then"),
    RAMP("neighbours", "", neighbours, "number of particles around it"),
    {"within", RH_PARAM_FLOAT, AT(within), "m", "0", 0, 1e4, .help = "how near a neighbour is; 0: a cell"},
};
#undef RAMP
#undef AT
// clang-format on

static bool is_given(rh_mask_ramp r) { return r.from != r.to; }

static rh_code check_mask(const void *object, const char **field, rh_status *status)
{
    const rh_mask_params *m = object;
    size_t good = strspn(m->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    *field = "name";
    if (!good || m->name[good] || good > 31 || (m->name[0] >= '0' && m->name[0] <= '9'))
        return rh_fail(status, RH_USER, "found '%.60s', expected 1 to 31 letters, digits and '_', no digit first",
                       m->name);
    *field = "speed_to";
    if (is_given(m->speed) || is_given(m->height) || is_given(m->age) || is_given(m->travelled) ||
        is_given(m->neighbours))
        return RH_OK;
    return rh_fail(
        status, RH_USER,
        "found no ramp, expected speed, height, age, travelled or neighbours, with _from and _to that differ");
}

const rh_param_table rh_mask_table = {
    "mask",
    "A value from 0 to 1 that every particle has in frames, for shading and for edits: the product of the ramps that "
    "are given.",
    mask_rows,
    RH_PARAM_COUNT(mask_rows),
    sizeof(rh_mask_params),
    check_mask};
