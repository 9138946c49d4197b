// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Viscosity of smoothed particles: one implicit step of rho du/dt = div(mu (grad u + grad u^T)), stable for any step,
// with no stress on the free surface and the laws of walls. docs/theory/sph.md has the equations.
#pragma once
#include "physics/sph/fluid.h"
#include "physics/sph/viscous_law.h"
#include "solve/krylov.h"

// What the operator is made of.
typedef enum rh_sph_viscous_form {
    RH_SPH_PAIRS,      // forces along the lines between neighbours (viscous_law.h): the default
    RH_SPH_STRESS,     // divergence of the stress of every particle (T. Takahashi, chapter 4): neighbours of neighbours
    RH_SPH_LAPLACIAN,  // mu times the Laplacian: takes rotation for shear, so nothing buckles; to compare with
} rh_sph_viscous_form;

typedef enum rh_sph_viscous_solver {
    RH_SPH_VISCOUS_LEVELS,     // conjugate gradients, preconditioned by grids (viscous_grids.h)
    RH_SPH_VISCOUS_DIAGONAL,   // by the diagonal, a block a particle
    RH_SPH_VISCOUS_ASSEMBLED,  // the same, with the matrix of neighbours of neighbours stored (stress)
    RH_SPH_VISCOUS_EXPLICIT,   // no solve: stable in short steps only
} rh_sph_viscous_solver;

typedef struct rh_sph_viscosity {
    rh_sph_viscous_law law;
    rh_sph_viscous_form form;
    rh_sph_viscous_solver solver;
    float time;                 // s that it acts for
    float kinematic;            // m^2/s
    const float *of_particles;  // m^2/s, of each; NULL: the same everywhere
    const float *bulk;          // m^2/s, of each: bulk viscosity where pressure cannot pull (viscous_pull.c), of form
                                // pairs, implicit; NULL: nobody has any
    const float *grip;          // per solid, 0..1: share of the friction of a wall without slip, of the lowest layer
                                // on a flat wall; NULL: no solid has any
    float *spin;                // [3 solids] rad/s; of those that it moves it becomes the new one
    const bool *held;           // [count] by inflows; NULL: none
    struct rh_dynamics *dynamics;  // solids that it moves; NULL: none
    double mass;                   // kg (kg/m) of a particle
    double tolerance;              // error in velocities, relative
    int max_iterations;
} rh_sph_viscosity;

// Changes the velocities in `flow`, and those of walls of solids that it moves; in `friction`, [count] or NULL, it
// leaves what ties each particle to one m^3 (m^2) of wall samples at distance 0, over its mass: multiplied by V_s, w
// and the grip it is the share of (u_i - u_s) that the wall received.
rh_code rh_sph_viscosity_act(rh_sph_fluid *fluid, const rh_sph_viscosity *viscosity, float *friction, rh_arena *arena,
                             rh_krylov_report *report, rh_status *status);

// How near particle i is to walls that hold it: its friction there without slip over that of the lowest layer of a
// lattice on a flat wall, about half a spacing over its distance. A slip length acts as a film between wall and
// particle, and resistances add: with `grip` for 1, the share of friction that a solid has is this function's.
float rh_sph_viscous_near_walls(const rh_sph_fluid *fluid, const rh_sph_viscous_law *law, const float *grip, int64_t i);
static inline float rh_sph_viscous_grip(float grip, float near) { return grip / (grip + near * (1 - grip)); }

// 1/m^2: the longest step of the explicit way is 1 / (this times the kinematic viscosity).
double rh_sph_viscosity_stiffest(const rh_sph_viscous_law *law);

// --- the operator, for its tests ---------------------------------------------------------------------------------
// A = 1 + time / mass times the viscous forces, on records of four floats a particle; record `count` is 0. Dynamic
// solids take the rest of a vector (viscous_bodies.h). Memory is the arena's.
typedef struct rh_sph_viscous {
    const rh_sph_fluid *fluid;
    const rh_sph_viscosity *how;
    float *weights;   // [8 lists.fluid.first[count]] of pairs: w; of form pairs arms, n sqrt(w), three eights of floats
    float *friction;  // [count] of walls, in all
    float *viscous;   // [count] of grids (rh_sph_stiffness), and of stress: the factor of a particle's stress
    float *held;      // [count] likewise
    float *inverse;   // [6 count] of the diagonal's blocks: xx xy xz yy yz zz
    float *stress;    // [8 (count + 8)] of form stress: xx xy xz yy yz zz
    float *pull;      // [count + 8] of bulk viscosity; NULL: nobody has any
    float *pulled;    // [4 (count + 8)] scratch of its products
    uint8_t *fixed;   // [count] NULL: none
    float most;       // bound of the spectrum of inverse times A
    struct rh_sph_viscous_matrix *matrix;  // assembled; NULL: not
} rh_sph_viscous;

rh_code rh_sph_viscous_make(rh_sph_viscous *a, rh_sph_fluid *fluid, const rh_sph_viscosity *how, rh_arena *arena,
                            rh_status *status);
void rh_sph_viscous_apply(const rh_sph_viscous *a, const float *x, float *y);
static inline int64_t rh_sph_viscous_size(const rh_sph_viscous *a) { return 4 * (a->fluid->count + 1); }

// Bulk viscosity (viscous_pull.c). Blocks of the diagonal, six floats each, before they are inverted.
rh_code rh_sph_viscous_pull_prepare(rh_sph_viscous *a, float *blocks, rh_arena *arena, rh_status *status);
// Records of x with what each adds to its neighbours' forces, and the forces on one, by these.
const float *rh_sph_viscous_pull_show(const rh_sph_viscous *a, const float *x);
rh_f4 rh_sph_viscous_pull_apply(const rh_sph_viscous *a, const float *x, int64_t i);
// Form stress (viscous_stress.c).
void rh_sph_viscous_stress_prepare(rh_sph_viscous *a, int64_t i, float block[6]);
void rh_sph_viscous_stress_apply(const rh_sph_viscous *a, const float *x, float *y);
// The matrix of form stress, neighbours of neighbours in rows.
rh_code rh_sph_viscous_assemble(rh_sph_viscous *a, rh_arena *arena, rh_status *status);
void rh_sph_viscous_matrix_apply(const rh_sph_viscous *a, const float *x, float *y);
// Block n of row i, in no order, and the particle it belongs to; NULL: the row has no more.
const float *rh_sph_viscous_matrix_block(const rh_sph_viscous *a, int64_t i, int64_t n, uint32_t *at);
