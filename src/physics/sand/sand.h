// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dry sand, as two methods: `sand`, whose pressure only pushes and whose friction is solved for with it (sand.c), and
// `sand_incompressible`, the published one: a liquid's pressure with friction after it (sand_incompressible.c).
// docs/theory/sand.md tells both.
#pragma once
#include "physics/incompressible.h"

typedef struct rh_sand_params {
    double friction_angle;       // degrees
    double cohesion;             // Pa
    double cohesion_cells;       // more strength: friction as under so many more cells of sand
    double static_excess_angle;  // degrees by which sand at rest may be steeper than where flowing sand stops
    // Shares of a full cell: packings between 1 - contact_loss_gap and 1 + allowed_overfill are in contact.
    double contact_loss_gap, contact_gain_gap, allowed_overfill;
    double stress_smoothing;  // share of the carried stress that is smoothed in a step
    double mixing;            // wandering of grains that slide past each other, spacings^2 per unit of shear
    int64_t friction_iterations;
    double density;  // kg/m^3
    double flip;
    double cfl;  // cells
    int64_t particles_per_axis;
    double tolerance;
    int64_t max_iterations;
    bool volume_correction, pressure;
} rh_sand_params;

extern const rh_param_table rh_sand_table;
extern const rh_physics rh_sand;

typedef struct rh_sand_incompressible_params {
    rh_incompressible_options flow;
    double friction_angle;  // degrees
    double cohesion;        // Pa
    double cohesion_cells;  // more cohesion: the weight of so many cells of sand on their ground
} rh_sand_incompressible_params;

extern const rh_param_table rh_sand_incompressible_table;
extern const rh_physics rh_sand_incompressible;

// --- shared by both --------------------------------------------------------------------------------------------------
static const double RH_SAND_LONGEST_STEP = 0.25;  // in units of sqrt(cell / gravity)
double rh_sand_longest_step(double cfl, const rh_surroundings *around, const rh_points *points);
