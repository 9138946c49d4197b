// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles that change their material: spray breaks off, drops fall back. One mechanism for all: between steps, when
// both materials have come to the same time, the particles of a group go over, or those that a rule of the scene picks
// (`when`: exchange_rules.h). Who is in the group, a program of the scene says or a method (any attribute of type group
// will do). Place, velocity, id and every attribute that both sets have under one name and type are carried; other
// attributes begin with zero, groups included; the particle leaves the group that sent it.
//
// Mass and momentum are kept exactly. Particles of both materials weigh the same (checked when the run is made), or
// those of one have radii of their own (rh_physics.own_radius): what becomes such a particle gets the radius of its
// mass. The other way round a drop becomes as many particles as it weighs, with its velocity; what is left over of it,
// or all of one that is too light, is kept (the rest) and goes into the next that comes, with its momentum.
#pragma once
#include "points/points.h"

struct rh_world;

typedef struct rh_exchange_rest {
    double mass;        // kg
    rh_dvec3 momentum;  // kg m/s
} rh_exchange_rest;

// Moves the points with moves[i] != 0 from one set to the end of another, in their order; *moved gets their number.
// After a failure both sets are as they were.
rh_code rh_exchange_points(rh_points *from, rh_points *to, const uint8_t *moves, int64_t *moved, rh_status *status);

// All of them, for pictures of several materials at once.
rh_code rh_exchange_join(rh_points *from, rh_points *to, rh_status *status);

// RH_USER when an exchange of the scene has a group that nobody makes, or materials of different particle mass.
rh_code rh_exchange_check(const struct rh_world *w, rh_status *status);
// All exchanges of the scene, in its order, with counts and balances of both materials.
rh_code rh_exchange_run(struct rh_world *w, rh_status *status);
