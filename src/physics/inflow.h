// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Inflows as particles without a grid see them: inside one the velocity is given.
#pragma once
#include "physics/physics.h"

// Whether x is in an inflow, and its velocity (m/s).
static inline bool rh_inflow_at(const rh_surroundings *around, rh_dvec3 x, rh_dvec3 *velocity)
{
    for (int n = 0; n < around->inflow_count; n++) {
        const rh_inflow *in = &around->inflows[n];
        bool inside = true;
        for (int a = 0; a < around->dimension; a++)
            inside = inside && (&x.x)[a] >= (&in->bounds.min.x)[a] && (&x.x)[a] <= (&in->bounds.max.x)[a];
        if (!inside || rh_shape_distance(in->shape, rh_pose_to_local(&in->pose, x)) > 0) continue;
        return *velocity = in->velocity, true;
    }
    return false;
}
