// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids in the viscosity solve: stress moves them and the liquid at once (T. Takahashi, M. C. Lin, Computer
// Graphics Forum 38(2), 2019). With V the six velocities of each solid, R the rows by which its wall faces follow it, A
// the operator of the liquid on all faces, walls included, and C the inverse of the solids' mass:
//
//      faces       u on unknowns, R V on walls of solids
//      impulses    l = - R^T A (u, R V)         on the solids; V = V* + C l
//
//      | A_uu          A_uw R C         | | change of u |   | - stress on u     |
//      | C R^T A_wu    C + C R^T A_ww R C | | l           | = | - C stress on R |
//
// which is symmetric and positive semi-definite whatever the solids weigh, with joints and locked axes in C.
#pragma once
#include "solid/dynamics.h"
#include "solve/viscous_multigrid.h"

typedef enum rh_viscous_coupling {
    RH_VISCOUS_STRONG,   // as above
    RH_VISCOUS_WEAK,     // the liquid first, past solids that keep their velocities; then the solids, past the liquid
    RH_VISCOUS_ONE_WAY,  // stress does not move solids
} rh_viscous_coupling;
extern const char *const rh_viscous_coupling_names[];  // NULL-terminated

// A wall face of a dynamic solid, or a face that a slip length ties to one: the spring k between them adds k to A_uu,
// -k R C beside it, and C R^T k R C to the block of the solids.
typedef struct rh_viscous_face {
    int64_t at;  // in vectors of the operator
    int32_t solid;
    float row[RH_DYNAMICS_PARTS];
    float spring;  // k, as a mass; of springs
} rh_viscous_face;

typedef struct rh_viscous_solids {
    rh_dynamics *dynamics;
    double mass;  // kg (kg/m): of a full cell
    rh_viscous *a;
    rh_operator m;  // preconditioner of the liquid's part
    rh_viscous_face *faces, *springs;
    int64_t face_count, spring_count;
    float *all;                          // velocities of unknowns and walls
    double *impulse, *force, *velocity;  // [6 solids]: scratch
    double *inverse;                     // [36 solids]: about that of the lower right block
    float **answer;  // [6 solids] vectors: how the liquid answers each impulse, about; NULL = not known
} rh_viscous_solids;

// Memory is the arena's. The caller has filled `faces` and `springs`. `answers`: find them.
rh_code rh_viscous_solids_prepare(rh_viscous_solids *s, bool answers, rh_arena *arena, rh_status *status);
// Floats of a vector of the whole system: the operator's, then six impulses a solid.
int64_t rh_viscous_solids_size(const rh_viscous_solids *s);
void rh_viscous_solids_apply(void *solids, const float *x, float *y);
void rh_viscous_solids_precondition(void *solids, const float *r, float *z);
// The lower part of the right-hand side; `pull`: rh_viscous_pull of the velocities that there are, walls included.
void rh_viscous_solids_begin(const rh_viscous_solids *s, const float *pull, const float *velocities, float *b);
// The same where something else gives the solids these impulses (kg m/s) in the solve: what is found then includes
// them.
void rh_viscous_solids_push(const rh_viscous_solids *s, const double *impulse, float *b);
// The solids receive the impulses found, and their wall faces in `velocities` (a vector of the operator) the change.
void rh_viscous_solids_give(const rh_viscous_solids *s, const float *x, float *velocities);
// The impulses that move the solids through liquid that keeps its velocities; `pull` as above, for the new ones.
void rh_viscous_solids_follow(const rh_viscous_solids *s, const float *pull, const float *velocities);
// pulled = k times the velocity of the wall, per face of each axis, for the velocities that the solids have now.
void rh_viscous_solids_tell_springs(const rh_viscous_solids *s, float *const pulled[3]);
