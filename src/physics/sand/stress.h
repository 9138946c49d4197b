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
typedef struct rh_sand_faces {
    rh_faces inverse_mass;  // 1 / filling; 0 for those of walls
    rh_faces start;         // cells per step, without friction
} rh_sand_faces;
rh_code rh_sand_faces_make(rh_sand_faces *faces, const rh_unilateral_view *view, rh_status *status);
static const float RH_STRESS_QUIET = 0.01f;  // of a cell's weight: smaller changes are dropped where sand rests
static const float RH_SAND_CLOSED = 0.5f;    // open share of a face up to which it belongs to the wall
static const double RH_SAND_WEDGED = 4;      // pressure counts up to this times what weight and walls account for

// The tiles, and rows of eight cells, that stress acts in.
typedef struct rh_stress_rows {
    const int32_t *list;  // tiles
    int32_t count;
    const uint8_t *moved;  // per row: nonzero where stress moves faces; NULL = everywhere on the listed tiles
} rh_stress_rows;

// out = from + scale * inverse_mass * (divergence of the stress), on the given rows; `from` may be `out`.
void rh_stress_add_divergence(const rh_stress *stress, rh_faces inverse_mass, rh_faces from, float scale,
                              const rh_tiles *tiles, const rh_stress_rows *rows, rh_faces out);

// The mean over the particles of each cell, and of the cells around each edge.
rh_code rh_stress_from_particles(rh_stress *stress, const rh_unilateral_view *view, rh_status *status);
// Particles take over what changed in their cell since rh_stress_from_particles gave `before`. A share
// `stress_smoothing` of what they carry is drawn to the mean of the cells around: a stress that changes its sign from
// row to row, and the pressure with it, pushes nothing and would never be found wrong otherwise (it had grown until
// every second row of a pile at rest gave way). This is not done in cells at rest (`rest`: bits, a byte per row): there
// smoothing would start motion in sand that should lie still. Small changes are not taken over there either: the
// remaining error of the friction solve wandered for half a minute, and then a slope gave way.
rh_code rh_stress_to_particles(const rh_stress *stress, const rh_stress *before, const uint8_t *rest,
                               float stress_smoothing, const rh_unilateral_view *view, rh_status *status);
