// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The balance of energy and momentum: what the material has, what came in with bodies and emitters and went with
// sinks, what gravity gave, and the work of solids that move, inflows, other forces and programs. What is left over is
// what the method itself gave or took, and, of momentum, walls: docs/theory/balance.md says how to read it.
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
    double work_solids, work_inflows;    // on the material: world/wall_impulses.h
    double work_tension;                 // by the tension of its surface: the same
    double work_forces, work_programs;   // of `forces`; all that programs change, deletion included
} rh_balance;

// What a particle weighs, in the unit of one that fills its room: 1, or where particles have radii of their own
// (rh_physics.own_radius) the cube of its radius in units of that one's.
typedef struct rh_weights {
    const float *radius;  // m; NULL: all weigh 1. Borrowed from the points
    double per_unit;      // 1/m
} rh_weights;
rh_weights rh_weights_of(const rh_points *points, double unit);  // unit 0: all weigh 1
static inline double rh_weight(const rh_weights *w, int64_t i)
{
    if (!w->radius) return 1;
    double r = (double)w->radius[i] * w->per_unit;
    return r * r * r;
}

typedef struct rh_totals {
    double weight;
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

// Of all particles.
rh_totals rh_balance_totals(const rh_points *points, double unit, rh_dvec3 gravity);
double rh_balance_weight(const rh_points *points, double unit);  // the same as its weight, for less
// Sum of velocity times acceleration: what a field of forces does in a second.
typedef rh_dvec3 rh_balance_field(rh_dvec3 point, const void *user);
double rh_balance_power(const rh_points *points, double unit, rh_balance_field *acceleration, const void *user);
// Both energies at the moment of the velocities.
double rh_totals_energy(const rh_totals *totals, rh_dvec3 gravity, double lag);
