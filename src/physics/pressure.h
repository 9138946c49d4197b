// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The projection of the liquid: operator from surface and solids, right-hand side, gradient. Pressure is solved for as
// q = p dt / (rho h), a velocity, so that u_new = u - (difference of q between cells).
//
// Right-hand sides and q are vectors of the operator (solve/poisson.h): they exist only on tiles with liquid.
#pragma once
#include "grid/levelset.h"
#include "physics/solid_coupling.h"
#include "physics/surface_tension.h"
#include "solid/cut_cells.h"
#include "solve/cg.h"
#include "solve/layout.h"

typedef struct rh_pressure {
    const rh_tiles *tiles;
    const rh_surface *surface;
    const rh_cut_cells *cut;
    rh_layout layout;     // which cells are unknowns
    const float **thick;  // m, tiles apart: thickness of liquid that lies on a wall as a sheet; large elsewhere
    rh_poisson matrix;
    rh_precondition which;
    rh_preconditioner preconditioner;
    rh_pockets pockets;  // liquid without air
    rh_pockets unfelt;   // those whose level does not move the solids either
    float *q;
    rh_solid_coupling *solids;    // dynamic ones, which the projection moves too; NULL = none
    rh_surface_tension *tension;  // borrowed; NULL = none
    rh_faces jump;                // m/s: q at the surface, on faces between liquid and air; axis[0] NULL = 0 everywhere
    float heavier;                // cells: faces towards air count as so much heavier in the operator
    uint8_t *released;            // cells at separating walls that have let go: q = 0; NULL when no wall separates
} rh_pressure;

// Prepares operator and preconditioner for the present surface and solids (with separating walls the operator is made
// by rh_pressure_project). With `shores`, liquid that thins out on a wall does not push into the air ahead of it
// (pressure.c).
// `solids`: as prepared, borrowed; may be NULL.
rh_code rh_pressure_prepare(rh_pressure *p, const rh_tiles *tiles, const rh_surface *surface, const rh_cut_cells *cut,
                            rh_solid_coupling *solids, bool shores, rh_precondition preconditioner, rh_arena *arena,
                            rh_status *status);
// Makes the operator once more with a surface that is heavier (rh_pressure.heavier) than the liquid beside it: nearer
// to one with the inertia of rh_surface_tension, so that the solve takes a third of the iterations. What is found is
// the same; displacements want 0.
rh_code rh_pressure_weigh_surface(rh_pressure *p, float heavier, rh_arena *arena, rh_status *status);
// Solves A q = b with solids that do not move; b is destroyed. From pockets the mean of b is removed first (nothing
// could balance it).
rh_code rh_pressure_solve(rh_pressure *p, float *b, double tolerance, int max_iterations, rh_arena *arena,
                          rh_cg_report *report, rh_status *status);
// Makes `velocity` (m/s) divergence-free: right-hand side, solve (in which cells at separating walls may let go),
// gradient. Dynamic solids are moved by the pressure, and by their contacts.
// known[a] becomes 1 on faces that got a projected velocity, 0 elsewhere.
rh_code rh_pressure_project(rh_pressure *p, rh_faces velocity, uint8_t *const known[3], double tolerance,
                            int max_iterations, rh_arena *arena, rh_cg_report *report, rh_status *status);
// field -= grad q on open faces that touch liquid; known as above.
void rh_pressure_subtract_gradient(const rh_pressure *p, rh_faces field, uint8_t *const known[3]);
// b = what flows into each cell that is an unknown, less what flows out, m/s: the right-hand side without tension.
void rh_pressure_inflow(const rh_pressure *p, rh_faces velocity, float *b);
// push = what the pressure q does to faces of the mass of a full cell, m/s; 0 where it does nothing. Its work is that
// on the inflow: push . u = - q . inflow(u), but for shores.
void rh_pressure_push(const rh_pressure *p, const float *q, rh_faces push);
// The mass that the operator takes the lower faces of a tile along an axis to have, as a share of a full cell's: 1
// between liquid cells, the liquid part of the way towards air, 0 elsewhere, times the open part of the face.
void rh_pressure_face_masses(const rh_pressure *p, int32_t t, int axis, float *mass);
// pushed[cells of a tile]: share of the difference of pressure across each lower face that moves the liquid there; less
// than 1 at shores alone, where the wall bears the rest.
void rh_pressure_pushed(const rh_pressure *p, int32_t t, int axis, float *pushed);
// Pressure at particles, out[p] = scale * q(positions[p]); particles sorted by tiles. Every liquid cell extrapolates
// from its own value and slope, and the cells around a particle are blended with linear weights: exact for a linear
// pressure right up to walls and surface. 0 where no cell around the particle is liquid (spray). Valid until the next
// solve overwrites q. With `weight` below 1: that share of the new value, and the rest of what `out` had before.
void rh_pressure_sample(const rh_pressure *p, const rh_vec3 *positions, float scale, float weight, float *out);
// The same at one place: q, wherever it is; 0 where there are no tiles.
float rh_pressure_at(const rh_pressure *p, rh_vec3 place);

// One cell of the tiles: whether it is an unknown, and its q (0 when it is not).
static inline bool rh_pressure_is_unknown(const rh_pressure *p, int64_t cell)
{
    return p->layout.unknown[cell >> 3] >> (cell & 7) & 1;
}
static inline float rh_pressure_value(const rh_pressure *p, int64_t cell)
{
    int32_t slot = p->layout.slot[cell / p->tiles->cells];
    return slot < 0 ? 0 : p->q[(int64_t)slot * p->tiles->cells + cell % p->tiles->cells];
}
