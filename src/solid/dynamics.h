// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids: rigid bodies that gravity, each other and the materials around them move. State between steps is as
// that of particles (physics/step.h): poses at the ends of steps, velocities of their middles.
//
// Words used below. A material answers impulses on the solids when its solve finds the pressure that they cause within
// the same step, so that the inertia of the material resists them. A solid is owed the difference between the impulse
// that a material is measured to have given it in a step and the one that its solve assumed; the solid gets it one step
// later (rh_dynamics_pay). Material is attached to a solid when it moves with it during a step and counts as part of
// its mass. Added mass is that of the material that a solid has to accelerate to move. A solid is held while it follows
// the keys of its motion.
//
// A step in order:
//   rh_dynamics_begin      which of them follow their keys; velocities under gravity
//   rh_dynamics_place      poses at both ends of the step, into the obstacles that all others read
//                          (solid/obstacles.h); velocities fulfil the joints
//   ... a method whose pressure moves solids attaches what moves with them (rh_dynamics_attach), computes the effect of
//       impulses (rh_dynamics_respond) inside its solve, and gives the impulses found (rh_dynamics_give) ...
//   rh_dynamics_pay        gives what they are owed: called by the method when its solve answers it, else by the world
//   rh_dynamics_touch      contacts, motors and limits of joints: called by the method when its solve answers them,
//                          else by the world
//   rh_dynamics_leave      compares with what the material is measured to have given: the difference is owed
//   rh_dynamics_commit     velocities and poses become state
// Nothing is state before the commit: a step that fails is begun again, shorter.
//
// Several materials share the solids: they take turns in an interval of time (rh_dynamics_open), each from begin
// to leave, and each finds the velocities that the one before it left; gravity acts once, and there is one commit. Each
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
    double owed[RH_DYNAMICS_PARTS];      // impulse measured in the last step less the one assumed by the solves
    double withheld[RH_DYNAMICS_PARTS];  // the part of it that padding withheld (rh_dynamics_pad)
    double share;  // 0..1: of the impulse above, that moves a solid far lighter than the material (rh_dynamics_forgive)
    double borne;  // 0..1: share of its weight in liquid that the pressure of the last step would have borne
} rh_dynamic_solid;

// Liquid (kg, kg/m in two dimensions) in a solid's place, as gravity along each axis weighs it: six parts, those of the
// impulse per m/s, moments about its centre of mass.
typedef struct rh_displaced {
    double closed[3];                      // that the solve of the pressure takes for closed
    double solved[3][RH_DYNAMICS_PARTS];   // that the solve reckons with too little
    double counted[3][RH_DYNAMICS_PARTS];  // that particles are missing too little
} rh_displaced;

typedef struct rh_dynamics {
    rh_dynamic_solid *items;  // owned
    int count;
    int *of_obstacle;  // owned: per solid of the scene its number here, or -1
    int obstacle_count;
    int dimension;
    // The step in progress; all arrays are owned but for `start` and `end`.
    double *begun, *velocity;   // [6 count]: velocities when material was attached, or at the start; and now
    double *given;              // [6 count]: impulses that the solve of the material gave
    double *attached;           // [36 count]: mass of what moves with the solids
    double *padding;            // [36 count]: part of it that nothing has (rh_dynamics_pad)
    double *struck;             // [6 count]: changes of velocities by contacts
    double *brought;            // [6 count]: impulses that attached material brought along
    double *inverse;            // [36 count]: inverse of the mass, attached material included
    double *change;             // [6 count]: scratch
    rh_dvec3 *turning;          // [count]: angular velocity in the middle of the step, if nothing acts
    bool *held;                 // [count]: follow their keys in this step
    double *kick;               // [count]: s that forces act for
    double previous;            // s: length of the step before
    bool *moved;                // [obstacle_count]: solids of the scene that contacts move in this step
    rh_obstacles *start, *end;  // borrowed: placed by rh_dynamics_place
    double time, dt;            // s
    rh_dvec3 gravity;           // m/s^2
    bool touched, paid;         // rh_dynamics_touch, rh_dynamics_pay were called in this step
    rh_contact_list contacts;   // of it, in `arena`
    rh_status trouble;          // what went wrong in it
    // The interval in progress, which is the step where there is one material.
    bool shared;                   // there are several
    int materials, current;        // their number; which one the step in progress is of
    double *added;                 // owned, [materials][36 count]: added mass of each material
    bool opened;                   // one of them has left: velocities continue from `entered`
    bool left_touched, left_paid;  // `touched` and `paid` at that time
    double from, span;             // s: its start and length
    double last_span;              // s: of the one before
    double ahead;                  // s: from its start to that of the step
    double *entered;               // owned, [6 count]: velocities that the last material left
    rh_displaced *displaced;       // owned, [count]: of the step in progress; zeros where it is not known
    double *advance;               // owned, [6 count]: impulses given for it
    double *payment;               // owned, [6 count]: the part of what is owed that was given in the step in progress
    double *forgiven;              // owned, [6 count]: the part that is never given (rh_dynamics_forgive)
    // For as long as the solids live.
    int *obstacle_of;  // owned: [count]
    rh_joints joints;
    rh_arena arena;  // scratch of contacts
} rh_dynamics;

