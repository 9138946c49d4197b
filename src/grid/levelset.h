// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Level sets on tiles: the liquid's surface from its particles, distances by fast sweeping, and the extension of
// velocities away from the liquid (Zhu 2005, section 3.2, "Solving on the grid").
#pragma once
#include "grid/bits.h"
#include "grid/tiles.h"

// The liquid's surface on the grid.
typedef struct rh_surface {
    float *phi;  // m, at cell centres, negative inside. Outside a distance, clamped at `band` cells; inside a
                 // distance in cells next to the surface (corners included), -band cells deeper
    float band;  // cells
} rh_surface;

// Surface of sorted particles with the mean spacing `spacing` (m). `solid` (may be NULL; tiles apart) is the distance
// to solids at cell centres, m, positive in free space: the surface meets solids at a right angle and continues 1.5
// cells into them. `band` is how far from the surface phi is a distance (cells, at most 8).
rh_code rh_surface_build(rh_surface *surface, const rh_tiles *tiles, const rh_vec3 *positions, float spacing,
                         const float *const *solid, float band, rh_arena *arena, rh_status *status);

// Distances in all cells with a bit in `todo` by the eikonal equation, from the distances of all others; signs are
// kept. On entry cells to do have the magnitude band * h, which is also the most they can get.
rh_code rh_levelset_sweep(const rh_tiles *tiles, float *phi, const rh_bits *todo, float band, rh_arena *arena,
                          rh_status *status);

// Extends face values from faces with known[axis][] == 1 to all faces nearer to the liquid than `band` cells, so that
// they are constant along the gradient of the distance from liquid in free space: the larger of phi and the depth in
// solids (`solid` may be NULL). known[] becomes 2 where a value was set. `bands` (may be NULL) narrows the band tile by
// tile.
rh_code rh_faces_extend(const rh_tiles *tiles, const float *phi, const float *const *solid, float band,
                        const float *bands, rh_faces values, uint8_t *const known[3], rh_arena *arena,
                        rh_status *status);

// Volume (m^3, or m^2 in 2D) inside: smoothed over one cell, `open` (may be NULL; tiles apart) = free share of each
// cell.
double rh_surface_volume(const rh_tiles *tiles, const float *phi, const float *const *open, rh_arena *arena,
                         rh_status *status);
