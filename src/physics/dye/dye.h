// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dye (or heat, or smoke that nothing drives) in a flow that is given: a scalar that is carried along and spreads. It
// has no particles, only the field "dye", 1 where a body is at the start and inside emitters, 0 far away. The smallest
// method that lives on fields alone; docs/theory/dye.md.
#pragma once
#include "physics/physics.h"

typedef struct rh_dye_params {
    double diffusivity;                           // m^2/s
    rh_dvec3 velocity, angular_velocity, center;  // m/s, rad/s, m: the flow is velocity + angular x (place - center)
    char *carried_by;                             // the run in `from:` whose flow it is; NULL: the flow above
    double cfl;                                   // cells
    double least;                                 // concentration that counts as none
} rh_dye_params;

extern const rh_param_table rh_dye_table;
extern const rh_physics rh_dye;
