// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Upright walls: those along the grid that gravity runs along, as of silos and boxes. Sand between two of them can hang
// on them, so what one cell bears depends on the friction of all that lie above it.
#pragma once
#include "physics/unilateral.h"

// The axis that gravity pulls along, or -1: across the grid no wall along it is upright.
int rh_upright_axis(rh_dvec3 gravity, int dimension);

// A byte per tile: 1 where one of the listed tiles, with those beside it in a row across gravity, lies between two
// upright walls, and in tiles beside it that have no sand; 0 elsewhere. In the view's arena; NULL when memory runs
// out.
uint8_t *rh_between_upright_walls(const int32_t *list, int32_t count, const rh_unilateral_view *view,
                                  rh_status *status);
