// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which cells of sand hold and which yield (Zhu 2005, eqs. 2.5 and 2.9), and the friction of those that yield
// (eq. 2.4).
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
    uint8_t *rigid;  // per row of eight cells: bits of cells that hold
    int64_t yielding;
} rh_sand_cells;

rh_code rh_sand_yield(rh_sand_cells *cells, const rh_incompressible_view *view, rh_sand_strength strength,
                      rh_status *status);
// Changes the view's velocities by the friction of cells that yield.
rh_code rh_sand_slide(const rh_sand_cells *cells, const rh_incompressible_view *view, rh_status *status);

// Mass of a known face, in cells: a cell gives half of its mass to each of its two faces along an axis, or all of it to
// one when a wall closes the other. So along every axis all mass is on faces that move.
float rh_sand_face_mass(const rh_sand_cells *cells, const rh_incompressible_view *view, int64_t face, int axis);

static inline int64_t rh_sand_cell_above(const rh_tiles *tiles, int64_t cell, int axis)  // -1 where there is no tile
{
    int32_t t = (int32_t)(cell / tiles->cells);
    int c = (int)(cell % tiles->cells), place = c >> (3 * axis) & 7;
    if (place < 7) return cell + (1 << (3 * axis));
    int32_t other = tiles->near[t][RH_HERE + (axis == 0 ? 1 : axis == 1 ? 3 : 9)];
    return other < 0 ? -1 : (int64_t)other * tiles->cells + c - (7 << (3 * axis));
}
static inline int64_t rh_sand_cell_below(const rh_tiles *tiles, int64_t cell, int axis)
{
    int32_t t = (int32_t)(cell / tiles->cells);
    int c = (int)(cell % tiles->cells), place = c >> (3 * axis) & 7;
    if (place > 0) return cell - (1 << (3 * axis));
    int32_t other = tiles->near[t][RH_HERE - (axis == 0 ? 1 : axis == 1 ? 3 : 9)];
    return other < 0 ? -1 : (int64_t)other * tiles->cells + c + (7 << (3 * axis));
}

static inline bool rh_sand_cell_holds(const rh_sand_cells *cells, int64_t cell)
{
    return cells->rigid[cell >> 3] >> (cell & 7) & 1;
}
