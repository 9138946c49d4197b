// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What a deformation does to a particle: plastic flow, tearing, stress. Deformations are stored less 1 (F - 1, rows),
// so that particles begin with zeros, and small strains keep their digits.
#pragma once
#include "physics/elastoplastic/matter.h"

// State of the particles, [count] each. NULL where a run has none.
typedef struct rh_ep_state {
    float *deformation;  // [9 count] F - 1, elastic: comes in as the last step left it, goes out with plastic flow
    float *offset;       // [3 count] m: matter.h
    const float *drift;  // [3 count] m/s: n of the last step, for friction in explicit ones
    float *hardened;     // plastic strain so far
    float *torn;         // 1: bears no tension
    float *flowed;       // plastic strain since links were made
    float *mises;        // out, m^2/s^2: von Mises stress over density
    float *stiffen;      // out: how much stiffer than at rest, at most, 1 or more
} rh_ep_state;

// Flow of a step of `dt` seconds that has passed, then `stress` of the matter. Liquids get their pressure from the
// density.
void rh_ep_stress(rh_ep_matter *matter, rh_ep_state *state);
// deformation = (1 + gradient) (1 + deformation) - 1. Steps that would turn a particle inside out, or press it by more
// than a half, are left out. The same of the offsets, with `apart`.
void rh_ep_compose(const rh_ep_matter *matter, float *deformation, float *offset);
