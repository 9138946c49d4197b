// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What particles are made of: by their kind, or by attributes of their own.
#pragma once
#include "physics/elastoplastic/matter.h"

typedef struct rh_ep_source {
    const rh_ep_params *params;
    double dt;                       // s: of the plastic flow
    const int32_t *kind;             // NULL: all are of kind 0
    const float *stiffness, *yield;  // NULL: as the kind has them
    bool same;                       // all particles have these:
    rh_ep_moduli all;
} rh_ep_source;

rh_ep_source rh_ep_source_of(const rh_ep_params *params, const rh_points *points, double dt);
// Of particle i.
void rh_ep_moduli_of(const rh_ep_source *source, int64_t i, rh_ep_moduli *out);
// s: longest explicit step, of sound waves and viscosity.
double rh_ep_sound_limit(const rh_ep_params *params, double spacing, const rh_points *points);
