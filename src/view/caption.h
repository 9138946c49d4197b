// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Words and the scale of colours on a finished picture.
#pragma once
#include <stdint.h>
#include "scene/look.h"

typedef struct rh_canvas {
    int width, height;  // pixels
    uint8_t *bytes;     // 3 a pixel, sRGB, rows from the top; or NULL
    uint16_t *deep;     // the same in 16 bits; used when bytes is NULL
} rh_canvas;

// Letters of `size` pixels a dot, from the place of the first one's upper left corner on.
void rh_caption_text(const rh_canvas *canvas, int x, int y, int size, const char *text);
void rh_caption_title(const rh_canvas *canvas, const char *text);  // top left; ASCII, one line
enum { RH_CAPTION_WHAT = 64 };
void rh_caption_what(const char *attribute,
                     char out[RH_CAPTION_WHAT]);  // with its unit where that is known: "speed m/s"
// Bottom right: the colours of a paint from low to high with the values at their ends, and what they are ("speed m/s";
// NULL = nothing).
void rh_caption_legend(const rh_canvas *canvas, const rh_paint *paint, const char *what, double low, double high);
