// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The flow of an emitter that stands still and has a velocity: exact to one particle at any time, for any shape and
// direction.
//
// What it has poured by a time is the volume of its shape, once, and cross-section times speed times time. The
// cross-section is cut into columns a spacing wide along the velocity; each pours particles in line, at the back of
// the shape, as often as its share of the cross-section says (a column cut in half: half as often). The columns take
// turns, so that layers do not come at once, and the number of all particles is the volume, rounded: a function of
// time alone, so it does not depend on the steps, and a resumed run needs to know no more than when it emitted last.
//
// (Sites of a lattice that become particles when their centres enter the shape, as before, poured whole columns: a
// slot of 4.6 columns had 5 of them, 8 % too much.)
#pragma once
#include "base/status.h"
#include "base/vec.h"
#include "points/points.h"

struct rh_seeder;

typedef struct rh_emitter_column {
    double across[2];    // m, along axis[1] and axis[2]: the middle of what is covered of it
    double share;        // of a full column, 0..1
    double back;         // m along axis[0]: where the shape begins
    double length;       // m, of the shape along the column
    double gap_at, gap;  // m: a hole in it, that far from the back and that long
    double phase;        // 0..1, its turn
    int64_t index[2];
} rh_emitter_column;

typedef struct rh_emitter_turn {
    double at;
    int64_t number;
    int column;
} rh_emitter_turn;  // `at`: spacings poured when it enters

typedef struct rh_emitter_flow {
    rh_dvec3 axis[3];            // unit; the first along the velocity
    double speed;                // m/s
    double rate;                 // share of it that is poured, 0..1
    double volume;               // m^3 (m^2) of the shape
    double area;                 // m^2 (m) across the velocity
    rh_emitter_column *columns;  // owned
    int count;                   // 0: not an emitter of this kind
    rh_emitter_turn *turns;      // owned; scratch
    int64_t room;
} rh_emitter_flow;

// Of emitter n; leaves *pour empty when that one moves or has no velocity.
rh_code rh_emitter_flow_create(const struct rh_seeder *seeder, int n, rh_emitter_flow *flow, rh_status *status);
void rh_emitter_flow_free(rh_emitter_flow *flow);

// Volume poured by a time, m^3 (m^2), as the shape and the velocity say.
double rh_emitter_flow_volume(const rh_emitter_flow *flow, double start, double time);
// What came between `last` (negative: from the beginning) and `until`, where it has got to at `time`.
rh_code rh_emitter_flow_emit(struct rh_seeder *seeder, int n, double last, double until, double time, rh_points *points,
                             rh_status *status);
