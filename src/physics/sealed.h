// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rooms without an exit: connected free space of the tiles that walls close on all sides. What is in such a room can
// only stay in it, so two numbers tell all: how much room there is and how much material. Where walls press it into
// less room than it has, no velocities can be right: pressure has no solution, and a step can only lose volume or tear
// the material apart.
//
// Found only in scenes where that can happen: with solids that move or inflows.
#pragma once
#include "base/arena.h"
#include "physics/physics.h"
#include "solid/cut_cells.h"

typedef struct rh_sealed_options {
    bool blurred;      // cells and faces as particles see them (rh_cut_cells.room, pass); else volume and open
    double per_cell;   // particles of a full cell
    double tolerance;  // share of a room that may be too much in it; a few cells more are let pass in any case
} rh_sealed_options;

typedef struct rh_sealed {
    // A byte per row of eight cells: bits of cells in and around tiles with nearly full rooms; NULL = none.
    uint8_t *tight;
    rh_squeeze squeeze;  // the room with most too much in it
} rh_sealed;

// Particles are sorted by the tiles, solids placed as `cut` has them. Memory is the arena's.
rh_code rh_sealed_find(rh_sealed *sealed, const rh_sealed_options *options, const rh_surroundings *around,
                       const rh_tiles *tiles, const rh_cut_cells *cut, rh_arena *arena, rh_status *status);
// The step's answer to a squeeze: RH_NUMERIC, with what was found in the report; else RH_OK.
rh_code rh_sealed_judge(const rh_sealed *sealed, rh_step_report *report, rh_status *status);
