// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rooms without an exit: connected free space of the tiles that walls close on all sides. What is in such a room can
// only stay in it, so it is enough to compare the volume of the room with that of the material in it. Where walls press
// the material into less volume than it needs, no velocities can be right: pressure has no solution, and a step can
// only lose volume or tear the material apart. A dynamic solid among the walls gives way, though, so that rooms may
// then be overfull by their own volume.
//
// Found only in scenes where that can happen: with solids that move or inflows.
#pragma once
#include "base/arena.h"
#include "physics/physics.h"
#include "solid/cut_cells.h"

// Open share of a face: one that is open by less is no exit. Half a cell is about the distance of particles.
static const float RH_NARROWEST_EXIT = 0.5f;

typedef struct rh_sealed_options {
    bool blurred;      // cells and faces as particles see them (rh_cut_cells.room, pass); else volume and open
    double per_cell;   // particles of a full cell
    double tolerance;  // excess of material that is let pass, as a share of the room; a few cells in any case
} rh_sealed_options;

typedef struct rh_sealed {
    // A byte per row of eight cells: bits of cells in and around tiles with nearly full rooms; NULL = none.
    uint8_t *tight;
    rh_squeeze squeeze;  // the room with the largest excess
} rh_sealed;

// Particles are sorted by the tiles, solids placed as `cut` has them. Memory is the arena's.
rh_code rh_sealed_find(rh_sealed *sealed, const rh_sealed_options *options, const rh_surroundings *around,
                       const rh_tiles *tiles, const rh_cut_cells *cut, rh_arena *arena, rh_status *status);
// Fails with RH_NUMERIC, and puts what was found into the report, when there is a squeeze; else RH_OK.
rh_code rh_sealed_judge(const rh_sealed *sealed, rh_step_report *report, rh_status *status);
