// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dry sand. docs/theory/sand.md tells the models; sand.c is the friction of a step in reading order.
#pragma once
#include "physics/incompressible.h"

typedef enum rh_sand_model { RH_SAND_UNILATERAL, RH_SAND_INCOMPRESSIBLE } rh_sand_model;

typedef struct rh_sand_params {
    rh_incompressible_options flow;
    int model;              // rh_sand_model
    double friction_angle;  // degrees
    double cohesion;        // Pa
    double cohesion_cells;  // more cohesion: the weight of so many cells of sand on their ground
    // Of the unilateral model.
    double static_excess_angle;  // degrees: sand at rest starts to flow where it is steeper by so much than where
                                 // flowing sand stops
    // Shares of a full cell: packings between 1 - contact_loss_gap and 1 + allowed_overfill are in contact.
    double contact_loss_gap, contact_gain_gap, allowed_overfill;
    double stress_smoothing;  // share of the carried stress that is smoothed in a step
    double mixing;            // wandering of grains that slide past each other, spacings^2 per unit of shear
    int64_t friction_iterations;
} rh_sand_params;

extern const rh_param_table rh_sand_table;
extern const rh_physics rh_sand;
