// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Velocities on faces, projected onto rigid motions.
//
// A face carries one component of velocity and its share of the mass of the sand on both sides (whatever group that is
// in; yield.h), so that the sum of m u over faces is all momentum and the sum of x cross m u all angular momentum. A
// rigid motion (v, omega) has on a face of axis a the velocity (v + omega x r)_a. The projection is the nearest rigid
// motion in the norm of the masses, which is the same as to say that it leaves both sums as they were. Places are in
// cells from the body's own origin, velocities of rotation per cell; all in double.
#pragma once
#include <stdbool.h>
#include "base/vec.h"

typedef struct rh_rigid {
    double gram[6][6];  // of the motions: x y z, then rotations about them; upper half while being summed
    double momentum[6];
    double inverse[6]
                  [6];  // of what can be inverted: a line of cells does not turn about itself, a single one not at all
    double motion[6];
} rh_rigid;

// All zero is a body without faces.
void rh_rigid_add(rh_rigid *body, int axis, rh_dvec3 place, double mass, double velocity);
void rh_rigid_merge(rh_rigid *body, const rh_rigid *part);  // sums only
void rh_rigid_solve(rh_rigid *body);
rh_dvec3 rh_rigid_velocity(const rh_rigid *body, rh_dvec3 place);
// An impulse at a place changes the motion.
void rh_rigid_apply_impulse(rh_rigid *body, rh_dvec3 place, rh_dvec3 impulse);
// How much faster the place moves along the unit vector `way` for an impulse of 1 along it.
double rh_rigid_inverse_mass(const rh_rigid *body, rh_dvec3 place, rh_dvec3 way);
