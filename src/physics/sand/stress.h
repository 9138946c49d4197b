// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The friction of sand as a trace-free stress on the staggered grid: its normal parts at centres of cells, its shear
// parts at the lower edges of cells (2D: corners), so that the force on a face and the strain rate of the flow are
// differences of neighbours, and each is the other's transpose.
//
// Stresses are in the unit of the limit's q (physics/limit.h), tension positive; velocities in cells per step. Memory
// is the arena's. Between steps a stress is stored on the particles (attribute "stress", Pa: xx yy zz xy xz yz),
// because a pile at rest takes many steps to find the stress that holds it.
#pragma once
#include "physics/unilateral.h"

enum { RH_STRESS_PARTS = 6 };
static const int rh_stress_axes[RH_STRESS_PARTS][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

typedef struct rh_stress {
    float *part[RH_STRESS_PARTS];
} rh_stress;  // what has a z is NULL in two dimensions

static inline bool rh_stress_has(int dimension, int part) { return rh_stress_axes[part][1] < dimension; }

rh_code rh_stress_new(rh_stress *stress, const rh_tiles *tiles, bool clear, rh_arena *arena, rh_status *status);

// Faces as friction sees them. Faces that walls close by half or more belong to the wall: friction does not move them.
// In tiles `between` upright walls (rh_between_upright_walls) not all of them do.
typedef struct rh_sand_faces {
    rh_faces inverse_mass;  // 1 / filling; 0 for those of walls
    rh_faces start;         // cells per step, without friction
    rh_faces open;          // open share; 0 for those of walls
} rh_sand_faces;
rh_code rh_sand_faces_make(rh_sand_faces *faces, const rh_unilateral_view *view, const uint8_t *between,
                           rh_status *status);
static const float RH_STRESS_QUIET = 0.01f;  // of a cell's weight: smaller changes are dropped where sand rests
// Share of the change of stress in a step that particles take over in slow sand between upright walls; others take all.
// Pressure is found with the stress of the last step, and friction with the pressure of this one. Between walls, what
// one gets wrong is wrong for all that lies below, and with all of the change taken over they overshot each other:
// under a column that sank with its floor the load was 0.03 of its weight in one step and 1.4 in the next. As
// equations, the load at a depth is q = W - V q of the step before, V an integral from the surface down; steps of part
// of the way to its solution converge when the part is below about 2 / |1 + V|^2, with |V| = (2 / pi) times the height
// over Janssen's length.
static const float RH_STRESS_TAKEN = 0.2f;
static const float RH_SAND_CLOSED = 0.5f;       // open share of a face up to which it belongs to the wall
static const float RH_SAND_SOLID_ROOM = 0.45f;  // room up to which a cell is inside a wall
static const double RH_SAND_WEDGED = 4;         // pressure counts up to this times what weight and walls account for

// The tiles, and rows of eight cells, that stress acts in.
typedef struct rh_stress_rows {
    const int32_t *list;  // tiles
    int32_t count;
    const uint8_t *moved;  // per row: nonzero where stress moves faces; NULL = everywhere on the listed tiles
} rh_stress_rows;

// out = from + scale * inverse_mass * (divergence of the stress), on the given rows; `from` may be `out`.
void rh_stress_add_divergence(const rh_stress *stress, rh_faces inverse_mass, rh_faces from, float scale,
                              const rh_tiles *tiles, const rh_stress_rows *rows, rh_faces out);

// The mean over the particles of each cell, and of the cells around each edge, in tiles marked `between`
// (rh_between_upright_walls) of those that are not inside walls.
rh_code rh_stress_from_particles(rh_stress *stress, const rh_unilateral_view *view, const uint8_t *between,
                                 rh_status *status);
// How cells move: bits, a byte per row.
typedef struct rh_stress_motion {
    const uint8_t *rest;  // they rest
    // They take over changes gradually (RH_STRESS_TAKEN): they lie between upright walls, are no faster than what
    // gravity adds in a step or two, and bear no more than weight accounts for. (Tried: all slow sand, without the
    // walls: layers that start to slide then had 0.9 of their friction; and sand that a piston presses through a slit
    // broke loose at twice the speed.)
    const uint8_t *gradual;
} rh_stress_motion;

// Particles take over what changed in their cell since rh_stress_from_particles gave `before`; gradual ones a part
// of it. A share `stress_smoothing` of what they carry is drawn to the mean of the cells around: a
// stress that changes its sign from row to row, and the pressure with it, pushes nothing and would never be found wrong
// otherwise (it had grown until every second row of a pile at rest gave way). This is not done in cells at rest: there
// smoothing would start motion in sand that should lie still. Small changes are not taken over there either: the
// remaining error of the friction solve wandered for half a minute, and then a slope gave way.
rh_code rh_stress_to_particles(const rh_stress *stress, const rh_stress *before, const rh_stress_motion *motion,
                               float stress_smoothing, const rh_unilateral_view *view, rh_status *status);
