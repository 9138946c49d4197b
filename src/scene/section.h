// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One block of parameters on its own, changed by settings: `rheo surface --set voxel=0.01` takes the surface section of
// a run's scene and changes it with the means of a scene, so ranges, nearest names and messages are the same.
#pragma once
#include "base/param.h"
#include "base/status.h"

// Fills `object` from `base` (a struct of the same table; NULL = the defaults) and `sets` ("name=value", in order).
// `name` is what messages call the base. On failure there is nothing to free; on success the caller owns what the
// struct owns (rh_params_free).
rh_code rh_section_load(const rh_param_table *table, const char *name, const void *base, const char *const *sets,
                        int set_count, void *object, rh_status *status);
