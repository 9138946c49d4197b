// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Incompressible, inviscid liquid with a free surface: PIC, FLIP, their blend, and APIC, on sparse staggered tiles.
// docs/theory/liquid.md tells the method; liquid.c is one step in reading order.
#pragma once
#include "physics/physics.h"

typedef enum rh_transfer { RH_TRANSFER_FLIP, RH_TRANSFER_PIC, RH_TRANSFER_APIC } rh_transfer;
typedef enum rh_advection { RH_ADVECT_RK2, RH_ADVECT_RK3 } rh_advection;

typedef struct rh_liquid_params {
    double density;          // kg/m^3
    double surface_tension;  // N/m; only 0 so far
    int transfer;            // rh_transfer
    double flip;             // FLIP part of the FLIP/PIC blend, 0..1
    int advection;           // rh_advection
    double cfl;              // largest travel of a particle in one step, in cells
    int64_t particles_per_axis;
    double tolerance;        // relative residual of the pressure solve
    int64_t max_iterations;
    bool volume_correction;
    double volume_tolerance; // relative residual of the correction's solve
    bool pressure;           // give particles the attribute "pressure" (Pa): what each felt during the last step
} rh_liquid_params;

extern const rh_param_table rh_liquid_table;
extern const rh_physics rh_liquid;
