// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What whitewater is made of, and how it is made: by particles of the base, at the rates of their cells
// (physics/whitewater/flow.h), and by drops of another run that fall into the liquid. Both are drawn at the ticks of a
// clock (`interval`) by (seed, id, tick), so that amounts do not depend on how steps are cut.
#pragma once
#include "physics/whitewater/flow.h"

typedef struct rh_foam_particles {
    rh_vec3 *x, *v;
    float *r, *age, *life;
    int32_t *kind;
    uint8_t *groups[RH_CLASSES];
    int64_t *id;
} rh_foam_particles;

extern const char *const rh_foam_groups[RH_CLASSES];

rh_foam_particles rh_foam_particles_of(const rh_points *points);
typedef struct rh_foam_emission {
    const rh_whitewater_params *params;
    const rh_surroundings *around;
    const rh_base_run *base, *drops;  // at the middle of the step; drops NULL: none
    const rh_foam_flow *flow;
    double dt;  // s
    rh_arena *arena;
} rh_foam_emission;

// New particles, behind those that there are.
rh_code rh_foam_emit(const rh_foam_emission *e, rh_points *points, rh_status *status);
// Bubbles of drops that go from the air into the liquid.
rh_code rh_foam_enter(const rh_foam_emission *e, rh_points *points, rh_status *status);
