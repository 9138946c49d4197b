// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The balance of energy and momentum: what the material has, what came in with bodies and emitters and went with
// sinks, what gravity gave. What is left over is what walls, other forces, programs and the method itself gave or
// took: docs/theory/balance.md says how to read it.
//
// Sums here are per unit of mass of a particle: m^2/s^2 and m/s, times particles. Velocities are half a step behind
// positions, so energies are taken at the moment of the velocities: a particle was at x - v dt/2 then. (With the
// place of now, what falls seems to have lost the energy of half a step.)
#pragma once
#include "points/points.h"

typedef struct rh_balance {
    double energy_in, energy_out;
    rh_dvec3 momentum_in, momentum_out;  // with particles that came and went
    rh_dvec3 gravity;                    // given by gravity
} rh_balance;

typedef struct rh_totals {
    double kinetic;  // at the moment of the velocities
    double height;   // potential energy in gravity at the places of now, from the origin
    rh_dvec3 momentum;
} rh_totals;

// Energy of one particle; `lag` (s) is how far its velocity is behind its place.
static inline double rh_balance_energy(rh_dvec3 gravity, double lag, rh_vec3 x, rh_vec3 v)
{
    rh_dvec3 u = rh_d3_from(v);
    return 0.5 * rh_d3_dot(u, u) - rh_d3_dot(gravity, rh_d3_sub(rh_d3_from(x), rh_d3_scale(u, lag)));
}

// Of all particles, in blocks of fixed order.
rh_code rh_balance_totals(const rh_points *points, rh_dvec3 gravity, rh_totals *out, rh_status *status);
// Both energies at the moment of the velocities.
double rh_totals_energy(const rh_totals *totals, rh_dvec3 gravity, double lag);
