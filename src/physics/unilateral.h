// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The step of a material whose particles carry mass: a cell may hold no more than it has room for, and pressure only
// pushes (unilateral incompressibility). A mechanism, not a method: splash is this step and the finding of spray, sand
// (its own model) adds friction to it. docs/theory/splash.md tells how it works; unilateral.c is one step in reading
// order.
#pragma once
#include "base/arena.h"
#include "grid/advect.h"
#include "physics/limit.h"
#include "physics/physics.h"
#include "physics/stages.h"

typedef enum rh_predict_by { RH_PREDICT_BY_PARTICLES, RH_PREDICT_BY_FLUX } rh_predict_by;

// What a stage that a method adds (stages.h) sees of the step in progress: all that the stages before have made.
typedef struct rh_unilateral_view {
    const rh_surroundings *around;
    const rh_tiles *tiles;
    const rh_cut_cells *cut;    // solids at the start of the step
    const rh_limit *limit;      // unknowns, filling of faces
    const float *cells;         // filling of cells as the particles are
    const float *q;             // pressure, a vector of the limit's operator
    double density;             // kg/m^3
    float pressure_unit;        // Pa that q = 1 stands for
    rh_faces velocity, before;  // m/s: now, and before forces acted
    float dt, kick;             // s: length of the step; how long forces acted in it (physics/step.h)
    rh_arena *arena;
    const rh_vec3 *positions, *velocities;
    rh_points *points;  // sorted by the tiles
} rh_unilateral_view;

// Parameters, for a method's table to point into.
typedef struct rh_unilateral_options {
    double density;  // kg/m^3
    int64_t particles_per_axis;
    double flip;  // FLIP part of the FLIP/PIC blend, 0..1
    rh_limit_options limit;
    int path;            // rh_path_rule of particles
    double cfl;          // largest travel of a particle in one step, in cells
    int prediction;      // rh_predict_by
    int shares;          // rh_blur_form
    bool well_balanced;  // gravity is weighed as pressure in confined liquid (rh_limit_find_confined)
    bool density_correction;
    int64_t suction_depth;  // cells from the surface from where on pressure may pull; 0 = nowhere
    double crowded;  // share of a cell by which stages after the pressure (friction) may overfill it; more is pressed
                     // out by a second solve; 0 = no second solve
    double overfill_relaxation_time;  // sqrt(cell / gravity): time in which pressure presses overfill out of cells;
                                      // 0 = one step
    double wedged;  // pressure on material that walls push counts up to this times what weight and the walls' speed
                    // account for; 0 = without limit
    double particle_mass;  // mass of a particle, relative to its share of a full cell
    bool stop_at_walls;    // colliding particles lose their velocity into the wall
    int preconditioner;    // rh_precondition
    int expansion;         // rh_expansion
    bool estimate_norm;    // of the matrix, by power iteration; else a bound
    double tolerance;      // of the complementarity solves
    int64_t max_iterations;
    bool pressure;  // write the attribute "pressure" to frames (Pa)
} rh_unilateral_options;

typedef struct rh_unilateral {
    rh_unilateral_options options;
    rh_step_method method;
    rh_arena arena;
    rh_cut_cache cut, cut_after;  // save work only: what they hold follows from the solids
} rh_unilateral;

// Adds the attributes the step needs to `points`. Whatever it returns, rh_unilateral_free gives back what it took.
rh_code rh_unilateral_create(const rh_unilateral_options *options, const rh_step_method *method, rh_points *points,
                             rh_unilateral *me, rh_status *status);
void rh_unilateral_free(rh_unilateral *me);
rh_code rh_unilateral_step(rh_unilateral *me, const rh_surroundings *around, double dt, rh_points *points,
                           rh_step_report *report, rh_status *status);
int64_t rh_unilateral_predict_bytes(int dimension, int64_t particles, int64_t tiles);
