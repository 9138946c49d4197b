// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Grains that slide past each other wander: without it, particles keep the rows they were seeded in, and flowing sand
// looks woven.
#pragma once
#include "physics/unilateral.h"

// After particles have moved: those in cells under pressure go a random way, of variance 2 mixing rate spacing^2 dt
// along each axis, rate the cell's rate of shear. Places and steps decide, not threads: the random numbers are those of
// a particle's id and the step.
void rh_sand_mix(const rh_unilateral_view *view, double mixing, double spacing);
