// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids in the viscosity of smoothed particles: friction moves both at once. With V the six velocities of each
// solid, V* before, C what impulses do to them (over the mass of a particle), R the rows by which a sample of its wall
// follows it, f the friction between a particle and a sample:
//
//      impulses    l = sum f R^T (u - R V),  V = V* + C l
//
//      |  A        -f R C            | | u |   | u* + sum f R V*    |
//      | -C f R^T   C + C f R^T R C  | | l | = | -C sum f R^T R V*  |
//
// which is symmetric and positive semi-definite whatever the solids weigh, with joints and locked axes in C, as in the
// viscosity of the grid methods (physics/viscous_solids.h). The six impulses of each solid follow the particles in a
// vector. Memory is the arena's.
#pragma once
#include "physics/sph/viscosity.h"
#include "solid/dynamics.h"

// A particle that feels a sample of a dynamic solid.
typedef struct rh_sph_viscous_contact {
    int64_t particle;
    uint32_t sample;
    int32_t solid;  // among the dynamic ones
    float friction;
    float arm[3];  // m: from the centre of mass to the particle
} rh_sph_viscous_contact;

typedef struct rh_sph_viscous_bodies {
    const rh_sph_viscous *a;
    rh_dynamics *dynamics;  // NULL: none
    double mass;            // kg (kg/m) of a particle
    rh_sph_viscous_contact *contacts;
    int64_t count;
    double *impulse, *velocity, *force;  // [6 solids] scratch
    double *inverse;                     // [36 solids] about that of the lower right block
    float **answer;                      // [6 solids] vectors: how the liquid answers each impulse, about
} rh_sph_viscous_bodies;

rh_code rh_sph_viscous_bodies_find(rh_sph_viscous_bodies *bodies, const rh_sph_viscous *a, rh_arena *arena,
                                   rh_status *status);
// Floats of a vector of the whole system.
int64_t rh_sph_viscous_bodies_size(const rh_sph_viscous_bodies *bodies);
void rh_sph_viscous_bodies_begin(const rh_sph_viscous_bodies *bodies, float *b);
// After the product of the liquid's part: what solids add to it, and their rows.
void rh_sph_viscous_bodies_apply(const rh_sph_viscous_bodies *bodies, const float *x, float *y);
// `m`: the preconditioner of the liquid's part.
rh_code rh_sph_viscous_bodies_prepare(rh_sph_viscous_bodies *bodies, const rh_operator *m, rh_arena *arena,
                                      rh_status *status);
void rh_sph_viscous_bodies_precondition(const rh_sph_viscous_bodies *bodies, const rh_operator *m, const float *r,
                                        float *z);
// The solids receive the impulses found, and their samples the new velocities.
void rh_sph_viscous_bodies_give(const rh_sph_viscous_bodies *bodies, const float *x);
