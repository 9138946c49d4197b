// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Thin walls (thin.h) on one tile: which faces they close, and how much room cells have on their own side. Added to
// what cut_tile.h and blur.h find from distances; tiles without a thin solid near are not touched. A function of the
// tile's place and the placed solids alone.
#pragma once
#include "solid/blur.h"
#include "solid/cut_tile.h"
#include "solid/thin.h"

// The thin ones of the solids near a tile. count = 0: there are none, and nothing below need be called.
void rh_thin_tile_near(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, int32_t t,
                       rh_thin_list *list);
// The solids near a tile that are not thin: all that blur.h need look at, as whatever is near thin ones is found by
// rh_thin_tile_cut. (It spent more time on thin meshes than everything else together.) A full list stays as it is.
rh_cut_near rh_thin_tile_others(const rh_obstacles *obstacles, const rh_cut_near *near);
// Closes the faces between cells on different sides. Along an oblique wall these faces form a staircase: sides are
// right to a cell, not to second order. `share` and `volume` of cells near thin walls are found from sample points,
// each placed as the grid treats a particle there (rh_thin_view): they include what lies on the cell's side in the
// neighbouring cells, 0 .. 1.5 and more in corners. `blurred` (may be NULL): the same for `room` and `pass`.
void rh_thin_tile_cut(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near,
                      const rh_thin_list *list, rh_blur_form form, int32_t t, rh_cut_values *out,
                      rh_blur_values *blurred);
