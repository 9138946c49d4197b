// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A film from pictures: H.264 in an .mp4 that plays everywhere, encoded by the program `ffmpeg` that runs beside us and
// is fed through a socket. The file appears whole or not at all.
#pragma once
#include <stdint.h>
#include "base/status.h"

typedef struct rh_film rh_film;

// Starts the encoder. RH_USER when there is no ffmpeg.
rh_code rh_film_open(const char *path, int width, int height, double fps, rh_film **out, rh_status *status);
// width * height * 3 bytes, sRGB, rows from the top.
rh_code rh_film_add(rh_film *film, const uint8_t *rgb, rh_status *status);
rh_code rh_film_finish(rh_film *film, rh_status *status);  // frees it, also on failure
void rh_film_discard(rh_film *film);                       // frees it and leaves no file; NULL is fine
