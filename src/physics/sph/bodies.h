// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids in the pressure of smoothed particles: pressure moves both at once. A sample s of a solid's wall, that
// particle i sees, takes the opposite of what it gives, m b_is s_i, with b_is = V_s g x_is and s = q / density^2
// (push.c), and its motion changes the density of i by b_is . u_s. With R the rows by which samples follow their solid,
// K_i = sum_s b_is R, and M the masses of the solids, walls that give way add
//      m K M^-1 K^T
// to the pressure's operator: symmetric, positive semi-definite, whatever the solids weigh, with joints and locked axes
// in M^-1, as in the grid methods (physics/solid_coupling.h). Memory is the arena's.
#pragma once
#include "physics/sph/fluid.h"
#include "solid/dynamics.h"

// A particle that feels the wall of a dynamic solid.
typedef struct rh_sph_hold {
    uint32_t particle;
    int32_t solid;                 // among the dynamic ones
    float row[RH_DYNAMICS_PARTS];  // K_i: 1/m, and without unit for turns
} rh_sph_hold;

typedef struct rh_sph_bodies {
    rh_dynamics *dynamics;  // NULL: nobody feels any
    double mass;            // kg (kg/m) of a particle
    rh_sph_hold *holds;     // by particle
    int64_t count;
    double *impulse, *change;  // [6 solids] scratch
    double *inverse;           // [36 solids], of rh_sph_bodies_prepare
} rh_sph_bodies;

// `dynamics` may be NULL.
rh_code rh_sph_bodies_find(rh_sph_bodies *bodies, const rh_sph_fluid *fluid, rh_dynamics *dynamics, double mass,
                           rh_arena *arena, rh_status *status);
// Multiplies the rows of each particle by a factor of its own (the units of a solver).
void rh_sph_bodies_scale(rh_sph_bodies *bodies, const float *factor);
// y += share m K M^-1 K^T x where `unknown` is set.
void rh_sph_bodies_add(const rh_sph_bodies *bodies, double share, const float *x, const uint8_t *unknown, float *y);
// What solids add to the diagonal of the particle of hold n, of that hold alone.
double rh_sph_bodies_own(const rh_sph_bodies *bodies, int64_t n);
// For a preconditioner D^-1 (`inverse`, 0 where there is no unknown) of the operator without solids: afterwards
// rh_sph_bodies_precondition makes D^-1 r in z the result with them, solid by solid (joints left out): by the formula
// of M. Woodbury (1950),
//      (D + share m K M^-1 K^T)^-1 = D^-1 - D^-1 K (M / (share m) + K^T D^-1 K)^-1 K^T D^-1.
void rh_sph_bodies_prepare(const rh_sph_bodies *bodies, double share, const float *inverse);
void rh_sph_bodies_precondition(const rh_sph_bodies *bodies, const float *inverse, float *z);
// What counts of the mean of |r| dt^2 over the particles that feel solids, a tenth of it, after `looks` iterations: a
// mean over all hides theirs, and light solids would be thrown about by errors that a lake does not notice. After some
// iterations it is 0: few particles between two solids may never come to agree. (With the whole mean, and no end, steps
// of a corridor with nine solids took 500 iterations and failed.)
double rh_sph_bodies_error(const rh_sph_bodies *bodies, const float *r, float dt, const uint8_t *unknown, int looks);
// For what acts between two pressures: `impulse` becomes what s = x gives the solids in a second; then they receive it
// for `time` s (negative: it is taken back), and so do the samples of their walls and `spin` ([3 solids] rad/s; may be
// NULL).
void rh_sph_bodies_find_push(const rh_sph_bodies *bodies, const float *x);
void rh_sph_bodies_push(const rh_sph_bodies *bodies, const rh_sph_walls *walls, double time, float *spin);
// Samples and `spin` follow a change of the solids' velocities, [6 solids].
void rh_sph_walls_follow(const rh_sph_walls *walls, const rh_dynamics *dynamics, const double *change, float *spin);
// The solids receive what s = x gives them in a step of dt s, and what contacts make of that.
rh_code rh_sph_bodies_give(const rh_sph_bodies *bodies, const float *x, double dt, rh_arena *arena, rh_status *status);
