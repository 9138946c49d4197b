// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dark letters with a light rim, so that they can be read on anything.
#include "view/caption.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "view/colors.h"
#include "view/font.h"

static const uint8_t dark[3] = {38, 44, 54}, rim[3] = {232, 236, 240};

static void dot(const rh_canvas *c, int x, int y, const uint8_t ink[3], int share, int of)
{
    if (x < 0 || y < 0 || x >= c->width || y >= c->height) return;
    size_t at = 3 * ((size_t)y * (size_t)c->width + (size_t)x);
    for (size_t k = 0; k < 3; k++) {
        if (c->bytes) c->bytes[at + k] = (uint8_t)((c->bytes[at + k] * (of - share) + ink[k] * share) / of);
        else c->deep[at + k] = (uint16_t)((c->deep[at + k] * (of - share) + ink[k] * 257 * share) / of);
    }
}

static bool is_set(const char *text, int length, int size, int x, int y)
{
    int column = x < 0 ? -1 : x / (RH_FONT_WIDTH * size);
    if (column < 0 || column >= length || y < 0 || y >= RH_FONT_HEIGHT * size) return false;
    return rh_font_dot(text[column], x / size % RH_FONT_WIDTH, y / size);
}

void rh_caption_text(const rh_canvas *c, int x, int y, int size, const char *text)
{
    int length = (int)strlen(text), most = c->width / (RH_FONT_WIDTH * size) + 1;
    if (length > most) length = most;
    for (int v = -size; v < (RH_FONT_HEIGHT + 1) * size; v++)
        for (int u = -size; u < length * RH_FONT_WIDTH * size + size; u++) {
            bool near = false;
            if (is_set(text, length, size, u, v)) {
                dot(c, x + u, y + v, dark, 1, 1);
                continue;
            }
            for (int k = 0; k < 9 && !near; k++)
                near = is_set(text, length, size, u + (k % 3 - 1) * size, v + (k / 3 - 1) * size);
            if (near) dot(c, x + u, y + v, rim, 2, 5);
        }
}

static int text_width(const char *text, int size) { return (int)strlen(text) * RH_FONT_WIDTH * size - size; }

static int scale_of(const rh_canvas *c) { return c->height >= 540 ? (c->height + 180) / 360 : 1; }

void rh_caption_title(const rh_canvas *canvas, const char *text)
{
    int size = scale_of(canvas);
    rh_caption_text(canvas, 14 * size, 12 * size, size, text);
}

void rh_caption_what(const char *attribute, char out[RH_CAPTION_WHAT])
{
    static const char *const meters[] = {"P", "rest", "radius"}, *const speeds[] = {"speed", "v"};
    size_t name = strcspn(attribute, ".");
    const char *unit = "";
    for (int i = 0; i < 3; i++)
        if (strlen(meters[i]) == name && strncmp(attribute, meters[i], name) == 0) unit = " m";
    for (int i = 0; i < 2; i++)
        if (strlen(speeds[i]) == name && strncmp(attribute, speeds[i], name) == 0) unit = " m/s";
    snprintf(out, RH_CAPTION_WHAT, "%.40s%s", attribute, unit);
}

void rh_caption_legend(const rh_canvas *c, const rh_paint *paint, const char *what, double low, double high)
{
    int size = scale_of(c), wide = 120 * size, tall = 6 * size, x0 = c->width - wide - 14 * size,
        y0 = c->height - 24 * size;
    if (x0 < 0 || y0 < 0) return;
    for (int x = -1; x <= wide; x++) {
        rh_vec3 color = rh_palette_color((rh_palette)paint->palette, paint->bands,
                                         x < 0       ? 0
                                         : x >= wide ? 1
                                                     : (double)x / (wide - 1));
        uint8_t ink[3];
        for (int k = 0; k < 3; k++) ink[k] = (uint8_t)(255 * rh_srgb((&color.x)[k]) + 0.5f);
        for (int y = -1; y <= tall; y++)
            dot(c, x0 + x, y0 + y, x < 0 || y < 0 || x == wide || y == tall ? dark : ink, 1, 1);
    }
    char ends[2][32];
    snprintf(ends[0], sizeof ends[0], "%.3g", low);
    snprintf(ends[1], sizeof ends[1], "%.3g", high);
    rh_caption_text(c, x0, y0 + tall + 4 * size, size, ends[0]);
    rh_caption_text(c, x0 + wide - text_width(ends[1], size), y0 + tall + 4 * size, size, ends[1]);
    if (what) rh_caption_text(c, x0 + (wide - text_width(what, size)) / 2, y0 + tall + 4 * size, size, what);
}
