// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Level sets on tiles: the liquid's surface from its particles, distances by fast sweeping, and the extension of
// velocities away from the liquid (FLIP-4, FLIP-5).
#pragma once
#include "grid/tiles.h"

// The liquid's surface on the grid.
typedef struct rh_surface {
    float *phi;       // m, at cell centres, negative inside. Outside a distance, clamped at `band` cells; inside a
                      // distance in cells next to the surface (corners included), -band cells deeper
    uint8_t *inside;  // 1 where phi < 0
    float band;       // cells
} rh_surface;

// Surface of sorted particles with the mean spacing `spacing` (m). `solid` (may be NULL; tiles apart) is the distance to solids at
// cell centres, positive in free space: the surface meets solids at a right angle and continues into them.
// `band` is how far from the surface phi is a distance (cells, at most 8).
rh_code rh_surface_build(rh_surface *surface, const rh_tiles *tiles, const rh_vec3 *positions, float spacing,
                         const float *const *solid, float band, rh_arena *arena, rh_status *status);

// Distances from cut edges: keeps phi at cells next to a cut, fills the rest up to band * h by the eikonal equation.
void rh_levelset_sweep(const rh_tiles *tiles, float *phi, const uint8_t *fixed, float band);

// Extends face values from faces with known[] != 0 to all faces with distance below `band` cells, so that they are
// constant along the gradient of `distance` (cell centres, m; negative where values are known). known[] becomes 2 where a value was set.
void rh_faces_extend(const rh_tiles *tiles, int axis, const float *distance, float band, float *values, uint8_t *known);

// Volume (m^3, or m^2 in 2D) inside: smoothed over one cell, `open` (may be NULL; tiles apart) = free share of each cell.
double rh_surface_volume(const rh_tiles *tiles, const float *phi, const float *const *open, rh_arena *arena, rh_status *status);
