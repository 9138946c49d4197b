// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What gravity and the air do to the velocity of a drop, by its size. The rate of drag k (1/s) is that of
// dv/dt = a - k (v - wind).
#pragma once
#include "physics/droplets/droplets.h"

enum { RH_DRAG_PIECES = 32, RH_DRAG_LOWEST = -10, RH_DRAG_TABLE = 32 * RH_DRAG_PIECES };  // Re from 2^-10 to 2^22

// Drag of a sphere over that of Stokes, at Reynolds numbers 2^-10 to 2^22, 32 of each octave.
typedef struct rh_drag_table {
    float over_stokes[RH_DRAG_TABLE + 2];
} rh_drag_table;

void rh_drag_table_fill(rh_drag_table *table);

// Changes velocities (m/s) of `count` drops over `time` (s). `acceleration` (m/s^2) has one value for each drop, or is
// NULL: all have `gravity`.
void rh_drop_push(const rh_droplets_params *params, const rh_drag_table *table, double time, rh_dvec3 gravity,
                  const rh_vec3 *acceleration, const float *radius, rh_vec3 *velocity, int64_t count);
