// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Impulses of contacts, of motors and of the limits of joints: a linear complementarity problem, solved by ODE (Open
// Dynamics Engine, www.ode.org), a library that the program may be built without (RHEO_ODE).
//
// A contact keeps its two solids from closing more than their gap within the step, with Coulomb's friction. Restitution
// acts on impacts faster than a small speed. Solids that overlap are pushed apart, by a fifth of the overlap a step and
// at a limited speed.
#pragma once
#include "base/arena.h"
#include "solid/contacts.h"
#include "solid/joints.h"

typedef struct rh_contact_body {
    double mass;               // kg: with that of what moves with it
    rh_mat3 inertia;           // kg m^2: about its centre of mass, along the axes of the world
    rh_dvec3 center;           // m
    rh_dvec3 linear, angular;  // m/s, rad/s
    double kick;               // s: how long forces act on it in this step
    bool held;                 // follows its keys: nothing changes its velocity
    int obstacle;              // its number among the scene's solids
} rh_contact_body;

typedef struct rh_contact_problem {
    const rh_obstacles *solids;
    const int *of_obstacle;  // the number of a dynamic solid by that of the scene, or -1
    const rh_contact_body *bodies;
    int body_count;
    rh_contact_list *contacts;  // get their impulses
    const rh_joints *joints;
    int dimension;
    double dt;         // s
    rh_dvec3 gravity;  // m/s^2: sets the speed from which on an impact counts as fast
    bool first;        // these impulses are answered and then refined (rh_contact_refine): nearly right is enough
} rh_contact_problem;

// impulse[6 a body]: kg m/s, and kg m^2/s about the centre of mass. *any: one of them is not zero.
rh_code rh_contact_solve(const rh_contact_problem *problem, rh_arena *arena, double *impulse, bool *any,
                         rh_status *status);
// Once more, when something outside the solver (a liquid around the solids) has answered the impulses: `velocity`, [6 a
// body], is what it left, and becomes what is expected now. `inverse`, [36 a body]: of a mass, six by six, that may
// differ from direction to direction. Changes the impulses of the contacts, which may become smaller too, and tells by
// how much (`impulse`, [6 a body]). Friction is bounded by the whole of each contact's impulse.
rh_code rh_contact_refine(rh_contact_list *contacts, const int *of_obstacle, const rh_contact_body *bodies,
                          int dimension, const double *inverse, rh_arena *arena, double *velocity, double *impulse,
                          rh_status *status);
bool rh_contact_solver_is_there(void);  // whether the program was built with it
