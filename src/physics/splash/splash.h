// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Violent, large-scale liquid: the step of physics/unilateral.h, in which pressure only pushes, and spray found in it.
// docs/theory/splash.md tells the method. The two-sided (bilateral) baseline it is compared with is here too.
#pragma once
#include "physics/unilateral.h"

typedef enum rh_splash_advection { RH_SPLASH_HEUN, RH_SPLASH_EULER } rh_splash_advection;

typedef struct rh_splash_params {
    rh_unilateral_options flow;
    int incompressibility;  // 1 is two-sided
    int advection;          // rh_splash_advection
    int form;               // rh_limit_form
    bool spray;             // keep the groups "spray" and "foam"
    double spray_speed;     // m/s: particles slower than this are neither
} rh_splash_params;

extern const rh_param_table rh_splash_table;
extern const rh_physics rh_splash;
