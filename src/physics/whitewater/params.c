// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parameters of whitewater. The model they belong to is in physics/whitewater/whitewater.h.
#include "physics/whitewater/whitewater.h"

// clang-format off
#define AT(field) offsetof(rh_whitewater_params, field)
static const rh_param rows[] = {
    {"over", RH_PARAM_TEXT, AT(over), "", .required = true,
     .help = "the run, by its name in `from`, that makes the whitewater"},
    {"amount", RH_PARAM_FLOAT, AT(amount), "", "1", 0, 1e6, .help = "factor of all that is made"},
    {"trapped_air", RH_PARAM_FLOAT, AT(trapped_air.rate), "1/s", "100", 0, 1e6,
     .help = "particles a second of a base particle where parts of the liquid run into each other and beat air in"},
    {"trapped_air_from", RH_PARAM_FLOAT, AT(trapped_air.low), "m/s", "0.2", 0, 1e6,
     .help = "speed at which neighbours run together where that begins"},
    {"trapped_air_to", RH_PARAM_FLOAT, AT(trapped_air.high), "m/s", "1.5", 0, 1e6, .help = "and where it is full"},
    {"wave_crest", RH_PARAM_FLOAT, AT(wave_crest.rate), "1/s", "150", 0, 1e6,
     .help = "the same at crests that run ahead"},
    {"wave_crest_from", RH_PARAM_FLOAT, AT(wave_crest.low), "", "0.15", 0, 10,
     .help = "how curved: mean of 1 less the cosine between neighbouring normals, 0 is flat"},
    {"wave_crest_to", RH_PARAM_FLOAT, AT(wave_crest.high), "", "0.6", 0, 10, .help = "and where it is full"},
    {"vorticity", RH_PARAM_FLOAT, AT(vorticity.rate), "1/s", "0", 0, 1e6, .help = "the same where the liquid whirls"},
    {"vorticity_from", RH_PARAM_FLOAT, AT(vorticity.low), "1/s", "10", 0, 1e6,
     .help = "curl of the velocity where that begins"},
    {"vorticity_to", RH_PARAM_FLOAT, AT(vorticity.high), "1/s", "60", 0, 1e6, .help = "and where it is full"},
    {"speed_from", RH_PARAM_FLOAT, AT(speed_low), "m/s", "0.5", 0, 1e6, .help = "slower liquid makes nothing"},
    {"speed_to", RH_PARAM_FLOAT, AT(speed_high), "m/s", "3", 0, 1e6, .help = "faster liquid makes all it can"},
    {"thinnest", RH_PARAM_FLOAT, AT(thinnest), "", "0.02", 0, 1,
     .help = "cells with less than this share of liquid make nothing: 0.2 keeps single drops of the base from making "
             "more"},
    {"drops", RH_PARAM_TEXT, AT(drops), "",
     .help = "another run in `from`, of drops, which leave bubbles where they fall into the liquid"},
    {"entry", RH_PARAM_FLOAT, AT(entry), "", "3", 0, 64, .help = "bubbles that a drop leaves"},
    {"entry_speed", RH_PARAM_FLOAT, AT(entry_speed), "m/s", "0.5", 0, 1e6, .help = "slower drops leave none"},
    {"interval", RH_PARAM_FLOAT, AT(interval), "s", "0.01", 1e-5, 10,
     .help = "time between emissions: how many are made does not hang on the length of steps"},
    {"max_particles", RH_PARAM_INT, AT(max_particles), "", "20000000", 0, 4000000000.0, .help = "no more are made"},
    {"min_radius", RH_PARAM_FLOAT, AT(min_radius), "m", "0.0005", 1e-7, 1, .help = "of the smallest; most are small"},
    {"max_radius", RH_PARAM_FLOAT, AT(max_radius), "m", "0.002", 1e-7, 1, .help = "of the largest"},
    {"min_life", RH_PARAM_FLOAT, AT(min_life), "s", "0.5", 0, 1e6, .help = "how long the smallest last as foam"},
    {"max_life", RH_PARAM_FLOAT, AT(max_life), "s", "4", 0, 1e6, .help = "how long the largest last"},
    {"max_age", RH_PARAM_FLOAT, AT(max_age), "s", "30", 0, 1e6, .help = "none gets older, whatever it is"},
    {"spray_below", RH_PARAM_FLOAT, AT(spray_below), "", "0.2", 0, 1,
     .help = "a particle is spray where less than this share of its surroundings is liquid"},
    {"bubble_above", RH_PARAM_FLOAT, AT(bubble_above), "", "0.65", 0, 1,
     .help = "and a bubble where more than this is; between the two it is foam"},
    {"spray_drag", RH_PARAM_FLOAT, AT(spray_drag), "1/s", "0.5", 0, 1e6, .help = "of the air on spray"},
    {"wind", RH_PARAM_VEC3, AT(wind), "m/s", "[0, 0, 0]", .help = "velocity of the air"},
    {"buoyancy", RH_PARAM_FLOAT, AT(buoyancy), "", "2", 0, 1e3,
     .help = "acceleration of bubbles upwards, in units of gravity"},
    {"bubble_drag", RH_PARAM_FLOAT, AT(bubble_drag), "1/s", "60", 0, 1e6,
     .help = "how fast the liquid takes bubbles along: they rise at buoyancy * gravity / bubble_drag"},
    {"gather", RH_PARAM_FLOAT, AT(gather), "m/s", "0.05", 0, 1e3,
     .help = "speed at which foam draws together on the surface"},
    {"cfl", RH_PARAM_FLOAT, AT(cfl), "", "8", 0.01, 100,
     .help = "cells of the base that its fastest particle goes in a step"},
    {"restitution", RH_PARAM_FLOAT, AT(restitution), "", "0.1", 0, 1,
     .help = "share of the speed across a wall that is left"},
    {"spray", RH_PARAM_BOOL, AT(spray), "", "true", .help = "keep spray; false: what becomes spray is gone"},
    {"foam", RH_PARAM_BOOL, AT(foam), "", "true", .help = "keep foam"},
    {"bubbles", RH_PARAM_BOOL, AT(bubbles), "", "true", .help = "keep bubbles"},
};
// clang-format on

static rh_code in_order(double low, double high, const char *name, const char **field, rh_status *status)
{
    if (low < high) return RH_OK;
    *field = name;
    return rh_fail(status, RH_USER, "found %s %g and its end %g, expected the first to be smaller", name, low, high);
}

static rh_code check(const void *object, const char **field, rh_status *status)
{
    const rh_whitewater_params *p = object;
    RH_TRY(in_order(p->trapped_air.low, p->trapped_air.high, "trapped_air_from", field, status));
    RH_TRY(in_order(p->wave_crest.low, p->wave_crest.high, "wave_crest_from", field, status));
    RH_TRY(in_order(p->vorticity.low, p->vorticity.high, "vorticity_from", field, status));
    RH_TRY(in_order(p->speed_low, p->speed_high, "speed_from", field, status));
    RH_TRY(in_order(p->spray_below, p->bubble_above, "spray_below", field, status));
    if (p->max_radius < p->min_radius) return in_order(p->min_radius, p->max_radius, "min_radius", field, status);
    if (p->max_life < p->min_life) return in_order(p->min_life, p->max_life, "min_life", field, status);
    return RH_OK;
}

const rh_param_table rh_whitewater_table = {
    "whitewater",
    "Spray, foam and bubbles over the frames of another run (`from`), which is not touched.",
    rows,
    RH_PARAM_COUNT(rows),
    sizeof(rh_whitewater_params),
    check};