// Makes a dynamic solid of each obstacle of kind RH_SOLID_DYNAMIC, with its mass, pose and velocity at the start.
rh_code rh_dynamics_create(const rh_obstacles *obstacles, int dimension, rh_dynamics *out, rh_status *status);
void rh_dynamics_free(rh_dynamics *dynamics);
// Joints between these solids, which are as they are at the start.
rh_code rh_dynamics_join(rh_dynamics *dynamics, const rh_obstacles *obstacles, const rh_joint *joints, int count,
                         rh_status *status);

// The longest step (s) in which no solid falls or flies past what it should meet.
double rh_dynamics_longest_step(const rh_dynamics *dynamics, const rh_obstacles *obstacles, rh_dvec3 gravity);

// The number of materials that share these solids.
rh_code rh_dynamics_share(rh_dynamics *dynamics, int materials, rh_status *status);
// The added mass [36 count] of the material whose step is in progress: the solves of the other materials count with it,
// and what it thereby withholds from the solids is owed.
void rh_dynamics_note_added(rh_dynamics *dynamics, const double *added);
double rh_dynamics_added(const rh_dynamics *dynamics, int material);  // kg in all, of one of several materials
// Several materials: the next interval that each of them is to go through.
void rh_dynamics_open(rh_dynamics *dynamics, double from, double span);
// A step of dt s begins at `time`; the one before it was `previous` s long. dt = 0: only for the present state, without
// a step.
void rh_dynamics_begin(rh_dynamics *dynamics, const rh_obstacles *obstacles, rh_dvec3 gravity, double time,
                       double previous, double dt);
// `start` and `end` are copies of all solids (rh_obstacles_at), at the two ends of a step of dt s, borrowed until the
// commit: velocities that change later are set in them.
void rh_dynamics_place(rh_dynamics *dynamics, double dt, rh_obstacles *start, rh_obstacles *end);

// Attaches material to the solids for this step: its mass, six by six a solid in rows, and the impulse that it brings,
// by which its momentum exceeds that of moving with the solid. The added mass of other materials is included. (At most
// once in a step.)
void rh_dynamics_attach(rh_dynamics *dynamics, const double *mass, const double *impulse);
// Inertia that nothing has, so that solids with hardly any of their own follow a material steadily: what it withholds
// of the material's impulses is owed. Of contacts it withholds nothing, as these ask for velocities and not for
// impulses.
void rh_dynamics_pad(rh_dynamics *dynamics, const double *mass);
// Solid n, far lighter than the material, gets nothing of what padding withheld in the last step, and of the rest what
// it would have got if so much material, at the speed of the fastest, had stuck to it: particles that hit it lost what
// hitting something heavy takes, which given to it alone would throw it away, and what it then did to particles came
// back the larger in the next step. So much momentum is lost.
void rh_dynamics_forgive(rh_dynamics *dynamics, int n);
// change[6 count] = the change of velocities by these impulses [6 count]. A linear map, symmetric and positive
// semi-definite.
void rh_dynamics_respond(const rh_dynamics *dynamics, const double *impulse, double *change);
// The solids receive these impulses. `counted`: they are from a material's solve, and will be part of what is measured
// of it.
void rh_dynamics_give(rh_dynamics *dynamics, const double *impulse, bool counted);
// The same in two, for who gives many times in a step: after the last one the obstacles at its end are where the solids
// arrive.
void rh_dynamics_receive(rh_dynamics *dynamics, const double *impulse, bool counted);
// The same for impulses of contacts.
void rh_dynamics_strike(rh_dynamics *dynamics, const double *impulse);
void rh_dynamics_arrive(const rh_dynamics *dynamics);

