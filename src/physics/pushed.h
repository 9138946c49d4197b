// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Material that walls push: all cells under pressure that are connected, through open faces, to one where walls take
// room in this step, unless there is a wide way out of them, a free surface larger than the walls that push. What walls
// push out of narrow exits leaves through what is open, as fast as its volume asks for (continuity).
//
// A face there that walls close in part counts no emptier than it is open (rh_limit.pushed). Pressure finds the flow
// that has to go through a face, and what happens to be in it carries that flow. In a narrow exit that is now and then
// a rim of a particle: it took all of the flow, left at ten times the speed, left the exit emptier than before, and
// made steps shorter, in which the next had to be faster still. Splash was shot out of slits at 600 m/s, sand at 2000,
// where continuity asks for 7. With the mass of a full exit it leaves at most at the speed that continuity asks for;
// what it then does not carry stays behind, is too much there, and goes in the next steps.
// (Tried: a bound on the speed of everything that pressure acts on while any wall moves. It held back unrelated jets.
// Wide ways out or not: water beside a piston in a channel ran ahead of it. Faces of narrow exits alone, with walls
// within two cells on both sides: cells along the piston go on asking for more.)
#pragma once
#include "base/arena.h"
#include "grid/bits.h"
#include "solid/cut_cells.h"
#include "solve/layout.h"

typedef struct rh_pushed_step {
    const rh_tiles *tiles;
    const rh_cut_cells *before, *after;  // solids at the start and at the end of the step
    const float *cells;                  // filling of cells
    const rh_layout *layout;
    const float *q;  // pressure, a vector of the layout
    bool always;     // also with a wide way out
} rh_pushed_step;

// *pushed: bits of the cells, per tile, the arena's; NULL = walls push nothing.
rh_code rh_pushed_find(const rh_pushed_step *step, const rh_bits **pushed, rh_arena *arena, rh_status *status);
