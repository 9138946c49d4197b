// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Body forces of a scene as one acceleration field.
#pragma once
#include "scene/scene.h"

// Sum of gravity and all forces active at `time`; `scene` is a const rh_scene*. Fits rh_surroundings.acceleration.
rh_dvec3 rh_forces_acceleration(rh_dvec3 point, double time, const void *scene);
