// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How long a time step may be: for methods whose particles travel a number of cells a step on a grid that carries
// surface waves.
#pragma once
#include "physics/physics.h"

// Two limits: neither particles (but for a few) nor walls travel more than `cells` cells, and the shortest surface
// waves the grid carries stay stable. s.
double rh_time_step_limit(double cells, const rh_surroundings *around, const rh_points *points);
// The same where particles that nothing presses (`pressed` is 0; one number a particle) may travel `free` times as far:
// in flight the length of a step does not matter.
double rh_time_step_limit_in_flight(double cells, double free, const float *pressed, const rh_surroundings *around,
                                    const rh_points *points);
