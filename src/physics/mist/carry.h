// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Carries a density (something per volume, at cell centres, none beyond the tiles) so that its sum stays, however thin
// the cloud is: what leaves a cell arrives in another.
#pragma once
#include "grid/tiles.h"

typedef struct rh_carried {
    const rh_tiles *tiles;
    rh_faces flow;         // m/s, at cell centres; in solid cells the solid's
    const uint8_t *solid;  // over the tiles, 1 inside solids, which nothing enters; NULL: none
    bool backward;         // axes from last to first: every other step, so that neither order is preferred
    double dt;             // s; paths are at most four cells long
} rh_carried;

rh_code rh_carry(const rh_carried *c, float *density, rh_arena *arena, rh_status *status);
