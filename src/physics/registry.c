// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The methods this build knows. Adding one is a folder beside this file and one line in each list.
#include "physics/ballistic/ballistic.h"
#include "physics/droplets/droplets.h"
#include "physics/dye/dye.h"
#include "physics/elastoplastic/elastoplastic.h"
#include "physics/liquid/liquid.h"
#include "physics/mist/mist.h"
#include "physics/physics.h"
#include "physics/sand/sand.h"
#include "physics/sph/sph.h"
#include "physics/splash/splash.h"
#include "physics/whitewater/whitewater.h"

const rh_physics *const rh_physics_methods[] = {&rh_liquid,     &rh_splash,        &rh_sand, &rh_sand_incompressible,
                                                &rh_ballistic,  &rh_dye,           &rh_sph,  &rh_droplets,
                                                &rh_whitewater, &rh_elastoplastic, &rh_mist, NULL};
const rh_param_table *const rh_physics_tables[] = {
    &rh_liquid_table,     &rh_splash_table, &rh_sand_table, &rh_sand_incompressible_table,
    &rh_ballistic_table,  &rh_dye_table,    &rh_sph_table,  &rh_droplets_table,
    &rh_whitewater_table, &rh_ep_table,     &rh_mist_table, NULL};
