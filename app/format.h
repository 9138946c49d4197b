// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Numbers as people read them. Every function fills the buffer it is given and returns it, so a call can stand inside
// a printf argument list.
#pragma once
#include <stdint.h>

typedef struct app_text {
    char text[48];
} app_text;

char *app_format_bytes(int64_t bytes, app_text *out);      // 512 B, 4.2 kB, 1.25 GB (powers of ten)
char *app_format_count(int64_t count, app_text *out);      // 1 234 567
char *app_format_short(int64_t count, app_text *out);      // 999, 12.3 k, 1.23 M
char *app_format_duration(double seconds, app_text *out);  // 0.35 s, 12.3 s, 3:20, 1:02:03, 2 d 03:04
char *app_format_percent(double fraction, app_text *out);  // +0.02%
