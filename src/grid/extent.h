// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The volume that material takes up, from how full cells are: what a level set of it would enclose, for methods that
// have none.
#pragma once
#include "grid/tiles.h"

// Volume (m^3, m^2 in two dimensions) inside the surface where cells are half full. `filled` are the cells' contents
// as shares of a cell, spread by linear weights; `room` (tiles apart) what they have room for. Cells count as full
// from 7/8 on, so material that is crammed counts with the room it has and material that has swollen a little with
// the room it takes; a flat surface along the grid is found where it is. Drops and spray, too thin to have such a
// surface, count with what they are.
double rh_extent_volume(const rh_tiles *tiles, const float *filled, const float *const *room, rh_arena *arena,
                        rh_status *status);
