// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Solvers of the pressure, by name. All look for q >= 0 (m^2/s^2, pressure over density of rest) that leaves no
// particle denser than at rest at the end of the step, as rh_sph_predict predicts it, and stop when the mean of the
// error left is below the tolerance:
//      exact       conjugate gradients on the very operator that the step applies (exact.c): the default
//      isph        one symmetric system that resembles it, by conjugate gradients; which particles are unknowns, and
//                  what walls add, is below (T. Takahashi, chapters 2 and 3)
//      multilevel  its chapter 3: the same system with its own rules for surface and walls, preconditioned by grids
//      iisph       relaxed Jacobi sweeps that clamp q as they go (M. Ihmsen et al., "Implicit incompressible SPH", IEEE
//                  TVCG 20(3), 2014): the usual method, to compare with
// With `pull` q has any sign: an approximate projection of its own (pull.c), which needs a prediction and sets the way
// of the shift.
#pragma once
#include "physics/sph/fluid.h"
#include "solid/dynamics.h"

typedef enum rh_sph_solver { RH_SPH_EXACT, RH_SPH_MULTILEVEL, RH_SPH_ISPH, RH_SPH_IISPH } rh_sph_solver;

// Which particles have pressure 0 (Dirichlet); the others are unknowns.
typedef enum rh_sph_surface {
    RH_SPH_PREDICTED,  // those that one projected Jacobi sweep from half of the last pressure leaves at 0 (2.6)
    RH_SPH_DENSITY,    // those less dense than 0.97
    RH_SPH_GEOMETRIC,  // those without neighbours on one side (X. He et al. 2012)
    RH_SPH_GHOST,      // none: missing neighbours have pressure 0 (P. Nair, G. Tomar 2014)
    RH_SPH_SOURCE,     // those that will be less dense than 1
    RH_SPH_SPARSE,     // those that will be less dense than 0.99 (chapter 3)
} rh_sph_surface;

// What a wall adds to the diagonal of a particle beside it.
typedef enum rh_sph_wall_term {
    RH_SPH_REGULARISED,  // gradient over walls times gradient over all, never negative (2.7 to 2.10)
    RH_SPH_MIRRORED,     // square of the gradient over walls, with a stronger source (3.1 to 3.3)
    RH_SPH_UNKNOWNS,     // nothing: its samples are unknowns too (wall_unknowns.c), as before the source
} rh_sph_wall_term;

typedef struct rh_sph_solve_options {
    int surface, wall_term;  // rh_sph_surface, rh_sph_wall_term
    bool levels;             // coarse grids precondition (levels.h); else the diagonal
    bool full;               // there is no free surface (exact)
    bool clamp_source;       // what will be less dense than 1 counts as 1
    double tolerance;        // mean density error, relative
    // exact: predicts densities on its way, without blending, in a loop that it goes through anyway; NULL: they have
    // been predicted.
    const rh_sph_prediction *predict;
    // isph: how densities at wall samples are predicted, where these are unknowns; NULL: by velocities alone.
    const rh_sph_prediction *at_walls;
    rh_dynamics *dynamics;  // solids that the pressure moves (bodies.h); NULL: none
    double mass;            // kg (kg/m) of a particle, for these
    int max_iterations;
} rh_sph_solve_options;

typedef struct rh_sph_solved {
    int iterations;
    double error;      // mean density error left
    int64_t unknowns;  // particles (and wall samples, where they may be) that were in the system
    int64_t surface;   // those with pressure 0
    bool converged;
} rh_sph_solved;

// fluid->q becomes the pressure, fluid->push what it does. RH_NUMERIC only when numbers are not finite.
typedef rh_code rh_sph_solve_function(rh_sph_fluid *fluid, const rh_sph_solve_options *options, rh_arena *arena,
                                      rh_sph_solved *out, rh_status *status);
rh_sph_solve_function rh_sph_solve_exact, rh_sph_solve_pull, rh_sph_solve_isph, rh_sph_solve_iisph;

// --- the system of isph (system.c) -----------------------------------------------------------------------------------
//      sum_j A_ij (q_i - q_j) + wall_i q_i = source_i
// for the unknowns, q = 0 for all others; A_ij = A_ji > 0. Memory is the arena's.
typedef struct rh_sph_system {
    const rh_sph_fluid *fluid;
    int64_t size;             // particles; where walls have unknowns the samples after them
    const rh_sph_list *list;  // who is near whom, by these numbers; nobody is `size`
    float *q;                 // [size + 8] the first guess, and the solution: the fluid's where there are no samples
    double *sums;             // [4 rh_blocks(size)] scratch
    float *links;             // [8 list.first[size]] A_ij, of all neighbours
    float *diagonal;          // [size]; 1 where there is no unknown
    float *wall;              // [size] what walls (and ghosts) add to it
    float *source;            // [size] 1/s^2; 0 where there is no unknown
    uint8_t *unknown;         // [size]
    int64_t unknowns;
} rh_sph_system;

// Overwrites the number in `place`.
rh_code rh_sph_system_make(rh_sph_system *system, rh_sph_fluid *fluid, const rh_sph_solve_options *options,
                           rh_arena *arena, rh_status *status);
// How much stronger a positive source is (3.3) beside a wall that adds `wall` to a diagonal of `links`.
float rh_sph_amplified(float links, float wall);
// Who has pressure 0, by what it is judged by.
typedef struct rh_sph_judged {
    float density, excess, predicted;  // as in the fluid
    float sweep;                       // 1/s^2: what one projected Jacobi sweep makes of q, times the diagonal
    double one_sided;                  // h |sum V grad W| of what is near
} rh_sph_judged;
bool rh_sph_is_surface(int surface, const rh_sph_judged *by);
extern const float rh_sph_foresight;  // share of the last pressure that the sweep begins with
// y = A x; both [size + 8], x is 0 where there is no unknown and beyond the end. Returns x . y.
double rh_sph_system_apply(const rh_sph_system *system, const float *x, float *y);
// In a connected part of the unknowns that is next to neither a wall nor a particle of pressure 0, pressure is
// determined only up to a constant: of its unknowns the one that will be least dense gets pressure 0. *anchored: how
// many did. It takes as long as several iterations, and such parts are rare: so it is called only when a solve does not
// converge.
rh_code rh_sph_system_anchor(rh_sph_system *system, rh_arena *arena, int64_t *anchored, rh_status *status);

// --- walls with unknowns (wall_unknowns.c) ---------------------------------------------------------------------------
// Makes room for the samples: size, list, q and sums of the system.
rh_code rh_sph_walls_join(rh_sph_system *system, rh_arena *arena, rh_status *status);
// Rows of all samples, after those of the particles; counts their unknowns.
rh_code rh_sph_walls_rows(rh_sph_system *system, const rh_sph_solve_options *options, rh_arena *arena,
                          rh_status *status);
