// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which tiles belong together. Tiles stand around particles with a margin: material whose tiles do not touch, corners
// included, does not touch.
#pragma once
#include "grid/tiles.h"

// number[t] (tiles->count of them) becomes the lowest tile of the connected part that t belongs to.
void rh_tile_components(const rh_tiles *tiles, int32_t *number);
