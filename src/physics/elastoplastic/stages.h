// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A step of elastoplastic matter, as its stages hand it on, and what is kept between steps.
#pragma once
#include "physics/elastoplastic/links.h"
#include "physics/elastoplastic/stress.h"
#include "physics/step.h"

#define RH_EP_FADES 0.25f  // share of the lattice's weights: who has less gets soft

typedef struct rh_ep_method {
    const rh_ep_params *params;
    rh_sph_kernel kernel;
    rh_sph_wall_cache *walls;
    rh_sph_lists lists;
    rh_ep_links links;
    rh_arena arena;
    double rate;  // 1/s: fastest strain or turn of the last step
} rh_ep_method;

typedef struct rh_ep_step {
    rh_ep_method *me;
    const rh_surroundings *around;
    rh_points *points;
    rh_step_report *report;
    double clock;
    float kick;
    rh_tiles tiles;
    rh_sph_walls walls;
    rh_ep_matter matter;
    rh_ep_state state;  // scratch: written back when the step cannot fail any more
    int32_t *slot;      // links.h
    float *pattern;     // [9 count] less 1
    float *x, *y, *z;
    float *pressure;      // [count] m^2/s^2: over the density
    const float *before;  // velocities of an implicit step without walls; NULL: explicit
    uint8_t *held;
    rh_vec3 *start;
    double *sums;
} rh_ep_step;

// --- who is linked with whom (linking.c) -----------------------------------------------------------------------------
// Lists of neighbours, densities on the way; links, made or mapped.
rh_code rh_ep_find_links(rh_ep_step *step, rh_status *status);
// At the end of a step: whose links say little gets new ones in the next.
void rh_ep_renew_links(rh_ep_step *step);
