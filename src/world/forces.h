// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Body forces of a scene as one acceleration field.
#pragma once
#include "scene/scene.h"

// Gravity and all forces at a point: the mean over the interval from < to (s), exact however short a force lasts.
// `scene` is a const rh_scene*. Fits rh_surroundings.acceleration.
rh_dvec3 rh_forces_acceleration(rh_dvec3 point, double from, double to, const void *scene);

// Does any force beside gravity act between the two times?
bool rh_forces_act(const rh_scene *scene, double from, double to);

// No point is accelerated more than this (m/s^2) between the two times: the sum of what each force can do at its
// strongest, and gravity.
double rh_forces_strongest(const rh_scene *scene, double from, double to);
