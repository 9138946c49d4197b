// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles that change their material: spray breaks off, drops fall back. One mechanism for all: between steps, when
// both materials have come to the same time, the particles of a group go over. Who is in the group, a program of the
// scene says or a method (any attribute of type group will do). Place, velocity, id and every attribute that both sets
// have under one name and type are carried; other attributes begin with zero, groups included; the particle leaves the
// group that sent it. Particles of both materials weigh the same (checked when the run is made), so mass and momentum
// are kept exactly.
#pragma once
#include "points/points.h"

struct rh_world;

// Moves the points with moves[i] != 0 from one set to the end of another, in their order; *moved gets their number.
// After a failure both sets are as they were.
rh_code rh_exchange_points(rh_points *from, rh_points *to, const uint8_t *moves, int64_t *moved, rh_status *status);

// All of them, for pictures of several materials at once.
rh_code rh_exchange_join(rh_points *from, rh_points *to, rh_status *status);

// RH_USER when an exchange of the scene has a group that nobody makes, or materials of different particle mass.
rh_code rh_exchange_check(const struct rh_world *w, rh_status *status);
// All exchanges of the scene, in its order, with counts and balances of both materials.
rh_code rh_exchange_run(struct rh_world *w, rh_status *status);
