// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// PNG pictures out: sRGB, rows from the top.
#pragma once
#include <stdint.h>
#include "base/status.h"

rh_code rh_png_write(const char *path, int width, int height, const uint8_t *rgb, rh_status *status);
rh_code rh_png_write_deep(const char *path, int width, int height, const uint16_t *rgb,
                          rh_status *status);  // 16 bits a channel
