// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Joints between solids, and axes along which a solid does not move: linear equations of velocities, G v = t. They
// change how solids answer impulses: with M the masses, an impulse p moves them by
//   C p = (M^-1 - M^-1 G^T (G M^-1 G^T)^-1 G M^-1) p,
// which is symmetric, positive semi-definite and never breaks a joint; a material's pressure solve meets jointed
// solids through it like any others (solid/dynamics.h). Solids that joints connect are an island: one small dense
// system.
#pragma once
#include "base/status.h"
#include "solid/obstacles.h"

typedef enum rh_joint_kind { RH_JOINT_HINGE, RH_JOINT_SLIDER, RH_JOINT_BALL, RH_JOINT_FIXED } rh_joint_kind;
extern const char *const rh_joint_names[];  // NULL-terminated, in the order of rh_joint_kind

typedef struct rh_joint {
    rh_joint_kind kind;
    int a, b;              // numbers among the scene's solids; a is dynamic; b < 0: the world
    rh_dvec3 point, axis;  // m, unit: in the world, at the start
    bool limited;
    double low, high;  // rad, or m: how far a hinge turns, or a slider slides, from the start
    double speed;      // rad/s, or m/s: what its motor aims at
    double strength;   // N m, or N: the most its motor gives; 0 = none
} rh_joint;

// The poses of the two solids at the start.
typedef struct rh_joint_start {
    rh_pose a, b;
} rh_joint_start;

typedef struct rh_joint_row {
    int a, b;  // numbers among the dynamic solids; b = -1: none
    double ja[6], jb[6];
    double target;  // m/s or rad/s
} rh_joint_row;

typedef struct rh_joints {
    rh_joint *items;        // owned
    rh_joint_start *start;  // owned, one a joint
    int count;
    // Of the step in progress.
    rh_joint_row *rows;  // owned: of one island after the other
    int row_count;
    int *first;       // owned: first row of each island, and the end of the last
    double *factors;  // owned: Cholesky's, of one island after the other
    double *work;     // owned: [row_count]
    int island_count;
    int32_t *parent;  // owned: islands, by dynamic solid
    size_t factor_room;
} rh_joints;

// Copies `joints`; `solids` are as they are at the start, `of_obstacle` numbers the dynamic ones (or -1) and `dynamic`
// lists them.
rh_code rh_joints_create(const rh_joint *joints, int count, const rh_obstacles *solids, const int *of_obstacle,
                         const int *dynamic, int dynamic_count, rh_joints *out, rh_status *status);
void rh_joints_free(rh_joints *joints);
bool rh_joints_connect(const rh_joints *joints, int a, int b);  // solids of the scene, directly
// How far a hinge has turned since the start (rad, between -pi and pi), or a slider slid (m); 0 for others.
double rh_joints_position(const rh_joints *joints, int i, const rh_obstacles *solids);

// The equations for a step of dt s (0: without correction of drift), for the poses in the middle of it, so that what
// swings does not lose energy; the drift to be corrected is that at its start. `held[n]`: dynamic solid n is moved by
// its keys.
void rh_joints_assemble(rh_joints *joints, const rh_obstacles *start, const rh_obstacles *middle,
                        const int *of_obstacle, const int *dynamic, int dynamic_count, const bool *held, double dt);
// Factors G M^-1 G^T; `inverse`: [36] a dynamic solid.
void rh_joints_factor(rh_joints *joints, const double *inverse);
// Removes from velocities [6 a solid] what violates the equations, G v = 0; with `bring`: brings them to G v = t.
void rh_joints_project(const rh_joints *joints, const double *inverse, bool bring, double *velocity);
