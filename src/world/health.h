// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Numbers that have gone wrong: what a step left is judged by its particles alone, so that a resumed run is judged like
// one that was never stopped.
//
// Speed: what runs away grows without bound, so the limit only has to be beyond everything that makes sense: a particle
// that crosses 4096 cells in a frame would need hundreds of steps for it. Particles: only emitters make them, and how
// many is known beforehand within a factor, of those that move too.
#pragma once
#include <stdbool.h>
#include "physics/physics.h"
#include "points/points.h"
#include "points/sets.h"
#include "scene/scene.h"

enum { RH_HEALTH_WORDS = 512 };  // room for what rh_health_worst says

typedef struct rh_health_limits {
    double speed;       // m/s
    bool speed_chosen;  // by the scene
    int64_t particles;
    bool particles_chosen;
} rh_health_limits;

// `expected` particles at most.
rh_health_limits rh_health_limits_of(const rh_scene *scene, double expected);

// RH_NUMERIC with what is wrong, where, and what to do about it. `max_speed` is that of the step's report.
rh_code rh_health_check(const rh_health_limits *limits, const rh_points *points, double max_speed, rh_status *status);

// The same of a set that the method keeps beside the main one, of which no step reports: every particle is looked at.
// Sets without places or velocities have none that could run away.
rh_code rh_health_check_set(const rh_health_limits *limits, const rh_set *set, rh_status *status);

// RH_NUMERIC for a step that found `squeeze`: where, how much too little room, between which solids, what to do.
rh_code rh_health_squeezed(const rh_scene *scene, const rh_squeeze *squeeze, rh_status *status);

// The worst particle in words: one that is not finite, else one that is further than `reach` (m) from the origin, else
// the fastest; and what to look for. Empty without particles.
void rh_health_worst(const rh_points *points, double reach, char *out, size_t size);
