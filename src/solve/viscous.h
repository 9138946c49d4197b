// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The operator of implicit viscosity on the face velocities of sparse tiles: symmetric and positive definite,
//
//   (A u)_f = mass_f u_f + (D^T k D u)_f
//
// D takes face velocities to rates of strain times the cell's size, at the places of the staggered grid where each is a
// difference of neighbours (T. G. Goktekin, A. W. Bargteil, J. F. O'Brien, ACM TOG 23(3), 2004):
//
//   normal, at cell centres    e_aa(c) = u_a(c + a) - u_a(c)
//   shear, at cell edges       e_ab(c) = u_a(c) - u_a(c - b) + u_b(c) - u_b(c - a)     lower edge of the cell, a < b
//
// and k is the stress that each of them causes. A row has 15 entries; none is stored: a product takes differences,
// multiplies and takes differences again. Rigid motion has no strain, so A leaves it alone but for its mass.
//
// A face is an unknown, a wall (its velocity is given; A reads it, and its row is the force on the wall), or air, which
// takes part in no stress. Vectors hold a component after the other: x + a * lane + tile * cells + cell.
#pragma once
#include "grid/tiles.h"
#include "solve/krylov.h"

typedef enum rh_face_kind { RH_FACE_AIR, RH_FACE_UNKNOWN, RH_FACE_WALL } rh_face_kind;

enum { RH_STRESSES = 6 };  // 0 to 2: normal along x, y, z; then shear (rh_shear_of)
static inline int rh_shear_of(int a, int b) { return 2 + a + b; }

typedef struct rh_viscous {
    rh_tiles tiles;              // places and neighbours of the listed tiles
    int64_t lane;                // values of a component in a vector
    float *mass[3];              // per face; the caller's to fill, as the next two
    float *stress[RH_STRESSES];  // per cell; NULL in two dimensions where there is none
    uint8_t *kind[3];            // per face: rh_face_kind
    float *inverse[3];           // per face: 1 / (sum of sizes of what couples to it); 0 where it is no unknown
    float *blocks;               // k of a tile and one cell around, for products
    int32_t *block;              // per tile: its number among them; RH_ALIKE for tiles that share the first
    uint64_t *rows;              // per tile: bit j + 8 k of rows with unknowns
    int64_t unknowns;
} rh_viscous;

enum { RH_ALIKE = 0 };

// Tiles at these places, all faces air, all values 0. Memory is the arena's.
rh_code rh_viscous_init(rh_viscous *a, int dimension, const rh_tile *keys, int64_t count, rh_arena *arena,
                        rh_status *status);
// After the values were filled: drops stresses that touch air, and prepares products.
rh_code rh_viscous_finish(rh_viscous *a, rh_arena *arena, rh_status *status);

static inline int64_t rh_viscous_size(const rh_viscous *a) { return a->tiles.dimension * a->lane; }
float *rh_viscous_vector(const rh_viscous *a, rh_arena *arena, rh_status *status);  // all 0

// Vectors that products write to come from rh_viscous_vector, or are 0 where nothing is unknown: rows without unknowns
// are left alone.
// y = A x on unknowns, 0 elsewhere.
void rh_viscous_apply(const rh_viscous *a, const float *x, float *y);
// y = D^T k D x + mass x on all faces, walls included.
void rh_viscous_pull(const rh_viscous *a, const float *x, float *y);
// r = share (b - A x), the share of each face being 0 where nothing is unknown.
void rh_viscous_residual(const rh_viscous *a, const float *b, const float *x, float *const share[3], float *r);
// y = x + weight D^-1 (b - A x), D being what `inverse` is of: the spectrum of D^-1 A is in (0, 1]. x and y differ.
void rh_viscous_smooth(const rh_viscous *a, float weight, const float *b, const float *x, float *y);
void rh_viscous_smooth_zero(const rh_viscous *a, float weight, const float *b, float *x);  // the same from 0
// Rates of work: x . D^T k D x.
double rh_viscous_dissipation(const rh_viscous *a, const float *x, rh_arena *arena, rh_status *status);
