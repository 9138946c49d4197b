// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What an emitter pours at a time: velocity and rate, which may be keyed, and may turn and travel with its motion (a
// hose that is swung).
#pragma once
#include "scene/scene.h"
#include "world/geometry.h"

// Does the velocity change over time? If not it is params->velocity.
bool rh_emitter_varies(const rh_emitter_params *p);
// Of the material in the middle of the shape, m/s.
rh_dvec3 rh_emitter_velocity(const rh_emitter_params *p, const rh_placed_shape *placed, double time);
// The velocity in the emitter's own space, before it is turned and carried along, m/s.
rh_dvec3 rh_emitter_own_velocity(const rh_emitter_params *p, double time);
// Share of the full flow, 0 to 1.
double rh_emitter_rate(const rh_emitter_params *p, double time);
// No less than the fastest it ever gets, m/s; 0 = it only places material.
double rh_emitter_fastest(const rh_emitter_params *p, const rh_placed_shape *placed);
// Velocities of particles from `first` on that were poured at `time`: in an emitter that turns each has its own.
void rh_emitter_set_velocities(const rh_emitter_params *p, const rh_placed_shape *placed, double time,
                               rh_points *points, int64_t first);
