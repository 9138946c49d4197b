// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Self-diffusion: grains that slide past each other wander at random. Without it, particles keep the rows they were
// seeded in, and flowing sand looks woven.
#pragma once
#include "physics/unilateral.h"

// After particles have moved: those in cells under pressure are displaced at random, with the variance 2 mixing rate
// spacing^2 dt along each axis, where rate (1/s) is the cell's rate of shear and spacing is in m. The random numbers
// are a function of a particle's id and the step, so the result does not depend on threads.
void rh_sand_mix(const rh_unilateral_view *view, double mixing, double spacing);
