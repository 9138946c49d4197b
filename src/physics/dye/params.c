// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parameters of dye.
#include "physics/dye/dye.h"

#define AT(field) offsetof(rh_dye_params, field)
static const rh_param rows[] = {
    {"diffusivity", RH_PARAM_FLOAT, AT(diffusivity), "m^2/s", "0.001", 0, 1e6,
     .help = "how fast dye spreads by itself"},
    {"velocity", RH_PARAM_VEC3, AT(velocity), "m/s", "[0, 0, 0]", .help = "of the flow, the same everywhere"},
    {"angular_velocity", RH_PARAM_VEC3, AT(angular_velocity), "rad/s", "[0, 0, 0]",
     .help = "of the flow about center, beside velocity"},
    {"center", RH_PARAM_VEC3, AT(center), "m", "[0, 0, 0]", .help = "a point of the axis that the flow turns about"},
    {"carried_by", RH_PARAM_TEXT, AT(carried_by), "",
     .help = "the run in 'from' whose flow carries it, instead of the one above; where that has no material dye rests"},
    {"cfl", RH_PARAM_FLOAT, AT(cfl), "cells", "2", 0.1, 4, .help = "farthest travel in one time step"},
    {"least", RH_PARAM_FLOAT, AT(least), "", "1e-6", 1e-30, 0.1,
     .help = "concentration below which tiles are given up: smaller needs more memory"},
};

const rh_param_table rh_dye_table = {"dye",
                                     "A scalar that is carried along by a given flow and spreads; no particles.",
                                     rows,
                                     RH_PARAM_COUNT(rows),
                                     sizeof(rh_dye_params),
                                     NULL};
