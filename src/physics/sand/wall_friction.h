// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Friction between sand and walls across the grid (those along its planes are friction.c's own): a traction in every
// cell that such a wall cuts, along the wall, at most the wall's coefficient times what presses on it. It is unknown in
// the same solve as the stress inside the sand (friction.h): the solver asks for the velocity of the sand in a cell,
// and gives the force back to the same faces with the same weights, so that momentum is what walls give and energy can
// only be lost.
//
// Tractions are forces on a cell's sand, in the unit of the limit's q; velocities in cells per step. Memory is the
// arena's. From step to step tractions ride on the particles, in the last three numbers of the attribute "stress" (Pa).
#pragma once
#include "grid/rows.h"
#include "physics/sand/stress.h"

typedef struct rh_wall_friction {
    const int32_t *list;  // tiles that have stress; the caller's
    int32_t count;
    uint8_t *cut;            // per row: bits of cells that a wall cuts
    uint8_t *beside;         // per row: nonzero where the row, or one beside it, has such cells
    uint8_t *bare;           // per row: bits of cells at walls across the grid that have an open face without sand
    float *normal[3];        // of the wall in those cells, towards the sand
    float *side[3];          // 1, -1 where the lower, the upper face is the wall's and the other has sand; else 0
    float *inverse_mass[3];  // of the cell's open faces along the axis together; 0 if none has sand
    float *slip[3];          // the wall's own velocity
    float *area[3];          // how much more the cell's upper face is open than the lower one: what pressure acts on
    rh_faces held;           // mass on faces that are the wall's, half of each for the cells on its sides
    rh_faces riding;         // the same of cut cells, with what neighbours leave to them: moves with their open faces
    float *mark;             // 1 in cut cells and in those that leave their load to a neighbour, 0 elsewhere
    float *bound;            // largest traction
    float *into;             // what the sand on faces that are the wall's falls into it by: load too
    float *gives;            // cells whose load a neighbour bears, and which
    float *share;            // of the load that the first contact of a cell bears
    // Tractions of a cell's two contacts, at its lower faces and at its upper ones: one for the mean of both would not
    // feel what goes this way at one face and that way at the next, and the feet of piles spread.
    rh_faces carried[2], now[2], ahead[2];
    rh_faces change[2];  // what they and the stress in such cells do to the velocities of lower and upper faces
} rh_wall_friction;

// Finds the cells, and takes their tractions from the particles.
rh_code rh_wall_friction_begin(rh_wall_friction *walls, const int32_t *list, int32_t count,
                               const rh_unilateral_view *view, rh_faces inverse_mass, rh_status *status);
// Sand on faces that are the wall's moves with the sand beside it: both share what pressure and forces have done to
// either, along the wall. `u` (cells per step) is that of open faces, view->velocity has the others too.
rh_code rh_wall_friction_share(const rh_wall_friction *walls, const rh_unilateral_view *view, rh_faces inverse_mass,
                               rh_faces u, rh_status *status);
// How much tractions may be: `coefficients` (of cells, as in tiles) times what presses, pressure `q` (of tiles too) and
// the stress of the last step, together no more than `most`.
rh_code rh_wall_friction_bound(rh_wall_friction *walls, const rh_unilateral_view *view, const float *coefficients,
                               const float *q, float most, const rh_stress *carried, rh_status *status);
// u += scale inverse_mass (what tractions do, and what the normal parts of stress do in cut cells other than
// differences of neighbours say: what presses on a wall across the grid acts along the wall's normal).
void rh_wall_friction_push(const rh_wall_friction *walls, const rh_faces traction[2], const rh_stress *stress,
                           rh_faces inverse_mass, float scale, const rh_tiles *tiles, rh_faces u);
// Strain rates of the cells of a row, where a wall takes a face of the cell: the wall's face moves with the sand, but
// not away from the wall.
void rh_wall_friction_strain(const rh_wall_friction *walls, const rh_rows u[3], const rh_rows inverse_mass[3],
                             int64_t at, int r, int dimension, rh_f8 strain[3]);
// One step of projected gradients: ahead -> now and ahead, with momentum. Adds to the largest change of the row's
// tractions and to how far they went uphill.
void rh_wall_friction_climb(const rh_wall_friction *walls, const rh_rows u[3], const rh_rows inverse_mass[3],
                            int64_t at, int r, int dimension, float momentum, rh_f8 *largest, rh_f8 *uphill);
// What walls are given by tractions and by stress, at the lower faces of the cells; `out` is zero before.
void rh_wall_friction_on_walls(const rh_wall_friction *walls, const rh_stress *stress, const rh_tiles *tiles,
                               rh_faces out);
void rh_wall_friction_to_particles(const rh_wall_friction *walls, const uint8_t *rest, float quiet,
                                   const rh_unilateral_view *view);
