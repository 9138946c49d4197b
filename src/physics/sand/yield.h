// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which cells of sand hold and which yield (SND-2, SND-3), and the friction of those that yield (SND-5).
//
// Stresses are in the unit of q (physics/pressure.h), m/s: stress * kick / (density h). Memory is the arena's.
#pragma once
#include "physics/sand/strain.h"

typedef struct rh_sand_strength {
    float sine;      // of the friction angle
    float cohesion;  // m/s
} rh_sand_strength;

typedef struct rh_sand_cells {
    float *mass;     // per cell: free share of a cell of sand, in cells; 0 where there is none
    float *slides;   // per cell that yields: the largest friction (Frobenius norm), m/s; 0 for all others
    uint8_t *holds;  // per row of eight cells: bits of cells that hold
    int64_t yielding;
} rh_sand_cells;

rh_code rh_sand_yield(rh_sand_cells *cells, const rh_incompressible_view *view, rh_sand_strength strength, rh_status *status);
// Changes the view's velocities by the friction of cells that yield.
rh_code rh_sand_slide(const rh_sand_cells *cells, const rh_incompressible_view *view, rh_status *status);

// Mass of a face, in cells: half of what is on either side.
float rh_sand_face_mass(const rh_sand_cells *cells, const rh_tiles *tiles, int32_t t, int c, int axis);

static inline bool rh_sand_cell_holds(const rh_sand_cells *cells, int64_t cell) { return cells->holds[cell >> 3] >> (cell & 7) & 1; }
