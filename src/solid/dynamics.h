// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids: dynamics bodies that gravity, each other and the materials around them move. State between steps is
// as that of particles (physics/step.h): poses at the ends of steps, velocities of their middles.
//
// A step in order:
//   rh_dynamics_begin      velocities under gravity, and what they were owed
//   rh_dynamics_place      where they are at both ends of the step, for whoever asks (solid/obstacles.h)
//   ... a method whose pressure moves solids attaches what moves with them (rh_dynamics_attach), asks what impulses do
//       (rh_dynamics_respond) inside of its solve, and tells in the end (rh_dynamics_give) ...
//   rh_dynamics_touch      contacts
//   rh_dynamics_commit     velocities and poses become state
// Nothing is state before the commit: a step that fails is begun again, shorter.
//
// Six numbers a solid are a velocity (linear of the centre of mass in m/s, angular in rad/s) or an impulse (kg m/s,
// and kg m^2/s about the centre of mass). In two dimensions all is per metre of depth, and the third, fourth and fifth
// number are zero.
#pragma once
#include <stdbool.h>
#include "base/status.h"
#include "points/store.h"
#include "solid/obstacles.h"

enum { RH_DYNAMICS_PARTS = 6 };

typedef struct rh_dynamic_solid {
    int obstacle;  // its number among the solids of the scene
    rh_mass mass;  // in its own space
    // State.
    rh_dvec3 position;  // m: of the centre of mass
    double turn[4];     // unit quaternion, w first: from its own space into the world
    rh_dvec3 linear;    // m/s
    rh_dvec3 spin;      // kg m^2/s: angular momentum, which a free solid keeps while its angular velocity changes
    double owed[RH_DYNAMICS_PARTS];  // what the material gave in the last step beyond what its solve reckoned with
} rh_dynamic_solid;

typedef struct rh_dynamics {
    rh_dynamic_solid *items;  // owned
    int count;
    int *of_obstacle;  // owned: per solid of the scene its number here, or -1
    int obstacle_count;
    int dimension;
    // Of the step in progress, all owned.
    double *begun, *velocity;   // [6 count]: at its begin, and now
    double *given;              // [6 count]: impulses that the solve of the material gave
    double *attached;           // [36 count]: mass of what moves with the solids
    double *brought;            // [6 count]: impulses that it brought
    double *inverse;            // [36 count]: of the mass, that of what is attached included
    rh_obstacles *start, *end;  // borrowed: placed by rh_dynamics_place
    double dt;
} rh_dynamics;

// One of each obstacle of kind RH_SOLID_DYNAMIC, whose mass, pose and velocity at the start it has.
rh_code rh_dynamics_create(const rh_obstacles *obstacles, int dimension, rh_dynamics *out, rh_status *status);
void rh_dynamics_free(rh_dynamics *dynamics);

// Forces act for `kick` s.
void rh_dynamics_begin(rh_dynamics *dynamics, rh_dvec3 gravity, double kick);
// Both are copies of all solids (rh_obstacles_at), at the two ends of a step of dt s, and stay known until the commit:
// velocities that change later are set in them.
void rh_dynamics_place(rh_dynamics *dynamics, double dt, rh_obstacles *start, rh_obstacles *end);

// Material that moves with the solids for this step: its mass, six by six a solid in rows, and the impulse that it
// brings: what it has beyond the solid's velocity. (At most once in a step.)
void rh_dynamics_attach(rh_dynamics *dynamics, const double *mass, const double *impulse);
// change[6 count] = what these impulses [6 count] do to the velocities. Symmetric and positive semi-definite.
void rh_dynamics_respond(const rh_dynamics *dynamics, const double *impulse, double *change);
// The solids receive these impulses; `counted` of a material's solve, which will be part of what it measures.
void rh_dynamics_give(rh_dynamics *dynamics, const double *impulse, bool counted);

// The state at the end of the step. `received`: what the material is measured to have given in all (solid/obstacles.h,
// about the origin of the world), in the order of the scene's solids; NULL: just what its solve gave.
void rh_dynamics_commit(rh_dynamics *dynamics, const rh_obstacles *received);
// State into solids of the scene (poses, velocities of the last step).
void rh_dynamics_pose(const rh_dynamics *dynamics, rh_obstacles *obstacles);

rh_code rh_dynamics_put(const rh_dynamics *dynamics, const rh_store *to, rh_status *status);
rh_code rh_dynamics_get(rh_dynamics *dynamics, const rh_store *from, rh_status *status);

// Six rows of a velocity: along `axis`, of the point of the solid that is at x.
static inline void rh_dynamics_row(rh_dvec3 x, rh_dvec3 center, int axis, double row[RH_DYNAMICS_PARTS])
{
    rh_dvec3 arm = rh_d3_sub(x, center), along = {axis == 0, axis == 1, axis == 2}, turn = rh_d3_cross(arm, along);
    for (int a = 0; a < 3; a++) {
        row[a] = (&along.x)[a];
        row[3 + a] = (&turn.x)[a];
    }
}
