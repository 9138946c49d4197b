// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The step of an incompressible, inviscid material with a free surface: PIC, FLIP, their blend, and APIC, on sparse
// staggered tiles. A mechanism, not a method: the liquid is this step alone, sand (the source's model) does something
// to the velocities after the projection. docs/theory/liquid.md tells how it works; incompressible.c is one step in
// reading order.
#pragma once
#include "base/arena.h"
#include "physics/physics.h"
#include "physics/position_correction.h"
#include "physics/pressure.h"
#include "physics/stages.h"
#include "physics/viscous_solids.h"

typedef enum rh_transfer { RH_TRANSFER_FLIP, RH_TRANSFER_PIC, RH_TRANSFER_APIC } rh_transfer;
typedef enum rh_advection { RH_ADVECT_RK2, RH_ADVECT_RK3 } rh_advection;

// What a stage that a method adds (stages.h) sees of the step in progress: all that the stages before have made.
typedef struct rh_incompressible_view {
    const rh_surroundings *around;
    const rh_tiles *tiles;
    const rh_cut_cells *cut;
    const rh_surface *surface;
    const rh_pressure *pressure;  // unknowns and q
    rh_faces velocity;            // m/s; after pressure to be changed on known faces only
    uint8_t *const *known;        // per axis: 1 on faces that got a projected velocity
    float dt, kick;               // s: length of the step; how long forces acted in it (physics/step.h)
    uint8_t *rigid;  // per row of eight cells, all 0: bits to be set for cells that do not deform, which the volume
                     // correction leaves alone (volume.h)
    rh_arena *arena;
    rh_points *points;  // sorted by the tiles
} rh_incompressible_view;

// Parameters, for a method's table to point into.
typedef struct rh_incompressible_options {
    double density;          // kg/m^3
    double surface_tension;  // N/m; 0 = none
    double contact_angle;    // degrees: at which the surface meets solids, measured in the liquid
    int transfer;            // rh_transfer
    double flip;             // FLIP part of the FLIP/PIC blend, 0..1
    int advection;           // rh_advection
    double cfl;              // largest travel of a particle in one step, in cells
    int64_t particles_per_axis;
    double tolerance;  // relative residual of the pressure solve
    int64_t max_iterations;
    int preconditioner;  // rh_precondition, of all solves
    bool volume_correction;
    int position_correction;     // rh_position_correction
    int64_t position_sweeps;     // of it, at most, in a step
    double volume_tolerance;     // relative residual of the correction's solve
    bool pressure;               // give particles the attribute "pressure" (Pa): the pressure at each
    double viscosity;            // Pa s; 0 = none
    bool viscosity_varies;       // particles have the attribute "viscosity" (Pa s); 0 there is taken as `viscosity`
    double viscosity_tolerance;  // relative residual of its solve
    int64_t viscosity_turns;     // how often viscosity and pressure take turns in a step, at most
    double turns_tolerance;      // of the first error in the pressure, at which turns end
    int viscosity_coupling;      // rh_viscous_coupling: how its stress moves dynamic solids
    int viscosity_fractions;     // rh_fraction_kind: of control volumes of its solve
    double pressure_time;        // s: as a mean over about this time; 0 = in the last step alone
} rh_incompressible_options;

typedef struct rh_incompressible {
    rh_incompressible_options options;
    rh_step_method method;
    rh_arena arena;
    rh_neighbours neighbours;  // of the position correction: memory only
    rh_cut_cache cut;          // saves work only: what it holds follows from the solids
} rh_incompressible;

// Adds the attributes the step needs to `points`. Whatever it returns, rh_incompressible_free gives back what it took.
rh_code rh_incompressible_create(const rh_incompressible_options *options, const rh_step_method *method,
                                 rh_points *points, rh_incompressible *me, rh_status *status);
void rh_incompressible_free(rh_incompressible *me);
rh_code rh_incompressible_step(rh_incompressible *me, const rh_surroundings *around, double dt, rh_points *points,
                               rh_step_report *report, rh_status *status);
int64_t rh_incompressible_predict_bytes(const rh_incompressible_options *options, int dimension, int64_t particles,
                                        int64_t tiles);
