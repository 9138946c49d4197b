// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Incompressible, inviscid liquid with a free surface: the step of physics/incompressible.h as it is.
// docs/theory/liquid.md tells the method.
#pragma once
#include "physics/incompressible.h"
#include "physics/substances.h"

typedef struct rh_liquid_params {
    rh_incompressible_options flow;
    int substance;  // 0 = none; else its values were taken where the scene gives none of its own
} rh_liquid_params;

extern const rh_param_table rh_liquid_table;
extern const rh_physics rh_liquid;
