// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The methods this build knows. Adding one is a folder beside this file and one line in each list.
#include "physics/liquid/liquid.h"
#include "physics/physics.h"

const rh_physics *const rh_physics_methods[] = {&rh_liquid, NULL};
const rh_param_table *const rh_physics_tables[] = {&rh_liquid_table, NULL};
