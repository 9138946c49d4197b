// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids: rigid bodies that gravity, each other and the materials around them move. State between steps is
// as that of particles (physics/step.h): poses at the ends of steps, velocities of their middles.
//
// A step in order:
//   rh_dynamics_hold       which of them follow their keys
//   rh_dynamics_begin      velocities under gravity
//   rh_dynamics_place      where they are at both ends of the step, for whoever asks (solid/obstacles.h); joints hold
//   ... a method whose pressure moves solids attaches what moves with them (rh_dynamics_attach), asks what impulses do
//       (rh_dynamics_respond) inside of its solve, and tells in the end (rh_dynamics_give) ...
//   rh_dynamics_pay        what they were owed: by the method when its solve answers it, else by the world
//   rh_dynamics_touch      contacts, motors and limits of joints: by the method when its solve answers them, else by
//                          the world
//   rh_dynamics_leave      what the material is measured to have given: the rest is owed
//   rh_dynamics_commit     velocities and poses become state
// Nothing is state before the commit: a step that fails is begun again, shorter.
//
// Several materials share the solids: they take turns in an interval of time (rh_dynamics_open), each from hold to
// leave, and each finds the velocities that the one before it left; gravity acts once, and there is one commit. Each
// solve only ever takes energy, and so do all of them in turn.
//
// Six numbers a solid are a velocity (linear of the centre of mass in m/s, angular in rad/s) or an impulse (kg m/s,
// and kg m^2/s about the centre of mass). In two dimensions all is per metre of depth, and the third, fourth and fifth
// number are zero.
#pragma once
#include <stdbool.h>
#include "base/arena.h"
#include "base/status.h"
#include "points/store.h"
#include "solid/contacts.h"
#include "solid/joints.h"
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
    double owed[RH_DYNAMICS_PARTS];  // what materials gave in the last step beyond what their solves reckoned with
} rh_dynamic_solid;

typedef struct rh_dynamics {
    rh_dynamic_solid *items;  // owned
    int count;
    int *of_obstacle;  // owned: per solid of the scene its number here, or -1
    int obstacle_count;
    int dimension;
    // Of the step in progress, all owned.
    double *begun, *velocity;   // [6 count]: when material was attached, or at its begin; and now
    double *given;              // [6 count]: impulses that the solve of the material gave
    double *attached;           // [36 count]: mass of what moves with the solids
    double *brought;            // [6 count]: impulses that it brought
    double *inverse;            // [36 count]: of the mass, that of what is attached included
    double *change;             // [6 count]: scratch
    rh_dvec3 *turning;          // [count]: angular velocity in the middle of the step, of what nothing pushes
    bool *held;                 // [count]: follow their keys in this step
    double *kick;               // [count]: s that forces act for
    double previous;            // s: length of the step before
    bool *moved;                // [obstacle_count]: solids of the scene that contacts move in this step
    rh_obstacles *start, *end;  // borrowed: placed by rh_dynamics_place
    double time, dt;            // s
    rh_dvec3 gravity;           // m/s^2
    bool touched, paid;         // rh_dynamics_touch, rh_dynamics_pay were asked in this step
    rh_contact_list contacts;   // of it, in `arena`
    rh_status trouble;          // what went wrong in it
    // Of the interval in progress, which is the step where there is one material.
    bool shared;                   // there are several
    int materials, current;        // their number; which one the step in progress is of
    double *added;                 // owned, [materials][36 count]: mass of what must move with the solids, of each
    bool opened;                   // one of them has left: velocities go on from `entered`
    bool left_touched, left_paid;  // what was asked until then
    double from, span;             // s: its start and length
    double last_span;              // s: of the one before
    double ahead;                  // s: from its start to that of the step
    double *entered;               // owned, [6 count]: velocities that the last material left
    double *payment;               // owned, [6 count]: of what is owed, given in the step in progress
    // Whole life long.
    int *obstacle_of;  // owned: [count]
    rh_joints joints;
    rh_arena arena;  // scratch of contacts
} rh_dynamics;

// One of each obstacle of kind RH_SOLID_DYNAMIC, whose mass, pose and velocity at the start it has.
rh_code rh_dynamics_create(const rh_obstacles *obstacles, int dimension, rh_dynamics *out, rh_status *status);
void rh_dynamics_free(rh_dynamics *dynamics);
// Joints between these solids, which are as they are at the start.
rh_code rh_dynamics_join(rh_dynamics *dynamics, const rh_obstacles *obstacles, const rh_joint *joints, int count,
                         rh_status *status);

