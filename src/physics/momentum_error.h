// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Takes back momentum and energy that particles gain in a step without a force that gives it to them.
//
// The operator of the pressure solve gives each face a mass: that of a full cell between two liquid cells, the liquid
// part of it at the surface, none beyond. With these masses the forces of pressure cancel in pairs and never add
// energy. But particles receive a face's change of velocity by the weights that they themselves have on the face. Where
// the two masses differ momentum and energy are lost or gained: a sheet three cells thick that slid over a floor gained
// a fifth of its momentum in six seconds, a puddle trebled its energy.
//
// So particles receive less of what pressure does to faces where they weigh more than the operator assumes: light faces
// at the surface, where these changes are largest. Momentum that is gained or lost nevertheless is taken from, or given
// to, all of a connected part of the liquid, along axes along which no wall acts on it. (Corrected tile by tile, on
// faces in proportion to their change, momentum was right in every place, but water at rest began to tremble: faces so
// changed let liquid flow in or out, which the next pressure solve undoes, and so on.)
#pragma once
#include "physics/pressure.h"

typedef struct rh_momentum_error_input {
    const rh_pressure *pressure;
    rh_faces weight;         // particles around each face (rh_particles_to_grid)
    float per_cell;          // particles of a full cell
    rh_faces before, after;  // m/s: before forces acted; projected, and extended beyond the liquid
    rh_faces force_change;   // m/s: what body forces did; axis[0] NULL where it is the same everywhere:
    rh_vec3 force_change_everywhere;
    float speed_limit;   // m/s: particles receive no more from a face
    bool no_slip_walls;  // some walls are without slip
    bool walls_return;   // all walls are dynamic solids: momentum that they take is still in the whole
} rh_momentum_error_input;

// The error of a tile.
typedef struct rh_momentum_error {
    double momentum[3];  // m/s times particles: what the particles of the tile receive in excess
    bool walled[3];      // a wall acts along the axis: the error along it is not known
} rh_momentum_error;

// Replaces `weight` by the velocities (m/s) that particles are to receive from the faces, and tells what they gain by
// it.
void rh_momentum_error_measure(const rh_momentum_error_input *of, rh_momentum_error *errors);

// Takes that gain back, after the particles have received those velocities. frame_share[t], 0..1, of tiles with
// particles becomes the share of their motion that they have in common (rh_paths), 0 along axes along which a wall
// acts. Particles are in the order of the tiles.
rh_code rh_momentum_error_correct(const rh_tiles *tiles, const rh_momentum_error *errors, rh_vec3 *velocities,
                                  rh_vec3 *frame_share, rh_arena *arena, rh_status *status);
