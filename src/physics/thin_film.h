// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Liquid on a wall that is thinner than half a cell.
#pragma once
#include "solid/cut_cells.h"

// Such a film covers no cell centre, so no cell around it is liquid by the level set and no pressure would hold it: it
// would fall onto the wall within a few steps, lie there without thickness, and whatever flows after it would vanish
// into the same sheet. So cells at walls whose particles press onto the wall count as liquid, with the surface just
// above their centre, or above the wall where that is higher: the pressure there is next to nothing, but the flow
// through the cell keeps its volume. Drops under a ceiling fall, and water beside a vertical wall is no film. `phi` (m,
// rh_surface) becomes slightly negative in those cells; `velocity` (m/s) is after forces and before pressure;
// `force_change` (m/s) is what gravity did to it.
void rh_thin_films_support(const rh_tiles *tiles, const rh_cut_cells *cut, rh_faces velocity, float force_change,
                           float *phi);
