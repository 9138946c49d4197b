// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Material that walls push: all cells under pressure that are connected, through open faces, to one where walls take
// room in this step, unless there is a wide way out of them, a free surface larger than the walls that push. Material
// that is pushed through narrow exits leaves at the speed that continuity demands: the volume that walls take, over the
// open area.
//
// In these cells a face that walls close in part counts as filled by its open share at least (rh_limit.pushed).
// Pressure finds the flow that has to go through a face, and the material that happens to be in the face carries that
// flow. In a narrow exit that is now and then no more than the rim of one particle: it took all of the flow, left at
// ten times the speed, left the exit emptier than before, and made steps shorter, in which the next had to be faster
// still. Splash was shot out of slits at 600 m/s, sand at 2000, where continuity demands 7. With the mass of a full
// exit material leaves at most at the speed of continuity; what it then does not carry stays behind as overfill and
// leaves in the next steps.
// (Tried: a bound on the speed of everything that pressure acts on while any wall moves; it held back unrelated jets.
// Cells counted as pushed with a wide way out, too; water beside a piston in a channel ran ahead of it. Only the faces
// of narrow exits, with walls within two cells on both sides; cells along the piston went on demanding more flow.)
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
