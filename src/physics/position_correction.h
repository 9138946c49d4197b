// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Moves particles apart where they are too close, by their neighbours, without a solve: beside the volume correction on
// the grid (physics/volume.h), or in its place. Velocities stay. docs/theory/viscosity.md says which is better when.
#pragma once
#include "base/arena.h"
#include "points/neighbours.h"
#include "solid/cut_cells.h"

typedef enum rh_position_correction {
    RH_POSITION_NONE,
    RH_POSITION_SCALED_DENSITY,  // as below, by up to five times as far away from solids
    RH_POSITION_DENSITY,         // where there are too many around a particle, it moves to where there are fewer
    RH_POSITION_DISTANCE,        // pairs closer than the spacing part
} rh_position_correction;
extern const char *const rh_position_correction_names[];  // "none", "scaled_density", "density", "distance", NULL

typedef struct rh_position_input {
    rh_position_correction how;
    const rh_tiles *tiles;
    const rh_cut_cells *cut;
    float spacing;  // m, of particles
    int sweeps;     // at most
    int64_t count;
} rh_position_input;

typedef struct rh_position_report {
    int sweeps;
    double most;  // largest density of a particle, over that of the lattice, less 1; before the last sweep
} rh_position_report;

// `search`: the caller's, used again by the next call.
rh_code rh_position_correct(const rh_position_input *in, rh_neighbours *search, rh_vec3 *positions, rh_arena *arena,
                            rh_position_report *report, rh_status *status);
