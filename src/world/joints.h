// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The joints of a scene, for its dynamic solids.
#pragma once
#include "scene/scene.h"
#include "solid/dynamics.h"

rh_code rh_world_join(const rh_scene *scene, const rh_obstacles *solids, rh_dynamics *dynamics, rh_status *status);
