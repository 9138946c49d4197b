// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Settling: what walls bear of sand at rest between them. Equilibrium leaves it open how much of the weight upright
// walls hold and how much the floor does; sand that was filled in has settled by a little under what came on top of it,
// and this has mobilised the friction of walls. Grains here are rigid and do not settle. So where sand rests the
// friction of upright walls is drawn, a little in every step, to what settled sand would have.
#pragma once
#include "physics/sand/wall_friction.h"

typedef struct rh_settling {
    const int32_t *list;  // tiles that have stress
    int32_t count;
    const uint8_t *rest;        // bits of cells at rest, a byte per row
    const float *coefficients;  // of the friction of walls, in cells beside them
    double friction_angle;      // of the sand, radians
    float weight;               // of a cell of sand, in the unit of stress
} rh_settling;

// Changes the shears of edges on upright walls along the grid.
rh_code rh_settle(const rh_settling *settling, const rh_unilateral_view *view, rh_stress *stress, rh_status *status);
