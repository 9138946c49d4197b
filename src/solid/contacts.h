// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Where dynamic solids touch each other and all other solids, or will within the step: points with normal and gap, a
// few for each pair that stand for all. Found from signed distances, so that every shape, mesh and container is met
// alike; solid/contact_solver.h finds the impulses.
#pragma once
#include "base/arena.h"
#include "solid/obstacles.h"

typedef struct rh_contact {
    int a, b;            // numbers among the scene's solids; a is dynamic, and so is b unless `fixed`
    bool fixed;          // b is not moved by it
    rh_dvec3 at;         // m
    rh_dvec3 normal;     // unit: from b into a
    double gap;          // m; below zero they overlap
    double lift;         // m: by how much less a point approaches in the step than its velocity says, as it turns
    rh_dvec3 approach;   // m/s: velocity of a's point less that of b's
    rh_dvec3 wall;       // m/s: velocity of b's point
    double size;         // m: half the smallest extent of the smaller of the two
    double friction;     // Coulomb's coefficient of the pair: the geometric mean of both
    double restitution;  // of the pair: the larger of both
    // Set by the solver.
    bool acts;         // it was one of the equations; else the impact is left to the next step
    double least;      // m/s: the normal velocity, of a less that of b, that it must have at least
    rh_dvec3 slide;    // unit: the first direction of friction
    rh_dvec3 impulse;  // kg m/s: that a received; b the opposite
} rh_contact;

enum { RH_CONTACTS_MANY = 64 };  // more are solved with less care

typedef struct rh_contact_list {
    rh_contact *items;  // the arena's
    int count, capacity;
} rh_contact_list;

// Whether a pair may touch at all; NULL: all may.
typedef bool rh_contact_filter(const void *user, int a, int b);

// `solids` have poses of the start of a step of dt s and velocities of it. `free[i]`: solid i is moved by contacts.
rh_code rh_contacts_find(const rh_obstacles *solids, const bool *free, double dt, rh_contact_filter *may,
                         const void *user, rh_arena *arena, rh_contact_list *out, rh_status *status);
