// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Violent, large-scale liquid: particles carry mass, a cell may hold no more than it has room for, and pressure only pushes
// (unilateral incompressibility). docs/theory/splash.md tells the method; splash.c is one step in reading order. The two-sided (bilateral)
// baseline the method is compared with is here too.
#pragma once
#include "physics/physics.h"

typedef enum rh_splash_limit { RH_SPLASH_UNILATERAL, RH_SPLASH_BILATERAL } rh_splash_limit;
typedef enum rh_splash_prediction { RH_SPLASH_BY_PARTICLES, RH_SPLASH_BY_FLUX } rh_splash_prediction;
typedef enum rh_splash_advection { RH_SPLASH_HEUN, RH_SPLASH_EULER } rh_splash_advection;
// Where the open shares of faces and the density enter the complementarity problem.
typedef enum rh_splash_form {
    RH_SPLASH_SHARES,         // shares in the matrix
    RH_SPLASH_SHARES_RIGHT,   // shares on the right-hand side: known to be unstable
    RH_SPLASH_DENSITY,        // shares and density in the matrix: stable, less lively
    RH_SPLASH_DENSITY_RIGHT,  // density in the matrix, shares on the right-hand side
} rh_splash_form;

typedef struct rh_splash_params {
    double density;         // kg/m^3
    int64_t particles_per_axis;
    double flip;            // FLIP part of the FLIP/PIC blend, 0..1
    int incompressibility;  // rh_splash_limit
    int advection;          // rh_splash_advection
    double cfl;             // largest travel of a particle in one step, in cells
    int prediction;         // rh_splash_prediction
    int form;               // rh_splash_form
    bool density_correction;
    int64_t suction_depth;  // cells from the surface from where on pressure may pull; 0 = nowhere
    double fill;            // mass of a particle, relative to its share of a full cell
    double air;             // a cell filled less than this share of its room is air
    bool stop_at_walls;     // colliding particles lose their velocity into the wall
    int preconditioner;     // rh_precondition
    int expansion;          // rh_expansion
    bool estimate_norm;     // of the matrix, by power iteration; else a bound
    double tolerance;       // of the complementarity solves
    int64_t max_iterations;
    bool spray;             // keep the groups "spray" and "foam"
    double spray_speed;     // m/s: particles slower than this are neither
    bool pressure;          // write the attribute "pressure" to frames (Pa)
} rh_splash_params;

extern const rh_param_table rh_splash_table;
extern const rh_physics rh_splash;
