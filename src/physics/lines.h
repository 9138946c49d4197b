// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles begin on a lattice, and a flow that stretches draws its lines apart: when a puddle has spread to twice its
// length, the particles of a cell stand in one line across the flow, half as far from each other as they should be;
// later there are cells with twice their number beside empty ones. The displacement field of the volume correction
// (volume.h) moves all particles of a line alike: it only lifted such lines, and cannot part them. This module does.
#pragma once
#include "grid/tiles.h"

typedef struct rh_lines_input {
    rh_faces velocity;  // m/s: what carried the particles
    float dt;           // s
    int particles_per_axis;
    uint64_t seed;  // random numbers are those of seed, id less first_id, and step
    int64_t step;
    const int64_t *ids;
    int64_t first_id;  // of the material
} rh_lines_input;

// After particles have moved, still in the order of the tiles: particles of cells in which all lie in one line, or in
// one plane, take random steps out of it, in all about a spacing while the flow stretches them to twice their length;
// nothing happens where nothing is deformed. The centre of mass of the particles of each cell stays and so do their
// velocities: neither momentum nor kinetic energy changes.
void rh_lines_break(const rh_tiles *tiles, const rh_lines_input *of, rh_vec3 *positions);
