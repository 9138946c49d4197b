// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Where a picture is taken from: as the scene says, or so that a box fills the picture.
#pragma once
#include <stdbool.h>
#include "scene/look.h"
#include "view/trace.h"

// From the front right, slightly from above, as near as the whole box allows.
rh_view rh_view_frame(rh_dbox box, double fov, int width, int height);
bool rh_camera_given(const rh_camera_params *camera);  // false: the scene leaves it to us
rh_view rh_camera_at(const rh_camera_params *camera, double time);
