// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Friction between sand and walls across the grid, those not along its planes (those along them are friction.c's
// own): a traction in every cell that such a wall cuts, along the wall, at most the wall's coefficient times the normal
// load on it. It is unknown in the same solve as the stress inside the sand (friction.h): the solver reads the velocity
// of the sand in a cell from its faces, and applies the force to the same faces with the same weights, so that momentum
// changes by what walls give and energy can only be lost.
//
// Tractions are forces on a cell's sand, in the unit of the limit's q; velocities in cells per step. Memory is the
// arena's. Between steps tractions are stored on the particles, in the last three numbers of the attribute "stress"
// (Pa).
//
// The wall's faces are those that it closes by half or more (RH_SAND_CLOSED); the other faces of a cell are its open
// ones. Sand that the particles' weights put on the wall's faces is said to ride on the open ones: it moves with them.
// A cell whose sand has no open face along the wall leaves its load to the neighbour before the wall.
#pragma once
#include "grid/rows.h"
#include "physics/sand/stress.h"

typedef struct rh_wall_friction {
    const int32_t *list;  // tiles that have stress; the caller's
    int32_t count;
    rh_faces open;           // open shares of faces, 0 for those that are the wall's
    uint8_t *cut;            // per row: bits of cells that a wall cuts
    uint8_t *beside;         // per row: nonzero where the row, or one beside it, has such cells
    uint8_t *bare;           // per row: bits of cells at walls across the grid that have an open face without sand
    float *normal[3];        // of the wall in those cells, towards the sand
    float *side[3];          // 1, -1: the lower, the upper face is the wall's and the other one has sand; else 0
    float *inverse_mass[3];  // of the cell's open faces along the axis together; 0 if none has sand
    float *slip[3];          // the wall's own velocity
    float *area[3];          // open share of the cell's upper face less that of the lower one: what pressure acts on
    rh_faces held;           // mass on faces that are the wall's, half of each for the cells on its two sides
    rh_faces riding;         // the same of cut cells, with what neighbours leave to them: moves with their open faces
    float *mark;             // 1 in cut cells and in those that leave their load to a neighbour, 0 elsewhere
    float *bound;            // largest traction
    float *into;             // momentum into the wall of sand on the wall's faces, which the wall stops: load too
    float *gives;            // 0, or which neighbour bears the cell's load: 1 + 2 axis + side
    float *share;            // of the load that the first contact of a cell (that of its lower faces) bears
    // Tractions of a cell's two contacts, that of its lower faces and that of its upper ones. One traction for the mean
    // of both would not see motion that goes one way at one face and the other way at the next, and the feet of piles
    // spread.
    rh_faces carried[2], now[2], ahead[2];
    rh_faces change[2];  // what they and the stress in such cells do to the velocities of lower and upper faces
} rh_wall_friction;

// Finds the cells, and takes their tractions from the particles.
rh_code rh_wall_friction_begin(rh_wall_friction *walls, const int32_t *list, int32_t count,
                               const rh_unilateral_view *view, const rh_sand_faces *faces, rh_status *status);
// Sand on faces that are the wall's moves with the sand beside it: what pressure and forces have done to either is
// shared between the two, along the wall. `u` (cells per step) is that of open faces, view->velocity has the others
// too.
rh_code rh_wall_friction_share(const rh_wall_friction *walls, const rh_unilateral_view *view, rh_faces inverse_mass,
                               rh_faces u, rh_status *status);
// The largest tractions: `coefficients` (of cells, as in tiles) times the normal load, which is that of the pressure
// `q` (of tiles too) and of the stress of the last step, together no more than `most`.
rh_code rh_wall_friction_bound(rh_wall_friction *walls, const rh_unilateral_view *view, const float *coefficients,
                               const float *q, float most, const rh_stress *carried, rh_status *status);
// u += scale inverse_mass (the force of tractions, and the correction of what normal stress does in cut cells: as
// differences of neighbours it would act along the axes, but what presses on a wall across the grid acts along the
// wall's normal).
void rh_wall_friction_push(const rh_wall_friction *walls, const rh_faces traction[2], const rh_stress *stress,
                           rh_faces inverse_mass, float scale, const rh_tiles *tiles, rh_faces u);
// Strain rates of the cells of a row, where a wall takes a face of the cell: the wall's face moves with the sand, but
// not away from the wall.
void rh_wall_friction_strain(const rh_wall_friction *walls, const rh_rows u[3], const rh_rows inverse_mass[3],
                             int64_t at, int r, int dimension, rh_f8 strain[3]);
// One step of projected gradients with momentum: from `ahead` to `now` and the next `ahead`. Adds to the largest change
// of the row's tractions, and to the sum whose sign says that the step went uphill.
void rh_wall_friction_climb(const rh_wall_friction *walls, const rh_rows u[3], const rh_rows inverse_mass[3],
                            int64_t at, int r, int dimension, float momentum, rh_f8 *largest, rh_f8 *uphill);
// What walls receive by tractions and by stress, at the lower faces of the cells; `out` is zero before.
void rh_wall_friction_on_walls(const rh_wall_friction *walls, const rh_stress *stress, const rh_tiles *tiles,
                               rh_faces out);
void rh_wall_friction_to_particles(const rh_wall_friction *walls, const rh_stress_motion *motion, float quiet,
                                   const rh_unilateral_view *view);