// Whether some of them are so near to another solid that they may touch in this step; of many it is not asked.
bool rh_dynamics_near(const rh_dynamics *dynamics);
// Gives what the solids are owed, once a step: the impulses [6 count], not `counted`. A method whose solve answers
// impulses takes them into it: alone they would throw a light solid far. False: they have been given already.
bool rh_dynamics_pay(rh_dynamics *dynamics, double *impulse);
// What the solids displace [count]: they receive at once what the solve will be short of in liquid at rest, as far as
// the last step found it so; rh_dynamics_leave sets it right.
void rh_dynamics_displace(rh_dynamics *dynamics, const rh_displaced *displaced);

// Impulses [6 count] of contacts, motors and limits of joints, for the velocities that the solids have now; not given
// yet. `added`: [36 count], added mass beyond what is attached, or NULL: of its linear part the mean over the axes
// counts. True when any is not zero. Errors are stored in `trouble`, and then there are no impulses.
bool rh_dynamics_touch(rh_dynamics *dynamics, const double *added, double *impulse);

// Once more, with the velocities that the solids have now that a material has answered those impulses: the changes of
// the impulses [6 count], not given yet. `mass`: [36 count], all that moves with each solid, itself included.
bool rh_dynamics_touch_again(rh_dynamics *dynamics, const double *mass, double *impulse);
// mass[36 count]: of the solids, what is attached, and `added`.
void rh_dynamics_masses(const rh_dynamics *dynamics, const double *added, double *mass);
// Changes `added` of solid n so that all its inertia, its own included, is `times` as much.
void rh_dynamics_scale_inertia(const rh_dynamics *dynamics, int n, double times, double *added);

// The end of a material's step. `received`: the impulse that it is measured to have given in all (solid/obstacles.h,
// about the origin of the world), in the order of the scene's solids; NULL: just what its solve gave.
// `fastest`: m/s, of the material.
void rh_dynamics_leave(rh_dynamics *dynamics, const rh_obstacles *received, double fastest);
// The state at the end of the step, or interval.
void rh_dynamics_commit(rh_dynamics *dynamics);
// Writes the state into the solids of the scene (poses, velocities of the last step).
void rh_dynamics_pose(const rh_dynamics *dynamics, rh_obstacles *obstacles);

rh_code rh_dynamics_put(const rh_dynamics *dynamics, const rh_store *to, rh_status *status);
rh_code rh_dynamics_get(rh_dynamics *dynamics, const rh_store *from, rh_status *status);

// The rotation of a unit quaternion, w first.
rh_mat3 rh_turn_matrix(const double turn[4]);

// The row whose product with the six velocities of a solid is the velocity along `axis` of its point at x.
static inline void rh_dynamics_row(rh_dvec3 x, rh_dvec3 center, int axis, double row[RH_DYNAMICS_PARTS])
{
    rh_dvec3 arm = rh_d3_sub(x, center), along = {axis == 0, axis == 1, axis == 2}, turn = rh_d3_cross(arm, along);
    for (int a = 0; a < 3; a++) {
        row[a] = (&along.x)[a];
        row[3 + a] = (&turn.x)[a];
    }
}
