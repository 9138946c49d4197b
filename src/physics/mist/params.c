// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parameters of mist.
#include "physics/mist/mist.h"

// clang-format off
#define AT(field) offsetof(rh_mist_params, field)
static const rh_param rows[] = {
    {"over", RH_PARAM_TEXT, AT(over), "", .required = true,
     .help = "the run, by its name in `from`, whose particles shed the mist"},
    {"group", RH_PARAM_TEXT, AT(group), "", .help = "only those of this group: spray, for example"},
    {"finest", RH_PARAM_FLOAT, AT(finest), "m", "1", 1e-7, 1e6, .help = "only those with radii up to this"},
    {"rate", RH_PARAM_FLOAT, AT(rate), "1/s", "0.01", 0, 1e6,
     .help = "share of a particle's mass that becomes mist in a second; the particle itself loses nothing"},
    {"drag", RH_PARAM_FLOAT, AT(drag), "1/s", "5", 0, 1e6,
     .help = "drag of the particles: the air is taken along at this rate times their mass over its own"},
    {"density", RH_PARAM_FLOAT, AT(density), "kg/m^3", "1000", 1e-3, 1e6, .help = "of the particles"},
    {"air_density", RH_PARAM_FLOAT, AT(air_density), "kg/m^3", "1.2", 1e-3, 1e6, .help = "of the air"},
    {"fall", RH_PARAM_FLOAT, AT(fall), "m/s", "0.02", 0, 1e3,
     .help = "speed at which mist sinks through the air: drops of 25 micrometres fall at 2 cm/s"},
    {"life", RH_PARAM_FLOAT, AT(life), "s", "4", 0, 1e9, .help = "time in which it dries up to 1/e; 0: it stays"},
    {"diffusivity", RH_PARAM_FLOAT, AT(diffusivity), "m^2/s", "0.01", 0, 1e6,
     .help = "how fast eddies too small to be seen spread mist and velocity"},
    {"wind", RH_PARAM_VEC3, AT(wind), "m/s", "[0, 0, 0]", .help = "velocity of the air far away"},
    {"cfl", RH_PARAM_FLOAT, AT(cfl), "cells", "2", 0.1, 4, .help = "farthest travel in one time step"},
    {"least", RH_PARAM_FLOAT, AT(least), "kg/m^3", "1e-5", 1e-30, 1,
     .help = "density below which tiles are given up: smaller needs more memory"},
};
// clang-format on

const rh_param_table rh_mist_table = {"mist",
                                      "Mist over the particles of another run (`from`), on a grid; no particles.",
                                      rows,
                                      RH_PARAM_COUNT(rows),
                                      sizeof(rh_mist_params),
                                      NULL};
