// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Liquid as smoothed particles, without a grid: for close-ups, thin films and whatever moves through them.
// docs/theory/sph.md tells the method.
#pragma once
#include "physics/physics.h"

typedef struct rh_sph_params {
    double density;              // kg/m^3
    int64_t particles_per_axis;  // per cell
    int solver;                  // rh_sph_solver
    double cfl;                  // largest travel of a particle in a step, in supports of the kernel
    double time_step;            // s: of fixed steps; 0 = as cfl says
    double
        density_correction;  // share of a density error that the longest step the flow allows undoes; 1: every step all
    double shifting;         // spacings^2: particles are shifted by this times `uneven` (fluid.h), at most
    int kernel;              // 0 automatic, else rh_sph_kernel_kind + 1
    double tolerance;        // mean density error
    int64_t max_iterations;
    double artificial_viscosity, wall_viscosity;  // m/s
    double viscosity;                             // Pa s
    bool viscosity_varies;                        // particles carry theirs
    int viscous_form, viscous_solver;             // rh_sph_viscous_form, rh_sph_viscous_solver
    double viscosity_tolerance;
    int64_t viscosity_turns;      // at most, of viscosity and pressure in a full vessel
    double bulk_viscosity;        // viscosities, where thick liquid is stretched
    int viscosity_coupling;       // 0 strong, 1 one way
    int substance;                // read by presets only
    double surface_tension;       // N/m
    double blend_from, blend_to;  // wall samples in sight
    int surface, wall_term;       // rh_sph_surface, rh_sph_wall_term
    bool levels, full, clamp_source;
    bool pull;  // pressure below that of the air holds the liquid together
} rh_sph_params;

extern const rh_param_table rh_sph_table;
extern const rh_physics rh_sph;
