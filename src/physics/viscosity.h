// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Viscosity of the liquid: one implicit step of rho du/dt = div(mu (grad u + grad u^T)) on its faces, unconditionally
// stable, with no stress on the free surface and the laws of walls. docs/theory/viscosity.md has the equations.
#pragma once
#include "grid/fractions.h"
#include "grid/levelset.h"
#include "physics/viscous_solids.h"
#include "solid/cut_cells.h"
#include "solve/precondition.h"

typedef struct rh_viscosity {
    const rh_tiles *tiles;
    const float *phi;  // m: the liquid's level set at cell centres
    const rh_cut_cells *cut;
    const rh_obstacles *obstacles;
    double viscosity;           // Pa s
    const float *of_particles;  // Pa s, of each (in the order of the tiles); NULL: the same everywhere
    rh_faces weight;            // particles around each face; axis[0] NULL: not known
    float per_cell;             // particles of a full cell
    double density;             // kg/m^3
    double time;                // s: how long it acts
    double tolerance;           // relative residual
    int max_iterations;
    rh_dynamics *dynamics;        // dynamic solids; NULL = none
    const int16_t *const *owner;  // per tile: [3 cells], number of the dynamic solid that a face belongs to, or -1;
                                  // NULL = none (solid_coupling.h)
    rh_viscous_coupling coupling;
    rh_faces to_walls;  // gets what walls receive at each face: m/s that a full cell loses to them. axis[0] NULL: not
                        // asked for. Nothing of dynamic solids that are not coupled strongly
    rh_precondition preconditioner;  // none: Jacobi
    rh_fraction_kind fractions;
} rh_viscosity;

// Solids that stress moves have their new velocities afterwards, the walls of `cut` do not.
// `velocity` (m/s) is known on all faces within a cell of the liquid, and changes there.
rh_code rh_viscosity_act(const rh_viscosity *v, rh_faces velocity, rh_arena *arena, rh_krylov_report *report,
                         rh_status *status);

// The same in parts, for those who ask it several times in a step: A u = mass u* + forces, with its preconditioner and
// solids. `v` is borrowed and memory the arena's as long as the system is used.
typedef struct rh_viscosity_system rh_viscosity_system;
rh_code rh_viscosity_prepare(const rh_viscosity *v, rh_viscosity_system **system, rh_arena *arena, rh_status *status);
rh_code rh_viscosity_relax(rh_viscosity_system *s, rh_faces velocity, rh_arena *arena, rh_krylov_report *report,
                           rh_status *status);
// How velocities change when something pushes faces (m/s that it would give a full cell), and dynamic solids, while
// viscosity acts: is added to `change`. `impulse` [6 solids], NULL without them, in: kg m/s of the push; out: that with
// what stress gives them. Nothing has received it yet.
rh_code rh_viscosity_answer(rh_viscosity_system *s, rh_faces push, double *impulse, double tolerance, rh_faces change,
                            rh_arena *arena, rh_krylov_report *report, rh_status *status);
// Finds `to_walls` for these velocities, and the walls of `cut` as they are now.
rh_code rh_viscosity_show_walls(rh_viscosity_system *s, rh_faces velocity, rh_arena *arena, rh_status *status);
// Lower faces of a tile of the liquid's grid along an axis: the diagonal of A, its mass (as a share of a full cell's)
// and what stress adds; 0 where velocities are given. Each [cells].
void rh_viscosity_diagonal(const rh_viscosity_system *s, int32_t tile, int axis, float *mass, float *stiffness);

// Share of the differences of velocity between neighbouring particles that viscosity leaves in a step: the decay of a
// wave of two cells, implicit as the step is.
static inline double rh_viscosity_leaves(double viscosity, double density, double time, double h)
{
    return 1 / (1 + 9.8696 * viscosity * time / (density * h * h));
}