// The longest step (s) in which no solid falls or flies past what it should meet.
double rh_dynamics_longest_step(const rh_dynamics *dynamics, const rh_obstacles *obstacles, rh_dvec3 gravity);

// So many materials have these solids in common.
rh_code rh_dynamics_share(rh_dynamics *dynamics, int materials, rh_status *status);
// The mass [36 count] of what must move with the solids, of the material whose step is in progress: solves of the
// others reckon with it, and what it keeps back is owed.
void rh_dynamics_note_added(rh_dynamics *dynamics, const double *added);
double rh_dynamics_added(const rh_dynamics *dynamics, int material);  // kg in all, of one of several materials
// Several materials: the next interval that each of them is to go through.
void rh_dynamics_open(rh_dynamics *dynamics, double from, double span);
// A step of dt s begins at `time`; the one before it was `previous` s long. dt = 0: only to look at what there is.
void rh_dynamics_begin(rh_dynamics *dynamics, const rh_obstacles *obstacles, rh_dvec3 gravity, double time,
                       double previous, double dt);
// Both are copies of all solids (rh_obstacles_at), at the two ends of a step of dt s, and stay known until the commit:
// velocities that change later are set in them.
void rh_dynamics_place(rh_dynamics *dynamics, double dt, rh_obstacles *start, rh_obstacles *end);

// Material that moves with the solids for this step: its mass, six by six a solid in rows, and the impulse that it
// brings: what it has beyond the solid's velocity. What must move with them of other materials is added. (At most once
// in a step.)
void rh_dynamics_attach(rh_dynamics *dynamics, const double *mass, const double *impulse);
// change[6 count] = what these impulses [6 count] do to the velocities. Symmetric and positive semi-definite.
void rh_dynamics_respond(const rh_dynamics *dynamics, const double *impulse, double *change);
// The solids receive these impulses; `counted` of a material's solve, which will be part of what it measures.
void rh_dynamics_give(rh_dynamics *dynamics, const double *impulse, bool counted);

// What they were owed, once a step: the impulses [6 count] are given, as not counted. A method whose solve answers
// takes them into it: alone they would throw a light solid far. False: they are paid already.
bool rh_dynamics_pay(rh_dynamics *dynamics, double *impulse);

// Impulses [6 count] of contacts, motors and limits of joints, from the velocities that the solids have now; not given
// yet. `added`: [36 count], mass of what must move with them beyond what is attached, or NULL: of its linear part the
// mean over the axes counts. True when any is not zero. What goes wrong is in `trouble`, and then there are none.
bool rh_dynamics_touch(rh_dynamics *dynamics, const double *added, double *impulse);

// Once more, with the velocities that the solids have now that a material has answered those impulses: changes of them
// [6 count], not given yet. `mass`: [36 count], all that moves with each solid, itself included.
bool rh_dynamics_touch_again(rh_dynamics *dynamics, const double *mass, double *impulse);
// mass[36 count]: of the solids, what is attached, and `added`.
void rh_dynamics_masses(const rh_dynamics *dynamics, const double *added, double *mass);
// Changes `added` of solid n so that all its inertia, its own included, is `times` as much.
void rh_dynamics_scale_inertia(const rh_dynamics *dynamics, int n, double times, double *added);

// The end of a material's step. `received`: what it is measured to have given in all (solid/obstacles.h, about the
// origin of the world), in the order of the scene's solids; NULL: just what its solve gave.
void rh_dynamics_leave(rh_dynamics *dynamics, const rh_obstacles *received);
// The state at the end of the step, or interval.
void rh_dynamics_commit(rh_dynamics *dynamics);
// State into solids of the scene (poses, velocities of the last step).
void rh_dynamics_pose(const rh_dynamics *dynamics, rh_obstacles *obstacles);

rh_code rh_dynamics_put(const rh_dynamics *dynamics, const rh_store *to, rh_status *status);
rh_code rh_dynamics_get(rh_dynamics *dynamics, const rh_store *from, rh_status *status);

// The rotation of a unit quaternion, w first.
rh_mat3 rh_turn_matrix(const double turn[4]);

// Six rows of a velocity: along `axis`, of the point of the solid that is at x.
static inline void rh_dynamics_row(rh_dvec3 x, rh_dvec3 center, int axis, double row[RH_DYNAMICS_PARTS])
{
    rh_dvec3 arm = rh_d3_sub(x, center), along = {axis == 0, axis == 1, axis == 2}, turn = rh_d3_cross(arm, along);
    for (int a = 0; a < 3; a++) {
        row[a] = (&along.x)[a];
        row[3 + a] = (&turn.x)[a];
    }
}
