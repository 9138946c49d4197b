// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Keeps a step from giving particles momentum and energy that nothing gave them.
//
// The pressure's operator takes a face between two liquid cells to have the mass of a full cell, one at the surface the
// part of it that is liquid, faces beyond none: with these masses its forces cancel in pairs and it never adds energy.
// Particles feel it with the weights they have on the faces. Where the two differ momentum and energy are lost or won:
// a sheet three cells thick that slid over a floor won a fifth of its momentum in six seconds, a puddle trebled its
// energy.
//
// So particles feel less of the pressure on faces where they weigh more than the operator thinks: light faces at the
// surface, where its changes are largest. Momentum that is won or lost nevertheless is taken from, or given to, all of
// a connected part of the liquid, along axes along which no wall acts on it. (Mended tile by tile, by faces in
// proportion to their change, it was right in every place, but water at rest began to tremble: faces so changed let
// liquid flow in or out, which the next pressure mends, and so on.)
#pragma once
#include "physics/pressure.h"

typedef struct rh_momentum_error_input {
    const rh_pressure *pressure;
    rh_faces weight;         // particles around each face (rh_particles_to_grid)
    float per_cell;          // particles of a full cell
    rh_faces before, after;  // m/s: before forces acted; projected, and extended beyond the liquid
    rh_faces force_change;   // m/s: what forces did; axis[0] NULL where it is the same everywhere:
    rh_vec3 force_change_everywhere;
    bool no_slip_walls;  // some walls hold back what slides along them
    bool walls_return;   // all walls are dynamic solids: what they take of the momentum they keep, and the whole stays
} rh_momentum_error_input;

// Of a tile.
typedef struct rh_momentum_error {
    double momentum[3];  // m/s, per mass of a particle: what its particles get too much
    bool walled[3];      // a wall acts along the axis: nothing is known of it
} rh_momentum_error;

// Replaces `weight` by the velocities that particles are to feel, and tells what they win by it.
void rh_momentum_error_measure(const rh_momentum_error_input *of, rh_momentum_error *errors);

// Takes back what the particles have won, after they have felt it. frame_share[t] of tiles with particles becomes
// how far they travel alike, 0..1 (rh_paths), 0 along axes along which a wall acts. Particles are in the order of the
// tiles.
rh_code rh_momentum_error_correct(const rh_tiles *tiles, const rh_momentum_error *errors, rh_vec3 *velocities,
                                  rh_vec3 *frame_share, rh_arena *arena, rh_status *status);
