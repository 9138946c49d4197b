// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A tiny bitmap font for captions: 5 x 7 dots in a cell of 6 x 8, printable ASCII; anything else shows as '?'.
#pragma once
#include <stdbool.h>

enum { RH_FONT_WIDTH = 6, RH_FONT_HEIGHT = 8 };

bool rh_font_dot(char letter, int x, int y);  // is the dot at column x, row y of the cell set?
