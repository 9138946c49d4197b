// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The correction of volume must not drive waves. Liquid that expands by the share b in a cell does the work p b on what
// is around it, p being the pressure there. As far as pressure is that of a flat surface, p = a - c height, this is the
// work of lifting everything, which sank before. The rest p' of the pressure is that of waves, and sum p' b is the work
// done on them: where crests are a little crowded and troughs are not, it feeds them.
#pragma once
#include "physics/pressure.h"

// Takes from the divergence `b` that a displacement is to have, a vector over the pressure's layout, the part along p'
// if it does work on waves: b -= p' sum p' b / sum p'^2, in each connected part of the liquid for itself. The sums of b
// and of b times height stay. `gravity`: m/s^2, any length. `counts`: per listed tile, whether it does. To be called
// while `pressure` has the step's pressure.
rh_code rh_volume_spare_waves(const rh_pressure *pressure, rh_vec3 gravity, const bool *counts, float *b,
                              rh_arena *arena, rh_status *status);
