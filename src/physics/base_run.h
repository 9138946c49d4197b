// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The base run of a layer (`from:` of the scene), as it is at one time: its particles, by id on cubic curves between
// two frames (points/interpolate.h), and its fields, linearly between them. A method can query what the material does
// at a place; it cannot change anything. Queries may come from many threads at once and their results do not depend on
// them. The world sets the time (world/base_frames.h), at the middle of each step.
//
//   velocity   mean of the particles within `reach`, weighted (1 - d^2 / reach^2)^3
//   distance   to the surface, from the same particles: |x - mean position| - radius (Y. Zhu, R. Bridson,
//              "Animating sand as a fluid", SIGGRAPH 2005, section 5); m, negative inside, `reach` where no
//              particle is near. Deep inside, where the mean is at x itself, it is -radius: it tells inside
//              from outside and the way out near the surface, not the depth.
#pragma once
#include "grid/fields.h"
#include "points/neighbours.h"
#include "points/points.h"

typedef struct rh_base_run {
    const char *name;  // in `from:`; borrowed
    int dimension;
    double time;       // s: of the state in here
    rh_points points;  // P, v and what else the frames have
    float radius;      // m, of a particle
    float reach;       // m
    float fastest;     // m/s, of the particles
    rh_neighbours near;
    rh_fields earlier, later;  // of the frames before and after; borrowed
    float share;               // 0..1: weight of `later`, the rest is that of `earlier`
} rh_base_run;

// The material at a place. `near`: there is some within reach; without, velocity is zero and distance `reach`.
typedef struct rh_base_answer {
    bool near;
    rh_vec3 velocity;  // m/s
    float distance;    // m
} rh_base_answer;

// `scratch` is the asking thread's own (zeros at first, rh_neighbour_list_free in the end); it grows to what one
// question needs.
rh_code rh_base_ask(const rh_base_run *base, rh_vec3 place, rh_neighbour_list *scratch, rh_base_answer *answer,
                    rh_status *status);
// All particles within `radius`: rh_neighbours_within(&base->near, ...), whose numbers are those of base->points.
// A field at a place, linear between cells and frames; false when there is none of the name. Of floats x is set.
bool rh_base_field(const rh_base_run *base, const char *name, rh_vec3 place, rh_vec3 *value);

// The base of this name; NULL when there is none.
const rh_base_run *rh_base_find(const rh_base_run *const *bases, int count, const char *name);
